//! Commands that solve nothing: case files before they are run, devices, and texts that the program
//! contains.

use std::fmt::{self, Write as _};
use std::io::Write;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use gridgen::case::{Problem, VISCOUS, Value, template};
use gridgen::formats::WITH_SETUP;
use gridgen::generate::{Estimate, check_case};
use gridgen::geometry::{TrailingEdge, airfoil_from_file, airfoil_from_naca};
use gridgen::grid::Topology;
use gridgen::grid::quality::boundary_layer_thickness;
use gridgen::internals::atomic;

use super::named::KeyArguments;
use super::summary::{all_cells, base, nose, passage, wall_units};
use super::terminal::{Terminal, code_if, list, stdout_failed};
use super::{Cli, CommandFailure, summary};
use crate::geometry::vector::{angle, difference};

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/init.txt").trim_ascii_end())]
pub(super) struct InitArguments {
    /// Case file to write.
    #[arg(value_name = "CASE.toml", default_value = "case.toml")]
    case: PathBuf,
    /// NACA designation of the section.
    #[arg(long, value_name = "DESIGNATION", default_value = "0012")]
    naca: String,
    /// File with the section's coordinates, relative to the case file.
    #[arg(long, value_name = "FILE", conflicts_with = "naca")]
    file: Option<PathBuf>,
    /// Write every key as a comment, with its meaning, range and default.
    #[arg(long)]
    all: bool,
    /// Set keys for turbulent flow by OpenFOAM: the run writes a case that its script Allrun solves.
    #[arg(long)]
    openfoam: bool,
    /// Set keys for turbulent flow by SU2: the run writes mesh.su2 and its configuration su2.cfg.
    #[arg(long)]
    su2: bool,
}

impl InitArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let file = self.file.as_ref().map(|file| ("geometry.file", file.to_string_lossy()));
        let (key, section) = file.unwrap_or(("geometry.naca", self.naca.as_str().into()));
        let read = match &self.file {
            Some(file) => airfoil_from_file(self.case.with_file_name("").join(file)),
            None => airfoil_from_naca(&self.naca, TrailingEdge::AsGiven),
        };
        if let Err(error) = read {
            return Err(CommandFailure::input(&error, error.hint().as_deref()));
        }
        let wanted = [self.openfoam, self.su2];
        let chosen = WITH_SETUP.into_iter().zip(wanted).filter(|(_, wanted)| *wanted);
        let formats: Vec<&str> = ["vts"].into_iter().chain(chosen.map(|(name, _)| name)).collect();
        let formats = format!("{formats:?}");
        let set = [&VISCOUS[..], &[("output.formats", &*formats)]].concat();
        let set = if wanted.contains(&true) { &set[..] } else { &[] };
        let write = if self.all { template } else { short };
        let text = write((key, &section), set);
        atomic::write_new(&self.case, |out| out.write_all(text.as_bytes()))?;
        terminal.result(&list("written", [self.case.display()]))
    }
}

/// A short case to begin with. The `section` and the keys of `set` stand without the `#`.
fn short((key, section): (&str, &str), set: &[(&str, &str)]) -> String {
    let name = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let section = format!("{} = {}", name(key), Value::from(section));
    let line = |line: &str| {
        let given = set.iter().find(|(key, _)| line.starts_with(&format!("#{} = ", name(key))));
        given.map_or_else(|| line.to_owned(), |(key, value)| format!("{} = {value}", name(key)))
    };
    let lines = include_str!("help/case.toml").replace("SECTION", &section);
    lines.lines().map(|text| line(text) + "\n").collect()
}

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/check.txt").trim_ascii_end())]
pub(super) struct CheckArguments {
    /// Case file, file of a section's coordinates, NACA designation, or name of a section.
    #[arg(value_name = "CASE.toml|FILE|NACA|NAME", required_unless_present = "naca")]
    case: Option<PathBuf>,
    #[command(flatten)]
    keys: KeyArguments,
    /// End with exit code 1 where there are findings. Those on the growth of cells beside corners and edges are known
    /// only when the grid is solved.
    #[arg(long)]
    strict: bool,
}

impl CheckArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let case = self.keys.case(self.case.as_deref())?;
        let (placed, estimate, checks) = check_case(&case)?;
        estimate.notices.iter().for_each(|notice| terminal.note(notice));
        checks.findings.iter().for_each(|finding| terminal.note(&finding.to_string()));
        let (grids, together) = match placed.section() {
            Some(problem) => (summary(problem, &estimate), String::new()),
            None => (summary::placed(&placed), summary::together(&checks)),
        };
        let head = format!("{}: can be run\n", placed.case.name);
        terminal.result(&[head, grids, summary::cost(&estimate), together].concat())?;
        Ok(code_if(!self.strict || checks.findings.is_empty()))
    }
}

fn summary(problem: &Problem, estimate: &Estimate) -> String {
    let grid = &problem.case.grid;
    let whole = match grid.around() {
        around if around == grid.ni => String::new(),
        around => format!(", half of {around} x {}", grid.nj),
    };
    let around = problem.passage().map(|passage| passage.sizes(problem.points.line.len() - 1));
    let around = around.as_ref().map_or(&[][..], |sizes| sizes);
    let decided = decided(problem, around).unwrap_or_default();
    let (ni, nj) = (grid.ni, grid.nj);
    let points = estimate.points + around.iter().map(|[ni, nj]| ni * nj).sum::<usize>();
    format!("  grid          {ni} x {nj} points{whole}, {points} in all\n{decided}")
}

