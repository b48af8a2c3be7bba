//! Multigrid on the CPU: zebra line smoothing in panels.

mod factor;
mod galerkin;
mod level;
mod lines;
mod panel;
mod sweep;
mod transfer;
mod wall;

use self::factor::Guard;
use self::galerkin::Galerkin;
pub use self::level::Level;
use self::lines::FromMatrix;
use self::panel::{Storage, wall_set};
use self::wall::LevelWall;
use super::{CpuBackend, EllMatrix};
use crate::backend::error::check_length;
use crate::backend::multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
use crate::backend::{Real, Result};
use crate::sparse::{EllPattern, WalledSides};

impl MultigridBackend for CpuBackend {
    type Level<M: Real> = Level<M>;

    fn level_size<M: Real>(&self, level: &Level<M>) -> LevelSize {
        level.size
    }

    fn finest_level<T: Real, M: Real>(
        &self,
        kept: Option<Level<M>>,
        (size, coarsening): (LevelSize, Coarsening),
        transposed: bool,
        a: &EllMatrix<T>,
        columns: Option<&EllMatrix<T>>,
    ) -> Result<Level<M>> {
        size.check(kept.as_ref().map(|kept| kept.size))?;
        size.check_matrices(a.pattern, columns.map(|columns| columns.pattern))?;
        let storage = match a.pattern {
            EllPattern::TenNumbers(_) => Storage::TenNumbers { along_xi: false },
            _ => Storage::Full,
        };
        let walls = match columns.map(|columns| columns.pattern) {
            Some(EllPattern::WallColumns(_, walls)) => walls,
            _ => WalledSides::default(),
        };
        let new = || Level::new(size, coarsening, storage, (walls, transposed));
        let mut level = kept.unwrap_or_else(new);
        let mut guards = [Guard::Nothing; 4];
        if let Some(columns) = columns {
            for (k, wall) in level.walls.iter_mut().enumerate() {
                wall.load(columns, k, size);
                // Columns of the finest level always stay.
                guards[wall.side] = Guard::All;
            }
        }
        level.finite = level.fill(&FromMatrix { a, size, storage }, guards);
        Ok(level)
    }

    fn coarse_level<M: Real>(
        &self,
        kept: Option<Level<M>>,
        fine: &Level<M>,
        coarsening: Coarsening,
    ) -> Result<Level<M>> {
        let size = fine.size.coarser(coarsening);
        size.check(kept.as_ref().map(|kept| kept.size))?;
        let equations = (fine.walled, fine.transposed());
        let new = || Level::new(size, coarsening, Storage::Full, equations);
        let mut coarse = kept.unwrap_or_else(new);
        let blocks = Galerkin::new(&fine.eta, size.mi, size.mj != fine.size.mj);
        let mut guards = [Guard::Nothing; 4];
        for (wall, above) in coarse.walls.iter_mut().zip(&fine.walls) {
            let (of_j, [after, before]) =
                (wall.side < 2, [[7, 1], [1, 7], [5, 3], [3, 5]][wall.side]);
            let points = if of_j { size.mj } else { size.mi };
            // Points are given by their distance from the side.
            let traces = |away: usize, neighbour: usize| {
                let at = wall.line(points).abs_diff(away);
                if of_j {
                    blocks.traces(at, neighbour)
                } else {
                    blocks.traces_along(at, size.mj, neighbour)
                }
            };
            // The couplings of the second point of a line from the side with those after and before.
            let [north, south] = if !fine.transposed() {
                [after, before].map(|neighbour| traces(1, neighbour))
            } else if points < 3 {
                [M::zero(), M::one()].map(|trace| vec![trace; size.mi.max(size.mj)])
            } else {
                [traces(2, before), traces(0, after)]
            };
            guards[wall.side] = wall.coarsen(above, [size, fine.size], |i| [north[i], south[i]]);
        }
        let finite = coarse.fill(&blocks, guards);
        coarse.finite = fine.finite && finite;
        Ok(coarse)
    }

    fn factor_coarsest<M: Real>(&self, level: &mut Level<M>) -> Result<()> {
        level.factor();
        Ok(())
    }

    fn solve_coarsest<M: Real>(&self, level: &mut Level<M>) -> Result<bool> {
        Ok(level.solve())
    }

    fn pivots_are_finite<M: Real>(&self, level: &Level<M>) -> Result<bool> {
        Ok(level.finite)
    }

