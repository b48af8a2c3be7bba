//! The gallery, docs/gallery.md: its text and pictures agree with the results of its cases.
//!
//! `UPDATE_DOCS=1 cargo test --test documents gallery` makes them anew.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::Path;
use std::process::Command;

use gridgen::case::Case;
use rayon::prelude::*;
use serde_json::Value;

use super::{files_below, read, root};
use support::documents::assert_written;

const HEAD: &str = "# Gallery

Thirty grids, each made by `gridgen cases/NAME.toml`. The pictures show the surroundings of the body, of a row of blades one passage;
`report.html` of a run shows the whole grid, both edges, and maps of the quality.
";

/// A case, its title, and its bounds: most Newton steps, largest skewness of 99 % of the cells, and that of all; these
/// are results of this program with a margin, which detect regressions. Last, by how much lines may turn to and fro, in
/// degrees: beside the corners of a base as much as the surfaces do there, in the corners of a box to meet both sides, and
/// in a cascade where five lines meet. Cases of several elements have no bounds: their grids are good and fit each other,
/// without findings.
type Entry = (&'static str, &'static str, &'static [f64]);

/// The end of the title of a case of several elements.
const OVERSET: &str = "overset grids";

const CASES: [Entry; 30] = [
    ("naca0012", "O-grid around a sharp section", &[]),
    ("naca0012-c", "C-grid of the size of NASA's 225 × 65 grid", &[]),
    ("naca4412", "C-grid around a cambered section", &[5.0, 0.04, 0.055, 1.0]),
    ("e387", "A section from a file", &[5.0, 0.055, 0.07, 1.0]),
    ("naca23012-wake", "C-grid whose wake follows the flow", &[5.0, 0.052, 0.1, 1.0]),
    ("naca4412-plain-flap", "A plain flap", &[5.0, 0.054, 0.11, 1.0]),
    ("joukowski", "A cusped trailing edge", &[5.0, 0.036, 0.06, 1.0]),
    ("naca0012-blunt", "A blunt trailing edge", &[]),
    ("flatback", "A base of 6 % chord", &[5.0, 0.1, 0.45, 1.0]),
    ("naca0015-rounded", "A rounded trailing edge", &[5.0, 0.085, 0.1, 1.0]),
    ("du-flatback-c", "C-grid with a block behind a base of 10 % chord", &[5.0, 0.15, 0.2, 18.0]),
    ("naca2412-wedge", "C-grid with a wedge behind the base", &[5.0, 0.04, 0.06, 1.0]),
    ("naca0006-thin", "First cells of 1e-7 chord", &[5.0, 0.145, 0.96, 1.0]),
    ("naca2412-reach", "A grid that ends half a chord off the wall", &[5.0, 0.22, 0.92, 1.0]),
    ("cylinder", "A circular cylinder", &[2.0, 0.012, 0.012, 1.0]),
    ("ellipse-half", "Half a grid beside a plane of symmetry", &[4.0, 0.075, 0.078, 1.0]),
    ("f6-section", "A wing-body section", &[]),
    ("f6-half", "Half of a wing-body section", &[]),
    ("tunnel", "A wind tunnel", &[7.0, 0.36, 0.79, 90.0]),
    (
        "tunnel-walls",
        "A wind tunnel with boundary layers on floor and roof",
        &[7.0, 0.39, 0.68, 90.0],
    ),
    ("tunnel-bump", "A wind tunnel with a bump on its floor", &[9.0, 0.56, 0.8, 90.0]),
    ("test-section", "A test section with contraction and diffuser", &[7.0, 0.4, 0.68, 90.0]),
    ("ground", "A section above the ground", &[8.0, 0.47, 0.76, 90.0]),
    ("box", "A cylinder in a channel", &[6.0, 0.39, 0.67, 90.0]),
    ("turbine", "A row of turbine blades", &[4.0, 0.34, 0.65, 90.0]),
    ("compressor", "A row of compressor blades", &[4.0, 0.26, 0.53, 90.0]),
    ("propeller", "A section of a propeller at its solidity", &[4.0, 0.29, 0.55, 90.0]),
    ("naca4412-flap", "A slotted flap, overset grids", &[]),
    ("two-elements", "Williams' two elements, overset grids", &[]),
    ("three-elements", "Slat, main element and flap, overset grids", &[]),
];

/// Largest mean difference per channel of pictures that are the same: lines may move by a fraction of a pixel where
/// another machine rounds differently.
const TOLERANCE: f64 = 2.0;

/// A part of `grid.png`, in pixels.
#[derive(Clone, Copy)]
struct View {
    from: [usize; 2],
    size: [usize; 2],
}

/// The view of the body.
const BODY: View = View { from: [862, 156], size: [708, 620] };
/// The four views that the picture of every grid has.
const WHOLE: View = View { from: [0, 0], size: [1600, 1500] };
/// The case of README's picture, which shows all views.
const OF_README: &str = "naca4412";

/// Pixels of a picture: two for three of `grid.png`.
fn reduced_size(View { size, .. }: View) -> [usize; 2] {
    size.map(|pixels| 2 * pixels / 3)
}

#[test]
fn text_and_pictures_are_those_of_the_cases() {
    let folder = tempfile::tempdir().unwrap();
    let options =
        "--backend cpu --quiet --set output.formats=[\"vts\"] --set output.report=false --output";
    let made = Command::new(assert_cmd::cargo::cargo_bin!("gridgen"))
        .arg("run")
        .args(CASES.map(|(name, ..)| root(&format!("cases/{name}.toml"))))
        .args(options.split(' '))
        .arg(folder.path())
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let mut text = HEAD.to_owned();
    for (name, title, bounds) in CASES {
        let folder = folder.path().join(name);
        let report: Value = serde_json::from_str(&read(folder.join("report.json"))).unwrap();
        assert_eq!(report["elements"].is_array(), title.ends_with(OVERSET), "{name}");
        assert_good(name, bounds, &report);
        entry(&mut text, (name, title), &report);
    }
    CASES.par_iter().for_each(|(name, ..)| {
        let drawn = rgb(&folder.path().join(name).join("grid.png"));
        assert_kept(&root(&format!("docs/images/gallery/{name}.png")), BODY, &drawn);
        if *name == OF_README {
            assert_kept(&root("docs/images/readme.png"), WHOLE, &drawn);
        }
    });
    assert_written("docs/gallery.md", &text);
}

/// Asserts that a grid is good and within its bounds, with first cells as asked for, and that those of elements fit each
/// other, without findings.
#[track_caller]
fn assert_good(name: &str, bounds: &[f64], report: &Value) {
    assert_eq!(report["verdict"]["kind"], "good", "{name}");
    if report["elements"].is_array() {
        assert_eq!(report["overset"]["findings"], Value::Array(vec![]), "{name}");
    }
    let [steps, p99_skewness, max_skewness, waves] = bounds else { return };
    let quality = |key: &str| report["quality"][key].as_f64().unwrap();
    let at_most = |key: &str, most: f64| {
        let found = quality(key);
        assert!(found <= most, "{name}: {key} is {found}, at most {most}");
    };
    let newton = report["newton"]["iterations"].as_f64().unwrap();
    assert!(newton <= *steps, "{name}: {newton} Newton steps");
    at_most("p99_skewness", *p99_skewness);
    at_most("max_skewness", *max_skewness);
    at_most("wall_angle_error_max_deg", 0.01);
    let case = Case::from_file(&root(&format!("cases/{name}.toml")), &[]).unwrap();
    for key in ["first_cell_min", "first_cell_max"] {
        let off = (quality(key) / case.grid.first_cell - 1.0).abs();
        assert!(off < 1e-3, "{name}: {key} is off by {off:e}");
    }
    at_most("waves_deg", *waves);
}

/// Each shipped case is in the gallery, but for one that takes long, and has bounds here or in another test.
#[test]
fn every_shipped_case_is_in_the_gallery() {
    let mut missing = files_below("cases", &["toml"]);
    missing.retain(|file| CASES.iter().all(|(name, ..)| *file != format!("{name}.toml")));
    assert_eq!(missing, ["tmr-naca0012.toml"]);
    let others = CASES.iter().filter(|(_, title, bounds)| {
        assert!(bounds.is_empty() || bounds.len() == 4, "{title}");
        bounds.is_empty() && !title.ends_with(OVERSET)
    });
    // Their bounds are in tests/grid, in golden.rs and c_grid.rs.
    let of_other_tests = ["naca0012", "naca0012-c", "naca0012-blunt", "f6-section", "f6-half"];
    assert!(others.map(|(name, ..)| *name).eq(of_other_tests));
}

/// Asserts that the picture at `path` is this view of a picture drawn today.
#[track_caller]
fn assert_kept(path: &Path, view: View, drawn: &(usize, Vec<u8>)) {
    let today = reduced(view, drawn);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        write(path, reduced_size(view), &today);
    }
    let kept = rgb(path).1;
    let difference = kept.iter().zip(&today).map(|(a, b)| f64::from(a.abs_diff(*b))).sum::<f64>();
    let mean = difference / kept.len() as f64;
    assert!(
        kept.len() == today.len() && mean <= TOLERANCE,
        "{}: the picture differs by {mean:.2}; UPDATE_DOCS=1 makes it anew",
        path.display()
    );
}

