// The fibers of fibers.hpp, and the functions by which the host launches kernels.

#include "fibers.hpp"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <vector>

#include "stacks.hpp"

uint3 threadIdx, blockIdx, blockDim, gridDim;

namespace fibers {

// The result of `launch`.
enum Code {
    FINISHED,
    UNKNOWN_KERNEL,
    BAD_LAUNCH,
    DIVERGENT_BARRIER,
    DIVERGENT_WARP,
    DEADLOCK,
    SHARED_OVERRUN,
    TRAPPED
};

// The order of the blocks of a launch and of the threads of a block, as a bit mask, since CUDA guarantees
// none. With YIELDS, the first thread of a warp that stores to shared memory after a barrier lets all others
// continue after that store; this is for kernels compiled with -DWATCHED (watch.hpp).
enum Order { BACKWARD_BLOCKS = 1, BACKWARD_THREADS = 2, YIELDS = 4 };

const unsigned MOST_THREADS = 1024, MOST_SHARED = 227 * 1024, MOST_TOGETHER = 16;
const size_t GUARD = 4096;
// Number of turns in which all threads that can run only nap, after which nothing will ever change.
const unsigned MOST_IDLE_TURNS = 10000;

Entry* entries = nullptr;

static const Entry* find(const char* name) {
    const Entry* entry = entries;
    while (entry && strcmp(entry->name, name) != 0) entry = entry->next;
    return entry;
}

enum State { UNSTARTED, READY, AT_BARRIER, AT_WARP, EXITED };

struct Thread {
    Fiber* fiber;
    // Its place in its block, and the number of the block among those that run.
    uint3 index;
    unsigned block;
    State state;
    // The line of the wait, and the operands and the result of a warp operation.
    int line;
    Operation operation;
    unsigned mask, source;
    uint64_t value;
};

static Fiber scheduler;
static std::vector<Thread> threads;
static std::vector<unsigned> queue;
static size_t queue_head;
// Threads of a block, and of all blocks that run at the same time.
static unsigned count, total;
static unsigned started, exited, idle;
unsigned current;
// The barrier of a block.
struct Barrier {
    unsigned waiting, votes, result;
};
static Barrier barriers[MOST_TOGETHER];
// The places of the blocks that run, and the shared memory of the first and from block to block.
static uint3 blocks[MOST_TOGETHER];
static unsigned char* all_shared;
static size_t shared_stride;
// Lanes of each warp that wait in a warp operation, and lanes that have exited or never existed.
const unsigned MOST_WARPS = MOST_TOGETHER * MOST_THREADS / LANES;
static unsigned lanes_waiting[MOST_WARPS], lanes_gone[MOST_WARPS];
static Trampoline kernel;
static void** arguments;
static unsigned char* shared_memory;
static size_t shared_bytes;
static Code code;
static char text[512];
static unsigned order;

// The thread, or the lane, with turn k of n.
static unsigned in_turn(unsigned k, unsigned n) { return order & BACKWARD_THREADS ? n - 1 - k : k; }

#include "watch.hpp"

static void run_threads();
static void place(unsigned t);

// Returns the fiber that goes on: one for a thread that has not started, that of the first thread in the queue, or, where
// no thread can go on, the scheduler.
static Fiber& next() {
    if (code != FINISHED) return scheduler;
    if (started < total) {
        if (idle_fibers.empty()) idle_fibers.push_back(new_fiber(run_threads));
        return *idle_fibers.back();
    }
    if (queue.empty()) return scheduler;
    const unsigned t = queue[queue_head++];
    if (queue_head == queue.size()) {
        queue.clear();
        queue_head = 0;
    }
    place(t);
    return *threads[t].fiber;
}

// The current thread waits, while others go on.
static void leave() {
    Fiber& self = *threads[current].fiber;
    Fiber& other = next();
    if (&other != &self) switch_fibers(self, other);
}

// Ends the launch. A fiber that calls it never continues.
static void fail(Code why, const char* format, ...) {
    va_list list;
    va_start(list, format);
    const int start = snprintf(text, sizeof text, "block (%u, %u, %u): ", blockIdx.x, blockIdx.y,
                               blockIdx.z);
    vsnprintf(text + start, sizeof text - start, format, list);
    va_end(list);
    code = why;
}

static void place(unsigned t) {
    const Thread& thread = threads[t];
    current = t;
    threadIdx = thread.index;
    blockIdx = blocks[thread.block];
    shared_memory = all_shared + thread.block * shared_stride;
}

// The place of a thread or a block by its number.
static uint3 place_of(uint64_t number, uint3 size) {
    return {unsigned(number % size.x), unsigned(number / size.x % size.y), unsigned(number / size.x / size.y)};
}

static void make_ready(unsigned t) {
    threads[t].state = READY;
    queue.push_back(t);
}

// Threads that wait at the barriers of their blocks.
static unsigned waiting() {
    unsigned sum = 0;
    for (const Barrier& barrier : barriers) sum += barrier.waiting;
    return sum;
}

// Gives the warp of the calling thread its results if all lanes of the mask that still exist have arrived;
// the calling thread itself continues without a turn in the queue. The operand of an absent lane is all ones:
// NaN.
static bool complete_warp(unsigned warp, Operation operation, unsigned mask) {
    const unsigned first = warp * LANES;
    const unsigned wanted = unsigned(__builtin_popcount(mask));
    if (lanes_waiting[warp] + lanes_gone[warp] < wanted) return false;
    uint64_t values[LANES], results[LANES];
    unsigned present = 0, votes = 0;
    for (unsigned lane = 0; lane < LANES; ++lane) {
        if (!(mask >> lane & 1) || first + lane >= total) continue;
        const Thread& t = threads[first + lane];
        if (t.state == EXITED) continue;
        if (t.state != AT_WARP || t.operation != operation || t.mask != mask) return false;
        present |= 1u << lane;
        values[lane] = t.value;
        if (t.value) votes |= 1u << lane;
    }
    for (unsigned lane = 0; lane < LANES; ++lane) {
        if (!(present >> lane & 1)) continue;
        const unsigned source = threads[first + lane].source;
        results[lane] = operation == BALLOT       ? votes
                        : present >> source & 1 ? values[source]
                                                  : ~uint64_t(0);
    }
    for (unsigned k = 0; k < LANES; ++k) {
        const unsigned lane = in_turn(k, LANES);
        if (!(present >> lane & 1)) continue;
        threads[first + lane].value = results[lane];
        --lanes_waiting[warp];
        if (first + lane != current)
            make_ready(first + lane);
        else
            threads[current].state = READY;
    }
    return present != 0;
}

uint64_t warp_operation(Operation operation, unsigned mask, unsigned source,
                               uint64_t value) {
    const Aside aside;
    Thread& self = threads[current];
    const unsigned t = current, warp = t / LANES;
    if (!(mask >> t % LANES & 1)) {
        fail(DIVERGENT_WARP, "thread %u calls a warp operation with mask %08x, which leaves it out",
             t, mask);
        leave();
    }
    self.operation = operation;
    self.mask = mask;
    self.source = source;
    self.value = value;
    self.state = AT_WARP;
    idle = 0;
    ++lanes_waiting[warp];
    if (!complete_warp(warp, operation, mask)) leave();
    return self.value;
}

// Waits for all threads of the block; returns how many of them voted.
unsigned barrier(int line, bool vote) {
    const Aside aside;
    Thread& self = threads[current];
    Barrier& own = barriers[self.block];
    const unsigned first = self.block * count;
    self.state = AT_BARRIER;
    self.line = line;
    idle = 0;
    own.votes += vote;
    if (++own.waiting < count) {
        leave();
        return own.result;
    }
    for (unsigned t = first; t < first + count; ++t) {
        if (threads[t].line != line) {
            fail(DIVERGENT_BARRIER, "thread %u waits at line %d and thread %u at line %d", t,
                 threads[t].line, current, line);
            leave();
        }
    }
    own = {0, 0, own.votes};
    expect_stores();
    for (unsigned k = 0; k < count; ++k)
        if (first + in_turn(k, count) != current) make_ready(first + in_turn(k, count));
    self.state = READY;
    return own.result;
}

void nap() {
    const Aside aside;
    if (++idle > MOST_IDLE_TURNS * total)
        fail(DEADLOCK, "%u threads nap for ever, %u wait at a barrier, %u exited",
             total - exited - waiting(), waiting(), exited);
    make_ready(current);
    leave();
}

// Ends a kernel that detects an error of its own.
void trap() {
    const Aside aside;
    fail(TRAPPED, "thread %u gave up", current);
    leave();
}

// Waits for another device, whose kernels run in another thread.
void doze() {
    const Aside aside;
    const timespec while_others_work = {0, 20000};
    nanosleep(&while_others_work, nullptr);
    idle = 0;
    make_ready(current);
    leave();
}

// Time of a clock shared by all threads of the machine.
uint64_t nanoseconds() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

unsigned char* dynamic_shared() { return shared_memory; }

// The loop of a fiber: it runs threads that have not started, until there are none.
static void run_threads() {
    Fiber* self = idle_fibers.back();
    idle_fibers.pop_back();
    for (;;) {
        while (started < total) {
            const unsigned t = in_turn(started++, total);
            place(t);
            threads[t].fiber = self;
            threads[t].state = READY;
            run_watched();
            threads[current].state = EXITED;
            ++exited;
            ++lanes_gone[current / LANES];
            idle = 0;
            // Other lanes may wait only for this one.
            if (lanes_waiting[current / LANES] == 0) continue;
            const unsigned first = current / LANES * LANES;
            for (unsigned k = first; k < total && k < first + LANES; ++k)
                if (threads[k].state == AT_WARP)
                    complete_warp(current / LANES, threads[k].operation, threads[k].mask);
        }
        Fiber& other = next();
        idle_fibers.push_back(self);
        switch_fibers(*self, other);
        idle_fibers.pop_back();
    }
}

// Reports the waits of the threads when none can continue.
static void diagnose() {
    unsigned barrier_thread = total, warp_thread = total;
    for (unsigned t = total; t-- > 0;) {
        if (threads[t].state == AT_BARRIER) barrier_thread = t;
        if (threads[t].state == AT_WARP) warp_thread = t;
    }
    const unsigned at_barrier = waiting(), at_warp = total - exited - at_barrier;
    if (warp_thread < total)
        fail(DIVERGENT_WARP,
             "thread %u waits in a warp operation with mask %08x that not all of its lanes reach "
             "(%u threads in warp operations, %u at a barrier, %u exited)",
             warp_thread, threads[warp_thread].mask, at_warp, at_barrier, exited);
    else
        fail(DIVERGENT_BARRIER, "thread %u waits at line %d for threads that exited (%u of %u)",
             barrier_thread, threads[barrier_thread].line, exited, total);
}

// Runs the blocks whose threads are `total`.
static void run_blocks() {
    started = exited = idle = 0;
    for (Barrier& barrier : barriers) barrier = {};
    expect_stores();
    queue.clear();
    queue_head = 0;
    for (Thread& t : threads) t.state = UNSTARTED;
    for (unsigned first = 0; first < total; first += LANES) {
        lanes_waiting[first / LANES] = 0;
        lanes_gone[first / LANES] = total >= first + LANES ? 0 : first + LANES - total;
    }
    while (exited < total && code == FINISHED) {
        Fiber& other = next();
        if (&other == &scheduler)
            diagnose();
        else
            switch_fibers(scheduler, other);
    }
}

static std::vector<unsigned char> room;

static bool waits;
void wait_for_launches() {
    Aside aside;
    waits = true;
}

// Flags that say how a launch runs: its blocks together, and begun before the end of the launch before.
enum Way { TOGETHER = 1, EARLY = 2 };

static Code run_grid(const Entry& entry, const unsigned* grid, const unsigned* block,
                     unsigned shared, unsigned way, void** given, unsigned given_count) {
    const bool together = way & TOGETHER;
    code = FINISHED;
    waits = false;
    text[0] = 0;
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    blockIdx = {0, 0, 0};
    const uint64_t size = uint64_t(block[0]) * block[1] * block[2];
    const bool empty = size == 0 || grid[0] == 0 || grid[1] == 0 || grid[2] == 0;
    const unsigned group = together ? grid[0] : 1;
    const bool wide = group > MOST_TOGETHER || (group > 1 && size % LANES != 0);
    if (empty || wide || size > MOST_THREADS || grid[1] > 65535 || grid[2] > 65535 || shared > MOST_SHARED)
        fail(BAD_LAUNCH, "%s: %u x %u x %u blocks of %u x %u x %u threads with %u bytes", entry.name,
             grid[0], grid[1], grid[2], block[0], block[1], block[2], shared);
    else if (given_count != entry.arguments)
        fail(BAD_LAUNCH, "%s takes %u arguments, not %u", entry.name, entry.arguments, given_count);
    if (code != FINISHED) return code;
    kernel = entry.call;
    arguments = given;
    count = unsigned(size);
    total = count * group;
    threads.resize(total);
    for (unsigned t = 0; t < total; ++t) {
        threads[t].block = t / count;
        threads[t].index = place_of(t % count, blockDim);
    }
    shared_stride = (size_t(shared) + GUARD + 127) / 128 * 128;
    room.resize(group * shared_stride + 128);
    all_shared = room.data() + (128 - reinterpret_cast<uintptr_t>(room.data()) % 128);
    shared_bytes = shared;
    const std::vector<unsigned char> intact(GUARD, 0xa5);
    for (unsigned block = 0; block < group; ++block)
        memcpy(all_shared + block * shared_stride + shared, intact.data(), GUARD);
    const uint64_t groups = uint64_t(grid[0]) * grid[1] * grid[2] / group;
    for (uint64_t turn = 0; turn < groups; ++turn) {
        const uint64_t first = (order & BACKWARD_BLOCKS ? groups - 1 - turn : turn) * group;
        for (unsigned block = 0; block < group; ++block) {
            blocks[block] = place_of(first + block, gridDim);
            // NaN: kernels must not rely on the contents of shared memory.
            memset(all_shared + block * shared_stride, 0xff, shared);
        }
        run_blocks();
        for (unsigned block = 0; block < group && code == FINISHED; ++block) {
            const unsigned char* guard = all_shared + block * shared_stride + shared;
            if (memcmp(guard, intact.data(), GUARD) == 0) continue;
            size_t k = 0;
            while (guard[k] == 0xa5) ++k;
            fail(SHARED_OVERRUN, "%s wrote %zu bytes behind its %u bytes of shared memory", entry.name, k,
                 shared);
        }
        if (code != FINISHED) {
            drop_fibers();
            return code;
        }
    }
    if ((way & EARLY) && !waits) fail(TRAPPED, "%s begins early and waits for no launch", entry.name);
    return code;
}

}  // namespace fibers

