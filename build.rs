//! Run before the build: one number for all that the results of a case depend on beside the case.
//!
//! It is a digest (FNV-1a of 64 bits) of the sources of the library and the kernels, but for what only
//! talks to users, and of the versions of the libraries. A change of any of them may change a
//! grid or a file, and results of another build are made anew; that a change of a comment does so too is
//! the price of never keeping what would come out otherwise.
#![allow(clippy::print_stdout, reason = "this is how a build script answers")]

use std::path::{Path, PathBuf};
use std::{fs, io};

/// Parts of `src` that no result depends on.
const LEFT_OUT: [&str; 4] = ["src/cli", "src/cli.rs", "src/main.rs", "src/generate/estimate.rs"];

fn main() -> io::Result<()> {
    for part in ["src", "kernels", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={part}");
    }
    println!("cargo::rustc-env=GRIDGEN_SOURCES={:016x}", digest(Path::new("."))?);
    Ok(())
}

/// The digest of the sources below a folder.
pub(crate) fn digest(root: &Path) -> io::Result<u64> {
    let mut files = vec![root.join("Cargo.lock")];
    for folder in ["src", "kernels"] {
        files_below(&root.join(folder), &mut files)?;
    }
    // Names are sorted as they are written on every system.
    let name = |path: &Path| {
        let path = path.strip_prefix(root).unwrap_or(path);
        path.to_string_lossy().replace('\\', "/")
    };
    let mut named: Vec<_> = files.into_iter().map(|path| (name(&path), path)).collect();
    named.retain(|(name, _)| !LEFT_OUT.iter().any(|part| Path::new(name).starts_with(part)));
    named.sort();
    let mut digest: u64 = 0xcbf2_9ce4_8422_2325;
    for (name, path) in named {
        // As a dependency of another crate this one has no lock file.
        let contents = fs::read(&path).unwrap_or_default();
        for byte in name.bytes().chain([0]).chain(contents).chain([0]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok(digest)
}

fn files_below(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files_below(&path, files)? } else { files.push(path) }
    }
    Ok(())
}
