// Kernels that test the fiber header.
#define KERNEL(name, ...) ENTRY(name, __VA_ARGS__)

KERNEL(block_sum, double* sum) {
    DYNAMIC_SHARED(double, values);
    const unsigned t = threadIdx.x;
    values[t] = t;
    __syncthreads();
    for (unsigned step = 1; step < blockDim.x; step *= 2) {
        const double other = t + step < blockDim.x ? values[t + step] : 0.0;
        __syncthreads();
        values[t] += other;
        __syncthreads();
    }
    if (t == 0) *sum = values[0];
}

KERNEL(places, unsigned* seen) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(seen + block * blockDim.x * blockDim.y * blockDim.z + thread, 1u);
}

KERNEL(early, unsigned* seen) {
    fibers::wait_for_launches();
    if (threadIdx.x == 0) seen[0] = 1;
}

KERNEL(shuffles, int* lanes) {
    const int lane = threadIdx.x;
    lanes[lane] = __shfl_sync(0xffffffffu, lane, 5);
    lanes[32 + lane] = __shfl_up_sync(0xffffffffu, lane, 3);
    lanes[64 + lane] = __shfl_down_sync(0xffffffffu, lane, 3);
    lanes[96 + lane] = __shfl_xor_sync(0xffffffffu, lane, 16);
    lanes[128 + lane] = __shfl_down_sync(0xffffffffu, lane, 3, 8);
}

KERNEL(votes, unsigned* votes) {
    const bool odd = threadIdx.x % 2;
    unsigned* own = votes + 3 * threadIdx.x;
    own[0] = __ballot_sync(0xffffffffu, odd);
    own[1] = __any_sync(0xffffffffu, odd);
    own[2] = __syncthreads_or(threadIdx.x == blockDim.x / 2);
}

KERNEL(half_warps, int* sums) {
    const unsigned half = threadIdx.x / 16;
    const unsigned mask = half ? 0xffff0000u : 0x0000ffffu;
    int value = threadIdx.x;
    // The halves take a different number of steps.
    for (unsigned wait = 0; wait < half; ++wait) __syncwarp(mask);
    for (int step = 8; step > 0; step /= 2) value += __shfl_down_sync(mask, value, step, 16);
    sums[threadIdx.x] = value;
}

KERNEL(pass_the_turn, unsigned* turn) {
    // The last thread begins.
    const unsigned mine = blockDim.x - 1 - threadIdx.x;
    while (*(volatile unsigned*)turn != mine) NAP();
    atomicAdd(turn, 1u);
}

KERNEL(atomics, unsigned long long* found) {
    const unsigned long long t = threadIdx.x;
    atomicAdd(found, 1ull);
    if (t == 0) found[1] = 7;
    __syncthreads();
    atomicMin(found + 1, t + 3);
    atomicMax(found + 2, t);
    if (t == 0) found[3] = atomicExch(found + 3, 5ull) + found[3];
}

KERNEL(skipped_barrier) {
    if (threadIdx.x == 40) return;
    __syncthreads();
}

KERNEL(two_barriers) {
    if (threadIdx.x < 32) {
        __syncthreads();
    } else {
        __syncthreads();
    }
}

KERNEL(lonely_shuffle) {
    if (threadIdx.x == 3)
        __syncthreads();
    else
        __shfl_sync(0xffffffffu, 1, 0);
    __syncthreads();
}

KERNEL(endless_wait) {
    if (threadIdx.x == 0) return;
    for (;;) NAP();
}

KERNEL(overrun) {
    DYNAMIC_SHARED(unsigned char, bytes);
    bytes[100] = 0;
}

// seen[t] <- blocks that a thread knows of once all have met.
KERNEL(meeting, unsigned* seen) {
    unsigned* const met = seen + gridDim.x * blockDim.x;
    DYNAMIC_SHARED(unsigned, own);
    own[threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(met, 1u);
        while (*(volatile unsigned*)met < gridDim.x) NAP();
    }
    __syncthreads();
    const unsigned before = (threadIdx.x + blockDim.x - 1) % blockDim.x;
    seen[blockIdx.x * blockDim.x + threadIdx.x] = own[before] == blockIdx.x ? *met : 0;
}

KERNEL(turns, unsigned* turns) { turns[blockIdx.x] = atomicAdd(turns + gridDim.x, 1u); }

KERNEL(count_threads, unsigned* count) { atomicAdd(count, 1u); }

// good[t] <- whether a thread reads the right number from the one before it.
template <bool BARRIER>
static void learn(unsigned* good) {
    __shared__ unsigned values[64];
    const unsigned t = threadIdx.x, before = t == 0 ? 0 : t - 1;
    values[t] = 100 + t;
    if (BARRIER) __syncthreads();
    good[t] = values[before] == 100 + before;
    __syncthreads();
    values[t] = 0;
}

KERNEL(with_a_barrier, unsigned* good) { learn<true>(good); }
KERNEL(without_a_barrier, unsigned* good) { learn<false>(good); }

// The flag is set before the value. In most orders the first thread does both at once, which hides the fault.
KERNEL(said_before_it_is_done, unsigned* good) {
    __shared__ unsigned there, value;
    if (threadIdx.x == 0) there = value = 0;
    __syncthreads();
    if (*(volatile unsigned*)&there == 0) {
        *(volatile unsigned*)&there = 1;
        *(volatile unsigned*)&value = 7;
    }
    good[threadIdx.x] = *(volatile unsigned*)&value == 7;
    __syncthreads();
}
