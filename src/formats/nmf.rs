//! Neutral map files, `.nmf`: kinds of the faces of the block in a `Plot3D` file.
//!
//! Faces are numbered 1 to 6: k, i, j at their first and last index, in this order; their ranges
//! cover the next two indices in cyclic order: (i, j) on a k face, (j, k) on an i face,
//! (k, i) on a j face. Source: W. T. Jones, "The Neutral Map File", GeoLab, NASA Langley, kept at
//! <https://crumsey.github.io/turbmodels/nmf_documentation.html>. FUN3D's order of axes and names are those
//! that Construct2D writes for it.

use std::io;

use super::block::ReadFault;
use super::data::Axes;
use super::data::{Sides, Span};
use super::rim::{ReadZone, Tie, condition_of, tie};
use crate::diagnostics::excerpt;
use crate::files::ByteSink;
use crate::grid::boundary::{Meets, Patch, Range, Segment, Side, SideKind, links, period};
use crate::grid::{Grid, Symmetry};

/// The first lines of a map of gridgen's.
pub(super) const TITLE: &str = "# Neutral map file of gridgen\n";

/// Names of the planes of symmetry in GeoLab's files and in FUN3D's, across the span and upright.
const SYMMETRY: [&str; 2] = ["SYMMETRY-Z", "symmetry_y"];
const SYMMETRY_X: [&str; 2] = ["SYMMETRY-X", "symmetry_x"];
const ONE_TO_ONE: &str = "ONE_TO_ONE";

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
    out: &mut ByteSink<'_>,
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
    let ends = period(grids).map(|(ends, _)| ends);
    let is_upright = |on: Segment| {
        let ends = [0, on.count() - 1].map(|k| on.point(grids[on.block], k, 0));
        (ends[1][1] - ends[0][1]).abs() > (ends[1][0] - ends[0][0]).abs()
    };
    let patches = boundary.iter().filter_map(|range| {
        let Meets::Patch(patch) = range.meets else { return None };
        let names = match patch {
            Patch::Side(_, SideKind::Symmetry) if is_upright(range.on) => SYMMETRY_X,
            Patch::Symmetry(Symmetry::LeftRight) => SYMMETRY_X,
            _ => match patch.kind() {
                None | Some(SideKind::Wall) => ["VISCOUS", "viscous_solid"],
                Some(SideKind::FarField | SideKind::Periodic) => ["FARFIELD", "farfield_riem"],
                Some(SideKind::Inlet) => ["INFLOW", "subsonic_inflow_pt"],
                Some(SideKind::Outlet) => ["OUTFLOW", "subsonic_outflow_p0"],
                Some(SideKind::Slip) => ["TANGENCY", "tangency"],
                // The vertical is y, or z with FUN3D's axes.
                Some(SideKind::Symmetry) => ["SYMMETRY-Y", "symmetry_z"],
            },
        };
        Some((names, face(range.on)))
    });
    // Pairs of faces a pitch apart have no kind of their own.
    let partners = boundary.iter().filter(|range| range.patch() == ends.map(|[lower, _]| lower));
    let partners = partners.filter_map(|range| Some([range.on, range.partner()?]));
    let links = links(&boundary).chain(partners);
    let sides = grids
        .iter()
        .enumerate()
        .map(|(block, grid)| [1, 2].map(|face| Face(block, face, [[1, grid.ni], [1, grid.nj]])));
    let (symmetric, periodic): (Vec<_>, Vec<_>) = match span.sides {
        Sides::Symmetry => (sides.flatten().map(|face| (SYMMETRY, face)).collect(), Vec::new()),
        Sides::Periodic => (Vec::new(), sides.collect()),
    };
    for (names, face) in symmetric.into_iter().chain(patches) {
        let name = names[usize::from(axes == Axes::Fun3d)];
        writeln!(out, "{name:<14}  {}", face.on(axes))?;
    }
    for faces in periodic.into_iter().chain(links.map(|both| both.map(face))) {
        let [face, other] = faces.map(|face| face.on(axes));
        writeln!(out, "{ONE_TO_ONE:<14}  {face}      {other}   FALSE")?;
    }
    Ok(())
}

