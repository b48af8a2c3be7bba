//! The linear iterations allocate nothing.

use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::GridPreconditioner;
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::{Bicgstab, System, Target};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, Preconditioner};
use gridgen::sparse::Schedule;

use crate::allocator::{allocations, alone, count_this_thread};
use support::problems::Setup;

#[test]
fn cycles_and_krylov_iterations_allocate_nothing() {
    let _alone = alone(usize::MAX);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(2).build().unwrap();
    pool.broadcast(|_| count_this_thread());
    pool.install(|| {
        let mut setup = Setup::<f32>::naca("0012", (129, 65), 1e-5, Wall::Coupled);
        let n = setup.n();
        let mut f = vec![0.0; n];
        setup.problem.residual(&CpuBackend, &setup.u, &mut f).unwrap();
        let b: Vec<f32> = f.iter().map(|f| (1e3 * f) as f32).collect();
        let a = setup.problem.linearise(&CpuBackend).unwrap();
        let settings = MultigridSettings::default();
        let mut m = GridPreconditioner::new((Kind::Multigrid, Schedule::Levels), settings, a);
        let m = m.current(&CpuBackend, a).unwrap();
        m.update(&CpuBackend, a).unwrap();
        let (mut x, mut z) = (vec![0.0; n], vec![0.0; n]);
        let mut method = Bicgstab::new(&CpuBackend, n).unwrap();
        let mut solve = |m: &mut dyn Preconditioner<CpuBackend, f32, _>, iterations: usize| {
            x.fill(0.0);
            let observe = &mut |_, _| {};
            let mut system = System::new(&CpuBackend, (a, &b), m, observe);
            let target = Target { norm: 0.0, max_iterations: iterations };
            let _ = method.solve(&mut system, target, &mut x).unwrap();
        };
        // The queues of the threads grow to their final size.
        solve(m, 2);

        let cycles = allocations(|| {
            for _ in 0..10 {
                m.apply(&CpuBackend, a, &b, &mut z).unwrap();
            }
        });
        let (few, many) = (allocations(|| solve(m, 1)), allocations(|| solve(m, 4)));
        let counted = allocations(|| drop(vec![0_u8; 64]));

        assert_eq!(cycles, 0);
        assert_eq!(few, many, "allocations of 1 and of 4 iterations");
        assert_eq!(counted, 1, "the allocator counts");
    });
}
