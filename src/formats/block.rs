//! What readers have in common: a block as a file has it, and the plane grid of it.

use std::path::Path;

use super::ReadError;
use crate::grid::{Grid, Seam, Topology};
use crate::memory;

/// A coordinate that varies less than this part of the largest extent is constant.
const FLAT: f64 = 1e-12;

/// Memory for a number of a mesh: of the file, of its block, of its plane, and of the turned grid.
pub(super) const NUMBER_BYTES: u64 = 32;

/// One block as a file has it: two or three dimensions, coordinate by coordinate, i fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    pub(super) dimensions: Vec<usize>,
    pub(super) coordinates: Vec<Vec<f64>>,
}

/// How a file is recognised and read.
#[derive(Debug)]
pub(super) struct Reader {
    /// Whether a file begins like one of this format; none where that cannot be told.
    pub(super) begins: Option<fn(&[u8]) -> bool>,
    /// The plane grid of the bytes; what is worth saying goes to the notes.
    pub(super) grid: Read,
}

type Read = fn(&Path, &[u8], &mut Vec<String>) -> Result<Grid, ReadError>;

impl Block {
    /// The plane grid of a block: of three dimensions the last of one node is left out, or else the
    /// last of two, or else the one that a grid was extruded
    /// along, the third or the second, and the coordinate that is constant on the first plane.
    pub(super) fn plane(self, path: &Path) -> Result<Grid, ReadError> {
        let Self { dimensions, coordinates } = self;
        let planes = match dimensions[..] {
            [ni, nj, nk] => {
                let sizes = [ni, nj, nk];
                let thin = |nodes| sizes.iter().rposition(|&n| n == nodes);
                let extruded =
                    || [2, 1].into_iter().find(|&axis| extruded(&coordinates, sizes, axis));
                let Some(thin) = thin(1).or_else(|| thin(2)).or_else(extruded) else {
                    return Err(ReadError::Volume { path: path.to_path_buf(), dimensions });
                };
                let stride = [1, ni, ni * nj];
                let [a, b] = [[1, 2], [0, 2], [0, 1]][thin];
                let plane = |all: &Vec<f64>| -> Vec<f64> {
                    (0..sizes[a] * sizes[b])
                        .map(|n| all[n % sizes[a] * stride[a] + n / sizes[a] * stride[b]])
                        .collect()
                };
                (sizes[a], sizes[b], coordinates.iter().map(plane).collect())
            }
            _ => (dimensions[0], dimensions[1], coordinates),
        };
        let (ni, nj, coordinates): (usize, usize, Vec<Vec<f64>>) = planes;
        if ni < 2 || nj < 2 {
            return Err(ReadError::NoCells { path: path.to_path_buf(), ni, nj });
        }
        let [x, y] =
            varying(coordinates).ok_or(ReadError::NotPlane { path: path.to_path_buf() })?;
        Ok(Grid { topology: Topology::O(Seam::Held), ni, nj, x, y })
    }
}

/// Refuses a mesh of so many numbers that does not fit the memory.
pub(super) fn check_memory(path: &Path, numbers: usize) -> Result<(), ReadError> {
    memory::check((numbers as u64).saturating_mul(NUMBER_BYTES))
        .map_err(|source| ReadError::Memory { path: path.to_path_buf(), source })
}

/// Whether all planes across an axis have the coordinates of the first, but for one that is constant on
/// each.
fn extruded(coordinates: &[Vec<f64>], [ni, nj, nk]: [usize; 3], axis: usize) -> bool {
    let strides = [1, ni, ni * nj];
    let place = |n: usize| n / strides[axis] % [ni, nj, nk][axis] * strides[axis];
    let same = |a: f64, b: f64| a.to_bits() == b.to_bits();
    let repeats = |values: &[f64]| (0..values.len()).all(|n| same(values[n], values[n - place(n)]));
    let level = |values: &[f64]| (0..values.len()).all(|n| same(values[n], values[place(n)]));
    let repeated = coordinates.iter().filter(|values| repeats(values)).count();
    repeated == 2 && coordinates.iter().all(|values| repeats(values) || level(values))
}

/// The two coordinates that vary.
fn varying(coordinates: Vec<Vec<f64>>) -> Option<[Vec<f64>; 2]> {
    let extent = |values: &[f64]| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - low
    };
    let largest = coordinates.iter().map(|c| extent(c)).fold(0.0, f64::max);
    let planar = coordinates.len() == 2;
    let varying: Vec<Vec<f64>> =
        coordinates.into_iter().filter(|c| planar || extent(c) > FLAT * largest).collect();
    varying.try_into().ok()
}
