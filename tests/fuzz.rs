//! Broken input: no bytes make a reader or the case parser panic, hang, or take a gigabyte.
//!
//! Files that are good, and files that once were not, are cut, spliced and overwritten at random.
//! `FUZZ_RUNS` sets the number of executions, `FUZZ_SEED` the sequence:
//! `FUZZ_RUNS=10000000 cargo test --release --test fuzz -- --nocapture`.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]
#![allow(clippy::print_stdout, reason = "long runs tell how far they are")]

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gridgen::case::Case;
use gridgen::geometry::{
    SurfaceSettings, TrailingEdge, airfoil_from_bytes, contour_from_bytes, distribute,
    distribute_closed,
};
use gridgen::io::read::mesh;

/// Executions unless `FUZZ_RUNS` says otherwise.
const RUNS: u64 = 4_000;
/// Every so many executions one reads a mesh, which goes through a file.
const MESH_EVERY: u64 = 16;
/// A single execution that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(10);
/// Largest memory of the process, kilobytes.
const MEMORY: u64 = 1_000_000;
/// Inputs grow no longer than this by splicing.
const LARGEST: usize = 1 << 16;

/// What stands in files where it hurts.
const TOKENS: [&str; 32] = [
    "nan",
    "inf",
    "-inf",
    "1e400",
    "-1e308",
    "1e-320",
    "0",
    "-0.0",
    ".",
    "-",
    "1.",
    ".5",
    "999.0",
    "1.0e",
    "1D3",
    ",",
    ";",
    "\t",
    "\r\n",
    "\n\n",
    "\u{feff}",
    "(",
    ")",
    "#",
    "\"",
    "'''",
    "=",
    "{}",
    "[geometry]",
    "geometry.naca = \"0012\"",
    "[geometry.flap]",
    "99999999999999999999",
];

/// Xorshift64* (S. Vigna, doi:10.1145/2845077).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 33) as usize % n.max(1)
    }

    fn range(&mut self, n: usize) -> std::ops::Range<usize> {
        let (a, b) = (self.below(n + 1), self.below(n + 1));
        a.min(b)..a.max(b).min(a.min(b) + 200)
    }

    fn pick<'a, T>(&mut self, among: &'a [T]) -> &'a T {
        &among[self.below(among.len())]
    }
}

/// A kind of input with files to start from.
struct Target {
    name: &'static str,
    corpus: Vec<Vec<u8>>,
    run: fn(&[u8]),
}

fn files(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|found| found == ending));
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

fn targets() -> Vec<Target> {
    let sections = files("tests/data/airfoils", "dat");
    let mut cases = files("cases", "toml");
    let naca = gridgen::case::Contour::Naca("0012".into());
    cases.push(gridgen::case::template(&naca, gridgen::case::Purpose::Openfoam).into());
    let uncommented = String::from_utf8(cases[cases.len() - 1].clone()).unwrap();
    cases.push(uncommented.replace("\n#", "\n").into());
    vec![
        Target { name: "section", corpus: sections.clone(), run: section },
        Target { name: "contour", corpus: sections, run: contour },
        Target { name: "case", corpus: cases, run: case },
    ]
}

/// Reads a section; its wall, too, is to be found or refused.
fn section(bytes: &[u8]) {
    let Ok(airfoil) = airfoil_from_bytes(Path::new("fuzz.dat"), bytes.to_vec()) else { return };
    let settings = SurfaceSettings {
        ni: 65,
        leading_edge_spacing: 0.01,
        trailing_edge_spacing: 0.01,
        trailing_edge: TrailingEdge::AsGiven,
        base_cells: None,
        max_turn_deg: 15.0,
    };
    // The wall takes many times as long as the reading: one in sixteen.
    if bytes.len().is_multiple_of(16)
        && let Ok(wall) = distribute(&airfoil, &settings)
    {
        assert_eq!(wall.x.len(), 65);
        assert!(wall.x.iter().chain(&wall.y).all(|c| c.is_finite()));
    }
}

