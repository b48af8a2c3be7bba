//! Rows of points in chunks that the compiler turns into vector operations.
//!
//! The formulas of [`crate::pde`] are applied point by point. A chunk's results go to arrays on the stack
//! first: there nothing can alias the operands, and the loop over its points has no branch.

use crate::backend::{EllipticData, Real};
use crate::grid::quality::larger;
use crate::pde::{Metrics, Stencil, StencilBlocks, merit_weight, residual, row_weight};
use crate::simd::Kernel;
use crate::sparse::{STENCIL, TEN_SLOTS};
use std::ops::Range;

const CHUNK: usize = 64;
/// Running sums of the merit.
const LANES: usize = 8;
const ENTRIES: usize = STENCIL.len();

/// Row j of unknown points; the amplitudes are the (p, q) of each point beside a side, interleaved.
#[derive(Clone, Copy)]
pub(super) struct PointRow<'a> {
    data: &'a EllipticData,
    amplitudes: &'a [Vec<f64>; 4],
    j: usize,
    /// Whether the first and the last point lie on two walls.
    corners: [bool; 2],
}

impl<'a> PointRow<'a> {
    pub(super) fn new(data: &'a EllipticData, amplitudes: &'a [Vec<f64>; 4], j: usize) -> Self {
        let walls = data.walled_sides();
        let corners = [0, data.mi - 1].map(|i| walls.corner((i, j), data.mi, data.mj));
        Self { data, amplitudes, j, corners }
    }

    /// The points of two walls, which have no equations, by their places in a chunk.
    #[inline(always)]
    fn without_equations(&self, columns: &Range<usize>) -> impl Iterator<Item = usize> + use<> {
        let first = self.corners[0] && columns.start == 0;
        let last = self.corners[1] && columns.end == self.data.mi;
        first.then_some(0).into_iter().chain(last.then_some(columns.len() - 1))
    }

    /// Slots ← the values of a chunk, by point, but zeros at the points of two walls.
    #[inline(always)]
    fn put<'v, T: Real, const N: usize>(
        &self,
        columns: &Range<usize>,
        values: impl IntoIterator<Item = &'v mut [[f64; 2]; N]>,
        slots: &mut [&mut [T]],
    ) {
        for (slot, values) in slots.iter_mut().zip(values) {
            for i in self.without_equations(columns) {
                values[i] = [0.0; 2];
            }
            let points = slot[2 * columns.start..2 * columns.end].as_chunks_mut::<2>().0;
            for (point, [x, y]) in points.iter_mut().zip(values) {
                *point = [T::narrow(*x), T::narrow(*y)];
            }
        }
    }
}

/// The wall terms of a side at some points of a row.
#[derive(Clone, Copy)]
struct Terms<'a> {
    /// φ, ψ.
    decay: [&'a [f64]; 2],
    /// (p, q) of each point, or the same of all.
    amplitudes: &'a [[f64; 2]],
}

