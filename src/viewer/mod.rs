//! The viewer of grids in a browser, and the data that it shows.
//!
//! The script is one of ours without other libraries. It computes the measures of cells from the nodes, by the formulas
//! of [`grid::quality`](crate::grid::quality).

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::json;

use crate::grid::Grid;
use crate::grid::quality::WallLine;

/// The style of the viewer.
pub const STYLE: &str = include_str!("viewer.css");

/// The script of the viewer, which begins when a page is loaded; its parts are in the order in which they are used.
pub const SCRIPT: &str = concat!(include_str!("grid.js"), include_str!("viewer.js"));

/// Nodes of all grids of a page, at most: larger ones are thinned. With them the data of a page take 2.5 MB.
pub const MOST_NODES: usize = 150_000;

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
        let all = self.zones.iter().map(|(_, grid)| grid).chain(&self.before);
        let nodes: usize = all.map(|grid| grid.x.len()).sum();
        let stride =
            (1..=nodes).find(|stride| nodes / (stride * stride) <= MOST_NODES).unwrap_or(1);
        let note = format!(
            "One of {stride} lines in each direction is shown, with measures of the larger cells."
        );
        let note = (stride > 1).then_some(note);
        // Every `stride`-th line, those at the ends of wall and cut, and the first two from the wall.
        let lines = self.zones.iter().map(|(_, grid)| {
            let (last, WallLine { from, to, .. }) = (grid.ni - 1, WallLine::of_grid(grid));
            let i = every(stride, last, &[0, from, to, last]);
            [i, every(stride, grid.nj - 1, &[0, 1, grid.nj - 1])]
        });
        let lines: Vec<[Vec<usize>; 2]> = lines.collect();
        let heads = self.zones.iter().zip(&lines).map(|((name, grid), [is, js])| {
            let topology = grid.topology;
            let place = |i: usize| is.binary_search(&i).unwrap_or_default();
            let wall = WallLine::of_grid(grid);
            // A block beside others, such as the background, has no wall unless it is around a body.
            let walled = self.zones.len() == 1 || !topology.wall(grid.ni).is_empty();
            json!({
                "name": name, "topology": topology.name(), "ni": is.len(), "nj": js.len(),
                "closed": topology.closed(), "cut": place(topology.cut()), "open": !wall.closed,
                "wall": walled.then(|| [place(wall.from), place(wall.to)]),
                "is": (stride > 1).then_some(is), "js": (stride > 1).then_some(js),
            })
        });
        let heads: Vec<_> = heads.collect();
        let (name, unit, before) = (self.name, self.unit, !self.before.is_empty());
        let head =
            json!({ "name": name, "unit": unit, "note": note, "before": before, "zones": heads });
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
        // The default level takes several times as long and saves two percent.
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
        // Writing to memory does not fail; no data would leave the pictures of the page.
        let written = encoder.write_all(&self.packed()).and_then(|()| encoder.finish());
        let text = BASE64_STANDARD.encode(written.unwrap_or_default());
        let data = format!("data-gridgen data-view=\"{view}\" data-colour=\"{colour}\"");
        format!("<script type=\"application/octet-stream\" {data}>{text}</script>\n")
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
