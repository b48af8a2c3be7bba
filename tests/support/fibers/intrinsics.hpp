// CUDA's intrinsics for kernels, for fibers.hpp, which includes this file.
#pragma once

// Barriers. They are distinguished by their line.
#define __syncthreads() ((void)fibers::barrier(__LINE__, false))
#define __syncthreads_or(vote) int(fibers::barrier(__LINE__, (vote) != 0) > 0)

static inline void __syncwarp(unsigned mask = 0xffffffffu) {
    fibers::warp_operation(fibers::SYNC, mask, 0, 0);
}

static inline unsigned __ballot_sync(unsigned mask, int vote) {
    return unsigned(fibers::warp_operation(fibers::BALLOT, mask, 0, vote != 0));
}

static inline int __any_sync(unsigned mask, int vote) { return __ballot_sync(mask, vote) != 0; }

namespace fibers {
inline unsigned lane() { return current % LANES; }

template <class T>
T shuffle(unsigned mask, T value, unsigned source) {
    static_assert(sizeof(T) <= 8 && std::is_trivially_copyable<T>::value, "shuffled by 8 bytes");
    uint64_t bits = 0;
    memcpy(&bits, &value, sizeof value);
    bits = warp_operation(SHUFFLE, mask, source, bits);
    memcpy(&value, &bits, sizeof value);
    return value;
}
}  // namespace fibers

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
    const unsigned segment = fibers::lane() & ~unsigned(width - 1);
    return fibers::shuffle(mask, value, segment | (unsigned(source) & unsigned(width - 1)));
}

template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = fibers::lane(), within = lane & unsigned(width - 1);
    return fibers::shuffle(mask, value, delta > within ? lane : lane - delta);
}

template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
    const unsigned lane = fibers::lane(), within = lane & unsigned(width - 1);
    return fibers::shuffle(mask, value, within + delta >= unsigned(width) ? lane : lane + delta);
}

template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32) {
    const unsigned lane = fibers::lane(), source = lane ^ unsigned(flip);
    const bool later = source / unsigned(width) > lane / unsigned(width);
    return fibers::shuffle(mask, value, later ? lane : source);
}

// `shuffled` of common.cuh, in two operations for any size of T.
template <bool DOWN, class T>
T shuffled(const T& value, unsigned step) {
    const unsigned lane = fibers::lane();
    const unsigned there = DOWN ? lane + step : lane - step;
    const T* const own = &value;
    // For a lane that does not exist `there` is above the last one, by wrapping also if it is below zero.
    const T* const other = __shfl_sync(0xffffffffu, own, int(there < fibers::LANES ? there : lane));
    const T taken = *other;
    __syncwarp();
    return taken;
}

// Atomics need no locks, since fibers are only switched when they wait.
namespace fibers {
template <class T>
struct Same {
    typedef T type;
};
template <class T>
using Exactly = typename Same<T>::type;

template <class T>
T exchange(T* at, T value) {
    const Aside aside;
    const T old = *at;
    *at = value;
    return old;
}
}  // namespace fibers

#define FIBERS_ATOMIC(name, value_after)                       \
    template <class T>                                         \
    T name(T* at, fibers::Exactly<T> v) {                      \
        const fibers::Aside aside;                             \
        const T old = *at;                                     \
        return fibers::exchange(at, T(value_after));           \
    }
FIBERS_ATOMIC(atomicAdd, old + v)
FIBERS_ATOMIC(atomicMin, v < old ? v : old)
FIBERS_ATOMIC(atomicMax, old < v ? v : old)
FIBERS_ATOMIC(atomicExch, ((void)old, v))

static inline void __threadfence() {}
static inline void __threadfence_system() {}
static inline void __nanosleep(unsigned) { fibers::nap(); }

// Loads with cache hints.
template <class T>
T __ldg(const T* at) { return *at; }
template <class T>
T __ldcg(const T* at) { return *at; }
template <class T>
T __ldcs(const T* at) { return *at; }

// The minimum and the maximum of a NaN and a number are the number, as in CUDA.
template <class A, class B>
std::common_type_t<A, B> min(A a, B b) {
    typedef std::common_type_t<A, B> T;
    if constexpr (std::is_floating_point<T>::value) return T(a) != T(a) || T(b) < T(a) ? T(b) : T(a);
    else return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
std::common_type_t<A, B> max(A a, B b) {
    typedef std::common_type_t<A, B> T;
    if constexpr (std::is_floating_point<T>::value) return T(a) != T(a) || T(a) < T(b) ? T(b) : T(a);
    else return T(a) < T(b) ? T(b) : T(a);
}
// These products are not fused with a sum: the code is compiled for the oldest processors, which cannot.
static inline double __dmul_rn(double x, double y) { return x * y; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline double rsqrt(double x) { return 1.0 / sqrt(x); }
static inline int __popc(unsigned x) { return __builtin_popcount(x); }
static inline int __ffs(int x) { return __builtin_ffs(x); }

namespace fibers {
// Reinterprets the bits as another type.
template <class To, class From>
To as(From from) {
    static_assert(sizeof(To) == sizeof(From), "bits are neither lost nor made up");
    To to;
    memcpy(&to, &from, sizeof to);
    return to;
}
}  // namespace fibers

static inline float __uint_as_float(unsigned bits) { return fibers::as<float>(bits); }
static inline unsigned __float_as_uint(float x) { return fibers::as<unsigned>(x); }
static inline int __float_as_int(float x) { return fibers::as<int>(x); }
static inline double __longlong_as_double(long long bits) { return fibers::as<double>(bits); }
static inline long long __double_as_longlong(double x) { return fibers::as<long long>(x); }

struct alignas(8) float2 { float x, y; };
struct alignas(16) double2 { double x, y; };

// These functions replace assembly of the GPU: loads and stores that other devices and blocks see.
inline void store_words(unsigned long long* at, unsigned long long a, unsigned long long b) {
    volatile unsigned long long* to = at;
    to[0] = a;
    to[1] = b;
}
inline void load_words(const unsigned long long* at, unsigned long long& a, unsigned long long& b) {
    const volatile unsigned long long* from = at;
    a = from[0];
    b = from[1];
}
template <class T>
T load_relaxed(const T* at) { return *const_cast<const volatile T*>(at); }
template <class T>
void store_relaxed(T* at, T value) { *const_cast<volatile T*>(at) = value; }
template <class T>
T load_acquire(const T* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
template <class T>
void store_release(T* at, T value) { __atomic_store_n(at, value, __ATOMIC_RELEASE); }
template <class T>
T fresh(const T* at) { return *at; }
inline unsigned take_ticket(unsigned* ticket, unsigned more = 1) { return atomicAdd(ticket, more); }
inline unsigned long long nanoseconds() { return fibers::nanoseconds(); }

// Polls let other fibers go on, or other devices.
#define PAUSE() fibers::nap()
#define DOZE() fibers::doze()
#define FAIL() fibers::trap()
