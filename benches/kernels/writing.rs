//! Time of writing a mesh beside that of copying its file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use gridgen::grid::{Grid, Seam, Topology};
use gridgen::io::vts;

use crate::seconds;

/// Bytes that the copy reads and writes at a time.
const BUFFER: usize = 1 << 20;

/// Prints the fastest of `repeats` times of writing `n` × `n` points as `.vts` into the folder for
/// temporary files, and of reading the file, writing its bytes to another, and waiting for the disk
/// as gridgen does.
pub(crate) fn print(n: usize, repeats: usize) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let (mesh, copy) = (folder.path().join("mesh.vts"), folder.path().join("copy.vts"));
    let grid = ring(n);
    let mut fastest = (f64::INFINITY, f64::INFINITY);
    for _ in 0..repeats {
        let written = seconds(|| vts::write(&mesh, &grid, None).expect("the folder takes files"));
        fastest = (fastest.0.min(written), fastest.1.min(seconds(|| copy_bytes(&mesh, &copy))));
        fs::remove_file(&copy).expect("the copy is there");
    }
    let megabytes = fs::metadata(&mesh).expect("the mesh is there").len() as f64 / 1e6;
    let (written, copied) = fastest;
    println!("\n| {} points as .vts | MB | s | copy s | times the copy |", n * n);
    println!("| --- | ---: | ---: | ---: | ---: |");
    println!("| | {megabytes:.0} | {written:.2} | {copied:.2} | {:.2} |", written / copied);
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
