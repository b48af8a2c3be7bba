//! Matrices of any pattern: products, incomplete factors, and systems solved with them.

mod definitions;
mod ell;
mod exercises;
mod matrices;
mod pivots;
mod products;
mod schedules;
mod systems;
