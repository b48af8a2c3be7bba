// The smoother of multigrid: block-tridiagonal solves along the lines of a level.
#include "common.cuh"
#include "level.cuh"

// Lines of a block times its warps, at most, where a line spans several warps.
#define LINE_MAPS 64

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
    return REVERSE ? __shfl_down_sync(FULL_WARP, value, step)
                   : __shfl_up_sync(FULL_WARP, value, step);
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

// The first value of an eta-line of transposed equations, u_0 = G^-T (f_0 - sum W_l b_l), and b_l of the
// points after the first in the places of u.
template <bool COMPACT>
__device__ Pair first_of_transposed(const Line<false, COMPACT>& line, const Team& team, uint32 segments,
                                    uint32 zero, const Pair* f, Pair* u) {
    __shared__ Pair parts[LINE_THREADS];
    const bool live = line.solved();
    const int along = live ? line.along() : 0;
    Pair sum = live && team.chunk == 0 ? f[line.at(0)] : pair(0, 0);
    for (uint32 s = 0; s < segments; ++s) {
        const int first = (int(s * team.chunks) + int(team.chunk)) * LINE_CHUNK;
        Beside<false, COMPACT> beside(line, u, live && !zero ? first : int(line.along()) + 2);
#pragma unroll
        for (int k = 0; k < LINE_CHUNK; ++k) {
            const int l = first + k;
            if (l >= along) break;
            const int at = line.at(l);
            Pair b = f[at];
            if (!zero) beside.subtract_from(b);
            if (l == 0) continue;
            subtract(sum, line.a.border()[at], b);
            u[at] = b;
        }
    }
    parts[team.chunk * team.lines + team.line] = sum;
    __syncthreads();
    Pair total = pair(0, 0);
    for (uint32 chunk = 0; live && chunk < team.chunks; ++chunk)
        total = total + parts[chunk * team.lines + team.line];
    return live ? line.a.border()[line.at(0)] * total : pair(0, 0);
}

// Only eta-lines of transposed equations have a first value of their own.
template <bool COMPACT>
__device__ Pair first_of_transposed(const Line<true, COMPACT>&, const Team&, uint32, uint32, const Pair*, Pair*) {
    return pair(0, 0);
}

// u <- solution on the lines of one colour for the values beside them, which are zero where
// `zero` says so. Each line is solved by a team of threads, chunk by chunk: the recurrences
//
//   y_l = D_l^-1 (b_l - P_l y_{l-1}),   u_l = y_l - D_l^-1 N_l u_{l+1}
//
// are affine maps of the value before. A thread composes the maps of its chunk, a scan over the
// team gives what flows into it, and it runs the recurrence. A line that is longer than its team
// takes is solved in segments. Closed lines: the last point is condensed out,
// u_l <- u_l - H_l u_last with u_last = D^-1 (b - P u_{last-1} - N u_0). Bordered lines: with the first
// point held at zero, whose inverse pivot is zero, u_l <- u_l - V_l d with d = G^-1 (b_0 - N_0 u_1); those
// of transposed equations start from u_0 = G^-T (f_0 - sum W_l b_l).
//
// Only COPIES has several blocks in z: the smoother has no registers to spare.
template <bool XI, bool COMPACT, bool COPIES, bool TRANSPOSED>
__device__ void relax(const LevelLayout& layout, uint32 colour, uint32 lines, uint32 chunks, uint32 zero,
                      real* values, const real* f_values, real* u_values) {
    __shared__ Affine maps[2][LINE_MAPS];
    // The value carried between segments; the two ends of closed lines; their closing value, or the wall
    // terms of bordered lines.
    __shared__ Pair carries[WARP], firsts[WARP], lasts[WARP], closings[WARP];
    const Team team = ::team<XI>(lines, chunks);
    Line<XI, COMPACT> line;
    line.layout = layout;
    line.a = operator_of<COMPACT>(layout, values);
    line.number = 2 * (blockIdx.x * lines + team.line) + colour;
    const bool live = line.solved();
    const bool condensed = line.closed() || (line.bordered() && !TRANSPOSED);
    const int along = live ? line.along() : 0, open = live ? line.open() : 0;
    const Pair* f = reinterpret_cast<const Pair*>(f_values) + (COPIES ? layout.copy_of_f() : 0);
    Pair* u = reinterpret_cast<Pair*>(u_values) + (COPIES ? layout.copy_of_u() : 0);
    const int segment = int(chunks) * LINE_CHUNK;
    const uint32 segments = uint32((line.along() + segment - 1) / segment);
    uint32 turn = 0;

    // g = D^-1 b, then y, then u; P stands for D^-1 P, N for D^-1 N.
    Pair y[LINE_CHUNK];
    Block next[LINE_CHUNK];
    // Right side of a bordered line's first point.
    Pair wall_right = pair(0, 0);
    // Before and after a xi-line stands what another band has there, or zero.
    Pair carry = XI && live ? u[line.at(-1)] : pair(0, 0);
    if (TRANSPOSED) carry = first_of_transposed(line, team, segments, zero, f, u);
    for (uint32 s = 0; s < segments; ++s) {
        const int first = s * segment + team.chunk * LINE_CHUNK;
        Block prev[LINE_CHUNK];
        Affine map = affine(diagonal(1), pair(0, 0));
        const bool surrounded = !zero && !TRANSPOSED;
        Beside<XI, COMPACT> beside(line, u, live && surrounded ? first : int(line.along()) + 2);
#pragma unroll
        for (int k = 0; k < LINE_CHUNK; ++k) {
            const int l = first + k;
            y[k] = pair(0, 0);
            prev[k] = next[k] = diagonal(0);
            if (l < along) {
                const int at = line.at(l);
                Pair b = TRANSPOSED ? u[at] : f[at];
                if (surrounded) beside.subtract_from(b);
                if (XI && layout.terms())
                    subtract(b, line.a.columns()[at], u[layout.column(l)]);
                if (!XI && l == 0) wall_right = b;
                if (TRANSPOSED && l == 0) {
                    y[k] = carry;
                } else if (l < open) {
                    const Block pivot = line.pivot()[at];
                    y[k] = pivot * b;
                    prev[k] = pivot * line.prev()[at];
                    next[k] = pivot * line.next()[at];
                } else {
                    u[at] = b;
                }
            } else if (XI && live) {
                y[k] = u[line.at(along)];
            }
            map = compose(affine(real(-1) * prev[k], y[k]), map);
        }
        Pair value = scan<false>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = 0; k < LINE_CHUNK; ++k) {
            subtract(y[k], prev[k], value);
            value = y[k];
        }
        if (s + 1 == segments) break;
#pragma unroll
        for (int k = 0; k < LINE_CHUNK; ++k)
            if (first + k < open) u[line.at(first + k)] = y[k];
        if (team.chunk + 1 == chunks) carries[team.line] = value;
        __syncthreads();
        carry = carries[team.line];
    }

    carry = XI && live ? u[line.at(along)] : pair(0, 0);
    for (uint32 s = segments; s-- > 0;) {
        const int first = s * segment + team.chunk * LINE_CHUNK;
        if (s + 1 < segments) {
#pragma unroll
            for (int k = 0; k < LINE_CHUNK; ++k) {
                const int at = line.at(first + k);
                y[k] = live ? u[at] : pair(0, 0);
                next[k] = live ? line.pivot()[at] * line.next()[at] : diagonal(0);
            }
        }
        Affine map = affine(diagonal(1), pair(0, 0));
#pragma unroll
        for (int k = LINE_CHUNK; k-- > 0;) map = compose(affine(real(-1) * next[k], y[k]), map);
        Pair value = scan<true>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = LINE_CHUNK; k-- > 0;) {
            subtract(y[k], next[k], value);
            value = y[k];
        }
        if (!condensed || s > 0)