/// The decisions about a grid, beside which there are blocks of these sizes: first cell, layers, points of the wall.
fn decided(problem: &Problem, around: &[[usize; 2]]) -> Result<String, fmt::Error> {
    let (case, points, mut text) = (&problem.case, &problem.points, String::new());
    let grid = &case.grid;
    let blade = (grid.ni - 1) * (grid.nj - 1);
    let (cells, span) = (all_cells(blade, around), case.output.span_cells);
    write!(text, "  cells         {cells}")?;
    if span > 0 {
        write!(text, ", {} with the span", cells * span)?;
    }
    let growth = case.layer_law().growth(grid.nj).unwrap_or(1.0);
    write!(text, "\n  topology      {}", case.shape())?;
    write!(text, "\n{}  first cell    {:.4e}", passage(blade, around), grid.first_cell)?;
    if let Some(units) = wall_units(case) {
        write!(text, ", {units}")?;
    }
    write!(text, "\n  layers        growth {growth:.3}")?;
    if let Some(near) = grid.layers {
        write!(text, " beyond {} of growth {}", near.count, near.growth)?;
    }
    if let Some(thickness) = grid.reynolds.map(boundary_layer_thickness) {
        let within = problem.layers.iter().filter(|s| **s <= thickness).count() - 1;
        write!(text, "; {within} within {thickness:.2e}, a boundary layer")?;
    }
    let wall = &points.line[problem.topology.wall(points.line.len())];
    write!(text, "\n  wall          {} points", wall.len())?;
    if let Some((leading, trailing)) = grid.leading_edge_spacing.zip(grid.trailing_edge_spacing) {
        let (nose, half) = (nose(wall), points.base_cells / 2);
        let [upper, lower] = [wall.len() - nose - half, nose + 1 - half];
        write!(text, ", {upper} on the upper and {lower} on the lower surface")?;
        if half > 0 {
            write!(text, ", {} cells on the base", points.base_cells)?;
        }
        let wake = problem.topology.wake();
        if wake > 0 {
            write!(text, ", {wake} cells on each side of the cut")?;
        }
        let ends = format!("{leading:.2e} at the leading, {trailing:.2e} at the trailing edge");
        write!(text, "\n  spacing       {ends}")?;
    }
    if let (Topology::Blunt { wake }, Some(cells)) = (problem.topology, grid.base_cells) {
        write!(text, "\n{}", base([wake + 1, cells + 1]).trim_end())?;
    }
    let steps: Vec<_> = wall.windows(2).map(|pair| difference(pair[1], pair[0])).collect();
    let longest = steps.iter().map(|step| step[0].hypot(step[1])).fold(0.0, f64::max);
    let turns = steps.windows(2).map(|pair| angle(pair[0], pair[1]).abs().to_degrees());
    // Corners are no turn of a cell.
    let turn = turns.filter(|turn| *turn < 45.0).fold(0.0, f64::max);
    writeln!(
        text,
        "\n  wall cells    at most {longest:.2e} chords, {turn:.1} deg from one to the next"
    )?;
    Ok(text)
}

pub(super) fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gridgen", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

pub(super) fn man(terminal: &Terminal) -> Result<u8, CommandFailure> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(Cli::command()).render(&mut page);
    rendered.map_err(|error| stdout_failed(&error))?;
    terminal.result(&String::from_utf8_lossy(&page))
}

/// The GPUs and libraries that are found; finding nothing is an answer too.
#[cfg(feature = "cuda")]
pub(super) fn devices(terminal: &Terminal) -> String {
    use gridgen::backend::cuda::driver;
    let version = |found: Option<(i32, i32)>| {
        found.map_or_else(
            || "not found".to_owned(),
            |(major, minor)| format!("CUDA {major}.{minor}"),
        )
    };
    let mut text = format!(
        "driver    {}\nNVRTC     {}\n",
        version(driver::driver_version()),
        version(driver::compiler_version().ok())
    );
    match driver::devices() {
        Ok(devices) if devices.is_empty() => {
            text += "GPUs      none: gridgen computes on the CPU\n";
        }
        Ok(devices) => devices.iter().for_each(|device| text += &describe(device)),
        Err(error) => terminal.error(&error.to_string(), error.hint().as_deref()),
    }
    text
}

#[cfg(feature = "cuda")]
fn describe(device: &gridgen::backend::cuda::driver::GpuInfo) -> String {
    const GIB: f64 = (1_u64 << 30) as f64;
    let gib = |bytes: usize| format!("{:.1} GiB", bytes as f64 / GIB);
    let peers: Vec<String> = device.peers.iter().map(ToString::to_string).collect();
    let links = if peers.is_empty() { "none".to_owned() } else { peers.join(", ") };
    format!(
        "GPU {}     {}\n\
         \x20 compute capability  {}.{}, {} multiprocessors\n\
         \x20 memory              {}, {} free\n\
         \x20 reaches GPUs        {links}\n",
        device.ordinal,
        device.name,
        device.capability.0,
        device.capability.1,
        device.multiprocessors,
        gib(device.memory),
        device.free.map_or_else(|| "unknown".to_owned(), gib),
    )
}

/// The GPUs: this build has none.
#[cfg(not(feature = "cuda"))]
pub(super) fn devices(_: &Terminal) -> String {
    "this build has no cuda backend: gridgen computes on the CPU\n".to_owned()
}
