//! Linear systems in memory.

use std::path::PathBuf;

use gridgen::backend::{Algebraic, Incomplete};
use gridgen::error::{Error, SystemError};
use gridgen::formats::matrix_market::{Matrix, MatrixSymmetry};
use gridgen::linear_system::{Reordering, SystemOptions, SystemReport, SystemSolver};
use gridgen::solver::krylov::Method;
use gridgen::sparse::{Csr, Schedule};
use support::linear::apart;

/// −u'' + u' with upwinding on `n` points.
fn convection(n: usize) -> Matrix {
    let row = |i: usize| {
        let entries = [(i.wrapping_sub(1), -2.0), (i, 3.5), (i + 1, -1.0)];
        entries.into_iter().filter(move |(column, _)| *column < n)
    };
    let csr = Csr::from_rows((0..n).map(row));
    Matrix { csr, columns: n, symmetry: MatrixSymmetry::General, duplicates: 0 }
}

fn options() -> SystemOptions {
    SystemOptions::new(PathBuf::from("A"), PathBuf::new())
}

fn with(preconditioner: Algebraic) -> SystemOptions {
    let mut options = options();
    options.preconditioner = preconditioner;
    options
}

/// The incomplete Cholesky factors.
const IC0: Algebraic =
    Algebraic::Factors { kind: Incomplete::Ic0, schedule: Schedule::Auto, shift: 0.0 };

#[test]
fn a_system_in_memory_is_solved_without_files() {
    let matrix = convection(500);
    let expected: Vec<f64> = (0..500).map(|i| f64::from(i % 7) - 3.0).collect();
    let b: Vec<f64> =
        (0..500).map(|i| matrix.csr.row(i).map(|(j, value)| value * expected[j]).sum()).collect();

    for (method, reorder) in
        [(Method::Bicgstab, Reordering::None), (Method::Gmres, Reordering::Rcm)]
    {
        let mut options = options();
        options.linear.method = method;
        options.reorder = reorder;
        options.tolerance = 1e-12;

        let mut solver = SystemSolver::new(matrix.clone(), &options, &mut ()).unwrap();
        let (x, report) = solver.solve(&[(&b, None)], &mut ()).unwrap();

        let error = apart(&x[0], &expected);
        assert!(report.converged && error < 1e-10, "{method:?}: {error:e}");
        assert_eq!((report.name.as_str(), report.matrix.rows), ("A", 500));
        assert!(report.true_relative_residual < 1.1e-12);
        assert!(!PathBuf::from("A").exists());
    }
}

#[test]
fn systems_in_memory_are_refused_like_those_of_files() {
    let matrix = convection(20);
    let refused = |matrix: &Matrix, b: &[f64], options: &SystemOptions| {
        let solver = SystemSolver::new(matrix.clone(), options, &mut ());
        match solver.and_then(|mut solver| solver.solve(&[(b, None)], &mut ())).unwrap_err() {
            Error::System(error) => error,
            other => panic!("{other}"),
        }
    };

    let wide = Matrix { columns: 21, ..matrix.clone() };
    let found = refused(&wide, &[1.0; 20], &options());
    assert_eq!(found, SystemError::NotSquare { path: "A".into(), rows: 20, columns: 21 });
    let found = refused(&matrix, &[1.0; 19], &options());
    assert_eq!(found, SystemError::RightSide { path: "b".into(), found: 19, rows: 20 });
    let found = refused(&matrix, &[1.0; 20], &with(IC0));
    assert!(matches!(found, SystemError::NotSymmetric { row: 1, column: 2, .. }), "{found}");
}

#[test]
fn factors_are_made_once_for_many_right_hand_sides() {
    let b = [1.0, -2.5].map(|scale| (0..500).map(|i| scale * f64::from(i % 5)).collect::<Vec<_>>());
    let mut options = options();
    options.reorder = Reordering::Rcm;
    options.tolerance = 1e-10;
    let fresh = || SystemSolver::new(convection(500), &options, &mut ()).unwrap();
    let alone = b.each_ref().map(|b| fresh().solve(&[(b, None)], &mut ()).unwrap().0.concat());
    let mut solver = fresh();

    let (both, report) = solver.solve(&[(&b[0], None), (&b[1], None)], &mut ()).unwrap();
    let (again, second) = solver.solve(&[(&b[0], None)], &mut ()).unwrap();
    let (near, third) = solver.solve(&[(&b[0], Some(&alone[0]))], &mut ()).unwrap();

    assert_eq!((both, &again[0]), (alone.to_vec(), &alone[0]));
    assert_eq!((report.columns.len(), report.converged), (2, true));
    let seconds = |report: &SystemReport| {
        let timing = serde_json::to_value(&report.timing).unwrap();
        timing["factorisation_seconds"].as_f64().unwrap()
    };
    assert!(seconds(&report) > 0.0 && seconds(&second) == 0.0);
    assert_eq!((third.iterations, third.converged, &near[0]), (0.0, true, &alone[0]));
    let short = solver.solve(&[(&b[0], Some(&[1.0]))], &mut ()).unwrap_err();
    assert!(short.to_string().starts_with("x0: 1 numbers"), "{short}");
}

/// The x of one column overflows, and its residual is no number. The residual of the other column is merely too large.
#[test]
fn a_residual_that_is_not_a_number_is_the_worst_of_all_columns() {
    let mut matrix = convection(20);
    matrix.csr.values.iter_mut().for_each(|value| *value *= 1e-300);
    let mut options = with(Algebraic::None);
    options.linear.max_iterations = 1;
    let mut solver = SystemSolver::new(matrix, &options, &mut ()).unwrap();
    let [overflows, fits] = [[1e200; 20], [1.0; 20]];

    for columns in [[&overflows, &fits], [&fits, &overflows]] {
        let sides = columns.map(|b| (&b[..], None));
        let (_, report) = solver.solve(&sides, &mut ()).unwrap();

        let finite = report.columns.iter().filter(|one| one.true_relative_residual.is_finite());
        assert_eq!(finite.count(), 1);
        assert!(report.true_relative_residual.is_nan(), "{:e}", report.true_relative_residual);
    }
}

#[test]
fn an_infinite_entry_gives_no_solution() {
    let mut matrix = convection(20);
    matrix.csr.values[5] = f64::INFINITY;
    let mut solver = SystemSolver::new(matrix, &with(Algebraic::None), &mut ()).unwrap();

    for scale in [1e-300, 1.0, 1e300] {
        let (_, report) = solver.solve(&[(&[scale; 20], None)], &mut ()).unwrap();

        assert!(!report.converged, "{scale:e}: {}", report.stop_reason);
    }
}

/// The pivot of [1 2; 2 1] is 1 − 2·2.
#[test]
fn the_pivot_of_a_matrix_with_huge_entries_is_one_of_that_matrix() {
    let csr = Csr::from_rows([[(0, 1e300), (1, 2e300)], [(0, 2e300), (1, 1e300)]].into_iter());
    let symmetry = MatrixSymmetry::General;
    let matrix = Matrix { csr, columns: 2, symmetry, duplicates: 0 };

    let error = SystemSolver::new(matrix, &with(IC0), &mut ()).err().unwrap();

    let Error::System(SystemError::Pivot { row: 2, value, .. }) = error else { panic!("{error}") };
    assert!((value / 1e300 + 3.0).abs() < 1e-14, "{value:e}");
}