#pragma unroll
            for (int k = 0; k < LINE_CHUNK; ++k)
                if (first + k < open) u[line.at(first + k)] = y[k];
        if (s > 0) {
            if (team.chunk == 0) carries[team.line] = value;
            __syncthreads();
            carry = carries[team.line];
        }
    }
    if (TRANSPOSED || !condensed) return;

    if (!XI) {
        if (live && team.chunk == 0) {
            const int at = line.at(0);
            if (along > 1) subtract(wall_right, line.next()[at], y[1]);
            closings[team.line] = line.a.border()[at] * wall_right;
        }
        __syncthreads();
        const Pair terms = closings[team.line];
        for (uint32 s = 0; s < segments; ++s) {
#pragma unroll
            for (int k = 0; k < LINE_CHUNK; ++k) {
                const int l = s * segment + team.chunk * LINE_CHUNK + k;
                if (l >= along) break;
                const int at = line.at(l);
                Pair value = s == 0 ? y[k] : u[at];
                subtract(value, line.a.border()[at], terms);
                u[at] = l == 0 ? terms : value;
            }
        }
        return;
    }
    // The value of point open - 1 stands in memory if its segment is not the first.
    const int first = team.chunk * LINE_CHUNK;
    if (team.chunk == 0) firsts[team.line] = y[0];
#pragma unroll
    for (int k = 0; k < LINE_CHUNK; ++k)
        if (first + k + 1 == open) lasts[team.line] = y[k];
    __syncthreads();
    if (live && team.chunk == open % segment / LINE_CHUNK) {
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
        for (int k = 0; k < LINE_CHUNK; ++k) {
            const int l = s * segment + first + k;
            if (l >= along) break;
            const int at = line.at(l);
            Pair value = s == 0 ? y[k] : u[at];
            if (l < open) subtract(value, line.a.closing()[at], closing);
            u[at] = l < open ? value : closing;
        }
    }
}

#define RELAX(name, XI, COMPACT, COPIES, TRANSPOSED)                                              \
    BOUNDED_KERNEL(LINE_THREADS, name, LevelLayout layout,              \
                   uint32 colour, uint32 lines, uint32 chunks, uint32 zero, real* a,               \
                   const real* f, real* u) {                                                       \
        relax<XI, COMPACT, COPIES, TRANSPOSED>(layout, colour, lines, chunks, zero, a, f, u);      \
    }

RELAX(relax_eta_compact, false, true, false, false)
RELAX(relax_eta_full, false, false, false, false)
RELAX(relax_xi_compact, true, true, false, false)
RELAX(relax_xi_full, true, false, false, false)
RELAX(relax_eta_copies, false, false, true, false)
RELAX(relax_xi_copies, true, false, true, false)
RELAX(relax_eta_transposed, false, false, true, true)
