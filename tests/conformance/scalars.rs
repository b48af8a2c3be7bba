//! Scalars that stay with the vectors.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::scalars::{
    self, Coefficient, Condition, Ending, FIRST, HALTED, LOG, LOGGED, ONE, SLOTS, Slot, Test,
};
use gridgen::backend::{Advance, Real};

use super::{LENGTHS, Subject, assert_close, random, to_device, to_host};

const A: u8 = FIRST;
const B: u8 = FIRST + 1;

fn read<S: Subject>(subject: &S, scalars: &S::Vector<f64>) -> Vec<f64> {
    let mut host = [0.0; SLOTS + LOG];
    scalars::read(subject, scalars, &mut host).unwrap();
    host.to_vec()
}

/// Slots whose values are not special.
fn slots() -> Vec<(Slot, f64)> {
    (FIRST..SLOTS as Slot).map(|k| (k, 0.75 + 0.125 * f64::from(k))).collect()
}

/// Scalars with these values.
fn prepared<S: Subject>(subject: &S, values: &[(Slot, f64)]) -> S::Vector<f64> {
    let mut scalars = scalars::allocate(subject).unwrap();
    scalars::set(subject, &mut scalars, values).unwrap();
    scalars
}

/// What a subject makes of a sum, two inner products and a step.
fn play<S: Subject, T: Real>(subject: &S, n: usize) -> (Vec<T>, Vec<T>, Vec<f64>) {
    let [mut x, mut r, h, v] = [1, 2, 3, 4].map(|seed| to_device(subject, &random::<T>(seed, n)));
    let mut scalars = prepared(subject, &slots());
    let beta = Coefficient { factor: -0.5, over: [A, B], under: [5, ONE] };
    let terms = [(Coefficient::ratio(2.0, 6, 7), &h)];
    subject.lincomb(Some(&scalars), &mut x, beta, &terms).unwrap();
    subject.dots(&mut scalars, 8, [(&x, &v), (&h, &h)], Ending::default()).unwrap();
    let three = [(&r, &v), (&h, &v), (&r, &r)];
    subject.dots(&mut scalars, 12, three, Ending::default()).unwrap();
    // No term of x, one, and two.
    let along = [(Coefficient::ratio(1.0, A, B), &h), (Coefficient::number(0.75), &v)];
    for terms in 0..3 {
        let step = Advance {
            x: &mut x,
            along: &along[..terms],
            r: &mut r,
            change: (Coefficient::number(-0.25), &v),
            with: (terms > 0).then_some(&h),
        };
        let ending = Ending { log: terms == 2, conditions: &[] };
        subject.advance(&mut scalars, step, 10, ending).unwrap();
    }
    (to_host(subject, &x, n), to_host(subject, &r, n), read(subject, &scalars))
}

fn equal_to_the_cpu<S: Subject, T: Real>(subject: &S) {
    for n in LENGTHS {
        let (x, r, scalars) = play::<S, T>(subject, n);
        let (x_cpu, r_cpu, scalars_cpu) = play::<_, T>(&CpuBackend, n);

        assert_close(&x, &x_cpu, 8.0, "x");
        assert_close(&r, &r_cpu, 8.0, "r");
        for (k, (found, expected)) in scalars.iter().zip(&scalars_cpu).enumerate() {
            let bound = 1e-6 * if size_of::<T>() == 4 { 1.0 } else { 1e-6 };
            let scale = expected.abs().max(n as f64 * 1e-2).max(1.0);
            assert!((found - expected).abs() <= bound * scale, "slot {k}: {found} {expected}");
        }
        assert_eq!((scalars[usize::from(LOGGED)], scalars[SLOTS]), (1.0, scalars[10]));
    }
}

