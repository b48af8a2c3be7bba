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

#[cfg(test)]
mod tests {
    use super::*;
    use gridgen::sparse::{Graph, Triangle, levels};

    #[test]
    fn small_matrices_have_as_many_entries_per_row_as_the_originals() {
        // Entries divided by rows of the collection's matrices.
        let expected = [6.74, 4.09, 6.94, 16.80, 4.83, 6.99];
        for (generated, expected) in Generated::ALL.into_iter().zip(expected) {
            let a = generated.matrix(0.05);

            let mean = a.values.len() as f64 / a.rows() as f64;
            assert!((mean / expected - 1.0).abs() < 0.1, "{generated:?}: {mean}");
        }
    }

    #[test]
    fn a_full_matrix_has_the_size_and_few_levels_of_the_original() {
        let a = Generated::ParabolicFem.matrix(1.0);

        // The numbers of rows and entries of the collection's matrix. Nodes of coarser grids are coupled only
        // to those of the finest, of which there are three kinds.
        assert_eq!((a.rows(), a.values.len()), (525_825, 3_674_625));
        assert_eq!(levels(a.pattern(), Triangle::Lower).iter().max(), Some(&3));
    }

    #[test]
    fn all_have_a_heavy_diagonal_and_a_symmetric_pattern() {
        for generated in Generated::ALL {
            let a = generated.matrix(0.003);
            let graph = Graph::new(a.pattern());
            for row in 0..a.rows() {
                let diagonal = a.row(row).find(|&(column, _)| column == row).map_or(0.0, |e| e.1);
                let others: f64 = a.row(row).filter(|e| e.0 != row).map(|e| e.1.abs()).sum();

                assert!(diagonal >= (1.0 - 1e-12) * others, "{generated:?} {row}");
                assert_eq!(graph.degree(row), a.row(row).count() - 1, "{generated:?} {row}");
            }
        }
    }

    #[test]
    fn a_circuit_has_rows_of_very_uneven_length() {
        let a = Generated::Asic320ks.matrix(0.1);

        let longest = (0..a.rows()).map(|row| a.row(row).count()).max();

        assert!(longest > Some(a.rows() / 60), "{longest:?}");
    }
}
