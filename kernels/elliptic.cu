// Residual of the grid equations (theory eq. 1-7), in double precision.
#include "equations.cuh"

// The largest of result 0, the smallest of result 4, of which a NaN is none, and sums.
struct Judged : Extremes<1, 1 << 4> {
    static __device__ double combine(uint32 k, double a, double b) {
        return k == 4 ? (b < a ? b : a) : Extremes<1>::combine(k, a, b);
    }
};

// f <- w R (theory eq. 5), the weights of the merit. Results: the largest magnitude in f; the sums of the squared
// merits of all points (theory eq. 7) with these weights and with those that are kept; cells of the frame from column
// `first` on whose area is not positive, a NaN being none; the smallest area.
KERNEL(residual, uint32 mi, uint32 mj, uint32 first, EquationState s, double* merit_weights, const double* kept,
       Vec* f, Reduction out) {
    const uint64 points = uint64(mi) * mj;
    double all[5] = {0.0, 0.0, 0.0, 0.0, infinity()};
    for (uint64 k = thread_index(); k < points; k += thread_count()) {
        const uint32 j = uint32(k) / mi, i = uint32(k) - j * mi;
        const Metrics m = metrics(s, mi, i, j);
        const Vec c = control(s, mi, i, j, k);
        const double weight = row_weight(s, m, mi, mj, i, j);
        const double merit = weight / sqrt(m.g11 < m.g22 ? m.g11 : m.g22);
        merit_weights[k] = merit;
        const Vec r = m.g22 * (m.xixi + c.x * m.xi) - 2.0 * m.g12 * m.xieta
                      + m.g11 * (m.etaeta + c.y * m.eta);
        const Vec scaled = weight * r;
        f[k] = scaled;
        all[0] = larger(larger(all[0], fabs(scaled.x)), fabs(scaled.y));
        const double square = r.x * r.x + r.y * r.y;
        all[1] += merit * merit * square;
        all[2] += kept[k] * kept[k] * square;
    }
    const uint64 stride = uint64(mi) + 2;
    const uint32 columns = mi + 1 - first;
    const uint64 cells = uint64(columns) * (uint64(mj) + 1);
    for (uint64 cell = thread_index(); cell < cells; cell += thread_count()) {
        const uint64 j = cell / columns;
        const uint64 a = j * stride + (cell - j * columns) + first;
        const uint64 b = a + 1, c = b + stride, d = a + stride;
        const double area = 0.5 * ((s.x[c] - s.x[a]) * (s.y[d] - s.y[b]) - (s.x[d] - s.x[b]) * (s.y[c] - s.y[a]));
        if (!(area > 0.0)) all[3] += 1.0;
        all[4] = Judged::combine(4, all[4], area);
    }
    grid_reduce<Judged>(all, 5, out);
}

// Takes over the unknowns u: coordinates into the frame, amplitudes of wall terms from the points on one wall. A closed
// frame repeats its outer columns, y being `shift` less in the first one and more in the last.
KERNEL(load_state, uint32 mi, uint32 mj, uint32 edges, double shift, EquationState s, const Vec* u) {
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const auto [first, second] = u[k];
    if (const uint32 walls = s.walls_of(mi, mj, i, j)) {
#pragma unroll
        for (uint32 side = 0; side < 4; ++side) {
            if (walls != 1u << side) continue;
            double* const terms = s.walls[side].amplitudes + 2 * uint64(side < 2 ? i : j);
            terms[0] = first;
            terms[1] = second;
        }
        return;
    }
    double *const x = s.x, *const y = s.y;
    const uint64 row = (uint64(j) + 1) * (uint64(mi) + 2);
    x[row + i + 1] = first;
    y[row + i + 1] = second;
    if (!(edges & EDGE_PERIODIC)) return;
    // Without a shift the value stays bit for bit: -0 + 0 is 0.
    const bool shifted = shift != 0.0;
    if (i + 1 == mi) {
        x[row] = first;
        y[row] = shifted ? second - shift : second;
    }
    if (i == 0) {
        x[row + mi + 1] = first;
        y[row + mi + 1] = shifted ? second + shift : second;
    }
}
