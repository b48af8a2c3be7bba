//! The bytes of a file that is read: no more than memory can take, nor packed ones that claim to be
//! far longer than they are.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::memory::{self, NotEnoughMemory};

/// Most bytes of what is no regular file, a pipe or a device, whose length is not known before.
const UNMEASURED: u64 = 1 << 30;

/// Bytes that any packed data may unpack to, and how many times their own length more: what claims to
/// be longer holds no numbers.
const UNPACKED: u64 = 1 << 22;
const TIMES: u64 = 100;

/// The bytes of a file, each of which takes up to `times` bytes of memory until it is understood.
pub(crate) fn read(path: &Path, times: u64) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    let facts = file.metadata()?;
    let most = if facts.is_file() { facts.len() } else { UNMEASURED };
    let refused = |error: NotEnoughMemory| io::Error::new(io::ErrorKind::OutOfMemory, error);
    memory::check(most.saturating_mul(times)).map_err(refused)?;
    let mut bytes = Vec::new();
    // A regular file that grows meanwhile is read as long as it was.
    file.take(most + u64::from(!facts.is_file())).read_to_end(&mut bytes)?;
    if !facts.is_file() && bytes.len() as u64 > UNMEASURED {
        let reason = format!("no end after {}", memory::shown(UNMEASURED));
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// The bytes of a file that has at most `most`; one byte more of a longer one.
pub(crate) fn read_short(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The hint for a file that cannot be read.
pub(crate) fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::OutOfMemory => memory::HINT,
        io::ErrorKind::FileTooLarge => "name a file",
        _ => "check the path and its permissions",
    }
}

/// Most bytes that this number of packed ones may unpack to.
pub(crate) fn unpacked_limit(packed: usize) -> u64 {
    UNPACKED + TIMES * packed as u64
}

/// Unpacks this number of bytes by `decoder`.
pub(crate) fn unpacked(decoder: impl Read, packed: usize) -> io::Result<Vec<u8>> {
    let most = unpacked_limit(packed);
    let mut bytes = Vec::new();
    decoder.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let reason = format!("it becomes more than {TIMES} times as long, as no numbers do");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(bytes)
}
