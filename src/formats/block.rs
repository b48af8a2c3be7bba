//! Common parts of readers: a block as a file has it, the plane grid of it, the numbers of binary
//! files, and the errors.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};

use crate::diagnostics::{errors, excerpt};
use crate::files::contents;
use crate::grid::{Grid, Seam, Topology};
use crate::memory::{self, NotEnoughMemory};

errors! {
    /// A mesh could not be read.
    #[error("{}: {fault}", path.display())]
    pub struct ReadError { path: PathBuf, #[source] fault: ReadFault }
}

/// The hint where a mesh is no plane grid.
const PLANE: &str = "give a plane grid, or one that was extruded along its third index";

errors! {
    /// Reasons for which a mesh cannot be read.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum ReadFault {
        #[error("cannot be read: {0}")]
        #[hint = contents::hint]
        Unreadable(io::Error),
        #[error(transparent)]
        #[hint("{}", memory::HINT)]
        #[class(Input)]
        Memory(#[from] NotEnoughMemory),
        /// Repeat counts of a text file that mean more numbers than a grid of its length has.
        /// `place` is counted from 1.
        #[error("word {place}, `{word}`, makes more than {most} numbers of {bytes} bytes")]
        #[hint("write the numbers out: points of a grid differ from each other")]
        Repeats { place: usize, word: String, most: usize, bytes: usize },
        #[error("the Plot3D layout is ambiguous: {}, or {}", .0[0], .0[1])]
        #[hint("write the mesh as text with three dimensions and a block count")]
        Ambiguous([String; 2]),
        /// A file of a known format that is not laid out as expected.
        #[error("{reason}")]
        #[hint("{hint}")]
        Layout { reason: Cow<'static, str>, hint: &'static str },
        /// A file that was cut off, or behind whose end something follows.
        /// `at` is counted from 0.
        #[error(
            "byte {at}: {} is here, {expected} was expected",
            if *cut { "the end of the file" } else { "something else" }
        )]
        #[hint("the file is not whole: copy it or write it once more")]
        Broken { at: usize, cut: bool, expected: String },
        /// Several zones, by the nodes of each, where one grid is needed.
        #[error("a mesh of {} zones, the first of {} nodes; one was expected", .0.len(), times(.0.first().map_or(&[], |size| size)))]
        #[hint("write each zone to a file of its own (gridgen convert to .vts does so), or join them to one")]
        Zones(Vec<[usize; 2]>),
        /// `line` is counted from 1.
        #[error("line {line}: `{found}`, two numbers x y were expected")]
        #[hint("give a line x y for each point")]
        NoPoint { line: usize, found: String },
        #[error("an array of shape {found}, {expected} was expected")]
        #[hint("give an array of that shape, in the order of the reference")]
        Shape { expected: String, found: String },
        /// The block has three dimensions of these many nodes, more than two, and no extruded plane.
        #[error("a volume of {} nodes, a plane grid was expected", times(.0))]
        #[hint("{PLANE}")]
        Volume(Vec<usize>),
        #[error("none of x, y and z is constant on the surface, a plane grid was expected")]
        #[hint("{PLANE}")]
        NotPlane,
        #[error("{} × {} nodes make no cell", .0[0], .0[1])]
        #[hint("{PLANE}")]
        NoCells([usize; 2]),
    }
}

/// A file that is laid out otherwise; its reader adds the hint.
impl From<&'static str> for ReadFault {
    fn from(reason: &'static str) -> Self {
        Self::Layout { reason: reason.into(), hint: "" }
    }
}

/// A file that is laid out otherwise, in words that depend on it.
impl From<String> for ReadFault {
    fn from(reason: String) -> Self {
        Self::Layout { reason: reason.into(), hint: "" }
    }
}

impl ReadFault {
    /// Adds the hint of its reader, where it has none.
    pub(super) fn with_hint(mut self, of_reader: &'static str) -> Self {
        if let Self::Layout { hint: hint @ "", .. } = &mut self {
            *hint = of_reader;
        }
        self
    }

    /// The fault of a line, from 1, that has something else than what was expected.
    pub(super) fn of_line(line: usize, found: &str, expected: &str) -> Self {
        format!("line {line}: `{}`, {expected} expected", excerpt(found)).into()
    }

    /// The fault of a file that has something else than `expected`, or nothing, at this place.
    pub(super) fn broken(bytes: &[u8], at: usize, expected: impl Into<String>) -> Self {
        let at = at.min(bytes.len());
        Self::Broken { at, cut: at == bytes.len(), expected: expected.into() }
    }

    /// The fault of a file that ends where something was expected.
    pub(super) fn cut(bytes: &[u8], expected: impl Into<String>) -> Self {
        Self::broken(bytes, bytes.len(), expected)
    }
}

impl ReadError {
    /// The bytes of a file whose contents take at most this memory for each of them.
    pub(super) fn bytes(path: &Path, memory_a_byte: u64) -> Result<Vec<u8>, Self> {
        let unreadable = |source| Self::at(path, ReadFault::Unreadable(source));
        contents::read(path, memory_a_byte).map_err(unreadable)
    }

    pub(super) fn at(path: &Path, fault: ReadFault) -> Self {
        Self { path: path.to_path_buf(), fault }
    }
}

