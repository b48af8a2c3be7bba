//! The fixed data of an initial grid: the wall, the layers, the heights of the first cells and the outer
//! line, which may be one of sides, such as those of a wind tunnel.

use crate::geometry::vector::{along, bounds, difference, distance};
use crate::geometry::{Enclosure, OffsetLine, spacing_geometric};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Outside, Topology, smooth};

/// The fixed data of an initial grid.
#[derive(Debug, Clone, Copy)]
pub struct Outline<'a> {
    /// Points of the line j = 0, clockwise, the last one repeating the first.
    pub points: &'a [[f64; 2]],
    /// Outward unit normals of the points.
    pub normals: &'a [[f64; 2]],
    /// Distance of each layer from the wall, rising from 0, in chords.
    pub layers: &'a [f64],
    /// The outer line.
    pub outer: Outer<'a>,
    /// Heights of the first cells, one for each point; `None` means [`first_heights`].
    pub heights: Option<&'a [f64]>,
    /// Logical shape of the grid.
    pub topology: Topology,
}

/// The outer line of a grid.
#[derive(Debug, Clone, Copy)]
pub enum Outer<'a> {
    /// The circle of this radius about (0.5, 0), in chords. On a C-grid its half ahead of x = 0.5 is
    /// continued by straight lines to the outflow.
    Circle(f64),
    /// A line at a constant distance from the wall, for a closed grid.
    Offset(&'a OffsetLine),
    /// A polygon, along which the points slide.
    Enclosed(&'a Enclosed),
    /// A point for each column.
    Points(&'a [[f64; 2]]),
}

/// Distance from the wall, in chords, beyond which lines with higher first cells return to the common layers.
const SPLAY_DISTANCE: f64 = 0.5;
/// Fraction of the far field by which these lines may remain ahead of the layers.
const SPLAY_SHARE: f64 = 0.1;
/// This fraction where heights are given. Where they grow along a whole wake it is the slope of the lines there.
const GIVEN_SPLAY_SHARE: f64 = 0.02;
/// Distance, in chords, by which those of the body may: fronts that bulge more fold in the march.
const BODY_SPLAY: f64 = 0.05;

impl Outline<'_> {
    /// Points of a front.
    pub(crate) fn columns(&self) -> usize {
        self.topology.columns(self.points.len())
    }

    /// The points of the wall's front.
    pub(super) fn front(&self) -> Vec<[f64; 2]> {
        self.points[..self.columns()].to_vec()
    }

    /// h: the height of the first cells of `layers`.
    pub(super) fn first_cell(&self) -> f64 {
        self.layers[1] - self.layers[0]
    }

    /// Distance of the last layer from the wall.
    pub(super) fn reach(&self) -> f64 {
        self.layers[self.layers.len() - 1]
    }

    /// h_i: the height of the first cell of each point.
    pub(super) fn first_heights(&self) -> Vec<f64> {
        let own = || first_heights(self.topology, self.points, self.first_cell());
        self.heights.map_or_else(own, <[f64]>::to_vec)
    }

    /// h_i − h: the excess of each point's first cell height over that of `layers`.
    pub(crate) fn extra_heights(&self) -> Vec<f64> {
        let (base, heights) = (self.first_cell(), self.first_heights());
        heights.iter().take(self.columns()).map(|height| height - base).collect()
    }

    /// e_j = (s_j/h) (D + h)/(D + s_j), with e_1 = 1: line i has the distances s_ij = s_j + (h_i − h) e_j.
    /// Near the wall these are the distances of the common layers times h_i/h, so that the centres of the
    /// cells lie above each other (theory section 4). D is 0.5, or less if the highest line would otherwise
    /// be more than a tenth of the far field ahead, with given heights a fiftieth, or 0.05 chord on the body.
    pub(crate) fn splay(&self) -> Vec<f64> {
        let base = self.first_cell();
        // Lines to points of their own are as much longer as their first cells are higher.
        if let Outer::Points(_) = self.outer {
            return self.layers.iter().map(|s| s / base).collect();
        }
        let (extra, wall) = (self.extra_heights(), self.topology.wall(self.points.len()));
        let tallest = extra.iter().copied().fold(0.0, f64::max);
        let body = extra.iter().take(wall.end() + 1).skip(*wall.start());
        let on_body = body.copied().fold(0.0, f64::max);
        let share = if self.heights.is_some() { GIVEN_SPLAY_SHARE } else { SPLAY_SHARE };
        let distance = SPLAY_DISTANCE
            .min(share * self.reach() * base / tallest)
            .min(BODY_SPLAY * base / on_body);
        let weight = |s: &f64| s / base * ((distance + base) / (distance + s));
        self.layers.iter().map(weight).collect()
    }
}

/// Longest cell of the wake, in heights of its first cell. A cell as low as those of the wall and many chords
/// long would be 1e7 times as long as high. P0 grows with the square of that ratio, and with 5e6 here Newton
/// stopped before it had converged (449 × 129 points, 1.8e-6, far field 500). A smaller ratio costs flow
/// solvers more than it gains: where heights grow along the wake, the centres of cells no longer lie above
/// each other.
const ASPECT: f64 = 1e6;

/// Height of the first cell at each of the points of the line j = 0, in chords.
///
/// It is `first_cell` on the body. In the wake it grows with the spacing d of the points from d₀, the spacing
/// at the trailing edge,
///
/// ```text
/// h_i = h √(1 + ((d_i − d₀)/(A h))²),   A = 1e6
/// ```
///
/// so that no first cell is longer than about A times its height.
pub fn first_heights(topology: Topology, points: &[[f64; 2]], first_cell: f64) -> Vec<f64> {
    heights_with_wake(topology, points, |_| first_cell, None)
}

/// Distance from the trailing edge, in chords, within which heights begin to grow towards those of the outflow.
const ONSET: f64 = 1.0;

/// [`first_heights`] for a `height` that varies along the body, whose points count from 0. In the wake it continues
/// from the trailing edge, on each side, or grows with the distance s from there to a height H at the `outflow` and at
/// the point ahead of it, L:
///
/// ```text
/// h = h₀ + (H − h₀) (√(s² + σ²) − σ)/(√(L² + σ²) − σ),   σ = 1 chord
/// ```
///
/// Cells of the wake are longer in proportion to s, too. Lines of the grid rise as heights do, here with a slope that is
/// constant but for its smooth beginning. A constant ratio from point to point makes them turn by up to 50° at the edge.
pub(crate) fn heights_with_wake(
    topology: Topology,
    points: &[[f64; 2]],
    height: impl Fn(usize) -> f64,
    outflow: Option<f64>,
) -> Vec<f64> {
    let (ni, wake) = (points.len(), topology.wake());
    if wake == 0 {
        return (0..ni).map(height).collect();
    }
    let interval = |i: usize| distance(points[i], points[i + 1]);
    // k counts the points of the cut from the trailing edge and is the same on both sides. At the outflow the
    // march uses the height of the neighbour; so does this.
    let spacing = |k: usize| {
        let i = (wake - k).max(1);
        0.5 * (interval(i - 1) + interval(i))
    };
    let at_edge = interval(wake - 1);
    let of_point = |i: usize| {
        let from_end = i.min(ni - 1 - i);
        let first_cell = height(i.clamp(wake, ni - 1 - wake) - wake);
        if from_end >= wake {
            return first_cell;
        }
        let behind = wake - from_end;
        if let Some(outflow) = outflow {
            let from_edge = |i: usize| distance(points[wake], points[i]);
            let rise = |i: usize| from_edge(i).hypot(ONSET) - ONSET;
            let last = rise(1);
            return first_cell + (outflow - first_cell) * rise(wake - behind).min(last) / last;
        }
        let growth = (spacing(behind) - at_edge).max(0.0) / (ASPECT * first_cell);
        first_cell * growth.hypot(1.0)
    };
    (0..ni).map(of_point).collect()
}

/// Vectors from the last points of a march to the outer line: to the circle along the polar angle, but on a
/// C-grid, behind the circle's centre, straight up or down to the lines that continue it; to the nearest
/// point of an offset line.
pub(crate) fn ways(outline: &Outline, points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let ends: Vec<[f64; 2]> = match outline.outer {
        Outer::Circle(radius) => {
            return points.iter().map(|&point| way(outline.topology, radius, point)).collect();
        }
        Outer::Offset(line) => {
            let line = line.projection();
            points.iter().map(|&point| line.nearest(point)).collect()
        }
        Outer::Enclosed(_) | Outer::Points(_) => spaced(outline),
    };
    points.iter().zip(ends).map(|(&point, end)| difference(end, point)).collect()
}

fn way(topology: Topology, radius: f64, [x, y]: [f64; 2]) -> [f64; 2] {
    let [cx, cy] = FAR_FIELD_CENTRE;
    if !topology.closed() && x >= cx {
        return [0.0, (radius + cy).copysign(y) - y];
    }
    let scale = radius / (x - cx).hypot(y - cy);
    [(x - cx) * scale + cx - x, (y - cy) * scale + cy - y]
}

/// The points of an outer line that is spaced independently of a march: equal angles on a circle, equal
/// lengths on an offset line, beginning ahead of the first point. On a C-grid the points of the wake lie
/// above and below those of the cut; the others continue from there in equal steps around the nose.
fn spaced(outline: &Outline) -> Vec<[f64; 2]> {
    let ni = outline.points.len();
    match outline.outer {
        Outer::Circle(radius) => (0..ni).map(|i| spaced_on_circle(outline, radius, i)).collect(),
        Outer::Offset(line) => {
            let first = along(outline.points[0], outline.normals[0], outline.reach());
            let start = line.projection().share(first);
            let share = |i: usize| start + (i % (ni - 1)) as f64 / (ni - 1) as f64;
            (0..ni).map(|i| line.point(share(i))).collect()
        }
        Outer::Enclosed(enclosed) => enclosed.points(&enclosed.start),
        Outer::Points(points) => points.to_vec(),
    }
}

fn spaced_on_circle(outline: &Outline, radius: f64, i: usize) -> [f64; 2] {
    let ([cx, cy], ni) = (FAR_FIELD_CENTRE, outline.points.len());
    let (x, wake) = (|i: usize| outline.points[i][0], outline.topology.wake());
    if outline.topology.closed() {
        let around = (i % (ni - 1)) as f64 / (ni - 1) as f64;
        // The points run clockwise from the trailing edge.
        let (sin, cos) = (-std::f64::consts::TAU * around).sin_cos();
        return [cx + radius * cos, cy + radius * sin];
    }
    if i <= wake || i >= ni - 1 - wake {
        return [x(i), if 2 * i < ni { cy - radius } else { cy + radius }];
    }
    let straight = x(wake) - cx;
    let half = std::f64::consts::PI * radius;
    let along = (i - wake) as f64 / (ni - 1 - 2 * wake) as f64 * (2.0 * straight + half);
    if along <= straight {
        [x(wake) - along, cy - radius]
    } else if along >= straight + half {
        [cx + along - straight - half, cy + radius]
    } else {
        // The points run clockwise from straight below.
        let (sin, cos) = ((along - straight) / radius).sin_cos();
        [cx - radius * sin, cy - radius * cos]
    }
}

/// Transfinite interpolation between the wall and the far field.
///
/// Straight lines from the points of the wall to evenly spaced points of the outer line: r(i, s) = (1 − s)
/// r_wall + s r_outer, with s the relative distance of the layers. The grid folds where such a line crosses
/// the body, as on cambered sections. The first height is only met where a line leaves the wall at a right
/// angle.
pub(super) fn interpolate(outline: &Outline) -> Grid {
    let (size, line) = ([outline.points.len(), outline.layers.len()], spaced(outline));
    Grid::of_nodes(outline.topology, size, |i, j| {
        let (wall, s) = (outline.points[i], outline.layers[j] / outline.reach());
        [0, 1].map(|c| (1.0 - s) * wall[c] + s * line[i][c])
    })
}

/// Passes over the first places of the points of an open and of a closed outer line.
const PLACE_PASSES: [usize; 2] = [20, 100];
/// Least first interval ahead of the edge on the outer line, in mean intervals there.
const LEAST_AHEAD: f64 = 0.15;
/// Share of equal intervals in those of a closed outer line.
const EQUAL: f64 = 0.7;
/// Lines run straight across a gap to floor or roof along a part of the chord that decays with the gap over this distance
/// from the most.
const NEAR: f64 = 0.2;
const STRAIGHT: f64 = 0.8;

/// A line of sides as outer line, and the points on it from which a grid begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Enclosed {
    /// The line, in the direction of i.
    pub line: Enclosure,
    /// Arc length of the point of each column.
    pub start: Vec<f64>,
    /// Column of each end and corner of the line.
    pub corners: Vec<usize>,
    /// The patches that its sides are.
    pub outside: Outside,
    /// Slope with which the seam of an O-grid leaves the edge, and the distance over which it loses that.
    pub seam: Option<[f64; 2]>,
    /// Layers beside the wall, and their growth, where it is given.
    pub near: Option<(usize, f64)>,
    /// Height of the first cells at walls among its sides, and the first and the last column of each of them.
    pub wall: Option<(f64, Vec<[usize; 2]>)>,
}

