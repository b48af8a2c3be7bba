//! Files read back by small independent readers, and errors in writing.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fs;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use gridgen::files::WriteFault;
use gridgen::formats::{
    Compression, FORMATS, Format, Holds, MeshData, MeshFile, Settings, Sides, Span, vtk, vts,
};
use gridgen::grid::Grid;
use gridgen::grid::quality::{
    Quality, cell_area, cell_aspect_ratio, cell_corners, cell_skewness, measure,
};
use gridgen::internals::atomic;
use gridgen::report::{Artifacts, Figures, ReportFile, report_files};
use gridgen::solver::history::{History, NewtonStep};
use support::grids::{grid_from, joukowski_grid, polar_grid};
use support::{documents, names_in};

use super::written;

/// Three steps with 0, 2.5 and 4 linear iterations.
fn short_history() -> History {
    let step = |step, residual, linear_iterations, linear_residuals: &[f64]| NewtonStep {
        step,
        residual,
        forcing_term: 0.1,
        linear_iterations,
        step_length: 1.0,
        min_area: 1e-9,
        folded_cells: 0,
        setup_seconds: 0.25,
        linear_seconds: 0.5,
        linear_residuals: linear_residuals.to_vec(),
    };
    History {
        steps: vec![
            step(0, 1e-2, 0.0, &[]),
            step(1, 1e-4, 2.5, &[0.5, 0.3, 0.2, 0.1, 0.05]),
            step(2, 1e-9, 4.0, &[0.1, 1e-2, 1e-3, 1e-4]),
        ],
    }
}

#[test]
fn a_failed_writer_leaves_the_old_file_and_a_result_has_the_permissions_of_ordinary_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.vts");
    fs::write(&path, "old").unwrap();

    let result = atomic::write(&path, |out| {
        out.write_all(&vec![0; 4 << 20])?;
        Err(io::Error::from(io::ErrorKind::StorageFull))
    });

    let error = result.unwrap_err();
    assert!(matches!(error.fault, WriteFault::Full(_)) && error.path == path, "{error:?}");
    assert!(error.to_string().contains("mesh.vts") && error.hint().unwrap().contains("space"));
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names_in(folder.path()), ["mesh.vts"]);

    atomic::write(&path, |out| out.write_all(b"w")).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "w");
    assert_eq!(names_in(folder.path()), ["mesh.vts"]);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let ordinary = folder.path().join("ordinary");
        fs::write(&ordinary, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(path), mode(ordinary));
    }
}

#[test]
fn each_bad_place_has_its_own_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let write = |path: &Path| atomic::write(path, |_| Ok(())).unwrap_err();

    let missing = write(&folder.path().join("absent/mesh.vts"));
    let below_file = write(&file.join("mesh.vts"));
    let onto_folder = write(folder.path());
    let create = atomic::create_folder(&file.join("output")).unwrap_err();

    assert!(matches!(missing.fault, WriteFault::MissingFolder(_)), "{missing:?}");
    assert!(matches!(below_file.fault, WriteFault::NotAFolder) && below_file.path == file);
    assert!(matches!(onto_folder.fault, WriteFault::IsAFolder), "{onto_folder:?}");
    assert!(matches!(create.fault, WriteFault::NotAFolder) && create.path == file, "{create:?}");
    assert_eq!(names_in(folder.path()), ["file"]);

    // A refused write and a broken disk have errors of their own.
    let path = folder.path().join("mesh.vts");
    let fail = |kind| atomic::write(&path, |_| Err(io::Error::from(kind))).unwrap_err();
    assert!(matches!(fail(io::ErrorKind::PermissionDenied).fault, WriteFault::Denied(_)));
    assert!(matches!(fail(io::ErrorKind::ReadOnlyFilesystem).fault, WriteFault::Denied(_)));
    assert!(matches!(fail(io::ErrorKind::BrokenPipe).fault, WriteFault::System(_)));

    let made = folder.path().join("output/wing");
    atomic::create_folder(&made).unwrap();
    assert_eq!(names_in(&made), Vec::<String>::new());
}

