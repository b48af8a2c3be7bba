// A stand-in for NVIDIA's driver, NVRTC and NCCL on a machine without a GPU, so that code that calls them
// runs in tests: devices have host memory, and their kernels are run by ../fibers/fibers.cpp.
//
// A call does its work at once, unless its stream is held (`stand_in_hold`) or earlier work waits for a
// message of NCCL or for an event of another stream. Then it is done, with all that follows, by the next
// thread that looks at the stream. A device runs one kernel at a time. The environment gives the number of
// devices (STAND_IN_GPUS), their memory in KiB (STAND_IN_MEMORY), the folder of the compiled kernels
// (STAND_IN_KERNELS), the calls that hang (STAND_IN_STUCK: init, exit), whether other processes can map
// memory (STAND_IN_IPC: 0 for no), the compute capability of the devices (STAND_IN_CAPABILITY: 90) and the
// newest one supported by NVRTC (STAND_IN_NEWEST: 100). Calls fail by `stand_in_fail` and are counted by
// `stand_in_calls`; uses that the real driver does not define, such as a handle destroyed without a context,
// are counted as "misuse".
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

// Codes of CUDA.
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURED_EVENT = 907
};
// A code of NCCL.
enum { IN_PROGRESS = 7 };

const char* setting(const char* name, const char* otherwise) {
    const char* value = getenv(name);
    return value ? value : otherwise;
}
int device_count() { return atoi(setting("STAND_IN_GPUS", "2")); }
size_t memory() { return size_t(atol(setting("STAND_IN_MEMORY", "8388608"))) << 10; }
bool stuck(const char* where) { return strstr(setting("STAND_IN_STUCK", ""), where); }

void hang() {
    for (;;) pause();
}

// Calls that fail with `code`: after `after` calls, `times` times.
struct Failure {
    int after, times, code;
};
std::mutex failures_lock;
std::map<std::string, Failure> failures;
std::map<std::string, int> calls;

void count(const char* name) {
    const std::lock_guard<std::mutex> guard(failures_lock);
    ++calls[name];
}

