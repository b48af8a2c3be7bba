//! `gridgen convert`: a mesh in another format.

use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use gridgen::files::IoError;
use gridgen::formats::plot3d::{Axes, ByteOrder, Encoding, Flavour, NumberPrecision};
use gridgen::formats::{
    self, Compression, Converted, FORMATS, Format, MeshData, NAMES, Settings, Sides, Span,
};
use gridgen::grid::quality::{MOST_ORDER, folds};
use gridgen::internals::atomic::{self, check_apart};

use super::summary::written;
use super::terminal::{Terminal, list};
use super::values::above_zero;
use super::{CommandFailure, code_if, word};

/// Arguments of `gridgen convert`.
#[derive(Debug, Args)]
#[command(after_help = after_help())]
pub(super) struct ConvertArguments {
    /// A Plot3D, .vts, .vtk, .su2, .cgns, .msh or Tecplot file, or the folder of an OpenFOAM case.
    #[arg(value_name = "MESH")]
    mesh: PathBuf,
    /// The file to write, or the folder of an OpenFOAM case.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// The format, where the name of FILE does not say it.
    #[arg(long, value_name = "TO", value_parser = format())]
    to: Option<&'static Format>,
    #[command(flatten)]
    layout: LayoutArguments,
}

/// Layout of a mesh in its file.
#[derive(Debug, Args)]
pub(super) struct LayoutArguments {
    /// Cells over the span of an extruded grid, 0 for a plane one.
    #[arg(long, value_name = "N", default_value_t = 0)]
    span_cells: usize,
    /// Span of an extruded grid.
    #[arg(long, value_name = "LENGTH", default_value_t = 1.0, value_parser = above_zero)]
    span: f64,
    /// The ends of the span.
    #[arg(long, value_name = "symmetry|periodic", default_value = "symmetry", value_parser = word::<Sides>)]
    sides: Sides,
    /// Compression of .vts.
    #[arg(long, value_name = "none|zlib", default_value = "none", value_parser = word::<Compression>)]
    compression: Compression,
    /// Coordinates a point in Plot3D.
    #[arg(long, value_name = "2|3", default_value_t = 3,
        value_parser = clap::value_parser!(u8).range(2..=3))]
    dimensions: u8,
    /// Plot3D as text, as Fortran records, or as the bytes alone.
    #[arg(long, value_name = "text|fortran|stream", default_value = "text", value_parser = word::<Encoding>)]
    encoding: Encoding,
    /// Bytes or digits of a number in Plot3D.
    #[arg(long, value_name = "single|double", default_value = "double", value_parser = word::<NumberPrecision>)]
    precision: NumberPrecision,
    /// Byte order of binary Plot3D.
    #[arg(long, value_name = "little|big", default_value = "little", value_parser = word::<ByteOrder>)]
    byte_order: ByteOrder,
    /// Whether Plot3D begins with a block count [default: with 3 dimensions].
    #[arg(long, value_name = "true|false")]
    block_count: Option<bool>,
    /// Write IBLANK numbers to Plot3D.
    #[arg(long)]
    blanking: bool,
    /// Indices of Plot3D: around, outward, span, or around, span, outward as FUN3D has them.
    #[arg(long, value_name = "ijk|fun3d", default_value = "ijk", value_parser = word::<Axes>)]
    axes: Axes,
    /// Order of the cells of .msh: each takes that many cells of MESH in each direction, whose numbers are
    /// multiples of it: 257 x 129 points, the default of a case, make cells of order 2 and 4.
    #[arg(long, value_name = "1|2|3|4", default_value = "1", value_parser = order)]
    curved_order: usize,
    /// Replace a mesh of OpenFOAM or a neutral map that gridgen did not write.
    #[arg(long)]
    force: bool,
}

/// A format, by its word in a case.
fn format() -> impl TypedValueParser<Value = &'static Format> {
    let unknown = || std::io::Error::other("no such format");
    PossibleValuesParser::new(NAMES).try_map(move |name| Format::named(&name).ok_or_else(unknown))
}

