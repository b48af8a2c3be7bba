//! Work that is recorded once and replayed, with the host's state that belongs to it.

use super::device::{Device, Recording};
use crate::backend::DeviceError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A recording of the device and the host states that the recorded work sets.
#[derive(Default)]
pub struct CudaRecording(Option<Recorded>);

struct Recorded {
    launches: Recording,
    states: Vec<(HostState, u32)>,
}

impl CudaRecording {
    /// Does `work`, which is recorded the first time and replayed ever after.
    pub(super) fn run(
        &mut self,
        device: &dyn Device,
        capture: &CaptureLog,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        if let Some(recorded) = &self.0 {
            for (state, value) in &recorded.states {
                state.put(*value);
            }
            return device.replay(&recorded.launches);
        }
        capture.open();
        let launches = device.record(&mut work);
        let states = capture.close();
        let recorded = Recorded { launches: launches?, states };
        device.replay(&recorded.launches)?;
        self.0 = Some(recorded);
        Ok(())
    }
}

/// What the host knows about a value in the device's memory.
#[derive(Debug, Clone)]
pub(crate) struct HostState(Arc<AtomicU32>);

impl HostState {
    pub(crate) fn new(value: u32) -> Self {
        Self(Arc::new(AtomicU32::new(value)))
    }

    // One thread asks for work; the order of the states is that of its calls.
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the state; a recording that goes on will set it too.
    pub(crate) fn set(&self, capture: &CaptureLog, value: u32) {
        self.put(value);
        if let Some(states) = &mut *capture.0.lock().unwrap_or_else(PoisonError::into_inner) {
            states.push((self.clone(), value));
        }
    }

    fn put(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// The states set during a recording, in order.
#[derive(Default)]
pub(crate) struct CaptureLog(Mutex<Option<Vec<(HostState, u32)>>>);

impl CaptureLog {
    fn open(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }

    pub(crate) fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn close(&self) -> Vec<(HostState, u32)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}
