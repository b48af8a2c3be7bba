//! Matrices by rows on the CPU, and their incomplete factors.

mod cells;
mod correlation;
mod elimination;
mod factors;
mod matrix;
mod plan;
mod product;
mod rows;
mod slices;

pub use matrix::CsrMatrix;
