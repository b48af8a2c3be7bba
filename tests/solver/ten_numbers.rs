//! Jacobians by ten numbers a point against those by entries.

use gridgen::backend::EllipticData;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::GridProblem;
use gridgen::solver::LinearOperator;
use gridgen::solver::precond::{Coarsening, Kind};
use support::linear::{apart, largest, product, transposed};
use support::problems::{linearised, polar, preconditioned};
use support::random::Random;

/// Equations of a polar grid with wall terms at some ends of the eta-lines, and unknowns.
fn equations(
    [mi, mj]: [usize; 2],
    periodic: bool,
    [below, above]: [bool; 2],
) -> (EllipticData, Vec<f64>) {
    let (mut data, u) = polar(mi, mj, periodic, [below, above, false, false]);
    let terms = data.walls.iter_mut().flatten().flat_map(|wall| [&mut wall.phi, &mut wall.psi]);
    for value in terms.chain([&mut data.control_p, &mut data.control_q]).flatten() {
        *value *= 0.1;
    }
    (data, u)
}

type Problem = GridProblem<CpuBackend, f64>;

/// The problems of these equations by entries and by ten numbers, linearised.
fn both((data, u): &(EllipticData, Vec<f64>)) -> [Problem; 2] {
    [Kind::Jacobi, Kind::Multigrid].map(|kind| linearised(data, u, kind))
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
            check(&what, &both(&equations(size, periodic, walls)));
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
    let problem = equations([64, 33], true, [false; 2]);
    let (data, u) = &problem;
    let n = u.len();
    let single = linearised::<f32>(data, u, Kind::Multigrid);
    let [_, double] = both(&problem);
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
