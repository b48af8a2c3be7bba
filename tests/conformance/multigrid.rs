//! Multigrid.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{
    Coarsening, EllipticBackend, LevelSize, MultigridBackend, Order, Real, SparseBackend,
};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::pde::EllipticData;
use gridgen::solver::krylov::Method;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;
use gridgen::sparse::{EllPattern, WalledSides};

use super::{Subject, to_device, to_host};
use support::blocks::{Block, bend};
use support::grids::distance;
use support::problems::{NEWTON, loaded, newton};
use support::stencil::{
    stencil, stencil_of_lines, stencil_that_drops_walls, ten_numbers, wall_columns,
};

/// Values of the transpose, which has the same pattern.
fn transposed<T: Real>(pattern: EllPattern, values: &[T]) -> Vec<T> {
    let a = CpuBackend.matrix_from(pattern, values);
    let mut to = CpuBackend.matrix(pattern).unwrap();
    CpuBackend.transpose(&a, &mut to).unwrap();
    to.values().to_vec()
}

/// The sides whose walls have terms, and true if the coarser levels drop these.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Walls(WalledSides, bool);

impl Walls {
    const NONE: Self = Self(WalledSides([false; 4]), false);
    const ALL: Self = Self(WalledSides::SECTION, false);
    const DROPPED_BELOW: Self = Self(WalledSides::SECTION, true);
    const BOTH: Self = Self(WalledSides([true, true, false, false]), false);
    const BOTH_DROPPED_BELOW: Self = Self(Self::BOTH.0, true);
    // With a wall at the first column of points, at the last one, or on all sides, rows do not close.
    const BEFORE: Self = Self(WalledSides([true, false, true, false]), false);
    const BEHIND: Self = Self(WalledSides([true, false, false, true]), false);
    const FOUR: Self = Self(WalledSides([true; 4]), false);
    const FOUR_DROPPED_BELOW: Self = Self(Self::FOUR.0, true);
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Equations {
    Plain,
    Transposed,
    /// Plain ones, by ten numbers a point.
    Short,
}
use Equations::{Plain, Short, Transposed};

type Levels = (Coarsening, Walls, Equations);

const KINDS: [Levels; 32] = [
    (Coarsening::Full, Walls::NONE, Plain),
    (Coarsening::Full, Walls::ALL, Plain),
    (Coarsening::Full, Walls::DROPPED_BELOW, Plain),
    (Coarsening::Xi, Walls::NONE, Plain),
    (Coarsening::Xi, Walls::ALL, Plain),
    (Coarsening::Full, Walls::BOTH, Plain),
    (Coarsening::Full, Walls::BOTH_DROPPED_BELOW, Plain),
    (Coarsening::Xi, Walls::BOTH, Plain),
    (Coarsening::Full, Walls::NONE, Transposed),
    (Coarsening::Full, Walls::ALL, Transposed),
    (Coarsening::Full, Walls::DROPPED_BELOW, Transposed),
    (Coarsening::Xi, Walls::NONE, Transposed),
    (Coarsening::Xi, Walls::ALL, Transposed),
    (Coarsening::Full, Walls::BOTH, Transposed),
    (Coarsening::Full, Walls::BOTH_DROPPED_BELOW, Transposed),
    (Coarsening::Xi, Walls::BOTH, Transposed),
    (Coarsening::Full, Walls::NONE, Short),
    (Coarsening::Full, Walls::ALL, Short),
    (Coarsening::Full, Walls::DROPPED_BELOW, Short),
    (Coarsening::Xi, Walls::ALL, Short),
    (Coarsening::Full, Walls::BOTH, Short),
    (Coarsening::Full, Walls::BOTH_DROPPED_BELOW, Short),
    (Coarsening::Xi, Walls::BOTH, Short),
    (Coarsening::Full, Walls::BEFORE, Plain),
    (Coarsening::Full, Walls::BEHIND, Plain),
    (Coarsening::Full, Walls::FOUR, Plain),
    (Coarsening::Full, Walls::FOUR_DROPPED_BELOW, Plain),
    (Coarsening::Xi, Walls::FOUR, Plain),
    (Coarsening::Full, Walls::BEFORE, Transposed),
    (Coarsening::Full, Walls::BEHIND, Transposed),
    (Coarsening::Full, Walls::FOUR, Transposed),
    (Coarsening::Full, Walls::FOUR_DROPPED_BELOW, Transposed),
];
const FULL: [Levels; 10] = [
    KINDS[0], KINDS[1], KINDS[5], KINDS[9], KINDS[13], KINDS[16], KINDS[17], KINDS[20], KINDS[25],
    KINDS[30],
];

/// Kinds of levels that are tried with shared memory of any size.
const SEGMENTED: [Levels; 3] = [KINDS[1], KINDS[13], KINDS[17]];

/// True if these walls can stand around points of this size: not beside rows that close.
fn fits((_, walls, _): Levels, size: LevelSize) -> bool {
    !size.periodic || !walls.0.has_beside()
}

/// A hierarchy, and the solutions after its operations, by name.
struct Seen<'a, S: Subject, M: Real> {
    subject: &'a S,
    levels: Vec<S::Level<M>>,
    unknowns: Vec<usize>,
    solutions: Vec<(&'static str, Vec<f64>)>,
}

impl<'a, S: Subject, M: Real> Seen<'a, S, M> {
    /// Up to three levels for the matrix of [`stencil`] or [`stencil_that_drops_walls`], with the wall terms
    /// of [`wall_columns`] if there are any.
    fn new<T: Real>(subject: &'a S, finest: LevelSize, kind: Levels) -> Self {
        let mut sizes = vec![finest];
        let (coarsening, walls, equations) = kind;
        let Walls(sides, thin) = walls;
        let (pattern, mut values) = match equations {
            Short => ten_numbers::<T>(finest, if thin { 0.06 } else { 0.0 }),
            _ if thin => stencil_that_drops_walls::<T>(finest),
            _ => stencil::<T>(finest),
        };
        if equations == Transposed {
            values = transposed(pattern, &values);
        }
        let a = subject.matrix_from(pattern, &values);
        let (pattern, values) = wall_columns::<T>(finest, sides);
        let columns = (walls != Walls::NONE).then(|| subject.matrix_from(pattern, &values));
        // The previous contents of a level must not matter.
        let (kind, transposed) = ((finest, coarsening), equations == Transposed);
        let load =
            |kept| subject.finest_level(kept, kind, transposed, &a, columns.as_ref()).unwrap();
        let mut levels: Vec<S::Level<M>> = vec![load(Some(load(None)))];
        for _ in 0..2 {
            let size = sizes[sizes.len() - 1];
            if size.mi < 4 || size.mj < 4 {
                break;
            }
            let fine = &levels[levels.len() - 1];
            let level = subject.coarse_level(None, fine, coarsening).unwrap();
            sizes.push(size.coarser(coarsening));
            levels.push(level);
        }
        subject.factor(&levels).unwrap();
        assert!(subject.pivots_are_finite(&levels[levels.len() - 1]).unwrap());
        let unknowns = sizes.iter().map(|size| 2 * size.mi * size.mj).collect();
        Self { subject, levels, unknowns, solutions: Vec::new() }
    }

