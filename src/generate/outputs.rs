//! The files of a run: its meshes and reports, and what later runs start from.

use std::io::Write;
use std::iter;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::assembly::RunResult;
use super::files::{OutputFiles, system_names};
use super::problem::{coordinates_digest, fingerprint, identity};
use super::rank::can_go_on;
use super::result::{GridResult, LinearSystem};
use crate::backend::cpu::CpuBackend;
use crate::case::{Case, GridOptions, PlacedCase, Problem};
use crate::error::Error;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::matrix_market::{write_columns, write_matrix};
use crate::formats::openfoam::{self, Measure, Objection};
use crate::formats::{MeshData, Span, block_names};
use crate::grid::quality::{Quality, growth, measure};
use crate::grid::{Grid, Topology, Verdict, coarsened};
use crate::movement::Reference;
use crate::ranks::Job;
use crate::report::page::Page;
use crate::report::plot::OversetPictures;
use crate::report::{
    self, Artifacts, BlockReport, Figures, GridReport, LinearTotals, NewtonTotals, Report,
};
use crate::run::{RunLog, RunOptions};

/// First line of the case of a coarser grid of a family.
const MEMBER: &str =
    "# A case of the size of this grid, which is itself every other point of a finer one.\n";

/// Distance from the trailing edge, in chords, within which faces are its own.
const AT_THE_EDGE: f64 = 0.05;

/// Opens the folders of a run, of a family one for each grid, the finest first.
pub(super) fn open(
    placed: &PlacedCase,
    options: &RunOptions,
    notices: &mut Vec<String>,
) -> Result<Vec<Output>, Error> {
    let GridOptions { ni, nj, .. } = placed.elements[0].problem.case.grid;
    let halved = |size: &[usize; 2]| Some(size.map(|points| points.div_ceil(2)));
    let sizes = iter::successors(Some([ni, nj]), halved);
    let folders = sizes.take(options.grids.max(1) as usize).map(|[ni, nj]| match options.grids {
        0 | 1 => options.output.clone(),
        _ => options.output.join(format!("{ni}x{nj}")),
    });
    let inputs: Vec<&Path> = placed.cases().flat_map(Case::inputs).collect();
    OutputFiles::of(placed).open(folders, &inputs, options, notices)
}

/// Writes all files of a result; they take the place of those of an earlier run when all are complete. The grid of a
/// section is brought to where the body is; of a family the result is the finest, with the verdict on the worst
/// and the folded cells of all.
pub(super) fn write(
    made: &mut RunResult,
    folders: Vec<Output>,
    options: &RunOptions,
    log: &mut RunLog<'_>,
) -> Result<(), Error> {
    let Some((finest, others)) = folders.split_first() else { return Ok(()) };
    let (coarser, reference) = finish_section(made, options)?;
    let requested = OutputFiles::of(&made.placed);
    let output = &made.placed.case.output;
    let (wanted, paged) = ([output.pictures, output.quality_maps], output.report);
    let mesh = made.mesh();
    let (mut files, figures) = log.timed("writing", |_| -> Result<_, IoError> {
        let draw = || figures(made, wanted.map(|wanted| wanted || paged));
        let (mut files, figures) = requested.write(finest, &mesh, draw)?;
        for (CoarserGrid { blocks, quality, verdict, .. }, output) in coarser.iter().zip(others) {
            let good = verdict.is_good();
            let (finest, blocks) = (made.elements[0].artifacts(), blocks.iter().collect());
            let drawn = Artifacts { blocks, quality, good, ..finest };
            let mesh = requested.mesh_of(&drawn.blocks, good);
            files.extend(requested.write(output, &mesh, || Figures::of(&drawn, wanted))?.0);
        }
        Ok((files, figures))
    })?;
    let stays = requested.stays(finest, &mesh)?;
    made.notices.extend(stays);
    made.timing = log.total();
    made.tell_section();
    let (report, text) = (made.report()?, made.placed.case.to_toml_string()?);
    let page = Page { report: &report, figures: &figures, scene: made.scene(), case: &text };
    files.extend(conclude(finest, &report, Some(&text), Some(&page).filter(|_| paged))?);
    for (CoarserGrid { blocks, quality, verdict, text, note }, output) in coarser.iter().zip(others)
    {
        let blocks = (&blocks[0], blocks.get(1));
        let mut report = report_of(&made.elements[0], blocks, quality, verdict)?;
        report.notes.push(note.clone());
        files.extend(conclude(output, &report, text.as_deref(), None)?);
    }
    if let Some(section) = made.section() {
        files.extend(write_solution(finest, section, options, reference.as_ref())?);
    }
    made.removed = commit(folders, options.job.as_deref())?;
    for CoarserGrid { quality, verdict, .. } in coarser {
        made.elements[0].folded_cells += quality.folded_cells;
        made.verdict = std::mem::replace(&mut made.verdict, Verdict::Good).and(verdict);
    }
    made.files = files;
    Ok(())
}

