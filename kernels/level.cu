// Levels of multigrid: operators by ten numbers a point, right sides and solutions.
#include "load.cuh"

// Loads the operator of the finest level from a matrix by ten numbers a point.
template <class T>
struct LoadNumbers {
    LevelLayout layout;
    Operator<true> a;
    const T *values, *columns;

    __device__ void operator()(uint32 i, uint32 j) const {
        const int64 k = int64(j) * layout.mi + i;
        SlotsOf<T> slots = {values + 2 * k, slot_stride(uint64(layout.mi) * layout.mj)};
        for (int slot = 0; slot < 5; ++slot) a.pairs(slot)[j * layout.row() + layout.column(i)] = slots.next();
        load_columns(layout, a, columns, i, j);
    }
};

// f <- r, u <- 0.
template <class T>
__device__ inline void load_right(const LevelLayout& layout, const Two<T>* r, Pair* f, Pair* u) {
    each_point(layout, [=](uint32 i, uint32 j) {
        const Two<T> value = r[int64(j) * layout.mi + i];
        f[j * layout.row() + layout.column(i)] = pair(real(value.x), real(value.y));
        clear_point(layout, u, i, j);
    });
}

// z <- u.
template <class T>
__device__ inline void store_solution(const LevelLayout& layout, const Pair* u, Two<T>* z) {
    each_point(layout, [=](uint32 i, uint32 j) {
        const Pair value = u[j * layout.row() + layout.column(i)];
        z[int64(j) * layout.mi + i] = {T(value.x), T(value.y)};
    });
}

// The kernels for matrices and vectors of a precision.
#define FOR_PRECISION(T, numbers, right, store)                                                               \
    KERNEL(numbers, LevelLayout layout, const T* values, const T* columns, real* a, uint32* borders,          \
           uint32* bad) {                                                                                     \
        begin_operator(borders, bad);                                                                         \
        each_point(layout, LoadNumbers<T>{layout, operator_of<true>(layout, a), values, columns});            \
    }                                                                                                         \
    KERNEL(right, LevelLayout layout, const Two<T>* r, Pair* f, Pair* u) { load_right(layout, r, f, u); }     \
    KERNEL(store, LevelLayout layout, const Pair* u, Two<T>* z) { store_solution(layout, u, z); }

FOR_PRECISION(float, load_numbers_single, load_right_single, store_solution_single)
FOR_PRECISION(double, load_numbers_double, load_right_double, store_solution_double)
