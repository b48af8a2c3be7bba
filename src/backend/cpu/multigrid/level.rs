//! One level of a hierarchy, and the solution of the coarsest one by elimination.

use super::factor::Guard;
use super::lines::{BlockSource, LineSet};
use super::panel::{PLACES, PanelShape, Storage, WallSet};
use super::transfer;
use super::wall::LevelWall;
use crate::backend::Real;
use crate::backend::cpu::block::{invert, product};
use crate::backend::cpu::vector::clear;
use crate::backend::multigrid::{Coarsening, ColumnBlocks, LevelSize};
use crate::sparse::WalledSides;

/// One level of a hierarchy.
#[derive(Debug)]
pub struct Level<M> {
    pub(super) size: LevelSize,
    pub(super) eta: LineSet<M>,
    /// Lines along xi, one for each j, where the level is smoothed along them.
    pub(super) xi: Option<LineSet<M>>,
    /// Residual by colour, in the layout of the lines that are relaxed last.
    pub(super) residual: [Vec<M>; 2],
    /// Whether the xi-lines hold the present solution and not the eta-lines.
    pub(super) solution_in_xi: bool,
    /// Colour of the lines relaxed last, if nothing has changed the solution since: their
    /// residual is zero.
    pub(super) solved: Option<usize>,
    /// Whether all pivots are finite, here and on the finer levels.
    pub(super) finite: bool,
    pub(super) walled: WalledSides,
    /// The wall terms of these sides.
    pub(super) walls: Vec<LevelWall<M>>,
    /// The factors of a coarsest level that is solved directly.
    factors: Option<Factors<M>>,
}

impl<M: Real> Level<M> {
    /// A level with wall terms on these sides. Those of transposed equations do not take the places of the
    /// sides' points.
    pub(super) fn new(
        size: LevelSize,
        coarsening: Coarsening,
        storage: Storage,
        (walls, transposed): (WalledSides, bool),
    ) -> Self {
        let (LevelSize { mi, mj, .. }, wraps) = (size, size.wraps());
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
        let walls = walls.sides().map(|side| LevelWall::new(side, &eta, xi.as_ref())).collect();
        let factors = None;
        Self { size, eta, xi, residual, solution_in_xi, solved, finite, walled, walls, factors }
    }

    /// Whether its equations are transposed.
    pub(super) fn transposed(&self) -> bool {
        self.eta.shape.transposed
    }

    /// One sweep of transposed equations: the transpose of a sweep of the others, xi-lines before eta-lines.
    pub(super) fn smooth_transposed(&mut self, first: usize) {
        let Self { eta, xi, walls, solution_in_xi, .. } = self;
        let (of_j, of_i) = walls.split_at_mut(self.walled.sides().filter(|side| *side < 2).count());
        if let Some(xi) = xi {
            if !*solution_in_xi {
                transfer::transpose(eta, &eta.u, &mut xi.u);
            }
            relax_transposed(xi, first, of_j);
            transfer::transpose(xi, &xi.u, &mut eta.u);
        }
        relax_transposed(eta, first, of_i);
        if let Some(xi) = xi {
            transfer::transpose(eta, &eta.u, &mut xi.u);
            *solution_in_xi = true;
        }
    }

    /// The lines that hold the right side and the residual for transfers between levels.
    pub(super) fn transfer_lines(&self) -> &LineSet<M> {
        self.xi.as_ref().unwrap_or(&self.eta)
    }

