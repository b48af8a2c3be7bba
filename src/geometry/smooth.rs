//! The step to which points are rounded, and the curve of least bending near rounded or scattered ones.

use super::vector::{cross, difference, distance, foot};

/// Points within this many tolerances of the first become one knot; smaller values are tried if that is too far off.
const KNOTS: [f64; 3] = [4.0, 1.0, 0.0];
/// Updates of the weights, the range of their factors, and the share of the tolerance that distances approach.
const ROUNDS: usize = 90;
const CHANGE: [f64; 2] = [0.3, 1.3];
const SHARE: f64 = 0.9;
/// Least step that counts as rounding of the file, and the largest that counts as round-off, chords.
const LEAST_STEP: f64 = 5e-7;
const NO_DIFFERENCE: f64 = 1e-8;
/// Distance between points of a typical wall, chords, and the most changes of the bend's sign that are few.
const APART: f64 = 4e-3;
const FEW: usize = 10;
/// Larger contours are not examined.
const MOST_POINTS: usize = 20_000;

/// The step of which all coordinates, up to an offset, are multiples, by Euclid's algorithm.
pub(super) fn step(points: &[[f64; 2]], chord: f64) -> f64 {
    let first = points.first().copied().unwrap_or_default();
    points.iter().flat_map(|point| difference(*point, first)).fold(0.0, |step: f64, off| {
        let (mut a, mut b) = (step.max(off.abs()), step.min(off.abs()));
        while b > NO_DIFFERENCE * chord {
            (a, b) = (b, (a - b * (a / b).round()).abs());
        }
        a
    })
}

/// A note that the rounding to this step makes the contour bend to and fro, with the setting that corrects it.
pub(super) fn note(points: &[[f64; 2]], step: f64) -> Option<String> {
    let before = bends(points);
    if step < LEAST_STEP || before <= FEW || points.len() > MOST_POINTS {
        return None;
    }
    let tolerance = step * std::f64::consts::FRAC_1_SQRT_2;
    let (_, smooth): (Vec<usize>, Vec<_>) = smoothed(points, tolerance)?.into_iter().unzip();
    let after = bends(&smooth);
    (2 * after < before).then(|| {
        format!(
            "The coordinates are rounded to steps of {step:.1e} chord, by which the contour changes the sense of its \
             bend {before} times; geometry.smooth = {tolerance:.1e}, within that rounding, leaves {after}."
        )
    })
}

/// Number of changes of the bend's sign along points that are as far apart as those of a wall.
fn bends(points: &[[f64; 2]]) -> usize {
    let mut apart = points.to_vec();
    apart.dedup_by(|next, last| distance(*last, *next) < APART);
    let turn = |w: &[[f64; 2]]| cross(difference(w[1], w[0]), difference(w[2], w[1]));
    apart.windows(4).filter(|w| turn(w) * turn(&w[1..]) < 0.0).count()
}

/// Knots of a smooth curve that is nowhere farther than `tolerance` from the points, each with the number of
/// its first point. Both ends are kept. `None` if there is no such curve.
pub(super) fn smoothed(points: &[[f64; 2]], tolerance: f64) -> Option<Vec<(usize, [f64; 2])>> {
    KNOTS.iter().find_map(|reach| near(points, reach * tolerance, tolerance))
}

