//! Backends beyond one grid on one device: matrices of any pattern, grids in bands and matrices by rows on
//! several ranks.

mod bands;
#[path = "../fibers/mod.rs"]
mod fibers;
mod general;
mod rows;
#[path = "../support/mod.rs"]
mod support;
