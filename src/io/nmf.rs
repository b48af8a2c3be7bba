//! Neutral map files, `.nmf`: what the faces of the block in a `Plot3D` file are.
//!
//! Faces are numbered 1 to 6: k, i, j at their first and last index, in this order; their ranges
//! are those of the next two indices in cyclic order: (i, j) on a k face, (j, k) on an i face,
//! (k, i) on a j face. Source: W. T. Jones, "The Neutral Map File", GeoLab, NASA Langley, kept at
//! <https://crumsey.github.io/turbmodels/nmf_documentation.html>.

use std::io::{self, Write};
use std::path::Path;

use super::plot3d::Dimensions;
use super::{IoError, atomic};
use crate::grid::{Grid, Topology};

/// Writes the map of the block that [`super::plot3d`] writes with three dimensions: the wall
/// viscous, the outer line far field, the two planes symmetric, and the seam or the two sides of the
/// cut one-to-one; the outflow of a C-grid is far field.
///
/// # Errors
///
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, grid: &Grid) -> Result<(), IoError> {
    atomic::write(path, |out| write_to(out, grid))
}

/// Writes the same bytes to any writer.
pub fn write_to(out: &mut impl Write, grid: &Grid) -> io::Result<()> {
    let (ni, nj, nk) = (grid.ni, grid.nj, Dimensions::Three.planes());
    let rule = format!("# {}", "=".repeat(77));
    writeln!(out, "{rule}\n# Neutral map file of gridgen\n{rule}")?;
    writeln!(out, "# Block   IDIM     JDIM     KDIM\n{rule}\n1\n")?;
    writeln!(out, "1 {ni:>10} {nj:>8} {nk:>8}\n")?;
    writeln!(out, "{rule}\n# Type         B1 F1   S1 E1   S2 E2     B2 F2   S1 E1   S2 E2   Swap")?;
    writeln!(out, "{rule}")?;
    let face = |kind: &str, face: u8, first: usize, second: usize| {
        format!("{kind:<14}  1  {face}   1 {first}   1 {second}")
    };
    writeln!(out, "{}", face("SYMMETRY-Z", 1, ni, nj))?;
    writeln!(out, "{}", face("SYMMETRY-Z", 2, ni, nj))?;
    match grid.topology {
        Topology::O(_) => {
            let seam = face("ONE_TO_ONE", 3, nj, nk);
            writeln!(out, "{seam}      1  4   1 {nj}   1 {nk}   FALSE")?;
            writeln!(out, "{}", face("VISCOUS", 5, nk, ni))?;
        }
        Topology::C { wake } => {
            let (edge, end) = (wake + 1, ni - wake);
            writeln!(out, "{}", face("FARFIELD", 3, nj, nk))?;
            writeln!(out, "{}", face("FARFIELD", 4, nj, nk))?;
            let cut = face("ONE_TO_ONE", 5, nk, edge);
            writeln!(out, "{cut}      1  5   1 {nk}   {ni} {end}   FALSE")?;
            writeln!(out, "{:<14}  1  5   1 {nk}   {edge} {end}", "VISCOUS")?;
        }
    }
    writeln!(out, "{}", face("FARFIELD", 6, nk, ni))
}
