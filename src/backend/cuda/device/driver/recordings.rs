//! Recorded work as graphs, which are kept: a case asks for the same work in the same places as the last one
//! of its size, and the driver takes longer to make a graph than a small grid takes to run it.

use super::handles::LaunchableGraph;
use crate::backend::cuda::device::Request;
use crate::backend::cuda::launch::Result;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Most graphs that are kept: those of some ten cases of different sizes.
const KEPT: usize = 32;

/// Graphs of work that was noted, the last one first.
#[derive(Default)]
pub(super) struct KeptGraphs(Mutex<VecDeque<(Vec<Request>, Arc<LaunchableGraph>)>>);

impl KeptGraphs {
    /// The graph of this work: one that is kept, or what `make` makes of it, in place of the one that was needed longest
    /// ago.
    pub(super) fn get(
        &self,
        requests: Vec<Request>,
        make: impl FnOnce(&[Request]) -> Result<Arc<LaunchableGraph>>,
    ) -> Result<Arc<LaunchableGraph>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| *known == requests);
        let graph = match at.and_then(|at| kept.remove(at)) {
            Some((_, graph)) => graph,
            None => make(&requests)?,
        };
        kept.truncate(KEPT - 1);
        kept.push_front((requests, graph.clone()));
        Ok(graph)
    }

    /// Gives up all graphs.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }
}
