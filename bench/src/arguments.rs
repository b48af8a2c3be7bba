//! Command-line arguments and their help.

mod solvers;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, RangedU64ValueParser, TypedValueParser};
use clap::{Args, CommandFactory, Parser, Subcommand};
use gridgen::backend::DeviceError;
use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::CudaBackend;
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, RunOptions};
use gridgen_bench::{
    Results, Size, TIMED_RUN, crossover, kernels, matrix_market, newton, runs, timed_run, writing,
};

use self::solvers::SolverArguments;

/// Measurements of gridgen.
///
/// Tables go to standard output. RAYON_NUM_THREADS in the environment sets the threads of the CPU.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "\
Examples:
  gridgen-bench kernels --sizes 257x129,1025x513 --output tables
  gridgen-bench newton --backend cuda
  gridgen-bench scaling --output scaling
  gridgen-bench crossover
  gridgen-bench solvers --matrices cage13,jacobians --scale 0.1
  gridgen-bench solvers --tables scaling --devices 0,1"
)]
pub(crate) struct Arguments {
    /// Subject to measure.
    #[command(subcommand)]
    subject: Subject,
    /// Write the tables as CSV files and their pictures to DIR.
    #[arg(short, long, value_name = "DIR", global = true)]
    output: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Subject {
    /// Kernels against a copy of their bytes.
    Kernels(GridArguments),
    /// Newton solves against the number of unknowns.
    Newton(GridArguments),
    /// Newton solves on 1, 2, 4, … GPUs: of the same size, and of the same size a GPU.
    Scaling(ScalingArguments),
    /// Sparse solvers on matrices of any pattern.
    Solvers(SolverArguments),
    /// Whole runs, phase by phase.
    Runs(GridArguments),
    /// Writing a mesh in several formats, beside copying its bytes; into TMPDIR.
    Writing {
        /// Points along each side of the mesh.
        #[arg(long, value_name = "N", default_value_t = 2049,
            value_parser = RangedU64ValueParser::<usize>::new().range(9..=100_000))]
        side: usize,
    },
    /// Writing and reading Matrix Market text, beside its bytes; in TMPDIR.
    MatrixMarket {
        /// Rows of the matrix, of 13 entries each.
        #[arg(long, value_name = "N", default_value_t = 1_000_000,
            value_parser = RangedU64ValueParser::<usize>::new().range(1000..=100_000_000))]
        rows: usize,
    },
    /// Whole runs on the CPU and on a GPU: from which size on the GPU is faster.
    Crossover {
        /// Grid sizes [default: seven from 129x65 to 2049x1025].
        #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size)]
        sizes: Option<Vec<Size>>,
        /// GPU to use, by number.
        #[arg(long, value_name = "N", default_value_t = 0)]
        device: usize,
    },
    /// A run that the crossover times.
    #[command(name = TIMED_RUN, hide = true)]
    TimedRun { case: PathBuf, folder: PathBuf, device: Option<usize> },
}

/// Arguments of the tables of one backend.
#[derive(Debug, Args)]
struct GridArguments {
    /// Grid sizes, points around the body and away from it.
    #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size,
        default_value = "65x33,257x129,1025x513")]
    sizes: Vec<Size>,
    #[command(flatten)]
    place: Place,
}

/// The machine that computes.
#[derive(Debug, Args)]
pub(crate) struct Place {
    /// Machine to compute on; auto takes a GPU if there is one.
    #[arg(long, default_value = "auto", value_parser = backend())]
    backend: BackendChoice,
    /// GPU to use, by number.
    #[arg(long, value_name = "N", default_value_t = 0)]
    device: usize,
}

fn backend() -> impl TypedValueParser<Value = BackendChoice> {
    PossibleValuesParser::new(["auto", "cpu", "cuda"]).map(|word| match &*word {
        "cpu" => BackendChoice::Cpu,
        "cuda" => BackendChoice::Cuda,
        _ => BackendChoice::Auto,
    })
}

/// The backend after it has been opened.
pub(crate) enum Opened {
    Cpu(CpuBackend),
    Cuda(Box<CudaBackend>),
}

/// Arguments of the scaling measurement.
#[derive(Debug, Args)]
struct ScalingArguments {
    /// Grid sizes [default: nine from 129x65 to 12289x8193, as far as they fit].
    #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size)]
    sizes: Option<Vec<Size>>,
    /// Sizes a GPU of the growing problems [default: those of --sizes, or 7501x4001].
    #[arg(long, value_name = "NIxNJ", value_delimiter = ',', value_parser = parse_size)]
    weak: Option<Vec<Size>>,
    #[command(flatten)]
    gpus: Gpus,
    /// Points of a multigrid level up to which all GPUs hold it as a whole.
    #[arg(long, value_name = "POINTS")]
    gathered: Option<usize>,
    /// Most levels of multigrid [default: that of case files].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=32))]
    levels: Option<u8>,
}

