//! Matrices spread over several ranks by rows, each a thread with a device of its own, against one.

mod factors;
mod failures;
mod files;
mod kernels;
mod machine;
mod patterns;
mod products;
mod shapes;
mod solves;
mod systems;
