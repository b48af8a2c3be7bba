//! The reduced system of the wall terms.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{EllipticBackend, Real};

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

/// Responses to the probes that give diagonal blocks near 4 I and small off-diagonal blocks.
fn responses<T: Real>(walls: usize) -> [Vec<T>; 4] {
    let mut all = [1, 2, 3, 4].map(|seed| random::<T>(seed, 2 * walls));
    for i in 0..walls {
        let sign = if i % 2 == 0 { 4.0 } else { -4.0 };
        all[0][2 * i] += T::narrow(4.0);
        all[1][2 * i + 1] += T::narrow(4.0);
        all[2][2 * i] += T::narrow(sign);
        all[3][2 * i + 1] += T::narrow(sign);
    }
    all
}

fn check_solve<S: Subject, T: Real>(subject: &S, walls: usize) {
    let answers = responses::<T>(walls);
    let n = 2 * walls + 10;
    let (mut expected, mut s) =
        (vec![T::zero(); 12 * walls], subject.zeros::<T>(12 * walls).unwrap());
    let first = CpuBackend.factor_wall_blocks(walls, answers.each_ref(), &mut expected).unwrap();
    assert_eq!(first, None);
    let answers = answers.each_ref().map(|answer| to_device(subject, answer));
    let found = subject.factor_wall_blocks(walls, answers.each_ref(), &mut s).unwrap();
    assert_eq!(found, None);
    assert_close(&to_host(subject, &s, 12 * walls), &expected, 100.0, &format!("{walls} points"));

    let (z, mut d) = (random::<T>(8, n), random::<T>(9, n));
    let (z_device, mut d_device) = (to_device(subject, &z), to_device(subject, &d));
    CpuBackend.solve_wall_blocks(walls, &expected, &z, &mut d).unwrap();
    subject.solve_wall_blocks(walls, &s, &z_device, &mut d_device).unwrap();
    assert_close(&to_host(subject, &d_device, n), &d, 100.0, &format!("{walls} points solved"));
}

pub fn the_reduced_system_is_factored_and_solved<S: Subject>(subject: &S) {
    for walls in WALLS {
        check_solve::<S, f64>(subject, walls);
        check_solve::<S, f32>(subject, walls);
    }
}

pub fn a_singular_wall_block_names_its_point<S: Subject>(subject: &S) {
    for (walls, bad) in [(1, 0), (33, 0), (33, 32), (257, 40)] {
        let mut answers = responses::<f64>(walls);
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
