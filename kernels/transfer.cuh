// Restriction of residuals and prolongation of corrections between two levels of multigrid.
#pragma once
#include "level.cuh"

// Coarse f <- R (f - A u - B d), coarse u <- 0. The residual vanishes on the lines relaxed last, so that those of
// parity `solved` are skipped (2: none; none at the border of a band either, whose ghost values have changed since):
// rows if both directions are coarsened, else columns. A block leaves the residual around its coarse points in shared
// memory and combines it. That of column mi, which belongs to another band, is in `beside`.
template <bool COMPACT, Walls WALLS>
__device__ void restrict_residual(const LevelLayout& fine, real* values, const Pair* f, const Pair* u, uint32 solved,
                                  const Pair* beside, const LevelLayout& coarse, Pair* coarse_f, Pair* coarse_u) {
    const Operator<COMPACT> a = operator_of<COMPACT>(fine, values);
    __shared__ Pair residuals[2 * LEVEL_J + 1][2 * LEVEL_I + 1];
    wait_for_launches_before();
    const bool both = coarse.mj != fine.mj;
    const uint32 tile_rows = blockDim.x == FLAT_THREADS ? FLAT_ROWS : LEVEL_J;
    const uint32 first_i = coarse.tile_i(), first_j = coarse.tile_j(tile_rows);
    const bool border = (fine.edges & ~EDGE_COMPACT) && !fine.wraps() &&
                        (first_i == 0 || first_i + LEVEL_I >= coarse.mi);
    const uint32 skipped_row = both && !border ? solved : 2;
    const uint32 skipped_column = both || border ? 2 : solved;
    // Columns by parity, so that neighbouring threads read neighbouring values.
    const uint32 even = skipped_column == 0 ? 0 : LEVEL_I + 1;
    const uint32 odd = skipped_column == 1 ? 0 : LEVEL_I;
    const uint32 row_step = skipped_row < 2 ? 2 : 1, row_start = skipped_row == 0 ? 1 : 0;
    const uint32 rows = both ? (skipped_row == 0   ? tile_rows
                                : skipped_row == 1 ? tile_rows + 1
                                                   : 2 * tile_rows + 1)
                             : tile_rows;
    for (uint32 item = threadIdx.x; item < rows * (even + odd); item += blockDim.x) {
        const uint32 c = item % (even + odd);
        const uint32 column = c < even ? 2 * c : 2 * (c - even) + 1;
        const uint32 row = row_start + row_step * (item / (even + odd));
        const uint32 j = (both ? 2 * first_j : first_j) + row;
        uint32 i = 2 * first_i + column;
        if (i == fine.mi && fine.wraps()) i = 0;
        const bool there = i < fine.mi && j < fine.mj;
        Pair r = pair(0, 0);
        if (there) r = residual<WALLS>(fine, a, f, u, i, j);
        if (i == fine.mi && fine.goes_on() && j < fine.mj) r = beside[j];
        residuals[row][column] = r;
    }
    __syncthreads();
    const uint32 x = threadIdx.x % LEVEL_I, y = threadIdx.x / LEVEL_I;
    const uint32 i = first_i + x, j = first_j + y;
    if (y >= tile_rows || i >= coarse.mi || j >= coarse.mj) return;
    Pair sum = pair(0, 0);
    for (uint32 dj = 0; dj < (both ? 3 : 1); ++dj) {
        const uint32 row = both ? 2 * y + dj : y;
        if (row % 2 == skipped_row) continue;
        for (uint32 di = 0; di < 3; ++di) {
            if (di % 2 == skipped_column) continue;
            const real weight = (di == 1 ? real(0.5) : real(0.25)) *
                                (!both ? real(1) : dj == 1 ? real(0.5) : real(0.25));
            sum = sum + weight * residuals[row][2 * x + di];
        }
    }
    coarse_f[j * coarse.row() + coarse.column(i)] = sum;
    clear_point(coarse, coarse_u, i, j);
}

// The full storage takes more registers, and walls at the ends of the xi-lines more time.
#define RESTRICT(name, COMPACT, WALLS)                                                                            \
    BOUNDED_KERNEL(LEVEL_I * LEVEL_J, name, LevelLayout fine, real* a, const Pair* f, const Pair* u,   \
                   uint32 solved, const Pair* beside, LevelLayout coarse, Pair* coarse_f, Pair* coarse_u) {       \
        restrict_residual<COMPACT, WALLS>(fine, a, f, u, solved, beside, coarse, coarse_f, coarse_u);             \
    }

