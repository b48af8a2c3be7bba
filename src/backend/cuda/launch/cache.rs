//! Compiled kernels kept on disk, in the user's cache folder.
//!
//! An entry is: `MAGIC`; the key; the code; the CRC-32 of all that as u32, little-endian. An entry
//! that differs in a byte, or has another key, counts as absent: the kernels are compiled anew and the entry is
//! replaced.

use crate::digest;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"GGCUBIN3";

/// Most bytes of an entry that is read; the largest file of kernels has some hundred thousand.
const LARGEST: u64 = 1 << 28;

/// Inputs that compiled code depends on.
#[derive(Debug, Clone, Copy)]
pub struct CacheKey<'a> {
    pub text: &'a str,
    /// Options of the compiler, the architecture among them.
    pub options: &'a [String],
    pub compiler: (i32, i32),
}

impl CacheKey<'_> {
    /// The key as it is written in an entry: all but the text, of which there are length and digest. No key is the
    /// beginning of another one: its last bracket closes the first.
    fn bytes(&self) -> Vec<u8> {
        let text = (self.text.len(), digest::of(self.text.as_bytes()));
        format!("{:?}", (env!("CARGO_PKG_VERSION"), text, self.compiler, self.options)).into_bytes()
    }
}

/// The cache of the user: `gridgen` in `XDG_CACHE_HOME`, or else in `.cache` in `HOME`, by the values of
/// the two variables. One that is empty or relative does not count, as the XDG Base Directory Specification
/// has it: code of the working folder is never loaded.
pub fn folder(cache_home: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute =
        |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(cache_home).or_else(|| Some(absolute(home)?.join(".cache")))?;
    Some(folder.join("gridgen"))
}

/// The code of this key in a folder, if it is there and whole.
pub fn load(folder: &Path, key: &CacheKey<'_>) -> Option<Vec<u8>> {
    let file = std::fs::File::open(path(folder, key)).ok()?;
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    code(&bytes, key).map(<[u8]>::to_vec)
}

/// Keeps the code of this key for the next time in a folder, which is made if it is not there; where that
/// fails it is compiled again.
pub fn store(folder: &Path, key: &CacheKey<'_>, code: &[u8]) {
    let written = std::fs::create_dir_all(folder).and_then(|()| {
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&entry(code, key))?;
        file.persist(path(folder, key)).map_err(|error| error.error)
    });
    // A cache that cannot be written costs time, nothing else.
    drop(written);
}

/// The file of this key's code in a folder.
pub fn path(folder: &Path, key: &CacheKey<'_>) -> PathBuf {
    folder.join(format!("{:016x}.cubin", digest::of(&key.bytes())))
}

pub fn entry(code: &[u8], key: &CacheKey<'_>) -> Vec<u8> {
    let mut bytes = [MAGIC, &*key.bytes(), code].concat();
    bytes.extend(digest::crc(&bytes).to_le_bytes());
    bytes
}

/// The code of an entry, if the entry is whole and of this key.
pub fn code<'a>(bytes: &'a [u8], key: &CacheKey<'_>) -> Option<&'a [u8]> {
    let (body, crc) = bytes.split_last_chunk::<4>()?;
    let code = body.strip_prefix(MAGIC)?.strip_prefix(&*key.bytes())?;
    let whole = digest::crc(body) == u32::from_le_bytes(*crc);
    (whole && !code.is_empty()).then_some(code)
}
