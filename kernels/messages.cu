// Messages between devices that access each other's memory. A channel carries messages from one rank to another, and
// has an endpoint in the window of each, into which the other writes, so that a wait polls local memory. A message has
// up to FRAGMENTS fragments, one block each, with sequence numbers. The host sends longer messages in pieces.
#include "peers.cuh"

// Sequence numbers between devices: the reader of a number sees all stores of the block that wrote it.
#ifndef FIBERS
__device__ inline uint64 load_acquire(const uint64* at) {
    uint64 number;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(number) : "l"(at) : "memory");
    return number;
}
__device__ inline void store_release(uint64* at, uint64 number) {
    __threadfence_system();
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(number) : "memory");
}
#endif

// Waits until another rank has stored at least `least`; false if the abort flag was raised meanwhile.
__device__ inline bool wait_for_number(const uint64* at, uint64 least, uint32 other,
                                       uint32* abort_flag) {
    return wait_for(abort_flag, other, [=] { return load_acquire(at) >= least; });
}

struct alignas(16) Quad {
    uint32 a, b, c, d;
};

#ifndef FIBERS
// A value that no cache near this block has.
__device__ inline Quad fresh(const Quad* at) {
    Quad q;
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(q.a), "=r"(q.b), "=r"(q.c), "=r"(q.d)
                 : "l"(at));
    return q;
}
__device__ inline uint32 fresh(const uint32* at) {
    uint32 value;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(value) : "l"(at));
    return value;
}
#endif

// to <- from, by the block, four loads of a thread at a time.
template <class T>
__device__ void move_words(T* to, const T* from, uint64 count) {
    for (uint64 k = threadIdx.x; k < count; k += 4 * blockDim.x) {
        T word[4];
#pragma unroll
        for (uint32 u = 0; u < 4; ++u)
            if (k + u * blockDim.x < count) word[u] = fresh(from + k + u * blockDim.x);
#pragma unroll
        for (uint32 u = 0; u < 4; ++u)
            if (k + u * blockDim.x < count) to[k + u * blockDim.x] = word[u];
    }
}

__device__ inline void move_bytes(void* to, const void* from, uint64 bytes) {
    if ((uint64(to) | uint64(from) | bytes) % sizeof(Quad) == 0)
        move_words(static_cast<Quad*>(to), static_cast<const Quad*>(from), bytes / sizeof(Quad));
    else
        move_words(static_cast<uint32*>(to), static_cast<const uint32*>(from), bytes / sizeof(uint32));
}

// The fragment of a message that a block sends or receives.
struct Fragment {
    uint32 number;
    uint64 first, bytes;
    bool there;

    __device__ Fragment(uint32 number, uint64 all) : number(number), first(number * FRAGMENT_BYTES) {
        there = first < all || number == 0;
        bytes = first < all ? min(uint64(FRAGMENT_BYTES), all - first) : 0;
    }
};

// Copies a fragment into the buffer of the other endpoint once there is room, or from the own buffer once it is there,
// and tells the other rank.
__device__ void perform(const MessageOperation& operation, uint32 fragment_number, const PeerAccess& access) {
    const Fragment fragment(fragment_number, operation.bytes);
    if (!fragment.there || operation.kind == 0) return;
    const uint32 other = uint32(operation.other);
    const bool sends = operation.kind == SEND, first = threadIdx.x == 0;
    Endpoint* near = reinterpret_cast<Endpoint*>(access.windows[access.rank]) + other * CHANNELS +
                     operation.channel;
    Endpoint* far = reinterpret_cast<Endpoint*>(access.windows[other]) + access.rank * CHANNELS +
                    operation.channel;
    Sequence *own = near->sequences + fragment.number, *theirs = far->sequences + fragment.number;
    uint64& done = sends ? own->sent : own->received;
    const uint64 number = done + 1, least = !sends ? number : number > BUFFERS ? number - BUFFERS : 0;
    const uint64* const awaited = sends ? &own->acknowledged : &own->arrived;
    if (__syncthreads_or(first && !wait_for_number(awaited, least, other, access.abort_flag))) return;
    unsigned char* const message = operation.at + fragment.first;
    unsigned char* const buffer = (sends ? far : near)->buffer[number % BUFFERS][fragment.number];
    move_bytes(sends ? buffer : message, sends ? message : buffer, fragment.bytes);
    __syncthreads();
    if (!first) return;
    done = number;
    store_release(sends ? &theirs->arrived : &theirs->acknowledged, number);
}

// Up to eight operations, a row of blocks each, started in this order: sends come first, so that a
// block that waits never keeps a block from starting that others wait for.
KERNEL(exchange_messages, PeerAccess access, uint32* ticket, MessageOperations operations) {
    const uint32 block = start_order(ticket, gridDim.x * gridDim.y);
    perform(operations.at[block / gridDim.x], block % gridDim.x, access);
}

// to <- the `count` <= GATHERED_VALUES values of every rank, one rank after the other. One block of 256 threads.
KERNEL(gather_words, PeerAccess access, uint32 count, const uint64* from, uint64* to) {
    all_gather_words(access, next_gather(access), count, from, to);
}
