//! Timing of work: the fastest of several samples, since any disturbance only adds time.

use super::BenchBackend;
use gridgen::solver::SolverError;
use std::time::Instant;

/// Least duration of a sample in seconds, so that the resolution of the clock does not matter.
const SAMPLE: f64 = 2e-3;
/// Number of samples, of which the fastest counts.
const SAMPLES: usize = 7;
/// Number of samples of work that takes long.
const LONG_SAMPLES: usize = 3;
/// Longest total duration of the samples of one row, in seconds.
const PATIENCE: f64 = 3.0;

/// A backend under measurement.
pub(crate) struct Bench<'a, B> {
    pub(crate) backend: &'a B,
}

impl<B: BenchBackend> Bench<'_, B> {
    /// Seconds of one call of `work`: the fastest of several samples. The number of calls in a sample depends
    /// on their duration.
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

    /// Seconds of `work` that takes long: the fastest of a few calls, after one that does not count.
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

    /// Seconds of `calls` calls, until the device has completed them.
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
