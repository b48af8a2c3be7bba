//! One-dimensional point distributions on an interval.
//!
//! Each returns 0 = s₀ < s₁ < … < sₙ₋₁ = length. Both ends are exact to the last bit.

use super::GeometryError;
use super::vector::bisect;

/// Corrections of the spacings at the ends of a line, each some ten times better than the one before.
const MOST_CORRECTIONS: usize = 40;

/// Points whose intervals grow by a constant ratio from an exact first interval.
///
/// sⱼ = first (qʲ − 1)/(q − 1) with the ratio q > 1 such that sₙ₋₁ = `length`. If uniform intervals are no
/// longer than `first` (first · (n − 1) ≥ length), the distribution is uniform and its first interval is
/// length/(n − 1).
///
/// `n`: points; `first`, `length`: in one unit, usually chords.
///
/// # Errors
/// [`GeometryError::TooFewToSpace`] for n < 2, [`GeometryError::Spacing`] for a length that is not
/// positive and finite (1e-100 to 1e100).
pub fn spacing_geometric(n: usize, first: f64, length: f64) -> Result<Vec<f64>, GeometryError> {
    check(n, &[("first spacing", first), ("length", length)])?;
    let intervals = (n - 1) as f64;
    let target = length / first;
    if target <= intervals || n == 2 {
        return Ok(spacing_uniform(n, length));
    }
    // With z = ln q the sum is expm1(m z)/expm1(z), free of cancellation however close q is to 1.
    // It grows with z from m, and q^{m−1} alone bounds z from above.
    let sum = |z: f64| if z > 0.0 { (intervals * z).exp_m1() / z.exp_m1() } else { intervals };
    let z = root(|z| sum(z).ln() - target.ln(), target.ln() / (intervals - 1.0));
    if z <= 0.0 {
        return Ok(spacing_uniform(n, length));
    }
    let scale = first / z.exp_m1();
    let mut s = places(n, length, |j| scale * (j as f64 * z).exp_m1());
    s[1] = first;
    Ok(s)
}

fn spacing_uniform(n: usize, length: f64) -> Vec<f64> {
    places(n, length, |j| length * (j as f64 / (n - 1) as f64))
}

/// Positions of points, exact at both ends.
fn places(n: usize, length: f64, place: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut s: Vec<f64> = (0..n).map(place).collect();
    (s[0], s[n - 1]) = (0.0, length);
    s
}

/// First interval of the refined geometric spacing with `factor` times as many intervals, every `factor`-th
/// point of which is a point of [`spacing_geometric`]`(n, first, length)`: first (q^{1/factor} − 1)/(q − 1),
/// with q the ratio of the unrefined spacing. It fails where that does.
pub fn refined_first(
    n: usize,
    first: f64,
    length: f64,
    factor: usize,
) -> Result<f64, GeometryError> {
    let s = spacing_geometric(n, first, length)?;
    Ok(divided_first(first, s.get(2).map_or(1.0, |s2| (s2 - s[1]) / s[1]), factor))
}

/// First of the intervals that `factor` times as many intervals of constant growth have, every `factor`-th point of
/// which belongs to intervals that grow by `growth` from `first`.
pub fn divided_first(first: f64, growth: f64, factor: usize) -> f64 {
    let (factor, ratio) = (factor as f64, growth.ln());
    if factor <= 1.0 || ratio <= 1e-9 {
        return first / factor;
    }
    first * (ratio / factor).exp_m1() / ratio.exp_m1()
}

/// Intervals over which the growth passes from that of the first ones to that of the others.
const PASSAGE: usize = 10;

/// Points whose first `count` intervals grow by `growth` from an exact first interval, and the others by a constant
/// ratio, of at least 1, that the length decides.
///
/// With z the logarithm of that ratio and k from 0, interval k is the one before times
///
/// ```text
/// exp((1 − w) ln growth + w z),   w = 0 for k < count,   w = min(1, (k − count + 1)/m) from there on
/// ```
///
/// and m = 10, or half of the other intervals if there are fewer than 20: the growth passes from the one ratio to the
/// other without a jump.
///
/// # Errors
/// The errors of [`spacing_geometric`], and [`GeometryError::Layers`] where equal intervals behind the passage already
/// are longer than `length`, or fewer than two are left for them.
pub fn spacing_layered(
    n: usize,
    first: f64,
    (count, growth): (usize, f64),
    length: f64,
) -> Result<Vec<f64>, GeometryError> {
    check(n, &[("first spacing", first), ("length", length)])?;
    let (near, others) = (growth.ln(), (n - 1).saturating_sub(count));
    let passage = PASSAGE.min(others.div_ceil(2)).max(1) as f64;
    let points = |z: f64| {
        let (mut s, mut interval) = (vec![0.0, first], first);
        for k in 1..n - 1 {
            let weight = ((k + 1).saturating_sub(count) as f64 / passage).min(1.0);
            interval *= ((1.0 - weight) * near + weight * z).exp();
            s.push(s[k] + interval);
        }
        s
    };
    let reach = points(0.0)[n - 1];
    if others < 2 || reach >= length {
        return Err(GeometryError::Layers { nj: n, count, growth, reach, length });
    }
    // One interval of this growth is as long as all are to be.
    let mut s = points(root(|z| points(z)[n - 1] - length, (length / first).ln()));
    s[n - 1] = length;
    Ok(s)
}