/// The text after the options in the help.
fn after_help() -> String {
    let named = FORMATS.iter().filter(|format| !format.extensions.is_empty());
    let (plain, others): (Vec<_>, Vec<_>) =
        named.partition(|format| format.extensions == [format.name]);
    let plain = endings(plain.iter().map(|format| format.name)).join(", ");
    let others = others.iter().map(|format| {
        let ends = endings(format.extensions.iter().copied());
        format!("; {} for {}", ends.join(", "), format.title)
    });
    let others: String = others.collect();
    format!(
        "\
Examples:
  gridgen convert mesh.p3d -o mesh.vts
  gridgen convert mesh.vts -o mesh.p3d --encoding fortran --byte-order big
  gridgen convert mesh.su2 -o wing --to openfoam
  gridgen convert mesh.vts -o mesh.su2 --span-cells 8 --span 0.5 --sides periodic
  gridgen convert mesh.vts -o mesh.msh --curved-order 2

MESH is told by its first bytes, else by its name. The format follows from the name of FILE: {plain}{others}. Plot3D
with three dimensions gets a neutral map, FILE.nmf, beside it.

Exit codes: 0 written; 1 written but the grid is folded, or not written since curved cells are; 2 not
written."
    )
}

/// The ends of the names of files as users write them, with a point.
fn endings<'a>(ends: impl Iterator<Item = &'a str>) -> Vec<String> {
    ends.map(|end| format!(".{end}")).collect()
}

/// An order of cells.
fn order(text: &str) -> Result<usize, String> {
    let order = text.parse().ok().filter(|order| (1..=MOST_ORDER).contains(order));
    order.ok_or_else(|| format!("a number from 1 to {MOST_ORDER} was expected"))
}

impl ConvertArguments {
    /// Reads, writes, and says how the mesh was read; exit code 1 for a folded grid.
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let format =
            self.to.map_or_else(|| format_of(&self.output, ", or choose one with --to"), Ok)?;
        let contents = formats::contents(&self.mesh)?;
        let map = format.beside(&self.output);
        let read = formats::map_of(&self.mesh);
        check_apart([Some(&*self.output), map.as_deref()], [Some(&*self.mesh), read.as_deref()])?;
        let files = self.layout.write(format, &self.output, contents.data(), terminal)?;
        let grids = &contents.grids;
        let sizes: Vec<_> = grids.iter().map(|grid| format!("{} x {}", grid.ni, grid.nj)).collect();
        let size = format!("{}: {} points\n", self.mesh.display(), sizes.join(" + "));
        let written = written(&files, &[]);
        terminal.result(&[size, list("read as", &contents.notes), written].concat())?;
        let folded: usize = grids.iter().map(folds).sum();
        if folded > 0 {
            terminal.error(&format!("folded cells in the grid: {folded}"), None);
        }
        Ok(code_if(folded == 0))
    }
}

/// The format that the name of a file implies.
pub(super) fn format_of(path: &Path, or_else: &str) -> Result<&'static Format, CommandFailure> {
    Format::of_path(path).ok_or_else(|| {
        let message = format!("{}: no format has such a name", path.display());
        let mut ends =
            endings(FORMATS.iter().filter_map(|format| format.extensions.first().copied()));
        let last = ends.pop().unwrap_or_default();
        let ends = ends.join(", ");
        CommandFailure::input(&message, Some(&format!("name it {ends} or {last}{or_else}")))
    })
}

impl LayoutArguments {
    /// Writes a mesh in a format, and says what the writer notes; returns the files.
    pub(super) fn write(
        &self,
        format: &Format,
        output: &Path,
        mesh: MeshData<'_>,
        terminal: &Terminal,
    ) -> Result<Vec<PathBuf>, IoError> {
        // A conversion that was killed here may have left a part of a file.
        atomic::sweep(atomic::folder_of(output));
        let settings = Settings {
            compression: self.compression,
            plot3d: self.flavour(),
            curved_order: self.curved_order,
            ..Settings::default()
        };
        let mesh = MeshData { span: self.span(), settings, ..mesh };
        let Converted { files, notes } = format.convert(output, &mesh, self.force)?;
        for note in &notes {
            terminal.note(note);
        }
        Ok(files)
    }

    fn span(&self) -> Option<Span> {
        let (length, cells) = (self.span, self.span_cells);
        (cells > 0).then_some(Span { length, cells, sides: self.sides })
    }

    fn flavour(&self) -> Flavour {
        Flavour {
            dimensions: self.dimensions,
            encoding: self.encoding,
            precision: self.precision,
            byte_order: self.byte_order,
            block_count: self.block_count.unwrap_or(self.dimensions == 3),
            blanking: self.blanking,
            axes: self.axes,
        }
    }
}
