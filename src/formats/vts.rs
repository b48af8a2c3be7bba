//! VTK XML structured grids, `.vts`.
//!
//! Layout: an XML head, then `_` and the arrays as raw little-endian bytes, each preceded by its
//! length as an unsigned 64-bit integer, or compressed in blocks, preceded by the number and the
//! lengths of the blocks. Source: "VTK XML Formats",
//! <https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html>.

use std::io::{self, Seek, SeekFrom, Write};

use super::arrays::{
    Blocks, CELL_ARRAYS, F64_BYTES, head_of_blocks, inflated, write_cells, write_points,
};
use super::block::{Block, ReadFault, Reader, bits, check_memory, real};
use super::mesh::{Limits, Span, count, layers};
use super::zones::{OversetMesh, Zones, ZonesContents, ZonesFile, of_zone};
use super::{Contents, Format, MeshFile};
use crate::files::contents;
use crate::files::joint::JointFile;
use crate::files::sink::Sink;
use crate::grid::Slab;
use crate::grid::quality::CellMeasure;

const LENGTH_BYTES: usize = size_of::<u64>();

pub(super) const FORMAT: Format = Format {
    name: "vts",
    title: "VTK XML",
    extensions: &["vts"],
    welded: false,
    files: &[MeshFile {
        names: ["mesh.vts", "mesh.failed.vts"],
        description: "VTK XML structured grid, raw little-endian f8, with area, skewness and \
                      aspect ratio of each cell",
        dimensions: None,
        // Compressed arrays are shorter than their numbers.
        limits: Limits::of(1),
        contents: Contents::File(|out, m| match m.settings.compression {
            Compression::None => write_to(out, m.grid, m.span),
            Compression::Zlib => write_compressed_to(out, m.grid, m.span),
        }),
    }],
    zones: Zones::Files {
        together: &[ZonesFile {
            names: ["mesh.vtm", "mesh.failed.vtm"],
            description: "VTK XML multi-block data set, which names the `.vts` file of each zone",
            dimensions: None,
            limits: Limits::NONE,
            contents: ZonesContents::File(write_index),
        }],
        each: true,
    },
    convert: None,
    reader: Some(Reader {
        begins: Some(|head| position(head, b"<VTKFile").is_some()),
        grid: |bytes, _| parse(bytes)?.plane(),
    }),
};

/// Whether the arrays are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compression {
    /// They stand as they are.
    #[default]
    None,
    /// In blocks, each a zlib stream.
    Zlib,
}

