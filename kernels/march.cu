// The hyperbolic march (theory section 4; after Chan and Steger 1992) of a ring of points, layer by layer. Every rank
// of several does all of it and keeps its own columns. One launch does all substeps; its blocks wait for each other
// (`sync_blocks`) behind the elimination of both cyclic systems of a substep, and when the front has moved. The first
// system smooths widths; most grids have no such smoothing. Double precision only.
#include "cyclic.cuh"
#include "columns.cuh"

// A segment of a front: unit vector, length, and the inverse of the length.
struct Segment {
    double x, y, length, inverse;
};

// The vector of length 1 in the direction of v.
__device__ inline Pair direction(Pair v) {
    const double inverse = rsqrt(v.x * v.x + v.y * v.y);
    return {v.x * inverse, v.y * inverse};
}

// One substep: its height is `height` and `more` for each unit of a point's extra first height.
struct MarchStep {
    double height, more, distance, dissipation, volume_smoothing, implicit, inverse_growth, outflow, slope;
};

// The front, its segments, its smoothed widths and the extra first heights. An open front is a ring whose two
// ends do not couple. `first` is the first point of this block.
struct Front {
    uint32 n, first;
    bool open;
    const Pair* points;
    const Segment* segments;
    const double* smoothed;
    const double* extra;

    __device__ uint32 before(uint32 i) const { return i == 0 ? n - 1 : i - 1; }
    __device__ uint32 after(uint32 i) const { return i + 1 == n ? 0 : i + 1; }
    __device__ bool end(uint32 i) const { return open && (i == 0 || i + 1 == n); }
    // Between points i and i + 1; the last point of an open front has the segment before it.
    __device__ Segment measured(uint32 i) const {
        const uint32 from = open && i + 1 == n ? i - 1 : i;
        const Pair d = points[after(from)] - points[from];
        const double square = d.x * d.x + d.y * d.y, inverse = rsqrt(square);
        return {d.x * inverse, d.y * inverse, square * inverse, inverse};
    }
    // The segment that ends at point i of this block; the first point of an open front has its own.
    __device__ Segment segment_before(uint32 i) const {
        return i == first ? measured(i == 0 && open ? 0 : before(i)) : segments[i - 1];
    }
};

// Row of (1 - d kappa d) b = a, which smooths the widths a of the cells.
struct WidthRow {
    Front front;
    MarchStep step;

    __device__ double kappa(const Segment& s) const {
        const double root = step.volume_smoothing * step.distance * s.inverse;
        return root * root;
    }
    __device__ CyclicRow<double, double> operator()(uint32 i) const {
        const Segment behind = front.segment_before(i), ahead = front.segments[i];
        const double west = front.open && i == 0 ? 0.0 : kappa(behind);
        const double east = front.open && i + 1 == front.n ? 0.0 : kappa(ahead);
        CyclicRow<double, double> r;
        r.lower = -west;
        r.upper = -east;
        r.centre = 1.0 + west + east;
        r.right = 0.5 * (ahead.length + behind.length);
        return r;
    }
};

// Row of [I + (1 + theta) C 1/2 (E - W) - 2 e d^2] Dr = B^-1 (0, V) + e d^2 r; at the ends of an
// open front Dx = 0 and Dy = Dy of the neighbour.
struct MarchRow {
    Front front;
    MarchStep step;

