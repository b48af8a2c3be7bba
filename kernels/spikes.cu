// Xi-lines of levels in bands, solved across the borders: the truncated SPIKE algorithm (theory, section 6).
//
// A band solves its piece of a line for what stood beyond its ends before. Where that changes by d, the solution
// changes by -S d: W = A^-1 (P at the first point) for the end before the piece, V = A^-1 (N at the last one) for the
// end after it. Both decay from their border on, so that the pieces beside a border are coupled by the tips of their
// spikes alone.
#include "level.cuh"
#include "halo.cuh"

// Shares of d that change the solution by less are left out.
#define NEGLIGIBLE (sizeof(real) == 4 ? real(1e-6) : real(1e-15))

// A value for each line at both borders: that before the band comes first.
__device__ inline uint64 place(uint32 side, uint32 mj, uint32 j) { return side * uint64(mj) + j; }

// Blocks that a point of a spike is made of.
struct Factors {
    Block pivot, beside, value;
};

// Does step(k, load(k)) for k < count in turn, as long as it returns true. Several loads are made at once.
template <class Load, class Step>
__device__ void in_turn(uint32 count, const Load& load, const Step& step) {
    const uint32 AT_ONCE = 4;
    for (uint32 first = 0; first < count; first += AT_ONCE) {
        Factors loaded[AT_ONCE];
#pragma unroll
        for (uint32 n = 0; n < AT_ONCE; ++n)
            if (first + n < count) loaded[n] = load(first + n);
#pragma unroll
        for (uint32 n = 0; n < AT_ONCE; ++n)
            if (first + n < count && !step(first + n, loaded[n])) return;
    }
}

// The spike of a line: V from its last point on (`after`), or W from its first. Returns the points it reaches.
__device__ uint32 make_spike(const LineOf<true, AnyOperator>& line, bool after, uint32 columns, Block* spike) {
    Block value = diagonal(-1);
    uint32 reach = 0;
    auto load = [&](uint32 k) {
        const int at = line.at(after ? line.along() - 1 - k : k);
        return Factors{line.pivot()[at], after ? line.next(at) : line.prev(at), diagonal(0)};
    };
    in_turn(columns, load, [&](uint32 k, const Factors& point) {
        value = real(-1) * (point.pivot * (point.beside * value));
        spike[k] = value;
        reach = k + 1;
        return !(magnitude(value) < NEGLIGIBLE);
    });
    if (after) return reach;
    // From the last point but one back to the first.
    auto load_back = [&](uint32 k) {
        const uint32 to = reach - 2 - k;
        const int at = line.at(to);
        return Factors{line.pivot()[at], line.next(at), spike[to]};
    };
    in_turn(reach - 1, load_back, [&](uint32 k, const Factors& point) {
        value = point.value - point.pivot * (point.beside * value);
        spike[reach - 2 - k] = value;
        return true;
    });
    return reach;
}

// Spikes of all lines, `columns` blocks each, and how far they reach. One thread a spike.
KERNEL(make_spikes, LevelLayout layout, uint32 columns, real* a, Block* spikes, uint32* reach) {
    const uint64 k = thread_index();
    if (k >= 2 * uint64(layout.mj)) return;
    const bool after = k >= layout.mj;
    const uint32 number = uint32(k - after * uint64(layout.mj));
    const LineOf<true, AnyOperator> line = {layout, any_operator_of(layout, a), number};
    reach[k] = 0;
    if (layout.edges & (after ? EDGE_EAST : EDGE_WEST))
        reach[k] = make_spike(line, after, columns, spikes + k * columns);
}

// Changes of the points at a border: the last one before it by l, the first one after it by r, if their pieces
// alone changed them by a and b:
//
//   l = a - V r,   r = b - W l.
struct Change {
    Pair before, after;

    __device__ Change(const Block& v, const Block& w, Pair a, Pair b) {
        after = inverse(diagonal(1) - w * v) * (b - w * a);
        before = a - v * after;
    }
};

// A point that the change at a border reaches, and how.
struct Reached {
    uint32 i;
    Pair value;
    Block before, after;
};

// u of the lines of one colour, solved piece by piece, <- that of the whole lines, beyond the outer columns too, whose
// former values are in own_old. One block a line, in the order of their start, a thread a border.
KERNEL(join_lines, LevelLayout layout, uint32 colour, uint32 columns,
       const Block* spikes, const uint32* reach, const Pair* tips, const Pair* own_old,
       Pair* u_values, HaloColumns halo) {
    __shared__ Pair changes[2];
    const HaloExchange exchange = halo_exchange(halo, layout.edges, layout.mj);
    const uint32 j = 2 * exchange.block() + colour, side = threadIdx.x;
    Pair* u = u_values + int64(j) * layout.row();
    const Pair solved = side < 2 ? u[layout.column(side ? int(layout.mi) - 1 : 0)] : pair(0, 0);
    if (side < 2 && exchange.sends(side)) exchange.send(side, j, solved);
    if (!(halo.phase & PHASE_RECEIVE)) return;
    const uint64 first = place(0, layout.mj, j), last = place(1, layout.mj, j);
    const Block *const w = spikes + first * columns, *const v = spikes + last * columns;
    const uint32 west = reach[first], east = reach[last], count = min(layout.mi, west + east);
    auto load = [&](uint32 k) {
        const uint32 i = k < west ? k : layout.mi - count + k, from_end = layout.mi - 1 - i;
        return Reached{i, u[layout.column(i)], i < west ? w[i] : diagonal(0),
                       from_end < east ? v[from_end] : diagonal(0)};
    };
    Reached point;
    if (threadIdx.x < count) point = load(threadIdx.x);
    if (side < 2) changes[side] = pair(0, 0);
    if (side < 2 && exchange.receives(side)) {
        const uint64 at = place(side, layout.mj, j);
        // The upper rows of all tips come before the lower ones.
        const Pair* const tip = tips + 2 * side * uint64(layout.mj) + j;
        const Pair upper = tip[0], lower = tip[layout.mj];
        const Block theirs = block(upper.x, upper.y, lower.x, lower.y), ours = (side ? v : w)[0];
        const Pair own = solved - own_old[at];
        Pair& beyond = u[layout.column(side ? int(layout.mi) : -1)];
        const Pair old = beyond, other = exchange.receive(side, j) - old;
        changes[side] = side ? Change(ours, theirs, own, other).after
                             : Change(theirs, ours, other, own).before;
        beyond = old + changes[side];
    }
    __syncthreads();
    for (uint32 k = threadIdx.x; k < count;) {
        subtract(point.value, point.before, changes[0]);
        subtract(point.value, point.after, changes[1]);
        u[layout.column(point.i)] = point.value;
        k += blockDim.x;
        if (k < count) point = load(k);
    }
}
