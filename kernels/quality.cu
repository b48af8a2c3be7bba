// Finished grids. The formulas equal those of src/grid/quality and src/grid/symmetry.rs to the bit, so that cells that
// are mirror images of each other stay equally good: no product is fused with a sum.
#include "columns.cuh"

__device__ inline double times(double a, double b) { return __dmul_rn(a, b); }
__device__ inline double dot(Vec a, Vec b) { return times(a.x, b.x) + times(a.y, b.y); }
__device__ inline double cross(Vec a, Vec b) { return times(a.x, b.y) - times(a.y, b.x); }
__device__ inline double magnitude(double a) { return a < 0.0 ? -a : a; }
__device__ inline bool is_nan(double a) { return a != a; }
__device__ inline double not_a_number() { return __longlong_as_double(0x7ff8000000000000ll); }
__device__ inline uint64 bits(double a) { return uint64(__double_as_longlong(a)); }

// The nodes of a device's own columns, and those beside them.
struct Nodes {
    OwnColumns own;
    const double *x, *y;

    __device__ Vec at(uint32 i, uint64 j) const {
        const uint64 k = own.index(i, j);
        return {x[k], y[k]};
    }
};

// Each node of a range of columns <- the mean of it and its mirror image. images [nj][columns] have rising columns, so
// that the last belongs to the first. A node with the bits of its partner is put on the line of symmetry.
KERNEL(restore_symmetry, OwnColumnsFields fields, uint32 sideways, double centre,
       const double* images_x, const double* images_y, double* x, double* y) {
    const OwnColumns range = {fields};
    const uint32 count = range.end - range.begin;
    const uint64 k = thread_index();
    if (k >= uint64(count) * range.nj) return;
    const uint64 j = k / count;
    const uint32 t = uint32(k - j * count), i = range.begin + t;
    const uint64 node = range.index(i, j), image = (j + 1) * count - 1 - t;
    auto mirrored = [=](Vec a) -> Vec {
        return {sideways ? times(2.0, centre) - a.x : a.x, sideways ? a.y : -a.y};
    };
    const Vec own = {x[node], y[node]}, partner = {images_x[image], images_y[image]};
    Vec place;
    if (bits(own.x) == bits(partner.x) && bits(own.y) == bits(partner.y)) {
        place.x = sideways ? centre : own.x;
        place.y = sideways ? own.y : 0.0;
    } else if (2 * i < range.ni) {
        place = 0.5 * (own + mirrored(partner));
    } else {
        // The mirror image of what the other becomes.
        place = mirrored(0.5 * (partner + mirrored(own)));
    }
    x[node] = place.x;
    y[node] = place.y;
}

// to [nj][columns] <- columns from `first` on of from [nj][stride].
KERNEL(cut_columns, uint32 stride, uint32 first, uint32 columns, uint32 nj, const double* from,
       double* to) {
    const uint64 values = uint64(columns) * nj;
    for (uint64 k = thread_index(); k < values; k += thread_count()) {
        const uint64 j = k / columns;
        to[k] = from[j * stride + first + (k - j * columns)];
    }
}

// to <- scale (nodes + shift).
KERNEL(place_nodes, uint64 n, double shift, double scale, const double* nodes, double* to) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) to[k] = times(scale, nodes[k] + shift);
}

// A number that rises with |angle - 90 degrees|, of the angle with this sine and cosine times anything.
__device__ inline double distance_from_right(double sine, double cosine) {
    const double size = magnitude(sine) + magnitude(cosine);
    if (size == 0.0) return 1.0;
    return sine < 0.0 ? 2.0 + cosine / size : magnitude(cosine) / size;
}

#define TAN_22_5 (1.41421356237309504880 - 1.0)
#define TAN_67_5 (1.41421356237309504880 + 1.0)
#define TWO_OVER_PI 0.636619772367581343076

