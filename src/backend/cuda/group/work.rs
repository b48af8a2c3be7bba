//! What a member is asked to do.

use crate::backend::cuda::device::Address;
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Argument, Arguments, Kernel, LaunchShape, kernels};
use std::cmp::Reverse;
use std::sync::Arc;

/// Bytes of a word of `copy_words`, and of `clear_words`.
pub(super) const WORD: usize = size_of::<u64>();
const HALF_WORD: usize = size_of::<u32>();

/// A kernel, its shape and its arguments.
#[derive(Debug, Clone)]
pub(super) struct Launch {
    pub(super) kernel: Kernel,
    pub(super) shape: LaunchShape,
    pub(super) arguments: Arc<[Argument]>,
}

impl Launch {
    /// Whether one launch can do both.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.kernel == other.kernel && self.shape == other.shape
    }

    /// The arguments as words, each from a word of its own.
    pub(super) fn append_to(&self, words: &mut Vec<u64>) {
        self.arguments.iter().for_each(|argument| words.extend_from_slice(argument.words()));
    }

    /// `to` ← so many words.
    pub(super) fn copying(words: usize, from: Address, to: Address) -> Self {
        let (from, to) = (Pointer::<u64>::to(from), Pointer::<u64>::to(to));
        let arguments = (words as u64, from, to).list().into();
        let kernel = Kernel::named::<f64>(kernels::copy_words);
        Self { kernel, shape: LaunchShape::elementwise(words), arguments }
    }

    fn clearing(half_words: usize, at: Address) -> Self {
        let arguments = (half_words as u64, Pointer::<u32>::to(at)).list().into();
        let kernel = Kernel::named::<f64>(kernels::clear_words);
        Self { kernel, shape: LaunchShape::elementwise(half_words), arguments }
    }
}

/// Work in the order in which it was asked.
#[derive(Debug, Clone)]
pub(super) enum Work {
    Launch(Launch),
    /// Of bytes that are no whole words.
    Clear(Address, usize),
    Copy {
        from: Address,
        to: Address,
        bytes: usize,
    },
    Upload(Arc<[u8]>, Address),
    /// To the result of this number.
    Download {
        number: usize,
        from: Address,
        bytes: usize,
    },
    Replay(Arc<[Launch]>),
}

impl Work {
    pub(super) fn clear(at: Address, bytes: usize) -> Self {
        if bytes.is_multiple_of(HALF_WORD) {
            Self::Launch(Launch::clearing(bytes / HALF_WORD, at))
        } else {
            Self::Clear(at, bytes)
        }
    }

    pub(super) fn copy(from: Address, to: Address, bytes: usize) -> Self {
        if bytes.is_multiple_of(WORD) {
            Self::Launch(Launch::copying(bytes / WORD, from, to))
        } else {
            Self::Copy { from, to, bytes }
        }
    }

    /// Whether it can be done for both at once.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launch(a), Self::Launch(b)) => a.is_like(b),
            (Self::Upload(a, _), Self::Upload(b, _)) => a.len() == b.len(),
            (Self::Download { bytes: a, .. }, Self::Download { bytes: b, .. }) => a == b,
            (Self::Replay(a), Self::Replay(b)) => are_like(a, b),
            _ => false,
        }
    }
}

/// Whether one recording can do both.
pub(super) fn are_like(a: &[Launch], b: &[Launch]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_like(b))
}

/// Work of a member, by the member's number.
pub(super) type Queue = (usize, Vec<Work>);

/// Like work of several members, by the places of their queues.
pub(super) type Step<'a> = Vec<(usize, &'a Work)>;

/// The work of all queues in steps: each queue's in its order, as much of it together as is alike.
///
/// Members do mostly the same; of those that differ for a while, say by an iteration, the ones with the most
/// left to do go on first, so that they meet the others.
pub(super) fn steps(queues: &[Queue]) -> Vec<Step<'_>> {
    let mut done = vec![0; queues.len()];
    let mut steps = Vec::new();
    loop {
        let left = |k: usize| queues[k].1.len() - done[k];
        let next = |k: usize| &queues[k].1[done[k]];
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
