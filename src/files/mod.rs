//! Files and folders: written whole or not at all, locked while they are written, read within bounds.
//!
//! Every file is written under a temporary name and renamed when it is complete
//! ([`atomic::write`]); the files of a run replace those of the last one together
//! ([`output::Output`]).

pub(crate) mod atomic;
pub(crate) mod contents;
mod error;
pub(crate) mod output;
pub(crate) mod pieces;
pub mod record;
pub mod restart;

pub use self::error::{IoError, WriteFault};
pub use self::pieces::ByteSink;

/// Name of the report in the output folder, the same for good and failed runs.
pub const REPORT_FILE: &str = "report.json";

/// Name of the page in the output folder, the same for good and failed runs.
pub const PAGE_FILE: &str = "report.html";

/// Name of the restart file in the output folder.
pub const RESTART_FILE: &str = "restart.bin";

/// Name of the resolved case in the output folder.
pub const CASE_FILE: &str = "case.toml";

/// Name of the reference of movements in the output folder.
pub const REFERENCE_FILE: &str = "reference.grd";
