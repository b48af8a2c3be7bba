//! The linear system of one Newton step, written while the solve goes on.

use std::path::{Path, PathBuf};

use crate::backend::{CellGuard, DeviceError, EllipticBackend, Real, Scaling};
use crate::elliptic::GridProblem;
use crate::files::IoError;
use crate::formats::matrix_market::{write_matrix, write_vector};
use crate::solver::NonlinearProblem;

/// Which system is exported, and where to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Export<'a> {
    /// Newton step, the first being 0.
    pub(super) step: usize,
    /// Folder of this try alone: its grid may not be the one that is written.
    pub(super) folder: &'a Path,
}

/// Names of the files of a Newton step: matrix and right side.
pub(super) fn names(step: usize) -> [String; 2] {
    [".mtx", "-rhs.mtx"].map(|end| format!("jacobian-{step}{end}"))
}

/// Hands a problem on to the solver and writes J d = −F of one step on the way.
pub(super) struct Exporting<'a, B: EllipticBackend, T: Real> {
    pub(super) problem: GridProblem<B, T>,
    export: Option<Export<'a>>,
    /// The step that comes next.
    step: usize,
    /// F of the present state, while the step is still to come.
    residual: Vec<f64>,
    written: Result<Vec<PathBuf>, IoError>,
}

impl<'a, B: EllipticBackend, T: Real> Exporting<'a, B, T> {
    /// After so many steps that were `taken` before.
    pub(super) fn new(
        problem: GridProblem<B, T>,
        export: Option<Export<'a>>,
        taken: usize,
    ) -> Self {
        Self { problem, export, step: taken, residual: Vec::new(), written: Ok(Vec::new()) }
    }

    /// The problem and the files written.
    pub(super) fn finish(self) -> (GridProblem<B, T>, Result<Vec<PathBuf>, IoError>) {
        (self.problem, self.written)
    }
}

impl<B: EllipticBackend, T: Real> NonlinearProblem<B> for Exporting<'_, B, T> {
    type Real = T;
    type Jacobian = <GridProblem<B, T> as NonlinearProblem<B>>::Jacobian;

    fn unknowns(&self) -> usize {
        self.problem.unknowns()
    }

    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        scaling: Scaling,
        f: &mut B::Vector<f64>,
    ) -> Result<f64, DeviceError> {
        let merit = self.problem.residual(backend, u, scaling, f)?;
        let due = self.export.is_some_and(|export| export.step == self.step);
        if due && scaling == Scaling::Renewed {
            self.residual.resize(self.problem.unknowns(), 0.0);
            backend.download(f, &mut self.residual)?;
        }
        Ok(merit)
    }

    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian, DeviceError> {
        let jacobian = self.problem.linearise(backend)?;
        if let Some(export) = self.export.filter(|export| export.step == self.step) {
            let a = jacobian.to_csr(backend)?;
            let b: Vec<f64> = self.residual.iter().map(|f| -f).collect();
            let files = names(export.step).map(|name| export.folder.join(name));
            let [matrix, right] = &files;
            self.written = write_matrix(matrix, &a)
                .and_then(|()| write_vector(right, &b))
                .map(|()| files.to_vec());
        }
        self.step += 1;
        Ok(jacobian)
    }

    fn guard(&mut self, backend: &B) -> Result<CellGuard, DeviceError> {
        self.problem.guard(backend)
    }
}
