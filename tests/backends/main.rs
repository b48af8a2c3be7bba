//! Backends beyond one grid on one device: matrices of any pattern, grids in bands and matrices by rows on
//! several ranks.

mod bands;
mod general;
mod rows;
