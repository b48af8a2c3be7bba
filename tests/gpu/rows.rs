//! Matrices by rows on the first two GPUs, by NCCL if it is available.

use gridgen::backend::cuda::{CudaBackend, CudaCsr, Gpus, Ranks};
use gridgen::backend::{
    Algebraic, Backend, Bands, DeviceError, LinearOperator, MatrixFormat, SparseBackend,
};
use gridgen::solver::krylov::Method;
use gridgen::solver::{LinearStop, SolverError};
use gridgen::sparse::{RowBlocks, Schedule};

use crate::patterns::{arrow, convection, difference, half_full, shifted, times};
use crate::systems::{Machine, Way, factors_for, product, solve, solve_on};

impl Machine for Gpus {
    fn ranks(&self) -> usize {
        self.count()
    }

    fn run<R: Send>(
        &self,
        bands: &Bands,
        work: impl Fn(usize, &CudaBackend) -> Result<R, SolverError> + Sync,
    ) -> Result<Vec<R>, SolverError> {
        Self::run(self, bands, work)
    }
}

fn two() -> Gpus {
    Gpus::open(&[0, 1]).unwrap()
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn products_by_rows_on_two_gpus() {
    let gpus = two();
    for a in [
        convection(23, 31, 0.3),
        convection(257, 311, 0.3),
        arrow(20_000),
        shifted(4096, 2048),
        half_full(300),
    ] {
        let x: Vec<f64> = (0..a.rows()).map(|k| (0.7 * k as f64).cos()).collect();
        let expected = times(&a, &x);
        for format in [MatrixFormat::Csr, MatrixFormat::Ell] {
            let far = difference(&product(&gpus, &a, &x, format), &expected);

            assert!(far < 1e-12, "{} rows, {format:?}: {far:e}", a.rows());
        }
    }
}

/// Iterations on one GPU and on two, which must give the same x; printed for the documents.
#[allow(clippy::print_stdout, reason = "shown with --nocapture")]
fn iterations(gpus: &Gpus, way: Way) -> [f64; 2] {
    let wind = if way.method == Method::Cg { 0.0 } else { 0.4 };
    let a = convection(257, 311, wind);
    let b: Vec<f64> = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    let first = gpus.first().unwrap();
    let one = solve_on(&first, &first.csr(&a, MatrixFormat::Csr).unwrap(), &b, way).unwrap();

    let many = solve(gpus, &a, &b, way).unwrap();

    let counts = [one.report.iterations, many.report.iterations];
    println!("{way:?}: {counts:?} iterations on one GPU and on two");
    assert_eq!(many.report.stop, LinearStop::Converged, "{way:?}");
    assert!(difference(&many.x, &one.x) < 1e-8, "{way:?}");
    counts
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn solves_by_rows_on_two_gpus() {
    let gpus = two();
    for method in [Method::Cg, Method::Bicgstab, Method::Gmres] {
        for kind in [Algebraic::None, Algebraic::Jacobi] {
            let [one, many] = iterations(&gpus, Way { method, kind });

            assert!((one - many).abs() <= 1.0, "{method:?}, {kind:?}: {one}, {many}");
        }
        for kind in factors_for(method) {
            for schedule in [Schedule::Auto, Schedule::Levels] {
                let kind = Algebraic::Factors { kind, schedule, shift: 0.0 };
                let [one, many] = iterations(&gpus, Way { method, kind });

                assert!(many <= 2.0 * one + 2.0, "{method:?}, {kind:?}: {one}, {many}");
            }
        }
    }
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_rank_that_aborts_within_products_stops_the_other() {
    let (gpus, a) = (two(), convection(64, 64, 0.1));
    let blocks = RowBlocks::new(a.pattern(), 2).unwrap();

    let result = gpus.run(&Bands::from(&blocks), |rank, backend| {
        let part = blocks.part(rank, &a);
        let matrix = CudaCsr::<f64>::of_rows(backend, &part, MatrixFormat::Csr)?;
        let (x, mut y) = (backend.zeros(part.rows.len())?, backend.zeros(part.rows.len())?);
        for turn in 0.. {
            if rank == 1 && turn == 100 {
                return Err(DeviceError::NoGpu);
            }
            matrix.apply(backend, &x, &mut y)?;
            backend.dot_products([(&y, &y)])?;
        }
        Ok(())
    });

    assert_eq!(result, Err(DeviceError::NoGpu));
}
