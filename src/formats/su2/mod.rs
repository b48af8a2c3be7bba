//! Meshes for SU2, `.su2`: quadrilaterals or hexahedra with welded seam or cut, markers `airfoil`
//! and `farfield`, and on the sides of an extruded grid `symmetry`, or `front` and `back`; the
//! outflow of a C-grid belongs to the far field. On half a grid `symmetry` is its plane, and the
//! sides of an extruded one are `front` and `back` in any case. Beside the mesh is the set-up of a first
//! run, `su2.cfg`: inviscid, or turbulent by the model of Spalart and Allmaras (doi:10.2514/6.1992-439), at the
//! Mach number of NASA's low-speed cases.
//!
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>; options and values of the set-up come from
//! `config_template.cfg` of SU2 8.5.0.

use std::collections::HashMap;
use std::io::{self, Write};

use super::block::ReadFault;
use super::data::{ForceReference, MeshData, Sides, Span, count, ends, layers, planes};
use super::format::{FileContents, Format, Holds, MeshFile};
use super::quads;
use super::rim::{ReadZone, Reader, condition_of};
use super::welded::Welded;
use crate::files::{ByteSink, pieces};
use crate::grid::Grid;
use crate::grid::boundary::{Patch, SideKind, period};

/// Numbers by which VTK and SU2 call an edge, a quadrilateral and a hexahedron.
const LINE: u8 = 3;
const QUADRILATERAL: u8 = 9;
const HEXAHEDRON: u8 = 12;

const MESH: MeshFile = MeshFile {
    names: ["mesh.su2", "mesh.failed.su2"],
    holds: Holds::Section,
    dimensions: None,
    // `0 0 N` and a cell of numbers parted by blanks.
    least_bytes: 16,
    contents: FileContents::File(|out, m| write_to(out, &m.blocks(), m.span)),
};

/// The set-up of a run, which users edit.
pub(super) const SETUP: MeshFile = MeshFile {
    names: ["su2.cfg", "su2.failed.cfg"],
    least_bytes: 0,
    contents: FileContents::File(|out, m| write_setup(out, m, MESH.name(m.good))),
    ..MESH
};

pub(super) const FORMAT: Format = Format {
    name: "su2",
    title: "SU2",
    extensions: &["su2"],
    welded: true,
    files: &[MESH, SETUP],
    refuses_zones: Some("SU2 has no overset method"),
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| {
            let head = String::from_utf8_lossy(head);
            head.lines().any(|line| line.trim_start().starts_with("NDIME"))
        }),
        hint: "save plane quadrilaterals that make one block of i and j, in any order",
        zones: parse,
    }),
};

/// Writes the blocks of a grid as one SU2 mesh, two-dimensional or extruded: cells counter-clockwise, the edges of all
/// markers with the flow on their left, numbers in the shortest form that reads back to the same
/// bits. Hexahedra are listed in layers, the nodes of each plane after those of the plane before, and the
/// normals of the faces of all markers point out of the flow. A block behind a base has the marker `base` beside it.
pub fn write_to(out: &mut ByteSink<'_>, grids: &[&Grid], span: Option<Span>) -> io::Result<()> {
    let mesh = Welded::of_order(grids, 1);
    let (nodes, cells, layers) = (mesh.nodes, mesh.cells, layers(span));
    let (dimensions, cell_type) = if span.is_some() { (3, HEXAHEDRON) } else { (2, QUADRILATERAL) };
    writeln!(out, "NDIME= {dimensions}\nNELEM= {}", cells * layers)?;
    pieces::write_lines(out, cells * layers, |text, cell| {
        let below = mesh.corners(cell % cells).map(|node| node + cell / cells * nodes);
        write!(text, "{cell_type}")?;
        for plane in 0..dimensions - 1 {
            below.iter().try_for_each(|node| write!(text, " {}", node + plane * nodes))?;
        }
        writeln!(text, " {cell}")
    })?;
    writeln!(out, "NPOIN= {}", nodes * count(span))?;
    for (plane, z) in planes(span).enumerate() {
        pieces::write_lines(out, nodes, |text, node| {
            let [x, y] = mesh.point(node);
            write!(text, "{x:e} {y:e} ")?;
            span.map_or(Ok(()), |_| write!(text, "{z:e} "))?;
            writeln!(text, "{}", plane * nodes + node)
        })?;
    }
    let rims = mesh.rims();
    let ends = ends(span, grids);
    writeln!(out, "NMARK= {}", rims.len() + ends.len())?;
    for (patch, sides) in &rims {
        let (count, tag) = (sides.len(), patch.name());
        writeln!(out, "MARKER_TAG= {tag}\nMARKER_ELEMS= {}", count * layers)?;
        pieces::write_lines(out, count * layers, |text, face| {
            let [a, b] = mesh.ends(sides[face % count]).map(|node| node + face / count * nodes);
            match span {
                None => writeln!(text, "{LINE} {a} {b}"),
                Some(_) => writeln!(text, "{QUADRILATERAL} {a} {b} {} {}", b + nodes, a + nodes),
            }
        })?;
    }
    for (k, tag) in ends.iter().enumerate() {
        let count = 2 * cells / ends.len();
        writeln!(out, "MARKER_TAG= {tag}\nMARKER_ELEMS= {count}")?;
        pieces::write_lines(out, count, |text, face| {
            // First the faces of the plane z = 0, then those of the last plane.
            let face = k * count + face;
            let [a, b, c, d] = mesh.corners(face % cells);
            let [a, b, c, d] = if face < cells {
                [d, c, b, a]
            } else {
                [a, b, c, d].map(|node| node + nodes * layers)
            };
            writeln!(text, "{QUADRILATERAL} {a} {b} {c} {d}")
        })?;
    }
    Ok(())
}

