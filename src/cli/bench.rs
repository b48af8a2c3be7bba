//! `gridgen bench`: measurements of a backend.

mod crossover;
mod solvers;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use gridgen::backend::DeviceError;
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaBackend;
use gridgen::bench::{self, BenchBackend, ScalingResults, Size, SolverResults, Table};
use gridgen::error::Error;
use gridgen::report::plot::ScalingFigure;

use super::terminal::Terminal;
use super::{Backend, each_once, refuse, stdout_failed};
use solvers::SolverArguments;

/// Sizes of the tables of one backend.
const SIZES: [Size; 3] = [(65, 33), (257, 129), (1025, 513)];

/// Arguments of the measurements.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen bench
  gridgen bench kernels --sizes 257x129,1025x513 --output tables
  gridgen bench scaling --output scaling
  gridgen bench crossover
  gridgen bench solvers --matrices cage13,jacobians --scale 0.1
  gridgen bench solvers --tables scaling --devices 0,1")]
pub(super) struct BenchArguments {
    /// What to measure.
    #[arg(value_enum, default_values_t = [Subject::Kernels, Subject::Newton])]
    subjects: Vec<Subject>,
    /// Grid sizes, points around the body and away from it [default: 65x33,257x129,1025x513; of the
    /// scaling nine from 129x65 to 12289x8193, as far as they fit; of the crossover seven from 129x65 to
    /// 2049x1025].
    #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size)]
    sizes: Option<Vec<Size>>,
    /// Sizes a GPU of the scaling's growing problems [default: those of --sizes, or 7501x4001].
    #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size)]
    weak: Option<Vec<Size>>,
    /// Where to compute; auto takes a GPU if there is one.
    #[arg(long, value_enum, default_value_t = Backend::Auto)]
    backend: Backend,
    /// GPU to use, by number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
    /// GPUs of the scaling, by number [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Option<Vec<usize>>,
    /// Points of a multigrid level up to which all GPUs of the scaling hold it as a whole.
    #[arg(long, value_name = "POINTS")]
    gathered: Option<usize>,
    /// Most levels of multigrid of the scaling [default: that of case files].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    levels: Option<u8>,
    /// Write the tables as CSV files and their pictures to DIR.
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    solvers: SolverArguments,
}

/// Tables that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Subject {
    /// Kernels against a copy of their bytes.
    Kernels,
    /// Newton solves against the number of unknowns.
    Newton,
    /// Newton solves on 1, 2, 4, … GPUs: of the same size, and of the same size a GPU.
    Scaling,
    /// Sparse solvers on matrices of any pattern.
    Solvers,
    /// Whole runs on the CPU and on a GPU: from which size on the GPU is faster.
    Crossover,
}

/// Tables, and the picture of the last.
type Measured = (Vec<Table>, Option<ScalingFigure>);

/// All tables and pictures.
struct Results {
    tables: Vec<Table>,
    newton: Option<ScalingFigure>,
    scaling: Option<ScalingResults>,
    solvers: Option<SolverResults>,
}

impl BenchArguments {
    /// Measures, prints and writes.
    pub(super) fn execute(&self) -> ExitCode {
        if let Err(error) = each_once(self.devices.as_deref().unwrap_or_default()) {
            error.exit();
        }
        let terminal = Terminal::new(false);
        match self.results() {
            Ok(results) => self.publish(&results, &terminal),
            Err(error) => refuse(&terminal, &error),
        }
    }

    fn results(&self) -> Result<Results, Error> {
        let of_one = |subject: &Subject| matches!(subject, Subject::Kernels | Subject::Newton);
        let (mut tables, newton) =
            if self.subjects.iter().any(of_one) { self.of_one()? } else { (Vec::new(), None) };
        if self.subjects.contains(&Subject::Crossover) {
            tables.push(crossover::table(self.sizes.as_deref(), self.device)?);
        }
        let mut scaling = None;
        if self.subjects.contains(&Subject::Scaling) {
            let results = Self::scaling(self)?;
            tables.extend_from_slice(&results.tables);
            scaling = Some(results);
        }
        let mut solvers = None;
        if self.subjects.contains(&Subject::Solvers) {
            let devices = self.devices.as_deref();
            let results = self.solvers.measure(self.backend, self.device, devices)?;
            tables.extend_from_slice(&results.tables);
            solvers = Some(results);
        }
        Ok(Results { tables, newton, scaling, solvers })
    }

