//! From several elements to an overset mesh: each solved for in its own frame, then placed, checked together and
//! written.

use std::path::Path;
use std::{iter, thread};

use parking_lot::Mutex;
use rayon::prelude::*;

use super::files::{BACKGROUND, OutputFiles};
use super::outputs::{commit, conclude};
use super::rank::SolveOptions;
use super::restart::coordinates_digest;
use super::result::GridResult;
use super::solve::solve;
use crate::backend::DeviceError;
use crate::case::{Assembly, AssemblyError, PlacedAssembly, PlacedElement};
use crate::digest;
use crate::error::Error;
use crate::files::IoError;
use crate::files::output::Output;
use crate::formats::MeshData;
use crate::grid::{Grid, Verdict};
use crate::overset::{Checks, ElementWall, OverlapLimits, Rim, Subject, Zone, check};
use crate::report::page::{Page, Shown};
use crate::report::plot::OversetPictures;
use crate::report::{AssemblyReport, BackgroundReport, ElementReport, Figures, Timing};
use crate::run::{Estimate, Machine, Progress, RunLog, RunOptions, of_background, of_problem};
use crate::solver::history::NewtonStep;

/// The phases of a run in the order of its report.
pub(super) const PHASES: [&str; 7] =
    ["geometry", "device", "solves", "background", "checks", "writing", "total"];

/// Grids of several elements and the checks of them together.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AssemblyResult {
    /// The case with every default, the elements where they stand.
    pub placed: PlacedAssembly,
    /// The grid of each element, placed, in the unit of the files; all else of the result is in the
    /// element's own frame.
    pub elements: Vec<GridResult>,
    /// The background, if there is one, in the unit of the files.
    pub background: Option<Grid>,
    /// The checks, in reference chords.
    pub checks: Checks,
    /// Whether the grids may be used: the verdict on the worst of them, with [`RunOptions::strict`] also on the
    /// findings about them together.
    pub verdict: Verdict,
    /// Files written.
    pub files: Vec<std::path::PathBuf>,
    /// Files of an earlier run that were removed.
    pub removed: Vec<std::path::PathBuf>,
    /// Notes for the user, one sentence each.
    pub notices: Vec<String>,
    /// The time of each phase.
    pub timing: Timing,
    /// The machine: `cpu`, or the device.
    pub backend: String,
    /// Threads used on the CPU.
    pub threads: usize,
}

impl AssemblyResult {
    /// Whether the grids may be used: [`AssemblyResult::verdict`] says why not.
    pub fn is_good(&self) -> bool {
        self.verdict.is_good()
    }

    /// The zones of the mesh, the background first, if there is one.
    pub fn zones(&self) -> Vec<Zone<'_>> {
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
    pub fn report(&self) -> Result<AssemblyReport, Error> {
        let elements = self.elements.iter().zip(&self.placed.elements).map(|(made, placed)| {
            let (placement, reach) = (placed.placement, placed.reach);
            Ok(ElementReport { placement, reach, report: made.report()? })
        });
        let background = self.placed.background.zip(self.background.as_ref());
        Ok(AssemblyReport {
            name: self.placed.assembly.name.clone(),
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
            backend: self.backend.clone(),
            threads: self.threads,
            fingerprint: fingerprint(&self.placed.assembly)?,
            notes: self.notices.clone(),
        })
    }

    /// The zones as a mesh with the span and the layouts that its case asks for.
    pub fn mesh(&self) -> MeshData<'_> {
        let search = self.checks.search_box.scaled(self.placed.assembly.overset.chord);
        OutputFiles::of_elements(&self.placed).mesh(self.zones(), self.is_good(), search)
    }

    /// A remedy where the grids are not good.
    pub fn hint(&self) -> Option<String> {
        if let Verdict::Unfit { .. } = self.verdict {
            return self
                .checks
                .findings
                .first()
                .map(|found| format!("{}: {}", found.key, found.remedy));
        }
        let bad = self.elements.iter().find(|made| !made.is_good())?;
        Some(format!("element {}: {}", bad.case.name, bad.hint()?))
    }
}

