//! Measurements of the backends on problems of any size.

mod kernels;
mod matrices;
mod newton;
mod problem;
mod scaling;
mod solvers;
mod table;
mod vendor;

pub use matrices::Generated;
pub use problem::ellipses;
#[cfg(feature = "cuda")]
pub use scaling::scaling;
pub use scaling::{
    Growth, ScalingRecord, ScalingResults, ScalingRun, ScalingSettings, scaling_results,
    write_scaling,
};
#[cfg(feature = "cuda")]
pub use solvers::row_scaling;
pub use solvers::{
    MatrixSource, SolverResults, SolverSettings, SolverSubject, solvers, write_solvers,
};
pub use table::Table;
pub use vendor::VendorWork;

use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
use crate::backend::{DeviceError, EllipticBackend, MultigridBackend, Real};
use crate::files::IoError;
use crate::report::plot::{ScalingFigure, write_scaling_svg};
use crate::solver::SolverError;
use crate::sparse::{Csr, Schedule};
use std::io::Write;
use std::path::Path;
use std::time::Instant;

/// Points in i and j.
pub type Size = (usize, usize);

/// Seconds that a sample takes at least, so that the clock's resolution does not matter.
const SAMPLE: f64 = 2e-3;
/// Samples of which the fastest counts.
const SAMPLES: usize = 7;
/// Samples of work that takes long.
const BRIEF: usize = 3;
/// Longest that the samples of one row may take together, in seconds.
const PATIENCE: f64 = 3.0;

/// Does one copy, or whatever is measured.
pub type Copy<'a> = Box<dyn FnMut() -> Result<(), DeviceError> + 'a>;

/// Name of a library, and what does its work once it is called.
pub type Vendor<'a> = (&'static str, Copy<'a>);

/// A backend that can be measured.
pub trait BenchBackend: EllipticBackend + MultigridBackend {
    /// Name for titles.
    fn name(&self) -> String;

    /// The same backend with incomplete factors eliminated by this schedule, if it has a choice.
    fn scheduled(&self, schedule: Schedule) -> Result<Option<Self>, DeviceError>
    where
        Self: Sized;

    /// A product of the matrix by the vendor's library on the same device, to compare with; none for a
    /// device whose vendor has none.
    fn vendor_product<T: Real>(&self, a: &Csr) -> Result<Option<Vendor<'_>>, DeviceError>;

    /// Other work with the matrix by the vendor's library; none for a device whose vendor has none.
    fn vendor<T: Real>(
        &self,
        _work: VendorWork,
        _a: &Csr,
    ) -> Result<Option<Vendor<'_>>, DeviceError> {
        Ok(None)
    }

    /// Waits until all work that was asked for is done.
    fn finish(&self) -> Result<(), DeviceError>;

    /// A copy that reads `bytes` / 2 and writes as many, once it is called.
    fn copy(
        &self,
        bytes: usize,
    ) -> Result<Box<dyn FnMut() -> Result<(), DeviceError> + '_>, DeviceError>;
}

impl BenchBackend for CpuBackend {
    fn name(&self) -> String {
        format!("CPU, {} threads", rayon::current_num_threads())
    }

    fn scheduled(&self, _: Schedule) -> Result<Option<Self>, DeviceError> {
        Ok(None)
    }

    fn vendor_product<T: Real>(&self, _: &Csr) -> Result<Option<Vendor<'_>>, DeviceError> {
        Ok(None)
    }

    fn finish(&self) -> Result<(), DeviceError> {
        Ok(())
    }

    fn copy(&self, bytes: usize) -> Result<Copy<'_>, DeviceError> {
        use rayon::prelude::*;
        let n = (bytes / 16).max(1);
        let (from, mut to) = (vec![1.0_f64; n], vec![0.0_f64; n]);
        let part = n.div_ceil(rayon::current_num_threads());
        Ok(Box::new(move || {
            let parts = to.par_chunks_mut(part).zip(from.par_chunks(part));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            std::hint::black_box(&mut to);
            Ok(())
        }))
    }
}

impl BenchBackend for CudaBackend {
    fn name(&self) -> String {
        self.device().name().to_owned()
    }

    fn scheduled(&self, schedule: Schedule) -> Result<Option<Self>, DeviceError> {
        Ok(Some(Self::new(self.device().clone())?.with_schedule(schedule)))
    }

