//! The hyperbolic march: orthogonality and prescribed cell areas, implicit in i. Also the cyclic tridiagonal
//! systems of the march, scalar and with 2×2 blocks, solved in O(n).

use super::{InitialSettings, Layers, Outline, Segments, grid_of};
use crate::geometry::vector::{along, cross, difference, dot, unit};
use crate::grid::quality::folds;
use crate::grid::{Grid, beside};
use nalgebra::{Matrix2, Vector2};

/// Largest number of substeps a layer.
pub(crate) const SUBSTEPS: f64 = 40.0;
/// The dissipation rises over this fraction of the layers.
pub(crate) const RISE: f64 = 0.75;
/// Distance from the wall, in chords, over which the extra dissipation sets in.
pub(crate) const SPREAD_DISTANCE: f64 = 0.2;
/// Smallest sin² of half the interior angle of a concave front (bounds the extra dissipation).
pub(crate) const CONCAVE_LIMIT: f64 = 0.1;
/// Columns of a front for each of the shortest intervals that a substep may be high, 3 to 24 for closed fronts: the more
/// columns, the shorter is that interval beside the others, which alone need short steps.
const COLUMNS_IN_STEP: f64 = 256.0 / 3.0;
/// Least and most of them for open fronts, whose number grows with the power 3/2 of the columns. With 10 on any number
/// the lines of a C-grid of 1793×513 points are uneven.
const LEAST_OPEN: f64 = 10.0;
const MOST_OPEN: f64 = 240.0;
/// Least growth of the intervals of an open front, as a logarithm, at which the dissipation doubles; it is
/// larger if the cut grows faster.
const GROWTH: f64 = 0.15;
/// Factor by which lines near the outflow turn into its direction earlier than they would lean across it.
pub(crate) const TURN: f64 = 2.0;

/// Parameters that differ between closed and open fronts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scheme {
    pub(crate) closed: bool,
    /// Weight 1 + θ of the implicit difference along i.
    pub(crate) implicit: f64,
    /// A substep is at most this many times the shortest interval of the front.
    pub(crate) step_limit: f64,
    /// 1/g, with g the growth of the intervals at which the dissipation doubles; 0 around a closed section.
    pub(crate) inverse_growth: f64,
    /// x of the outflow.
    pub(crate) outflow: f64,
    /// Absolute slope of the cut there.
    pub(crate) slope: f64,
}

impl Scheme {
    /// The scheme of an outline. Along the wake of a C-grid fronts are parallel, so longer steps are
    /// possible.
    pub(crate) fn of(outline: &Outline) -> Self {
        let wake = outline.topology.wake();
        let step_limit = outline.columns() as f64 / COLUMNS_IN_STEP;
        if wake == 0 {
            let step_limit = step_limit.clamp(3.0, 24.0);
            let [implicit, inverse_growth, outflow, slope] = [1.0, 0.0, 0.0, 0.0];
            return Self { closed: true, implicit, step_limit, inverse_growth, outflow, slope };
        }
        let step = |i: usize| difference(outline.points[i + 1], outline.points[i]);
        let interval = |i: usize| step(i)[0].hypot(step(i)[1]);
        let growth = (interval(wake.saturating_sub(2)) / interval(wake.saturating_sub(1))).ln();
        let (inverse_growth, outflow) = (1.0 / growth.max(GROWTH), outline.points[0][0]);
        let slope = (step(0)[1] / step(0)[0]).abs();
        let ratio = (step_limit / LEAST_OPEN).max(1.0);
        let step_limit = (LEAST_OPEN * ratio * ratio.sqrt()).min(MOST_OPEN);
        Self { closed: false, implicit: 2.0, step_limit, inverse_growth, outflow, slope }
    }