/// Takes parts of a text from its front and counts its lines.
#[derive(Debug, Clone)]
pub(super) struct Cursor<'a> {
    pub(super) rest: &'a str,
    /// The line at which the rest begins, from 1.
    pub(super) line: usize,
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, length: usize) -> &'a str {
        let (text, rest) = self.rest.split_at(length);
        self.line += text.matches('\n').count();
        self.rest = rest;
        text
    }

    /// Passes over blanks and over comments, each of which has this beginning and this end; none at the end of the text.
    pub(super) fn pass(
        &mut self,
        is_blank: fn(char) -> bool,
        comments: &[[&str; 2]],
    ) -> Option<()> {
        loop {
            self.take(self.rest.find(|c| !is_blank(c))?);
            let comment = comments.iter().find(|[begin, _]| self.rest.starts_with(begin));
            let Some([_, end]) = comment else { return Some(()) };
            let length = self.rest.find(end).map_or(self.rest.len(), |at| at + end.len());
            self.take(length);
        }
    }
}

/// Numbers of nodes in a sentence.
pub(super) fn times(sizes: &[usize]) -> String {
    sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ")
}

/// A coordinate that varies less than this part of the largest extent is constant.
const FLAT: f64 = 1e-12;

/// Memory for a number of a mesh: of the file, of its block, of its plane, and of the turned grid.
const NUMBER_BYTES: u64 = 32;

/// One block as a file has it: two or three dimensions, coordinate by coordinate, i fastest.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Block {
    pub(super) dimensions: Vec<usize>,
    pub(super) coordinates: Vec<Vec<f64>>,
}

impl Block {
    /// A block of points x, y, z, one after the other.
    pub(super) fn of_points(dimensions: Vec<usize>, values: &[f64]) -> Self {
        let coordinate = |c: usize| values.iter().skip(c).step_by(3).copied().collect();
        Self { dimensions, coordinates: (0..3).map(coordinate).collect() }
    }

    /// The plane grid of a block: of three dimensions the last of one node is left out, or else the
    /// last of two, or else the one that a grid was extruded along, the third or the second, and the
    /// coordinate that is constant on the first plane. The number is the index that was left out.
    pub(super) fn plane(self) -> Result<(Grid, usize), ReadFault> {
        let Self { dimensions, coordinates } = self;
        let sizes = [0, 1, 2].map(|axis| dimensions.get(axis).copied().unwrap_or(1));
        let strides = [1, sizes[0], sizes[0] * sizes[1]];
        let thin = |nodes| sizes.iter().rposition(|&n| n == nodes);
        let extruded = || [2, 1].into_iter().find(|&axis| extruded(&coordinates, sizes, axis));
        let across = thin(1).or_else(|| thin(2)).or_else(extruded);
        let across = across.ok_or(ReadFault::Volume(dimensions))?;
        let [a, b] = [[1, 2], [0, 2], [0, 1]][across];
        let (ni, nj) = (sizes[a], sizes[b]);
        if ni < 2 || nj < 2 {
            return Err(ReadFault::NoCells([ni, nj]));
        }
        let plane = |all: Vec<f64>| -> Vec<f64> {
            (0..ni * nj).map(|n| all[n % ni * strides[a] + n / ni * strides[b]]).collect()
        };
        let planes = coordinates.into_iter().map(plane).collect();
        let [x, y] = varying(planes).ok_or(ReadFault::NotPlane)?;
        Ok((Grid { topology: Topology::O(Seam::Held), ni, nj, x, y, outside: None }, across))
    }
}

pub(super) fn check_memory(numbers: usize) -> Result<(), NotEnoughMemory> {
    memory::check((numbers as u64).saturating_mul(NUMBER_BYTES))
}

/// The bits of a number of at most eight bytes.
pub(super) fn bits(field: &[u8], big: bool) -> u64 {
    let fill = |bits: u64, byte: &u8| bits << 8 | u64::from(*byte);
    if big { field.iter().fold(0, fill) } else { field.iter().rev().fold(0, fill) }
}

/// Reals of four or eight bytes, one after the other.
pub(super) fn reals(bytes: &[u8], size: usize, big: bool) -> Vec<f64> {
    let four =
        |field: &[u8; 4]| if big { f32::from_be_bytes(*field) } else { f32::from_le_bytes(*field) };
    let eight =
        |field: &[u8; 8]| if big { f64::from_be_bytes(*field) } else { f64::from_le_bytes(*field) };
    match size {
        4 => bytes.as_chunks().0.iter().map(|field| f64::from(four(field))).collect(),
        _ => bytes.as_chunks().0.iter().map(eight).collect(),
    }
}

/// The number of a word as Fortran writes it, too: its D is an E, and it leaves out either before three digits.
pub(super) fn real(word: &[u8]) -> Option<f64> {
    let of_fortran = |_| {
        let mut text = word.to_ascii_lowercase();
        if let Some(at) = text.iter().position(|&byte| byte == b'd') {
            text[at] = b'e';
        } else if let Some(at) = text.iter().rposition(|byte| matches!(byte, b'+' | b'-')) {
            text.insert(at, b'e');
        }
        fast_float2::parse(&text)
    };
    fast_float2::parse(word).or_else(of_fortran).ok()
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
