//! Spacing of points on a curve under a limit on the turn from one cell to the next.

use super::heights::AlongWall;
use super::vector::{self, angle};

/// Largest growth of the spacing with the distance from a place where it is reduced.
const GROWTH: f64 = 0.15;
/// Fraction of the cells that the limit may take from the rest of an open curve.
const SHARE: f64 = 0.5;
/// Factor by which a limit is relaxed until it takes no more, and the angle, radians, beyond which it is dropped.
const RELAXATION: f64 = 1.2;
const GIVEN_UP: f64 = 1.2;
/// Factor on the turn of a concave curve, from which the grid lines converge.
const CONCAVE: f64 = 0.5;
/// Fewest cells between two corners.
pub(super) const LEAST_CELLS: usize = 2;
/// Longest cells on a closed curve, as a fraction of its length.
const LONGEST: f64 = 0.125;

/// Turn of a curve between samples.
pub struct Turning {
    /// Positions of the samples, rising.
    s: Vec<f64>,
    /// Turn from each sample to the next, radians, positive to the left.
    turn: Vec<f64>,
}

impl Turning {
    /// Samples the direction of a curve at the positions `s`.
    pub fn along(s: Vec<f64>, direction: impl Fn(f64) -> [f64; 2]) -> Self {
        let directions: Vec<[f64; 2]> = s.iter().map(|&s| direction(s)).collect();
        let turn = directions.windows(2).map(|d| angle(d[0], d[1])).collect();
        Self { s, turn }
    }

    fn length(&self, k: usize) -> f64 {
        self.s[k + 1] - self.s[k]
    }

    fn whole(&self) -> f64 {
        self.s[self.s.len() - 1] - self.s[0]
    }

    /// Positions of `cells` + 1 points around a closed curve that runs clockwise, both ends included.
    ///
    /// The spacing is 1/(1/L + κ/θ), with κ the curvature (halved where the curve is concave) and θ the
    /// largest turn of a cell. It is then lowered so that it grows with the distance along the curve by at
    /// most 15 %. L is chosen so that the number of cells is `cells`.
    ///
    /// # Errors
    /// The least number of cells, if `cells` is smaller.
    pub fn around(&self, cells: usize, largest: f64) -> Result<Vec<f64>, usize> {
        let whole = self.whole();
        let spacing = |longest: f64| {
            // On a clockwise curve a left turn is concave.
            let bend = |turn: f64| if turn > 0.0 { CONCAVE * turn } else { -turn };
            let place =
                |k: usize| 1.0 / (1.0 / longest + bend(self.turn[k]) / (largest * self.length(k)));
            let mut spacing: Vec<f64> = (0..self.turn.len()).map(place).collect();
            // The second lap carries the reductions of the first across the start.
            for _ in 0..2 {
                self.limit_growth(&mut spacing, true, GROWTH);
            }
            spacing
        };
        let least = self.count(&spacing(LONGEST * whole));
        if least > cells as f64 {
            return Err(least.ceil() as usize);
        }
        let fits = |longest: f64| self.count(&spacing(longest)) <= cells as f64;
        let (low, high) = (0.5 * whole / cells as f64, LONGEST * whole);
        Ok(self.places(&spacing(smallest(low, high, fits)), cells))
    }

    /// The positions `s` of points along an open curve, moved together where a cell turns by more than
    /// `largest`, and apart elsewhere by one factor. They are unchanged if no cell does. A limit that would
    /// need more than half of the cells (at a corner) is relaxed first.
    pub fn limited(&self, s: Vec<f64>, largest: f64) -> Vec<f64> {
        let cells = s.len() - 1;
        if self.largest_turn(&s) <= largest {
            return s;
        }
        let asked: Vec<f64> = (0..self.turn.len())
            .map(|k| interval_at(&s, 0.5 * (self.s[k] + self.s[k + 1])))
            .collect();
        let mut limit = largest;
        while limit < GIVEN_UP {
            let mut cap: Vec<f64> =
                (0..self.turn.len()).map(|k| limit * self.length(k) / self.turn[k].abs()).collect();
            self.limit_growth(&mut cap, false, GROWTH);
            if self.count(&cap) <= SHARE * cells as f64 {
                let spacing = |factor: f64| -> Vec<f64> {
                    asked.iter().zip(&cap).map(|(asked, cap)| cap.min(factor * asked)).collect()
                };
                let fits = |factor: f64| self.count(&spacing(factor)) <= cells as f64;
                return self.places(&spacing(smallest(0.5, 1e6, fits)), cells);
            }
            limit *= RELAXATION;
        }
        s
    }