    /// Tables of one backend.
    fn of_one(&self) -> Result<Measured, Error> {
        match self.backend {
            Backend::Cpu => self.measure(&CpuBackend),
            Backend::Cuda => self.measure(&CudaBackend::open(self.device)?),
            Backend::Auto => match CudaBackend::open(self.device) {
                Ok(cuda) => self.measure(&cuda),
                Err(_) => self.measure(&CpuBackend),
            },
        }
    }

    fn measure<B: BenchBackend>(&self, backend: &B) -> Result<Measured, Error> {
        let sizes = self.sizes.as_deref().unwrap_or(&SIZES);
        let (mut tables, mut newton) = (Vec::new(), None);
        for subject in &self.subjects {
            match subject {
                Subject::Kernels => tables.extend(bench::kernels(backend, sizes)?),
                Subject::Newton => {
                    let (table, figure) = bench::newton(backend, sizes)?;
                    tables.push(table);
                    newton = Some(figure);
                }
                Subject::Scaling | Subject::Solvers | Subject::Crossover => {}
            }
        }
        Ok((tables, newton))
    }

    /// Tables and pictures of scaling on the GPUs named, or on all.
    #[cfg(feature = "cuda")]
    fn scaling(asked: &Self) -> Result<ScalingResults, Error> {
        let settings = bench::ScalingSettings {
            gathered_points: asked.gathered,
            levels: asked.levels.map(usize::from),
            ..bench::ScalingSettings::new(asked.sizes.clone(), asked.weak.clone())
        };
        let (names, records) = bench::scaling(&gpus(asked.devices.as_deref())?, &settings)?;
        Ok(bench::scaling_results(&names, &records))
    }

    /// Refuses: this build has no GPUs.
    #[cfg(not(feature = "cuda"))]
    fn scaling(_: &Self) -> Result<ScalingResults, Error> {
        Err(DeviceError::NotBuilt { backend: "cuda" }.into())
    }

    fn publish(&self, results: &Results, terminal: &Terminal) -> ExitCode {
        let text: Vec<String> = results.tables.iter().map(Table::markdown).collect();
        if let Err(error) = terminal.result(&text.join("\n")) {
            return stdout_failed(terminal, &error);
        }
        let Some(folder) = &self.output else { return ExitCode::SUCCESS };
        let written = bench::write(folder, &results.tables, results.newton.as_ref())
            .and_then(|()| match &results.scaling {
                Some(scaling) => bench::write_scaling(folder, scaling),
                None => Ok(()),
            })
            .and_then(|()| match &results.solvers {
                Some(solvers) => bench::write_solvers(folder, solvers),
                None => Ok(()),
            });
        match written {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => refuse(terminal, &error.into()),
        }
    }
}

/// The GPUs named, or all.
#[cfg(feature = "cuda")]
fn gpus(named: Option<&[usize]>) -> Result<Vec<usize>, Error> {
    use gridgen::backend::cuda::driver;
    let all: Vec<usize> = match named {
        Some(named) => named.to_vec(),
        None => driver::devices()?.iter().map(|device| device.ordinal).collect(),
    };
    if all.is_empty() { Err(DeviceError::NoGpu.into()) } else { Ok(all) }
}

/// Reads `NIxNJ`.
fn parse_size(text: &str) -> Result<Size, String> {
    let expected = || format!("expected NIxNJ, for example 257x129, not `{text}`");
    let (ni, nj) = text.split_once(['x', '×']).ok_or_else(expected)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| expected());
    let size = (number(ni)?, number(nj)?);
    if size.0 < 9 || size.1 < 9 {
        Err("at least 9x9 points are needed".to_owned())
    } else {
        Ok(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(parse_size("257x129"), Ok((257, 129)));
        assert!(parse_size("257").is_err() && parse_size("3x3").is_err());
    }
}
