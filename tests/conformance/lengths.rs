//! Operands of the wrong length are refused with an error before anything is done.

use gridgen::backend::scalars::{self, Coefficient, Epilogue, FIRST, SLOTS};
use gridgen::backend::{
    Advance, Algebraic, Coarsening, DeviceError, Incomplete, LevelSize, LinearOperator,
    MatrixFormat, Product, Result, SparseMatrix, Step,
};
use gridgen::sparse::{Csr, EllPattern, Schedule, WalledSides};
use support::problems::polar;
use support::stencil::{stencil, wall_columns};

use super::{Subject, random, to_device};

/// The pattern of a grid with fewer lines.
const SMALLER: EllPattern = EllPattern::NinePoint(LevelSize { mi: 10, mj: 4, periodic: false });

/// Asserts that the result is the error about the length.
#[track_caller]
fn refused<R>(what: &str, result: Result<R>) {
    let error = result.err().unwrap_or_else(|| panic!("{what} was done"));
    assert!(matches!(error, DeviceError::Length { .. }), "{what}: {error}");
    assert!(error.to_string().contains("values was given where"), "{what}: {error}");
    assert!(error.hint().unwrap().contains("one grid or system"), "{what}: {:?}", error.hint());
}

/// Random numbers on the device.
fn vector<S: Subject>(subject: &S, n: usize) -> S::Vector<f64> {
    to_device(subject, &random(7, n))
}

/// Replaces each of `N` vectors of 100 values by `other`, one at a time.
fn each_of<S: Subject, const N: usize>(
    subject: &S,
    name: &str,
    work: impl Fn([&mut S::Vector<f64>; N]) -> Result<()>,
) {
    let mut all: [_; N] = std::array::from_fn(|_| vector(subject, 100));
    work(all.each_mut()).unwrap();
    for other in [99, 101, 0] {
        for k in 0..N {
            let kept = std::mem::replace(&mut all[k], vector(subject, other));
            refused(&format!("{name}, {other} values in operand {k}"), work(all.each_mut()));
            all[k] = kept;
        }
    }
}

pub fn vectors_of_another_length_are_refused<S: Subject>(subject: &S) {
    let one = Coefficient::number(1.0);
    let slots = std::cell::RefCell::new(scalars::allocate(subject).unwrap());
    scalars::set(subject, &mut slots.borrow_mut(), &[]).unwrap();
    each_of(subject, "lincomb", |[y, a, b]| {
        subject.lincomb(None, y, 1.0, &[(2.0, &*a), (3.0, &*b)])
    });
    each_of(subject, "lincomb by slots", |[y, a, b]| {
        subject.lincomb(Some(&slots.borrow()), y, one, &[(one, &*a), (one, &*b)])
    });
    each_of(subject, "dots", |[a, b, c]| {
        let pairs = [(&*a, &*b), (&*b, &*c)];
        subject.dots(&mut slots.borrow_mut(), FIRST, pairs, Epilogue::default())
    });
    each_of(subject, "advance", |[x, h, r, v]| {
        let step = Advance { x, along: Some((one, h)), r, change: (one, v) };
        subject.advance(&mut slots.borrow_mut(), step, FIRST, Epilogue::default())
    });
    each_of(subject, "step", |[x, h, r, u, p, z, y]| {
        let (beta, gamma) = (one, one);
        let step = Step { x, a: one, along: (one, h), r, change: (one, u), beta, gamma };
        subject.step(&slots.borrow(), step, p, [z, y])
    });
    let mut single = subject.zeros::<f32>(100).unwrap();
    refused("convert", subject.convert(1.0, &vector(subject, 99), &mut single));
    let basis = [vector(subject, 100), vector(subject, 99)];
    refused("project", subject.project(&basis, &mut vector(subject, 100)));
    refused("upload", subject.upload(&[0.0; 99], &mut vector(subject, 100)));
}

pub fn scalars_without_their_slots_are_refused<S: Subject>(subject: &S) {
    let (one, v) = (Coefficient::number(1.0), vector(subject, 100));
    let [mut short, mut y] = [SLOTS, 100].map(|n| vector(subject, n));
    refused("read_back", subject.read_back(&short));
    refused("lincomb", subject.lincomb(Some(&short), &mut y, one, &[(one, &v)]));
    refused("dots", subject.dots(&mut short, FIRST, [(&v, &v)], Epilogue::default()));
    let mut slots = scalars::allocate(subject).unwrap();
    scalars::set(subject, &mut slots, &[]).unwrap();
    let last = SLOTS as u8 - 1;
    refused("two sums in the last slot", {
        subject.dots(&mut slots, last, [(&v, &v), (&v, &v)], Epilogue::default())
    });
}

