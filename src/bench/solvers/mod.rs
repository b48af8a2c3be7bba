//! The sparse solvers on matrices of any pattern, subject by subject as the papers report them.

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
use super::{Bench, BenchBackend, Size, Table};
use crate::backend::{CsrBackend, Format, Incomplete, RowSchedule};
use crate::files::IoError;
use crate::report::plot::{CurvesFigure, write_curves_svg};
use crate::solver::SolverError;
use crate::solver::general::{GeneralKind, GeneralOperator};
use crate::sparse::Csr;
use std::io::Write;
use std::path::Path;

/// Sizes of the grids whose Jacobians are measured, and after how many Newton steps.
const GRIDS: [Size; 2] = [(257, 129), (2049, 513)];
const STEPS: [usize; 2] = [0, 4];

/// A table, or a picture, of the solvers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SolverSubject {
    /// Sizes, levels, colours and bandwidths of the matrices.
    Shapes,
    /// Products against copy and the vendor's.
    Products,
    /// Set-up of DILU and ILU(0) by schedule (table 2 and 4 of Wang and Liu 2022).
    Construction,
    /// Iterations of BiCGStab with DILU by schedule (their tables 3 and 5).
    Iterations,
    /// Triangular solves, one and a hundred with their analysis.
    Triangles,
    /// GMRES(8, 16, 32) against the CPU (table 3 of Liu, Yin and Wu 2011).
    Gmres,
    /// Residuals against iterations with no preconditioner, DILU and ILU(0) (figure 6 of Wang and Liu).
    Convergence,
}

impl SolverSubject {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Shapes,
        Self::Products,
        Self::Construction,
        Self::Iterations,
        Self::Triangles,
        Self::Gmres,
        Self::Convergence,
    ];
}

/// Where a matrix comes from.
#[derive(Debug, Clone, PartialEq)]
pub enum MatrixSource {
    /// It is generated.
    Generated(Generated),
    /// It is the Jacobian of a grid of so many points after so many Newton steps.
    Jacobian(Size, usize),
    /// It was read.
    Given(String, Csr),
}

impl MatrixSource {
    /// The generated ones and the Jacobians of the full sizes.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let generated = Generated::ALL.into_iter().map(Self::Generated);
        let jacobians = GRIDS.into_iter().flat_map(|size| STEPS.map(|k| Self::Jacobian(size, k)));
        generated.chain(jacobians).collect()
    }

    /// A short name, with `scale` times the rows of the full size.
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

/// A grid of about `scale` times the points.
fn scaled((ni, nj): Size, scale: f64) -> Size {
    let side = |n: usize| (((n - 1) as f64 * scale.sqrt()).round() as usize + 1).max(9);
    (side(ni), side(nj))
}

/// What is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct SolverSettings {
    /// Tables.
    pub subjects: Vec<SolverSubject>,
    /// Matrices.
    pub matrices: Vec<MatrixSource>,
    /// Rows of the matrices that are made, in units of the full size.
    pub scale: f64,
    /// Iterations that are timed, and the most of a solve.
    pub iterations: usize,
}

/// Tables and pictures.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SolverResults {
    /// One a subject.
    pub tables: Vec<Table>,
    /// Pictures with names of files.
    pub figures: Vec<(&'static str, CurvesFigure)>,
    /// Long tables with names of files.
    pub curves: Vec<(&'static str, Table)>,
}

/// A matrix under measurement.
struct Problem<'a, B: CsrBackend> {
    name: String,
    csr: &'a Csr,
    operator: GeneralOperator<B, f64>,
    /// Right-hand side, random in [0, 1) as Wang and Liu have it.
    b: B::Vector<f64>,
}

