//! Krylov methods.

/// Choice of Krylov method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// BiCGStab, right preconditioned.
    Bicgstab,
    /// Restarted GMRES, right preconditioned.
    Gmres,
}
