// DILU of the nine-point pattern within tiles of 32 x 32 points; couplings between tiles are dropped. One warp a tile.
//
// Points with the same i + 2j make a level, at most 16. Factors are stored level after level, so that a warp reads them
// in one piece: entry e of variable v of the point at place p of tile t at ((e * tiles + t) * 1024 + p) * 2 + v.
#include "common.cuh"

#define LEVELS (3 * POINT_TILE - 2)
// A tile has a frame of zeros in place of the couplings that are dropped.
#define FRAME (POINT_TILE + 2)
#define FRAME_VALUES (2 * FRAME * FRAME)

// Entries of a row: L in the order SW, S, S of the other variable, SE, W, W of the other one; U mirrored; then D^-1.
#define LOWER 6u
#define DIAGONAL 12u

// The points of a level: j from `low` to `high`, i = level - 2 j.
struct Level {
    uint32 level, low, high;

    __device__ explicit Level(uint32 level)
        : level(level), low(level < POINT_TILE ? 0 : (level - POINT_TILE + 2) / 2),
          high(min(level / 2, POINT_TILE - 1)) {}
    __device__ uint32 size() const { return high - low + 1; }
};

// Position of a tile, and place of its factors.
struct Tile {
    uint32 mi, mj, first_i, first_j;
    uint64 place, entries;

    __device__ Tile(uint32 mi, uint32 mj, uint64 tiles)
        : mi(mi), mj(mj), place(2 * POINT_TILE * POINT_TILE * uint64(blockIdx.x)),
          entries(2 * POINT_TILE * POINT_TILE * tiles) {
        const uint32 across = (mi + POINT_TILE - 1) / POINT_TILE;
        first_i = blockIdx.x % across * POINT_TILE;
        first_j = blockIdx.x / across * POINT_TILE;
    }
    __device__ bool holds(uint32 i, uint32 j) const {
        return i < POINT_TILE && j < POINT_TILE && first_i + i < mi && first_j + j < mj;
    }
    // The x row of a point.
    __device__ uint64 row(uint32 i, uint32 j) const {
        return 2 * (uint64(first_j + j) * mi + first_i + i);
    }
    // Entry e of variable v of the point at place p of the tile.
    __device__ uint64 at(uint32 e, uint32 p, uint32 v) const {
        return e * entries + place + 2 * p + v;
    }
};

// Place of x of a point in the frame.
__device__ inline uint32 frame_index(uint32 i, uint32 j) {
    return 2 * ((j + 1) * FRAME + i + 1);
}

// Places of the six values that entries of L (`toward` = -1) or U (+1) of a value multiply.
__device__ inline void neighbours(uint32 own, int toward, uint32* index) {
    const int row = 2 * int(FRAME) * toward, point = 2 * toward;
    const uint32 south = uint32(int(own) + row), west = uint32(int(own) + point);
    index[0] = uint32(int(south) + point);
    index[1] = south;
    index[2] = south ^ 1;
    index[3] = uint32(int(south) - point);
    index[4] = west;
    index[5] = west ^ 1;
}

// Places of the first points of the levels.
__device__ inline void level_starts(uint32* starts) {
    if (threadIdx.x == 0) {
        uint32 start = 0;
        for (uint32 level = 0; level < LEVELS; ++level) {
            starts[level] = start;
            start += Level(level).size();
        }
    }
    __syncwarp();
}

__device__ inline uint32 place_of(const uint32* starts, uint32 i, uint32 j) {
    const Level level(i + 2 * j);
    return starts[level.level] + j - level.low;
}

// The entries of A of a point <- theirs; those of other tiles and off the grid become zero, with a diagonal of one.
__device__ void take_point(const Tile& tile, uint32 edges, const real* a, uint32 i, uint32 j,
                           uint32 p, real* values) {
    const uint64 stride = slot_stride(uint64(tile.mi) * tile.mj);
    const bool here = tile.holds(i, j);
    const uint64 row = here ? tile.row(i, j) : 0;
    const uint32 gi = tile.first_i + i, gj = tile.first_j + j;
    uint32 slot = 0;
    // Takes the next slot of A if there is one, and keeps it if it belongs to the tile.
    auto take = [&](uint32 e, bool present, bool kept) {
        for (uint32 v = 0; v < 2; ++v) {
            const real other = e == DIAGONAL ? 1 : 0;
            values[tile.at(e, p, v)] = present && kept ? a[slot * stride + row + v] : other;
        }
        slot += present;
    };
    const bool south = here && gj > 0, north = here && gj + 1 < tile.mj;
    const bool west = here && (gi > 0 || (edges & EDGE_WEST));
    const bool east = here && (gi + 1 < tile.mi || (edges & EDGE_EAST));
    const bool in_south = j > 0, in_north = tile.holds(i, j + 1);
    const bool in_west = i > 0, in_east = tile.holds(i + 1, j);
    take(0, south && west, in_south && in_west);
    take(1, south, in_south);
    take(2, south, in_south);
    take(3, south && east, in_south && in_east);
    take(4, west, in_west);
    take(5, west, in_west);
    take(DIAGONAL, here, true);
    take(LOWER + 4, east, in_east);
    take(LOWER + 5, east, in_east);
    take(LOWER + 3, north && west, in_north && in_west);
    take(LOWER + 1, north, in_north);
    take(LOWER + 2, north, in_north);
    take(LOWER + 0, north && east, in_north && in_east);
}

