// Block-tridiagonal solves along the lines of a multigrid level: the smoother, and its factors.
#include "common.cuh"
#include "level.cuh"

// Points of a line that one thread takes: what it keeps of them fits its registers.
#define CHUNK (sizeof(real) == 4 ? 8 : 4)
// Threads of a block of the smoother, at most.
#define LINE_THREADS (sizeof(real) == 4 ? 512 : 256)
// Lines of a block times its warps, at most, where a line spans several warps.
#define LINE_MAPS 64

// The blocks of a point named for the line through it: `prev` and `next` along it, `left` and
// `right` beside it.
template <bool XI, bool COMPACT>
struct Line {
    Layout layout;
    Operator<COMPACT> a;
    // Line within its colour, and its number.
    uint32 index, number;

    __device__ uint32 along() const { return XI ? layout.mi : layout.mj; }
    __device__ uint32 across() const { return XI ? layout.mj : layout.mi; }
    __device__ bool closed() const { return XI && layout.wraps; }
    // Points of the recurrence: the last point of a closed line is condensed out.
    __device__ uint32 open() const { return along() - closed(); }

    __device__ int at(int l) const {
        return XI ? number * layout.row() + layout.column(l) : l * layout.row() + layout.column(number);
    }
    // Places of the neighbours beside point l, which may be one before the first or one after
    // the last: around a closed line, and zeros otherwise.
    __device__ int left(int l) const {
        return XI ? (int(number) - 1) * layout.row() + around(l) : l * layout.row() + layout.west(number);
    }
    __device__ int right(int l) const {
        return XI ? (int(number) + 1) * layout.row() + around(l) : l * layout.row() + layout.east(number);
    }
    __device__ int around(int l) const { return l < 0 ? layout.west(0) : l == int(layout.mi) ? layout.east(l - 1) : layout.column(l); }

    __device__ const Block* prev() const { return XI ? a.west() : a.south(); }
    __device__ const Block* next() const { return XI ? a.east() : a.north(); }
    __device__ const Block* beside_left() const { return XI ? a.south() : a.west(); }
    __device__ const Block* beside_right() const { return XI ? a.north() : a.east(); }
    __device__ const Block* left_prev() const { return a.southwest(); }
    __device__ const Block* right_prev() const { return XI ? a.northwest() : a.southeast(); }
    __device__ const Block* left_next() const { return XI ? a.southeast() : a.northwest(); }
    __device__ const Block* right_next() const { return a.northeast(); }
    __device__ Block* pivot() const { return XI ? a.xi_pivot() : a.eta_pivot(); }
};

// x -> a x + b.
struct Affine {
    Block a;
    Pair b;

    __device__ Pair operator()(Pair x) const { return a * x + b; }
};

__device__ inline Affine affine(const Block& a, Pair b) {
    Affine map;
    map.a = a;
    map.b = b;
    return map;
}

__device__ inline Affine compose(const Affine& second, const Affine& first) {
    return affine(second.a * first.a, second(first.b));
}

template <bool REVERSE>
__device__ inline real shuffled(real value, uint32 step) {
    return REVERSE ? __shfl_down_sync(FULL_WARP, value, step) : __shfl_up_sync(FULL_WARP, value, step);
}

template <bool REVERSE>
__device__ inline Affine shuffled(const Affine& map, uint32 step) {
    return affine(block(shuffled<REVERSE>(map.a.xx, step), shuffled<REVERSE>(map.a.xy, step),
                        shuffled<REVERSE>(map.a.yx, step), shuffled<REVERSE>(map.a.yy, step)),
                  pair(shuffled<REVERSE>(map.b.x, step), shuffled<REVERSE>(map.b.y, step)));
}

// The threads of a line within a block: chunk after chunk, `span` of them in a warp, at lanes
// `stride` apart.
struct Team {
    uint32 lines, chunks, line, chunk, stride, span;

    __device__ uint32 warps() const { return chunks / span; }
};

// Eta-lines beside one another are neighbours in memory: their threads take turns in a warp. The
// threads of a xi-line follow one another.
template <bool XI>
__device__ inline Team team(uint32 lines, uint32 chunks) {
    Team team;
    team.lines = lines;
    team.chunks = chunks;
    team.line = XI ? threadIdx.x / chunks : threadIdx.x % lines;
    team.chunk = XI ? threadIdx.x % chunks : threadIdx.x / lines;
    team.stride = XI ? 1 : lines;
    team.span = XI ? min(chunks, uint32(WARP)) : WARP / lines;
    return team;
}