fn rim(placed: &PlacedElement) -> Rim {
    if placed.reach.is_some() { Rim::Overset } else { Rim::FarField }
}

/// Estimates and checks a run of several elements: nothing is solved, the checks are made on
/// their initial grids.
///
/// # Errors
/// The errors of [`run_assembly`](super::run_assembly) before the solves.
pub fn check_assembly(assembly: &Assembly) -> Result<(PlacedAssembly, Estimate, Checks), Error> {
    let placed = assembly.settle()?;
    let [nodes, memory_bytes, cpu_seconds] = of_background(&placed)?;
    let (points, notices) = (nodes as usize, Vec::new());
    let mut estimate = Estimate { points, memory_bytes, cpu_seconds, notices };
    for PlacedElement { problem, .. } in &placed.elements {
        let own = of_problem(problem);
        estimate.points += own.points;
        estimate.memory_bytes += own.memory_bytes;
        estimate.cpu_seconds += own.cpu_seconds;
        let name = &problem.case.name;
        estimate.notices.extend(own.notices.iter().map(|notice| format!("{name}: {notice}")));
    }
    let backend = crate::backend::cpu::CpuBackend;
    let mut grids = Vec::new();
    for PlacedElement { problem, placement, .. } in &placed.elements {
        let mut grid = problem.initial_grid(&backend)?.grid;
        problem.place(&mut grid);
        placement.place(&mut grid);
        grids.push(grid);
    }
    let background = placed.background.map(|(background, [low, high])| background.grid(low, high));
    let checks = check_grids(&placed, &grids.iter().collect::<Vec<_>>(), background.as_ref());
    Ok((placed, estimate, checks))
}

/// Refuses options for one section alone.
pub(super) fn refuse(options: &RunOptions) -> Result<(), AssemblyError> {
    let given = [
        ("--family", options.grids > 1),
        ("--export-jacobian", options.export_jacobian.is_some()),
        ("--restart", options.restart.is_some()),
    ];
    match given.into_iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(AssemblyError::Option { option }),
        None => Ok(()),
    }
}

/// Opens the folder and checks that the files can be written there.
pub(super) fn open(
    placed: &PlacedAssembly,
    options: &RunOptions,
    notices: &mut Vec<String>,
) -> Result<Vec<Output>, Error> {
    let elements = placed.assembly.elements.iter();
    let inputs: Vec<&Path> = elements.flat_map(|element| element.case.inputs()).collect();
    let folder = iter::once(options.output.clone());
    OutputFiles::of_elements(placed).open(folder, &inputs, options, notices)
}

/// Solves, places and checks. Of the ranks of a job rank 0 has the grids and checks them.
pub(super) fn solved(
    placed: PlacedAssembly,
    machine: &Machine,
    strict: bool,
    log: &mut RunLog<'_>,
) -> Result<AssemblyResult, Error> {
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
    let unit = placed.assembly.overset.chord;
    for grid in elements.iter_mut().map(|made| &mut made.grid).chain(&mut background) {
        grid.place([0.0; 2], unit);
    }
    Ok(AssemblyResult {
        placed,
        elements,
        background,
        checks,
        verdict,
        files: Vec::new(),
        removed: Vec::new(),
        notices,
        timing: log.timing.clone(),
        backend: machine.name(),
        threads: rayon::current_num_threads(),
    })
}

