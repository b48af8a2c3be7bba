// Factors of the lines of levels between walls, and of levels of transposed equations.
#include "pivots.cuh"

FACTOR(factor_walled_levels, false, SIDES)
FACTOR(factor_transposed_levels, true, SIDES)
