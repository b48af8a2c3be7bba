//! The reasons why Newton stops, and its line search: each reason is reached by a small problem made for it.
#![allow(clippy::float_cmp, reason = "step lengths are powers of two")]

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{DeviceError, Evaluation};
use gridgen::pde::control::{Base, Wall};
use gridgen::solver::history::History;
use gridgen::solver::krylov::Method;
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::newton::{NewtonReport, NewtonSettings, solve};
use gridgen::solver::precond::Kind;
use gridgen::solver::{LinearStop, NewtonStop, NonlinearProblem, PreconditionerFailure};
use gridgen::sparse::Csr;
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
    fn solve(&mut self, start: f64, kind: Kind, settings: &NewtonSettings) -> (NewtonReport, f64) {
        let linear = LinearSettings { method: Method::Bicgstab, max_iterations: 50, restart: 5 };
        let mut linear = Counted::solver(linear, 1, kind);
        let mut u = vec![start];
        let report =
            solve(&CpuBackend, self, &mut linear, &mut u, History::default(), settings, &mut ())
                .unwrap();
        (report, u[0])
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
        f: &mut Vec<f64>,
    ) -> Result<Evaluation, DeviceError> {
        self.u = u[0];
        f[0] = (self.f)(u[0]);
        let (size, folded) = (f[0].abs(), (self.folded)(self.u));
        let min_area = if folded == 0 { 1.0 } else { -1.0 };
        Ok(Evaluation { merit: size, kept_merit: size, largest: size, folded, min_area })
    }

    fn keep_scaling(&mut self, _backend: &CpuBackend) {}

    fn linearise(&mut self, _backend: &CpuBackend) -> Result<&Matrix<f64>, DeviceError> {
        // A zero must remain an entry of the matrix.
        self.jacobian = Csr::from_rows([[(0, (self.slope)(self.u))]].into_iter()).into();
        Ok(&self.jacobian)
    }
}

/// A function and its slope.
type Curve = (fn(f64) -> f64, fn(f64) -> f64);
type Folds = fn(f64) -> usize;

const LINE: Curve = (|u| u, |_| 1.0);
const ATAN: Curve = (f64::atan, |u| 1.0 / (1.0 + u * u));
/// From 1 the full step ends at −3, where there is no value, and the half step at −1.
const CUT: Curve = (|u| if u < -1.0 { f64::NAN } else { u }, |_| 0.25);

#[test]
fn the_limit_of_steps_is_kept() {
    let settings = NewtonSettings { max_iterations: 3, ..NEWTON };
    // At a triple root every step removes a third of the error.
    let mut problem = Scalar::new(|u| u.powi(3), |u| 3.0 * u * u);

    let (report, u) = problem.solve(1.0, Kind::None, &settings);

    assert_eq!(report.stop, NewtonStop::IterationLimit { limit: 3 });
    assert_eq!(report.history.newton_iterations(), 3);
    assert!((u - 8.0 / 27.0).abs() < 1e-14);
}

/// A function, the start, the settings, and how the solve ends.
type Stopped = (Curve, f64, (Kind, NewtonSettings), NewtonStop, Vec<String>);

#[test]
fn a_solve_that_takes_no_step_says_why() {
    let none = NewtonSettings { max_iterations: 0, ..NEWTON };
    let four = NewtonSettings { max_halvings: 4, ..NEWTON };
    let pivot = PreconditionerFailure::Pivot { preconditioner: "Jacobi", row: 0 };
    let again =
        "Newton step 1: no step length was accepted; the direction is solved for again, to 1.0e-3";
    let all_methods = |cause| {
        ["BiCGStab restarted", "BiCGStab restarted", "flexible GMRES took over"]
            .map(|then| format!("Newton step 1: {cause}; {then}"))
            .to_vec()
    };
    let nowhere: fn(f64) -> f64 = |u| if u < 1.0 { f64::NAN } else { u };
    let above: fn(f64) -> f64 = |u| u * u + 1.0;
    let (line, one) = LINE;
    let rows: [Stopped; 8] = [
        // The start meets the tolerance.
        (LINE, 1e-11, (Kind::None, NEWTON), NewtonStop::Converged, vec![]),
        (LINE, 3.0, (Kind::None, none), NewtonStop::IterationLimit { limit: 0 }, vec![]),
        // The direction is one of ascent, and the last trial is 1 + 1/16.
        (
            (line, |_| -1.0),
            1.0,
            (Kind::None, four),
            NewtonStop::LineSearch { folded: 0, ratio: 1.0625 },
            vec![again.to_owned()],
        ),
        // The start is not a number, and then no trial is one.
        ((f64::sqrt, one), -1.0, (Kind::None, NEWTON), NewtonStop::NotFinite, vec![]),
        ((nowhere, one), 1.0, (Kind::None, NEWTON), NewtonStop::NotFinite, vec![]),
        (
            (above, |_| 0.0),
            1.0,
            (Kind::None, NEWTON),
            NewtonStop::Linear(LinearStop::Stagnation),
            all_methods("the Krylov method broke down ((r̃, v) = 0)"),
        ),
        (
            (line, |_| f64::NAN),
            1.0,
            (Kind::None, NEWTON),
            NewtonStop::Linear(LinearStop::NotFinite),
            all_methods("a value in the linear solve was not a number"),
        ),
        ((line, |_| 0.0), 1.0, (Kind::Jacobi, NEWTON), NewtonStop::Preconditioner(pivot), vec![]),
    ];

    for ((f, slope), start, (kind, settings), stop, events) in rows {
        let (report, u) = Scalar::new(f, slope).solve(start, kind, &settings);

        assert_eq!((&report.stop, u), (&stop, start));
        assert_eq!(report.history.steps.len(), 1, "{stop}");
        assert_eq!(report.events, events, "{stop}");
    }
}

#[test]
fn a_direction_that_always_folds_ends_in_the_line_search() {
    let mut problem = Scalar::new(|u| u, |_| 1.0);
    problem.folded = |u| usize::from(u < 1.0) * 3;

    let (report, u) = problem.solve(1.0, Kind::None, &NEWTON);

    assert!(matches!(report.stop, NewtonStop::LineSearch { folded: 3, ratio } if ratio < 1.0));
    assert_eq!(u, 1.0);
}

#[test]
fn a_step_is_halved_until_it_folds_nothing_and_the_merit_falls() {
    let settings = NewtonSettings { max_iterations: 1, ..NEWTON };
    let rows: [(Curve, Folds, f64, f64, usize); 5] = [
        (LINE, |_| 0, 4.0, 1.0, 0),
        (LINE, |u| usize::from(u == 0.0), 4.0, 0.5, 0),
        // A start with two folds may keep them, but the full step would gain one.
        (LINE, |u| if u == 0.0 { 3 } else { 2 }, 4.0, 0.5, 2),
        // From 3 a full step on atan ends at −9.5, a half step at −3.2, a quarter step at −0.12.
        (ATAN, |_| 0, 3.0, 0.25, 0),
        (CUT, |_| 0, 1.0, 0.25, 0),
    ];

    for ((f, slope), folded, start, length, folds) in rows {
        let mut problem = Scalar { folded, ..Scalar::new(f, slope) };

        let (report, u) = problem.solve(start, Kind::None, &settings);

        let step = &report.history.steps[1];
        let area = if folds == 0 { 1.0 } else { -1.0 };
        assert_eq!((step.step_length, step.folded_cells, step.min_area), (length, folds, area));
        assert!((u - (start - length * f(start) / slope(start))).abs() < 1e-12, "{u}");
    }
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