    fn largest_turn(&self, s: &[f64]) -> f64 {
        let mut turns = vec![0.0; s.len() - 1];
        for (k, turn) in self.turn.iter().enumerate() {
            let middle = 0.5 * (self.s[k] + self.s[k + 1]);
            turns[vector::interval(s, middle)] += turn.abs();
        }
        turns.into_iter().fold(0.0, f64::max)
    }

    /// Lowers `spacing` so that it rises along the curve by at most `growth` times the distance.
    fn limit_growth(&self, spacing: &mut [f64], closed: bool, growth: f64) {
        let n = spacing.len();
        let between = |k: usize, l: usize| 0.5 * (self.length(k) + self.length(l));
        let first = usize::from(!closed);
        for k in first..n {
            let before = if k == 0 { n - 1 } else { k - 1 };
            spacing[k] = spacing[k].min(spacing[before] + growth * between(k, before));
        }
        for k in (0..n - first).rev() {
            let after = if k + 1 == n { 0 } else { k + 1 };
            spacing[k] = spacing[k].min(spacing[after] + growth * between(k, after));
        }
    }

    /// Number of cells that a spacing gives along the curve.
    fn count(&self, spacing: &[f64]) -> f64 {
        spacing.iter().enumerate().map(|(k, spacing)| self.length(k) / spacing).sum()
    }

    /// Positions at which the count of cells is a whole number.
    fn places(&self, spacing: &[f64], cells: usize) -> Vec<f64> {
        let share = self.count(spacing) / cells as f64;
        let mut places = vec![self.s[0]];
        let mut counted = 0.0;
        for (k, spacing) in spacing.iter().enumerate() {
            let here = self.length(k) / spacing;
            while places.len() < cells && (places.len() as f64) * share <= counted + here {
                let part = (places.len() as f64 * share - counted) / here;
                places.push(self.s[k] + part * self.length(k));
            }
            counted += here;
        }
        places.resize(cells, self.s[self.s.len() - 1]);
        places.push(self.s[self.s.len() - 1]);
        places
    }
}

/// A smooth piece of a curve between corners, and the spacings at its ends.
pub(super) struct Piece {
    pub(super) turning: Turning,
    pub(super) ends: [f64; 2],
}

/// Limits on the spacing along a curve.
pub(super) struct Limits<'a> {
    /// Positions of the clusters on it and the spacing there.
    pub(super) clusters: Vec<[f64; 2]>,
    /// The limits on all of it.
    pub(super) along: &'a AlongWall,
}

impl Limits<'_> {
    /// Returns true if there is no limit.
    pub(super) fn is_empty(&self) -> bool {
        self.clusters.is_empty() && self.along.max_spacing.or(self.along.growth).is_none()
    }

    /// Spacing that the clusters allow at a position: their own within two intervals, then growing with the distance.
    fn cap(&self, at: f64, growth: f64) -> f64 {
        let cap = |[place, spacing]: &[f64; 2]| {
            spacing + growth * ((at - place).abs() - 2.0 * spacing).max(0.0)
        };
        self.clusters.iter().map(cap).fold(f64::INFINITY, f64::min)
    }

    /// Adds positions between the first and the last to sample the spacing around the clusters.
    pub(super) fn sampled(&self, mut places: Vec<f64>) -> Vec<f64> {
        let (first, last) = (places[0], places[places.len() - 1]);
        for [place, spacing] in &self.clusters {
            let mut off = 0.0;
            while off < last - first {
                places.extend([place - off, place + off]);
                off += (spacing / 8.0).max(off / 16.0);
            }
        }
        if !self.clusters.is_empty() {
            let same = 1e-9 * (last - first);
            places.retain(|s| (first + same..last - same).contains(s));
            places.extend([first, last]);
            places.sort_by(f64::total_cmp);
            places.dedup_by(|b, a| *b - *a <= same);
        }
        places
    }
}

