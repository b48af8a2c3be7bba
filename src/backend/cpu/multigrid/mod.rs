//! Multigrid on the CPU: zebra line smoothing in panels.

mod factor;
mod galerkin;
mod lines;
mod sweep;
mod transfer;

use self::galerkin::{Nine, finest_blocks, galerkin};
use self::lines::{LineSet, PointBlocks, Shape, Storage};
use super::{CpuBackend, EllMatrix};
use crate::backend::multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
use crate::backend::{DeviceError, Real};

/// One level of a hierarchy.
#[derive(Debug)]
pub struct Level<M> {
    size: LevelSize,
    /// Lines along eta, one for each i.
    eta: LineSet<M>,
    /// Lines along xi, one for each j, where the level is smoothed along them.
    xi: Option<LineSet<M>>,
    /// Residual by colour, in the layout of the lines that are relaxed last.
    residual: [Vec<M>; 2],
    /// Whether the xi-lines hold the present solution and not the eta-lines.
    solution_in_xi: bool,
    /// Colour of the lines relaxed last, if nothing has changed the solution since: their
    /// residual is zero.
    solved: Option<usize>,
    /// Whether all pivots are finite, here and on the finer levels.
    finite: bool,
}

impl<M: Real> Level<M> {
    fn new(size: LevelSize, coarsening: Coarsening, storage: Storage) -> Self {
        let (LevelSize { mi, mj, .. }, wraps) = (size, size.wraps());
        let along_eta = Shape { along: mj, across: mi, closed: false, ring: wraps };
        let along_xi = Shape { along: mi, across: mj, closed: wraps, ring: false };
        let eta = LineSet::new(along_eta, storage);
        let xi = (coarsening == Coarsening::Full).then(|| LineSet::new(along_xi, storage));
        let residual = xi.as_ref().unwrap_or(&eta).f.clone();
        Self { size, eta, xi, residual, solution_in_xi: false, solved: None, finite: true }
    }

    /// The lines that hold the right side and the residual for transfers between levels.
    fn transfer_lines(&self) -> &LineSet<M> {
        self.xi.as_ref().unwrap_or(&self.eta)
    }

    /// Fills both line sets from compass blocks at (i, j).
    fn fill(&mut self, blocks: impl Fn(usize, usize) -> Nine<M> + Sync) -> bool {
        let eta = &mut self.eta;
        let mut finite = eta.fill(|i, j| blocks(i, j).eta_line());
        if let Some(xi) = &mut self.xi {
            let eta = &self.eta;
            finite &= xi.fill(|j, i| Nine::from_eta_line(&eta.blocks(i, j)).xi_line());
        }
        finite
    }

    /// Compass blocks at (i, j), zero outside the level.
    fn nine(&self, i: usize, j: usize) -> Nine<M> {
        let i = if self.size.wraps() && i == self.size.mi { 0 } else { i };
        if i < self.size.mi && j < self.size.mj {
            Nine::from_eta_line(&self.eta.blocks(i, j))
        } else {
            Nine::default()
        }
    }

    /// Brings a right side that stands in the transfer lines into the eta-lines as well, and
    /// starts from a zero solution.
    fn right_side_is_new(&mut self) {
        if let Some(xi) = &self.xi {
            transfer::transpose(xi, &xi.f, &mut self.eta.f, self.size.mi, self.size.mj);
        }
        self.eta.clear_solution();
        self.solution_in_xi = false;
        self.solved = None;
    }
}

impl MultigridBackend for CpuBackend {
    type Level<M: Real> = Level<M>;

    fn finest_level<M: Real>(
        &self,
        size: LevelSize,
        coarsening: Coarsening,
    ) -> Result<Level<M>, DeviceError> {
        Ok(Level::new(size, coarsening, Storage::Compact))
    }

    fn coarse_level<M: Real>(
        &self,
        fine: &Level<M>,
        coarsening: Coarsening,
    ) -> Result<Level<M>, DeviceError> {
        Ok(Level::new(fine.size.coarser(coarsening), coarsening, Storage::Full))
    }

    fn level_size<M: Real>(&self, level: &Level<M>) -> LevelSize {
        level.size
    }

    fn load_operator<T: Real, M: Real>(
        &self,
        a: &EllMatrix<T>,
        level: &mut Level<M>,
    ) -> Result<(), DeviceError> {
        let size = level.size;
        level.finite = level.fill(|i, j| finest_blocks(a, size, i, j));
        Ok(())
    }

