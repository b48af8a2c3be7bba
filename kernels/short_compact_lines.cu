// Lines of finest levels with too few points to keep a GPU busy by long chunks.
#include "lines.cuh"

RELAX(relax_eta_compact_short, false, SHORT_CHUNK, true, false, SECTION)
RELAX(relax_xi_compact_short, true, SHORT_CHUNK, true, false, SECTION)