/// The disk writes the first 32 MiB of a file while the rest is being made.
#[test]
fn a_file_that_the_disk_takes_meanwhile_is_written_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("large");
    let bytes: Vec<u8> = (0..16 << 20).map(|k| (k % 251) as u8).collect();
    let mut ordered = Vec::new();

    atomic::write(&path, |out| {
        for _ in 0..5 {
            out.write_all(&bytes)?;
            out.flush()?;
            ordered.push(!format!("{:?}", out.get_ref()).contains("disk: None"));
        }
        out.seek(SeekFrom::Start(3))?;
        out.write_all(b"abc")
    })
    .unwrap();

    let read = fs::read(&path).unwrap();
    // A small file uses no thread.
    assert_eq!(ordered, [false, true, true, true, true]);
    assert_eq!((read.len(), &read[..7]), (5 * bytes.len(), &b"\x00\x01\x02abc\x06"[..]));
    assert!(read[bytes.len()..].chunks(bytes.len()).all(|part| part == bytes));
}

/// The grid has more bytes than are compressed in one group, and its last block is shorter.
#[test]
fn the_blocks_of_a_compressed_file_are_as_long_as_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh.vts");
    let grid = polar_grid(601, 801, 1e-3, 1.005);

    let settings = Settings { compression: Compression::Zlib, ..Settings::default() };
    gridgen::formats::write(&path, &MeshData { settings, ..MeshData::from(&grid) }).unwrap();
    let mesh = gridgen::formats::mesh(&path).unwrap();
    let mut cut = fs::read(&path).unwrap();
    let last = cut.windows(8).rposition(|w| w == b"</Append").unwrap();
    let points = cut.windows(16).position(|w| w == b"encoding=\"raw\">\n").unwrap() + 20;
    let number = |at: usize| u64::from_le_bytes(cut[at..at + 8].try_into().unwrap()) as usize;
    let mut at = points;
    for bytes in [24 * 601 * 801, 8 * 600 * 800, 8 * 600 * 800, 8 * 600 * 800] {
        let (blocks, block, rest) = (number(at), number(at + 8), number(at + 16));
        assert_eq!((blocks - 1) * block + rest, bytes);
        at += 24 + 8 * blocks + (0..blocks).map(|k| number(at + 24 + 8 * k)).sum::<usize>();
    }

    assert_eq!((mesh.grid.x, mesh.grid.y), (grid.x, grid.y));
    assert_eq!(at, last - 3);
    cut[points + 5000] ^= 0x55;
    fs::write(&path, cut).unwrap();
    assert!(gridgen::formats::mesh(&path).is_err());
}

