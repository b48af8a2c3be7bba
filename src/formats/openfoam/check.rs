//! The objections of OpenFOAM's `checkMesh` to a mesh.
//!
//! Measures and limits are taken from OpenFOAM 1912 (`primitiveMeshCheck.C`). All cells are prisms on
//! the cells of a plane, so that the measures of their faces follow from the edges of the plane, and
//! the faces that lie in it are neither skew nor off the lines between centres.

use std::fmt;

use rayon::prelude::*;

use crate::diagnostics::counted;
use crate::formats::data::{Span, layers};
use crate::formats::welded::{CellSide, Welded};
use crate::grid::Grid;
use crate::grid::quality::{
    Corners, centroid, face_skewness, middle, off_normal, prism_aspect_ratio,
};

/// A measure of `checkMesh`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Skewness of faces, `face_skewness`.
    Skewness,
    /// Aspect ratio of cells, `prism_aspect_ratio`.
    AspectRatio,
    /// Angle of faces against the line between the centres beside them, `off_normal`, in degrees.
    NonOrthogonality,
}

impl Measure {
    const ALL: [Self; 3] = [Self::Skewness, Self::AspectRatio, Self::NonOrthogonality];

    /// The largest value without an objection, what has such a measure, and a value above the limit in words. A mesh with a
    /// larger non-orthogonality still passes.
    fn facts(self) -> (f64, &'static str, &'static str) {
        match self {
            Self::Skewness => (4.0, "face", "a skewness above 4"),
            Self::AspectRatio => (1000.0, "cell", "an aspect ratio above 1000"),
            Self::NonOrthogonality => (70.0, "face", "a non-orthogonality above 70 degrees"),
        }
    }
}

/// Faces or cells above the limit of a measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objection {
    /// The measure.
    pub measure: Measure,
    /// Number of faces or cells above its limit.
    pub count: usize,
    /// The largest value.
    pub worst: f64,
    /// Centre of that face or cell in the plane.
    pub at: [f64; 2],
}

impl fmt::Display for Objection {
    /// The message of `checkMesh`, with the worst of them and its place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { measure, count, worst, at } = self;
        let (_, what, above) = measure.facts();
        let found = counted(*count as f64, what);
        let worst = rounded(*worst, *worst, 3);
        let [x, y] = at.map(|coordinate| rounded(coordinate, f64::hypot(at[0], at[1]), 6));
        write!(f, "OpenFOAM's checkMesh will find {found} with {above}, {worst} at ({x}, {y})")
    }
}

/// A number to this count of significant digits of one as large as `scale`.
fn rounded(value: f64, scale: f64, digits: u8) -> f64 {
    if value == 0.0 {
        return value;
    }
    let decimals = f64::from(digits) - 1.0 - scale.abs().log10().floor();
    // The power of a number above 1 is exact for longer.
    let unit = 10_f64.powf(decimals.abs());
    let nearest =
        if decimals < 0.0 { (value / unit).round() * unit } else { (value * unit).round() / unit };
    // Zero has no sign here.
    nearest + 0.0
}

/// The objections of `checkMesh` to the mesh of the blocks of a grid that has no folded cell.
#[must_use]
pub fn objections(grids: &[&Grid], span: Option<Span>) -> Vec<Objection> {
    let plane = Welded::of_order(grids, 1);
    let depth = span.map(|span| span.length / span.cells as f64);
    let inside = (0..plane.cells)
        .into_par_iter()
        .map(|cell| of_cell(&plane, cell, depth))
        .reduce(Tallies::none, Tallies::merged);
    // A value inside is preferred to an equal one on the rim.
    let found = inside.merged(of_rim(&plane)).0.into_iter().filter(|found| found.count > 0);
    found.map(|found| Objection { count: found.count * layers(span), ..found }).collect()
}

/// The objections by each measure in a layer of cells, perhaps none.
#[derive(Clone, Copy)]
struct Tallies([Objection; 3]);

impl Tallies {
    fn none() -> Self {
        Self(Measure::ALL.map(|measure| Objection { measure, count: 0, worst: 0.0, at: [0.0; 2] }))
    }

    fn see(&mut self, measure: Measure, value: f64, at: [f64; 2]) {
        let tally = &mut self.0[measure as usize];
        tally.count += usize::from(value > measure.facts().0);
        if value > tally.worst {
            (tally.worst, tally.at) = (value, at);
        }
    }

    /// The first of two places that are equally bad stays.
    fn merged(self, other: Self) -> Self {
        Self(std::array::from_fn(|k| {
            let (a, b) = (self.0[k], other.0[k]);
            Objection { count: a.count + b.count, ..if b.worst > a.worst { b } else { a } }
        }))
    }
}

fn corners(plane: &Welded<'_>, cell: usize) -> Corners {
    plane.corners(cell).map(|node| plane.point(node))
}

/// A cell, `depth` long over the span, and the faces to others that it owns.
fn of_cell(plane: &Welded<'_>, cell: usize, depth: Option<f64>) -> Tallies {
    let mut tallies = Tallies::none();
    let own = &corners(plane, cell);
    let centre = centroid(own);
    tallies.see(Measure::AspectRatio, prism_aspect_ratio(own, depth), centre);
    for (CellSide { side, .. }, across) in plane.shared(cell) {
        let edge = edge(own, side);
        let beyond = centroid(&corners(plane, across));
        let skewness = face_skewness(centre, Some(beyond), edge);
        tallies.see(Measure::Skewness, skewness, middle(edge[0], edge[1]));
        let angle = off_normal(centre, beyond, edge);
        tallies.see(Measure::NonOrthogonality, angle, middle(edge[0], edge[1]));
    }
    tallies
}

fn of_rim(plane: &Welded<'_>) -> Tallies {
    let mut tallies = Tallies::none();
    for CellSide { cell, side } in plane.rims().into_iter().flat_map(|(_, sides)| sides) {
        let corners = &corners(plane, cell);
        let edge = edge(corners, side);
        let skewness = face_skewness(centroid(corners), None, edge);
        tallies.see(Measure::Skewness, skewness, middle(edge[0], edge[1]));
    }
    tallies
}

/// Edge of a cell, from its corner `side` to the next.
fn edge(corners: &Corners, side: usize) -> [[f64; 2]; 2] {
    [corners[side], corners[(side + 1) % 4]]
}
