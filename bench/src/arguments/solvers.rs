//! Arguments of the tables of the sparse solvers.

use std::path::Path;

use clap::{Args, ValueEnum};
use gridgen::error::{Error, SystemError};
use gridgen::formats::matrix_market::read_matrix;
use gridgen_bench::solvers::{MatrixSource, SolverSettings, SolverSubject, solvers};
use gridgen_bench::{Generated, Results};

use super::{Gpus, Opened, Place};

/// Arguments of the solvers' tables.
#[derive(Debug, Args)]
pub(crate) struct SolverArguments {
    /// Matrices [default: all that are made]: apache2, asic_320ks, atmosmodd, cage13,
    /// g3_circuit and parabolic_fem mean generated ones of that kind and size, jacobians those of the
    /// grid equations; others are Matrix Market files.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    matrices: Vec<String>,
    /// Tables [default: all, scaling with several --devices].
    #[arg(long, value_enum, value_name = "LIST", value_delimiter = ',')]
    tables: Vec<SolverSubject>,
    /// Rows of the matrices, in units of their full size.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = parse_scale)]
    scale: f64,
    /// Iterations that are timed, and the most of a solve.
    #[arg(long, value_name = "N", default_value_t = 500,
        value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    #[command(flatten)]
    place: Place,
    #[command(flatten)]
    pub(crate) gpus: Gpus,
}

impl SolverArguments {
    /// All tables, both of one backend and of the scaling over GPUs.
    pub(crate) fn measure(&self) -> Result<Results, Error> {
        let settings = self.settings()?;
        let mut results = if self.tables == [SolverSubject::Scaling] {
            Results::default()
        } else {
            match self.place.open()? {
                Opened::Cpu(backend) => solvers(&backend, &settings)?,
                Opened::Cuda(backend) => solvers(&*backend, &settings)?,
            }
        };
        let several = self.gpus.devices.as_ref().is_some_and(|devices| devices.len() > 1);
        if self.tables.contains(&SolverSubject::Scaling) || self.tables.is_empty() && several {
            results.tables.extend(self.scaling(&settings)?.tables);
        }
        Ok(results)
    }

    /// The table of scaling over the named GPUs, or over all.
    #[cfg(feature = "cuda")]
    fn scaling(&self, settings: &SolverSettings) -> Result<Results, Error> {
        let table = gridgen_bench::solvers::row_scaling(&self.gpus.ordinals()?, settings)?;
        Ok(vec![table].into())
    }

    /// Returns an error, since this build has no GPU backend.
    #[cfg(not(feature = "cuda"))]
    #[allow(clippy::unused_self, reason = "as with GPUs")]
    fn scaling(&self, _: &SolverSettings) -> Result<Results, Error> {
        Err(gridgen::backend::DeviceError::NotBuilt { backend: "cuda" }.into())
    }

    fn settings(&self) -> Result<SolverSettings, Error> {
        let all = SolverSubject::value_variants();
        let mut matrices = Vec::new();
        for name in &self.matrices {
            matrices.extend(sources(name)?);
        }
        if self.matrices.is_empty() {
            matrices = MatrixSource::all();
        }
        Ok(SolverSettings {
            subjects: if self.tables.is_empty() { all.into() } else { self.tables.clone() },
            matrices,
            scale: self.scale,
            iterations: self.iterations as usize,
        })
    }
}

/// The matrices with a name.
fn sources(name: &str) -> Result<Vec<MatrixSource>, Error> {
    if name == "jacobians" {
        let jacobian = |source: &MatrixSource| matches!(source, MatrixSource::Jacobian(..));
        return Ok(MatrixSource::all().into_iter().filter(jacobian).collect());
    }
    let known = Generated::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(name));
    if let Some(generated) = known {
        return Ok(vec![MatrixSource::Generated(generated)]);
    }
    let path = Path::new(name);
    let matrix = read_matrix(path)?;
    let (rows, columns) = (matrix.csr.rows(), matrix.columns);
    if rows != columns {
        return Err(SystemError::NotSquare { path: path.to_path_buf(), rows, columns }.into());
    }
    let stem = path.file_name().map_or(name.into(), |name| name.to_string_lossy());
    Ok(vec![MatrixSource::Given(stem.into_owned(), matrix.csr)])
}

/// Parses a positive factor that keeps the matrices within memory.
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
    fn a_matrix_is_known_by_name_or_read() {
        let known = sources("asic_320ks").map(|sources| sources[0].name(1.0));

        assert!(known.is_ok_and(|name| name == "like ASIC_320ks"));
        assert!(sources("jacobians").is_ok_and(|sources| sources.len() == 4));
        assert!(matches!(sources("absent.mtx"), Err(Error::MatrixMarket(_))));
    }

    #[test]
    fn a_scale_is_above_zero() {
        assert_eq!(parse_scale("0.1"), Ok(0.1));
        assert!(parse_scale("0").is_err() && parse_scale("nan").is_err());
    }
}
