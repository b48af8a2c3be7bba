//! The points of the wall: their positions along the contour, and the closing of the trailing edge.

use super::curve::{Bezier, EdgeEnd, wedge_tip};
use super::error::{LEAST_BASE_CELLS, LEAST_NI, MOST_NI};
use super::heights::{AlongWall, Cluster, SurfaceSide};
use super::section::{edge_gap, foremost};
use super::turning::{LEAST_CELLS, Limits, Piece, Turning, between_corners, refined};
use super::vector::{angle, bisect, difference, distance, dot, first_crossing, middle, unit};
use super::{Airfoil, BoundaryPoints, CubicSpline, GeometryError, TrailingEdge, spacing_vinokur};

/// The largest gap that [`TrailingEdge::AsGiven`] closes, chords.
pub(super) const CLOSED_GAP: f64 = 1e-3;
/// A gap below this, in chords, is too small for a base.
pub(crate) const LEAST_GAP: f64 = 1e-5;
/// Least spacing of the surfaces, chords, that is used to match the small cells of a thin base.
const BASE_SPACING_FLOOR: f64 = 3e-4;
/// Least cells on a base, where with fewer the lines that leave it spread farther, and on a cap, which turns by 15° in each.
const LEAST_CELLS_OF_EDGE: [usize; 2] = [8, 12];
/// Powers of x by which the surfaces are sheared to close the edge, tried one after the other.
const SHEAR_EXPONENTS: [i32; 6] = [1, 4, 16, 64, 256, 1024];
/// Samples of the direction in each cell, to find its turn.
const TURN_SAMPLES: usize = 16;
/// Intervals in which the nose is searched for.
const NOSE_SAMPLES: usize = 4000;
/// A corner turns by at least this many times the turn at the points beside it.
const CORNER_RATIO: f64 = 3.0;
/// The direction at a corner is taken this far beside it, as a fraction of the distance to the next one.
const OFF_CORNERS: f64 = 1e-6;
/// Largest ratio of the two cells at the nose that is left as it is.
const NOSES_AGREE: f64 = 1.02;
/// Samples between two corners for each cell of the surface.
const SAMPLES_A_CELL: usize = 4;

/// The spacing of the points along the wall.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceSettings {
    /// Points of the wall, the repeated point counted.
    pub ni: usize,
    /// Spacing at the leading edge, chords.
    pub leading_edge_spacing: f64,
    /// Spacing of the surfaces at the trailing edge, chords; smaller beside smaller cells of a base or cap.
    pub trailing_edge_spacing: f64,
    /// The closing of the trailing edge.
    pub trailing_edge: TrailingEdge,
    /// Cells on the base or cap; used only where there is one.
    pub base_cells: BaseCells,
    /// Largest turn of a surface from one cell to the next, degrees.
    pub max_turn_deg: f64,
    /// Turn of the contour at a point, degrees, from which that is a corner of the wall; `None` for a smooth contour.
    pub corners_deg: Option<f64>,
    /// Numbers of points and limits on their spacing between the edges.
    pub along: AlongWall,
}

/// Cells on a base or cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BaseCells {
    /// This number, which must be even.
    Exactly(usize),
    /// None: the wall runs from corner to corner, and a block behind it has the base.
    Behind,
    /// The multiple of this even number that follows from the trailing-edge spacing: at least 8 on a base and 12 on a
    /// cap, at most a quarter of the wall.
    MultipleOf(usize),
}

impl BaseCells {
    /// The least number on a base or on a cap.
    pub(crate) fn least(self, on_cap: bool) -> usize {
        match self {
            Self::Exactly(cells) => cells,
            Self::Behind => 0,
            Self::MultipleOf(even) => {
                LEAST_CELLS_OF_EDGE[usize::from(on_cap)].next_multiple_of(even)
            }
        }
    }
}

