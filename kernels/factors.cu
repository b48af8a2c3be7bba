// Incomplete factors M = (I + L)(D + U) by rows, for any pattern and any order of elimination.
//
// The entries of a row stand in the order of elimination: `lower` of L, the pivot, then U, `length`
// in all; entry k of row r at k * rows + r. Rows of one level do not wait for each other. A launch
// works on levels `first` to `last`: one level with any number of blocks, or several
// with one block.
#include "common.cuh"

struct EllFactors : EllFactorsFields {
    __device__ uint64 at(uint32 k, uint64 row) const { return k * rows + row; }
};

// Calls work(row) for all rows of the levels, level after level.
template <class Work>
__device__ void for_levels(const LevelRows& levels, Work work) {
    for (uint32 level = levels.first; level < levels.last; ++level) {
        const uint32 last = levels.starts[level + 1];
        for (uint64 k = levels.starts[level] + thread_index(); k < last; k += thread_count())
            work(levels.order[k]);
        __syncthreads();
    }
}

// Keeps the inverse of a pivot; first <- the first row whose pivot is zero or not finite.
__device__ inline void take_pivot(const EllFactors& f, uint64 row, real pivot, uint64* first) {
    f.values[f.at(f.lower[row], row)] = pivot;
    f.inverse[row] = real(1) / pivot;
    if (pivot == real(0) || !is_finite(pivot)) atomicMin(first, row);
}

// values <- those of A, `stride` entries a slot: entry k of a row comes from slot source[k] of A, or is
// zero where that is 255. One thread an entry.
KERNEL(take_entries, uint64 rows, uint64 entries, const unsigned char* source, uint64 stride,
       const real* a, real* values) {
    const uint64 k = thread_index();
    if (k >= entries) return;
    values[k] = source[k] == 255 ? real(0) : a[source[k] * stride + k % rows];
}

// DILU: D_i = a_ii - sum of a_ij a_ji / D_j over entries present on both sides, L_ij = a_ij / D_j.
KERNEL(factor_dilu, EllFactors f, LevelRows levels, uint64* first) {
    for_levels(levels, [&](uint64 row) {
        const uint32 own = f.lower[row];
        real pivot = f.values[f.at(own, row)];
        for (uint32 k = 0; k < own; ++k) {
            const uint64 column = f.columns[f.at(k, row)];
            const real factor = f.values[f.at(k, row)] * f.inverse[column];
            f.values[f.at(k, row)] = factor;
            for (uint32 m = f.lower[column] + 1; m < f.length[column]; ++m) {
                if (f.columns[f.at(m, column)] == row) {
                    pivot -= factor * f.values[f.at(m, column)];
                    break;
                }
            }
        }
        take_pivot(f, row, pivot, first);
    });
}

// ILU(0): Gaussian elimination that drops every entry outside the pattern.
KERNEL(factor_ilu0, EllFactors f, LevelRows levels, uint64* first) {
    for_levels(levels, [&](uint64 row) {
        const uint32 own = f.lower[row], end = f.length[row];
        for (uint32 k = 0; k < own; ++k) {
            const uint64 column = f.columns[f.at(k, row)];
            const real factor = f.values[f.at(k, row)] * f.inverse[column];
            f.values[f.at(k, row)] = factor;
            for (uint32 m = f.lower[column] + 1; m < f.length[column]; ++m) {
                const uint32 target = f.columns[f.at(m, column)];
                for (uint32 n = k + 1; n < end; ++n)
                    if (f.columns[f.at(n, row)] == target)
                        f.values[f.at(n, row)] -= factor * f.values[f.at(m, column)];
            }
        }
        take_pivot(f, row, f.values[f.at(own, row)], first);
    });
}

// z <- (I + L)^-1 r.
KERNEL(solve_lower, EllFactors f, LevelRows levels, const real* r, real* z) {
    for_levels(levels, [&](uint64 row) {
        real sum = 0;
        for (uint32 k = 0; k < f.lower[row]; ++k)
            sum += f.values[f.at(k, row)] * z[f.columns[f.at(k, row)]];
        z[row] = r[row] - sum;
    });
}

// z <- (D + U)^-1 z.
KERNEL(solve_upper, EllFactors f, LevelRows levels, real* z) {
    for_levels(levels, [&](uint64 row) {
        real sum = 0;
        for (uint32 k = f.lower[row] + 1; k < f.length[row]; ++k)
            sum += f.values[f.at(k, row)] * z[f.columns[f.at(k, row)]];
        z[row] = (z[row] - sum) * f.inverse[row];
    });
}
