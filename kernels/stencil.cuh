// Products with an ELL matrix of the nine-point stencil: two rows, x and y, belong to a point of the grid; slot k
// of row r has the place k * slot_stride + r, and the columns follow from the point's place.
#pragma once
#include "numbers.cuh"

// Columns of the nine-point stencil on mi x mj points: neighbour by neighbour from SW to NE, own variable first.
// Couplings that do not exist at an edge are left out and the following ones have lower slot numbers.
struct Stencil {
    uint32 mi, mj;
    uint32 edges;

    // Whether there is a neighbour, and whether it is one of these points.
    __device__ bool west(uint32 i) const { return i > 0 || (edges & EDGE_WEST); }
    __device__ bool east(uint32 i) const { return i + 1 < mi || (edges & EDGE_EAST); }
    __device__ bool own_west(uint32 i) const { return i > 0 || (edges & EDGE_PERIODIC); }
    __device__ bool own_east(uint32 i) const { return i + 1 < mi || (edges & EDGE_PERIODIC); }
    __device__ uint64 west_of(uint32 i, uint32 j) const {
        return uint64(j) * mi + (i > 0 ? i - 1 : mi - 1);
    }
    __device__ uint64 east_of(uint32 i, uint32 j) const {
        return uint64(j) * mi + (i + 1 < mi ? i + 1 : 0);
    }
};

// Values at the two rows of a point, slot after slot, of a matrix of T.
template <class T>
struct SlotsOf {
    const T* values;
    uint64 stride;

    __device__ void pass(uint32 slots) { values += slots * stride; }
    __device__ Pair next() {
        const Pair v = load_once(reinterpret_cast<const Two<T>*>(values));
        values += stride;
        return v;
    }
    // Zero where the slot is not there.
    __device__ Pair next_if(bool there) { return there ? next() : pair(0, 0); }
    // The block of a neighbour in one row or column, from two slots; zero where its coupling is dropped.
    __device__ Block next_block(bool kept) {
        const Pair own = next(), other = next();
        return kept ? block(own.x, other.x, other.y, own.y) : diagonal(0);
    }
};
typedef SlotsOf<real> Slots;

// x at a point; unknowns but the `count` ones after the first `from` count as zero.
__device__ inline Pair point_of(const Pair* x, uint64 k, uint64 from, uint64 count) {
    return 2 * k - from >= count ? pair(0, 0) : x[k];
}

__device__ inline void add_own(Pair& sum, Pair v, Pair u) {
    sum = pair(sum.x + v.x * u.x, sum.y + v.y * u.y);
}

__device__ inline void add_both(Pair& sum, const Pair (&v)[2], Pair u) {
    add_own(sum, v[0], u);
    add_own(sum, v[1], pair(u.y, u.x));
}

// sum + the row of point (i, j) of A, with the nine-point pattern, times the vector whose value at a point is x(point).
// Neighbours of another piece are left to `add_beyond`. Absent couplings are zero, so that no load waits for a branch.
template <class Vector>
__device__ inline Pair nine_points(const Stencil& at, const real* values, uint32 i, uint32 j, Pair sum,
                                   const Vector& x) {
    const uint64 k = uint64(j) * at.mi + i;
    const bool west = at.west(i), east = at.east(i), below = j > 0, above = j + 1 < at.mj;
    const bool own_west = at.own_west(i), own_east = at.own_east(i);
    Slots a = {values + 2 * k, slot_stride(uint64(at.mi) * at.mj)};
    const Pair southwest = a.next_if(below && west);
    const Pair south[2] = {a.next_if(below), a.next_if(below)};
    const Pair southeast = a.next_if(below && east);
    const Pair to_west[2] = {a.next_if(west), a.next_if(west)};
    const Pair centre = a.next();
    const Pair to_east[2] = {a.next_if(east), a.next_if(east)};
    const Pair northwest = a.next_if(above && west);
    const Pair north[2] = {a.next_if(above), a.next_if(above)};
    const Pair northeast = a.next_if(above && east);
    auto x_if = [&](bool there, uint64 point) { return there ? x(point) : pair(0, 0); };
    const uint64 before = at.west_of(i, j), after = at.east_of(i, j);
    add_own(sum, southwest, x_if(below && own_west, before - at.mi));
    add_both(sum, south, x_if(below, k - at.mi));
    add_own(sum, southeast, x_if(below && own_east, after - at.mi));
    add_both(sum, to_west, x_if(own_west, before));
    add_own(sum, centre, x(k));
    add_both(sum, to_east, x_if(own_east, after));
    add_own(sum, northwest, x_if(above && own_west, before + at.mi));
    add_both(sum, north, x_if(above, k + at.mi));
    add_own(sum, northeast, x_if(above && own_east, after + at.mi));
    return sum;
}

