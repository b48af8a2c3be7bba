// Rows that a warp takes together, waiting for values that other warps find at the same time. A slice holds 32
// consecutive rows, one for each lane: entry k of the row of lane l has the place start + 32 k + l. A slice with a long
// row has its rows one after another instead, and the warp takes long rows together. Whether a row is long does not
// depend on the others: it is summed in the same way in any order of the rows.
#pragma once

#include "common.cuh"

// A value that is not known yet has no bit set; zero is stored as -0.
__device__ inline bool is_known(double value) { return __double_as_longlong(value) != 0; }
__device__ inline bool is_known(float value) { return __float_as_int(value) != 0; }
__device__ inline bool is_known(uint32 value) { return value != 0; }
__device__ inline bool is_known(uint64 value) { return value != 0; }

__device__ inline real known(real value) { return value == real(0) ? real(-0.0) : value; }

// Values that other blocks write and read during the same launch: each is its own flag, without a fence.
#ifndef FIBERS
#define RELAXED(T, of, in)                                                              \
    __device__ inline T load_relaxed(const T* at) {                                    \
        T value;                                                                       \
        asm volatile("ld.relaxed.gpu.global." of " %0, [%1];" : "=" in(value) : "l"(at)); \
        return value;                                                                  \
    }                                                                                  \
    __device__ inline void store_relaxed(T* at, T value) {                             \
        asm volatile("st.relaxed.gpu.global." of " [%0], %1;" ::"l"(at), in(value) : "memory"); \
    }
RELAXED(double, "f64", "d")
RELAXED(float, "f32", "f")
RELAXED(uint32, "u32", "r")
RELAXED(uint64, "u64", "l")
// A load takes long enough.
#define PAUSE() ((void)0)
#define FAIL() __trap()
#endif

// Most polls of a wait for another warp of the same launch: after minutes it would never end, and the launch fails.
#ifndef MOST_POLLS
#define MOST_POLLS (1u << 30)
#endif

struct Wait {
    uint32 polls;

    __device__ Wait() : polls(0) {}
    // Before the next poll.
    __device__ void pause() {
        if (++polls == MOST_POLLS) FAIL();
        PAUSE();
    }
};

// Loads and stores of values that other threads wait for, in either memory.
struct GlobalMemory {
    template <class T>
    static __device__ T load(const T* at) { return load_relaxed(at); }
    template <class T>
    static __device__ void store(T* at, T value) { store_relaxed(at, value); }
};
struct SharedMemory {
    template <class T>
    static __device__ T load(const T* at) { return *const_cast<const volatile T*>(at); }
    template <class T>
    static __device__ void store(T* at, T value) { *const_cast<volatile T*>(at) = value; }
};

// The value at an address, once it is known if WAIT.
template <bool WAIT, class Memory = GlobalMemory, class T>
__device__ inline T fetched(const T* at) {
    if (!WAIT) return *at;
    T value = Memory::load(at);
    for (Wait wait; !is_known(value); value = Memory::load(at)) wait.pause();
    return value;
}

// Keeps a pivot and its inverse at a place; first <- the first row whose pivot is zero or not finite,
// or negative if it must not be. With FENCE a thread that sees the inverse sees what was stored before.
template <bool FENCE = false>
__device__ inline void keep_pivot(const PivotRows& to, uint64 place, uint32 row, real pivot) {
    to.pivots[place] = pivot;
    if (FENCE) __threadfence();
    store_relaxed(to.inverse + place, known(real(1) / pivot));
    if (pivot == real(0) || !is_finite(pivot) || (to.positive && pivot < real(0)))
        atomicMin(to.first, uint64(row));
}

// Calls work(slice) for all slices, each once: a block draws as many at a time as it has warps, the next ones while
// they work. Every lower-numbered slice has started then, so that waiting for it is free of deadlocks.
template <class Work>
__device__ void for_drawn_slices(uint64 slices, uint32* ticket, Work work) {
    __shared__ uint32 drawn[2];
    const uint32 warps = blockDim.x / WARP, warp = threadIdx.x / WARP;
    if (threadIdx.x == 0) drawn[0] = atomicAdd(ticket, 1u);
    __syncthreads();
    for (uint32 turn = 0;; turn ^= 1) {
        const uint64 first = uint64(drawn[turn]) * warps;
        if (first >= slices) return;
        if (threadIdx.x == 0) drawn[turn ^ 1] = atomicAdd(ticket, 1u);
        if (first + warp < slices) work(first + warp);
        __syncthreads();
    }
}

