//! Blade cascades with default settings: seven that span the practice of turbines and compressors, and random ones.
//!
//! `cargo run --release --example cascades -- [seven | random [FROM [TO]]]`
//!
//! Without arguments the seven and random blades 0 to 60. Every case and its section are written to `output/cascades`, so
//! that `gridgen output/cascades/random-17.toml` makes the grid once more. A line a cascade: stagger, turning, pitch,
//! cells, first cell asked for, verdict (`valid`, `refused`, `failed`), folded cells, first cell over the one asked for (least
//! and largest), wall angle off normal, skewness (largest, 99 %, mean), angle by which lines turn on the outer line of the
//! O-grid off its corners (mean, 95 %), growth along i and j (99 % of the worst block), Newton steps and linear iterations of the
//! O-grid and of the other blocks, seconds, reason. The exit code is 1 where
//! a grid failed or more than one in twenty is refused.
//!
//! A blade is a camber line whose angle against the axis goes as 1 − (1 − u)^n from its first to its last value over the
//! length u, with NACA's thickness (NACA Rep. 460, closed edge) and a base that is left as it is, rounded, or of no thickness.
#![allow(clippy::print_stdout, reason = "the table is this program's result")]

use std::f64::consts::PI;
use std::fmt::{self, Display};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use gridgen::case::{Case, SectionError};
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, GridResult, RunOptions, make_grid};
use gridgen::grid::Grid;
use gridgen::grid::boundary::{Segment, Side};
use gridgen::grid::quality::{growth, percentile};

#[path = "shared/random.rs"]
mod random;
use random::Random;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Seed of the random blades.
const SEED: u64 = 0xB1AD_E052;
/// Points on either side of a blade.
const POINTS: usize = 100;
/// Most turn of the camber line per length, in radians: beyond, thick noses cross themselves.
const MOST_CURVED: f64 = 3.9;

/// A blade, its row and the size of its O-grid.
pub struct Cascade {
    /// Its name, that of the files too.
    pub name: String,
    /// Angles of the camber line at the nose and at the edge, degrees.
    angles: [f64; 2],
    exponent: f64,
    /// Largest thickness and half the thickness of the base, in lengths of the camber line.
    thickness: [f64; 2],
    edge: &'static str,
    /// In chords.
    pitch: f64,
    size: [usize; 2],
    first_cell: f64,
}

/// What became of one.
pub struct Outcome {
    /// `valid`, `refused` or `failed`.
    pub verdict: &'static str,
    measures: Option<Measures>,
    seconds: f64,
    reason: String,
}

/// Measures of the blocks of a grid.
struct Measures {
    cells: usize,
    folded: usize,
    first_cell: [f64; 2],
    wall_angle: f64,
    skewness: [f64; 3],
    kink: [f64; 2],
    growth: [f64; 2],
    newton: [usize; 2],
    linear: [f64; 2],
}

