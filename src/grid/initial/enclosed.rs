//! A line of sides, such as those of a wind tunnel, as the outer line of a grid.

use crate::geometry::vector::{bounds, distance};
use crate::geometry::{Enclosure, spacing_geometric};
use crate::grid::{Outside, Topology, smooth};

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