pub fn products_with_vectors_of_another_length_are_refused<S: Subject>(subject: &S) {
    let (size, n) = (LevelSize { mi: 10, mj: 5, periodic: false }, 100);
    let (pattern, values) = stencil::<f64>(size);
    let a = subject.matrix_from(pattern, &values);
    let (pattern, values) = wall_columns::<f64>(size, WalledSides::SECTION);
    let b = subject.matrix_from(pattern, &values);
    let csr = Csr::from_rows((0..n).map(|row| [(row, 2.0)]));
    let rows = [MatrixFormat::Csr, MatrixFormat::Ell]
        .map(|format| subject.csr::<f64>(&csr, format).unwrap());
    each_of(subject, "a product", |[x, y]| subject.multiply(&a, x, Product::default(), y));
    for rows in &rows {
        each_of(subject, "a product by rows", |[x, y]| rows.apply(subject, x, y));
    }
    let mut y = vector(subject, n);
    refused("wall columns", b.apply(subject, &vector(subject, 19), &mut y));
    refused("wall columns", b.apply(subject, &vector(subject, n), &mut vector(subject, 99)));
    refused("sums", subject.wall_sums(&b, &vector(subject, n), &mut vector(subject, 19)));
    refused("sums", subject.wall_sums(&b, &vector(subject, 99), &mut y));
    let mut other = subject.matrix::<f64>(SMALLER).unwrap();
    refused("a transpose", subject.transpose(&a, &mut other));
    for kind in kinds() {
        let mut m = a.preconditioner(subject, kind).unwrap();
        m.update(subject, &a).unwrap();
        let m = std::cell::RefCell::new(m);
        each_of(subject, &format!("{kind:?}"), |[r, z]| m.borrow_mut().apply(subject, &a, r, z));
        let mut m = rows[0].preconditioner(subject, kind).unwrap();
        m.update(subject, &rows[0]).unwrap();
        let m = std::cell::RefCell::new(m);
        each_of(subject, &format!("{kind:?} by rows"), |[r, z]| {
            m.borrow_mut().apply(subject, &rows[0], r, z)
        });
    }
}

fn kinds() -> [Algebraic; 4] {
    let factors = |kind, schedule| Algebraic::Factors { kind, schedule, shift: 0.0 };
    [
        Algebraic::Jacobi,
        factors(Incomplete::Dilu, Schedule::Tiles),
        factors(Incomplete::Ilu0, Schedule::Auto),
        factors(Incomplete::Ilu0, Schedule::Levels),
    ]
}

pub fn levels_and_vectors_of_other_grids_are_refused<S: Subject>(subject: &S) {
    let size = |mi| LevelSize { mi, mj: 10, periodic: false };
    let matrix = |mi| {
        let (pattern, values) = stencil::<f64>(size(mi));
        subject.matrix_from(pattern, &values)
    };
    let kind = |mi| (size(mi), Coarsening::Full);
    let (a, larger) = (matrix(10), matrix(14));
    let level = |mi, a| subject.finest_level::<f64, f32>(None, kind(mi), false, a, None);
    let (mut fine, mut other) = (level(10, &a).unwrap(), level(14, &larger).unwrap());
    let coarse = |fine| subject.coarse_level(None, fine, Coarsening::Full).unwrap();
    let (mut below, below_other) = (coarse(&fine), coarse(&other));

    refused("a level of a larger matrix", level(10, &larger));
    refused("a level of a smaller matrix", level(14, &a));
    refused("a kept level", subject.finest_level(Some(coarse(&fine)), kind(10), false, &a, None));
    refused("a kept level", subject.coarse_level(Some(below_other), &fine, Coarsening::Full));
    refused("restriction", subject.restrict_residual(&mut other, &mut below));
    refused("prolongation", subject.prolong(&below, &mut other, None));
    for n in [199, 201] {
        refused("a right side", subject.load_right(&vector(subject, n), &mut fine));
        refused("a solution", subject.store_solution(&fine, &mut vector(subject, n)));
    }
    subject.load_right(&vector(subject, 200), &mut fine).unwrap();
}

pub fn unknowns_of_other_grids_are_refused<S: Subject>(subject: &S) {
    let (data, _) = polar(10, 5, false, [false; 4]);
    let (mut state, u) = subject.elliptic(&data).unwrap();
    subject.load_state(&mut state, &u).unwrap();
    for n in [99, 101, 0] {
        let mut other = vector(subject, n);
        refused("a state", subject.load_state(&mut state, &other));
        refused("a residual", subject.residual(&mut state, &mut other));
        refused("sums of a frame", subject.frame_sums(&state, &other));
    }
    let mut a = subject.matrix::<f64>(SMALLER).unwrap();
    refused("a Jacobian", subject.jacobian(&state, &mut a, None));
    let (mut s, mut d) = (vector(subject, 120), vector(subject, 20));
    let [z, short] = [20, 19].map(|n| vector(subject, n));
    refused("wall blocks", subject.factor_wall_blocks(10, [&z, &z, &short, &z], &mut s));
    refused("wall blocks", subject.solve_wall_blocks(10, &s, &short, &mut d));
    refused("wall blocks", subject.solve_wall_blocks(10, &vector(subject, 119), &z, &mut d));
    refused("wall points", subject.copy_points(10, (&short, 0), (&mut d, 0)));
}
