//! Several elements as overset grids: their placement, and checks that their grids fit each other.
//!
//! An element is a section with its grid in its own frame, in which its chord is 1. A [`Placement`] maps that
//! frame to reference chords. [`Rigging`] finds the placement that leaves a given gap, and measures an
//! existing one. The grids of all elements, and a [`Background`], are the [`Zone`]s of an overset mesh.
//! [`check`] predicts how a flow solver will treat them: cells across gaps, sizes of cells and their donors,
//! and, by the rule of OpenFOAM's solvers ([`cell_types`]), holes, fringes and orphans.

mod checks;
mod rigging;
mod stencil;
mod zone;

pub use crate::geometry::Placement;
pub use checks::{Checks, Finding, Gap, OverlapLimits, Rigged, Subject, ZoneReport, check};
pub use rigging::{RigSide, Rigging, RiggingError};
pub use stencil::{CellType, SearchBox, ZoneTypes, cell_types};
pub use zone::{Background, ElementWall, Rim, Zone, ZoneCells};
