//! Targets of paths that are written to, and what may be replaced there: docs/conventions.md has the rule.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use super::{IoError, WriteFault};

/// Most links that are followed one after the other, as on Linux.
const LINKS: usize = 40;

/// Target of a path, behind its links.
#[derive(Debug)]
pub(super) enum WriteTarget {
    /// A file, which a complete one replaces or makes.
    File(PathBuf),
    /// A device, a pipe, or what a process has open: it is written to, and stays.
    Through(PathBuf),
}

impl WriteTarget {
    pub(super) fn of(path: &Path) -> Self {
        let mut path = path.to_path_buf();
        for _ in 0..LINKS {
            if folder_of(&path).canonicalize().is_ok_and(|folder| folder.starts_with("/proc")) {
                return Self::Through(path);
            }
            let Ok(link) = fs::read_link(&path) else { break };
            path = folder_of(&path).join(link);
        }
        let special = fs::metadata(&path).is_ok_and(|it| !it.is_file() && !it.is_dir());
        if special { Self::Through(path) } else { Self::File(path) }
    }
}

/// Opens what is written through.
pub(super) fn open(path: &Path) -> io::Result<File> {
    // Opened anew, a file that standard output goes to would be written from its start.
    #[cfg(unix)]
    if path.ends_with("fd/1") {
        return std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned().map(File::from);
    }
    File::options().append(true).open(path)
}

/// Refuses to write to a file that is read, or twice to one, whatever names and links lead there.
///
/// # Errors
/// [`WriteFault::Same`].
pub fn check_apart<'p>(
    outputs: impl IntoIterator<Item = Option<&'p Path>>,
    inputs: impl IntoIterator<Item = Option<&'p Path>>,
) -> Result<(), IoError> {
    let mut others: Vec<&Path> = inputs.into_iter().flatten().collect();
    for output in outputs.into_iter().flatten() {
        if let Some(other) = others.iter().find(|other| is_same(output, other)) {
            return Err(WriteFault::Same(other.to_path_buf()).at(output));
        }
        others.push(output);
    }
    Ok(())
}

/// Refuses to replace a file whose name the program has made, unless it has the `mark` of gridgen's.
///
/// # Errors
/// [`WriteFault::Foreign`].
pub fn check_own(path: &Path, mark: &str) -> Result<(), IoError> {
    let own = |bytes: Vec<u8>| memchr::memmem::find(&bytes, mark.as_bytes()).is_some();
    if path.exists() && !(path.is_file() && fs::read(path).is_ok_and(own)) {
        return Err(WriteFault::Foreign.at(path));
    }
    Ok(())
}

/// Whether two paths lead to one file, which need not be there.
pub(super) fn is_same(a: &Path, b: &Path) -> bool {
    let (WriteTarget::File(a), WriteTarget::File(b)) = (WriteTarget::of(a), WriteTarget::of(b))
    else {
        return false;
    };
    #[cfg(unix)]
    if let (Ok(a), Ok(b)) = (fs::metadata(&a), fs::metadata(&b)) {
        use std::os::unix::fs::MetadataExt;
        return (a.dev(), a.ino()) == (b.dev(), b.ino());
    }
    let [a, b] = [a, b]
        .map(|path| Some((folder_of(&path).canonicalize().ok()?, path.file_name()?.to_owned())));
    a.is_some() && a == b
}

/// The folder of a file.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}
