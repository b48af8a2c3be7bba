//! gridgen: structured meshes around airfoils by elliptic grid equations, solved by Newton–Krylov.

pub mod error;
pub mod geometry;
pub mod grid;
pub mod io;
pub mod pde;
pub mod solver;