int failing(const char* name) {
    const std::lock_guard<std::mutex> guard(failures_lock);
    ++calls[name];
    const auto found = failures.find(name);
    if (found == failures.end() || found->second.after-- > 0 || found->second.times-- <= 0) return SUCCESS;
    return found->second.code;
}
#define CALL(name) \
    if (const int failed = failing(#name)) return failed

// Work is recorded if the calling thread records, queued behind work that is not ready, or done at once.
typedef std::function<int()> Work;
typedef std::vector<Work> Graph;
thread_local Graph* recorded = nullptr;
thread_local int current = -1;
// Number of times that the context of each device is retained.
std::atomic<int> retained[16];

// Counts uses that the real driver does not define.
bool misused(bool wrong) {
    if (wrong) count("misuse");
    return wrong;
}
// A handle must be released while its context is current and alive.
void released() { misused(current < 0 || retained[current] == 0); }

struct Stream {
    int device, priority;
    std::mutex lock;
    std::deque<Work> queue;
    std::atomic<bool> held{false}, draining{false}, captured{false};

    // Does the work that is ready. If another thread, or this one, is already doing so, that one continues.
    int drain() {
        if (held) return NOT_READY;
        if (draining.exchange(true)) return NOT_READY;
        int code = SUCCESS;
        for (;;) {
            Work first;
            {
                const std::lock_guard<std::mutex> guard(lock);
                if (queue.empty()) break;
                first = queue.front();
            }
            code = first();
            if (code == NOT_READY) break;
            const std::lock_guard<std::mutex> guard(lock);
            queue.pop_front();
            if (code != SUCCESS) break;
        }
        draining = false;
        return code;
    }
    bool is_done() {
        const std::lock_guard<std::mutex> guard(lock);
        return queue.empty() && !draining;
    }
};
typedef std::shared_ptr<Stream> StreamOf;

std::mutex streams_lock;
// Streams with handles, and destroyed streams with work left.
std::map<void*, StreamOf> streams;
std::vector<StreamOf> destroyed;

StreamOf make_stream(void* handle, int priority) {
    StreamOf made = std::make_shared<Stream>();
    made->device = current;
    made->priority = priority;
    const std::lock_guard<std::mutex> guard(streams_lock);
    return streams[handle ? handle : made.get()] = made;
}
// The stream of a handle: 0 and 1 are the legacy default stream of the device, 2 belongs to the calling
// thread.
StreamOf stream_of(void* handle) {
    static thread_local char own;
    static char legacy[16];
    const uintptr_t number = reinterpret_cast<uintptr_t>(handle);
    if (number < 3) handle = number == 2 ? &own : &legacy[current < 0 ? 0 : current];
    {
        const std::lock_guard<std::mutex> guard(streams_lock);
        const auto found = streams.find(handle);
        if (found != streams.end()) return found->second;
    }
    if (number >= 3 && misused(true)) return nullptr;
    return make_stream(handle, 0);
}
std::vector<StreamOf> streams_on(int device) {
    const std::lock_guard<std::mutex> guard(streams_lock);
    std::vector<StreamOf> all = destroyed;
    for (const auto& pair : streams) all.push_back(pair.second);
    std::vector<StreamOf> own;
    for (const StreamOf& stream : all)
        if (stream->device == device) own.push_back(stream);
    return own;
}

// Points in streams; when each of them is done, all work requested before them is.
struct Point {
    StreamOf stream;
    std::shared_ptr<std::atomic<bool>> done;
};
struct Event : std::vector<Point> {
    // Recorded within a capture, and valid only there.
    bool captured = false;
};

int ask(const StreamOf& stream, Work work) {
    if (recorded) {
        recorded->push_back(std::move(work));
        return SUCCESS;
    }
    if (!stream) return INVALID_HANDLE;
    {
        const std::lock_guard<std::mutex> guard(stream->lock);
        stream->queue.push_back(std::move(work));
    }
    const int code = stream->drain();
    return code == NOT_READY ? int(SUCCESS) : code;
}

void record(Event* event, const std::vector<StreamOf>& of) {
    event->clear();
    event->captured = false;
    for (const StreamOf& stream : of) {
        auto done = std::make_shared<std::atomic<bool>>(false);
        event->push_back({stream, done});
        ask(stream, [=] { return *done = true, SUCCESS; });
    }
}
int reached(const Event& event) {
    for (const Point& point : event) {
        if (!*point.done) point.stream->drain();
        if (!*point.done) return NOT_READY;
    }
    return SUCCESS;
}

int wait(const StreamOf& stream) {
    if (!stream) return INVALID_HANDLE;
    for (;;) {
        const int code = stream->drain();
        if (code != NOT_READY) return code;
        if (stream->is_done()) return SUCCESS;
        usleep(1000);
    }
}

std::mutex busy[16];

// Compiled kernels: `launch` and `parameters` of the fibers.
typedef int (*Launch)(const char*, const unsigned*, const unsigned*, unsigned, void**, unsigned,
                      const char**);
typedef unsigned (*Parameters)(const char*, unsigned*);

struct Function;

struct Module {
    std::string text;
    std::map<std::string, Function*> functions;
    Launch launch = nullptr;
    Parameters parameters = nullptr;
    std::once_flag opened;

    // Each module is a separate copy, since modules of the same text have separate shared memory.
    void open() {
        uint64_t key = 0xcbf29ce484222325u;
        for (unsigned char c : text) key = (key ^ c) * 0x100000001b3u;
        char copy[] = "/tmp/stand-in-XXXXXX", command[4096];
        close(mkstemp(copy));
        snprintf(command, sizeof command, "cp '%s/%016llx.so' %s", setting("STAND_IN_KERNELS", "."),
                 (unsigned long long)key, copy);
        void* library = system(command) == 0 ? dlopen(copy, RTLD_NOW | RTLD_LOCAL) : nullptr;
        unlink(copy);
        if (!library) return;
        launch = reinterpret_cast<Launch>(dlsym(library, "launch"));
        parameters = reinterpret_cast<Parameters>(dlsym(library, "parameters"));
    }
};

struct Function {
    Module* module;
    std::string name;
    std::vector<unsigned> sizes;
    int device;
    // Lazy loading: a kernel is loaded at its first use, unless it is requested before.
    bool is_loaded = false;

    void load() {
        if (!is_loaded) count("load");
        is_loaded = true;
    }

    int run(const unsigned* grid, const unsigned* block, unsigned shared,
            std::vector<std::vector<char>> values) const {
        std::vector<void*> pointers;
        for (auto& value : values) pointers.push_back(value.data());
        const char* said = "";
        const std::lock_guard<std::mutex> alone(busy[device]);
        const int code = module->launch(name.c_str(), grid, block, shared, pointers.data(),
                                        unsigned(pointers.size()), &said);
        if (code == 0) return SUCCESS;
        fprintf(stderr, "%s: %s\n", name.c_str(), said);
        return LAUNCH_FAILED;
    }
};

__attribute__((destructor)) void end_of_the_process() {
    if (stuck("exit")) hang();
}

}  // namespace

EXPORT void stand_in_fail(const char* name, int after, int times, int code) {
    const std::lock_guard<std::mutex> guard(failures_lock);
    failures[name] = {after, times, code};
}
EXPORT int stand_in_calls(const char* name) {
    const std::lock_guard<std::mutex> guard(failures_lock);
    return calls[name];
}
// Another library records the work of a stream.
EXPORT void stand_in_capture(void* handle, int captured) { stream_of(handle)->captured = captured; }
// Pauses or resumes the work of a stream; without a handle, of all streams with higher priority.
EXPORT void stand_in_hold(void* handle, int held) {
    std::vector<StreamOf> all;
    if (reinterpret_cast<uintptr_t>(handle) == 1 || reinterpret_cast<uintptr_t>(handle) == 2) {
        all = {stream_of(handle)};
    } else {
        const std::lock_guard<std::mutex> guard(streams_lock);
        for (const auto& pair : streams)
            if (handle ? pair.first == handle : pair.second->priority < 0) all.push_back(pair.second);
        for (const StreamOf& stream : destroyed)
            if (stream.get() == handle) all.push_back(stream);
    }
    for (const StreamOf& stream : all) {
        stream->held = held;
        stream->drain();
    }
}

// The driver.

EXPORT int cuInit(unsigned) {
    CALL(cuInit);
    if (stuck("init")) hang();
    return SUCCESS;
}
EXPORT int cuDriverGetVersion(int* version) { return *version = 13000, SUCCESS; }
EXPORT int cuGetErrorString(int code, const char** text) {
    static thread_local char words[32];
    snprintf(words, sizeof words, "error %d", code);
    return *text = words, SUCCESS;
}
EXPORT int cuDeviceGetCount(int* count) { return *count = device_count(), SUCCESS; }
EXPORT int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, SUCCESS; }
EXPORT int cuDeviceGetName(char* name, int length, int device) {
    snprintf(name, size_t(length), "stand-in %d", device);
    return SUCCESS;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
    // Compute capability, multiprocessors, bus address, shared memory of a block.
    switch (attribute) {
        case 75: return *value = atoi(setting("STAND_IN_CAPABILITY", "90")) / 10, SUCCESS;
        case 76: return *value = atoi(setting("STAND_IN_CAPABILITY", "90")) % 10, SUCCESS;
        case 16: return *value = 132, SUCCESS;
        case 33: return *value = device, SUCCESS;
        case 34:
        case 50: return *value = 0, SUCCESS;
        default: return *value = 227 * 1024, SUCCESS;
    }
}
EXPORT int cuDeviceTotalMem_v2(size_t* bytes, int) { return *bytes = memory(), SUCCESS; }
EXPORT int cuDeviceCanAccessPeer(int* can, int, int) { return *can = 1, SUCCESS; }
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
    CALL(cuDevicePrimaryCtxRetain);
    ++retained[device];
    return *context = reinterpret_cast<void*>(uintptr_t(device + 1)), SUCCESS;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int device) { return --retained[device], SUCCESS; }
