//! Overset cases: the zones of several elements as one `polyMesh` with `cellZones`, and what a first inviscid run of
//! `overSimpleFoam` needs in addition.
//!
//! The patch `overset` comes first, with the outer sides of all near-body zones, then the wall of each element by
//! its name, and `farfield`. `0/zoneID` has the number of each cell's zone: of several zones that could give a
//! value the one whose number is nearest is taken. Source: `src/overset` of OpenFOAM 1912.

use std::io::{self, Write};

use super::mesh::Mesh;
use super::setup::ends;
use crate::files::atomic::Writer;
use crate::formats::data::MeshData;
use crate::formats::mesh::layers;
use crate::grid::Grid;
use crate::grid::vector::{angle, difference, distance};

/// Turn of a wall at a corner, which has no curvature: at least this many degrees, and this many times the turn on
/// one side of it: on coarse grids a nose turns as much, at several nodes.
const CORNER: f64 = 25.0;
const SHARPER: f64 = 3.0;

const WITHOUT_DIMENSION: &str = "dimensions [0 0 0 0 0 0 0];";

/// A field of scalars of the mesh: its path in the case, and what writes it behind the head.
type Field = (&'static str, fn(&mut Writer<'_>, &MeshData<'_>, &Mesh<'_>) -> io::Result<()>);

/// The fields that belong to the mesh: the number of each cell's zone, and the curvature of each face of the walls.
pub(super) const FIELDS: [Field; 2] = [
    ("0/zoneID", write_zone_numbers),
    ("0/wallCurvature", |out, mesh, _| write_curvature(out, mesh)),
];

fn write_zone_numbers(
    out: &mut Writer<'_>,
    mesh: &MeshData<'_>,
    parts: &Mesh<'_>,
) -> io::Result<()> {
    writeln!(out, "{WITHOUT_DIMENSION}\ninternalField nonuniform List<scalar> {}\n(", parts.cells)?;
    for (zone, cells) in parts.zone_cells().enumerate() {
        let line = format!("{zone}\n");
        crate::files::pieces::write(out, cells, &|piece| line.as_bytes().repeat(piece.len()))?;
    }
    let (walls, ends) = (mesh.walls().join("|"), ends(mesh));
    writeln!(
        out,
        ")\n;\nboundaryField\n{{\n    overset {{ type overset; value uniform 0; }}\n    \
         \"(farfield|{walls})\" {{ type zeroGradient; }}\n    {ends}\n}}"
    )
}

/// Writes the curvature of the walls, face by face, negative where they are convex: that of the pressure's gradient
/// into the body.
fn write_curvature(out: &mut Writer<'_>, mesh: &MeshData<'_>) -> io::Result<()> {
    writeln!(out, "{WITHOUT_DIMENSION}\ninternalField uniform 0;\nboundaryField\n{{")?;
    writeln!(out, "    overset {{ type overset; value uniform 0; }}")?;
    writeln!(out, "    farfield {{ type zeroGradient; }}\n    {}", ends(mesh))?;
    for zone in mesh.zones.iter().filter(|zone| zone.has_wall()) {
        let curvature = curvature(zone.grid);
        writeln!(out, "    {}\n    {{\n        type fixedValue;", zone.name)?;
        let faces = curvature.len() * layers(mesh.span);
        writeln!(out, "        value nonuniform List<scalar> {faces}\n(")?;
        for value in curvature.iter().cycle().take(faces) {
            writeln!(out, "{value:e}")?;
        }
        writeln!(out, ")\n;\n    }}")?;
    }
    writeln!(out, "}}")
}

/// Curvature of the wall on each of its faces, the mean of that at its two nodes: the turn there over the length
/// around it. Corners have none.
fn curvature(grid: &Grid) -> Vec<f64> {
    let wall = grid.wall();
    let faces = wall.len() - 1;
    let step = |k: usize| difference(wall[k % faces + 1], wall[k % faces]);
    let turns: Vec<f64> = (0..faces).map(|k| angle(step(k + faces - 1), step(k))).collect();
    let turn = |k: usize| {
        let turn = turns[k % faces];
        let beside = turns[(k + 1) % faces].abs().min(turns[(k + faces - 1) % faces].abs());
        let corner = turn.abs() > CORNER.to_radians() && turn.abs() > SHARPER * beside;
        if corner { 0.0 } else { turn }
    };
    (0..faces).map(|k| 0.5 * (turn(k) + turn(k + 1)) / distance(wall[k], wall[k + 1])).collect()
}
