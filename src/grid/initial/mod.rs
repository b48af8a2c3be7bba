//! Initial grids: the first guess, and the source of the control functions P0, Q0.

mod enclosed;
#[doc(hidden)] // For tests and measurements of the march by itself.
pub mod hyperbolic;
mod inside;
mod layered;
mod normal;
mod outline;
mod winslow;

pub use enclosed::Enclosed;
pub use outline::first_heights;
pub use outline::{Outer, Outline};
pub(crate) use outline::{heights_with_wake, ways};

use super::quality::folds;
use super::{Grid, arc_length, beside};
use crate::geometry::vector::{difference, distance, left_normal};
use rayon::prelude::*;

/// Construction of the initial grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InitialMethod {
    /// Hyperbolic march, implicit in i.
    Hyperbolic,
    /// Normal march with smoothing, the robust fall-back.
    Normal,
    /// Transfinite interpolation between wall and far field.
    Transfinite,
    /// Winslow's equations on few rows, inside a box.
    Winslow,
}

/// Settings of the initial grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InitialSettings {
    /// Construction.
    pub method: InitialMethod,
    /// Dissipation ε of the hyperbolic march.
    pub dissipation: f64,
    /// Smoothing length c_v of the cell volumes over the distance from the wall.
    pub volume_smoothing: f64,
    /// Growth m of the dissipation away from the wall, which spreads the lines.
    pub spread: f64,
    /// Ghost columns that each of several ranks computes beside its own.
    pub margin: usize,
}

/// An initial grid and the way it was made.
#[derive(Debug, Clone)]
pub struct InitialGrid<G = Grid> {
    /// The grid; its last points lie on the outer line.
    pub grid: G,
    /// Construction that made it, after any fall-backs.
    pub method: InitialMethod,
    /// Retries and fall-backs, one sentence each.
    pub notes: Vec<String>,
    /// Cells with a corner determinant that is not positive.
    pub folded: usize,
}

/// Builds the initial grid where `march`, the hyperbolic march with a given dissipation, keeps it and counts folded cells;
/// `take` brings a grid of the host there. A march that folds is repeated with more dissipation; after that the normal
/// march is used. If all attempts fold, the last grid is returned with the number of its folded cells.
pub(crate) fn build<G, E>(
    outline: &Outline,
    settings: &InitialSettings,
    march: impl Fn(f64) -> Result<Option<(G, usize)>, E>,
    take: impl FnOnce(Grid) -> Result<G, E>,
) -> Result<InitialGrid<G>, E> {
    let mut notes = Vec::new();
    let is_enclosed = matches!(outline.outer, Outer::Enclosed(_));
    if settings.method == InitialMethod::Hyperbolic && !is_enclosed {
        for factor in [1.0, 2.0, 4.0] {
            let dissipation = factor * settings.dissipation;
            let Some((grid, 0)) = march(dissipation)? else { continue };
            if factor > 1.0 {
                notes.push(format!(
                    "the hyperbolic march folded and was repeated with dissipation {dissipation}"
                ));
            }
            return Ok(InitialGrid { grid, method: InitialMethod::Hyperbolic, notes, folded: 0 });
        }
        notes
            .push("the hyperbolic march folded at every dissipation; marched along normals".into());
    }
    let (grid, method) = match (outline.outer, settings.method) {
        (Outer::Enclosed(enclosed), _) => inside::build(outline, enclosed, settings, &mut notes),
        (_, method @ InitialMethod::Transfinite) => (outline::interpolate(outline), method),
        _ => (normal::march(outline, &mut notes), InitialMethod::Normal),
    };
    let folded = folds(&grid);
    if folded > 0 {
        notes.push(format!("{folded} cells of the initial grid are folded"));
    }
    Ok(InitialGrid { grid: take(grid)?, method, notes, folded })
}

/// Layers of marched points, the wall first; each has the distinct points of its line.
pub(crate) type Layers = Vec<Vec<[f64; 2]>>;

/// The marched layers as a grid whose last points lie exactly on the outer line. Every line is shifted by
/// (s/s_end)² times the vector from its last point to that line.
pub(crate) fn grid_of(layers: Layers, outline: &Outline) -> Grid {
    let ni = outline.points.len();
    let mut grid = Grid::new(outline.topology, ni, layers.len());
    let rows = grid.x.par_chunks_mut(ni).zip(grid.y.par_chunks_mut(ni));
    rows.zip(layers).for_each(|((x, y), layer)| {
        // The first point is repeated in the last column of a closed front.
        let points = layer.iter().chain(layer.first());
        for ((x, y), point) in x.iter_mut().zip(y).zip(points) {
            [*x, *y] = *point;
        }
    });
    let arc = arc_length(&grid);
    let end = grid.x.len() - ni;
    let lengths = &arc[end..];
    let moves = outline::ways(outline, &grid.row(grid.nj - 1));
    let rows = grid.x.par_chunks_mut(ni).zip(grid.y.par_chunks_mut(ni));
    rows.zip(arc.par_chunks(ni)).for_each(|((x, y), arc)| {
        for i in 0..ni {
            let weight = (arc[i] / lengths[i]).powi(2);
            x[i] += weight * moves[i][0];
            y[i] += weight * moves[i][1];
        }
    });
    grid
}

/// The segments of a front: `unit[i]` and `length[i]` from point i to point i + 1. On a closed front the
/// segment of the last point leads to the first one; on an open front it repeats the previous one.
struct Segments {
    unit: Vec<[f64; 2]>,
    length: Vec<f64>,
    closed: bool,
}

impl Segments {
    fn new(front: &[[f64; 2]], closed: bool) -> Self {
        let n = front.len();
        let (mut unit, mut length) = (Vec::with_capacity(n), Vec::with_capacity(n));
        for i in 0..n {
            let (a, b) = match i + 1 {
                next if next < n => (front[i], front[next]),
                _ if closed => (front[i], front[0]),
                _ => (front[i - 1], front[i]),
            };
            length.push(distance(a, b));
            unit.push(difference(b, a).map(|c| c / length[i]));
        }
        Self { unit, length, closed }
    }

    fn shortest(&self) -> f64 {
        self.length.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Number of the segment that ends at point i; for the first point of an open front, the one that begins
    /// there.
    fn before(&self, i: usize) -> usize {
        beside(i, self.unit.len(), self.closed)[0]
    }

    /// Unit vectors of the segments before and after point i.
    fn around(&self, i: usize) -> ([f64; 2], [f64; 2]) {
        (self.unit[self.before(i)], self.unit[i])
    }

    /// Outward unit bisector at point i.
    fn bisector_normal(&self, i: usize) -> [f64; 2] {
        let (u, v) = self.around(i);
        left_normal(u, v, [1.0; 2])
    }
}
