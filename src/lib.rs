//! Structured O- and C-grids around airfoils and wing-body cross-sections, by elliptic grid equations that
//! Newton-Krylov solves to a stated residual.
//!
//! A grid r(ξ, η) = (x, y) with nodes at integer (ξ, η) satisfies, at each interior node,
//!
//! ```text
//! g22 (r_ξξ + P r_ξ) − 2 g12 r_ξη + g11 (r_ηη + Q r_η) = 0
//! ```
//!
//! with g11 = r_ξ·r_ξ, g12 = r_ξ·r_η, g22 = r_η·r_η; the control functions P and Q keep the first cells at
//! the height of the case and the lines normal to the wall. `docs/theory.md` derives the equations,
//! `docs/conventions.md` fixes orientation, indices and units.
//!
//! ```
//! use gridgen::{Case, generate};
//!
//! let mut case = Case::naca("2412")?;
//! (case.grid.ni, case.grid.nj, case.grid.first_cell) = (97, 33, 1e-3);
//! let made = generate(&case)?;
//!
//! assert!(made.is_good(), "{}", made.verdict);
//! assert_eq!((made.grid.ni, made.grid.nj), (97, 33));
//! assert!(made.quality.first_cell_max < 1.01e-3);
//! # Ok::<(), gridgen::Error>(())
//! ```
//!
//! # The steps
//!
//! Data flow one way, and each step can be called by itself:
//!
//! | step | module | from → to |
//! | --- | --- | --- |
//! | case | [`case`] | text → [`case::Case`], every default in place |
//! | section | [`geometry`] | NACA name, file or points → points on the wall |
//! | initial grid | [`mod@grid`] | points on the wall → hyperbolic march; also quality and verdict |
//! | equations | [`pde`], [`elliptic`] | residual and Jacobian at a point; as a nonlinear problem |
//! | solution | [`solver`] | Newton, CG, BiCGStab, GMRES, preconditioners |
//! | several elements | [`overset`] | placed grids → holes, donors, findings |
//! | files | [`formats`], [`report`] | meshes and matrices; pictures, page, history, `report.json` |
//!
//! [`mod@generate`] joins them: [`generate::Problem`] → [`generate::solve()`] on a [`generate::Machine`] →
//! [`generate::GridResult`]; [`generate::run`] and [`generate::run_batch`] write the files too.
//! A [`case::CaseFile`] has one section or several elements, of which [`generate::make_grids`] and
//! [`generate::run`] make an overset mesh.
//! [`mod@cascade`] makes the passage beside a blade of a row, [`movement`] moves a grid with its wall, [`mod@smooth`] improves one that is given. [`linear_system`] solves with a matrix of any pattern ([`sparse`]).
//! Solvers are written once, on the traits of [`backend`], which the CPU, one GPU and several implement;
//! [`ranks`] connects processes that share the work. [`mod@error`] holds what can fail, with a
//! hint and a class.
//!
//! # Features
//!
//! `cuda`: NVIDIA GPUs; driver and compiler are looked for at run time. `cli`: the program and its crates, which a
//! library does not need. Both are on by default.

// The modules of the program name the library as its users do.
#[cfg(feature = "cli")]
extern crate self as gridgen;

pub mod backend;
pub mod cascade;
pub mod case;
#[cfg(feature = "cli")]
#[doc(hidden)] // The program, which main.rs and the Python package start.
pub mod cli;
mod diagnostics;
mod digest;
pub mod elliptic;
pub mod error;
pub mod files;
pub mod formats;
pub mod generate;
pub mod geometry;
pub mod grid;
pub mod linear_system;
pub mod memory;
pub mod movement;
pub mod overset;
pub mod pde;
pub mod ranks;
pub mod report;
mod run;
mod simd;
pub mod smooth;
pub mod solver;
pub mod sparse;
pub mod viewer;

pub use case::Case;
pub use error::Error;
pub use generate::{GridResult, generate};
pub use grid::Grid;
pub use smooth::smooth;

/// Parts of the inside that the program, the tests and the measurements use: no part of the interface.
#[doc(hidden)]
pub mod internals {
    pub mod atomic {
        pub use crate::files::atomic::*;
    }
    pub mod digest {
        pub use crate::digest::*;
    }
    pub mod generate {
        pub use crate::backend::cuda::{RankWork, Ranks};
        pub use crate::generate::pipeline::run_on;
        pub use crate::generate::problem::fingerprint;
        pub use crate::run::CROSSOVER;
    }
    pub mod movement {
        pub use crate::movement::frame::FixedNodeMap;
    }
    pub mod output {
        pub use crate::files::output::*;
    }
    pub mod schema {
        pub use crate::case::schema::*;
        pub use crate::case::table::*;
    }
    pub mod turning {
        pub use crate::geometry::turning::*;
    }
}

/// The Rust blocks of the documents, as tests: none may show what does not compile.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../CONTRIBUTING.md")]
#[doc = include_str!("../docs/case-format.md")]
#[doc = include_str!("../docs/conventions.md")]
#[doc = include_str!("../docs/formats.md")]
#[doc = include_str!("../docs/licences.md")]
#[doc = include_str!("../docs/performance.md")]
#[doc = include_str!("../docs/solvers.md")]
#[doc = include_str!("../docs/theory.md")]
#[doc = include_str!("../docs/validation.md")]
#[doc = include_str!("../docs/verification.md")]
mod documents {}
