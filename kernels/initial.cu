// After the march: the outer line is moved to the far field, and folded cells are counted. Double precision only.
#include "columns.cuh"

// Line i of x, y [nj][columns].
struct Line {
    uint32 columns, nj;
    uint64 i;
    double *x, *y;

    __device__ Vec point(uint32 j) const {
        const uint64 k = uint64(j) * columns + i;
        return {x[k], y[k]};
    }
    __device__ double length() const {
        return measure_line(i, columns, nj, x, y, [](uint64, double, Vec) {});
    }
    // Moves it by (s/length)^2 times a way.
    __device__ void move(double length, double way_x, double way_y) const {
        measure_line(i, columns, nj, x, y, [=](uint64 k, double s, Vec node) {
            const double share = s / length, weight = share * share;
            x[k] = node.x + weight * way_x;
            y[k] = node.y + weight * way_y;
        });
    }
};

// x, y [nj][columns] <- every line moved by (s/s_end)^2 times the way from its last point to the circle along the polar
// angle, or, behind the centre of open lines, to the straight line that continues it. One thread a line.
KERNEL(place_layers, uint32 columns, uint32 nj, uint32 open, double radius, double centre_x,
       double centre_y, double* x, double* y) {
    const uint64 i = thread_index();
    if (i >= columns) return;
    const Line line = {columns, nj, i, x, y};
    const Vec last = line.point(nj - 1);
    const double length = line.length();
    double way_x = 0.0, way_y;
    if (open && last.x >= centre_x) {
        const double beside = radius + centre_y;
        way_y = (last.y < 0.0 ? -beside : beside) - last.y;
    } else {
        const double dx = last.x - centre_x, dy = last.y - centre_y;
        const double scale = radius / hypot(dx, dy);
        way_x = dx * scale + centre_x - last.x;
        way_y = dy * scale + centre_y - last.y;
    }
    line.move(length, way_x, way_y);
}

// x, y [nj][columns] <- every line moved by (s/s_end)^2 times its way ways [columns][2]. One thread a line.
KERNEL(move_layers, uint32 columns, uint32 nj, const double* ways, double* x, double* y) {
    const uint64 i = thread_index();
    if (i >= columns) return;
    const Line line = {columns, nj, i, x, y};
    line.move(line.length(), ways[2 * i], ways[2 * i + 1]);
}

__device__ inline double cross(Vec a, Vec b) { return a.x * b.y - a.y * b.x; }

// result[0] <- own cells with a corner determinant e_i x e_j that is not positive, or not a number.
KERNEL(count_folds, OwnColumnsFields fields, const double* x, const double* y, Reduction out) {
    const OwnColumns own = {fields};
    const uint64 columns = own.cells(), cells = columns * (own.nj - 1);
    double sum[1] = {0.0};
    auto node = [=](uint64 k) -> Vec { return {x[k], y[k]}; };
    for (uint64 cell = thread_index(); cell < cells; cell += thread_count()) {
        const uint64 j = cell / columns, k = own.index(own.begin + uint32(cell - j * columns), j);
        const Vec a = node(k), b = node(k + 1);
        const Vec c = node(k + own.stride + 1), d = node(k + own.stride);
        const bool good = cross(b - a, d - a) > 0.0 && cross(c - b, a - b) > 0.0
                          && cross(d - c, b - c) > 0.0 && cross(a - d, c - d) > 0.0;
        sum[0] += good ? 0.0 : 1.0;
    }
    grid_reduce<Sum>(sum, 1, out);
}
