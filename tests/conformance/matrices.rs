//! ELL matrices: products and diagonals.

use gridgen::backend::cpu::{CpuBackend, EllMatrix};
use gridgen::backend::{
    Algebraic, Backend, LevelSize, PreconditionerFailure, Product, Real, SolverError,
    SparseBackend, SparseMatrix,
};
use gridgen::sparse::{EllPattern, WalledSides};

use support::around::{Asked, VECTORS};

use super::{SIZES, Subject, assert_close, random, to_device, to_host};

/// Random values for the entries of the pattern, zero in the padding.
pub fn random_values<T: Real>(seed: u64, pattern: EllPattern) -> Vec<T> {
    let mut values = vec![T::zero(); pattern.rows() * pattern.width()];
    let all = random::<T>(seed, values.len());
    for row in 0..pattern.rows() {
        for (at, _) in pattern.row(row) {
            values[at] = all[at];
        }
    }
    values
}

/// All sizes, with both kinds of seam.
fn sizes() -> impl Iterator<Item = LevelSize> {
    // A single point has no neighbours around the seam.
    let held = SIZES.into_iter().chain([(1, 1), (2, 1), (1, 31)]).map(|size| (size, false));
    let all = held.chain(SIZES.map(|size| (size, true)));
    all.map(|((mi, mj), periodic)| LevelSize { mi, mj, periodic })
}

/// Nine-point patterns of all sizes and with both kinds of seam.
pub fn nine_point_patterns() -> impl Iterator<Item = EllPattern> {
    sizes().map(EllPattern::NinePoint)
}

fn check_products<S: Subject, T: Real>(subject: &S, pattern: EllPattern, skips: &[[usize; 2]]) {
    let n = pattern.rows();
    let values = match pattern {
        EllPattern::TenNumbers(_) => random::<T>(1, n * pattern.width()),
        _ => random_values::<T>(1, pattern),
    };
    let (x, start) = (random::<T>(2, n), random::<T>(3, n));
    let a = EllMatrix::from_values(pattern, values.clone());
    let on_device = subject.matrix_from(pattern, &values);
    let x_device = to_device(subject, &x);
    for (&skipped, add) in skips.iter().flat_map(|skip| [(skip, false), (skip, true)]) {
        let product = Product { skipped, add };
        let (mut expected, mut y) = (start.clone(), to_device(subject, &start));
        CpuBackend.multiply(&a, &x, product, &mut expected).unwrap();

        subject.multiply(&on_device, &x_device, product, &mut y).unwrap();

        let what = format!("{pattern:?}, {product:?}");
        assert_close(&to_host(subject, &y, n), &expected, 20.0, &what);
    }
}

pub fn a_new_matrix_is_zero<S: Subject>(subject: &S) {
    for pattern in [EllPattern::NinePoint, EllPattern::TenNumbers] {
        let pattern = pattern(LevelSize { mi: 37, mj: 5, periodic: true });
        let values = subject.matrix_values(&subject.matrix::<f32>(pattern).unwrap()).unwrap();
        assert!(values.iter().all(|value| value.to_bits() == 0));
    }
}

pub fn products_on_the_nine_point_pattern<S: Subject>(subject: &S) {
    for pattern in nine_point_patterns() {
        let last = pattern.rows().min(62);
        check_products::<S, f64>(subject, pattern, &[[0; 2], [2, 0], [0, 2], [2, last - 2]]);
        check_products::<S, f32>(subject, pattern, &[[0; 2], [2, 2]]);
    }
}

pub fn products_by_ten_numbers<S: Subject>(subject: &S) {
    for size in sizes() {
        let pattern = EllPattern::TenNumbers(size);
        // Rows of points are skipped, those along walls.
        let [row, rows] = [2 * size.mi, pattern.rows()];
        let skips = [[0; 2], [row, 0], [0, row], [row.min(rows - row), row]];
        check_products::<S, f64>(subject, pattern, &skips[..if size.mj > 1 { 4 } else { 1 }]);
        check_products::<S, f32>(subject, pattern, &skips[..1]);
    }
}

pub fn entries_of_ten_numbers<S: Subject>(subject: &S) {
    for size in sizes() {
        let (numbers, entries) = (EllPattern::TenNumbers(size), EllPattern::NinePoint(size));
        let values = random::<f32>(1, numbers.rows() * numbers.width());
        let a = CpuBackend.matrix_from(numbers, &values);
        let mut expected = CpuBackend.matrix(entries).unwrap();
        CpuBackend.entries(&a, &mut expected).unwrap();
        // The previous contents of the slots must not matter.
        let ones = vec![1.0; entries.rows() * entries.width()];
        let mut found = subject.matrix_from(entries, &ones);

        subject.entries(&subject.matrix_from(numbers, &values), &mut found).unwrap();

        let found = subject.matrix_values(&found).unwrap();
        assert_eq!(found, expected.values(), "{size:?}");
    }
}