impl Enclosed {
    /// The places on an outer line of points around the `inner` ones of the line j = 0, and the columns of its ends and
    /// corners: multiples of `step`, with one column and more between. None where there are too few points for these.
    ///
    /// On a C-grid they lie above and below those of the cut, and ahead of the edge with a constant ratio of their
    /// intervals up to the height of the nose. On an O-grid they are a mean of equal intervals and of the places above and
    /// below those of the wall.
    pub fn places(
        line: &Enclosure,
        topology: Topology,
        inner: &[[f64; 2]],
        step: usize,
    ) -> Option<(Vec<f64>, Vec<usize>)> {
        let closed = topology.closed();
        let mut start =
            if closed { around(line, inner) } else { beside(line, topology.wake(), inner)? };
        let last = start.len() - 1;
        let opposite = start.clone();
        smooth(&mut start, false, PLACE_PASSES[usize::from(closed)]);
        // Across a narrow gap points remain where they lie opposite those of the wall.
        for (i, (smoothed, place)) in start.iter_mut().zip(opposite).enumerate() {
            let share = (-distance(line.point(place), inner[i]) / NEAR).exp();
            *smoothed += share * (place - *smoothed);
        }
        let nearest = |place: &f64| {
            let after = start.partition_point(|t| t < place).clamp(1, last);
            let nearer = place - start[after - 1] < start[after] - place;
            let column = after - usize::from(nearer);
            (column + step / 2) / step * step
        };
        let places = line.corners();
        let mut corners: Vec<usize> = places.iter().map(nearest).collect();
        let (least, ends) = (2_usize.next_multiple_of(step), corners.len() - 1);
        // Short sides, such as a step, have the fewest columns.
        for k in 1..ends {
            corners[k] = corners[k].max(corners[k - 1] + least);
        }
        for k in (1..ends).rev() {
            corners[k] = corners[k].min(corners[k + 1].saturating_sub(least));
        }
        if corners[0] != 0
            || corners.last() != Some(&last)
            || corners.windows(2).any(|pair| pair[1] < pair[0] + 2)
        {
            return None;
        }
        for (columns, ends) in corners.windows(2).zip(places.windows(2)) {
            let (first, length) = (start[columns[0]], start[columns[1]] - start[columns[0]]);
            let fitted = |t: f64| ends[0] + (t - first) * (ends[1] - ends[0]) / length;
            // The last point of a side is the first of the next one, and is fitted with that.
            start[columns[0]..columns[1]].iter_mut().for_each(|t| *t = fitted(*t));
        }
        start[last] = line.length();
        Some((start, corners))
    }

