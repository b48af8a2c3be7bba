// The smoother of multigrid: block-tridiagonal solves along the lines of a level. Each of its kernels takes up to a
// second to compile, so that they are in files of their own, which are compiled at the same time.
#pragma once
#include "level.cuh"

// Thread layout of one line solve. A line is cut into chunks of CHUNK points, one thread per chunk; `span` threads
// of a line are in one warp, `stride` lanes apart (the lanes in between belong to other lines).
template <int CHUNK>
struct Team {
    uint32 lines, chunks, line, chunk, stride, span;
    // Buffer through which the threads of a xi-line exchange values, CHUNK + 1 for each thread.
    Pair* places;

    __device__ uint32 warps() const { return chunks / span; }
    // Place of this thread's chunk within its warp.
    __device__ uint32 in_warp() const { return chunk % span; }
};

// Eta-lines beside one another are neighbours in memory: their threads take turns in a warp. The
// threads of a xi-line follow one another.
template <bool XI, int CHUNK>
__device__ inline Team<CHUNK> team(uint32 lines, uint32 chunks) {
    DYNAMIC_SHARED(Pair, places);
    Team<CHUNK> team;
    team.places = places;
    team.lines = lines;
    team.chunks = chunks;
    team.line = XI ? threadIdx.x / chunks : threadIdx.x % lines;
    team.chunk = XI ? threadIdx.x % chunks : threadIdx.x / lines;
    team.stride = XI ? 1 : lines;
    team.span = XI ? min(chunks, uint32(WARP)) : WARP / lines;
    return team;
}

// The threads of a warp take turns along a xi-line of long chunks. A short chunk has one point of each parity, so that
// the threads of a warp read neighbouring points without turns.
template <bool XI, int CHUNK>
constexpr bool takes_turns = XI && CHUNK != SHORT_CHUNK;

// The points of a segment of a line by thread. Neighbouring threads access neighbouring points: a chunk is a thread's
// own on eta-lines; along a xi-line of long chunks the threads of a warp take TURNS, and exchange values.
template <bool TURNS, int CHUNK>
struct Points {
    const Team<CHUNK>& team;
    int first;

    __device__ Points(const Team<CHUNK>& team, uint32 segment)
        : team(team), first(int(segment * team.chunks * CHUNK)) {}
    // Point k of this thread's chunk.
    __device__ int in_chunk(int k) const { return first + int(team.chunk) * CHUNK + k; }
    // The point that this thread reads and writes in turn k.
    __device__ int in_turn(int k) const {
        if (!TURNS) return in_chunk(k);
        const uint32 before = team.chunk - team.in_warp();
        return first + int(before * CHUNK + k * team.span + team.in_warp());
    }
};

// Values of the points of this thread's turns -> those of its chunk, or back.
template <bool TO_CHUNKS, int CHUNK>
__device__ inline void exchange(const Team<CHUNK>& team, Pair (&values)[CHUNK]) {
    // One place more for each chunk, so that the threads of a warp access different banks.
    Pair* const places = team.places + (threadIdx.x - team.in_warp()) * (CHUNK + 1);
    Pair* const chunk = places + team.in_warp() * (CHUNK + 1);
    __syncwarp();
#pragma unroll
    for (uint32 k = 0; k < CHUNK; ++k) {
        const uint32 turn = k * team.span + team.in_warp();
        (TO_CHUNKS ? places[turn + turn / CHUNK] : chunk[k]) = values[k];
    }
    __syncwarp();
#pragma unroll
    for (uint32 k = 0; k < CHUNK; ++k) {
        const uint32 turn = k * team.span + team.in_warp();
        values[k] = TO_CHUNKS ? chunk[k] : places[turn + turn / CHUNK];
    }
}

template <bool TO_CHUNKS, int CHUNK>
__device__ inline void exchange(const Team<CHUNK>& team, Block (&blocks)[CHUNK]) {
    Pair rows[2][CHUNK];
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
        rows[0][k] = pair(blocks[k].xx, blocks[k].xy);
        rows[1][k] = pair(blocks[k].yx, blocks[k].yy);
    }
    exchange<TO_CHUNKS>(team, rows[0]);
    exchange<TO_CHUNKS>(team, rows[1]);
