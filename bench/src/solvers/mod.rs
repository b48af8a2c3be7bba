//! The sparse solvers on matrices of any pattern, one subject after the other as reported in the papers.

mod construction;
mod convergence;
mod gmres;
mod iterations;
mod products;
#[cfg(feature = "cuda")]
mod ranks;
mod shapes;
mod triangles;

#[cfg(feature = "cuda")]
pub use ranks::row_scaling;

use super::matrices::{Generated, Random, jacobian};
use super::{BenchBackend, Results, Size, Table};
use gridgen::backend::{
    Algebraic, Backend, DeviceError, Incomplete, LinearOperator, MatrixFormat, Preconditioner,
    Real, SparseBackend,
};
use gridgen::report::plot::{Axis, Stroke, XyCurve, XyFigure, XyLine, XyPanel};
use gridgen::solver::SolverError;
use gridgen::solver::krylov::{KrylovReport, System};
use gridgen::sparse::{Csr, Schedule};

/// Sizes of the grids whose Jacobians are measured, and the numbers of Newton steps before.
const GRIDS: [Size; 2] = [(257, 129), (2049, 513)];
const STEPS: [usize; 2] = [0, 4];

/// Schedules of incomplete factors, and their names.
const SCHEDULES: [(Schedule, &str); 5] = [
    (Schedule::Auto, "auto"),
    (Schedule::Levels, "levels"),
    (Schedule::SyncFree, "sync-free"),
    (Schedule::Colours, "colours"),
    (Schedule::Tiles, "tiles"),
];

/// A table, or a picture, of the solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum SolverSubject {
    /// Sizes, levels, colours and bandwidths of the matrices.
    Shapes,
    /// Products, compared with a copy and with the vendor's.
    Products,
    /// Set-up of DILU and ILU(0) by schedule (table 2 and 4 of Wang and Liu 2022).
    Construction,
    /// Iterations of BiCGStab with DILU by schedule (their tables 3 and 5).
    Iterations,
    /// Triangular solves, one and a hundred with their analysis.
    Triangles,
    /// GMRES(8, 16, 32), compared with the CPU (table 3 of Liu, Yin and Wu 2011).
    Gmres,
    /// Residuals against iterations without a preconditioner, with DILU and with ILU(0) (figure 6 of Wang and
    /// Liu).
    Convergence,
    /// Products and iterations on 1, 2, 4, … GPUs by rows: with several --devices, or by name. The table is
    /// made by [`row_scaling`].
    Scaling,
}

/// The source of a matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum MatrixSource {
    /// It is generated.
    Generated(Generated),
    /// It is the Jacobian of a grid of this size after this number of Newton steps.
    Jacobian(Size, usize),
    /// It was read from a file.
    Given(String, Csr),
}

impl MatrixSource {
    /// The generated matrices and the Jacobians, at full size.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let generated = Generated::ALL.into_iter().map(Self::Generated);
        let jacobians = GRIDS.into_iter().flat_map(|size| STEPS.map(|k| Self::Jacobian(size, k)));
        generated.chain(jacobians).collect()
    }

    /// A short name for `scale` times the rows of the full size.
    #[must_use]
    pub fn name(&self, scale: f64) -> String {
        match self {
            Self::Generated(generated) => format!("like {}", generated.name()),
            Self::Jacobian(size, step) => {
                let (ni, nj) = scaled(*size, scale);
                format!("Jacobian {ni} × {nj}, step {step}")
            }
            Self::Given(name, _) => name.clone(),
        }
    }

    fn matrix<B: BenchBackend>(&self, backend: &B, scale: f64) -> Result<Csr, SolverError> {
        Ok(match self {
            Self::Generated(generated) => generated.matrix(scale),
            Self::Jacobian(size, steps) => jacobian(backend, scaled(*size, scale), *steps)?,
            Self::Given(_, a) => a.clone(),
        })
    }
}

/// A grid with about `scale` times as many points.
fn scaled((ni, nj): Size, scale: f64) -> Size {
    let side = |n: usize| (((n - 1) as f64 * scale.sqrt()).round() as usize + 1).max(9);
    (side(ni), side(nj))
}

/// Settings of the measurement.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverSettings {
    /// Tables; [`solvers`] skips the scaling over several GPUs.
    pub subjects: Vec<SolverSubject>,
    /// Matrices.
    pub matrices: Vec<MatrixSource>,
    /// Number of rows of the generated matrices, in units of the full size.
    pub scale: f64,
    /// Number of timed iterations, and the limit of iterations of a solve.
    pub iterations: usize,
}

/// A matrix that is measured.
struct Problem<'a, B: SparseBackend> {
    backend: &'a B,
    name: String,
    csr: &'a Csr,
    operator: B::CsrMatrix<f64>,
    /// Number of its rows on this backend.
    rows: usize,
    /// Right-hand side, random in [0, 1) as in Wang and Liu (2022).
    b: B::Vector<f64>,
}

