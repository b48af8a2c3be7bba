//! What work asks for, noted so that it can be done again.

use parking_lot::Mutex;
use scopeguard::ScopeGuard;

/// Entries in their order, while work is noted.
pub(crate) struct Notes<T>(Mutex<Option<Vec<T>>>);

impl<T> Default for Notes<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Notes<T> {
    /// Does work, and returns what was added meanwhile. Work within other work has notes of its own. Nothing more is
    /// noted where it panics.
    pub(crate) fn during<R>(&self, work: impl FnOnce() -> R) -> (R, Vec<T>) {
        let before = self.0.lock().replace(Vec::new());
        let before = scopeguard::guard(before, |before| *self.0.lock() = before);
        let done = work();
        let noted = std::mem::replace(&mut *self.0.lock(), ScopeGuard::into_inner(before));
        (done, noted.unwrap_or_default())
    }

    /// Whether work is noted.
    pub(crate) fn are_open(&self) -> bool {
        self.0.lock().is_some()
    }

    /// Adds an entry if work is noted; otherwise the entry comes back.
    pub(crate) fn add(&self, entry: T) -> Option<T> {
        match &mut *self.0.lock() {
            Some(noted) => noted.push(entry),
            None => return Some(entry),
        }
        None
    }
}