/// Operands of neighbouring unknown points of one row; each slice has one value a point.
#[derive(Clone, Copy)]
struct Points<'a> {
    /// x of the nine nodes around, `[south, middle, north][west, centre, east]`.
    x: [[&'a [f64]; 3]; 3],
    y: [[&'a [f64]; 3]; 3],
    control: [&'a [f64]; 2],
    /// The wall terms of the sides j = 0, j = mj − 1, i = 0 and i = mi − 1.
    walls: [Option<Terms<'a>>; 4],
}

impl<'a> Points<'a> {
    #[inline(always)]
    fn new(row: PointRow<'a>, columns: &Range<usize>) -> Self {
        let PointRow { data, amplitudes, j, .. } = row;
        let (stride, n) = (data.mi + 2, columns.len());
        let around = |nodes: &'a [f64]| {
            [0, 1, 2].map(|dj| {
                let row = &nodes[(j + dj) * stride + columns.start..][..n + 2];
                [0, 1, 2].map(|di| &row[di..di + n])
            })
        };
        let own = |field: &'a [f64]| &field[j * data.mi + columns.start..][..n];
        let terms = |side: usize| {
            let wall = data.walls[side].as_ref()?;
            let pairs = amplitudes[side].as_chunks::<2>().0;
            let amplitudes = if side < 2 { &pairs[columns.clone()] } else { &pairs[j..=j] };
            Some(Terms { decay: [own(&wall.phi), own(&wall.psi)], amplitudes })
        };
        Self {
            x: around(&data.x),
            y: around(&data.y),
            control: [own(&data.control_p), own(&data.control_q)],
            walls: [terms(0), terms(1), terms(2), terms(3)],
        }
    }

    #[inline(always)]
    fn metrics(&self, i: usize) -> Metrics {
        // The compiler does not inline closures of `array::map` in large loops, and does not vectorise such a loop.
        let row = |[west, centre, east]: &[&[f64]; 3], [w, c, e]: &[&[f64]; 3]| {
            [[west[i], w[i]], [centre[i], c[i]], [east[i], e[i]]]
        };
        let [south, middle, north] = &self.x;
        let [s, m, n] = &self.y;
        Stencil { south: row(south, s), middle: row(middle, m), north: row(north, n) }.metrics()
    }

    /// The walls with their terms: whether each is a side of constant j, along the rows.
    #[inline(always)]
    fn walls(&self) -> impl Iterator<Item = (bool, Terms<'a>)> + use<'a> {
        self.walls.into_iter().enumerate().filter_map(|(side, terms)| Some((side < 2, terms?)))
    }

    /// P and Q of the points (theory eq. 6).
    #[inline(always)]
    fn controls(&self) -> [[f64; CHUNK]; 2] {
        let mut controls = [[0.0; CHUNK]; 2];
        for (control, base) in controls.iter_mut().zip(self.control) {
            control[..base.len()].copy_from_slice(base);
        }
        for (along, Terms { decay, amplitudes }) in self.walls() {
            for (component, control) in controls.iter_mut().enumerate() {
                if along {
                    let terms = amplitudes.iter().zip(decay[component]);
                    for (control, (pair, decay)) in control.iter_mut().zip(terms) {
                        *control += pair[component] * decay;
                    }
                } else {
                    // From a side of constant i the angle is a matter of Q, the height one of P.
                    let of = 1 - component;
                    for (control, decay) in control.iter_mut().zip(decay[of]) {
                        *control += amplitudes[0][of] * decay;
                    }
                }
            }
        }
        controls
    }
}

#[inline(always)]
fn chunks(columns: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let end = columns.end;
    columns.step_by(most).map(move |first| first..(first + most).min(end))
}

/// f ← w R in row j, the weights of the merit there, and the largest entry and the sums of the squared merits with these
/// weights and with those that are kept.
pub(super) struct ResidualRow<'a> {
    pub(super) row: PointRow<'a>,
    pub(super) merit_weights: &'a mut [f64],
    pub(super) kept: &'a [f64],
    pub(super) f: &'a mut [f64],
    pub(super) found: &'a mut [f64; 3],
}

impl Kernel for ResidualRow<'_> {
    #[inline(always)]
    fn run(self) {
        let Self { row, merit_weights, kept, f, found } = self;
        let (mut most, mut sums) = ([0.0; LANES], [[0.0; LANES]; 2]);
        for columns in chunks(0..row.data.mi, CHUNK) {
            let n = columns.len();
            let points = Points::new(row, &columns);
            let kept = &kept[columns.clone()];
            let [p, q] = points.controls();
            let (mut scaled, mut squares) = ([[0.0; 2]; CHUNK], [[0.0; CHUNK]; 2]);
            let mut merits = [0.0; CHUNK];
            for i in 0..n.min(CHUNK) {
                let metrics = points.metrics(i);
                let (r, weight) = (residual(&metrics, p[i], q[i]), row_weight(&metrics));
                merits[i] = merit_weight(&metrics);
                scaled[i] = [weight * r[0], weight * r[1]];
                let square = r[0] * r[0] + r[1] * r[1];
                squares[0][i] = merits[i] * merits[i] * square;
                squares[1][i] = kept[i] * kept[i] * square;
            }
            for i in row.without_equations(&columns) {
                (scaled[i], merits[i], squares[0][i]) = ([0.0; 2], 0.0, 0.0);
            }
            merit_weights[columns.clone()].copy_from_slice(&merits[..n]);
            f[2 * columns.start..2 * columns.end].copy_from_slice(scaled[..n].as_flattened());
            for entries in scaled.as_flattened().as_chunks::<LANES>().0 {
                for (most, entry) in most.iter_mut().zip(entries) {
                    *most = larger(entry.abs(), *most);
                }
            }
            for (sums, squares) in sums.iter_mut().zip(&squares) {
                for squares in squares.as_chunks::<LANES>().0 {
                    for (sum, square) in sums.iter_mut().zip(squares) {
                        *sum += square;
                    }
                }
            }
        }
        let [own, kept] = sums.map(|sums| sums.iter().sum());
        *found = [most.into_iter().fold(0.0, larger), own, kept];
    }
}

/// Row j of a ← w ∂R/∂r.
pub(super) struct JacobianRow<'a, T> {
    pub(super) row: PointRow<'a>,
    /// Values of row j by slot.
    pub(super) slots: Vec<&'a mut [T]>,
}

impl<T: Real> Kernel for JacobianRow<'_, T> {
    #[inline(always)]
    fn run(mut self) {
        let mi = self.row.data.mi;
        if self.slots.len() == TEN_SLOTS {
            self.ten_numbers();
            return;
        }
        // All points inside have neighbours on both sides; the ends of an open row have fewer.
        if self.row.data.periodic {
            self.points(0..mi, None);
        } else {
            self.points(0..1, Some(0));
            self.points(mi - 1..mi, Some(mi - 1));
            self.points(1..mi.max(2) - 1, None);
        }
    }
}

impl<T: Real> JacobianRow<'_, T> {
    /// The rows as [`EllPattern::TenNumbers`](crate::sparse::EllPattern::TenNumbers) has them.
    #[inline(always)]
    fn ten_numbers(&mut self) {
        let mut numbers = [[[0.0; 2]; SHORT]; TEN_SLOTS];
        for columns in chunks(0..self.row.data.mi, SHORT) {
            let points = Points::new(self.row, &columns);
            let [p, q] = points.controls();
            for i in 0..columns.len().min(SHORT) {
                let metrics = points.metrics(i);
                let weight = row_weight(&metrics);
                let ten = StencilBlocks::new(&metrics, p[i], q[i]).ten_numbers();
                for k in 0..TEN_SLOTS {
                    numbers[k][i] = [weight * ten[k][0], weight * ten[k][1]];
                }
            }
            self.row.put(&columns, &mut numbers, &mut self.slots);
        }
    }

    /// The rows of some points, without the entries of absent neighbours, beside the point `end` too.
    #[inline(always)]
    fn points(&mut self, columns: Range<usize>, end: Option<usize>) {
        let Self { row: PointRow { data, j, .. }, .. } = *self;
        let within = |at: usize, by, end| at.checked_add_signed(by).is_some_and(|at| at < end);
        let present = STENCIL.map(|(di, dj, _)| {
            end.is_none_or(|i| within(i, di, data.mi)) && within(j, dj, data.mj)
        });
        // The scaled entries of the x and of the y rows, in the order of `StencilBlocks::row`.
        let mut entries = [[[0.0; 2]; SHORT]; ENTRIES];
        for columns in chunks(columns, SHORT) {
            let points = Points::new(self.row, &columns);
            let [p, q] = points.controls();
            for i in 0..columns.len().min(SHORT) {
                let metrics = points.metrics(i);
                let weight = row_weight(&metrics);
                let blocks = StencilBlocks::new(&metrics, p[i], q[i]);
                let rows = [blocks.row(0), blocks.row(1)];
                for k in 0..ENTRIES {
                    entries[k][i] = [weight * rows[0][k], weight * rows[1][k]];
                }
            }
            let there = entries.iter_mut().zip(present).filter(|(_, present)| *present);
            self.row.put(&columns, there.map(|(entries, _)| entries), &mut self.slots);
        }
    }
}

