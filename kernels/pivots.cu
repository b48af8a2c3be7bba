// Factors of the lines of levels, and what decides whether they have borders.
#include "pivots.cuh"

FACTOR(factor_levels, false, SECTION)

// borders <- whether a coarse level has wall terms at an end of the eta-lines, and how many of its lines keep them, for
// each end: those whose second point from it has tr N > SMALLEST_NORTH tr S, N being its coupling with the point
// farther from the end, none where the fine level has none; N and S are couplings of the points beside it where
// equations are transposed. One block.
#define SMALLEST_NORTH real(0.05)
__device__ void count_borders_of(const LevelLayout& layout, real* values, const uint32* fine_borders,
                                 uint32* borders) {
    const Operator<false> a = operator_of<false>(layout, values);
    double kept[2] = {0, 0};
    const bool transposed = layout.transposed();
    auto keeps = [](const Block& north, const Block& south) {
        return (north.xx + north.yy) / (south.xx + south.yy) > SMALLEST_NORTH;
    };
    for (uint32 i = threadIdx.x; i < layout.mi && int(layout.mj) > 1 + transposed; i += blockDim.x) {
#pragma unroll
        for (int end = 0; end < 2; ++end) {
            if (end == 1 && !layout.above()) continue;
            const int away = end == 0 ? 1 : -1, row = end == 0 ? 1 : int(layout.mj) - 2;
            const Block* const beyond = a.towards(0, away) + layout.column(i);
            const Block* const beside = a.towards(0, -away) + layout.column(i);
            kept[end] += transposed ? keeps(beside[(row + away) * layout.row()], beyond[(row - away) * layout.row()])
                                    : keeps(beyond[row * layout.row()], beside[row * layout.row()]);
        }
    }
    block_reduce<Sum>(kept, 2, [&](uint32 end, double all) {
        const uint32 count = fine_borders[2 * end] == NO_BORDERS ? 0 : uint32(all);
        borders[2 * end] = count > 0 && 2 * count >= layout.mi ? SIGNED_BORDERS : NO_BORDERS;
        borders[2 * end + 1] = count;
    });
}

// Counts the borders of `count` levels but the first, each coarser than the one before.
KERNEL(count_borders, FactoredLevels levels, uint32 count) {
    for (uint32 k = 1; k < count; ++k) {
        const FactoredLevel& level = levels.at[k];
        count_borders_of({level.layout}, level.values, levels.at[k - 1].borders, level.borders);
    }
}
