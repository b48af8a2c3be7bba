// Stands in for NVIDIA's driver, NVRTC and NCCL on a machine without a GPU, so that what calls them runs
// in the tests: devices whose memory is the host's and whose kernels are run by ../fibers/fibers.hpp.
//
// A call does its work at once, unless that waits for a message of NCCL's: then it is done, with all that
// follows, by who looks at the stream. A thread drives one device, which runs one kernel at a time. The
// environment says how many devices
// there are (STAND_IN_GPUS) with how many KiB (STAND_IN_MEMORY), where the kernels are, compiled
// (STAND_IN_KERNELS), what hangs (STAND_IN_STUCK: init, exit), and whether other processes can map memory
// (STAND_IN_IPC: 0 for no). Calls fail by `stand_in_fail`.
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
    NOT_FOUND = 500,
    NOT_READY = 600,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900
};

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

// Calls that fail: after so many, so many times, with this code.
struct Failure {
    int after, times, code;
};
std::mutex failures_lock;
std::map<std::string, Failure> failures;

int failing(const char* name) {
    const std::lock_guard<std::mutex> guard(failures_lock);
    const auto found = failures.find(name);
    if (found == failures.end() || found->second.after-- > 0 || found->second.times-- <= 0) return SUCCESS;
    return found->second.code;
}
#define CALL(name) \
    if (const int failed = failing(#name)) return failed

// Work on its way: noted where the calling thread records, done behind what is not ready, or at once.
typedef std::function<int()> Work;
typedef std::vector<Work> Graph;
thread_local Graph* recorded = nullptr;
thread_local std::deque<Work> queue;

// Does what can be done.
int drain() {
    while (!queue.empty()) {
        const int code = queue.front()();
        if (code == NOT_READY) return code;
        queue.pop_front();
        if (code != SUCCESS) return code;
    }
    return SUCCESS;
}

int ask(Work work) {
    if (recorded) {
        recorded->push_back(std::move(work));
        return SUCCESS;
    }
    queue.push_back(std::move(work));
    const int code = drain();
    return code == NOT_READY ? int(SUCCESS) : code;
}

int wait() {
    int code;
    while ((code = drain()) == NOT_READY) usleep(1000);
    return code;
}

std::mutex busy[16];
thread_local int current = -1;

// Compiled kernels: `launch` and `parameters` of the fibers.
typedef int (*Launch)(const char*, const unsigned*, const unsigned*, unsigned, void**, unsigned,
                      const char**);
typedef unsigned (*Parameters)(const char*, unsigned*);

struct Module {
    std::string text;
    Launch launch = nullptr;
    Parameters parameters = nullptr;
    std::once_flag opened;

    // A copy of its own: other modules of the same text have other shared memory.
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
    // Compute capability 9.0, multiprocessors, places on the bus, shared memory of a block.
    switch (attribute) {
        case 75: return *value = 9, SUCCESS;
        case 76: return *value = 0, SUCCESS;
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
    return *context = reinterpret_cast<void*>(uintptr_t(device + 1)), SUCCESS;
}
EXPORT int cuDevicePrimaryCtxRelease_v2(int) { return SUCCESS; }
EXPORT int cuCtxSetCurrent(void* context) {
    return current = int(reinterpret_cast<uintptr_t>(context)) - 1, SUCCESS;
}
EXPORT int cuCtxEnablePeerAccess(void*, unsigned) { return SUCCESS; }
EXPORT int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
    return *least = 0, *greatest = -1, SUCCESS;
}

// Blocks that other processes can map, by address, and those of other processes that are mapped here: a file in
// memory, and its bytes.
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
// Whether there was one.
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
    // NaN: nobody may count on what new memory holds.
    return memset(reinterpret_cast<void*>(*at), 0xff, bytes), SUCCESS;
}
EXPORT int cuMemFree_v2(uint64_t at) {
    if (!unmap_block(at)) free(reinterpret_cast<void*>(at));
    return SUCCESS;
}
EXPORT int cuMemGetAddressRange_v2(uint64_t* base, size_t*, uint64_t at) { return *base = at, SUCCESS; }

// The name of a block: process, file and bytes.
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

static int copy(uint64_t to, uint64_t from, size_t bytes) {
    return ask([=] {
        memmove(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
        return SUCCESS;
    });
}
EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t bytes, void*) {
    return copy(to, uint64_t(from), bytes);
}
EXPORT int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t bytes, void*) {
    CALL(cuMemcpyDtoHAsync_v2);
    return copy(uint64_t(to), from, bytes);
}
EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void*) {
    return copy(to, from, bytes);
}
EXPORT int cuMemsetD8Async(uint64_t at, unsigned char value, size_t bytes, void*) {
    return ask([=] { return memset(reinterpret_cast<void*>(at), value, bytes), SUCCESS; });
}

