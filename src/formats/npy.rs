//! Arrays of numpy in files, `.npy`: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
//!
//! Read are arrays of 8-byte floats in C order, which is what programs exchange here; written is version 1.0.
//! The library that reads all of the format brings a parser of Python literals whose build needs a C compiler.

use std::io::Write;
use std::path::Path;

use super::block::{ReadError, ReadFault, bits, reals};
use crate::files::{IoError, atomic, pieces};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The header ends at a multiple of this.
const ALIGNMENT: usize = 64;

const MEMORY_A_BYTE: u64 = 2;

/// Reads an array of this shape.
///
/// # Errors
/// [`ReadError`] with the path: unreadable, no such array, another shape.
pub fn read(path: &Path, shape: &[usize]) -> Result<Vec<f64>, ReadError> {
    let error = |fault| ReadError::at(path, fault);
    let (found, values) = parsed(&ReadError::bytes(path, MEMORY_A_BYTE)?).map_err(error)?;
    if found != shape {
        let [expected, found] = [shape, &found].map(|shape| format!("{shape:?}"));
        return Err(error(ReadFault::Shape { expected, found }));
    }
    Ok(values)
}

/// Whether a file begins as one of this format does.
pub fn begins(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Shape and values of the bytes of a file. For tests.
pub fn parsed(bytes: &[u8]) -> Result<(Vec<usize>, Vec<f64>), ReadFault> {
    let hint = "write it by numpy.save(FILE, numpy.ascontiguousarray(array, dtype=\"<f8\"))";
    let wrong = |reason: &'static str| ReadFault::from(reason).with_hint(hint);
    let none = || wrong("no array of numpy");
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(none)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(none)?;
    let width = if version[0] == 1 { 2 } else { 4 };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(none)?;
    let (header, data) = rest.split_at_checked(bits(length, false) as usize).ok_or_else(none)?;
    let header = std::str::from_utf8(header).map_err(|_| none())?;
    // Keys and values as Python writes them, whatever their order and blanks.
    let header: String = header.chars().filter(|c| !c.is_whitespace()).collect();
    if !header.contains("'descr':'<f8'") {
        return Err(wrong("an array of other numbers than little-endian floats of 8 bytes"));
    }
    if !header.contains("'fortran_order':False") {
        return Err(wrong("an array in the order of Fortran"));
    }
    let shape = header.split_once("'shape':(").and_then(|(_, rest)| rest.split_once(')'));
    let (shape, _) = shape.ok_or_else(none)?;
    let lengths = shape.split(',').filter(|length| !length.is_empty());
    let shape: Vec<usize> =
        lengths.map(|length| length.parse().ok()).collect::<Option<_>>().ok_or_else(none)?;
    let count = shape.iter().try_fold(1_usize, |count, length| count.checked_mul(*length));
    let bytes = count.and_then(|count| count.checked_mul(8));
    if bytes != Some(data.len()) {
        return Err(wrong("an array that is cut off, or longer than its shape"));
    }
    Ok((shape, reals(data, 8, false)))
}

/// Writes an array in C order.
///
/// # Errors
/// [`IoError`] when the file cannot be written.
pub fn write(path: &Path, shape: &[usize], values: &[f64]) -> Result<(), IoError> {
    // A tuple of one ends with a comma.
    let lengths: Vec<String> = shape.iter().map(|length| format!("{length},")).collect();
    let header =
        format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}), }}", lengths.join(" "));
    // All before the header and the end of its line.
    let others = MAGIC.len() + 5;
    let width = (others + header.len()).next_multiple_of(ALIGNMENT) - others;
    let header = format!("{header:width$}\n");
    atomic::write(path, |out| {
        let length = (header.len() as u16).to_le_bytes();
        out.write_all(&[MAGIC, &[1, 0], &length, header.as_bytes()].concat())?;
        pieces::write_numbers(out, values)
    })
}