/// The tables named in `settings`.
///
/// # Errors
/// If the device fails. A matrix whose factors do not exist gets a row with the reason.
pub fn solvers<B: BenchBackend>(
    backend: &B,
    settings: &SolverSettings,
) -> Result<Results, SolverError> {
    let mut tables: Vec<(SolverSubject, Table)> =
        settings.subjects.iter().filter_map(|&of| Some((of, empty(of, settings)?))).collect();
    for (_, table) in &mut tables {
        table.title = format!("{}, {}", table.title, backend.name());
    }
    let (mut levels, mut residuals) = (Panels::new(), Panels::new());
    for source in &settings.matrices {
        let csr = source.matrix(backend, settings.scale)?;
        let (operator, rows) = (backend.csr(&csr, MatrixFormat::Csr)?, csr.rows());
        let mut random = Random::new(1);
        let right: Vec<f64> = (0..csr.rows()).map(|_| random.unit()).collect();
        let mut b = backend.zeros(csr.rows())?;
        backend.upload(&right, &mut b)?;
        let name = source.name(settings.scale);
        let problem = Problem { backend, name, csr: &csr, operator, rows, b };
        for (subject, table) in &mut tables {
            match subject {
                SolverSubject::Shapes => shapes::measure(&problem, table, &mut levels),
                SolverSubject::Products => products::measure(&problem, table)?,
                SolverSubject::Construction => construction::measure(&problem, table)?,
                SolverSubject::Iterations => {
                    iterations::measure(&problem, settings.iterations, table)?;
                }
                SolverSubject::Triangles => triangles::measure(&problem, table)?,
                SolverSubject::Gmres => gmres::measure(&problem, &right, table)?,
                SolverSubject::Convergence => {
                    let most = settings.iterations;
                    convergence::measure(&problem, most, table, &mut residuals)?;
                }
                SolverSubject::Scaling => {}
            }
        }
    }
    let mut results: Results =
        tables.into_iter().map(|(_, table)| table).collect::<Vec<_>>().into();
    if settings.subjects.contains(&SolverSubject::Shapes) {
        results.figures.push(("levels.svg", shapes::picture(levels)));
    }
    if settings.subjects.contains(&SolverSubject::Convergence) {
        let (figure, table) = convergence::picture(residuals);
        results.figures.push(("convergence.svg", figure));
        results.values.push(("convergence.csv", table));
    }
    Ok(results)
}

/// The table of a subject without rows; `None` if the subject needs several backends.
fn empty(subject: SolverSubject, settings: &SolverSettings) -> Option<Table> {
    Some(match subject {
        SolverSubject::Shapes => shapes::table(),
        SolverSubject::Products => products::table(),
        SolverSubject::Construction => construction::table(),
        SolverSubject::Iterations => iterations::table(settings.iterations),
        SolverSubject::Triangles => triangles::table(),
        SolverSubject::Gmres => gmres::table(),
        SolverSubject::Convergence => convergence::table(),
        SolverSubject::Scaling => return None,
    })
}

/// A picture with a panel for each matrix, with curves of these names and a logarithmic y.
fn figure(name: &str, across: &str, curves: &[&str], panels: Panels) -> XyFigure {
    let line = |k| XyLine { colour: Some(k), stroke: Stroke::Plain };
    let panel = |(caption, curves): (String, Vec<Points>)| XyPanel {
        caption,
        axes: [(across, false), ("", true)]
            .map(|(name, logarithmic)| Axis { name: name.to_owned(), logarithmic }),
        curves: curves
            .into_iter()
            .enumerate()
            .map(|(k, points)| XyCurve { line: line(k), name: None, points })
            .collect(),
        rules: Vec::new(),
    };
    XyFigure {
        name: name.to_owned(),
        legend: curves.iter().enumerate().map(|(k, name)| (line(k), (*name).to_owned())).collect(),
        across: 3,
        panel: [360.0, 240.0],
        panels: panels.into_iter().map(panel).collect(),
        ..XyFigure::default()
    }
}

/// Iterations of a solve from x = 0, which nobody observes.
pub(crate) fn from_zero<B: Backend, T: Real, A: LinearOperator<B, T>>(
    backend: &B,
    (operator, b): (&A, &B::Vector<T>),
    preconditioner: &mut dyn Preconditioner<B, T, A>,
    x: &mut B::Vector<T>,
    solve: impl FnOnce(&mut System<'_, B, T, A>, &mut B::Vector<T>) -> Result<KrylovReport, DeviceError>,
) -> Result<f64, DeviceError> {
    backend.lincomb(None, x, 0.0, &[])?;
    let observe = &mut |_, _| {};
    let mut system = System::new(backend, (operator, b), preconditioner, observe);
    Ok(solve(&mut system, x)?.iterations)
}

/// Points of a curve.
type Points = Vec<[f64; 2]>;

/// A panel for each matrix: its name, and its curves.
type Panels = Vec<(String, Vec<Points>)>;

/// Incomplete factors under a schedule, without a shift.
fn factors(kind: Incomplete, schedule: Schedule) -> Algebraic {
    Algebraic::Factors { kind, schedule, shift: 0.0 }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.4}", 1e3 * seconds)
}

/// A ratio of times.
fn times(seconds: f64, other: f64) -> String {
    format!("{:.2}", seconds / other)
}

/// Adds a row with the name of the matrix and cells, filled up to the columns of the table.
fn row(table: &mut Table, name: &str, cells: impl IntoIterator<Item = String>) {
    let mut row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
    row.resize(table.columns.len(), String::new());
    table.rows.push(row);
}
