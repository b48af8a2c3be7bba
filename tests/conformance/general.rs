//! Matrices of any pattern: products, factors and triangular solves under every schedule.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{
    Algebraic, BadPivot, Incomplete, LinearOperator, MatrixFormat, Real, SparseBackend,
    SparseMatrix,
};
use gridgen::sparse::{Csr, Graph, ROW_TILE, RowSets, Schedule, colours};

use super::matrices::scaled;
use super::{LENGTHS, Subject, assert_close, random, to_device, to_host};
use support::linear::{bad_pivot, transposed};
use support::random::Random;

/// Schedules that apply the M of the natural order.
const NATURAL: [Schedule; 3] = [Schedule::Auto, Schedule::Levels, Schedule::SyncFree];
const KINDS: [Incomplete; 4] =
    [Incomplete::Dilu, Incomplete::Dic, Incomplete::Ilu0, Incomplete::Ic0];

/// Random entries, at most `most` in a row; some rows have none but a given `diagonal`.
fn scattered(rows: usize, most: usize, diagonal: Option<f64>) -> Csr {
    let mut random = Random::new(rows as u64 + most as u64);
    Csr::from_rows((0..rows).map(|row| {
        let length = if row % 7 == 3 { 0 } else { row * 5 % (most + 1) };
        let mut columns: Vec<usize> = random
            .vector(length)
            .into_iter()
            .map(|u| ((u.abs() * rows as f64) as usize).min(rows - 1))
            .collect();
        columns.extend(diagonal.map(|_| row));
        columns.sort_unstable();
        columns.dedup();
        let values = random.vector(columns.len());
        let entry = |(column, value): (usize, f64)| {
            let own = if column == row { diagonal.unwrap_or(0.0) } else { 0.0 };
            (column, value + own)
        };
        columns.into_iter().zip(values).map(entry).collect::<Vec<_>>()
    }))
}

/// A five-point stencil with a wind, and a first row and column with entries everywhere.
fn arrow(mi: usize, mj: usize) -> Csr {
    let n = mi * mj;
    Csr::from_rows((0..n).map(|row| {
        let (i, j) = (row % mi, row / mi);
        let beside = [
            (i > 0).then(|| (row - 1, -1.3)),
            (i + 1 < mi).then(|| (row + 1, -0.7)),
            (j > 0).then(|| (row - mi, -1.1)),
            (j + 1 < mj).then(|| (row + mi, -0.9)),
        ];
        let mut entries: Vec<(usize, f64)> = beside.into_iter().flatten().collect();
        if row == 0 {
            entries.extend((2..n).filter(|&k| k != mi).map(|k| (k, 1e-4)));
        } else if row != 1 && row != mi {
            entries.push((0, 2e-4));
        }
        entries.push((row, 4.5 + 0.1 * (row % 3) as f64));
        entries
    }))
}

/// The symmetric matrix with the given lower triangle.
fn mirrored(a: &Csr) -> Csr {
    let columns = transposed(a);
    Csr::from_rows((0..a.rows()).map(|row| {
        let lower = a.row(row).filter(move |&(column, _)| column <= row);
        lower.chain(columns.row(row).filter(move |&(column, _)| column > row))
    }))
}

/// The matrices to be factorised.
fn factored() -> Vec<Csr> {
    let sizes = [1, 31, 32, 33, 257, 600];
    let mut all: Vec<Csr> = sizes.iter().map(|&n| scattered(n, 6, Some(9.0))).collect();
    // Rows long enough for a whole warp, among short ones.
    all.push(scattered(400, 90, Some(90.0)));
    all.push(arrow(23, 19));
    all.push(Csr::from_rows((0..70_usize).map(|row| {
        row.checked_sub(1).map(|before| (before, 0.5)).into_iter().chain([(row, 2.0)])
    })));
    all
}

/// A x.
fn product<S: Subject, T: Real>(subject: &S, a: &Csr, format: MatrixFormat) -> Vec<T> {
    let n = a.rows();
    let [x, mut y] = [3, 4].map(|seed| to_device(subject, &random::<T>(seed, n)));
    subject.csr::<T>(a, format).unwrap().apply(subject, &x, &mut y).unwrap();
    to_host(subject, &y, n)
}

fn check_product<S: Subject, T: Real>(subject: &S, a: &Csr, format: MatrixFormat) {
    let (expected, found) = (product(&CpuBackend, a, format), product(subject, a, format));
    let what = format!("{} rows, {} entries, {format:?}", a.rows(), a.values.len());
    assert_close::<T>(&found, &expected, 50.0, &what);
}