    fn load_right<T: Real, M: Real>(&self, r: &Vec<T>, level: &mut Level<M>) -> Result<()> {
        check_length(r.len(), level.size.values())?;
        let mi = level.size.mi;
        transfer::load(r, [1, mi], &mut level.eta);
        if let Some(xi) = &mut level.xi {
            transfer::load(r, [mi, 1], xi);
        }
        level.clear_solution();
        Ok(())
    }

    fn smooth<M: Real>(&self, level: &mut Level<M>, order: Order) -> Result<()> {
        let first = usize::from(order == Order::Reverse);
        if level.transposed() {
            level.smooth_transposed(first);
            level.solved = None;
            return Ok(());
        }
        if let (Some(xi), true) = (&level.xi, level.solution_in_xi) {
            transfer::transpose(xi, &xi.u, &mut level.eta.u);
        }
        let Level { eta, xi, walls, solved, .. } = level;
        eta.relax(first, &wall_set(walls.iter().filter_map(|wall| wall.held_by(false))));
        let solved_by_eta = walls.iter_mut().filter(|wall| wall.side < 2);
        solved_by_eta.for_each(|wall| wall.take_solved(eta));
        let last = 1 - first;
        *solved = Some(last);
        if let Some(xi) = xi {
            transfer::transpose(eta, &eta.u, &mut xi.u);
            xi.relax(first, &wall_set(walls.iter().filter_map(|wall| wall.held_by(true))));
            let solved_by_xi = walls.iter_mut().filter(|wall| wall.side >= 2);
            solved_by_xi.for_each(|wall| wall.take_solved(xi));
            level.solution_in_xi = true;
            // The lines along a wall are not relaxed.
            let held = |line: usize| xi.shape.holds(line) && line % 2 == last;
            if held(0) || held(xi.shape.across - 1) {
                *solved = None;
            }
        }
        Ok(())
    }

    fn restrict_residual<M: Real>(&self, fine: &mut Level<M>, coarse: &mut Level<M>) -> Result<()> {
        fine.size.check_below(coarse.size)?;
        let transposed = fine.transposed();
        let lines = fine.xi.as_ref().unwrap_or(&fine.eta);
        let walls = fine.walls.iter().filter(|_| !transposed);
        let walls = wall_set(walls.filter_map(LevelWall::walls));
        for (colour, residual) in fine.residual.iter_mut().enumerate() {
            if fine.solved != Some(colour) {
                lines.residual(colour, &walls, residual);
            }
        }
        for wall in fine.walls.iter_mut().filter(|_| transposed) {
            wall.transposed_residual(fine.size, lines, &mut fine.residual);
        }
        let residual = [0, 1].map(|colour| {
            (fine.solved != Some(colour)).then_some(fine.residual[colour].as_slice())
        });
        let (shape, coarsen_along) = (lines.shape, fine.xi.is_some());
        let of_xi = coarse.xi.is_some();
        let to = coarse.xi.as_mut().unwrap_or(&mut coarse.eta);
        transfer::restrict(residual, shape, coarsen_along, to);
        for wall in fine.walls.iter().filter(|_| transposed) {
            wall.restrict_transposed(&fine.residual, [coarse.size, fine.size], (to, of_xi));
        }
        if let Some(xi) = &coarse.xi {
            transfer::transpose(xi, &xi.f, &mut coarse.eta.f);
        }
        coarse.clear_solution();
        Ok(())
    }

    fn prolong<M: Real>(
        &self,
        coarse: &Level<M>,
        fine: &mut Level<M>,
        _: Option<Order>,
    ) -> Result<()> {
        fine.size.check_below(coarse.size)?;
        let coarsen_along = fine.xi.is_some();
        let to = fine.xi.as_mut().unwrap_or(&mut fine.eta);
        transfer::prolong(coarse.transfer_lines(), coarsen_along, to);
        if !fine.transposed() {
            for (wall, coarse) in fine.walls.iter_mut().zip(&coarse.walls) {
                wall.prolong(coarse, fine.size.wraps() && wall.side < 2);
            }
        }
        fine.solved = None;
        Ok(())
    }

    fn store_solution<T: Real, M: Real>(&self, level: &Level<M>, z: &mut Vec<T>) -> Result<()> {
        check_length(z.len(), level.size.values())?;
        let place = |i: usize, j: usize| if level.solution_in_xi { (j, i) } else { (i, j) };
        let lines = if level.solution_in_xi { level.transfer_lines() } else { &level.eta };
        transfer::store(lines, place, level.size.mi, z);
        if !level.transposed() {
            level.walls.iter().for_each(|wall| wall.store(level.size, z));
        }
        Ok(())
    }
}