#pragma unroll
    for (int k = 0; k < CHUNK; ++k)
        blocks[k] = block(rows[0][k].x, rows[0][k].y, rows[1][k].x, rows[1][k].y);
}

// Exclusive scan of affine maps over the chunks of a line, by shuffles within warps and shared memory across them;
// returns the value that enters this thread's chunk. REVERSE scans from the last chunk. Consecutive calls must
// alternate between two `shared` buffers, since there is no barrier after the last read.
template <bool REVERSE, int CHUNK>
__device__ Pair scan(Affine map, Pair inflow, const Team<CHUNK>& team, Affine* shared) {
    const uint32 in_warp = team.in_warp(), warp = team.chunk / team.span;
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

// The value at an address where there is one, else zero. Conditions of single loads leave them on their way together.
template <class T>
__device__ inline T load_if(bool there, const T* at) {
    T value = {};
    if (there) value = *at;
    return value;
}

// Couplings of a point of a line with its neighbours, zero where it is not `there`; those beside the line only where it
// is `surrounded`. Ten numbers are loaded together; registers have no room for all blocks at a time.
template <bool XI, bool COMPACT, bool EARLY = false>
struct Couplings {
    Pair first, along[2], beside[2];

    __device__ Couplings() {}
    template <Walls WALLS>
    __device__ Couplings(const Line<XI, COMPACT, WALLS>& line, int at, bool there, bool surrounded) {
        auto pair_of = [&](bool there, int slot) { return load_if(there, line.a.pairs(slot) + at); };
        first = pair_of(there, 0);
#pragma unroll
        for (int k = 0; k < 2; ++k) {
            along[k] = pair_of(there, XI ? 1 + k : 3 + k);
            beside[k] = pair_of(there && surrounded, XI ? 3 + k : 1 + k);
        }
    }
    __device__ Sides along_line() const { return sides(XI, along); }
    // b <- b - terms beside the point, for u on the lines beside it at the points before, at and after it.
    __device__ void subtract_from(Pair& b, const Pair (&left)[3], const Pair (&right)[3]) const {
        const Sides at = sides(!XI, beside);
        subtract(b, at.before, left[1]);
        subtract(b, at.after, right[1]);
        b = b - first.y * ((left[0] - right[0]) + (right[2] - left[2]));
    }
    __device__ Sides sides(bool along_xi, const Pair (&slopes)[2]) const {
        return TenNumbers::sides(along_xi ? first.x : real(0.5) - first.x, slopes[0], slopes[1]);
    }
};

template <bool XI>
struct Couplings<XI, false> {
    const Operator<false>& a;
    int at;
    bool there, surrounded;

    template <Walls WALLS>
    __device__ Couplings(const Line<XI, false, WALLS>& line, int at, bool there, bool surrounded)
        : a(line.a), at(at), there(there), surrounded(surrounded) {}
    __device__ Block block_of(bool there, int along, int across) const {
        return load_if(there, (XI ? a.towards(along, across) : a.towards(across, along)) + at);
    }
    __device__ Sides along_line() const { return {block_of(there, -1, 0), block_of(there, 1, 0)}; }
    __device__ void subtract_from(Pair& b, const Pair (&left)[3], const Pair (&right)[3]) const {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            subtract(b, block_of(there && surrounded, k - 1, -1), left[k]);
            subtract(b, block_of(there && surrounded, k - 1, 1), right[k]);
        }
    }
};

// Blocks that are loaded at once.
template <bool XI>
struct Couplings<XI, false, true> {
    Sides along;
    Block beside[3][2];