EXPORT int cuCtxSetCurrent(void* context) {
    return current = int(reinterpret_cast<uintptr_t>(context)) - 1, SUCCESS;
}
EXPORT int cuCtxGetCurrent(void** context) {
    return *context = reinterpret_cast<void*>(uintptr_t(current + 1)), SUCCESS;
}
EXPORT int cuCtxSynchronize() {
    CALL(cuCtxSynchronize);
    if (misused(current < 0)) return INVALID_VALUE;
    for (const StreamOf& stream : streams_on(current))
        if (const int code = wait(stream)) return code;
    return SUCCESS;
}
EXPORT int cuCtxEnablePeerAccess(void*, unsigned) { return SUCCESS; }
EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return *least = 0, *greatest = -1, SUCCESS;
}

// Blocks that other processes can map, by address, and blocks of other processes that are mapped here: a
// memory file, and its size.
struct Block {
    int file;
    size_t bytes;
};
static std::mutex blocks_lock;
static std::map<uint64_t, Block> blocks;
static const size_t SHARED_BYTES = 1 << 20;

static int map_block(uint64_t* at, Block block) {
    void* memory = block.file < 0 ? MAP_FAILED
                                  : mmap(nullptr, block.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, block.file, 0);
    if (memory == MAP_FAILED) return INVALID_VALUE;
    const std::lock_guard<std::mutex> guard(blocks_lock);
    blocks[*at = uint64_t(memory)] = block;
    return SUCCESS;
}
// Returns whether there was one.
static bool unmap_block(uint64_t at) {
    const std::lock_guard<std::mutex> guard(blocks_lock);
    const auto found = blocks.find(at);
    if (found == blocks.end()) return false;
    munmap(reinterpret_cast<void*>(at), found->second.bytes);
    close(found->second.file);
    blocks.erase(found);
    return true;
}

