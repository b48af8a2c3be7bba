// The hyperbolic march (theory section 4; after Chan and Steger 1992), all layers in one launch of
// one block: a layer needs the one before, so that there is no more to do at a time than a ring
// of points. Double precision only.
#include "common.cuh"
#include "ring.cuh"

// As on the host: substeps a layer, the rise of the dissipation over the layers, the distance over which the extra dissipation sets in, the bound of a concave front.
#define SUBSTEPS 40.0
#define RISE 0.75
#define SPREAD_DISTANCE 0.2
#define CONCAVE_LIMIT 0.1

// A segment of a front: unit vector and length.
struct Segment {
    double x, y, length;
};

// One substep: its height is `height` and `more` for each unit of a point's extra first height.
struct Step {
    double height, more, distance, dissipation, volume_smoothing, implicit;
};

// The front with its segments, the widths of its cells, smoothed, and the extra first heights. An
// open front is a ring whose two ends do not couple.
struct Front {
    uint32 n;
    bool open;
    const Pair* points;
    const Segment* segments;
    const double* smoothed;
    const double* extra;

    __device__ uint32 before(uint32 i) const { return i == 0 ? n - 1 : i - 1; }
    // The segment that ends at point i; the first point of an open front has its own.
    __device__ uint32 segment_before(uint32 i) const { return i == 0 && open ? 0 : before(i); }
    __device__ bool end(uint32 i) const { return open && (i == 0 || i + 1 == n); }
    __device__ uint32 after(uint32 i) const { return i + 1 == n ? 0 : i + 1; }
    __device__ double width(uint32 i) const {
        return 0.5 * (segments[i].length + segments[segment_before(i)].length);
    }
    // Between points i and i + 1.
    __device__ double kappa(uint32 i, const Step& s) const {
        if (open && i + 1 == n) return 0.0;
        const double root = s.volume_smoothing * s.distance / segments[i].length;
        return root * root;
    }
};

// Row of (1 - d kappa d) b = a, which smooths the widths.
struct WidthRow {
    Front front;
    Step step;

    __device__ RingRow<double, double> operator()(uint32 i) const {
        const double west = front.kappa(front.before(i), step), east = front.kappa(i, step);
        RingRow<double, double> r;
        r.lower = -west;
        r.upper = -east;
        r.centre = 1.0 + west + east;
        r.right = front.width(i);
        return r;
    }
};

// Row of [I + (1 + theta) C 1/2 (E - W) - 2 e d^2] Dr = B^-1 (0, V) + e d^2 r; at the ends of an
// open front Dx = 0 and Dy = Dy of the neighbour.
struct MarchRow {
    Front front;
    Step step;

    __device__ RingRow<Block, Pair> operator()(uint32 i) const {
        if (front.end(i)) {
            const Block none = diagonal(0.0), neighbour = block(0.0, 0.0, 0.0, -1.0);
            RingRow<Block, Pair> r;
            r.lower = i == 0 ? none : neighbour;
            r.centre = diagonal(1.0);
            r.upper = i == 0 ? neighbour : none;
            r.right = pair(0.0, 0.0);
            return r;
        }
        const Segment u = front.segments[front.segment_before(i)], v = front.segments[i];
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
        const double height = step.height + step.more * front.extra[i];
        const double a = front.width(i), volume = height * front.smoothed[i];
        const double tx = a * ny, ty = -a * nx, ratio = volume / (a * a);
        const double ex = ratio * -ty, ey = ratio * tx;
        const Block b_inverse = inverse(block(tx, ty, -ty, tx));
        const Block half_c = (0.5 * step.implicit) * (b_inverse * block(ex, ey, ey, -ex));
        double concave = 1.0;
        if (turn > 0.0) {
            const double half = 0.5 * (1.0 + along);
            concave = 1.0 / (half > CONCAVE_LIMIT ? half : CONCAVE_LIMIT);
        }
        const double e = step.dissipation * ratio * concave;
        const Pair west = front.points[front.before(i)], at = front.points[i];
        const Pair east = front.points[front.after(i)];
        RingRow<Block, Pair> r;
        r.lower = diagonal(-2.0 * e) - half_c;
        r.centre = diagonal(1.0 + 4.0 * e);
        r.upper = half_c - diagonal(2.0 * e);
        r.right = b_inverse * pair(0.0, volume) + e * (west - 2.0 * at + east);
        return r;
    }
};

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