pub fn products_on_the_pattern_of_the_wall_columns<S: Subject>(subject: &S) {
    for (mi, mj) in SIZES {
        let [section, four] = [WalledSides::SECTION, WalledSides([true; 4])];
        for walls in [section, WalledSides([true, true, false, false]), four] {
            let size = LevelSize { mi, mj, periodic: false };
            let pattern = EllPattern::WallColumns(size, walls);
            check_products::<S, f64>(subject, pattern, &[[0; 2]]);
            check_products::<S, f32>(subject, pattern, &[[0; 2]]);
        }
    }
}

pub fn products_with_wall_columns<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, size: LevelSize, walls: [bool; 4]) {
        let pattern = EllPattern::TenNumbers(size);
        let columns = EllPattern::WallColumns(size, WalledSides(walls));
        let n = pattern.rows();
        let (values, of_walls) =
            (random::<T>(1, n * pattern.width()), random_values::<T>(2, columns));
        let (x, start) = (random::<T>(3, n), random::<T>(4, n));
        let row = if size.mj > 1 { 2 * size.mi } else { 0 };
        let skipped = [0, 1].map(|end| if walls[end] { row } else { 0 });
        let (mut expected, mut y) = (start.clone(), to_device(subject, &start));
        let matrices = [(pattern, &values), (columns, &of_walls)];
        let [a, b] = matrices.map(|(pattern, values)| CpuBackend.matrix_from(pattern, values));
        CpuBackend.multiply_with_walls(&a, &b, &x, skipped, &mut expected).unwrap();
        let [a, b] = matrices.map(|(pattern, values)| subject.matrix_from(pattern, values));

        subject.multiply_with_walls(&a, &b, &to_device(subject, &x), skipped, &mut y).unwrap();

        let what = format!("{size:?}, {walls:?}");
        assert_close(&to_host(subject, &y, n), &expected, 20.0, &what);
    }
    for size in sizes() {
        for walls in [[true, false, false, false], [true, true, false, false], [true; 4]] {
            check::<S, f64>(subject, size, walls);
            check::<S, f32>(subject, size, walls);
        }
    }
}

pub fn a_matrix_is_transposed<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, pattern: EllPattern) {
        let values = random_values::<T>(1, pattern);
        let a = subject.matrix_from(pattern, &values);
        let mut t = subject.matrix::<T>(pattern).unwrap();

        subject.transpose(&a, &mut t).unwrap();

        let found = subject.matrix_values(&t).unwrap();
        let entries = |values: &[T]| -> Vec<(usize, usize, u64)> {
            let rows = (0..pattern.rows())
                .flat_map(|row| pattern.row(row).map(move |(at, column)| (row, column, at)));
            rows.map(|(row, column, at)| (row, column, values[at].widen().to_bits())).collect()
        };
        let mut expected = entries(&values);
        for (row, column, _) in &mut expected {
            std::mem::swap(row, column);
        }
        let mut found = entries(&found);
        // Around a row of two points the neighbours on both sides coincide.
        expected.sort_unstable();
        found.sort_unstable();
        assert_eq!(found, expected, "{pattern:?}");
    }
    for pattern in nine_point_patterns() {
        check::<S, f64>(subject, pattern);
        check::<S, f32>(subject, pattern);
    }
}

pub fn wall_columns_are_summed_up<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, (mi, mj): (usize, usize), walls: [bool; 4]) {
        let pattern =
            EllPattern::WallColumns(LevelSize { mi, mj, periodic: false }, WalledSides(walls));
        let (values, x) = (random_values::<T>(1, pattern), random::<T>(2, pattern.rows()));
        let rest = random::<T>(3, pattern.rows());
        let mut expected = rest.clone();
        for column in 0..pattern.rows() {
            let (i, j) = (column / 2 % mi, column / 2 / mi);
            let of_j = (walls[0] && j == 0) || (walls[1] && j + 1 == mj);
            // A point on walls of both directions has the sum along the xi-line.
            let of_i = (walls[2] && i == 0) || (walls[3] && i + 1 == mi);
            if !of_i && !of_j {
                continue;
            }
            let rows = (0..pattern.rows())
                .filter(|row| if of_i { row / 2 / mi == j } else { row / 2 % mi == i });
            let of_row = |row: usize| {
                let entries = || pattern.row(row).filter(|&(_, at)| at == column);
                let entry = if of_i { entries().last() } else { entries().next() };
                entry.map_or(0.0, |(at, _)| values[at].widen() * x[row].widen())
            };
            expected[column] = T::narrow(rows.map(of_row).sum());
        }
        let b = subject.matrix_from(pattern, &values);
        let mut sums = to_device(subject, &rest);

        subject.wall_sums(&b, &to_device(subject, &x), &mut sums).unwrap();

        let found = to_host(subject, &sums, pattern.rows());
        assert_close(&found, &expected, 20.0, &format!("{mi} × {mj} points, walls {walls:?}"));
    }
    for size in SIZES {
        check::<S, f64>(subject, size, WalledSides::SECTION.0);
        check::<S, f32>(subject, size, WalledSides::SECTION.0);
        if size.1 > 1 {
            check::<S, f64>(subject, size, [true, true, false, false]);
            check::<S, f64>(subject, size, [true, false, false, true]);
            check::<S, f32>(subject, size, [true; 4]);
        }
    }
}

