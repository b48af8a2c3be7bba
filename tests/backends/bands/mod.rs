//! Grids in bands: several ranks, each a thread with its own device, compared with one.

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
