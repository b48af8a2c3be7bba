//! The reduced system of the wall terms.

use gridgen::backend::Real;
use gridgen::backend::cpu::CpuBackend;

use super::{Subject, assert_close, random, to_device, to_host};

/// Numbers of points along the wall, around the sizes of a warp and of the block that solves.
const WALLS: [usize; 9] = [1, 2, 31, 32, 33, 257, 511, 512, 1301];

pub fn points_are_copied<S: Subject>(subject: &S) {
    for walls in WALLS {
        for (from, to) in [(0, 0), (walls, 0), (2 * walls, walls)] {
            let (d, z) = (random::<f64>(1, 6 * walls), random::<f64>(2, 4 * walls));
            let mut copied = to_device(subject, &z);

            subject.copy_points(walls, (&to_device(subject, &d), from), (&mut copied, to)).unwrap();

            let part = &d[2 * from..][..2 * walls];
            let expected = [&z[..2 * to], part, &z[2 * (to + walls)..]].concat();
            assert_eq!(to_host(subject, &copied, 4 * walls), expected);
        }
    }
}

/// A 2×2 block, row-major.
type Block = [f64; 4];

/// The diagonal block of each row of a tridiagonal matrix, and the block on both sides of it, as the probes assume.
fn rows(walls: usize) -> Vec<[Block; 2]> {
    let entry = |k: usize| ((k * 37 + 11) % 23) as f64 / 23.0 - 0.5;
    let diagonal = |i| [4.0 + entry(i), entry(i + 1), entry(i + 2), 5.0 + entry(i + 3)];
    let beside = |i| std::array::from_fn(|e| entry(7 * i + e));
    (0..walls).map(|i| [diagonal(i), beside(i)]).collect()
}

fn multiply<T: Real>(rows: &[[Block; 2]], x: &[f64]) -> Vec<T> {
    let mut y = vec![0.0; x.len()];
    for (i, [diagonal, beside]) in rows.iter().enumerate() {
        for (k, a) in [(i.wrapping_sub(1), beside), (i, diagonal), (i + 1, beside)] {
            if k < rows.len() {
                y[2 * i] += a[0] * x[2 * k] + a[1] * x[2 * k + 1];
                y[2 * i + 1] += a[2] * x[2 * k] + a[3] * x[2 * k + 1];
            }
        }
    }
    y.into_iter().map(T::narrow).collect()
}

/// Responses to the probes: 1 everywhere in p, then in q, ±1 by turns in p, then in q.
fn responses<T: Real>(rows: &[[Block; 2]]) -> [Vec<T>; 4] {
    [(0, 1.0), (1, 1.0), (0, -1.0), (1, -1.0)].map(|(component, odd)| {
        let of = |k: usize| if k / 2 % 2 == 1 { odd } else { 1.0 };
        let probe = (0..2 * rows.len()).map(|k| if k % 2 == component { of(k) } else { 0.0 });
        multiply(rows, &probe.collect::<Vec<_>>())
    })
}

/// The factors of the system with these responses to its probes, and its solution for `z` in a used vector.
fn solved<S: Subject, T: Real>(subject: &S, answers: &[Vec<T>; 4], z: &[T]) -> [Vec<T>; 2] {
    let walls = answers[0].len() / 2;
    let answers = answers.each_ref().map(|answer| to_device(subject, answer));
    let mut s = subject.zeros(12 * walls).unwrap();
    let mut d = to_device(subject, &vec![T::narrow(7.0); z.len()]);
    let singular = subject.factor_wall_blocks(walls, answers.each_ref(), &mut s).unwrap();
    assert_eq!(singular, None);
    subject.solve_wall_blocks(walls, &s, &to_device(subject, z), &mut d).unwrap();
    [to_host(subject, &s, 12 * walls), to_host(subject, &d, z.len())]
}

/// The system is recovered from its probes, and solved as on the CPU.
fn check_solve<S: Subject, T: Real>(subject: &S, walls: usize) {
    let (matrix, x) = (rows(walls), random::<f64>(8, 2 * walls));
    let answers = responses::<T>(&matrix);
    // Beyond the wall the solution is zero.
    let mut z = multiply::<T>(&matrix, &x);
    z.extend(random::<T>(9, 10));
    let expected = solved(&CpuBackend, &answers, &z);

    let found = solved(subject, &answers, &z);

    let what = format!("{walls} points");
    for (found, expected) in found.iter().zip(&expected) {
        assert_close(found, expected, 100.0, &what);
    }
    let solution: Vec<T> = x.into_iter().chain([0.0; 10]).map(T::narrow).collect();
    assert_close(&found[1], &solution, 400.0, &what);
}

pub fn the_reduced_system_is_factored_and_solved<S: Subject>(subject: &S) {
    for walls in WALLS {
        check_solve::<S, f64>(subject, walls);
        check_solve::<S, f32>(subject, walls);
    }
}

pub fn a_singular_wall_block_names_its_point<S: Subject>(subject: &S) {
    for (walls, bad) in [(1, 0), (33, 0), (33, 32), (257, 40)] {
        let mut answers = responses::<f64>(&rows(walls));
        for answer in &mut answers {
            answer[2 * bad] = 0.0;
            answer[2 * bad + 1] = 0.0;
        }
        let mut s = subject.zeros(12 * walls).unwrap();
        let answers = answers.each_ref().map(|answer| to_device(subject, answer));

        let found = subject.factor_wall_blocks(walls, answers.each_ref(), &mut s).unwrap();

        assert_eq!(found, Some(bad), "{walls} points");
    }
}
