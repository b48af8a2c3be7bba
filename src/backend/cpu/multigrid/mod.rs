//! Multigrid on the CPU: zebra line smoothing in panels.

mod factor;
mod galerkin;
mod lines;
mod operator;
mod panel;
mod sweep;
mod terms;
mod transfer;
mod wall;

use self::factor::Guard;
use self::galerkin::Galerkin;
use self::lines::LineSet;
use self::operator::{BlockSource, FromMatrix, FromTenNumbers};
use self::panel::{PanelShape, Storage};
use self::terms::{WallSet, wall_set};
use self::wall::LevelWall;
use super::{CpuBackend, EllMatrix};
use crate::backend::error::check_length;
use crate::backend::multigrid::{Coarsening, LevelSize, MultigridBackend, Order};
use crate::backend::{Real, Result};
use crate::sparse::{Structure, WalledSides};

/// The equations of a level.
#[derive(Debug, Clone, Copy)]
struct Equations {
    /// Sides with wall terms.
    walls: WalledSides,
    /// Whether they are transposed: the terms do not take the places of the sides' points then.
    transposed: bool,
}

/// One level of a hierarchy.
#[derive(Debug)]
pub struct Level<M> {
    size: LevelSize,
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
    walled: WalledSides,
    /// The wall terms of these sides.
    walls: Vec<LevelWall<M>>,
}

impl<M: Real> Level<M> {
    fn new(size: LevelSize, coarsening: Coarsening, storage: Storage, of: Equations) -> Self {
        let (LevelSize { mi, mj, .. }, wraps) = (size, size.wraps());
        let Equations { walls, transposed } = of;
        let WalledSides([below, above, before, behind]) = walls;
        let (of_j, of_i) = ([below, above], [before, behind]);
        let along_eta = PanelShape {
            along: mj,
            across: mi,
            closed: false,
            ring: wraps,
            borders: of_j,
            held: of_i,
            transposed,
        };
        let along_xi = PanelShape {
            along: mi,
            across: mj,
            closed: wraps,
            ring: false,
            borders: of_i,
            held: of_j,
            transposed,
        };
        let eta = LineSet::new(along_eta, storage);
        let xi = (coarsening == Coarsening::Full).then(|| LineSet::new(along_xi, storage.turned()));
        let residual = xi.as_ref().unwrap_or(&eta).f.clone();
        let (solution_in_xi, solved, finite, walled) = (false, None, true, walls);
        let sides = walls.sides().enumerate();
        let walls =
            sides.map(|(k, side)| LevelWall::new((side, 2 * k), &eta, xi.as_ref())).collect();
        Self { size, eta, xi, residual, solution_in_xi, solved, finite, walled, walls }
    }

    fn equations(&self) -> Equations {
        Equations { walls: self.walled, transposed: self.eta.shape.transposed }
    }

    /// One sweep of transposed equations: the transpose of a sweep of the others, xi-lines before eta-lines.
    fn smooth_transposed(&mut self, first: usize) {
        let LevelSize { mi, mj, .. } = self.size;
        let Self { eta, xi, walls, solution_in_xi, .. } = self;
        let (of_j, of_i) = walls.split_at_mut(self.walled.sides().filter(|side| *side < 2).count());
        if let Some(xi) = xi {
            if !*solution_in_xi {
                transfer::transpose(eta, &eta.u, &mut xi.u, mi);
            }
            relax_transposed(xi, first, of_j);
            transfer::transpose(xi, &xi.u, &mut eta.u, mj);
        }
        relax_transposed(eta, first, of_i);
        if let Some(xi) = xi {
            transfer::transpose(eta, &eta.u, &mut xi.u, mi);
            *solution_in_xi = true;
        }
    }

    /// The lines that hold the right side and the residual for transfers between levels.
    fn transfer_lines(&self) -> &LineSet<M> {
        self.xi.as_ref().unwrap_or(&self.eta)
    }

    /// Fills both line sets from the operator of the eta-lines, and from the wall columns, which are there already.
    fn fill(&mut self, blocks: &impl BlockSource<M>, guards: [Guard; 4]) -> bool {
        let Self { eta, xi, walls, .. } = self;
        let column = |side: usize, i, j| {
            let wall = walls.iter().find(|wall| wall.side == side);
            wall.map_or([M::zero(); 4], |wall| wall.column(i, j))
        };
        let [below, above, before, behind] = guards;
        let mut finite = eta.fill(blocks, column, [below, above]);
        if let Some(xi) = xi {
            let column = |end, j, i| column(2 + end, i, j);
            finite &= xi.fill_across(eta, column, [before, behind]);
        }
        finite
    }

