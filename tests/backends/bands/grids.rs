//! Grids on any number of bands agree.

use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use super::cases::{self, Case};
use super::ranks::JACOBI;

/// Compares each case with the grid of the CPU on these numbers of bands. The linear iterations may exceed those of
/// one band by a factor, plus two.
fn check(cases: &[(Case, &[usize], f64)]) {
    for (case, bands, more) in cases {
        let expected = case.on_cpu();
        let mut one = None;
        for &bands in *bands {
            let what = format!("{case:?}, {bands} bands");
            let linear = cases::check(*case, &expected, &case.on_bands(bands), &what);
            let most = more * *one.get_or_insert(linear) + 2.0;
            assert!(linear <= most, "{what}: {linear} iterations, at most {most}");
        }
    }
}

fn around(case: Case) -> Case {
    Case { periodic: true, ..case }
}

#[test]
fn diagonals_and_factors_of_each_band() {
    let dilu = Case { nodes: (65, 17), kind: Kind::Dilu, ..JACOBI };
    let walled = Case { wall: Wall::Coupled, kind: Kind::Ilu0, ..dilu };
    check(&[
        (JACOBI, &[1, 4], 1.2),
        (around(JACOBI), &[1, 3], 1.2),
        // The number of columns is odd. By the rounding of its sums two bands take one Newton step more than one.
        (Case { nodes: (50, 17), ..around(JACOBI) }, &[1, 2], 1.3),
        (Case { nodes: (33, 17), method: Method::Gmres, ..dilu }, &[1, 2], 3.0),
        (dilu, &[1, 4], 3.0),
        (Case { kind: Kind::Ilu0, ..around(dilu) }, &[1, 2], 3.0),
        (walled, &[1, 3], 3.5),
        (around(walled), &[1, 2], 3.5),
    ]);
}

#[test]
fn multigrid_across_bands() {
    let case = Case { nodes: (65, 17), kind: Kind::Multigrid, ..JACOBI };
    check(&[
        (Case { wall: Wall::Coupled, ..case }, &[1, 4], 1.3),
        // If each band solved its piece of the xi-lines by itself, two and four bands would take 27 iterations.
        (Case { nodes: (129, 17), ..case }, &[1, 2], 1.1),
        (around(case), &[1, 2], 1.3),
        // The number of columns is odd, so levels are cut at the seam.
        (Case { nodes: (66, 17), ..around(case) }, &[1, 2], 1.3),
    ]);
}
