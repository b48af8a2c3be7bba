// Transfer between two levels of multigrid.
#include "transfer.cuh"

RESTRICT(restrict_compact, true, ENDS)
RESTRICT(restrict_full, false, ENDS)
PROLONG(prolong, ENDS)
