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

/// Seconds of one call of `work`: the fastest of several samples. The number of calls in a sample depends
/// on their duration.
pub(crate) fn seconds<B: BenchBackend>(
    backend: &B,
    work: &mut dyn FnMut() -> Result<(), SolverError>,
) -> Result<f64, SolverError> {
    work()?;
    backend.finish()?;
    let once = sample(backend, 1, work)?;
    let calls = (SAMPLE / once).ceil().clamp(1.0, 1000.0) as usize;
    let mut fastest = once;
    let started = Instant::now();
    for _ in 0..SAMPLES {
        fastest = fastest.min(sample(backend, calls, work)? / calls as f64);
        if started.elapsed().as_secs_f64() > PATIENCE {
            break;
        }
    }
    Ok(fastest)
}

/// Seconds of `work` that takes long: the fastest of a few calls, after one that does not count.
pub(crate) fn seconds_of_long<B: BenchBackend>(
    backend: &B,
    work: &mut dyn FnMut() -> Result<(), SolverError>,
) -> Result<f64, SolverError> {
    let started = Instant::now();
    let mut fastest = f64::INFINITY;
    for call in 0..=LONG_SAMPLES {
        let once = sample(backend, 1, work)?;
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
fn sample<B: BenchBackend>(
    backend: &B,
    calls: usize,
    work: &mut dyn FnMut() -> Result<(), SolverError>,
) -> Result<f64, SolverError> {
    let started = Instant::now();
    for _ in 0..calls {
        work()?;
    }
    backend.finish()?;
    Ok(started.elapsed().as_secs_f64())
}

/// Seconds of a copy that moves `bytes`.
pub(crate) fn copy_seconds<B: BenchBackend>(backend: &B, bytes: usize) -> Result<f64, SolverError> {
    let mut copy = backend.copy(bytes)?;
    seconds(backend, &mut || Ok(copy()?))
}
