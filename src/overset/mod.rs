//! Several elements as overset grids: where they stand, and whether their grids fit each other.
//!
//! An element is a section with its grid in a frame of its own, in which its chord is 1; a [`Placement`] brings it
//! to where it stands, in reference chords. [`Rigging`] finds the placement that leaves a gap, and measures it.
//! The grids of all elements, and a [`Background`], are the [`Zone`]s of an overset mesh. [`check`] says what a
//! flow solver will make of them: cells across gaps, sizes of cells that take values from each other, and, by
//! the rule of OpenFOAM's solvers ([`cell_types`]), holes, fringes and orphans.

mod background;
mod checks;
mod placement;
mod rigging;
mod stencil;
mod wall;
mod zone;

pub use background::Background;
pub use checks::{Checks, Finding, Gap, Limits, Rigged, Subject, ZoneReport, check};
pub use placement::Placement;
pub use rigging::{Rigging, RiggingError, Side};
pub use stencil::{CellType, SearchBox, ZoneTypes, cell_types};
pub use wall::{Nearest, Wall};
pub use zone::{Cells, Rim, Zone};
