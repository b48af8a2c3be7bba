// Operators of coarse levels.
#include "level.cuh"

// One dimension of linear interpolation: the share that a fine point takes of the coarse point at this distance.
__device__ inline real interpolation(int distance) {
    return distance == 0 ? real(1) : distance == 1 || distance == -1 ? real(0.5) : real(0);
}

// Returns the share that the coupling of fine point 2I + 1 + row with the point `step` after it has in the
// coupling of coarse point I with I + to, in one dimension of R A P (theory eq. 12).
__device__ inline real galerkin_share(int row, int step, int to) {
    return real(0.5) * interpolation(row) * interpolation(row + step - 2 * to);
}

// Coarse A <- R A P from the blocks of the fine points around each coarse point.
template <bool COMPACT>
struct Galerkin {
    LevelLayout fine, coarse;
    Operator<COMPACT> a;
    Operator<false> to;

    // Block of fine point (i, j) for its neighbour (i + di, j + dj).
    __device__ Block coupling(uint32 i, uint32 j, int di, int dj) const {
        const int at = j * fine.row() + fine.column(i);
        if (di == 0 && dj == 0) return a.centre(at);
        const bool beside = di < 0 ? i > 0 || (fine.edges & EDGE_WEST)
                                   : di == 0 || i + 1 < fine.mi || (fine.edges & EDGE_EAST);
        const bool there = beside && (dj < 0 ? j > 0 : dj == 0 || j + 1 < fine.mj);
        if (COMPACT && !there) return diagonal(0);
        if (dj == 0) return di < 0 ? a.along_xi(at).before : a.along_xi(at).after;
        if (di == 0) return dj < 0 ? a.along_eta(at).before : a.along_eta(at).after;
        if (COMPACT) return diagonal(real(di * dj) * a.numbers(at).corner());
        return a.towards(di, dj)[at];
    }

    // Adds the share of fine row j, `row` off the coarse row in eta where `both` are coarsened: first along xi, by the
    // three rows that its couplings reach, then along eta. One code for all rows takes half the time to compile.
    __device__ void add_row(Block (&sum)[3][3], uint32 coarse_i, uint32 j, int row, bool both) const {
        Block along[3][3] = {};
#pragma unroll
        for (int column = -1; column <= 1; ++column) {
            uint32 i = 2 * coarse_i + 1 + column;
            if (i == fine.mi && fine.wraps()) i = 0;
            if (i >= fine.mi + fine.goes_on()) continue;
#pragma unroll
            for (int k = 0; k < 9; ++k) {
                const int di = k % 3 - 1, dj = k / 3 - 1;
                const Block block = coupling(i, j, di, dj);
#pragma unroll
                for (int to_i = -1; to_i <= 1; ++to_i) {
                    const real share = galerkin_share(column, di, to_i);
                    Block& to = along[dj + 1][to_i + 1];
                    if (share != 0) to = to + share * block;
                }
            }
        }
#pragma unroll
        for (int k = 0; k < 9; ++k) {
            const int dj = k / 3 - 1, to_j = k % 3 - 1;
            const real share = both ? galerkin_share(row, dj, to_j) : real(dj == to_j);
#pragma unroll
            for (int to_i = 0; to_i < 3; ++to_i)
                sum[to_j + 1][to_i] = sum[to_j + 1][to_i] + share * along[dj + 1][to_i];
        }
    }

    // Full weighting of the columns of the wall terms of a side.
    __device__ Block weighted_columns(uint32 coarse_i, uint32 coarse_j, uint32 side) const {
        const bool both = coarse.mj != fine.mj;
        Block sum = diagonal(0);
        for (int row = both ? -1 : 0; row <= (both ? 1 : 0); ++row) {
            const uint32 j = both ? 2 * coarse_j + 1 + row : coarse_j;
            if (j >= fine.mj) continue;
            for (int column = -1; column <= 1; ++column) {
                uint32 i = 2 * coarse_i + 1 + column;
                if (i == fine.mi && fine.wraps()) i = 0;
                if (i >= fine.mi + fine.goes_on()) continue;
                const real share = real(0.5) * interpolation(column) *
                                   (both ? real(0.5) * interpolation(row) : real(1));
                sum = sum + share * a.columns_of(side)[j * fine.row() + fine.column(i)];
            }
        }
        return sum;
    }

    __device__ void operator()(uint32 i, uint32 j) const {
        Block sum[3][3] = {};
        const bool both = coarse.mj != fine.mj;
#pragma unroll 1
        for (int row = both ? -1 : 0; row <= (both ? 1 : 0); ++row) {
            const uint32 from = both ? 2 * j + 1 + row : j;
            if (from < fine.mj) add_row(sum, i, from, row, both);
        }
        const int at = j * coarse.row() + coarse.column(i);
        for (uint32 side = 0; side < 4; ++side)
            if (fine.has(side)) to.columns_of(side)[at] = weighted_columns(i, j, side);
#pragma unroll
        for (int k = 0; k < 9; ++k) to.towards(k % 3 - 1, k / 3 - 1)[at] = sum[k / 3][k % 3];
    }
};

// Coarse A <- R A P, coarse bad <- fine bad.
#define COARSEN(name, COMPACT)                                                                                     \
    KERNEL(name, LevelLayout fine, real* a, const uint32* fine_bad, LevelLayout coarse, real* to, uint32* bad) {   \
        if (blockIdx.x + blockIdx.y + threadIdx.x == 0) *bad = *fine_bad;                                          \
        const Operator<false> target = {to, coarse.points(), fine.ends(), false};                                  \
        each_point(coarse, Galerkin<COMPACT>{fine, coarse, operator_of<COMPACT>(fine, a), target});                \
    }
COARSEN(coarsen_compact, true)
COARSEN(coarsen_full, false)
