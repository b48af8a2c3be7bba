//! The files of a run: which they are, where they go, and what is said in them.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::files::{OutputFiles, names, reference, span, system_names};
use super::restart::{coordinates_digest, fingerprint, identity};
use super::solve::{Control, GridResult, LinearSystem};
use super::{Problem, RunOptions};
use crate::case::Case;
use crate::error::Error;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::matrix_market::{write_matrix, write_vector};
use crate::formats::openfoam::{self, Measure, Objection};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Topology, Verdict, coarsened};
use crate::report::page::{self, Page};
use crate::report::{self, Artifacts, GridReport, LinearReport, NewtonReport, Report, Timing};
use crate::solver::NewtonStop;

/// Distance from the trailing edge, in chords, within which faces are its own.
const AT_THE_EDGE: f64 = 0.05;

/// The folders of a run, this process's until it is done with them.
pub(super) struct Outputs {
    /// That of the grid; of a family that of the finest.
    finest: Output,
    /// Those of the coarser grids of a family, the finest first.
    coarser: Vec<Output>,
}

impl Outputs {
    /// Opens the folders and checks that the files can be written there, before the work.
    ///
    /// # Errors
    ///
    /// [`IoError`] of the first file in the way, or that its format cannot number or the disk has no
    /// space for.
    pub(super) fn open(
        case: &Case,
        options: &RunOptions,
        notices: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let names = names(case, options.export_jacobian);
        let mut open = |size| -> Result<Output, Error> {
            let output = Output::open(
                &folder(&options.output, size, options.grids),
                openfoam::RULES,
                options.force,
            )?;
            output.check(names.iter().map(String::as_str))?;
            notices.extend(output.notice());
            Ok(output)
        };
        let size = [case.grid.ni, case.grid.nj];
        let finest = open(size)?;
        let halved = |size: &[usize; 2]| Some(size.map(|points| points.div_ceil(2)));
        let sizes = std::iter::successors(halved(&size), halved);
        let sizes = sizes.take(options.grids.saturating_sub(1) as usize);
        let outputs = Self { coarser: sizes.map(open).collect::<Result<_, _>>()?, finest };
        OutputFiles::of(case).check(size, outputs.finest.root())?;
        Ok(outputs)
    }

    /// The restart file of the run while it goes on.
    pub(super) fn restart_file(&self) -> PathBuf {
        self.finest.root().join(files::RESTART_FILE)
    }

    /// Writes all files of a result, whose grid is brought to where the body is; the files of an earlier
    /// run go when all are complete. Of a family the result is the finest, with the verdict on the worst
    /// and the folded cells of all.
    pub(super) fn write(
        self,
        problem: &Problem,
        result: &mut GridResult,
        (options, backend): (&RunOptions, &str),
        control: &mut Control<'_>,
    ) -> Result<(), Error> {
        let (case, output) = (&problem.case, &self.finest);
        let mut coarser = coarser_grids(&result.grid, options.grids);
        problem.place(&mut result.grid);
        for (grid, _) in &mut coarser {
            problem.place(grid);
        }
        let good = result.is_good();
        if good {
            result.notices.extend(objections(case, &result.grid));
        }
        if let Some(step) = options.export_jacobian.filter(|_| result.system.is_none()) {
            result.notices.push(format!("there was no Newton step {step} to export"));
        }
        let artifacts = Artifacts {
            name: &case.name,
            grid: &result.grid,
            quality: &result.quality,
            history: &result.history,
            tolerance: case.newton.tolerance,
            good,
        };
        let requested = OutputFiles::of(case).with_reference(reference(case, problem.shift));
        let mut files = control.timed(
            "writing",
            |timing| &mut timing.writing_seconds,
            |_| output.fill(|folder| requested.write(folder, &artifacts)),
        )?;
        let mut members = Vec::new();
        let mut member_case = case.clone();
        for (level, ((grid, quality), output)) in (1..).zip(coarser.iter().zip(&self.coarser)) {
            let verdict = problem.verdict(result.stop, quality);
            let artifacts = Artifacts { grid, quality, good: verdict.is_good(), ..artifacts };
            member_case = member_case.coarsened(quality.first_cell_min);
            let files = write_member(output, &artifacts, &member_case, &requested)?;
            let member = Member { artifacts, level, verdict, files };
            result.notices.extend(member.notice(result.stop));
            members.push(member);
        }
        result.notices.extend(requested.lacks(output, &result.grid, good));
        let text = case.to_toml_string()?;
        result.timing.writing_seconds = control.timing.writing_seconds;
        result.timing.total_seconds = control.started.elapsed().as_secs_f64();
        let reporting = Reporting {
            case,
            fingerprint: fingerprint(case)?,
            stop: result.stop,
            timing: result.timing,
            backend,
            notices: &result.notices,
        };
        files.extend(reporting.write(output, &artifacts, &result.verdict, Some(&text), None)?);
        files.extend(output.fill(|folder| Ok(vec![write_case(folder, &text)?]))?);
        if let (Some(step), Some(system)) = (options.export_jacobian, &result.system) {
            files.extend(output.fill(|folder| write_system(folder, step, system))?);
        }
        if !result.state.is_empty() {
            let identity = identity(case)?;
            files.extend(output.fill(|folder| {
                let path = folder.join(files::RESTART_FILE);
                files::restart::write(&path, &identity, &result.history, &result.state)?;
                Ok(vec![path])
            })?);
        }
        for (member, output) in members.iter_mut().zip(&self.coarser) {
            files.append(&mut member.files);
            let note = Some(member.note(&artifacts));
            let Member { artifacts, verdict, .. } = member;
            files.extend(reporting.write(output, artifacts, verdict, None, note)?);
        }
        // All is complete: now the old files go.
        self.coarser.into_iter().try_for_each(Output::commit)?;
        self.finest.commit()?;
        for Member { artifacts, verdict, .. } in members {
            result.folded_cells += artifacts.quality.folded_cells;
            result.verdict = std::mem::replace(&mut result.verdict, Verdict::Good).and(verdict);
        }
        result.files = files;
        Ok(())
    }
}