EXPORT int cuMemAlloc_v2(uint64_t* at, size_t bytes) {
    CALL(cuMemAlloc_v2);
    if (bytes >= SHARED_BYTES) {
        const int file = memfd_create("stand-in", MFD_CLOEXEC);
        if (ftruncate(file, off_t(bytes)) || map_block(at, {file, bytes})) return INVALID_VALUE;
    } else {
        *at = uint64_t(aligned_alloc(256, (bytes + 256) / 256 * 256));
    }
    // NaN: programs must not rely on the contents of new memory.
    return memset(reinterpret_cast<void*>(*at), 0xff, bytes), SUCCESS;
}
EXPORT int cuMemFree_v2(uint64_t at) {
    CALL(cuMemFree_v2);
    if (!unmap_block(at)) free(reinterpret_cast<void*>(at));
    return SUCCESS;
}
EXPORT int cuMemGetAddressRange_v2(uint64_t* base, size_t*, uint64_t at) { return *base = at, SUCCESS; }

// The name of a block: process, file and size.
struct Name {
    long words[8];
};
static bool has_ipc() { return strcmp(setting("STAND_IN_IPC", "1"), "0") != 0; }
EXPORT int cuIpcGetMemHandle(Name* name, uint64_t at) {
    const std::lock_guard<std::mutex> guard(blocks_lock);
    const auto found = blocks.find(at);
    if (!has_ipc() || found == blocks.end()) return NOT_SUPPORTED;
    *name = {{long(getpid()), found->second.file, long(found->second.bytes)}};
    return SUCCESS;
}
EXPORT int cuIpcOpenMemHandle_v2(uint64_t* at, Name name, unsigned) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/fd/%ld", name.words[0], name.words[1]);
    return map_block(at, {open(path, O_RDWR | O_CLOEXEC), size_t(name.words[2])});
}
EXPORT int cuIpcCloseMemHandle(uint64_t at) { return unmap_block(at) ? SUCCESS : INVALID_VALUE; }

