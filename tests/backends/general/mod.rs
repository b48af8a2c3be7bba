//! Matrices of any pattern: products and incomplete factors.

mod definitions;
mod exercises;
pub(crate) mod matrices;
mod pivots;
mod products;
mod schedules;
