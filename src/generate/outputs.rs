//! The files of a run: their names, places and contents.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::files::{OutputFiles, names, span, system_names};
use super::rank::can_go_on;
use super::restart::{coordinates_digest, fingerprint, identity};
use super::{GridResult, LinearSystem, Problem, RunOptions};
use crate::backend::cpu::CpuBackend;
use crate::case::Case;
use crate::error::Error;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::MeshData;
use crate::formats::matrix_market::{write_matrix, write_vector};
use crate::formats::openfoam::{self, Measure, Objection};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Topology, Verdict, coarsened};
use crate::movement::Reference;
use crate::report::page::Page;
use crate::report::{self, Artifacts, Figures, GridReport, LinearReport, NewtonReport, Report};
use crate::run::{RunLog, open_output};

/// First line of the case of a coarser grid of a family.
const MEMBER: &str =
    "# A case of the size of this grid, which is itself every other point of a finer one.\n";

/// Distance from the trailing edge, in chords, within which faces are its own.
const AT_THE_EDGE: f64 = 0.05;

/// The folders of a run, this process's until it is done with them: of a family one for each grid, the
/// finest first.
pub(super) struct Outputs(Vec<Output>);

impl Outputs {
    /// Opens the folders and checks that the files can be written there, before the work.
    ///
    /// # Errors
    /// [`IoError`] of the first file in the way, or that its format cannot number or the disk has no
    /// space for.
    pub(super) fn open(
        case: &Case,
        options: &RunOptions,
        notices: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let names = names(case, options.export_jacobian);
        let open = |size| -> Result<Output, IoError> {
            let root = folder(&options.output, size, options.grids);
            open_output(&root, openfoam::RULES, options.force, (&names, &case.inputs()), notices)
        };
        let size = [case.grid.ni, case.grid.nj];
        let halved = |size: &[usize; 2]| Some(size.map(|points| points.div_ceil(2)));
        let sizes = std::iter::successors(Some(size), halved).take(options.grids.max(1) as usize);
        let outputs = Self(sizes.map(open).collect::<Result<_, _>>()?);
        if let Some(finest) = outputs.0.first() {
            OutputFiles::of(case).check(size, finest.root())?;
        }
        Ok(outputs)
    }

    pub(super) fn restart_file(&self) -> Option<PathBuf> {
        self.0.first().map(|finest| finest.root().join(files::RESTART_FILE))
    }

    /// Writes all files of a result, whose grid is brought to where the body is; the files of an earlier
    /// run go when all are complete. Of a family the result is the finest, with the verdict on the worst
    /// and the folded cells of all.
    pub(super) fn write(
        self,
        problem: &Problem,
        result: &mut GridResult,
        options: &RunOptions,
        log: &mut RunLog<'_>,
    ) -> Result<(), Error> {
        let case = &problem.case;
        let reference = reference(result)?;
        let mut coarser = coarser_grids(&result.grid, options.grids);
        let judged = |(grid, quality): &(Grid, Quality)| {
            let curved = problem.curved_quality(grid);
            problem.verdict(result.stop, quality, curved.as_ref())
        };
        let verdicts: Vec<Verdict> = coarser.iter().map(judged).collect();
        problem.place(&mut result.grid);
        for (grid, ..) in &mut coarser {
            problem.place(grid);
        }
        let finest = Artifacts {
            name: &case.name,
            grid: &result.grid,
            quality: &result.quality,
            history: &result.history,
            tolerance: case.newton.tolerance,
            good: result.is_good(),
        };
        if finest.good {
            result.notices.extend(objections(case, finest.grid));
        }
        result.notices.append(&mut log.notices);
        if let Some(step) = options.export_jacobian.filter(|_| result.system.is_none()) {
            result.notices.push(format!("there was no Newton step {step} to export"));
        }
        let verdict = result.verdict.clone();
        let text = Some(case.to_toml_string()?);
        let mut members = vec![Member { artifacts: finest, verdict, text, note: None }];
        let mut coarse = case.clone();
        for (level, ((grid, quality), verdict)) in coarser.iter().zip(verdicts).enumerate() {
            coarse.grid = coarse.grid.scaled(0.5, quality.first_cell_min);
            let good = verdict.is_good();
            if !good && result.stop.converged() {
                let Grid { ni, nj, .. } = grid;
                result.notices.push(format!("the {ni} × {nj} grid of the family: {verdict}"));
            }
            let (stride, Grid { ni, nj, .. }) = (2 << level, finest.grid);
            let note = Some(format!(
                "one of {stride} points in each direction of the {ni} × {nj} grid, which was solved"
            ));
            let text = coarse.below(MEMBER)?;
            // The grid may have fewer points than a case may ask for.
            let valid = Case::from_toml(&text, Path::new(files::CASE_FILE), &[]).is_ok();
            let (artifacts, text) =
                (Artifacts { grid, quality, good, ..finest }, valid.then_some(text));
            members.push(Member { artifacts, verdict, text, note });
        }
        let mut files = Vec::new();
        let requested = OutputFiles::of(case).with_reference(case, problem.shift);
        let mut pages = Vec::new();
        for (member, output) in members.iter().zip(&self.0) {
            let (artifacts, finest) = (&member.artifacts, member.note.is_none());
            let page = case.output.report && finest;
            let wanted = [case.output.pictures || page, case.output.quality_maps || page];
            let write = |folder: &Path| {
                let figures = Figures::of(artifacts, wanted);
                let written = requested.write(folder, artifacts, &figures, finest)?;
                pages.push(page.then_some(figures));
                Ok(written)
            };
            files.extend(log.timed("writing", |_| output.fill(write))?);
        }
        if let Some(output) = self.0.first() {
            result.notices.extend(requested.lacks(output, finest.grid, finest.good));
        }
        result.timing = log.total();
        for ((member, figures), output) in members.iter().zip(&pages).zip(&self.0) {
            let report = member.report(result)?;
            files.extend(output.fill(|folder| member.write(folder, &report, figures.as_ref()))?);
        }
        if let Some(output) = self.0.first() {
            let reference = reference.as_ref();
            files.extend(write_solution(output, problem, result, options, reference)?);
        }
        // A rank that was lost meanwhile ends the run.
        options.job.as_ref().map_or(Ok(()), |job| job.check())?;
        // All is complete: now the old files go.
        self.0.into_iter().rev().try_for_each(Output::commit)?;
        for Member { artifacts, verdict, .. } in members.into_iter().skip(1) {
            result.folded_cells += artifacts.quality.folded_cells;
            result.verdict = std::mem::replace(&mut result.verdict, Verdict::Good).and(verdict);
        }
        result.files = files;
        Ok(())
    }
}

