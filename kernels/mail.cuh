// Memory through which devices that reach each other's pass messages. A rank has ends of lanes
// (mail.cu), then room for notes, then room for columns (columns.cuh).
#pragma once
#include "common.cuh"

// Shares of a message, at most, and bytes of each in an end's room.
#define SHARES 64u
#define SHARE 16384u
// Messages that an end has room for: one is taken while the next comes.
#define ROOMS 2u
// Ways of messages from one rank to another at the same time.
#define CHANNELS 3u
// Looks at a number between two looks at the alarm.
#define LOOKS_BETWEEN 256u

// Words of the host's memory: what ends all waiting, milliseconds that a wait may take, and one more than
// the rank for which a kernel waited longer.
#define RAISED 0
#define LIMIT 1
#define AWAITED 2

// Numbers of messages of one share: of the last that arrived, of the last own one that the other rank
// took, both written by that rank; of the last sent and the last received.
struct Numbers {
    uint64 arrived, taken, sent, received;
};

struct End {
    Numbers numbers[SHARES];
    unsigned char room[ROOMS][SHARES][SHARE];
};

#ifdef FIBERS
#define PAUSE() fibers::doze()
__device__ inline uint64 nanoseconds() { return fibers::nanoseconds(); }
#else
#define PAUSE() ((void)0)
__device__ inline uint64 nanoseconds() {
    uint64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

// Waits until something has come from another rank; false if the alarm was raised meanwhile. Who waits for
// longer than the limit raises it, and says for whom.
template <class Come>
__device__ inline bool wait_for(uint32* alarm, uint32 other, const Come& come) {
    volatile uint32* words = alarm;
    uint64 begun = 0;
    for (uint32 looks = 1; !come(); ++looks) {
        PAUSE();
        if (looks % LOOKS_BETWEEN != 0) continue;
        const uint32 raised = words[RAISED], limit = words[LIMIT];
        if (raised) return false;
        const uint64 now = nanoseconds();
        if (begun == 0) begun = now;
        if (now - begun < limit * uint64(1000000)) continue;
        words[AWAITED] = other + 1;
        __threadfence_system();
        words[RAISED] = 1;
        return false;
    }
    return true;
}

// The number of this block in the order in which the blocks of a launch begin: those with lower numbers
// are at work or done, which blockIdx does not promise. The ticket is zero before and after the launch.
__device__ inline uint32 draw_turn(uint32* ticket, uint32 blocks) {
    __shared__ uint32 turn;
    if (threadIdx.x == 0) {
        turn = atomicAdd(ticket, 1u);
        if (turn + 1 == blocks) atomicExch(ticket, 0u);
    }
    __syncthreads();
    return turn;
}

// Results of reductions go from rank to rank in notes: 32 bits of a value beside the number of the
// note, stored at once, so that they need no order among each other. A rank sends a note when it has
// read all of the one before, so that two rooms suffice; they follow the ends of the lanes, by room and
// sender, and after them stand the number of the last note and the ticket of launches that exchange columns.
#define NOTE_VALUES 4u
#define NOTE_WORDS (2 * NOTE_VALUES)
#define LAST_WORDS 4u

// The way to the memory of all ranks; no ends if this one is alone or cannot reach the others.
struct Reach {
    const uint64* ends;
    uint32 rank, ranks;
    uint32* alarm;

    __device__ uint64* notes(uint32 of) const {
        return reinterpret_cast<uint64*>(reinterpret_cast<End*>(ends[of]) + ranks * CHANNELS);
    }
    __device__ uint64* note(uint32 of, uint32 from, uint32 number) const {
        return notes(of) + (number % ROOMS * ranks + from) * NOTE_WORDS;
    }
    __device__ uint64* last_note() const { return notes(rank) + ROOMS * ranks * NOTE_WORDS; }
    __device__ uint32* ticket() const { return reinterpret_cast<uint32*>(last_note() + 1); }
    __device__ uint64* columns(uint32 of) const {
        return notes(of) + ROOMS * ranks * NOTE_WORDS + LAST_WORDS;
    }
};

// The other half of a word of a rank that bears this number; any if the alarm was raised meanwhile.
__device__ inline uint32 read_note(const uint64* at, uint32 from, uint32 number, uint32* alarm) {
    uint64 word = 0;
    wait_for(alarm, from, [&] {
        word = *const_cast<const volatile uint64*>(at);
        return word >> 32 == number;
    });
    return uint32(word);
}

__device__ inline uint64 word_of(double value) { return uint64(__double_as_longlong(value)); }
__device__ inline uint64 word_of(uint64 value) { return value; }

// What all ranks have in a note: `count` values each, the own ones given, the values of rank r from
// r * count on. By one block of 256 threads, which are at least NOTE_WORDS a rank.
template <class T>
__device__ inline void pass_notes(const Reach& reach, uint32 count, const T* own, uint64* all) {
    __shared__ uint32 halves[256];
    const uint32 words = 2 * count, t = threadIdx.x, rank = t / words, word = t % words;
    uint64* last = reach.last_note();
    const uint32 number = uint32(*last) + 1;
    __syncthreads();
    if (rank < reach.ranks) {
        const uint64 bits = word_of(own[word / 2]);
        volatile uint64* to = reach.note(rank, reach.rank, number) + word;
        *to = uint64(number) << 32 | (word % 2 ? bits >> 32 : bits & 0xffffffffu);
    }
    __syncthreads();
    if (rank < reach.ranks)
        halves[t] = read_note(reach.note(reach.rank, rank, number) + word, rank, number, reach.alarm);
    __syncthreads();
    if (t < count * reach.ranks) all[t] = uint64(halves[2 * t + 1]) << 32 | halves[2 * t];
    if (t == 0) *last = number;
    __syncthreads();
}

// sums[0..count] <- their sums over all ranks, in the order of the ranks, by such a block.
__device__ inline void sum_ranks(const Reach& reach, uint32 count, double* sums) {
    __shared__ uint64 all[128];
    if (!reach.ends) return;
    pass_notes(reach, count, sums, all);
    if (threadIdx.x < count) {
        double sum = 0.0;
        for (uint32 r = 0; r < reach.ranks; ++r) {
            const double value = __longlong_as_double(int64(all[r * count + threadIdx.x]));
            sum = r == 0 ? value : sum + value;
        }
        sums[threadIdx.x] = sum;
    }
    __syncthreads();
}
