//! Kernels with an order of the threads in which missing barriers have an effect: backwards, and so that the
//! first thread of a warp that stores to shared memory lets all others continue. A part of the suite, with
//! every file of kernels whose threads share memory, except those that need several ranks.

use crate::conformance::conformance;
use crate::on_fibers_with;
use gridgen::backend::cuda::CudaBackend;
use support::fibers::Order;

pub fn adverse() -> CudaBackend {
    on_fibers_with(|device| device.order = Order::ADVERSE)
}

conformance!(@module adverse, vectors,
    inner_products_are_those_of_the_cpu
    a_vector_is_projected_as_on_the_cpu
    the_largest_magnitude_is_found
);
conformance!(@module adverse, scalars, sums_and_steps_are_those_of_the_cpu);
conformance!(@module adverse, march,
    the_march_ends_on_an_offset_line
    the_march_gives_the_grid_of_the_host
);
conformance!(@module adverse, matrices, wall_columns_are_summed_up a_scaled_vector_is_multiplied);
conformance!(@module adverse, equations, the_residual_and_its_merit);
conformance!(@module adverse, grids, the_quality_is_that_of_the_host);
conformance!(@module adverse, walls, the_reduced_system_is_factored_and_solved);
conformance!(@module adverse, factors, factors_within_tiles);
conformance!(@module adverse, general, products_of_any_pattern tiles_drop_what_couples_them);
conformance!(@module adverse, multigrid,
    every_operation_in_mixed_precision
    lines_in_segments
);
