//! The grids of a case together: those of several elements, each solved for in its own frame, are placed and checked.

use std::path::PathBuf;
use std::{iter, thread};

use parking_lot::Mutex;
use rayon::prelude::*;

use super::files::{BACKGROUND, OutputFiles};
use super::problem::fingerprint;
use super::rank::SolveOptions;
use super::result::GridResult;
use super::solve::solve;
use crate::backend::DeviceError;
use crate::backend::cpu::CpuBackend;
use crate::case::{CaseFile, OversetOptions, PlacedCase, PlacedElement};
use crate::error::Error;
use crate::formats::MeshData;
use crate::grid::{Grid, Verdict};
use crate::overset::{Checks, ElementWall, OverlapLimits, Rim, Subject, Zone, check};
use crate::report::{AssemblyReport, BackgroundReport, ElementReport, RunReport, Timing};
use crate::run::{Estimate, Machine, Progress, RunLog};
use crate::solver::history::NewtonStep;
use crate::viewer::Scene;

/// The phases of a run in the order of its report.
pub(super) const PHASES: [&str; 7] =
    ["geometry", "device", "solves", "background", "checks", "writing", "total"];

/// The grids of a case, of its one section or of several elements, and the checks of these together.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RunResult {
    /// The case with every default, the elements where they stand.
    pub placed: PlacedCase,
    /// The grid of each element, placed, in the unit of the files; all else of the result is in the
    /// element's own frame.
    pub elements: Vec<GridResult>,
    /// The background, if there is one, in the unit of the files.
    pub background: Option<Grid>,
    /// The checks of several elements, in reference chords.
    pub checks: Checks,
    /// Whether the grids may be used: the verdict on the worst of them, with `RunOptions::strict` also on the
    /// findings about them together.
    pub verdict: Verdict,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Files of an earlier run that were removed.
    pub removed: Vec<PathBuf>,
    /// Notes for the user, one sentence each.
    pub notices: Vec<String>,
    /// The time of each phase.
    pub timing: Timing,
}

impl RunResult {
    /// Whether the grids may be used: [`RunResult::verdict`] says why not.
    pub fn is_good(&self) -> bool {
        self.verdict.is_good()
    }

    /// The only grid of a case of one section.
    pub fn section(&self) -> Option<&GridResult> {
        self.placed.section().and_then(|_| self.elements.first())
    }

    /// The result of a section, whose grid is the only one.
    pub(super) fn of_section(placed: PlacedCase, mut made: GridResult) -> Self {
        Self {
            placed,
            background: None,
            checks: Checks::default(),
            verdict: made.verdict.clone(),
            files: Vec::new(),
            removed: Vec::new(),
            notices: std::mem::take(&mut made.notices),
            timing: made.timing.clone(),
            elements: vec![made],
        }
    }

    /// Gives the grid of a section the verdict, the notes and the times of its run.
    pub(super) fn tell_section(&mut self) {
        if let (Some(_), [made]) = (self.placed.section(), &mut self.elements[..]) {
            made.verdict.clone_from(&self.verdict);
            made.notices.clone_from(&self.notices);
            made.timing.clone_from(&self.timing);
        }
    }

    /// The grid of a section, or of the first element.
    pub fn into_section(mut self) -> GridResult {
        self.elements.swap_remove(0)
    }

