//! The plane blocks of a `polyMesh` in text that was extruded, in one layer of cells or in several.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::diagnostics::excerpt;
use crate::formats::block::{Cursor, ReadFault};
use crate::formats::quads;
use crate::formats::rim::{ReadZone, condition_of};
use crate::grid::boundary::{Patch, SideKind};

/// The files of the folder that are read.
pub(in crate::formats) const READ: [&str; 3] = ["points", "faces", "boundary"];

pub(in crate::formats) const READ_HINT: &str = "give a polyMesh in text (writeFormat ascii) of one block of hexahedra, or of blocks in rows, extruded along x, y or z";

/// The folder of the mesh within that of a case.
pub(in crate::formats) fn mesh_in(path: &Path) -> Result<PathBuf, ReadFault> {
    let folders = ["constant/polyMesh", "polyMesh", ""].map(|name| path.join(name));
    let found =
        folders.into_iter().find(|folder| READ.iter().all(|name| folder.join(name).is_file()));
    found.ok_or_else(|| ReadFault::Layout {
        reason: "a folder without points, faces and boundary in constant/polyMesh; a case of OpenFOAM was expected".into(),
        hint: "give the folder of a case with its mesh, unpacked if it is points.gz",
    })
}

/// Takes words from the front of a file: brackets, braces, `;`, and what is between blanks.
#[derive(Clone)]
struct Words<'a> {
    file: &'static str,
    cursor: Cursor<'a>,
}

impl<'a> Words<'a> {
    /// The words behind the head of a file in text.
    fn of(file: &'static str, bytes: &'a [u8]) -> Result<Self, ReadFault> {
        // Binary files have a head in text.
        let valid = bytes.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        let mut words = Self { file, cursor: Cursor { rest: valid, line: 1 } };
        let mut head = vec![""];
        if words.peek() == Some("FoamFile") {
            head = std::iter::from_fn(|| words.next().filter(|word| *word != "}")).collect();
        }
        if head.windows(2).any(|pair| pair == ["format", "binary"]) {
            return Err(words.wrong("format binary", "format ascii (foamFormatConvert writes it)"));
        }
        if valid.len() < bytes.len() {
            return Err(ReadFault::broken(bytes, valid.len(), format!("text in the file {file}")));
        }
        Ok(words)
    }

    fn next(&mut self) -> Option<&'a str> {
        let cursor = &mut self.cursor;
        cursor.pass(char::is_whitespace, &[["/*", "*/"], ["//", "\n"]])?;
        let single = |c: char| matches!(c, '(' | ')' | '{' | '}' | ';');
        let end = match cursor.rest.find(|c: char| c.is_whitespace() || single(c)) {
            Some(0) => 1,
            end => end.unwrap_or(cursor.rest.len()),
        };
        Some(cursor.take(end))
    }

    fn peek(&self) -> Option<&'a str> {
        self.clone().next()
    }

    fn wrong(&self, found: &str, expected: &str) -> ReadFault {
        let found = if found.is_empty() {
            "the end of the file".into()
        } else {
            format!("`{}`", excerpt(found))
        };
        format!("{}, line {}: {found}, {expected} was expected", self.file, self.cursor.line).into()
    }

    fn expect(&mut self, word: &str) -> Result<(), ReadFault> {
        let found = self.next().unwrap_or_default();
        if found == word { Ok(()) } else { Err(self.wrong(found, &format!("`{word}`"))) }
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, ReadFault> {
        let found = self.next().unwrap_or_default();
        found.parse().map_err(|_| self.wrong(found, "a number"))
    }

    /// The items of a list in brackets behind its length.
    fn list<T>(
        &mut self,
        item: impl Fn(&mut Self) -> Result<T, ReadFault>,
    ) -> Result<Vec<T>, ReadFault> {
        let count: usize = self.number()?;
        self.expect("(")?;
        let items: Result<Vec<T>, ReadFault> = (0..count).map(|_| item(self)).collect();
        let items = items?;
        self.expect(")").map(|()| items)
    }
}

/// A patch of the list `boundary`.
struct Boundary {
    patch: Patch,
    kind: String,
    /// Its first face, and their number.
    faces: [usize; 2],
}

fn boundary(words: &mut Words<'_>) -> Result<Boundary, ReadFault> {
    let name = words.next().unwrap_or_default();
    words.expect("{")?;
    let (mut kind, mut faces) = (String::new(), [None; 2]);
    loop {
        let key = words.next().unwrap_or_default();
        match key {
            "}" => break,
            "" => return Err(words.wrong("", "`}`")),
            "type" => words.next().unwrap_or_default().clone_into(&mut kind),
            "startFace" => faces[0] = Some(words.number()?),
            "nFaces" => faces[1] = Some(words.number()?),
            _ => {}
        }
        while let Some(word) = words.next() {
            match word {
                ";" => break,
                "}" => return Err(words.wrong(word, "`;`")),
                _ => {}
            }
        }
    }
    let [Some(first), Some(count)] = faces else {
        return Err(words.wrong(name, "a patch with nFaces and startFace"));
    };
    let condition = match &*kind {
        "wall" => None,
        "symmetry" | "symmetryPlane" => Some(SideKind::Symmetry),
        _ => condition_of(name).or(Some(SideKind::FarField)),
    };
    Ok(Boundary { patch: Patch::named(name, condition), kind, faces: [first, count] })
}

