//! Messages that were sent and not received yet.

use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::time::Duration;

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
