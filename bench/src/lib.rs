#![doc = include_str!("../README.md")]

mod backend;
pub mod crossover;
#[cfg(feature = "cuda")]
mod cusparse;
mod files;
mod kernels;
mod matrices;
mod newton;
mod problem;
mod results;
mod runs;
pub mod scaling;
pub mod solvers;
mod timing;

pub use backend::{BenchBackend, VendorLibrary, VendorWork, Work};
pub use crossover::{TIMED_RUN, crossover, timed_run};
pub use files::{matrix_market, writing};
pub use kernels::kernels;
pub use matrices::Generated;
pub use newton::newton;
pub use problem::ellipses;
pub use results::{Results, Table};
pub use runs::runs;

/// Points in i and j.
pub type Size = (usize, usize);
