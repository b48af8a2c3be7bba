// Lines of other levels with few points: those of either storage together take twice as long to compile.
#include "lines.cuh"

RELAX(relax_eta_full_short, false, SHORT_CHUNK, false, false, SECTION)
RELAX(relax_xi_full_short, true, SHORT_CHUNK, false, false, SECTION)