    __device__ Couplings() {}
    template <Walls WALLS>
    __device__ Couplings(const Line<XI, false, WALLS>& line, int at, bool there, bool surrounded) {
        const Couplings<XI, false> couplings(line, at, there, surrounded);
        along = couplings.along_line();
#pragma unroll
        for (int k = 0; k < 6; ++k) beside[k / 2][k % 2] = couplings.block_of(there && surrounded, k / 2 - 1, k % 2 * 2 - 1);
    }
    __device__ Sides along_line() const { return along; }
    __device__ void subtract_from(Pair& b, const Pair (&left)[3], const Pair (&right)[3]) const {
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            subtract(b, beside[k][0], left[k]);
            subtract(b, beside[k][1], right[k]);
        }
    }
};

// The couplings of a point: those that were loaded early, or others that are loaded now.
template <bool EARLY, bool XI, bool COMPACT, Walls WALLS>
__device__ inline auto couplings_of(const Couplings<XI, COMPACT, true>& early, const Line<XI, COMPACT, WALLS>& line,
                                    int at, bool there, bool surrounded) {
    if constexpr (EARLY) return early;
    else return Couplings<XI, COMPACT>(line, at, there, surrounded);
}

// u on the lines beside the points of a thread, zero where not `surrounded`. Without TURNS points follow one another.
template <bool XI, bool COMPACT, Walls WALLS, bool TURNS = XI>
struct Beside {
    const Line<XI, COMPACT, WALLS>& line;
    const Pair* u;
    bool surrounded;
    Pair left[3], right[3];

    __device__ Beside(const Line<XI, COMPACT, WALLS>& line, const Pair* u, int first, bool surrounded)
        : line(line), u(u), surrounded(surrounded) {
        if (TURNS) return;
        load(1, first - 1);
        load(2, first);
    }
    __device__ void load(int slot, int l) {
        const bool there = surrounded && l <= int(line.along());
        left[slot] = load_if(there, u + line.left(l));
        right[slot] = load_if(there, u + line.right(l));
    }
    // Takes point l, the next one without TURNS.
    __device__ void move_to(int l) {
        if (TURNS) {
            load(0, l - 1);
            load(1, l);
        } else {
            left[0] = left[1], left[1] = left[2];
            right[0] = right[1], right[1] = right[2];
        }
        load(2, l + 1);
    }
};

// Solves for the walled ends of an eta-line of transposed equations, u = G^-T (f - sum W_l b_l): the first end, or both
// ends where there are two, whose sums and pivot are coupled. The other points get b_l, which takes the place of u.
template <bool COMPACT, Walls WALLS, int CHUNK>
__device__ void ends_of_transposed(const Line<false, COMPACT, WALLS>& line, const Team<CHUNK>& team, uint32 segments,
                                   uint32 zero, const Pair* f, Pair* u, Pair (&ends)[end_count(WALLS)]) {
    __shared__ Pair parts[end_count(WALLS)][LINE_THREADS];
    const bool live = line.solved(), both = line.bordered_above();
    const int along = live ? line.along() : 0;
    const int at_end[2] = {live ? line.at(0) : 0, live ? line.at(along - 1) : 0};
    Pair sums[end_count(WALLS)];
#pragma unroll
    for (int end = 0; end < end_count(WALLS); ++end) sums[end] = live && team.chunk == 0 ? f[at_end[end]] : pair(0, 0);
    for (uint32 s = 0; s < segments; ++s) {
        const int first = (int(s * team.chunks) + int(team.chunk)) * CHUNK;
        Beside<false, COMPACT, WALLS> beside(line, u, first, live && !zero);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = first + k;
            if (l >= along) break;
            const int at = line.at(l);
            Pair b = f[at];
            if (!zero) {
                beside.move_to(l);
                Couplings<false, COMPACT>(line, at, true, true).subtract_from(b, beside.left, beside.right);
            }
            if (l == 0 || (both && l + 1 == along)) continue;
#pragma unroll
            for (int end = 0; end < end_count(WALLS); ++end)
                if (end == 0 || both) subtract(sums[end], line.a.border(end)[at], b);
            u[at] = b;
        }
    }
#pragma unroll
    for (int end = 0; end < end_count(WALLS); ++end) parts[end][team.chunk * team.lines + team.line] = sums[end];
    __syncthreads();
