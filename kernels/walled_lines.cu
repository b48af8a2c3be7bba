// Lines of levels between two walls.
#include "common.cuh"
#include "level.cuh"
#include "lines.cuh"

RELAX(relax_eta_compact_both, false, LINE_CHUNK, true, false, false, true)
RELAX(relax_eta_full_both, false, LINE_CHUNK, false, false, false, true)
RELAX(relax_xi_compact_both, true, LINE_CHUNK, true, false, false, true)
RELAX(relax_xi_full_both, true, LINE_CHUNK, false, false, false, true)
