//! Times of kernels, compared with a copy of the bytes that they must move.

mod levels;

use crate::problem::ellipses;
use crate::solvers::from_zero;
use crate::timing;
use crate::{BenchBackend, Results, Size, Table, VendorWork};
use gridgen::backend::{Backend, EllipticData, LinearOperator, MatrixFormat, Product, Real};
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::solver::krylov::{Bicgstab, Target};
use gridgen::solver::linear::Precision;
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{NonlinearProblem, SolverError};
use gridgen::sparse::{EllPattern, Schedule, WalledSides};

/// Slots a row of the field Jacobian and of the wall columns.
const FIELD: usize = 13;
const WALL: usize = 2;
/// Schedules of DILU, and the largest number of points at which each is measured: on a long grid level
/// scheduling takes thousands of launches.
const SCHEDULES: [(Schedule, &str, usize); 3] = [
    (Schedule::Tiles, "DILU in tiles", usize::MAX),
    (Schedule::Colours, "DILU by colours", 5_000_000),
    (Schedule::Levels, "DILU by levels", 1_000_000),
];
/// Largest number of points for the comparison with other libraries, whose matrix is made on the host.
const COMPARED: usize = 5_000_000;
/// Iterations of a timed BiCGStab run, and of one with multigrid.
const ITERATIONS: [usize; 2] = [96, 4];

/// Tables of kernels at each size, in single and double precision.
pub fn kernels<B: BenchBackend>(backend: &B, sizes: &[Size]) -> Result<Results, SolverError> {
    let mut tables = Vec::new();
    for &size in sizes {
        tables.push(table::<B, f32>(backend, size)?);
        tables.push(table::<B, f64>(backend, size)?);
    }
    Ok(tables.into())
}

/// The table of kernels on `ni` × `nj` points with matrices of `T`.
///
/// Bytes are those that a kernel must move: every array read or written once. The share is the time of a copy
/// of the same number of bytes, measured at the same time, divided by the kernel's time.
fn table<B: BenchBackend, T: Real>(backend: &B, (ni, nj): Size) -> Result<Table, SolverError> {
    let precision = if size_of::<T>() == 4 { "single" } else { "double" };
    let title = format!("{ni} × {nj} points, {precision}-precision matrices");
    let columns = ["kernel", "MB", "ms", "GB/s", "copy GB/s", "share of copy"];
    let mut rows = Rows { backend, table: Table::new(title, &columns) };
    let data = ellipses(ni, nj);
    grid_equations::<B, T>(&mut rows, &data)?;
    vectors::<B, T>(&mut rows, 2 * data.mi * data.mj)?;
    multigrid::<B, T>(&mut rows, &data)?;
    levels::rows::<B, T>(&mut rows, &data)?;
    if ni * nj <= COMPARED {
        compared::<B, T>(&mut rows, &data)?;
    }
    let frozen = EllipticData { walls: Default::default(), ..data.clone() };
    for (kind, name) in
        [(Kind::Jacobi, "Jacobi"), (Kind::Multigrid, "multigrid"), (Kind::Ilu0, "ILU(0)")]
    {
        iteration::<B, T>(&mut rows, &frozen, (kind, Schedule::Auto), name)?;
    }
    iteration::<B, T>(&mut rows, &data, (Kind::Ilu0, Schedule::Auto), "ILU(0), coupled wall")?;
    for (schedule, name, largest) in SCHEDULES {
        if B::HAS_SCHEDULES && ni * nj <= largest {
            iteration::<B, T>(&mut rows, &frozen, (Kind::Dilu, schedule), name)?;
        }
    }
    Ok(rows.table)
}

/// The table under construction.
struct Rows<'a, B> {
    backend: &'a B,
    table: Table,
}

