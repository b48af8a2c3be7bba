//! Messages between the processes of a job, and the end of all when one fails.

use super::launcher::RankPlace;
use super::links::{ALIVE, CANCELLED, ENDED, FAILED, HEARTBEAT, Inbox, Link, Route, read_frame};
use super::meeting::{self, Rendezvous};
use super::{Failure, RanksError};
use crate::diagnostics::ErrorClass;
use parking_lot::{Condvar, Mutex};
use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait of the first rank for the others to close their connections.
const CLOSING: Duration = Duration::from_secs(10);

/// The purpose of a message. Messages of one channel between two ranks are received in the order in which they
/// are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Channel {
    /// All-gathers and broadcasts of the job.
    Collective,
    /// The cases of a batch, of this thread of a rank.
    Batch(usize),
    /// Messages of the solve with this number, of one of its kinds.
    Solve(u32, u8),
}

impl Channel {
    /// Its number.
    pub fn number(self) -> u64 {
        match self {
            Self::Collective => 0,
            Self::Batch(job) => 1 + job as u64,
            Self::Solve(solve, kind) => (1 << 63) | (u64::from(solve) << 8) | u64::from(kind),
        }
    }
}

/// The processes that a launcher has started, as one of them sees them.
///
/// Every rank is connected with the first, which passes on what the others send to each other. Where a rank
/// fails, or ends and says nothing, all waits of the others end with [`RanksError::Ended`].
pub struct Job {
    shared: Arc<JobShared>,
}

struct JobShared {
    place: RankPlace,
    inbox: Inbox,
    /// Rank 0 has connections with all others, any other rank with rank 0 alone.
    links: Vec<Option<Link>>,
    state: Mutex<JobState>,
    changed: Condvar,
    cancelled: AtomicBool,
}

/// An action for the failure of a rank.
pub type OnFailure = dyn Fn(&Failure) + Send + Sync;

#[derive(Default)]
struct JobState {
    failure: Option<Failure>,
    /// Ranks that have said that they are done, and those that are gone.
    ended: Vec<bool>,
    gone: Vec<bool>,
    /// Whether the loss of a rank leaves the others at work.
    tolerant: bool,
    /// Code that the first rank ended with.
    code: Option<u8>,
    closed: bool,
    on_failure: Vec<Weak<OnFailure>>,
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Job").field(&self.shared.place).finish()
    }
}

impl Job {
    /// Connects this process with the other ranks of its job; returns when all have come. They meet where
    /// `rendezvous` says, else where the launcher says.
    ///
    /// Whoever connects must first send a number that is made of the name and the size of the job, its own rank, and
    /// the size; anything else is dropped.
    ///
    /// # Errors
    /// If the ranks do not find each other within `wait`; the error names the missing ones.
    pub fn meet(
        place: RankPlace,
        rendezvous: Option<Rendezvous>,
        wait: Duration,
    ) -> Result<Self, RanksError> {
        let size = place.size;
        let streams = meeting::meet(&place, rendezvous, wait)?;
        let mut links: Vec<Option<Link>> = (0..size).map(|_| None).collect();
        let mut readers = Vec::new();
        for (rank, stream) in streams {
            let connected = Link::new(stream);
            let (link, reader) =
                connected.map_err(|_| RanksError::Ended { failure: lost(rank) })?;
            links[rank] = Some(link);
            readers.push((rank, reader));
        }
        let state =
            JobState { ended: vec![false; size], gone: vec![false; size], ..JobState::default() };
        let shared = Arc::new(JobShared {
            place,
            inbox: Inbox::default(),
            links,
            state: Mutex::new(state),
            changed: Condvar::new(),
            cancelled: AtomicBool::new(false),
        });
        for (rank, reader) in readers {
            let shared = shared.clone();
            thread::spawn(move || shared.read(rank, reader));
        }
        let alive = shared.clone();
        thread::spawn(move || alive.show_life());
        Ok(Self { shared })
    }

    /// Number of this rank.
    pub fn rank(&self) -> usize {
        self.shared.place.rank
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.shared.place.size
    }

    /// Whether this is rank 0.
    pub fn is_first(&self) -> bool {
        self.rank() == 0
    }

    /// The place of this process as its launcher gives it.
    pub fn place(&self) -> &RankPlace {
        &self.shared.place
    }

    /// Sends a message.
    pub fn send(&self, to: usize, channel: Channel, payload: Vec<u8>) {
        self.shared.send((self.rank(), to, channel.number()), payload);
    }

    /// Waits for a message.
    ///
    /// # Errors
    /// [`RanksError::Ended`] where the sender is gone or the job has failed.
    pub fn receive(&self, from: usize, channel: Channel) -> Result<Vec<u8>, RanksError> {
        self.receive_checked(from, channel, || Ok(()))
    }

