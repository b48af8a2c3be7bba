//! The fall-backs of a multigrid cycle that does not contract, and their mention in the report.

use gridgen::backend::LevelSize;
use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::elliptic::GridJacobian;
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearReport, LinearSettings, LinearSolver};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{LinearOperator, LinearStop};
use gridgen::sparse::Schedule;
use support::problems::{NEWTON, Setup};
use support::stencil::laplacian;

const SETTINGS: LinearSettings =
    LinearSettings { method: Method::Bicgstab, max_iterations: 500, restart: 30 };
const SIZE: LevelSize = LevelSize { mi: 63, mj: 63, periodic: false };
const WITHOUT_WALLS: &str = "; multigrid without wall terms and their reduced system took over";
const STRONG: &str = "; multigrid with W cycles in double precision took over";
const CLASSICAL: &str = "; ILU(0) took over";

type Jacobian = GridJacobian<CpuBackend, f64>;

/// A solver with multigrid on at most `levels` levels.
fn solver(a: &Jacobian, levels: usize) -> LinearSolver<CpuBackend, f64, Jacobian> {
    let settings = MultigridSettings { levels, ..MultigridSettings::default() };
    a.linear_solver(SETTINGS, (Kind::Multigrid, Schedule::Levels), settings)
}

/// The five-point Laplacian of both variables times `scale`, with `centre` instead of −4.
fn five_points(centre: f64, scale: f64) -> Jacobian {
    let (pattern, values) = laplacian(SIZE, scale * centre, scale);
    Jacobian::of_field(EllMatrix::from_values(pattern, values), SIZE)
}

/// A solve to 1e-6 with multigrid; the residual is recomputed.
fn solve_with(a: &Jacobian) -> (LinearReport, f64) {
    let n = a.rows();
    let (b, mut x, mut ax) = (vec![1.0; n], vec![0.0; n], vec![0.0; n]);
    let mut solver = solver(a, 20);
    solver.update(&CpuBackend, a).unwrap();

    let report = solver.solve(&CpuBackend, a, &b, 1e-6, &mut x, &mut |_, _| {}).unwrap();

    a.apply(&CpuBackend, &x, &mut ax).unwrap();
    let square: f64 = ax.iter().map(|ax| (1.0 - ax).powi(2)).sum();
    (report, (square / n as f64).sqrt())
}

/// Pivots lost in single precision, in which 1e-50 is zero, are found in double.
#[test]
fn a_cycle_that_contracts_stays() {
    for (scale, events) in [(1.0, &[][..]), (1e-50, &[STRONG])] {
        let (report, residual) = solve_with(&five_points(-4.0, scale));

        let told = report.events.iter().zip(events).all(|(event, end)| event.ends_with(end));
        assert!(told && report.events.len() == events.len(), "{:?}", report.events);
        assert!(residual <= 1.02e-6 && report.iterations <= 6.0, "{residual:e}, {report:?}");
    }
}

#[test]
fn an_indefinite_matrix_goes_down_all_forms() {
    // All eigenvalues of the Laplacian above −1 change their sign, which no coarse level represents.
    let (report, residual) = solve_with(&five_points(-3.0, 1.0));

    assert!(report.events[0].ends_with(STRONG), "{:?}", report.events);
    assert!(report.events[1].ends_with(CLASSICAL), "{:?}", report.events);
    // The residual that ILU(0) reaches must be reported truthfully.
    let told = report.relative_residual;
    assert!((residual - told).abs() <= 0.02 * residual, "{residual:e}, {report:?}");
    assert_eq!(report.stop == LinearStop::Converged, residual <= 1.02e-6, "{report:?}");
}

/// Indefinite: no form converges, and ILU(0) would take all iterations of each solve.
#[test]
fn the_forms_after_the_first_share_a_budget_over_all_solves() {
    let a = &five_points(-3.0, 1.0);
    let mut solver = solver(a, 20).with_fall_back_budget(40);
    let (b, mut x) = (vec![1.0; a.rows()], vec![0.0; a.rows()]);
    solver.update(&CpuBackend, a).unwrap();

    let mut solve = || solver.solve(&CpuBackend, a, &b, 1e-12, &mut x, &mut |_, _| {}).unwrap();
    let [first, second] = [solve(), solve()];

    assert_eq!([first.stop, second.stop], [LinearStop::IterationLimit; 2]);
    // The first form has an allowance of its own, some 40 iterations for twelve digits.
    assert!((40.0..=90.0).contains(&first.iterations), "{}", first.iterations);
    assert!(second.iterations < 0.5, "{}", second.iterations);
}

#[test]
fn a_newton_solve_without_coarse_levels_falls_back_and_says_so() {
    let mut setup = Setup::<f64>::naca("0012", (257, 129), 1e-3, Wall::Coupled);
    let linear = solver(setup.problem.jacobian(), 1);

    let report = setup.solve_with(linear, &NEWTON);

    assert!(report.stop.converged(), "{}", report.stop);
    let told = |what: &str| report.events.iter().filter(|event| event.ends_with(what)).count();
    assert_eq!([WITHOUT_WALLS, STRONG].map(told), [1, 1], "{:?}", report.events);
    assert!(report.events[0].starts_with("Newton step "), "{:?}", report.events);
}
