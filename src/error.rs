//! The crate's error: which layer failed, what to do about it, and the exit code.

/// Any failure of gridgen. Each layer has its own typed error; this one joins them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {}
