//! What takes the bytes of a file that one process writes, or several together.

use std::fs::File;
use std::io::{self, BufWriter, Cursor, Write};

use super::atomic::Paced;

/// Where the share of a process stands in a part of a file that has one of each process, by rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Bytes of the shares before it.
    pub before: u64,
    /// Bytes of all shares.
    pub all: u64,
}

/// Writes bytes to a sink.
pub type Contents<'w> = dyn FnMut(&mut dyn Sink) -> io::Result<()> + 'w;

/// Takes the bytes of a file, by and by.
///
/// All processes that write the file make the same calls. What is written outside of [`Self::share`] is the
/// same on all of them and stands in the file once.
pub trait Sink: Write + Send {
    /// The share of this process, which `write` writes; those of all stand one after the other, by rank.
    /// `share` is none where their lengths are not known before, as those of text.
    fn share(&mut self, share: Option<Share>, write: &mut Contents<'_>) -> io::Result<()>;

    /// What one process writes for all, as outside of [`Self::share`]; the others need not make the bytes.
    fn once(&mut self, write: &mut Contents<'_>) -> io::Result<()>;
}

/// What one process alone writes to.
macro_rules! alone {
    ($($sink:ty),*) => { $(
        impl $crate::files::sink::Sink for $sink {
            fn share(
                &mut self,
                _: Option<$crate::files::sink::Share>,
                write: &mut $crate::files::sink::Contents<'_>,
            ) -> std::io::Result<()> {
                write(self)
            }

            fn once(&mut self, write: &mut $crate::files::sink::Contents<'_>) -> std::io::Result<()> {
                write(self)
            }
        }
    )* };
}

pub(super) use alone;

alone!(Vec<u8>, Cursor<Vec<u8>>, File, io::Sink, BufWriter<Paced<'_>>);