/// A look finds the slots as they were, whatever is asked for before it is seen.
pub fn a_look_finds_the_slots_as_they_were<S: Subject>(subject: &S) {
    let mut scalars = prepared(subject, &slots());
    let v = to_device(subject, &random::<f64>(1, 1000));
    let looks: Vec<_> = (0..8)
        .map(|_| {
            let look = subject.read_back(&scalars).unwrap();
            let ending = Ending { log: true, conditions: &[] };
            subject.dots(&mut scalars, A, [(&v, &v)], ending).unwrap();
            look
        })
        .collect();
    let found: Vec<[f64; SLOTS + LOG]> = looks
        .into_iter()
        .map(|look| {
            let mut host = [0.0; SLOTS + LOG];
            subject.wait_for(look, &mut host).unwrap();
            host
        })
        .collect();

    let logged: Vec<f64> = found.iter().map(|slots| slots[usize::from(LOGGED)]).collect();
    assert_eq!(logged, (0..8).map(f64::from).collect::<Vec<_>>());
    assert_eq!(found[0][usize::from(A)].to_bits(), slots()[0].1.to_bits());
    assert!(found[1][usize::from(A)] > 100.0);
}

/// Sums and steps with coefficients of slots, and the inner products that go into slots.
pub fn sums_and_steps_are_those_of_the_cpu<S: Subject>(subject: &S) {
    equal_to_the_cpu::<S, f32>(subject);
    equal_to_the_cpu::<S, f64>(subject);
}

/// The first condition that holds halts the slots; nothing changes from then on.
pub fn a_condition_that_holds_halts_the_slots<S: Subject>(subject: &S) {
    let n = 300;
    let ones = to_device(subject, &vec![1.0_f64; n]);
    let mut y = to_device(subject, &vec![1.0_f64; n]);
    let mut scalars = prepared(subject, &[slots(), vec![(B, n as f64)]].concat());
    let lost =
        Condition { test: Test::Vanished { value: A, squares: [A, ONE], epsilon: 1e-3 }, flag: 7 };
    let met = Condition { test: Test::Reached { value: A, bound: B }, flag: 9 };

    let ending = Ending { log: false, conditions: &[lost, met] };
    subject.dots(&mut scalars, A, [(&ones, &ones)], ending).unwrap();
    let halted = read(subject, &scalars);
    subject.dots(&mut scalars, 8, [(&y, &ones)], Ending::default()).unwrap();
    subject.lincomb(Some(&scalars), &mut y, 2.0, &[(1.0, &ones)]).unwrap();

    assert_eq!((halted[usize::from(A)], halted[usize::from(HALTED)]), (n as f64, 9.0));
    assert_eq!(read(subject, &scalars), halted);
    assert_eq!(to_host(subject, &y, n), vec![1.0; n]);
}

/// An inner product that is not a number counts as vanished, and meets no bound.
pub fn a_nan_halts_as_vanished<S: Subject>(subject: &S) {
    let v = to_device(subject, &[1.0, f64::NAN, 3.0]);
    let mut scalars = prepared(subject, &slots());
    let met = Condition { test: Test::Reached { value: A, bound: B }, flag: 1 };
    let lost = Condition {
        test: Test::Vanished { value: A, squares: [ONE, ONE], epsilon: 1e-16 },
        flag: 2,
    };

    let ending = Ending { log: false, conditions: &[met, lost] };
    subject.dots(&mut scalars, A, [(&v, &v)], ending).unwrap();

    assert_eq!(read(subject, &scalars)[usize::from(HALTED)] as u8, 2);
}

/// The log is a ring: the newest values replace the oldest.
pub fn the_log_is_a_ring<S: Subject>(subject: &S) {
    let mut scalars = prepared(subject, &slots());
    for k in 0..LOG + 3 {
        let v = to_device(subject, &[k as f64]);
        let one = to_device(subject, &[1.0]);
        let ending = Ending { log: true, conditions: &[] };
        subject.dots(&mut scalars, A, [(&v, &one)], ending).unwrap();
    }

    let read = read(subject, &scalars);

    assert_eq!(read[usize::from(LOGGED)] as usize, LOG + 3);
    assert_eq!(read[SLOTS..SLOTS + 4], [LOG as f64, LOG as f64 + 1.0, LOG as f64 + 2.0, 3.0]);
}
