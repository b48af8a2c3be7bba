// The rows of a point by ten numbers (theory section 2.2), in pairs
//
//   (w g22, d), (X_xx, X_yy), (X_xy, X_yx), (Y_xx, Y_yy), (Y_xy, Y_yx):
//
// W and E have w g22 I -+ X, S and N (1/2 - w g22) I -+ Y, SW and NE d I, SE and NW -d I, the centre has -I.
#pragma once
#include "common.cuh"

// Blocks of the neighbours before and after a point in one direction.
struct Sides {
    Block before, after;
};

struct TenNumbers {
    Pair first, xi, xi_other, eta, eta_other;

    __device__ real g22() const { return first.x; }
    __device__ real g11() const { return real(0.5) - first.x; }
    __device__ real corner() const { return first.y; }
    __device__ Sides along_xi() const { return sides(g22(), xi, xi_other); }
    __device__ Sides along_eta() const { return sides(g11(), eta, eta_other); }
    __device__ static Sides sides(real own, Pair slope, Pair other) {
        return {block(own - slope.x, -other.x, -other.y, own - slope.y),
                block(own + slope.x, other.x, other.y, own + slope.y)};
    }
    // The product with u at the point and around it; corners = SW - SE + NE - NW. By differences to the centre it has
    // rounding errors of these: with those of u itself 4097 x 1025 points take 11.5 linear iterations on a CPU instead
    // of 9.5.
    __device__ Pair product(Pair west, Pair centre, Pair east, Pair south, Pair north, Pair corners) const {
        const Pair along = east - west, up = north - south;
        const Pair sum = g22() * ((west - centre) + (east - centre)) + g11() * ((south - centre) + (north - centre)) +
                         corner() * corners;
        return pair(sum.x + xi.x * along.x + xi_other.x * along.y + eta.x * up.x + eta_other.x * up.y,
                    sum.y + xi.y * along.y + xi_other.y * along.x + eta.y * up.y + eta_other.y * up.x);
    }
};

// Returns the ten numbers of a point whose first pair is at `values`; consecutive pairs are `stride` values apart.
__device__ inline TenNumbers ten_numbers(const real* values, int64 stride) {
    auto at = [=](int k) { return *reinterpret_cast<const Pair*>(values + k * stride); };
    return {at(0), at(1), at(2), at(3), at(4)};
}