/// Points of a chunk whose matrix entries are kept at a time.
const SHORT: usize = 32;

/// Row j of b ← w ∂R/∂(p, q).
pub(super) struct WallRow<'a, T> {
    pub(super) row: PointRow<'a>,
    /// Values of row j by slot.
    pub(super) slots: Vec<&'a mut [T]>,
}

impl<T: Real> Kernel for WallRow<'_, T> {
    #[inline(always)]
    fn run(self) {
        let Self { row, mut slots } = self;
        for columns in chunks(0..row.data.mi, CHUNK) {
            let points = Points::new(row, &columns);
            let walls = points.walls().zip(slots.chunks_mut(2));
            for ((along, Terms { decay: [phi, psi], .. }), slots) in walls {
                let mut entries = [[[0.0; 2]; CHUNK]; 2];
                let (of_xi, of_eta) = if along { (phi, psi) } else { (psi, phi) };
                for i in 0..columns.len().min(CHUNK) {
                    let metrics = points.metrics(i);
                    let weight = row_weight(&metrics);
                    let xi = weight * metrics.g22 * of_xi[i];
                    let eta = weight * metrics.g11 * of_eta[i];
                    let [xi, eta] = [metrics.xi.map(|x| xi * x), metrics.eta.map(|x| eta * x)];
                    [entries[0][i], entries[1][i]] = if along { [xi, eta] } else { [eta, xi] };
                }
                row.put(&columns, &mut entries, slots);
            }
        }
    }
}
