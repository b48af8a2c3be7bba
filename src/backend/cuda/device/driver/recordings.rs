//! Recorded work as graphs, which are kept: a case asks for the same work in the same places as the last one
//! of its size, and the driver takes longer to make a graph than a small grid takes to run it.

use super::handles::LaunchableGraph;
use crate::backend::cuda::device::Request;
use crate::backend::cuda::launch::Result;
use parking_lot::Mutex;
use scopeguard::ScopeGuard;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most graphs that are kept: those of some ten cases of different sizes.
const KEPT: usize = 32;

/// The recordings of a device.
#[derive(Default)]
pub(super) struct KeptRecordings {
    /// Requests while work is noted; the requests of a fork come last.
    noted: Mutex<Vec<Vec<Request>>>,
    /// Graphs of work that was noted, the last one first.
    kept: Mutex<VecDeque<(Vec<Request>, Arc<LaunchableGraph>)>>,
}

impl KeptRecordings {
    /// Does work, and notes what it asks for; nothing more is noted where it panics.
    pub(super) fn noted<T>(&self, work: impl FnOnce() -> T) -> (T, Vec<Request>) {
        self.noted.lock().push(Vec::new());
        let open = scopeguard::guard(self, |own| drop(own.noted.lock().pop()));
        let done = work();
        let requests = ScopeGuard::into_inner(open).noted.lock().pop();
        (done, requests.unwrap_or_default())
    }

    /// Whether work is noted.
    pub(super) fn are_noted(&self) -> bool {
        !self.noted.lock().is_empty()
    }

    /// Notes a request if work is noted; otherwise the request comes back, to be done.
    pub(super) fn note(&self, request: Request) -> Option<Request> {
        match self.noted.lock().last_mut() {
            Some(noted) => noted.push(request),
            None => return Some(request),
        }
        None
    }

    /// The graph of this work: one that is kept, or what `make` makes of it, in place of the one that was needed longest
    /// ago.
    pub(super) fn graph(
        &self,
        requests: Vec<Request>,
        make: impl FnOnce(&[Request]) -> Result<Arc<LaunchableGraph>>,
    ) -> Result<Arc<LaunchableGraph>> {
        let mut kept = self.kept.lock();
        let at = kept.iter().position(|(known, _)| *known == requests);
        let graph = match at.and_then(|at| kept.remove(at)) {
            Some((_, graph)) => graph,
            None => make(&requests)?,
        };
        kept.truncate(KEPT - 1);
        kept.push_front((requests, graph.clone()));
        Ok(graph)
    }

    /// Gives up the kept recordings.
    pub(super) fn clear(&self) {
        self.kept.lock().clear();
    }
}