#pragma unroll
    for (int end = 0; end < end_count(WALLS); ++end) {
        Pair total = pair(0, 0);
        for (uint32 chunk = 0; live && chunk < team.chunks; ++chunk)
            total = total + parts[end][chunk * team.lines + team.line];
        sums[end] = total;
    }
#pragma unroll
    for (int end = 0; end < end_count(WALLS); ++end) {
        ends[end] = live ? line.a.border()[at_end[end]] * sums[0] : pair(0, 0);
        if (both && live) ends[end] = ends[end] + line.a.border(1)[at_end[end]] * sums[end_count(WALLS) - 1];
    }
}

// Shared memory, behind what xi-lines exchange, for the segments of a line before its last one, whose values are in
// registers. It holds the last `count` of them.
template <bool XI, int CHUNK>
struct Held {
    uint32 before_last, count;
    Block* next;
    Pair* y;

    __device__ Held(const Team<CHUNK>& team, uint32 segments, uint32 most)
        : before_last(segments - 1), count(min(most, before_last)) {
        next = reinterpret_cast<Block*>(team.places + (XI ? blockDim.x * (CHUNK + 1) : 0));
        y = reinterpret_cast<Pair*>(next + count * CHUNK * blockDim.x);
    }
    __device__ bool holds(uint32 segment) const { return segment + count >= before_last; }
    // Whether all of these segments are held: their solutions are held then, too, and that of the last one.
    __device__ bool all() const { return count == before_last; }
    // D^-1 N and y of point k of this thread's chunk; the solution takes the place of y, that of the last segment too.
    __device__ Block& next_of(uint32 segment, uint32 k) const { return next[place(segment, k)]; }
    __device__ Pair& y_of(uint32 segment, uint32 k) const { return y[place(segment, k) + CHUNK * blockDim.x]; }
    __device__ uint32 place(uint32 segment, uint32 k) const {
        return ((before_last - 1 - segment) * CHUNK + k) * blockDim.x + threadIdx.x;
    }
};

// u <- y at the points of a segment that the recurrence has; y is left in the order of turns.
template <bool XI, bool COMPACT, Walls WALLS, bool TURNS, int CHUNK>
__device__ inline void store_points(const Line<XI, COMPACT, WALLS>& line, const Points<TURNS, CHUNK>& points,
                                    Pair (&y)[CHUNK], Pair* u) {
    if (TURNS) exchange<false>(points.team, y);
    const int open = line.solved() ? line.open() : 0;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k)
        if (points.in_turn(k) < open) u[line.at(points.in_turn(k))] = y[k];
}

// The solution of a segment but the first, in the order of turns.
template <bool XI, bool COMPACT, Walls WALLS, bool TURNS, int CHUNK>
__device__ inline void load_solution(const Line<XI, COMPACT, WALLS>& line, const Points<TURNS, CHUNK>& points,
                                     const Held<XI, CHUNK>& held, uint32 segment, Pair (&y)[CHUNK], const Pair* u) {
    const int open = line.solved() ? line.open() : 0;
#pragma unroll
    for (int k = 0; k < CHUNK; ++k) {
        const int l = points.in_turn(k);
        y[k] = held.all() ? held.y_of(segment, k) : load_if(l < open, u + line.at(l));
    }
    if (TURNS && held.all()) exchange<false>(points.team, y);
}

