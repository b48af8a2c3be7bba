//! Grids: initial grids, measures of quality, sections with known solutions, the shipped cases, C-grids and
//! halves, and retries when a grid is not good.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod angle;
mod c_grid;
mod conformal;
mod curved;
mod golden;
mod half;
mod initial;
mod ladder;
mod near_body;
mod overset;
mod quality;
mod rigging;