/// Writes what later runs start from: the exported system, the reference of movements, and the restart file of
/// a solution that can go on.
fn write_solution(
    output: &Output,
    problem: &Problem,
    result: &GridResult,
    options: &RunOptions,
    reference: Option<&Reference>,
) -> Result<Vec<PathBuf>, Error> {
    let identity = identity(&problem.case)?;
    let made = output.fill(|folder| {
        let mut made = Vec::new();
        if let (Some(step), Some(system)) = (options.export_jacobian, &result.system) {
            made.extend(write_system(folder, step, system)?);
        }
        if let Some(reference) = reference {
            let path = folder.join(files::REFERENCE_FILE);
            reference.write(&path)?;
            made.push(path);
        }
        if can_go_on(result.stop) {
            let path = folder.join(files::RESTART_FILE);
            files::restart::write(&path, &identity, &result.history, &result.state)?;
            made.push(path);
        }
        Ok(made)
    })?;
    Ok(made)
}

/// The reference of movements of a grid in the frame of its problem, where the case asks for one and the grid
/// is good.
fn reference(result: &GridResult) -> Result<Option<Reference>, Error> {
    if !result.case.output.reference || !result.is_good() {
        return Ok(None);
    }
    Ok(Some(result.problem.reference_from(&CpuBackend, Some(&result.grid))?))
}

/// A grid of a family, the finest first.
struct Member<'a> {
    artifacts: Artifacts<'a>,
    verdict: Verdict,
    /// The case that makes it.
    text: Option<String>,
    /// The note on a coarser grid in its report.
    note: Option<String>,
}

impl Member<'_> {
    fn report(&self, result: &GridResult) -> Result<Report, Error> {
        let mut report =
            report(result, self.artifacts.grid, self.artifacts.quality, &self.verdict)?;
        report.notes.extend(self.note.clone());
        Ok(report)
    }

    /// Writes the report, the page if there are figures for one, and the case.
    fn write(
        &self,
        folder: &Path,
        report: &Report,
        figures: Option<&Figures>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let path = |name| folder.join(name);
        let mut made = vec![path(files::REPORT_FILE)];
        report::write_json(&made[0], report)?;
        if let Some(case) = self.text.as_deref() {
            if let Some(figures) = figures {
                made.push(path(files::PAGE_FILE));
                let page = Page { report, artifacts: &self.artifacts, figures, case };
                page.write(&path(files::PAGE_FILE))?;
            }
            made.push(path(files::CASE_FILE));
            files::atomic::write(&path(files::CASE_FILE), |out| out.write_all(case.as_bytes()))?;
        }
        Ok(made)
    }
}