/// The appended arrays of a `.vts` file, by the offsets in its header.
fn read_appended(bytes: &[u8]) -> Vec<Vec<f64>> {
    let mark = bytes.windows(9).position(|w| w == b"\"raw\">\n  ").unwrap() + 9;
    let start = mark + bytes[mark..].iter().position(|&b| b == b'_').unwrap() + 1;
    let head = std::str::from_utf8(&bytes[..start]).unwrap();
    assert!(head.contains(r#"byte_order="LittleEndian" header_type="UInt64""#));
    head.split("offset=\"")
        .skip(1)
        .map(|rest| {
            let offset: usize = rest.split('"').next().unwrap().parse().unwrap();
            let data = &bytes[start + offset..];
            let length = u64::from_le_bytes(data[..8].try_into().unwrap()) as usize;
            data[8..8 + length]
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
                .collect()
        })
        .collect()
}

#[test]
fn vtk_files_return_points_and_cell_measures_bit_for_bit() {
    let grid = joukowski_grid(17, 9, 0.2);
    for span in [None, Some(Span { length: 0.7, cells: 3, sides: Sides::Symmetry })] {
        let bytes = written(|out| vts::write_to(out, &grid, span));

        let (arrays, layers) = (read_appended(&bytes), span.map_or(1, |span| span.cells));
        let z: Vec<f64> = span.map_or(vec![0.0], |span| (0..=3).map(|k| span.z(k)).collect());
        assert!(bytes.ends_with(b"</AppendedData>\n</VTKFile>\n"));
        let extent = format!("Extent=\"0 16 0 8 0 {}\"", z.len() - 1);
        assert!(String::from_utf8_lossy(&bytes).contains(&extent));
        let plane = |z: &f64| (0..17 * 9).map(move |n| (n, *z)).collect::<Vec<_>>();
        let points = z.iter().flat_map(plane).flat_map(|(n, z)| [grid.x[n], grid.y[n], z]);
        assert_eq!(arrays[0], points.collect::<Vec<f64>>());
        let measures = [cell_area, cell_skewness, cell_aspect_ratio];
        for (array, measure) in arrays[1..].iter().zip(measures) {
            assert_eq!(array.len(), 16 * 8 * layers);
            // Cell (3, 5) of the last layer, with i fastest.
            let found = array[16 * 8 * (layers - 1) + 5 * 16 + 3];
            assert_eq!(found, measure(&cell_corners(&grid, 3, 5)));
        }
        assert_eq!(arrays.len(), 4);
        // A legacy file has the same numbers, big-endian.
        let (points, cells) = (17 * 9 * z.len(), 16 * 8 * layers);
        let big = |array: &[f64]| array.iter().flat_map(|n| n.to_be_bytes()).collect::<Vec<u8>>();
        let head = "# vtk DataFile Version 3.0\ngrid of gridgen\nBINARY\nDATASET STRUCTURED_GRID\n";
        let sizes = format!("DIMENSIONS 17 9 {}\nPOINTS {points} double\n", z.len());
        let mut legacy = [head.as_bytes(), sizes.as_bytes(), &big(&arrays[0])].concat();
        legacy.extend(format!("\nCELL_DATA {cells}\n").bytes());
        for (name, array) in ["area", "skewness", "aspect_ratio"].into_iter().zip(&arrays[1..]) {
            legacy.extend(format!("SCALARS {name} double 1\nLOOKUP_TABLE default\n").bytes());
            legacy.extend([big(array), vec![b'\n']].concat());
        }
        assert!(written(|out| vtk::write_to(out, &grid, span)) == legacy);
    }
}

/// The numbers of a text.
pub(super) fn numbers(text: &str) -> Vec<f64> {
    text.split_whitespace().map(|word| word.parse().unwrap()).collect()
}

fn artifacts<'a>(grid: &'a Grid, quality: &'a Quality, history: &'a History) -> Artifacts<'a> {
    let (blocks, name) = (vec![grid], "a <b> & \u{7}c");
    Artifacts { blocks, name, quality, history, tolerance: 1e-8, good: true }
}

#[test]
fn the_history_has_one_line_a_step_and_adds_up_the_iterations() {
    let folder = tempfile::tempdir().unwrap();
    let grid = polar_grid(33, 9, 0.01, 1.2);
    let (quality, history) = (measure(&grid), short_history());
    let [table] = &report_files([false; 2], &[""])[..] else { panic!() };

    let artifacts = artifacts(&grid, &quality, &history);
    let figures = Figures::default().with_solve("", &artifacts);
    let written = figures.write(table, true, folder.path()).unwrap();

    assert_eq!(written, [folder.path().join("convergence.csv")]);
    assert_eq!(
        fs::read_to_string(&written[0]).unwrap(),
        "step,residual,forcing_term,linear_iterations,cumulative_linear_iterations,step_length,\
         min_area,folded_cells,seconds\n\
         0,1e-2,1e-1,0,0,1,1e-9,0,0.750000\n\
         1,1e-4,1e-1,2.5,2.5,1,1e-9,0,0.750000\n\
         2,1e-9,1e-1,4,6.5,1,1e-9,0,0.750000\n"
    );
}

/// Files of a run on a section in addition to its meshes.
fn all_report_files() -> Vec<ReportFile> {
    report_files([true; 2], &[""])
}

