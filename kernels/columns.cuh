// Columns that neighbours exchange, two values a point.
//
// What comes has room twice over, a place for each point: words that bear the number of the exchange beside
// 32 bits of a value, as notes do, so that threads send and receive without an order among them. A
// point's exchanges are counted where it stands, by both neighbours alike. What a rank sends lies in one
// room until the neighbour's answer, the exchange after it, has come to the other; so two suffice.
//
// Where devices do not reach each other, or a column is longer than that room, it goes in parcels: to be
// put where they start from, and got where they end.
#pragma once
#include "common.cuh"
#include "mail.cuh"

// Points of a column there is room for, and words of each.
#define COLUMN_POINTS 16384u
#define POINT_WORDS 4u

// What a launch does: both where devices reach each other.
#define PUT 1u
#define GET 2u

#ifdef FIBERS
static inline void store_words(uint64* at, uint64 a, uint64 b) {
    volatile uint64* to = at;
    to[0] = a;
    to[1] = b;
}
static inline void load_words(const uint64* at, uint64& a, uint64& b) {
    const volatile uint64* from = at;
    a = from[0];
    b = from[1];
}
#else
__device__ inline void store_words(uint64* at, uint64 a, uint64 b) {
    asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(a), "l"(b) : "memory");
}
__device__ inline void load_words(const uint64* at, uint64& a, uint64& b) {
    asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(a), "=l"(b) : "l"(at) : "memory");
}
#endif

__device__ inline uint64 bits_of(float value) { return __float_as_uint(value); }
__device__ inline uint64 bits_of(double value) { return uint64(__double_as_longlong(value)); }
__device__ inline void set_bits(float& value, uint64 bits) { value = __uint_as_float(uint32(bits)); }
__device__ inline void set_bits(double& value, uint64 bits) { value = __longlong_as_double(int64(bits)); }

// The borders of a band, that to the west first, and what passes them.
struct Borders {
    Reach reach;
    uint32 rim, mj, phase;
    Pair *sent, *received;

    __device__ bool there(uint32 side) const { return rim & (side ? RIM_EAST : RIM_WEST); }
    __device__ bool puts(uint32 side) const { return (phase & PUT) && there(side); }
    __device__ bool gets(uint32 side) const { return (phase & GET) && there(side); }

    __device__ uint32 neighbour(uint32 side) const {
        return side ? (reach.rank + 1) % reach.ranks : (reach.rank + reach.ranks - 1) % reach.ranks;
    }
    // Words for what comes to a rank from one side.
    __device__ uint64* words(uint32 of, uint32 side, uint32 number, uint32 j) const {
        return reach.columns(of) +
               POINT_WORDS * ((side * ROOMS + number % ROOMS) * uint64(COLUMN_POINTS) + j);
    }
    // Number of the last exchange of a point.
    __device__ uint32* count(uint32 side, uint32 j) const {
        uint64* after = reach.columns(reach.rank) + 2 * ROOMS * POINT_WORDS * uint64(COLUMN_POINTS);
        return reinterpret_cast<uint32*>(after) + side * COLUMN_POINTS + j;
    }

    __device__ void put(uint32 side, uint32 j, Pair value) const {
        sent[side * uint64(mj) + j] = value;
        if (!reach.ends) return;
        const uint32 number = *count(side, j) + 1;
        const uint64 bears = uint64(number) << 32, x = bits_of(value.x), y = bits_of(value.y);
        uint64* to = words(neighbour(side), 1 - side, number, j);
        store_words(to, bears | uint32(x), bears | uint32(y));
        if (sizeof(real) == 8) store_words(to + 2, bears | (x >> 32), bears | (y >> 32));
    }
    __device__ Pair get(uint32 side, uint32 j) const {
        if (!reach.ends) return received[side * uint64(mj) + j];
        const uint32 number = *count(side, j) + 1;
        const uint64* from = words(reach.rank, side, number, j);
        uint64 x = 0, y = 0, upper_x = 0, upper_y = 0;
        read(side, from, number, x, y);
        if (sizeof(real) == 8) read(side, from + 2, number, upper_x, upper_y);
        *count(side, j) = number;
        Pair value;
        set_bits(value.x, upper_x << 32 | uint32(x));
        set_bits(value.y, upper_y << 32 | uint32(y));
        return value;
    }
    // received <- what comes.
    __device__ void keep(uint32 side, uint32 j) const {
        received[side * uint64(mj) + j] = get(side, j);
    }

    // The turn of this block: neighbours take their rows in the same order, so that the first row that
    // waits has its counterpart at work, however few blocks fit a GPU at a time.
    __device__ uint32 turn() const {
        return reach.ends && gridDim.x > 1 ? draw_turn(reach.ticket(), gridDim.x) : blockIdx.x;
    }

    __device__ void read(uint32 side, const uint64* at, uint32 number, uint64& a, uint64& b) const {
        wait_for(reach.alarm, neighbour(side), [&] {
            load_words(at, a, b);
            return a >> 32 == number && b >> 32 == number;
        });
    }
};

// The last arguments of kernels that pass columns.
#define BORDERS                                                                                   \
    const uint64 *ends, uint32 rank, uint32 ranks, uint32 *alarm, uint32 phase, real *sent,       \
        real *received
#define THE_BORDERS(rim, mj)                                                                      \
    {{ends, rank, ranks, alarm}, rim, mj, phase, reinterpret_cast<Pair*>(sent),                   \
     reinterpret_cast<Pair*>(received)}
