//! gridgen: structured meshes around airfoils by elliptic grid equations, solved by Newton–Krylov.

pub mod backend;
pub mod bench;
pub mod case;
pub mod digest;
pub mod elliptic;
pub mod error;
pub mod geometry;
pub mod grid;
pub mod io;
pub mod memory;
pub mod pde;
pub mod run;
mod simd;
pub mod solver;
pub mod sparse;
