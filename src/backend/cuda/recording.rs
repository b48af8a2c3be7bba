//! Work that is noted once and repeated, with what the host knows about it.

use super::{CudaBackend, device};
use crate::backend::DeviceError;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Launches of the device and the marks that the host sets beside them.
#[derive(Default)]
pub struct CudaRecording(Option<Recorded>);

struct Recorded {
    launches: device::Recording,
    marks: Vec<(Mark, u32)>,
}

impl CudaRecording {
    /// Does `work`, which is noted the first time and repeated ever after.
    pub(super) fn run(
        &mut self,
        backend: &CudaBackend,
        mut work: impl FnMut() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        // Messages that the device does not pass on itself cannot be noted.
        if backend.place.as_ref().is_some_and(|place| !place.communicator().recorded()) {
            return work();
        }
        // Within another recording the launches are part of that one.
        if backend.journal.is_open() {
            return work();
        }
        if let Some(recorded) = &self.0 {
            for (mark, value) in &recorded.marks {
                mark.put(*value);
            }
            return backend.device.replay(&recorded.launches);
        }
        backend.journal.open();
        let launches = backend.device.record(&mut work);
        let marks = backend.journal.close();
        let recorded = Recorded { launches: launches?, marks };
        backend.device.replay(&recorded.launches)?;
        self.0 = Some(recorded);
        Ok(())
    }
}

/// What the host knows about something in the device's memory.
#[derive(Debug, Clone)]
pub(super) struct Mark(Arc<AtomicU32>);

impl Mark {
    pub(super) fn new(value: u32) -> Self {
        Self(Arc::new(AtomicU32::new(value)))
    }

    // One thread asks for work; the order of the marks is that of its calls.
    pub(super) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// Sets the mark; a recording that goes on will set it too.
    pub(super) fn set(&self, journal: &Journal, value: u32) {
        self.put(value);
        if let Some(marks) = &mut *journal.0.lock().unwrap_or_else(PoisonError::into_inner) {
            marks.push((self.clone(), value));
        }
    }

    fn put(&self, value: u32) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// The marks set during a recording, in order.
#[derive(Default)]
pub(super) struct Journal(Mutex<Option<Vec<(Mark, u32)>>>);

impl Journal {
    fn open(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Vec::new());
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn close(&self) -> Vec<(Mark, u32)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_default()
    }
}