// Held by the system thread that runs code of the kernel file.
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

// Frees the stacks of all fibers, between launches.
extern "C" __attribute__((visibility("default"))) void release() { fibers::drop_fibers(); }

// Runs a kernel in an order of fibers::Order; returns a fibers::Code. `message` is set to a text that is
// valid until the next launch of the calling thread.
extern "C" __attribute__((visibility("default"))) int launch_in_order(
    const char* name, const unsigned* grid, const unsigned* block, unsigned shared, unsigned way,
    void** arguments, unsigned count, unsigned order, const char** message) {
    static thread_local char copy[sizeof fibers::text];
    *message = copy;
    const fibers::Entry* entry = fibers::find(name);
    if (!entry) {
        snprintf(copy, sizeof copy, "there is no kernel '%s'", name);
        return fibers::UNKNOWN_KERNEL;
    }
    pthread_mutex_lock(&one_at_a_time);
    fibers::order = order;
    const int code = fibers::run_grid(*entry, grid, block, shared, way, arguments, count);
    memcpy(copy, fibers::text, sizeof copy);
    pthread_mutex_unlock(&one_at_a_time);
    return code;
}

// Runs a kernel in the natural order.
extern "C" __attribute__((visibility("default"))) int launch(
    const char* name, const unsigned* grid, const unsigned* block, unsigned shared,
    void** arguments, unsigned count, const char** message) {
    return launch_in_order(name, grid, block, shared, 0, arguments, count, 0, message);
}

// Number and sizes in bytes of a kernel's arguments; ~0 if there is no such kernel.
extern "C" __attribute__((visibility("default"))) unsigned parameters(const char* name,
                                                                      unsigned* sizes) {
    const fibers::Entry* entry = fibers::find(name);
    if (!entry) return ~0u;
    pthread_mutex_lock(&one_at_a_time);
    for (unsigned k = 0; k < entry->arguments; ++k) sizes[k] = entry->size(k);
    pthread_mutex_unlock(&one_at_a_time);
    return entry->arguments;
}

// The parameters of a kernel as its source declares them; null if there is no such kernel.
extern "C" __attribute__((visibility("default"))) const char* declared(const char* name) {
    const fibers::Entry* entry = fibers::find(name);
    return entry ? entry->parameters : nullptr;
}