/// GPUs that share a problem.
#[derive(Debug, Args)]
pub(crate) struct Gpus {
    /// GPUs of the scaling, by number [default: all].
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    devices: Option<Vec<usize>>,
}

impl Arguments {
    /// Parses the arguments; ends the program if they are not valid.
    pub(crate) fn read() -> Self {
        let arguments = Self::parse();
        let devices = match &arguments.subject {
            Subject::Scaling(scaling) => scaling.gpus.devices.as_deref(),
            Subject::Solvers(solvers) => solvers.gpus.devices.as_deref(),
            _ => None,
        };
        if let Err(message) = BackendChoice::Cuda.check_devices(devices.unwrap_or_default()) {
            Self::command().error(clap::error::ErrorKind::ValueValidation, message).exit();
        }
        arguments
    }

    /// Measures, and writes the results if a folder is given.
    pub(crate) fn measure(&self) -> Result<Results, Error> {
        let results = self.subject.measure()?;
        if let Some(folder) = &self.output {
            results.write(folder)?;
        }
        Ok(results)
    }
}

impl Subject {
    fn measure(&self) -> Result<Results, Error> {
        match self {
            Self::Kernels(GridArguments { sizes, place }) => Ok(match place.open()? {
                Opened::Cpu(backend) => kernels(&backend, sizes)?,
                Opened::Cuda(backend) => kernels(&*backend, sizes)?,
            }),
            Self::Newton(GridArguments { sizes, place }) => Ok(match place.open()? {
                Opened::Cpu(backend) => newton(&backend, sizes)?,
                Opened::Cuda(backend) => newton(&*backend, sizes)?,
            }),
            Self::Runs(GridArguments { sizes, place }) => runs(sizes, &place.options()),
            Self::Writing { side } => writing(*side),
            Self::MatrixMarket { rows } => matrix_market(*rows),
            Self::Scaling(arguments) => arguments.measure(),
            Self::Solvers(arguments) => arguments.measure(),
            Self::Crossover { sizes, device } => Ok(crossover(sizes.as_deref(), *device)?),
            Self::TimedRun { case, folder, device } => {
                timed_run(case, folder, *device).map(|()| Results::default())
            }
        }
    }
}

impl Place {
    /// Options of a whole run.
    fn options(&self) -> RunOptions {
        let mut options = RunOptions::default();
        options.backend = self.backend;
        options.devices = (self.backend == BackendChoice::Cuda).then(|| vec![self.device]);
        options
    }

    fn open(&self) -> Result<Opened, DeviceError> {
        let open = || CudaBackend::open(self.device, usize::MAX).map(Box::new).map(Opened::Cuda);
        match self.backend {
            BackendChoice::Cpu => Ok(Opened::Cpu(CpuBackend)),
            BackendChoice::Cuda => open(),
            BackendChoice::Auto => Ok(open().unwrap_or(Opened::Cpu(CpuBackend))),
        }
    }
}

#[cfg(feature = "cuda")]
impl ScalingArguments {
    fn measure(&self) -> Result<Results, Error> {
        use gridgen_bench::scaling::{ScalingSettings, scaling, scaling_results};
        let settings = ScalingSettings {
            gathered_points: self.gathered,
            levels: self.levels.map(usize::from),
            ..ScalingSettings::new(self.sizes.clone(), self.weak.clone())
        };
        let (names, records) = scaling(&self.gpus.ordinals()?, &settings)?;
        Ok(scaling_results(&names, &records))
    }
}

#[cfg(not(feature = "cuda"))]
impl ScalingArguments {
    #[allow(clippy::unused_self, reason = "as with GPUs")]
    fn measure(&self) -> Result<Results, Error> {
        Err(DeviceError::NotBuilt { backend: "cuda" }.into())
    }
}

impl Gpus {
    /// The named GPUs, or all.
    #[cfg(feature = "cuda")]
    fn ordinals(&self) -> Result<Vec<usize>, Error> {
        use gridgen::backend::cuda::driver;
        let all: Vec<usize> = match &self.devices {
            Some(named) => named.clone(),
            None => driver::devices()?.iter().map(|device| device.ordinal).collect(),
        };
        if all.is_empty() { Err(DeviceError::NoGpu.into()) } else { Ok(all) }
    }
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
    fn the_definition_of_the_arguments_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn sizes_are_two_numbers() {
        assert_eq!(parse_size("257x129"), Ok((257, 129)));
        assert!(parse_size("257").is_err() && parse_size("3x3").is_err());
    }
}