impl<B: BenchBackend> Rows<'_, B> {
    /// Measures `work`, which moves `bytes` if they are known.
    fn add(
        &mut self,
        name: &str,
        bytes: usize,
        mut work: impl FnMut() -> Result<(), SolverError>,
    ) -> Result<(), SolverError> {
        let seconds = timing::seconds(self.backend, &mut work)?;
        self.rate(name, bytes, seconds)
    }

    /// Adds the row of a kernel that moves `bytes` in `seconds`.
    fn rate(&mut self, name: &str, bytes: usize, seconds: f64) -> Result<(), SolverError> {
        let copy = timing::copy_seconds(self.backend, bytes)?;
        let rate = |seconds: f64| format!("{:.1}", bytes as f64 / seconds / 1e9);
        self.table.rows.push(vec![
            name.to_owned(),
            format!("{:.2}", bytes as f64 / 1e6),
            format!("{:.4}", 1e3 * seconds),
            rate(seconds),
            rate(copy),
            format!("{:.0} %", 100.0 * copy / seconds),
        ]);
        Ok(())
    }

    /// Adds a row with a time only.
    fn time(&mut self, name: &str, seconds: f64) {
        let cells = [name, "", &format!("{:.4}", 1e3 * seconds), "", "", ""];
        self.table.rows.push(cells.map(str::to_owned).into());
    }

    /// Adds a row that explains why there are no figures.
    fn say(&mut self, why: &str) {
        self.table.rows.push([why, "", "", "", "", ""].map(str::to_owned).into());
    }
}

/// Residual, Jacobian, wall columns and products.
fn grid_equations<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, B>,
    data: &EllipticData,
) -> Result<(), SolverError> {
    let backend = rows.backend;
    let (mi, mj) = (data.mi, data.mj);
    let (points, nodes) = (mi * mj, data.x.len());
    let (mut state, _) = backend.elliptic(data)?;
    let size = backend.size(&state);
    let mut f = backend.zeros::<f64>(2 * points)?;
    // x, y of the nodes; P0, Q0, phi, psi, three weights and two residuals for each point.
    let bytes = 8 * (2 * nodes + 9 * points);
    rows.add("residual", bytes, || {
        backend.residual(&mut state, &mut f)?;
        Ok(())
    })?;
    let mut a = backend.matrix::<T>(EllPattern::NinePoint(size))?;
    let entry = size_of::<T>();
    rows.add("Jacobian", 8 * (2 * nodes + 5 * points) + 2 * FIELD * entry * points, || {
        Ok(backend.jacobian(&state, &mut a, None)?)
    })?;
    let mut b = backend.matrix::<T>(EllPattern::WallColumns(size, WalledSides::SECTION))?;
    let values = 2 * (FIELD + WALL) * entry * points;
    rows.add("Jacobian and wall columns", 8 * (4 * nodes + 8 * points) + values, || {
        Ok(backend.jacobian(&state, &mut a, Some(&mut b))?)
    })?;
    let (x, mut y) = (backend.zeros::<T>(2 * points)?, backend.zeros::<T>(2 * points)?);
    rows.add("ELL product, columns implied", 2 * points * entry * (FIELD + 2), || {
        Ok(backend.multiply(&a, &x, Product::default(), &mut y)?)
    })
}

/// Sums and inner products.
fn vectors<B: BenchBackend, T: Real>(rows: &mut Rows<'_, B>, n: usize) -> Result<(), SolverError> {
    let backend = rows.backend;
    let (x, z, mut y) = (backend.zeros::<T>(n)?, backend.zeros::<T>(n)?, backend.zeros::<T>(n)?);
    let entry = size_of::<T>();
    rows.add("y ← y + a x + b z", 4 * n * entry, || {
        Ok(backend.lincomb(None, &mut y, 1.0, &[(0.5, &x), (0.25, &z)])?)
    })?;
    rows.add("two inner products of three vectors", 3 * n * entry, || {
        backend.dot_products([(&x, &z), (&y, &z)])?;
        Ok(())
    })
}

