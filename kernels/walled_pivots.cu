// Factors of the lines of levels between walls, and of levels of transposed equations.
#include "common.cuh"
#include "level.cuh"
#include "pivots.cuh"

FACTOR(factor_walled_levels, SIDES)

BOUNDED_KERNEL(2 * FACTOR_THREADS, factor_transposed_levels, FactoredLevels levels, uint32 count, uint32* bad) {
    __shared__ Stage stage;
    if (!factor_level<true, SIDES>(level_of_block(levels, count), stage)) *bad = 1;
}
