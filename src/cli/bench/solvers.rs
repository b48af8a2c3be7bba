//! `gridgen bench solvers`: the sparse solvers.

use clap::{Args, ValueEnum};
use gridgen::backend::DeviceError;
use gridgen::backend::cpu::CpuBackend;
use gridgen::bench::{self, Generated, MatrixSource, SolverResults, SolverSettings, SolverSubject};
use gridgen::error::Error;

use crate::cli::Backend;

/// Arguments of the solvers' tables.
#[derive(Debug, Args)]
pub(super) struct SolverArguments {
    /// Matrices of the solvers [default: all].
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    matrices: Vec<Matrix>,
    /// Tables of the solvers [default: all].
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    tables: Vec<Subject>,
    /// Rows of the solvers' matrices, in units of their full size.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_scale)]
    scale: f64,
    /// Iterations of the solvers that are timed, and the most of a solve.
    #[arg(long, value_name = "N", default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
}

/// Matrices that can be asked for: the names of SuiteSparse mean generated ones of that kind and size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Matrix {
    Apache2,
    #[value(name = "asic_320ks")]
    Asic320ks,
    Atmosmodd,
    Cage13,
    #[value(name = "g3_circuit")]
    G3Circuit,
    #[value(name = "parabolic_fem")]
    ParabolicFem,
    /// Jacobians of the grid equations.
    Jacobians,
}

/// Tables that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Subject {
    /// Sizes, levels, colours and bandwidths.
    Shapes,
    /// Products against copy and the vendor's.
    Products,
    /// Set-up of DILU and ILU(0).
    Construction,
    /// Iterations with DILU by schedule.
    Iterations,
    /// Triangular solves.
    Triangles,
    /// GMRES(8, 16, 32) against the CPU.
    Gmres,
    /// Residuals against iterations.
    Convergence,
}

impl SolverArguments {
    /// All tables of a backend.
    pub(super) fn measure(&self, backend: Backend, _device: usize) -> Result<SolverResults, Error> {
        match backend {
            Backend::Cpu | Backend::Auto => Ok(bench::solvers(&CpuBackend, &self.settings())?),
            Backend::Cuda => Err(DeviceError::NotBuilt { backend: "cuda" }.into()),
        }
    }

    fn settings(&self) -> SolverSettings {
        let subjects = self.tables.iter().map(|&table| SolverSubject::from(table)).collect();
        let mut matrices: Vec<MatrixSource> =
            self.matrices.iter().flat_map(|matrix| matrix.sources()).collect();
        if self.matrices.is_empty() {
            matrices = MatrixSource::all();
        }
        SolverSettings {
            subjects: if self.tables.is_empty() { SolverSubject::ALL.into() } else { subjects },
            matrices,
            scale: self.scale,
            iterations: self.iterations as usize,
        }
    }
}

impl Matrix {
    fn sources(self) -> Vec<MatrixSource> {
        let generated = match self {
            Self::Apache2 => Generated::Apache2,
            Self::Asic320ks => Generated::Asic320ks,
            Self::Atmosmodd => Generated::Atmosmodd,
            Self::Cage13 => Generated::Cage13,
            Self::G3Circuit => Generated::G3Circuit,
            Self::ParabolicFem => Generated::ParabolicFem,
            Self::Jacobians => {
                let jacobian = |source: &MatrixSource| matches!(source, MatrixSource::Jacobian(..));
                return MatrixSource::all().into_iter().filter(jacobian).collect();
            }
        };
        vec![MatrixSource::Generated(generated)]
    }
}

impl From<Subject> for SolverSubject {
    fn from(subject: Subject) -> Self {
        match subject {
            Subject::Shapes => Self::Shapes,
            Subject::Products => Self::Products,
            Subject::Construction => Self::Construction,
            Subject::Iterations => Self::Iterations,
            Subject::Triangles => Self::Triangles,
            Subject::Gmres => Self::Gmres,
            Subject::Convergence => Self::Convergence,
        }
    }
}

/// Reads a factor above zero that leaves the matrices room.
fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale > 0.0 && scale <= 100.0 => Ok(scale),
        _ => Err("expected a number above 0, at most 100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_is_above_zero() {
        assert_eq!(parse_scale("0.1"), Ok(0.1));
        assert!(parse_scale("0").is_err() && parse_scale("nan").is_err());
    }
}