/// The entry of a case: title, picture, and its report in a line.
fn entry(text: &mut String, (name, title): (&str, &str), report: &Value) {
    let one = |zone: &Value| {
        let number = |name: &str| zone["quality"][name].as_f64().unwrap();
        let [ni, nj] = ["ni", "nj"].map(|key| zone["grid"][key].as_u64().unwrap());
        let [first, p99] = ["first_cell_max", "p99_skewness"].map(number);
        let growth = number("max_growth_j");
        format!(
            "{ni} × {nj}, first cell {first:.1e}, 99 % of the skewness below {p99:.2}, growth {growth:.2}"
        )
    };
    let zones = match report["elements"].as_array() {
        None => one(report),
        Some(elements) => {
            let named = |zone: &Value| format!("{}: {}", zone["name"].as_str().unwrap(), one(zone));
            elements.iter().map(named).collect::<Vec<_>>().join("; ")
        }
    };
    writeln!(
        text,
        "\n## {title}\n\n![{title}](images/gallery/{name}.png)\n\n[`cases/{name}.toml`](../cases/{name}.toml): {zones}"
    )
    .unwrap();
}

/// The width and the pixels of a picture, three bytes each.
fn rgb(path: &Path) -> (usize, Vec<u8>) {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!(info.color_type, png::ColorType::Rgb, "{}", path.display());
    (info.width as usize, pixels)
}