/// Reads the blocks of the files [`READ`] with their patches.
pub(in crate::formats) fn zones(
    [points, faces, patches]: [&[u8]; 3],
    notes: &mut Vec<String>,
) -> Result<Vec<ReadZone>, ReadFault> {
    let points = Words::of(READ[0], points)?.list(|words| {
        words.expect("(")?;
        let point = [words.number::<f64>()?, words.number()?, words.number()?];
        words.expect(")").map(|()| point)
    })?;
    let faces = Words::of(READ[1], faces)?.list(|words| words.list(Words::number::<usize>))?;
    let patches = Words::of(READ[2], patches)?.list(boundary)?;
    if let Some(point) = faces.iter().flatten().find(|point| **point >= points.len()) {
        return Err(format!("a face has the point {point} of {}", points.len()).into());
    }
    let end = |patch: &Boundary| patch.faces[0].checked_add(patch.faces[1]);
    if let Some(patch) = patches.iter().find(|patch| end(patch).is_none_or(|end| end > faces.len()))
    {
        let (name, last) = (patch.patch.name(), faces.len());
        return Err(format!("the patch `{name}` ends behind the last of {last} faces").into());
    }
    let ((plane, _), axis) = [2, 1, 0]
        .into_iter()
        .filter_map(|axis| Some((back(&points, &faces, &patches, axis)?, axis)))
        .min_by_key(|((cells, is_empty), _)| (!is_empty, std::cmp::Reverse(cells.len())))
        .ok_or("no plane of faces whose points all others repeat along x, y or z")?;
    if let Some(face) = plane.iter().find(|face| faces[**face].len() != 4) {
        let corners = faces[*face].len();
        return Err(format!(
            "the face {face} of the plane has {corners} corners, 4 of a quadrilateral were expected"
        )
        .into());
    }
    // Points of the plane are counted as they occur, from the corner of a face that was written backwards.
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut plane_points = Vec::new();
    let others = [[1, 2], [0, 2], [0, 1]][axis];
    let cells: Vec<[usize; 4]> = plane
        .iter()
        .filter_map(|face| faces[*face].first_chunk().copied())
        .map(|[a, b, c, d]| {
            [a, d, c, b].map(|point| {
                *numbers.entry(point).or_insert_with(|| {
                    plane_points.push(others.map(|c| points[point][c]));
                    plane_points.len() - 1
                })
            })
        })
        .collect();
    let mut edges = HashMap::new();
    for Boundary { patch, faces: [first, count], .. } in &patches {
        for face in &faces[*first..first + count] {
            let on_plane: Vec<usize> =
                face.iter().filter_map(|point| numbers.get(point).copied()).collect();
            if let [a, b] = on_plane[..] {
                edges.insert([a.min(b), a.max(b)], *patch);
            }
        }
    }
    let shown = ["x", "y", "z"][axis];
    notes.push(format!("OpenFOAM: {} cells in the plane of least {shown}.", cells.len()));
    quads::zones((cells.as_flattened(), 1), &plane_points, &edges, notes)
}

/// Copies of a point on other planes are closer than this part of the largest coordinate.
const SAME: f64 = 1e-9;

/// The faces of patches in the plane of the least coordinate along an axis, and whether they are of an empty patch; none
/// where not all points repeat those of that plane, layer by layer.
fn back(
    points: &[[f64; 3]],
    faces: &[Vec<usize>],
    patches: &[Boundary],
    axis: usize,
) -> Option<(Vec<usize>, bool)> {
    let along = || points.iter().map(|point| point[axis]);
    let [low, high] =
        [along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max)];
    let near = 1e-9 * (high - low);
    let is_low = |point: &usize| points[*point][axis] - low <= near;
    let own = |patch: &Boundary| {
        (patch.faces[0]..patch.faces[0] + patch.faces[1])
            .filter(|face| faces[*face].iter().all(is_low))
    };
    let plane: Vec<usize> = patches.iter().flat_map(own).collect();
    let empty = patches.iter().any(|patch| patch.kind == "empty" && own(patch).next().is_some());
    // blockMesh computes points of curved edges plane by plane, so that copies differ by round-off.
    let largest = points.iter().flatten().fold(0.0_f64, |most, c| most.max(c.abs()));
    let key = |point: &[f64; 3]| {
        [1, 2].map(|k| (point[(axis + k) % 3] / (SAME * largest)).round() as i64)
    };
    let beside =
        |[a, b]: [i64; 2], k: i64| [a.saturating_add(k % 3 - 1), b.saturating_add(k / 3 - 1)];
    let corners: HashSet<usize> =
        plane.iter().flat_map(|face| faces[*face].iter().copied()).collect();
    let places: HashSet<[i64; 2]> = corners.iter().map(|point| key(&points[*point])).collect();
    let layered = !corners.is_empty()
        && points.len().is_multiple_of(corners.len())
        && points.len() / corners.len() > 1
        && points.iter().all(|point| (0..9).any(|k| places.contains(&beside(key(point), k))));
    layered.then_some((plane, empty))
}