EXPORT int cuMemHostAlloc(void** at, size_t bytes, unsigned) {
    CALL(cuMemHostAlloc);
    return *at = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096), SUCCESS;
}
EXPORT int cuMemFreeHost(void* at) { return free(at), SUCCESS; }
EXPORT int cuMemGetInfo_v2(size_t* free, size_t* total) {
    return *free = *total = memory(), SUCCESS;
}

static int copy(uint64_t to, uint64_t from, size_t bytes, void* stream) {
    return ask(stream_of(stream), [=] {
        memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
        return SUCCESS;
    });
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void* stream) {
    return copy(to, uint64_t(from), bytes, stream);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void* stream) {
    CALL(cuMemcpyDtoHAsync_v2);
    return copy(uint64_t(to), from, bytes, stream);
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void* stream) {
    return copy(to, from, bytes, stream);
}
EXPORT int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void* stream) {
    return ask(stream_of(stream), [=] { return memset(reinterpret_cast<void*>(at), value, bytes), SUCCESS; });
}

EXPORT int cuModuleLoadData(void** module, const void* image) {
    CALL(cuModuleLoadData);
    Module* made = new Module;
    made->text = static_cast<const char*>(image);
    return *module = made, SUCCESS;
}
EXPORT int cuModuleUnload(void*) { return released(), SUCCESS; }
// The functions of a module, by the words before them in its text; those made by macros are found later.
static void list_functions(Module* module) {
    for (const char* word : {"KERNEL(", "ENTRY("})
        for (size_t at = 0; (at = module->text.find(word, at)) != std::string::npos; ++at) {
            size_t from = at + strlen(word), bound = module->text.find(',', from);
            if (at > 8 && module->text.compare(at - 8, 8, "BOUNDED_") == 0) from = bound + 1;
            while (module->text[from] == ' ') ++from;
            const std::string name(module->text, from, module->text.find_first_of(",)", from) - from);
            if (!module->functions[name]) module->functions[name] = new Function{module, name, {}, current};
        }
}
EXPORT int cuModuleGetFunctionCount(unsigned* count, void* of) {
    CALL(cuModuleGetFunctionCount);
    Module* module = static_cast<Module*>(of);
    list_functions(module);
    return *count = unsigned(module->functions.size()), SUCCESS;
}
EXPORT int cuModuleEnumerateFunctions(void** functions, unsigned, void* of) {
    for (const auto& pair : static_cast<Module*>(of)->functions) *functions++ = pair.second;
    return SUCCESS;
}
EXPORT int cuFuncLoad(void* function) { return static_cast<Function*>(function)->load(), SUCCESS; }
EXPORT int cuModuleGetFunction(void** function, void* of, const char* name) {
    Module* module = static_cast<Module*>(of);
    std::call_once(module->opened, [=] { module->open(); });
    unsigned sizes[64];
    const unsigned count = module->parameters ? module->parameters(name, sizes) : ~0u;
    if (count == ~0u) return NOT_FOUND;
    Function*& found = module->functions[name];
    if (!found) found = new Function{module, name, {}, current};
    found->sizes.assign(sizes, sizes + count);
    found->load();
    return *function = found, SUCCESS;
}
EXPORT int cuFuncGetAttribute(int* value, int, void*) { return *value = 0, SUCCESS; }
EXPORT int cuFuncSetAttribute(void*, int, int) { return SUCCESS; }

// CUlaunchConfig, whose attributes change nothing here.
struct LaunchConfig {
    unsigned grid[3], block[3], shared;
    void* stream;
};
EXPORT int cuLaunchKernelEx(const LaunchConfig* of, void* kernel, void** parameters, void**) {
    CALL(cuLaunchKernelEx);
    const Function* function = static_cast<const Function*>(kernel);
    std::vector<std::vector<char>> values;
    for (size_t k = 0; k < function->sizes.size(); ++k) {
        const char* from = static_cast<const char*>(parameters[k]);
        values.emplace_back(from, from + function->sizes[k]);
    }
    return ask(stream_of(of->stream), [=, of = *of] { return function->run(of.grid, of.block, of.shared, values); });
}

