// Peer memory: memory of a device that kernels of other devices read and write. Each rank has one window: the endpoints
// of its channels (messages.cu), the area of the all-gather of words, and that of the halo exchange (halo.cuh).
#pragma once
#include "common.cuh"

// Polls of a value between two polls of the abort flag.
#define POLLS_PER_CHECK 256u

struct Endpoint {
    Sequence sequences[FRAGMENTS];
    unsigned char buffer[BUFFERS][FRAGMENTS][FRAGMENT_BYTES];
};

#ifndef FIBERS
#define DOZE() ((void)0)
__device__ inline uint64 nanoseconds() {
    uint64 now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}
#endif

// Polls until `arrived()` is true; returns false if the abort flag was raised meanwhile. A wait that
// exceeds the timeout raises the flag and stores the rank that it waited for.
template <class Arrived>
__device__ inline bool wait_for(uint32* abort_flag, uint32 other, const Arrived& arrived) {
    volatile uint32* words = abort_flag;
    uint64 begun = 0;
    for (uint32 polls = 1; !arrived(); ++polls) {
        DOZE();
        if (polls % POLLS_PER_CHECK != 0) continue;
        const uint32 raised = words[ABORT_RAISED], timeout = words[ABORT_TIMEOUT];
        if (raised) return false;
        const uint64 now = nanoseconds();
        if (begun == 0) begun = now;
        if (now - begun < timeout * uint64(1000000)) continue;
        words[ABORT_AWAITED] = other + 1;
        __threadfence_system();
        words[ABORT_RAISED] = 1;
        return false;
    }
    return true;
}

// The number of this block in the order in which the blocks of a launch start: blocks with lower numbers are running or
// done, which blockIdx does not promise. The ticket is zero before and after the launch.
__device__ inline uint32 start_order(uint32* ticket, uint32 blocks) {
    __shared__ uint32 number;
    if (threadIdx.x == 0) {
        number = atomicAdd(ticket, 1u);
        if (number + 1 == blocks) atomicExch(ticket, 0u);
    }
    __syncthreads();
    return number;
}

// All-gather of words, each of which carries 32 bits beside the sequence number of the all-gather. A rank sends when it
// has read all of the one before, so that two buffers suffice. Words are ordered by buffer and sender; after them stand
// the number of the last all-gather and the ticket of launches that exchange halos.

// The windows of all ranks; none if this rank is alone or cannot access the others.
struct PeerAccess : PeerAccessFields {
    __device__ uint64* gather_area(uint32 of) const {
        return reinterpret_cast<uint64*>(reinterpret_cast<Endpoint*>(windows[of]) + ranks * CHANNELS);
    }
    __device__ uint64* words_from(uint32 of, uint32 from, uint32 number) const {
        return gather_area(of) + (number % BUFFERS * ranks + from) * GATHERED_WORDS;
    }
    // Number of the last all-gather.
    __device__ uint64* gathers() const {
        return gather_area(rank) + BUFFERS * ranks * GATHERED_WORDS;
    }
    __device__ uint32* ticket() const { return reinterpret_cast<uint32*>(gathers() + 1); }
    __device__ uint64* halo_area(uint32 of) const {
        return gather_area(of) + BUFFERS * ranks * GATHERED_WORDS + COUNTER_WORDS;
    }
};

// The value of a word once it carries this number; any value if the abort flag was raised meanwhile.
__device__ inline uint32 poll_word(const uint64* at, uint32 from, uint32 number, uint32* abort_flag) {
    uint64 word = 0;
    wait_for(abort_flag, from, [&] {
        word = *const_cast<const volatile uint64*>(at);
        return word >> 32 == number;
    });
    return uint32(word);
}

__device__ inline uint64 word_of(double value) { return uint64(__double_as_longlong(value)); }
__device__ inline uint64 word_of(uint64 value) { return value; }

// The number of the next all-gather; 0 where there is none.
__device__ inline uint32 next_gather(const PeerAccess& access) {
    return access.windows ? uint32(*access.gathers()) + 1 : 0;
}

// all[r * count + k] <- own[k] of rank r, for k < count <= GATHERED_VALUES and all ranks r. One block of GATHER_THREADS
// threads, at least GATHERED_WORDS per rank; `number` is that of the next all-gather.
template <class T>
__device__ inline void all_gather_words(const PeerAccess& access, uint32 number, uint32 count, const T* own,
                                        uint64* all) {
    __shared__ uint32 halves[GATHER_THREADS];
    const uint32 words = 2 * count, t = threadIdx.x, rank = t / words, word = t % words;
    __syncthreads();
    if (rank < access.ranks) {
        const uint64 bits = word_of(own[word / 2]);
        volatile uint64* to = access.words_from(rank, access.rank, number) + word;
        *to = uint64(number) << 32 | (word % 2 ? bits >> 32 : bits & 0xffffffffu);
    }
    __syncthreads();
    if (rank < access.ranks)
        halves[t] = poll_word(access.words_from(access.rank, rank, number) + word, rank, number,
                              access.abort_flag);
    __syncthreads();
    if (t < count * access.ranks) all[t] = uint64(halves[2 * t + 1]) << 32 | halves[2 * t];
    if (t == 0) *access.gathers() = number;
    __syncthreads();
}

// sums[0..count] <- their sums over all ranks, in the order of the ranks, by such a block.
__device__ inline void all_reduce(const PeerAccess& access, uint32 number, uint32 count, double* sums) {
    __shared__ uint64 all[GATHER_THREADS / 2];
    if (!access.windows) return;
    all_gather_words(access, number, count, sums, all);
    if (threadIdx.x < count) {
        double sum = 0.0;
        for (uint32 r = 0; r < access.ranks; ++r) {
            const double value = __longlong_as_double(int64(all[r * count + threadIdx.x]));
            sum = r == 0 ? value : sum + value;
        }
        sums[threadIdx.x] = sum;
    }
    __syncthreads();
}