pub fn products_of_any_pattern<S: Subject>(subject: &S) {
    let mut all: Vec<Csr> =
        [1, 31, 32, 33, 257, 37 * 53].iter().map(|&n| scattered(n, 9, None)).collect();
    all.push(scattered(3000, 40, None));
    all.push(arrow(37, 53));
    // A row longer than a part, rows of a chunk, and many empty ones.
    all.push(Csr::from_rows((0..20_000_usize).map(|row| match row {
        7 => (0..20_000).map(|column| (column, 0.25)).collect(),
        9000 => (0..3000).map(|column| (3 * column, -0.5)).collect(),
        _ if row % 4 == 0 => vec![(row, 1.0)],
        _ => vec![],
    })));
    for a in &all {
        for format in [MatrixFormat::Csr, MatrixFormat::Ell] {
            check_product::<S, f64>(subject, a, format);
            check_product::<S, f32>(subject, a, format);
        }
    }
}

pub fn diagonals_of_any_pattern<S: Subject>(subject: &S) {
    fn inverted<S: Subject, T: Real>(subject: &S, a: &Csr) -> (Option<usize>, Vec<T>) {
        let r = to_device(subject, &random::<T>(6, a.rows()));
        let (mut z, n) = (subject.zeros(a.rows()).unwrap(), a.rows());
        let a = subject.csr::<T>(a, MatrixFormat::Csr).unwrap();
        (scaled(subject, &a, &r, &mut z), to_host(subject, &z, n))
    }
    for (n, diagonal) in LENGTHS.into_iter().flat_map(|n| [(n, None), (n, Some(3.0))]) {
        let a = scattered(n, 5, diagonal);
        assert_eq!(inverted::<S, f64>(subject, &a), inverted(&CpuBackend, &a));
        assert_eq!(inverted::<S, f32>(subject, &a), inverted(&CpuBackend, &a));
    }
}

/// M⁻¹ r on the CPU, and the pivot at which it stops.
fn expected<T: Real>(a: &Csr, kind: Incomplete, shift: f64, r: &[T]) -> (Vec<T>, Option<BadPivot>) {
    let a = if kind.symmetric() { mirrored(a) } else { a.clone() };
    let matrix = CpuBackend.csr::<T>(&a, MatrixFormat::Csr).unwrap();
    let kind = Algebraic::Factors { kind, schedule: Schedule::SyncFree, shift };
    let mut factors = matrix.preconditioner(&CpuBackend, kind).unwrap();
    let bad = bad_pivot(factors.update(&CpuBackend, &matrix));
    let mut z = vec![T::zero(); r.len()];
    if bad.is_none() {
        factors.apply(&CpuBackend, &matrix, &r.to_vec(), &mut z).unwrap();
    }
    (z, bad)
}

/// Factorises twice and solves eight times, so that every way of waiting is tried.
fn check<S: Subject, T: Real>(
    subject: &S,
    a: &Csr,
    (kind, schedule, shift): (Incomplete, Schedule, f64),
    z: &[T],
    bad: Option<BadPivot>,
) {
    let n = a.rows();
    let r = to_device(subject, &random::<T>(5, n));
    let what = format!("{n} rows, {kind:?}, {schedule:?}, shift {shift}");
    let matrix = subject.csr::<T>(a, MatrixFormat::Csr).unwrap();
    let kind = Algebraic::Factors { kind, schedule, shift };
    let mut factors = matrix.preconditioner(subject, kind).unwrap();
    for _ in 0..2 {
        let found = bad_pivot(factors.update(subject, &matrix));
        assert_eq!(found.map(|bad| bad.row), bad.map(|bad| bad.row), "{what}");
    }
    if bad.is_some() {
        return;
    }
    let mut found = to_device(subject, &random::<T>(6, n));
    let mut first = None;
    for _ in 0..8 {
        factors.apply(subject, &matrix, &r, &mut found).unwrap();
        let found = to_host(subject, &found, n);
        assert_close(&found, z, 200.0, &what);
        // The bits must be the same, whichever way of waiting is used.
        assert_eq!(first.get_or_insert_with(|| found.clone()), &found, "{what}");
    }
}

fn check_schedules<S: Subject, T: Real>(subject: &S, schedules: &[Schedule]) {
    for a in factored() {
        for kind in KINDS {
            let shift = if a.rows() % 2 == 1 { 0.3 } else { 0.0 };
            let (z, bad) = expected(&a, kind, shift, &random::<T>(5, a.rows()));
            for &schedule in schedules {
                check(subject, &a, (kind, schedule, shift), &z, bad);
            }
        }
    }
}

pub fn schedules_of_natural_order_apply_the_same_factors<S: Subject>(subject: &S) {
    check_schedules::<S, f64>(subject, &NATURAL);
    check_schedules::<S, f32>(subject, &[Schedule::Auto, Schedule::SyncFree]);
}

