//! Quality of a grid from its node coordinates alone.

/// Summary of the quality of a grid. Angles in degrees, lengths in chords.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Quality {
    /// Cells with a corner determinant that is not positive.
    pub folded_cells: usize,
    /// Smallest corner determinant `e_i × e_j` over all cells.
    pub min_jacobian: f64,
    /// Largest equiangle skewness `max((θ_max − 90)/90, (90 − θ_min)/90)`.
    pub max_skewness: f64,
    /// 99th percentile of the equiangle skewness.
    pub p99_skewness: f64,
    /// Mean equiangle skewness.
    pub mean_skewness: f64,
    /// Largest angle between the first grid line and the wall normal, corners left out.
    pub wall_angle_error_max_deg: f64,
    /// Mean of the same.
    pub wall_angle_error_mean_deg: f64,
    /// Smallest distance from the wall to the first node.
    pub first_cell_min: f64,
    /// Largest distance from the wall to the first node.
    pub first_cell_max: f64,
    /// Largest ratio of a cell's longest to its shortest edge.
    pub max_aspect_ratio: f64,
    /// Largest ratio of consecutive edge lengths in either direction.
    pub max_growth: f64,
    /// The same along i only.
    pub max_growth_i: f64,
    /// The same along j only.
    pub max_growth_j: f64,
    /// Smallest distance of an outer node from the far-field centre (0.5, 0).
    pub far_field_min: f64,
    /// Largest distance of an outer node from the far-field centre (0.5, 0).
    pub far_field_max: f64,
}