    /// Waits for a message; `check` may end the wait.
    ///
    /// # Errors
    /// The errors of [`Self::receive`], and that of `check`.
    pub fn receive_checked<E: From<RanksError>>(
        &self,
        from: usize,
        channel: Channel,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let route = (from, self.rank(), channel.number());
        self.shared.inbox.take(route, || {
            self.shared.check(from)?;
            check()
        })
    }

    /// The payloads of all ranks, by rank: all must call.
    pub fn all_gather(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        let (size, channel) = (self.size(), Channel::Collective);
        if !self.is_first() {
            self.send(0, channel, own);
            return (0..size).map(|_| self.receive(0, channel)).collect();
        }
        let mut all = vec![own];
        for rank in 1..size {
            all.push(self.receive(rank, channel)?);
        }
        all.into_iter().map(|payload| self.broadcast(payload)).collect()
    }

    /// The payload of rank 0 on all ranks: all must call.
    pub fn broadcast(&self, own: Vec<u8>) -> Result<Vec<u8>, RanksError> {
        if !self.is_first() {
            return self.receive(0, Channel::Collective);
        }
        (1..self.size()).for_each(|rank| self.send(rank, Channel::Collective, own.clone()));
        Ok(own)
    }

    /// Waits until rank 0 calls, too: all must call.
    pub fn wait_for_first(&self) -> Result<(), RanksError> {
        self.broadcast(Vec::new()).map(drop)
    }

    /// Compares what all ranks have to work on, each a name and a value: all must call.
    ///
    /// # Errors
    /// [`RanksError::Differs`] on every rank, with the first rank that has something else than rank 0.
    pub fn compare(&self, own: &[(&str, String)]) -> Result<(), RanksError> {
        let all = self.all_gather(serde_json::to_vec(own).unwrap_or_default())?;
        let lines = |payload: &[u8]| -> Vec<(String, String)> {
            serde_json::from_slice(payload).unwrap_or_default()
        };
        let first = lines(&all[0]);
        for (rank, payload) in all.iter().enumerate() {
            let other = lines(payload);
            let differs = first.iter().zip(&other).find(|(here, there)| here != there);
            if let Some(((what, here), (_, there))) = differs.map(|(a, b)| (a.clone(), b.clone())) {
                return Err(RanksError::Differs { rank, what, there, here });
            }
            if first.len() != other.len() {
                let [here, there] = [first.len(), other.len()].map(|n| format!("{n} things to do"));
                return Err(RanksError::Differs { rank, what: "to compare".into(), there, here });
            }
        }
        Ok(())
    }

    /// From now on a rank that is lost leaves the others at work: only waits for itself end.
    pub fn tolerate_losses(&self) {
        self.shared.state.lock().tolerant = true;
    }

    /// Ends the work of all ranks: this one has failed. Nothing happens where the job has failed before.
    pub fn fail(&self, message: Option<String>, hint: Option<String>, class: ErrorClass) {
        self.shared.fail(&Failure { rank: self.rank(), message, hint, class }, None);
    }

    /// The first failure of a rank that this one has heard of.
    pub fn failure(&self) -> Option<Failure> {
        self.shared.state.lock().failure.clone()
    }

    /// Whether all ranks are at work.
    ///
    /// # Errors
    /// [`RanksError::Ended`] with the first failure of a rank that this one has heard of.
    pub fn check(&self) -> Result<(), RanksError> {
        self.failure().map_or(Ok(()), |failure| Err(RanksError::Ended { failure }))
    }

    /// Calls `act` when a rank fails, if it is still held then; at once where one has failed.
    pub fn on_failure(&self, act: &Arc<OnFailure>) {
        let mut state = self.shared.state.lock();
        if let Some(failure) = state.failure.clone() {
            drop(state);
            act(&failure);
        } else {
            state.on_failure.retain(|other| other.strong_count() > 0);
            state.on_failure.push(Arc::downgrade(act));
        }
    }

    /// Tells all ranks to stop as soon as they can.
    pub fn cancel(&self) {
        if !self.shared.cancelled.swap(true, Ordering::Relaxed) {
            self.shared.tell_others(CANCELLED, &[], None);
        }
    }