// |angle - 90 degrees| / 90 degrees.
__device__ inline double right_angles_from_right(double sine, double cosine) {
    const double coefficients[11] = {
        1.0, -0.33333333333328435, 0.19999999998854168, -0.14285714180900647, 0.11111106177375227,
        -0.09090773003240828, 0.07689952488233016, -0.066402251735395, 0.0568830340363325,
        -0.04347919839046537, 0.021133752033748364};
    const double along = magnitude(sine), across = magnitude(cosine);
    double base = 0.0, over = across, under = along;
    if (across > times(TAN_67_5, along)) {
        base = 1.0;
        over = -along;
        under = across;
    } else if (across > times(TAN_22_5, along)) {
        base = 0.5;
        over = across - along;
        under = across + along;
    }
    const double t = over / under, z = times(t, t);
    double sum = 0.0;
#pragma unroll
    for (int k = 10; k >= 0; --k) sum = times(sum, z) + coefficients[k];
    double quarter = base + times(TWO_OVER_PI, times(t, sum));
    if (under == 0.0) quarter = 1.0;
    const double behind = cosine > 0.0 ? 2.0 + quarter : 2.0 - quarter;
    return sine < 0.0 ? behind : quarter;
}

// skewness [nj - 1][own cells] <- equiangle skewness of the cells; result <- largest skewness, sum of skewness, folded
// cells, smallest determinant.
KERNEL(measure_cells, OwnColumnsFields own, const double* x, const double* y,
       double* skewness, Reduction out) {
    const Nodes nodes = {{own}, x, y};
    const uint64 columns = nodes.own.cells(), cells = columns * (own.nj - 1);
    double all[4] = {0.0, 0.0, 0.0, infinity()};
    for (uint64 cell = thread_index(); cell < cells; cell += thread_count()) {
        const uint64 j = cell / columns;
        const uint32 i = own.begin + uint32(cell - j * columns);
        const Vec corners[4] = {nodes.at(i, j), nodes.at(i + 1, j), nodes.at(i + 1, j + 1),
                                nodes.at(i, j + 1)};
        double worst = -infinity(), sine = 0.0, cosine = 0.0, smallest = infinity();
        bool wrong = false;
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const Vec next = corners[(k + 1) % 4] - corners[k];
            const Vec previous = corners[(k + 3) % 4] - corners[k];
            const double determinant = cross(next, previous), product = dot(next, previous);
            const double distance = distance_from_right(determinant, product);
            wrong = wrong || is_nan(distance);
            smallest = smaller(determinant, smallest);
            if (distance > worst) {
                worst = distance;
                sine = determinant;
                cosine = product;
            }
        }
        const double skew = wrong ? not_a_number() : right_angles_from_right(sine, cosine);
        skewness[cell] = skew;
        all[0] = larger(all[0], skew);
        all[1] += skew;
        all[2] += smallest > 0.0 ? 0.0 : 1.0;
        all[3] = smaller(all[3], smallest);
    }
    grid_reduce<Extremes<1, 8>>(all, 4, out);
}

__device__ inline double length_squared(Vec from, Vec to) { return dot(to - from, to - from); }

// max(a/b, b/a), infinite when one is zero.
__device__ inline double ratio(double a, double b) {
    if (a == 0.0 || b == 0.0) return infinity();
    return a < b ? b / a : a / b;
}

// result <- largest finite aspect ratio of a cell; largest ratio of the squares of consecutive edges along i, and along
// j. One own node at a time, with the edges along i that meet there, and the cell and edges along j that begin there.
KERNEL(measure_ratios, OwnColumnsFields own, const double* x, const double* y, Reduction out) {
    const Nodes nodes = {{own}, x, y};
    const uint64 columns = own.end - own.begin, count = columns * own.nj;
    double all[3] = {1.0, 1.0, 1.0};
    for (uint64 k = thread_index(); k < count; k += thread_count()) {
        const uint64 j = k / columns;
        const uint32 i = own.begin + uint32(k - j * columns);
        const bool east = i + 1 < own.ni, north = j + 1 < own.nj;
        const Vec a = nodes.at(i, j);
        const double along_i = east ? length_squared(a, nodes.at(i + 1, j)) : 0.0;
        const double along_j = north ? length_squared(a, nodes.at(i, j + 1)) : 0.0;
        if (i > 0 && east)
            all[1] = larger(all[1], ratio(length_squared(nodes.at(i - 1, j), a), along_i));
        if (j + 2 < own.nj) {
            const double next = length_squared(nodes.at(i, j + 1), nodes.at(i, j + 2));
            all[2] = larger(all[2], ratio(along_j, next));
        }
        if (!east || !north) continue;
        const double across_i = length_squared(nodes.at(i, j + 1), nodes.at(i + 1, j + 1));
        const double across_j = length_squared(nodes.at(i + 1, j), nodes.at(i + 1, j + 1));
        const double longest = larger(larger(along_i, across_i), larger(along_j, across_j));
        const double shortest = smaller(smaller(along_i, across_i), smaller(along_j, across_j));
        const double aspect = sqrt(longest / shortest);
        if (shortest != 0.0 && is_finite(aspect)) all[0] = larger(all[0], aspect);
    }
    grid_reduce<Extremes<7>>(all, 3, out);
}

