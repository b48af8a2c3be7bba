//! The points of a legacy VTK structured grid, text or binary.
//!
//! Source: "VTK legacy file formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::path::Path;

use crate::formats::ReadError;
use crate::formats::block::Block;
use crate::grid::Grid;

/// First bytes of every legacy file.
pub(super) const MAGIC: &[u8] = b"# vtk DataFile";

const HINT: &str = "save the mesh as a legacy structured grid, ascii or binary";

/// Reads the points of the one data set.
pub(super) fn grid(path: &Path, bytes: &[u8]) -> Result<Grid, ReadError> {
    let refused = |reason| ReadError::Layout { path: path.to_path_buf(), reason, hint: HINT };
    parse(bytes).map_err(refused)?.plane(path)
}

/// Takes lines and words from the front of a file.
struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    fn line(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|&b| b == b'\n').unwrap_or(self.0.len());
        let (line, rest) = self.0.split_at(end);
        self.0 = rest.get(1..).unwrap_or_default();
        line.trim_ascii()
    }

    fn word(&mut self) -> Option<&'a str> {
        let text = self.0.trim_ascii_start();
        let end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        str::from_utf8(word).ok().filter(|word| !word.is_empty())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Option<T> {
        self.word()?.parse().ok()
    }
}

fn parse(bytes: &[u8]) -> Result<Block, &'static str> {
    let mut file = Words(bytes);
    if !file.line().starts_with(MAGIC) {
        return Err("not a legacy VTK file");
    }
    file.line();
    let binary = match file.line() {
        b"ASCII" => false,
        b"BINARY" => true,
        _ => return Err("neither ASCII nor BINARY is said on the third line"),
    };
    if (file.word(), file.word()) != (Some("DATASET"), Some("STRUCTURED_GRID")) {
        return Err("a data set of another kind, a structured grid was expected");
    }
    let dimensions = (file.word() == Some("DIMENSIONS"))
        .then(|| (0..3).map(|_| file.number()).collect::<Option<Vec<usize>>>())
        .flatten()
        .ok_or("no dimensions of three numbers")?;
    let points = (file.word() == Some("POINTS")).then(|| file.number::<usize>()).flatten();
    let kind = file.word().unwrap_or_default();
    let nodes = dimensions.iter().try_fold(1_usize, |product, &n| product.checked_mul(n));
    let numbers = match (points, nodes) {
        (Some(points), Some(nodes)) if points == nodes => points.checked_mul(3),
        _ => None,
    };
    let numbers = numbers.ok_or("the number of points does not fit the dimensions")?;
    let values = if binary {
        file.line();
        raw(file.0, kind, numbers)?
    } else {
        let values: Option<Vec<f64>> = (0..numbers).map(|_| file.number()).collect();
        values.ok_or("a coordinate is missing or not a number")?
    };
    let coordinate = |c: usize| values.iter().skip(c).step_by(3).copied().collect();
    Ok(Block { dimensions, coordinates: (0..3).map(coordinate).collect() })
}

/// Big-endian numbers.
fn raw(bytes: &[u8], kind: &str, numbers: usize) -> Result<Vec<f64>, &'static str> {
    let short = "the coordinates end early";
    let take =
        |size: usize| numbers.checked_mul(size).and_then(|length| bytes.get(..length)).ok_or(short);
    match kind {
        "double" => {
            Ok(take(8)?.as_chunks().0.iter().map(|field| f64::from_be_bytes(*field)).collect())
        }
        "float" => Ok(take(4)?
            .as_chunks()
            .0
            .iter()
            .map(|field| f64::from(f32::from_be_bytes(*field)))
            .collect()),
        _ => Err("the points are neither float nor double"),
    }
}