/// Brings the grid of a section to where the body is, and notes what is found on the way; returns the coarser grids of
/// its family and the reference of movements. Several elements are placed already and have neither.
fn finish_section(
    made: &mut RunResult,
    options: &RunOptions,
) -> Result<(Vec<CoarserGrid>, Option<Reference>), Error> {
    let Some(problem) = made.placed.section() else { return Ok((Vec::new(), None)) };
    let result = &mut made.elements[0];
    let (moves, cascade) = (problem.case.output.reference, !result.passage.is_empty());
    let moves = moves && result.is_good();
    let of_frame = || result.problem.reference_from(&CpuBackend, Some(&result.grid));
    let mut reference = (moves && !cascade).then(of_frame).transpose()?;
    let coarser = coarser(problem, result, options.grids)?;
    result.place(problem);
    if moves && cascade {
        // The blocks where they are placed, so that it has the nodes of the mesh bit for bit.
        reference = Some(result.reference()?);
    }
    if result.is_good() {
        let span = OutputFiles::of(&made.placed).span;
        made.notices.extend(objections(&problem.case, &result.blocks(), span));
    }
    if let Some(step) = options.export_jacobian.filter(|_| result.system.is_none()) {
        made.notices.push(format!("there was no Newton step {step} to export"));
    }
    for CoarserGrid { blocks, verdict, .. } in &coarser {
        if !verdict.is_good() && result.stop.converged() {
            let Grid { ni, nj, .. } = blocks[0];
            made.notices.push(format!("the {ni} × {nj} grid of the family: {verdict}"));
        }
    }
    Ok((coarser, reference))
}

/// The solves for the grids, and pictures of them and of their quality, as far as they are wanted.
fn figures(made: &RunResult, wanted: [bool; 2]) -> Figures {
    if let Some(section) = made.section() {
        return Figures::of(&section.artifacts(), wanted).with_solve("", &section.artifacts());
    }
    let case = &made.placed.case;
    let pictures = OversetPictures {
        name: &case.name,
        zones: &made.zones(),
        checks: &made.checks,
        unit: case.chord(),
        good: made.is_good(),
    };
    let figures = if wanted[0] { Figures::of_elements(&pictures) } else { Figures::default() };
    made.elements.iter().fold(figures, |figures, element| {
        figures.with_solve(&element.case.name, &element.artifacts())
    })
}

/// Writes the report of a folder, the case, and the page, if there is one; returns the files.
fn conclude(
    output: &Output,
    report: &impl Serialize,
    case: Option<&str>,
    page: Option<&Page<'_>>,
) -> Result<Vec<PathBuf>, IoError> {
    output.fill(|folder| {
        let mut made = vec![folder.join(files::REPORT_FILE)];
        report::write_json(&made[0], report)?;
        if let Some(page) = page {
            made.push(folder.join(files::PAGE_FILE));
            page.write(&folder.join(files::PAGE_FILE))?;
        }
        if let Some(case) = case {
            let path = folder.join(files::CASE_FILE);
            files::atomic::write(&path, |out| out.write_all(case.as_bytes()))?;
            made.push(path);
        }
        Ok(made)
    })
}

/// Puts the files of all folders in place, where no rank was lost meanwhile; returns the files of earlier runs that
/// were removed.
fn commit(folders: Vec<Output>, job: Option<&Job>) -> Result<Vec<PathBuf>, Error> {
    job.map_or(Ok(()), Job::check)?;
    let removed = folders.into_iter().rev().map(Output::commit);
    Ok(removed.collect::<Result<Vec<_>, IoError>>()?.concat())
}

