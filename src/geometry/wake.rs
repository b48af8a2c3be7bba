//! The cut of a C-grid, from the trailing edge to the outflow.

use super::vector::{along, between, difference, distance, first_crossing, middle, unit};
use super::{
    BoundaryPoints, GeometryError, spacing_between, spacing_exponential, spacing_geometric,
    spacing_vinokur,
};

/// Distance over which the cut turns from the bisector of the edge to its direction, chords.
const TURN_DISTANCE: f64 = 0.3;
/// Corrections of the spacing at the end of the cut, each some ten times better than the one before.
const MOST_CORRECTIONS: usize = 40;
/// Largest slope of the cut at the trailing edge.
const STEEPEST: f64 = 1.5;
/// Distances behind a base between which the direction across the interfaces passes to that of the outflow, chords.
const UPRIGHT: [f64; 2] = [1.0, 5.0];
/// A short wake bounds these distances by shares of its length.
const UPRIGHT_SHARES: [f64; 2] = [0.2, 0.9];

/// The cut: the keys of the wake in section `[grid]` of a case.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Wake {
    /// Cells along the cut.
    #[serde(rename = "wake")]
    pub cells: usize,
    /// Distance in x from the trailing edge to the outflow, chords.
    #[serde(rename = "wake_length")]
    pub length: f64,
    /// Angle of the cut far from the edge against the x axis, degrees.
    #[serde(rename = "wake_direction")]
    pub direction: f64,
    /// Length of the last cell in x, chords; by default the cells grow by one ratio.
    #[serde(rename = "wake_spacing", default, skip_serializing_if = "Option::is_none")]
    pub end_spacing: Option<f64>,
}

/// Share of the distance to the nearest other boundary by which a cut rises at most where it turns.
const SHARE_OF_ROOM: f64 = 0.2;

/// Rise at the distance `s` behind an edge, for each unit of lost slope, of a line that turns over the distance `turn`.
pub fn turned(s: f64, turn: f64) -> f64 {
    -turn * (-s / turn).exp_m1()
}

/// The slope of this direction, and the distance over which a line loses it with `room` to other boundaries.
pub fn turning(direction: [f64; 2], room: f64) -> [f64; 2] {
    let slope = direction[1] / direction[0].max(f64::MIN_POSITIVE);
    let slope = slope.clamp(-STEEPEST, STEEPEST);
    [slope, TURN_DISTANCE.min(SHARE_OF_ROOM * room / slope.abs().max(f64::MIN_POSITIVE))]
}

/// Continues the wall of the section of this name, with a closed edge, along both sides of the cut.
///
/// With β the direction of the edge's bisector, γ the direction of the cut and x the distance behind the
/// edge, the cut is
///
/// ```text
/// y = y_edge + x tan γ + d (tan β − tan γ) (1 − e^(−x/d)),   d = 0.3
/// ```
///
/// with d less where the `room` to other boundaries, in chords, is small. Points are spaced in x by
/// [`spacing_exponential`], beginning with `spacing` at the edge, in chords, or by [`spacing_vinokur`] where the last
/// spacing is given. Both sides use one list of points.
///
/// # Errors
/// [`GeometryError::Spacing`] if the points cannot be spaced, [`GeometryError::CutCrosses`] if the cut
/// crosses the section.
pub fn with_wake(
    name: &str,
    wall: &BoundaryPoints,
    wake: &Wake,
    (spacing, room): (f64, f64),
) -> Result<BoundaryPoints, GeometryError> {
    let edge = wall.line[0];
    let aft = |k: usize| unit(difference(edge, wall.line[k]));
    let ([lx, ly], [ux, uy]) = (aft(1), aft(wall.line.len() - 2));
    let [at_edge, turn] = turning([lx + ux, ly + uy], room);
    let far = wake.direction.to_radians().tan();
    let s = match wake.end_spacing {
        None => spacing_exponential(wake.cells + 1, spacing, wake.length)?,
        Some(last) => spaced_to_end(wake.cells + 1, spacing, last, wake.length)?,
    };
    let point = |&s: &f64| [edge[0] + s, edge[1] + s * far + (at_edge - far) * turned(s, turn)];
    let mut cut: Vec<[f64; 2]> = s[1..].iter().map(point).collect();
    let once = uncrossed(name, [&wall.line[..], &cut].concat())?;
    cut.reverse();
    Ok(BoundaryPoints { line: [cut, once].concat(), base_cells: wall.base_cells })
}

