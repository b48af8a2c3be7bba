//! Rows of the multigrid preconditioner, in single precision as in the default case.

use std::hint::black_box;

use gridgen::backend::SparseBackend;
use gridgen::backend::cpu::{CpuBackend, EllMatrix, Level};
use gridgen::backend::{Coarsening, EllipticBackend, LevelSize, MultigridBackend, Order};
use gridgen::solver::Preconditioner;
use gridgen::solver::precond::{Forms, Kind, MultigridSettings};
use gridgen::sparse::{EllPattern, Schedule};

use crate::{FIELD_SLOTS, VARIABLES, Workload, seconds};

/// Bytes of a value.
const VALUE: usize = size_of::<f32>();
/// Values of the finest operator at a point, by lines of one direction: left, right, prev and next
/// 4 each, d, c, and the inverse pivot's 4.
const FINE: usize = 22;
/// Values of a coarse operator at a point: nine blocks and the inverse pivot.
const COARSE: usize = 40;
/// A pair of x and y.
const PAIR: usize = 2;
/// Points of a coarse level for one of the level above.
const RATIO: usize = 4;

/// A hierarchy's two finest levels.
struct Levels {
    kind: (LevelSize, Coarsening),
    matrix: EllMatrix<f32>,
    fine: Option<Level<f32>>,
    coarse: Option<Level<f32>>,
    right: Vec<f32>,
    solution: Vec<f32>,
}

impl Levels {
    fn new(workload: &Workload, coarsening: Coarsening) -> Self {
        let data = &workload.data;
        let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
        let pattern = EllPattern::nine_point(size.mi, size.mj, size.periodic);
        let mut matrix = CpuBackend.matrix(&pattern).expect("the CPU has room");
        CpuBackend.jacobian(&workload.state(), &mut matrix, None).expect("the CPU has no trouble");
        let n = workload.unknowns();
        let mut levels = Self {
            kind: (size, coarsening),
            matrix,
            fine: None,
            coarse: None,
            right: (0..n).map(|k| (k % 7) as f32 - 3.0).collect(),
            solution: vec![0.0; n],
        };
        levels.load();
        levels.coarsen();
        let (fine, _) = levels.pair();
        let right: Vec<f32> = (0..n).map(|k| (k % 7) as f32 - 3.0).collect();
        CpuBackend.load_right(&right, fine).expect("the CPU has no trouble");
        levels
    }

    /// Both levels.
    fn pair(&mut self) -> (&mut Level<f32>, &mut Level<f32>) {
        let Self { fine, coarse, .. } = self;
        (fine.as_mut().expect("it is there"), coarse.as_mut().expect("it is there"))
    }

    fn load(&mut self) {
        let fine = CpuBackend.finest_level(self.fine.take(), self.kind, &self.matrix, None);
        self.fine = Some(fine.expect("the CPU has no trouble"));
    }

    fn coarsen(&mut self) {
        let fine = self.fine.as_ref().expect("it is there");
        let coarse = CpuBackend.coarse_level(self.coarse.take(), fine, self.kind.1);
        let coarse = self.coarse.insert(coarse.expect("the CPU has no trouble"));
        let finite = CpuBackend.pivots_are_finite(coarse);
        assert!(finite.expect("the CPU has no trouble"), "no pivot vanishes");
    }

    fn smooth(&mut self, order: Order) {
        CpuBackend.smooth(self.pair().0, order).expect("the CPU has no trouble");
    }
}

/// Values that a sweep along lines of one direction moves at a point: the operator without the
/// centre's `centre` values, the right side, the solution read and written.
const fn sweep(operator: usize, centre: usize) -> usize {
    operator - centre + 3 * PAIR
}

/// Values that a sweep in both directions moves at a point; the solution is turned `turns` times
/// from the layout of one direction to that of the other, read and written.
const fn both(operator: usize, centre: usize, turns: usize) -> usize {
    2 * sweep(operator, centre) + turns * 2 * PAIR
}

/// Values that the residual moves at a point: it is zero on the colour relaxed last, half of the
/// points. Operator without inverse pivots, right side, solution, residual.
const fn residual(operator: usize) -> usize {
    usize::midpoint(operator - 4, 3 * PAIR)
}

/// Values that the restriction moves at a fine point: half of the residuals are read; the coarse
/// right side is written in one layout, read, and written in the other, the solution cleared.
const RESTRICTION: usize = PAIR / 2 + 4 * PAIR / RATIO;
/// Values that the prolongation moves at a fine point.
const PROLONGATION: usize = PAIR / RATIO + 2 * PAIR;

pub(crate) fn rows(workload: &Workload) {
    let bytes = |values: usize| values * VALUE * workload.points();
    let mut levels = Levels::new(workload, Coarsening::Xi);
    workload.print("sweep along eta", bytes(sweep(FINE, 1)), || {
        seconds(|| levels.smooth(Order::Forward))
    });
    let mut levels = Levels::new(workload, Coarsening::Full);
    workload.print("sweep along eta, then xi", bytes(both(FINE, 1, 2)), || {
        seconds(|| levels.smooth(Order::Forward))
    });
    workload.print("residual and restriction", bytes(residual(FINE) + RESTRICTION), || {
        let (fine, coarse) = levels.pair();
        seconds(|| CpuBackend.restrict_residual(fine, coarse).expect("the CPU has no trouble"))
    });
    workload.print("prolongation", bytes(PROLONGATION), || {
        let (fine, coarse) = levels.pair();
        seconds(|| CpuBackend.prolong(coarse, fine).expect("the CPU has no trouble"))
    });
    // The matrix is read; the operator is written by lines of both directions and read again for
    // the second and for each factorisation.
    let load = VARIABLES * FIELD_SLOTS + 5 * FINE;
    workload.print("set-up of the finest level", bytes(load), || seconds(|| levels.load()));
    let coarsen = FINE + 5 * COARSE / RATIO;
    workload.print("set-up of the second level", bytes(coarsen), || seconds(|| levels.coarsen()));
    cycle(workload, levels);
}

/// A V(1,1) cycle: the right side is taken into both layouts, the solution cleared and given back.
fn cycle(workload: &Workload, levels: Levels) {
    let Levels { matrix, right, mut solution, .. } = levels;
    let data = &workload.data;
    let size = LevelSize { mi: data.mi, mj: data.mj, periodic: data.periodic };
    let settings = MultigridSettings::default();
    let mut multigrid = Forms::of_matrix((Kind::Multigrid, Schedule::Auto), settings, size);
    multigrid.update(&CpuBackend, &matrix).expect("no pivot vanishes");
    // The first sweep begins with lines along eta and need not turn the solution.
    let level = |operator: usize, centre: usize| {
        both(operator, centre, 1)
            + residual(operator)
            + RESTRICTION
            + PROLONGATION
            + both(operator, centre, 2)
    };
    // The levels below have a third of the finest one's points altogether.
    let values = 4 * PAIR + level(FINE, 1) + level(COARSE, 4) / (RATIO - 1) + 2 * PAIR;
    workload.print("V-cycle", values * VALUE * workload.points(), || {
        seconds(|| {
            let applied = multigrid.apply(&CpuBackend, &matrix, &right, &mut solution);
            applied.expect("the CPU has no trouble");
            black_box(&mut solution);
        })
    });
}