/// The tables that `settings` names.
///
/// # Errors
/// If the device fails. A matrix whose factors do not exist gets a row that says so.
pub fn solvers<B: BenchBackend + CsrBackend>(
    backend: &B,
    settings: &SolverSettings,
) -> Result<SolverResults, SolverError> {
    let bench = Bench { backend };
    let mut tables: Vec<(SolverSubject, Table)> =
        settings.subjects.iter().map(|&subject| (subject, empty(subject, settings))).collect();
    for (_, table) in &mut tables {
        table.title = format!("{}, {}", table.title, backend.name());
    }
    let mut levels = shapes::figure();
    let mut residuals = convergence::Curves::new();
    for source in &settings.matrices {
        let csr = source.matrix(backend, settings.scale)?;
        let matrix = backend.csr(&csr, Format::Csr)?;
        let mut random = Random::new(1);
        let right: Vec<f64> = (0..csr.rows()).map(|_| random.unit()).collect();
        let mut b = backend.zeros(csr.rows())?;
        backend.upload(&right, &mut b)?;
        let operator = GeneralOperator { matrix, rows: csr.rows() };
        let problem = Problem { name: source.name(settings.scale), csr: &csr, operator, b };
        for (subject, table) in &mut tables {
            match subject {
                SolverSubject::Shapes => shapes::measure(&problem, table, &mut levels),
                SolverSubject::Products => products::measure(&bench, &problem, table)?,
                SolverSubject::Construction => construction::measure(&bench, &problem, table)?,
                SolverSubject::Iterations => {
                    iterations::measure(&bench, &problem, settings.iterations, table)?;
                }
                SolverSubject::Triangles => triangles::measure(&bench, &problem, table)?,
                SolverSubject::Gmres => gmres::measure(&bench, &problem, &right, table)?,
                SolverSubject::Convergence => {
                    let most = settings.iterations;
                    convergence::measure(&bench, &problem, most, table, &mut residuals)?;
                }
            }
        }
    }
    let (figure, curves) = residuals.finish();
    let drawn = |subject| settings.subjects.contains(&subject);
    let figures = [("levels.svg", SolverSubject::Shapes, levels)].into_iter().chain([(
        "convergence.svg",
        SolverSubject::Convergence,
        figure,
    )]);
    Ok(SolverResults {
        tables: tables.into_iter().map(|(_, table)| table).collect(),
        figures: figures.filter(|f| drawn(f.1)).map(|(name, _, figure)| (name, figure)).collect(),
        curves: drawn(SolverSubject::Convergence)
            .then_some(("convergence.csv", curves))
            .into_iter()
            .collect(),
    })
}

/// The table of a subject without rows.
fn empty(subject: SolverSubject, settings: &SolverSettings) -> Table {
    match subject {
        SolverSubject::Shapes => shapes::table(),
        SolverSubject::Products => products::table(),
        SolverSubject::Construction => construction::table(),
        SolverSubject::Iterations => iterations::table(settings.iterations),
        SolverSubject::Triangles => triangles::table(),
        SolverSubject::Gmres => gmres::table(),
        SolverSubject::Convergence => convergence::table(),
    }
}

/// Writes the pictures and long tables under their names into `folder`; [`super::write`] has the others.
///
/// # Errors
///
/// [`IoError`] with the path.
pub fn write_solvers(folder: &Path, results: &SolverResults) -> Result<(), IoError> {
    crate::files::atomic::prepare_folder(folder)?;
    for (name, figure) in &results.figures {
        write_curves_svg(&folder.join(name), figure)?;
    }
    for (name, table) in &results.curves {
        crate::files::atomic::write(&folder.join(name), |file| {
            file.write_all(table.csv().as_bytes())
        })?;
    }
    Ok(())
}

/// Incomplete factors under a schedule, without a shift.
fn factors(kind: Incomplete, schedule: RowSchedule) -> GeneralKind {
    GeneralKind::Factors { kind, schedule, shift: 0.0 }
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.4}", 1e3 * seconds)
}

/// How many times as long as another.
fn times(seconds: f64, other: f64) -> String {
    format!("{:.2}", seconds / other)
}

/// A row of the matrix and cells, filled up to the columns of the table.
fn row(table: &mut Table, name: &str, cells: impl IntoIterator<Item = String>) {
    let mut row: Vec<String> = std::iter::once(name.to_owned()).chain(cells).collect();
    row.resize(table.columns.len(), String::new());
    table.rows.push(row);
}