/// Positions of `cells` + 1 points along the consecutive pieces of a curve, with a point on each corner.
///
/// The spacing at the ends of a piece is given, grows with the distance from them by 15 % or the ratio of `limits`, and
/// is lowered where a cell would turn by more than `largest`, and to the limits. Elsewhere it has one value on all
/// pieces, so that the number of cells is right. A limit on the turn that takes more than half of the cells, or with
/// `limits` more than all of them, is relaxed.
///
/// # Errors
/// The least number of cells, if `limits` need more than `cells`.
pub(super) fn between_corners(
    pieces: &[Piece],
    cells: usize,
    largest: f64,
    limits: &Limits<'_>,
) -> Result<Vec<f64>, usize> {
    let growth = limits.along.growth.map_or(GROWTH, f64::ln);
    let share = if limits.is_empty() { SHARE } else { 1.0 };
    let spacing = |Piece { turning, ends }: &Piece, longest: f64, limit: f64| {
        let cap = |k: usize| {
            let cap = (limit * turning.length(k) / turning.turn[k].abs()).min(longest);
            cap.min(limits.cap(0.5 * (turning.s[k] + turning.s[k + 1]), growth))
        };
        let mut spacing: Vec<f64> = (0..turning.turn.len()).map(cap).collect();
        let last = spacing.len() - 1;
        (spacing[0], spacing[last]) = (spacing[0].min(ends[0]), spacing[last].min(ends[1]));
        turning.limit_growth(&mut spacing, false, growth);
        spacing
    };
    let count = |longest: f64, limit: f64| -> Vec<f64> {
        pieces.iter().map(|piece| piece.turning.count(&spacing(piece, longest, limit))).collect()
    };
    let whole: f64 = pieces.iter().map(|piece| piece.turning.whole()).sum();
    let most = limits.along.max_spacing.map_or(whole, |longest| longest.min(whole));
    let mut limit = largest;
    while limit < GIVEN_UP && count(most, limit).iter().sum::<f64>() > share * cells as f64 {
        limit *= RELAXATION;
    }
    let fits = |longest: f64| count(longest, limit).iter().sum::<f64>() <= cells as f64;
    if !limits.is_empty() && !fits(most) {
        return Err(count(most, largest).iter().sum::<f64>().ceil() as usize);
    }
    let longest = smallest(0.1 * whole / cells as f64, most, fits);
    let mut counted = 0.0;
    let counts = count(longest, limit);
    let (all, mut taken) = (counts.iter().sum::<f64>(), 0);
    let mut places = Vec::with_capacity(cells + 1);
    for (k, (piece, count)) in pieces.iter().zip(&counts).enumerate() {
        counted += count;
        let later = LEAST_CELLS * (pieces.len() - 1 - k);
        let end = (cells as f64 * counted / all).round() as usize;
        let end = if later == 0 { cells } else { end.clamp(taken + LEAST_CELLS, cells - later) };
        places.pop();
        places.extend(piece.turning.places(&spacing(piece, longest, limit), end - taken));
        taken = end;
    }
    Ok(places)
}

/// Divides each interval of positions into this number of pieces.
pub(super) fn refined(s: &[f64], pieces: usize) -> Vec<f64> {
    let between = |w: &[f64]| {
        let (a, b) = (w[0], w[1]);
        (0..pieces).map(move |k| a + (b - a) * (k as f64 / pieces as f64))
    };
    s.windows(2).flat_map(between).chain(s.last().copied()).collect()
}

/// The local interval of points at a position, linear between the middles of the intervals.
fn interval_at(s: &[f64], place: f64) -> f64 {
    let interval = |k: usize| s[k + 1] - s[k];
    let middle = |k: usize| 0.5 * (s[k] + s[k + 1]);
    let k = vector::interval(s, place);
    let (a, b) = if place < middle(k) { (k.max(1) - 1, k) } else { (k, (k + 1).min(s.len() - 2)) };
    if a == b {
        return interval(a);
    }
    let t = (place - middle(a)) / (middle(b) - middle(a));
    interval(a) + t * (interval(b) - interval(a))
}

/// The smallest number for which `fits` holds, by bisection of the logarithm; `fits` must hold at `high`.
fn smallest(mut low: f64, mut high: f64, fits: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if fits(middle) { high = middle } else { low = middle }
    }
    high
}
