// Slots, the scalars of a Krylov method on the device: coefficients from them, steps by these, and sums that they take.
#pragma once
#include "peers.cuh"

// factor * slot * slot / (slot * slot), the four slots packed into bytes, the first lowest.
__device__ inline double coefficient(const double* slots, const ScalarFactor& of) {
    const uint32 packed = uint32(of.slots);
    const double over = slots[packed & 255] * slots[(packed >> 8) & 255];
    const double under = slots[(packed >> 16) & 255] * slots[packed >> 24];
    return of.factor * over / under;
}

// Values that a step reads at k, reals or pairs: see `step`.
template <class V>
struct StepValues {
    V x, z, h, r, u, p, y;

    __device__ StepValues(const StepVectors& of, uint64 k, bool there) : x(), z(), h(), r(), u(), p(), y() {
        if (!there) return;
        auto value = [&](const real* v) { return reinterpret_cast<const V*>(v)[k]; };
        x = value(of.x), z = value(of.z), h = value(of.h), r = value(of.r), u = value(of.u), p = value(of.p),
        y = value(of.y);
    }

    // The step at k; returns p.
    __device__ V store(const StepVectors& of, uint64 k, const real (&by)[5]) const {
        const V next_r = r + by[2] * u, next_p = next_r + by[3] * p + by[4] * y;
        reinterpret_cast<V*>(of.x)[k] = x + by[0] * z + by[1] * h;
        reinterpret_cast<V*>(of.r)[k] = next_r;
        reinterpret_cast<V*>(of.p)[k] = next_p;
        return next_p;
    }
};

// A step at n places, of reals or of pairs; done(k, p) after each. The first values are on their way while the
// coefficients are found, one by a thread.
template <class V, class Done>
__device__ inline void take_step(uint64 n, const double* slots, const StepVectors& of, const Done& done) {
    __shared__ real by[5];
    uint64 k = thread_index();
    StepValues<V> values(of, k, k < n);
    const double halted = slots[HALTED];
    if (threadIdx.x < 5) by[threadIdx.x] = real(coefficient(slots, of.factors[threadIdx.x]));
    __syncthreads();
    if (halted != 0.0) return;
    const real factors[5] = {by[0], by[1], by[2], by[3], by[4]};
    while (k < n) {
        done(k, values.store(of, k, factors));
        k += thread_count();
        values = StepValues<V>(of, k, k < n);
    }
}

// Whether a condition holds, packed into bytes: value <= bound (kind 1), not value^2 > factor * slot * slot (kind 2).
__device__ inline bool holds(const double* slots, const HaltCondition& condition) {
    const uint64 packed = condition.packed;
    const uint32 kind = packed & 255;
    const double value = slots[(packed >> 8) & 255];
    const double a = slots[(packed >> 16) & 255], b = slots[(packed >> 24) & 255];
    if (kind == 1) return value <= a;
    return kind == 2 && !(value * value > condition.factor * a * b);
}

// Halts the slots with the flag of the first of two conditions that holds.
__device__ inline bool halt(double* slots, const double* known, const HaltCondition (&conditions)[2]) {
    for (uint32 k = 0; k < 2; ++k) {
        if (!holds(known, conditions[k])) continue;
        slots[HALTED] = double((conditions[k].packed >> 32) & 255);
        return true;
    }
    return false;
}

// slots[first..] <- `count` results, by one thread; `known` are the slots with them. Unless they are `plain` values, or
// a condition holds before, slots follow from others, one is logged, and further conditions are tried.
__device__ inline void end(const ScalarReduction& into, uint32 count, double* known) {
    double* const slots = into.slots;
    for (uint32 k = 0; k < count; ++k) slots[into.first + k] = known[into.first + k];
    if (into.plain || halt(slots, known, into.before)) return;
    for (uint32 k = 0; k < into.derivations; ++k) {
        const DerivedScalar& derived = into.derived[k];
        known[derived.slot] = known[derived.base] + coefficient(known, derived.plus);
        slots[derived.slot] = known[derived.slot];
    }
    if (into.log) {
        const uint32 logged = uint32(known[LOGGED]);
        slots[SLOTS + logged % LOG] = known[into.log];
        slots[LOGGED] = known[LOGGED] + 1.0;
    }
    halt(slots, known, into.conditions);
}

// Whether a reduction into slots has nothing to do, since they are halted.
__device__ inline bool is_halted(const ScalarReduction& into) { return !into.plain && into.slots[HALTED] != 0.0; }

// slots[first..] <- the sums of all threads, of all ranks; then what follows.
template <int N>
__device__ inline void sum_into_slots(const double (&sums)[N], uint32 count,
                                      const ScalarReduction& into) {
    // The slots are loaded before the sums are there.
    __shared__ double known[SLOTS];
    if (threadIdx.x < SLOTS && !into.plain) known[threadIdx.x] = into.slots[threadIdx.x];
    const PeerAccess access = {into.access};
    const uint32 number = next_gather(access);
    if (!grid_reduce<Sum>(sums, count, {into.partials, into.ticket, known + into.first})) return;
    all_reduce(access, number, count, known + into.first);
    if (threadIdx.x == 0) end(into, count, known);
}
