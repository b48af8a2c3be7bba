//! Frames on a connection between two ranks, and messages that were sent and not received yet.

use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

/// Time between two signs of life of a rank, and the silence after which it is lost: a process that is
/// killed closes its connections, a host that loses its power does not.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(4);
const SILENCE: Duration = Duration::from_secs(20);

/// Channels of messages about a rank itself.
pub(super) const ALIVE: u64 = u64::MAX;
pub(super) const FAILED: u64 = u64::MAX - 1;
pub(super) const ENDED: u64 = u64::MAX - 2;
pub(super) const CANCELLED: u64 = u64::MAX - 3;

/// Words of a header: receiver, sender, channel, bytes of the payload.
const HEADER: usize = 4;

/// Most bytes of a message, and bytes of memory that are taken before any has come.
const LONGEST: u64 = 1 << 40;
const AT_ONCE: u64 = 1 << 20;

/// The next message of a connection, with its route.
pub(super) fn read_frame(stream: &mut impl Read) -> io::Result<(Route, Vec<u8>)> {
    let mut header = [[0; 8]; HEADER];
    stream.read_exact(header.as_flattened_mut())?;
    let [to, from, channel, bytes] = header.map(u64::from_le_bytes);
    if bytes > LONGEST {
        let said = format!("it sent a message of {bytes} bytes, at most {LONGEST} were expected");
        return Err(io::Error::new(io::ErrorKind::InvalidData, said));
    }
    // Memory is taken as bytes arrive.
    let mut payload = Vec::with_capacity(bytes.min(AT_ONCE) as usize);
    if stream.take(bytes).read_to_end(&mut payload)? as u64 != bytes {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(((from as usize, to as usize, channel), payload))
}

/// The sending side of a connection.
#[derive(Debug)]
pub(super) struct Link(Mutex<TcpStream>);

impl Link {
    /// Both sides of a connection: to send, and to read frames from.
    pub(super) fn new(stream: TcpStream) -> io::Result<(Self, TcpStream)> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SILENCE))?;
        stream.set_write_timeout(None)?;
        let reader = stream.try_clone()?;
        Ok((Self(Mutex::new(stream)), reader))
    }

    /// Sends a frame. Where that fails the connection is closed, and its reader finds that the rank is lost.
    pub(super) fn send(&self, route: Route, payload: &[u8]) {
        write_frame(&mut self.0.lock(), route, payload);
    }

    /// Sends a sign of life. A frame that is being sent is one: nobody waits for its end.
    pub(super) fn show_life(&self) {
        if let Some(mut stream) = self.0.try_lock() {
            write_frame(&mut stream, (0, 0, ALIVE), &[]);
        }
    }

    /// Ends the connection: its reader ends, too.
    pub(super) fn close(&self) {
        let _ = self.0.lock().shutdown(Shutdown::Both);
    }
}

fn write_frame(stream: &mut TcpStream, (from, to, channel): Route, payload: &[u8]) {
    let header = [to as u64, from as u64, channel, payload.len() as u64].map(u64::to_le_bytes);
    let sent = stream.write_all(header.as_flattened()).and_then(|()| stream.write_all(payload));
    if sent.is_err() {
        let _ = stream.shutdown(Shutdown::Both);
    }
}

/// Time between two checks whether a wait is to end.
const POLL: Duration = Duration::from_millis(5);

/// Sender, receiver and channel of a message.
pub type Route = (usize, usize, u64);

/// Messages that were sent and not received yet, in their order on each route.
#[derive(Debug, Default)]
pub struct Inbox {
    queues: Mutex<HashMap<Route, VecDeque<Vec<u8>>>>,
    arrived: Condvar,
}

impl Inbox {
    /// Adds a message.
    pub fn put(&self, route: Route, payload: Vec<u8>) {
        self.queues.lock().entry(route).or_default().push_back(payload);
        self.arrived.notify_all();
    }

    /// Waits for the next message of a route; `check` may end the wait.
    ///
    /// # Errors
    /// The error of `check`. Messages that came before are received first.
    pub fn take<E>(
        &self,
        route: Route,
        mut check: impl FnMut() -> Result<(), E>,
    ) -> Result<Vec<u8>, E> {
        let mut queues = self.queues.lock();
        loop {
            if let Some(queue) = queues.get_mut(&route)
                && let Some(payload) = queue.pop_front()
            {
                if queue.is_empty() {
                    queues.remove(&route);
                }
                return Ok(payload);
            }
            check()?;
            self.arrived.wait_for(&mut queues, POLL);
        }
    }
}