    /// The direction in which a point of a front moves at the distance s from the wall, n being its bisector
    /// normal (theory section 4). It is turned away from n because lines normal to an inclined cut would
    /// cross the outflow.
    fn normal(self, [nx, ny]: [f64; 2], lower: bool, x: f64, distance: f64) -> [f64; 2] {
        if self.slope <= 0.0 {
            return [nx, ny];
        }
        let way = (self.outflow - x).max(f64::MIN_POSITIVE);
        let sign = if lower { -1.0 } else { 1.0 };
        let lean = TURN * distance * self.slope * (sign * ny).max(0.0);
        unit([nx * way, ny * way + sign * lean])
    }
}

/// Marches from the wall through `outline.layers` (theory section 4; after Chan and Steger 1992,
/// doi:10.1016/0096-3003(92)90073-A) and moves the last layer onto the outer line. The first layer is exactly
/// r + h n. Returns the grid and its number of folded cells; `None` if a line solve is singular or a point is
/// not finite.
pub fn march(
    outline: &Outline,
    settings: &InitialSettings,
    dissipation: f64,
) -> Option<(Grid, usize)> {
    let grid = grid_of(layers(outline, settings, dissipation)?, outline);
    let folded = folds(&grid);
    Some((grid, folded))
}

fn layers(outline: &Outline, settings: &InitialSettings, dissipation: f64) -> Option<Layers> {
    let (s, nj) = (outline.layers, outline.layers.len());
    let scheme = Scheme::of(outline);
    let splay = outline.splay();
    let mut layers = first_layers(outline).to_vec();
    let extra = outline.extra_heights();
    let tallest = extra.iter().copied().fold(0.0, f64::max);
    for j in 1..nj - 1 {
        let mut front = layers[j].clone();
        let (height, more) = (s[j + 1] - s[j], splay[j + 1] - splay[j]);
        let highest = height + more.max(0.0) * tallest;
        let shortest = Segments::new(&front, scheme.closed).shortest();
        let substeps = (highest / (scheme.step_limit * shortest)).ceil().clamp(1.0, SUBSTEPS);
        let rise = (j as f64 / (RISE * (nj - 1) as f64)).min(1.0).sqrt();
        let spread = 1.0 + settings.spread * s[j] / (s[j] + SPREAD_DISTANCE);
        for k in 0..substeps as usize {
            let step = Substep {
                height: height / substeps,
                more: more / substeps,
                distance: s[j] + height * (k as f64 + 0.5) / substeps,
                dissipation: dissipation * rise * spread,
                volume_smoothing: settings.volume_smoothing,
            };
            step.advance(&mut front, scheme, &extra)?;
        }
        if front.iter().any(|r| !(r[0].is_finite() && r[1].is_finite())) {
            return None;
        }
        layers.push(front);
    }
    Some(layers)
}

/// The wall, and the layer r + h n beside it.
pub(crate) fn first_layers(outline: &Outline) -> [Vec<[f64; 2]>; 2] {
    let (base, wall) = (outline.first_cell(), outline.front());
    let of_wall = wall.iter().zip(outline.normals).zip(outline.extra_heights());
    let first = of_wall.map(|((r, n), extra)| along(*r, *n, base + extra)).collect();
    [wall, first]
}

struct Substep {
    height: f64,
    /// Added to the height for each unit of a point's extra first height.
    more: f64,
    /// Distance from the wall at mid-step.
    distance: f64,
    dissipation: f64,
    volume_smoothing: f64,
}

