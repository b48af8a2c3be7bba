//! Finds the wall corner nearest to the worst cell of a rejected grid.

use crate::case::Problem;
use crate::geometry::corners;
use crate::grid::Grid;
use crate::grid::quality::worst_cells;
use crate::grid::vector::{angle, difference, distance};

/// Turn of the wall that counts as a corner where the case says of none, degrees.
const CORNER: f64 = 30.0;

/// Says where the worst cell of a grid in the frame of its problem is, and the corner of the wall nearest to it, its
/// edge left out. None where the wall has no corner.
pub(super) fn worst_corner(problem: &Problem, grid: &Grid) -> Option<String> {
    let (x, y) = (&problem.points.x, &problem.points.y);
    let base = problem.points.base_cells / 2;
    let wall = problem.topology.wall(x.len());
    let wall: Vec<[f64; 2]> =
        (wall.start() + base..=wall.end() - base).map(|i| [x[i], y[i]]).collect();
    let worst = (!grid.x.is_empty()).then(|| worst_cells(grid, 1).pop()).flatten()?;
    let away = |k: &usize| distance(wall[*k], worst.centre);
    let corner = corners(&wall, problem.case.geometry.corners.unwrap_or(CORNER))
        .into_iter()
        .min_by(|a, b| away(a).total_cmp(&away(b)))?;
    let step = |k: usize| difference(wall[k + 1], wall[k]);
    let turn = angle(step(corner - 1), step(corner)).abs();
    let placed = |at: [f64; 2]| {
        let [x, y] = [0, 1].map(|c| at[c] + problem.shift[c]);
        format!("({x:.4}, {y:.4})")
    };
    Some(format!(
        "the worst cell is at {}; the nearest corner of the wall, at {}, turns by {:.0} degrees",
        placed(worst.centre),
        placed(wall[corner]),
        turn.to_degrees()
    ))
}
