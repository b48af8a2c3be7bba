//! BiCGStab with Jacobi, several iterations of which a device does in one recording.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{Algebraic, LevelSize, SparseBackend, SparseMatrix};
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::{Bicgstab, KrylovReport, System, Target};
use gridgen::sparse::EllPattern;

use super::{Subject, random, to_device, to_host};
use support::linear::apart;

const POINTS: LevelSize = LevelSize { mi: 60, mj: 48, periodic: false };

/// Five-point differences of both variables with a shift and without coupling: so well conditioned that
/// rounding hardly changes the number of iterations.
fn laplacian() -> (EllPattern, Vec<f64>) {
    let LevelSize { mi, .. } = POINTS;
    let pattern = EllPattern::NinePoint(POINTS);
    let mut values = vec![0.0; pattern.rows() * pattern.width()];
    let place = |row: usize| (row / 2 % mi, row / 2 / mi, row % 2);
    for row in 0..pattern.rows() {
        let (i, j, variable) = place(row);
        for (at, column) in pattern.row(row) {
            let (other_i, other_j, other) = place(column);
            let distance = i.abs_diff(other_i) + j.abs_diff(other_j);
            values[at] = match distance {
                0 if other == variable => 4.05,
                1 if other == variable => -1.0,
                _ => 0.0,
            };
        }
    }
    (pattern, values)
}

/// The report of a solve, x, and the observed iterations and residuals.
type Solved = (KrylovReport, Vec<f64>, Vec<(f64, f64)>);

fn solve<B: SparseBackend>(
    backend: &B,
    a: &B::Matrix<f64>,
    b: &B::Vector<f64>,
    mut x: B::Vector<f64>,
    target: Target,
    host: impl Fn(&B::Vector<f64>) -> Vec<f64>,
) -> Solved {
    let mut preconditioner = a.preconditioner(backend, Algebraic::Jacobi).unwrap();
    preconditioner.update(backend, a).unwrap();
    let mut observed = Vec::new();
    let observe = &mut |iteration, residual| observed.push((iteration, residual));
    let mut system = System::new(backend, (a, b), &mut *preconditioner, observe);
    let n = 2 * POINTS.mi * POINTS.mj;
    let mut krylov = Bicgstab::new(backend, n).unwrap();
    let report = krylov.solve(&mut system, target, &mut x).unwrap();
    (report, host(&x), observed)
}

/// Solves on the CPU and on the subject.
fn solves<S: Subject>(subject: &S, target: Target) -> [Solved; 2] {
    let (pattern, values) = laplacian();
    let b = random::<f64>(7, pattern.rows());
    let zeros = vec![0.0; b.len()];
    let a = EllMatrix::from_values(pattern, values.clone());
    let expected = solve(&CpuBackend, &a, &b, zeros.clone(), target, Clone::clone);
    let a = subject.matrix_from(pattern, &values);
    let [right, x] = [&b, &zeros].map(|v| to_device(subject, v));
    let host = |x: &S::Vector<f64>| to_host(subject, x, b.len());
    [expected, solve(subject, &a, &right, x, target, host)]
}

pub fn iterations_are_observed_one_by_one_to_the_limit<S: Subject>(subject: &S) {
    // The limits are neither multiples of a recording nor all above its length.
    for max_iterations in [3, 17, 43] {
        let target = Target { norm: 0.0, max_iterations };
        let [expected, found] = solves(subject, target);

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
        let [expected, found] = solves(subject, target);

        assert_eq!(found.0.stop, LinearStop::Converged);
        assert!(found.0.residual <= 1.01 * norm, "{:e}", found.0.residual);
        let (more, iterations) = (found.0.iterations, expected.0.iterations);
        assert!((more - iterations).abs() <= 0.1 * iterations, "{more} for {iterations}");
        let farthest = apart(&found.1, &expected.1);
        assert!(farthest < 1e3 * norm, "{farthest:e}");
    }
}