impl GridResult {
    /// The report of the result, as `report.json` has it.
    ///
    /// # Errors
    /// A path of the case that is not UTF-8.
    pub fn report(&self) -> Result<Report, Error> {
        report(self, &self.grid, &self.quality, &self.verdict)
    }

    /// The grid as a mesh with the span and the layouts that its case asks for.
    pub fn mesh(&self) -> MeshData<'_> {
        let files = OutputFiles::of(&self.case).with_reference(&self.case, self.problem.shift);
        files.mesh_data(&self.grid, self.is_good())
    }
}

/// The report of a result on its grid or on a coarser one of its family.
fn report(
    result: &GridResult,
    grid: &Grid,
    quality: &Quality,
    verdict: &Verdict,
) -> Result<Report, Error> {
    let GridResult { case, history, .. } = result;
    Ok(Report {
        name: case.name.clone(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        verdict: verdict.clone(),
        converged: result.converged(),
        stop_reason: result.stop.to_string(),
        newton: NewtonReport::new(history, case.newton.tolerance),
        linear: LinearReport {
            iterations: history.linear_iterations(),
            solver: case.linear.krylov.method,
            preconditioner: case.linear.preconditioner,
        },
        quality: quality.clone(),
        grid: GridReport::from(grid),
        timing: result.timing.clone(),
        geometry: serde_json::to_value(&case.geometry).unwrap_or_default(),
        backend: result.backend.clone(),
        threads: result.threads,
        fingerprint: fingerprint(case)?,
        coordinates_digest: coordinates_digest(case),
        wedge: result.problem.wedge,
        notes: result.notices.clone(),
    })
}

/// Folder of the grid of this size: one below `output` if there are several.
fn folder(output: &Path, [ni, nj]: [usize; 2], grids: u32) -> PathBuf {
    if grids > 1 { output.join(format!("{ni}x{nj}")) } else { output.to_path_buf() }
}

/// Every other point of the finest grid, every other point of that, and so on, with their quality.
fn coarser_grids(finest: &Grid, grids: u32) -> Vec<(Grid, Quality)> {
    let mut members: Vec<(Grid, Quality)> = Vec::new();
    for _ in 1..grids {
        let grid = coarsened(members.last().map_or(finest, |(grid, _)| grid));
        let quality = measure(&grid);
        members.push((grid, quality));
    }
    members
}

/// Writes A and b of the linear system of a Newton step into a folder; returns the files.
fn write_system(
    folder: &Path,
    step: usize,
    LinearSystem { a, b }: &LinearSystem,
) -> Result<Vec<PathBuf>, IoError> {
    let files = system_names(step).map(|name| folder.join(name));
    let [matrix, right] = &files;
    write_matrix(matrix, a)?;
    write_vector(right, b)?;
    Ok(files.to_vec())
}

/// The objections of OpenFOAM's `checkMesh` to the mesh that a case asks for, one sentence each with what
/// can be done; nothing where the case asks for no such mesh.
fn objections(case: &Case, grid: &Grid) -> Vec<String> {
    if !case.output.formats.iter().any(|format| format.name == openfoam::NAME) {
        return Vec::new();
    }
    let objections = openfoam::objections(grid, span(case));
    let sentence = |objection| format!("{objection}; {}", remedy(case, grid, objection));
    objections.iter().map(sentence).collect()
}

/// A remedy for an objection, as measured in docs/validation.md.
fn remedy(case: &Case, grid: &Grid, objection: &Objection) -> String {
    let edge = match grid.topology {
        Topology::O(_) | Topology::Half(_) | Topology::Rectangle => grid.point(grid.ni - 1, 0),
        Topology::C { wake } => grid.point(wake, 0),
    };
    let off = f64::hypot(objection.at[0] - edge[0], objection.at[1] - edge[1]);
    let at_the_edge = off < AT_THE_EDGE * case.geometry.length();
    let cut = matches!(grid.topology, Topology::C { .. });
    match objection.measure {
        Measure::Skewness if at_the_edge => format!(
            "grid.trailing_edge_spacing = {:.1e}, the height of the first cell, mends that",
            case.grid.first_cell
        ),
        Measure::Skewness => "closer points there lessen that".to_owned(),
        Measure::AspectRatio => "low first cells cost that, and OpenFOAM runs with them".to_owned(),
        Measure::NonOrthogonality if at_the_edge && cut => {
            "it lets that pass, and a smaller grid.trailing_edge_spacing lessens it".to_owned()
        }
        Measure::NonOrthogonality => {
            "it lets that pass, and more points or a larger grid.first_cell lessen it".to_owned()
        }
    }
}
