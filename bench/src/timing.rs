//! How work is timed: the fastest of several samples, since whatever disturbs a machine only adds time.

use super::BenchBackend;
use gridgen::solver::SolverError;
use std::time::Instant;

/// Seconds that a sample takes at least, so that the clock's resolution does not matter.
const SAMPLE: f64 = 2e-3;
/// Samples of which the fastest counts.
const SAMPLES: usize = 7;
/// Samples of work that takes long.
const LONG_SAMPLES: usize = 3;
/// Longest that the samples of one row may take together, in seconds.
const PATIENCE: f64 = 3.0;

/// A backend under measurement.
pub(crate) struct Bench<'a, B> {
    pub(crate) backend: &'a B,
}

impl<B: BenchBackend> Bench<'_, B> {
    /// Seconds of one call of `work`: the fastest of several samples, each of as many calls as its
    /// length asks for.
    pub(crate) fn seconds(
        &self,
        work: &mut dyn FnMut() -> Result<(), SolverError>,
    ) -> Result<f64, SolverError> {
        work()?;
        self.backend.finish()?;
        let once = self.sample(1, work)?;
        let calls = (SAMPLE / once).ceil().clamp(1.0, 1000.0) as usize;
        let mut fastest = once;
        let started = Instant::now();
        for _ in 0..SAMPLES {
            fastest = fastest.min(self.sample(calls, work)? / calls as f64);
            if started.elapsed().as_secs_f64() > PATIENCE {
                break;
            }
        }
        Ok(fastest)
    }

    /// Seconds of `work` that takes long, the fastest of a few calls after one that does not count.
    pub(crate) fn seconds_of_long(
        &self,
        work: &mut dyn FnMut() -> Result<(), SolverError>,
    ) -> Result<f64, SolverError> {
        let started = Instant::now();
        let mut fastest = f64::INFINITY;
        for call in 0..=LONG_SAMPLES {
            let once = self.sample(1, work)?;
            if call > 0 || once > PATIENCE {
                fastest = fastest.min(once);
            }
            if started.elapsed().as_secs_f64() > PATIENCE {
                break;
            }
        }
        Ok(fastest)
    }

    /// Seconds of so many calls, until the device is done with them.
    fn sample(
        &self,
        calls: usize,
        work: &mut dyn FnMut() -> Result<(), SolverError>,
    ) -> Result<f64, SolverError> {
        let started = Instant::now();
        for _ in 0..calls {
            work()?;
        }
        self.backend.finish()?;
        Ok(started.elapsed().as_secs_f64())
    }

    /// Seconds of a copy that moves `bytes`.
    pub(crate) fn copy_seconds(&self, bytes: usize) -> Result<f64, SolverError> {
        let mut copy = self.backend.copy(bytes)?;
        self.seconds(&mut || Ok(copy()?))
    }
}
