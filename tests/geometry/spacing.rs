//! One-dimensional distributions.

use gridgen::geometry::{
    GeometryError, refined_first, spacing_exponential, spacing_geometric, spacing_layered,
    spacing_vinokur,
};
use proptest::prelude::*;

fn intervals(s: &[f64]) -> Vec<f64> {
    s.windows(2).map(|w| w[1] - w[0]).collect()
}

/// True if s rises from exactly 0 to exactly `length`.
fn rises(s: &[f64], length: f64) -> bool {
    let ends = [s[0], s[s.len() - 1]].map(f64::to_bits);
    ends == [0, length.to_bits()] && intervals(s).iter().all(|step| *step > 0.0)
}

proptest! {
    #[test]
    fn geometric_spacing_has_exact_ends_and_first_interval_and_one_ratio(
        n in 3_usize..400, log_first in -9.0..0.5_f64, log_length in -3.0..3.0_f64,
    ) {
        let length = 10_f64.powf(log_length);
        let first = length * 10_f64.powf(log_first);

        let s = spacing_geometric(n, first, length).unwrap();

        prop_assert_eq!(s.len(), n);
        prop_assert!(rises(&s, length));
        if first * (n - 1) as f64 <= length {
            prop_assert!((s[1] - first).abs() <= 1e-15 * length);
        }
        // Differences of numbers near 1 have an error of 1e-16, so only large ones are compared.
        let d = intervals(&s);
        let ratio = d[n - 2] / d[n - 3];
        for w in d.windows(2).filter(|w| w[0] > 1e-4 * length) {
            prop_assert!((w[1] / w[0] - ratio).abs() < 1e-9 * ratio);
        }
    }

    #[test]
    fn layered_spacing_has_the_given_growth_and_passes_to_the_other_without_a_jump(
        n in 40_usize..300, count in 1_usize..30, growth in 1.0..1.3_f64, log_first in -6.0..-4.0_f64,
    ) {
        let (length, first) = (20.0, 10_f64.powf(log_first));

        let Ok(s) = spacing_layered(n, first, (count, growth), length) else {
            // Refused, since the layers and equal ones behind them are longer already.
            let all = (count + 5).min(n) as f64;
            prop_assert!(first * growth.powf(all) * n as f64 > 0.5 * length);
            return Ok(());
        };

        prop_assert!(rises(&s, length));
        let d = intervals(&s);
        let ratios: Vec<f64> = d.windows(2).map(|w| w[1] / w[0]).collect();
        prop_assert!((d[0] / first - 1.0).abs() < 1e-12);
        for ratio in &ratios[..count - 1] {
            prop_assert!((ratio / growth - 1.0).abs() < 1e-6);
        }
        let last = ratios[n - 4];
        for pair in ratios.windows(2) {
            prop_assert!((pair[1] / pair[0]).ln().abs() < (last / growth).ln().abs() / 4.0 + 1e-6);
        }
    }

    #[test]
    fn vinokur_spacing_is_monotone_with_exact_ends(
        n in 2_usize..400, log0 in -7.0..0.0_f64, log1 in -7.0..0.0_f64, length in 0.01..100.0_f64,
    ) {
        let (h0, h1) = (length * 10_f64.powf(log0), length * 10_f64.powf(log1));

        let s = spacing_vinokur(n, h0, h1, length).unwrap();

        prop_assert_eq!(s.len(), n);
        prop_assert!(rises(&s, length));
    }
}

#[test]
fn a_ratio_within_rounding_of_one_keeps_equal_intervals() {
    for excess in [1e-15, 1e-13, 1e-10, 1e-7] {
        let length = 100.0 * (1.0 + excess);

        let d = intervals(&spacing_geometric(101, 1.0, length).unwrap());

        // The intervals grow from 1 to about 1 + 2 excess; differences of numbers up to 100 have an error of
        // 3e-14.
        for d in d {
            assert!((d - 1.0).abs() < 3.0 * excess + 1e-13, "{excess}: {d}");
        }
    }
}

