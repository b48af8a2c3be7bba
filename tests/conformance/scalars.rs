//! Scalars in the memory of the vectors.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::scalars::{
    self, Coefficient, Criterion, Epilogue, FIRST, HALTED, LOG, LOGGED, ONE, Recurrence, SLOTS,
    Slot, ZERO,
};
use gridgen::backend::{Advance, Real, Step};

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

/// The results of sums, inner products and steps on a subject: x, r, p and the scalars.
fn play<S: Subject, T: Real>(subject: &S, n: usize) -> ([Vec<T>; 3], Vec<f64>) {
    let [mut x, mut r, h, v, mut p] =
        [1, 2, 3, 4, 5].map(|seed| to_device(subject, &random::<T>(seed, n)));
    let mut scalars = prepared(subject, &slots());
    let beta = Coefficient { factor: -0.5, over: [A, B], under: [5, ONE] };
    let terms = [(Coefficient::ratio(2.0, 6, 7), &h)];
    subject.lincomb(Some(&scalars), &mut x, beta, &terms).unwrap();
    subject.dots(&mut scalars, 8, [(&x, &v), (&h, &h)], Epilogue::default()).unwrap();
    let three = [(&r, &v), (&h, &v), (&r, &r)];
    subject.dots(&mut scalars, 12, three, Epilogue::default()).unwrap();
    // Without and with a term of x.
    for along in [None, Some((Coefficient::ratio(1.0, A, B), &h))] {
        let log = along.map(|_| 10);
        let step =
            Advance { x: &mut x, along, r: &mut r, change: (Coefficient::number(-0.25), &v) };
        subject.advance(&mut scalars, step, 10, Epilogue { log, ..Epilogue::default() }).unwrap();
    }
    let step = Step {
        x: &mut x,
        a: Coefficient::ratio(0.5, 6, 7),
        along: (Coefficient::number(0.75), &v),
        r: &mut r,
        change: (Coefficient::ratio(-0.25, 7, 6), &h),
        beta,
        gamma: Coefficient::number(1.5),
    };
    subject.step(&scalars, step, &mut p, [&h, &v]).unwrap();
    let all = [(&x, &x), (&r, &r), (&p, &p), (&v, &h), (&h, &h)];
    let derived = [
        Recurrence { slot: 12, base: ZERO, plus: Coefficient::ratio(-2.0, B, A) },
        Recurrence {
            slot: 13,
            base: A,
            plus: Coefficient { factor: 3.0, over: [12, B], under: [A, ONE] },
        },
    ];
    let epilogue = Epilogue { recurrences: &derived, log: Some(13), ..Epilogue::default() };
    subject.dots(&mut scalars, 5, all, epilogue).unwrap();
    ([x, r, p].map(|v| to_host(subject, &v, n)), read(subject, &scalars))
}

fn equal_to_the_cpu<S: Subject, T: Real>(subject: &S) {
    for n in LENGTHS {
        let (vectors, scalars) = play::<S, T>(subject, n);
        let (vectors_cpu, scalars_cpu) = play::<_, T>(&CpuBackend, n);

        for ((found, expected), name) in vectors.iter().zip(&vectors_cpu).zip(["x", "r", "p"]) {
            assert_close(found, expected, 8.0, name);
        }
        for (k, (found, expected)) in scalars.iter().zip(&scalars_cpu).enumerate() {
            let bound = 1e-6 * if size_of::<T>() == 4 { 1.0 } else { 1e-6 };
            let scale = expected.abs().max(n as f64 * 1e-2).max(1.0);
            assert!((found - expected).abs() <= bound * scale, "slot {k}: {found} {expected}");
        }
        let logged = (scalars[usize::from(LOGGED)], scalars[SLOTS], scalars[SLOTS + 1]);
        assert_eq!(logged, (2.0, scalars[10], scalars[13]));
    }
}

