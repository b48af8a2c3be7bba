//! Inexact Newton, Krylov methods and preconditioners, written once for all backends.

pub mod history;
pub mod krylov;
pub mod precond;