/// Set-up and one V(1,1) cycle.
///
/// Values that the cycle must move for each finest point: each of the two sweeps reads the operator and the
/// pivots along eta and along xi ([`levels::FINEST`]), and for each direction the right-hand side, the solution
/// beside the line and its own (6); the residual of one colour reads half of the operator + 4 and restricts to a quarter of a
/// point; the correction reads and writes the solution (4.5). Coarse levels have 40 values a direction and
/// together a third as many points.
fn multigrid<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, B>,
    data: &EllipticData,
) -> Result<(), SolverError> {
    let backend = rows.backend;
    let points = data.mi * data.mj;
    let frozen = EllipticData { walls: Default::default(), ..data.clone() };
    let (mut problem, _) = first_system::<B, T>(backend, &frozen)?;
    let jacobian = problem.linearise(backend)?;
    let precision = if size_of::<T>() == 4 { Precision::Single } else { Precision::Double };
    let settings = MultigridSettings { precision, ..MultigridSettings::default() };
    let mut cycle =
        GridPreconditioner::new((Kind::Multigrid, Schedule::Levels), settings, jacobian);
    let cycle = cycle.current(backend, jacobian)?;
    let entry = size_of::<T>();
    // The matrix is read, the finest level and its second pivots are written, and 44 values on the third as many coarse
    // points.
    let (matrix, finest) = (levels::MATRIX, levels::FINEST);
    let setup = points * entry * (matrix + finest + 4) + points * entry * 44 / 3;
    rows.add("multigrid set-up", setup, || cycle.update(backend, jacobian))?;
    let level = |operator: f64| 2.0 * 2.0 * (operator + 6.0) + 0.5 * operator + 4.0 + 4.5;
    let values = level(finest as f64) + level(40.0) / 3.0 + 6.0;
    let bytes = (points as f64 * values) as usize * entry;
    let (r, mut z) = (backend.zeros::<T>(2 * points)?, backend.zeros::<T>(2 * points)?);
    rows.add("V(1,1) cycle", bytes, || Ok(cycle.apply(backend, jacobian, &r, &mut z)?))
}

/// The grid equations at their first guess, and the right-hand side −R, scaled by its largest entry.
type FirstSystem<B, T> = (GridProblem<B, T>, <B as Backend>::Vector<T>);

/// The first linear system of Newton's method.
fn first_system<B: BenchBackend, T: Real>(
    backend: &B,
    data: &EllipticData,
) -> Result<FirstSystem<B, T>, SolverError> {
    let n = 2 * data.mi * data.mj;
    let (state, u) = backend.elliptic(data)?;
    let mut problem = GridProblem::<B, T>::new(backend, state, Kind::Multigrid)?;
    let (mut f, mut b) = (backend.zeros(n)?, backend.zeros::<T>(n)?);
    problem.residual(backend, &u, &mut f)?;
    let scale = backend.max_abs(&f)?;
    backend.convert(-1.0 / scale, &f, &mut b)?;
    Ok((problem, b))
}

/// Sparse matrix operations of libraries with the Jacobian of a frozen wall, the first Newton matrix: a
/// product by the vendor's library, to compare with the ELL product above, and a whole linear solve to 1e-6
/// with its set-up.
fn compared<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, B>,
    data: &EllipticData,
) -> Result<(), SolverError> {
    let backend = rows.backend;
    let n = 2 * data.mi * data.mj;
    let frozen = EllipticData { walls: Default::default(), ..data.clone() };
    let (mut problem, b) = first_system::<B, T>(backend, &frozen)?;
    let jacobian = problem.linearise(backend)?;
    let a = jacobian.to_csr(backend)?;
    let listed = backend.csr::<T>(&a, MatrixFormat::Ell)?;
    let (x, mut y) = (backend.zeros::<T>(n)?, backend.zeros::<T>(n)?);
    rows.add("ELL product, columns read", n * (size_of::<T>() * (FIELD + 2) + 4 * FIELD), || {
        Ok(listed.apply(backend, &x, &mut y)?)
    })?;
    match backend.vendor::<T>(VendorWork::Product, &a) {
        Ok(None) => {}
        Ok(Some((name, mut product))) => {
            let entry = size_of::<T>();
            let bytes = a.values.len() * (entry + 4) + n * (2 * entry + 4);
            rows.add(&format!("{name} CSR product"), bytes, || Ok(product()?))?;
        }
        Err(error) => rows.say(&error.to_string()),
    }
    let [norm] = backend.dot_products([(&b, &b)])?;
    let target = Target { norm: 1e-6 * norm.sqrt(), max_iterations: 100 };
    let settings = MultigridSettings::default();
    let mut preconditioner =
        GridPreconditioner::new((Kind::Multigrid, Schedule::Levels), settings, jacobian);
    let preconditioner = preconditioner.current(backend, jacobian)?;
    let mut krylov = Bicgstab::new(backend, n)?;
    let (mut x, mut iterations) = (backend.zeros::<T>(n)?, 0.0);
    let seconds = timing::seconds(backend, &mut || {
        preconditioner.update(backend, jacobian)?;
        iterations = from_zero(backend, (jacobian, &b), preconditioner, &mut x, |system, x| {
            krylov.solve(system, target, x)
        })?;
        Ok(())
    })?;
    rows.time(&format!("set-up and {iterations} iterations with multigrid, to 1e-6"), seconds);
    Ok(())
}

