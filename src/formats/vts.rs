//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer, or compressed in blocks, preceded by the number and the
//! lengths of the blocks. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::borrow::Cow;
use std::io::{self, Seek, SeekFrom, Write};

use memchr::{memchr, memchr_iter, memmem};
use roxmltree::{Document, Error, Node};

use super::arrays::{
    CELL_ARRAYS, COMPRESSORS, NUMBER_BYTES, Stored, ZlibBlocks, decoded, head_of_blocks,
    write_cells, write_points,
};
use super::block::{Block, ReadFault, check_memory};
use super::data::{Compression, MeshData};
use super::data::{Span, count, layers};
use super::format::{FileContents, Format, Holds, MeshFile, of_zone};
use super::rim::{ReadZone, Reader};
use crate::files::ByteSink;
use crate::files::atomic::Writer;
use crate::files::contents;
use crate::grid::Grid;
use crate::grid::quality::CellMeasure;

/// Names of a good grid and of one that is not.
const NAMES: [&str; 2] = ["mesh.vts", "mesh.failed.vts"];

pub(super) const FORMAT: Format = Format {
    name: "vts",
    title: "VTK XML",
    extensions: &["vts"],
    welded: false,
    files: &[
        MeshFile {
            names: NAMES,
            holds: Holds::One,
            dimensions: None,
            // Compressed arrays are shorter than their numbers.
            least_bytes: 1,
            contents: FileContents::File(|out, m| match m.settings.compression {
                Compression::None => write_to(out, m.grid(), m.span),
                Compression::Zlib => write_compressed_to(out, m.grid(), m.span),
            }),
        },
        MeshFile {
            names: ["mesh.vtm", "mesh.failed.vtm"],
            holds: Holds::Several,
            dimensions: None,
            least_bytes: 0,
            contents: FileContents::File(write_index),
        },
    ],
    refuses_zones: None,
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| memmem::find(head, b"<VTKFile").is_some()),
        hint: "save the mesh as one structured grid of one piece: in PyVista images and rectilinear grids \
               become one by cast_to_structured_grid(); of a .pvts or .vtm one of the files beside it is read",
        zones: |bytes, _| Ok(vec![ReadZone::of_block("", parse(bytes)?)?]),
    }),
};

/// Writes the grid, in the plane z = 0 or extruded, with cell arrays `area`, `skewness` and
/// `aspect_ratio` of its plane.
///
/// Points and cell measures are encoded by rows in parallel as they are written: besides two
/// batches of rows, and as many compressed blocks, nothing is copied.
pub fn write_to(out: &mut ByteSink<'_>, grid: &Grid, span: Option<Span>) -> io::Result<()> {
    let file = File { grid, span };
    let mut offsets = [0; ARRAYS];
    for array in 1..ARRAYS {
        offsets[array] = offsets[array - 1] + (NUMBER_BYTES + file.bytes(array - 1)) as u64;
    }
    out.write_all(file.head(&offsets.map(|offset| offset.to_string()), "").as_bytes())?;
    for array in 0..ARRAYS {
        out.write_all(&(file.bytes(array) as u64).to_le_bytes())?;
        file.write_array(out, array)?;
    }
    out.write_all(TAIL)
}

/// Writes the bytes of a compressed file. The lengths of the blocks and with them the places of the
/// arrays, which stand before them, are written last.
pub fn write_compressed_to(
    out: &mut (impl Write + Seek + Send),
    grid: &Grid,
    span: Option<Span>,
) -> io::Result<()> {
    let file = File { grid, span };
    // Places as wide as the largest number, so that the head keeps its length.
    let head = |offsets: &[u64; ARRAYS]| {
        file.head(&offsets.map(|offset| format!("{offset:<20}")), COMPRESSOR)
    };
    let mut offsets = [0; ARRAYS];
    out.write_all(head(&offsets).as_bytes())?;
    let data = out.stream_position()?;
    for array in 0..ARRAYS {
        let begin = out.stream_position()?;
        offsets[array] = begin - data;
        let lengths = head_of_blocks(file.bytes(array), &[]);
        out.write_all(&lengths)?;
        let mut blocks = ZlibBlocks::new(out);
        file.write_array(&mut blocks, array)?;
        let compressed = blocks.finish()?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(begin))?;
        out.write_all(&head_of_blocks(file.bytes(array), &compressed))?;
        out.seek(SeekFrom::Start(end))?;
    }
    out.write_all(TAIL)?;
    out.seek(SeekFrom::Start(0))?;
    out.write_all(head(&offsets).as_bytes())
}