__device__ void measure(uint32 n, bool open, const Pair* front, Segment* segments) {
    for (uint32 i = threadIdx.x; i < n; i += blockDim.x) {
        const bool last = i + 1 == n;
        // The last point of an open front has the segment before it.
        const Pair d = last && open ? front[i] - front[i - 1] : front[last ? 0 : i + 1] - front[i];
        const double length = hypot(d.x, d.y);
        Segment s;
        s.x = d.x / length;
        s.y = d.y / length;
        s.length = length;
        segments[i] = s;
    }
    __syncthreads();
}

// fronts[j][i], j >= 2 <- the layers at the distances s[j]; the first two are given. bad[0] <- 1
// if a point is not finite. Point i runs through the distances s[j] + extra[i] splay[j]; no extra
// is more than `tallest`. One block, its threads a power of two.
BOUNDED_KERNEL(512, march, uint32 n, uint32 nj, uint32 open, const double* s, const double* splay,
               const double* extra, double tallest, double implicit, double step_limit,
               double dissipation, double volume_smoothing, double spread, double* fronts,
               double* segment_room, double* smoothed, double* eliminated, double* delta,
               uint32* bad) {
    DYNAMIC_SHARED(unsigned char, shared);
    double* smallest = reinterpret_cast<double*>(shared);
    Pair* layers = reinterpret_cast<Pair*>(fronts);
    Segment* segments = reinterpret_cast<Segment*>(segment_room);
    Pair* moves = reinterpret_cast<Pair*>(delta);
    for (uint32 j = 1; j + 1 < nj; ++j) {
        const Pair* from = layers + uint64(j) * n;
        Pair* front = layers + (uint64(j) + 1) * n;
        for (uint32 i = threadIdx.x; i < n; i += blockDim.x) front[i] = from[i];
        __syncthreads();
        measure(n, open != 0, front, segments);
        double shortest = 1e300;
        for (uint32 i = threadIdx.x; i < n; i += blockDim.x)
            if (segments[i].length < shortest) shortest = segments[i].length;
        shortest = block_smallest(shortest, smallest);
        const double height = s[j + 1] - s[j], more = splay[j + 1] - splay[j];
        const double highest = height + (more > 0.0 ? more : 0.0) * tallest;
        const double wanted = ceil(highest / (step_limit * shortest));
        const double substeps = wanted < 1.0 ? 1.0 : wanted < SUBSTEPS ? wanted : SUBSTEPS;
        const double share = double(j) / (RISE * double(nj - 1));
        const double rise = sqrt(share < 1.0 ? share : 1.0);
        Step step;
        step.height = height / substeps;
        step.more = more / substeps;
        step.implicit = implicit;
        step.volume_smoothing = volume_smoothing;
        step.dissipation = dissipation * rise * (1.0 + spread * s[j] / (s[j] + SPREAD_DISTANCE));
        for (uint32 k = 0; k < uint32(substeps); ++k) {
            step.distance = s[j] + height * (double(k) + 0.5) / substeps;
            if (k > 0) measure(n, open != 0, front, segments);
            const Front present = {n, open != 0, front, segments, smoothed, extra};
            const WidthRow widths = {present, step};
            solve_ring(n, widths, reinterpret_cast<Eliminated<double, double>*>(eliminated),
                       reinterpret_cast<KeptRow<double, double>*>(shared), smoothed);
            const MarchRow rows = {present, step};
            solve_ring(n, rows, reinterpret_cast<Eliminated<Block, Pair>*>(eliminated),
                       reinterpret_cast<KeptRow<Block, Pair>*>(shared), moves);
            for (uint32 i = threadIdx.x; i < n; i += blockDim.x) {
                front[i] = front[i] + moves[i];
                if (!is_finite(front[i].x) || !is_finite(front[i].y)) *bad = 1;
            }
            __syncthreads();
        }
        if (*(volatile uint32*)bad) return;
        __syncthreads();
    }
}
