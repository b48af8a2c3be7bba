//! Whole solves on several ranks, compared with one; a rank that fails stops all others.

use std::sync::Arc;

use gridgen::backend::cuda::CudaBackend;
use gridgen::backend::{Algebraic, MatrixFormat, SparseBackend};
use gridgen::solver::LinearStop;
use gridgen::solver::krylov::Method;
use gridgen::sparse::{Csr, Schedule};

use super::machine::Devices;
use super::patterns::{convection, difference, times};
use super::systems::{Solved, Way, factors_for, solve, solve_on};
use support::fibers::{FiberDevice, Transport};
use support::linear::norm;

const METHODS: [Method; 3] = [Method::Cg, Method::Bicgstab, Method::Gmres];

fn system(method: Method) -> (Csr, Vec<f64>) {
    let wind = if method == Method::Cg { 0.0 } else { 0.4 };
    let a = convection(9, 12, wind);
    let b = (0..a.rows()).map(|k| (k as f64).sin()).collect();
    (a, b)
}

fn alone(a: &Csr, b: &[f64], way: Way) -> Solved {
    let backend = CudaBackend::new(Arc::new(FiberDevice::default())).unwrap();
    solve_on(&backend, &backend.csr(a, MatrixFormat::Csr).unwrap(), b, way).unwrap()
}

fn residual(a: &Csr, b: &[f64], x: &[f64]) -> f64 {
    norm(b.iter().zip(times(a, x)).map(|(b, p)| b - p)) / norm(b.iter().copied())
}

/// Devices whose messages go through the memory of their peers, or through the host.
fn devices(ranks: usize, peers: bool) -> Devices {
    let transport = if peers { Transport::PeerMemory } else { Transport::Host };
    Devices { transport, ..Devices::fibers(ranks) }
}

#[test]
fn without_factors_the_iterations_equal_those_of_one_rank() {
    for method in METHODS {
        let (a, b) = system(method);
        for kind in [Algebraic::None, Algebraic::Jacobi] {
            let way = Way { method, kind };
            let one = alone(&a, &b, way);
            let counts = if method == Method::Bicgstab { 1..=4 } else { 3..=3 };
            for ranks in counts {
                // Kernels that wait for others occupy a core each.
                let peers = kind == Algebraic::None && (method != Method::Bicgstab || ranks == 2);
                let many = solve(&devices(ranks, peers), &a, &b, way).unwrap();

                let what = format!("{way:?}, {ranks} ranks");
                assert_eq!(many.report.stop, LinearStop::Converged, "{what}");
                let apart = (many.report.iterations - one.report.iterations).abs();
                assert!(apart <= 1.0, "{what}: {} iterations", many.report.iterations);
                assert!(difference(&many.x, &one.x) < 1e-8, "{what}");
                assert!(residual(&a, &b, &many.x) < 1.02e-10, "{what}");
            }
        }
    }
}

#[test]
fn factors_of_each_ranks_rows_precondition() {
    for method in METHODS {
        let (a, b) = system(method);
        for kind in factors_for(method) {
            let way = |kind| Way { method, kind };
            let factors = Algebraic::Factors { kind, schedule: Schedule::Auto, shift: 0.0 };
            let one = alone(&a, &b, way(factors)).report.iterations;
            let none = alone(&a, &b, way(Algebraic::None)).report.iterations;
            let many = solve(&devices(3, false), &a, &b, way(factors)).unwrap();

            let (what, found) = (format!("{method:?}, {kind:?}"), many.report);
            assert_eq!(found.stop, LinearStop::Converged, "{what}");
            let within = one - 1.0..none;
            assert!(within.contains(&found.iterations), "{what}: {}", found.iterations);
            assert!(residual(&a, &b, &many.x) < 1.02e-10, "{what}");
        }
    }
}