// Calls work(slice) for all slices, each warp drawing its own: in natural order rows wait for long chains.
template <class Work>
__device__ void for_slices_by_warps(uint64 slices, uint32* ticket, Work work) {
    for (;;) {
        uint32 drawn = 0;
        if (threadIdx.x % WARP == 0) drawn = atomicAdd(ticket, 1u);
        drawn = __shfl_sync(FULL_WARP, drawn, 0);
        if (drawn >= slices) return;
        work(uint64(drawn));
    }
}

// Position of the first entry of a row whose columns rise that is not left of a column, or `end`.
__device__ inline uint32 lower_bound(const uint32* columns, uint32 begin, uint32 end,
                                     uint64 column) {
    uint32 low = begin, high = end;
    while (low < high) {
        const uint32 middle = low + (high - low) / 2;
        if (columns[middle] < column) low = middle + 1;
        else high = middle;
    }
    return low;
}

// Position of a column in a row whose columns rise, or `end`.
__device__ inline uint32 find(const uint32* columns, uint32 begin, uint32 end, uint32 column) {
    const uint32 at = lower_bound(columns, begin, end, column);
    return at < end && columns[at] == column ? at : end;
}

// Describes the row of a lane: entry k has the place `at` + k `step`. `mine` is unset in lanes without a row. The
// warp takes a `large` row together, whose step is 1.
struct Row {
    bool mine;
    uint64 at;
    uint32 step, length;
    bool large;
};

// Work of a warp at a time: for each team of lanes, a power of two, a row and its place in the order. `together`:
// the rows of the slice follow each other.
struct Unit {
    Row row;
    uint64 place;
    uint32 lanes;
    bool together;
};

// The rows of a triangle or of a matrix in slices.
struct SliceRows : SliceRowsFields {
    __device__ uint64 count() const { return (rows + WARP - 1) / WARP; }
    // The row of this lane in a slice, if it is one of first..last.
    __device__ Row row(uint64 slice, uint64 first, uint64 last) const {
        const uint32 lane = threadIdx.x % WARP;
        const uint64 place = slice * WARP + lane;
        Row row;
        row.mine = place >= first && place < last;
        row.length = place < rows ? length[place] : 0;
        row.large = row.length > longest;
        row.step = width[slice] == BY_ROWS ? 1 : WARP;
        row.at = start[slice] + lane;
        if (row.step == 1) {
            uint32 before = row.length;
            for (uint32 step = 1; step < WARP; step *= 2) {
                const uint32 other = __shfl_up_sync(FULL_WARP, before, step);
                if (lane >= step) before += other;
            }
            row.at = start[slice] + before - row.length;
        }
        return row;
    }

    // The row of this lane as a unit, with a team of one lane.
    __device__ Unit unit(uint64 slice, uint64 first, uint64 last) const {
        Unit unit;
        unit.row = row(slice, first, last);
        unit.together = unit.row.step == 1;
        unit.place = slice * WARP + threadIdx.x % WARP;
        unit.lanes = 1;
        return unit;
    }

    // The row of this lane's team of `lanes` lanes: a slice is as many units, a warp each, as a team has lanes.
    __device__ Unit team(uint64 number, uint32 lanes) const {
        Unit unit = this->unit(number / lanes, 0, rows);
        const Row own = unit.row;
        const int nth = int(number % lanes * (WARP / lanes) + threadIdx.x % WARP / lanes);
        unit.row.mine = __shfl_sync(FULL_WARP, int(own.mine), nth);
        unit.row.at = __shfl_sync(FULL_WARP, own.at, nth);
        unit.row.length = __shfl_sync(FULL_WARP, own.length, nth);
        unit.row.large = unit.row.length > longest;
        unit.place = number / lanes * WARP + nth;
        unit.lanes = lanes;
        return unit;
    }
};

// Calls work(at, entry, place) for all entries of the rows of a unit: the place of the entry in the slices, its
// place in the matrix, whose rows begin at `from`, and the place of its row.
template <class Work>
__device__ void for_entries(const Unit& unit, uint32 from, Work work) {
    const Row& row = unit.row;
    const uint32 lane = threadIdx.x % WARP;
    if (!unit.together) {
        if (!row.mine) return;
        for (uint32 k = lane % unit.lanes; k < row.length; k += unit.lanes)
            work(row.at + uint64(k) * row.step, from + k, unit.place);
        return;
    }
    for (uint32 owner = 0; owner < WARP; owner += unit.lanes) {
        if (!__shfl_sync(FULL_WARP, int(row.mine), int(owner))) continue;
        const uint64 at = __shfl_sync(FULL_WARP, row.at, int(owner));
        const uint32 length = __shfl_sync(FULL_WARP, row.length, int(owner));
        const uint32 first = __shfl_sync(FULL_WARP, from, int(owner));
        const uint64 place = __shfl_sync(FULL_WARP, unit.place, int(owner));
        for (uint32 k = lane; k < length; k += WARP) work(at + k, first + k, place);
    }
}
