//! `gridgen move`: a grid that follows a moved wall, and derivatives of it.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use gridgen::backend::cpu::CpuBackend;
use gridgen::case::SolverOptions;
use gridgen::formats::{self, Format, Mesh, MeshData, npy, points};
use gridgen::generate::{Machine, open_reference};
use gridgen::grid::Grid;
use gridgen::internals::atomic::check_apart;
use gridgen::movement::{Moved, Reference, Resident, Solved};

use super::convert::{LayoutArguments, format_of};
use super::ranks::MachineArguments;
use super::summary::{skewness, written};
use super::terminal::Terminal;
use super::{CommandFailure, code_if, parse_set};

/// Arguments of `gridgen move`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/move.txt").trim_ascii_end())]
pub(super) struct MoveArguments {
    /// The reference: reference.grd of a case with output.reference = true, or any mesh that gridgen reads.
    #[arg(value_name = "REFERENCE")]
    reference: PathBuf,
    /// The wall points where they are now, in the order of --wall [default: those of the reference].
    #[arg(long, value_name = "POINTS", requires = "output")]
    to: Option<PathBuf>,
    /// The file to write: the moved mesh, or the derivatives; a name without an end is the folder of an OpenFOAM
    /// case.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the wall points of the reference: x y in a line each, or an array (points, 2) to FILE.npy.
    #[arg(long, value_name = "FILE")]
    wall: Option<PathBuf>,
    /// Write dJ/d(wall points), (points, 2), for these dJ/d(nodes), (nj, ni, 2), instead of the mesh.
    #[arg(long, value_name = "FILE.npy", requires = "output")]
    adjoint: Option<PathBuf>,
    /// Write the displacement of the nodes, (nj, ni, 2), for this one of the wall points, (points, 2).
    #[arg(long, value_name = "FILE.npy", requires = "output", conflicts_with = "adjoint")]
    derivative: Option<PathBuf>,
    /// Relative residual of the linear solves of derivatives.
    #[arg(long, value_name = "RATIO", default_value_t = 1e-10, value_parser = super::solve::tolerance)]
    tolerance: f64,
    #[command(flatten)]
    pub(super) machine: MachineArguments,
    /// Replace a key of [newton], [linear], [multigrid] or [quality], where REFERENCE is a mesh; can be
    /// repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
    #[command(flatten)]
    layout: LayoutArguments,
}

/// The movement, unless only the wall is written, the solve of a derivative, and the files written.
type Done = (Option<Moved>, Option<Solved>, Vec<PathBuf>);