EXPORT int cuStreamCreate(void** stream, unsigned) {
    return *stream = make_stream(nullptr, 0).get(), SUCCESS;
}
EXPORT int cuStreamCreateWithPriority(void** stream, unsigned, int priority) {
    return *stream = make_stream(nullptr, priority).get(), SUCCESS;
}
// Its work is done nevertheless.
EXPORT int cuStreamDestroy_v2(void* stream) {
    released();
    const StreamOf gone = stream_of(stream);
    if (!gone) return INVALID_HANDLE;
    const std::lock_guard<std::mutex> guard(streams_lock);
    if (!gone->is_done()) destroyed.push_back(gone);
    return streams.erase(stream), SUCCESS;
}
EXPORT int cuStreamSynchronize(void* stream) {
    CALL(cuStreamSynchronize);
    return recorded ? int(CAPTURE_UNSUPPORTED) : wait(stream_of(stream));
}
EXPORT int cuStreamQuery(void* handle) {
    CALL(cuStreamQuery);
    const StreamOf stream = stream_of(handle);
    return stream ? stream->drain() : int(INVALID_HANDLE);
}
EXPORT int cuStreamIsCapturing(void* handle, int* status) {
    const StreamOf stream = stream_of(handle);
    return stream ? (*status = stream->captured, SUCCESS) : int(INVALID_HANDLE);
}
EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned) {
    CALL(cuStreamWaitEvent);
    // Recorded work is ordered anyway.
    if (recorded) return SUCCESS;
    const Event points = *static_cast<Event*>(event);
    if (points.captured) return CAPTURED_EVENT;
    return ask(stream_of(stream), [=] { return reached(points); });
}
EXPORT int cuEventCreate(void** event, unsigned) { return *event = new Event, SUCCESS; }
EXPORT int cuEventDestroy_v2(void* event) {
    return released(), delete static_cast<Event*>(event), SUCCESS;
}
EXPORT int cuEventRecord(void* event, void* stream) {
    CALL(cuEventRecord);
    if (recorded) return static_cast<Event*>(event)->captured = true, SUCCESS;
    const StreamOf of = stream_of(stream);
    if (!of) return INVALID_HANDLE;
    return record(static_cast<Event*>(event), {of}), SUCCESS;
}
// Records all work requested from the device.
EXPORT int cuCtxRecordEvent(void* context, void* event) {
    CALL(cuCtxRecordEvent);
    if (recorded) return CAPTURE_UNSUPPORTED;
    record(static_cast<Event*>(event), streams_on(int(reinterpret_cast<uintptr_t>(context)) - 1));
    return SUCCESS;
}
EXPORT int cuEventQuery(void* event) {
    const Event points = *static_cast<Event*>(event);
    return points.captured ? int(CAPTURED_EVENT) : reached(points);
}
EXPORT int cuEventSynchronize(void* event) {
    if (static_cast<Event*>(event)->captured) return CAPTURED_EVENT;
    while (reached(*static_cast<Event*>(event)) == NOT_READY) usleep(1000);
    return SUCCESS;
}

EXPORT int cuStreamBeginCapture_v2(void*, int) { return recorded = new Graph, SUCCESS; }
EXPORT int cuStreamEndCapture(void*, void** graph) {
    *graph = recorded;
    recorded = nullptr;
    CALL(cuStreamEndCapture);
    return SUCCESS;
}
EXPORT int cuGraphInstantiateWithFlags(void** made, void* graph, unsigned long long) {
    return *made = new Graph(*static_cast<Graph*>(graph)), SUCCESS;
}
EXPORT int cuGraphLaunch(void* graph, void* stream) {
    for (const Work& work : *static_cast<Graph*>(graph))
        if (const int code = ask(stream_of(stream), work)) return code;
    return SUCCESS;
}
EXPORT int cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), SUCCESS; }
EXPORT int cuGraphExecDestroy(void* graph) {
    return released(), delete static_cast<Graph*>(graph), SUCCESS;
}