    fn see(&mut self, name: &'static str, level: usize) {
        let n = self.unknowns[level];
        let mut z = self.subject.zeros::<f64>(n).unwrap();
        self.subject.store_solution(&self.levels[level], &mut z).unwrap();
        self.solutions.push((name, to_host(self.subject, &z, n)));
    }

    fn load<T: Real>(&mut self) {
        let values = (0..self.unknowns[0]).map(|k| T::narrow((0.7 * k as f64).cos()));
        let r = to_device(self.subject, &values.collect::<Vec<_>>());
        self.subject.load_right(&r, &mut self.levels[0]).unwrap();
        self.see("load", 0);
    }

    fn smooth(&mut self, name: &'static str, level: usize, order: Order) {
        self.subject.smooth(&mut self.levels[level], order).unwrap();
        self.see(name, level);
    }

    /// Restricts from `level`; a sweep then shows the restricted residual.
    fn restrict(&mut self, name: &'static str, level: usize, order: Order) {
        if let [_, .., fine, coarse] | [fine, coarse] = &mut self.levels[..=level + 1] {
            self.subject.restrict_residual(fine, coarse).unwrap();
        }
        self.smooth(name, level + 1, order);
    }

    /// Prolongs to `level`; a sweep that is announced then shows what it makes of the solution.
    fn prolong(&mut self, name: &'static str, level: usize, next: Option<Order>) {
        if let [_, .., fine, coarse] | [fine, coarse] = &mut self.levels[..=level + 1] {
            self.subject.prolong(coarse, fine, next).unwrap();
        }
        if let Some(order) = next {
            self.subject.smooth(&mut self.levels[level], order).unwrap();
        }
        self.see(name, level);
    }
}

/// The solutions after every operation, which starts from every condition of the finer level.
fn operations<S: Subject, T: Real, M: Real>(
    subject: &S,
    finest: LevelSize,
    kind: Levels,
) -> Vec<(&'static str, Vec<f64>)> {
    let mut seen = Seen::<S, M>::new::<T>(subject, finest, kind);
    seen.load::<T>();
    seen.restrict("restriction of the right side", 0, Order::Reverse);
    seen.smooth("forward", 0, Order::Forward);
    seen.restrict("restriction after forward", 0, Order::Forward);
    if seen.levels.len() > 2 {
        seen.restrict("restriction from a full operator", 1, Order::Forward);
        seen.prolong("prolongation to the middle level", 1, None);
        seen.restrict("restriction of a whole residual", 1, Order::Reverse);
        seen.smooth("reverse on the middle level", 1, Order::Reverse);
        seen.restrict("restriction after reverse", 1, Order::Forward);
    }
    seen.prolong("prolongation", 0, None);
    seen.restrict("restriction after prolongation", 0, Order::Forward);
    seen.smooth("reverse", 0, Order::Reverse);
    seen.restrict("restriction after reverse, compact", 0, Order::Forward);
    for order in [Order::Reverse, Order::Forward] {
        seen.prolong("prolongation before a sweep", 0, Some(order));
        seen.restrict("restriction after that sweep", 0, Order::Forward);
    }
    seen.solutions
}

/// Compares with the CPU after every operation. `tolerance` is relative to the largest value of all
/// solutions, since a coarse solution responds to a small difference.
fn compare<S: Subject, T: Real, M: Real>(
    subject: &S,
    finest: LevelSize,
    kind: Levels,
    tolerance: f64,
) {
    if !fits(kind, finest) {
        return;
    }
    let expected = operations::<_, T, M>(&CpuBackend, finest, kind);
    let found = operations::<_, T, M>(subject, finest, kind);
    assert_alike(&found, &expected, tolerance, &format!("{finest:?} {kind:?}"));
}

fn assert_alike(
    found: &[(&'static str, Vec<f64>)],
    expected: &[(&'static str, Vec<f64>)],
    tolerance: f64,
    what: &str,
) {
    let most = expected.iter().flat_map(|(_, values)| values).fold(0.0, |m: f64, v| m.max(v.abs()));
    for ((name, expected), (_, found)) in expected.iter().zip(found) {
        for (k, (expected, found)) in expected.iter().zip(found).enumerate() {
            assert!(
                (expected - found).abs() <= tolerance * most,
                "{what}, {name}: unknown {k} is {found:?}, not {expected:?}"
            );
        }
    }
}

fn small_sizes() -> [LevelSize; 6] {
    [
        LevelSize { mi: 9, mj: 7, periodic: false },
        LevelSize { mi: 8, mj: 10, periodic: false },
        LevelSize { mi: 12, mj: 7, periodic: true },
        LevelSize { mi: 37, mj: 53, periodic: false },
        LevelSize { mi: 36, mj: 41, periodic: true },
        LevelSize { mi: 35, mj: 18, periodic: true },
    ]
}

const DOUBLE: f64 = 1e-13;
const SINGLE: f64 = 1e-6;

fn every_operation<S: Subject, T: Real, M: Real>(subject: &S, tolerance: f64) {
    for size in small_sizes() {
        for kind in KINDS {
            compare::<_, T, M>(subject, size, kind, tolerance);
        }
    }
}

pub fn every_operation_in_double_precision<S: Subject>(subject: &S) {
    every_operation::<_, f64, f64>(subject, DOUBLE);
}

pub fn every_operation_in_single_precision<S: Subject>(subject: &S) {
    every_operation::<_, f32, f32>(subject, SINGLE);
}

/// Levels in single precision of equations in double precision, as a solve has them.
pub fn every_operation_in_mixed_precision<S: Subject>(subject: &S) {
    every_operation::<_, f64, f32>(subject, SINGLE);
    compare::<_, f32, f64>(subject, small_sizes()[4], FULL[1], DOUBLE);
}

pub fn lines_over_several_warps<S: Subject>(subject: &S) {
    for (periodic, kind) in [false, true].into_iter().flat_map(|p| FULL.map(|kind| (p, kind))) {
        let (wide, long) =
            (LevelSize { mi: 130, mj: 67, periodic }, LevelSize { mi: 1100, mj: 9, periodic });
        compare::<_, f64, f32>(subject, wide, kind, SINGLE);
        compare::<_, f64, f64>(subject, wide, kind, DOUBLE);
        compare::<_, f64, f32>(subject, long, kind, SINGLE);
    }
    let high = LevelSize { mi: 9, mj: 1100, periodic: false };
    for kind in FULL {
        compare::<_, f64, f32>(subject, high, kind, SINGLE);
    }
}

/// In double precision a team handles 1024 points. The lines have a remainder, a segment with only the seam
/// point, and three segments or more.
pub fn lines_longer_than_a_team_takes<S: Subject>(subject: &S) {
    for (mi, mj, periodic) in
        [(8, 1025, false), (1100, 8, false), (1026, 8, true), (1025, 8, false)]
    {
        for kind in FULL {
            compare_long(subject, LevelSize { mi, mj, periodic }, kind);
        }
    }
    for kind in FULL.iter().filter(|kind| !SEGMENTED.contains(kind)) {
        compare_in_segments(subject, *kind);
    }
    let high = LevelSize { mi: 8, mj: 1100, periodic: true };
    for kind in KINDS.iter().filter(|(coarsening, ..)| *coarsening == Coarsening::Xi) {
        compare::<_, f64, f64>(subject, high, *kind, DOUBLE);
    }
}

/// Lines of several segments, with walls at one end, at both, and by ten numbers a point, where they close and where they do not.
pub fn lines_in_segments<S: Subject>(subject: &S) {
    for kind in SEGMENTED {
        compare_in_segments(subject, kind);
    }
}

fn compare_in_segments<S: Subject>(subject: &S, kind: Levels) {
    for (mi, mj, periodic) in [(2100, 8, true), (8, 2100, false)] {
        compare_long(subject, LevelSize { mi, mj, periodic }, kind);
    }
}

/// Round-off is larger in the terms of walls at the ends of long xi-lines.
fn compare_long<S: Subject>(subject: &S, size: LevelSize, kind: Levels) {
    let tolerance = if kind.1 == Walls::FOUR { 10.0 * DOUBLE } else { DOUBLE };
    compare::<_, f64, f64>(subject, size, kind, tolerance);
}

/// The factors of long lines are computed in chunks, each beginning with the points before it; where that is
/// not accurate enough, from the start of the line. The last point of a closed line changes all others.
pub fn lines_along_which_changes_decay_slowly<S: Subject>(subject: &S) {
    fn swept<S: Subject, M: Real>(subject: &S, size: LevelSize, beside: f64) -> Vec<f64> {
        let (pattern, values) = stencil_of_lines::<f64>(size, beside);
        let a = subject.matrix_from(pattern, &values);
        let kind = (size, Coarsening::Full);
        let mut level: S::Level<M> = subject.finest_level(None, kind, false, &a, None).unwrap();
        subject.factor(std::slice::from_ref(&level)).unwrap();
        assert!(subject.pivots_are_finite(&level).unwrap());
        let n = 2 * size.mi * size.mj;
        let right: Vec<f64> = (0..n).map(|k| (0.7 * k as f64).cos()).collect();
        subject.load_right(&to_device(subject, &right), &mut level).unwrap();
        subject.smooth(&mut level, Order::Forward).unwrap();
        let mut z = subject.zeros::<f64>(n).unwrap();
        subject.store_solution(&level, &mut z).unwrap();
        to_host(subject, &z, n)
    }
    fn check<S: Subject, M: Real>(subject: &S, size: LevelSize, beside: f64, tolerance: f64) {
        let expected = swept::<_, M>(&CpuBackend, size, beside);
        let found = swept::<_, M>(subject, size, beside);
        let name = "sweep";
        let what = format!("{size:?}, {beside} beside");
        assert_alike(&[(name, found)], &[(name, expected)], tolerance, &what);
    }
    for (mi, periodic) in [(1100, false), (1100, true), (1538, true), (513, false), (513, true)] {
        let size = LevelSize { mi, mj: 5, periodic };
        check::<_, f64>(subject, size, 0.499, 1e-12);
        check::<_, f64>(subject, size, 0.49999, 1e-11);
        check::<_, f32>(subject, size, 0.499, 1e-5);
        check::<_, f32>(subject, size, 0.49999, 1e-3);
    }
}

/// The second level solved directly, twice, and after a sweep that follows.
fn direct_solutions<S: Subject, M: Real>(
    subject: &S,
    finest: LevelSize,
    kind: Levels,
) -> Option<Vec<(&'static str, Vec<f64>)>> {
    let mut seen = Seen::<S, M>::new::<f64>(subject, finest, kind);
    seen.load::<f64>();
    seen.smooth("a sweep on the finest level", 0, Order::Forward);
    // The second time the memory of the first is used again.
    for _ in 0..2 {
        let (fine, coarse) = seen.levels.split_at_mut(1);
        subject.factor_coarsest(&mut coarse[0]).unwrap();
        subject.restrict_residual(&mut fine[0], &mut coarse[0]).unwrap();
        if !subject.solve_coarsest(&mut coarse[0]).unwrap() {
            return None;
        }
        seen.see("direct solution", 1);
    }
    assert!(subject.pivots_are_finite(&seen.levels[1]).unwrap());
    seen.smooth("a sweep", 1, Order::Forward);
    seen.prolong("prolongation", 0, None);
    Some(seen.solutions)
}

/// Line solves, which know nothing of the elimination, leave its solution as it is.
pub fn a_coarsest_level_is_solved_directly<S: Subject>(subject: &S) {
    fn check<S: Subject, M: Real>(subject: &S, size: LevelSize, kind: Levels, tolerance: f64) {
        let coarse = size.coarser(kind.0);
        if coarse.mj * if coarse.wraps() { 2 } else { 1 } > 22 && size_of::<M>() == 8 {
            return;
        }
        let what = format!("{size:?} {kind:?}");
        let found = direct_solutions::<S, M>(subject, size, kind);
        assert_eq!(found.is_none(), kind.1.0.has_beside(), "{what}");
        let Some(found) = found else { return };
        let expected = direct_solutions::<_, M>(&CpuBackend, size, kind).unwrap();
        assert_alike(&found, &expected, tolerance, &what);
        let [_, _, first, second, swept, _] = found.as_slice() else { unreachable!() };
        for other in [second, swept] {
            assert_alike(
                std::slice::from_ref(other),
                std::slice::from_ref(first),
                tolerance,
                &what,
            );
        }
    }
    // The last three have 33, 42 and 34 rows: runs of 5, 6 and 5 with separators, one of which is the last row.
    let long = [(67, 9, false), (84, 7, false), (136, 5, true)]
        .map(|(mi, mj, periodic)| LevelSize { mi, mj, periodic });
    for size in small_sizes().into_iter().filter(|size| size.mj < 20).chain(long) {
        for kind in KINDS.into_iter().filter(|kind| fits(*kind, size)) {
            check::<S, f64>(subject, size, kind, 10.0 * DOUBLE);
        }
    }
    // Blocks of 15, 30, 31 and 15 points.
    for (mi, mj, periodic) in [(30, 31, false), (12, 31, true), (6, 63, false), (70, 31, false)] {
        let size = LevelSize { mi, mj, periodic };
        for kind in [KINDS[10], KINDS[17]] {
            check::<S, f32>(subject, size, kind, 10.0 * SINGLE);
        }
    }
}

pub fn a_singular_pivot_is_seen_on_the_coarsest_level<S: Subject>(subject: &S) {
    let size = LevelSize { mi: 9, mj: 9, periodic: false };
    let (pattern, values) = stencil::<f64>(size);
    let (zero, a) = (subject.matrix(pattern).unwrap(), subject.matrix_from(pattern, &values));
    let mut kept: [Option<S::Level<f32>>; 2] = [None, None];
    for (matrix, finite) in [(&zero, false), (&a, true)] {
        let [fine, coarse] = kept;
        let kind = (size, Coarsening::Full);
        let fine = subject.finest_level(fine, kind, false, matrix, None).unwrap();
        let coarse = subject.coarse_level(coarse, &fine, Coarsening::Full).unwrap();
        let levels = [fine, coarse];

        subject.factor(&levels).unwrap();

        assert_eq!(subject.pivots_are_finite(&levels[1]), Ok(finite));
        kept = levels.map(Some);
    }
}

pub fn a_replayed_sweep_is_a_sweep<S: Subject>(subject: &S) {
    let size = LevelSize { mi: 16, mj: 9, periodic: true };
    let mut plain = Seen::<S, f64>::new::<f64>(subject, size, FULL[1]);
    let mut replayed = Seen::<S, f64>::new::<f64>(subject, size, FULL[1]);
    let mut recording = S::Recording::default();
    for _ in 0..3 {
        plain.load::<f64>();
        plain.smooth("sweep", 0, Order::Forward);
        plain.restrict("restriction", 0, Order::Forward);
        plain.smooth("another sweep", 0, Order::Reverse);

        replayed.load::<f64>();
        let level = &mut replayed.levels[0];
        subject.replay(&mut recording, || subject.smooth(level, Order::Forward)).unwrap();
        replayed.see("sweep", 0);
        replayed.restrict("restriction", 0, Order::Forward);
        replayed.smooth("another sweep", 0, Order::Reverse);
    }
    assert_eq!(replayed.solutions, plain.solutions);
}

/// Walls on the sides of constant i too, of one of these or both, and in both orders of the rows of a turned level.
pub fn walls_beside_give_the_grid_of_the_cpu<S: Subject>(subject: &S) {
    for walls in [[true, false, false, true], [true, true, true, false], [true; 4]] {
        let block = Block::new([33, 25], walls, [2.6e-3, 2e-3], bend);
        let (expected, of_cpu, linear_of_cpu) = block.solved(&CpuBackend);

        let (found, steps, linear) = block.solved(subject);

        let away = |(a, b): (&[f64; 2], &[f64; 2])| (a[0] - b[0]).hypot(a[1] - b[1]);
        let off = found.iter().zip(&expected).map(away).fold(0.0, f64::max);
        assert!(off < 1e-9, "{walls:?}: {off:e}");
        assert_eq!((steps, linear), (of_cpu, linear_of_cpu), "{walls:?}");
    }
}

/// A wavy strip of 16 × 8 cells that closes after a shift in y, by Winslow's equations.
fn strip<B: EllipticBackend + MultigridBackend>(backend: &B, shift: f64) -> (Grid, NewtonReport) {
    let (ni, nj) = (17, 9);
    let mut grid = Grid::new(Topology::O(Seam::Periodic), ni, nj);
    for (k, (x, y)) in grid.x.iter_mut().zip(&mut grid.y).enumerate() {
        let (t, s) = ((k % ni) as f64 / (ni - 1) as f64, (k / ni) as f64 / (nj - 1) as f64);
        let (sin, cos) = (std::f64::consts::TAU * t).sin_cos();
        // Off the first and last row the guess is no solution.
        let off = 0.1 * s * (1.0 - s) * cos;
        [*x, *y] = [-shift * ((1.0 - s) * 0.1 * sin + s) + off, shift * t + off];
    }
    let zeros = || vec![0.0; (ni - 1) * (nj - 2)];
    let data = EllipticData { shift, ..EllipticData::of_terms(&grid, [zeros(), zeros()], None) };
    let (mut problem, mut u) = loaded(backend, &data);
    let of = (Method::Bicgstab, Kind::Multigrid);
    let report = newton(backend, &mut problem, &mut u, of, &NEWTON).unwrap();
    let nodes = problem.nodes(backend, &u, grid.topology).unwrap();
    backend.fetch(&nodes, &mut grid).unwrap();
    (grid, report)
}

pub fn a_strip_that_closes_after_a_pitch_is_that_of_the_cpu<S: Subject>(subject: &S) {
    for shift in [0.85, -0.85] {
        let (expected, on_cpu) = strip(&CpuBackend, shift);
        let (grid, report) = strip(subject, shift);

        assert!(report.stop.converged(), "{shift}: {}", report.stop);
        assert_eq!(report.history.steps.len(), on_cpu.history.steps.len(), "{shift}");
        let off = distance(&grid, &expected);
        assert!(off < 1e-9, "{shift}: {off:e}");
    }
}
