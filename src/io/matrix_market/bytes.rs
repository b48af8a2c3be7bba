//! The text of a file, unpacked.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::MatrixMarketError;

/// First bytes of a file packed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Bytes that any packed file may unpack to, and how many times its own size more: what claims to
/// be longer is no text of numbers.
const UNPACKED: u64 = 1 << 26;
const TIMES: u64 = 100;

/// The bytes of a file, unpacked if gzip made it.
pub(super) fn contents(path: &Path) -> Result<Vec<u8>, MatrixMarketError> {
    let bytes = fs::read(path)
        .map_err(|source| MatrixMarketError::Unreadable { path: path.to_path_buf(), source })?;
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    unpack(&bytes).map_err(|source| MatrixMarketError::Packed { path: path.to_path_buf(), source })
}

fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let most = UNPACKED + TIMES * packed.len() as u64;
    let mut bytes = Vec::new();
    MultiGzDecoder::new(packed).take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let reason = format!("it becomes more than {TIMES} times as long, as no numbers do");
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    Ok(bytes)
}