/// Writes the data set that names the files of all zones, which are in the same folder.
fn write_index(out: &mut Writer<'_>, mesh: &MeshData<'_>) -> io::Result<()> {
    let head = r#"<VTKFile type="vtkMultiBlockDataSet" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#;
    writeln!(out, "<?xml version=\"1.0\"?>\n{head}\n  <vtkMultiBlockDataSet>")?;
    for (index, zone) in mesh.zones.iter().enumerate() {
        let (name, file) = (zone.name, of_zone(NAMES[usize::from(!mesh.good)], zone.name));
        writeln!(out, r#"    <DataSet index="{index}" name="{name}" file="{file}"/>"#)?;
    }
    writeln!(out, "  </vtkMultiBlockDataSet>\n</VTKFile>")
}

/// Arrays of a file: the points, then those over the cells.
const ARRAYS: usize = 1 + CELL_ARRAYS.len();

/// The text after the arrays.
const TAIL: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";

/// The attribute of a file whose arrays are compressed.
const COMPRESSOR: &str = r#" compressor="vtkZLibDataCompressor""#;

struct File<'a> {
    grid: &'a Grid,
    span: Option<Span>,
}

impl File<'_> {
    fn bytes(&self, array: usize) -> usize {
        let Self { grid, span } = *self;
        let points = 3 * grid.ni * grid.nj * count(span);
        (if array == 0 { points } else { grid.cells() * layers(span) }) * NUMBER_BYTES
    }

    fn write_array(&self, out: &mut ByteSink<'_>, array: usize) -> io::Result<()> {
        let Self { grid, span } = *self;
        match array.checked_sub(1).map(|cells| CELL_ARRAYS[cells]) {
            None => write_points(out, grid, span, f64::to_le_bytes),
            Some((_, measure)) => write_cells(out, grid, span, measure, f64::to_le_bytes),
        }
    }

    /// The text before the arrays, with the place of each and what the file says of compression.
    fn head(&self, offsets: &[String; ARRAYS], compressor: &str) -> String {
        let (ni, nj, nk) = (self.grid.ni, self.grid.nj, count(self.span));
        let extent = format!("0 {} 0 {} 0 {}", ni - 1, nj - 1, nk - 1);
        let points = &offsets[0];
        let array = |((name, _), offset): (&(&str, CellMeasure), &String)| {
            let place = format!(r#"format="appended" offset="{offset}""#);
            format!("        <DataArray type=\"Float64\" Name=\"{name}\" {place}/>\n")
        };
        let cells: Vec<String> = CELL_ARRAYS.iter().zip(&offsets[1..]).map(array).collect();
        let cells = cells.concat();
        format!(
            r#"<?xml version="1.0"?>
<VTKFile type="StructuredGrid" version="1.0" byte_order="LittleEndian" header_type="UInt64"{compressor}>
  <StructuredGrid WholeExtent="{extent}">
    <Piece Extent="{extent}">
      <Points>
        <DataArray type="Float64" Name="Points" NumberOfComponents="3" format="appended" offset="{points}"/>
      </Points>
      <CellData Scalars="skewness">
{cells}      </CellData>
    </Piece>
  </StructuredGrid>
  <AppendedData encoding="raw">
   _"#
        )
    }
}

/// Most tags that are read, each of which takes memory: a file has some for each of its arrays.
const XML_TAGS: usize = 1 << 14;

/// Reads the points of the one piece.
fn parse(bytes: &[u8]) -> Result<Block, ReadFault> {
    // Raw bytes may follow the appended mark, and XML stands up to there.
    let mark = memmem::find(bytes, b"<AppendedData");
    let head = str::from_utf8(&bytes[..mark.unwrap_or(bytes.len())]);
    let head =
        head.map_err(|e| ReadFault::broken(bytes, e.valid_up_to(), "text of an XML file"))?;
    let text = mark.map_or(Cow::Borrowed(head), |_| Cow::Owned([head, END].concat()));
    if memchr_iter(b'<', text.as_bytes()).count() > XML_TAGS {
        return Err(format!("XML of more than {XML_TAGS} tags, as no structured grid has").into());
    }
    let tree = Document::parse(&text).map_err(|error| match error {
        Error::UnclosedRootNode | Error::UnexpectedEndOfStream => ReadFault::cut(bytes, END),
        error => format!("broken XML: {error}").into(),
    })?;
    let file = tree.root_element();
    let kind = file.attribute("type").filter(|_| file.has_tag_name("VTKFile"));
    if kind != Some("StructuredGrid") {
        let kind = kind.unwrap_or("no VTK file");
        return Err(format!("VTK XML of type {kind}, a structured grid was expected").into());
    }
    let named = |name| file.descendants().filter(move |node| node.has_tag_name(name));
    let (Some(piece), 1) = (named("Piece").next(), named("Piece").count()) else {
        return Err("one piece was expected".into());
    };
    let dimensions = piece.attribute("Extent").and_then(dimensions);
    let dimensions = dimensions.ok_or("the piece has no extent of six numbers")?;
    let nodes = dimensions.iter().try_fold(3_usize, |p, &n| p.checked_mul(n));
    let numbers = nodes.ok_or("the extent is too large")?;
    let arrays = named("Points").flat_map(|points| points.children());
    let array = { arrays }.find(|node| node.has_tag_name("DataArray"));
    let array = array.ok_or("the piece has no points")?;
    let (format, kind) = (array.attribute("format"), array.attribute("type"));
    let mut words = array.text().unwrap_or_default().split_ascii_whitespace();
    let appended = mark.map(|mark| appended(file, bytes, mark)).transpose()?;
    if format == Some("ascii") {
        let values: Result<Vec<f64>, _> = words.map(fast_float2::parse).collect();
        let values = values.map_err(|_| "a coordinate is not a number")?;
        let fits = values.len() == numbers;
        return Ok(fits.then(|| Block::of_points(dimensions, &values)).ok_or(UNFIT)?);
    }
    let stored = match (format, appended) {
        (Some("binary"), _) => stored(file, words.next().unwrap_or_default().as_bytes(), true)?,
        (Some("appended"), Some((data, base64))) => {
            let offset = offset(array).ok_or("the points have no offset")?;
            stored(file, data.get(offset..).unwrap_or_default(), base64)?
        }
        _ => return Err("the points are neither ascii, binary nor appended".into()),
    };
    let size = [("Float64", 8), ("Float32", 4)].into_iter().find(|(name, _)| Some(*name) == kind);
    let (_, size) = size.ok_or("the points are neither Float32 nor Float64")?;
    if numbers.saturating_mul(size) as u64 > contents::unpacked_limit(stored.data.len()) {
        return Err("the extent asks for far more than the file holds".into());
    }
    check_memory(numbers)?;
    let values = stored.reals(numbers, size).ok_or(UNFIT)?;
    Ok(Block::of_points(dimensions, &values))
}