/// A view, each pixel the mean of those that it covers, in steps of a palette.
fn reduced(view: View, (width, pixels): &(usize, Vec<u8>)) -> Vec<u8> {
    let View { from: [left, top], size: [across, down] } = view;
    let [columns, rows] = reduced_size(view);
    // The mean of the values that one of the result covers, each with the part of it that is covered.
    let mean = |k: usize, of: usize, all: usize, value: &dyn Fn(usize) -> [f64; 3]| {
        let [from, to] = [k, k + 1].map(|edge| (edge * all) as f64 / of as f64);
        (from as usize..to.ceil() as usize).fold([0.0; 3], |sum, p| {
            let part = (to.min(p as f64 + 1.0) - from.max(p as f64)) / (to - from);
            let value = value(p);
            [0, 1, 2].map(|channel| sum[channel] + part * value[channel])
        })
    };
    let lines = |y: usize| -> Vec<[f64; 3]> {
        let pixel = |x: usize| {
            let at = 3 * ((top + y) * width + left + x);
            [0, 1, 2].map(|channel| f64::from(pixels[at + channel]))
        };
        (0..columns).map(|column| mean(column, columns, across, &pixel)).collect()
    };
    let lines: Vec<_> = (0..down).map(lines).collect();
    let level =
        |value: f64| LEVELS.into_iter().min_by_key(|level| level.abs_diff(value.round() as u8));
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let reduced = places.flat_map(|(row, column)| mean(row, rows, down, &|y| lines[y][column]));
    reduced.filter_map(level).collect()
}

/// Levels of each channel, closer where it is light: their combinations are a palette of 216 colours.
const LEVELS: [u8; 6] = [0, 90, 150, 200, 240, 255];

/// Writes a picture with the colours of the palette.
fn write(path: &Path, size: [usize; 2], pixels: &[u8]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let [columns, rows] = size.map(|pixels| pixels as u32);
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path).unwrap()), columns, rows);
    encoder.set_color(png::ColorType::Indexed);
    encoder.set_compression(png::Compression::High);
    let base = LEVELS.len();
    let colour = |k: usize| [k / (base * base), k / base % base, k % base].map(|k| LEVELS[k]);
    encoder.set_palette((0..base.pow(3)).flat_map(colour).collect::<Vec<_>>());
    let place = |channel: &u8| LEVELS.iter().position(|level| level == channel).unwrap();
    let index =
        |pixel: &[u8]| pixel.iter().fold(0, |index, channel| base * index + place(channel)) as u8;
    let indices: Vec<_> = pixels.chunks_exact(3).map(index).collect();
    encoder.write_header().unwrap().write_image_data(&indices).unwrap();
}
