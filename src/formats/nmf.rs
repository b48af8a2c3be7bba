//! Neutral map files, `.nmf`: kinds of the faces of the block in a `Plot3D` file.
//!
//! Faces are numbered 1 to 6: k, i, j at their first and last index, in this order; their ranges
//! cover the next two indices in cyclic order: (i, j) on a k face, (j, k) on an i face,
//! (k, i) on a j face. Source: W. T. Jones, "The Neutral Map File", GeoLab, NASA Langley, kept at
//! <https://crumsey.github.io/turbmodels/nmf_documentation.html>. FUN3D's order of axes and names are those
//! that Construct2D writes for it.

use std::io::{self, Write};

use super::mesh::{Sides, Span};
use super::plot3d::layout::Axes;
use crate::grid::boundary::{BoxSide, Meets, Patch, Range, Segment, SideKind};
use crate::grid::{Grid, Symmetry};

/// The first lines of a map of gridgen's.
pub(super) const TITLE: &str = "# Neutral map file of gridgen\n";

/// Names of the conditions in GeoLab's files and in FUN3D's.
const VISCOUS: [&str; 2] = ["VISCOUS", "viscous_solid"];
const INFLOW: [&str; 2] = ["INFLOW", "subsonic_inflow_pt"];
const OUTFLOW: [&str; 2] = ["OUTFLOW", "subsonic_outflow_p0"];
const SLIP: [&str; 2] = ["TANGENCY", "tangency"];
const FAR_FIELD: [&str; 2] = ["FARFIELD", "farfield_riem"];
const SYMMETRY: [&str; 2] = ["SYMMETRY-Z", "symmetry_y"];
const SYMMETRY_X: [&str; 2] = ["SYMMETRY-X", "symmetry_x"];
/// The vertical is y, or z with FUN3D's axes.
const SYMMETRY_Y: [&str; 2] = ["SYMMETRY-Y", "symmetry_z"];
const ONE_TO_ONE: [&str; 2] = ["ONE_TO_ONE"; 2];

/// A face of a block and the ranges of its two indices, as numbered with i, j, k around, outward, span.
struct Face(usize, u8, [[usize; 2]; 2]);

impl Face {
    /// With FUN3D's axes j and k change places: faces 1, 2 with 5, 6, and the order of the ranges.
    fn on(self, axes: Axes) -> String {
        let Self(block, face, [first, second]) = self;
        let (face, [[a, b], [c, d]]) = match (axes, face) {
            (Axes::Ijk, _) => (face, [first, second]),
            (Axes::Fun3d, 1 | 2) => (face + 4, [second, first]),
            (Axes::Fun3d, 5 | 6) => (face - 4, [second, first]),
            (Axes::Fun3d, _) => (face, [second, first]),
        };
        format!("{}  {face}   {a} {b}   {c} {d}", block + 1)
    }
}

/// Writes the map of the blocks that [`super::plot3d`] writes with three dimensions: the wall
/// viscous, the outer line far field, the ends of the span symmetric or one-to-one, the seam or the two
/// sides of the cut one-to-one, and the ends of half a grid symmetric; the outflow of a C-grid is far
/// field.
pub fn write_to(
    out: &mut impl Write,
    grids: &[&Grid],
    span: Option<Span>,
    axes: Axes,
) -> io::Result<()> {
    let span = span.unwrap_or(Span::ONE);
    let nk = span.planes();
    let rule = format!("# {}", "=".repeat(77));
    writeln!(out, "{rule}\n{TITLE}{rule}")?;
    writeln!(out, "# Block   IDIM     JDIM     KDIM\n{rule}\n{}\n", grids.len())?;
    for (block, grid) in grids.iter().enumerate() {
        let (jdim, kdim) = if axes == Axes::Ijk { (grid.nj, nk) } else { (nk, grid.nj) };
        writeln!(out, "{} {:>10} {jdim:>8} {kdim:>8}", block + 1, grid.ni)?;
    }
    writeln!(
        out,
        "\n{rule}\n# Type         B1 F1   S1 E1   S2 E2     B2 F2   S1 E1   S2 E2   Swap"
    )?;
    writeln!(out, "{rule}")?;
    let face = |on: Segment| {
        let (along, k) = (on.nodes.map(|node| node + 1), [1, nk]);
        let ranges = if on.side.across() == 0 { [along, k] } else { [k, along] };
        Face(on.block, on.side as u8 + 3, ranges)
    };
    let boundary: Vec<Range> = grids.iter().flat_map(|grid| grid.boundary()).collect();
    let patches = boundary.iter().filter_map(|range| {
        let Meets::Patch(patch) = range.meets else { return None };
        let names = match patch {
            Patch::Wall | Patch::Base | Patch::Side(_, SideKind::Wall) => VISCOUS,
            Patch::FarField | Patch::Outflow | Patch::Side(_, SideKind::FarField) => FAR_FIELD,
            Patch::Side(_, SideKind::Inlet) => INFLOW,
            Patch::Side(_, SideKind::Outlet) => OUTFLOW,
            Patch::Side(_, SideKind::Slip) => SLIP,
            Patch::Side(BoxSide::Inlet | BoxSide::Outlet, SideKind::Symmetry)
            | Patch::Symmetry(Symmetry::LeftRight) => SYMMETRY_X,
            Patch::Side(_, SideKind::Symmetry) | Patch::Symmetry(Symmetry::UpDown) => SYMMETRY_Y,
        };
        Some((names, face(range.on)))
    });
    // Each link is there from both of its sides.
    let place = |on: Segment| (on.block, on.side as u8, on.nodes[0].min(on.nodes[1]));
    let links = boundary.iter().filter_map(|range| Some([range.on, range.link()?]));
    let links = links.filter(|[on, to]| place(*on) < place(*to));
    let sides = grids
        .iter()
        .enumerate()
        .map(|(block, grid)| [1, 2].map(|face| Face(block, face, [[1, grid.ni], [1, grid.nj]])));
    let (symmetric, periodic): (Vec<_>, Vec<_>) = match span.sides {
        Sides::Symmetry => (sides.flatten().map(|face| (SYMMETRY, face)).collect(), Vec::new()),
        Sides::Periodic => (Vec::new(), sides.collect()),
    };
    let name = |names: [&'static str; 2]| names[usize::from(axes == Axes::Fun3d)];
    for (names, face) in symmetric.into_iter().chain(patches) {
        writeln!(out, "{:<14}  {}", name(names), face.on(axes))?;
    }
    for faces in periodic.into_iter().chain(links.map(|both| both.map(face))) {
        let [face, other] = faces.map(|face| face.on(axes));
        writeln!(out, "{:<14}  {face}      {other}   FALSE", name(ONE_TO_ONE))?;
    }
    Ok(())
}
