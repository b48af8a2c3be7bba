//! Initial grids: the first guess, and the source of the control functions P0, Q0.

/// Construction of the initial grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Hyperbolic march, implicit in i.
    Hyperbolic,
    /// Normal march with smoothing, the robust fall-back.
    Normal,
    /// Transfinite interpolation between wall and far field.
    Transfinite,
}
