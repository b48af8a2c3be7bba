// Control functions, wall terms and the frame of the grid equations from the initial grid (theory section 3). Double
// precision only. Nodes and control functions are arrays [nj][count] of the columns that this device holds.
#include "columns.cuh"
#include "equations.cuh"

// The nodes of the columns.
struct Nodes {
    Columns columns;
    const double *x, *y;

    __device__ Vec at(uint32 c, uint32 j) const {
        const uint64 k = uint64(j) * columns.count + c;
        return {x[k], y[k]};
    }
};

// Central differences and metric tensor at a node off the wall and the outer line (theory eq. 2).
__device__ inline Metrics metrics(const Nodes& nodes, uint32 i, uint32 j) {
    const uint32 beside[3] = {nodes.columns.west(i), i, nodes.columns.east(i)};
    return metrics_of([&](int di, int dj) { return nodes.at(beside[di + 1], j + dj); });
}

// s <- distance from the wall along each line. One thread a line.
KERNEL(arc_lengths, ColumnsFields fields, uint32 nj, const double* x, const double* y, double* s) {
    const uint64 i = thread_index(), stride = fields.count;
    if (i >= stride) return;
    measure_line(i, stride, nj, x, y, [=](uint64 k, double distance, Vec) { s[k] = distance; });
}

// Clipped to +-limit.
__device__ inline double clipped(double value, double limit) {
    return value < -limit ? -limit : value > limit ? limit : value;
}

// Clips like `clipped`; a value that is not a number (a degenerate node) becomes 0.
__device__ inline double clipped_number(double value, double limit) {
    return value != value ? 0.0 : clipped(value, limit);
}

// P and Q that make the nodes around (i, j) a discrete solution: (g22 r_xi) P + (g11 r_eta) Q = -R.
__device__ inline Vec solved_for(const Nodes& nodes, uint32 i, uint32 j, double limit) {
    const Metrics m = metrics(nodes, i, j);
    const Vec r = m.g22 * m.xixi - 2.0 * m.g12 * m.xieta + m.g11 * m.etaeta;
    const double det = m.xi.x * m.eta.y - m.xi.y * m.eta.x;
    const double along_xi = -(r.x * m.eta.y - r.y * m.eta.x) / det;
    const double along_eta = -(m.xi.x * r.y - m.xi.y * r.x) / det;
    return {clipped_number(along_xi / m.g22, limit), clipped_number(along_eta / m.g11, limit)};
}

// controls <- marched control functions before smoothing, P at all nodes and then Q. A held seam has the mean of its
// neighbours; the end of an open line, the wall and the outer line have the values of the nodes next to them.
KERNEL(marched_control, ColumnsFields fields, uint32 nj, double limit, const double* x, const double* y,
       double* controls) {
    const Nodes nodes = {{fields}, x, y};
    const Columns& columns = nodes.columns;
    const ThreadPoint at(columns.count);
    if (at.j >= nj) return;
    const uint32 i = at.i, j = at.j == 0 ? 1 : at.j + 1 == nj ? nj - 2 : at.j;
    Vec value;
    if (columns.held(i)) {
        const Vec east = solved_for(nodes, columns.east(i), j, limit);
        value = 0.5 * (east + solved_for(nodes, columns.west(i), j, limit));
    } else {
        value = solved_for(nodes, columns.off_ends(i), j, limit);
    }
    controls[at.k] = value.x;
    controls[uint64(nj) * columns.count + at.k] = value.y;
}

// 1/4 1/2 1/4 at node i of a row over columns `stride` apart; the ends of an open line stay.
__device__ inline double smoothed(const Columns& columns, const double* row, uint32 i, uint32 stride) {
    const uint32 m = columns.inside(i, stride);
    return 0.5 * row[i] + 0.25 * (row[columns.west(i, m)] + row[columns.east(i, m)]);
}

// variances <- (w0 (1 - exp(-s/d0)))^2 + (w1 (1 - exp(-s/d1)))^2, w0 and w1 being those of the column (theory eq. 8).
KERNEL(smoothing_variances, ColumnsFields fields, uint32 nj, double near, double far, const Vec* widths,
       const double* s, double* variances) {
    const uint64 k = thread_index(), n = fields.count;
    if (k >= n * nj) return;
    const Vec width = widths[k % n];
    const double a = width.x * expm1(-s[k] / near), b = width.y * expm1(-s[k] / far);
    variances[k] = a * a + b * b;
}

// out <- f + w (S f - f) for P and then Q, S = 1/4 1/2 1/4 over columns `stride` apart, w such that with the passes
// before the smoothing has these variances (theory eq. 8). One thread a node.
KERNEL(smooth_control, ColumnsFields fields, uint32 nj, const double* variances, uint32 stride, const double* f,
       double* out) {
    const Columns columns = {fields};
    const ThreadPoint at(columns.count);
    if (at.j >= nj) return;
    const uint64 k = at.k;
    const double square = double(stride) * double(stride);
    const double weight = (2.0 * variances[k] - (square - 1.0) / 3.0) / square;
    const double share = weight < 0.0 ? 0.0 : weight > 1.0 ? 1.0 : weight;
#pragma unroll
    for (uint32 field = 0; field < 2; ++field) {
        const uint64 first = field * uint64(nj) * columns.count, own = first + k;
        const double target = smoothed(columns, f + (own - at.i), at.i, stride);
        out[own] = f[own] + share * (target - f[own]);
    }
}