impl Substep {
    /// front ← front + Δr with
    ///
    /// \[I + (1 + θ) C ½(E − W) − 2e δ²\] Δr = B⁻¹ (0, V) + e δ² r,
    /// B = \[t_x t_y; −t_y t_x\], A = \[x_η y_η; y_η −x_η\], C = B⁻¹ A,
    /// V = h ã, (1 − δ κ δ) ã = a, κ = (c_v s/d)², (x_η, y_η) = (V/a²)(−t_y, t_x),
    /// e = ε (V/a²) α (1 + (ln(d_i/d_{i−1})/g)⁴). The ends of an open front move as Δx = 0, Δy = Δy of the
    /// neighbour: an open system is a cyclic one without coupling between its ends. `extra` is the excess of
    /// each point's first cell height over that of `layers`.
    fn advance(&self, front: &mut [[f64; 2]], scheme: Scheme, extra: &[f64]) -> Option<()> {
        let n = front.len();
        let closed = scheme.closed;
        let segments = Segments::new(front, closed);
        let d = &segments.length;
        let width: Vec<f64> = (0..n).map(|i| 0.5 * (d[i] + d[segments.before(i)])).collect();
        let mut smoothed = width.clone();
        if self.volume_smoothing > 0.0 {
            let mut kappa: Vec<f64> =
                d.iter().map(|d| (self.volume_smoothing * self.distance / d).powi(2)).collect();
            if !closed {
                kappa[n - 1] = 0.0;
            }
            smooth_implicit(&mut smoothed, &kappa);
        }

        let row = |i: usize| {
            if !closed && (i == 0 || i + 1 == n) {
                return Some(end_row(i == 0));
            }
            let height = self.height + self.more * extra[i];
            let (a, volume) = (width[i], height * smoothed[i]);
            let bisector = segments.bisector_normal(i);
            let [nx, ny] = scheme.normal(bisector, i < n / 2, front[i][0], self.distance);
            // The tangent t has length a; (−t_y, t_x)/a is the normal.
            let t = [a * ny, -a * nx];
            let inverse = Matrix2::new(t[0], t[1], -t[1], t[0]).try_inverse()?;
            let ratio = volume / (a * a);
            let eta = [ratio * -t[1], ratio * t[0]];
            let half_c =
                (0.5 * scheme.implicit) * inverse * Matrix2::new(eta[0], eta[1], eta[1], -eta[0]);
            // Around closed fronts it does not count.
            let growth = if scheme.inverse_growth > 0.0 {
                (d[i] / d[segments.before(i)]).ln() * scheme.inverse_growth
            } else {
                0.0
            };
            let e = self.dissipation * ratio * concavity(&segments, i) * (1.0 + growth.powi(4));
            let [before, after] = beside(i, n, closed);
            let [west, at, east] = [before, i, after].map(|i| Vector2::from(front[i]));
            let identity = Matrix2::identity();
            Some(BlockRow {
                lower: -half_c - identity * (2.0 * e),
                diagonal: identity * (1.0 + 4.0 * e),
                upper: half_c - identity * (2.0 * e),
                right: inverse * Vector2::new(0.0, volume) + (west - at * 2.0 + east) * e,
            })
        };
        let rows: Vec<BlockRow> = (0..n).map(row).collect::<Option<_>>()?;
        for (r, delta) in front.iter_mut().zip(solve_blocks(&rows)?) {
            r[0] += delta[0];
            r[1] += delta[1];
        }
        Some(())
    }
}

/// The row of the first or the last point of an open front: Δx = 0 and Δy = Δy of the neighbour.
fn end_row(first: bool) -> BlockRow {
    let (none, neighbour) = (Matrix2::zeros(), Matrix2::new(0.0, 0.0, 0.0, -1.0));
    let (lower, upper) = if first { (none, neighbour) } else { (neighbour, none) };
    BlockRow { lower, diagonal: Matrix2::identity(), upper, right: Vector2::zeros() }
}

/// α = 1/sin²(φ/2) if the front is concave with interior angle φ, otherwise 1.
fn concavity(segments: &Segments, i: usize) -> f64 {
    let (u, v) = segments.around(i);
    // The points run clockwise around the body, so the outside is on the left and a left turn is concave.
    if cross(u, v) <= 0.0 {
        return 1.0;
    }
    1.0 / (0.5 * (1.0 + dot(u, v))).max(CONCAVE_LIMIT)
}

/// One row of a block-tridiagonal system: L r_{i−1} + D r_i + U r_{i+1} = f.
#[derive(Debug, Clone, Copy)]
struct BlockRow {
    lower: Matrix2<f64>,
    diagonal: Matrix2<f64>,
    upper: Matrix2<f64>,
    right: Vector2<f64>,
}