    fn coarsen<M: Real>(&self, fine: &Level<M>, coarse: &mut Level<M>) -> Result<(), DeviceError> {
        let coarsen_eta = coarse.size.mj != fine.size.mj;
        let finite = coarse.fill(|i, j| galerkin(&|i, j| fine.nine(i, j), i, j, coarsen_eta));
        coarse.finite = fine.finite && finite;
        Ok(())
    }

    fn pivots_are_finite<M: Real>(&self, level: &Level<M>) -> Result<bool, DeviceError> {
        Ok(level.finite)
    }

    fn load_right<T: Real, M: Real>(
        &self,
        r: &Vec<T>,
        level: &mut Level<M>,
    ) -> Result<(), DeviceError> {
        let mi = level.size.mi;
        transfer::load_eta(r, mi, &mut level.eta);
        if let Some(xi) = &mut level.xi {
            transfer::load_xi(r, mi, xi);
        }
        level.eta.clear_solution();
        level.solution_in_xi = false;
        level.solved = None;
        Ok(())
    }

    fn smooth<M: Real>(&self, level: &mut Level<M>, order: Order) -> Result<(), DeviceError> {
        let first = match order {
            Order::Forward => 0,
            Order::Reverse => 1,
        };
        let LevelSize { mi, mj, .. } = level.size;
        if let (Some(xi), true) = (&level.xi, level.solution_in_xi) {
            transfer::transpose(xi, &xi.u, &mut level.eta.u, mi, mj);
        }
        level.eta.relax(first);
        if let Some(xi) = &mut level.xi {
            transfer::transpose(&level.eta, &level.eta.u, &mut xi.u, mj, mi);
            xi.relax(first);
            level.solution_in_xi = true;
        }
        level.solved = Some(1 - first);
        Ok(())
    }

    fn restrict_residual<M: Real>(
        &self,
        fine: &mut Level<M>,
        coarse: &mut Level<M>,
    ) -> Result<(), DeviceError> {
        let lines = fine.xi.as_ref().unwrap_or(&fine.eta);
        for (colour, residual) in fine.residual.iter_mut().enumerate() {
            if fine.solved != Some(colour) {
                lines.residual(colour, residual);
            }
        }
        let residual = [0, 1].map(|colour| {
            (fine.solved != Some(colour)).then_some(fine.residual[colour].as_slice())
        });
        let (shape, coarsen_along) = (lines.shape, fine.xi.is_some());
        let to = coarse.xi.as_mut().unwrap_or(&mut coarse.eta);
        transfer::restrict(residual, shape, coarsen_along, to);
        coarse.right_side_is_new();
        Ok(())
    }

    fn prolong<M: Real>(&self, coarse: &Level<M>, fine: &mut Level<M>) -> Result<(), DeviceError> {
        let coarsen_along = fine.xi.is_some();
        let to = fine.xi.as_mut().unwrap_or(&mut fine.eta);
        transfer::prolong(coarse.transfer_lines(), coarsen_along, to);
        fine.solved = None;
        Ok(())
    }

    fn store_solution<T: Real, M: Real>(
        &self,
        level: &Level<M>,
        z: &mut Vec<T>,
    ) -> Result<(), DeviceError> {
        match &level.xi {
            Some(xi) if level.solution_in_xi => transfer::store_xi(xi, level.size.mi, z),
            _ => transfer::store_eta(&level.eta, level.size.mi, z),
        }
        Ok(())
    }
}

impl<M: Real> Nine<M> {
    /// Blocks named for an eta-line: left is W, prev is S.
    fn eta_line(&self) -> PointBlocks<M> {
        let [sw, s, se, w, c, e, nw, n, ne] = self.0;
        PointBlocks {
            left: w,
            right: e,
            left_prev: sw,
            right_prev: se,
            left_next: nw,
            right_next: ne,
            prev: s,
            next: n,
            centre: c,
        }
    }

    /// Blocks named for a xi-line: left is S, prev is W.
    fn xi_line(&self) -> PointBlocks<M> {
        let [sw, s, se, w, c, e, nw, n, ne] = self.0;
        PointBlocks {
            left: s,
            right: n,
            left_prev: sw,
            right_prev: nw,
            left_next: se,
            right_next: ne,
            prev: w,
            next: e,
            centre: c,
        }
    }

    fn from_eta_line(b: &PointBlocks<M>) -> Self {
        Self([
            b.left_prev,
            b.prev,
            b.right_prev,
            b.left,
            b.centre,
            b.right,
            b.left_next,
            b.next,
            b.right_next,
        ])
    }
}