/// The row at which an update of the inverse diagonal stopped.
pub(super) fn bad_row(updated: Result<(), SolverError>) -> Option<usize> {
    match updated {
        Ok(()) => None,
        Err(SolverError::Preconditioner(PreconditionerFailure::Pivot { row, .. })) => Some(row),
        Err(other) => panic!("{other}"),
    }
}

/// z ← diag(A)⁻¹ r; returns the row at which the update of the inverse diagonal stopped.
pub(super) fn scaled<B: Backend, T: Real>(
    backend: &B,
    a: &impl SparseMatrix<B, T>,
    r: &B::Vector<T>,
    z: &mut B::Vector<T>,
) -> Option<usize> {
    let mut jacobi = a.preconditioner(backend, Algebraic::Jacobi).unwrap();
    let row = bad_row(jacobi.update(backend, a));
    jacobi.apply(backend, a, r, z).unwrap();
    row
}

pub fn a_scaled_vector_is_multiplied<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, pattern: EllPattern, asked: Asked) {
        let (n, values) = (pattern.rows(), random_values::<T>(1, pattern));
        let start: [Vec<T>; VECTORS] = std::array::from_fn(|k| random::<T>(3 + k as u64, n));
        let a = EllMatrix::from_values(pattern, values.clone());
        let (expected, _) = asked.repeated(&CpuBackend, &a, &start, 1);
        let a = subject.matrix_from(pattern, &values);

        let (vectors, found) = asked.repeated(subject, &a, &start, 1);

        let what = format!("{pattern:?}, {asked:?}");
        let [p, z, y, others @ ..] = &vectors;
        let [own_p, own_z, own_y, own_others @ ..] = &expected;
        if asked == Asked::Halted {
            assert_eq!((p, &others[..]), (&start[0], &start[3..]), "{what}");
            assert!(found.iter().all(|sum| *sum == 0.0), "{what}: {found:?}");
            return;
        }
        for (found, expected) in others.iter().zip(own_others) {
            assert_close(found, expected, 4.0, &what);
        }
        assert_close(p, own_p, 8.0, &what);
        assert_close(z, own_z, 8.0, &what);
        assert_close(y, own_y, 40.0, &what);
        let w = &start[VECTORS - 1];
        for (found, expected) in found.into_iter().zip(asked.sums(p, y, w)) {
            let bound = 1e-13 * asked.sums(y, y, y)[1].max(p.len() as f64);
            assert!((found - expected).abs() <= bound, "{what}: {found:e} for {expected:e}");
        }
    }
    for asked in Asked::ALL {
        for pattern in nine_point_patterns() {
            check::<S, f64>(subject, pattern, asked);
            check::<S, f32>(subject, pattern, asked);
        }
    }
}

pub fn diagonals_are_inverted<S: Subject>(subject: &S) {
    fn check<S: Subject, T: Real>(subject: &S, pattern: EllPattern) {
        let (values, ones) = (random_values::<T>(1, pattern), vec![T::one(); pattern.rows()]);
        let (mut expected, mut d) =
            (vec![T::zero(); pattern.rows()], subject.zeros(pattern.rows()).unwrap());
        let a = EllMatrix::from_values(pattern, values.clone());
        let first = scaled(&CpuBackend, &a, &ones, &mut expected);

        let a = subject.matrix_from(pattern, &values);
        let found = scaled(subject, &a, &to_device(subject, &ones), &mut d);

        assert_eq!(found, first);
        for (found, expected) in to_host(subject, &d, pattern.rows()).iter().zip(expected) {
            let same = *found == expected
                || (*found / expected - T::one()).abs() <= T::narrow(4.0) * T::epsilon();
            assert!(same, "{found:?} for {expected:?}");
        }
    }
    for pattern in nine_point_patterns() {
        check::<S, f64>(subject, pattern);
        check::<S, f32>(subject, pattern);
    }
}
