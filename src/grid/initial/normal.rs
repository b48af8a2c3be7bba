//! Marching along smoothed normals: slow and robust.

use super::{Layers, Outline, Segments, grid_of};
use crate::geometry::vector::{along, unit};
use crate::grid::quality::folds_off_seam;
use crate::grid::{Grid, beside};

/// Distances from the wall, in chords, over which the smoothing of positions sets in, one for each attempt.
const SMOOTHING_DISTANCES: [f64; 4] = [0.2, 0.1, 0.05, 0.025];

/// Marches layer by layer along bisector normals. The normals of each layer get min(600, 1 + 4 (h/a)² + 40
/// min(1, s/0.05)) smoothing passes with weights ¼ ½ ¼, its positions min(100, 1 + 2 h/a) passes of weight
/// min(½, ½ (s/ℓ)²), where a is the 10th percentile of the front's intervals. If a corner off the seam folds,
/// the march is repeated with a the shortest interval and a smaller ℓ.
pub(super) fn march(outline: &Outline, notes: &mut Vec<String>) -> Grid {
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
    last.unwrap_or_else(|| super::outline::interpolate(outline))
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
            smoothed_normals(&segments, closed, passes.min(600.0) as usize)
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

fn smoothed_normals(segments: &Segments, closed: bool, passes: usize) -> Vec<[f64; 2]> {
    let mut normals: Vec<[f64; 2]> =
        (0..segments.unit.len()).map(|i| segments.bisector_normal(i)).collect();
    if !closed {
        // The ends stay in the outflow plane.
        let last = normals.len() - 1;
        (normals[0], normals[last]) = ([0.0, -1.0], [0.0, 1.0]);
    }
    for _ in 0..passes {
        normals = average(&normals, 0.5, closed);
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
