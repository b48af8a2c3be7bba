//! Points where a curve bends: spacing under a limit on the turn from one cell to the next.

/// Growth of the spacing with the distance from where the limit holds it down.
const GROWTH: f64 = 0.15;
/// Share of the cells that the limit may take from the rest of an open curve.
const SHARE: f64 = 0.5;
/// A limit is relaxed by this factor until it takes no more than its share ...
const RELAXATION: f64 = 1.2;
/// ... and given up beyond this angle, radians.
const GIVEN_UP: f64 = 1.2;
/// A concave curve counts as bent by this share: the grid lines that leave it meet, the more so the
/// more there are.
const CONCAVE: f64 = 0.5;
/// Longest cells on a closed curve, as a share of its length.
const LONGEST: f64 = 0.125;

/// How much a curve turns between samples.
pub(super) struct Turning {
    /// Places of the samples, rising.
    s: Vec<f64>,
    /// Turn from each sample to the next, radians, positive to the left.
    turn: Vec<f64>,
}

impl Turning {
    /// Samples the direction of a curve at the places `s`.
    pub(super) fn along(s: Vec<f64>, direction: impl Fn(f64) -> [f64; 2]) -> Self {
        let directions: Vec<[f64; 2]> = s.iter().map(|&s| direction(s)).collect();
        let turn = directions.windows(2).map(|d| angle(d[0], d[1])).collect();
        Self { s, turn }
    }

    fn length(&self, k: usize) -> f64 {
        self.s[k + 1] - self.s[k]
    }