/// Writes what later runs start from: the exported system, the reference of movements, and the restart file of
/// a solution that can go on.
fn write_solution(
    output: &Output,
    result: &GridResult,
    options: &RunOptions,
    reference: Option<&Reference>,
) -> Result<Vec<PathBuf>, Error> {
    let identity = identity(&result.case)?;
    Ok(output.fill(|folder| {
        let mut made = Vec::new();
        if let (Some(step), Some(LinearSystem { a, b })) = (options.export_jacobian, &result.system)
        {
            let [matrix, right] = system_names(step).map(|name| folder.join(name));
            write_matrix(&matrix, a)?;
            write_columns(&right, &[b])?;
            made.extend([matrix, right]);
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
    })?)
}

/// A coarser grid of a family.
struct CoarserGrid {
    /// The grid and, behind a base, the block there.
    blocks: Vec<Grid>,
    quality: Quality,
    verdict: Verdict,
    /// The case that makes it; none where it has fewer points than a case may ask for.
    text: Option<String>,
    /// The note on it in its report.
    note: String,
}

/// Every other point of the finest grid, every other point of that, and so on, brought to where the body is.
fn coarser(problem: &Problem, result: &GridResult, grids: u32) -> Result<Vec<CoarserGrid>, Error> {
    let (mut members, mut case): (Vec<CoarserGrid>, _) = (Vec::new(), problem.case.clone());
    let Grid { ni, nj, .. } = result.grid;
    for level in 1..grids {
        let finer = members.last().map_or(result.blocks(), |member| member.blocks.iter().collect());
        let blocks: Vec<Grid> = finer.into_iter().map(coarsened).collect();
        let mut quality = measure(&blocks[0]).joined(blocks[0].cells(), blocks.get(1));
        quality.boundary_layer_cells = problem.boundary_layer_cells(&blocks[0]);
        let curved = problem.curved_quality(&blocks.iter().collect::<Vec<_>>());
        let verdict = problem.verdict(result.stop, &quality, curved.as_ref());
        case.grid = case.grid.scaled(0.5, quality.first_cell_min);
        if let (Some(domain), Some([lowest, _])) = (&mut case.domain, blocks[0].box_wall_heights())
        {
            domain.wall_first_cell = Some(lowest);
        }
        let text = case.below(MEMBER)?;
        let valid = Case::from_toml(&text, Path::new(files::CASE_FILE), &[]).is_ok();
        let stride = 1 << level;
        let note = format!(
            "one of {stride} points in each direction of the {ni} × {nj} grid, which was solved"
        );
        members.push(CoarserGrid { blocks, quality, verdict, text: valid.then_some(text), note });
    }
    for block in members.iter_mut().flat_map(|member| &mut member.blocks) {
        problem.place(block);
    }
    Ok(members)
}

impl GridResult {
    /// The report of the result, as `report.json` has it.
    ///
    /// # Errors
    /// A path of the case that is not UTF-8.
    pub fn report(&self) -> Result<Report, Error> {
        report_of(self, (&self.grid, self.behind.as_ref()), &self.quality, &self.verdict)
    }

    /// The grid as a mesh with the span and the layouts that its case asks for.
    pub fn mesh(&self) -> MeshData<'_> {
        OutputFiles::of_section(&self.problem).mesh_of(&self.blocks(), self.is_good())
    }

    /// The content of pictures.
    pub(super) fn artifacts(&self) -> Artifacts<'_> {
        Artifacts {
            name: &self.case.name,
            blocks: self.blocks(),
            quality: &self.quality,
            history: &self.history,
            tolerance: self.case.newton.tolerance,
            good: self.is_good(),
        }
    }
}

/// The report of a result on its grid or on a coarser one of its family.
fn report_of(
    result: &GridResult,
    (grid, behind): (&Grid, Option<&Grid>),
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
        newton: NewtonTotals {
            iterations: result.newton_iterations(),
            initial_residual: history.steps.first().map_or(f64::NAN, |step| step.residual),
            residual: result.residual(),
            tolerance: case.newton.tolerance,
        },
        linear: LinearTotals {
            iterations: result.linear_iterations(),
            solver: case.linear.krylov.method,
            preconditioner: case.linear.preconditioner,
        },
        quality: quality.clone(),
        grid: GridReport {
            ni: grid.ni,
            nj: grid.nj,
            topology: grid.topology.name(),
            seam: if let Topology::O(seam) = grid.topology { Some(seam) } else { None },
            wake: Some(grid.topology.wake()).filter(|wake| *wake > 0),
            behind: behind.map(|block| [block.ni, block.nj]),
            blocks: blocks_of(result),
            box_walls: result.box_walls(grid),
            growth: growth(grid),
        },
        timing: result.timing.clone(),
        geometry: serde_json::to_value(&case.geometry).unwrap_or_default(),
        backend: result.backend.clone(),
        threads: result.threads,
        fingerprint: fingerprint(case.clone())?,
        coordinates_digest: coordinates_digest(case),
        wedge: result.problem.wedge,
        notes: [result.notices.as_slice(), &result.events].concat(),
    })
}

/// The blocks of a cascade in its report.
fn blocks_of(result: &GridResult) -> Vec<BlockReport> {
    let names = block_names(result.passage.len() + 1).iter().skip(1);
    let blocks = result.passage.iter().zip(names).map(|(block, name)| BlockReport {
        name,
        ni: block.grid.ni,
        nj: block.grid.nj,
        newton_iterations: block.newton_iterations,
        linear_iterations: block.linear_iterations,
    });
    blocks.collect()
}

/// The objections of OpenFOAM's `checkMesh` to the mesh that a case asks for, one sentence each with what
/// can be done; nothing where the case asks for no such mesh.
fn objections(case: &Case, grids: &[&Grid], span: Option<Span>) -> Vec<String> {
    if !case.output.formats.iter().any(|format| format.name == openfoam::NAME) {
        return Vec::new();
    }
    let objections = openfoam::objections(grids, span);
    let sentence = |objection| format!("{objection}; {}", remedy(case, grids[0], objection));
    objections.iter().map(sentence).collect()
}

/// A remedy for an objection, as measured in docs/validation.md.
fn remedy(case: &Case, grid: &Grid, objection: &Objection) -> String {
    let edge = grid.point(grid.ni - 1 - grid.topology.wake(), 0);
    let off = f64::hypot(objection.at[0] - edge[0], objection.at[1] - edge[1]);
    let at_the_edge = off < AT_THE_EDGE * case.geometry.length();
    let cut = grid.topology.wake() > 0;
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