/// Distributes points over the wall of a section.
///
/// A cubic spline is made through the contour. The leading edge is its point farthest from the middle of the
/// trailing edge. Each surface is spaced by [`spacing_vinokur`] between the two spacings, and both have the
/// same number of cells (the upper one has one more if the total is odd) unless one is given. Where a cell would turn
/// by more than the limit, points are moved together. A corner of a surface gets a point, with the spacing of the
/// trailing edge on both sides. With a corner, a cluster or another limit of [`AlongWall`] the spacing grows from the
/// edges, corners and clusters by a constant ratio to one value elsewhere.
///
/// - A closed edge (sharp, or as given with a gap of at most 1e-3): both surfaces are sheared linearly in x, so that
///   they end at the middle of the trailing edge; it is the first point of the wall. Where this makes them cross
///   (the section is no thicker a little ahead of the edge), the shear grows with x⁴ instead, then with x¹⁶, up to
///   x¹⁰²⁴.
/// - A wedge, four gaps long, extends both surfaces tangentially until they meet; its tip is the first point of the
///   wall.
/// - A base is a straight line of equal cells between the two corners; the wall starts in its middle. With
///   [`BaseCells::Behind`] it is no part of the wall, which starts at the lower corner and ends at the upper one.
/// - A rounded edge adds a smooth cap behind the section, about half the gap long. Its cells are equal, and they also
///   set the spacing of the surfaces at the trailing edge; the wall starts in the middle of the cap.
///
/// # Errors
/// [`GeometryError::WallPoints`], [`GeometryError::Spacing`] and [`GeometryError::BaseCells`] for
/// settings out of range, [`GeometryError::NoBase`] where the settings require a base or a cap at a closed
/// edge, [`GeometryError::Contour`] for a contour without a spline, [`GeometryError::WallCrosses`] if the wall
/// crosses itself, [`GeometryError::TooFewForSpacing`] where the limits of [`AlongWall`] need more points.
pub fn distribute(
    airfoil: &Airfoil,
    settings: &SurfaceSettings,
) -> Result<BoundaryPoints, GeometryError> {
    check(settings)?;
    let points = &airfoil.points;
    if points.is_empty() {
        return Err(GeometryError::Contour { reason: "it has no points" });
    }
    let gap = edge_gap(points);
    let closed = edge_closes(airfoil, settings.trailing_edge);
    let (wall, base_cells) = if settings.trailing_edge == TrailingEdge::Wedge && gap >= LEAST_GAP {
        (closed_wall(&Section::with_wedge(points, settings)?)?, 0)
    } else if closed {
        (sharp_wall(points, settings)?, 0)
    } else if gap < LEAST_GAP {
        return Err(GeometryError::NoBase { airfoil: airfoil.name.clone(), gap });
    } else {
        base_wall(&Section::new(points, settings)?)?
    };
    boundary(&airfoil.name, wall, base_cells)
}

/// The wall of a section as boundary points. A wall that crosses itself is refused.
pub(super) fn boundary(
    name: &str,
    line: Vec<[f64; 2]>,
    base_cells: usize,
) -> Result<BoundaryPoints, GeometryError> {
    if let Some((k, _)) = first_crossing(&line, false) {
        return Err(GeometryError::WallCrosses { airfoil: name.to_owned(), at: line[k] });
    }
    Ok(BoundaryPoints { line, base_cells })
}

/// True if the trailing edge becomes one point, without base or cap.
pub fn edge_closes(airfoil: &Airfoil, trailing_edge: TrailingEdge) -> bool {
    match trailing_edge {
        TrailingEdge::Sharp | TrailingEdge::Wedge | TrailingEdge::Extended => true,
        TrailingEdge::AsGiven => edge_gap(&airfoil.points) <= CLOSED_GAP,
        TrailingEdge::Blunt | TrailingEdge::Rounded => false,
    }
}

/// Refuses too few or too many points of a wall.
pub(super) fn check_points(ni: usize) -> Result<(), GeometryError> {
    let fits = (LEAST_NI..=MOST_NI).contains(&ni);
    if fits { Ok(()) } else { Err(GeometryError::WallPoints { ni }) }
}

/// Refuses a limit on the turn for which no number of points is enough.
pub(super) fn check_turn(value: f64) -> Result<(), GeometryError> {
    let (name, expected) = ("max_turn_deg", "an angle between 1e-3 and 180 degrees");
    let fits = (1e-3..=180.0).contains(&value);
    if fits { Ok(()) } else { Err(GeometryError::Spacing { name, value, expected }) }
}

/// Refuses settings out of range.
fn check(settings: &SurfaceSettings) -> Result<(), GeometryError> {
    check_points(settings.ni)?;
    check_turn(settings.max_turn_deg)?;
    for (name, value) in [
        ("leading_edge_spacing", settings.leading_edge_spacing),
        ("trailing_edge_spacing", settings.trailing_edge_spacing),
    ] {
        if !(1e-9..=0.2).contains(&value) {
            let expected = "a length between 1e-9 and 0.2 chord";
            return Err(GeometryError::Spacing { name, value, expected });
        }
    }
    Ok(())
}