// -2 (d+ - d-)/(d+ + d-) of the two intervals that meet in a point.
__device__ inline double interval_control(Vec before, Vec at, Vec after) {
    const Vec u = at - before, v = after - at;
    const double a = hypot(u.x, u.y), b = hypot(v.x, v.y);
    return -2.0 * (b - a) / (b + a);
}

// f <- the curvature term -r_eta.r_xixi / (|r_xi|^2 + |r_xixi|^2/4) off the wall, the outer line and the
// ends of an open line, 0 there (theory eq. 9).
KERNEL(curvature_control, ColumnsFields fields, uint32 nj, const double* x, const double* y, double* f) {
    const Nodes nodes = {{fields}, x, y};
    const auto [k, i, j] = ThreadPoint(fields.count);
    if (j >= nj) return;
    f[k] = 0.0;
    if (j == 0 || j + 1 == nj || nodes.columns.is_end(i)) return;
    const Metrics m = metrics(nodes, i, j);
    f[k] = -dot(m.eta, m.xixi) / (m.g11 + 0.25 * dot(m.xixi, m.xixi));
}

// out <- 1/4 1/2 1/4 along xi.
KERNEL(smooth_along_xi, ColumnsFields fields, uint32 nj, const double* f, double* out) {
    const Columns columns = {fields};
    const ThreadPoint at(columns.count);
    if (at.j < nj) out[at.k] = smoothed(columns, f + (at.k - at.i), at.i, 1);
}

// controls <- P at all nodes, the interval ratios of the wall and of the outer line, linear in j between them; then Q,
// the ratio along each line of constant i plus the curvature term, clipped (theory eq. 9).
KERNEL(boundary_control, ColumnsFields fields, uint32 nj, double limit, const double* x, const double* y,
       const double* curvature, double* controls) {
    const Nodes nodes = {{fields}, x, y};
    const auto [k, i, j] = ThreadPoint(fields.count);
    if (j >= nj) return;
    const uint32 w = nodes.columns.west(i), e = nodes.columns.east(i), last = nj - 1;
    const double t = double(j) / double(last);
    const double wall = interval_control(nodes.at(w, 0), nodes.at(i, 0), nodes.at(e, 0));
    const double outer = interval_control(nodes.at(w, last), nodes.at(i, last), nodes.at(e, last));
    controls[k] = (1.0 - t) * wall + t * outer;
    double& along_eta = controls[uint64(nj) * nodes.columns.count + k];
    along_eta = curvature[k];
    if (j == 0 || j == last) return;
    const double ratio = interval_control(nodes.at(i, j - 1), nodes.at(i, j), nodes.at(i, j + 1));
    along_eta = clipped(ratio + curvature[k], limit);
}

// phi <- exp(-s/l), psi <- exp(-s/(reach l)) at the unknown points with the lengths l of their columns (theory eq. 6).
KERNEL(decay, uint32 count, uint32 first, uint32 mi, uint32 mj, double reach, const double* s,
       const double* lengths, double* phi, double* psi) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const double distance = s[(at.j + uint64(1)) * count + at.i + first], length = lengths[at.i];
    phi[at.k] = exp(-distance / length);
    psi[at.k] = exp(-distance / (reach * length));
}

// frame [nj][mi + 2] <- the columns of the unknown points, from `first` on, and those beside them. With `offsets` the
// row beside the wall holds the wall's points moved by them, but for held columns and ends.
KERNEL(frame_nodes, ColumnsFields fields, uint32 first, uint32 mi, uint32 nj, const double* nodes,
       const double* offsets, double* frame) {
    const Columns columns = {fields};
    const ThreadPoint at(mi + 2);
    if (at.j >= nj) return;
    const uint32 c = at.i;
    const uint32 i = c == 0 ? columns.west(first) : c <= mi ? first + c - 1 : columns.east(first + mi - 1);
    const bool moved = offsets && at.j == 1 && !columns.held(i) && !columns.is_end(i);
    frame[at.k] = moved ? nodes[i] + offsets[c] : nodes[uint64(at.j) * columns.count + i];
}

// u <- the unknown nodes of the frame; zero at points on walls, the amplitudes of their wall terms.
KERNEL(first_guess, uint32 mi, uint32 mj, EquationState s, Vec* u) {
    const ThreadPoint at(mi);
    if (at.j >= mj) return;
    const uint64 node = (at.j + uint64(1)) * (uint64(mi) + 2) + at.i + 1;
    const bool held = s.walls_of(mi, mj, at.i, at.j);
    u[at.k] = held ? Vec{0.0, 0.0} : Vec{s.x[node], s.y[node]};
}