// turning[2 j], turning[2 j + 1] <- turning of line j to the left and to the right at own nodes that have a neighbour
// on either side, degrees. A block has a line at a time.
KERNEL(measure_turning, OwnColumnsFields own, const double* x, const double* y, double* turning) {
    const Nodes nodes = {{own}, x, y};
    const uint32 end = own.end < own.ni ? own.end : own.ni - 1;
    for (uint32 j = blockIdx.x; j < own.nj; j += gridDim.x) {
        double all[2] = {0.0, 0.0};
        for (uint32 i = own.begin + threadIdx.x; i < end; i += blockDim.x) {
            if (i == 0) continue;
            const Vec at = nodes.at(i, j), before = at - nodes.at(i - 1, j), after = nodes.at(i + 1, j) - at;
            const double sine = cross(before, after), cosine = dot(before, after);
            const bool to_right = sine < 0.0;
            const double angle = right_angles_from_right(cosine, to_right ? -sine : sine);
            all[to_right ? 1 : 0] += times(90.0, cosine < 0.0 ? 4.0 - angle : angle);
        }
        block_reduce<Sum>(all, 2, [&](uint32 k, double sum) { turning[2 * uint64(j) + k] = sum; });
    }
}

// result <- smallest and largest distance of the first line from the wall, whose `points` points begin at column
// `from`; of the outer nodes from the centre.
KERNEL(measure_lines, OwnColumnsFields own, uint32 from, uint32 points, double centre_x,
       double centre_y, const double* x, const double* y, Reduction out) {
    const Nodes nodes = {{own}, x, y};
    const Vec centre = {centre_x, centre_y};
    double all[4] = {infinity(), 0.0, infinity(), 0.0};
    for (uint64 k = own.begin + thread_index(); k < own.end; k += thread_count()) {
        const uint32 i = uint32(k);
        const double radius = sqrt(length_squared(nodes.at(i, own.nj - 1), centre));
        all[2] = smaller(all[2], radius);
        all[3] = larger(all[3], radius);
        if (i < from || i - from >= points) continue;
        const double height = sqrt(length_squared(nodes.at(i, 0), nodes.at(i, 1)));
        all[0] = smaller(all[0], height);
        all[1] = larger(all[1], height);
    }
    grid_reduce<Extremes<10, 5>>(all, 4, out);
}

