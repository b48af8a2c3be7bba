//! Gmsh meshes, `.msh`, version 4.1 in text: straight quadrangles or hexahedra, or curved ones of order 2 to
//! 4, each of which takes that many cells of the grid in each direction and all nodes of them.
//!
//! Physical groups are `airfoil`, `farfield`, `outflow` of a C-grid, `symmetry` of half a grid, the ends of
//! a span as for SU2, and `fluid`, the cells. Seam and cut are welded. Text is what all readers of
//! high-order solvers take. Source: Gmsh 4.13 reference manual, section "MSH file format",
//! <https://gmsh.info/doc/texinfo/gmsh.html>.

mod entities;

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::str::{FromStr, SplitAsciiWhitespace};

use self::entities::{HEXAHEDRA, LINES, Model, QUADRANGLES};
use super::block::ReadFault;
use super::data::MeshData;
use super::data::Span;
use super::format::{Converted, FileContents, Format, Holds, MeshFile};
use super::quads;
use super::rim::{ReadZone, Reader, condition_of};
use crate::files::{ByteSink, IoError, WriteFault, atomic, pieces};
use crate::grid::boundary::Patch;
use crate::grid::quality::CurvedQuality;
use crate::grid::{Grid, cut_corner};

pub(super) const FORMAT: Format = Format {
    name: "msh",
    title: "Gmsh",
    extensions: &["msh"],
    welded: true,
    files: &[MeshFile {
        names: ["mesh.msh", "mesh.failed.msh"],
        holds: Holds::Section,
        dimensions: None,
        // `1`, `0 0 0` and their ends of lines.
        least_bytes: 8,
        contents: FileContents::File(|out, m| {
            write_to(out, &m.blocks(), m.span, m.settings.curved_order)
        }),
    }],
    refuses_zones: Some("programs that read Gmsh meshes have no overset method"),
    convert: Some(convert),
    reader: Some(Reader {
        begins: Some(|head| head.trim_ascii_start().starts_with(b"$MeshFormat")),
        hint: "save the plane mesh as version 4.1 in text, its quadrangles in one block of i and j",
        zones: parse,
    }),
};

/// Writes a mesh of a grid whose corners are corners of cells, and whose cells are not folded.
fn convert(path: &Path, mesh: &MeshData<'_>, _: bool) -> Result<Converted, IoError> {
    let (grid, span, order) = (mesh.grid(), mesh.span, mesh.settings.curved_order);
    let refused = |fault: WriteFault| Err(fault.at(path));
    if let Some(fault) = mesh.blocks().iter().find_map(|grid| indivisible(grid, span, order)) {
        return refused(fault);
    }
    if let Some(point) = cut_corner(&grid.row(0), &grid.topology.wall(grid.ni), order) {
        return refused(WriteFault::CornerInSide { point, order });
    }
    let mut notes = Vec::new();
    if order > 1 {
        let quality = CurvedQuality::of_blocks(&mesh.blocks(), order);
        let CurvedQuality { folded_cells, at, .. } = quality;
        if folded_cells > 0 {
            return refused(WriteFault::FoldedCells { folded_cells, order, at });
        }
        notes.push(quality.to_string());
    }
    atomic::write(path, |out| write_to(out, &mesh.blocks(), span, order))?;
    Ok(Converted { files: vec![path.to_path_buf()], notes })
}

/// The first count of cells that the order does not divide.
fn indivisible(grid: &Grid, span: Option<Span>, order: usize) -> Option<WriteFault> {
    let around = [("cells around", grid.ni - 1), ("cells outward", grid.nj - 1)];
    let cut = ("cells along the cut", grid.topology.wake());
    let ends = grid.boundary().into_iter().flat_map(|range| range.on.nodes);
    let ends = ends.map(|node| ("cells to the end of a patch", node));
    let span = span.map(|span| ("cells over the span", span.cells));
    let mut counts = around.into_iter().chain([cut]).chain(ends).chain(span);
    let (what, count) = counts.find(|(_, count)| count % order > 0)?;
    Some(WriteFault::Indivisible { what, count, order })
}

/// Writes the blocks of a grid as one mesh of cells of this order, with the group `base` beside a block behind a base;
/// numbers have the shortest form that reads back to the same bits.
///
/// Sides on the rim have the cells on their left; the normals of the faces of an extruded rim point out of
/// them. Nodes are listed by the curves that they lie on.
///
/// # Errors
/// Errors of `out`, and [`io::ErrorKind::InvalidInput`] where the order does not divide a count of cells.
pub fn write_to(
    out: &mut ByteSink<'_>,
    grids: &[&Grid],
    span: Option<Span>,
    order: usize,
) -> io::Result<()> {
    if let Some(fault) = grids.iter().find_map(|grid| indivisible(grid, span, order)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, fault));
    }
    let model = Model::new(grids, span, order);
    writeln!(out, "$MeshFormat\n4.1 0 8\n$EndMeshFormat")?;
    write_groups(out, &model)?;
    write_entities(out, &model)?;
    write_nodes(out, &model)?;
    write_elements(out, &model)
}

