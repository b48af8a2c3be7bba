//! Ranks that meet in the host's memory: threads of one process with any devices.

use super::super::device::{Address, Device};
use super::{Alarm, Communicator, Parcel};
use crate::backend::DeviceError;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a rank waits before it looks at the alarm again.
const LOOK: Duration = Duration::from_millis(5);

/// What a letter is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// For everybody.
    All,
    /// For one rank: an exchange may go on while all gather something.
    One,
}

/// Sender, receiver and kind.
type Route = (usize, usize, Kind);

/// Letters on their way, and the alarm that stops all who wait for one.
#[derive(Default)]
pub struct Post {
    letters: Mutex<HashMap<Route, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
    alarm: Arc<Alarm>,
}

impl Post {
    /// A post whose ranks stop at this alarm.
    #[must_use]
    pub fn new(alarm: Arc<Alarm>) -> Self {
        Self { alarm, ..Self::default() }
    }

    /// What stops all who wait.
    #[must_use]
    pub fn alarm(&self) -> &Arc<Alarm> {
        &self.alarm
    }

    /// Waits until all ranks have come here.
    ///
    /// # Errors
    /// If the alarm is raised, or one does not come.
    pub fn meet(&self, rank: usize, ranks: usize) -> Result<(), DeviceError> {
        (0..ranks).for_each(|other| self.send((rank, other, Kind::All), Vec::new()));
        (0..ranks).try_for_each(|other| self.receive((other, rank, Kind::All)).map(drop))
    }

    fn send(&self, route: Route, letter: Vec<u8>) {
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        letters.entry(route).or_default().push_back(letter);
        self.arrived.notify_all();
    }

    fn receive(&self, route: Route) -> Result<Vec<u8>, DeviceError> {
        let started = Instant::now();
        let mut letters = self.letters.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(letter) = letters.get_mut(&route).and_then(VecDeque::pop_front) {
                return Ok(letter);
            }
            self.alarm.check()?;
            if started.elapsed() >= self.alarm.patience() {
                let (sender, receiver, _) = route;
                return Err(self.alarm.silent(receiver, Some(sender)));
            }
            let waited = self.arrived.wait_timeout(letters, LOOK);
            letters = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A rank whose messages go through the host's memory.
pub struct HostCommunicator {
    rank: usize,
    size: usize,
    device: Arc<dyn Device>,
    post: Arc<Post>,
    /// What the exchange that has begun is to bring.
    expected: Mutex<Vec<Parcel>>,
}

impl HostCommunicator {
    /// Rank `rank` of `size` ranks that share `post`.
    #[must_use]
    pub fn new(post: Arc<Post>, rank: usize, size: usize, device: Arc<dyn Device>) -> Self {
        Self { rank, size, device, post, expected: Mutex::default() }
    }

    fn expected(&self) -> MutexGuard<'_, Vec<Parcel>> {
        self.expected.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn load(&self, from: Address, bytes: usize) -> Result<Vec<u8>, DeviceError> {
        let mut letter = vec![0; bytes];
        self.device.download(from, &mut letter)?;
        Ok(letter)
    }
}

impl Communicator for HostCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<(), DeviceError> {
        let own = self.load(from, bytes)?;
        for other in 0..self.size {
            self.post.send((self.rank, other, Kind::All), own.clone());
        }
        for other in 0..self.size {
            let letter = self.post.receive((other, self.rank, Kind::All))?;
            self.device.upload(&letter, to + (other * bytes) as Address)?;
        }
        Ok(())
    }

    fn start_exchange(&self, sent: &[Parcel], received: &[Parcel]) -> Result<(), DeviceError> {
        self.expected().extend_from_slice(received);
        // What is sent may have been put in its place beside the device's other work.
        self.device.join()?;
        for &Parcel { rank, at, bytes } in sent {
            self.post.send((self.rank, rank, Kind::One), self.load(at, bytes)?);
        }
        Ok(())
    }

    fn finish_exchange(&self) -> Result<(), DeviceError> {
        for Parcel { rank, at, .. } in std::mem::take(&mut *self.expected()) {
            let letter = self.post.receive((rank, self.rank, Kind::One))?;
            self.device.upload(&letter, at)?;
        }
        Ok(())
    }

    fn recorded(&self) -> bool {
        false
    }
}
