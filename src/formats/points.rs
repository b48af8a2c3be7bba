//! Points in files: a line `x y` each, or an array (n, 2) of numpy.

use std::io::Write;
use std::path::Path;

use super::block::{ReadError, ReadFault};
use super::npy;
use crate::diagnostics::excerpt;
use crate::files::{IoError, atomic};

const MEMORY_A_BYTE: u64 = 8;

/// Reads points in their order. In text `#` begins a comment, commas are blanks, and lines before the first
/// point that begin with a word are its name.
///
/// # Errors
/// [`ReadError`] with the path, and the line where the file has lines.
pub fn read(path: &Path) -> Result<Vec<[f64; 2]>, ReadError> {
    parsed(&ReadError::bytes(path, MEMORY_A_BYTE)?).map_err(|fault| ReadError::at(path, fault))
}

/// The points in the bytes of a file. For tests.
pub fn parsed(bytes: &[u8]) -> Result<Vec<[f64; 2]>, ReadFault> {
    if npy::begins(bytes) {
        let (shape, values) = npy::parsed(bytes)?;
        return match shape[..] {
            [_, 2] => Ok(values.as_chunks::<2>().0.to_vec()),
            _ => Err(ReadFault::Shape {
                expected: "[points, 2]".to_owned(),
                found: format!("{shape:?}"),
            }),
        };
    }
    let text = String::from_utf8_lossy(bytes);
    let mut points = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let (text, _) = line.split_once('#').unwrap_or((line, ""));
        let words = text.split(|c: char| c.is_whitespace() || c == ',');
        let numbers =
            words.filter(|word| !word.is_empty()).map(|word| fast_float2::parse(word).ok());
        let numbers: Vec<Option<f64>> = numbers.collect();
        match numbers[..] {
            [] => {}
            [Some(x), Some(y)] => points.push([x, y]),
            [None, ..] if points.is_empty() => {}
            _ => {
                let found = excerpt(line);
                return Err(ReadFault::NoPoint { line: number + 1, found });
            }
        }
    }
    Ok(points)
}

/// Writes points: an array of numpy where the name ends in `.npy`, else text that reads back to the same
/// numbers.
///
/// # Errors
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, points: &[[f64; 2]]) -> Result<(), IoError> {
    if path.extension().is_some_and(|end| end == "npy") {
        return npy::write(path, &[points.len(), 2], points.as_flattened());
    }
    atomic::write(path, |out| points.iter().try_for_each(|[x, y]| writeln!(out, "{x:?} {y:?}")))
}