// NVRTC: machine code is the precision and the text, also for code that a driver compiles for newer devices.

EXPORT int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 99, SUCCESS; }
EXPORT const char* nvrtcGetErrorString(int) { return "an error"; }
struct Program {
    std::string text, log;
    bool is_final = false;
};
EXPORT int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char**,
                              const char**) {
    return *program = new Program{text, ""}, SUCCESS;
}
static int newest() { return atoi(setting("STAND_IN_NEWEST", "100")); }
EXPORT int nvrtcGetNumSupportedArchs(int* count) { return *count = 3, SUCCESS; }
EXPORT int nvrtcGetSupportedArchs(int* all) {
    return all[0] = 80, all[1] = 90, all[2] = newest(), SUCCESS;
}
EXPORT int nvrtcCompileProgram(void* of, int count, const char** options) {
    Program* program = static_cast<Program*>(of);
    std::string real;
    for (int k = 0; k < count; ++k) {
        int capability;
        if (strncmp(options[k], "-DREAL=", 7) == 0) real = options[k] + 7;
        program->is_final |= strstr(options[k], "=sm_") != nullptr;
        const char* number = strrchr(options[k], '_');
        if (strstr(options[k], "architecture") && sscanf(number, "_%d", &capability) && capability > newest()) {
            return program->log = std::string("invalid value for ") + options[k], 5;
        }
    }
    program->text = real + "\n" + program->text;
    return SUCCESS;
}
EXPORT int nvrtcGetProgramLogSize(void* program, size_t* size) {
    return *size = static_cast<Program*>(program)->log.size() + 1, SUCCESS;
}
EXPORT int nvrtcGetProgramLog(void* program, char* log) {
    return strcpy(log, static_cast<Program*>(program)->log.c_str()), SUCCESS;
}
static int size_of(void* of, bool is_final, size_t* size) {
    const Program* program = static_cast<Program*>(of);
    return *size = program->is_final == is_final ? program->text.size() + 1 : 0, SUCCESS;
}
static int code_of(void* program, char* image) {
    return strcpy(image, static_cast<Program*>(program)->text.c_str()), SUCCESS;
}
EXPORT int nvrtcGetCUBINSize(void* program, size_t* size) { return size_of(program, true, size); }
EXPORT int nvrtcGetCUBIN(void* program, char* image) { return code_of(program, image); }
EXPORT int nvrtcGetPTXSize(void* program, size_t* size) { return size_of(program, false, size); }
EXPORT int nvrtcGetPTX(void* program, char* image) { return code_of(program, image); }
EXPORT int nvrtcDestroyProgram(void** program) {
    return delete static_cast<Program*>(*program), SUCCESS;
}

// NCCL: messages from rank to rank, queued by sender, receiver and kind.

namespace {

struct World {
    std::mutex lock;
    std::atomic<int> joined{0};
    std::map<std::tuple<int, int, int>, std::deque<std::vector<char>>> queues;
};
struct UniqueId {
    char name[128];
};
struct Member {
    std::shared_ptr<World> world;
    int rank, size;
    std::atomic<bool> aborted{false};

    int send(const void* from, size_t bytes, int to, int kind) {
        const char* first = static_cast<const char*>(from);
        const std::lock_guard<std::mutex> guard(world->lock);
        world->queues[{rank, to, kind}].emplace_back(first, first + bytes);
        return SUCCESS;
    }
    int receive(void* to, size_t bytes, int from, int kind) {
        const std::lock_guard<std::mutex> guard(world->lock);
        auto& queues = world->queues[{from, rank, kind}];
        // An aborted receive ends without data.
        if (queues.empty()) return aborted ? int(SUCCESS) : int(NOT_READY);
        memcpy(to, queues.front().data(), bytes);
        queues.pop_front();
        return SUCCESS;
    }
};

std::mutex worlds_lock;
std::map<std::string, std::shared_ptr<World>> worlds;
thread_local int group_depth = 0;
thread_local std::vector<std::pair<void*, Work>> grouped;

int pass(void* stream, Work work) {
    if (group_depth == 0) return ask(stream_of(stream), std::move(work));
    grouped.emplace_back(stream, std::move(work));
    return SUCCESS;
}

}  // namespace

