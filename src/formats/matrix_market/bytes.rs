//! The text of a file, unpacked.

use std::borrow::Cow;
use std::path::Path;

use flate2::read::MultiGzDecoder;

use super::MatrixMarketError;
use crate::files::contents;

/// First bytes of a file packed by gzip.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Memory for a byte of text: an entry of four bytes, `1 1` and the end of its line, becomes two of
/// sixteen where it is mirrored, which are sorted into a copy.
const MEMORY_A_BYTE: u64 = 16;

/// The bytes of a file as they stand.
pub(super) fn contents(path: &Path) -> Result<Vec<u8>, MatrixMarketError> {
    contents::read(path, MEMORY_A_BYTE)
        .map_err(|source| MatrixMarketError::Unreadable { path: path.to_path_buf(), source })
}

/// The text that some bytes are, unpacked if gzip made them.
pub(super) fn text<'a>(path: &Path, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, MatrixMarketError> {
    if !bytes.starts_with(&GZIP) {
        return Ok(Cow::Borrowed(bytes));
    }
    contents::unpacked(MultiGzDecoder::new(bytes), bytes.len())
        .map(Cow::Owned)
        .map_err(|source| MatrixMarketError::Packed { path: path.to_path_buf(), source })
}