    /// Positions of `cells` + 1 points around a closed curve that runs clockwise, both ends included.
    ///
    /// The spacing is 1/(1/L + κ/θ), κ the curvature, halved where the curve is concave, and θ the
    /// largest turn of a cell; it is lowered so that it grows with the distance along the curve by at most 15 %; L is chosen so that the
    /// cells fit.
    ///
    /// # Errors
    ///
    /// The cells that are needed at least, where there are fewer.
    pub(super) fn around(&self, cells: usize, largest: f64) -> Result<Vec<f64>, usize> {
        let whole = self.s[self.s.len() - 1] - self.s[0];
        let spacing = |longest: f64| {
            // Clockwise, a left turn is concave.
            let bend = |turn: f64| if turn > 0.0 { CONCAVE * turn } else { -turn };
            let place =
                |k: usize| 1.0 / (1.0 / longest + bend(self.turn[k]) / (largest * self.length(k)));
            let mut spacing: Vec<f64> = (0..self.turn.len()).map(place).collect();
            // The second lap carries what the first found across the start.
            for _ in 0..2 {
                self.limit_growth(&mut spacing, true);
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

    /// The positions `s` of points along an open curve, moved together where a cell turns by more
    /// than `largest`, and apart elsewhere by one factor. Unchanged where none does, and where the
    /// limit cannot be kept with half of the cells (a corner): it is relaxed first.
    pub(super) fn limited(&self, s: Vec<f64>, largest: f64) -> Vec<f64> {
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
            self.limit_growth(&mut cap, false);
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

    /// Largest turn within a cell.
    fn largest_turn(&self, s: &[f64]) -> f64 {
        let mut turns = vec![0.0; s.len() - 1];
        for (k, turn) in self.turn.iter().enumerate() {
            let middle = 0.5 * (self.s[k] + self.s[k + 1]);
            turns[cell_of(s, middle)] += turn.abs();
        }
        turns.into_iter().fold(0.0, f64::max)
    }

    /// Lowers `spacing` so that it rises along the curve by at most [`GROWTH`] times the distance.
    fn limit_growth(&self, spacing: &mut [f64], closed: bool) {
        let n = spacing.len();
        let between = |k: usize, l: usize| 0.5 * (self.length(k) + self.length(l));
        let first = usize::from(!closed);
        for k in first..n {
            let before = if k == 0 { n - 1 } else { k - 1 };
            spacing[k] = spacing[k].min(spacing[before] + GROWTH * between(k, before));
        }
        for k in (0..n - first).rev() {
            let after = if k + 1 == n { 0 } else { k + 1 };
            spacing[k] = spacing[k].min(spacing[after] + GROWTH * between(k, after));
        }
    }

    /// Cells of a spacing along the curve.
    fn count(&self, spacing: &[f64]) -> f64 {
        spacing.iter().enumerate().map(|(k, spacing)| self.length(k) / spacing).sum()
    }

    /// Positions at equal counts.
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

/// Angle from one direction to another, radians, positive to the left; a direction of length zero turns by nothing.
fn angle(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1])
}

/// The cell that holds a place.
fn cell_of(s: &[f64], place: f64) -> usize {
    s.partition_point(|&s| s <= place).clamp(1, s.len() - 1) - 1
}

/// The local interval of points at a place, linear between the middles of the intervals.
fn interval_at(s: &[f64], place: f64) -> f64 {
    let interval = |k: usize| s[k + 1] - s[k];
    let middle = |k: usize| 0.5 * (s[k] + s[k + 1]);
    let k = cell_of(s, place);
    let (a, b) = if place < middle(k) { (k.max(1) - 1, k) } else { (k, (k + 1).min(s.len() - 2)) };
    if a == b {
        return interval(a);
    }
    let t = (place - middle(a)) / (middle(b) - middle(a));
    interval(a) + t * (interval(b) - interval(a))
}

/// The smallest number for which `fits` holds, which it does at `high`; halves the logarithm.
fn smallest(mut low: f64, mut high: f64, fits: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if fits(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::Turning;

    /// A quarter circle of radius 0.1 between two straight lines, by its arc length.
    fn direction(s: f64) -> [f64; 2] {
        let angle = ((s - 0.5) / 0.1).clamp(0.0, std::f64::consts::FRAC_PI_2);
        [angle.cos(), angle.sin()]
    }

    fn bend() -> Turning {
        Turning::along((0..=4000).map(|k| f64::from(k) * 3e-4).collect(), direction)
    }

    #[test]
    fn points_that_keep_the_limit_stay() {
        let s: Vec<f64> = (0..=120).map(|k| f64::from(k) * 0.01).collect();

        // 0.01/0.1 radians a cell, 5.7°.
        assert_eq!(bend().limited(s.clone(), 0.12), s);
    }

    #[test]
    fn points_gather_where_the_limit_is_broken() {
        let s: Vec<f64> = (0..=200).map(|k| f64::from(k) * 0.006).collect();

        let moved = bend().limited(s, 0.04);

        assert_eq!((moved.len(), moved[0]), (201, 0.0));
        assert!((moved[200] - 1.2).abs() < 1e-12);
        for w in moved.windows(2) {
            let (a, b) = (direction(w[0]), direction(w[1]));
            let turn = (a[0] * b[1] - a[1] * b[0]).asin();
            assert!(turn <= 0.0401, "{turn}");
        }
        for w in moved.windows(3) {
            let growth = (w[2] - w[1]) / (w[1] - w[0]);
            assert!((0.8..1.25).contains(&growth), "{growth}");
        }
    }

    #[test]
    fn too_few_cells_around_a_curve_are_said() {
        let circle = Turning::along((0..=1000).map(|k| f64::from(k) * 1e-3).collect(), |s| {
            [(std::f64::consts::TAU * s).cos(), -(std::f64::consts::TAU * s).sin()]
        });

        // 36 cells of 10°, and as many again for the longest cell of an eighth.
        assert!(matches!(circle.around(30, 10_f64.to_radians()), Err(44 | 45)));
        let around = circle.around(60, 10_f64.to_radians()).unwrap_or_default();
        assert!(around.windows(2).all(|w| (60.0 * (w[1] - w[0]) - 1.0).abs() < 1e-9));
    }
}
