//! Requirements on every backend, checked against the CPU backend. Fibers and GPUs share this suite:
//! `conformance!(backend)` makes a test of each fact, where `backend()` returns a new backend.

pub mod control;
pub mod equations;
pub mod factors;
pub mod general;
pub mod grids;
pub mod krylov;
pub mod lengths;
pub mod march;
pub mod matrices;
pub mod movements;
pub mod multigrid;
pub mod newton;
pub mod scalars;
pub mod vectors;
pub mod walls;

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::cuda::{CudaBackend, CudaGrid, CudaMatrix};
use gridgen::backend::{MovementBackend, Real};
use gridgen::grid::Grid;
use gridgen::grid::initial::InitialMethod;
use gridgen::grid::quality::folds;
use gridgen::sparse::EllPattern;

pub use support::linear::{to_device, to_host};
use support::random::Random;
use support::walls::WallPoints;

/// A backend under test: the operations for solvers, and access to its matrices.
pub trait Subject: MovementBackend {
    /// A matrix with these values, column-major like the pattern.
    fn matrix_from<T: Real>(&self, pattern: EllPattern, values: &[T]) -> Self::Matrix<T>;

    /// Number of folded cells of a grid.
    fn folded_cells(&self, grid: &Self::Grid) -> usize;
}

impl Subject for CudaBackend {
    fn matrix_from<T: Real>(&self, pattern: EllPattern, values: &[T]) -> CudaMatrix<T> {
        CudaMatrix::from_values(self, pattern, values).unwrap()
    }

    fn folded_cells(&self, grid: &CudaGrid) -> usize {
        self.folds(grid).unwrap()
    }
}

impl Subject for CpuBackend {
    fn matrix_from<T: Real>(&self, pattern: EllPattern, values: &[T]) -> EllMatrix<T> {
        EllMatrix::from_values(pattern, values.to_vec())
    }

    fn folded_cells(&self, grid: &Grid) -> usize {
        folds(grid)
    }
}

/// Lengths of less than a warp, a warp, a block, and more.
pub const LENGTHS: [usize; 7] = [1, 31, 32, 33, 257, 37 * 53, 5000];

/// Numbers of unknown points in i and j.
pub const SIZES: [(usize, usize); 8] =
    [(3, 1), (5, 3), (31, 2), (32, 3), (33, 2), (257, 3), (4, 33), (37, 33)];

/// Height of the first cells of grids.
pub const FIRST_CELL: f64 = 1e-3;

/// Downloads a grid of the size of another one.
pub fn grid_to_host<S: Subject>(subject: &S, nodes: &S::Grid, like: &Grid) -> Grid {
    let mut host = Grid::unset(like.topology, like.ni, like.nj);
    subject.fetch(nodes, &mut host).unwrap();
    host
}

/// Marches with all kinds of seam and [`FIRST_CELL`], with numbers of columns and lines that do not fill blocks, and
/// the normals of their walls.
pub fn marches() -> Vec<(Grid, Vec<[f64; 2]>)> {
    marched([
        (WallPoints::naca("0012", 33), 33),
        (WallPoints::naca("4412", 131), 17),
        (WallPoints::ellipse(0.3, 98), 12),
        (WallPoints::naca_with_wake("2412", 113, 24), 20),
        (WallPoints::naca("2412", 20), 4),
        (WallPoints::naca_with_wake("4412", 34, 7), 5),
    ])
}

/// The marches from these walls with these numbers of lines.
pub fn marched<const N: usize>(walls: [(WallPoints, usize); N]) -> Vec<(Grid, Vec<[f64; 2]>)> {
    let march = |(wall, nj): (WallPoints, usize)| {
        (wall.initial(InitialMethod::Hyperbolic, nj, FIRST_CELL).grid, wall.normals)
    };
    walls.map(march).into()
}

/// Random numbers of type `T`.
pub fn random<T: Real>(seed: u64, n: usize) -> Vec<T> {
    Random::new(seed).vector(n).into_iter().map(T::narrow).collect()
}

/// Asserts that `found` is `expected` up to `ulps` roundings of the largest value.
#[track_caller]
pub fn assert_close<T: Real>(found: &[T], expected: &[T], ulps: f64, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let largest = expected.iter().fold(0.0, |most: f64, v| most.max(v.widen().abs()));
    let bound = ulps * T::epsilon().widen() * largest;
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let difference = (found.widen() - expected.widen()).abs();
        assert!(difference <= bound, "{what}: entry {k} is {found:?}, expected {expected:?}");
    }
}

