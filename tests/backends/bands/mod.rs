//! Grids in bands: several ranks, each a thread with a device of its own, against one.

mod cases;
mod cuts;
mod factors;
mod failures;
mod grids;
mod lines;
mod messages;
mod movements;
mod ranks;
pub mod runs;
mod steps;
mod vectors;