/// Reads the block that the quadrilaterals make, in any order, with the markers of its sides.
fn parse(bytes: &[u8], notes: &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault> {
    let text = str::from_utf8(bytes);
    let text = text.map_err(|e| ReadFault::broken(bytes, e.valid_up_to(), "text"))?;
    let lines = text.lines().map(|l| l.split('%').next().unwrap_or(l).trim());
    let mut lines = (1..).zip(lines).filter(|(_, line)| !line.is_empty());
    let (mut plane, mut cells, mut points) = (None, None, None);
    // Behind a key that is not known stand lines of its own.
    let mut known = true;
    let (mut marks, mut tags) = (0, 0);
    let (mut patches, mut marker) = (HashMap::new(), None);
    while let Some((number, line)) = lines.next() {
        let Some((key, value)) = line.split_once('=') else {
            if known {
                return Err(format!("line {number}: no keyword with `=`, one was expected").into());
            }
            continue;
        };
        let key = key.trim();
        let count: Option<usize> =
            value.split_whitespace().next().and_then(|word| word.parse().ok());
        let listed = matches!(key, "NELEM" | "NPOIN" | "MARKER_ELEMS");
        known = listed || matches!(key, "NDIME" | "NMARK" | "MARKER_TAG" | "SEND_RECV");
        let mut list: Vec<(usize, &str)> = Vec::new();
        if listed {
            let count = count.ok_or_else(|| format!("line {number}: {key} is no number"))?;
            list.extend(lines.by_ref().take(count));
            if list.len() < count {
                return Err(ReadFault::cut(bytes, format!("more of {count} lines of {key}")));
            }
        }
        let second = match key {
            "NZONE" if count != Some(1) => return Err("several zones, one was expected".into()),
            "NDIME" => plane.replace(count == Some(2)).is_some(),
            "NELEM" if plane == Some(false) => return Err("NDIME= 2 was expected".into()),
            "NELEM" => {
                let corners: Result<Vec<_>, _> = list.into_iter().map(cell).collect();
                cells.replace(corners?).is_some()
            }
            "NPOIN" => {
                let all: Result<Vec<_>, _> = list.into_iter().map(point).collect();
                points.replace(all?).is_some()
            }
            "NMARK" => {
                marks = count.unwrap_or(0);
                false
            }
            "MARKER_TAG" => {
                tags += 1;
                marker = Some(Patch::named(value, condition_of(value)));
                false
            }
            "MARKER_ELEMS" => {
                for (line, text) in list {
                    // Other elements are not on the rim of a plane mesh.
                    let numbers: Vec<Option<usize>> =
                        text.split_whitespace().map(|word| word.parse().ok()).collect();
                    let [Some(kind), Some(a), Some(b), ..] = numbers[..] else {
                        let expected = "3 and the two points of an edge were";
                        return Err(ReadFault::of_line(line, text, expected));
                    };
                    if let Some(marker) = marker.filter(|_| kind == usize::from(LINE)) {
                        patches.insert([a.min(b), a.max(b)], marker);
                    }
                }
                false
            }
            _ => false,
        };
        if second {
            let reason = format!("line {number}: a second {key}, the end of the file was expected");
            return Err(reason.into());
        }
    }
    if tags < marks {
        return Err(ReadFault::cut(bytes, format!("more than {tags} of {marks} markers")));
    }
    if plane != Some(true) {
        return Err("NDIME= 2 was expected".into());
    }
    let (cells, points) = (cells.unwrap_or_default(), points.unwrap_or_default());
    quads::zones((cells.as_flattened(), 1), &points, &patches, notes)
}

fn cell((line, text): (usize, &str)) -> Result<[usize; 4], ReadFault> {
    let numbers: Option<Vec<usize>> = text.split_whitespace().map(|w| w.parse().ok()).collect();
    let corners = match numbers.as_deref() {
        Some([kind, corners @ ..]) if *kind == usize::from(QUADRILATERAL) => corners.first_chunk(),
        _ => None,
    };
    let fault = || ReadFault::of_line(line, text, "9 and the four points of a quadrilateral were");
    corners.copied().ok_or_else(fault)
}

fn point((line, text): (usize, &str)) -> Result<[f64; 2], ReadFault> {
    let mut numbers = text.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(x)), Some(Ok(y))) => Ok([x, y]),
        _ => Err(ReadFault::of_line(line, text, "two coordinates of a point were")),
    }
}

