//! Whole solves.

use gridgen::backend::cpu::{CpuBackend, CsrMatrix};
use gridgen::backend::{Algebraic, Incomplete, MatrixFormat, SparseBackend, SparseMatrix};
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::precond::Preconditioners;
use gridgen::sparse::{Csr, Schedule};

/// Convection and diffusion on an m × m grid with five-point differences, the wind along i.
fn convection(m: usize) -> Csr {
    Csr::from_rows((0..m * m).map(|row| {
        let (i, j) = (row % m, row / m);
        let beside = [
            (i > 0).then(|| (row - 1, -1.3)),
            (i + 1 < m).then(|| (row + 1, -0.7)),
            (j > 0).then(|| (row - m, -1.0)),
            (j + 1 < m).then(|| (row + m, -1.0)),
        ];
        beside.into_iter().flatten().chain([(row, 4.0)]).collect::<Vec<_>>()
    }))
}

#[test]
fn every_preconditioner_solves_convection_and_diffusion() {
    let (csr, backend) = (convection(24), CpuBackend);
    let n = csr.rows();
    let operator = backend.csr(&csr, MatrixFormat::Csr).unwrap();
    let factors = |kind| Algebraic::Factors { kind, schedule: Schedule::Auto, shift: 0.0 };
    let kinds = [
        (Algebraic::None, 100.0),
        (Algebraic::Jacobi, 100.0),
        (factors(Incomplete::Dilu), 40.0),
        (factors(Incomplete::Ilu0), 30.0),
    ];
    for (kind, most) in kinds {
        let settings =
            LinearSettings { method: Method::Bicgstab, max_iterations: 200, restart: 30 };
        let preconditioner = Preconditioners::one(move |backend, a: &CsrMatrix<f64>| {
            a.preconditioner(backend, kind)
        });
        let mut solver = LinearSolver::new(settings, n, preconditioner);
        let b: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
        let mut x = vec![0.0; n];

        solver.update(&backend, &operator).unwrap();
        let report = solver.solve(&backend, &operator, &b, 1e-10, &mut x, &mut |_, _| {}).unwrap();

        let square: f64 = (0..n)
            .map(|row| b[row] - csr.row(row).map(|(column, value)| value * x[column]).sum::<f64>())
            .map(|r| r * r)
            .sum();
        let norm = b.iter().map(|b| b * b).sum::<f64>().sqrt();
        assert!(square.sqrt() <= 1.01e-10 * norm, "{kind:?}");
        assert!(report.iterations <= most, "{kind:?}: {}", report.iterations);
    }
}
