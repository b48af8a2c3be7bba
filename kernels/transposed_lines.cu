// Lines of transposed equations.
#include "lines.cuh"

RELAX(relax_eta_transposed, false, LINE_CHUNK, false, true, SECTION)
RELAX(relax_eta_transposed_both, false, LINE_CHUNK, false, true, SIDES)