    pub(super) fn points(&self, places: &[f64]) -> Vec<[f64; 2]> {
        places.iter().map(|t| self.line.point(*t)).collect()
    }
}

/// Places around a closed line, from the mean of equal intervals and the places above and below the points of the wall.
fn around(line: &Enclosure, inner: &[[f64; 2]]) -> Vec<f64> {
    let (last, corners) = (inner.len() - 1, line.corners());
    let below = line.point(corners[1])[1];
    // The highest of the foremost corners.
    let fore = |[x, y]: &[f64; 2], [other_x, other_y]: &[f64; 2]| {
        x.total_cmp(other_x).then(other_y.total_cmp(y))
    };
    let above = corners.iter().map(|t| line.point(*t)).min_by(fore).map_or(below, |[_, y]| y);
    let [[ahead, _], [behind, _]] = bounds(line.points().iter().copied());
    let opposite = |i: usize| {
        let y = if 2 * i <= last { below } else { above };
        line.nearest([inner[i][0].clamp(ahead, behind), y])
    };
    let mut places: Vec<f64> = (0..=last).map(opposite).collect();
    places.sort_by(f64::total_cmp);
    let equal = |i: usize| line.length() * i as f64 / last as f64;
    let mut places: Vec<f64> =
        places.iter().enumerate().map(|(i, t)| (1.0 - EQUAL) * t + EQUAL * equal(i)).collect();
    (places[0], places[last]) = (0.0, line.length());
    places
}