// u <- solution on the lines of one colour, those of this block of lines, for the values beside them, which are zero
// where `zero` says so. Each line is solved by a team of threads, chunk by chunk: the recurrences
//
//   y_l = D_l^-1 (b_l - P_l y_{l-1}),   u_l = y_l - D_l^-1 N_l u_{l+1}
//
// are affine maps of the value before. A thread composes the maps of its chunk, a scan over the team gives what flows
// into it, and it runs the recurrence. A line longer than its team takes is solved in segments, of which shared memory
// holds `held_segments`. Closed lines: the last point is condensed out, u_l <- u_l - H_l u_last where H is not
// negligible, with u_last = D^-1 (b - P u_{last-1} - N u_0). Bordered lines: the first point, whose inverse pivot is
// zero, is held at zero, u_l <- u_l - V_l d with d = G^-1 (b_0 - N_0 u_1); those of transposed equations have the
// values of `ends_of_transposed` there. With both ends bordered the last point m is held, too, and u_l <- u_l - V_l d -
// V'_l d' with (d, d') = G^-1 (b_0 - N_0 u_1, b_m - P_m u_{m-1}).
template <bool XI, int CHUNK, bool COMPACT, bool TRANSPOSED, Walls WALLS>
__device__ void relax(const LevelLayout& layout, uint32 colour, uint32 lines, uint32 chunks, uint32 zero,
                      uint32 held_segments, real* values, const Pair* f, Pair* u) {
    __shared__ Affine maps[2][LINE_MAPS];
    // The value between segments; the ends of closed lines; their closing value, or the wall terms of bordered lines.
    __shared__ Pair carries[WARP], firsts[WARP], lasts[WARP], closings[WARP];
    const Team<CHUNK> team = ::team<XI, CHUNK>(lines, chunks);
    Line<XI, COMPACT, WALLS> line;
    line.layout = layout;
    line.a = operator_of<COMPACT>(layout, values);
    line.number = 2 * (blockIdx.x * lines + team.line) + colour;
    const bool live = line.solved();
    const bool condensed = line.closed() || (line.bordered() && !TRANSPOSED);
    const int along = live ? line.along() : 0, open = live ? line.open() : 0;
    const int segment = int(chunks) * CHUNK;
    // Lines that short chunks solve have one segment. They load all that they need of the operator before the launch
    // before has ended: a thread has registers for it.
    constexpr bool SHORT = CHUNK == SHORT_CHUNK, TURNS = takes_turns<XI, CHUNK>;
    const uint32 segments = SHORT ? 1 : uint32((line.along() + segment - 1) / segment);
    const Held<XI, CHUNK> held(team, segments, held_segments);
    uint32 turn = 0;

    // y holds g = D^-1 b, then y, then u; prev and next hold D^-1 P and D^-1 N.
    Pair y[CHUNK];
    Block next[CHUNK];
    // Right side of a bordered line's first point.
    Pair wall_right = pair(0, 0);
    const bool both = line.bordered_above();
    // Corrections of a short line's points, the coupling of its first point with the second, and the equation of the
    // last point of a closed one.
    Block corrections[CHUNK], first_next;
    Sides last_sides;
    Block last_pivot;
    Block reach = SHORT && XI && condensed && live ? line.a.closing()[line.at(open)] : diagonal(0);
    Couplings<XI, COMPACT, true> early[CHUNK];
    Block pivots[CHUNK], columns[CHUNK];
    if constexpr (SHORT) {
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = Points<TURNS, CHUNK>(team, 0).in_chunk(k), at = line.at(l);
            const bool there = l < along;
            pivots[k] = load_if(l < open, line.pivot() + at);
            early[k] = Couplings<XI, COMPACT, true>(line, at, there, live && !zero);
            columns[k] = load_if(XI && there && layout.terms(), line.a.columns() + at);
            if (condensed) corrections[k] = load_if(there, (XI ? line.a.closing() : line.a.border()) + at);
            if (XI && there && l == open) last_pivot = line.pivot()[at];
        }
        wait_for_launches_before();
    }
    // Before and after a xi-line stands what another band has there, or zero.
    Pair carry = XI && live ? u[line.at(-1)] : pair(0, 0);
    auto load_behind = [&] { return XI && live ? u[line.at(along)] : pair(0, 0); };
    const Pair behind = SHORT ? load_behind() : pair(0, 0);
    Pair ends[end_count(WALLS)];
    if constexpr (TRANSPOSED) {
        ends_of_transposed(line, team, segments, zero, f, u, ends);
        carry = ends[0];
    }
    for (uint32 s = 0; s < segments; ++s) {
        const Points<TURNS, CHUNK> points(team, s);
        Block prev[CHUNK];
        const bool surrounded = live && !zero && !TRANSPOSED;
        Beside<XI, COMPACT, WALLS, TURNS> beside(line, u, points.in_turn(0), surrounded);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = points.in_turn(k), at = line.at(l);
            const bool there = l < along;
            // The ends of transposed lines are given.
            const bool first_given = TRANSPOSED && l == 0, last_given = TRANSPOSED && both && l + 1 == along;
            const bool solved = l < open && !first_given && !last_given;
            y[k] = pair(0, 0);
            prev[k] = next[k] = diagonal(0);
            if (!XI && !there) continue;
            Pair b = load_if(there, (TRANSPOSED ? u : f) + at);
            const Block pivot = SHORT ? pivots[k] : load_if(solved, line.pivot() + at);
            beside.move_to(l);
            const auto couplings = couplings_of<SHORT>(early[k], line, at, there, surrounded);
            const bool terms = XI && there && layout.terms();
            const Block wall = SHORT ? columns[k] : load_if(terms, line.a.columns() + at);
            const Pair wall_terms = load_if(terms, u + layout.column(l));
            couplings.subtract_from(b, beside.left, beside.right);
            if (XI) subtract(b, wall, wall_terms);
            if (XI && WALLS != SECTION && there && layout.terms_above())
                subtract(b, line.a.columns(1)[at], u[layout.terms_of(1) + layout.column(l)]);
            if (!XI && WALLS == SIDES && there && layout.terms_beside()) subtract_beside(b, layout, line.a, u, at, l);
            if (!XI && l == 0) wall_right = b;
            if (both && l + 1 == along) firsts[team.line] = b;
            if (XI && there && l == open) closings[team.line] = b;
            y[k] = pivot * b;
            if (first_given) y[k] = carry;
            if (last_given) y[k] = ends[end_count(WALLS) - 1];
            if (XI && live && !there) y[k] = SHORT ? behind : load_behind();
            const Sides along_line = couplings.along_line();
            if (SHORT && !XI && l == 0) first_next = along_line.after;
            if (SHORT && XI && there && l == open) last_sides = along_line;
            prev[k] = pivot * along_line.before;
            next[k] = pivot * along_line.after;
        }
        if (TURNS) exchange<true>(team, next), exchange<true>(team, prev), exchange<true>(team, y);
        Affine map = {diagonal(1), pair(0, 0)};