    // Perpendicular to l t + 2 s m max(0, t.x) x, with t the tangent, l the distance from the outflow, m the
    // slope of the cut there and x the direction of the axis in which the front runs.
    __device__ Pair turned_normal(bool lower, double x, Pair n) const {
        if (step.slope <= 0.0) return n;
        const double sign = lower ? -1.0 : 1.0, left = step.outflow - x;
        const double way = left > 2.2250738585072014e-308 ? left : 2.2250738585072014e-308;
        const double ahead = sign * n.y > 0.0 ? sign * n.y : 0.0;
        return direction({n.x * way, n.y * way + sign * MARCH_TURN * step.distance * step.slope * ahead});
    }
    __device__ CyclicRow<Block, Pair> operator()(uint32 i) const {
        if (front.end(i)) {
            const Block none = diagonal(0.0), neighbour = block(0.0, 0.0, 0.0, -1.0);
            CyclicRow<Block, Pair> r;
            r.lower = i == 0 ? none : neighbour;
            r.centre = diagonal(1.0);
            r.upper = i == 0 ? neighbour : none;
            r.right = pair(0.0, 0.0);
            return r;
        }
        const Segment u = front.segment_before(i), v = front.segments[i];
        const double along = u.x * v.x + u.y * v.y, turn = u.x * v.y - u.y * v.x;
        // Outward bisector; where the front turns by more than 90 degrees the sum of the two
        // directions cancels, and their difference points along it.
        Pair n = {-(u.y + v.y), u.x + v.x};
        if (along < 0.0) {
            const double convex = turn < 0.0 ? 1.0 : -1.0;
            n = {convex * (u.x - v.x), convex * (u.y - v.y)};
        }
        n = turned_normal(i < front.n / 2, front.points[i].x, direction(n));
        const double height = step.height + step.more * front.extra[i];
        const double a = 0.5 * (u.length + v.length), volume = height * front.smoothed[i];
        const double tx = a * n.y, ty = -a * n.x, ratio = volume * reciprocal(a * a);
        const double ex = ratio * -ty, ey = ratio * tx;
        const Block b_inverse = inverted(block(tx, ty, -ty, tx));
        const Block half_c = (0.5 * step.implicit) * (b_inverse * block(ex, ey, ey, -ex));
        double concave = 1.0;
        if (turn > 0.0) {
            const double half = 0.5 * (1.0 + along);
            concave = 1.0 / (half > MARCH_CONCAVE_LIMIT ? half : MARCH_CONCAVE_LIMIT);
        }
        // Around closed fronts, where it does not count, the logarithm would be a good part of a row's time.
        const double growth = step.inverse_growth > 0.0 ? log(v.length * u.inverse) * step.inverse_growth : 0.0;
        const double square = growth * growth;
        const double e = step.dissipation * ratio * concave * (1.0 + square * square);
        const Pair west = front.points[front.before(i)], at = front.points[i];
        const Pair east = front.points[front.after(i)];
        CyclicRow<Block, Pair> r;
        r.lower = diagonal(-2.0 * e) - half_c;
        r.centre = diagonal(1.0 + 4.0 * e);
        r.upper = half_c - diagonal(2.0 * e);
        r.right = b_inverse * pair(0.0, volume) + e * (west - 2.0 * at + east);
        return r;
    }
};

// Takes the moves of the points: the moved front, and the same layer of the columns that are kept.
struct Moved {
    const Pair* from;
    Pair* to;
    Columns columns;
    double *x, *y;
    uint32* bad;

    __device__ void operator()(uint32 i, Pair move) const {
        const Pair point = from[i] + move;
        to[i] = point;
        const uint32 n = columns.around;
        for (uint32 c = (i + n - columns.first) % n; c < columns.count; c += n) {
            x[c] = point.x;
            y[c] = point.y;
        }
        if (!is_finite(point.x) || !is_finite(point.y)) *bad = 1;
    }
};

template <class M, class V>
__device__ inline CyclicWorkspace<M, V> workspace(const CyclicBuffers& buffers) {
    return {reinterpret_cast<EliminatedPoint<M, V>*>(buffers.points),
            reinterpret_cast<KeptRow<M, V>*>(buffers.block_rows)};
}

