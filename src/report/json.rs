//! `report.json`: what was computed, how well and how fast, for programs to read.

use std::io::Write;
use std::path::Path;

use serde::{Serialize, Serializer};

use crate::files::{IoError, atomic};
use crate::grid::quality::{Growth, Quality};
use crate::grid::{Seam, Verdict};
use crate::overset::{Background, Checks, Placement};
use crate::solver::{krylov, precond};

/// The report of a run. Numbers that are not finite are written as `null`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Name of the case.
    pub name: String,
    /// Version of gridgen.
    pub version: String,
    /// Whether the grid may be used, and if not why.
    #[serde(serialize_with = "Verdict::reported")]
    pub verdict: Verdict,
    /// Whether the Newton residual fell below its tolerance.
    pub converged: bool,
    /// The reason why the solve stopped, one sentence.
    pub stop_reason: String,
    /// The Newton solve.
    pub newton: NewtonTotals,
    /// The linear solves.
    pub linear: LinearTotals,
    /// Quality of the grid as written.
    pub quality: Quality,
    /// Size and shape of the grid.
    pub grid: GridReport,
    /// The time of each phase.
    pub timing: Timing,
    /// The section as the case describes it, every default in place.
    pub geometry: serde_json::Value,
    /// The machine: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// Tells results of this case by these sources from all others.
    pub fingerprint: String,
    /// Tells the contents of the file of coordinates from others; none for a designation.
    pub coordinates_digest: Option<String>,
    /// The length of the wedge behind the base that it closes, chords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wedge: Option<f64>,
    /// Repairs and choices on the way, one sentence each.
    pub notes: Vec<String>,
}

/// The Newton solve in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NewtonTotals {
    /// Newton steps taken.
    pub iterations: usize,
    /// Scaled rms residual at the start.
    pub initial_residual: f64,
    /// Scaled rms residual of the grid as written.
    pub residual: f64,
    /// Residual below which the solve has converged.
    pub tolerance: f64,
}

/// The linear solves in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LinearTotals {
    /// Linear iterations of all steps.
    pub iterations: f64,
    /// Krylov method, as in the case file.
    pub solver: krylov::Method,
    /// Preconditioner, as in the case file.
    pub preconditioner: precond::Kind,
}

/// The grid in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GridReport {
    /// Nodes in i, the repeated seam node counted.
    pub ni: usize,
    /// Nodes in j, wall and outer line counted.
    pub nj: usize,
    /// Logical shape: `O`, `C`, `half` of an O-grid, or `rectangle`.
    pub topology: &'static str,
    /// Whether the seam of an O-grid was held or solved for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seam: Option<Seam>,
    /// Cells on each side of the cut of a C-grid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake: Option<usize>,
    /// Nodes of the block behind a base, from the base to the outflow and across.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub behind: Option<[usize; 2]>,
    /// The other blocks of a cascade.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<BlockReport>,
    /// Smallest and largest height of the first cells on sides of a box that are walls, in chords.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub box_walls: Option<[f64; 2]>,
    /// Growth of neighbouring cells along i and along j; without the block behind a base.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<[Growth; 2]>,
}

/// A block of a cascade in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BlockReport {
    /// Its name.
    pub name: &'static str,
    /// Nodes in i.
    pub ni: usize,
    /// Nodes in j.
    pub nj: usize,
    /// Newton steps of its solves.
    pub newton_iterations: usize,
    /// Linear iterations of its solves.
    pub linear_iterations: f64,
}

/// The report of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RunReport {
    /// On one section.
    Section(Box<Report>),
    /// On several elements.
    Elements(Box<AssemblyReport>),
}

/// The report of a run of several elements. Numbers that are not finite are written as `null`; lengths are in
/// reference chords, but those of an element's own report, which are in its chords.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssemblyReport {
    /// Name of the case.
    pub name: String,
    /// Version of gridgen.
    pub version: String,
    /// Whether the grids may be used, and if not why: that on the worst of them.
    #[serde(serialize_with = "Verdict::reported")]
    pub verdict: Verdict,
    /// The elements, in order of priority.
    pub elements: Vec<ElementReport>,
    /// The background; none where the grid of the first element is one.
    pub background: Option<BackgroundReport>,
    /// Results of the checks of the grids together.
    pub overset: Checks,
    /// Durations of the phases.
    pub timing: Timing,
    /// `cpu`, or the name of the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// Tells results of this case by these sources from all others.
    pub fingerprint: String,
    /// Notes about repairs, choices and findings, one sentence each.
    pub notes: Vec<String>,
}

/// An element in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElementReport {
    /// Its placement.
    pub placement: Placement,
    /// Distance of its grid's outer line from its wall; none of a grid that goes to its far field.
    pub reach: Option<f64>,
    /// The report of its grid, as that of one section.
    #[serde(flatten)]
    pub report: Report,
}

/// The background in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BackgroundReport {
    /// The settings from which it was made.
    #[serde(flatten)]
    pub options: Background,
    /// Nodes along x.
    pub ni: usize,
    /// Nodes along y.
    pub nj: usize,
}

/// The phases of a run in the order of its report; those set in are parts of the one before them.
const PHASES: [&str; 9] = [
    // Reading the airfoil and placing the points of the wall.
    "geometry",
    // Waiting for the device after that: it is opened meanwhile.
    "device",
    "initial grid",
    "newton",
    // Residual, assembly and preconditioner set-up.
    "  assembly",
    "  linear",
    "quality",
    // Writing the files that were complete before the report.
    "writing",
    // The run from its start until the report.
    "total",
];

/// Wall-clock seconds of each phase, which a report calls `…_seconds`.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing(Vec<(&'static str, f64)>);

impl Timing {
    /// No time yet in any of these phases.
    pub fn of(phases: &[&'static str]) -> Self {
        Self(phases.iter().map(|phase| (*phase, 0.0)).collect())
    }

    /// Adds to the seconds of a phase, if it is one of these.
    pub fn add(&mut self, phase: &str, more: f64) {
        if let Some((_, seconds)) = self.0.iter_mut().find(|(name, _)| name.trim() == phase) {
            *seconds += more;
        }
    }

    /// Phases and their seconds.
    pub fn phases(&self) -> &[(&'static str, f64)] {
        &self.0
    }

    /// Seconds of the whole.
    pub fn total(&self) -> f64 {
        self.0.last().map_or(0.0, |(_, seconds)| *seconds)
    }
}

impl Default for Timing {
    /// The phases of a grid.
    fn default() -> Self {
        Self::of(&PHASES)
    }
}

impl Serialize for Timing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let key = |phase: &str| phase.trim().replace([' ', '-'], "_") + "_seconds";
        serializer.collect_map(self.0.iter().map(|(phase, seconds)| (key(phase), seconds)))
    }
}

/// Writes a report as indented JSON.
///
/// # Errors
/// [`IoError`] when the file cannot be written.
pub fn write_json(path: &Path, report: &impl Serialize) -> Result<(), IoError> {
    atomic::write(path, |out| {
        serde_json::to_writer_pretty(&mut *out, report)?;
        out.write_all(b"\n")
    })
}