/// A look returns the slots at the time of the request, whatever is requested before it is read.
pub fn a_look_finds_the_slots_as_they_were<S: Subject>(subject: &S) {
    let mut scalars = prepared(subject, &slots());
    let v = to_device(subject, &random::<f64>(1, 1000));
    let looks: Vec<_> = (0..8)
        .map(|_| {
            let look = subject.read_back(&scalars).unwrap();
            let epilogue = Epilogue { log: Some(A), ..Epilogue::default() };
            subject.dots(&mut scalars, A, [(&v, &v)], epilogue).unwrap();
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

pub fn sums_and_steps_are_those_of_the_cpu<S: Subject>(subject: &S) {
    equal_to_the_cpu::<S, f32>(subject);
    equal_to_the_cpu::<S, f64>(subject);
}

pub fn a_condition_that_holds_halts_the_slots<S: Subject>(subject: &S) {
    let n = 300;
    let ones = to_device(subject, &vec![1.0_f64; n]);
    let mut y = to_device(subject, &vec![1.0_f64; n]);
    let mut scalars = prepared(subject, &[slots(), vec![(B, n as f64)]].concat());
    let (lost, met) = (Criterion::lost::<f64>(A, [A, ONE], 7), Criterion::reached(A, B, 9));

    let epilogue = Epilogue { criteria: &[lost, met], ..Epilogue::default() };
    subject.dots(&mut scalars, A, [(&ones, &ones)], epilogue).unwrap();
    let halted = read(subject, &scalars);
    subject.dots(&mut scalars, 8, [(&y, &ones)], Epilogue::default()).unwrap();
    subject.lincomb(Some(&scalars), &mut y, 2.0, &[(1.0, &ones)]).unwrap();

    assert_eq!((halted[usize::from(A)], halted[usize::from(HALTED)]), (n as f64, 9.0));
    assert_eq!(read(subject, &scalars), halted);
    assert_eq!(to_host(subject, &y, n), vec![1.0; n]);
}

pub fn nothing_follows_a_condition_that_holds_before<S: Subject>(subject: &S) {
    let ones = to_device(subject, &vec![1.0_f64; 300]);
    let derived = [Recurrence { slot: B, base: A, plus: Coefficient::ratio(2.0, A, ONE) }];
    for (bound, flag) in [(299.0, 0), (300.0, 4)] {
        let mut scalars = prepared(subject, &[slots(), vec![(8, bound)]].concat());
        let epilogue = Epilogue {
            before: &[Criterion::reached(A, 8, 4)],
            recurrences: &derived,
            log: Some(B),
            criteria: &[Criterion::reached(A, 8, 5)],
        };
        let former = read(subject, &scalars)[usize::from(B)];

        subject.dots(&mut scalars, A, [(&ones, &ones)], epilogue).unwrap();

        let read = read(subject, &scalars);
        let follows = if flag == 0 { (900.0, 1.0, 900.0) } else { (former, 0.0, 0.0) };
        assert_eq!(read[usize::from(HALTED)] as u8, flag);
        assert_eq!((read[usize::from(B)], read[usize::from(LOGGED)], read[SLOTS]), follows);
    }
}

/// An inner product that is NaN counts as vanished, and satisfies no bound.
pub fn a_nan_halts_as_vanished<S: Subject>(subject: &S) {
    let v = to_device(subject, &[1.0, f64::NAN, 3.0]);
    let mut scalars = prepared(subject, &slots());
    let (met, lost) = (Criterion::reached(A, B, 1), Criterion::lost::<f64>(A, [ONE, ONE], 2));

    let epilogue = Epilogue { criteria: &[met, lost], ..Epilogue::default() };
    subject.dots(&mut scalars, A, [(&v, &v)], epilogue).unwrap();

    assert_eq!(read(subject, &scalars)[usize::from(HALTED)] as u8, 2);
}

pub fn the_log_is_a_ring<S: Subject>(subject: &S) {
    let mut scalars = prepared(subject, &slots());
    for k in 0..LOG + 3 {
        let v = to_device(subject, &[k as f64]);
        let one = to_device(subject, &[1.0]);
        let epilogue = Epilogue { log: Some(A), ..Epilogue::default() };
        subject.dots(&mut scalars, A, [(&v, &one)], epilogue).unwrap();
    }

    let read = read(subject, &scalars);

    assert_eq!(read[usize::from(LOGGED)] as usize, LOG + 3);
    assert_eq!(read[SLOTS..SLOTS + 4], [LOG as f64, LOG as f64 + 1.0, LOG as f64 + 2.0, 3.0]);
}
