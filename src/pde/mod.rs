//! The grid equations at one point and their control functions: pure functions of coordinates.

pub mod control;