EXPORT int cuModuleLoadData(void** module, const void* image) {
    CALL(cuModuleLoadData);
    Module* made = new Module;
    made->text = static_cast<const char*>(image);
    return *module = made, SUCCESS;
}
EXPORT int cuModuleUnload(void*) { return SUCCESS; }
EXPORT int cuModuleGetFunction(void** function, void* of, const char* name) {
    Module* module = static_cast<Module*>(of);
    std::call_once(module->opened, [=] { module->open(); });
    unsigned sizes[64];
    const unsigned count = module->parameters ? module->parameters(name, sizes) : ~0u;
    if (count == ~0u) return NOT_FOUND;
    *function = new Function{module, name, {sizes, sizes + count}, current};
    return SUCCESS;
}
EXPORT int cuFuncGetAttribute(int* value, int, void*) { return *value = 0, SUCCESS; }
EXPORT int cuFuncSetAttribute(void*, int, int) { return SUCCESS; }
EXPORT int cuLaunchKernel(void* of, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared, void*, void** parameters, void**) {
    CALL(cuLaunchKernel);
    const Function* function = static_cast<const Function*>(of);
    std::vector<std::vector<char>> values;
    for (size_t k = 0; k < function->sizes.size(); ++k) {
        const char* from = static_cast<const char*>(parameters[k]);
        values.emplace_back(from, from + function->sizes[k]);
    }
    return ask([=] {
        const unsigned grid[] = {gx, gy, gz}, block[] = {bx, by, bz};
        return function->run(grid, block, shared, values);
    });
}

EXPORT int cuStreamCreate(void** stream, unsigned) { return *stream = new char, SUCCESS; }
EXPORT int cuStreamCreateWithPriority(void** stream, unsigned, int) {
    return *stream = new char, SUCCESS;
}
EXPORT int cuStreamDestroy_v2(void* stream) { return delete static_cast<char*>(stream), SUCCESS; }
EXPORT int cuStreamSynchronize(void*) {
    CALL(cuStreamSynchronize);
    return recorded ? int(CAPTURE_UNSUPPORTED) : wait();
}
EXPORT int cuStreamQuery(void*) {
    CALL(cuStreamQuery);
    return drain();
}
EXPORT int cuStreamWaitEvent(void*, void*, unsigned) { return SUCCESS; }
EXPORT int cuEventCreate(void** event, unsigned) { return *event = new char, SUCCESS; }
EXPORT int cuEventDestroy_v2(void* event) { return delete static_cast<char*>(event), SUCCESS; }
EXPORT int cuEventRecord(void*, void*) {
    CALL(cuEventRecord);
    return SUCCESS;
}
EXPORT int cuEventSynchronize(void*) { return wait(); }

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
EXPORT int cuGraphLaunch(void* graph, void*) {
    for (const Work& work : *static_cast<Graph*>(graph))
        if (const int code = ask(work)) return code;
    return SUCCESS;
}
EXPORT int cuGraphDestroy(void* graph) { return delete static_cast<Graph*>(graph), SUCCESS; }
EXPORT int cuGraphExecDestroy(void* graph) { return delete static_cast<Graph*>(graph), SUCCESS; }

// NVRTC: machine code is the precision and the text.

