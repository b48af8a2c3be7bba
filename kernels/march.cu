// The hyperbolic march (theory section 4; after Chan and Steger 1992): a layer needs the one before, so
// that there is no more to do at a time than a ring of points, and every rank of several does all of it:
// it keeps its own columns. A substep has three parts, between which lie its two cyclic systems. On a
// long front each is a launch of the same shape; the number of substeps is known to the GPU alone, and
// launches beyond the last do nothing. On a short one a block does all substeps. Double precision only.
#include "common.cuh"
#include "cyclic.cuh"
#include "columns.cuh"

// A segment of a front: unit vector and length.
struct Segment {
    double x, y, length;
};

// One substep.
struct MarchStep : MarchStepFields {
    // Start of the front before the substep, and of that after it, among two of n points: a layer has the place of
    // its parity.
    __device__ uint64 source(uint32 n) const { return uint64((substep == 0 ? layer : layer + 1) % 2) * n; }
    __device__ uint64 target(uint32 n) const { return uint64((layer + 1) % 2) * n; }
};

// The front, its smoothed widths and the extra first heights. An open front is a ring whose two
// ends do not couple.
struct Front {
    uint32 n;
    bool open;
    const Pair* points;
    const double* smoothed;
    const double* extra;

    __device__ uint32 before(uint32 i) const { return i == 0 ? n - 1 : i - 1; }
    __device__ uint32 after(uint32 i) const { return i + 1 == n ? 0 : i + 1; }
    __device__ bool end(uint32 i) const { return open && (i == 0 || i + 1 == n); }
    // Between points i and i + 1; the last point of an open front has the segment before it.
    __device__ Segment segment(uint32 i) const {
        const uint32 from = open && i + 1 == n ? i - 1 : i;
        const Pair d = points[after(from)] - points[from];
        Segment s;
        s.length = hypot(d.x, d.y);
        s.x = d.x / s.length;
        s.y = d.y / s.length;
        return s;
    }
    // The segment that ends at point i; the first point of an open front has its own.
    __device__ Segment segment_before(uint32 i) const {
        return segment(i == 0 && open ? 0 : before(i));
    }
};

// Row of (1 - d kappa d) b = a, which smooths the widths a of the cells.
struct WidthRow {
    Front front;
    MarchStep step;