#[test]
fn spacings_with_room_to_spare_are_uniform() {
    for first in [0.25, 0.3, 7.0] {
        assert_eq!(spacing_geometric(5, first, 1.0).unwrap(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    }
    assert_eq!(spacing_exponential(5, 1.0, 2.0).unwrap(), [0.0, 0.5, 1.0, 1.5, 2.0]);
}

#[test]
fn vinokur_meets_both_end_spacings_ever_better_with_more_points() {
    let misfit = |n: usize| {
        // The function of e is the same, since the spacings shrink with the number of points.
        let unit = 1.0 / (n - 1) as f64;
        let d = intervals(&spacing_vinokur(n, 0.2 * unit, 0.1 * unit, 1.0).unwrap());
        (d[0] / (0.2 * unit) - 1.0).abs().max((d[n - 2] / (0.1 * unit) - 1.0).abs())
    };

    assert!(misfit(101) < 0.1);
    assert!((misfit(101) / misfit(201) - 2.0).abs() < 0.1, "first order in 1/n");
}

#[test]
fn vinokur_agrees_with_the_published_formula() {
    // n = 9, h0 = 0.02, h1 = 0.05, L = 1, evaluated independently, with d from SciPy's brentq.
    let expected = [
        0.000000000000000,
        0.029974432737000,
        0.091661971022516,
        0.206840750510188,
        0.387425886722793,
        0.605344411043678,
        0.798543871203754,
        0.928288198991182,
        1.000000000000000,
    ];

    let s = spacing_vinokur(9, 0.02, 0.05, 1.0).unwrap();

    for (s, expected) in s.iter().zip(expected) {
        assert!((s - expected).abs() < 1e-13, "{s} {expected}");
    }
}

#[test]
fn counts_and_lengths_that_cannot_be_spaced_are_refused() {
    let few = spacing_geometric(1, 0.1, 1.0).unwrap_err();
    assert!(matches!(few, GeometryError::TooFewToSpace { found: 1, least: 2 }));

    for (first, length) in [(0.0, 1.0), (-0.1, 1.0), (f64::NAN, 1.0), (0.1, f64::INFINITY)] {
        for result in [spacing_geometric(9, first, length), spacing_vinokur(9, first, 0.1, length)]
        {
            assert!(matches!(result, Err(GeometryError::Spacing { .. })), "{first} {length}");
        }
    }
}

#[test]
fn halving_an_exponential_spacing_keeps_its_points() {
    let coarse = spacing_exponential(33, 4e-3, 500.0).unwrap();
    let fine = spacing_exponential(129, 1e-3, 500.0).unwrap();

    assert_eq!((coarse[0], coarse[32]), (0.0, 500.0));
    for (j, s) in coarse.iter().enumerate() {
        assert!((fine[4 * j] - s).abs() <= 1e-12 * s, "{j}: {} {s}", fine[4 * j]);
    }
    // ds/dj at the start is the limit of s/j as the spacing is refined.
    let finest = spacing_exponential(32 * 4096 + 1, 4e-3 / 4096.0, 500.0).unwrap();
    assert!((finest[1] * 4096.0 / 4e-3 - 1.0).abs() < 1e-4, "{}", finest[1] * 4096.0);
}

#[test]
fn a_refined_first_interval_keeps_the_layers() {
    for (n, first, length, factor) in
        [(65, 3.7e-6, 500.0, 8), (17, 0.05, 1.0, 3), (9, 0.125, 1.0, 4)]
    {
        let coarse = spacing_geometric(n, first, length).unwrap();
        let fine = refined_first(n, first, length, factor).unwrap();

        let layers = spacing_geometric((n - 1) * factor + 1, fine, length).unwrap();

        for (j, s) in coarse.iter().enumerate() {
            let found = layers[factor * j];
            assert!((found - s).abs() < 1e-9 * s.max(first), "{n} {j}: {found} {s}");
        }
    }
}
