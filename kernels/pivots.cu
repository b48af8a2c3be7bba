// Factors of the lines of a multigrid level.
#include "common.cuh"
#include "level.cuh"

// Points whose blocks a thread of the factorisation fetches while it works on those before: as many as it has
// registers for.
#define AHEAD (sizeof(real) == 4 ? 8 : 4)

// Blocks P, C, N of a line, and its columns B if it is bordered, ahead of the elimination.
template <class AnyLine>
struct Fetched {
    Block prev[AHEAD], centre[AHEAD], next[AHEAD], column[AHEAD];

    __device__ void fetch(const AnyLine& line, int first, int end) {
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (first + k >= end) break;
            const int at = line.at(first + k);
            prev[k] = line.prev()[at];
            centre[k] = line.a.centre(at);
            next[k] = line.next()[at];
            if (line.bordered()) column[k] = line.a.columns()[at];
        }
    }
};

// Whether the pivot G = B (1 + N V') of wall terms has kept the sign of B, V' being what a line that
// couples as it should has: X = B^-1 G has X_pp, X_qq > SMALLEST_PIVOT and det X > SMALLEST_PIVOT^2.
#define SMALLEST_PIVOT real(0.1)
__device__ inline bool keeps_sign(const Block& columns, const Block& pivot) {
    const Block x = inverse(columns) * pivot;
    return x.xx > SMALLEST_PIVOT && x.yy > SMALLEST_PIVOT &&
           x.xx * x.yy - x.xy * x.yx > SMALLEST_PIVOT * SMALLEST_PIVOT;
}

// The border of a line whose V have been carried from the wall outwards, v at the last point: V of all
// points but the first, and at the first the inverse of G = B_0 - N_0 V_1. Returns whether that is
// finite.
template <bool COMPACT>
__device__ bool finish_border(const Line<false, COMPACT>& line, Block v, bool guarded) {
    Block* border = line.a.border();
    for (int l = int(line.along()) - 1; l-- > 1;) {
        const int at = line.at(l);
        v = border[at] - line.pivot()[at] * (line.next()[at] * v);
        border[at] = v;
    }
    const int at = line.at(0);
    const Block columns = line.a.columns()[at], pivot = columns - line.next()[at] * v;
    const Block found = inverse(pivot);
    const bool kept = !guarded || keeps_sign(columns, pivot);
    border[at] = kept ? found : diagonal(0);
    return !kept || is_finite(found);
}
template <bool COMPACT>
__device__ bool finish_border(const Line<true, COMPACT>&, Block, bool) { return true; }

// The same of transposed equations: W of all points but the first, and at the first the transposed inverse
// of G = B_0 - P_1^T V_1.
template <bool COMPACT>
__device__ bool finish_transposed_border(const Line<false, COMPACT>& line, Block w, bool guarded) {
    Block* border = line.a.border();
    const int along = int(line.along());
    for (int l = along - 1; l-- > 1;) {
        const int at = line.at(l);
        w = border[at] - w * line.prev()[line.at(l + 1)] * line.pivot()[at];
        border[at] = w;
    }
    const int at = line.at(0);
    const Block columns = line.a.columns()[at];
    Block pivot = transposed(columns);
    if (along > 1) pivot = pivot - w * line.prev()[line.at(1)];
    const Block found = inverse(pivot);
    const bool kept = !guarded || keeps_sign(columns, transposed(pivot));
    border[at] = kept ? found : diagonal(0);
    return !kept || is_finite(found);
}
template <bool COMPACT>
__device__ bool finish_transposed_border(const Line<true, COMPACT>&, Block, bool) { return true; }