/// Places beside an open line with a cut of `wake` cells at each end.
fn beside(line: &Enclosure, wake: usize, inner: &[[f64; 2]]) -> Option<Vec<f64>> {
    let last = inner.len() - 1;
    let from_edge = |i: &usize| distance(inner[wake], inner[*i]);
    let nose = (wake..=last - wake).max_by(|a, b| from_edge(a).total_cmp(&from_edge(b)))?;
    let middle = line.nearest(line.ahead_of(inner[nose])?);
    // Both sides run ahead from the outflow, up to the nose.
    let side = |from_last: bool, length: f64, cells: usize| -> Option<Vec<f64>> {
        let column = |k: usize| if from_last { last - k } else { k };
        // Distance from the outflow along the line to the places above or below the points of the line j = 0, and y there.
        let beside = |k: usize| line.reached(from_last, inner[column(k)][0]);
        let all: Vec<[f64; 2]> = (0..=wake + cells).map_while(beside).collect();
        if all.len() <= wake + cells / 2 {
            return None;
        }
        let gap = (wake..all.len())
            .map(|k| (inner[column(k)][1] - all[k][1]).abs())
            .fold(f64::INFINITY, f64::min);
        let reach = STRAIGHT * (-gap / NEAR).exp();
        let behind = |k: usize| (inner[wake][0] - inner[column(k)][0]).abs();
        // At least half of the points fan out to the inlet.
        let straight = (0..cells / 2).take_while(|k| behind(wake + k) <= reach).last().unwrap_or(0);
        let mut places: Vec<f64> =
            all[..=wake + straight].iter().map(|[place, _]| *place).collect();
        let (from, before) = (places[wake + straight], places[wake + straight - 1]);
        let (rest, cells) = (length - from, cells - straight);
        let first = (from - before).max(LEAST_AHEAD * rest / cells as f64);
        let more = spacing_geometric(cells + 1, first, rest).ok()?;
        places.extend(more[1..].iter().map(|s| from + s));
        Some(places)
    };
    let lower = side(false, middle, nose - wake)?;
    let upper = side(true, line.length() - middle, last - wake - nose)?;
    let upper = upper.into_iter().rev().skip(1).map(|t| line.length() - t);
    Some(lower.into_iter().chain(upper).collect())
}