    /// The grids for the viewer; lengths are in reference chords.
    pub fn scene(&self) -> Scene<'_> {
        let zones = self.zones().into_iter().map(|zone| (zone.name, zone.grid)).collect();
        let case = &self.placed.case;
        Scene { name: &case.name, unit: case.chord(), zones, before: Vec::new() }
    }

    /// The zones of the mesh, the background first, if there is one.
    pub fn zones(&self) -> Vec<Zone<'_>> {
        if let Some(made) = self.section() {
            return made.mesh().zones;
        }
        let background = self.background.as_ref().map(|grid| Zone {
            name: BACKGROUND,
            grid,
            rim: Rim::FarField,
        });
        let elements = self.elements.iter().zip(&self.placed.elements).map(|(made, placed)| Zone {
            name: &made.case.name,
            grid: &made.grid,
            rim: rim(placed),
        });
        background.into_iter().chain(elements).collect()
    }

    /// The report of the result, as `report.json` has it.
    ///
    /// # Errors
    /// A path of the case that is not UTF-8.
    pub fn report(&self) -> Result<RunReport, Error> {
        if let Some(made) = self.section() {
            return Ok(RunReport::Section(made.report()?.into()));
        }
        let elements = self.elements.iter().zip(&self.placed.elements).map(|(made, placed)| {
            let (placement, reach) = (placed.placement, placed.reach);
            Ok(ElementReport { placement, reach, report: made.report()? })
        });
        let background = self.placed.background.zip(self.background.as_ref());
        Ok(RunReport::Elements(Box::new(AssemblyReport {
            name: self.placed.case.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: self.verdict.clone(),
            elements: elements.collect::<Result<_, Error>>()?,
            background: background.map(|((options, _), grid)| BackgroundReport {
                options,
                ni: grid.ni,
                nj: grid.nj,
            }),
            overset: self.checks.clone(),
            timing: self.timing.clone(),
            backend: self.elements[0].backend.clone(),
            threads: self.elements[0].threads,
            fingerprint: fingerprint(self.placed.case.clone())?,
            notes: self.notices.clone(),
        })))
    }

    /// The zones as a mesh with the span and the layouts that its case asks for.
    pub fn mesh(&self) -> MeshData<'_> {
        let search = self.checks.search_box.scaled(self.placed.case.chord());
        OutputFiles::of(&self.placed).mesh(self.zones(), self.is_good(), search)
    }

    /// A remedy where the grids are not good.
    pub fn hint(&self) -> Option<String> {
        if let Some(made) = self.section() {
            return made.hint();
        }
        if let Verdict::Unfit { .. } = self.verdict {
            let first = self.checks.findings.first()?;
            return Some(format!("{}: {}", first.key, first.remedy));
        }
        let bad = self.elements.iter().find(|made| !made.is_good())?;
        Some(format!("element {}: {}", bad.case.name, bad.hint()?))
    }
}

fn rim(placed: &PlacedElement) -> Rim {
    if placed.reach.is_some() { Rim::Overset } else { Rim::FarField }
}

/// Estimates and checks a run: nothing is solved. Several elements are checked on their initial grids; of one section the
/// findings are those that are known before its solve.
///
/// # Errors
/// The errors of [`run`](super::run) before the solves.
pub fn check_case(case: &CaseFile) -> Result<(PlacedCase, Estimate, Checks), Error> {
    let placed = case.settle()?;
    let estimate = Estimate::of(&placed)?;
    Machine::check_memory_by_default(&placed.cases().collect::<Vec<_>>())?;
    if let Some(problem) = placed.section() {
        let growth = problem.case.layer_law().growth(problem.case.grid.nj).unwrap_or(1.0);
        let findings = problem.findings_with([1.0, growth], &[]);
        return Ok((placed, estimate, Checks { findings, ..Checks::default() }));
    }
    let mut grids = Vec::new();
    for PlacedElement { problem, placement, .. } in &placed.elements {
        let mut grid = problem.initial_grid(&CpuBackend)?.grid;
        problem.place(&mut grid);
        placement.place(&mut grid);
        grids.push(grid);
    }
    let background = placed.background.map(|(background, [low, high])| background.grid(low, high));
    let checks = check_grids(&placed, &grids.iter().collect::<Vec<_>>(), background.as_ref());
    Ok((placed, estimate, checks))
}

/// Solves, places and checks. Of the ranks of a job rank 0 has the grids and checks them.
pub(super) fn solved(
    placed: PlacedCase,
    machine: &Machine,
    strict: bool,
    log: &mut RunLog<'_>,
) -> Result<RunResult, Error> {
    let mut elements = log.timed("solves", |log| solve_elements(&placed, machine, log.progress))?;
    for (made, PlacedElement { problem, placement, .. }) in
        elements.iter_mut().zip(&placed.elements)
    {
        problem.place(&mut made.grid);
        placement.place(&mut made.grid);
    }
    let here = elements.iter().all(GridResult::has_grid);
    let around = placed.background.filter(|_| here);
    let mut background =
        log.timed("background", |_| around.map(|(grid, [low, high])| grid.grid(low, high)));
    let grids: Vec<&Grid> = elements.iter().map(|made| &made.grid).collect();
    let checks = || check_grids(&placed, &grids, background.as_ref());
    let checks = log.timed("checks", |_| if here { checks() } else { Checks::default() });
    let mut notices = std::mem::take(&mut log.notices);
    for made in &elements {
        let name = &made.case.name;
        notices.extend(made.notices.iter().map(|notice| format!("{name}: {notice}")));
    }
    let mut verdict =
        elements.iter().fold(Verdict::Good, |worst, made| worst.and(of_element(made)));
    if strict
        && verdict.is_good()
        && let Some(first) = checks.findings.first()
    {
        let (findings, first) = (checks.findings.len(), first.what.clone());
        verdict = Verdict::Unfit { findings, first };
    }
    let unit = placed.case.chord();
    for grid in elements.iter_mut().map(|made| &mut made.grid).chain(&mut background) {
        grid.place([0.0; 2], unit);
    }
    Ok(RunResult {
        placed,
        elements,
        background,
        checks,
        verdict,
        files: Vec::new(),
        removed: Vec::new(),
        notices,
        timing: log.timing.clone(),
    })
}