/// The line, if it does not cross itself.
fn uncrossed(name: &str, line: Vec<[f64; 2]>) -> Result<Vec<[f64; 2]>, GeometryError> {
    match first_crossing(&line, false) {
        Some((k, _)) => Err(GeometryError::CutCrosses { airfoil: name.to_owned(), at: line[k] }),
        None => Ok(line),
    }
}

/// Continues an open wall, which ends at the corners of a base, along the two interfaces to the block behind that.
///
/// The interfaces are offset to both sides of a centre line by half the thickness of the base. With a the slope of the
/// base's normal, γ the direction of the wake and s the distance, that line has the slope
///
/// ```text
/// tan γ + (a − tan γ) (1 + s/d) e^(−s/d),   d = 0.3
/// ```
///
/// with d less where the `room` to other boundaries is small. Its curvature is 0 at the base: the block there is at right
/// angles to the base and to the interfaces. Points are spaced in s by [`spacing_geometric`] from the interval `first`,
/// chords. The direction across turns to that of the outflow plane between 1 and 5 chords behind the base.
///
/// # Errors
/// [`GeometryError::Spacing`] if the points cannot be spaced, [`GeometryError::BaseSlants`] where the base looks away from
/// the outflow, [`GeometryError::CutCrosses`] if an interface crosses the section or the other one.
pub fn with_interfaces(
    name: &str,
    wall: &BoundaryPoints,
    wake: &Wake,
    (first, room): (f64, f64),
) -> Result<BoundaryPoints, GeometryError> {
    let [lower, upper] = [0, wall.line.len() - 1].map(|i| wall.line[i]);
    let (base, half, up) =
        (middle(lower, upper), 0.5 * distance(lower, upper), difference(upper, lower));
    let (at_base, far) = (-up[0] / up[1], wake.direction.to_radians().tan());
    if up[1] <= 0.0 || at_base.abs() > STEEPEST {
        let slant = up[0].atan2(up[1]).abs().to_degrees();
        return Err(GeometryError::BaseSlants { slant, most: STEEPEST.atan().to_degrees() });
    }
    // Both terms of the slope rise by d.
    let (stretch, d) = (at_base.hypot(1.0), turning([1.0, 2.0 * at_base], room)[1]);
    let (points, length) = (wake.cells + 1, stretch * wake.length);
    let s = match wake.end_spacing {
        None => spacing_geometric(points, first, length)?,
        Some(last) => spacing_between(points, [first, stretch * last], length)?,
    };
    let upright = [0, 1].map(|end| UPRIGHT[end].min(UPRIGHT_SHARES[end] * length));
    let pair = |&s: &f64| {
        let decay = (-s / d).exp();
        let turned = -2.0 * d * (-s / d).exp_m1() - s * decay;
        let centre = [s, s * far + (at_base - far) * turned];
        let centre = [0, 1].map(|c| base[c] + centre[c] / stretch);
        let normal = unit([-far - (at_base - far) * (1.0 + s / d) * decay, 1.0]);
        let share = ((s - upright[0]) / (upright[1] - upright[0])).clamp(0.0, 1.0);
        let share = share * share * (3.0 - 2.0 * share);
        let across = unit(between(normal, [0.0, 1.0], share));
        [-half, half].map(|off| along(centre, across, off))
    };
    let pairs: Vec<[[f64; 2]; 2]> = s[1..].iter().map(pair).collect();
    let lower = pairs.iter().rev().map(|[lower, _]| lower);
    let line = lower.chain(&wall.line).chain(pairs.iter().map(|[_, upper]| upper));
    Ok(BoundaryPoints { line: uncrossed(name, line.copied().collect())?, base_cells: 0 })
}

/// [`spacing_vinokur`] with a last interval of this length.
fn spaced_to_end(n: usize, first: f64, last: f64, length: f64) -> Result<Vec<f64>, GeometryError> {
    let mut end = last;
    let mut s = spacing_vinokur(n, first, end, length)?;
    for _ in 0..MOST_CORRECTIONS {
        let found = s[n - 1] - s[n - 2];
        if (found / last - 1.0).abs() < 1e-12 {
            break;
        }
        end *= last / found;
        s = spacing_vinokur(n, first, end, length)?;
    }
    Ok(s)
}
