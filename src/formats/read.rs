//! Meshes read back: files of this and other programs.
//!
//! A file becomes one plane grid, oriented as the program's own: i around the body, j from the wall
//! outward, cells counter-clockwise ([`Mesh`]). Notes report what was turned.

use super::block::ReadFault;
use crate::files::restart;
use crate::grid::quality::{WallLine, cell_area, cell_corners};
use crate::grid::vector::distance;
use crate::grid::{Grid, Seam, Symmetry, Topology};

/// A mesh from a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Mesh {
    /// Its nodes.
    pub grid: Grid,
    /// The part of the line j = 0 that is the wall.
    pub wall: WallLine,
    /// Notes on the layout of the file and on what was turned, one sentence each.
    pub notes: Vec<String>,
}

impl From<Grid> for Mesh {
    /// A grid of any orientation and topology, of at least 2 × 2 nodes, turned as that of a file is.
    fn from(grid: Grid) -> Self {
        let mut notes = Vec::new();
        let (grid, wall) = orient(grid, &mut notes);
        Self { grid, wall, notes }
    }
}

impl Mesh {
    /// Whether the grid is an O-grid that closes, a C-grid with its cut, or half a grid: not that around a base alone.
    pub fn weldable(&self) -> bool {
        match self.grid.topology {
            Topology::Blunt { .. } => false,
            Topology::O(_) => self.wall.closed && self.wall.from == 0,
            _ => true,
        }
    }
}

/// Nodes closer than this part of the chord or extent of the wall are one.
const SAME: f64 = 1e-9;
/// Distances of the interfaces to a block behind a base that differ by less than this part are one.
const PARALLEL: f64 = 1e-7;

/// The grid turned so that i runs around the body, j outward, and cells are counter-clockwise; its wall.
pub(super) fn orient(mut grid: Grid, notes: &mut Vec<String>) -> (Grid, WallLine) {
    if shape(&grid).is_none() {
        let other = transposed(&grid);
        if shape(&other).is_some() || shape(&outside_in(&other)).is_some() {
            notes.push("i and j were exchanged, so that i runs around the body.".to_owned());
            grid = other;
        }
    }
    let inside_out = outside_in(&grid);
    let flipped = match (shape(&grid), shape(&inside_out)) {
        (Some(Topology::C { .. }), _) => false,
        (_, Some(Topology::C { .. })) => true,
        (found, _) => found.is_some() && length(&inside_out) < length(&grid),
    };
    if flipped {
        notes.push("j was reversed, so that it runs from the wall outward.".to_owned());
        grid = inside_out;
    }
    let area: f64 = (0..grid.cells())
        .map(|cell| cell_area(&cell_corners(&grid, cell % (grid.ni - 1), cell / (grid.ni - 1))))
        .sum();
    if area < 0.0 {
        notes.push("i was reversed, so that cells are counter-clockwise.".to_owned());
        grid = mapped(&grid, [grid.ni, grid.nj], |i, j| [grid.ni - 1 - i, j]);
    }
    let shape = shape(&grid);
    grid.topology = shape.unwrap_or(grid.topology);
    let WallLine { from, to, closed } = WallLine::of(grid.topology, grid.ni);
    let closed = closed && shape.is_some();
    notes.push(match shape {
        Some(Topology::O(_)) => "An O-grid: its ends in i coincide.".to_owned(),
        Some(Topology::C { .. }) => {
            format!("A C-grid: the wall runs from i = {from} to {to}, the rest is its wake.")
        }
        Some(Topology::Half(_)) => {
            "Half a grid: its ends in i lie on one plane of symmetry.".to_owned()
        }
        Some(Topology::Blunt { .. }) => format!(
            "A C-grid around a base: the wall runs from i = {from} to {to}; the block behind the base is in another file."
        ),
        // No shape of a grid around a body.
        _ => "Neither ends nor wake coincide: j = 0 was taken as the wall.".to_owned(),
    });
    (grid, WallLine { from, to, closed })
}

/// The shape of a grid whose line j = 0 runs around a body, as far as its points tell.
fn shape(grid: &Grid) -> Option<Topology> {
    let (tolerance, last) = (SAME * length(grid), grid.ni - 1);
    let meet =
        |i: usize, j: usize| distance(grid.point(i, j), grid.point(last - i, j)) <= tolerance;
    if (0..grid.nj).all(|j| meet(0, j)) {
        return Some(Topology::O(Seam::Held));
    }
    // Cells at each end of the line j = 0 that lie on those of the other end.
    let wake = (0..grid.ni / 2).take_while(|&i| meet(i, 0)).count().saturating_sub(1);
    if wake > 0 {
        return Some(Topology::C { wake });
    }
    let wake = interfaces(grid);
    if wake > 0 {
        return Some(Topology::Blunt { wake });
    }
    // Both ends in i lie on one line, x or y = const.
    let ends = || (0..grid.nj).flat_map(|j| [grid.point(0, j), grid.point(last, j)]);
    let level = |c: usize| ends().all(|p| (p[c] - grid.point(0, 0)[c]).abs() <= tolerance);
    let symmetries = [(1, Symmetry::UpDown), (0, Symmetry::LeftRight)];
    symmetries.into_iter().find(|(c, _)| level(*c)).map(|(_, symmetry)| Topology::Half(symmetry))
}