/// The hint for a map that does not fit its mesh.
const HINT: &str =
    "correct the neutral map, or move it away: the sides are then recognised by their points";

/// Marks what the map beside a mesh says of the sides of its blocks.
pub(super) fn read(bytes: &[u8], zones: &mut [ReadZone]) -> Result<(), ReadFault> {
    let text = String::from_utf8_lossy(bytes);
    let lines = (1..).zip(text.lines().map(str::trim));
    let mut lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    let fault = |(number, line): (usize, &str), expected: &str| {
        let found = excerpt(line);
        let reason = format!("its neutral map, line {number}: `{found}`, {expected} was expected");
        ReadFault::from(reason).with_hint(HINT)
    };
    let first = lines.next().unwrap_or((1, ""));
    let count = zones.len();
    if first.1.parse() != Ok(count) {
        return Err(fault(first, &format!("{count}, the number of blocks of the mesh,")));
    }
    lines.by_ref().take(count).for_each(drop);
    for line in lines {
        let words: Vec<&str> = line.1.split_whitespace().collect();
        let name = words[0];
        let numbers: Vec<usize> = words[1..].iter().map_while(|word| word.parse().ok()).collect();
        let to = (numbers.len() >= 12).then(|| &numbers[6..12]);
        let Some(on) = numbers.get(..6) else {
            return Err(fault(line, "a name, a block, a face and its four indices"));
        };
        // Faces at the ends of the span do not belong to the plane.
        let zone = zones.get(on[0].wrapping_sub(1));
        if zone.is_some_and(|zone| direction(on[1]) == Some(zone.across)) {
            continue;
        }
        let on = segment(on, zones).ok_or_else(|| fault(line, "a face of a block of the mesh"))?;
        let one_to_one = name.eq_ignore_ascii_case(ONE_TO_ONE);
        let linked = to.filter(|_| one_to_one).and_then(|to| segment(to, zones));
        let linked = linked.filter(|to| to.count() == on.count());
        match linked {
            Some(to) => {
                let expected = "a second face whose nodes are all one vector apart from the first";
                let by = Tie::of([on, to], zones).ok_or_else(|| fault(line, expected))?;
                tie(zones, [on, to], by);
            }
            None if one_to_one => return Err(fault(line, "a second face of as many nodes")),
            None => zones[on.block].mark(on, Meets::Patch(patch(name))),
        }
    }
    Ok(())
}

/// The patch of a condition; where gridgen has such a patch, the name is its own.
fn patch(condition: &str) -> Patch {
    let kind = condition_of(condition);
    let name = match kind {
        None | Some(SideKind::Wall) => Patch::Wall.name(),
        Some(SideKind::Inlet) => "inlet",
        Some(SideKind::Outlet) => "outlet",
        Some(SideKind::Slip) => "slip",
        Some(SideKind::Symmetry) => "symmetry",
        Some(SideKind::FarField) if condition.to_ascii_lowercase().starts_with("far") => "farfield",
        Some(SideKind::FarField | SideKind::Periodic) => condition,
    };
    Patch::named(name, kind)
}

/// The direction across a face: those of k, i and j follow each other.
fn direction(face: usize) -> Option<usize> {
    (1..=6).contains(&face).then(|| ((face - 1) / 2 + 2) % 3)
}

/// The segment of a face by its block, its number, and the ranges of the next two indices; none where the plane of the mesh
/// has no such face.
fn segment(numbers: &[usize], zones: &[ReadZone]) -> Option<Segment> {
    let block = numbers[0].checked_sub(1)?;
    let zone = zones.get(block)?;
    let across = direction(numbers[1]).filter(|across| *across != zone.across)?;
    let along = 3 - across - zone.across;
    let range = if (across + 1) % 3 == along { &numbers[2..4] } else { &numbers[4..6] };
    let nodes = [range[0].checked_sub(1)?, range[1].checked_sub(1)?];
    let plane = [[1, 2], [0, 2], [0, 1]][zone.across];
    let side = Side::ALL[2 * usize::from(plane[1] == across) + (numbers[1] - 1) % 2];
    let segment = Segment { block, side, nodes };
    zone.has(segment).then_some(segment)
}
