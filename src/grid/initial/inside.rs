//! Initial grids inside a polygon, such as a wind tunnel: lines from the wall to its sides, and layers along them.
//!
//! A march makes the lines and lands on the points of the outer line. Where one of its cells folds, the lines solve Winslow's
//! equations on few rows, and the points of the outer line slide between its corners to where lines meet it at right angles
//! (theory section 11), or stay where they are, whichever folds fewer cells.

use super::lines::{ROWS, layered, transfinite, winslow};
use super::{Enclosed, InitialMethod, InitialSettings, Outer, Outline, hyperbolic};
use crate::geometry::spacing_geometric;
use crate::geometry::vector::between;
use crate::grid::quality::{folds, measure};
use crate::grid::{Grid, arc_length, smooth};

const LENGTH_PASSES: usize = 20;
const MARCHED_ROWS: usize = 33;
/// Height of the first layer of a march that lands.
const MARCHED_FIRST: f64 = 2e-3;
/// A march is taken whose cells are no more skewed than this, or than those of the other lines.
const GOOD_SKEWNESS: f64 = 0.9;
const NO_MARCH: &str = "no hyperbolic march fits the box: the lines solve Winslow's equations";

/// The initial grid inside a polygon, and the way it was made.
pub(super) fn build(
    outline: &Outline,
    enclosed: &Enclosed,
    settings: &InitialSettings,
    notes: &mut Vec<String>,
) -> (Grid, InitialMethod) {
    let mut lines = transfinite(outline, enclosed);
    if settings.method == InitialMethod::Transfinite {
        return (layered(outline, enclosed, &lines), InitialMethod::Transfinite);
    }
    let mut held = lines.clone();
    let mut places = winslow(&mut lines, enclosed, true);
    let mut grid = layered(outline, enclosed, &lines);
    let folded = folds(&grid);
    if folded > 0 {
        let start = winslow(&mut held, enclosed, false);
        let other = layered(outline, enclosed, &held);
        if folds(&other) < folded {
            (lines, places, grid) = (held, start, other);
        }
    }
    if settings.method == InitialMethod::Hyperbolic {
        let landed = landed(outline, &enclosed.points(&places), &lines, settings);
        let landed = landed.map(|lines| layered(outline, enclosed, &lines));
        let most = measure(&grid).max_skewness.max(GOOD_SKEWNESS);
        match landed.filter(|landed| measure(landed).max_skewness <= most) {
            Some(landed) => return (landed, InitialMethod::Hyperbolic),
            None => notes.push(NO_MARCH.into()),
        }
    }
    (grid, InitialMethod::Winslow)
}

/// A march over the distance that each of the `lines` has, moved onto the points of the outer line; none where a cell folds
/// at every dissipation.
fn landed(
    outline: &Outline,
    outer: &[[f64; 2]],
    lines: &Grid,
    settings: &InitialSettings,
) -> Option<Grid> {
    let ni = lines.ni;
    let mut lengths = arc_length(lines).split_off((ROWS - 1) * ni);
    smooth(&mut lengths, false, LENGTH_PASSES);
    let longest = lengths.iter().copied().fold(0.0, f64::max);
    let first = MARCHED_FIRST.min(0.5 * longest / MARCHED_ROWS as f64);
    let layers = spacing_geometric(MARCHED_ROWS, first, longest).ok()?;
    let heights: Vec<f64> = lengths.iter().map(|length| first * length / longest).collect();
    let outline = Outline {
        layers: &layers,
        outer: Outer::Points(outer),
        heights: Some(&heights),
        ..*outline
    };
    let ends = if outline.topology.closed() { vec![] } else { vec![0, ni - 1] };
    [1.0, 2.0, 4.0].into_iter().find_map(|factor| {
        let (mut grid, _) = hyperbolic::march(&outline, settings, factor * settings.dissipation)?;
        // The ends of an open front are straight.
        for &i in &ends {
            for (j, s) in layers.iter().enumerate() {
                grid.set([i, j], between(grid.point(i, 0), outer[i], s / longest));
            }
        }
        // Without the round-off of the way there.
        for (i, point) in outer.iter().enumerate() {
            grid.set([i, MARCHED_ROWS - 1], *point);
        }
        (folds(&grid) == 0).then_some(grid)
    })
}