/// The number of cells that each interface to a block behind a base has at its end of the line j = 0 of a C-grid; the
/// interfaces are as far apart as the corners of the base. It is 0 for another grid.
fn interfaces(grid: &Grid) -> usize {
    let (last, outer) = (grid.ni - 1, grid.nj - 1);
    let apart = |i: usize| distance(grid.point(i, 0), grid.point(last - i, 0));
    let same = |i: &usize| (apart(*i) / apart(0) - 1.0).abs() <= PARALLEL;
    let wake = (0..grid.ni / 2).take_while(same).count().saturating_sub(1);
    // Flat sides of half a body are parallel, too, but neither widen ahead of there nor reach as far as the outer boundary.
    let length = distance(grid.point(0, 0), grid.point(grid.ni / 2, 0));
    let rise = [0, last].map(|i| distance(grid.point(i, 0), grid.point(i, outer)));
    let far = length > 0.35 * (rise[0] + rise[1]);
    if far || apart(wake + 1) > apart(wake) { wake } else { 0 }
}

/// Length of the line j = 0.
fn length(grid: &Grid) -> f64 {
    (1..grid.ni).map(|i| distance(grid.point(i - 1, 0), grid.point(i, 0))).sum()
}

fn transposed(grid: &Grid) -> Grid {
    mapped(grid, [grid.nj, grid.ni], |i, j| [j, i])
}

fn outside_in(grid: &Grid) -> Grid {
    mapped(grid, [grid.ni, grid.nj], |i, j| [i, grid.nj - 1 - j])
}

/// The grid of `ni` × `nj` nodes whose node (i, j) is the node `of(i, j)` of `grid`.
fn mapped(grid: &Grid, [ni, nj]: [usize; 2], of: impl Fn(usize, usize) -> [usize; 2]) -> Grid {
    let mut turned = Grid::new(grid.topology, ni, nj);
    for j in 0..nj {
        for i in 0..ni {
            let [from_i, from_j] = of(i, j);
            let k = turned.index(i, j);
            [turned.x[k], turned.y[k]] = grid.point(from_i, from_j);
        }
    }
    turned
}

const UNPACK: &str = "unpack it first, and give what was in it";
const EXPORT: &str =
    "save the structured grid as Plot3D, CGNS, .vts or .su2 by the program that made it";

/// First bytes of files, in any case of the letters, their kind, and advice.
const FOREIGN: [(&[u8], &str, &str); 20] = [
    (b"#!TDV", "a binary Tecplot file", EXPORT),
    (b"TITLE", "a Tecplot file", EXPORT),
    (b"VARIABLES", "a Tecplot file", EXPORT),
    (b"ZONE ", "a Tecplot file", EXPORT),
    (b"@(#)ADF", "CGNS in ADF, its older container", "convert it to HDF5: adf2hdf FILE"),
    (b"\x1f\x8b", "packed by gzip", UNPACK),
    (b"BZh", "packed by bzip2", UNPACK),
    (b"\xfd7zXZ", "packed by xz", UNPACK),
    (b"\x28\xb5\x2f\xfd", "packed by Zstandard", UNPACK),
    (b"PK\x03\x04", "a zip archive", UNPACK),
    (b"CDF\x01", "a NetCDF file", EXPORT),
    (b"\x93NUMPY", "an array of numpy", "in Python give the arrays x and y to gridgen.Mesh"),
    (b"solid", "a surface of triangles (STL)", EXPORT),
    (b"(0 \"", "a Fluent mesh", EXPORT),
    (b"(1 \"", "a Fluent mesh", EXPORT),
    (b"/*---", "a file of OpenFOAM", EXPORT),
    (b"<", "XML or HTML, no VTK file", EXPORT),
    (b"{", "JSON", EXPORT),
    (restart::MAGIC, "a restart file of gridgen", "give the mesh beside it, such as mesh.vts"),
    (b"GGREFRNC", "a reference of gridgen", "give it to gridgen move"),
];

/// Refuses a file that begins as one of these.
pub(super) fn check_foreign(bytes: &[u8]) -> Result<(), ReadFault> {
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
    let begins =
        |start: &[u8]| text.get(..start.len()).is_some_and(|s| s.eq_ignore_ascii_case(start));
    // Triangles follow a head of 80 bytes and their number.
    let triangles =
        bytes.get(80..84).and_then(|field| field.try_into().ok()).map(u32::from_le_bytes);
    let stl = triangles.is_some_and(|n| bytes.len() as u64 == 84 + 50 * u64::from(n));
    let is = |start: &[u8]| if stl { start == b"solid" } else { begins(start) };
    let found = FOREIGN.iter().find(|(start, ..)| is(start));
    found.map_or(Ok(()), |(_, kind, hint)| {
        Err(ReadFault::Layout { reason: format!("{kind}, which is not read").into(), hint })
    })
}