/// Bytes that an iteration of BiCGStab moves: two products, each with an application of the preconditioner
/// before it, and 18 vectors. `None` if they depend on the implementation of the preconditioner.
///
/// With Jacobi each product reads the diagonal and a vector and writes two vectors, which need not be read
/// again for inner products: 15 vectors. ILU(0) copies r to z and substitutes forward and backward. Together
/// the two read 12 entries and 12 column indices a row and the inverse diagonal; each reads the row's start,
/// its end and the position of its diagonal, and reads and writes z. With coupled wall terms a product adds 2
/// slots a row, and reads and writes y once more. The preconditioner is then applied twice; in between, the
/// vector of wall terms is cleared and multiplied by the wall columns, and the correction is added.
fn iteration_bytes<T>(kind: Kind, coupled: bool, n: usize) -> Option<usize> {
    let entry = size_of::<T>();
    let places = size_of::<u32>() * (FIELD - 1 + 4);
    let ilu0 = (FIELD - 1 + 7) * entry + places;
    let product = (FIELD + 2) * entry;
    let once = match (kind, coupled) {
        (Kind::Jacobi, false) => (FIELD + 4) * entry,
        (Kind::Ilu0, false) => product + ilu0,
        (Kind::Ilu0, true) => product + 2 * ilu0 + (2 * WALL + 7) * entry,
        _ => return None,
    };
    let vectors = if (kind, coupled) == (Kind::Jacobi, false) { 15 } else { 18 };
    Some(n * (2 * once + vectors * entry))
}

/// One iteration of BiCGStab.
fn iteration<B: BenchBackend, T: Real>(
    rows: &mut Rows<'_, B>,
    data: &EllipticData,
    (kind, schedule): (Kind, Schedule),
    name: &str,
) -> Result<(), SolverError> {
    let backend = rows.backend;
    let n = 2 * data.mi * data.mj;
    let (mut problem, b) = first_system::<B, T>(backend, data)?;
    let jacobian = problem.linearise(backend)?;
    let settings = MultigridSettings::default();
    let mut preconditioner = GridPreconditioner::new((kind, schedule), settings, jacobian);
    let preconditioner = preconditioner.current(backend, jacobian)?;
    preconditioner.update(backend, jacobian)?;
    let mut krylov = Bicgstab::new(backend, n)?;
    let mut x = backend.zeros::<T>(n)?;
    let mut iterations = 0.0;
    let [others, multigrid] = ITERATIONS;
    let max_iterations = if kind == Kind::Multigrid { multigrid } else { others };
    let target = Target { norm: 0.0, max_iterations };
    let seconds = timing::seconds(backend, &mut || {
        iterations = from_zero(backend, (jacobian, &b), preconditioner, &mut x, |system, x| {
            krylov.solve(system, target, x)
        })?;
        Ok(())
    })?;
    let seconds = seconds / iterations.max(0.5);
    let name = format!("BiCGStab + {name}, an iteration");
    if let Some(bytes) = iteration_bytes::<T>(kind, data.walls[0].is_some(), n) {
        return rows.rate(&name, bytes, seconds);
    }
    rows.time(&name, seconds);
    Ok(())
}
