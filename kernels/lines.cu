// Eta-lines of large levels.
#include "lines.cuh"

RELAX(relax_eta_compact, false, LINE_CHUNK, true, false, SECTION)
RELAX(relax_eta_full, false, LINE_CHUNK, false, false, SECTION)
