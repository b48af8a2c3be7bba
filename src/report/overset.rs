//! `report.json` of several elements.

use serde::Serialize;

use super::{Report, Timing};
use crate::grid::Verdict;
use crate::overset::{Background, Checks, Placement};

/// The report of a run of several elements. Numbers that are not finite are written as `null`; lengths are in
/// reference chords, but those of an element's own report, which are in its chords.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AssemblyReport {
    /// Name of the case.
    pub name: String,
    /// Version of gridgen.
    pub version: String,
    /// Whether the grids may be used, and if not why: that on the worst of them.
    pub verdict: Verdict,
    /// The elements, in order of priority.
    pub elements: Vec<ElementReport>,
    /// The background; none where the grid of the first element is one.
    pub background: Option<BackgroundReport>,
    /// What was checked of the grids together.
    pub overset: Checks,
    /// Where the time went.
    pub timing: Timing,
    /// Where it was computed: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
    /// Tells results of this case by these sources from all others.
    pub fingerprint: String,
    /// What was repaired, chosen or found on the way, one sentence each.
    pub notes: Vec<String>,
}

/// An element in the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ElementReport {
    /// Where it stands.
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
    /// How it was made.
    #[serde(flatten)]
    pub options: Background,
    /// Nodes along x.
    pub ni: usize,
    /// Nodes along y.
    pub nj: usize,
}
