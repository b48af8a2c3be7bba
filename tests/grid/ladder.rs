//! Verdicts on grids, and the retries when a grid is not as good as the case requires.

use gridgen::generate::GridResult;
use gridgen::grid::{Grid, Limited, Verdict};

use support::vectors::{less, turn};

use super::golden::EXCELLENT;
use super::{Family, case, family};

/// A wing-body section on 257 × 49 points. Its largest skewness is 0.2276; with four times the dissipation in
/// the march it is 0.358, with half the decay 0.2267.
fn wing_body(quality: &str) -> GridResult {
    let text = format!(
        "[geometry]\nwing_body = {{}}\n\
         [grid]\nni = 257\nnj = 49\nfirst_cell = 1e-3\nfar_field = 10.0\n\
         [initial]\nvolume_smoothing = 0.3\n[output]\npictures = false\nformats = [\"vts\"]\n[quality]\n{quality}\n"
    );
    let Family { made, folder } = family(&case(&text), 1).unwrap();
    let mesh = if made.is_good() { "mesh.vts" } else { "mesh.failed.vts" };
    assert!(folder.path().join(mesh).is_file(), "{mesh}");
    made
}

/// The equiangle skewness that the wall forces on a grid: where it turns, the two cells beside a line have half
/// a turn plus 180° between them, so one of them is off a right angle by half the turn or more.
fn forced(grid: &Grid) -> f64 {
    let n = grid.ni - 1;
    let step = |i: usize| less(grid.point(i % n + 1, 0), grid.point(i % n, 0));
    let turns = (0..n).map(|i| turn(step(i), step(i + 1)).abs());
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
    assert_eq!(
        notices[2],
        "tried a shorter reach of the wall terms (control.decay = 1.5): the grid is good"
    );
}

/// The half span is 2.41 reference lengths.
#[test]
fn a_body_that_fills_the_far_field_is_refused() {
    let case = case("geometry.wing_body = {}\ngrid.far_field = 4.0\n");

    let error = gridgen::Error::from(case.settle().unwrap_err()).to_string();

    assert!(error.starts_with("wing.toml:2: far field 4: at least 4.8"), "{error}");
}

/// No grid could keep this limit on this wall.
#[test]
fn where_nothing_helps_the_grid_of_the_case_fails() {
    let outcome = wing_body("max_skewness = 0.09\nladder = [\"decay\"]");
    assert!(forced(&outcome.grid) > 0.09, "{}", forced(&outcome.grid));

    let Verdict::BeyondLimit { measure: Limited::Skewness, value, limit } = outcome.verdict else {
        panic!("{}", outcome.verdict);
    };
    assert!((value - 0.2276).abs() < 1e-4 && (limit - 0.09).abs() < 1e-15, "{value} {limit}");
    assert_eq!(outcome.notices.len(), 2, "{:?}", outcome.notices);
}

#[test]
fn without_retry_nothing_is_tried() {
    let outcome = wing_body("max_skewness = 0.1\nretry = false");

    assert!(!outcome.verdict.is_good() && outcome.notices.is_empty(), "{outcome:?}");
}

/// Only the march remains of the default ladder here.
#[test]
fn keys_that_are_given_are_left_as_they_are() {
    let outcome = wing_body(
        "max_skewness = 0.1\n[control]\ndecay = 3.0\nsmoothing_columns = 3\nbase = \"marched\"\n",
    );

    assert!(!outcome.verdict.is_good(), "{outcome:?}");
    let tried: Vec<_> = outcome.notices.iter().filter(|note| note.starts_with("tried ")).collect();
    assert_eq!(tried.len(), 1, "{tried:?}");
    assert!(tried[0].starts_with("tried a smoother march"), "{tried:?}");
}

#[test]
fn one_folded_cell_is_singular() {
    let [one, two] = [1, 2].map(|cells| Verdict::Folded { cells }.to_string());

    assert_eq!([&*one, &*two], ["the grid has a folded cell", "the grid has 2 folded cells"]);
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

/// NaN satisfies no limit.
#[test]
fn no_number_is_beyond_every_limit() {
    let angle = f64::NAN;
    let verdict = Verdict::BeyondLimit { measure: Limited::WallAngle, value: angle, limit: 0.5 };

    let said = verdict.to_string();

    assert!(said.ends_with("wall angle error is NaN degrees, above 0.5 degrees"), "{said}");
    assert!(!verdict.is_good());
}

/// A wake of few cells, which grow by 1.4 from one to the next, is marched with more smoothing.
#[test]
fn a_short_wake_of_a_c_grid_needs_no_second_try() {
    let text = "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\nni = 257\nnj = 129\nwake = 24\n\
                first_cell = 1e-4\n[output]\npictures = false\nformats = [\"vts\"]\n";
    let outcome = family(&case(text), 1).unwrap().made;

    assert!(outcome.verdict.is_good(), "{outcome:?}");
    assert!(!outcome.notices.iter().any(|notice| notice.contains("tried")), "{outcome:?}");
    assert!(outcome.newton_iterations() <= 6, "{outcome:?}");
}
