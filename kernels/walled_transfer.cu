// Transfer between levels with walls at the ends of the xi-lines, of transposed equations, or in pieces of ranks.
#include "transfer.cuh"

RESTRICT(restrict_sides, false, SIDES)
PROLONG(prolong_sides, SIDES)

// Coarse f of a walled row of transposed equations, one for each block in y, whose fine residual is f - sum B^T u along
// the eta-line, zero where the level has no `borders`: 1/8 1/4 1/8 of it along xi, or 1/4 1/2 1/4 where the level is
// coarsened in xi alone. A warp has the columns around SUMMED_POINTS coarse points; the warps of a block share the
// rows. f of column mi, where the level goes on in another band, is in `beside`, a value for each row.
KERNEL(restrict_sums, LevelLayout fine, real* a, const uint32* borders, const Pair* f, const Pair* u,
       const Pair* beside, LevelLayout coarse, Pair* coarse_f) {
    __shared__ Pair parts[WALL_SUMS][WARP];
    const Operator<false> operator_ = operator_of<false>(fine, a);
    const uint32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32 first = blockIdx.x * SUMMED_POINTS;
    uint32 column = 2 * first + lane;
    if (column == fine.mi && fine.wraps()) column = 0;
    const uint32 end = blockIdx.y;
    const bool there = column < fine.mi + fine.goes_on() && borders[2 * end] != NO_BORDERS;
    const int place = fine.column(int(column));
    Pair sum = pair(0, 0);
    if (there && warp == 0)
        sum = column < fine.mi ? f[fine.terms_of(end) + place]
                               : beside[end ? fine.mj - 1 : 0];
    for (uint32 j = warp; there && j < fine.mj; j += WALL_SUMS) {
        const int at = int(j) * fine.row() + place;
        subtract(sum, transposed(operator_.columns(end)[at]), u[at]);
    }
    parts[warp][lane] = sum;
    __syncthreads();
    const uint32 i = first + threadIdx.x;
    if (threadIdx.x >= SUMMED_POINTS || i >= coarse.mi) return;
    Pair total = pair(0, 0);
    for (uint32 k = 0; k < 3; ++k)
        for (uint32 part = 0; part < WALL_SUMS; ++part)
            total = total + real(k == 1 ? 0.5 : 0.25) * parts[part][2 * threadIdx.x + k];
    coarse_f[coarse.terms_of(end) + coarse.column(int(i))] =
        real(coarse.mj == fine.mj ? 1 : 0.5) * total;
}

// A level from the pieces of all ranks: `planes` planes of `each` values a point; and u <- 0, if there is a u.
KERNEL(join_pieces, LevelLayout layout, uint32 width, uint32 ranks, uint32 piece_half,
       uint32 each, uint32 planes, uint64 piece_values, const real* pieces, real* to, Pair* u) {
    each_point(layout, [=](uint32 i, uint32 j) {
        if (u) clear_point(layout, u, i, j);
        const uint32 rank = min(i / width, ranks - 1);
        const LevelLayout piece = {0, layout.mj, piece_half, 0};
        const int64 from = each * int64(j * piece.row() + piece.column(i - rank * width));
        const int64 at = each * int64(j * layout.row() + layout.column(i));
        for (uint32 plane = 0; plane < planes; ++plane)
            for (uint32 e = 0; e < each; ++e)
                to[plane * each * int64(layout.points()) + at + e] =
                    pieces[rank * int64(piece_values) + plane * each * int64(piece.points()) + from + e];
    });
}
