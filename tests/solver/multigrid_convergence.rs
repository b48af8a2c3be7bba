//! Multigrid on realistic grids: counts, precision, periodic seams.

use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::GridPreconditioner;
use gridgen::pde::control::{Base, Wall};
use gridgen::solver::newton::NewtonSettings;
use gridgen::solver::precond::{Cycle, Kind, MultigridSettings};
use gridgen::solver::{LinearOperator, NonlinearProblem};
use gridgen::sparse::Schedule;

use support::cases::{case, make};
use support::grids::distance;
use support::linear::norm;
use support::problems::{NEWTON, Setup};
use support::walls::WallPoints;

const FIRST_CELLS: [f64; 3] = [1e-3, 1e-5, 1e-6];

/// The contraction of ‖e‖ in the last of 30 cycles e ← e − M⁻¹ A e, without a Krylov method, on the first
/// Newton matrix, from an error of all frequencies.
fn stationary_factor(setup: &mut Setup<f64>, multigrid: MultigridSettings) -> f64 {
    let (n, backend) = (setup.n(), CpuBackend);
    let Setup { problem, u, .. } = setup;
    let (mut r, mut z) = (vec![0.0; n], vec![0.0; n]);
    problem.residual(&backend, u, &mut r).unwrap();
    let jacobian = problem.linearise(&backend).unwrap();
    let mut cycle =
        GridPreconditioner::new((Kind::Multigrid, Schedule::Levels), multigrid, jacobian);
    let cycle = cycle.current(&backend, jacobian).unwrap();
    cycle.update(&backend, jacobian).unwrap();
    let norm = |e: &[f64]| norm(e.iter().copied());
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

            // The required bound is 0.15. The default cycle, with less than half the work, contracts by 0.16
            // to 0.46. With BiCGStab each iteration contracts by less than 0.15: see the counts of
            // `multigrid_needs_at_most_five_iterations_at_every_size`.
            assert!(factor < 0.15, "{section} {size:?} {first_cell:e}: {factor:.3}");
        }
    }
}

/// The default cycle with wall terms on every level that has them, on an O-grid and on a C-grid.
#[test]
fn the_cycle_with_wall_terms_contracts_at_every_first_cell() {
    for points in [WallPoints::naca("0012", 129), WallPoints::naca_with_wake("0012", 129, 32)] {
        for k in 2..=7 {
            let first_cell = 10.0_f64.powi(-k);
            let mut setup = Setup::new(&points, 65, first_cell, Base::Marched, Wall::Coupled);

            let factor = stationary_factor(&mut setup, MultigridSettings::default());

            let topology = points.topology;
            assert!(factor < 0.5, "{topology:?}, first cell {first_cell:.1e}: {factor:.3}");
        }
    }
}

/// Whole solves with the program's defaults take at most 7 Newton steps and 15 linear iterations, and no
/// other form of the preconditioner.
#[test]
fn coupled_walls_take_few_iterations_at_every_first_cell() {
    const SMALL: [[usize; 2]; 3] = [[65, 33], [100, 57], [129, 65]];
    const LARGE: [[usize; 2]; 1] = [[257, 129]];
    const BOTH: &[&str] = &["0012", "4412"];
    let small = [1e-2, 1e-3, 1e-5, 1e-6, 1e-7].map(|h| (&SMALL[..], h));
    let all = || small.into_iter().chain([3e-3, 1e-5].map(|h| (&LARGE[..], h)));
    for (edge, topology, sections) in [
        ("sharp", "O", BOTH),
        ("blunt", "O", BOTH),
        ("rounded", "O", &["4412", "0012"]),
        ("sharp", "C", BOTH),
        ("sharp", "half", &["0012"]),
    ] {
        for (sizes, first_cell) in all() {
            for (([ni, nj], far_field), section) in
                sizes.iter().zip([30.0, 15.0, 500.0]).zip(sections.iter().cycle())
            {
                let text = format!(
                    "[geometry]\nnaca = '{section}'\ntrailing_edge = '{edge}'\n\
                     [grid]\ntopology = '{topology}'\nni = {ni}\nnj = {nj}\n\
                     first_cell = {first_cell:e}\nfar_field = {far_field}\n"
                );

                let made = make(&case(&text)).unwrap();

                let (steps, iterations) =
                    (made.history.newton_iterations(), made.history.linear_iterations());
                let at = format!("{text}{steps} steps, {iterations} iterations, {:?}", made.events);
                assert!(made.is_good(), "{at}: {}", made.verdict);
                assert!(steps <= 7 && iterations <= 15.0, "{at}");
                assert!(!made.events.iter().any(|event| event.contains("took over")), "{at}");
            }
        }
    }
}

