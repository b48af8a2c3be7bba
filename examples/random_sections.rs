//! Random sections, each as an O- and as a C-grid: every one is to become a valid grid or to be refused
//! with its reason, and at most one in a hundred to be refused.
//!
//! `cargo run --release --example random_sections -- [FROM [TO [TABLE]]]`
//!
//! Section k, from FROM (0) up to TO (5000), follows from k alone. Lines are appended to TABLE (default
//! `output/random-sections.tsv`) as they are done: section, kind, topology, verdict (`valid`, `refused`,
//! `failed`), first cell, Newton steps, reason. What is in the table already is left out. The summary
//! counts the whole table; the exit code is 1 where a grid failed or too many were refused.
//!
//! A section is a class function times a Bernstein polynomial for each surface (Kulfan 2008, "Universal
//! Parametric Geometry Representation Method", doi:10.2514/1.29958) of order 6 to 12, thickness 1 to
//! 40 %, camber up to 12 %, with a sharp or a blunt edge, and of its kind: plain; with noise of 1e-5 to
//! 1e-3 chord, as digitised ones have; with a horn of ice behind the nose; reflexed; with an edge that is
//! nearly a cusp.
#![allow(clippy::print_stdout, reason = "the summary is this program's result")]

use std::collections::{BTreeMap, HashSet};
use std::f64::consts::PI;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use gridgen::case::{Case, SectionError};
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, Progress, RunOptions, make_grid};
use gridgen::solver::history::NewtonStep;

#[path = "shared/random.rs"]
mod random;
use random::Random;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// What is done to a section beside its polynomials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Plain,
    Noise,
    Horn,
    Reflex,
    Cusp,
}

const KINDS: [Kind; 5] = [Kind::Plain, Kind::Noise, Kind::Horn, Kind::Reflex, Kind::Cusp];
const TOPOLOGIES: [&str; 2] = ["O", "C"];

/// Seed of section 0; section k has this and k.
const SEED: u64 = 0x5EC7_1025;

/// Points of the grids.
const SIZE: [usize; 2] = [161, 65];

/// Runs the sections and prints the summary.
pub fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default| arguments.get(k).map_or(Ok(default), |text| text.parse());
    let (from, to) = (number(0, 0)?, number(1, 5000)?);
    let table = arguments.get(2).map_or("output/random-sections.tsv", String::as_str);
    let table = Path::new(table);
    survey(from..to, table)?;
    let good = summarise(&fs::read_to_string(table)?);
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Appends the lines of these sections to a table, but for those that are there.
pub fn survey(sections: Range<u64>, table: &Path) -> Result<(), Failure> {
    if let Some(parent) = table.parent() {
        fs::create_dir_all(parent)?;
    }
    let done: HashSet<String> = fs::read_to_string(table)
        .unwrap_or_default()
        .lines()
        .map(|line| line.split('\t').take(3).collect::<Vec<_>>().join("\t"))
        .collect();
    let jobs = sections.flat_map(|k| TOPOLOGIES.map(|topology| (k, topology)));
    let jobs = Mutex::new(jobs.filter(|job| !done.contains(&key(*job))));
    let file = Mutex::new(OpenOptions::new().create(true).append(true).open(table)?);
    let work = || -> Result<(), Failure> {
        let stopped = "another thread stopped";
        loop {
            let Some(job) = jobs.lock().map_err(|_| stopped)?.next() else { return Ok(()) };
            let line = [&key(job), "\t", &verdict(job)?, "\n"].concat();
            // In one piece: an interrupted survey leaves no half line.
            file.lock().map_err(|_| stopped)?.write_all(line.as_bytes())?;
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, Into::into);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a thread stopped")?)
    })
}

/// The columns that name a line.
fn key((k, topology): (u64, &str)) -> String {
    format!("{k}\t{:?}\t{topology}", kind(k))
}

fn kind(k: u64) -> Kind {
    KINDS[(k % KINDS.len() as u64) as usize]
}

/// Verdict, first cell, Newton steps and reason of one section in one topology.
fn verdict((k, topology): (u64, &str)) -> Result<String, Failure> {
    let mut random = Random::new(SEED, k);
    let text = section(kind(k), &mut random);
    let first_cell = random.logarithmic(1e-6, 1e-4);
    let [ni, nj] = SIZE;
    let case = format!(
        "geometry.file = \"section.dat\"\n[grid]\ntopology = \"{topology}\"\nni = {ni}\nnj = {nj}\n\
         first_cell = {first_cell:e}\n"
    );
    let line = |verdict: &str, steps: usize, reason: &str| {
        let reason = reason.replace(['\t', '\n'], " ");
        Ok(format!("{verdict}\t{first_cell:.2e}\t{steps}\t{reason}"))
    };
    let folder = tempfile::tempdir()?;
    fs::write(folder.path().join("section.dat"), text)?;
    let case = Case::from_toml(&case, &folder.path().join("section.toml"), &[])?;
    let mut options = RunOptions::new(PathBuf::new());
    options.backend = BackendChoice::Cpu;
    options.threads = Some(1);
    match make_grid(&case, &options, &mut Silent) {
        Ok(made) => {
            let steps = made.history.newton_iterations();
            if made.is_good() {
                line("valid", steps, "")
            } else {
                line("failed", steps, &made.verdict.to_string())
            }
        }
        // Only what is wrong with the section is its own doing.
        Err(Error::Geometry(SectionError { error, .. })) => line("refused", 0, &error.to_string()),
        Err(error) => Err(error.into()),
    }
}

