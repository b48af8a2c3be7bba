//! Jacobians by ten numbers a point against those by entries.

use std::f64::consts::TAU;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, EllipticData, WallTerms};
use gridgen::elliptic::{GridProblem, WalledSides};
use gridgen::solver::precond::{Coarsening, Kind};
use gridgen::solver::{LinearOperator, NonlinearProblem};
use support::linear::{apart, largest, product, transposed};
use support::problems::preconditioned;
use support::random::Random;

/// Equations of an uneven annulus or rectangle with wall terms at some ends of the eta-lines.
fn data([mi, mj]: [usize; 2], periodic: bool, [below, above]: [bool; 2]) -> EllipticData {
    let node = |i: usize, j: usize| {
        let (at, height) = (i as f64, j as f64);
        let waves = 0.05 * (2.0 * at + 0.7 * height).sin();
        if periodic {
            let (sine, cosine) = (TAU * at / mi as f64).sin_cos();
            let radius = 1.0 + 0.02 * height * (1.0 + 0.1 * cosine);
            [radius * cosine, -radius * sine]
        } else {
            [at + waves, 0.1 * height * (1.0 + 0.05 * height) + 0.2 * waves]
        }
    };
    let nodes: Vec<_> = (0..mj + 2)
        .flat_map(|j| (0..mi + 2).map(move |i| (i, j)))
        .map(|(i, j)| node(i, j))
        .collect();
    let of_points = |scale: f64, rate: f64| -> Vec<f64> {
        (0..mi * mj).map(|k| scale * (0.3 + (rate * k as f64).sin())).collect()
    };
    let terms = |side: usize| WallTerms {
        phi: of_points(0.5, 0.37 + side as f64),
        psi: of_points(0.4, 0.23 + side as f64),
    };
    EllipticData {
        mi,
        mj,
        periodic,
        shift: 0.0,
        x: nodes.iter().map(|at| at[0]).collect(),
        y: nodes.iter().map(|at| at[1]).collect(),
        control_p: of_points(0.1, 0.51),
        control_q: of_points(0.2, 0.77),
        walls: [below.then(|| terms(0)), above.then(|| terms(1)), None, None],
    }
}

type Problem = GridProblem<CpuBackend, f64>;

/// The problems of these equations by entries and by ten numbers, linearised at the first guess with some amplitudes.
fn both(data: &EllipticData) -> [Problem; 2] {
    [Kind::Jacobi, Kind::Multigrid].map(|kind| {
        let (state, mut u) = CpuBackend.elliptic(data).unwrap();
        let mut problem = Problem::new(&CpuBackend, state, kind).unwrap();
        let WalledSides([below, above, ..]) = data.walled_sides();
        let (row, n) = (2 * data.mi, u.len());
        let rows = [(below, 0), (above, n - row)];
        for (_, first) in rows.into_iter().filter(|(wall, _)| *wall) {
            u[first..first + row]
                .iter_mut()
                .enumerate()
                .for_each(|(k, u)| *u = 0.01 * (k as f64).cos());
        }
        problem.residual(&CpuBackend, &u, &mut vec![0.0; n]).unwrap();
        problem.linearise(&CpuBackend).unwrap();
        problem
    })
}

/// Rows of less than a panel, of one and of several, levels that close or do not, of odd and of even size.
const SIZES: [([usize; 2], bool); 8] = [
    ([64, 33], true),
    ([33, 40], true),
    ([130, 31], true),
    ([150, 32], true),
    ([31, 35], false),
    ([150, 40], false),
    ([3, 3], false),
    ([4, 3], true),
];

/// Calls `check` with what is checked and both problems, for closed and open rows and all walls.
fn for_all(check: impl Fn(&str, &[Problem; 2])) {
    for (size, periodic) in SIZES {
        for walls in [[false; 2], [true, false], [true; 2]] {
            let what = format!("{size:?}, periodic: {periodic}, walls: {walls:?}");
            check(&what, &both(&data(size, periodic, walls)));
        }
    }
}

fn assert_near(what: &str, a: &[f64], b: &[f64], bound: f64) {
    let (size, off) = (largest(a), apart(a, b));
    assert!(size > 0.0 && off <= bound * size, "{what}: {off:e} of {size:e}");
}

#[test]
fn ten_numbers_give_the_entries_and_the_products() {
    for_all(|what, [entries, numbers]| {
        let [a, b] = [entries, numbers].map(Problem::jacobian);
        let [of_a, of_b] = [a, b].map(|jacobian| jacobian.to_csr(&CpuBackend).unwrap());
        for row in 0..of_a.rows() {
            let (a, b): (Vec<_>, Vec<_>) = (of_a.row(row).collect(), of_b.row(row).collect());
            assert_eq!(a.len(), b.len(), "{what}: {row}");
            for (a, b) in a.into_iter().zip(b) {
                assert!(a.0 == b.0 && (a.1 - b.1).abs() < 1e-15, "{what}: {row}: {a:?} {b:?}");
            }
        }
        assert_eq!(b.field().pattern().width(), 5);
        for problem in [entries, numbers] {
            // The transpose is stored by entries.
            let found = problem.transposed(&CpuBackend).unwrap().to_csr(&CpuBackend).unwrap();
            let expected = transposed(&of_a);
            assert!(found.pattern() == expected.pattern(), "{what}");
            assert!(apart(&found.values, &expected.values) < 1e-15, "{what}");
        }
        let x = Random::new(1).vector(b.rows());
        assert_near(what, &product(a, &x), &product(b, &x), 1e-14);
        assert_near(what, &product(a.field(), &x), &product(b.field(), &x), 1e-14);
    });
}

#[test]
fn a_cycle_on_ten_numbers_is_that_on_the_entries() {
    let coarsening = Coarsening::Full;
    for_all(|what, problems| {
        for kind in [Kind::Multigrid, Kind::Ilu0] {
            let [a, b] = problems.each_ref().map(|problem| {
                let jacobian = problem.jacobian();
                let r = Random::new(2).vector(jacobian.rows());
                preconditioned((kind, coarsening), jacobian, &r)
            });
            assert_near(&format!("{what}, {kind:?}"), &a, &b, 1e-10);
        }
    });
}

#[test]
fn products_have_the_rounding_errors_of_differences() {
    // Values near 1 that differ by 1e-4: in single precision a product of the values themselves is wrong by 6e-8.
    let data = data([64, 33], true, [false; 2]);
    let (state, u) = CpuBackend.elliptic(&data).unwrap();
    let n = u.len();
    let mut single = GridProblem::<_, f32>::new(&CpuBackend, state, Kind::Multigrid).unwrap();
    single.residual(&CpuBackend, &u, &mut vec![0.0; n]).unwrap();
    single.linearise(&CpuBackend).unwrap();
    let [_, double] = both(&data);
    let x: Vec<f32> = Random::new(3).vector(n).iter().map(|x| (1.0 + 1e-4 * x) as f32).collect();
    let wide: Vec<f64> = x.iter().map(|x| f64::from(*x)).collect();
    let mut found = vec![0.0; n];

    single.jacobian().apply(&CpuBackend, &x, &mut found).unwrap();

    let expected = product(double.jacobian(), &wide);
    // Off the first and the last row, where neighbours are missing.
    let inner = 2 * data.mi..n - 2 * data.mi;
    let off = inner.map(|k| (f64::from(found[k]) - expected[k]).abs()).fold(0.0, f64::max);
    assert!(off < 5e-10, "{off:e}");
}
