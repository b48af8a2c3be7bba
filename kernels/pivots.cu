// Factors of the lines of a multigrid level.
#include "common.cuh"
#include "level.cuh"

// Points whose blocks a thread of the factorisation fetches while it works on those before.
#define AHEAD 4

// Blocks P, C, N of a line ahead of the elimination.
template <class AnyLine>
struct Fetched {
    Block prev[AHEAD], centre[AHEAD], next[AHEAD];

    __device__ void fetch(const AnyLine& line, int first, int end) {
#pragma unroll
        for (int k = 0; k < AHEAD; ++k) {
            if (first + k >= end) break;
            const int at = line.at(first + k);
            prev[k] = line.prev()[at];
            centre[k] = line.a.centre(at);
            next[k] = line.next()[at];
        }
    }
};

// Inverse pivots of a line: D_l = C_l - P_l D_{l-1}^-1 N_{l-1}. Closed lines without their last
// point are open lines T; H = T^-1 (P_0 at the first point, N at the last one) is kept beside the
// pivots, and the last point's pivot is D = C - P H_{last-1} - N H_0. Returns whether all are
// finite.
template <bool XI, bool COMPACT>
__device__ bool factor_line(const Line<XI, COMPACT>& line) {
    const int open = line.open();
    const bool closed = line.closed();
    Block* pivots = line.pivot();
    Block* closing = line.a.closing();
    Fetched<Line<XI, COMPACT>> now, ahead;
    ahead.fetch(line, 0, open);
    Block carried = diagonal(0), h = diagonal(-1);
    bool finite = true;
    for (int first = 0; first < open; first += AHEAD) {
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
            if (closed) {
                h = real(-1) * (now.prev[k] * h);
                if (l + 1 == open) h = h + now.next[k];
                h = pivot * h;
                closing[at] = h;
            }
        }
    }
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

template <bool XI, bool COMPACT>
__device__ bool factor_line(const Layout& layout, real* values, uint32 number) {
    Line<XI, COMPACT> line;
    line.layout = layout;
    line.a = {values, layout.points()};
    line.number = number;
    return factor_line(line);
}

// Factors of all lines, one thread each; the first `eta_blocks` blocks take the eta-lines, the
// others the xi-lines. bad <- 1 if a pivot is not finite.
template <bool COMPACT>
__device__ void factor(const Layout& layout, uint32 eta_blocks, real* values, uint32* bad) {
    const bool xi = blockIdx.x >= eta_blocks;
    const uint32 number = (blockIdx.x - (xi ? eta_blocks : 0)) * blockDim.x + threadIdx.x;
    if (number >= (xi ? layout.mj : layout.mi)) return;
    const bool finite = xi ? factor_line<true, COMPACT>(layout, values, number)
                           : factor_line<false, COMPACT>(layout, values, number);
    if (!finite) *bad = 1;
}

KERNEL(factor_compact, uint32 mi, uint32 mj, uint32 half, uint32 rim, uint32 eta_blocks, real* a,
       uint32* bad) {
    factor<true>({mi, mj, half, rim}, eta_blocks, a, bad);
}

KERNEL(factor_full, uint32 mi, uint32 mj, uint32 half, uint32 rim, uint32 eta_blocks, real* a,
       uint32* bad) {
    factor<false>({mi, mj, half, rim}, eta_blocks, a, bad);
}