/// Wall terms in the cycle and in a reduced system are two methods for the same grid.
#[test]
fn the_cycle_with_wall_terms_makes_the_grid_of_the_reduced_system() {
    let tight = NewtonSettings { tolerance: 3e-12, ..NEWTON };
    for first_cell in FIRST_CELLS {
        let grid = |kind| {
            let mut setup = Setup::<f64>::naca("4412", (65, 33), first_cell, Wall::Coupled);
            let report = setup.solve(kind, &tight);
            assert!(report.stop.converged(), "{first_cell:e}: {}", report.stop);
            setup.problem.nodes(&CpuBackend, &setup.u, setup.initial.topology).unwrap()
        };

        let (cycle, reduced) = (grid(Kind::Multigrid), grid(Kind::Ilu0));

        let distance = distance(&cycle, &reduced);
        assert!(distance < 2e-9, "{first_cell:e}: {distance:e}");
    }
}

/// The wall terms of a tunnel's floor and roof are in the reduced system, too.
#[test]
fn all_preconditioners_make_the_grid_of_a_tunnel_with_walls() {
    let grid = |preconditioner: &str| {
        let text = format!(
            "geometry.naca = '4412'\nlinear.preconditioner = '{preconditioner}'\n\
             [grid]\ntopology = 'C'\nni = 129\nnj = 65\nwake = 24\nfirst_cell = 1e-4\n\
             [domain]\nbox = [-1.7, 4.0, -1.0, 1.0]\nfloor = 'wall'\nroof = 'wall'\n"
        );
        let made = make(&case(&text)).unwrap();
        assert!(made.is_good(), "{preconditioner}: {}", made.verdict);
        made.grid
    };
    let cycle = grid("multigrid");

    for preconditioner in ["dilu", "ilu0"] {
        let distance = distance(&cycle, &grid(preconditioner));
        assert!(distance < 1e-8, "{preconditioner}: {distance:e}");
    }
}

#[test]
fn single_precision_takes_the_counts_of_double() {
    for first_cell in FIRST_CELLS {
        let mut double = Setup::<f64>::naca("4412", (129, 65), first_cell, Wall::Coupled);
        let mut single = Setup::<f32>::naca("4412", (129, 65), first_cell, Wall::Coupled);

        let reports =
            [double.solve(Kind::Multigrid, &NEWTON), single.solve(Kind::Multigrid, &NEWTON)];
        assert!(reports.iter().all(|report| report.stop.converged()), "{first_cell:e}");
        let [double, single] = reports.map(|report| report.history);

        assert_eq!(double.newton_iterations(), single.newton_iterations(), "{first_cell:e}");
        let more = (double.linear_iterations() - single.linear_iterations()).abs();
        assert!(more <= 1.0, "{first_cell:e}: {more}");
    }
}

#[test]
fn an_ellipse_with_a_periodic_seam_takes_few_iterations() {
    // 64 and 192 points wrap on every level, the latter only if it is not coarsened below 32 points; 62 and
    // 65 do not wrap and are cut.
    for (ni, nj, first_cell, limit) in
        [(65, 33, 1e-3, 10.0), (193, 97, 1e-6, 10.0), (63, 33, 1e-3, 16.0), (66, 33, 1e-3, 45.0)]
    {
        let points = WallPoints::ellipse(0.3, ni);
        let mut setup = Setup::<f64>::new(&points, nj, first_cell, Base::Marched, Wall::Coupled);

        let report = setup.solve(Kind::Multigrid, &NEWTON);

        let count = report.history.linear_iterations();

        assert!(report.stop.converged() && count <= limit, "{ni}: {count}, {}", report.stop);
    }
}