/// Vinokur's two-sided hyperbolic tangent: spacings `h0` at the start and `h1` at the end.
///
/// ```text
/// u(e) = ½ (1 + tanh(d (e − ½)) / tanh(d/2)),   s = L u / (A + (1 − A) u),   e = j/(n − 1)
/// A = √(h1/h0),   sinh(d)/d = B = L / ((n − 1) √(h0 h1))
/// ```
///
/// ds/dj is exactly h0 and h1 at the two ends, so the first and last interval equal them to first order in
/// 1/n. If B ≤ 1 (the end spacings are longer than uniform intervals), u = e: the ratio of the two end
/// spacings is kept, not their size.
///
/// Source: M. Vinokur, *On One-Dimensional Stretching Functions for Finite-Difference Calculations*,
/// J. Comput. Phys. 50 (1983) 215–234, doi:10.1016/0021-9991(83)90065-7. It fails where [`spacing_geometric`] does.
pub fn spacing_vinokur(n: usize, h0: f64, h1: f64, length: f64) -> Result<Vec<f64>, GeometryError> {
    check(n, &[("start spacing", h0), ("end spacing", h1), ("length", length)])?;
    let intervals = (n - 1) as f64;
    let a = (h1 / h0).sqrt();
    let b = length / (intervals * (h0.sqrt() * h1.sqrt()));
    // sinh(d)/d ≥ e^{d/2}/2, so the root is below 2 ln(2 B).
    let d = if b > 1.0 { root(|d| log_sinhc(d) - b.ln(), 2.0 * (2.0 * b).ln()) } else { 0.0 };
    let u = |j: usize| {
        let e = j as f64 / intervals;
        if e <= 0.5 { 0.5 * tanh_ramp(d, 2.0 * e) } else { 1.0 - 0.5 * tanh_ramp(d, 2.0 - 2.0 * e) }
    };
    Ok(places(n, length, |j| length * u(j) / (a + (1.0 - a) * u(j))))
}

/// [`spacing_vinokur`] whose first and last interval are `ends`, not only nearly: its spacings are corrected until they
/// agree, unless equal intervals are no longer than the ends. It fails where that does.
pub fn spacing_between(n: usize, ends: [f64; 2], length: f64) -> Result<Vec<f64>, GeometryError> {
    let mut spacings = ends;
    let mut s = spacing_vinokur(n, ends[0], ends[1], length)?;
    let fits = n > 3 && (n - 1) as f64 * (ends[0] * ends[1]).sqrt() < length;
    for _ in 0..if fits { MOST_CORRECTIONS } else { 0 } {
        let found = [s[1], length - s[n - 2]];
        if [0, 1].iter().all(|&k| (found[k] / ends[k] - 1.0).abs() < 1e-12) {
            break;
        }
        spacings = [0, 1].map(|k| spacings[k] * ends[k] / found[k]);
        s = spacing_vinokur(n, spacings[0], spacings[1], length)?;
    }
    Ok(s)
}

/// Points whose intervals grow by a constant ratio from a spacing at the start.
///
/// sⱼ = L (e^{z j/(n−1)} − 1)/(e^z − 1), with z such that ds/dj is `start` at j = 0. Unlike
/// [`spacing_geometric`] it meets the spacing to first order in 1/n. Half the spacing with twice the
/// intervals gives points every other one of which is a point of the coarser distribution. If uniform
/// intervals are no longer than `start` the distribution is uniform. It fails where [`spacing_geometric`] does.
pub fn spacing_exponential(n: usize, start: f64, length: f64) -> Result<Vec<f64>, GeometryError> {
    check(n, &[("start spacing", start), ("length", length)])?;
    let intervals = (n - 1) as f64;
    let target = length / (start * intervals);
    if target <= 1.0 {
        return Ok(spacing_uniform(n, length));
    }
    // expm1(z)/z grows from 1, and is at least e^{z/2}.
    let excess = |z: f64| if z > 0.0 { (z.exp_m1() / z).ln() - target.ln() } else { -1.0 };
    let z = root(excess, 2.0 * target.ln());
    Ok(places(n, length, |j| length * (z * j as f64 / intervals).exp_m1() / z.exp_m1()))
}

