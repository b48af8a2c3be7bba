//! gridgen: structured meshes around airfoils by elliptic grid equations, solved by Newton–Krylov.

pub mod backend;
pub mod case;
pub mod digest;
pub mod elliptic;
pub mod error;
pub mod files;
pub mod formats;
pub mod generate;
pub mod geometry;
pub mod grid;
pub mod linear_system;
pub mod memory;
pub mod pde;
pub mod report;
mod simd;
pub mod solver;
pub mod sparse;

/// The Rust blocks of the documents, as tests: none may show what does not compile.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../README.md")]
    struct Readme;
    #[doc = include_str!("../CONTRIBUTING.md")]
    struct Contributing;
    #[doc = include_str!("../docs/case-format.md")]
    struct CaseFormat;
    #[doc = include_str!("../docs/conventions.md")]
    struct Conventions;
    #[doc = include_str!("../docs/formats.md")]
    struct Formats;
    #[doc = include_str!("../docs/licences.md")]
    struct Licences;
    #[doc = include_str!("../docs/performance.md")]
    struct Performance;
    #[doc = include_str!("../docs/solvers.md")]
    struct Solvers;
    #[doc = include_str!("../docs/theory.md")]
    struct Theory;
    #[doc = include_str!("../docs/validation.md")]
    struct Validation;
    #[doc = include_str!("../docs/verification.md")]
    struct Verification;
}
