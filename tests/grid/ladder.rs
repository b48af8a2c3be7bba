//! Verdicts on grids, and the retries when a grid is not as good as the case requires.

use gridgen::generate::GridResult;
use gridgen::grid::{Grid, Limited, Verdict};

use support::vectors::closed_turns;

use super::golden::EXCELLENT;
use super::{WING_BODY, case, good, line, make};

/// The grid of [`WING_BODY`]. Its largest skewness is 0.2276; with four times the dissipation in
/// the march it is 0.358, with half the decay 0.2267.
fn wing_body(quality: &str) -> GridResult {
    let text = format!("{WING_BODY}[initial]\nvolume_smoothing = 0.3\n[quality]\n{quality}\n");
    make(&case(&text)).unwrap()
}

/// The equiangle skewness that the wall forces on a grid: where it turns, the two cells beside a line have half
/// a turn plus 180° between them, so one of them is off a right angle by half the turn or more.
fn forced(grid: &Grid) -> f64 {
    let turns = closed_turns(&line(grid, 0)).into_iter().map(f64::abs);
    turns.fold(0.0, f64::max).to_degrees() / 2.0 / 90.0
}

#[test]
fn the_first_grid_that_keeps_the_limit_is_taken_and_every_try_is_said() {
    let outcome = wing_body("max_skewness = 0.2272");

    assert!(outcome.verdict.is_good(), "{outcome:?}");
    assert!(outcome.quality.max_skewness <= 0.2272);
    assert!(outcome.quality.max_skewness <= EXCELLENT);
    assert!(outcome.quality.max_skewness >= forced(&outcome.grid), "{}", forced(&outcome.grid));
    let notices = &outcome.notices;
    assert_eq!(notices.len(), 3, "{notices:?}");
    let beyond = "the grid is beyond a limit of the case: the largest skewness is ";
    assert!(notices[0].starts_with(&format!("{beyond}0.228")), "{notices:?}");
    assert!(notices[0].ends_with(", above 0.2272; tried again"), "{notices:?}");
    assert!(notices[1].starts_with("tried a smoother march (initial.dissipation = 0.8)"));
    assert!(notices[1].ends_with("above 0.2272"), "{notices:?}");
    let last = "tried a shorter reach of the wall terms (control.decay = 1.5): the grid is good";
    assert_eq!(notices[2], last);
}

/// The half span is 2.41 reference lengths.
#[test]
fn a_body_that_fills_the_far_field_is_refused() {
    let case = case("geometry.wing_body = {}\ngrid.far_field = 4.0\n");

    let error = gridgen::Error::from(case.settle().unwrap_err()).to_string();

    assert!(error.starts_with("wing.toml:2: far field 4: at least 4.8"), "{error}");
}

/// No grid could keep this limit on this wall. Keys that are given leave the march alone of the default ladder.
#[test]
fn where_nothing_helps_the_grid_of_the_case_fails_after_the_tries_that_are_left() {
    let given = "[control]\ndecay = 3.0\nsmoothing_columns = 3\nbase = \"marched\"";
    for (keys, skewness, tries) in [
        ("ladder = [\"decay\"]", 0.2276, &["tried a shorter reach of the wall terms"][..]),
        ("retry = false", 0.2276, &[]),
        (given, 0.2210, &["tried a smoother march"]),
    ] {
        let outcome = wing_body(&format!("max_skewness = 0.09\n{keys}"));

        assert!(forced(&outcome.grid) > 0.09, "{}", forced(&outcome.grid));
        let Verdict::BeyondLimit { measure: Limited::Skewness, value, limit } = outcome.verdict
        else {
            panic!("{}", outcome.verdict);
        };
        assert!((value - skewness).abs() < 1e-4 && (limit - 0.09).abs() < 1e-15, "{value} {limit}");
        // The first notice says why something is tried.
        let tried = outcome.notices.get(1..).unwrap_or_default();
        assert_eq!(outcome.notices.is_empty(), tries.is_empty(), "{:?}", outcome.notices);
        assert_eq!(tried.len(), tries.len(), "{tried:?}");
        assert!(tried.iter().zip(tries).all(|(note, of)| note.starts_with(of)), "{tried:?}");
    }
}

#[test]
fn a_family_is_as_bad_as_its_worst_grid() {
    let skew = || Verdict::BeyondLimit { measure: Limited::Skewness, value: 0.9, limit: 0.5 };
    let folded = |cells| Verdict::Folded { cells };
    let short = || Verdict::NotConverged { reason: "30 steps".into() };

    assert_eq!(Verdict::Good.and(Verdict::Good), Verdict::Good);
    assert_eq!(Verdict::Good.and(skew()), skew());
    assert_eq!(folded(2).and(skew()), folded(2));
    assert_eq!(skew().and(folded(2)).and(folded(3)), folded(5));
    assert_eq!(folded(1).and(short()), short());
    let curved = |cells, at| Verdict::FoldedCurved { cells, order: 2, at: [at, 0.0] };
    assert_eq!(Verdict::Good.and(curved(1, 0.5)), curved(1, 0.5));
    assert_eq!(skew().and(curved(1, 0.5)).and(curved(2, 0.7)), curved(3, 0.5));
    assert_eq!(curved(1, 0.5).and(folded(2)), folded(2));
}

/// One folded cell is singular. NaN satisfies no limit.
#[test]
fn bad_verdicts_say_why() {
    let angle = |value| Verdict::BeyondLimit { measure: Limited::WallAngle, value, limit: 0.5 };
    for (verdict, said) in [
        (Verdict::Folded { cells: 1 }, "the grid has a folded cell"),
        (Verdict::Folded { cells: 2 }, "the grid has 2 folded cells"),
        (angle(f64::NAN), "wall angle error is NaN degrees, above 0.5 degrees"),
    ] {
        assert!(verdict.to_string().ends_with(said) && !verdict.is_good(), "{verdict}");
    }
}

/// A wake of few cells, which grow by 1.4 from one to the next, is marched with more smoothing.
#[test]
fn a_short_wake_of_a_c_grid_needs_no_second_try() {
    let text = "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\nni = 257\nnj = 129\nwake = 24\n\
                first_cell = 1e-4\n";
    let outcome = good(text);

    assert!(!outcome.notices.iter().any(|notice| notice.contains("tried")), "{outcome:?}");
    assert!(outcome.newton_iterations() <= 6, "{outcome:?}");
}
