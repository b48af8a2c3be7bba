//! Control functions P0, Q0 of the grid equations, from the initial grid.

mod marched;
pub mod thomas_middlecoff;

use crate::grid::Grid;
pub use crate::grid::arc_length;
use crate::pde::{Metrics, Stencil};

/// Where the control functions P0, Q0 come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// P0 = Q0 = 0.
    Laplace,
    /// From the point spacing on the boundaries (Thomas and Middlecoff 1980,
    /// doi:10.2514/3.50801).
    ThomasMiddlecoff,
    /// Those that make the initial grid a discrete solution, clipped and smoothed.
    Marched,
}

/// Control of height and angle of the first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// P = P0, Q = Q0 throughout.
    Frozen,
    /// The amplitudes `p_i`, `q_i` of decaying wall terms are Newton unknowns.
    Coupled,
}

/// How P0 and Q0 are taken from the initial grid, and what is added to them at the wall: the section
/// `[control]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ControlSettings {
    /// Source of P0, Q0.
    pub base: Base,
    /// Control of the first cell.
    pub wall: Wall,
    /// Smoothing passes of the marched base.
    pub smoothing: usize,
    /// Distance from the wall, in chords, over which smoothing sets in.
    pub smoothing_distance: f64,
    /// Limit of |P0|, |Q0| of the marched base before smoothing.
    pub clip: f64,
    /// Decay length of the wall terms in wall spacings.
    pub decay: f64,
}

/// P0 and Q0 at every node of a grid but the repeated column of an O-grid, `[nj][ni − 1]` or
/// `[nj][ni]`, i fastest.
/// Values on the wall and on the outer line are not used by the equations.
#[derive(Debug, Clone, PartialEq)]
pub struct ControlFunctions {
    /// P0.
    pub p: Vec<f64>,
    /// Q0.
    pub q: Vec<f64>,
}

/// The control functions of `settings` for the initial grid (theory section 3).
#[must_use]
pub fn control_functions(grid: &Grid, settings: &ControlSettings) -> ControlFunctions {
    match settings.base {
        Base::Laplace => {
            let n = grid.topology.columns(grid.ni) * grid.nj;
            ControlFunctions { p: vec![0.0; n], q: vec![0.0; n] }
        }
        Base::ThomasMiddlecoff => thomas_middlecoff::control_functions(grid),
        Base::Marched => marched::control_functions(grid, settings),
    }
}

/// The nodes of a grid without the repeated column of an O-grid: neighbours in i wrap around there,
/// and the ends of a C-grid have none.
#[derive(Clone, Copy)]
struct Ring<'a> {
    grid: &'a Grid,
    /// Distinct columns.
    columns: usize,
}

impl<'a> Ring<'a> {
    fn new(grid: &'a Grid) -> Self {
        Self { grid, columns: grid.topology.columns(grid.ni) }
    }

    fn east(self, i: usize) -> usize {
        if i + 1 == self.columns { 0 } else { i + 1 }
    }

    fn west(self, i: usize) -> usize {
        if i == 0 { self.columns - 1 } else { i - 1 }
    }

    /// Columns on which the equations hold.
    fn solved(self) -> std::ops::Range<usize> {
        match (self.grid.topology.periodic(), self.grid.topology.closed()) {
            (true, _) => 0..self.columns,
            (false, true) => 1..self.columns,
            (false, false) => 1..self.columns - 1,
        }
    }

    /// Columns with a neighbour on either side.
    fn inner(self) -> std::ops::Range<usize> {
        if self.grid.topology.closed() { 0..self.columns } else { self.solved() }
    }

    /// Gives the columns that are not solved for what stands beside them: the mean of both
    /// neighbours of a held seam, the neighbour of an end.
    fn fill_held(self, row: &mut [f64]) {
        let n = self.columns;
        match (self.grid.topology.periodic(), self.grid.topology.closed()) {
            (true, _) => {}
            (false, true) => row[0] = 0.5 * (row[1] + row[n - 1]),
            (false, false) => (row[0], row[n - 1]) = (row[1], row[n - 2]),
        }
    }

    /// Metrics at a node off the boundaries.
    fn metrics(self, i: usize, j: usize) -> Metrics {
        let row = |j: usize| [self.west(i), i, self.east(i)].map(|i| self.grid.point(i, j));
        Stencil { south: row(j - 1), middle: row(j), north: row(j + 1) }.metrics()
    }

    /// One pass of ¼ ½ ¼ along a line of constant j, into `out`; ends stay.
    fn smooth_xi(self, line: &[f64], out: &mut [f64]) {
        let n = self.columns;
        (out[0], out[n - 1]) = (line[0], line[n - 1]);
        for i in self.inner() {
            out[i] = 0.5 * line[i] + 0.25 * (line[self.west(i)] + line[self.east(i)]);
        }
    }
}

/// −2 (d⁺ − d⁻)/(d⁺ + d⁻) of two consecutive intervals: the control that keeps their ratio in
/// one dimension, always between −2 and 2.
fn interval_control(before: f64, after: f64) -> f64 {
    -2.0 * (after - before) / (after + before)
}