    /// Copies a new right side from the transfer lines into the eta-lines, and starts from a zero solution.
    fn right_side_is_new(&mut self) {
        if let Some(xi) = &self.xi {
            transfer::transpose(xi, &xi.f, &mut self.eta.f, self.size.mj);
        }
        self.clear_solution();
    }

    /// u ← 0, d ← 0.
    fn clear_solution(&mut self) {
        self.eta.clear_solution();
        self.walls.iter_mut().for_each(LevelWall::clear);
        self.solution_in_xi = false;
        self.solved = None;
    }
}

/// One zebra sweep of transposed equations along lines of one direction. Those along these walls keep their solution.
fn relax_transposed<M: Real>(lines: &mut LineSet<M>, first: usize, walls: &mut [LevelWall<M>]) {
    let across = lines.shape.across;
    for wall in &mut *walls {
        wall.take_line(lines);
    }
    for colour in [first, 1 - first] {
        lines.relax_colour(colour, &WallSet::default());
        let relaxed = walls.iter().filter(|wall| wall.line(across) % 2 == colour);
        relaxed.for_each(|wall| wall.put_line(lines));
    }
}

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
        size.check_matrices(&a.pattern, columns.map(|columns| &*columns.pattern))?;
        let storage = match a.pattern.structure() {
            Structure::TenNumbers { .. } => Storage::TenNumbers { along_xi: false },
            _ => Storage::Full,
        };
        let walls = match columns.map(|columns| columns.pattern.structure()) {
            Some(Structure::WallColumns { walls, .. }) => walls,
            _ => WalledSides::default(),
        };
        let equations = Equations { walls, transposed };
        let mut level = kept.unwrap_or_else(|| Level::new(size, coarsening, storage, equations));
        let mut guards = [Guard::Nothing; 4];
        if let Some(columns) = columns {
            for wall in &mut level.walls {
                guards[wall.side] = wall.load(columns, size);
            }
        }
        level.finite = match storage {
            Storage::TenNumbers { .. } => level.fill(&FromTenNumbers { a, mi: size.mi }, guards),
            Storage::Full => level.fill(&FromMatrix { a, size }, guards),
        };
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
        let new = || Level::new(size, coarsening, Storage::Full, fine.equations());
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
            let [north, south] = if !fine.equations().transposed {
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
        let first = match order {
            Order::Forward => 0,
            Order::Reverse => 1,
        };
        if level.equations().transposed {
            level.smooth_transposed(first);
            level.solved = None;
            return Ok(());
        }
        let LevelSize { mi, mj, .. } = level.size;
        if let (Some(xi), true) = (&level.xi, level.solution_in_xi) {
            transfer::transpose(xi, &xi.u, &mut level.eta.u, mj);
        }
        let Level { eta, xi, walls, solved, .. } = level;
        eta.relax(first, &wall_set(walls.iter().filter_map(|wall| wall.held_by(false))));
        let solved_by_eta = walls.iter_mut().filter(|wall| wall.side < 2);
        solved_by_eta.for_each(|wall| wall.take_solved(eta));
        let last = 1 - first;
        *solved = Some(last);
        if let Some(xi) = xi {
            transfer::transpose(eta, &eta.u, &mut xi.u, mi);
            xi.relax(first, &wall_set(walls.iter().filter_map(|wall| wall.held_by(true))));
            let solved_by_xi = walls.iter_mut().filter(|wall| wall.side >= 2);
            solved_by_xi.for_each(|wall| wall.take_solved(xi));
            level.solution_in_xi = true;
            // The lines along a wall are not relaxed.
            if [0, mj - 1].into_iter().any(|line| xi.shape.holds(line) && line % 2 == last) {
                *solved = None;
            }
        }
        Ok(())
    }

    fn restrict_residual<M: Real>(&self, fine: &mut Level<M>, coarse: &mut Level<M>) -> Result<()> {
        fine.size.check_below(coarse.size)?;
        let transposed = fine.equations().transposed;
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
        coarse.right_side_is_new();
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
        if !fine.equations().transposed {
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
        if !level.eta.shape.transposed {
            level.walls.iter().for_each(|wall| wall.store(level.size, z));
        }
        Ok(())
    }
}
