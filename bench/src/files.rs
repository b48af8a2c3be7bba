//! Measures the writing of meshes and matrices, compared with copying their bytes.

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::path::Path;
use std::time::Instant;

use gridgen::error::Error;
use gridgen::files::{IoError, WriteFault};
use gridgen::formats::matrix_market::{read_matrix, write_matrix};
use gridgen::formats::plot3d::Encoding;
use gridgen::formats::{self, Compression, MeshData, Settings};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::sparse::Csr;
use rayon::prelude::*;
use tempfile::TempDir;

use super::{Results, Table};

/// Number of times that each file is written and read.
const REPEATS: usize = 5;
/// Bytes that a copy reads and writes at a time.
const BUFFER: usize = 1 << 20;

/// A format to write: its name in the table, the extension of its file, and settings within the format.
type Written = (&'static str, &'static str, fn(&mut Settings));

const WRITTEN: [Written; 4] = [
    (".vts", "vts", |_| ()),
    ("Plot3D, f8 stream", "p3d", |settings| {
        settings.plot3d.encoding = Encoding::Stream;
    }),
    (".cgns", "cgns", |_| ()),
    (".vts, zlib", "vts", |settings| settings.compression = Compression::Zlib),
];

/// Seconds of writing `side` × `side` points in each format into the folder for temporary files, and, for
/// comparison, seconds of reading the file, writing its bytes to another file and waiting for the disk as
/// gridgen does, and of writing as many bytes from memory, which shows the speed of the disk.
pub fn writing(side: usize) -> Result<Results, Error> {
    let grid = circles(side);
    let folder = folder()?;
    let copy = folder.path().join("copy");
    let columns = ["written as", "MB", "s", "times the copy", "share of the disk's speed"];
    let mut table = Table::new(format!("{} points", grid.x.len()), &columns);
    for (name, end, choose) in WRITTEN {
        let mesh = folder.path().join("mesh").with_extension(end);
        let mut data = MeshData::from(&grid);
        choose(&mut data.settings);
        let mut fastest = [f64::INFINITY; 3];
        for _ in 0..REPEATS {
            let times = [
                seconds(|| formats::write(&mesh, &data))?,
                seconds(|| copy_bytes(&mesh, &copy)).map_err(|e| failed(&copy, e))?,
                seconds(|| write_bytes(&copy, &mesh)).map_err(|e| failed(&copy, e))?,
            ];
            fs::remove_file(&copy).map_err(|e| failed(&copy, e))?;
            fastest = std::array::from_fn(|k| fastest[k].min(times[k]));
        }
        let size = megabytes(&mesh)?;
        fs::remove_file(&mesh).map_err(|e| failed(&mesh, e))?;
        let [written, copied, at_hand] = fastest;
        table.rows.push(vec![
            name.to_owned(),
            format!("{size:.0}"),
            format!("{written:.2}"),
            format!("{:.2}", written / copied),
            format!("{:.0} %", 100.0 * at_hand / written),
        ]);
    }
    Ok(vec![table].into())
}

/// Rates of writing a matrix of `rows` rows with 13 entries each as Matrix Market text into the folder for
/// temporary files, and of reading it, by rows and with its lines in any order. For comparison, the rates of
/// reading the bytes of the file and counting its lines on all threads.
pub fn matrix_market(rows: usize) -> Result<Results, Error> {
    let folder = folder()?;
    let path = folder.path().join("a.mtx");
    let a = band(rows);
    let title = format!("Matrix Market, {} entries", a.values.len());
    let mut table = Table::new(title, &["", "MB", "s", "MB/s"]);
    let mut add = |name: String, work: &mut dyn FnMut() -> Result<(), Error>| {
        let mut fastest = f64::INFINITY;
        for _ in 0..REPEATS {
            fastest = fastest.min(seconds(&mut *work)?);
        }
        let size = megabytes(&path)?;
        let cells =
            [format!("{size:.0}"), format!("{fastest:.3}"), format!("{:.0}", size / fastest)];
        table.rows.push([name].into_iter().chain(cells).collect());
        Ok::<(), Error>(())
    };
    add("writing".to_owned(), &mut || Ok(write_matrix(&path, &a)?))?;
    for order in ["rows in turn", "lines in any order"] {
        if order == "lines in any order" {
            shuffle(&path).map_err(|e| failed(&path, e))?;
        }
        add(format!("reading, {order}"), &mut || {
            black_box(read_matrix(&path)?);
            Ok(())
        })?;
        add(format!("its bytes, {order}"), &mut || {
            count_lines(&path).map_err(|e| failed(&path, e).into())
        })?;
    }
    Ok(vec![table].into())
}

pub(crate) fn folder() -> Result<TempDir, IoError> {
    tempfile::tempdir().map_err(|source| failed(&std::env::temp_dir(), source))
}

fn failed(path: &Path, source: io::Error) -> IoError {
    IoError { path: path.to_path_buf(), fault: WriteFault::System(source) }
}

/// Seconds of work that must succeed.
fn seconds<E>(work: impl FnOnce() -> Result<(), E>) -> Result<f64, E> {
    let started = Instant::now();
    work()?;
    Ok(started.elapsed().as_secs_f64())
}

fn megabytes(path: &Path) -> Result<f64, IoError> {
    Ok(fs::metadata(path).map_err(|e| failed(path, e))?.len() as f64 / 1e6)
}

fn copy_bytes(from: &Path, to: &Path) -> io::Result<()> {
    let (mut from, mut to) = (File::open(from)?, File::create(to)?);
    let mut buffer = vec![0; BUFFER];
    loop {
        match from.read(&mut buffer)? {
            0 => return to.sync_data(),
            n => to.write_all(&buffer[..n])?,
        }
    }
}

/// Writes a new file with as many bytes as another one.
fn write_bytes(to: &Path, like: &Path) -> io::Result<()> {
    fs::remove_file(to)?;
    let mut left = fs::metadata(like)?.len();
    let mut to = File::create(to)?;
    let buffer: Vec<u8> = (0..BUFFER).map(|k| ((k * k) >> 3) as u8).collect();
    while left > 0 {
        let part = left.min(BUFFER as u64);
        to.write_all(&buffer[..part as usize])?;
        left -= part;
    }
    to.sync_data()
}

/// Circles of growing radius.
fn circles(n: usize) -> Grid {
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

/// Reads the bytes of a file and counts its lines.
fn count_lines(path: &Path) -> io::Result<()> {
    let bytes = fs::read(path)?;
    let lines = |piece: &[u8]| piece.split(|&byte| byte == b'\n').count();
    black_box(bytes.par_chunks(1 << 20).map(lines).sum::<usize>());
    Ok(())
}

/// Shuffles the lines of entries, in the same way each time.
fn shuffle(path: &Path) -> io::Result<()> {
    let text = fs::read_to_string(path)?;
    let mut lines: Vec<&str> = text.lines().collect();
    let entries = &mut lines[2..];
    for k in (1..entries.len()).rev() {
        entries.swap(k, k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (k + 1));
    }
    fs::write(path, lines.join("\n"))
}

/// Thirteen entries a row, on and beside the diagonal, with all digits.
fn band(n: usize) -> Csr {
    let stride = (n as f64).sqrt() as usize;
    Csr::from_rows((0..n).map(|row| {
        let near = (0..13).map(move |k| (row + n + (k % 5) - 2 + (k / 5) * stride) % n);
        near.map(move |column| (column, ((row * 31 + column) as f64).sin())).collect::<Vec<_>>()
    }))
}
