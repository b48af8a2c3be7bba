// Halo exchange: columns of two values per point that neighbours send each other.
//
// Ghost columns are double-buffered. Each 64-bit word is a sequence number and 32 bits of payload, stored at once, so
// that a reader polls the word itself. Both neighbours count the exchanges of each row. A rank overwrites a buffer only
// after the next exchange has arrived from the neighbour. If devices do not access each other's memory, or a column is
// longer than the buffer, columns are sent as messages: one launch packs them, a later one unpacks what was received.
#pragma once
#include "peers.cuh"

#ifndef FIBERS
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

// The halo exchange of a band with its neighbours; side 0 is the west.
struct HaloExchange {
    PeerAccess access;
    uint32 edges, mj, phase;
    Pair *sent, *received;

    __device__ bool there(uint32 side) const { return edges & (side ? EDGE_EAST : EDGE_WEST); }
    __device__ bool sends(uint32 side) const { return (phase & PHASE_SEND) && there(side); }
    __device__ bool receives(uint32 side) const { return (phase & PHASE_RECEIVE) && there(side); }

    __device__ uint32 neighbour(uint32 side) const {
        return side ? (access.rank + 1) % access.ranks : (access.rank + access.ranks - 1) % access.ranks;
    }
    // Words that a rank receives from one side.
    __device__ uint64* words(uint32 of, uint32 side, uint32 number, uint32 j) const {
        return access.halo_area(of) +
               POINT_WORDS * ((side * BUFFERS + number % BUFFERS) * uint64(COLUMN_POINTS) + j);
    }
    // Counter of the sends of a row, and so the sequence number to expect: exchanges are symmetric.
    __device__ uint32* count(uint32 side, uint32 j) const {
        uint64* after = access.halo_area(access.rank) + 2 * BUFFERS * POINT_WORDS * uint64(COLUMN_POINTS);
        return reinterpret_cast<uint32*>(after) + side * COLUMN_POINTS + j;
    }

    __device__ void send(uint32 side, uint32 j, Pair value) const {
        sent[side * uint64(mj) + j] = value;
        if (!access.windows) return;
        const uint32 number = *count(side, j) + 1;
        *count(side, j) = number;
        const uint64 header = uint64(number) << 32, x = bits_of(value.x), y = bits_of(value.y);
        uint64* to = words(neighbour(side), 1 - side, number, j);
        store_words(to, header | uint32(x), header | uint32(y));
        if (sizeof(real) == 8) store_words(to + 2, header | (x >> 32), header | (y >> 32));
    }
    // Returns the ghost value of a row. This rank must have sent its own, in this launch by the same thread or earlier.
    __device__ Pair receive(uint32 side, uint32 j) const {
        if (!access.windows) return received[side * uint64(mj) + j];
        const uint32 number = *count(side, j);
        const uint64* from = words(access.rank, side, number, j);
        uint64 x = 0, y = 0, upper_x = 0, upper_y = 0;
        read(side, from, number, x, y);
        if (sizeof(real) == 8) read(side, from + 2, number, upper_x, upper_y);
        Pair value;
        set_bits(value.x, upper_x << 32 | uint32(x));
        set_bits(value.y, upper_y << 32 | uint32(y));
        return value;
    }

    // Number of this block in the order of starts: neighbours take their rows in the same order, so that the first
    // row that waits has its counterpart running, however few blocks fit a GPU at a time.
    __device__ uint32 block() const {
        return access.windows && gridDim.x > 1 ? start_order(access.ticket(), gridDim.x) : blockIdx.x;
    }

    __device__ void read(uint32 side, const uint64* at, uint32 number, uint64& a, uint64& b) const {
        wait_for(access.abort_flag, neighbour(side), [&] {
            load_words(at, a, b);
            return a >> 32 == number && b >> 32 == number;
        });
    }
};

__device__ inline HaloExchange halo_exchange(const HaloColumns& columns, uint32 edges, uint32 mj) {
    return {{columns.access}, edges, mj, uint32(columns.phase),
            reinterpret_cast<Pair*>(columns.sent), reinterpret_cast<Pair*>(columns.received)};
}
