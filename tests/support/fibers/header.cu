// Kernels that test the fiber header.
#define KERNEL(name, ...) ENTRY(name, __VA_ARGS__)

KERNEL(places, unsigned* seen) {
    const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    atomicAdd(seen + block * blockDim.x * blockDim.y * blockDim.z + thread, 1u);
}

KERNEL(early, unsigned* seen) {
    fibers::wait_for_launches();
    if (threadIdx.x == 0) seen[0] = 1;
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