fn contour(bytes: &[u8]) {
    let read = contour_from_bytes(Path::new("fuzz.dat"), bytes.to_vec(), 2.0);
    if bytes.len().is_multiple_of(16)
        && let Ok(contour) = read
        && let Ok(wall) = distribute_closed(&contour, 65, 30.0)
    {
        assert_eq!(wall.x.len(), 65);
        assert!(wall.x.iter().chain(&wall.y).all(|c| c.is_finite()));
    }
}

fn case(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    match Case::from_toml(&text, Path::new("fuzz.toml"), &[]) {
        // What is accepted can be written out and read again.
        Ok(case) => {
            let written = case.to_toml_string().unwrap();
            assert_eq!(Case::from_toml(&written, Path::new("fuzz.toml"), &[]).unwrap(), case);
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Changes some of the bytes.
fn mutate(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = random.pick(corpus).clone();
    for _ in 0..=random.below(6) {
        let n = bytes.len();
        let at = random.below(n + 1);
        match random.below(8) {
            0 if n > 0 => bytes[at.min(n - 1)] ^= 1 << random.below(8),
            1 => bytes.insert(at, random.next() as u8),
            2 | 3 => {
                let token = random.pick(&TOKENS).bytes();
                bytes.splice(at..at, token);
            }
            4 => drop(bytes.drain(random.range(n))),
            5 => {
                let range = random.range(n);
                let copy = bytes[range].to_vec();
                bytes.splice(at..at, copy);
            }
            6 => {
                let other = random.pick(corpus);
                let part = other[random.range(other.len())].to_vec();
                bytes.splice(at..at, part);
            }
            _ => bytes.truncate(at),
        }
    }
    bytes.truncate(LARGEST);
    bytes
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().map_or(default, |text| text.parse().unwrap())
}

/// Largest memory so far, in kilobytes; 0 where the system does not tell.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok()).unwrap_or(0)
}

/// A good mesh in both formats, from the program's own writers.
fn meshes() -> Vec<Vec<u8>> {
    use gridgen::grid::{Grid, Seam, Topology};
    let mut grid = Grid::new(Topology::O(Seam::Held), 9, 3);
    for j in 0..3 {
        for i in 0..9 {
            let (sin, cos) = (-std::f64::consts::TAU * (i % 8) as f64 / 8.0).sin_cos();
            let k = grid.index(i, j);
            [grid.x[k], grid.y[k]] = [cos, sin].map(|c| c * (j + 1) as f64);
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let (vts, text) = (folder.path().join("a.vts"), folder.path().join("a.p3d"));
    gridgen::io::vts::write(&vts, &grid, None, gridgen::io::vts::Compression::Zlib).unwrap();
    gridgen::io::plot3d::write(&text, &grid, None, gridgen::io::plot3d::Flavour::default())
        .unwrap();
    [vts, text].map(|path| fs::read(path).unwrap()).to_vec()
}

#[test]
fn no_input_makes_a_reader_panic_hang_or_swell() {
    let runs = setting("FUZZ_RUNS", RUNS);
    let mut random = Random(setting("FUZZ_SEED", 1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (targets, meshes) = (targets(), meshes());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mesh");
    let started = Instant::now();
    for k in 0..runs {
        let began = Instant::now();
        if k.is_multiple_of(MESH_EVERY) {
            let bytes = mutate(&mut random, &meshes);
            fs::write(&path, &bytes).unwrap();
            let read = catch_unwind(|| drop(mesh(&path)));
            assert!(read.is_ok(), "mesh, execution {k}: {bytes:?}");
        } else {
            let target = random.pick(&targets);
            let bytes = mutate(&mut random, &target.corpus);
            let done = catch_unwind(|| (target.run)(&bytes));
            let shown = || String::from_utf8_lossy(&bytes).into_owned();
            assert!(done.is_ok(), "{}, execution {k}:\n{}", target.name, shown());
            assert!(began.elapsed() < LONGEST, "{}, execution {k}:\n{}", target.name, shown());
        }
        if (k + 1).is_multiple_of(1_000_000) {
            let seconds = started.elapsed().as_secs();
            println!("{} executions, {seconds} s, at most {} kB", k + 1, peak_memory());
        }
    }
    let memory = peak_memory();
    println!("{runs} executions, {} s, at most {memory} kB", started.elapsed().as_secs());
    assert!(memory < MEMORY, "{memory} kB");
}
