// Definitions of every kernel file. Each file is compiled once for float and once for double (-DREAL=float or
// -DREAL=double); `real` is the precision of matrices and vectors. The types, constants and structs that the host
// shares precede this text: src/backend/cuda/launch/shared.rs.
//
// Style: one thread a point, row or chunk; no classes; dynamic shared memory by DYNAMIC_SHARED; structs are exchanged
// within a warp by shuffled; spin-waits by NAP. Tests without a GPU run the threads of a block as fibers (FIBERS).
#pragma once

#define FULL_WARP 0xffffffffu

#ifdef FIBERS
#include "fibers.hpp"
#define BOUNDED_ENTRY(threads, name, ...) ENTRY(name, __VA_ARGS__)
#else
// Kernels are found by their plain name.
#define ENTRY(name, ...) extern "C" __global__ void name(__VA_ARGS__)
// A kernel whose blocks have at most this number of threads.
#define BOUNDED_ENTRY(threads, name, ...) \
    extern "C" __global__ void __launch_bounds__(threads) name(__VA_ARGS__)
#define DYNAMIC_SHARED(type, name) extern __shared__ __align__(16) unsigned char name##_bytes[]; \
    type* name = reinterpret_cast<type*>(name##_bytes)
#define NAP() __nanosleep(20)

// Returns the value of the lane `step` before this one of a warp, or after it (DOWN), if there is one. T is of reals.
template <bool DOWN, class T>
__device__ inline T shuffled(T value, unsigned step) {
    real* const reals = reinterpret_cast<real*>(&value);
#pragma unroll
    for (unsigned k = 0; k < sizeof(T) / sizeof(real); ++k)
        reals[k] = DOWN ? __shfl_down_sync(FULL_WARP, reals[k], step)
                        : __shfl_up_sync(FULL_WARP, reals[k], step);
    return value;
}
#endif

#ifndef GROUPED
#define KERNEL(name, ...) ENTRY(name, __VA_ARGS__)
#define BOUNDED_KERNEL(threads, name, ...) BOUNDED_ENTRY(threads, name, __VA_ARGS__)
#else
// A launch for the members of a group: block z is that of member z, whose arguments are words from rows + z * stride
// on, each argument from a word of its own. Of a launch that is recorded only members with a flag take part.
#define OF_MEMBERS(entry, name, ...)                                                             \
    static __device__ void name##_of_member(__VA_ARGS__);                                        \
    entry {                                                                                      \
        if (flags && !flags[blockIdx.z]) return;                                                 \
        Member<decltype(&name##_of_member), &name##_of_member>::run(rows + uint64(blockIdx.z) * stride); \
    }                                                                                            \
    static __device__ void name##_of_member(__VA_ARGS__)
#define MEMBER_PARAMETERS const uint64 *rows, uint32 stride, const uint32 *flags
#define KERNEL(name, ...) OF_MEMBERS(ENTRY(name, MEMBER_PARAMETERS), name, __VA_ARGS__)
#define BOUNDED_KERNEL(threads, name, ...) \
    OF_MEMBERS(BOUNDED_ENTRY(threads, name, MEMBER_PARAMETERS), name, __VA_ARGS__)

// The argument that begins at a row of words; the row goes on behind it.
template <class T>
__device__ inline T next_argument(const uint64*& row) {
    static_assert(alignof(T) <= sizeof(uint64), "an argument begins at any word");
    const T* at = reinterpret_cast<const T*>(row);
    row += (sizeof(T) + sizeof(uint64) - 1) / sizeof(uint64);
    return *at;
}

template <class F, F kernel>
struct Member;

template <class... P, void (*kernel)(P...)>
struct Member<void (*)(P...), kernel> {
    // In braces arguments are evaluated in their order.
    struct Call {
        __device__ explicit Call(P... arguments) { kernel(arguments...); }
    };
    static __device__ void run(const uint64* row) {
        (void)row;
        (void)Call{next_argument<P>(row)...};
    }
};
#endif

// Entries from a slot of an ELL matrix of this number of points, two rows each, to the next.
__device__ inline uint64 slot_stride(uint64 points) {
    return (2 * points + SLOT_UNIT - 1) / SLOT_UNIT * SLOT_UNIT;
}

// Two values of one point: x and y, or p and q.
template <class T>
struct alignas(2 * sizeof(T)) Two {
    T x, y;
};

typedef Two<real> Pair;
// Coordinates and their derivatives are double, whatever `real` is.
typedef Two<double> Vec;

// A 2x2 block, row-major.
struct alignas(16) Block {
    real xx, xy, yx, yy;
};

__device__ inline Pair pair(real x, real y) { return {x, y}; }

#ifdef FIBERS
template <class T>
Pair load_once(const Two<T>* at) { return pair(real(at->x), real(at->y)); }
#else
__device__ inline Pair pair(float2 v) { return pair(real(v.x), real(v.y)); }
__device__ inline Pair pair(double2 v) { return pair(real(v.x), real(v.y)); }
__device__ inline const float2* raw(const Two<float>* at) { return reinterpret_cast<const float2*>(at); }
__device__ inline const double2* raw(const Two<double>* at) { return reinterpret_cast<const double2*>(at); }

// A value that is not read again soon: in the second-level cache it makes way for others first.
template <class T>
__device__ inline Pair load_once(const Two<T>* at) { return pair(__ldcs(raw(at))); }
#endif

template <class T>
__device__ inline Two<T> operator+(Two<T> a, Two<T> b) { return {a.x + b.x, a.y + b.y}; }
template <class T>
__device__ inline Two<T> operator-(Two<T> a, Two<T> b) { return {a.x - b.x, a.y - b.y}; }
// The vector decides what T is.
template <class T>
__device__ inline Two<T> operator*(decltype(T()) s, Two<T> a) { return {s * a.x, s * a.y}; }

__device__ inline Block block(real xx, real xy, real yx, real yy) { return {xx, xy, yx, yy}; }

__device__ inline Block diagonal(real s) { return block(s, 0, 0, s); }

__device__ inline Pair operator*(const Block& a, Pair u) {
    return pair(a.xx * u.x + a.xy * u.y, a.yx * u.x + a.yy * u.y);
}

__device__ inline Block operator*(const Block& a, const Block& b) {
    return block(a.xx * b.xx + a.xy * b.yx, a.xx * b.xy + a.xy * b.yy,
                 a.yx * b.xx + a.yy * b.yx, a.yx * b.xy + a.yy * b.yy);
}

__device__ inline Block operator+(const Block& a, const Block& b) {
    return block(a.xx + b.xx, a.xy + b.xy, a.yx + b.yx, a.yy + b.yy);
}

__device__ inline Block operator-(const Block& a, const Block& b) {
    return block(a.xx - b.xx, a.xy - b.xy, a.yx - b.yx, a.yy - b.yy);
}

__device__ inline Block operator*(real s, const Block& a) {
    return block(s * a.xx, s * a.xy, s * a.yx, s * a.yy);
}

__device__ inline Block transposed(const Block& a) { return block(a.xx, a.yx, a.xy, a.yy); }

__device__ inline Block inverse(const Block& a) {
    const real s = real(1) / (a.xx * a.yy - a.xy * a.yx);
    return block(s * a.yy, -s * a.xy, -s * a.yx, s * a.xx);
}

// The map x -> a x + b.
struct Affine {
    Block a;
    Pair b;

    __device__ Pair operator()(Pair x) const { return a * x + b; }
};

__device__ inline Affine compose(const Affine& second, const Affine& first) {
    return {second.a * first.a, second(first.b)};
}

__device__ inline double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

// Neither infinite nor a NaN. Written without library calls: x - x is 0 for finite x alone.
__device__ inline bool is_finite(real x) { return x - x == real(0); }

__device__ inline bool is_finite(const Block& a) {
    return is_finite(a.xx) && is_finite(a.xy) && is_finite(a.yx) && is_finite(a.yy);
}

// Index of this thread in a one-dimensional grid.
__device__ inline uint64 thread_index() { return uint64(blockIdx.x) * blockDim.x + threadIdx.x; }

// Threads in a one-dimensional grid.
__device__ inline uint64 thread_count() { return uint64(gridDim.x) * blockDim.x; }

// Point k = j across + i of this thread, of rows of `across` points.
struct ThreadPoint {
    uint64 k;
    uint32 i, j;

    __device__ explicit ThreadPoint(uint32 across) : k(thread_index()) {
        // A device has fewer than 2^32 points; a division of 64 bits takes five times as long.
        j = uint32(k) / across;
        i = uint32(k) - j * across;
    }
};

// Returns those of these walls on which point (i, j) lies: a bit each for j = 0, j = mj - 1, i = 0, i = mi - 1.
__device__ inline uint32 walls_at(uint32 walls, uint32 mi, uint32 mj, uint32 i, uint32 j) {
    return walls & (uint32(j == 0) | uint32(j + 1 == mj) << 1 | uint32(i == 0) << 2 | uint32(i + 1 == mi) << 3);
}

// Returns whether two of these walls meet in the point: it is given then, and has neither equation nor amplitudes.
__device__ inline bool meet(uint32 walls) { return (walls & 3) && (walls & 12); }

// Reductions. An operation names for each of its results k where to start and how two values
// combine; `Op::start(k)` must not change what it is combined with.

// The larger and the smaller of two numbers; NaN if one is.
__device__ inline double larger(double a, double b) { return b > a || b != b ? b : a; }
__device__ inline double smaller(double a, double b) { return b < a || b != b ? b : a; }

// Result k is the largest of numbers that are not negative where bit k of LARGEST is set, the smallest where that of
// SMALLEST is, else the sum.
template <uint32 LARGEST, uint32 SMALLEST = 0>
struct Extremes {
    static __device__ double start(uint32 k) { return SMALLEST >> k & 1 ? infinity() : 0.0; }
    static __device__ double combine(uint32 k, double a, double b) {
        return LARGEST >> k & 1 ? larger(a, b) : SMALLEST >> k & 1 ? smaller(a, b) : a + b;
    }
};
typedef Extremes<0> Sum;

// `value` combined over the warp in a fixed order; valid in its first lane.
template <class Op>
__device__ inline double warp_reduce(uint32 k, double value) {
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2)
        value = Op::combine(k, value, __shfl_down_sync(FULL_WARP, value, step));
    return value;
}

// The sum over each group of `lanes` lanes of a warp, valid in its first.
__device__ inline real group_sum(real sum, uint32 lanes) {
    for (uint32 step = lanes / 2; step > 0; step /= 2) sum += __shfl_down_sync(FULL_WARP, sum, step);
    return sum;
}

// store(k, values[k] combined over the block in a fixed order), k < count <= N, by one thread each; all threads see
// what was stored. Blocks have whole warps.
template <class Op, int N, class Store>
__device__ inline void block_reduce(const double (&values)[N], uint32 count, const Store& store) {
    __shared__ double shared[N][WARP];
    const uint32 lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, warps = blockDim.x / WARP;
#pragma unroll
    for (uint32 k = 0; k < N; ++k) {
        if (k >= count) break;
        const double value = warp_reduce<Op>(k, values[k]);
        if (lane == 0) shared[k][warp] = value;
    }
    __syncthreads();
    for (uint32 k = warp; k < count; k += warps) {
        const double value = warp_reduce<Op>(k, lane < warps ? shared[k][lane] : Op::start(k));
        if (lane == 0) store(k, value);
    }
    __syncthreads();
}

// The ticket drawn by one thread of a block, from 0 on; with `more` of 0 it is left to the next. Stores of blocks that
// drew before, ahead of a barrier, are seen behind a barrier after it.
#ifndef FIBERS
__device__ inline uint32 take_ticket(uint32* ticket, uint32 more = 1) {
    uint32 taken;
    asm volatile("atom.add.acq_rel.gpu.u32 %0, [%1], %2;" : "=r"(taken) : "l"(ticket), "r"(more) : "memory");
    return taken;
}
#endif

// Waits for the end of the launch before, where this one may begin earlier; the next one may begin from then on.
// Launches before those two have ended when a thread begins: it may read ahead what the launch before does not write.
__device__ inline void wait_for_launches_before() {
#ifdef FIBERS
    fibers::wait_for_launches();
#elif defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

// Waits for all blocks along x of a launch whose blocks run together: what they wrote is seen afterwards. Where they
// are no cluster, `arrived`, zero before the launch, counts the blocks that have come.
__device__ inline void sync_blocks(uint32* arrived) {
    if (gridDim.x == 1) {
        __syncthreads();
        return;
    }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    uint32 blocks;
    asm("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(blocks));
    if (blocks == gridDim.x) {
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
        return;
    }
#endif
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32 last = (take_ticket(arrived) / gridDim.x + 1) * gridDim.x;
        while (take_ticket(arrived, 0) < last) NAP();
    }
    __syncthreads();
}

// result[k] <- values[k] combined over all threads of a one-dimensional grid, k < count <= N; result may be shared
// memory. The block that finishes last, known from a ticket that starts and ends at zero, combines the parts of all:
// the result depends on the shape of the launch alone. Returns true in that block, whose threads see the results.
template <class Op, int N>
__device__ bool grid_reduce(const double (&values)[N], uint32 count, const Reduction& out) {
    const volatile double* const partials = out.partials;
    // Loads on their way at once of each result; those of all results are.
    const uint32 AT_ONCE = (4 + N - 1) / N;
    __shared__ bool last;
    block_reduce<Op>(values, count, [&](uint32 k, double part) { out.partials[k * gridDim.x + blockIdx.x] = part; });
    if (threadIdx.x == 0) last = take_ticket(out.ticket) + 1 == gridDim.x;
    __syncthreads();
    if (!last) return false;
    double all[N];
#pragma unroll
    for (uint32 k = 0; k < N; ++k) all[k] = Op::start(k);
    for (uint32 first = threadIdx.x; first < gridDim.x; first += AT_ONCE * blockDim.x) {
        double parts[N][AT_ONCE];
#pragma unroll
        for (uint32 k = 0; k < N; ++k)
#pragma unroll
            for (uint32 n = 0; n < AT_ONCE; ++n) {
                const uint32 block = first + n * blockDim.x;
                if (k < count && block < gridDim.x) parts[k][n] = partials[k * gridDim.x + block];
            }
#pragma unroll
        for (uint32 k = 0; k < N; ++k)
#pragma unroll
            for (uint32 n = 0; n < AT_ONCE; ++n)
                if (k < count && first + n * blockDim.x < gridDim.x)
                    all[k] = Op::combine(k, all[k], parts[k][n]);
    }
    block_reduce<Op>(all, count, [&](uint32 k, double value) { out.result[k] = value; });
    if (threadIdx.x == 0) *out.ticket = 0;
    return true;
}
