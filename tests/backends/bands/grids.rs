//! Grids on any number of bands agree.

use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use super::cases::{self, Case};
use super::ranks::JACOBI;

/// Compares with the grid of the CPU. The linear iterations may exceed those of one band by the factor
/// `more`, plus two.
fn check(case: Case, bands: &[usize], more: f64) {
    let expected = case.on_cpu();
    let mut one = None;
    for &bands in bands {
        let what = format!("{bands} bands");
        let linear = cases::check(case, &expected, &case.on_bands(bands), &what);
        let most = more * *one.get_or_insert(linear) + 2.0;
        assert!(linear <= most, "{what}: {linear} iterations, at most {most}");
    }
}

#[test]
fn jacobi_with_a_held_seam() {
    check(JACOBI, &[1, 2, 4], 1.2);
}

#[test]
fn jacobi_around_a_periodic_seam() {
    check(Case { periodic: true, ..JACOBI }, &[1, 3], 1.2);
    // The number of columns is odd. By the rounding of its sums two bands take one Newton step more than one.
    check(Case { periodic: true, nodes: (50, 17), ..JACOBI }, &[1, 2], 1.3);
}

#[test]
fn gmres_in_bands() {
    let case = Case { nodes: (33, 17), method: Method::Gmres, kind: Kind::Dilu, ..JACOBI };
    check(case, &[1, 2], 3.0);
}

#[test]
fn incomplete_factors_of_each_band() {
    let case = Case { nodes: (65, 17), kind: Kind::Dilu, ..JACOBI };
    check(case, &[1, 4], 3.0);
    check(Case { kind: Kind::Ilu0, periodic: true, ..case }, &[1, 2], 3.0);
}

#[test]
fn wall_terms_by_incomplete_factors() {
    let case = Case { wall: Wall::Coupled, nodes: (65, 17), kind: Kind::Ilu0, ..JACOBI };
    check(case, &[1, 3], 3.5);
    check(Case { periodic: true, ..case }, &[1, 2], 3.5);
}

const MULTIGRID: Case = Case { nodes: (65, 17), kind: Kind::Multigrid, ..JACOBI };

#[test]
fn multigrid_with_a_held_seam() {
    let case = Case { wall: Wall::Coupled, ..MULTIGRID };
    check(case, &[1, 2, 4], 1.3);
}

/// If each band solved its piece of the xi-lines by itself, two and four bands would take 27 iterations.
#[test]
fn xi_lines_across_borders_take_no_more_iterations() {
    check(Case { nodes: (129, 17), ..MULTIGRID }, &[1, 2, 4], 1.1);
}

#[test]
fn multigrid_around_a_periodic_seam() {
    check(Case { periodic: true, ..MULTIGRID }, &[1, 2], 1.3);
    // The number of columns is odd, so levels are cut at the seam.
    check(Case { periodic: true, nodes: (66, 17), ..MULTIGRID }, &[1, 2], 1.3);
}