/// Mach number, temperature in K and pressure in Pa of the free stream: those of `su2.cfg`, and SU2's default.
const MACH: f64 = 0.15;
const TEMPERATURE: f64 = 288.15;
const PRESSURE: f64 = 101_325.0;

/// Writes the set-up for the mesh in `file`.
fn write_setup(out: &mut ByteSink<'_>, mesh: &MeshData<'_>, file: &str) -> io::Result<()> {
    let ends = ends(mesh.span, &mesh.blocks());
    let ForceReference { length, centre: [x, y] } = mesh.reference();
    let span = mesh.span.map_or(1.0, |span| span.length);
    let sides = mesh.sides();
    let of = |asked: &[SideKind]| -> Vec<&str> {
        let sides = sides.iter().flatten().filter(|(_, kind)| asked.contains(kind));
        sides.map(|(name, _)| *name).collect()
    };
    // The walls of a box have the condition of the body, whose forces alone are asked for.
    let body = mesh.walls();
    let walls: Vec<&str> = body.iter().map(|name| &**name).chain(of(&[SideKind::Wall])).collect();
    let with_heat: Vec<String> = walls.iter().map(|wall| format!("{wall}, 0.0")).collect();
    let (body, walls) = (body.join(", "), walls.join(", "));
    let (model, wall) = match mesh.settings.reynolds {
        None => ("EULER".to_owned(), format!("MARKER_EULER= ( {walls} )")),
        Some(reynolds) => (
            format!(
                "RANS\nKIND_TURB_MODEL= SA\nREYNOLDS_NUMBER= {reynolds}\nREYNOLDS_LENGTH= {length}\n\
                 CONV_NUM_METHOD_TURB= SCALAR_UPWIND\nMUSCL_TURB= NO\nTIME_DISCRE_TURB= EULER_IMPLICIT"
            ),
            format!("MARKER_HEATFLUX= ( {} )", with_heat.join(", ")),
        ),
    };
    let mut conditions = vec![wall];
    let mut add = |key: &str, names: String| {
        if !names.is_empty() {
            conditions.push(format!("{key}= ( {names} )"));
        }
    };
    let half = mesh.grid().topology.half().is_some();
    let mut planes = if half { vec!["symmetry"] } else { Vec::new() };
    // A key stands once: both periods are in one list.
    let mut periods = Vec::new();
    if mesh.span.is_some_and(|span| span.sides == Sides::Periodic) {
        let zeros = ["0.0"; 8].join(", ");
        periods.push(format!("{}, {zeros}, {span}", ends.join(", ")));
    } else {
        planes.extend(ends);
    }
    if let Some(([lower, upper], [x, y])) = period(&mesh.blocks()) {
        let (ends, zeros) = ([lower.name(), upper.name()].join(", "), ["0.0"; 6].join(", "));
        periods.push(format!("{ends}, {zeros}, {x}, {y}, 0.0"));
    }
    add("MARKER_PERIODIC", periods.join(", "));
    planes.extend(of(&[SideKind::Slip, SideKind::Symmetry]));
    add("MARKER_SYM", planes.join(", "));
    let far = if sides.is_none() { vec!["farfield"] } else { of(&[SideKind::FarField]) };
    add("MARKER_FAR", far.join(", "));
    let each = |kind, values: &str| {
        let with = of(&[kind]).into_iter().map(|name| [name, ", ", values].concat());
        with.collect::<Vec<_>>().join(", ")
    };
    // Total temperature and pressure of the free stream.
    let rise = 1.0 + 0.2 * MACH * MACH;
    let (temperature, pressure) = (TEMPERATURE * rise, PRESSURE * rise.powf(3.5));
    let total = format!("{temperature:.5}, {pressure:.3}, 1.0, 0.0, 0.0");
    add("INLET_TYPE= TOTAL_CONDITIONS\nMARKER_INLET", each(SideKind::Inlet, &total));
    add("MARKER_OUTLET", each(SideKind::Outlet, &PRESSURE.to_string()));
    let [forces, angle] = match mesh.span {
        None => ["Lift CL and drag CD", "AOA"],
        // In three dimensions z is up.
        Some(_) => {
            ["Lift, which SU2 calls side force, CSF and drag CD", "AOA= 0.0\nSIDESLIP_ANGLE"]
        }
    };
    let words = [
        ("WALLS", body),
        ("THE_MESH", file.to_owned()),
        ("FORCES", forces.to_owned()),
        ("EQUATIONS", model),
        ("ANGLE", angle.to_owned()),
        ("CENTRE_X", x.to_string()),
        ("CENTRE_Y", y.to_string()),
        ("CHORD", length.to_string()),
        ("PLANFORM", (length * span).to_string()),
        ("BOUNDARIES", conditions.join("\n")),
    ];
    let text = include_str!("su2.cfg").to_owned();
    let text = words.iter().fold(text, |text, (word, with)| text.replace(word, with));
    out.write_all(text.as_bytes())
}
