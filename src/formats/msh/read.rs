//! Gmsh meshes read back: quadrangles of one order in rows, of version 4.1 in text.

use std::collections::HashMap;
use std::str::{FromStr, SplitAsciiWhitespace};

use super::entities::{HEXAHEDRA, LINES, QUADRANGLES};
use crate::formats::block::{Block, ReadFault};

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

/// Reads the quadrangles and their points; curved ones are as many cells as a grid has between their nodes.
pub(super) fn parse(bytes: &[u8]) -> Result<Block, ReadFault> {
    let text = String::from_utf8_lossy(bytes);
    let words = &mut text.split_ascii_whitespace();
    let (mut points, mut cells, mut order) = (HashMap::new(), Vec::new(), 1);
    while let Some(section) = words.next() {
        let name = section
            .strip_prefix('$')
            .ok_or_else(|| format!("`{section:.30}`, a section was expected"))?;
        if name == "MeshFormat" && [words.next(), words.next()] != [Some("4.1"), Some("0")] {
            return Err("another form of Gmsh's meshes, version 4.1 in text was expected".into());
        }
        let read = matches!(name, "Nodes" | "Elements");
        for _ in 0..if read { numbers::<usize>(words, 4)?[0] } else { 0 } {
            let head: Vec<i64> = numbers(words, 4)?;
            let [kind, count] = [head[2], head[3]].map(|n| usize::try_from(n).unwrap_or(0));
            if name == "Nodes" {
                // Points of gmsh's own surfaces may have parameters behind x, y and z.
                let (tags, length) = (
                    numbers::<usize>(words, count)?,
                    if kind == 0 { 3 } else { 3 + head[0].clamp(0, 3) as usize },
                );
                for tag in tags {
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
                cells.extend(element.into_iter().skip(1).filter(|_| of(QUADRANGLES).is_some()));
            }
        }
        // Other sections are skipped.
        let end = ["$End", name].concat();
        if words.find(|word| read || *word == end) != Some(&end) {
            return Err(format!("no {end} where it was expected").into());
        }
    }
    let point = |tag| points.get(&tag).and_then(|at| at.first_chunk::<3>()).copied();
    Ok(Block::of_cells(&cells, order, point)?)
}
