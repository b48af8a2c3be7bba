//! Multigrid on real grids: counts, precision, periodic seams.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod support;

use gridgen::backend::Scaling;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::GridPreconditioner;
use gridgen::pde::control::{Base, Wall};
use gridgen::solver::precond::{Cycle, Kind, MultigridSettings};
use gridgen::solver::{LinearOperator, NonlinearProblem, Preconditioner};

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

/// ‖e‖ after over ‖e‖ before the last of 30 cycles e ← e − M⁻¹ A e, without a Krylov method, on the
/// first Newton matrix, from an error of all frequencies.
fn stationary_factor(setup: &mut Setup<f64>, multigrid: MultigridSettings) -> f64 {
    let (n, backend) = (setup.n(), CpuBackend);
    let Setup { problem, u, .. } = setup;
    let mut cycle = GridPreconditioner::new(Kind::Multigrid, multigrid, problem.size());
    let (mut r, mut z) = (vec![0.0; n], vec![0.0; n]);
    problem.residual(&backend, u, Scaling::Renewed, &mut r).unwrap();
    let jacobian = problem.linearise(&backend).unwrap();
    cycle.update(&backend, jacobian).unwrap();
    let norm = |e: &[f64]| e.iter().map(|e| e * e).sum::<f64>().sqrt();
    let mut e: Vec<f64> = (0..n).map(|k| ((k * k) as f64 * 0.37).sin()).collect();
    let mut factor = f64::NAN;
    for _ in 0..30 {
        let before = norm(&e);
        for e in &mut e {
            *e /= before;
        }
        jacobian.apply(&backend, &e, &mut r).unwrap();
        cycle.apply(&backend, jacobian, &r, &mut z).unwrap();
        for (e, z) in e.iter_mut().zip(&z) {
            *e -= z;
        }
        factor = norm(&e);
    }
    factor
}

#[test]
fn the_stronger_cycle_alone_contracts_every_error() {
    for (section, size) in [("0012", (65, 33)), ("4412", (129, 65)), ("0012", (257, 129))] {
        for first_cell in FIRST_CELLS {
            let mut setup = Setup::<f64>::naca(section, size, first_cell, Wall::Frozen);
            let strong =
                MultigridSettings { cycle: Cycle::W, sweeps: 2, ..MultigridSettings::default() };

            let factor = stationary_factor(&mut setup, strong);

            // Asked for: 0.15. The default cycle, of less than half the work, leaves 0.16 to 0.46; with
            // BiCGStab around it each iteration leaves less than 0.15: the counts of
            // `multigrid_needs_at_most_five_iterations_at_every_size`.
            assert!(factor < 0.15, "{section} {size:?} {first_cell:e}: {factor:.3}");
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