// Returns the row of point (i, j) of A times such a vector, for a matrix by ten numbers a point.
template <class Vector>
__device__ inline Pair by_ten_numbers(const Stencil& at, const real* values, uint32 i, uint32 j, const Vector& x) {
    const uint64 k = uint64(j) * at.mi + i;
    const TenNumbers a = ten_numbers(values + 2 * k, slot_stride(uint64(at.mi) * at.mj));
    const bool west = at.own_west(i), east = at.own_east(i), below = j > 0, above = j + 1 < at.mj;
    auto x_if = [&](bool there, uint64 point) { return there ? x(point) : pair(0, 0); };
    const uint64 before = at.west_of(i, j), after = at.east_of(i, j);
    const Pair corners = (x_if(below && west, before - at.mi) - x_if(below && east, after - at.mi)) +
                         (x_if(above && east, after + at.mi) - x_if(above && west, before + at.mi));
    return a.product(x_if(west, before), x(k), x_if(east, after), x_if(below, k - at.mi), x_if(above, k + at.mi),
                     corners);
}

// Returns the contribution of the column beyond the last one, or before the first, to the point of row j beside it, for
// a matrix by ten numbers a point; beyond(row) is the vector in that column.
template <class Beyond>
__device__ inline Pair beyond_by_ten_numbers(const Stencil& at, const real* values, uint32 j, bool last,
                                             const Beyond& beyond) {
    const uint64 k = uint64(j) * at.mi + (last ? at.mi - 1 : 0);
    const TenNumbers a = ten_numbers(values + 2 * k, slot_stride(uint64(at.mi) * at.mj));
    const Pair below = j > 0 ? beyond(j - 1) : pair(0, 0), above = j + 1 < at.mj ? beyond(j + 1) : pair(0, 0);
    const Sides sides = a.along_xi();
    return (last ? sides.after : sides.before) * beyond(j) + a.corner() * (last ? above - below : below - above);
}

// sum + what the column beyond the last one, or before the first, beyond(row), gives to the point of row j.
template <class Beyond>
__device__ inline Pair add_beyond(const Stencil& at, const real* values, uint32 j, bool last, Pair sum,
                                  const Beyond& beyond) {
    const uint32 i = last ? at.mi - 1 : 0;
    const bool west = at.west(i), east = at.east(i);
    Slots a = {values + 2 * (uint64(j) * at.mi + i), slot_stride(uint64(at.mi) * at.mj)};
    auto own = [&](Pair u) { add_own(sum, a.next(), u); };
    auto both = [&](Pair u) {
        own(u);
        own(pair(u.y, u.x));
    };
    // The neighbours of a row below or above the point's own.
    auto corners = [&](uint32 row) {
        const Pair u = beyond(row);
        if (west && last) a.pass(1);
        if (west && !last) own(u);
        a.pass(2);
        if (east && last) own(u);
        if (east && !last) a.pass(1);
    };
    if (j > 0) corners(j - 1);
    const Pair u = beyond(j);
    if (west && last) a.pass(2);
    if (west && !last) both(u);
    a.pass(1);
    if (last) both(u);
    if (!last && east) a.pass(2);
    if (j + 1 < at.mj) corners(j + 1);
    return sum;
}
