//! Movements and derivatives on a machine: of several ranks each does the same on its band.

use parking_lot::Mutex;

use super::Machine;
use super::machine::Ranks;
use crate::backend::cpu::CpuBackend;
use crate::backend::{Bands, DeviceError, MovementBackend};
use crate::digest;
use crate::grid::Grid;
use crate::movement::{Adjoint, Moved, MovementError, Reference, Resident, Solved};
use crate::solver::SolverError;

/// Work on a reference, done on each backend.
trait Work: Sync {
    type Found: Send;

    fn on<B: MovementBackend>(
        &self,
        resident: &Resident<&Reference, B>,
        backend: &B,
    ) -> Result<Self::Found, MovementError>;

    /// The numbers that it is done with.
    fn given(&self) -> Vec<&[f64]>;
}

/// The wall points to move to.
struct Movement<'a>(&'a [[f64; 2]]);

impl Work for Movement<'_> {
    type Found = Moved;

    fn on<B: MovementBackend>(
        &self,
        resident: &Resident<&Reference, B>,
        backend: &B,
    ) -> Result<Moved, MovementError> {
        resident.move_to(backend, self.0)?.fetch(backend)
    }

    fn given(&self) -> Vec<&[f64]> {
        vec![self.0.as_flattened()]
    }
}

/// The grid whose derivatives are asked for, and the relative residual of their solves.
#[derive(Clone, Copy)]
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
    type Found = (Grid, Solved);

    fn on<B: MovementBackend>(
        &self,
        resident: &Resident<&Reference, B>,
        backend: &B,
    ) -> Result<(Grid, Solved), MovementError> {
        let derivatives = resident.derivatives_at_fetched(backend, self.0.moved)?;
        let mut derivatives = derivatives.with_tolerance(self.0.tolerance);
        let (nodes, solved) = derivatives.derivative(backend, self.1, self.2)?;
        Ok((derivatives.fetch(backend, &nodes)?, solved))
    }

    fn given(&self) -> Vec<&[f64]> {
        let grid = self.0.moved.grid();
        vec![&grid.x, &grid.y, self.1.as_flattened(), self.2]
    }
}

/// Derivatives by the nodes.
struct Gradient<'a>(DerivativesAt<'a>, [&'a [f64]; 2]);

impl Work for Gradient<'_> {
    type Found = Adjoint;

    fn on<B: MovementBackend>(
        &self,
        resident: &Resident<&Reference, B>,
        backend: &B,
    ) -> Result<Adjoint, MovementError> {
        let derivatives = resident.derivatives_at_fetched(backend, self.0.moved)?;
        let nodes = derivatives.by_nodes(backend, self.1[0], self.1[1])?;
        derivatives.with_tolerance(self.0.tolerance).adjoint(backend, nodes)
    }

    fn given(&self) -> Vec<&[f64]> {
        let grid = self.0.moved.grid();
        vec![&grid.x, &grid.y, self.1[0], self.1[1]]
    }
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
        self.each(reference, &Movement(wall))
    }

    /// [`Derivatives::derivative`](crate::movement::Derivatives::derivative) on this machine.
    ///
    /// # Errors
    /// The errors of that method.
    pub fn derivative(
        &self,
        at: DerivativesAt<'_>,
        wall: &[[f64; 2]],
        heights: &[f64],
    ) -> Result<(Grid, Solved), MovementError> {
        self.each(at.reference, &Tangent(at, wall, heights))
    }

    /// [`Derivatives::adjoint`](crate::movement::Derivatives::adjoint) on this machine.
    ///
    /// # Errors
    /// The errors of that method.
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
            Self::Cpu => work.on(&Resident::new(reference, &CpuBackend)?, &CpuBackend),
            Self::Cuda(backend) => work.on(&Resident::new(reference, &**backend)?, &**backend),
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
        let resident = Resident::new(reference, backend);
        let found = resident.and_then(|resident| work.on(&resident, backend));
        // All ranks find the same fault in their input; a device fails on its own.
        let failed = match &found {
            Err(MovementError::Solver(error)) => Some(error.clone()),
            _ => None,
        };
        if rank == first {
            *kept.lock() = Some(found);
        }
        failed.map_or(Ok(()), Err)
    })?;
    kept.into_inner().unwrap_or_else(|| Err(device(DeviceError::OtherRank)))
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
