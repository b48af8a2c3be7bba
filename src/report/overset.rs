//! `report.json` of several elements.

use serde::Serialize;

use super::json::{Report, Timing};
use crate::grid::Verdict;
use crate::overset::{Background, Checks, Placement};

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