/// The file of a section.
fn section(kind: Kind, random: &mut Random) -> String {
    let order = 6 + random.below(7);
    let thickness = random.logarithmic(0.01, 0.4);
    // The thin ones are bent less, as the thick ones are.
    let camber = random.between(-0.12, 0.12) * if thickness < 0.03 { 0.3 } else { 1.0 };
    let blunt = random.below(2) == 1;
    let base = if blunt { random.between(0.001, 0.1) * thickness } else { 0.0 };
    // The exponent of the class function at the edge: 1 is a wedge, 2 nearly a cusp.
    let edge = if kind == Kind::Cusp { random.between(1.5, 2.0) } else { 1.0 };
    let points = 40 + random.below(100);
    let half = Polynomial::new(order, 0.5, edge, random);
    let line = Polynomial::new(order, 1.0, 1.0, random);
    let reflex = random.between(0.55, 0.85);
    let mean = |x: f64| match kind {
        // Changes sign ahead of the edge.
        Kind::Reflex => x * (1.0 - x) * (reflex - x),
        _ => line.at(x),
    };
    let stations: Vec<f64> =
        (0..=points).map(|i| 0.5 * (1.0 - (PI * i as f64 / points as f64).cos())).collect();
    let largest = |of: &dyn Fn(f64) -> f64| {
        (1..400).map(|i| of(f64::from(i) / 400.0).abs()).fold(f64::MIN_POSITIVE, f64::max)
    };
    let thicken = 0.5 * thickness / largest(&|x| half.at(x));
    let bend = camber / largest(&mean);
    let side = |sign: f64, x: f64| bend * mean(x) + sign * (thicken * half.at(x) + 0.5 * base * x);
    let upper = stations.iter().rev().map(|&x| [x, side(1.0, x)]);
    let lower = stations.iter().skip(1).map(|&x| [x, side(-1.0, x)]);
    let mut contour: Vec<[f64; 2]> = upper.chain(lower).collect();
    match kind {
        Kind::Noise => {
            let level = random.logarithmic(1e-5, 1e-3);
            for [x, y] in &mut contour {
                // Where the section is thinner than its noise it would cross itself.
                let room = (0.05 * (thicken * half.at(*x) + 0.5 * base * *x)).min(level);
                *y += room * random.normal();
            }
        }
        Kind::Horn => grow_horn(&mut contour, thickness, random),
        Kind::Plain | Kind::Reflex | Kind::Cusp => {}
    }
    let digits = 5 + random.below(4);
    let rows = contour.iter().map(|[x, y]| format!("{x:.digits$} {y:.digits$}\n"));
    format!("random {kind:?}\n{}", rows.collect::<String>())
}

/// Pushes the contour outward, along its normals, in a smooth bump on the upper side behind the nose.
fn grow_horn(contour: &mut [[f64; 2]], thickness: f64, random: &mut Random) {
    let centre = random.between(0.005, 0.1);
    let width = random.between(0.2, 0.6) * centre.max(0.02);
    let height = random.between(0.1, 0.6) * width.min(thickness);
    let old = contour.to_vec();
    let nose =
        old.iter().enumerate().min_by(|a, b| a.1[0].total_cmp(&b.1[0])).map_or(0, |(k, _)| k);
    for k in 1..nose {
        let [dx, dy] = [old[k + 1][0] - old[k - 1][0], old[k + 1][1] - old[k - 1][1]];
        let length = dx.hypot(dy).max(f64::MIN_POSITIVE);
        let grown = height * (-((old[k][0] - centre) / (0.5 * width)).powi(2)).exp();
        // The contour runs towards the nose on this side: outward is to the right.
        contour[k] = [old[k][0] + grown * dy / length, old[k][1] - grown * dx / length];
    }
}

/// x^n1 (1 − x)^n2 times a Bernstein polynomial with coefficients around one.
struct Polynomial {
    coefficients: Vec<f64>,
    nose: f64,
    edge: f64,
}

impl Polynomial {
    fn new(order: usize, nose: f64, edge: f64, random: &mut Random) -> Self {
        let spread = random.between(0.0, 0.5);
        let coefficients = (0..=order).map(|_| 1.0 + spread * random.between(-1.0, 1.0)).collect();
        Self { coefficients, nose, edge }
    }

    fn at(&self, x: f64) -> f64 {
        // De Casteljau's scheme.
        let mut values = self.coefficients.clone();
        for last in (1..values.len()).rev() {
            for k in 0..last {
                values[k] += x * (values[k + 1] - values[k]);
            }
        }
        x.powf(self.nose) * (1.0 - x).max(0.0).powf(self.edge) * values[0]
    }
}

/// Prints how many grids of each kind and topology have which verdict, and all that are not valid;
/// whether none failed and at most one in a hundred was refused.
#[must_use]
pub fn summarise(table: &str) -> bool {
    let mut counts: BTreeMap<[&str; 2], BTreeMap<&str, usize>> = BTreeMap::new();
    let (mut all, mut refused, mut failed) = (0, 0, 0);
    for line in table.lines() {
        let columns: Vec<&str> = line.split('\t').collect();
        if let [_, kind, topology, verdict, ..] = columns[..] {
            *counts.entry([kind, topology]).or_default().entry(verdict).or_default() += 1;
            all += 1;
            refused += usize::from(verdict == "refused");
            failed += usize::from(verdict == "failed");
            if verdict != "valid" {
                println!("{line}");
            }
        }
    }
    for ([kind, topology], verdicts) in counts {
        let verdicts: Vec<String> = verdicts.iter().map(|(v, n)| format!("{n} {v}")).collect();
        println!("{kind} {topology}: {}", verdicts.join(", "));
    }
    println!("{all} grids: {refused} refused, {failed} failed");
    failed == 0 && 100 * refused <= all
}

/// Shows nothing.
struct Silent;

impl Progress for Silent {
    fn phase(&mut self, _: &str) {}
    fn newton(&mut self, _: &NewtonStep) {}
    fn linear(&mut self, _: f64, _: f64) {}
}