/// Places of `n` points over a `length` whose intervals grow from both `ends` by one ratio, the least one with which they
/// fill it. Equal intervals where no ratio above 1 does.
pub fn spacing_to_walls(n: usize, ends: [f64; 2], length: f64) -> Result<Vec<f64>, GeometryError> {
    let [first, last] = ends;
    check(n, &[("start spacing", first), ("end spacing", last), ("length", length)])?;
    let intervals = (n - 1) as f64;
    let z = growth_to_walls(n, ends, length);
    if z < LEAST_LOGARITHM {
        return Ok(spacing_uniform(n, length));
    }
    let c = z.exp_m1();
    let below = (c * meeting(c, ends, length) / first).ln_1p() / z;
    let place = |k: usize| {
        let k = k as f64;
        if k <= below {
            first * (z * k).exp_m1() / c
        } else {
            length - last * (z * (intervals - k)).exp_m1() / c
        }
    };
    Ok(places(n, length, place))
}

/// Logarithm of the ratio r of intervals that grow from both `ends` over a `length` with `n` points, the least one with
/// which they fill it: with c = r − 1 and the place m = (length + (h₁ − h₀)/c)/2 where both halves have the same interval,
/// (n − 1) ln r = ln(1 + c m/h₀) + ln(1 + c (length − m)/h₁).
pub(crate) fn growth_to_walls(n: usize, ends: [f64; 2], length: f64) -> f64 {
    let missing = |z: f64| {
        let c = z.exp_m1();
        let m = meeting(c, ends, length);
        (n - 1) as f64 - ((c * m / ends[0]).ln_1p() + (c * (length - m) / ends[1]).ln_1p()) / z
    };
    root(missing, MOST_GROWTH.ln())
}

fn meeting(c: f64, [first, last]: [f64; 2], length: f64) -> f64 {
    (0.5 * (length + (last - first) / c)).clamp(0.0, length)
}

/// The last interval with which `z` is the logarithm of the ratio of intervals that grow from both ends, beside a `first`
/// one. None where that ratio is too small to fill the length.
///
/// The interval H at the place m is h₀ + c m and h₁ + c (length − m), and H²/(h₀ h₁) = r^(n − 1): a quadratic equation.
pub(crate) fn last_interval(n: usize, first: f64, z: f64, length: f64) -> Option<f64> {
    let largest = first * ((n - 1) as f64 * z).exp();
    let ratio = (first + z.exp_m1() * length) / largest;
    // 1 − √(1 − ratio) without cancellation.
    (ratio < 1.0).then(|| largest * (ratio / (1.0 + (1.0 - ratio).sqrt())).powi(2))
}

/// Largest growth of intervals from both ends, and the logarithm of a growth that is none.
const MOST_GROWTH: f64 = 10.0;
const LEAST_LOGARITHM: f64 = 1e-8;

/// 1 + tanh(½ d (e − 1)) / tanh(½ d) for 0 ≤ e ≤ 1: rises from 0 to 1, steepest at e = 1; equals e at d = 0.
///
/// Written as 2 w (1 − e^{−d e}) / ((1 + w)(1 − e^{−d})), w = e^{−d (1 − e)}, so that small values keep their
/// relative accuracy and nothing overflows.
fn tanh_ramp(d: f64, e: f64) -> f64 {
    if d < 1e-9 {
        return e;
    }
    let w = (-d * (1.0 - e)).exp();
    2.0 * w * (-d * e).exp_m1() / ((1.0 + w) * (-d).exp_m1())
}

/// ln(sinh(d)/d) for d ≥ 0; by its series if the quotient is within rounding of 1.
fn log_sinhc(d: f64) -> f64 {
    if d < 1e-2 {
        let d2 = d * d;
        return d2 / 6.0 - d2 * d2 / 180.0;
    }
    d + (-(-2.0 * d).exp_m1() / (2.0 * d)).ln()
}

/// Root of an increasing `f` in [0, `highest`].
fn root(f: impl Fn(f64) -> f64, highest: f64) -> f64 {
    let [low, high] = bisect(0.0, highest, |s| f(s) <= 0.0);
    0.5 * (low + high)
}

/// Refuses counts and lengths that cannot be spaced.
fn check(n: usize, lengths: &[(&'static str, f64)]) -> Result<(), GeometryError> {
    if n < 2 {
        return Err(GeometryError::TooFewToSpace { found: n, least: 2 });
    }
    for &(name, value) in lengths {
        if !(1e-100..=1e100).contains(&value) {
            let expected = "a positive number between 1e-100 and 1e100";
            return Err(GeometryError::Spacing { name, value, expected });
        }
    }
    Ok(())
}