// values <- factors of A; first <- the first row whose pivot is zero or not finite.
KERNEL(factor_tiles, uint32 mi, uint32 mj, uint32 edges, uint64 tiles, const real* a,
       real* values, uint64* first) {
    DYNAMIC_SHARED(real, inverse);
    __shared__ uint32 starts[LEVELS];
    const Tile tile(mi, mj, tiles);
    level_starts(starts);
    for (uint32 k = threadIdx.x; k < FRAME_VALUES; k += WARP) inverse[k] = 0;
    for (uint32 k = threadIdx.x; k < POINT_TILE * POINT_TILE; k += WARP)
        take_point(tile, edges, a, k % POINT_TILE, k / POINT_TILE,
                   place_of(starts, k % POINT_TILE, k / POINT_TILE), values);
    const uint32 v = threadIdx.x % 2;
    for (uint32 level = 0; level < LEVELS; ++level) {
        __syncwarp();
        const Level points(level);
        const uint32 j = points.low + threadIdx.x / 2;
        if (j > points.high) continue;
        const uint32 i = level - 2 * j, p = starts[level] + j - points.low;
        const uint32 own = frame_index(i, j) + v;
        uint32 index[LOWER];
        neighbours(own, -1, index);
        // Offsets of the neighbours that the entries of L belong to.
        const int di[LOWER] = {-1, 0, 0, 1, -1, -1}, dj[LOWER] = {-1, -1, -1, -1, 0, 0};
        real pivot = values[tile.at(DIAGONAL, p, v)];
        for (uint32 e = 0; e < LOWER; ++e) {
            const uint32 ni = uint32(int(i) + di[e]), nj = uint32(int(j) + dj[e]);
            if (!tile.holds(ni, nj)) continue;
            const uint32 other = e == 2 || e == 5 ? 1 - v : v;
            const real factor = values[tile.at(e, p, v)] * inverse[index[e]];
            values[tile.at(e, p, v)] = factor;
            pivot -= factor * values[tile.at(LOWER + e, place_of(starts, ni, nj), other)];
        }
        inverse[own] = real(1) / pivot;
        values[tile.at(DIAGONAL, p, v)] = inverse[own];
        if (tile.holds(i, j) && (pivot == real(0) || !is_finite(pivot)))
            atomicMin(first, tile.row(i, j) + v);
    }
}

// The entries of L or U, from entry `from` on, of a value at a place.
__device__ inline void fetch(const Tile& tile, const real* values, uint32 from, uint32 p, uint32 v,
                             real* entries) {
#pragma unroll
    for (uint32 e = 0; e < LOWER; ++e) entries[e] = values[tile.at(from + e, p, v)];
}

// Returns the sum that the entries subtract from a value.
__device__ inline real product(const real* entries, const real* z, uint32 own, int toward) {
    uint32 index[LOWER];
    neighbours(own, toward, index);
    real sum = 0;
#pragma unroll
    for (uint32 e = 0; e < LOWER; ++e) sum += entries[e] * z[index[e]];
    return sum;
}

// z <- M^-1 r. The entries of the next level are fetched while a level is worked on.
KERNEL(solve_tiles, uint32 mi, uint32 mj, uint64 tiles, const real* values, const real* r, real* z) {
    DYNAMIC_SHARED(real, own);
    const Tile tile(mi, mj, tiles);
    for (uint32 k = threadIdx.x; k < FRAME_VALUES; k += WARP) {
        const uint32 i = k / 2 % FRAME - 1, j = k / 2 / FRAME - 1;
        own[k] = tile.holds(i, j) ? r[tile.row(i, j) + k % 2] : real(0);
    }
    const uint32 v = threadIdx.x % 2, nth = threadIdx.x / 2;
    real next[LOWER], entries[LOWER], pivot = 0, next_pivot = 0;

    uint32 start = 0;
    if (nth < Level(0).size()) fetch(tile, values, 0, nth, v, next);
    for (uint32 level = 0; level < LEVELS; ++level) {
        const Level points(level);
#pragma unroll
        for (uint32 e = 0; e < LOWER; ++e) entries[e] = next[e];
        start += points.size();
        if (level + 1 < LEVELS && nth < Level(level + 1).size())
            fetch(tile, values, 0, start + nth, v, next);
        __syncwarp();
        if (nth >= points.size()) continue;
        const uint32 j = points.low + nth, at = frame_index(level - 2 * j, j) + v;
        own[at] -= product(entries, own, at, -1);
    }

    start = POINT_TILE * POINT_TILE;
    auto fetch_before = [&](uint32 level) {
        const Level before(level - 1);
        start -= before.size();
        if (nth >= before.size()) return;
        fetch(tile, values, LOWER, start + nth, v, next);
        next_pivot = values[tile.at(DIAGONAL, start + nth, v)];
    };
    fetch_before(LEVELS);
    for (uint32 level = LEVELS; level-- > 0;) {
        const Level points(level);
#pragma unroll
        for (uint32 e = 0; e < LOWER; ++e) entries[e] = next[e];
        pivot = next_pivot;
        if (level > 0) fetch_before(level);
        __syncwarp();
        if (nth >= points.size()) continue;
        const uint32 j = points.low + nth, at = frame_index(level - 2 * j, j) + v;
        own[at] = (own[at] - product(entries, own, at, 1)) * pivot;
    }
    __syncwarp();
    for (uint32 k = threadIdx.x; k < FRAME_VALUES; k += WARP) {
        const uint32 i = k / 2 % FRAME - 1, j = k / 2 / FRAME - 1;
        if (tile.holds(i, j)) z[tile.row(i, j) + k % 2] = own[k];
    }
}
