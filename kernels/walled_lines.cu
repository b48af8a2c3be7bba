// Lines of levels between two walls, and with walls at the ends of the xi-lines too.
#include "lines.cuh"

RELAX(relax_eta_compact_both, false, LINE_CHUNK, true, false, ENDS)
RELAX(relax_eta_full_both, false, LINE_CHUNK, false, false, ENDS)
RELAX(relax_xi_compact_both, true, LINE_CHUNK, true, false, ENDS)
RELAX(relax_xi_full_both, true, LINE_CHUNK, false, false, ENDS)
RELAX(relax_eta_sides, false, LINE_CHUNK, false, false, SIDES)