/// Shears each surface by xᵖ times the distance of its end from the middle of the gap, with p the `exponent`.
fn sheared(points: &[[f64; 2]], exponent: i32) -> Vec<[f64; 2]> {
    let n = points.len();
    let (first, last) = (points[0], points[n - 1]);
    let (edge, nose) = (middle(first, last), foremost(points));
    let shear = |(k, p): (usize, &[f64; 2])| {
        let end = if k <= nose { first } else { last };
        let weight = p[0].clamp(0.0, 1.0).powi(exponent);
        [0, 1].map(|c| p[c] + (edge[c] - end[c]) * weight)
    };
    let mut sheared: Vec<[f64; 2]> = points.iter().enumerate().map(shear).collect();
    sheared[0] = edge;
    sheared[n - 1] = edge;
    sheared
}

/// The contour as a curve, with its leading edge.
struct Section<'a> {
    settings: &'a SurfaceSettings,
    curve: CubicSpline,
    /// Parameters of the corners.
    corners: Vec<f64>,
    /// Parameter of the leading edge.
    nose: f64,
    /// Sides of a wedge behind the section, upper and lower, from the ends to the tip.
    wedge: Option<[Bezier; 2]>,
}

impl<'a> Section<'a> {
    fn new(points: &[[f64; 2]], settings: &'a SurfaceSettings) -> Result<Self, GeometryError> {
        let corners = settings.corners_deg.map_or_else(Vec::new, |turn| corners(points, turn));
        let curve = CubicSpline::through_corners(points, &corners)?;
        let corners = corners.into_iter().map(|point| curve.knots[point]).collect();
        let nose = nose(&curve);
        Ok(Self { settings, curve, corners, nose, wedge: None })
    }

    fn with_wedge(
        points: &[[f64; 2]],
        settings: &'a SurfaceSettings,
    ) -> Result<Self, GeometryError> {
        let section = Self::new(points, settings)?;
        let ends = section.ends();
        let tip = wedge_tip(ends);
        Ok(Self { wedge: Some(ends.map(|end| Bezier::wedge(end, tip))), ..section })
    }

    /// Both surfaces in `cells` cells with the spacing `edge` at the trailing edge: the lower one from there to the nose,
    /// then the upper one back. The upper one has one cell more if the number is odd.
    fn surfaces(&self, cells: usize, edge: f64) -> Result<Vec<[f64; 2]>, GeometryError> {
        let SurfaceSettings { along, leading_edge_spacing: nose, .. } = self.settings;
        let upper = along.upper_cells.unwrap_or(cells - cells / 2);
        let counts = [upper, cells.saturating_sub(upper)];
        let mut upper = self.surface(0, counts[0], edge, *nose)?;
        let mut points = self.surface(1, counts[1], edge, *nose)?;
        if !along.clusters.is_empty() || along.max_spacing.or(along.growth).is_some() {
            // The limit on the turn may lower the spacing at the nose on one side only.
            let last = |side: &[[f64; 2]]| {
                distance(side[side.len() - 1], side[side.len().saturating_sub(2)])
            };
            let [above, below] = [last(&upper), last(&points)];
            if above > NOSES_AGREE * below {
                upper = self.surface(0, counts[0], edge, below)?;
            } else if below > NOSES_AGREE * above {
                points = self.surface(1, counts[1], edge, above)?;
            }
        }
        points.extend(upper.into_iter().rev().skip(1));
        Ok(points)
    }