/// The smoothest such curve through knots, each of which replaces the points within `reach` of the first.
///
/// Let Q and R be the matrices of second differences and of the integrals of products of hat functions, p the
/// knots and W their weights. Then r = p − W⁻¹ Q γ with (R + Qᵀ W⁻¹ Q) γ = Qᵀ p minimises
/// Σ wₖ |rₖ − pₖ|² + ∫ |r''|². A weight grows where a point is off by more than the tolerance, and shrinks elsewhere.
///
/// Source: C. Reinsch, *Smoothing by spline functions*, Numer. Math. 10 (1967) 177–183.
fn near(points: &[[f64; 2]], reach: f64, tolerance: f64) -> Option<Vec<(usize, [f64; 2])>> {
    let mut groups: Vec<(usize, Vec<[f64; 2]>)> = Vec::new();
    for (k, point) in points.iter().enumerate() {
        match groups.last_mut() {
            Some((_, group)) if distance(group[0], *point) <= reach => group.push(*point),
            _ => groups.push((k, vec![*point])),
        }
    }
    let n = groups.len();
    let mean = |group: &[[f64; 2]]| {
        [0, 1].map(|c| group.iter().map(|p| p[c]).sum::<f64>() / group.len() as f64)
    };
    let mut knots: Vec<[f64; 2]> = groups.iter().map(|(_, group)| mean(group)).collect();
    (knots[0], knots[n - 1]) = (points[0], points[points.len() - 1]);
    let h: Vec<f64> = knots.windows(2).map(|w| distance(w[0], w[1])).collect();
    if n < 4 || h.iter().any(|h| *h <= 0.0) {
        return None;
    }
    // 1/h, with zeros beyond both ends. γ is padded in the same way: its element k + 1 belongs to knot k.
    let p = |k: usize| if (1..n).contains(&k) { 1.0 / h[k - 1] } else { 0.0 };
    let mut found = None;
    let mut v = vec![1e-6; n];
    (v[0], v[n - 1]) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        let (mut d, mut e, mut f) = (vec![1.0; n + 2], vec![0.0; n + 2], vec![0.0; n + 2]);
        let mut gamma = vec![[0.0; 2]; n + 3];
        for k in 1..n - 1 {
            // Row k of the pentadiagonal matrix, factorised as L D Lᵀ.
            let (q, next) = (p(k) + p(k + 1), p(k + 1) + p(k + 2));
            let a = v[k - 1] * p(k) * p(k) + v[k] * q * q + v[k + 1] * p(k + 1) * p(k + 1);
            let b = h[k] / 6.0 - p(k + 1) * (v[k] * q + v[k + 1] * next);
            let i = k + 1;
            d[i] = a + (h[k - 1] + h[k]) / 3.0
                - e[i - 1] * e[i - 1] * d[i - 1]
                - f[i - 2] * f[i - 2] * d[i - 2];
            e[i] = (b - f[i - 1] * e[i - 1] * d[i - 1]) / d[i];
            f[i] = v[k + 1] * p(k + 1) * p(k + 2) / d[i];
            gamma[i] = [0, 1].map(|c| {
                let right = p(k) * (knots[k - 1][c] - knots[k][c])
                    + p(k + 1) * (knots[k + 1][c] - knots[k][c]);
                right - e[i - 1] * gamma[i - 1][c] - f[i - 2] * gamma[i - 2][c]
            });
        }
        for i in (2..n).rev() {
            let (near, far) =
                if i + 1 < n { (gamma[i + 1], gamma[i + 2]) } else { Default::default() };
            gamma[i] = [0, 1].map(|c| gamma[i][c] / d[i] - e[i] * near[c] - f[i] * far[c]);
        }
        let off = |k: usize, c: usize| {
            p(k) * (gamma[k][c] - gamma[k + 1][c]) + p(k + 1) * (gamma[k + 2][c] - gamma[k + 1][c])
        };
        let curve: Vec<[f64; 2]> =
            (0..n).map(|k| [0, 1].map(|c| knots[k][c] - v[k] * off(k, c))).collect();
        let away = |k: usize, point: [f64; 2]| {
            let pieces = (k.max(1)..=(k + 1).min(n - 1)).map(|k| [curve[k - 1], curve[k]]);
            pieces.map(|piece| distance(point, foot(point, piece))).fold(f64::INFINITY, f64::min)
        };
        let of_group = |k: usize| groups[k].1.iter().map(|p| away(k, *p)).fold(0.0, f64::max);
        let farthest: Vec<f64> = (0..n).map(of_group).collect();
        for (v, far) in v.iter_mut().zip(&farthest) {
            *v = (*v * (SHARE * tolerance / far).clamp(CHANGE[0], CHANGE[1])).min(1e3);
        }
        if farthest.iter().all(|far| *far <= tolerance) {
            found = Some(groups.iter().map(|group| group.0).zip(curve).collect());
        }
    }
    found
}