#pragma unroll
        for (int k = 0; k < CHUNK; ++k)
            map = compose({real(-1) * prev[k], y[k]}, map);
        Pair value = scan<false>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            subtract(y[k], prev[k], value);
            value = y[k];
        }
        if (s + 1 == segments) break;
        if (held.holds(s)) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) held.y_of(s, k) = y[k], held.next_of(s, k) = next[k];
        } else {
            store_points(line, points, y, u);
        }
        if (team.chunk + 1 == chunks) carries[team.line] = value;
        __syncthreads();
        carry = carries[team.line];
    }

    carry = SHORT ? behind : load_behind();
    for (uint32 s = segments; s-- > 0;) {
        const Points<TURNS, CHUNK> points(team, s);
        if (s + 1 < segments && held.holds(s)) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) y[k] = held.y_of(s, k), next[k] = held.next_of(s, k);
        } else if (s + 1 < segments) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) {
                const int at = line.at(points.in_turn(k));
                y[k] = live ? u[at] : pair(0, 0);
                next[k] = live ? line.pivot()[at] * line.next(at) : diagonal(0);
            }
            if (TURNS) exchange<true>(team, y), exchange<true>(team, next);
        }
        Affine map = {diagonal(1), pair(0, 0)};
#pragma unroll
        for (int k = CHUNK; k-- > 0;) map = compose({real(-1) * next[k], y[k]}, map);
        Pair value = scan<true>(map, carry, team, maps[turn++ % 2]);