// What flows into this thread's chunk when `inflow` flows into the first of the line, by the maps
// of all chunks before it; REVERSE counts from the last chunk on. Calls in turn need two `shared`.
template <bool REVERSE>
__device__ Pair scan(Affine map, Pair inflow, const Team& team, Affine* shared) {
    const uint32 in_warp = team.chunk % team.span, warp = team.chunk / team.span;
    const uint32 position = REVERSE ? team.span - 1 - in_warp : in_warp;
    for (uint32 step = 1; step < team.span; step *= 2) {
        const Affine before = shuffled<REVERSE>(map, step * team.stride);
        if (position >= step) map = compose(map, before);
    }
    const Affine before = shuffled<REVERSE>(map, team.stride);
    if (team.warps() > 1) {
        if (position + 1 == team.span) shared[warp * team.lines + team.line] = map;
        __syncthreads();
        const uint32 rank = REVERSE ? team.warps() - 1 - warp : warp;
        for (uint32 w = 0; w < rank; ++w) {
            const uint32 from = REVERSE ? team.warps() - 1 - w : w;
            inflow = shared[from * team.lines + team.line](inflow);
        }
    }
    return position > 0 ? before(inflow) : inflow;
}

// Right sides of the points of a chunk less the couplings beside the line.
template <bool XI, bool COMPACT>
struct Beside {
    const Line<XI, COMPACT>& line;
    const Pair* u;
    int l;
    Pair left[3], right[3];

    __device__ Beside(const Line<XI, COMPACT>& line, const Pair* u, int first)
        : line(line), u(u), l(first) {
        load(1, first - 1);
        load(2, first);
    }
    __device__ void load(int slot, int l) {
        const bool there = l <= int(line.along());
        left[slot] = there ? u[line.left(l)] : pair(0, 0);
        right[slot] = there ? u[line.right(l)] : pair(0, 0);
    }
    // b <- b - terms beside point l; then on to the next point.
    __device__ void subtract_from(Pair& b) {
        left[0] = left[1], left[1] = left[2];
        right[0] = right[1], right[1] = right[2];
        load(2, l + 1);
        const int at = line.at(l);
        subtract(b, line.beside_left()[at], left[1]);
        subtract(b, line.beside_right()[at], right[1]);
        if (COMPACT) {
            const Pair corners = (left[0] - right[0]) + (right[2] - left[2]);
            b = b - line.a.corner()[at] * corners;
        } else {
            subtract(b, line.left_prev()[at], left[0]);
            subtract(b, line.right_prev()[at], right[0]);
            subtract(b, line.left_next()[at], left[2]);
            subtract(b, line.right_next()[at], right[2]);
        }
        ++l;
    }
};

// u <- solution on the lines of one colour for the values beside them, which are zero where
// `zero` says so. Each line is solved by a team of threads, chunk by chunk: the recurrences
//
//   y_l = D_l^-1 (b_l - P_l y_{l-1}),   u_l = y_l - D_l^-1 N_l u_{l+1}
//
// are affine maps of the value before. A thread composes the maps of its chunk, a scan over the
// team gives what flows into it, and it runs the recurrence. A line that is longer than its team
// takes is solved in segments. Closed lines: the last point is condensed out,
// u_l <- u_l - H_l u_last with u_last = D^-1 (b - P u_{last-1} - N u_0).
template <bool XI, bool COMPACT>
__device__ void relax(const Layout& layout, uint32 colour, uint32 lines, uint32 chunks, uint32 zero,
                      real* values, const real* f_values, real* u_values) {
    __shared__ Affine maps[2][LINE_MAPS];
    // The value carried between segments; the two ends and the closing value of closed lines.
    __shared__ Pair carries[WARP], firsts[WARP], lasts[WARP], closings[WARP];
    const Team team = ::team<XI>(lines, chunks);
    Line<XI, COMPACT> line;
    line.layout = layout;
    line.a = {values, layout.points()};
    line.index = blockIdx.x * lines + team.line;
    line.number = 2 * line.index + colour;
    const bool live = line.number < line.across();
    const int along = live ? line.along() : 0, open = live ? line.open() : 0;
    const Pair* f = reinterpret_cast<const Pair*>(f_values);
    Pair* u = reinterpret_cast<Pair*>(u_values);
    const int segment = int(chunks) * CHUNK;
    const uint32 segments = uint32((line.along() + segment - 1) / segment);
    uint32 turn = 0;

    // g = D^-1 b, then y, then u; P stands for D^-1 P, N for D^-1 N.
    Pair y[CHUNK];
    Block next[CHUNK];
    Pair carry = pair(0, 0);
    for (uint32 s = 0; s < segments; ++s) {
        const int first = s * segment + team.chunk * CHUNK;
        Block prev[CHUNK];
        Affine map = affine(diagonal(1), pair(0, 0));
        Beside<XI, COMPACT> beside(line, u, live && !zero ? first : int(line.along()) + 2);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = first + k;
            y[k] = pair(0, 0);
            prev[k] = next[k] = diagonal(0);
            if (l < along) {
                const int at = line.at(l);
                Pair b = f[at];
                if (!zero) beside.subtract_from(b);
                if (l < open) {
                    const Block pivot = line.pivot()[at];
                    y[k] = pivot * b;
                    prev[k] = pivot * line.prev()[at];
                    next[k] = pivot * line.next()[at];
                } else {
                    u[at] = b;
                }
            }
            map = compose(affine(real(-1) * prev[k], y[k]), map);
        }
        Pair value = scan<false>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            subtract(y[k], prev[k], value);
            value = y[k];
        }
        if (s + 1 == segments) break;
