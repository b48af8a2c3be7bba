//! Movements, derivatives and smoothing on a machine: of several ranks each does the same on its band.

use std::path::Path;

use parking_lot::Mutex;

use crate::backend::cpu::CpuBackend;
use crate::backend::{Bands, DeviceError};
use crate::case::SolverOptions;
use crate::digest;
use crate::error::Error;
use crate::formats;
use crate::grid::Grid;
use crate::movement::{Adjoint, Moved, MovementError, Reference, Resident, Solved};
use crate::run::{Machine, on_each};
use crate::smooth::{SmoothError, SmoothSettings, Smoothed, smooth};
use crate::solver::SolverError;

/// The result of work on a reference, which each backend of a machine holds as `resident`. The numbers that are given
/// to the work must be those of all ranks.
macro_rules! on_reference {
    ($machine:expr, $reference:expr, $given:expr, |$resident:ident, $backend:ident| $work:expr) => {{
        agree($machine, $reference, &$given)?;
        let first = $machine.job().map_or(0, |job| job.rank());
        let kept = Mutex::new(None);
        on_each!($machine, bands($machine, $reference)?, |rank, $backend| {
            let found = Resident::new($reference, $backend).and_then(|$resident| $work);
            // All ranks find the same fault in their input; a device fails on its own.
            let failed = match &found {
                Err(MovementError::Solver(error)) => Err(error.clone()),
                _ => Ok(()),
            };
            if rank == first {
                *kept.lock() = Some(found);
            }
            failed
        })?;
        kept.into_inner().unwrap_or_else(|| Err(DeviceError::OtherRank.into()))
    }};
}

impl Machine {
    /// [`Resident::move_to`] on this machine. The processes of a job all call, and all have the grid.
    ///
    /// # Errors
    /// The errors of that method, and arguments of a process that differ from those of the first.
    pub fn move_to(
        &self,
        reference: &Reference,
        wall: &[[f64; 2]],
    ) -> Result<Moved, MovementError> {
        let given = [wall.as_flattened()];
        on_reference!(self, reference, given, |resident, backend| {
            resident.move_to(backend, wall)?.fetch(backend)
        })
    }

    /// [`Derivatives::derivative`](crate::movement::Derivatives::derivative) of a grid on this machine, solved for to a
    /// relative residual `tolerance`.
    pub fn derivative(
        &self,
        (reference, moved, tolerance): (&Reference, &Moved, f64),
        wall: &[[f64; 2]],
        heights: &[f64],
    ) -> Result<(Grid, Solved), MovementError> {
        let Grid { x, y, .. } = moved.grid();
        let given = [x, y, wall.as_flattened(), heights, &[tolerance]];
        on_reference!(self, reference, given, |resident, backend| {
            let derivatives = resident.derivatives_at_fetched(backend, moved)?;
            let mut derivatives = derivatives.with_tolerance(tolerance);
            let (nodes, solved) = derivatives.derivative(backend, wall, heights)?;
            Ok((derivatives.fetch(backend, &nodes)?, solved))
        })
    }

    /// [`Derivatives::adjoint`](crate::movement::Derivatives::adjoint) on this machine, with the arguments of
    /// [`Self::derivative`].
    pub fn adjoint(
        &self,
        (reference, moved, tolerance): (&Reference, &Moved, f64),
        x: &[f64],
        y: &[f64],
    ) -> Result<Adjoint, MovementError> {
        let nodes = moved.grid();
        let given = [&nodes.x, &nodes.y, x, y, &[tolerance]];
        on_reference!(self, reference, given, |resident, backend| {
            let derivatives = resident.derivatives_at_fetched(backend, moved)?;
            let nodes = derivatives.by_nodes(backend, x, y)?;
            derivatives.with_tolerance(tolerance).adjoint(backend, nodes)
        })
    }

    /// [`smooth`](fn@smooth) on this machine, one that works alone.
    ///
    /// # Errors
    /// The errors of that function, and several devices.
    pub fn smooth(
        &self,
        grid: &Grid,
        settings: &SmoothSettings,
        options: &SolverOptions,
    ) -> Result<Smoothed, SmoothError> {
        match self {
            Self::Cpu => smooth(&CpuBackend, grid, settings, options),
            Self::Cuda(backend) => smooth(&**backend, grid, settings, options),
            Self::Ranks(_) => Err(SolverError::from(DeviceError::OtherWalls).into()),
        }
    }
}

/// The bands of several devices.
fn bands(machine: &Machine, reference: &Reference) -> Result<Bands, MovementError> {
    let size = reference.size();
    let bands = Bands::new(size.mi, machine.devices(), size.periodic);
    Ok(bands.map_err(DeviceError::from)?)
}

/// Refuses a reference or numbers that differ between the ranks of a job.
fn agree(machine: &Machine, reference: &Reference, given: &[&[f64]]) -> Result<(), MovementError> {
    if let Some(job) = machine.job() {
        let grid = reference.grid();
        let of = |lists: &[&[f64]]| {
            let digests: Vec<u64> =
                lists.iter().map(|list| digest::of(bytemuck::cast_slice(list))).collect();
            format!("{:016x}", digest::of(bytemuck::cast_slice(&digests)))
        };
        let compared = job.compare(&[
            ("version", env!("CARGO_PKG_VERSION").to_owned()),
            ("a reference of", format!("{} × {} points", grid.ni, grid.nj)),
            ("a reference of digest", of(&[&grid.x, &grid.y])),
            ("points, derivatives or a tolerance of digest", of(given)),
        ]);
        compared.map_err(DeviceError::from)?;
    }
    Ok(())
}

/// The reference of movements in a file: one that a case has written, or that of any mesh, or of linked blocks around a
/// body, whose solves are by `options`.
///
/// # Errors
/// The file cannot be read, or its mesh is no good grid around a body.
pub fn open_reference(path: &Path, options: &SolverOptions) -> Result<Reference, Error> {
    if Reference::is_stored(path) {
        return Ok(Reference::read(path)?);
    }
    let contents = formats::contents(path)?;
    if let Some(blocks) = contents.linked() {
        return Ok(Reference::of_blocks(&CpuBackend, &blocks.iter().collect::<Vec<_>>(), options)?);
    }
    Ok(Reference::of_mesh(&CpuBackend, &contents.mesh(path)?, options)?)
}
