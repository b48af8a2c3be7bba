//! The reasons why Newton stops, and its line search: each reason is reached by a small problem made for it.
#![allow(clippy::float_cmp, reason = "step lengths are powers of two")]

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{CellGuard, DeviceError, Scaling};
use gridgen::pde::control::{Base, Wall};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::{LinearSettings, LinearSolver};
use gridgen::solver::newton::{NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::Kind;
use gridgen::solver::{LinearStop, NewtonStop, NonlinearProblem, PreconditionerFailure};
use support::linear::{Counted, Matrix};
use support::problems::{NEWTON, Setup};
use support::walls::WallPoints;

/// f(u) = 0 in one unknown, with folded cells given by `folded`.
struct Scalar {
    f: fn(f64) -> f64,
    slope: fn(f64) -> f64,
    folded: fn(f64) -> usize,
    u: f64,
    jacobian: Matrix<f64>,
}

impl Scalar {
    fn new(f: fn(f64) -> f64, slope: fn(f64) -> f64) -> Self {
        Self { f, slope, folded: |_| 0, u: 0.0, jacobian: Matrix::new(&[vec![1.0]]) }
    }

    /// Solves from `start`; returns the report and the final u.
    fn solve_with(
        &mut self,
        start: f64,
        kind: Kind,
        settings: &NewtonSettings,
    ) -> (NewtonReport, f64) {
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 50, restart: 5 };
        let mut linear = LinearSolver::new(linear, 1, Counted::new(kind));
        let mut u = vec![start];
        let report =
            solve(&CpuBackend, self, &mut linear, &mut u, History::default(), settings, &mut ())
                .unwrap();
        (report, u[0])
    }

    fn solve(&mut self, start: f64) -> (NewtonReport, f64) {
        self.solve_with(start, Kind::None, &NEWTON)
    }
}

impl NonlinearProblem<CpuBackend> for Scalar {
    type Real = f64;
    type Jacobian = Matrix<f64>;

    fn unknowns(&self) -> usize {
        1
    }

    fn residual(
        &mut self,
        _backend: &CpuBackend,
        u: &Vec<f64>,
        _scaling: Scaling,
        f: &mut Vec<f64>,
    ) -> Result<f64, DeviceError> {
        self.u = u[0];
        f[0] = (self.f)(u[0]);
        Ok(f[0].abs())
    }

    fn linearise(&mut self, _backend: &CpuBackend) -> Result<&Matrix<f64>, DeviceError> {
        // A zero must remain an entry of the matrix.
        let pattern = self.jacobian.entries.pattern().clone();
        let slope = (self.slope)(self.u);
        self.jacobian.entries = EllMatrix::from_values(pattern, vec![slope]);
        Ok(&self.jacobian)
    }

    fn guard(&mut self, _backend: &CpuBackend) -> Result<CellGuard, DeviceError> {
        let folded = (self.folded)(self.u);
        Ok(CellGuard { folded, min_area: if folded == 0 { 1.0 } else { -1.0 } })
    }
}

#[test]
fn newton_converges_on_a_square_root() {
    let (report, u) = Scalar::new(|u| u * u - 2.0, |u| 2.0 * u).solve(1.0);

    assert_eq!(report.stop, NewtonStop::Converged);
    assert!((u - 2.0_f64.sqrt()).abs() < 1e-10);
}

#[test]
fn a_start_that_meets_the_tolerance_takes_no_step() {
    let (report, u) = Scalar::new(|u| u, |_| 1.0).solve(1e-11);

    assert_eq!(report.stop, NewtonStop::Converged);
    assert_eq!((report.history.newton_iterations(), u), (0, 1e-11));
}

#[test]
fn the_limit_of_steps_is_kept() {
    let settings = NewtonSettings { max_iterations: 3, ..NEWTON };
    // At a triple root every step removes a third of the error.
    let mut problem = Scalar::new(|u| u.powi(3), |u| 3.0 * u * u);

    let (report, u) = problem.solve_with(1.0, Kind::None, &settings);

    assert_eq!(report.stop, NewtonStop::IterationLimit { limit: 3 });
    assert_eq!(report.history.newton_iterations(), 3);
    assert!((u - 8.0 / 27.0).abs() < 1e-14);
}

#[test]
fn a_limit_of_no_steps_takes_none() {
    let settings = NewtonSettings { max_iterations: 0, ..NEWTON };

    let (report, u) = Scalar::new(|u| u - 1.0, |_| 1.0).solve_with(3.0, Kind::None, &settings);

    assert_eq!((report.stop, u), (NewtonStop::IterationLimit { limit: 0 }, 3.0));
}

#[test]
fn a_direction_of_ascent_ends_in_the_line_search() {
    let settings = NewtonSettings { max_halvings: 4, ..NEWTON };

    let (report, u) = Scalar::new(|u| u, |_| -1.0).solve_with(1.0, Kind::None, &settings);

    // The last trial is 1 + 1/16.
    assert_eq!(report.stop, NewtonStop::LineSearch { folded: 0, ratio: 1.0625 });
    assert_eq!((report.history.newton_iterations(), u), (0, 1.0));
    let again =
        "Newton step 1: no step length was accepted; the direction is solved for again, to 1.0e-3";
    assert_eq!(report.events, [again]);
}

