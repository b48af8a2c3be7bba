//! The grid equations of one grid as a nonlinear problem.

use super::GridJacobian;
use crate::backend::{
    Backend, CellGuard, DeviceError, EllipticBackend, EllipticData, LevelSize, Real, Scaling,
    WallTerms,
};
use crate::grid::{Grid, first_heights};
use crate::pde::control::{ControlSettings, Wall, arc_length, control_functions};
use crate::pde::decay;
use crate::solver::NonlinearProblem;
use rayon::prelude::*;

/// What the equations ask of a grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EllipticSettings {
    /// Control functions in the field.
    pub control: ControlSettings,
    /// Control of the first cell.
    pub wall: Wall,
    /// Height of the first cell, in chords.
    pub first_cell: f64,
    /// Decay length of the wall terms in wall spacings.
    pub decay: f64,
}

/// The grid equations with their unknowns: the points off the boundaries (and off a held seam),
/// with the first row's points replaced by the amplitudes (p_i, q_i) of the wall terms where
/// height and angle of the first cell are controlled.
pub struct GridProblem<B: EllipticBackend, T: Real> {
    size: LevelSize,
    state: B::Elliptic,
    jacobian: GridJacobian<B, T>,
}

impl<B: EllipticBackend, T: Real> GridProblem<B, T> {
    /// The problem for an initial grid, and its first guess. `normals` are the wall normals of
    /// all `ni` points of the line j = 0; a coupled wall puts the first row of points at
    /// r_{i,0} + h_i n_i with the heights of [`first_heights`].
    ///
    /// # Errors
    /// If the device has no room.
    pub fn new(
        backend: &B,
        initial: &Grid,
        normals: &[[f64; 2]],
        settings: &EllipticSettings,
    ) -> Result<(Self, B::Vector<f64>), DeviceError> {
        // The data go before the Jacobian is made: it takes their place in memory.
        Loaded::new(backend, &elliptic_data(initial, normals, settings))?.problem(backend)
    }

    /// The problem for fixed data, and its first guess: the frame's nodes, wall terms zero.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn from_data(
        backend: &B,
        data: &EllipticData,
    ) -> Result<(Self, B::Vector<f64>), DeviceError> {
        Loaded::new(backend, data)?.problem(backend)
    }

    /// Number of unknown points.
    #[must_use]
    pub fn size(&self) -> LevelSize {
        self.size
    }

    /// Writes the state u into the nodes of `grid`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn store(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        grid: &mut Grid,
    ) -> Result<(), DeviceError> {
        backend.load_state(&mut self.state, u)?;
        backend.store_grid(&self.state, grid)
    }
}

/// A problem and its first guess.
type Guessed<B, T> = (GridProblem<B, T>, <B as Backend>::Vector<f64>);

/// Data and first guess on the device.
struct Loaded<B: EllipticBackend> {
    size: LevelSize,
    coupled: bool,
    state: B::Elliptic,
    guess: B::Vector<f64>,
}

impl<B: EllipticBackend> Loaded<B> {
    fn new(backend: &B, data: &EllipticData) -> Result<Self, DeviceError> {
        let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
        let host = first_guess(data);
        let mut guess = backend.zeros(host.len())?;
        backend.upload(&host, &mut guess)?;
        let state = backend.elliptic(data)?;
        Ok(Self { size, coupled: data.wall.is_some(), state, guess })
    }

    fn problem<T: Real>(self, backend: &B) -> Result<Guessed<B, T>, DeviceError> {
        let Self { size, coupled, state, guess } = self;
        let jacobian = GridJacobian::new(backend, size, coupled)?;
        Ok((GridProblem { size, state, jacobian }, guess))
    }
}

impl<B: EllipticBackend, T: Real> NonlinearProblem<B> for GridProblem<B, T> {
    type Real = T;
    type Jacobian = GridJacobian<B, T>;

    fn unknowns(&self) -> usize {
        2 * self.size.mi * self.size.mj
    }

    fn residual(
        &mut self,
        backend: &B,
        u: &B::Vector<f64>,
        scaling: Scaling,
        f: &mut B::Vector<f64>,
    ) -> Result<f64, DeviceError> {
        backend.load_state(&mut self.state, u)?;
        backend.residual(&mut self.state, scaling, f)
    }

    fn linearise(&mut self, backend: &B) -> Result<&Self::Jacobian, DeviceError> {
        self.jacobian.assemble(backend, &self.state)?;
        Ok(&self.jacobian)
    }

    fn guard(&mut self, backend: &B) -> Result<CellGuard, DeviceError> {
        backend.cell_guard(&self.state)
    }
}

/// Frame, control functions and wall terms of an initial grid.
fn elliptic_data(
    initial: &Grid,
    normals: &[[f64; 2]],
    settings: &EllipticSettings,
) -> EllipticData {
    let periodic = initial.topology.periodic();
    let (ni, nj) = (initial.ni, initial.nj);
    let columns = initial.topology.columns(ni);
    let heights =
        first_heights(initial.topology, &initial.x[..ni], &initial.y[..ni], settings.first_cell);
    // Unknown columns start at node 0 of a periodic grid and at node 1 of one with held ends.
    let (mi, first) = if periodic { (ni - 1, 0) } else { (ni - 2, 1) };
    let inner = |f: &[f64]| -> Vec<f64> {
        let mut kept = vec![0.0; mi * (nj - 2)];
        let rows = kept.par_chunks_mut(mi).zip(f.par_chunks(columns).skip(1));
        rows.for_each(|(kept, row)| kept.copy_from_slice(&row[first..first + mi]));
        kept
    };
    let control = control_functions(initial, &settings.control);
    let wall = (settings.wall == Wall::Coupled).then(|| {
        let (phi, psi) = decay(initial, &arc_length(initial), &heights, settings.decay);
        WallTerms { phi: inner(&phi), psi: inner(&psi) }
    });
    let (mut x, mut y) = (framed(&initial.x, ni, periodic), framed(&initial.y, ni, periodic));
    if wall.is_some() {
        let stride = mi + 2;
        for i in 0..mi {
            let ([nx, ny], height) = (normals[i + first], heights[i + first]);
            x[stride + i + 1] = x[i + 1] + height * nx;
            y[stride + i + 1] = y[i + 1] + height * ny;
        }
    }
    EllipticData {
        mi,
        mj: nj - 2,
        periodic,
        x,
        y,
        control_p: inner(&control.p),
        control_q: inner(&control.q),
        wall,
    }
}

/// Nodes of a grid as a frame: a periodic one gets one more column at its start.
fn framed(nodes: &[f64], ni: usize, periodic: bool) -> Vec<f64> {
    let more = usize::from(periodic);
    let mut frame = vec![0.0; nodes.len() / ni * (ni + more)];
    frame.par_chunks_mut(ni + more).zip(nodes.par_chunks(ni)).for_each(|(frame, row)| {
        frame[..more].copy_from_slice(&row[ni - 2..ni - 2 + more]);
        frame[more..].copy_from_slice(row);
    });
    frame
}

/// The unknowns of the frame's nodes; wall terms start at zero.
fn first_guess(data: &EllipticData) -> Vec<f64> {
    let (mi, stride) = (data.mi, data.mi + 2);
    let mut u = vec![0.0; 2 * mi * data.mj];
    let fixed = usize::from(data.wall.is_some());
    u.par_chunks_mut(2 * mi).enumerate().skip(fixed).for_each(|(j, row)| {
        for (i, point) in row.chunks_exact_mut(2).enumerate() {
            let k = (j + 1) * stride + i + 1;
            point[0] = data.x[k];
            point[1] = data.y[k];
        }
    });
    u
}
