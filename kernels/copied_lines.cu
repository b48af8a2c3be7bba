// Lines of several right-hand sides, and of transposed equations.
#include "common.cuh"
#include "level.cuh"
#include "lines.cuh"

RELAX(relax_eta_copies, false, LINE_CHUNK, false, true, false, ENDS)
RELAX(relax_xi_copies, true, LINE_CHUNK, false, true, false, ENDS)
RELAX(relax_eta_transposed, false, LINE_CHUNK, false, true, true, SECTION)
RELAX(relax_eta_transposed_both, false, LINE_CHUNK, false, true, true, SIDES)
