//! Requests to a member.

use crate::backend::cuda::device::{Address, Request};
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Launch, LaunchShape, kernels};
use std::cmp::Reverse;
use std::sync::Arc;

/// Bytes of a word of `copy_words`, and of `clear_words`.
pub(super) const WORD: usize = size_of::<u64>();
const HALF_WORD: usize = size_of::<u32>();

/// Whether one launch can do both.
fn is_like(a: &Launch, b: &Launch) -> bool {
    a.kernel == b.kernel && a.shape == b.shape
}

/// The arguments of a launch as words, each from a word of its own.
pub(super) fn append_to(launch: &Launch, words: &mut Vec<u64>) {
    launch.arguments.iter().for_each(|argument| words.extend_from_slice(argument.words()));
}

/// Work in the order in which it was asked.
#[derive(Debug, Clone)]
pub(super) enum MemberWork {
    Launch(Arc<Launch>),
    /// Clears or copies bytes that are no whole words.
    Direct(Request),
    Upload(Arc<[u8]>, Address),
    /// To the result of this number.
    Download {
        number: usize,
        from: Address,
        bytes: usize,
    },
    Replay(Arc<[Launch]>),
}

impl From<Request> for MemberWork {
    fn from(request: Request) -> Self {
        let launch = match request {
            Request::Launch(launch) => launch,
            Request::Clear { at, bytes } if bytes.is_multiple_of(HALF_WORD) => {
                let half_words = bytes / HALF_WORD;
                let arguments = (half_words as u64, Pointer::<u32>::to(at));
                let shape = LaunchShape::elementwise(half_words);
                Launch::new::<f64>(kernels::clear_words, shape, arguments)
            }
            Request::Copy { from, to, bytes } if bytes.is_multiple_of(WORD) => {
                Launch::copying(bytes / WORD, from, to)
            }
            other => return Self::Direct(other),
        };
        Self::Launch(launch.into())
    }
}

impl MemberWork {
    /// Whether it can be done for both at once.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launch(a), Self::Launch(b)) => is_like(a, b),
            (Self::Upload(a, _), Self::Upload(b, _)) => a.len() == b.len(),
            (Self::Download { bytes: a, .. }, Self::Download { bytes: b, .. }) => a == b,
            (Self::Replay(a), Self::Replay(b)) => are_like(a, b),
            _ => false,
        }
    }
}

/// Whether one recording can do both.
pub(super) fn are_like(a: &[Launch], b: &[Launch]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_like(a, b))
}

/// Work of a member.
pub(super) type Queue = Vec<MemberWork>;

/// Like work of several members, by the places of their queues.
pub(super) type Step<'a> = Vec<(usize, &'a MemberWork)>;

/// The work of all queues in steps: each queue's in its order, as much of it together as is alike.
///
/// Members do mostly the same; of those that differ for a while, say by an iteration, the ones with the most
/// left to do go on first, so that they meet the others.
pub(super) fn steps(queues: &[Queue]) -> Vec<Step<'_>> {
    let mut done = vec![0; queues.len()];
    let mut steps = Vec::new();
    loop {
        let left = |k: usize| queues[k].len() - done[k];
        let next = |k: usize| &queues[k][done[k]];
        // Kinds of the next work of each queue: the queues of a kind, and the most that one of them has left.
        let mut kinds: Vec<(Vec<usize>, usize)> = Vec::new();
        for k in (0..queues.len()).filter(|&k| left(k) > 0) {
            match kinds.iter_mut().find(|(like, _)| next(like[0]).is_like(next(k))) {
                Some((like, most)) => {
                    like.push(k);
                    *most = (*most).max(left(k));
                }
                None => kinds.push((vec![k], left(k))),
            }
        }
        let first =
            kinds.into_iter().max_by_key(|(like, most)| (like.len(), *most, Reverse(like[0])));
        let Some((like, _)) = first else { return steps };
        steps.push(like.iter().map(|&k| (k, next(k))).collect());
        for k in like {
            done[k] += 1;
        }
    }
}
