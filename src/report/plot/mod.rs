//! Pictures of a section, of a grid, of its quality, and of curves over x and y.

pub mod axes;
mod overset;
pub(super) mod palette;
mod picture;
pub mod quality;
mod strip;
mod views;
mod xy;

pub use self::overset::OversetPictures;
pub use self::picture::Picture;
pub use self::quality::histogram;
pub use self::views::{Artifacts, airfoil, compared};
pub use self::xy::{Axis, Rule, Stroke, XyCurve, XyFigure, XyLine, XyPanel};