// Inverse pivots of a line: D_l = C_l - P_l D_{l-1}^-1 N_{l-1}. Closed lines without their last
// point are open lines T; H = T^-1 (P_0 at the first point, N at the last one) is kept beside the
// pivots, and the last point's pivot is D = C - P H_{last-1} - N H_0. The first point of a bordered
// line is held, its inverse pivot stays zero; the line from its second point on is T, and V = T^-1 B is
// kept beside the pivots, unless the level has no `borders`; of transposed equations W = B^T T^-1. Returns
// whether all are finite.
template <bool XI, bool COMPACT, bool TRANSPOSED>
__device__ bool factor_line(const Line<XI, COMPACT>& line, uint32 borders) {
    const int open = line.open(), start = line.bordered();
    const bool closed = line.closed(), bordered = line.bordered() && borders != NO_BORDERS;
    Block* pivots = line.pivot();
    Block* closing = line.a.closing();
    Fetched<Line<XI, COMPACT>> now, ahead;
    ahead.fetch(line, start, open);
    Block carried = diagonal(0), h = diagonal(-1), v = diagonal(0), before_next = diagonal(0);
    bool finite = true;
    for (int first = start; first < open; first += AHEAD) {
        now = ahead;
        ahead.fetch(line, first + AHEAD, open);
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            const int l = first + k;
            if (l >= open) break;
            const int at = line.at(l);
            const Block pivot = inverse(now.centre[k] - now.prev[k] * carried);
            finite = finite && is_finite(pivot);
            carried = pivot * now.next[k];
            pivots[at] = pivot;
            if (bordered && TRANSPOSED) {
                v = (transposed(now.column[k]) - v * before_next) * pivot;
                before_next = now.next[k];
                line.a.border()[at] = v;
            } else if (bordered) {
                v = pivot * (now.column[k] - now.prev[k] * v);
                line.a.border()[at] = v;
            }
            if (closed) {
                h = real(-1) * (now.prev[k] * h);
                if (l + 1 == open) h = h + now.next[k];
                h = pivot * h;
                closing[at] = h;
            }
        }
    }
    const bool guarded = borders == SIGNED_BORDERS;
    if (bordered && TRANSPOSED) return finish_transposed_border(line, v, guarded) && finite;
    if (bordered) return finish_border(line, v, guarded) && finite;
    if (line.bordered()) line.a.border()[line.at(0)] = diagonal(0);
    if (!closed) return finite;
    for (int l = open - 1; l-- > 0;) {
        const int at = line.at(l);
        h = closing[at] - pivots[at] * (line.next()[at] * h);
        closing[at] = h;
    }
    const int at = line.at(open);
    const Block before = line.prev()[at] * closing[line.at(open - 1)];
    const Block pivot = inverse(line.a.centre(at) - before - line.next()[at] * closing[line.at(0)]);
    pivots[at] = pivot;
    return finite && is_finite(pivot);
}

template <bool XI, bool COMPACT, bool TRANSPOSED>
__device__ bool factor_line(const LevelLayout& layout, real* values, uint32 number, uint32 borders) {
    Line<XI, COMPACT> line;
    line.layout = layout;
    line.a = operator_of<COMPACT>(layout, values);
    line.number = number;
    return !line.solved() || factor_line<XI, COMPACT, TRANSPOSED>(line, borders);
}

// Factors of all lines, one thread each; the first `eta_blocks` blocks take the eta-lines, the
// others the xi-lines. bad <- 1 if a pivot is not finite.
template <bool COMPACT, bool TRANSPOSED>
__device__ void factor(const LevelLayout& layout, uint32 eta_blocks, real* values,
                       const uint32* borders, uint32* bad) {
    const bool xi = blockIdx.x >= eta_blocks;
    const uint32 number = (blockIdx.x - (xi ? eta_blocks : 0)) * blockDim.x + threadIdx.x;
    if (number >= (xi ? layout.mj : layout.mi)) return;
    const uint32 kept = layout.walls() ? *borders : NO_BORDERS;
    const bool finite = xi ? factor_line<true, COMPACT, TRANSPOSED>(layout, values, number, kept)
                           : factor_line<false, COMPACT, TRANSPOSED>(layout, values, number, kept);
    if (!finite) *bad = 1;
}

KERNEL(factor_compact, LevelLayout layout, uint32 eta_blocks, real* a,
       const uint32* borders, uint32* bad) {
    factor<true, false>(layout, eta_blocks, a, borders, bad);
}

KERNEL(factor_full, LevelLayout layout, uint32 eta_blocks, real* a,
       const uint32* borders, uint32* bad) {
    factor<false, false>(layout, eta_blocks, a, borders, bad);
}

KERNEL(factor_transposed, LevelLayout layout, uint32 eta_blocks, real* a,
       const uint32* borders, uint32* bad) {
    factor<false, true>(layout, eta_blocks, a, borders, bad);
}

// borders <- whether a coarse level has wall terms, and how many of its lines keep them: those whose
// second point has tr N > SMALLEST_NORTH tr S, none where the fine level has none; N and S are couplings of
// the points beside it where equations are transposed. One block.
#define SMALLEST_NORTH real(0.05)
KERNEL(count_borders, LevelLayout layout, real* values,
       const uint32* fine_borders, uint32* borders) {
    __shared__ double shared[WARP];
    const Operator<false> a = operator_of<false>(layout, values);
    double kept = 0;
    const int of_north = layout.transposed() ? 2 : 1, of_south = layout.transposed() ? 0 : 1;
    for (uint32 i = threadIdx.x; i < layout.mi && int(layout.mj) > of_north; i += blockDim.x) {
        const int column = layout.column(i);
        const Block* norths = layout.transposed() ? a.south() : a.north();
        const Block* souths = layout.transposed() ? a.north() : a.south();
        const Block north = norths[of_north * layout.row() + column];
        const Block south = souths[of_south * layout.row() + column];
        kept += (north.xx + north.yy) / (south.xx + south.yy) > SMALLEST_NORTH;
    }
    kept = block_reduce<Sum>(0, kept, shared);
    if (threadIdx.x > 0) return;
    const uint32 count = *fine_borders == NO_BORDERS ? 0 : uint32(kept);
    borders[0] = count > 0 && 2 * count >= layout.mi ? SIGNED_BORDERS : NO_BORDERS;
    borders[1] = count;
}
