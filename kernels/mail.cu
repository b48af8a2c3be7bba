// Messages between devices that reach each other's memory.
//
// A lane takes messages between two ranks on a channel. Each rank has its end of every lane in its own
// memory: the other writes what it sends there, so that to wait is to look at memory nearby. A message
// has up to 64 shares, which go their ways alone, a block each; its number is one more than that of
// the message before it on the lane. What is too long for the room at an end is fetched from where it
// stands by its receiver.
#include "common.cuh"
#include "mail.cuh"

// What one device writes and another reads: the reader of a number sees all that its writer's block did
// before.
#ifdef FIBERS
static inline uint64 look(const uint64* at) { return __atomic_load_n(at, __ATOMIC_ACQUIRE); }
static inline void tell(uint64* at, uint64 number) { __atomic_store_n(at, number, __ATOMIC_RELEASE); }
#else
__device__ inline uint64 look(const uint64* at) {
    uint64 number;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];" : "=l"(number) : "l"(at) : "memory");
    return number;
}
__device__ inline void tell(uint64* at, uint64 number) {
    __threadfence_system();
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(at), "l"(number) : "memory");
}
#endif

// Waits until another rank has brought a number to at least so much; false if the alarm was raised
// meanwhile.
__device__ inline bool reaches(const uint64* at, uint64 least, uint32 other, uint32* alarm) {
    return wait_for(alarm, other, [=] { return look(at) >= least; });
}

struct alignas(16) Quad {
    uint32 a, b, c, d;
};

#ifdef FIBERS
template <class T>
T fresh(const T* at) { return *at; }
#else
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

// The share of a message that a block passes on.
struct Share {
    uint32 number;
    uint64 first, bytes;
    bool fetched, there;

    __device__ Share(uint32 number, uint64 all) : number(number), fetched(all > SHARES * SHARE) {
        const uint64 each = fetched ? ((all + SHARES - 1) / SHARES + 255) / 256 * 256 : SHARE;
        first = number * each;
        there = first < all || number == 0;
        bytes = first < all ? min(each, all - first) : 0;
    }
};

__device__ void send(const Share& share, End* own, End* other, const unsigned char* from, uint32 rank,
                     uint32* alarm) {
    Numbers* numbers = own->numbers + share.number;
    const uint64 number = numbers->sent + 1;
    const bool first = threadIdx.x == 0;
    const uint64 taken = number > ROOMS ? number - ROOMS : 0;
    if (__syncthreads_or(first && !reaches(&numbers->taken, taken, rank, alarm))) return;
    unsigned char* room = other->room[number % ROOMS][share.number];
    if (!share.fetched) move_bytes(room, from + share.first, share.bytes);
    else if (first) *reinterpret_cast<const unsigned char**>(room) = from + share.first;
    __syncthreads();
    if (!first) return;
    numbers->sent = number;
    tell(&other->numbers[share.number].arrived, number);
}

__device__ void receive(const Share& share, End* own, End* other, unsigned char* to, uint32 rank,
                        uint32* alarm) {
    Numbers* numbers = own->numbers + share.number;
    const uint64 number = numbers->received + 1;
    const bool first = threadIdx.x == 0;
    if (__syncthreads_or(first && !reaches(&numbers->arrived, number, rank, alarm))) return;
    const unsigned char* from = own->room[number % ROOMS][share.number];
    if (share.fetched) from = *reinterpret_cast<const unsigned char* const volatile*>(from);
    move_bytes(to + share.first, from, share.bytes);
    __syncthreads();
    if (!first) return;
    numbers->received = number;
    tell(&other->numbers[share.number].taken, number);
}

// What a job is, packed: kind, channel, and the other rank in the upper half.
#define SEND 1u
#define RECEIVE 2u
// Waits until the other rank has fetched what an earlier launch has sent.
#define LET_FETCH 3u

__device__ void pass(uint64 job, uint32 number, unsigned char* at, uint64 bytes, const uint64* ends,
                     uint32 rank, uint32* alarm) {
    const Share share(number, bytes);
    if (!share.there) return;
    const uint32 channel = uint32(job >> 8) & 255, other = uint32(job >> 32);
    End* near = reinterpret_cast<End*>(ends[rank]) + other * CHANNELS + channel;
    End* far = reinterpret_cast<End*>(ends[other]) + rank * CHANNELS + channel;
    const uint32 kind = uint32(job) & 255;
    if (kind == SEND) send(share, near, far, at, other, alarm);
    else if (kind == RECEIVE) receive(share, near, far, at, other, alarm);
    else if (kind == LET_FETCH && threadIdx.x == 0)
        reaches(&near->numbers[share.number].taken, near->numbers[share.number].sent, other, alarm);
}

// Up to eight jobs, a row of blocks each, begun one after the other: those that send come first, so that
// what waits never keeps a block from beginning that others wait for.
KERNEL(pass_mail, const uint64* ends, uint32 rank, uint32* alarm, uint32* ticket, uint64 job0,
       uint64 at0, uint64 bytes0, uint64 job1, uint64 at1, uint64 bytes1, uint64 job2, uint64 at2,
       uint64 bytes2, uint64 job3, uint64 at3, uint64 bytes3, uint64 job4, uint64 at4, uint64 bytes4,
       uint64 job5, uint64 at5, uint64 bytes5, uint64 job6, uint64 at6, uint64 bytes6, uint64 job7,
       uint64 at7, uint64 bytes7) {
    const uint64 jobs[8] = {job0, job1, job2, job3, job4, job5, job6, job7};
    const uint64 at[8] = {at0, at1, at2, at3, at4, at5, at6, at7};
    const uint64 bytes[8] = {bytes0, bytes1, bytes2, bytes3, bytes4, bytes5, bytes6, bytes7};
    const uint32 turn = draw_turn(ticket, gridDim.x * gridDim.y), k = turn / gridDim.x;
    pass(jobs[k], turn % gridDim.x, reinterpret_cast<unsigned char*>(at[k]), bytes[k], ends, rank,
         alarm);
}

// to <- the `count` <= NOTE_VALUES words of every rank, one after the other. One block of 256 threads.
KERNEL(gather_notes, const uint64* ends, uint32 rank, uint32 ranks, uint32* alarm, uint32 count,
       const uint64* from, uint64* to) {
    pass_notes({ends, rank, ranks, alarm}, count, from, to);
}
