//! Residual and exact Jacobian of the grid equations at one point.

use crate::geometry::Scalar;
use crate::geometry::vector::dot;

/// A point or vector of the plane.
pub type Vec2<S = f64> = [S; 2];

/// The nine nodes around (i, j); Δxi = Δeta = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stencil<S = f64> {
    /// (i − 1, j − 1), (i, j − 1), (i + 1, j − 1).
    pub south: [Vec2<S>; 3],
    /// (i − 1, j), (i, j), (i + 1, j).
    pub middle: [Vec2<S>; 3],
    /// (i − 1, j + 1), (i, j + 1), (i + 1, j + 1).
    pub north: [Vec2<S>; 3],
}

/// Central differences and metric tensor at a point (theory eq. 2).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Metrics<S = f64> {
    /// r_xi.
    pub xi: Vec2<S>,
    /// r_eta.
    pub eta: Vec2<S>,
    /// r_xixi.
    pub xixi: Vec2<S>,
    /// r_etaeta.
    pub etaeta: Vec2<S>,
    /// r_xieta.
    pub xieta: Vec2<S>,
    /// g11 = |r_xi|².
    pub g11: S,
    /// g12 = r_xi · r_eta.
    pub g12: S,
    /// g22 = |r_eta|².
    pub g22: S,
}

impl<S: Scalar> Stencil<S> {
    /// Second-order central differences and the metric tensor.
    #[inline(always)]
    pub fn metrics(&self) -> Metrics<S> {
        let Self { south: [sw, s, se], middle: [w, c, e], north: [nw, n, ne] } = self;
        // The compiler does not vectorise a loop that calls through function pointers.
        let half = |k: usize, a: &[S; 2], b: &[S; 2]| S::from(0.5) * (a[k] - b[k]);
        let second = |k: usize, a: &[S; 2], b: &[S; 2]| a[k] - S::from(2.0) * c[k] + b[k];
        let cross = |k: usize| S::from(0.25) * (ne[k] - nw[k] - se[k] + sw[k]);
        let xi = [half(0, e, w), half(1, e, w)];
        let eta = [half(0, n, s), half(1, n, s)];
        Metrics {
            xi,
            eta,
            xixi: [second(0, e, w), second(1, e, w)],
            etaeta: [second(0, n, s), second(1, n, s)],
            xieta: [cross(0), cross(1)],
            g11: dot(xi, xi),
            g12: dot(xi, eta),
            g22: dot(eta, eta),
        }
    }
}

/// R = g22 (r_xixi + P r_xi) − 2 g12 r_xieta + g11 (r_etaeta + Q r_eta) (theory eq. 1).
#[inline(always)]
pub fn residual<S: Scalar>(m: &Metrics<S>, p: S, q: S) -> Vec2<S> {
    let at = |k: usize| {
        m.g22 * (m.xixi[k] + p * m.xi[k]) - S::from(2.0) * m.g12 * m.xieta[k]
            + m.g11 * (m.etaeta[k] + q * m.eta[k])
    };
    [at(0), at(1)]
}

/// Weight of a matrix row, w = 1/(2 (g11 + g22)): the diagonal becomes −1 (theory eq. 5).
#[inline(always)]
pub(crate) fn row_weight(m: &Metrics) -> f64 {
    0.5 / (m.g11 + m.g22)
}

/// Weight of the merit function, w/√min(g11, g22): a displacement in cell sizes (theory eq. 7).
#[inline(always)]
pub(crate) fn merit_weight(m: &Metrics) -> f64 {
    row_weight(m) / m.g11.min(m.g22).sqrt()
}

/// The 2×2 blocks ∂R/∂r of a point, by neighbour (theory eq. 3), as differences: E, W are g22 I ± X, N, S are
/// g11 I ± Y, the corners ± a multiple of the identity. `[row][column]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StencilBlocks {
    /// |r_xi|².
    pub g11: f64,
    /// |r_eta|².
    pub g22: f64,
    /// X, half the difference of the blocks of the neighbours (i + 1, j) and (i − 1, j).
    pub xi: [Vec2; 2],
    /// Y, half the difference of the blocks of the neighbours (i, j + 1) and (i, j − 1).
    pub eta: [Vec2; 2],
    /// Neighbours NE and SW, as a multiple of the identity; NW and SE have its negative.
    pub diagonal: f64,
}

