// The ends of factors of xi-lines that are long or closed.
#include "pivots.cuh"

// Whether inverse pivots differ by more than the solution of a line, a part of a preconditioner, is to be wrong by.
__device__ inline bool differ(const Block& a, const Block& b) {
    const real allowed = sizeof(real) == 4 ? real(1e-5) : real(1e-13);
    return !(magnitude(a - b) <= allowed * magnitude(a));
}

// Joins the chunks of xi-lines: after the start of a chunk, inverse pivots that differ from those of the whole
// line are replaced. Returns whether all of them are finite.
__device__ bool join_chunks(const Lines<true>& lines, Stage& stage) {
    typedef LineOf<true, AnyOperator> XiLine;
    const int open = int(lines.line.open());
    auto carried_to = [](const XiLine& of, int l) {
        const int before = of.at(l - 1);
        return of.pivot()[before] * of.next(before);
    };
    // Each warp looks at other chunks.
    XiLine line = lines.first;
    line.number += threadIdx.x % WARP;
    bool any = false;
    for (int l = int(FACTOR_CHUNK * (1 + threadIdx.x / WARP)); l < open; l += int(FACTOR_THREADS / WARP * FACTOR_CHUNK)) {
        if (!line.solved()) break;
        Blocks<3> of;
        lines.load(line, line.at(l), of);
        Block carried = carried_to(line, l);
        any = any || differ(eliminate(of.at, carried), line.pivot()[line.at(l)]);
    }
    if (!__syncthreads_or(any)) return true;
    Block* const pivots = lines.line.pivot();
    bool finite = true;
    auto blocks = [=](const XiLine& of, int l, Blocks<PLANES>& to) {
        lines.load(of, of.at(l), to);
        to.at[3] = pivots[of.at(l)];
    };
    for (int begin = FACTOR_CHUNK; begin < open; begin += FACTOR_CHUNK) {
        Block carried = lines.own ? carried_to(lines.line, begin) : diagonal(0);
        bool replaced = true;
        const int count = min(int(FACTOR_CHUNK), open - begin);
        in_stages<1, PLANES>(lines, stage, begin, count, blocks, [&](int l, const Blocks<PLANES>& of) {
            const Block pivot = eliminate(of.at, carried);
            replaced = differ(pivot, of.at[3]);
            finite = finite && is_finite(pivot);
            pivots[lines.line.at(l)] = pivot;
        }, [&] { return replaced; });
    }
    return finite;
}

// Closed lines without their last point are open lines T; H = T^-1 (P_0 at the first point, N at the last one) is kept
// beside the pivots where it is not negligible beside 1: it decays from both ends. The last point's pivot is
// D = C - P H_{last-1} - N H_0. Returns whether that is finite.
#define NEGLIGIBLE (sizeof(real) == 4 ? real(1e-8) : real(1e-17))
__device__ bool close_lines(const Lines<true>& lines, Stage& stage) {
    // The points from the first on that H of one of the lines reaches.
    __shared__ int reached;
    typedef LineOf<true, AnyOperator> XiLine;
    const XiLine& line = lines.line;
    const int last = int(line.open()) - 1;
    Block* const pivots = line.pivot();
    Block* const kept = line.a.closing();
    // H is not negligible before point `near`, and from point `far` on.
    int near = 0, far = last;
    Block h = diagonal(-1);
    if (threadIdx.x == 0) reached = 0;
    __syncthreads();
    auto pulled = [=](const XiLine& of, int l, Blocks<1>& to) { to.at[0] = pivots[of.at(l)] * of.prev(of.at(l)); };
    in_stages<1, 1>(lines, stage, 0, last, pulled, [&](int l, const Blocks<1>& of) {
        h = real(-1) * (of.at[0] * h);
        if (near < l || magnitude(h) < NEGLIGIBLE) {
            h = diagonal(0);
            return;
        }
        near = l + 1;
        kept[line.at(l)] = h;
    }, [&] { return magnitude(h) != 0; });
    if (lines.own) {
        const int at = line.at(last);
        h = pivots[at] * (line.next(at) - line.prev(at) * h);
        kept[at] = h;
        atomicMax(&reached, near);
    }
    __syncthreads();
    auto back = [=](const XiLine& of, int l, Blocks<2>& to) {
        const int at = of.at(l);
        to.at[0] = kept[at];
        to.at[1] = pivots[at] * of.next(at);
    };
    bool more = true;
    for (int from = last - 1; from >= 0; from = min(from, reached - 1)) {
        from -= in_stages<-1, 2>(lines, stage, from, from + 1, back, [&](int l, const Blocks<2>& of) {
            h = (l < near ? of.at[0] : diagonal(0)) - of.at[1] * h;
            if (l >= near) {
                if (far == l + 1 && !(magnitude(h) < NEGLIGIBLE)) far = l;
                else h = diagonal(0);
            }
            if (l < near || l == far) kept[line.at(l)] = h;
            more = l < reached || l == far;
        }, [&] { return more; });
    }
    if (!lines.own) return true;
    const int at = line.at(last + 1);
    const Block pivot = inverse(line.a.centre(at) - line.prev(at) * kept[line.at(last)] - line.next(at) * h);
    pivots[at] = pivot;
    kept[at] = block(real(near), 0, 0, real(far));
    return is_finite(pivot);
}

__device__ bool finish_level(const FactoredLevel& of, Stage& stage) {
    const LevelLayout layout = {of.layout};
    const Lines<true> lines(layout, any_operator_of(layout, of.values), blockIdx.x - of.first);
    const bool joined = join_chunks(lines, stage);
    return !lines.line.closed() || close_lines(lines, stage) ? joined : false;
}

// Finishes the xi-lines of `count` levels: joins their chunks, and closes periodic lines. A block has a warp's width.
BOUNDED_KERNEL(2 * FACTOR_THREADS, finish_levels, FactoredLevels levels, uint32 count, uint32* bad) {
    __shared__ Stage stage;
    if (!finish_level(level_of_block(levels, count), stage)) *bad = 1;
}