/// Writes meshes and additional files with these names, or all if none are given, into a new folder. The files have the
/// names that are returned.
fn write_files(folder: &Path, grid: &Grid, good: bool, wanted: &[&str]) -> Vec<String> {
    let (quality, history) = (measure(grid), short_history());
    let artifacts = Artifacts { good, ..artifacts(grid, &quality, &history) };
    let figures = Figures::of(&artifacts, [true; 2]).with_solve("", &artifacts);
    let mesh = MeshData::from(grid);
    let is_wanted = |name: &str| wanted.is_empty() || wanted.contains(&name);
    atomic::create_folder(folder).unwrap();
    let mut written = Vec::new();
    // The index of zones is none of a section.
    let files = FORMATS.iter().flat_map(|format| format.files);
    for file in files.filter(|file| file.names[0] != "mesh.vtm") {
        if is_wanted(file.names[0]) {
            file.write(&folder.join(file.name(good)), &mesh).unwrap();
            written.push(file.name(good).to_owned());
        }
    }
    for file in
        all_report_files().iter().filter(|file| file.names(true).iter().any(|n| is_wanted(n)))
    {
        figures.write(file, good, folder).unwrap();
        written.extend(file.names(good));
    }
    written.sort();
    assert_eq!(names_in(folder), written);
    written
}

#[test]
fn the_documents_have_all_files_of_the_formats() {
    let rows = FORMATS.iter().flat_map(|Format { name, extensions, files, .. }| {
        let ends: Vec<String> = extensions.iter().map(|end| format!("`.{end}`")).collect();
        let ends = ends.join(", ");
        let files = files.iter().filter(|file| file.holds != Holds::Several);
        files.map(move |MeshFile { names: [file, _], .. }| {
            // A set-up beside the mesh is written by runs alone.
            let ends = if *file == "su2.cfg" { "" } else { &*ends };
            format!("| `{name}` | `{file}` | {ends} |")
        })
    });
    documents::assert_rows("docs/formats.md", "| word | file |", &rows.collect::<Vec<_>>());
}

#[test]
fn files_of_a_grid_that_is_not_good_say_so() {
    let meshes = FORMATS.iter().flat_map(|format| format.files);
    let meshes = meshes.map(|file| file.names.map(str::to_owned));
    let others = all_report_files();
    let others = others.iter().flat_map(|file| file.names(true).into_iter().zip(file.names(false)));
    for [good, failed] in meshes.chain(others.map(|(good, failed)| [good, failed])) {
        let shows_the_grid = !good.starts_with("convergence");
        assert_eq!(failed.contains(".failed"), shows_the_grid, "{failed}");
        assert!(!good.contains("failed"));
    }
}

/// The file of this name, which says whether the grid is good.
fn drawn(grid: &Grid, name: &str) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let wanted = name.replace(".failed", "");
    write_files(folder.path(), grid, wanted == name, &[&wanted]);
    fs::read(folder.path().join(name)).unwrap()
}

/// The text of a picture.
fn svg(grid: &Grid, name: &str) -> String {
    String::from_utf8(drawn(grid, name)).unwrap()
}

/// The frame of a PNG file and the bytes of its pixels.
fn bitmap(grid: &Grid, name: &str) -> (png::OutputInfo, Vec<u8>) {
    let file = io::Cursor::new(drawn(grid, name));
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info, pixels)
}

/// A map is painted without gaps: half a pixel of paper between two rectangles would make all channels light.
#[test]
fn bitmaps_show_the_wall_in_its_colour_and_maps_of_quality_without_stripes() {
    let grid = polar_grid(65, 33, 0.01, 1.2);
    let (info, pixels) = bitmap(&grid, "quality.png");
    assert_eq!(info.color_type, png::ColorType::Rgb);
    // The upper middle of the first panel, above the body.
    let row = |y: usize| &pixels[3 * (y * info.width as usize + 300)..][..3 * 20];
    let light =
        (165..260).flat_map(|y| row(y).chunks_exact(3)).filter(|p| p.iter().all(|c| *c > 115));
    assert_eq!(light.count(), 0);

    let (info, pixels) = bitmap(&grid, "grid.png");
    // Four units of the figure, which has 1280 x 1200, are five bitmap pixels.
    assert_eq!((info.width, info.height), (1600, 1500));
    let count = |colour: [u8; 3]| pixels.chunks_exact(3).filter(|p| **p == colour).count();
    assert!(count([208, 50, 38]) > 1000, "wall pixels: {}", count([208, 50, 38]));
    assert!(count([255, 255, 255]) > 1_000_000);
}

