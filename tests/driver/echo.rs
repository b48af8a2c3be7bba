//! A device that replays the answers of another one, and fails on demand.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::{Address, Download, Granted, Recording, Request};
use gridgen::backend::cuda::{Device, Watch};

/// The data that a run of the program read from a device, in order.
pub(crate) type Answers = Arc<Mutex<Vec<Vec<u8>>>>;

/// Records the answers of a device.
#[derive(Default)]
pub(crate) struct Listening {
    pub(crate) answers: Answers,
}

impl Watch for Listening {
    fn waited(&self, bytes: &[u8]) -> Result<(), DeviceError> {
        if !bytes.is_empty() {
            self.answers.lock().unwrap().push(bytes.to_vec());
        }
        Ok(())
    }
}

/// Only replays the recorded answers, so that a run takes no time. From call `lost_at` on, counted from 0,
/// the device is lost and every call fails.
pub(crate) struct Echo {
    answers: Answers,
    next_answer: AtomicUsize,
    next_address: AtomicU64,
    /// Calls so far.
    pub(crate) calls: Arc<AtomicUsize>,
    lost_at: usize,
    /// Free bytes, if it tells.
    pub(crate) free: Option<usize>,
}

impl Echo {
    pub(crate) fn new(answers: &Answers, lost_at: usize) -> Self {
        Self {
            answers: answers.clone(),
            next_answer: AtomicUsize::new(0),
            next_address: AtomicU64::new(1),
            calls: Arc::default(),
            lost_at,
            free: None,
        }
    }

    fn call(&self, operation: &'static str) -> Result<(), DeviceError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.lost_at {
            return Ok(());
        }
        let device = self.name().to_owned();
        Err(DeviceError::Call { device, operation, reason: "the device is lost".to_owned() })
    }

    /// The next answer of the recorded device.
    fn answer(&self, to: &mut [u8]) -> Result<(), DeviceError> {
        self.call("copying from the device")?;
        if to.is_empty() {
            return Ok(());
        }
        let answers = self.answers.lock().unwrap();
        to.copy_from_slice(&answers[self.next_answer.fetch_add(1, Ordering::Relaxed)]);
        Ok(())
    }
}

impl Device for Echo {
    fn name(&self) -> &'static str {
        "an echo"
    }

    fn memory(&self) -> Result<Option<(usize, usize)>, DeviceError> {
        self.call("asking for its memory")?;
        Ok(self.free.map(|free| (free, 2 * free)))
    }

    fn synchronise(&self) -> Result<(), DeviceError> {
        self.call("a kernel")
    }

    fn allocate(&self, bytes: usize) -> Result<Address, DeviceError> {
        self.call("allocating memory")?;
        Ok(self.next_address.fetch_add(bytes.next_multiple_of(256) as u64, Ordering::Relaxed))
    }

    fn free(&self, _: Granted, _: Address, _: usize) {}

    fn upload(&self, _: Granted, _: &[u8], _: Address) -> Result<(), DeviceError> {
        self.call("copying to the device")
    }

    fn download(&self, _: Granted, _: Address, to: &mut [u8]) -> Result<(), DeviceError> {
        self.answer(to)
    }

    fn begin_download(&self, _: Granted, _: Address, _: usize) -> Result<Download, DeviceError> {
        self.call("copying from the device")?;
        Ok(Download::Begun(0))
    }

    // The answers are recorded in the order of their arrival.
    fn finish_download(&self, _: usize, to: &mut [u8]) -> Result<(), DeviceError> {
        self.answer(to)
    }

    fn ask(&self, _: Granted, _: Request) -> Result<(), DeviceError> {
        self.call("working")
    }

    fn record(
        &self,
        _: bool,
        work: &mut dyn FnMut() -> Result<(), DeviceError>,
    ) -> Result<Recording, DeviceError> {
        self.call("recording")?;
        work()?;
        Ok(Box::new(()))
    }

    fn replay(&self, _: Granted, _: &Recording) -> Result<(), DeviceError> {
        self.call("replaying")
    }
}