// Fine u <- u + P coarse u, wall terms along xi alone: an odd fine point takes its coarse point, an even one the mean
// of those on both sides. Fine column 0 is coarse column `start`; `wraps` says whether the first and the last coarse
// point are neighbours. Ghost columns get the values that they get in their own bands.
template <Walls WALLS>
struct Prolong {
    LevelLayout fine, coarse;
    uint32 start;
    bool wraps;
    const Pair* from;
    Pair* u;

    // Along xi, on coarse row j. Terms that take the places of columns are prolonged along eta alone.
    __device__ Pair along_xi(uint32 i, int j) const {
        const Pair* row = from + j * coarse.row();
        const int at = int(start + i / 2), last = coarse.mi - 1;
        if (WALLS == SIDES && fine.terms_beside() && fine.along_wall(i)) return row[coarse.column(i == 0 ? 0 : last)];
        const Pair after = row[coarse.points_of_column<WALLS>(at)];
        if (i % 2) return after;
        const Pair before = row[coarse.points_of_column<WALLS>(at == 0 && wraps ? last : at - 1)];
        return real(0.5) * (before + after);
    }
    // The value in a ghost column: column -1, which takes its coarse point, or column mi.
    __device__ Pair beside(bool east, int j) const {
        const Pair* row = from + j * coarse.row();
        const int at = int(start) + (east ? int(fine.mi / 2) : -1), last = coarse.mi - 1;
        const int around = !wraps ? at : at < 0 ? last : at > last ? 0 : at;
        const Pair value = row[coarse.column(around)];
        return east ? real(0.5) * (row[coarse.column(at - 1)] + value) : value;
    }
    // Along eta too, on fine row j. Wall terms are prolonged along xi alone.
    template <class Along>
    __device__ Pair on_row(uint32 j, const Along& along) const {
        if (coarse.mj == fine.mj || (fine.terms() && j == 0)) return along(int(j));
        if (fine.holds(j)) return along(int(coarse.mj) - 1);
        auto points = [&](int row) { return along(coarse.holds(row) ? int(coarse.mj) : row); };
        const Pair value = points(int(j / 2));
        return j % 2 ? value : real(0.5) * (points(int(j / 2) - 1) + value);
    }
    __device__ void operator()(uint32 i, uint32 j) const {
        Pair& to = u[j * fine.row() + fine.column(i)];
        to = to + on_row(j, [=](int row) { return along_xi(i, row); });
    }
    __device__ void add_beside(bool east, uint32 j) const {
        Pair& to = u[j * fine.row() + fine.column(east ? int(fine.mi) : -1)];
        to = to + on_row(j, [=](int row) { return beside(east, row); });
    }
};

// Columns of parity `skipped` (2: none) are left out: the eta-lines that the next sweep solves first.
template <Walls WALLS>
__device__ void prolong_solution(const LevelLayout& fine, Pair* u, const LevelLayout& coarse, uint32 start, uint32 wraps,
                                 uint32 skipped, const Pair* from) {
    const Prolong<WALLS> prolong = {fine, coarse, start, wraps != 0, from, u};
    const uint32 step = skipped < 2 ? 2 : 1, first = skipped == 0;
    const uint32 i = first + step * (fine.tile_i() + threadIdx.x % LEVEL_I);
    const uint32 j = fine.tile_j() + threadIdx.x / LEVEL_I;
    wait_for_launches_before();
    if (i >= fine.mi || j >= fine.mj) return;
    prolong(i, j);
    if (i == first && fine.comes_from()) prolong.add_beside(false, j);
    if (i + step >= fine.mi && fine.goes_on()) prolong.add_beside(true, j);
}

#define PROLONG(name, WALLS)                                                                                       \
    KERNEL(name, LevelLayout fine, Pair* u, LevelLayout coarse, uint32 start, uint32 wraps, uint32 skipped,        \
           const Pair* from) {                                                                                     \
        prolong_solution<WALLS>(fine, u, coarse, start, wraps, skipped, from);                                     \
    }
