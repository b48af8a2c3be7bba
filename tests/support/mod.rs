//! What the tests of the solver core share: walls given by formulas, problems on them, small
//! matrices, random numbers.
#![allow(dead_code, unreachable_pub, reason = "each test program uses a part of this module")]
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

pub mod krylov;
pub mod linear;
pub mod problems;
pub mod random;
pub mod stencil;
pub mod walls;
