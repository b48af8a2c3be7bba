//! Matrices distributed by rows over several ranks, each a thread with its own device, compared with one.

mod factors;
mod files;
pub(crate) mod machine;
pub(crate) mod patterns;
mod products;
mod shapes;
mod solves;
pub(crate) mod systems;
