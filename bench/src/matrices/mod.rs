//! Matrices of the sizes and kinds used in the literature on solvers.

mod circuits;
mod fields;

use crate::newton::timed;
use crate::{BenchBackend, Size, ellipses};
use gridgen::backend::EllipticData;
use gridgen::elliptic::GridProblem;
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};
use gridgen::sparse::Csr;
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A generated matrix that resembles one of the SuiteSparse collection measured by Wang and Liu (2022).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Generated {
    /// Anisotropic diffusion in a box, seven points, symmetric: 715 thousand rows.
    Apache2,
    /// A circuit with hubs, rows of very uneven length: 322 thousand rows.
    Asic320ks,
    /// Convection and diffusion in a box, seven points: 1.27 million rows.
    Atmosmodd,
    /// A Markov chain, 17 entries a row: 445 thousand rows.
    Cage13,
    /// Laplacian of a two-dimensional network with some crossing wires, symmetric: 1.59 million rows.
    G3Circuit,
    /// A time step of diffusion with linear elements on a repeatedly refined grid, symmetric: 526 thousand
    /// rows.
    ParabolicFem,
}

impl Generated {
    /// All generated matrices.
    pub const ALL: [Self; 6] = [
        Self::Apache2,
        Self::Asic320ks,
        Self::Atmosmodd,
        Self::Cage13,
        Self::G3Circuit,
        Self::ParabolicFem,
    ];

    /// Name of the matrix that it resembles.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Apache2 => "apache2",
            Self::Asic320ks => "ASIC_320ks",
            Self::Atmosmodd => "atmosmodd",
            Self::Cage13 => "cage13",
            Self::G3Circuit => "G3_circuit",
            Self::ParabolicFem => "parabolic_fem",
        }
    }

    /// The matrix with about `scale` times as many rows; identical in every run.
    #[must_use]
    pub fn matrix(self, scale: f64) -> Csr {
        let side = |full: usize, dimensions: f64| {
            ((full as f64 * scale.powf(dimensions.recip())).round() as usize).max(3)
        };
        let rows = |full: usize| side(full, 1.0).max(100);
        match self {
            Self::Apache2 => fields::anisotropic([89, 89, 90].map(|n| side(n, 3.0))),
            Self::Asic320ks => circuits::hubs(rows(321_671)),
            Self::Atmosmodd => fields::convection([108, 108, 109].map(|n| side(n, 3.0))),
            Self::Cage13 => circuits::chain(rows(445_315)),
            Self::G3Circuit => circuits::network(side(1259, 2.0)),
            Self::ParabolicFem => fields::elements([1025, 513].map(|n| side(n, 2.0))),
        }
    }
}

/// The Jacobian of the grid of ellipses after `steps` Newton steps, scaled by rows, with a frozen wall.
pub(crate) fn jacobian<B: BenchBackend>(
    backend: &B,
    (ni, nj): Size,
    steps: usize,
) -> Result<Csr, SolverError> {
    let data = EllipticData { walls: Default::default(), ..ellipses(ni, nj) };
    let (state, mut u) = backend.elliptic(&data)?;
    let mut problem = GridProblem::<B, f64>::new(backend, state, Kind::None)?;
    if steps > 0 {
        let multigrid = (Kind::Multigrid, MultigridSettings::default());
        let _ = timed(backend, (&mut problem, &mut u), multigrid, (1e-13, steps))?;
    }
    let mut f = backend.zeros(problem.unknowns())?;
    problem.residual(backend, &u, &mut f)?;
    Ok(problem.linearise(backend)?.to_csr(backend)?)
}

/// Random numbers from a seed, identical in every run: `SplitMix64` (Steele, Lea and Flood 2014, doi:10.1145/2660193.2660195).
pub(crate) struct Random(SplitMix64);

impl Random {
    /// The sequence of this seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(SplitMix64::seed_from_u64(seed))
    }

    /// The next number, uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The next whole number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.unit() * end as f64) as usize
    }
}
