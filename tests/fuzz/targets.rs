//! All readers of user input, each as a function of bytes. It must end without a panic, in bounded time and
//! memory, with a valid result or with an error that says what to do.

use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression as Effort;
use flate2::write::GzEncoder;
use gridgen::backend::cuda::launch::cache::{self, CacheKey};
use gridgen::case::{Case, VISCOUS, template};
use gridgen::files::restart;
use gridgen::formats::matrix_market::{self, MatrixMarketError, SourceLine};
use gridgen::formats::plot3d::{self, Axes, ByteOrder, Encoding, Flavour, NumberPrecision};
use gridgen::formats::{
    Contents, Mesh, MeshData, ReadError, Sides, Span, cgns, contents_from_bytes, contents_of_case,
    msh, nmf, su2, vtk, vts,
};
use gridgen::geometry::{
    BaseCells, SurfaceSettings, TrailingEdge, airfoil_from_bytes, contour_from_bytes, distribute,
    distribute_closed,
};
use gridgen::grid::quality::{interfaces, measure_along, measure_blocks};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::internals::digest;
use gridgen::solver::history::{History, NewtonStep};

/// A kind of input.
pub struct Target {
    /// Its name, which is also that of its fuzzer.
    pub name: &'static str,
    /// Reads an input.
    pub run: fn(&[u8]),
    /// Initial inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All readers of user input.
pub const TARGETS: [Target; 17] = [
    Target { name: "section", run: section, seeds: sections },
    Target { name: "contour", run: contour, seeds: sections },
    Target { name: "case", run: case, seeds: cases },
    Target { name: "matrix", run: matrix, seeds: matrices },
    Target { name: "gzip", run: matrix, seeds: packed },
    Target { name: "plot3d_text", run: |bytes| mesh("a.p3d", bytes), seeds: texts },
    Target { name: "plot3d_binary", run: |bytes| mesh("a.p3d", bytes), seeds: binaries },
    Target { name: "vts", run: |bytes| mesh("a.vts", bytes), seeds: vts_files },
    Target { name: "vtk", run: |bytes| mesh("a.vtk", bytes), seeds: vtk_files },
    Target { name: "su2", run: |bytes| mesh("a.su2", bytes), seeds: su2_files },
    Target { name: "cgns", run: |bytes| mesh("a.cgns", bytes), seeds: cgns_files },
    Target { name: "msh", run: |bytes| mesh("a.msh", bytes), seeds: msh_files },
    Target { name: "tecplot", run: |bytes| mesh("a.dat", bytes), seeds: tecplot_files },
    Target { name: "openfoam", run: openfoam, seeds: cases_of_openfoam },
    Target { name: "map", run: map, seeds: maps },
    Target { name: "restart", run: restart_file, seeds: restarts },
    Target { name: "kernel_cache", run: cached_kernels, seeds: cache_entries },
];

/// Reads an input of the target of this name.
#[allow(dead_code, reason = "the fuzzers have one target each")]
pub fn run(name: &str, bytes: &[u8]) {
    TARGETS.iter().filter(|target| target.name == name).for_each(|target| (target.run)(bytes));
}

/// Writes the initial inputs into a folder.
#[allow(dead_code, reason = "cargo test needs no files")]
pub fn plant(name: &str, folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let seeds = TARGETS.iter().filter(|target| target.name == name).flat_map(|t| (t.seeds)());
    seeds
        .enumerate()
        .try_for_each(|(k, seed)| std::fs::write(folder.join(format!("seed-{k}")), seed))
}

/// Number of wall points for sections that are meshed up to their wall.
const WALL_POINTS: usize = 65;
/// Largest number of nodes of a mesh that is measured and written again.
const WRITTEN: usize = 1 << 12;

/// Reads a section; its wall must be found or refused, too.
fn section(bytes: &[u8]) {
    let Ok(airfoil) = airfoil_from_bytes(Path::new("fuzz.dat"), bytes.to_vec()) else { return };
    assert!(airfoil.points.iter().flatten().all(|c| c.is_finite()));
    let settings = SurfaceSettings {
        ni: WALL_POINTS,
        leading_edge_spacing: 0.01,
        trailing_edge_spacing: 0.01,
        trailing_edge: TrailingEdge::AsGiven,
        base_cells: BaseCells::MultipleOf(2),
        max_turn_deg: 15.0,
        corners_deg: None,
        along: gridgen::geometry::AlongWall::default(),
    };
    // The wall takes many times as long as the reading, so it is made for one input in sixteen.
    if bytes.len().is_multiple_of(16)
        && let Ok(wall) = distribute(&airfoil, &settings)
    {
        assert_eq!(wall.line.len(), WALL_POINTS);
        assert!(wall.line.iter().flatten().all(|c| c.is_finite()));
    }
}

/// Reads a closed contour and its wall.
fn contour(bytes: &[u8]) {
    let read = contour_from_bytes(Path::new("fuzz.dat"), bytes.to_vec(), 2.0);
    if bytes.len().is_multiple_of(16)
        && let Ok(contour) = read
        && let Ok(wall) = distribute_closed(&contour, WALL_POINTS, 30.0)
    {
        assert_eq!(wall.line.len(), WALL_POINTS);
        assert!(wall.line.iter().flatten().all(|c| c.is_finite()));
    }
}

/// Reads a case; an accepted case can be written and read again.
fn case(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Case::from_toml(&text, Path::new("fuzz.toml"), &[]) {
        Ok(case) => {
            let written = case.to_toml_string();
            let again =
                written.map(|written| Case::from_toml(&written, Path::new("fuzz.toml"), &[]));
            assert!(matches!(again, Ok(Ok(again)) if again == case), "{text}");
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Reads a matrix, compressed or not; an accepted matrix is consistent.
fn matrix(bytes: &[u8]) {
    match matrix_market::matrix(Path::new("fuzz.mtx"), bytes) {
        Ok(found) => {
            let csr = &found.csr;
            assert_eq!(csr.row_start.last(), Some(&csr.values.len()));
            assert!(csr.row_start.is_sorted() && csr.values.iter().all(|value| value.is_finite()));
            for row in csr.row_start.windows(2) {
                let columns = &csr.columns[row[0]..row[1]];
                assert!(columns.is_sorted_by(|a, b| a < b));
                assert!(columns.iter().all(|&column| (column as usize) < found.columns));
            }
        }
        // Errors at a line have its number; all others have a message and a hint.
        Err(MatrixMarketError { line: Some(SourceLine { number, .. }), .. }) => assert!(number > 0),
        Err(error) => assert_says(&error.to_string(), error.hint()),
    }
}

/// Asserts that an error has a message and a hint.
fn assert_says(message: &str, hint: Option<String>) {
    assert!(!message.is_empty() && hint.is_some_and(|hint| !hint.is_empty()), "{message}");
}

/// Reads a mesh; an accepted mesh can be measured and written in every single-file format.
fn mesh(name: &str, bytes: &[u8]) {
    accepted(contents_from_bytes(Path::new(name), bytes, None), bytes);
}

/// Parts of an input that are files of their own end with this byte.
const END: u8 = 0x1c;

fn part(bytes: &[u8], k: usize) -> &[u8] {
    bytes.split(|byte| *byte == END).nth(k).unwrap_or_default()
}

/// Reads the files of a mesh for OpenFOAM.
fn openfoam(bytes: &[u8]) {
    accepted(contents_of_case(Path::new("case"), [0, 1, 2].map(|k| part(bytes, k))), bytes);
}

/// Reads a Plot3D file with its neutral map.
fn map(bytes: &[u8]) {
    let [mesh, map] = [0, 1].map(|k| part(bytes, k));
    accepted(contents_from_bytes(Path::new("a.p3d"), mesh, Some(map)), bytes);
}

/// Checks what was read: an error that says what to do, or zones that can be measured and written.
fn accepted(read: Result<Contents, ReadError>, bytes: &[u8]) {
    let contents = match read {
        Ok(contents) => contents,
        Err(error) => return assert_says(&error.to_string(), error.hint()),
    };
    let grids = &contents.grids;
    for grid in grids {
        assert!(grid.ni >= 2 && grid.nj >= 2);
        assert_eq!([grid.x.len(), grid.y.len()], [grid.ni * grid.nj; 2]);
    }
    // Measuring and writing take many times as long as reading, so they are done for one input in four.
    let nodes: usize = grids.iter().map(|grid| grid.x.len()).sum();
    if nodes > WRITTEN || !bytes.len().is_multiple_of(4) {
        return;
    }
    assert!(measure_blocks(grids).folded_cells <= grids.iter().map(Grid::cells).sum());
    drop(interfaces(grids));
    let (data, mut out) = (contents.data(), std::io::sink());
    let blocks = data.blocks();
    let mut written = vec![
        plot3d::write_to(&mut out, &blocks, None, Flavour::default()),
        nmf::write_to(&mut out, &blocks, None, Axes::Ijk),
        cgns::write_to(&mut out, &data.zones, None),
    ];
    for grid in grids {
        written.push(vts::write_to(&mut out, grid, None));
        written.push(vtk::write_to(&mut out, grid, None));
    }
    if data.weldable {
        written.push(su2::write_to(&mut out, &blocks, None));
        written.push(msh::write_to(&mut out, &blocks, None, 1));
    }
    assert!(written.iter().all(Result::is_ok), "{written:?}");
    if let Ok(Mesh { grid, wall, .. }) = contents.mesh(Path::new("fuzz")) {
        assert!(measure_along(&grid, wall).folded_cells <= grid.cells());
    }
}

/// Reads a restart file unchanged, and with a corrected checksum.
fn restart_file(bytes: &[u8]) {
    for bytes in [bytes, &[bytes, &digest::crc(bytes).to_le_bytes()].concat()] {
        match restart::from_bytes(Path::new("restart.bin"), bytes) {
            Ok(restart) => assert!(restart.history.steps.len() <= bytes.len()),
            Err(error) => assert_says(&error.to_string(), error.hint()),
        }
    }
}

const KERNEL: CacheKey<'_> = CacheKey { text: "kernel", options: &[], compiler: (13, 0) };

/// Reads an entry of the cache of compiled kernels unchanged, and with a corrected checksum.
fn cached_kernels(bytes: &[u8]) {
    for bytes in [bytes, &[bytes, &digest::of(bytes).to_le_bytes()].concat()] {
        if let Some(code) = cache::code(bytes, &KERNEL) {
            assert!(!code.is_empty() && cache::entry(code, &KERNEL) == bytes);
        }
    }
}

/// The files with this extension in a folder of the repository.
fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(super::ROOT).join(folder);
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    paths.iter().flat_map(std::fs::read).collect()
}

fn sections() -> Vec<Vec<u8>> {
    [files("tests/data/airfoils", "dat"), files("tests/data/airfoils/malformed", "dat")].concat()
}

fn cases() -> Vec<Vec<u8>> {
    let template = template(("geometry.naca", "0012"), &VISCOUS);
    let uncommented = template.replace("\n#", "\n");
    [files("cases", "toml"), vec![template.into(), uncommented.into()]].concat()
}

/// Matrix Market files of every kind.
fn matrices() -> Vec<Vec<u8>> {
    let entries = "% a remark\n4 4 5\n1 1 2.5\n2 1 -1D-3\n\n3 3 1e300\n4 2 7\n4 4 .5\n";
    let values = "3 3\n1\n2.5\n-3e-2\n4\n5\n6\n7\n8\n9\n";
    let mut files = Vec::new();
    for symmetry in ["general", "symmetric", "skew-symmetric"] {
        for field in ["real", "integer", "pattern", "complex"] {
            let banner = |layout| format!("%%MatrixMarket matrix {layout} {field} {symmetry}\n");
            files.push((banner("coordinate") + entries).into_bytes());
            files.push((banner("array") + values).replace('\n', "\r\n").into_bytes());
        }
    }
    files
}

fn packed() -> Vec<Vec<u8>> {
    let pack = |text: &Vec<u8>| {
        let mut packer = GzEncoder::new(Vec::new(), Effort::default());
        packer.write_all(text)?;
        packer.finish()
    };
    matrices().iter().flat_map(pack).collect()
}

/// A polar O-grid, the same points with a wake folded onto itself, and half of it.
fn grids() -> [Grid; 3] {
    fn circle(turns: f64, radius: f64) -> [f64; 2] {
        let (sin, cos) = (-std::f64::consts::TAU * turns).sin_cos();
        [cos, sin].map(|c| c * radius)
    }
    let polar = |i: usize, j: usize| circle((i % 8) as f64 / 8.0, (j + 1) as f64);
    let cut = |i: usize, j: usize| match i {
        0..=2 => [3.0 - i as f64, -(j as f64)],
        8..=10 => [i as f64 - 7.0, j as f64],
        _ => circle((i - 2) as f64 / 6.0, (j + 1) as f64),
    };
    [
        Grid::of_nodes(Topology::O(Seam::Held), [9, 3], polar),
        Grid::of_nodes(Topology::C { wake: 2 }, [11, 3], cut),
        Grid::of_nodes(Topology::O(Seam::Held), [5, 3], polar),
    ]
}

/// The output of `write` for each grid.
fn written(write: impl Fn(&Grid, &mut Cursor<Vec<u8>>) -> std::io::Result<()>) -> Vec<Vec<u8>> {
    let bytes = |grid: &Grid| {
        let mut out = Cursor::new(Vec::new());
        write(grid, &mut out).map(|()| out.into_inner())
    };
    grids().iter().flat_map(bytes).collect()
}

const SPAN: Span = Span { length: 1.0, cells: 2, sides: Sides::Periodic };

fn texts() -> Vec<Vec<u8>> {
    let repeated = b"1\n3 2 2\n0 1 2 0 1 2 0 1 2 0 1 2\n3*0,3*1 3*0 3*1\n6*0.0 6*1D0\n".to_vec();
    let plane = Flavour { dimensions: 2, block_count: false, ..Flavour::default() };
    [
        written(|grid, out| plot3d::write_to(out, &[grid], None, Flavour::default())),
        written(|grid, out| plot3d::write_to(out, &[grid], Some(SPAN), Flavour::default())),
        written(|grid, out| plot3d::write_to(out, &[grid], None, plane)),
        vec![repeated],
    ]
    .concat()
}

fn binaries() -> Vec<Vec<u8>> {
    let flavour = |k: usize| Flavour {
        encoding: [Encoding::Fortran, Encoding::Stream][k / 8],
        byte_order: [ByteOrder::Little, ByteOrder::Big][k / 4 % 2],
        precision: [NumberPrecision::Single, NumberPrecision::Double][k / 2 % 2],
        blanking: (k / 2).is_multiple_of(2),
        dimensions: [2, 3][k % 2],
        block_count: k % 2 == 1,
        ..Flavour::default()
    };
    let files = |k| written(|grid, out| plot3d::write_to(out, &[grid], None, flavour(k)));
    (0..16).flat_map(files).collect()
}

fn vts_files() -> Vec<Vec<u8>> {
    let ascii = br#"<VTKFile type="StructuredGrid"><StructuredGrid><Piece Extent="0 1 0 1 0 0">
        <Points><DataArray type="Float64" NumberOfComponents="3" format="ascii">
        0 0 0 1 0 0 0 1 0 1 1 0</DataArray></Points></Piece></StructuredGrid></VTKFile>"#;
    [
        written(|grid, out| vts::write_to(out, grid, None)),
        written(|grid, out| vts::write_compressed_to(out, grid, None)),
        written(|grid, out| vts::write_compressed_to(out, grid, Some(SPAN))),
        files("tests/data/meshes", "vts"),
        vec![ascii.to_vec()],
    ]
    .concat()
}

fn vtk_files() -> Vec<Vec<u8>> {
    let ascii =
        b"# vtk DataFile Version 3.0\na\nASCII\nDATASET STRUCTURED_GRID\nDIMENSIONS 2 2 1\n\
        POINTS 4 float\n0 0 0 1 0 0 0 1 0 1 1 0\n";
    [
        written(|grid, out| vtk::write_to(out, grid, None)),
        written(|grid, out| vtk::write_to(out, grid, Some(SPAN))),
        files("tests/data/meshes", "vtk"),
        vec![ascii.to_vec()],
    ]
    .concat()
}

fn cgns_files() -> Vec<Vec<u8>> {
    [
        written(|grid, out| cgns::write_to(out, &MeshData::from(grid).zones, None)),
        written(|grid, out| cgns::write_to(out, &MeshData::from(grid).zones, Some(SPAN))),
        files("tests/data/meshes", "cgns"),
    ]
    .concat()
}

fn msh_files() -> Vec<Vec<u8>> {
    [
        written(|grid, out| msh::write_to(out, &[grid], None, 1)),
        written(|grid, out| msh::write_to(out, &[grid], None, 2)),
        written(|grid, out| msh::write_to(out, &[grid], Some(SPAN), 1)),
    ]
    .concat()
}

fn tecplot_files() -> Vec<Vec<u8>> {
    let blocks = "TITLE=\"a\" VARIABLES=X,Y,p\nZONE T=\"a\" I=3 J=2 F=POINT\n0 0 1 1 0 1 2 0 1 0 1 1 1 1 1 2 1 1\n\
                  ZONE I=3,J=2,DATAPACKING=BLOCK,VARLOCATION=([3]=CELLCENTERED)\n2 3 4 2 3 4 3*0 3*1 2*5\n";
    let of_grid = |grid: &Grid, out: &mut Cursor<Vec<u8>>| {
        writeln!(out, "variables = x y\nzone i={} j={}", grid.ni, grid.nj)?;
        grid.x.iter().zip(&grid.y).try_for_each(|(x, y)| writeln!(out, "{x} {y}"))
    };
    [written(of_grid), vec![blocks.into()]].concat()
}

fn cases_of_openfoam() -> Vec<Vec<u8>> {
    let folder = Path::new(super::ROOT).join("tests/data/meshes/blockmesh-bump/constant/polyMesh");
    let files = ["points", "faces", "boundary"]
        .map(|name| std::fs::read(folder.join(name)).unwrap_or_default());
    vec![files.join(&END)]
}

fn maps() -> Vec<Vec<u8>> {
    let blocks = b"2\n3 2 1\n3 2 1\n0 1 2 0 1 2 0 0 0 1 1 1 6*0 2 3 4 2 3 4 3*0 3*1 6*0".to_vec();
    let map = b"2\n1 3 2 1\n2 3 2 1\nVISCOUS 1 5 1 1 1 3\nONE_TO_ONE 1 4 1 2 1 1 2 3 1 2 1 1 FALSE\nOUTFLOW 2 4 1 2 1 1\n";
    let of_grid = |grid: &Grid, out: &mut Cursor<Vec<u8>>| {
        plot3d::write_to(out, &[grid], None, Flavour::default())?;
        out.write_all(&[END])?;
        nmf::write_to(out, &[grid], None, Axes::Ijk)
    };
    [written(of_grid), vec![[blocks, map.to_vec()].join(&END)]].concat()
}

fn su2_files() -> Vec<Vec<u8>> {
    // The second cell first: the rows are found by walking.
    let walked = "NDIME= 2\nNELEM= 4\n9 1 4 5 2 0\n9 0 1 4 3\n9 3 4 7 6\n9 4 5 8 7\nNPOIN= 9\n\
                  0 0\n0 1\n0 2\n1 0\n1 1\n1 2\n2 0\n2 1\n2 2\nNMARK= 1\nMARKER_TAG= wall\nMARKER_ELEMS= 1\n3 0 1\n";
    [
        vec![walked.into()],
        written(|grid, out| su2::write_to(out, &[grid], None)),
        written(|grid, out| su2::write_to(out, &[grid], Some(SPAN))),
    ]
    .concat()
}

fn restarts() -> Vec<Vec<u8>> {
    let step = |step, linear_residuals: Vec<f64>| NewtonStep {
        step,
        residual: 1e-3,
        linear_iterations: linear_residuals.len() as f64,
        min_area: 1e-9,
        linear_residuals,
        ..NewtonStep::default()
    };
    let history = History { steps: vec![step(0, vec![]), step(1, vec![0.5, 0.25])] };
    let identity = [("grid.ni".to_owned(), "65".to_owned())].into();
    let folder = std::env::temp_dir();
    let path = folder.join(format!("gridgen-fuzz-{}.bin", std::process::id()));
    let written = restart::write(&path, &identity, &history, &[1.0, 2.0, f64::NAN]);
    let bytes = written.ok().and_then(|()| std::fs::read(&path).ok()).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    vec![bytes[..bytes.len().saturating_sub(4)].to_vec(), bytes]
}

fn cache_entries() -> Vec<Vec<u8>> {
    let entry = cache::entry(b"machine code", &KERNEL);
    vec![entry[..entry.len() - 8].to_vec(), entry]
}
