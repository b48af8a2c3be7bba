// Grids that follow moving wall points, and what their derivatives need beside linear solves (theory section
// 7). Double precision only.
#include "columns.cuh"
#include "equations.cuh"

// shares <- the share of the wall's displacement that each node takes, 1 - ln(1 + s^2)/ln(1 + S^2) with its
// distance s from the wall along a line, S for the last of nj nodes. One thread a line.
KERNEL(node_shares, ColumnsFields fields, uint32 nj, const double* x, const double* y, double* shares) {
    const uint64 i = thread_index(), stride = fields.count;
    if (i >= stride) return;
    const double length =
        measure_line(i, stride, nj, x, y, [=](uint64 k, double distance, Vec) { shares[k] = distance; });
    const double whole = log1p(length * length);
#pragma unroll 8
    for (uint32 j = 0; j < nj; ++j) {
        const uint64 k = j * stride + i;
        shares[k] = 1.0 - log1p(shares[k] * shares[k]) / whole;
    }
}

// to <- the nodes of the lines j = 0 and 1, `lines` [2][ni] of the whole grid, and of a held seam if there are `ends`;
// elsewhere those at x, y moved by their share of what the line j = 0 moves, or zero without x. One thread a node.
KERNEL(displace_nodes, ColumnsFields fields, uint32 nj, const double* x, const double* y, const double* shares,
       const Vec* lines, uint32 ni, const Vec* ends, double* to_x, double* to_y) {
    const Columns columns = {fields};
    const auto [k, c, j] = ThreadPoint(columns.count);
    if (j >= nj) return;
    // The last column of a closed grid is there by itself.
    const uint32 past = fields.first + c, i = past < ni ? past : past - fields.around;
    Vec to = {0.0, 0.0};
    if (j < 2) {
        to = lines[j * uint64(ni) + i];
    } else if (ends && columns.held(c)) {
        to = ends[j];
    } else if (x) {
        to = {x[k] + shares[k] * (lines[i].x - x[c]), y[k] + shares[k] * (lines[i].y - y[c])};
    }
    to_x[k] = to.x;
    to_y[k] = to.y;
}

// The block w dR/dr of a point for the neighbour (di, dj), by rows.
struct Coupling {
    Vec row_x, row_y;

    __device__ Coupling(const Slopes& s, int di, int dj) {
        double own = di == 0 ? s.g11 : s.g22;
        if (di == 0 && dj == 0) own = -2.0 * (s.g11 + s.g22);
        if (di != 0 && dj != 0) own = di * dj * s.corner;
        row_x = vec(own, 0.0);
        row_y = vec(0.0, own);
        if ((di == 0) == (dj == 0)) return;
        const double sign = di + dj, shift = di == 0 ? s.eta_shift : s.xi_shift;
        row_x = row_x + sign * (vec(shift, 0.0) + (di == 0 ? s.eta_x : s.xi_x));
        row_y = row_y + sign * (vec(0.0, shift) + (di == 0 ? s.eta_y : s.xi_y));
    }
    __device__ Vec times(Vec d) const { return vec(dot(row_x, d), dot(row_y, d)); }
    __device__ Vec transposed_times(Vec u) const { return u.x * row_x + u.y * row_y; }
};

// f <- w dR/dr times a displacement (dx, dy) of all nine nodes of the frame around each point. One thread a point.
KERNEL(frame_product, uint32 mi, uint32 mj, EquationState s, const double* dx, const double* dy, Vec* f) {
    const auto [k, i, j] = ThreadPoint(mi);
    if (j >= mj) return;
    const uint64 stride = uint64(mi) + 2;
    Vec around[9];
    bool moves = false;
#pragma unroll
    for (int n = 0; n < 9; ++n) {
        const uint64 node = (j + n / 3) * stride + i + n % 3;
        around[n] = vec(dx[node], dy[node]);
        moves = moves || around[n].x != 0.0 || around[n].y != 0.0;
    }
    Vec sum = vec(0.0, 0.0);
    // Most nodes are not displaced.
    if (moves) {
        const Slopes b = slopes(s, mi, mj, i, j, k);
#pragma unroll
        for (int n = 0; n < 9; ++n) sum = sum + Coupling(b, n % 3 - 1, n / 3 - 1).times(around[n]);
    }
    f[k] = sum;
}

// to <- (w dR/dr)^T u at the nodes of the first two rows of the frame, row after row, then at those of its first
// and its last column, from the points of this device. One thread a node.
KERNEL(frame_sums, uint32 mi, uint32 mj, EquationState s, const Vec* u, Vec* to) {
    const uint64 k = thread_index(), stride = uint64(mi) + 2, rows = uint64(mj) + 2;
    if (k >= 2 * (stride + rows)) return;
    const bool on_row = k < 2 * stride;
    const uint64 on_column = k - 2 * stride;
    const int column = int(on_row ? k % stride : on_column < rows ? 0 : mi + 1);
    const int row = int(on_row ? k / stride : on_column % rows);
    Vec sum = vec(0.0, 0.0);
    for (int dj = 1; dj >= -1; --dj) {
        // The points of which the node is the neighbour (di, dj).
        const int j = row - 1 - dj;
        if (j < 0 || j >= int(mj)) continue;
        for (int di = 1; di >= -1; --di) {
            const int i = column - 1 - di;
            if (i < 0 || i >= int(mi)) continue;
            const uint64 point = uint64(j) * mi + i;
            const Slopes b = slopes(s, mi, mj, i, j, point);
            sum = sum + Coupling(b, di, dj).transposed_times(u[point]);
        }
    }
    to[k] = sum;
}

// to [nj][columns] <- from [nj][count] in the columns from `first` on, zero in the others. One thread a value.
KERNEL(pad_columns, uint32 columns, uint32 first, uint32 count, uint32 nj, const double* from, double* to) {
    const ThreadPoint at(columns);
    if (at.j >= nj) return;
    const uint32 i = at.i - first;
    to[at.k] = at.i >= first && i < count ? from[uint64(at.j) * count + i] : 0.0;
}

// The first of the columns [nj][columns] <- its sum with the last. One thread a row.
KERNEL(fold_seam, uint32 columns, uint32 nj, double* x, double* y) {
    const uint64 j = thread_index();
    if (j >= nj) return;
    const uint64 k = j * columns;
    x[k] += x[k + columns - 1];
    y[k] += y[k + columns - 1];
}

// x, y [nj][ni] <- an array with these strides between rows, between columns, and from x to y. One thread a node.
KERNEL(take_nodes, uint32 ni, uint32 nj, const double* from, uint64 by_row, uint64 by_column, uint64 by_axis,
       double* x, double* y) {
    const ThreadPoint at(ni);
    if (at.j >= nj) return;
    const double* node = from + (at.j * by_row + at.i * by_column);
    x[at.k] = node[0];
    y[at.k] = node[by_axis];
}