/// All points of the polylines in an SVG, in its units.
fn polyline_points(svg: &str) -> Vec<[f64; 2]> {
    svg.split("points=\"")
        .skip(1)
        .flat_map(|rest| rest.split('"').next().unwrap().split_whitespace())
        .map(|pair| {
            let (x, y) = pair.split_once(',').unwrap();
            [x.parse().unwrap(), y.parse().unwrap()]
        })
        .collect()
}

#[test]
fn the_picture_of_a_large_grid_is_small_and_keeps_to_its_panels() {
    let svg = svg(&joukowski_grid(769, 385, 0.2), "grid.svg");

    assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
    // Panels of 565 × 495 at (70, 125), (690, 125), (70, 680), (690, 680), in tenths of a pixel; a tick
    // extends 5 pixels out of them.
    for [x, y] in polyline_points(&svg) {
        let inside = |start: f64, length: f64, at: f64| {
            (start - 5.0..=start + length + 5.0).contains(&(at / 10.0))
        };
        assert!(inside(70.0, 565.0, x) || inside(690.0, 565.0, x), "x = {x}");
        assert!(inside(125.0, 495.0, y) || inside(680.0, 495.0, y), "y = {y}");
    }
}

#[test]
fn a_name_cannot_break_the_xml_of_a_picture() {
    for name in ["grid.svg", "convergence.svg"] {
        let svg = svg(&polar_grid(17, 9, 0.01, 1.2), name);
        assert!(svg.contains("a &lt;b&gt; &amp; c") && !svg.contains('\u{7}'));
        assert!(svg.trim_end().ends_with("</svg>"));
    }
}

#[test]
fn a_picture_marks_folded_cells_and_says_that_the_grid_is_not_good() {
    let mut grid = polar_grid(33, 17, 0.01, 1.2);
    let (a, b) = (grid.index(8, 4), grid.index(8, 5));
    grid.x.swap(a, b);
    grid.y.swap(a, b);

    let svg = svg(&grid, "grid.failed.svg");

    assert!(svg.contains("not a good grid") && svg.contains("folded cells"));
    // This is the colour of folded cells.
    assert!(svg.contains("fill=\"#FF8C00\""));
}

/// Possible results of a diverged solve are NaN, all nodes at one point, a node far away.
#[test]
fn all_files_of_a_good_and_of_a_broken_grid_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let whole = polar_grid(33, 17, 0.01, 1.2);
    let no_numbers = grid_from(9, 5, |_, _| [f64::NAN; 2]);
    let one_point = grid_from(9, 5, |_, _| [0.5; 2]);
    let mut far_away = polar_grid(17, 9, 0.01, 1.2);
    let (k, outer) = (far_away.index(4, 3), far_away.index(7, 8));
    far_away.x[k] = 1e300;
    far_away.y[outer] = f64::INFINITY;

    for (k, grid) in [whole, no_numbers, one_point, far_away].iter().enumerate() {
        let written = write_files(&folder.path().join(format!("new/{k}")), grid, k == 0, &[]);

        let others = "convergence.csv convergence.svg grid.png grid.svg quality.png quality.svg";
        for name in others.split(' ') {
            let is_there = written.iter().any(|file| file == name);
            assert_eq!(is_there, k == 0 || name.starts_with("convergence"), "{name}: {written:?}");
        }
    }
}

#[test]
fn pictures_of_nothing_are_drawn_too() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("convergence.svg");
    let grid = polar_grid(17, 9, 0.01, 1.2);
    let mut history = History::default();
    let draw = |history: &History| {
        let quality = measure(&grid);
        let all = artifacts(&grid, &quality, history);
        let artifacts = Artifacts { tolerance: 0.0, good: false, ..all };
        let figures = Figures::default().with_solve("", &artifacts);
        figures.write(&all_report_files()[0], false, folder.path()).unwrap();
        fs::read_to_string(&path).unwrap()
    };

    let empty = draw(&history);
    history = short_history();
    history.steps[2].residual = f64::NAN;
    let broken = draw(&history);

    assert!(empty.contains("0 Newton steps"));
    assert!(!broken.contains("NaN") && broken.contains("2 Newton steps"));
}