/// Writes all files of a result; they take the place of those of an earlier run when all are complete.
pub(super) fn write(
    made: &mut AssemblyResult,
    folders: Vec<Output>,
    options: &RunOptions,
    log: &mut RunLog<'_>,
) -> Result<(), Error> {
    let Some(folder) = folders.first() else { return Ok(()) };
    let requested = OutputFiles::of_elements(&made.placed);
    let output = &made.placed.assembly.output;
    let [pictured, paged] = [output.pictures, output.report];
    let (zones, mesh) = (made.zones(), made.mesh());
    let (mut files, figures) = log.timed("writing", |_| -> Result<_, IoError> {
        let pictures = OversetPictures {
            name: &made.placed.assembly.name,
            zones: &zones,
            checks: &made.checks,
            unit: made.placed.assembly.overset.chord,
            good: made.is_good(),
        };
        let drawn = pictured || paged;
        let figures = if drawn { Figures::of_elements(&pictures) } else { Figures::default() };
        let figures = made.elements.iter().fold(figures, |figures, element| {
            figures.with_solve(&element.case.name, &element.artifacts())
        });
        Ok((requested.write(folder, &mesh, &figures)?, figures))
    })?;
    let stays = requested.stays(folder, &mesh)?;
    made.notices.extend(stays);
    made.timing = log.total();
    let (report, text) = (made.report()?, made.placed.assembly.to_toml_string()?);
    let page = Page {
        report: Shown::Elements(&report),
        histories: made.elements.iter().map(|element| &element.history).collect(),
        figures: &figures,
        scene: made.scene(),
        case: &text,
    };
    files.extend(conclude(folder, &report, Some(&text), Some(&page).filter(|_| paged))?);
    made.removed = commit(folders, options.job.as_deref())?;
    made.files = files;
    Ok(())
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
    placed: &PlacedAssembly,
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
        Machine::Cpu => elements.par_iter().map(|element| one(element, &Machine::Cpu)).collect(),
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
                let solved = solves.into_iter().map(|solve| {
                    solve.join().unwrap_or_else(|panic| {
                        Err(DeviceError::panic("solving for an element", &*panic).into())
                    })
                });
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

impl ElementProgress<'_, '_> {
    fn with<R>(&self, work: impl FnOnce(&mut dyn Progress) -> R) -> R {
        let mut progress = self.progress.lock();
        work(&mut **progress)
    }
}

impl Progress for ElementProgress<'_, '_> {
    fn phase(&mut self, name: &str) {
        let name = [self.name, ": ", name].concat();
        self.with(|progress| progress.phase(&name));
    }

    fn newton(&mut self, step: &NewtonStep) {
        self.with(|progress| progress.newton(step));
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.with(|progress| progress.linear(iteration, relative_residual));
    }

    fn cancelled(&self) -> bool {
        self.with(|progress| progress.cancelled())
    }
}

/// Checks grids that stand where their elements do, in reference chords.
fn check_grids(placed: &PlacedAssembly, grids: &[&Grid], background: Option<&Grid>) -> Checks {
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
    let options = &placed.assembly.overset;
    let limits = OverlapLimits { gap_cells: options.gap_cells, size_ratio: options.size_ratio };
    let mut checks = check(&subjects, background, &limits);
    checks.findings.extend(placed.elements.iter().flat_map(|PlacedElement { problem, .. }| {
        problem.findings(&format!("element.{}.", problem.case.name))
    }));
    checks
}

/// The fingerprint of the results of a settled case of several elements: of its text, of the contents of its files of
/// coordinates, and of the sources that this build was made from.
///
/// # Errors
/// A path of the case that is not UTF-8.
pub(super) fn fingerprint(assembly: &Assembly) -> Result<String, Error> {
    let digests = assembly.elements.iter().map(|element| coordinates_digest(&element.case));
    let digests: Vec<String> = digests.map(Option::unwrap_or_default).collect();
    let mut bare = assembly.clone();
    for element in &mut bare.elements {
        // A file counts by its contents, wherever it stands.
        element.case.geometry.contour.forget_file();
    }
    let text = [super::restart::SOURCES, &bare.to_toml_string()?, &digests.concat()].concat();
    Ok(format!("{:016x}", digest::of(text.as_bytes())))
}