pub fn colours_renumber_the_rows<S: Subject>(subject: &S) {
    // One matrix has a mirrored partner for every entry; another needs more colours than there are bits.
    let paired = mirrored(&scattered(700, 6, Some(9.0)));
    let crowded =
        Csr::from_rows((0..70).map(|row| {
            (0..70).map(move |column| (column, if row == column { 90.0 } else { 1.0 }))
        }));
    for a in factored().into_iter().chain([paired, crowded]) {
        for kind in [Incomplete::Dilu, Incomplete::Ilu0] {
            let order = RowSets::by_number(&colours(&Graph::new(a.pattern()))).rows().to_vec();
            let r = random::<f64>(5, a.rows());
            let renumbered: Vec<f64> = order.iter().map(|&row| r[row as usize]).collect();
            let (solved, bad) = expected(&a.permuted(&order), kind, 0.0, &renumbered);
            let mut z = vec![0.0; r.len()];
            for (&row, value) in order.iter().zip(solved) {
                z[row as usize] = value;
            }

            check(subject, &a, (kind, Schedule::Colours, 0.0), &z, bad);
        }
    }
}

pub fn tiles_drop_what_couples_them<S: Subject>(subject: &S) {
    for a in factored().into_iter().chain([scattered(3 * ROW_TILE + 5, 12, Some(9.0))]) {
        for kind in KINDS {
            let within = |row: usize| {
                let tile = move |&(column, _): &(usize, f64)| column / ROW_TILE == row / ROW_TILE;
                a.row(row).filter(tile).collect::<Vec<_>>()
            };
            let cut = Csr::from_rows((0..a.rows()).map(within));
            let (z, bad) = expected(&cut, kind, 0.0, &random::<f64>(5, a.rows()));

            check(subject, &a, (kind, Schedule::Tiles, 0.0), &z, bad);
        }
    }
}

/// A tridiagonal matrix.
fn chain(n: usize, diagonal: impl Fn(usize) -> Option<f64>) -> Csr {
    Csr::from_rows((0..n).map(|row| {
        let beside = [row.checked_sub(1), (row + 1 < n).then_some(row + 1)];
        let beside = beside.into_iter().flatten().map(|column| (column, -1.0));
        beside.chain(diagonal(row).map(|value| (row, value))).collect::<Vec<_>>()
    }))
}

pub fn the_first_bad_pivot_and_its_value<S: Subject>(subject: &S) {
    let schedules = [&NATURAL[..], &[Schedule::Tiles]].concat();
    let with = |at, value| chain(100, move |row| Some(if row == at { value } else { 4.0 }));
    let absent = chain(100, |row| (row != 60 && row != 77).then_some(4.0));
    let negative = |value: f64| (-3.3..-3.2).contains(&value);
    for (a, row, fits) in [
        (with(41, -3.0), 41, negative as fn(f64) -> bool),
        (absent, 60, |value| value.abs() == 0.0),
        (with(33, f64::NAN), 33, f64::is_nan),
        (with(35, f64::INFINITY), 35, |value| !value.is_finite()),
    ] {
        for kind in KINDS {
            let bad = row != 41 || kind.symmetric();
            for &schedule in &schedules {
                let matrix = subject.csr::<f64>(&a, MatrixFormat::Csr).unwrap();
                let factors = Algebraic::Factors { kind, schedule, shift: 0.0 };
                let mut factors = matrix.preconditioner(subject, factors).unwrap();

                let found = bad_pivot(factors.update(subject, &matrix));

                assert_eq!(found.map(|bad| bad.row), bad.then_some(row), "{kind:?}, {schedule:?}");
                assert!(found.is_none_or(|bad| fits(bad.value)), "row {row}: {found:?}");
            }
        }
    }
}

pub fn a_nan_or_a_zero_does_not_stop_a_solve<S: Subject>(subject: &S) {
    let (n, a) = (300, chain(300, |_| Some(4.0)));
    for schedule in [&NATURAL[..], &[Schedule::Tiles, Schedule::Colours]].concat() {
        let matrix = subject.csr::<f64>(&a, MatrixFormat::Csr).unwrap();
        let kind = Algebraic::Factors { kind: Incomplete::Dilu, schedule, shift: 0.0 };
        let mut factors = matrix.preconditioner(subject, kind).unwrap();
        factors.update(subject, &matrix).unwrap();
        let mut z = subject.zeros::<f64>(n).unwrap();
        let mut nans = vec![0.0; n];
        nans[7] = f64::from_bits(u64::MAX);

        factors.apply(subject, &matrix, &to_device(subject, &nans), &mut z).unwrap();
        assert!(to_host(subject, &z, n)[7].is_nan(), "{schedule:?}");
        factors.apply(subject, &matrix, &to_device(subject, &vec![0.0; n]), &mut z).unwrap();

        assert_eq!(to_host(subject, &z, n), vec![0.0; n], "{schedule:?}");
    }
}