// A march: fronts[j % 2][i] is layer j; point i runs through layers[j] + extra[i] splay[j], and no extra is more than
// `tallest`. x, y [nj][columns] <- the points that are kept; *bad <- 1 if one is not finite: the march ends.
struct March : MarchFields {
    __device__ uint32 n() const { return columns.around; }
    __device__ Pair* points(uint32 parity) const {
        return reinterpret_cast<Pair*>(fronts) + uint64(parity) * n();
    }
    __device__ Front front(uint32 first, uint32 parity) const {
        const bool open = (columns.flags & COLUMNS_OPEN) != 0;
        return {n(), first, open, points(parity), reinterpret_cast<const Segment*>(segments), smoothed, extra};
    }
    // Measures the segments of the thread's points to the points after them; returns the least length.
    __device__ double measure(const Chunk& chunk, const Front& front) const {
        double least = 1e300;
        for (uint32 i = chunk.begin; i <= chunk.last; ++i) {
            const Segment segment = front.measured(i);
            reinterpret_cast<Segment*>(segments)[i] = segment;
            if (segment.length < least) least = segment.length;
        }
        __syncthreads();
        return least;
    }
    // shortest[block] <- the least of the values of the block's threads.
    __device__ void find_shortest(double value, double* shared) const {
        const uint32 t = threadIdx.x, threads = blockDim.x;
        shared[t] = value;
        __syncthreads();
        if (t >= WARP) return;
        for (uint32 k = t + WARP; k < threads; k += WARP) value = fmin(value, shared[k]);
        shared[t] = value;
        for (uint32 step = WARP / 2; step > 0; step /= 2) {
            __syncwarp();
            if (t < step && t + step < threads) shared[t] = value = fmin(value, shared[t + step]);
        }
        if (t == 0) shortest[blockIdx.x] = value;
    }
    // Substeps from layer j to the next, by the shortest segment of layer j. Of blocks that are not there it is huge.
    __device__ uint32 substeps(uint64 j) const {
        double least = shortest[0];
#pragma unroll
        for (uint32 block = 1; block < MOST_TOGETHER; ++block) least = fmin(least, shortest[block]);
        const double more = splay[j + 1] - splay[j];
        const double highest = layers[j + 1] - layers[j] + (more > 0.0 ? more : 0.0) * tallest;
        const double wanted = ceil(highest / (step_limit * least));
        return uint32(wanted < 1.0 ? 1.0 : wanted < MARCH_SUBSTEPS ? wanted : MARCH_SUBSTEPS);
    }
    // The first of `substeps` from layer j to the next.
    __device__ MarchStep first_step(uint64 j, double substeps) const {
        const double height = layers[j + 1] - layers[j], share = double(j) / (MARCH_RISE * double(nj - 1));
        const double rise = sqrt(share < 1.0 ? share : 1.0);
        const double spread_here = spread * (layers[j] / (layers[j] + MARCH_SPREAD_DISTANCE));
        MarchStep step;
        step.height = height / substeps;
        step.more = (splay[j + 1] - splay[j]) / substeps;
        step.implicit = implicit;
        step.inverse_growth = inverse_growth;
        step.outflow = outflow;
        step.slope = slope;
        step.volume_smoothing = volume_smoothing;
        step.dissipation = dissipation * rise * (1.0 + spread_here);
        step.distance = layers[j] + 0.5 * step.height;
        return step;
    }
    // Moves the front, whose segments are measured, by a substep towards layer j + 1.
    __device__ void move(uint64 j, const MarchStep& now, const ThreadChunks& chunks, const Front& front,
                         unsigned char* shared) const {
        const WidthRow width = {front, now};
        if (now.volume_smoothing > 0.0) {
            const auto width_rows = reinterpret_cast<ReducedRow<double, double>*>(shared);
            const auto width_space = workspace<double, double>(widths);
            const auto width_row = eliminate_cyclic(chunks, width, width_space, width_rows);
            sync_blocks(arrived);
            solve_cyclic(chunks, width_space, width_row, width_rows,
                         [=](uint32 i, double width) { smoothed[i] = width; });
            __syncthreads();
        } else {
            // The system is the identity. A thread reads the widths of its own points alone.
            for (uint32 i = chunks.own.begin; i <= chunks.own.last; ++i) smoothed[i] = width(i).right;
        }
        const auto move_rows = reinterpret_cast<ReducedRow<Block, Pair>*>(shared);
        const auto move_space = workspace<Block, Pair>(moves);
        const auto move_row = eliminate_cyclic(chunks, MarchRow{front, now}, move_space, move_rows);
        sync_blocks(arrived);
        const uint64 row = (j + 1) * columns.count;
        const Moved take = {front.points, points((j + 1) % 2), {columns}, x + row, y + row, bad};
        solve_cyclic(chunks, move_space, move_row, move_rows, take);
        sync_blocks(arrived);
    }
    __device__ void run(unsigned char* shared) const {
        const ThreadChunks chunks(n());
        for (uint64 j = 1; j + 1 < nj; ++j) {
            const Front layer = front(chunks.first, j % 2), moved = front(chunks.first, (j + 1) % 2);
            find_shortest(measure(chunks.own, layer), reinterpret_cast<double*>(shared));
            sync_blocks(arrived);
            if (*bad) return;
            const uint32 count = substeps(j);
            MarchStep step = first_step(j, count);
            for (uint32 k = 0; k < count; ++k) {
                if (k > 0) measure(chunks.own, moved);
                move(j, step, chunks, k == 0 ? layer : moved, shared);
                step.distance += step.height;
            }
        }
    }
};

BOUNDED_KERNEL(CYCLIC_THREADS, march, MarchFields fields) {
    DYNAMIC_SHARED(unsigned char, shared);
    March{fields}.run(shared);
}
