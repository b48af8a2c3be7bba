// Fibers: stacks and the switch between them, for fibers.cpp, which includes this file.
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <vector>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace fibers {

// Bytes of a stack; its lowest page is protected.
const size_t STACK = 256 * 1024, PAGE = 4096;
// Number of places at which stacks end, and bytes from one to the next.
const size_t COLOURS = 61, COLOUR = 320;

struct Fiber {
    char* stack = nullptr;
#if defined(__x86_64__)
    void* top = nullptr;
#else
    ucontext_t context;
#endif
};

#if defined(__x86_64__)
// Saves the registers that a call preserves on the old stack and restores them from the new one.
extern "C" void gridgen_switch_fibers(void** from, void* to);
asm(R"(
    .text
    .p2align 4
    .type gridgen_switch_fibers, @function
gridgen_switch_fibers:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size gridgen_switch_fibers, .-gridgen_switch_fibers
)");
static void switch_fibers(Fiber& from, Fiber& to) { gridgen_switch_fibers(&from.top, to.top); }
#else
static void switch_fibers(Fiber& from, Fiber& to) { swapcontext(&from.context, &to.context); }
#endif

static std::vector<Fiber*> all_fibers, idle_fibers;

// Makes a fiber that runs `work`, which never returns.
static Fiber* new_fiber(void (*work)()) {
    Fiber* fiber = new Fiber;
    fiber->stack = static_cast<char*>(mmap(nullptr, STACK, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    if (fiber->stack == MAP_FAILED || mprotect(fiber->stack, PAGE, PROT_NONE) != 0) {
        perror("stack of a fiber");
        abort();
    }
#if defined(__x86_64__)
    // Stacks end at different places within a page: ends that are multiples of a page apart share few lines of a cache.
    const size_t unused = all_fibers.size() % COLOURS * COLOUR;
    // The stack begins with six registers and the return address; a function starts 8 bytes off a multiple of
    // 16.
    void** top = reinterpret_cast<void**>(fiber->stack + STACK - unused) - 8;
    memset(top, 0, 8 * sizeof(void*));
    top[6] = reinterpret_cast<void*>(work);
    fiber->top = top;
#else
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK;
    fiber->context.uc_link = nullptr;
    makecontext(&fiber->context, work, 0);
#endif
    all_fibers.push_back(fiber);
    return fiber;
}

// Fibers that stopped within a kernel cannot be used again.
static void drop_fibers() {
    for (Fiber* fiber : all_fibers) {
        munmap(fiber->stack, STACK);
        delete fiber;
    }
    all_fibers.clear();
    idle_fibers.clear();
}

}  // namespace fibers