impl StencilBlocks {
    /// The exact derivative of [`residual`]:
    ///
    /// E, W: g22 I ± ½ (g22 P I + Rb ⊗ r_eta + 2 Rc ⊗ r_xi),
    /// N, S: g11 I ± ½ (g11 Q I + 2 Ra ⊗ r_eta + Rb ⊗ r_xi),
    /// NE, SW: −½ g12 I, NW, SE: +½ g12 I, centre: −2 (g11 + g22) I,
    ///
    /// with Ra = r_xixi + P r_xi, Rb = −2 r_xieta, Rc = r_etaeta + Q r_eta.
    #[inline(always)]
    pub fn new(m: &Metrics, p: f64, q: f64) -> Self {
        let ra = [m.xixi[0] + p * m.xi[0], m.xixi[1] + p * m.xi[1]];
        let rb = [-2.0 * m.xieta[0], -2.0 * m.xieta[1]];
        let rc = [m.etaeta[0] + q * m.eta[0], m.etaeta[1] + q * m.eta[1]];
        let xi_slope = |a: usize, b: usize| 0.5 * (rb[a] * m.eta[b] + 2.0 * rc[a] * m.xi[b]);
        let eta_slope = |a: usize, b: usize| 0.5 * (2.0 * ra[a] * m.eta[b] + rb[a] * m.xi[b]);
        let (xi_shift, eta_shift) = (0.5 * m.g22 * p, 0.5 * m.g11 * q);
        Self {
            g11: m.g11,
            g22: m.g22,
            xi: shifted(xi_shift, xi_slope),
            eta: shifted(eta_shift, eta_slope),
            diagonal: -0.5 * m.g12,
        }
    }

    /// The blocks of the neighbours (i − 1, j) and (i + 1, j).
    #[inline(always)]
    pub fn west_and_east(&self) -> [[Vec2; 2]; 2] {
        [block(self.g22, -1.0, self.xi), block(self.g22, 1.0, self.xi)]
    }

    /// The blocks of the neighbours (i, j − 1) and (i, j + 1).
    #[inline(always)]
    pub fn south_and_north(&self) -> [[Vec2; 2]; 2] {
        [block(self.g11, -1.0, self.eta), block(self.g11, 1.0, self.eta)]
    }

    /// The block of the point itself, as a multiple of the identity.
    #[inline(always)]
    pub fn centre(&self) -> f64 {
        -2.0 * (self.g11 + self.g22)
    }

    /// The ten numbers of a point in the pairs of [`crate::sparse::EllPattern::TenNumbers`].
    #[inline(always)]
    pub fn ten_numbers(&self) -> [[f64; 2]; 5] {
        let Self { xi: [[xx, xy], [yx, yy]], .. } = *self;
        let [[eta_xx, eta_xy], [eta_yx, eta_yy]] = self.eta;
        [[self.g22, self.diagonal], [xx, yy], [xy, yx], [eta_xx, eta_yy], [eta_xy, eta_yx]]
    }

    /// The 13 entries of row `variable` (0: x, 1: y) in the order of `sparse`'s nine-point pattern: SW, S
    /// (own, other), SE, W (…), C, E (…), NW, N (…), NE. The entries of S, W, E and N are in the order own,
    /// other.
    #[inline(always)]
    pub fn row(&self, variable: usize) -> [f64; 13] {
        let (own, other) = (variable, 1 - variable);
        let ([west, east], [south, north]) = (self.west_and_east(), self.south_and_north());
        [
            self.diagonal,
            south[variable][own],
            south[variable][other],
            -self.diagonal,
            west[variable][own],
            west[variable][other],
            self.centre(),
            east[variable][own],
            east[variable][other],
            -self.diagonal,
            north[variable][own],
            north[variable][other],
            self.diagonal,
        ]
    }
}

/// shift I + slope.
#[inline(always)]
fn shifted(shift: f64, slope: impl Fn(usize, usize) -> f64) -> [Vec2; 2] {
    [[shift + slope(0, 0), slope(0, 1)], [slope(1, 0), shift + slope(1, 1)]]
}

/// own I + sign `of`.
#[inline(always)]
fn block(own: f64, sign: f64, of: [Vec2; 2]) -> [Vec2; 2] {
    [[own + sign * of[0][0], sign * of[0][1]], [sign * of[1][0], own + sign * of[1][1]]]
}
