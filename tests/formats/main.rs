//! Files: meshes for and from other programs, results, matrices.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failing step fails the test")]

mod blocks;
mod cgns;
mod check_mesh;
mod exchange;
mod extruded;
mod files;
mod folders;
mod limits;
mod matrix_market;
mod mesh_files;
mod msh;
mod plot;
mod readers;
mod su2_setup;
mod writers;
mod zones;

use std::collections::BTreeMap;
use std::io::{self, Cursor};

use gridgen::formats::{Sides, Span};
use gridgen::grid::{Grid, Topology};
use support::grids::{half_grid, joukowski_grid, parabolic_grid};

/// An O-grid, a C-grid, and half an O-grid, with numbers of cells that curved cells of every order divide, more points
/// than one task encodes, and an odd number of these that fills no buffer.
fn grids() -> [Grid; 3] {
    [joukowski_grid(97, 61, 0.2), parabolic_grid(85, 61, 12), half_grid(85, 61)]
}

/// The sides of cells of this order on each boundary, or their faces over a span: the body, the far field, the
/// outflow, planes of symmetry, and ends of the span.
fn boundary(grid: &Grid, order: usize, span: Option<Span>) -> BTreeMap<&'static str, usize> {
    let (around, out) = ((grid.ni - 1) / order, (grid.nj - 1) / order);
    let mut sides = BTreeMap::from([("airfoil", around), ("farfield", around)]);
    match grid.topology {
        Topology::C { wake } => {
            sides.extend([("airfoil", around - 2 * wake / order), ("outflow", 2 * out)]);
        }
        Topology::Half(_) => sides.extend([("symmetry", 2 * out)]),
        _ => {}
    }
    let Some(span) = span else { return sides };
    for count in sides.values_mut() {
        *count *= span.cells / order;
    }
    match span.sides {
        Sides::Symmetry if !sides.contains_key("symmetry") => {
            sides.extend([("symmetry", 2 * around * out)]);
        }
        _ => sides.extend([("back", around * out), ("front", around * out)]),
    }
    sides
}

/// The bytes that are written.
fn written(write: impl FnOnce(&mut Cursor<Vec<u8>>) -> io::Result<()>) -> Vec<u8> {
    let mut out = Cursor::new(Vec::new());
    write(&mut out).unwrap();
    out.into_inner()
}

/// The text that is written.
fn text_of(write: impl FnOnce(&mut Cursor<Vec<u8>>) -> io::Result<()>) -> String {
    String::from_utf8(written(write)).unwrap()
}