/// Writes the grid, in the plane z = 0 or extruded, with cell arrays `area`, `skewness` and
/// `aspect_ratio` of its plane.
///
/// Points and cell measures are encoded by rows in parallel as they are written: besides two
/// batches of rows, and as many compressed blocks, nothing is copied.
pub fn write_to<'g>(
    out: &mut impl Sink,
    grid: impl Into<Slab<'g>>,
    span: Option<Span>,
) -> io::Result<()> {
    let file = File { slab: grid.into(), span };
    let mut offsets = [0; ARRAYS];
    for array in 1..ARRAYS {
        offsets[array] = offsets[array - 1] + (LENGTH_BYTES + file.bytes(array - 1)) as u64;
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
pub fn write_compressed_to<'g>(
    out: &mut (impl Sink + Seek),
    grid: impl Into<Slab<'g>>,
    span: Option<Span>,
) -> io::Result<()> {
    let file = File { slab: grid.into(), span };
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
        let mut blocks = Blocks::new(out, file.slab.processes());
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

/// Writes the data set that names the files of all zones, which stand beside it.
fn write_index(out: &mut JointFile<'_>, mesh: &OversetMesh<'_>, good: bool) -> io::Result<()> {
    let head = r#"<VTKFile type="vtkMultiBlockDataSet" version="1.0" byte_order="LittleEndian" header_type="UInt64">"#;
    writeln!(out, "<?xml version=\"1.0\"?>\n{head}\n  <vtkMultiBlockDataSet>")?;
    for (index, zone) in mesh.zones.iter().enumerate() {
        let (name, file) = (zone.name, of_zone(FORMAT.files[0].name(good), zone.name));
        writeln!(out, r#"    <DataSet index="{index}" name="{name}" file="{file}"/>"#)?;
    }
    writeln!(out, "  </vtkMultiBlockDataSet>\n</VTKFile>")
}

/// Arrays of a file: the points, then those over the cells.
const ARRAYS: usize = 1 + CELL_ARRAYS.len();

/// What follows the arrays.
const TAIL: &[u8] = b"\n  </AppendedData>\n</VTKFile>\n";

/// What says of a file that its arrays are compressed.
const COMPRESSOR: &str = r#" compressor="vtkZLibDataCompressor""#;

struct File<'a> {
    slab: Slab<'a>,
    span: Option<Span>,
}

impl File<'_> {
    fn bytes(&self, array: usize) -> usize {
        let Self { slab, span } = *self;
        let points = 3 * slab.ni() * slab.nj() * count(span);
        (if array == 0 { points } else { slab.cells() * layers(span) }) * F64_BYTES
    }

    fn write_array(&self, out: &mut dyn Sink, array: usize) -> io::Result<()> {
        let Self { slab, span } = self;
        match array.checked_sub(1).map(|cells| CELL_ARRAYS[cells]) {
            None => write_points(out, slab, *span, f64::to_le_bytes),
            Some((_, measure)) => write_cells(out, slab, *span, measure, f64::to_le_bytes),
        }
    }

    /// The text before the arrays, with the place of each and what the file says of compression.
    fn head(&self, offsets: &[String; ARRAYS], compressor: &str) -> String {
        let (ni, nj, nk) = (self.slab.ni(), self.slab.nj(), count(self.span));
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

const HINT: &str =
    "save the mesh as one structured grid, ascii or appended raw, plain or compressed by zlib";

/// The file is laid out otherwise than it is read.
fn layout(reason: &'static str) -> ReadFault {
    ReadFault::Layout { reason, hint: HINT }
}

/// VTK's name of the compression that is read.
const ZLIB: &str = "vtkZLibDataCompressor";

/// Reads the points of the one piece: ascii, or appended raw, also compressed by zlib.
fn parse(bytes: &[u8]) -> Result<Block, ReadFault> {
    // Raw bytes may follow the appended mark; the head is text up to there.
    let data = position(bytes, b"<AppendedData");
    let head = String::from_utf8_lossy(&bytes[..data.unwrap_or(bytes.len())]);
    let file = tag(&head, "<VTKFile").ok_or(layout("not a VTK XML file"))?;
    if attribute(file, "type") != Some("StructuredGrid") {
        return Err(layout("a VTK file of another type, a structured grid was expected"));
    }
    if attribute(file, "compressor").is_some_and(|name| name != ZLIB) {
        return Err(layout("the arrays are compressed by another method than zlib"));
    }
    if head.matches("<Piece").count() != 1 {
        return Err(layout("one piece was expected"));
    }
    let extent = tag(&head, "<Piece").and_then(|t| attribute(t, "Extent")).and_then(dimensions);
    let dimensions = extent.ok_or(layout("the piece has no extent of six numbers"))?;
    let points = head.find("<Points").ok_or(layout("the piece has no points"))?;
    let array = tag(&head[points..], "<DataArray").ok_or(layout("the piece has no points"))?;
    let nodes = dimensions.iter().try_fold(3_usize, |p, &n| p.checked_mul(n));
    let numbers = nodes.ok_or(layout("the extent is too large"))?;
    let values = match attribute(array, "format") {
        Some("ascii") => ascii(&head[points..]).map_err(layout),
        Some("appended") => {
            let data = data.ok_or(layout("the appended data are missing"))?;
            appended(&bytes[data..], file, array, numbers)
        }
        _ => Err(layout("the points are neither ascii nor appended")),
    }?;
    if values.len() != numbers {
        return Err(layout("the number of points does not fit the extent"));
    }
    Ok(Block::of_points(dimensions, &values))
}

/// Numbers between the end of the array's tag and the next tag.
fn ascii(points: &str) -> Result<Vec<f64>, &'static str> {
    let array = points.find("<DataArray").unwrap_or(0);
    let text = points[array..].split_once('>').map_or("", |(_, rest)| rest);
    let words = text.split('<').next().unwrap_or("").split_whitespace();
    words.map(|w| w.parse().map_err(|_| "a coordinate is not a number")).collect()
}

/// The numbers of an appended raw array.
fn appended(data: &[u8], file: &str, array: &str, numbers: usize) -> Result<Vec<f64>, ReadFault> {
    let short = || layout("the appended data end early");
    let text = String::from_utf8_lossy(&data[..data.len().min(200)]).into_owned();
    let encoding = tag(&text, "<AppendedData").and_then(|t| attribute(t, "encoding"));
    if encoding != Some("raw") {
        return Err(layout("the appended data are not raw"));
    }
    let big = attribute(file, "byte_order") == Some("BigEndian");
    let marker = if attribute(file, "header_type") == Some("UInt64") { 8 } else { 4 };
    let size = match attribute(array, "type") {
        Some("Float64") => 8,
        Some("Float32") => 4,
        _ => return Err(layout("the points are neither Float32 nor Float64")),
    };
    let offset: usize = attribute(array, "offset")
        .and_then(|t| t.trim().parse().ok())
        .ok_or(layout("the points have no offset"))?;
    let start =
        position(data, b"_").and_then(|at| (at + 1).checked_add(offset)).ok_or_else(short)?;
    let expected = numbers.checked_mul(size).ok_or_else(short)?;
    let real = |field| real(field, big);
    if attribute(file, "compressor").is_some() {
        let data = data.get(start..).ok_or_else(short)?;
        if expected as u64 > contents::unpacked_limit(data.len()) {
            return Err(layout("the extent asks for far more than the compressed points hold"));
        }
        check_memory(numbers)?;
        let bytes = inflated(data, expected, marker, |field| bits(field, big));
        let bytes = bytes.ok_or(layout("the compressed points cannot be unpacked"))?;
        return Ok(bytes.chunks_exact(size).map(real).collect());
    }
    let begin = start.checked_add(marker).ok_or_else(short)?;
    let end = begin.checked_add(expected).ok_or_else(short)?;
    Ok(data.get(begin..end).ok_or_else(short)?.chunks_exact(size).map(real).collect())
}

/// Nodes in each direction from `i0 i1 j0 j1 k0 k1`.
fn dimensions(extent: &str) -> Option<Vec<usize>> {
    let ends: Vec<i64> = extent.split_whitespace().map_while(|w| w.parse().ok()).collect();
    let nodes = |pair: &[i64]| usize::try_from(pair[1].checked_sub(pair[0])?.checked_add(1)?).ok();
    (ends.len() == 6).then(|| ends.chunks(2).map(nodes).collect())?
}

/// The first tag that starts like this, to its end.
fn tag<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    let tag = &text[text.find(start)?..];
    Some(&tag[..tag.find('>').unwrap_or(tag.len())])
}

/// The value of an attribute in double or single quotes.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    ['"', '\''].iter().find_map(|&quote| {
        let start = [" ", name, "="].concat() + &quote.to_string();
        let value = &tag[tag.find(&start)? + start.len()..];
        value.split(quote).next()
    })
}

fn position(bytes: &[u8], part: &[u8]) -> Option<usize> {
    bytes.windows(part.len()).position(|w| w == part)
}