EXPORT int nvrtcVersion(int* major, int* minor) { return *major = 13, *minor = 99, SUCCESS; }
EXPORT const char* nvrtcGetErrorString(int) { return "an error"; }
EXPORT int nvrtcCreateProgram(void** program, const char* text, const char*, int, const char**,
                              const char**) {
    return *program = new std::string(text), SUCCESS;
}
EXPORT int nvrtcCompileProgram(void* program, int count, const char** options) {
    std::string real;
    for (int k = 0; k < count; ++k)
        if (strncmp(options[k], "-DREAL=", 7) == 0) real = options[k] + 7;
    std::string& text = *static_cast<std::string*>(program);
    text = real + "\n" + text;
    return SUCCESS;
}
EXPORT int nvrtcGetProgramLogSize(void*, size_t* size) { return *size = 1, SUCCESS; }
EXPORT int nvrtcGetProgramLog(void*, char* log) { return *log = 0, SUCCESS; }
EXPORT int nvrtcGetCUBINSize(void* program, size_t* size) {
    return *size = static_cast<std::string*>(program)->size() + 1, SUCCESS;
}
EXPORT int nvrtcGetCUBIN(void* program, char* image) {
    const std::string& text = *static_cast<std::string*>(program);
    return memcpy(image, text.c_str(), text.size() + 1), SUCCESS;
}
EXPORT int nvrtcDestroyProgram(void** program) {
    return delete static_cast<std::string*>(*program), SUCCESS;
}

// NCCL: messages from rank to rank, queued by sender, receiver and kind.

namespace {

struct World {
    std::mutex lock;
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
        // What was cut off ends, with nothing.
        if (queues.empty()) return aborted ? int(SUCCESS) : int(NOT_READY);
        memcpy(to, queues.front().data(), bytes);
        queues.pop_front();
        return SUCCESS;
    }
};

std::mutex worlds_lock;
std::map<std::string, std::shared_ptr<World>> worlds;
thread_local int group_depth = 0;
thread_local std::vector<Work> grouped;

int pass(Work work) {
    if (group_depth == 0) return ask(std::move(work));
    grouped.push_back(std::move(work));
    return SUCCESS;
}

}  // namespace

// Groups of calls that the calling thread has begun and not ended.
EXPORT int stand_in_open_groups() { return group_depth; }

EXPORT int ncclGetUniqueId(UniqueId* id) {
    static std::atomic<int> next{0};
    snprintf(id->name, sizeof id->name, "world %d", next++);
    return SUCCESS;
}
EXPORT int ncclCommInitRank(void** member, int size, UniqueId id, int rank) {
    const std::lock_guard<std::mutex> guard(worlds_lock);
    auto& world = worlds[id.name];
    if (!world) world = std::make_shared<World>();
    Member* made = new Member;
    made->world = world;
    made->rank = rank;
    made->size = size;
    return *member = made, SUCCESS;
}
EXPORT int ncclCommDestroy(void* member) { return delete static_cast<Member*>(member), SUCCESS; }
// What waits may still look at it.
EXPORT int ncclCommAbort(void* member) {
    return static_cast<Member*>(member)->aborted = true, SUCCESS;
}
EXPORT int ncclCommGetAsyncError(void*, int* state) {
    return *state = failing("ncclCommGetAsyncError"), SUCCESS;
}
EXPORT int ncclAllGather(const void* from, void* to, size_t bytes, int, void* of, void*) {
    CALL(ncclAllGather);
    Member* member = static_cast<Member*>(of);
    pass([=] {
        for (int rank = 0; rank < member->size; ++rank) member->send(from, bytes, rank, 0);
        return SUCCESS;
    });
    for (int rank = 0; rank < member->size; ++rank)
        pass([=] {
            return member->receive(static_cast<char*>(to) + rank * bytes, bytes, rank, 0);
        });
    return SUCCESS;
}
EXPORT int ncclSend(const void* from, size_t bytes, int, int to, void* of, void*) {
    CALL(ncclSend);
    Member* member = static_cast<Member*>(of);
    return pass([=] { return member->send(from, bytes, to, 1); });
}
EXPORT int ncclRecv(void* to, size_t bytes, int, int from, void* of, void*) {
    CALL(ncclRecv);
    Member* member = static_cast<Member*>(of);
    return pass([=] { return member->receive(to, bytes, from, 1); });
}
EXPORT int ncclGroupStart() { return ++group_depth, SUCCESS; }
EXPORT int ncclGroupEnd() {
    if (--group_depth > 0) return SUCCESS;
    const std::vector<Work> all = std::move(grouped);
    grouped.clear();
    CALL(ncclGroupEnd);
    for (const Work& work : all)
        if (const int code = ask(work)) return code;
    return SUCCESS;
}
EXPORT const char* ncclGetErrorString(int code) {
    static thread_local char words[32];
    snprintf(words, sizeof words, "error %d", code);
    return words;
}