    /// The upper (`side` = 0) or the lower surface (1) from the trailing edge to the nose, including the side
    /// of the wedge, under the limit on the turn. A wedge continues the direction of the surface, so its turn
    /// is not counted.
    fn surface(
        &self,
        side: usize,
        cells: usize,
        edge: f64,
        nose: f64,
    ) -> Result<Vec<[f64; 2]>, GeometryError> {
        let end = self.curve.length();
        let wedge = self.wedge.as_ref().map(|wedge| &wedge[side]);
        let behind = wedge.map_or(0.0, Bezier::length);
        // The parameter of the contour at a distance from its end.
        let parameter = |s: f64| if side == 0 { s } else { end - s };
        let length = parameter(self.nose) + behind;
        let direction = |s: f64| self.curve.derivative(parameter((s - behind).max(0.0)));
        let places = self.corners.iter().map(|&corner| parameter(corner) + behind);
        let mut corners: Vec<f64> = places.filter(|s| (edge..length - nose).contains(s)).collect();
        corners.sort_by(f64::total_cmp);
        let limits = self.limits(side, behind, length);
        let max_turn = self.settings.max_turn_deg.to_radians();
        let few = cells < LEAST_CELLS * (corners.len() + 1);
        let s = if few || (corners.is_empty() && limits.is_empty()) {
            let s = spacing_vinokur(cells + 1, edge, nose, length)?;
            let samples = refined(&s, TURN_SAMPLES);
            Turning::along(samples, direction).limited(s, max_turn)
        } else {
            let marks: Vec<f64> =
                std::iter::once(0.0).chain(corners).chain(std::iter::once(length)).collect();
            let last = marks.len() - 2;
            let piece = |k: usize| {
                let (from, to) = (marks[k], marks[k + 1]);
                let ends = [edge, if k == last { nose } else { edge }];
                let fine = ends.map(|end| end / SAMPLES_A_CELL as f64);
                let places =
                    spacing_vinokur(SAMPLES_A_CELL * cells + 1, fine[0], fine[1], to - from)?;
                let mut places: Vec<f64> = places.into_iter().map(|s| from + s).collect();
                places[SAMPLES_A_CELL * cells] = to;
                let places = limits.sampled(places);
                // At a corner the direction of one of the adjacent pieces is used.
                let off = OFF_CORNERS * (to - from);
                let inside = |s: f64| direction(s.clamp(from + off, to - off));
                Ok(Piece { turning: Turning::along(places, inside), ends })
            };
            let pieces = (0..=last).map(piece).collect::<Result<Vec<_>, GeometryError>>()?;
            between_corners(&pieces, cells, max_turn, &limits).map_err(|least| {
                let surface = if side == 0 { "upper" } else { "lower" };
                GeometryError::TooFewForSpacing {
                    surface,
                    points: cells + 1,
                    least: least.saturating_add(1),
                }
            })?
        };
        let point = |s: f64| match wedge {
            Some(wedge) if s < behind => wedge.at(behind - s),
            _ => self.curve.point(parameter(s - behind)),
        };
        Ok(s.into_iter().map(point).collect())
    }

    /// The limits on the spacing of a surface that is `length` long and begins `behind` the trailing edge.
    fn limits(&self, side: usize, behind: f64, length: f64) -> Limits<'_> {
        let end = self.curve.length();
        let x = |s: f64| self.curve.point(if side == 0 { s - behind } else { end - s + behind })[0];
        let sample = |k: usize| behind + (length - behind) * (k as f64 / NOSE_SAMPLES as f64);
        let place = |at: f64| {
            let offs = (0..=NOSE_SAMPLES).map(|k| (k, (x(sample(k)) - at).abs()));
            let near = offs.min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |near| near.0);
            let (low, high) =
                (sample(near.saturating_sub(1)), sample((near + 1).min(NOSE_SAMPLES)));
            // x falls from the trailing edge to the nose.
            let [low, high] = bisect(low, high, |s| x(s) > at);
            0.5 * (low + high)
        };
        let here = [SurfaceSide::Upper, SurfaceSide::Lower][side];
        let own = |cluster: &&Cluster| cluster.surface.is_none_or(|side| side == here);
        let along = &self.settings.along;
        let own = along.clusters.iter().filter(own);
        let clusters = own.map(|cluster| [place(cluster.x), cluster.spacing]).collect();
        Limits { clusters, along }
    }

    /// The two ends with their tangents, upper then lower.
    fn ends(&self) -> [EdgeEnd; 2] {
        [(0.0, -1.0), (self.curve.length(), 1.0)].map(|(s, sign)| {
            let aft = unit(self.curve.derivative(s).map(|d| sign * d));
            EdgeEnd { at: self.curve.point(s), aft }
        })
    }
}

/// The points of a contour, without its ends, at which it turns by at least `turn_deg`: single points, or two
/// together (the ends of a narrow base), that turn by three times as much as the points beside them. Three or
/// more such points in a row are a bend with few points.
pub fn corners(points: &[[f64; 2]], turn_deg: f64) -> Vec<usize> {
    let step = |k: usize| difference(points[k + 1], points[k]);
    let last = points.len().saturating_sub(1);
    let turn = |k: usize| {
        if (1..last).contains(&k) { angle(step(k - 1), step(k)).abs() } else { 0.0 }
    };
    let least = turn_deg.to_radians();
    let sharp: Vec<usize> = (1..last).filter(|&k| turn(k) >= least).collect();
    let groups = sharp.chunk_by(|a, b| a + 1 == *b).filter(|group| {
        let beside = turn(group[0] - 1).max(turn(group[group.len() - 1] + 1));
        group.len() < 3 && group.iter().all(|&k| turn(k) >= CORNER_RATIO * beside)
    });
    groups.flatten().copied().collect()
}

