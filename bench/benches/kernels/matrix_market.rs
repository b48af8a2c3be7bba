//! Rates of writing and reading Matrix Market text beside those of its bytes.

use std::fs;
use std::hint::black_box;
use std::path::Path;

use gridgen::formats::matrix_market::{read_matrix, write_matrix};
use gridgen::sparse::Csr;
use rayon::prelude::*;

use crate::seconds;

/// Prints the fastest of `repeats` times of writing a matrix of `n` rows with 13 entries each as text
/// into the folder for temporary files and of reading it, by rows and with its lines in any order,
/// beside reading the bytes of the file and going over them once on all threads.
pub(crate) fn print(n: usize, repeats: usize) {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let path = folder.path().join("a.mtx");
    let a = band(n);
    println!("\n| Matrix Market, {} entries | MB | s | MB/s |", a.values.len());
    println!("| --- | ---: | ---: | ---: |");
    let fastest = |work: &mut dyn FnMut()| {
        (0..repeats).map(|_| seconds(&mut *work)).fold(f64::INFINITY, f64::min)
    };
    let line = |name: &str, taken: f64| {
        let megabytes = fs::metadata(&path).expect("the file is there").len() as f64 / 1e6;
        println!("| {name} | {megabytes:.0} | {taken:.3} | {:.0} |", megabytes / taken);
    };
    let taken = fastest(&mut || write_matrix(&path, &a).expect("the folder takes files"));
    line("writing", taken);
    let read_both = |order: &str| {
        let taken = fastest(&mut || drop(black_box(read_matrix(&path).expect("it was written"))));
        line(&format!("reading, {order}"), taken);
        line(&format!("its bytes, {order}"), fastest(&mut || scan(&path)));
    };
    read_both("rows in turn");
    shuffle(&path);
    read_both("lines in any order");
}

/// Reads the bytes of a file and counts its lines.
fn scan(path: &Path) {
    let bytes = fs::read(path).expect("the file is there");
    let lines = |piece: &[u8]| piece.split(|&byte| byte == b'\n').count();
    black_box(bytes.par_chunks(1 << 20).map(lines).sum::<usize>());
}

/// Puts the lines of entries into another order, always the same.
fn shuffle(path: &Path) {
    let text = fs::read_to_string(path).expect("the file is there");
    let mut lines: Vec<&str> = text.lines().collect();
    let entries = &mut lines[2..];
    let n = entries.len();
    for k in (1..n).rev() {
        entries.swap(k, k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (k + 1));
    }
    fs::write(path, lines.join("\n")).expect("the folder takes files");
}

/// Thirteen entries a row, on and beside the diagonal, with all digits.
fn band(n: usize) -> Csr {
    let stride = (n as f64).sqrt() as usize;
    Csr::from_rows((0..n).map(|row| {
        let near = (0..13).map(move |k| (row + n + (k % 5) - 2 + (k / 5) * stride) % n);
        near.map(move |column| (column, ((row * 31 + column) as f64).sin())).collect::<Vec<_>>()
    }))
}
