//! The report of a run and its page.

use std::path::PathBuf;

use super::Job;
use super::identity::coordinates_digest;
use crate::error::Error;
use crate::files;
use crate::files::output::Output;
use crate::grid::Verdict;
use crate::report::page::{self, Page};
use crate::report::{self, Artifacts, GridReport, LinearReport, NewtonReport, Report, Timing};
use crate::solver::NewtonStop;

/// What a report tells beside the grid and its history.
#[derive(Clone, Copy)]
pub(super) struct Written<'a> {
    /// Of the whole family.
    pub(super) fingerprint: &'a str,
    pub(super) stop: NewtonStop,
    pub(super) timing: Timing,
    pub(super) backend: &'a str,
    pub(super) note: Option<&'a str>,
    /// The case's text for the page; none for the coarser grids of a family, which have no page.
    pub(super) case: Option<&'a str>,
}

impl Job<'_> {
    /// Writes report.json and, with the case's text, the page.
    pub(super) fn write_report(
        &self,
        output: &Output,
        artifacts: &Artifacts<'_>,
        verdict: &Verdict,
        written: Written<'_>,
    ) -> Result<Vec<PathBuf>, Error> {
        let Written { fingerprint, stop, timing, backend, note, case } = written;
        let report = Report {
            name: self.case.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: verdict.clone(),
            converged: stop.converged(),
            stop_reason: stop.to_string(),
            newton: NewtonReport::new(artifacts.history, artifacts.tolerance),
            linear: LinearReport {
                iterations: artifacts.history.linear_iterations(),
                solver: self.case.linear.solver,
                preconditioner: self.case.linear.preconditioner,
            },
            quality: artifacts.quality.clone(),
            grid: GridReport::from(artifacts.grid),
            timing,
            geometry: serde_json::to_value(&self.case.geometry).unwrap_or_default(),
            backend: backend.to_owned(),
            threads: rayon::current_num_threads(),
            fingerprint: fingerprint.to_owned(),
            coordinates_digest: coordinates_digest(self.case),
            notes: self.notices.iter().cloned().chain(note.map(str::to_owned)).collect(),
        };
        let files = output.fill(|folder| {
            let path = folder.join(files::REPORT_FILE);
            report::write_json(&path, &report)?;
            let mut files = vec![path];
            if let Some(case) = case.filter(|_| self.case.output.report) {
                let path = folder.join(files::PAGE_FILE);
                page::write(&path, &Page { report: &report, artifacts, case })?;
                files.push(path);
            }
            Ok(files)
        })?;
        Ok(files)
    }
}