/// Solves a cyclic block-tridiagonal system; row 0 and the last row are coupled. `None` if a
/// pivot is singular. Row 0 is condensed out: the other unknowns are r_i = g_i − H_i r_0.
fn solve_blocks(rows: &[BlockRow]) -> Option<Vec<Vector2<f64>>> {
    let n = rows.len();
    let last = n - 1;
    let mut eliminated = vec![EliminatedRow::default(); n];
    for i in 1..n {
        let row = &rows[i];
        // The first and the last of the remaining rows are coupled to r_0.
        let mut to_first = Matrix2::zeros();
        if i == 1 {
            to_first += row.lower;
        }
        if i == last {
            to_first += row.upper;
        }
        let (mut pivot, mut right) = (row.diagonal, row.right);
        if i > 1 {
            let before = &eliminated[i - 1];
            pivot -= row.lower * before.upper;
            right -= row.lower * before.right;
            to_first -= row.lower * before.to_first;
        }
        let inverse = pivot.try_inverse()?;
        let upper = if i == last { Matrix2::zeros() } else { inverse * row.upper };
        eliminated[i] =
            EliminatedRow { upper, right: inverse * right, to_first: inverse * to_first };
    }
    for i in (1..last).rev() {
        let (after, row) = (eliminated[i + 1], &mut eliminated[i]);
        row.right -= row.upper * after.right;
        row.to_first -= row.upper * after.to_first;
    }
    let (first, next, previous) = (&rows[0], eliminated[1], eliminated[last]);
    let pivot = first.diagonal - first.upper * next.to_first - first.lower * previous.to_first;
    let right = first.right - first.upper * next.right - first.lower * previous.right;
    let r0 = pivot.try_inverse()? * right;
    let others = eliminated[1..].iter().map(|row| row.right - row.to_first * r0);
    Some(std::iter::once(r0).chain(others).collect())
}

#[derive(Debug, Clone, Copy, Default)]
struct EliminatedRow {
    upper: Matrix2<f64>,
    right: Vector2<f64>,
    to_first: Matrix2<f64>,
}

/// Solves (1 − δ κ δ) b = a on a ring in place, κ_{i+½} = `kappa[i]` between i and i + 1: an
/// implicit, conservative smoothing. Sherman–Morrison turns the ring into two open systems.
fn smooth_implicit(a: &mut [f64], kappa: &[f64]) {
    let n = a.len();
    let west = |i: usize| kappa[if i == 0 { n - 1 } else { i - 1 }];
    let corner = kappa[n - 1];
    // The ring's corner entries −κ_{n−½} form a rank-one term u vᵀ with u = (γ, 0, …, −κ),
    // v = (1, 0, …, −κ/γ).
    let gamma = -(1.0 + west(0) + kappa[0]);
    let mut pivots = vec![0.0; n];
    let mut unit = vec![0.0; n];
    unit[0] = gamma;
    unit[n - 1] = -corner;
    for i in 0..n {
        let mut diagonal = 1.0 + west(i) + kappa[i];
        if i == 0 {
            diagonal -= gamma;
        }
        if i == n - 1 {
            diagonal -= corner * corner / gamma;
        }
        if i > 0 {
            let factor = -west(i) / pivots[i - 1];
            diagonal += factor * kappa[i - 1];
            a[i] -= factor * a[i - 1];
            unit[i] -= factor * unit[i - 1];
        }
        pivots[i] = diagonal;
    }
    for i in (0..n).rev() {
        if i + 1 < n {
            a[i] += kappa[i] * a[i + 1];
            unit[i] += kappa[i] * unit[i + 1];
        }
        a[i] /= pivots[i];
        unit[i] /= pivots[i];
    }
    let tie = -corner / gamma;
    let factor = (a[0] + tie * a[n - 1]) / (1.0 + unit[0] + tie * unit[n - 1]);
    for (a, unit) in a.iter_mut().zip(&unit) {
        *a -= factor * unit;
    }
}
