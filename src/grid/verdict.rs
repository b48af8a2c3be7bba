//! The verdict on a grid: whether it may be used.

use std::fmt;

use serde::ser::{SerializeStruct, Serializer};
use serde::{Deserialize, Serialize};

/// The verdict on a grid, which exit codes, tables, reports and the library share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[must_use]
#[non_exhaustive]
pub enum Verdict {
    /// Converged, without a folded cell, within all limits.
    Good,
    /// The residual did not reach its tolerance.
    NotConverged {
        /// Reason why the solve stopped.
        reason: String,
    },
    /// A corner determinant of some cells is not positive.
    Folded {
        /// Number of cells.
        cells: usize,
    },
    /// Some of the cells of higher order, each made of several cells of the grid, are not shown to have a
    /// positive Jacobian determinant everywhere.
    FoldedCurved {
        /// Number of cells.
        cells: usize,
        /// Their order.
        order: usize,
        /// Centre of the worst cell, in the unit of the grid.
        at: [f64; 2],
    },
    /// The grids are good, but there are findings on them, which the run treats as errors.
    Unfit {
        /// Number of findings.
        findings: usize,
        /// The first finding, a clause.
        first: String,
    },
    /// A measure exceeds the limit set for it.
    BeyondLimit {
        /// The measure.
        measure: Limited,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f64,
    },
}

/// A measure that a case can limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Limited {
    /// Largest equiangle skewness of a cell.
    Skewness,
    /// Largest angle between first grid line and wall normal, degrees.
    WallAngle,
    /// Largest ratio of consecutive edges along i.
    GrowthAlongI,
    /// Largest ratio of consecutive edges along j.
    GrowthAlongJ,
}

impl Verdict {
    /// True if the grid may be used.
    pub fn is_good(&self) -> bool {
        *self == Self::Good
    }

    /// Its name in `report.json`: `good`, `beyond-limit`, `folded-curved`, `unfit`, `folded`, `not-converged`.
    pub fn kind(&self) -> &'static str {
        self.description().1
    }

    /// Its name in headings.
    pub fn label(&self) -> &'static str {
        self.description().2
    }

    /// Serialises as reports have it: an object of `kind`, `good` and `reason`. The derived form is for messages.
    pub(crate) fn reported<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_struct("Verdict", 3)?;
        object.serialize_field("kind", self.kind())?;
        object.serialize_field("good", &self.is_good())?;
        object.serialize_field("reason", &self.to_string())?;
        object.end()
    }

    /// Its severity, its name in `report.json`, and its name in headings.
    fn description(&self) -> (u8, &'static str, &'static str) {
        match self {
            Self::Good => (0, "good", "converged"),
            Self::Unfit { .. } => (1, "unfit", "unfit"),
            Self::BeyondLimit { .. } => (1, "beyond-limit", "beyond a limit of the case"),
            Self::FoldedCurved { .. } => (2, "folded-curved", "folded in its curved cells"),
            Self::Folded { .. } => (3, "folded", "folded"),
            Self::NotConverged { .. } => (4, "not-converged", "not converged"),
        }
    }

    /// The verdict on two grids of a family together, or on a grid and its curved cells: the more severe of
    /// the two. Folded cells are added up; for curved ones the place of the first is kept.
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Folded { cells: a }, Self::Folded { cells: b }) => Self::Folded { cells: a + b },
            (Self::FoldedCurved { cells, order, at }, Self::FoldedCurved { cells: more, .. }) => {
                Self::FoldedCurved { cells: cells + more, order, at }
            }
            (a, b) if b.description().0 > a.description().0 => b,
            (a, _) => a,
        }
    }
}

/// A number of folded cells, in words.
fn folded(cells: usize) -> String {
    if cells == 1 { "a folded cell".to_owned() } else { format!("{cells} folded cells") }
}

impl fmt::Display for Verdict {
    /// The reason, as a clause.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Good => write!(f, "the grid is good"),
            Self::NotConverged { reason } => write!(f, "the grid did not converge: {reason}"),
            Self::Unfit { findings: 1, first } => write!(f, "a finding is an error here: {first}"),
            Self::Unfit { findings, first } => {
                write!(f, "{findings} findings are errors here: {first}")
            }
            Self::Folded { cells } => write!(f, "the grid has {}", folded(*cells)),
            Self::FoldedCurved { cells, order, at: [x, y] } => {
                let cells = folded(*cells);
                write!(f, "the grid has {cells} of order {order}, the worst at ({x:.6}, {y:.6})")
            }
            Self::BeyondLimit { measure, value, limit } => {
                let (what, unit) = match measure {
                    Limited::Skewness => ("skewness", ""),
                    Limited::WallAngle => ("wall angle error", " degrees"),
                    Limited::GrowthAlongI => ("growth along i", ""),
                    Limited::GrowthAlongJ => ("growth along j", ""),
                };
                write!(f, "the grid is beyond a limit of the case: the largest {what} is ")?;
                // Three decimals, or significant digits if the value is small.
                if value.abs() < 1e-2 {
                    write!(f, "{value:.2e}")
                } else {
                    write!(f, "{value:.3}")
                }?;
                write!(f, "{unit}, above {limit}{unit}")
            }
        }
    }
}