/// Defines a test for each fact of the suite; `conformance!(backend, ignore = "…")` marks all as ignored.
macro_rules! conformance {
    ($backend:ident) => {
        conformance!(@module $backend, vectors,
            linear_combinations_take_any_number_of_terms
            a_zero_factor_overwrites_a_nan
            inner_products_are_those_of_the_cpu
            an_inner_product_with_a_nan_is_a_nan
            a_vector_is_projected_as_on_the_cpu
            the_largest_magnitude_is_found
            precision_is_converted
        );
        conformance!(@module $backend, scalars,
            sums_and_steps_are_those_of_the_cpu
            a_condition_that_holds_halts_the_slots
            a_look_finds_the_slots_as_they_were
            nothing_follows_a_condition_that_holds_before
            a_nan_halts_as_vanished
            the_log_is_a_ring
        );
        conformance!(@module $backend, march,
            the_march_gives_the_grid_of_the_host
            the_march_ends_on_an_offset_line
            folded_cells_of_a_grid_are_counted
        );
        conformance!(@module $backend, control,
            control_functions_are_those_of_the_host
            wall_terms_are_those_of_the_host
        );
        conformance!(@module $backend, matrices,
            a_new_matrix_is_zero
            products_on_the_nine_point_pattern
            products_by_ten_numbers
            entries_of_ten_numbers
            products_on_the_pattern_of_the_wall_columns
            products_with_wall_columns
            a_matrix_is_transposed
            wall_columns_are_summed_up
            a_scaled_vector_is_multiplied
            diagonals_are_inverted
        );
        conformance!(@module $backend, krylov,
            iterations_are_observed_one_by_one_to_the_limit
            iterations_after_the_target_change_nothing
        );
        conformance!(@module $backend, equations,
            rows_close_after_a_pitch
            the_residual_and_its_merit
            the_entries_of_the_jacobian_and_of_the_wall_columns
            folded_cells_are_counted
            a_nan_is_a_folded_cell
            the_grid_is_stored_with_its_seam
        );
        conformance!(@module $backend, grids,
            a_smoothed_grid_is_that_of_the_cpu
            symmetry_is_restored_as_on_the_host
            a_half_is_that_of_the_host
            the_quality_is_that_of_the_host
            mirror_images_are_equally_good
            grids_of_few_cells_are_measured
            what_is_no_number_is_never_overlooked
        );
        conformance!(@module $backend, movements,
            nodes_take_their_share_of_the_walls_displacement
            equations_go_to_other_nodes
            fixed_nodes_and_points_beside_them_are_coupled
            lines_halves_and_seams_are_those_of_the_host
        );
        conformance!(@module $backend, lengths,
            vectors_of_another_length_are_refused
            scalars_without_their_slots_are_refused
            products_with_vectors_of_another_length_are_refused
            levels_and_vectors_of_other_grids_are_refused
            unknowns_of_other_grids_are_refused
        );
        conformance!(@module $backend, walls,
            points_are_copied
            the_reduced_system_is_factored_and_solved
            a_singular_wall_block_names_its_point
        );
        conformance!(@module $backend, factors,
            factors_in_natural_order_and_by_colours
            factors_within_tiles
            a_bad_entry_on_the_diagonal_names_its_row
        );
        conformance!(@module $backend, general,
            products_of_any_pattern
            diagonals_of_any_pattern
            schedules_of_natural_order_apply_the_same_factors
            colours_renumber_the_rows
            tiles_drop_what_couples_them
            the_first_bad_pivot_and_its_value
            a_nan_or_a_zero_does_not_stop_a_solve
        );
        conformance!(@module $backend, newton,
            frozen_and_coupled_walls_give_the_grid_of_the_cpu
        );
        conformance!(@module $backend, multigrid,
            every_operation_in_double_precision
            every_operation_in_single_precision
            every_operation_in_mixed_precision
            lines_over_several_warps
            lines_longer_than_a_team_takes
            lines_in_segments
            lines_along_which_changes_decay_slowly
            a_coarsest_level_is_solved_directly
            a_singular_pivot_is_seen_on_the_coarsest_level
            a_replayed_sweep_is_a_sweep
            walls_beside_give_the_grid_of_the_cpu
            a_strip_that_closes_after_a_pitch_is_that_of_the_cpu
        );
    };
    (@module $backend:ident, $module:ident, $($fact:ident)*) => {
        mod $module {
            $($crate::conformance::conformance!(@test $backend, $module, $fact);)*
        }
    };
    (@test $backend:ident, $module:ident, $fact:ident) => {
        #[test]
        fn $fact() {
            $crate::conformance::$module::$fact(&$crate::$backend());
        }
    };
}
pub(crate) use conformance;