/// The verdict on an element, with its name in the reason.
fn of_element(made: &GridResult) -> Verdict {
    match made.verdict.clone() {
        Verdict::NotConverged { reason } => {
            Verdict::NotConverged { reason: format!("element {}: {reason}", made.case.name) }
        }
        other => other,
    }
}

/// Solves for the grids of the elements, each in its own frame: side by side on the CPU, where a grid leaves threads
/// idle, and in a group of a GPU, whose like work is one launch; on other GPUs, which a grid keeps busy, one after
/// the other.
///
/// # Errors
/// The error of [`solve`] for the first element that has one.
pub fn solve_elements(
    placed: &PlacedCase,
    machine: &Machine,
    progress: &mut dyn Progress,
) -> Result<Vec<GridResult>, Error> {
    let progress: Mutex<&mut dyn Progress> = Mutex::new(progress);
    let one = &|element: &PlacedElement, machine: &Machine| {
        let mut own = ElementProgress { name: &element.problem.case.name, progress: &progress };
        solve(&element.problem, machine, &SolveOptions::default(), &mut own)
    };
    let elements = &placed.elements;
    match machine {
        Machine::Cpu => {
            let solved = elements.par_iter().map(|element| one(element, &Machine::Cpu));
            // All elements are solved, so that the error returned is that of the first one that fails.
            solved.collect::<Vec<_>>().into_iter().collect()
        }
        Machine::Cuda(_) | Machine::Ranks(_) => {
            let Some((first, others)) = elements.split_first() else { return Ok(Vec::new()) };
            let companions = others.iter().map(|_| machine.companion().transpose());
            let Some(companions) = companions.collect::<Option<Result<Vec<_>, _>>>().transpose()?
            else {
                return elements.iter().map(|element| one(element, machine)).collect();
            };
            thread::scope(|scope| {
                // A companion is given up as soon as its element is done: the others do not wait for it.
                let solves: Vec<_> = others
                    .iter()
                    .zip(companions)
                    .map(|(element, own)| scope.spawn(move || one(element, &own)))
                    .collect();
                let solved = solves
                    .into_iter()
                    .map(|solve| DeviceError::caught("solving for an element", solve.join()));
                iter::once(one(first, machine)).chain(solved).collect()
            })
        }
    }
}

/// The progress of one of several solves.
struct ElementProgress<'a, 'p> {
    name: &'a str,
    progress: &'a Mutex<&'p mut (dyn Progress + 'p)>,
}

impl Progress for ElementProgress<'_, '_> {
    fn phase(&mut self, name: &str) {
        self.progress.lock().phase(&[self.name, ": ", name].concat());
    }

    fn newton(&mut self, step: &NewtonStep) {
        self.progress.lock().newton(step);
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.progress.lock().linear(iteration, relative_residual);
    }

    fn cancelled(&self) -> bool {
        self.progress.lock().cancelled()
    }
}

/// Checks grids that stand where their elements do, in reference chords.
fn check_grids(placed: &PlacedCase, grids: &[&Grid], background: Option<&Grid>) -> Checks {
    let Some(OversetOptions { gap_cells, size_ratio, .. }) = placed.case.overset else {
        return Checks::default();
    };
    let walls: Vec<ElementWall> = placed.elements.iter().map(PlacedElement::wall).collect();
    let subjects: Vec<Subject<'_>> = placed
        .elements
        .iter()
        .zip(grids)
        .zip(&walls)
        .map(|((element, grid), wall)| Subject {
            zone: Zone { name: &element.problem.case.name, grid, rim: rim(element) },
            wall,
            chord: element.placement.chord,
            reach: element.reach,
            rigged: element.rigged,
        })
        .collect();
    let background = background.map(|grid| Zone { name: BACKGROUND, grid, rim: Rim::FarField });
    let mut checks = check(&subjects, background, &OverlapLimits { gap_cells, size_ratio });
    checks.findings.extend(placed.elements.iter().flat_map(|PlacedElement { problem, .. }| {
        problem.findings(&format!("element.{}.", problem.case.name))
    }));
    checks
}
