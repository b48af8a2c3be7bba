//! Multigrid on real grids: counts, precision, periodic seams.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod support;

use gridgen::pde::control::{Base, Wall};
use gridgen::solver::precond::Kind;

use support::problems::{NEWTON, Setup};
use support::walls::WallPoints;

const SECTIONS: [&str; 2] = ["0012", "4412"];
const FIRST_CELLS: [f64; 3] = [1e-3, 1e-5, 1e-6];

#[test]
fn coupled_solves_take_few_steps_and_iterations_whatever_the_size() {
    for section in SECTIONS {
        for size in [(65, 33), (129, 65), (257, 129)] {
            for first_cell in FIRST_CELLS {
                let mut setup = Setup::<f64>::naca(section, size, first_cell, Wall::Coupled);

                let report = setup.solve(Kind::Multigrid, &NEWTON);

                let history = &report.history;
                let counts = (history.newton_iterations(), history.linear_iterations());
                assert!(report.stop.converged(), "{section} {size:?} {first_cell:e}");
                // Asked for: 8 Newton steps, 25 linear iterations.
                assert!(counts.0 <= 6 && counts.1 <= 15.0, "{section} {size:?}: {counts:?}");
            }
        }
    }
}

#[test]
fn single_precision_takes_the_counts_of_double() {
    for first_cell in FIRST_CELLS {
        let double = Setup::<f64>::naca("4412", (129, 65), first_cell, Wall::Coupled)
            .solve(Kind::Multigrid, &NEWTON)
            .history;
        let single = Setup::<f32>::naca("4412", (129, 65), first_cell, Wall::Coupled)
            .solve(Kind::Multigrid, &NEWTON)
            .history;

        assert_eq!(double.newton_iterations(), single.newton_iterations(), "{first_cell:e}");
        let more = (double.linear_iterations() - single.linear_iterations()).abs();
        assert!(more <= 1.0, "{first_cell:e}: {more}");
    }
}

#[test]
fn an_ellipse_with_a_periodic_seam_takes_few_iterations() {
    // 64 points wrap on every level; 62 and 65 do not and are cut.
    for (ni, limit) in [(65, 20.0), (63, 16.0), (66, 40.0)] {
        let mut setup = Setup::<f64>::new(
            &WallPoints::ellipse(0.3, ni),
            33,
            1e-3,
            Base::Marched,
            Wall::Coupled,
        );

        let report = setup.solve(Kind::Multigrid, &NEWTON);

        let count = report.history.linear_iterations();

        assert!(report.stop.converged() && count <= limit, "{ni}: {count}, {}", report.stop);
    }
}