#[test]
fn a_direction_that_always_folds_ends_in_the_line_search() {
    let mut problem = Scalar::new(|u| u, |_| 1.0);
    problem.folded = |u| usize::from(u < 1.0) * 3;

    let (report, u) = problem.solve(1.0);

    assert!(matches!(report.stop, NewtonStop::LineSearch { folded: 3, ratio } if ratio < 1.0));
    assert_eq!(u, 1.0);
}

#[test]
fn a_step_that_would_fold_is_halved() {
    let settings = NewtonSettings { max_iterations: 1, ..NEWTON };
    let mut free = Scalar::new(|u| u, |_| 1.0);
    let mut guarded = Scalar::new(|u| u, |_| 1.0);
    guarded.folded = |u| usize::from(u == 0.0);

    let (free, _) = free.solve_with(4.0, Kind::None, &settings);
    let (guarded, u) = guarded.solve_with(4.0, Kind::None, &settings);

    assert_eq!(free.history.steps[1].step_length, 1.0);
    let step = &guarded.history.steps[1];
    assert_eq!((step.step_length, step.folded_cells, u), (0.5, 0, 2.0));
}

#[test]
fn a_folded_start_may_keep_its_folds_but_gain_none() {
    let mut problem = Scalar::new(|u| u, |_| 1.0);
    // There are two folds at the start and at the half step, three at the full step.
    problem.folded = |u| if u == 0.0 { 3 } else { 2 };
    let settings = NewtonSettings { max_iterations: 1, ..NEWTON };

    let (report, _) = problem.solve_with(4.0, Kind::None, &settings);

    let step = &report.history.steps[1];
    assert_eq!((step.step_length, step.folded_cells, step.min_area), (0.5, 2, -1.0));
}

#[test]
fn an_overshooting_step_is_halved_until_the_merit_falls() {
    // From 3 a full step on atan ends at −9.5, a half step at −3.2, a quarter step at −0.12.
    let (report, u) = Scalar::new(f64::atan, |u| 1.0 / (1.0 + u * u)).solve(3.0);

    assert_eq!(report.stop, NewtonStop::Converged);
    assert_eq!(report.history.steps[1].step_length, 0.25);
    assert!(u.abs() < 1e-10);
}

#[test]
fn a_start_that_is_not_a_number_is_reported() {
    let (report, _) = Scalar::new(f64::sqrt, |_| 1.0).solve(-1.0);

    assert_eq!(report.stop, NewtonStop::NotFinite);
    assert_eq!(report.history.steps.len(), 1);
}

#[test]
fn trials_that_are_all_not_finite_are_reported() {
    let f = |u: f64| if u < 1.0 { f64::NAN } else { u };

    let (report, u) = Scalar::new(f, |_| 1.0).solve(1.0);

    assert_eq!((report.stop, u), (NewtonStop::NotFinite, 1.0));
}

#[test]
fn a_trial_that_is_not_finite_is_halved() {
    let f = |u: f64| if u < -1.0 { f64::NAN } else { u };

    // The slope is too small by a factor of 4: from 1 the full step ends at −3, the half step at −1.
    let (report, _) = Scalar::new(f, |_| 0.25).solve(1.0);

    assert_eq!(report.history.steps[1].step_length, 0.25);
    assert_eq!(report.stop, NewtonStop::Converged);
}

#[test]
fn a_singular_jacobian_ends_in_the_linear_solve() {
    let (report, u) = Scalar::new(|u| u * u + 1.0, |_| 0.0).solve(1.0);

    assert_eq!(report.stop, NewtonStop::Linear(LinearStop::Stagnation));
    assert!(!report.events.is_empty());
    assert_eq!(u, 1.0);
}

#[test]
fn a_jacobian_that_is_not_a_number_ends_in_the_linear_solve() {
    let (report, u) = Scalar::new(|u| u, |_| f64::NAN).solve(1.0);

    assert_eq!(report.stop, NewtonStop::Linear(LinearStop::NotFinite));
    assert_eq!(u, 1.0);
}

#[test]
fn a_zero_pivot_names_the_preconditioner() {
    let (report, u) = Scalar::new(|u| u, |_| 0.0).solve_with(1.0, Kind::Jacobi, &NEWTON);

    let failure = PreconditionerFailure::Pivot { preconditioner: "Jacobi", row: 0 };
    assert_eq!((report.stop, u), (NewtonStop::Preconditioner(failure), 1.0));
}

#[test]
fn a_grid_with_a_point_that_is_not_a_number_is_reported() {
    let mut setup = Setup::<f64>::naca("0012", (33, 17), 1e-3, Wall::Frozen);
    setup.u[100] = f64::NAN;

    let report = setup.solve(Kind::Ilu0, &NEWTON);

    assert_eq!(report.stop, NewtonStop::NotFinite);
    assert!(report.history.steps[0].folded_cells > 0);
}

#[test]
fn laplace_on_a_viscous_grid_ends_in_the_line_search_unfolded() {
    // Without control functions the layers would move away from the wall by many cells.
    let points = WallPoints::naca("0012", 65);
    let mut setup = Setup::<f64>::new(&points, 33, 1e-5, Base::Laplace, Wall::Frozen);

    let report = setup.solve(Kind::Ilu0, &NEWTON);

    assert!(matches!(report.stop, NewtonStop::LineSearch { folded: 1.., .. }), "{}", report.stop);
    assert!(report.history.steps.iter().all(|step| step.folded_cells == 0));
}
