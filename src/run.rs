//! Linear systems from files.

pub mod system;
