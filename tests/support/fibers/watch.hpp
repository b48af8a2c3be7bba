// Watches the stores of kernels to shared memory, for fibers.cpp, which includes this file within its namespace.
//
// The kernels are compiled with -fsanitize=thread, which makes the compiler call a function at every memory
// access, and linked without the library of that sanitizer: the functions are defined below.

#ifndef WATCHED
static void expect_stores() {}
static void run_watched() { kernel(arguments); }
#else

bool watching, stored;
// Warps of which a thread has stored since the last barrier.
static bool has_stored[MOST_WARPS];

static void expect_stores() { memset(has_stored, 0, sizeof has_stored); }

static void run_watched() {
    watching = true;
    kernel(arguments);
    watching = stored = false;
}

static void leave();
static void make_ready(unsigned t);

// Lets other threads continue if the current one has stored.
__attribute__((no_sanitize("thread"))) static void yield_after_store() {
    if (!stored) return;
    const Aside aside;
    make_ready(current);
    leave();
}

}  // namespace fibers

// The memory of zero-initialised variables of this library, which include __shared__ ones.
extern "C" __attribute__((visibility("hidden"))) char __bss_start[], _end[];

namespace fibers {

__attribute__((no_sanitize("thread"))) static inline void watch(const void* at, bool store) {
    yield_after_store();
    if (!store || !watching || !(order & YIELDS) || has_stored[current / LANES]) return;
    const char* const byte = static_cast<const char*>(at);
    const char* const dynamic = reinterpret_cast<const char*>(shared_memory);
    const bool is_shared = (byte >= __bss_start && byte < _end) ||
                           (byte >= dynamic && byte < dynamic + shared_bytes);
    if (is_shared) has_stored[current / LANES] = stored = true;
}

}  // namespace fibers

#define WATCH(name, store)                                                                     \
    extern "C" __attribute__((no_sanitize("thread"))) void __tsan_##name(void* at) {           \
        fibers::watch(at, store);                                                              \
    }
#define WATCH_SIZE(size)                                                                       \
    WATCH(read##size, false)                                                                   \
    WATCH(write##size, true)                                                                   \
    WATCH(unaligned_read##size, false)                                                         \
    WATCH(unaligned_write##size, true)
WATCH_SIZE(1)
WATCH_SIZE(2)
WATCH_SIZE(4)
WATCH_SIZE(8)
WATCH_SIZE(16)
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_read_range(void* at, unsigned long) {
    fibers::watch(at, false);
}
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_write_range(void* at, unsigned long) {
    fibers::watch(at, true);
}
extern "C" __attribute__((no_sanitize("thread"))) void* __tsan_memcpy(void* to, const void* from,
                                                                      unsigned long bytes) {
    fibers::watch(to, true);
    return memcpy(to, from, bytes);
}
extern "C" __attribute__((no_sanitize("thread"))) void* __tsan_memset(void* to, int value,
                                                                      unsigned long bytes) {
    fibers::watch(to, true);
    return memset(to, value, bytes);
}
extern "C" void __tsan_init() {}
extern "C" void __tsan_func_entry(void*) {}
extern "C" __attribute__((no_sanitize("thread"))) void __tsan_func_exit() {
    fibers::yield_after_store();
}

namespace fibers {
#endif
