//! Backends with more than one grid on one device: matrices of any pattern, grids in bands, and matrices
//! distributed by rows over several ranks.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(unreachable_pub, reason = "some modules serve several programs")]

mod bands;
mod cpu;
mod errors;
mod general;
mod groups;
mod levels;
mod processes;
mod rows;
mod sparse;
