//! Compiled kernels kept on disk, in the user's cache folder.
//!
//! An entry is, with all numbers little-endian: [`MAGIC`]; the lengths of key and code as u64; the key;
//! the code; the [`Digest`] of all that as u64. What is not so to the last byte, or is of another key,
//! is as good as absent: the kernels are compiled anew and the entry is replaced.

use crate::digest::Digest;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

pub const MAGIC: &[u8; 8] = b"GGCUBIN1";

const HEAD: usize = 8 + 2 * 8;

/// Most bytes of an entry that is read; the largest file of kernels has some hundred thousand.
const LARGEST: u64 = 1 << 28;

/// What compiled code depends on.
#[derive(Debug, Clone, Copy)]
pub struct Key<'a> {
    pub text: &'a str,
    /// Options of the compiler, the architecture among them.
    pub options: &'a [String],
    pub compiler: (i32, i32),
}

impl Key<'_> {
    /// The key as it stands in an entry: all but the text, of which there are length and digest.
    fn bytes(&self) -> Vec<u8> {
        let text = (self.text.len(), Digest::of(self.text.as_bytes()).number());
        format!("{:?}", (env!("CARGO_PKG_VERSION"), text, self.compiler, self.options)).into_bytes()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelCache {
    folder: PathBuf,
}

impl KernelCache {
    /// The cache in a folder, which is made when something is stored.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The cache of the user: `gridgen` in `XDG_CACHE_HOME`, or else in `.cache` in `HOME`. A variable
    /// that is empty or relative does not count, as the XDG Base Directory Specification has it: code
    /// of the working folder is never loaded.
    #[must_use]
    pub fn of_the_user() -> Option<Self> {
        let [cache, home] = ["XDG_CACHE_HOME", "HOME"].map(std::env::var_os);
        Self::of(cache, home)
    }

    /// [`Self::of_the_user`] with the values of the two variables.
    #[must_use]
    pub fn of(cache_home: Option<OsString>, home: Option<OsString>) -> Option<Self> {
        let absolute =
            |value: Option<OsString>| value.map(PathBuf::from).filter(|path| path.is_absolute());
        let folder = absolute(cache_home).or_else(|| Some(absolute(home)?.join(".cache")))?;
        Some(Self::at(folder.join("gridgen")))
    }

    /// The code of this key, if it is there and whole.
    #[must_use]
    pub fn load(&self, key: &Key<'_>) -> Option<Vec<u8>> {
        let file = std::fs::File::open(self.path(key)).ok()?;
        let mut bytes = Vec::new();
        file.take(LARGEST).read_to_end(&mut bytes).ok()?;
        code(&bytes, key).map(<[u8]>::to_vec)
    }

    /// Keeps the code of this key for the next time; where that fails it is compiled again.
    pub fn store(&self, key: &Key<'_>, code: &[u8]) {
        let written = std::fs::create_dir_all(&self.folder).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
            file.write_all(&entry(code, key))?;
            file.persist(self.path(key)).map_err(|error| error.error)?;
            Ok(())
        });
        // A cache that cannot be written costs time, nothing else.
        drop(written);
    }

    /// Where the code of this key is kept.
    #[must_use]
    pub fn path(&self, key: &Key<'_>) -> PathBuf {
        self.folder.join(format!("{:016x}.cubin", Digest::of(&key.bytes()).number()))
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[must_use]
pub fn entry(code: &[u8], key: &Key<'_>) -> Vec<u8> {
    let key = key.bytes();
    let mut bytes = MAGIC.to_vec();
    for length in [key.len(), code.len()] {
        bytes.extend((length as u64).to_le_bytes());
    }
    bytes.extend(key);
    bytes.extend(code);
    bytes.extend(Digest::of(&bytes).number().to_le_bytes());
    bytes
}

/// The code of an entry, if the entry is whole and of this key.
#[must_use]
pub fn code<'a>(bytes: &'a [u8], key: &Key<'_>) -> Option<&'a [u8]> {
    let (body, digest) = bytes.split_last_chunk::<8>()?;
    let lengths = body.strip_prefix(MAGIC)?.get(..HEAD - MAGIC.len())?.as_chunks::<8>().0;
    let &[key_length, code_length] = lengths else { return None };
    let (found, code) =
        body[HEAD..].split_at_checked(usize::try_from(u64::from_le_bytes(key_length)).ok()?)?;
    let whole = code.len() as u64 == u64::from_le_bytes(code_length)
        && Digest::of(body).number() == u64::from_le_bytes(*digest);
    (whole && found == key.bytes() && !code.is_empty()).then_some(code)
}