    /// Whether a rank has been told to stop.
    pub fn cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Relaxed)
    }

    /// Says that this rank is done, and returns the code of the job, that of the first rank, for which the others wait,
    /// or the failure of a rank.
    pub fn end(&self, code: u8) -> Result<u8, Failure> {
        let shared = &self.shared;
        shared.tell_others(ENDED, &[code], None);
        let started = Instant::now();
        let mut state = shared.state.lock();
        if self.is_first() {
            let open = |state: &JobState| {
                (1..self.size()).any(|rank| !state.ended[rank] && !state.gone[rank])
            };
            while open(&state) && state.failure.is_none() && started.elapsed() < CLOSING {
                shared.changed.wait_for(&mut state, CLOSING);
            }
            return state.failure.clone().map_or(Ok(code), Err);
        }
        loop {
            if let Some(code) = state.code {
                return Ok(code);
            }
            if let Some(failure) = &state.failure {
                return Err(failure.clone());
            }
            shared.changed.wait(&mut state);
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.shared.state.lock().closed = true;
        self.shared.changed.notify_all();
        self.shared.links.iter().flatten().for_each(Link::close);
    }
}

impl JobShared {
    /// Sends a message, or puts it where this rank itself finds it.
    fn send(&self, route: Route, payload: Vec<u8>) {
        let to = route.1;
        if to == self.place.rank {
            self.inbox.put(route, payload);
        } else if let Some(link) = self.links[to].as_ref().or(self.links[0].as_ref()) {
            link.send(route, &payload);
        }
    }

    /// A message to all other ranks that this one is connected with, but for `except`.
    fn tell_others(&self, channel: u64, payload: &[u8], except: Option<usize>) {
        for (to, link) in self.links.iter().enumerate() {
            if let Some(link) = link.as_ref().filter(|_| Some(to) != except) {
                link.send((self.place.rank, to, channel), payload);
            }
        }
    }

    /// Whether messages of a rank can still come.
    fn check(&self, from: usize) -> Result<(), RanksError> {
        let state = self.state.lock();
        let failure = state.failure.clone().or_else(|| state.gone[from].then(|| lost(from)));
        failure.map_or(Ok(()), |failure| Err(RanksError::Ended { failure }))
    }

    /// Records the failure of a rank, unless there was one before, and tells all others.
    fn fail(&self, failure: &Failure, told_by: Option<usize>) {
        let mut state = self.state.lock();
        if state.failure.is_some() {
            return;
        }
        state.failure = Some(failure.clone());
        let acts = std::mem::take(&mut state.on_failure);
        drop(state);
        self.changed.notify_all();
        for act in acts.iter().filter_map(Weak::upgrade) {
            act(failure);
        }
        let payload = serde_json::to_vec(failure).unwrap_or_default();
        self.tell_others(FAILED, &payload, told_by);
    }

    /// Receives what `rank` sends until it is done or gone.
    fn read(&self, rank: usize, mut stream: TcpStream) {
        let end = loop {
            let (route, payload) = match read_frame(&mut stream) {
                Ok(frame) => frame,
                Err(error) => break error,
            };
            let (from, to, channel) = route;
            match channel {
                ALIVE => {}
                FAILED => {
                    let failure = serde_json::from_slice(&payload).unwrap_or_else(|_| lost(rank));
                    self.fail(&failure, Some(rank));
                }
                ENDED => {
                    let mut state = self.state.lock();
                    state.ended[rank] = true;
                    state.code = payload.first().copied().filter(|_| rank == 0).or(state.code);
                    self.changed.notify_all();
                }
                CANCELLED => {
                    if !self.cancelled.swap(true, Ordering::Relaxed) {
                        self.tell_others(CANCELLED, &[], Some(rank));
                    }
                }
                _ if to.max(from) < self.place.size => self.send(route, payload),
                _ => break io::Error::new(ErrorKind::InvalidData, "it sent what is no message"),
            }
        };
        // A thread that still sends to it waits no longer.
        let _ = stream.shutdown(Shutdown::Both);
        let state = self.state.lock();
        let expected = state.ended[rank] || state.closed || (state.tolerant && rank != 0);
        drop(state);
        if !expected {
            // Invalid data goes into the message, the end of a connection does not.
            let message = (end.kind() == ErrorKind::InvalidData).then(|| end.to_string());
            self.fail(&Failure { message, ..lost(rank) }, Some(rank));
        }
        self.state.lock().gone[rank] = true;
        self.changed.notify_all();
    }

    /// Sends signs of life until the job is closed.
    fn show_life(&self) {
        let mut state = self.state.lock();
        while !state.closed {
            if self.changed.wait_for(&mut state, HEARTBEAT).timed_out() && !state.closed {
                drop(state);
                self.links.iter().flatten().for_each(Link::show_life);
                state = self.state.lock();
            }
        }
    }
}

/// The failure of a rank that ended and said nothing.
fn lost(rank: usize) -> Failure {
    Failure { rank, message: None, hint: None, class: ErrorClass::Device }
}