    #[cfg(feature = "cuda")]
    fn vendor_product<T: Real>(&self, a: &Csr) -> Result<Option<Vendor<'_>>, DeviceError> {
        use crate::backend::{Backend, cuda::driver};
        let storage = driver::Storage::Csr;
        let product = driver::SparseProduct::<T>::new(self.device(), a, storage)?;
        let (mut x, mut y) = (self.zeros::<T>(a.rows())?, self.zeros::<T>(a.rows())?);
        self.upload(&vec![T::one(); a.rows()], &mut x)?;
        Ok(Some(("cuSPARSE", Box::new(move || product.multiply(&x, &mut y)))))
    }

    #[cfg(not(feature = "cuda"))]
    fn vendor_product<T: Real>(&self, _: &Csr) -> Result<Option<Vendor<'_>>, DeviceError> {
        Ok(None)
    }

    #[cfg(feature = "cuda")]
    fn vendor<T: Real>(
        &self,
        work: VendorWork,
        a: &Csr,
    ) -> Result<Option<Vendor<'_>>, DeviceError> {
        vendor::cusparse::<T>(self, work, a)
    }

    fn finish(&self) -> Result<(), DeviceError> {
        self.device().synchronise()
    }

    fn copy(&self, bytes: usize) -> Result<Copy<'_>, DeviceError> {
        let half = (bytes / 2).max(1);
        let device = self.device();
        let from = crate::backend::cuda::Buffer::<u8>::zeros(device, half)?;
        let to = crate::backend::cuda::Buffer::<u8>::zeros(device, half)?;
        Ok(Box::new(move || device.copy(from.address(), to.address(), half)))
    }
}

/// A backend under measurement.
pub(crate) struct Bench<'a, B> {
    backend: &'a B,
}

impl<B: BenchBackend> Bench<'_, B> {
    /// Seconds of one call of `work`: the fastest of several samples, each of as many calls as its
    /// length asks for.
    fn seconds(
        &self,
        work: &mut dyn FnMut() -> Result<(), SolverError>,
    ) -> Result<f64, SolverError> {
        work()?;
        self.backend.finish()?;
        let sample = |calls: usize, work: &mut dyn FnMut() -> Result<(), SolverError>| {
            let started = Instant::now();
            for _ in 0..calls {
                work()?;
            }
            self.backend.finish()?;
            Ok::<f64, SolverError>(started.elapsed().as_secs_f64())
        };
        let once = sample(1, work)?;
        let calls = (SAMPLE / once).ceil().clamp(1.0, 1000.0) as usize;
        let mut fastest = once;
        let started = Instant::now();
        for _ in 0..SAMPLES {
            fastest = fastest.min(sample(calls, work)? / calls as f64);
            if started.elapsed().as_secs_f64() > PATIENCE {
                break;
            }
        }
        Ok(fastest)
    }

    /// Seconds of `work`, the fastest of a few calls after one that does not count.
    fn brief(&self, work: &mut dyn FnMut() -> Result<(), SolverError>) -> Result<f64, SolverError> {
        let started = Instant::now();
        let mut fastest = f64::INFINITY;
        for call in 0..=BRIEF {
            let once = Instant::now();
            work()?;
            self.backend.finish()?;
            if call > 0 || once.elapsed().as_secs_f64() > PATIENCE {
                fastest = fastest.min(once.elapsed().as_secs_f64());
            }
            if started.elapsed().as_secs_f64() > PATIENCE {
                break;
            }
        }
        Ok(fastest)
    }

    /// Seconds of a copy that moves `bytes`.
    fn copy_seconds(&self, bytes: usize) -> Result<f64, SolverError> {
        let mut copy = self.backend.copy(bytes)?;
        self.seconds(&mut || Ok(copy()?))
    }
}

/// Tables of kernels at each size, in single and double precision.
pub fn kernels<B: BenchBackend>(backend: &B, sizes: &[Size]) -> Result<Vec<Table>, SolverError> {
    let bench = Bench { backend };
    let mut tables = Vec::new();
    for &size in sizes {
        tables.push(kernels::table::<B, f32>(&bench, size)?);
        tables.push(kernels::table::<B, f64>(&bench, size)?);
    }
    Ok(tables)
}

/// The table of Newton steps and linear iterations against the number of unknowns, and its picture.
pub fn newton<B: BenchBackend>(
    backend: &B,
    sizes: &[Size],
) -> Result<(Table, ScalingFigure), SolverError> {
    newton::table(backend, sizes)
}

/// Writes tables as `table-1.csv` and so on, numbered in their order, into `folder`, and the picture
/// as `scaling.svg`.
///
/// # Errors
///
/// [`IoError`] with the path.
pub fn write(
    folder: &Path,
    tables: &[Table],
    scaling: Option<&ScalingFigure>,
) -> Result<(), IoError> {
    crate::files::atomic::prepare_folder(folder)?;
    for (k, table) in tables.iter().enumerate() {
        let path = folder.join(format!("table-{}.csv", k + 1));
        crate::files::atomic::write(&path, |file| file.write_all(table.csv().as_bytes()))?;
    }
    match scaling {
        Some(figure) => write_scaling_svg(&folder.join("scaling.svg"), figure),
        None => Ok(()),
    }
}