// result <- largest and sum of the angles of the first line off the wall's normal in degrees, corners, points with an
// angle: those where the wall does not turn by more than the tangent `corner`, but for the ends of an open wall. The
// wall's points, those of all devices, are line_x, line_y.
KERNEL(measure_angles, OwnColumnsFields own, uint32 from, uint32 points, uint32 closed, double corner,
       const double* line_x, const double* line_y, const double* x, const double* y, Reduction out) {
    const Nodes nodes = {{own}, x, y};
    auto wall = [=](uint32 k) -> Vec { return {line_x[k], line_y[k]}; };
    double all[4] = {0.0, 0.0, 0.0, 0.0};
    for (uint64 i = own.begin + thread_index(); i < own.end; i += thread_count()) {
        if (i < from || i - from >= points) continue;
        const uint32 k = uint32(i) - from;
        if (!closed && (k == 0 || k + 1 == points)) continue;
        const Vec point = wall(k), first_line = nodes.at(uint32(i), 1) - point;
        const Vec before = point - wall((k + points - 1) % points);
        const Vec after = wall((k + 1) % points) - point;
        if (magnitude(cross(before, after)) > times(corner, dot(before, after))) {
            all[2] += 1.0;
            continue;
        }
        const double l_before = sqrt(dot(before, before)), l_after = sqrt(dot(after, after));
        Vec tangent = before + after;
        if (l_before != 0.0 && l_after != 0.0) {
            const double w_before = l_after / l_before, w_after = l_before / l_after;
            tangent.x = times(before.x, w_before) + times(after.x, w_after);
            tangent.y = times(before.y, w_before) + times(after.y, w_after);
        }
        const double right = right_angles_from_right(magnitude(cross(tangent, first_line)),
                                                     dot(tangent, first_line));
        const double angle = times(90.0, right);
        all[0] = larger(all[0], angle);
        all[1] += angle;
        all[3] += 1.0;
    }
    grid_reduce<Extremes<1>>(all, 4, out);
}

// first <- the index of the first value with these bits, or of the first NaN if `wanted` is NaN.
KERNEL(find_value, uint64 n, const double* values, double wanted, uint64* first) {
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const double value = values[k];
        const bool found = is_nan(wanted) ? is_nan(value) : bits(value) == bits(wanted);
        if (found) atomicMin(first, k);
    }
}

// counts[d] += values with digit d after the prefix found[0], and behind these of those after found[1], if it is
// another: BIN_BITS bits from `shift` on, the prefix the bits above. Values are not negative; NaN comes last.
KERNEL(histogram, uint64 n, const double* values, const uint64* found, uint32 shift, uint32* counts) {
    const uint32 bins = 1u << BIN_BITS;
    const uint64 low = found[0], high = found[1];
    __shared__ uint32 own[2 * bins];
    for (uint32 d = threadIdx.x; d < 2 * bins; d += blockDim.x) own[d] = 0;
    __syncthreads();
    for (uint64 k = thread_index(); k < n; k += thread_count()) {
        const uint64 key = bits(values[k]) >> shift, prefix = key >> BIN_BITS;
        const uint32 digit = uint32(key) & (bins - 1);
        if (prefix == low) atomicAdd(own + digit, 1u);
        else if (prefix == high) atomicAdd(own + bins + digit, 1u);
    }
    __syncthreads();
    for (uint32 d = threadIdx.x; d < 2 * bins; d += blockDim.x)
        if (own[d] > 0) atomicAdd(counts + d, own[d]);
}

// The next digits of two order statistics: found[m] has those of number m so far, found[2 + m] its rank among values
// that begin with them. `parts` holds the counts of all ranks; counts <- 0. One block, a thread a digit.
KERNEL(find_digits, uint32 ranks, const uint32* parts, uint32* counts, uint64* found) {
    const uint32 bins = 1u << BIN_BITS, digit = threadIdx.x;
    __shared__ uint64 sums[bins];
    const uint64 prefix[2] = {found[0], found[1]}, nth[2] = {found[2], found[3]};
    uint64 number[2] = {0, 0};
    for (uint32 rank = 0; rank < ranks; ++rank)
        for (uint32 m = 0; m < 2; ++m)
            number[m] += parts[(2 * rank + (prefix[0] == prefix[1] ? 0 : m)) * bins + digit];
    for (uint32 m = 0; m < 2; ++m) {
        __syncthreads();
        sums[digit] = number[m];
        for (uint32 step = 1; step < bins; step *= 2) {
            __syncthreads();
            const uint64 before = digit < step ? 0 : sums[digit - step];
            __syncthreads();
            sums[digit] += before;
        }
        // The sums of the digits before are known by the thread that has the digit.
        const uint64 end = sums[digit], start = end - number[m];
        if (nth[m] < start || nth[m] >= end) continue;
        found[m] = prefix[m] << BIN_BITS | digit;
        found[2 + m] = nth[m] - start;
    }
    counts[digit] = counts[bins + digit] = 0;
}
