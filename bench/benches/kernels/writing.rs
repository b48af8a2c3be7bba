//! Time of writing a mesh beside that of copying its file and that of the disk.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use gridgen::files::IoError;
use gridgen::formats::cgns;
use gridgen::formats::plot3d::{self, Encoding, Flavour};
use gridgen::formats::vts::{self, Compression};
use gridgen::grid::{Grid, Seam, Topology};

use crate::seconds;

/// Bytes that the copy reads and writes at a time.
const BUFFER: usize = 1 << 20;

/// A format, and what writes a grid in it.
type Format = (&'static str, fn(&Path, &Grid) -> Result<(), IoError>);

const FORMATS: [Format; 4] = [
    (".vts", |path, grid| vts::write(path, grid, None, Compression::None)),
    ("Plot3D, f8 stream", |path, grid| {
        plot3d::write(
            path,
            grid,
            None,
            Flavour { encoding: Encoding::Stream, ..Flavour::default() },
        )
    }),
    (".cgns", |path, grid| cgns::write(path, grid, None)),
    (".vts, zlib", |path, grid| vts::write(path, grid, None, Compression::Zlib)),
];

/// Prints for each format the fastest of `repeats` times of writing `n` × `n` points into the folder
/// for temporary files; of reading the file, writing its bytes to another, and waiting for the
/// disk as gridgen does; and of writing as many bytes that are at hand. The environment's SIDE
/// replaces `n`.
pub(crate) fn print(n: usize, repeats: usize) {
    let side = std::env::var("SIDE").ok().and_then(|side| side.parse().ok());
    let grid = ring(side.unwrap_or(n));
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (mesh, copy) = (folder.path().join("mesh"), folder.path().join("copy"));
    let points = grid.x.len();
    println!("\n| {points} points as | MB | s | times the copy | share of the disk's speed |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for (name, write) in FORMATS {
        let mut fastest = [f64::INFINITY; 3];
        for _ in 0..repeats {
            let times = [
                seconds(|| write(&mesh, &grid).expect("the folder takes files")),
                seconds(|| copy_bytes(&mesh, &copy)),
                seconds(|| write_bytes(&copy, &mesh)),
            ];
            fs::remove_file(&copy).expect("the copy is there");
            for (fastest, time) in fastest.iter_mut().zip(times) {
                *fastest = fastest.min(time);
            }
        }
        let megabytes = length(&mesh) as f64 / 1e6;
        fs::remove_file(&mesh).expect("the mesh is there");
        let [written, copied, at_hand] = fastest;
        println!(
            "| {name} | {megabytes:.0} | {written:.2} | {:.2} | {:.0} % |",
            written / copied,
            100.0 * at_hand / written
        );
    }
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).expect("the mesh is there").len()
}

fn copy_bytes(from: &Path, to: &Path) {
    let mut from = File::open(from).expect("the mesh is there");
    let mut to = File::create(to).expect("the folder takes files");
    let mut buffer = vec![0; BUFFER];
    loop {
        let n = from.read(&mut buffer).expect("the mesh can be read");
        if n == 0 {
            break;
        }
        to.write_all(&buffer[..n]).expect("the folder takes files");
    }
    to.sync_data().expect("the disk has no trouble");
}

/// Writes as many bytes as another file has to a new one.
fn write_bytes(to: &Path, like: &Path) {
    fs::remove_file(to).expect("the copy is there");
    let mut to = File::create(to).expect("the folder takes files");
    let buffer: Vec<u8> = (0..BUFFER).map(|k| ((k * k) >> 3) as u8).collect();
    let mut left = length(like);
    while left > 0 {
        let part = left.min(BUFFER as u64);
        to.write_all(&buffer[..part as usize]).expect("the folder takes files");
        left -= part;
    }
    to.sync_data().expect("the disk has no trouble");
}

/// Circles of growing radius.
fn ring(n: usize) -> Grid {
    let mut grid = Grid::new(Topology::O(Seam::Periodic), n, n);
    for j in 0..n {
        let radius = 0.5 + 20.0 * (j as f64 / n as f64).powi(2);
        for i in 0..n {
            let angle = -std::f64::consts::TAU * i as f64 / (n - 1) as f64;
            let k = grid.index(i, j);
            (grid.x[k], grid.y[k]) = (radius * angle.cos(), radius * angle.sin());
        }
    }
    grid
}