#pragma unroll
        for (int k = 0; k < CHUNK; ++k)
            if (first + k < open) u[line.at(first + k)] = y[k];
        if (team.chunk + 1 == chunks) carries[team.line] = value;
        __syncthreads();
        carry = carries[team.line];
    }

    carry = pair(0, 0);
    for (uint32 s = segments; s-- > 0;) {
        const int first = s * segment + team.chunk * CHUNK;
        if (s + 1 < segments) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) {
                const int at = line.at(first + k);
                y[k] = live ? u[at] : pair(0, 0);
                next[k] = live ? line.pivot()[at] * line.next()[at] : diagonal(0);
            }
        }
        Affine map = affine(diagonal(1), pair(0, 0));
#pragma unroll
        for (int k = CHUNK; k-- > 0;) map = compose(affine(real(-1) * next[k], y[k]), map);
        Pair value = scan<true>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = CHUNK; k-- > 0;) {
            subtract(y[k], next[k], value);
            value = y[k];
        }
        if (!line.closed() || s > 0)
#pragma unroll
            for (int k = 0; k < CHUNK; ++k)
                if (first + k < open) u[line.at(first + k)] = y[k];
        if (s > 0) {
            if (team.chunk == 0) carries[team.line] = value;
            __syncthreads();
            carry = carries[team.line];
        }
    }
    if (!line.closed()) return;

    // The value of point open - 1 stands in memory if its segment is not the first.
    const int first = team.chunk * CHUNK;
    if (team.chunk == 0) firsts[team.line] = y[0];
#pragma unroll
    for (int k = 0; k < CHUNK; ++k)
        if (first + k + 1 == open) lasts[team.line] = y[k];
    __syncthreads();
    if (live && team.chunk == open % segment / CHUNK) {
        const int at = line.at(open);
        const Pair before = open > segment ? u[line.at(open - 1)] : lasts[team.line];
        Pair b = u[at];
        subtract(b, line.prev()[at], before);
        subtract(b, line.next()[at], firsts[team.line]);
        closings[team.line] = line.pivot()[at] * b;
    }
    __syncthreads();
    const Pair closing = closings[team.line];
    for (uint32 s = 0; s < segments; ++s) {
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = s * segment + first + k;
            if (l >= along) break;
            const int at = line.at(l);
            Pair value = s == 0 ? y[k] : u[at];
            if (l < open) subtract(value, line.a.closing()[at], closing);
            u[at] = l < open ? value : closing;
        }
    }
}

#define RELAX(name, XI, COMPACT)                                                                   \
    BOUNDED_KERNEL(LINE_THREADS, name, uint32 mi, uint32 mj, uint32 half, uint32 wraps,            \
                   uint32 colour, uint32 lines, uint32 chunks, uint32 zero, real* a, const real* f, \
                   real* u) {                                                                      \
        relax<XI, COMPACT>({mi, mj, half, wraps != 0}, colour, lines, chunks, zero, a, f, u);      \
    }

RELAX(relax_eta_compact, false, true)
RELAX(relax_eta_full, false, false)
RELAX(relax_xi_compact, true, true)
RELAX(relax_xi_full, true, false)

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
    line.index = number / 2;
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

KERNEL(factor_compact, uint32 mi, uint32 mj, uint32 half, uint32 wraps, uint32 eta_blocks, real* a,
       uint32* bad) {
    factor<true>({mi, mj, half, wraps != 0}, eta_blocks, a, bad);
}

KERNEL(factor_full, uint32 mi, uint32 mj, uint32 half, uint32 wraps, uint32 eta_blocks, real* a,
       uint32* bad) {
    factor<false>({mi, mj, half, wraps != 0}, eta_blocks, a, bad);
}