/// Parameter of the point farthest from the middle e of the two ends: the root of (r − e) · r′ at the best sample.
fn nose(curve: &CubicSpline) -> f64 {
    let edge = middle(curve.point(0.0), curve.point(curve.length()));
    let sample = |k: usize| curve.length() * (k as f64 / NOSE_SAMPLES as f64);
    let reaches = curve.points((1..NOSE_SAMPLES).map(sample)).map(|point| distance(edge, point));
    let best = (1..).zip(reaches).max_by(|a, b| a.1.total_cmp(&b.1));
    let best = best.map_or(NOSE_SAMPLES / 2, |best| best.0);
    let receding = |s: f64| dot(difference(curve.point(s), edge), curve.derivative(s)) > 0.0;
    let [low, high] = bisect(sample(best - 1), sample(best + 1), receding);
    0.5 * (low + high)
}

/// The wall of a section with a sharp edge, closed by the mildest shear whose surfaces do not cross, or by the last.
fn sharp_wall(
    points: &[[f64; 2]],
    settings: &SurfaceSettings,
) -> Result<Vec<[f64; 2]>, GeometryError> {
    let mut wall = Vec::new();
    for exponent in SHEAR_EXPONENTS {
        wall = closed_wall(&Section::new(&sheared(points, exponent), settings)?)?;
        if first_crossing(&wall, false).is_none() {
            break;
        }
    }
    Ok(wall)
}

/// The wall of a section whose surfaces meet.
fn closed_wall(section: &Section<'_>) -> Result<Vec<[f64; 2]>, GeometryError> {
    let SurfaceSettings { ni, trailing_edge_spacing: edge, .. } = *section.settings;
    let mut wall = section.surfaces(ni - 1, edge)?;
    let last = wall.len() - 1;
    wall[last] = wall[0];
    Ok(wall)
}

/// The wall of a section with a base or a cap, and the number of cells on that.
fn base_wall(section: &Section<'_>) -> Result<(Vec<[f64; 2]>, usize), GeometryError> {
    let (settings, [upper_end, lower_end]) = (section.settings, section.ends());
    let cap = (settings.trailing_edge == TrailingEdge::Rounded)
        .then(|| Bezier::cap(upper_end, lower_end));
    let length = cap.as_ref().map_or(distance(upper_end.at, lower_end.at), Bezier::length);
    let cells = base_cells(settings, length, cap.is_some())?;
    let cell = length / cells as f64;

    let (base, edge) = if let Some(cap) = &cap {
        (cap.points(cells), cell)
    } else {
        let edge = settings.trailing_edge_spacing.min(cell.max(BASE_SPACING_FLOOR));
        (straight_base(upper_end.at, lower_end.at, cells), edge)
    };
    let mut wall = base[cells / 2..cells].to_vec();
    wall.extend(section.surfaces(settings.ni - 1 - cells, edge)?);
    wall.extend(&base[1..=cells / 2]);
    Ok((wall, cells))
}

/// Cells on a base or cap of the given length.
fn base_cells(settings: &SurfaceSettings, length: f64, cap: bool) -> Result<usize, GeometryError> {
    let most = (settings.ni - 1) / 8 * 2;
    match settings.base_cells {
        BaseCells::Exactly(given) => check_base_cells(given, 2 * most),
        BaseCells::Behind => Ok(0),
        BaseCells::MultipleOf(even) => {
            let wanted = 2.0 * (length / settings.trailing_edge_spacing / 2.0).round_ties_even();
            let wanted = (wanted as usize).max(settings.base_cells.least(cap)).min(most);
            Ok(wanted.next_multiple_of(even))
        }
    }
}

/// Refuses an odd number of cells on a base, and one out of range.
pub(crate) fn check_base_cells(given: usize, most: usize) -> Result<usize, GeometryError> {
    let fits = given.is_multiple_of(2) && (LEAST_BASE_CELLS..=most).contains(&given);
    if fits { Ok(given) } else { Err(GeometryError::BaseCells { given, most }) }
}

/// Equal cells on the straight line between the two ends.
pub(super) fn straight_base(upper: [f64; 2], lower: [f64; 2], cells: usize) -> Vec<[f64; 2]> {
    let along = |k: usize| {
        let t = k as f64 / cells as f64;
        [0, 1].map(|c| upper[c] * (1.0 - t) + lower[c] * t)
    };
    (0..=cells).map(along).collect()
}