impl MoveArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        if self.output.is_none() && self.wall.is_none() {
            let message = "name the file to write: -o for the mesh or the derivatives, --wall for the wall points";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
        let options = SolverOptions::new(&self.set)?;
        let stored = Reference::is_stored(&self.reference);
        if stored && !self.set.is_empty() {
            let message = "--set is for meshes: a reference of a case has its settings";
            return Err(CommandFailure::Usage(message.to_owned()));
        }
        let derivatives = self.adjoint.is_some() || self.derivative.is_some();
        let mesh_file = self.output.as_deref().filter(|_| !derivatives);
        let format = mesh_file.map(format_of_file_or_folder).transpose()?;
        if let Some(path) = self.output.as_deref().filter(|_| derivatives)
            && path.extension().is_some_and(|end| end != "npy")
        {
            let message = format!("{}: derivatives are an array of numpy", path.display());
            return Err(CommandFailure::input(&message, Some("name it .npy")));
        }
        let map = mesh_file.zip(format).and_then(|(path, format)| format.beside(path));
        let inputs = [&self.to, &self.adjoint, &self.derivative].map(Option::as_deref);
        let read = formats::map_of(&self.reference);
        let inputs = inputs.into_iter().chain([Some(&*self.reference), read.as_deref()]);
        check_apart([self.output.as_deref(), map.as_deref(), self.wall.as_deref()], inputs)?;
        let wall = self.to.as_deref().map(points::read).transpose()?;
        let reference = open_reference(&self.reference, &options)?;
        let [ni, nj] = [reference.grid().ni, reference.grid().nj];
        let MachineArguments { backend, devices, job, .. } = &self.machine;
        let (machine, notice) =
            Machine::for_points(*backend, devices.as_deref(), job.as_ref(), ni * nj)?;
        if let Some(notice) = &notice {
            terminal.note(notice);
        }
        let (moved, solved, mut files) = self.work(&machine, &reference, wall.as_deref())?;
        let size = |grid: &Grid| format!("{} x {}", grid.ni, grid.nj);
        let sizes: Vec<String> = reference.blocks().into_iter().map(size).collect();
        let mut said = format!(
            "{}: {} points, {} on the wall\n",
            self.reference.display(),
            sizes.join(" + "),
            reference.wall().len()
        );
        if let Some(moved) = &moved {
            said.push_str(&described(moved));
            if let Some(worn) = moved.worn.as_ref().filter(|_| moved.verdict.is_good()) {
                terminal.note(worn);
            }
            if !moved.verdict.is_good() {
                let hint =
                    "nothing was written: move the wall less at a time, or generate the grid anew";
                terminal.error(&moved.verdict.to_string(), Some(hint));
            } else if let (Some(format), Some(path), true) = (format, mesh_file, self.writes()) {
                let (blocks, alone);
                let mesh = if reference.blocks().len() > 1 {
                    blocks = moved.blocks();
                    MeshData::of_blocks(&blocks.iter().collect::<Vec<_>>())
                } else {
                    alone = Mesh::from(moved.grid().clone());
                    MeshData::from(&alone.grid)
                };
                files.extend(self.layout.write(format, path, mesh, terminal)?);
            }
        }
        if let Some(Solved { iterations, residual }) = solved {
            let _ = writeln!(
                said,
                "derivative    {iterations} linear iterations to a residual of {residual:.1e}"
            );
        }
        said.push_str(&written(&files, &[]));
        terminal.result(&said)?;
        Ok(code_if(moved.is_none_or(|moved| moved.verdict.is_good())))
    }

    /// Whether this process writes the files: of several the first does.
    fn writes(&self) -> bool {
        self.machine.job.as_ref().is_none_or(|job| job.is_first())
    }

    /// Moves the grid and writes all but the mesh.
    fn work(
        &self,
        machine: &Machine,
        reference: &Reference,
        wall: Option<&[[f64; 2]]>,
    ) -> Result<Done, CommandFailure> {
        let mut files = Vec::new();
        if let Some(path) = self.wall.as_ref().filter(|_| self.writes()) {
            points::write(path, &reference.wall())?;
            files.push(path.clone());
        }
        let Some(output) = &self.output else { return Ok((None, None, files)) };
        let moved = match wall {
            Some(wall) => machine.move_to(reference, wall)?,
            None => Resident::new(reference, &CpuBackend)?.unmoved(&CpuBackend)?,
        };
        let mut solved = None;
        if moved.verdict.is_good() && (self.adjoint.is_some() || self.derivative.is_some()) {
            solved = Some(self.differentiate(machine, (reference, &moved), output)?);
            files.push(output.clone());
        }
        Ok((Some(moved), solved, files))
    }

    fn differentiate(
        &self,
        machine: &Machine,
        (reference, moved): (&Reference, &Moved),
        output: &Path,
    ) -> Result<Solved, CommandFailure> {
        let at = (reference, moved, self.tolerance);
        let points = reference.wall().len();
        let shape = [moved.grid().nj, moved.grid().ni, 2];
        let (shape, values, solved) = if let Some(path) = &self.adjoint {
            let nodes = npy::read(path, &shape)?;
            let [x, y] = [0, 1].map(|k| every_other(&nodes, k));
            let found = machine.adjoint(at, &x, &y)?;
            (vec![points, 2], found.wall.into_flattened(), found.solved)
        } else {
            let path = self.derivative.as_deref().unwrap_or(output);
            let wall = npy::read(path, &[points, 2])?;
            let (by, solved) = machine.derivative(at, wall.as_chunks().0, &[])?;
            let nodes = by.x.iter().zip(&by.y).flat_map(|(x, y)| [*x, *y]).collect();
            (shape.to_vec(), nodes, solved)
        };
        if self.writes() {
            npy::write(output, &shape, &values)?;
        }
        Ok(solved)
    }
}

/// The format that the name of a file or a folder implies.
fn format_of_file_or_folder(path: &Path) -> Result<&'static Format, CommandFailure> {
    let or_else = ", or without an end for an OpenFOAM case";
    Format::of_file_or_folder(path).map_or_else(|| format_of(path, or_else), Ok)
}

/// The x (0) or y (1) of points.
fn every_other(points: &[f64], k: usize) -> Vec<f64> {
    points.as_chunks::<2>().0.iter().map(|point| point[k]).collect()
}

fn described(moved: &Moved) -> String {
    let parts = match moved.parts {
        1 => "in one go".to_owned(),
        parts => format!("in {parts} parts"),
    };
    let quality = &moved.quality;
    format!(
        "moved         {parts}: {} Newton steps, {} linear iterations\n\
         folded cells  {}\n\
         first cell    {:.4e} to {:.4e}\n\
         {}",
        moved.newton_iterations,
        moved.linear_iterations,
        quality.folded_cells,
        quality.first_cell_min,
        quality.first_cell_max,
        skewness(quality),
    )
}