// Number of groups of calls that the calling thread has begun and not ended.
EXPORT int stand_in_open_groups() { return group_depth; }

EXPORT int ncclGetUniqueId(UniqueId* id) {
    static std::atomic<int> next{0};
    snprintf(id->name, sizeof id->name, "world %d", next++);
    return SUCCESS;
}
static Member* join(int size, const UniqueId& id, int rank) {
    const std::lock_guard<std::mutex> guard(worlds_lock);
    auto& world = worlds[id.name];
    if (!world) world = std::make_shared<World>();
    Member* made = new Member;
    made->world = world;
    made->rank = rank;
    made->size = size;
    return ++world->joined, made;
}
// Waits for all ranks, like NCCL.
EXPORT int ncclCommInitRank(void** member, int size, UniqueId id, int rank) {
    CALL(ncclCommInitRank);
    Member* made = join(size, id, rank);
    while (made->world->joined < size) usleep(1000);
    return *member = made, SUCCESS;
}
struct Config {
    size_t size;
    unsigned magic, version;
    int blocking;
};
EXPORT int ncclCommInitRankConfig(void** member, int size, UniqueId id, int rank, const Config* config) {
    CALL(ncclCommInitRankConfig);
    if (config->size < 20 || config->magic != 0xcafebeef || config->version < 21400) return 4;
    if (config->blocking) return ncclCommInitRank(member, size, id, rank);
    return *member = join(size, id, rank), IN_PROGRESS;
}
EXPORT int ncclCommDestroy(void* member) { return delete static_cast<Member*>(member), SUCCESS; }
// Waiting threads may still use the member, so it is not deleted.
EXPORT int ncclCommAbort(void* member) {
    CALL(ncclCommAbort);
    return static_cast<Member*>(member)->aborted = true, SUCCESS;
}
EXPORT int ncclCommGetAsyncError(void* of, int* state) {
    const Member* member = static_cast<Member*>(of);
    *state = failing("ncclCommGetAsyncError");
    if (*state == SUCCESS && member->world->joined < member->size) *state = IN_PROGRESS;
    return SUCCESS;
}
EXPORT int ncclAllGather(const void* from, void* to, size_t bytes, int, void* of, void* stream) {
    CALL(ncclAllGather);
    Member* member = static_cast<Member*>(of);
    pass(stream, [=] {
        for (int rank = 0; rank < member->size; ++rank) member->send(from, bytes, rank, 0);
        return SUCCESS;
    });
    for (int rank = 0; rank < member->size; ++rank)
        pass(stream, [=] {
            return member->receive(static_cast<char*>(to) + rank * bytes, bytes, rank, 0);
        });
    return SUCCESS;
}
EXPORT int ncclSend(const void* from, size_t bytes, int, int to, void* of, void* stream) {
    CALL(ncclSend);
    Member* member = static_cast<Member*>(of);
    return pass(stream, [=] { return member->send(from, bytes, to, 1); });
}
EXPORT int ncclRecv(void* to, size_t bytes, int, int from, void* of, void* stream) {
    CALL(ncclRecv);
    Member* member = static_cast<Member*>(of);
    return pass(stream, [=] { return member->receive(to, bytes, from, 1); });
}
EXPORT int ncclGroupStart() { return ++group_depth, SUCCESS; }
EXPORT int ncclGroupEnd() {
    if (--group_depth > 0) return SUCCESS;
    const auto all = std::move(grouped);
    grouped.clear();
    CALL(ncclGroupEnd);
    for (const auto& pair : all)
        if (const int code = ask(stream_of(pair.first), pair.second)) return code;
    return SUCCESS;
}
EXPORT const char* ncclGetErrorString(int code) {
    static thread_local char words[32];
    snprintf(words, sizeof words, "error %d", code);
    return words;
}