#pragma unroll
        for (int k = CHUNK; k-- > 0;) {
            subtract(y[k], next[k], value);
            value = y[k];
        }
        if (both || line.closed()) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k)
                if (points.in_chunk(k) + 2 == along) lasts[team.line] = y[k];
        }
        if (!condensed || (s > 0 && !held.all())) {
            store_points(line, points, y, u);
        } else if (s > 0) {
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) held.y_of(s, k) = y[k];
        }
        if (s > 0) {
            if (team.chunk == 0) carries[team.line] = value;
            __syncthreads();
            carry = carries[team.line];
        }
    }
    if (TRANSPOSED || !condensed) return;

    if (!XI) {
        // The terms of the last point, where it is bordered.
        Pair above = pair(0, 0);
        if (both) __syncthreads();
        if (live && team.chunk == 0) {
            const int at = line.at(0);
            if (along > 1) subtract(wall_right, SHORT ? first_next : line.next(at), y[1]);
            closings[team.line] = (SHORT ? corrections[0] : line.a.border()[at]) * wall_right;
            if (both) {
                const int last = line.at(along - 1);
                Pair right = firsts[team.line];
                if (along > 1) subtract(right, line.prev(last), lasts[team.line]);
                lasts[team.line] = line.a.border()[last] * wall_right + line.a.border(1)[last] * right;
                closings[team.line] = closings[team.line] + line.a.border(1)[at] * right;
            }
        }
        __syncthreads();
        const Pair terms = closings[team.line];
        if (both) above = lasts[team.line];
        for (uint32 s = 0; s < segments; ++s) {
            const Points<TURNS, CHUNK> points(team, s);
            if (s > 0) load_solution(line, points, held, s, y, u);
#pragma unroll
            for (int k = 0; k < CHUNK && !SHORT; ++k) {
                const int l = points.in_turn(k);
                corrections[k] = load_if(l < along, line.a.border() + line.at(l));
            }
#pragma unroll
            for (int k = 0; k < CHUNK; ++k) {
                const int l = points.in_turn(k);
                if (l >= along) break;
                const int at = line.at(l);
                Pair value = y[k];
                subtract(value, corrections[k], terms);
                if (both) {
                    subtract(value, line.a.border(1)[at], above);
                    if (l + 1 == along) value = above;
                }
                u[at] = l == 0 ? terms : value;
            }
        }
        return;
    }
    if (team.chunk == 0) firsts[team.line] = y[0];
    __syncthreads();
    if (live && team.chunk == open % segment / CHUNK) {
        const int at = line.at(open);
        if (!SHORT) last_sides = line.along_line(at), last_pivot = line.pivot()[at];
        Pair b = closings[team.line];
        subtract(b, last_sides.before, lasts[team.line]);
        subtract(b, last_sides.after, firsts[team.line]);
        closings[team.line] = last_pivot * b;
    }
    __syncthreads();
    const Pair closing = closings[team.line];
    if (!SHORT && live) reach = line.a.closing()[line.at(open)];
    const int near = int(reach.xx), far = int(reach.yy);
    if (TURNS) exchange<false>(team, y);
    for (uint32 s = 0; s < segments; ++s) {
        const Points<TURNS, CHUNK> points(team, s);
        if (s > 0) load_solution(line, points, held, s, y, u);
#pragma unroll
        for (int k = 0; k < CHUNK; ++k) {
            const int l = points.in_turn(k);
            if (l >= along) break;
            const int at = line.at(l);
            Pair value = y[k];
            if (l < near || (l >= far && l < open))
                subtract(value, SHORT ? corrections[k] : line.a.closing()[at], closing);
            u[at] = l < open ? value : closing;
        }
    }
}

#define RELAX(name, XI, CHUNK, COMPACT, TRANSPOSED, WALLS)                                              \
    BOUNDED_KERNEL(LINE_THREADS, name, LevelLayout layout, uint32 colour, uint32 lines, uint32 chunks,  \
                   uint32 zero, uint32 held, real* a, const Pair* f, Pair* u) {                         \
        relax<XI, CHUNK, COMPACT, TRANSPOSED, WALLS>(layout, colour, lines, chunks, zero, held, a, f, u); \
    }