const UNFIT: &str = "the points are damaged, or not as many as the extent says";

/// The end of a file.
const END: &str = "</VTKFile>";

/// An array that begins here, as the head of the file says that arrays are encoded.
fn stored<'a>(file: Node<'_, '_>, data: &'a [u8], base64: bool) -> Result<Stored<'a>, ReadFault> {
    let big = file.attribute("byte_order") == Some("BigEndian");
    let width = if file.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
    let known = |name| COMPRESSORS.iter().find(|(known, _)| *known == name).ok_or(name);
    let unpack = file.attribute("compressor").map(known).transpose();
    let unpack = unpack.map_err(|name| {
        format!("arrays are compressed by {name}; zlib, LZ4, LZMA or none were expected")
    })?;
    let data = if base64 { Cow::Owned(decoded(data).ok_or(UNFIT)?) } else { Cow::Borrowed(data) };
    Ok(Stored { data, big, width, unpack: unpack.map(|(_, unpack)| *unpack) })
}

fn offset(array: Node<'_, '_>) -> Option<usize> {
    array.attribute("offset")?.trim().parse().ok()
}

/// The arrays behind the tag at `mark`, and whether they are in base64: whole, with the end of the file behind
/// them.
fn appended<'a>(
    file: Node<'_, '_>,
    bytes: &'a [u8],
    mark: usize,
) -> Result<(&'a [u8], bool), ReadFault> {
    let begin = memchr(b'_', &bytes[mark..]).map_or(bytes.len(), |at| mark + at + 1);
    let (mut data, base64) =
        (&bytes[begin..], memmem::find(&bytes[mark..begin], b"base64").is_some());
    let mut end = if base64 { memchr(b'<', data).unwrap_or(data.len()) } else { 0 };
    for array in file.descendants().filter(|_| !base64) {
        let Some(offset) = offset(array) else { continue };
        let extent = stored(file, data.get(offset..).unwrap_or_default(), false)?.extent();
        let to = extent.and_then(|[_, length]| offset.checked_add(length));
        end = to.filter(|to| *to <= data.len()).map(|to| end.max(to)).ok_or_else(|| {
            let name = array.attribute("Name").unwrap_or("Points");
            ReadFault::cut(bytes, format!("more of the array `{name}`"))
        })?;
    }
    let mut rest = data[end..].trim_ascii_start();
    for tag in ["</AppendedData>", END] {
        // A part of the tag at the end of the file is a cut, too.
        let left = if tag.as_bytes().starts_with(rest) { 0 } else { rest.len() };
        let behind = rest.strip_prefix(tag.as_bytes());
        let behind = behind.ok_or_else(|| ReadFault::broken(bytes, bytes.len() - left, tag))?;
        rest = behind.trim_ascii_start();
    }
    if base64 {
        data = data[..end].trim_ascii_end();
    }
    let whole = rest.is_empty().then_some((data, base64));
    whole.ok_or_else(|| ReadFault::broken(bytes, bytes.len() - rest.len(), "the end of the file"))
}

/// Nodes in each direction from `i0 i1 j0 j1 k0 k1`.
fn dimensions(extent: &str) -> Option<Vec<usize>> {
    let ends: Vec<i64> = extent.split_whitespace().map_while(|w| w.parse().ok()).collect();
    let nodes = |pair: &[i64]| usize::try_from(pair[1].checked_sub(pair[0])?.checked_add(1)?).ok();
    (ends.len() == 6).then(|| ends.chunks(2).map(nodes).collect())?
}
