//! Control functions P and Q of the grid equations.

/// Where the control functions P0, Q0 come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// P0 = Q0 = 0.
    Laplace,
    /// From the point spacing on the boundaries.
    ThomasMiddlecoff,
    /// Those that make the initial grid a discrete solution, clipped and smoothed.
    Marched,
}

/// Control of height and angle of the first cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wall {
    /// P = P0, Q = Q0 throughout.
    Frozen,
    /// The amplitudes `p_i`, `q_i` of decaying wall terms are Newton unknowns.
    Coupled,
}