    /// Fills both line sets from the operator of the eta-lines, and from the wall columns, which are there already.
    pub(super) fn fill(&mut self, blocks: &impl BlockSource<M>, guards: [Guard; 4]) -> bool {
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

    /// u ← 0, d ← 0.
    pub(super) fn clear_solution(&mut self) {
        self.eta.u.iter_mut().for_each(|u| clear(u));
        self.walls.iter_mut().for_each(|wall| wall.terms.fill([M::zero(); 2]));
        self.solution_in_xi = false;
        self.solved = None;
    }

    /// Factors the matrix where a direct solution is possible: with all blocks stored, and without walls at the ends of
    /// the xi-lines, whose terms reach all columns.
    pub(super) fn factor(&mut self) {
        if self.eta.storage != Storage::Full || self.walled.has_beside() {
            return;
        }
        let factors = Factors::of(self.size, |place, take| self.each_coupling(place, take));
        self.finite &= factors.are_finite();
        self.factors = Some(factors);
    }

    /// Calls `take(place, block)` for the blocks of the equations of point (i, j). Wall terms have the places of
    /// their points; the equations of terms that are held have no blocks.
    fn each_coupling(&self, (i, j): (usize, usize), take: &mut dyn FnMut((usize, usize), [M; 4])) {
        let LevelSize { mi, mj, .. } = self.size;
        let transposed = self.transposed();
        // The wall on which row j lies.
        let wall = |j: usize| {
            let end = (0..2).find(|&end| self.eta.shape.borders[end] && j == end * (mj - 1))?;
            self.walls.iter().find(|wall| wall.side == end)
        };
        if let Some(wall) = wall(j) {
            let at = self.eta.shape.border(self.eta.storage.inverse(), wall.side);
            if self.eta.block(i, j, at).iter().all(|&value| value == M::zero()) {
                return;
            }
            if transposed {
                for row in 0..mj {
                    let [a, b, c, d] = wall.column(i, row);
                    take((i, row), [a, c, b, d]);
                }
                return;
            }
        }
        if !transposed {
            for wall in self.walls.iter().filter(|wall| wall.side < 2) {
                take((i, wall.line(mj)), wall.column(i, j));
            }
        }
        for (compass, place) in PLACES.into_iter().enumerate() {
            let (east, north) = (i + compass % 3, j + compass / 3);
            let column = match east {
                0 => self.size.wraps().then(|| mi - 1),
                _ if east > mi => self.size.wraps().then_some(0),
                _ => Some(east - 1),
            };
            let (Some(column), 1..) = (column, north) else { continue };
            if north <= mj && (transposed || wall(north - 1).is_none()) {
                take((column, north - 1), self.eta.block(i, j, 4 * place));
            }
        }
    }

    /// u ← A⁻¹ f, and d so, if the matrix is factored; returns whether it is.
    pub(super) fn solve(&mut self) -> bool {
        let Some(factors) = &mut self.factors else { return false };
        let columns = ColumnBlocks::of(self.size);
        let places = || {
            (0..columns.count())
                .flat_map(|k| (0..columns.points()).map(move |l| columns.place(k, l)))
        };
        for (place, x) in places().zip(factors.x.as_chunks_mut::<2>().0) {
            *x = self.eta.shape.pair(&self.eta.f, place);
        }
        factors.solve();
        let terms = !self.eta.shape.transposed;
        self.solution_in_xi = self.xi.is_some();
        let lines = self.xi.as_mut().unwrap_or(&mut self.eta);
        for ((i, j), x) in places().zip(factors.x.as_chunks::<2>().0) {
            let place = if self.solution_in_xi { (j, i) } else { (i, j) };
            let mj = self.size.mj;
            let wall = self.walls.iter_mut().find(|wall| terms && wall.line(mj) == j);
            let mut u = *x;
            if let Some(wall) = wall {
                (wall.terms[i], u) = (u, [M::zero(); 2]);
            }
            lines.shape.set_pair(&mut lines.u, place, u);
        }
        true
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

/// Factors of a level's matrix, which is block tridiagonal by columns of points, or by pairs of columns where the rows
/// close ([`ColumnBlocks`]): blocks L_k, A_k, U_k of row k, by columns of values.
///
/// D_0 = A_0, D_k = A_k − L_k W_{k−1} with W_k = D_k⁻¹ U_k.
#[derive(Debug)]
struct Factors<M> {
    /// Values of a column of a block.
    order: usize,
    /// L_k, D_k⁻¹ and W_k for each k.
    rows: Vec<[Vec<M>; 3]>,
    /// Right side and then the solution by columns, and those of one column.
    x: Vec<M>,
    y: Vec<M>,
}

/// to ← to − A x for A by columns of `to.len()` values.
fn subtract_product<M: Real>(to: &mut [M], a: &[M], x: &[M]) {
    for (column, &x) in a.chunks_exact(to.len()).zip(x) {
        to.iter_mut().zip(column).for_each(|(to, &a)| *to -= a * x);
    }
}

/// (D, U) ← (D⁻¹, D⁻¹ U) by Gauss–Jordan elimination with the 2×2 blocks on the diagonal of D as pivots.
fn eliminate<M: Real>(order: usize, d: &mut [M], u: &mut [M]) {
    let mut panel = vec![M::zero(); 2 * order];
    for k in (0..order).step_by(2) {
        panel.copy_from_slice(&d[k * order..(k + 2) * order]);
        let pivot = [k, order + k, k + 1, order + k + 1].map(|at| [panel[at]]);
        // A held point has a zero pivot, whose inverse is taken as zero.
        let held = pivot.as_flattened().iter().all(|&value| value == M::zero());
        let inverse = invert(&pivot, &(0..usize::from(!held)));
        let reduce = |column: &mut [M], right: [M; 2]| {
            let x = product(&inverse, &right.map(|value| [value]));
            subtract_product(column, &panel, x.as_flattened());
            column[k..k + 2].copy_from_slice(x.as_flattened());
        };
        for (c, column) in d.chunks_exact_mut(order).enumerate() {
            if c / 2 == k / 2 {
                column.fill(M::zero());
                reduce(column, if c == k { [M::one(), M::zero()] } else { [M::zero(), M::one()] });
            } else {
                reduce(column, [column[k], column[k + 1]]);
            }
        }
        u.chunks_exact_mut(order).for_each(|column| reduce(column, [column[k], column[k + 1]]));
    }
}

impl<M: Real> Factors<M> {
    /// Factors of the equations of a level: `couplings(place, take)` calls `take(place, block)` for the blocks of those of
    /// a point.
    fn of(
        size: LevelSize,
        couplings: impl Fn((usize, usize), &mut dyn FnMut((usize, usize), [M; 4])),
    ) -> Self {
        let columns = ColumnBlocks::of(size);
        let order = 2 * columns.points();
        let mut rows: Vec<[Vec<M>; 3]> = Vec::with_capacity(columns.count());
        for k in 0..columns.count() {
            let [mut before, mut own, mut after] = [(); 3].map(|()| vec![M::zero(); order * order]);
            for row in 0..columns.points() {
                couplings(columns.place(k, row), &mut |place, block| {
                    let (of, column) = columns.find(place);
                    let to = match of + 1 - k {
                        0 => &mut before,
                        1 => &mut own,
                        _ => &mut after,
                    };
                    for (entry, value) in block.into_iter().enumerate() {
                        to[(2 * column + entry % 2) * order + 2 * row + entry / 2] += value;
                    }
                });
            }
            if let Some([_, _, above]) = rows.last() {
                for (to, x) in own.chunks_exact_mut(order).zip(above.chunks_exact(order)) {
                    subtract_product(to, &before, x);
                }
            }
            eliminate(order, &mut own, &mut after);
            rows.push([before, own, after]);
        }
        let zeros = |values| vec![M::zero(); values];
        Self { order, rows, x: zeros(size.values()), y: zeros(order) }
    }

    fn are_finite(&self) -> bool {
        self.rows.iter().flatten().flatten().all(|value| value.is_finite())
    }

    /// x ← A⁻¹ x, by columns.
    fn solve(&mut self) {
        let Self { order, ref rows, ref mut x, ref mut y } = *self;
        for (k, [before, inverse, _]) in rows.iter().enumerate() {
            let (done, own) = x.split_at_mut(k * order);
            let own = &mut own[..order];
            if k > 0 {
                subtract_product(own, before, &done[(k - 1) * order..]);
            }
            y.fill(M::zero());
            subtract_product(y, inverse, own);
            own.iter_mut().zip(&*y).for_each(|(own, &y)| *own = -y);
        }
        for (k, [_, _, after]) in rows.iter().enumerate().rev().skip(1) {
            let (own, solved) = x.split_at_mut((k + 1) * order);
            subtract_product(&mut own[k * order..], after, &solved[..order]);
        }
    }
}