/// Makes the grids and prints their table.
pub fn main() -> Result<ExitCode, Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize, default| arguments.get(k).map_or(Ok(default), |text| text.parse());
    let random = (number(1, 0)?..number(2, 60)?).map(|k| Cascade::random(k, 1.0));
    let cascades: Vec<Cascade> = match arguments.first().map(String::as_str) {
        Some("seven") => Cascade::seven(),
        Some("random") => random.collect(),
        None => Cascade::seven().into_iter().chain(random).collect(),
        Some(other) => return Err(format!("{other}: seven or random was expected").into()),
    };
    let folder = Path::new("output/cascades");
    fs::create_dir_all(folder)?;
    println!(
        "name stagger turning pitch asked verdict cells folds first/asked wall-angle skew-max/p99/mean kink-mean/p95 growth-i/j \
         newton linear seconds reason"
    );
    let mut counts = [0; 3];
    for cascade in &cascades {
        let outcome = cascade.made(folder)?;
        counts[["valid", "refused", "failed"]
            .iter()
            .position(|v| *v == outcome.verdict)
            .unwrap_or(2)] += 1;
        println!("{cascade} {outcome}");
    }
    let [valid, refused, failed] = counts;
    println!("{valid} valid, {refused} refused, {failed} failed");
    let good = failed == 0 && 20 * refused <= cascades.len();
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Cascade {
    /// Staggers of 0 to 60 degrees, pitches of 0.6 to 1.2 chords, turning of up to 110 degrees, first cells of 1e-4 to 1e-6.
    pub fn seven() -> Vec<Self> {
        type Row = (&'static str, [f64; 2], f64, [f64; 2], &'static str, f64, [usize; 2], f64);
        const ROWS: [Row; 7] = [
            ("nozzle", [0.0, -76.0], 2.9, [0.19, 0.0105], "rounded", 0.85, [265, 33], 1e-5),
            ("low-pressure", [37.0, -63.0], 1.5, [0.11, 0.008], "rounded", 0.8, [401, 65], 1e-6),
            ("impulse", [55.0, -55.0], 1.0, [0.18, 0.01], "rounded", 0.6, [281, 41], 1e-4),
            ("guide", [20.0, -20.0], 1.0, [0.09, 0.005], "sharp", 1.0, [301, 49], 1e-5),
            ("compressor", [62.0, 30.0], 1.15, [0.06, 0.004], "rounded", 0.8, [265, 41], 1e-5),
            ("tip", [64.0, 56.0], 1.0, [0.04, 0.002], "blunt", 1.2, [241, 41], 1e-6),
            ("fine", [10.0, -72.0], 2.2, [0.16, 0.01], "rounded", 0.9, [481, 73], 1e-6),
        ];
        let cascade = |(name, angles, exponent, thickness, edge, pitch, size, first_cell)| Self {
            name: String::from(name),
            angles,
            exponent,
            thickness,
            edge,
            pitch,
            size,
            first_cell,
        };
        ROWS.into_iter().map(cascade).collect()
    }

    /// A turbine or a compressor, which follows from k alone; cells along i and j in those of the survey.
    pub fn random(k: u64, fineness: f64) -> Self {
        let mut random = Random::new(SEED, k);
        let turbine = random.below(2) == 0;
        let [ahead, behind] = if turbine {
            let ahead = random.between(-20.0, 50.0);
            [ahead, (ahead - random.between(50.0, 110.0)).max(-75.0)]
        } else {
            let ahead = random.between(25.0, 65.0);
            [ahead, ahead - random.between(5.0, 45.0)]
        };
        let most = MOST_CURVED / (ahead - behind).to_radians();
        let exponent = random.between(1.0, 2.5).min(most);
        let thickness = if turbine { random.between(0.08, 0.2) } else { random.between(0.03, 0.1) };
        let base =
            if turbine { random.between(0.006, 0.015) } else { random.between(0.002, 0.005) };
        let edge = ["rounded", "rounded", "blunt", "sharp"][random.below(4)];
        let pitch = random.between(0.6, 1.2);
        let first_cell = random.logarithmic(1e-6, 1e-4);
        let along = 240 + 40 * random.below(4);
        let across = 32 + 8 * random.below(3);
        let size = [along, across].map(|cells| (fineness * cells as f64) as usize + 1);
        let angles = [ahead, behind];
        let name = format!("random-{k}");
        Self { name, angles, exponent, thickness: [thickness, base], edge, pitch, size, first_cell }
    }

    /// Angle of the camber line against the axis after a length, radians.
    fn angle(&self, u: f64) -> f64 {
        let [ahead, behind] = self.angles.map(f64::to_radians);
        ahead + (behind - ahead) * (1.0 - (1.0 - u).powf(self.exponent))
    }

    /// Angle of the chord against the axis, degrees.
    pub fn stagger(&self) -> f64 {
        let [x, y] = self.camber(1.0);
        y.atan2(x).to_degrees()
    }

    /// A point of the camber line, by Simpson's rule.
    fn camber(&self, u: f64) -> [f64; 2] {
        const HALVES: usize = 200;
        let step = u / (2 * HALVES) as f64;
        let weight = |k: usize| match k {
            0 => 1.0,
            _ if k == 2 * HALVES => 1.0,
            _ if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let terms = (0..=2 * HALVES).map(|k| {
            let (sin, cos) = self.angle(k as f64 * step).sin_cos();
            [cos, sin].map(|c| c * weight(k) * step / 3.0)
        });
        terms.fold([0.0; 2], |sum, term| [sum[0] + term[0], sum[1] + term[1]])
    }

    /// The contour from the edge over the upper side, in chords, its chord on the x axis.
    fn contour(&self) -> Vec<[f64; 2]> {
        let end = self.camber(1.0);
        let chord = end[0].hypot(end[1]);
        let [cos, sin] = end.map(|c| c / chord);
        let base = if self.edge == "sharp" { 0.0 } else { self.thickness[1] };
        let point = |k: usize, side: f64| {
            let u = 0.5 * (1.0 - (PI * k as f64 / POINTS as f64).cos());
            let polynomial = u * (-0.126 + u * (-0.3516 + u * (0.2843 - 0.1036 * u)));
            let half =
                5.0 * self.thickness[0] * (0.2969 * u.sqrt() + polynomial) + base * u.powf(1.5);
            let ([x, y], (s, c)) = (self.camber(u), self.angle(u).sin_cos());
            let [x, y] = [x - side * half * s, y + side * half * c].map(|c| c / chord);
            [x * cos + y * sin, y * cos - x * sin]
        };
        let upper = (0..=POINTS).rev().map(|k| point(k, 1.0));
        upper.chain((1..=POINTS).map(|k| point(k, -1.0))).collect()
    }

    /// Writes section and case to a folder; the path of the case.
    pub fn written(&self, folder: &Path) -> Result<PathBuf, Failure> {
        let Self { name, edge, pitch, size: [ni, nj], first_cell, .. } = self;
        let rows = self.contour().into_iter().map(|[x, y]| format!("{x:.7} {y:.7}\n"));
        fs::write(
            folder.join(format!("{name}.dat")),
            format!("{name}\n{}", rows.collect::<String>()),
        )?;
        let edge =
            if *edge == "sharp" { String::new() } else { format!("trailing_edge = \"{edge}\"\n") };
        let case = format!(
            "[geometry]\nfile = \"{name}.dat\"\n{edge}angle = {:.4}\n\n[grid]\nni = {ni}\nnj = {nj}\nfirst_cell = \
             {first_cell:.3e}\n\n[cascade]\npitch = {pitch:.4}\n",
            -self.stagger()
        );
        let path = folder.join(format!("{name}.toml"));
        fs::write(&path, case)?;
        Ok(path)
    }

    /// Makes the grid of the case that is written to a folder.
    pub fn made(&self, folder: &Path) -> Result<Outcome, Failure> {
        let case = Case::from_file(&self.written(folder)?, &[])?;
        let mut options = RunOptions::new(PathBuf::new());
        options.backend = BackendChoice::Cpu;
        let start = Instant::now();
        let made = make_grid(&case, &options, &mut ());
        let seconds = start.elapsed().as_secs_f64();
        let outcome = |verdict, measures, reason: String| {
            let reason = reason.replace('\n', " ");
            Ok(Outcome { verdict, measures, seconds, reason })
        };
        match made {
            Ok(made) => {
                let verdict = if made.is_good() { "valid" } else { "failed" };
                let of_case = made.case.grid.first_cell;
                let reason = if made.is_good() { String::new() } else { made.verdict.to_string() };
                outcome(verdict, Some(Measures::of(&made, of_case)), reason)
            }
            // Only what is wrong with the blade or its row is its own doing.
            Err(Error::Geometry(SectionError { error, .. })) => {
                outcome("refused", None, error.to_string())
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Outcome {
    /// Smallest and largest first cell over the one asked for, and the wall angle off normal in degrees, of a grid.
    pub fn wall(&self) -> Option<([f64; 2], f64)> {
        self.measures.as_ref().map(|measures| (measures.first_cell, measures.wall_angle))
    }
}

impl Measures {
    fn of(made: &GridResult, first_cell: f64) -> Self {
        let (blocks, quality) = (made.blocks(), &made.quality);
        let p99 = |direction: usize| {
            let each = blocks.iter().filter_map(|grid| Some(growth(grid)?[direction].p99));
            each.fold(1.0, f64::max)
        };
        let others = &made.passage;
        let kinks = kinks(&blocks);
        let mean = kinks.iter().sum::<f64>() / kinks.len().max(1) as f64;
        Self {
            cells: blocks.iter().map(|grid| grid.cells()).sum(),
            folded: quality.folded_cells,
            first_cell: [quality.first_cell_min, quality.first_cell_max].map(|h| h / first_cell),
            wall_angle: quality.wall_angle_error_max_deg,
            skewness: [quality.max_skewness, quality.p99_skewness, quality.mean_skewness],
            kink: [mean, percentile(&kinks, 95.0)],
            growth: [0, 1].map(p99),
            newton: [
                made.history.newton_iterations(),
                others.iter().map(|block| block.newton_iterations).sum(),
            ],
            linear: [
                made.history.linear_iterations(),
                others.iter().map(|block| block.linear_iterations).sum(),
            ],
        }
    }
}

/// Angles by which the lines of the O-grid turn where they leave it, without those at its corners, degrees.
fn kinks(blocks: &[&Grid]) -> Vec<f64> {
    let way = |[from, to]: [[f64; 2]; 2]| [to[0] - from[0], to[1] - from[1]];
    let point = |on: Segment, k, step| on.point(blocks[on.block], k, step);
    let outer = blocks[0].boundary().into_iter().filter(|range| range.on.side == Side::Above);
    let turns = outer.filter_map(|range| {
        let (on, to) = (range.on, range.link().or(range.partner())?);
        let turn = move |k| {
            let [a, b] = way([point(on, k, 1), point(on, k, 0)]);
            let [c, d] = way([point(to, k, 0), point(to, k, 1)]);
            (a * d - b * c).atan2(a * c + b * d).abs().to_degrees()
        };
        Some((1..on.count() - 1).map(turn).collect::<Vec<_>>())
    });
    turns.flatten().collect()
}

impl Display for Cascade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let turning = self.angles[0] - self.angles[1];
        let Self { name, pitch, first_cell, edge, .. } = self;
        write!(
            f,
            "{name:<13} {:>6.1} {turning:>6.1} {pitch:.3} {edge:<7} {first_cell:.1e}",
            self.stagger()
        )
    }
}

impl Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<7}", self.verdict)?;
        if let Some(of) = &self.measures {
            let ([least, most], [largest, p99, mean], [kink, high]) =
                (of.first_cell, of.skewness, of.kink);
            let ([along, across], [o, others], [of_o, of_others]) =
                (of.growth, of.newton, of.linear);
            write!(
                f,
                " {:>6} {} {least:.4}-{most:.4} {:.1e} {largest:.3}/{p99:.3}/{mean:.4} {kink:.1}/{high:.1} \
                 {along:.2}/{across:.2} {o}+{others} {of_o:.0}+{of_others:.0}",
                of.cells, of.folded, of.wall_angle
            )?;
        }
        write!(f, " {:.2}s {}", self.seconds, self.reason)
    }
}
