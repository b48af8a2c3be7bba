//! Tests of the tables of the solvers.

use clap::ValueEnum;
use gridgen::backend::cpu::CpuBackend;
use gridgen_bench::Generated;
use gridgen_bench::solvers::{MatrixSource, SolverSettings, SolverSubject, solvers};

fn settings() -> SolverSettings {
    SolverSettings {
        subjects: SolverSubject::value_variants().into(),
        matrices: vec![
            MatrixSource::Generated(Generated::Asic320ks),
            MatrixSource::Jacobian((257, 129), 4),
            MatrixSource::Given("box".to_owned(), Generated::Atmosmodd.matrix(1e-4)),
        ],
        scale: 0.001,
        iterations: 3,
    }
}

#[test]
fn every_table_has_rows_of_every_matrix() {
    let settings = settings();

    let results = solvers(&CpuBackend, &settings).unwrap();

    // All tables but the scaling over several GPUs.
    assert_eq!(results.tables.len(), SolverSubject::value_variants().len() - 1);
    for table in &results.tables {
        for matrix in &settings.matrices {
            let name = matrix.name(settings.scale);
            let rows: Vec<_> = table.rows.iter().filter(|row| row[0] == name).collect();
            assert!(!rows.is_empty(), "{}: {name}", table.title);
            assert!(rows.iter().all(|row| row.len() == table.columns.len()), "{}", table.title);
            assert!(rows.iter().all(|row| !row[2].is_empty()), "{}", table.title);
        }
    }
}

#[test]
fn pictures_and_curves_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let subjects = vec![SolverSubject::Shapes, SolverSubject::Convergence];
    let results = solvers(&CpuBackend, &SolverSettings { subjects, ..settings() }).unwrap();

    results.write(folder.path()).unwrap();

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(read("levels.svg").contains("like ASIC_320ks"));
    assert!(read("convergence.svg").contains("Jacobian 9 × 9, step 4"));
    let curves = read("convergence.csv");
    assert!(curves.starts_with("matrix,preconditioner,iteration,relative residual\n"));
    assert!(curves.lines().any(|line| line.starts_with("box,DILU,2,")), "{curves}");
}
