// Xi-lines of large levels.
#include "lines.cuh"

RELAX(relax_xi_compact, true, LINE_CHUNK, true, false, SECTION)
RELAX(relax_xi_full, true, LINE_CHUNK, false, false, SECTION)
