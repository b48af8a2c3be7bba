//! Initial grids: the first guess, and the source of the control functions P0, Q0. The march along smoothed
//! normals, slow and robust, is here.

#[doc(hidden)] // For tests and measurements of the march by itself.
pub mod hyperbolic;
mod inside;
mod lines;
mod outline;

pub use outline::{Enclosed, Outer, Outline, first_heights};
pub(crate) use outline::{heights_with_wake, ways};

use super::quality::{folds, folds_off_seam};
use super::{Grid, arc_length, beside};
use crate::geometry::vector::{along, difference, distance, left_normal, unit};
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
        _ => (march_along_normals(outline, &mut notes), InitialMethod::Normal),
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

/// Distances from the wall, in chords, over which the smoothing of positions sets in, one for each attempt.
const SMOOTHING_DISTANCES: [f64; 4] = [0.2, 0.1, 0.05, 0.025];

/// Marches layer by layer along bisector normals. The normals of each layer get min(600, 1 + 4 (h/a)² + 40
/// min(1, s/0.05)) smoothing passes with weights ¼ ½ ¼, its positions min(100, 1 + 2 h/a) passes of weight
/// min(½, ½ (s/ℓ)²), where a is the 10th percentile of the front's intervals. If a corner off the seam folds,
/// the march is repeated with a the shortest interval and a smaller ℓ.
fn march_along_normals(outline: &Outline, notes: &mut Vec<String>) -> Grid {
    let mut last = None;
    for (attempt, distance) in SMOOTHING_DISTANCES.into_iter().enumerate() {
        let grid = grid_of(attempt_march(outline, distance, attempt), outline);
        if folds_off_seam(&grid) == 0 {
            if attempt > 0 {
                notes.push(format!("the normal march was repeated with smoothing from {distance}"));
            }
            return grid;
        }
        last = Some(grid);
    }
    last.unwrap_or_else(|| outline::interpolate(outline))
}

fn attempt_march(outline: &Outline, distance: f64, attempt: usize) -> Layers {
    let s = outline.layers;
    let (columns, closed) = (outline.columns(), outline.topology.closed());
    let (extra, splay) = (outline.extra_heights(), outline.splay());
    let mut layers = vec![outline.front()];
    for j in 0..s.len() - 1 {
        let (front, height, reach) = (&layers[j], s[j + 1] - s[j], s[j + 1]);
        let segments = Segments::new(front, closed);
        let spacing = if attempt == 0 { tenth_percentile(&segments) } else { segments.shortest() };
        let normals = if j == 0 {
            outline.normals[..columns].to_vec()
        } else {
            let passes = 1.0 + 4.0 * (height / spacing).powi(2) + 40.0 * (reach / 0.05).min(1.0);
            smoothed_normals(&segments, passes.min(600.0) as usize)
        };
        let mut next: Vec<[f64; 2]> = front
            .iter()
            .zip(&normals)
            .zip(&extra)
            .map(|((r, n), extra)| along(*r, *n, height + (splay[j + 1] - splay[j]) * extra))
            .collect();
        let weight = (0.5 * (reach / distance).powi(2)).min(0.5);
        if weight > 1e-6 {
            let limit = 100.0 * (attempt + 1) as f64;
            for _ in 0..(1.0 + 2.0 * height / spacing).min(limit) as usize {
                next = average(&next, weight, closed);
            }
        }
        layers.push(next);
    }
    layers
}

fn smoothed_normals(segments: &Segments, passes: usize) -> Vec<[f64; 2]> {
    let mut normals: Vec<[f64; 2]> =
        (0..segments.unit.len()).map(|i| segments.bisector_normal(i)).collect();
    if !segments.closed {
        // The ends stay in the outflow plane.
        let last = normals.len() - 1;
        (normals[0], normals[last]) = ([0.0, -1.0], [0.0, 1.0]);
    }
    for _ in 0..passes {
        normals = average(&normals, 0.5, segments.closed);
        for normal in &mut normals {
            *normal = unit(*normal);
        }
    }
    normals
}

/// v ← v + w (½ v_{i−1} + ½ v_{i+1} − v), around a closed front or between the ends of an open one.
fn average(v: &[[f64; 2]], weight: f64, closed: bool) -> Vec<[f64; 2]> {
    let n = v.len();
    (0..n)
        .map(|i| {
            if !closed && (i == 0 || i + 1 == n) {
                return v[i];
            }
            let [w, e] = beside(i, n, closed).map(|i| v[i]);
            [0, 1].map(|k| v[i][k] + weight * (0.5 * (w[k] + e[k]) - v[i][k]))
        })
        .collect()
}

fn tenth_percentile(segments: &Segments) -> f64 {
    let mut lengths = segments.length.clone();
    let at = lengths.len() / 10;
    *lengths.select_nth_unstable_by(at, f64::total_cmp).1
}
