//! Messages through the host's memory, between threads of one process with any devices.

use super::abort_flag::AbortFlag;
use super::communicator::{Communicator, Message};
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED};
use crate::backend::cuda::launch::Result;
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    All,
    /// Of an exchange, which may be unfinished during an all-gather.
    One,
}

/// Sender, receiver and kind of a message.
type Route = (usize, usize, Kind);

/// What the ranks of a run share on the host: messages that were sent and not received, the abort flag
/// that ends all waits for one, and device memory that other ranks access.
#[derive(Default)]
pub struct HostTransport {
    pub(super) ranks: usize,
    queues: Mutex<HashMap<Route, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
    pub(super) abort_flag: Arc<AbortFlag>,
    /// Memory that other ranks access until all have left: it outlives every rank's last message.
    pub(super) windows: Mutex<Vec<Buffer<u64>>>,
}

impl HostTransport {
    /// A transport of this number of ranks whose waits end when this flag is raised.
    pub fn new(abort_flag: Arc<AbortFlag>, ranks: usize) -> Self {
        Self { ranks, abort_flag, ..Self::default() }
    }

    /// A message of each rank, by rank. Fails if the abort flag is raised, or a rank does not call within
    /// the timeout.
    pub(super) fn gather(&self, rank: usize, own: &[u8]) -> Result<Vec<Vec<u8>>> {
        (0..self.ranks).for_each(|other| self.send((rank, other, Kind::All), own.to_vec()));
        (0..self.ranks).map(|other| self.receive((other, rank, Kind::All))).collect()
    }

    fn send(&self, route: Route, payload: Vec<u8>) {
        self.queues.lock().entry(route).or_default().push_back(payload);
        self.arrived.notify_all();
    }

    fn receive(&self, route: Route) -> Result<Vec<u8>> {
        let started = Instant::now();
        let mut queues = self.queues.lock();
        loop {
            if let Some(payload) = queues.get_mut(&route).and_then(VecDeque::pop_front) {
                return Ok(payload);
            }
            self.abort_flag.check()?;
            if started.elapsed() >= self.abort_flag.timeout {
                let (sender, receiver, _) = route;
                return Err(self.abort_flag.timed_out(receiver, Some(sender)));
            }
            self.arrived.wait_for(&mut queues, POLL);
        }
    }
}

/// A rank whose messages go through the host's memory.
pub struct HostCommunicator {
    rank: usize,
    device: Arc<dyn Device>,
    transport: Arc<HostTransport>,
    /// What the exchange that has begun receives.
    expected: Mutex<Vec<Message>>,
}

impl HostCommunicator {
    /// A rank of those that share `transport`.
    pub fn new(transport: Arc<HostTransport>, rank: usize, device: Arc<dyn Device>) -> Self {
        Self { rank, device, transport, expected: Mutex::default() }
    }

    fn read(&self, from: Address, bytes: usize) -> Result<Vec<u8>> {
        let mut payload = vec![0; bytes];
        self.device.download(GRANTED, from, &mut payload)?;
        Ok(payload)
    }
}

impl Communicator for HostCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn all_gather(&self, from: Address, to: Address, bytes: usize) -> Result<()> {
        let all = self.transport.gather(self.rank, &self.read(from, bytes)?)?;
        for (other, payload) in all.iter().enumerate() {
            self.device.upload(GRANTED, payload, to + (other * bytes) as Address)?;
        }
        Ok(())
    }

    fn start_exchange(&self, sent: &[Message], received: &[Message]) -> Result<()> {
        self.expected.lock().extend_from_slice(received);
        // What is sent may have been computed on the side stream.
        self.device.join()?;
        for &Message { rank, at, bytes } in sent {
            self.transport.send((self.rank, rank, Kind::One), self.read(at, bytes)?);
        }
        Ok(())
    }

    fn finish_exchange(&self) -> Result<()> {
        for Message { rank, at, .. } in std::mem::take(&mut *self.expected.lock()) {
            let payload = self.transport.receive((rank, self.rank, Kind::One))?;
            self.device.upload(GRANTED, &payload, at)?;
        }
        Ok(())
    }

    fn recorded(&self) -> bool {
        false
    }
}