fn write_groups(out: &mut ByteSink<'_>, model: &Model<'_>) -> io::Result<()> {
    let groups = model.groups();
    writeln!(out, "$PhysicalNames\n{}", groups.len())?;
    for (k, (dimension, name)) in groups.iter().enumerate() {
        writeln!(out, "{dimension} {} \"{name}\"", k + 1)?;
    }
    writeln!(out, "$EndPhysicalNames")
}

fn write_entities(out: &mut ByteSink<'_>, model: &Model<'_>) -> io::Result<()> {
    let (entities, groups) = (model.entities(), model.groups());
    let count =
        |dimension| entities.iter().filter(|entity| entity.dimension() == dimension).count();
    writeln!(out, "$Entities\n{} {} {} {}", count(0), count(1), count(2), count(3))?;
    for entity in entities {
        write!(out, "{}", model.tag(entity))?;
        let dimension = entity.dimension();
        let [low, high] = model.extent(entity);
        let place = low.into_iter().chain(high).take(if dimension == 0 { 3 } else { 6 });
        place.into_iter().try_for_each(|x| write!(out, " {x:e}"))?;
        let group = model.group(entity).map(|name| (dimension, name));
        match group.and_then(|group| groups.iter().position(|other| *other == group)) {
            Some(k) => write!(out, " 1 {}", k + 1)?,
            None => write!(out, " 0")?,
        }
        if dimension > 0 {
            let bounds = model.bounds(entity);
            write!(out, " {}", bounds.len())?;
            bounds.iter().try_for_each(|tag| write!(out, " {tag}"))?;
        }
        writeln!(out)?;
    }
    writeln!(out, "$EndEntities")
}

fn write_nodes(out: &mut ByteSink<'_>, model: &Model<'_>) -> io::Result<()> {
    let entities: Vec<_> =
        model.entities().into_iter().filter(|entity| model.own_nodes(*entity).0 > 0).collect();
    let nodes = model.nodes();
    writeln!(out, "$Nodes\n{} {nodes} 1 {nodes}", entities.len())?;
    for entity in entities {
        let (count, node) = model.own_nodes(entity);
        writeln!(out, "{} {} 0 {count}", entity.dimension(), model.tag(entity))?;
        pieces::write_lines(out, count, |text, k| writeln!(text, "{}", node(k) + 1))?;
        pieces::write_lines(out, count, |text, k| {
            let [x, y, z] = model.coordinates(node(k));
            writeln!(text, "{x:e} {y:e} {z:e}")
        })?;
    }
    writeln!(out, "$EndNodes")
}

fn write_elements(out: &mut ByteSink<'_>, model: &Model<'_>) -> io::Result<()> {
    let entities: Vec<_> =
        model.entities().into_iter().filter(|entity| model.group(*entity).is_some()).collect();
    let all: usize = entities.iter().map(|entity| model.elements(*entity).1).sum();
    writeln!(out, "$Elements\n{} {all} 1 {all}", entities.len())?;
    let mut before = 0;
    for entity in entities {
        let (kind, count, nodes) = model.elements(entity);
        writeln!(out, "{} {} {kind} {count}", entity.dimension(), model.tag(entity))?;
        pieces::write_lines(out, count, |text, k| {
            write!(text, "{}", before + k + 1)?;
            nodes(k).into_iter().try_for_each(|node| write!(text, " {}", node + 1))?;
            writeln!(text)
        })?;
        before += count;
    }
    writeln!(out, "$EndElements")
}

/// Gmsh's number of the element that is one point.
const POINT: usize = 15;

/// Takes numbers from the front of a file.
fn numbers<T: FromStr>(
    words: &mut SplitAsciiWhitespace<'_>,
    count: usize,
) -> Result<Vec<T>, ReadFault> {
    let number = |_| {
        let word = words.next().ok_or("the file ends where a number was expected")?;
        Ok(word.parse().map_err(|_| format!("`{word:.30}`, a number was expected"))?)
    };
    (0..count).map(number).collect()
}

/// The groups of the curves of a mesh, by the tags of both.
#[derive(Default)]
struct Groups {
    names: HashMap<i64, Patch>,
    of_curve: HashMap<i64, i64>,
}

impl Groups {
    /// Takes the names of all groups from the front. Those of curves are kept: tags are unique within a dimension.
    fn read_names(&mut self, words: &mut SplitAsciiWhitespace<'_>) -> Result<(), ReadFault> {
        for _ in 0..numbers::<usize>(words, 1)?[0] {
            let head = numbers::<i64>(words, 2)?;
            let mut name = words.next().unwrap_or_default().to_owned();
            // A name in quotes may have blanks.
            while name.starts_with('"') && (name.len() < 2 || !name.ends_with('"')) {
                let Some(word) = words.next() else { break };
                name = [&name, " ", word].concat();
            }
            let name = name.trim_matches('"');
            if head[0] == 1 {
                self.names.insert(head[1], Patch::named(name, condition_of(name)));
            }
        }
        Ok(())
    }

