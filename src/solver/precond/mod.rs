//! Preconditioners.

/// Choice of preconditioner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The identity.
    None,
    /// The inverse of the diagonal.
    Jacobi,
    /// Diagonal incomplete LU.
    Dilu,
    /// Incomplete LU without fill.
    Ilu0,
}
