//! Meshes of SU2 that are structured by the order of their cells.
//!
//! The cells are quadrilaterals in rows, i fastest, each from its corner (i, j) counter-clockwise.
//! A point that several nodes of the grid share, at a seam or a cut, is each of them.
//! Source: "Mesh File", <https://su2code.github.io/docs_v7/Mesh-File/>.

use std::collections::HashMap;
use std::path::Path;

use crate::formats::ReadError;
use crate::formats::block::Block;
use crate::grid::Grid;

/// Number of a quadrilateral.
const QUADRILATERAL: usize = 9;

const HINT: &str =
    "read are plane quadrilaterals in rows, as gridgen and other structured programs write them";

/// Reads the grid.
pub(super) fn grid(path: &Path, bytes: &[u8]) -> Result<Grid, ReadError> {
    let refused = |reason| ReadError::Layout { path: path.to_path_buf(), reason, hint: HINT };
    parse(bytes).map_err(refused)?.plane(path)
}

/// Whether a file begins like one of SU2.
pub(super) fn is_su2(head: &[u8]) -> bool {
    String::from_utf8_lossy(head).lines().any(|line| line.trim_start().starts_with("NDIME"))
}

fn parse(bytes: &[u8]) -> Result<Block, &'static str> {
    let text = str::from_utf8(bytes).map_err(|_| "not a text")?;
    let mut lines =
        text.lines().map(|l| l.split('%').next().unwrap_or(l).trim()).filter(|l| !l.is_empty());
    let (mut plane, mut cells, mut points) = (false, Vec::new(), Vec::new());
    while let Some(line) = lines.next() {
        let Some((key, value)) = line.split_once('=') else { continue };
        let count = value.split_whitespace().next().and_then(|word| word.parse::<usize>().ok());
        match key.trim() {
            "NZONE" if count != Some(1) => return Err("several zones, one was expected"),
            "NDIME" => plane = count == Some(2),
            "NELEM" => {
                let lines = lines.by_ref().take(count.ok_or("NELEM is no number")?);
                cells = lines.map(cell).collect::<Result<_, _>>()?;
            }
            "NPOIN" => {
                let lines = lines.by_ref().take(count.ok_or("NPOIN is no number")?);
                points = lines.map(point).collect::<Result<Vec<[f64; 2]>, _>>()?;
            }
            _ => {}
        }
    }
    if !plane {
        return Err("NDIME= 2 was expected");
    }
    let [ni, nj] = size(&cells).ok_or(UNSTRUCTURED)?;
    let nodes = nodes(&cells, [ni, nj]).ok_or(UNSTRUCTURED)?;
    let at = |c: usize| {
        let coordinate = |node: &usize| points.get(*node).map(|point| point[c]);
        nodes.iter().map(coordinate).collect::<Option<Vec<f64>>>().ok_or("a cell has no such point")
    };
    Ok(Block { dimensions: vec![ni, nj], coordinates: vec![at(0)?, at(1)?] })
}

const UNSTRUCTURED: &str = "the cells are not in the order of a structured grid";

fn cell(line: &str) -> Result<[usize; 4], &'static str> {
    let numbers: Option<Vec<usize>> = line.split_whitespace().map(|w| w.parse().ok()).collect();
    match numbers.as_deref() {
        Some([QUADRILATERAL, corners @ ..]) => {
            corners.first_chunk().copied().ok_or("a quadrilateral has too few corners")
        }
        Some([_, ..]) => Err("a cell is no quadrilateral"),
        _ => Err("a cell is missing or has words in it"),
    }
}

fn point(line: &str) -> Result<[f64; 2], &'static str> {
    let mut numbers = line.split_whitespace().map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(x)), Some(Ok(y))) => Ok([x, y]),
        _ => Err("a point has no two coordinates"),
    }
}

/// Nodes in i and j: the second row begins with the cell above the first.
fn size(cells: &[[usize; 4]]) -> Option<[usize; 2]> {
    let above = cells.first()?[3];
    let columns = cells.iter().skip(1).position(|corners| corners[0] == above);
    let columns = columns.map_or(cells.len(), |k| k + 1);
    cells.len().is_multiple_of(columns).then_some([columns + 1, cells.len() / columns + 1])
}

/// The point of each node, `[nj][ni]`; none where cells contradict each other.
fn nodes(cells: &[[usize; 4]], [ni, nj]: [usize; 2]) -> Option<Vec<usize>> {
    let mut nodes: HashMap<usize, usize> = HashMap::with_capacity(ni * nj);
    for (k, corners) in cells.iter().enumerate() {
        let first = k / (ni - 1) * ni + k % (ni - 1);
        for (node, point) in [first, first + 1, first + 1 + ni, first + ni].into_iter().zip(corners)
        {
            if *nodes.entry(node).or_insert(*point) != *point {
                return None;
            }
        }
    }
    (0..ni * nj).map(|node| nodes.get(&node).copied()).collect()
}
