//! The sections of a case that any grid has: settings of the solvers, and limits of the grid.

use serde::{Deserialize, Serialize};

use super::defaults::round_off;
use super::entries::Given;
use super::resolve::{newton, quality};
use super::{Case, CaseError, LinearOptions, QualityOptions};
use crate::grid::quality::Quality;
use crate::grid::{Limited, Verdict};
use crate::solver::NewtonStop;
use crate::solver::newton::NewtonSettings;
use crate::solver::precond::MultigridSettings;

/// Sections that say how equations are solved.
const SECTIONS: [&str; 4] = ["newton", "linear", "multigrid", "quality"];

/// The sections `[newton]`, `[linear]`, `[multigrid]` and `[quality]` of a case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SolverOptions {
    /// The Newton iteration.
    pub newton: NewtonSettings,
    /// The linear solver.
    pub linear: LinearOptions,
    /// The multigrid preconditioner.
    pub multigrid: MultigridSettings,
    /// Limits of the grid.
    pub quality: QualityOptions,
}

impl SolverOptions {
    /// The defaults, but for these keys and their values: `("newton.tolerance", "1e-9")`.
    ///
    /// # Errors
    /// A key of another section, or a value that it cannot have.
    pub fn new(overrides: &[(String, String)]) -> Result<Self, CaseError> {
        let entries = Given::of_sections(&SECTIONS, overrides)?;
        Ok(Self {
            newton: newton(&entries)?,
            linear: entries.section("linear", &[])?,
            multigrid: entries.section("multigrid", &[])?,
            quality: quality(&entries)?,
        })
    }

    /// Raises the tolerance to what round-off allows at a first cell of this height in chords.
    #[must_use]
    pub(crate) fn at_first_cell(mut self, height: f64) -> Self {
        self.newton.tolerance = self.newton.tolerance.max(round_off(height));
        self
    }
}

impl Case {
    /// The solver options of the case.
    pub(crate) fn solver_options(&self) -> SolverOptions {
        let Self { newton, linear, multigrid, quality, .. } = self.clone();
        SolverOptions { newton, linear, multigrid, quality }
    }
}

impl QualityOptions {
    /// The verdict on a grid whose solve stopped so.
    pub(crate) fn verdict(&self, stop: NewtonStop, quality: &Quality) -> Verdict {
        if !stop.converged() {
            return Verdict::NotConverged { reason: stop.to_string() };
        }
        if quality.folded_cells > 0 {
            return Verdict::Folded { cells: quality.folded_cells };
        }
        let limits = [
            (Limited::Skewness, quality.max_skewness, self.max_skewness),
            (Limited::WallAngle, quality.wall_angle_error_max_deg, self.max_wall_angle),
            (Limited::GrowthAlongI, quality.max_growth_i, self.max_growth),
            (Limited::GrowthAlongJ, quality.max_growth_j, self.max_growth),
        ];
        let beyond = limits.into_iter().find_map(|(measure, value, limit)| {
            // Written so that NaN is beyond.
            let kept = |limit: &f64| value <= *limit;
            let limit = limit.filter(|limit| !kept(limit))?;
            Some(Verdict::BeyondLimit { measure, value, limit })
        });
        beyond.unwrap_or(Verdict::Good)
    }
}
