//! Movements and derivatives on a machine: of several ranks each does the same on its band.

use std::sync::{Mutex, PoisonError};

use super::Machine;
use super::machine::Ranks;
use crate::backend::cpu::CpuBackend;
use crate::backend::{Bands, DeviceError, MovementBackend};
use crate::digest;
use crate::movement::{Adjoint, Forward, Moved, MovementError, Reference};
use crate::solver::SolverError;

/// The work done on each backend.
trait Work: Sync {
    type Found: Send;

    fn on<B: MovementBackend>(&self, backend: &B) -> Result<Self::Found, MovementError>;

    /// The numbers that it is done with.
    fn given(&self) -> Vec<&[f64]>;
}

/// A reference to move, and where.
struct Movement<'a>(&'a Reference, &'a [[f64; 2]]);

impl Work for Movement<'_> {
    type Found = Moved;

    fn on<B: MovementBackend>(&self, backend: &B) -> Result<Moved, MovementError> {
        self.0.move_to(backend, self.1)
    }

    fn given(&self) -> Vec<&[f64]> {
        vec![self.1.as_flattened()]
    }
}

/// The point of evaluation of derivatives: a grid, moved from a reference. Also the relative residual of
/// their solves.
#[derive(Debug, Clone, Copy)]
pub struct DerivativesAt<'a> {
    /// The reference.
    pub reference: &'a Reference,
    /// The grid.
    pub moved: &'a Moved,
    /// The residual.
    pub tolerance: f64,
}

/// Displacements of wall points and heights.
struct Tangent<'a>(DerivativesAt<'a>, &'a [[f64; 2]], &'a [f64]);

impl Work for Tangent<'_> {
    type Found = Forward;

    fn on<B: MovementBackend>(&self, backend: &B) -> Result<Forward, MovementError> {
        let DerivativesAt { reference, moved, tolerance } = self.0;
        let derivatives = reference.derivatives(backend, moved)?;
        derivatives.with_tolerance(tolerance).derivative(backend, self.1, self.2)
    }

    fn given(&self) -> Vec<&[f64]> {
        let grid = &self.0.moved.grid;
        vec![&grid.x, &grid.y, self.1.as_flattened(), self.2]
    }
}

/// Derivatives by the nodes.
struct Gradient<'a>(DerivativesAt<'a>, [&'a [f64]; 2]);

impl Work for Gradient<'_> {
    type Found = Adjoint;

    fn on<B: MovementBackend>(&self, backend: &B) -> Result<Adjoint, MovementError> {
        let DerivativesAt { reference, moved, tolerance } = self.0;
        let derivatives = reference.derivatives(backend, moved)?;
        derivatives.with_tolerance(tolerance).adjoint(backend, self.1[0], self.1[1])
    }

    fn given(&self) -> Vec<&[f64]> {
        let grid = &self.0.moved.grid;
        vec![&grid.x, &grid.y, self.1[0], self.1[1]]
    }
}

impl Machine {
    /// [`Reference::move_to`] on this machine. The processes of a job all call, and all have the grid.
    ///
    /// # Errors
    /// As there, and where a process was given something else than the first.
    pub fn move_to(
        &self,
        reference: &Reference,
        wall: &[[f64; 2]],
    ) -> Result<Moved, MovementError> {
        self.each(reference, &Movement(reference, wall))
    }

    /// [`Derivatives::derivative`](crate::movement::Derivatives::derivative) so.
    ///
    /// # Errors
    /// As there.
    pub fn derivative(
        &self,
        at: DerivativesAt<'_>,
        wall: &[[f64; 2]],
        heights: &[f64],
    ) -> Result<Forward, MovementError> {
        self.each(at.reference, &Tangent(at, wall, heights))
    }

    /// [`Derivatives::adjoint`](crate::movement::Derivatives::adjoint) so.
    ///
    /// # Errors
    /// As there.
    pub fn adjoint(
        &self,
        at: DerivativesAt<'_>,
        x: &[f64],
        y: &[f64],
    ) -> Result<Adjoint, MovementError> {
        self.each(at.reference, &Gradient(at, [x, y]))
    }

    fn each<W: Work>(&self, reference: &Reference, work: &W) -> Result<W::Found, MovementError> {
        match self {
            Self::Cpu => work.on(&CpuBackend),
            Self::Cuda(backend) => work.on(&**backend),
            Self::Ranks(ranks) => on_ranks(&**ranks, reference, work),
        }
    }
}

fn on_ranks<W: Work>(
    ranks: &dyn Ranks,
    reference: &Reference,
    work: &W,
) -> Result<W::Found, MovementError> {
    let device = |error: DeviceError| MovementError::from(SolverError::from(error));
    let size = reference.size();
    let bands = Bands::new(size.mi, ranks.count(), size.periodic);
    let bands = bands.map_err(|narrow| device(narrow.into()))?;
    if let Some(job) = ranks.job() {
        let compared = job.compare(&comparison(reference, work));
        compared.map_err(|error| device(error.into()))?;
    }
    let first = ranks.job().map_or(0, |job| job.rank());
    let kept = Mutex::new(None);
    ranks.run(&bands, &|rank, backend| {
        let found = work.on(backend);
        // A wrong input is found by all ranks; a device fails on one.
        let failed = match &found {
            Err(MovementError::Solver(error)) => Some(error.clone()),
            _ => None,
        };
        if rank == first {
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
        failed.map_or(Ok(()), Err)
    })?;
    let kept = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    kept.unwrap_or_else(|| Err(device(DeviceError::OtherRank)))
}

/// Values that must agree between the ranks of a job.
fn comparison<W: Work>(reference: &Reference, work: &W) -> [(&'static str, String); 4] {
    let grid = reference.grid();
    let of = |lists: &[&[f64]]| {
        let digests: Vec<u64> =
            lists.iter().map(|list| digest::of(bytemuck::cast_slice(list))).collect();
        format!("{:016x}", digest::of(bytemuck::cast_slice(&digests)))
    };
    [
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("a reference of", format!("{} × {} points", grid.ni, grid.nj)),
        ("a reference of digest", of(&[&grid.x, &grid.y])),
        ("points or derivatives of digest", of(&work.given())),
    ]
}
