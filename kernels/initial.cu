// What follows the march of an O-grid: its outer line on the circle, and folded cells. Double
// precision only.
#include "common.cuh"

typedef Two<double> Vec;

// x, y [nj][n + 1] <- the marched layers [nj][n], every line moved by (s/s_end)^2 times the way from
// its last point to the circle along the polar angle; the last column repeats the first. One
// thread a line.
KERNEL(place_layers, uint32 n, uint32 nj, const double* fronts, double radius, double centre_x,
       double centre_y, double* x, double* y) {
    const uint64 i = thread_index();
    if (i >= n) return;
    const Vec* line = reinterpret_cast<const Vec*>(fronts) + i;
    double length = 0.0;
    Vec last = line[0];
#pragma unroll 8
    for (uint32 j = 1; j < nj; ++j) {
        const Vec at = line[uint64(j) * n], d = at - last;
        length += hypot(d.x, d.y);
        last = at;
    }
    const double dx = last.x - centre_x, dy = last.y - centre_y;
    const double scale = radius / hypot(dx, dy);
    const double way_x = dx * scale + centre_x - last.x, way_y = dy * scale + centre_y - last.y;
    double s = 0.0;
    last = line[0];
#pragma unroll 8
    for (uint32 j = 0; j < nj; ++j) {
        const Vec at = line[uint64(j) * n], d = at - last;
        s += hypot(d.x, d.y);
        last = at;
        const double share = s / length, weight = share * share;
        const double px = at.x + weight * way_x, py = at.y + weight * way_y;
        const uint64 k = uint64(j) * (n + 1) + i;
        x[k] = px;
        y[k] = py;
        if (i == 0) {
            x[k + n] = px;
            y[k + n] = py;
        }
    }
}

__device__ inline double cross(Vec a, Vec b) { return a.x * b.y - a.y * b.x; }

// result[0] <- cells with a corner determinant e_i x e_j that is not positive, or not a number.
KERNEL(count_folds, uint32 ni, uint32 nj, const double* x, const double* y, Reduction out) {
    const uint64 cells = uint64(ni - 1) * (nj - 1);
    double sum[1] = {0.0};
    auto node = [=](uint64 k) {
        const Vec at = {x[k], y[k]};
        return at;
    };
    for (uint64 cell = thread_index(); cell < cells; cell += thread_count()) {
        const uint64 k = cell + cell / (ni - 1);
        const Vec a = node(k), b = node(k + 1), c = node(k + ni + 1), d = node(k + ni);
        const bool good = cross(b - a, d - a) > 0.0 && cross(c - b, a - b) > 0.0
                          && cross(d - c, b - c) > 0.0 && cross(a - d, c - d) > 0.0;
        sum[0] += good ? 0.0 : 1.0;
    }
    grid_reduce<Sum>(sum, 1, out);
}
