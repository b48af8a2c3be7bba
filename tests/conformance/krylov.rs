//! BiCGStab with Jacobi, several iterations of which a device does in one recording.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{Algebraic, LevelSize, SparseMatrix};
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Bicgstab, KrylovReport, System, Target};

use super::{Subject, random, to_device, to_host};
use support::linear::apart;
use support::stencil::laplacian;

const POINTS: LevelSize = LevelSize { mi: 60, mj: 48, periodic: false };

/// The report of a solve, x, and the observed iterations and residuals.
type Solved = (KrylovReport, Vec<f64>, Vec<(f64, f64)>);

fn solve<S: Subject>(subject: &S, target: Target) -> Solved {
    // The matrix is so well conditioned that rounding hardly changes the number of iterations.
    let (pattern, values) = laplacian(POINTS, 4.05, -1.0);
    let (a, n) = (subject.matrix_from(pattern, &values), pattern.rows());
    let (b, mut x) = (to_device(subject, &random::<f64>(7, n)), subject.zeros(n).unwrap());
    let mut preconditioner = a.preconditioner(subject, Algebraic::Jacobi).unwrap();
    preconditioner.update(subject, &a).unwrap();
    let mut observed = Vec::new();
    let observe = &mut |iteration, residual| observed.push((iteration, residual));
    let mut system = System::new(subject, (&a, &b), &mut *preconditioner, observe);
    let report = Bicgstab::new(subject, n).unwrap().solve(&mut system, target, &mut x).unwrap();
    (report, to_host(subject, &x, n), observed)
}

pub fn iterations_are_observed_one_by_one_to_the_limit<S: Subject>(subject: &S) {
    // The limits are neither multiples of a recording nor all above its length.
    for max_iterations in [3, 17, 43] {
        let target = Target { norm: 0.0, max_iterations };
        let (expected, found) = (solve(&CpuBackend, target), solve(subject, target));

        let numbers: Vec<f64> = found.2.iter().map(|(iteration, _)| *iteration).collect();
        assert_eq!(numbers, (1..=max_iterations).map(|k| k as f64).collect::<Vec<_>>());
        assert_eq!(found.0.stop, LinearStop::IterationLimit);
        for ((_, found), (_, expected)) in found.2.iter().zip(&expected.2).take(25) {
            assert!((found / expected - 1.0).abs() < 1e-6, "{found:e} for {expected:e}");
        }
    }
}

pub fn iterations_after_the_target_change_nothing<S: Subject>(subject: &S) {
    for norm in [1e-2, 1e-9] {
        let target = Target { norm, max_iterations: 500 };
        let (expected, found) = (solve(&CpuBackend, target), solve(subject, target));

        assert_eq!(found.0.stop, LinearStop::Converged);
        assert!(found.0.residual <= 1.01 * norm, "{:e}", found.0.residual);
        let (more, iterations) = (found.0.iterations, expected.0.iterations);
        assert!((more - iterations).abs() <= 0.1 * iterations, "{more} for {iterations}");
        let farthest = apart(&found.1, &expected.1);
        assert!(farthest < 1e3 * norm, "{farthest:e}");
    }
}