/// A grid of a family other than the finest.
struct Member<'a> {
    artifacts: Artifacts<'a>,
    /// Halvings of the finest grid.
    level: u32,
    verdict: Verdict,
    files: Vec<PathBuf>,
}

impl Member<'_> {
    fn notice(&self, stop: NewtonStop) -> Option<String> {
        let Self { artifacts: Artifacts { grid, good, .. }, verdict, .. } = self;
        let size = format!("{} × {}", grid.ni, grid.nj);
        (!good && stop.converged()).then(|| format!("the {size} grid of the family: {verdict}"))
    }

    /// What the grid is, for its report.
    fn note(&self, finest: &Artifacts<'_>) -> String {
        let Grid { ni, nj, .. } = finest.grid;
        let stride = 1 << self.level;
        format!(
            "one of {stride} points in each direction of the {ni} × {nj} grid, which was solved"
        )
    }
}

/// Writes grid, pictures and case of a coarser grid. The history of the solve stays with the finest.
fn write_member(
    output: &Output,
    artifacts: &Artifacts<'_>,
    case: &Case,
    requested: &OutputFiles,
) -> Result<Vec<PathBuf>, Error> {
    let requested = requested.of_coarser();
    let mut files = output.fill(|folder| requested.write(folder, artifacts))?;
    let text = case.member_toml_string()?;
    // The grid may have fewer points than a case may ask for.
    if Case::from_toml(&text, Path::new(files::CASE_FILE), &[]).is_ok() {
        files.extend(output.fill(|folder| Ok(vec![write_case(folder, &text)?]))?);
    }
    Ok(files)
}

/// What the reports of a run have in common.
struct Reporting<'a> {
    case: &'a Case,
    /// Of the whole family.
    fingerprint: String,
    stop: NewtonStop,
    timing: Timing,
    backend: &'a str,
    notices: &'a [String],
}

impl Reporting<'_> {
    /// Writes report.json, with a note, and, if there is a text of the case, the page.
    fn write(
        &self,
        output: &Output,
        artifacts: &Artifacts<'_>,
        verdict: &Verdict,
        text: Option<&str>,
        note: Option<String>,
    ) -> Result<Vec<PathBuf>, Error> {
        let (case, stop) = (self.case, self.stop);
        let report = Report {
            name: case.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: verdict.clone(),
            converged: stop.converged(),
            stop_reason: stop.to_string(),
            newton: NewtonReport::new(artifacts.history, artifacts.tolerance),
            linear: LinearReport {
                iterations: artifacts.history.linear_iterations(),
                solver: case.linear.krylov.method,
                preconditioner: case.linear.preconditioner,
            },
            quality: artifacts.quality.clone(),
            grid: GridReport::from(artifacts.grid),
            timing: self.timing,
            geometry: serde_json::to_value(&case.geometry).unwrap_or_default(),
            backend: self.backend.to_owned(),
            threads: rayon::current_num_threads(),
            fingerprint: self.fingerprint.clone(),
            coordinates_digest: coordinates_digest(case),
            notes: self.notices.iter().cloned().chain(note).collect(),
        };
        let files = output.fill(|folder| {
            let path = folder.join(files::REPORT_FILE);
            report::write_json(&path, &report)?;
            let mut files = vec![path];
            if let Some(text) = text.filter(|_| case.output.report) {
                let path = folder.join(files::PAGE_FILE);
                page::write(&path, &Page { report: &report, artifacts, case: text })?;
                files.push(path);
            }
            Ok(files)
        })?;
        Ok(files)
    }
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

/// Writes the text of a case into a folder; returns its path.
fn write_case(folder: &Path, text: &str) -> Result<PathBuf, IoError> {
    let path = folder.join(files::CASE_FILE);
    files::atomic::write(&path, |out| out.write_all(text.as_bytes()))?;
    Ok(path)
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

/// What OpenFOAM's `checkMesh` will say of the mesh that a case asks for, one sentence each with what
/// can be done; nothing where the case asks for no such mesh.
fn objections(case: &Case, grid: &Grid) -> Vec<String> {
    if !case.output.formats.iter().any(|format| format.name == openfoam::NAME) {
        return Vec::new();
    }
    let objections = openfoam::objections(grid, span(case));
    let sentence = |objection| format!("{objection}; {}", remedy(case, grid, objection));
    objections.iter().map(sentence).collect()
}

/// What can be done about an objection, as measured in docs/validation.md.
fn remedy(case: &Case, grid: &Grid, objection: &Objection) -> String {
    let edge = match grid.topology {
        Topology::O(_) | Topology::Half(_) => grid.point(grid.ni - 1, 0),
        Topology::C { wake } => grid.point(wake, 0),
    };
    let off = f64::hypot(objection.at[0] - edge[0], objection.at[1] - edge[1]);
    let at_the_edge = off < AT_THE_EDGE * case.geometry.chord;
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
