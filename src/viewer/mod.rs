//! The viewer of grids in a browser: the data that it shows, and pages with both.
//!
//! The script is one of ours without other libraries. It computes the measures of cells from the nodes, by the formulas
//! of [`grid::quality`](crate::grid::quality).

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use crate::grid::{Grid, Topology};

/// The style of the viewer.
pub const STYLE: &str = include_str!("viewer.css");

/// The script of the viewer, which begins when a page is loaded; its parts are in the order in which they are used.
pub const SCRIPT: &str = concat!(include_str!("grid.js"), include_str!("viewer.js"));

/// Nodes of all grids of a page, at most: larger ones are thinned. With them the data of a page take 1.6 MB.
pub const MOST_NODES: usize = 100_000;

/// Grids to look at.
#[derive(Debug, Clone)]
pub struct Scene<'a> {
    /// The name of the files that views are saved to.
    pub name: &'a str,
    /// Length of the chord, in which the viewer gives lengths.
    pub unit: f64,
    /// The grids with their names, drawn one over the other.
    pub zones: Vec<(&'a str, &'a Grid)>,
    /// The grids of the same sizes before they were moved, if there are any.
    pub before: Vec<&'a Grid>,
}

/// The lines of constant i and of constant j of a grid that are shown: every `stride`-th one, those at the ends of wall
/// and cut, and the first two from the wall.
fn lines_of(grid: &Grid, stride: usize) -> [Vec<usize>; 2] {
    let (last, wake) = (grid.ni - 1, grid.topology.wake());
    let i = every(stride, last, &[0, wake, last - wake, last]);
    [i, every(stride, grid.nj - 1, &[0, 1, grid.nj - 1])]
}

/// Every `stride`-th number between those of `fixed`, and these. In the second half they are counted from above: the two
/// sides of a cut keep the same points.
fn every(stride: usize, last: usize, fixed: &[usize]) -> Vec<usize> {
    let mut lines = fixed.to_vec();
    for ends in fixed.windows(2) {
        let steps = (ends[0]..ends[1]).step_by(stride);
        let from_above = 2 * ends[0] >= last;
        lines.extend(steps.map(|n| if from_above { ends[0] + ends[1] - n } else { n }));
    }
    lines.sort_unstable();
    lines.dedup();
    lines
}

impl Scene<'_> {
    /// The data that the script unpacks: the length of a JSON text as 32 bits, the text, and x and y of each zone, the
    /// first bytes of all numbers before their second ones and so on, which compresses well. Grids with more than
    /// [`MOST_NODES`] are thinned, which the viewer says.
    pub fn packed(&self) -> Vec<u8> {
        let nodes: usize = self.zones.iter().map(|(_, grid)| grid.x.len()).sum();
        let nodes = nodes * if self.before.is_empty() { 1 } else { 2 };
        let stride = (1..).find(|stride| nodes / (stride * stride) <= MOST_NODES).unwrap_or(1);
        let note = (stride > 1).then(|| {
            format!(
                "This view has one of {stride} lines of the grid in each direction, and its measures are of the larger \
                 cells between them; the tables are of the whole grid."
            )
        });
        let lines: Vec<_> = self.zones.iter().map(|(_, grid)| lines_of(grid, stride)).collect();
        let heads = self.zones.iter().zip(&lines).map(|((name, grid), [is, js])| {
            let topology = grid.topology;
            let place = |i: usize| is.binary_search(&i).unwrap_or_default();
            let wall = topology.wall(grid.ni);
            json!({
                "name": name, "topology": topology.name(), "ni": is.len(), "nj": js.len(),
                "closed": topology.closed(), "cut": place(topology.cut()),
                "wall": (!wall.is_empty()).then(|| [place(*wall.start()), place(*wall.end())]),
                "open": topology.half().is_some() || matches!(topology, Topology::Blunt { .. }),
                "is": (stride > 1).then_some(is), "js": (stride > 1).then_some(js),
            })
        });
        let heads: Vec<_> = heads.collect();
        let before = !self.before.is_empty();
        let head = json!({
            "name": self.name, "unit": self.unit, "note": note, "before": before, "zones": heads,
        });
        let head = head.to_string();
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.extend(head.as_bytes());
        for (number, ((_, grid), lines)) in self.zones.iter().zip(&lines).enumerate() {
            for grid in [Some(*grid), self.before.get(number).copied()].into_iter().flatten() {
                for numbers in [&grid.x, &grid.y] {
                    shuffle(numbers, grid.ni, lines, &mut bytes);
                }
            }
        }
        bytes
    }

    /// The element of a page that carries the data, compressed; the script shows them in its place: this view of them, with
    /// cells coloured by this measure. Empty words leave both to the script.
    pub fn element(&self, view: &str, colour: &str) -> String {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
        // Writing to memory does not fail; no data would leave the pictures of the page.
        let written = encoder.write_all(&self.packed()).and_then(|()| encoder.finish());
        let text = BASE64_STANDARD.encode(written.unwrap_or_default());
        let data = format!("data-gridgen data-view=\"{view}\" data-colour=\"{colour}\"");
        format!("<script type=\"application/octet-stream\" {data}>{text}</script>\n")
    }

    /// A page with the viewer alone, which needs no other file, and begins as [`Self::element`] says.
    pub fn page(&self, view: &str, colour: &str) -> String {
        let title = self.name.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<style>\n\
             :root {{ color-scheme: light dark; }}\nbody {{ margin: 0; }}\n.gridgen-viewer {{ padding: .7rem; }}\n\
             {STYLE}</style>\n</head>\n<body>\n<main>\n{}</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n",
            self.element(view, colour)
        )
    }
}

/// Adds the numbers at the lines shown, byte by byte of all of them.
fn shuffle(numbers: &[f64], ni: usize, [is, js]: &[Vec<usize>; 2], bytes: &mut Vec<u8>) {
    let shown = js.iter().flat_map(|j| is.iter().map(move |i| numbers[j * ni + i]));
    let (start, count) = (bytes.len(), is.len() * js.len());
    bytes.resize(start + 8 * count, 0);
    for (m, number) in shown.enumerate() {
        for (k, byte) in number.to_le_bytes().into_iter().enumerate() {
            bytes[start + k * count + m] = byte;
        }
    }
}
