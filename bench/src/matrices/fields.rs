//! Matrices of discretised fields.

use super::Random;
use gridgen::sparse::Csr;
use std::cmp::Reverse;

/// −∇·(K ∇u) with K = diag(1, 0.1, 0.01) times a factor that jumps between the cells of a checkerboard of 8³
/// points, u = 0 outside: stiff and soft parts, as in a structure.
pub(crate) fn anisotropic([ni, nj, nk]: [usize; 3]) -> Csr {
    let stiffness = |[i, j, k]: [usize; 3]| {
        if (i / 8 + j / 8 + k / 8).is_multiple_of(2) { 1.0 } else { 0.05 }
    };
    let strides = [(1, ni, 1.0), (ni, nj, 0.1), (ni * nj, nk, 0.01)];
    let place = move |row: usize| [row % ni, row / ni % nj, row / (ni * nj)];
    Csr::from_rows((0..ni * nj * nk).map(|row| {
        let mut entries = Vec::with_capacity(7);
        let (own, mut diagonal) = (stiffness(place(row)), 0.0);
        for (axis, (stride, n, factor)) in strides.into_iter().enumerate() {
            let at = place(row)[axis];
            let below = (at > 0).then(|| row - stride);
            let above = (at + 1 < n).then(|| row + stride);
            for beside in [below, above] {
                // The flux uses the harmonic mean of both sides.
                let other = beside.map_or(own, |beside| stiffness(place(beside)));
                let flux = factor * 2.0 * own * other / (own + other);
                diagonal += flux;
                entries.extend(beside.map(|beside| (beside, -flux)));
            }
        }
        entries.push((row, diagonal));
        entries
    }))
}

/// −Δu + b·∇u upwind, with b circling the axis of the box and rising along it, u = 0 outside.
pub(crate) fn convection([ni, nj, nk]: [usize; 3]) -> Csr {
    let strides = [(1, ni), (ni, nj), (ni * nj, nk)];
    Csr::from_rows((0..ni * nj * nk).map(|row| {
        let place = [row % ni, row / ni % nj, row / (ni * nj)];
        let from_axis = |at: usize, n: usize| 2.0 * at as f64 / n as f64 - 1.0;
        let wind = [-from_axis(place[1], nj), from_axis(place[0], ni), 0.25].map(|b| 4.0 * b);
        let mut entries = Vec::with_capacity(7);
        let mut diagonal = 0.0;
        for (axis, (stride, n)) in strides.into_iter().enumerate() {
            let at = place[axis];
            let from_below = 1.0 + wind[axis].max(0.0);
            let from_above = 1.0 - wind[axis].min(0.0);
            diagonal += from_below + from_above;
            entries.extend((at > 0).then(|| (row - stride, -from_below)));
            entries.extend((at + 1 < n).then(|| (row + stride, -from_above)));
        }
        entries.push((row, diagonal));
        entries
    }))
}

/// A time step of ∂u/∂t = Δu with linear elements on a grid of triangles, mass lumped. Nodes are numbered by
/// refinement, those of the coarsest grid first, which gives few levels.
pub(crate) fn elements([ni, nj]: [usize; 2]) -> Csr {
    // The nodes of a refinement lie in the middle of edges along i, along j, and along the diagonals.
    let made = |i: usize, j: usize| {
        let coarseness = (i | j).trailing_zeros().min(usize::BITS - 1);
        (Reverse(coarseness), i >> coarseness & 1, j >> coarseness & 1)
    };
    let mut order: Vec<(usize, usize)> =
        (0..nj).flat_map(|j| (0..ni).map(move |i| (i, j))).collect();
    order.sort_by_key(|&(i, j)| made(i, j));
    let mut number = vec![0; ni * nj];
    for (row, &(i, j)) in order.iter().enumerate() {
        number[j * ni + i] = row;
    }
    // Conductivities of the edges along i, along j and along the diagonals, all slightly different.
    let mut random = Random::new(7);
    let edges: Vec<[f64; 3]> =
        (0..ni * nj).map(|_| [1.0, 1.0, 0.2].map(|c| c * (0.9 + 0.2 * random.unit()))).collect();
    let steps: [(isize, isize, usize); 3] = [(1, 0, 0), (0, 1, 1), (1, 1, 2)];
    let at = |i: usize, j: usize, di: isize, dj: isize| {
        let (i, j) = (i.checked_add_signed(di)?, j.checked_add_signed(dj)?);
        (i < ni && j < nj).then_some(j * ni + i)
    };
    Csr::from_rows(order.iter().map(|&(i, j)| {
        let mut entries = Vec::with_capacity(7);
        let mut diagonal = 0.02;
        for (di, dj, kind) in steps {
            let ahead = at(i, j, di, dj).map(|beside| (beside, edges[j * ni + i][kind]));
            let behind = at(i, j, -di, -dj).map(|beside| (beside, edges[beside][kind]));
            for (beside, conductivity) in ahead.into_iter().chain(behind) {
                diagonal += conductivity;
                entries.push((number[beside], -conductivity));
            }
        }
        entries.push((number[j * ni + i], diagonal));
        entries
    }))
}
