// Runs CUDA kernels on the CPU: every thread of a block is a fiber, blocks run one after another, or those along x
// together.
//
// The kernel files are compiled as C++ with -DFIBERS and this header before them. `launch` has the arguments
// of the driver's launch and runs a kernel given by its name. It detects barriers and warp operations that
// not all threads reach, waits that never end, writes beyond the dynamic shared memory, and a wrong number of
// arguments. It does not detect races between blocks.
//
// `fibers.cpp` runs the fibers. It is compiled once and linked with each kernel file.
//
// Fibers are started one after the other and only switched when a thread must wait, so threads without
// barriers cost a function call each. One launch runs at a time. A missing barrier has an effect in another
// order of the threads: see `Order` in fibers.cpp.
#pragma once

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <type_traits>
#include <utility>

#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __align__(n) alignas(n)
#define __launch_bounds__(...)

#define TEXT(...) #__VA_ARGS__
#define ENTRY(name, ...)                                                                 \
    static void name(__VA_ARGS__);                                                       \
    static const fibers::Entry name##_entry(#name, TEXT(__VA_ARGS__), fibers::Call<decltype(&name), &name>()); \
    static void name(__VA_ARGS__)
#define DYNAMIC_SHARED(type, name) type* name = reinterpret_cast<type*>(fibers::dynamic_shared())
#define NAP() fibers::nap()

struct uint3 {
    unsigned x, y, z;
};
typedef uint3 dim3;

// fibers.cpp is in the same library as the kernels: the addresses of its variables are constants.
#pragma GCC visibility push(hidden)

extern uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace fibers {

const unsigned LANES = 32;

// Kernels by name.
typedef void (*Trampoline)(void** arguments);

struct Entry;
extern Entry* entries;

struct Entry {
    const char *name, *parameters;
    Trampoline call;
    unsigned arguments;
    unsigned (*size)(unsigned argument);
    Entry* next;

    template <class C>
    Entry(const char* name, const char* parameters, C)
        : name(name), parameters(parameters), call(&C::run), arguments(C::COUNT), size(&C::size), next(entries) {
        entries = this;
    }
};

// Unpacks the arguments of a launch.
template <class F, F f>
struct Call;

template <class... P, void (*f)(P...)>
struct Call<void (*)(P...), f> {
    static const unsigned COUNT = sizeof...(P);

    template <size_t... K>
    static void unpack(void** arguments, std::index_sequence<K...>) {
        (void)arguments;
        f(*static_cast<std::remove_cv_t<P>*>(arguments[K])...);
    }
    static unsigned size(unsigned argument) {
        const unsigned sizes[] = {unsigned(sizeof(P))..., 0};
        return sizes[argument];
    }
    static void run(void** arguments) { unpack(arguments, std::index_sequence_for<P...>()); }
};

enum Operation { SYNC, SHUFFLE, BALLOT };

// The number of the thread that runs, among those of all blocks that run at the same time.
extern unsigned current;

uint64_t warp_operation(Operation operation, unsigned mask, unsigned source, uint64_t value);
// Waits for all threads of the block; returns how many of them voted.
unsigned barrier(int line, bool vote);
void nap();
// Ends a kernel that detects an error of its own.
void trap();
// Notes that the kernel waits for the launches before, as one that begins early must.
void wait_for_launches();
// Waits for another device, whose kernels run in another thread.
void doze();
// Time of a clock shared by all threads of the machine.
uint64_t nanoseconds();
unsigned char* dynamic_shared();

#ifndef WATCHED
// Nothing is watched.
struct Aside {
    Aside() {}
    ~Aside() {}
};
#else
// Whether the code of a kernel runs, and not code of this header. One system thread at a time runs code of kernel files.
extern bool watching;
// Whether the current thread has stored.
extern bool stored;

// Marks code of the header that a kernel calls.
struct Aside {
    const bool before;
    __attribute__((no_sanitize("thread"))) Aside() : before(watching) { watching = stored = false; }
    __attribute__((no_sanitize("thread"))) ~Aside() { watching = before; }
};
#endif

}  // namespace fibers

#pragma GCC visibility pop

#include "intrinsics.hpp"