    __device__ double kappa(const Segment& s) const {
        const double root = step.volume_smoothing * step.distance / s.length;
        return root * root;
    }
    __device__ CyclicRow<double, double> operator()(uint32 i) const {
        const Segment behind = front.segment_before(i), ahead = front.segment(i);
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
    __device__ void turn_normal(bool lower, double x, double& nx, double& ny) const {
        if (step.slope <= 0.0) return;
        const double sign = lower ? -1.0 : 1.0, left = step.outflow - x;
        const double way = left > 2.2250738585072014e-308 ? left : 2.2250738585072014e-308;
        const double ahead = sign * ny > 0.0 ? sign * ny : 0.0;
        nx *= way;
        ny = ny * way + sign * MARCH_TURN * step.distance * step.slope * ahead;
        const double length = hypot(nx, ny);
        nx /= length;
        ny /= length;
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
        const Segment u = front.segment_before(i), v = front.segment(i);
        const double along = u.x * v.x + u.y * v.y, turn = u.x * v.y - u.y * v.x;
        // Outward bisector; where the front turns by more than 90 degrees the sum of the two
        // directions cancels, and their difference points along it.
        double nx = -(u.y + v.y), ny = u.x + v.x;
        if (along < 0.0) {
            const double convex = turn < 0.0 ? 1.0 : -1.0;
            nx = convex * (u.x - v.x);
            ny = convex * (u.y - v.y);
        }
        const double length = hypot(nx, ny);
        nx /= length;
        ny /= length;
        turn_normal(i < front.n / 2, front.points[i].x, nx, ny);
        const double height = step.height + step.more * front.extra[i];
        const double a = 0.5 * (u.length + v.length), volume = height * front.smoothed[i];
        const double tx = a * ny, ty = -a * nx, ratio = volume / (a * a);
        const double ex = ratio * -ty, ey = ratio * tx;
        const Block b_inverse = inverse(block(tx, ty, -ty, tx));
        const Block half_c = (0.5 * step.implicit) * (b_inverse * block(ex, ey, ey, -ex));
        double concave = 1.0;
        if (turn > 0.0) {
            const double half = 0.5 * (1.0 + along);
            concave = 1.0 / (half > MARCH_CONCAVE_LIMIT ? half : MARCH_CONCAVE_LIMIT);
        }
        const double growth = log(v.length / u.length) * step.inverse_growth, square = growth * growth;
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
    return {reinterpret_cast<EliminatedPoint<M, V>*>(buffers.points), reinterpret_cast<ReducedRow<M, V>*>(buffers.chunks),
            reinterpret_cast<KeptRow<M, V>*>(buffers.block_rows)};
}

// Smallest value over the block, for all threads.
__device__ double block_smallest(double value, double* shared) {
    __syncthreads();
    shared[threadIdx.x] = value;
    __syncthreads();
    for (uint32 step = blockDim.x / 2; step > 0; step /= 2) {
        if (threadIdx.x < step && shared[threadIdx.x + step] < shared[threadIdx.x])
            shared[threadIdx.x] = shared[threadIdx.x + step];
        __syncthreads();
    }
    const double smallest = shared[0];
    __syncthreads();
    return smallest;
}

// shortest[block] <- the shortest segment between two points of the block.
__device__ void shortest_within(const Front& front, double* shared, double* shortest) {
    const Chunk chunk = chunk_of(front.n, thread_index());
    const bool last = threadIdx.x + 1 == blockDim.x;
    double smallest = 1e300;
    for (uint32 i = chunk.begin; i < chunk.last + !last; ++i) {
        const double length = front.segment(i).length;
        if (length < smallest) smallest = length;
    }
    smallest = block_smallest(smallest, shared);
    if (threadIdx.x == 0) shortest[blockIdx.x] = smallest;
}

// The shortest segment of the front: those within the blocks are known.
__device__ double shortest_of(const Front& front, const double* shortest, double* shared) {
    double smallest = 1e300;
    if (threadIdx.x < gridDim.x) {
        smallest = shortest[threadIdx.x];
        const uint32 last = chunk_of(front.n, uint64(threadIdx.x + 1) * blockDim.x - 1).last;
        const double length = front.segment(last).length;
        if (length < smallest) smallest = length;
    }
    return block_smallest(smallest, shared);
}

// A march: fronts[j % 2][i] is layer j at the distance layers[j]; point i runs through the distances
// layers[j] + extra[i] splay[j], and no extra is more than `tallest`. x, y [nj][columns] <- the points
// that are kept.
struct March : MarchFields {
    __device__ uint32 n() const { return columns.around; }
    __device__ const Pair* points(uint64 from) const {
        return reinterpret_cast<const Pair*>(fronts) + from;
    }
    __device__ Front front(uint64 from) const {
        return {n(), (columns.flags & COLUMNS_OPEN) != 0, points(from), smoothed, extra};
    }
    // Begins from layer 1.
    __device__ void begin(unsigned char* shared) const {
        shortest_within(front(n()), reinterpret_cast<double*>(shared), shortest);
        if (thread_index() == 0) *progress = {1, 0, 0, 0};
    }
    // The next substep.
    __device__ MarchStep next(unsigned char* shared) const {
        const MarchProgress at = *progress;
        MarchStep next;
        next.layer = at.layer;
        next.substep = at.substep;
        next.idle = at.bad != 0 || at.layer + 1 >= nj;
        if (next.idle) return next;
        const uint32 j = at.layer;
        const double height = layers[j + 1] - layers[j], more = splay[j + 1] - splay[j];
        next.substeps = at.substeps;
        if (at.substep == 0) {
            const double highest = height + (more > 0.0 ? more : 0.0) * tallest;
            const double least =
                shortest_of(front(next.source(n())), shortest, reinterpret_cast<double*>(shared));
            const double wanted = ceil(highest / (step_limit * least));
            next.substeps =
                uint32(wanted < 1.0 ? 1.0 : wanted < MARCH_SUBSTEPS ? wanted : MARCH_SUBSTEPS);
        }
        const double substeps = next.substeps, share = double(j) / (MARCH_RISE * double(nj - 1));
        const double rise = sqrt(share < 1.0 ? share : 1.0);
        const double distance = layers[j] / (layers[j] + MARCH_SPREAD_DISTANCE);
        next.height = height / substeps;
        next.more = more / substeps;
        next.implicit = implicit;
        next.inverse_growth = inverse_growth;
        next.outflow = outflow;
        next.slope = slope;
        next.volume_smoothing = volume_smoothing;
        next.dissipation = dissipation * rise * (1.0 + spread * distance);
        next.distance = layers[j] + height * (double(at.substep) + 0.5) / substeps;
        return next;
    }
    // First part of a substep: what it is, and the elimination of the widths.
    __device__ void eliminate_widths(unsigned char* shared) const {
        const MarchStep now = next(shared);
        if (thread_index() == 0) *static_cast<MarchStep*>(step) = now;
        if (now.idle) return;
        const WidthRow rows = {front(now.source(n())), now};
        eliminate_cyclic(n(), rows, workspace<double, double>(widths),
                         reinterpret_cast<ReducedRow<double, double>*>(shared));
    }
    // Second part: the smoothed widths, and the elimination of the moves.
    __device__ void eliminate_moves(unsigned char* shared) const {
        const MarchStep now = *static_cast<const MarchStep*>(step);
        if (now.idle) return;
        solve_cyclic(n(), workspace<double, double>(widths),
                     reinterpret_cast<ReducedRow<double, double>*>(shared),
                     [=](uint32 i, double width) { smoothed[i] = width; });
        __syncthreads();
        const MarchRow rows = {front(now.source(n())), now};
        eliminate_cyclic(n(), rows, workspace<Block, Pair>(moves),
                         reinterpret_cast<ReducedRow<Block, Pair>*>(shared));
    }
    // Third part: moves the front, and keeps its points. progress.bad <- 1 if one is not finite.
    __device__ void move(unsigned char* shared) const {
        const MarchStep now = *static_cast<const MarchStep*>(step);
        if (now.idle) return;
        Pair* all = reinterpret_cast<Pair*>(fronts);
        Pair* moved = all + now.target(n());
        const uint64 row = (uint64(now.layer) + 1) * columns.count;
        const Moved take = {all + now.source(n()), moved, {columns}, x + row, y + row, &progress->bad};
        solve_cyclic(n(), workspace<Block, Pair>(moves),
                     reinterpret_cast<ReducedRow<Block, Pair>*>(shared), take);
        __syncthreads();
        shortest_within(front(now.target(n())), reinterpret_cast<double*>(shared), shortest);
        if (thread_index() == 0) {
            const bool last = now.substep + 1 == now.substeps;
            progress->layer = last ? now.layer + 1 : now.layer;
            progress->substep = last ? 0 : now.substep + 1;
            progress->substeps = now.substeps;
        }
    }
};

#define MARCH(name, part)                                       \
    BOUNDED_KERNEL(CYCLIC_THREADS, name, MarchFields fields) { \
        DYNAMIC_SHARED(unsigned char, shared);                  \
        March{fields}.part(shared);                             \
    }
MARCH(march_begin, begin)
MARCH(march_widths, eliminate_widths)
MARCH(march_moves, eliminate_moves)
MARCH(march_front, move)

// The whole march, by one block.
BOUNDED_KERNEL(CYCLIC_THREADS, march_by_block, MarchFields fields) {
    DYNAMIC_SHARED(unsigned char, shared);
    const March march = {fields};
    march.begin(shared);
    __syncthreads();
    for (;;) {
        march.eliminate_widths(shared);
        __syncthreads();
        if (march.step->idle) return;
        march.eliminate_moves(shared);
        __syncthreads();
        march.move(shared);
        __syncthreads();
    }
}