    /// Takes points and curves from the front of the entities; what follows them stays.
    fn read_curves(&mut self, words: &mut SplitAsciiWhitespace<'_>) -> Result<(), ReadFault> {
        let counts: Vec<usize> = numbers(words, 4)?;
        for k in 0..counts[0].saturating_add(counts[1]) {
            let is_curve = k >= counts[0];
            let tag = numbers::<i64>(words, 1)?[0];
            numbers::<f64>(words, if is_curve { 6 } else { 3 })?;
            for _ in 0..numbers::<usize>(words, 1)?[0] {
                let group = numbers::<i64>(words, 1)?[0];
                self.of_curve.extend(is_curve.then_some((tag, group)));
            }
            for _ in 0..if is_curve { numbers::<usize>(words, 1)?[0] } else { 0 } {
                numbers::<i64>(words, 1)?;
            }
        }
        Ok(())
    }
}

/// Reads the quadrangles and their points; curved ones are as many cells as a grid has between their nodes.
fn parse(bytes: &[u8], notes: &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault> {
    let text = String::from_utf8_lossy(bytes);
    let words = &mut text.split_ascii_whitespace();
    let (mut points, mut cells, mut order) = (HashMap::new(), Vec::new(), 1);
    let (mut groups, mut patches) = (Groups::default(), HashMap::new());
    while let Some(section) = words.next() {
        let name = section
            .strip_prefix('$')
            .ok_or_else(|| format!("`{section:.30}`, a section was expected"))?;
        if name == "MeshFormat" && [words.next(), words.next()] != [Some("4.1"), Some("0")] {
            return Err("another form of Gmsh's meshes, version 4.1 in text was expected".into());
        }
        match name {
            "PhysicalNames" => groups.read_names(words)?,
            "Entities" => groups.read_curves(words)?,
            _ => {}
        }
        let read = matches!(name, "Nodes" | "Elements");
        for _ in 0..if read { numbers::<usize>(words, 4)?[0] } else { 0 } {
            let head: Vec<i64> = numbers(words, 4)?;
            let [kind, count] = [head[2], head[3]].map(|n| usize::try_from(n).unwrap_or(0));
            if name == "Nodes" {
                // Points of gmsh's own surfaces may have parameters behind x, y and z.
                let length = if kind == 0 { 3 } else { 3 + head[0].clamp(0, 3) as usize };
                for tag in numbers::<usize>(words, count)? {
                    points.insert(tag, numbers::<f64>(words, length)?);
                }
                continue;
            }
            let of =
                |kinds: [usize; 4]| kinds.iter().position(|known| *known == kind).map(|k| k + 1);
            let nodes = match (of(QUADRANGLES), of(LINES)) {
                (Some(found), _) if found == order || cells.is_empty() => {
                    order = found;
                    (order + 1) * (order + 1)
                }
                (_, Some(order)) => order + 1,
                _ if kind == POINT => 1,
                _ if of(HEXAHEDRA).is_some() => {
                    return Err("hexahedra of an extruded mesh, a plane one was expected".into());
                }
                _ => {
                    return Err(format!(
                        "elements of gmsh's type {kind}, quadrangles of one order were expected"
                    )
                    .into());
                }
            };
            for _ in 0..count {
                let element: Vec<usize> = numbers(words, 1 + nodes)?;
                let group = groups.of_curve.get(&head[1]).and_then(|group| groups.names.get(group));
                if let (Some(_), Some(patch)) = (of(LINES), group) {
                    // The ends come first.
                    let [from, to] = [element[1], element[2]];
                    let line = [&[from], &element[3..], &[to]].concat();
                    let edges =
                        line.windows(2).map(|ends| [ends[0].min(ends[1]), ends[0].max(ends[1])]);
                    patches.extend(edges.map(|edge| (edge, *patch)));
                }
                cells.extend(element.into_iter().skip(1).filter(|_| of(QUADRANGLES).is_some()));
            }
        }
        // Other sections are skipped.
        let end = ["$End", name].concat();
        if words.find(|word| read || *word == end) != Some(&end) {
            return Err(format!("no {end} where it was expected").into());
        }
    }
    let mut tags = cells.clone();
    tags.sort_unstable();
    tags.dedup();
    let point = |tag: &usize| points.get(tag).and_then(|at| at.first_chunk::<3>()).copied();
    let places: Option<Vec<[f64; 3]>> = tags.iter().map(point).collect();
    let places = places.ok_or("a cell has no such point")?;
    let number = |tag: &usize| tags.binary_search(tag).ok();
    let cells: Vec<usize> = cells.iter().filter_map(number).collect();
    let edge = |([a, b], patch): ([usize; 2], Patch)| Some(([number(&a)?, number(&b)?], patch));
    let patches = patches.into_iter().filter_map(edge).collect();
    quads::zones((&cells, order), &places, &patches, notes)
}
