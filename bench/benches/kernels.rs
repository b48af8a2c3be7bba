//! Rates of the kernels of the grid equations beside those of a copy. See `bench/README.md`.
//!
//! For each kernel the bytes that it cannot avoid to move are counted: every array read or written
//! once, whatever the caches do. A copy of as many bytes (half read, half written) is timed in
//! turn with the kernel. The share is the copy's time over the kernel's: 100 % means that the
//! kernel runs as fast as its data can be moved.

#![allow(clippy::expect_used, reason = "a benchmark that cannot run has nothing to measure")]
#![allow(clippy::print_stdout, reason = "the table is the result of this program")]

#[path = "kernels/matrix_market.rs"]
mod matrix_market;
#[path = "kernels/multigrid.rs"]
mod multigrid;
mod support;
#[path = "kernels/writing.rs"]
mod writing;

use std::hint::black_box;
use std::time::Instant;

use gridgen::backend::cpu::{CpuBackend, EllMatrix, EllipticState};
use gridgen::backend::scalars::{self, read_dots};
use gridgen::backend::{
    Backend, EllipticBackend, EllipticData, Product, Scaling, SparseBackend, WallTerms,
};
use gridgen::case::Case;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::grid::Grid;
use gridgen::pde::control::{Wall, arc_length, control_functions};
use gridgen::pde::decay;
use gridgen::solver::krylov::{Bicgstab, System, Target};
use gridgen::solver::precond::{Kind, MultigridSettings};
use gridgen::solver::{LinearStop, NonlinearProblem, Preconditioner};
use gridgen::sparse::EllPattern;
use rayon::prelude::*;
use support::WallPoints;

/// Bytes of a coordinate, a coefficient or a matrix entry.
const VALUE: usize = size_of::<f64>();
/// Bytes of a column index.
const INDEX: usize = size_of::<u32>();
/// Slots of a row of the field Jacobian.
const FIELD_SLOTS: usize = 13;
/// Slots of a row of the wall columns.
const WALL_SLOTS: usize = 2;
/// Unknowns a point.
const VARIABLES: usize = 2;

/// Iterations of the linear solve that is timed.
const ITERATIONS: usize = 4;

/// A grid that fits the third-level cache of most machines, and one that does not.
const SIZES: [(usize, usize); 2] = [(257, 129), (1025, 513)];
/// Timed calls of a kernel and of its copy; the fastest of each is shown.
const REPEATS: usize = 31;

/// Points along each side of the mesh that is written: 4 million.
const MESH: usize = 2049;
/// Times that it is written.
const WRITES: usize = 5;

/// Rows of the matrix that is written and read as Matrix Market text: 13 million entries.
const UNKNOWNS: usize = 1_000_000;

fn main() {
    // Without `--bench` this is a test that the program works, as Cargo's harness has it.
    let asked = |word: &str| std::env::args().any(|argument| argument == word);
    let measure = asked("--bench");
    let (sizes, repeats): (&[_], _) = if measure { (&SIZES, REPEATS) } else { (&[(33, 17)], 1) };
    println!("{} threads, fastest of {repeats}", rayon::current_num_threads());
    let alone = asked("writing") || asked("matrix-market");
    for &(ni, nj) in sizes.iter().filter(|_| !alone) {
        let workload = Workload::new(ni, nj, repeats);
        println!("\n{ni} × {nj} points, {} unknowns\n", workload.unknowns());
        println!("| kernel | MB | ms | GB/s | copy GB/s | share of copy |");
        println!("| --- | ---: | ---: | ---: | ---: | ---: |");
        workload.residual("residual", Scaling::Kept);
        workload.residual("residual, row weights renewed", Scaling::Renewed);
        workload.jacobian();
        workload.wall_columns();
        workload.product();
        workload.bicgstab("4 iterations of BiCGStab, ILU(0)", Wall::Frozen);
        workload.bicgstab("the same with coupled wall terms", Wall::Coupled);
        workload.vectors();
        multigrid::rows(&workload);
    }
    let repeats = if measure { WRITES } else { 1 };
    if asked("writing") || !alone {
        writing::print(if measure { MESH } else { 33 }, repeats);
    }
    if asked("matrix-market") || !alone {
        matrix_market::print(if measure { UNKNOWNS } else { 1000 }, repeats);
    }
}

/// The yardstick: each thread copies its part of an array in one go.
struct Copy {
    from: Vec<f64>,
    to: Vec<f64>,
}

impl Copy {
    /// A copy that reads and writes `bytes` altogether.
    fn of(bytes: usize) -> Self {
        let n = bytes / (2 * VALUE);
        Self { from: vec![1.0; n], to: vec![0.0; n] }
    }

    fn seconds(&mut self) -> f64 {
        let part = self.from.len().div_ceil(rayon::current_num_threads());
        seconds(|| {
            let parts = self.to.par_chunks_mut(part).zip(self.from.par_chunks(part));
            parts.for_each(|(to, from)| to.copy_from_slice(from));
            black_box(&mut self.to);
        })
    }
}

fn seconds(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64()
}

/// The grid equations of the workload on its initial grid.
struct Workload {
    data: EllipticData,
    repeats: usize,
}

impl Workload {
    fn new(ni: usize, nj: usize, repeats: usize) -> Self {
        let case = support::case(ni, nj);
        let grid = support::initial_grid(&case, &WallPoints::new(&case));
        Self { data: elliptic_data(&case, &grid), repeats }
    }

    /// Unknown points.
    fn points(&self) -> usize {
        self.data.mi * self.data.mj
    }

    /// Unknowns, the rows of the Jacobian.
    fn unknowns(&self) -> usize {
        VARIABLES * self.points()
    }

    /// Bytes of the nodes' coordinates.
    fn node_bytes(&self) -> usize {
        VALUE * (self.data.x.len() + self.data.y.len())
    }

    /// Times `kernel`, which moves `bytes` and returns its seconds, in turn with a copy, and prints
    /// a line of the table.
    fn print(&self, name: &str, bytes: usize, mut kernel: impl FnMut() -> f64) {
        let mut copy = Copy::of(bytes);
        // The first calls are not counted: they touch memory for the first time.
        let _ = (kernel(), copy.seconds());
        let mut fastest = (f64::INFINITY, f64::INFINITY);
        for _ in 0..self.repeats {
            fastest = (fastest.0.min(kernel()), fastest.1.min(copy.seconds()));
        }
        let (kernel, copy) = fastest;
        println!(
            "| {name} | {:.2} | {:.3} | {:.1} | {:.1} | {:.0} % |",
            bytes as f64 / 1e6,
            kernel * 1e3,
            bytes as f64 / kernel / 1e9,
            bytes as f64 / copy / 1e9,
            100.0 * copy / kernel,
        );
    }

    /// The equations on the CPU, evaluated at the initial grid.
    fn state(&self) -> EllipticState {
        let (mut state, _) = CpuBackend.elliptic(&self.data).expect("the CPU has room");
        let mut f = vec![0.0; self.unknowns()];
        let merit = CpuBackend.residual(&mut state, Scaling::Renewed, &mut f);
        merit.expect("the CPU has no trouble");
        state
    }

    /// f ← w R and the merit. Reads x and y of the nodes, and P0, Q0, φ, ψ of the unknown points;
    /// writes two residuals a point. The two weights of a point are read, or written where they
    /// are renewed: 8 values a point beside the nodes.
    fn residual(&self, name: &str, scaling: Scaling) {
        let mut state = self.state();
        let mut f = vec![0.0; self.unknowns()];
        self.print(name, self.node_bytes() + 8 * VALUE * self.points(), || {
            seconds(|| {
                let merit = CpuBackend.residual(&mut state, scaling, &mut f);
                black_box(merit.expect("the CPU has no trouble"));
            })
        });
    }

    /// a ← w ∂R/∂r. Reads x and y of the nodes, and P0, Q0, φ, ψ and one weight of the unknown
    /// points; writes 13 entries for each of the two rows of a point. The pattern is there.
    fn jacobian(&self) {
        let state = self.state();
        let mut a = self.field_matrix();
        let values = 5 + VARIABLES * FIELD_SLOTS;
        self.print("Jacobian assembly", self.node_bytes() + values * VALUE * self.points(), || {
            seconds(|| {
                CpuBackend.jacobian(&state, &mut a, None).expect("the CPU has no trouble");
                black_box(&mut a);
            })
        });
    }

    fn field_matrix(&self) -> EllMatrix<f64> {
        let pattern = EllPattern::nine_point(self.data.mi, self.data.mj, self.data.periodic);
        CpuBackend.matrix(&pattern).expect("the CPU has room")
    }

    /// The same with b ← w ∂R/∂(p, q), for which x and y of the nodes, and φ, ψ and one weight of the
    /// unknown points are read again; writes two entries more for each of the two rows of a point.
    fn wall_columns(&self) {
        let state = self.state();
        let mut a = self.field_matrix();
        let pattern = EllPattern::wall_columns(self.data.mi, self.data.mj);
        let mut b = CpuBackend.matrix::<f64>(&pattern).expect("the CPU has room");
        let values = 5 + VARIABLES * FIELD_SLOTS + 3 + VARIABLES * WALL_SLOTS;
        let bytes = 2 * self.node_bytes() + values * VALUE * self.points();
        self.print("Jacobian and wall columns", bytes, || {
            seconds(|| {
                let jacobian = CpuBackend.jacobian(&state, &mut a, Some(&mut b));
                jacobian.expect("the CPU has no trouble");
                black_box(&mut b);
            })
        });
    }

    /// y ← A x with the field Jacobian; its bytes: [`product_bytes`].
    fn product(&self) {
        let mut a = self.field_matrix();
        CpuBackend.jacobian(&self.state(), &mut a, None).expect("the CPU has no trouble");
        let x = vec![1.0; self.unknowns()];
        let mut y = vec![0.0; self.unknowns()];
        self.print("ELL product", product_bytes(self.unknowns()), || {
            seconds(|| {
                let product = CpuBackend.multiply(&a, &x, Product::default(), &mut y);
                product.expect("the CPU has no trouble");
                black_box(&mut y);
            })
        });
    }

    /// y ← β y + α₁ x₁ + α₂ x₂, and two inner products in one reduction.
    fn vectors(&self) {
        let n = self.unknowns();
        let [mut y, x, z] = [1.0, 2.0, 3.0].map(|value| vec![value; n]);
        self.print("sum of three vectors", 4 * VALUE * n, || {
            seconds(|| {
                let sum = CpuBackend.lincomb(None, &mut y, 0.5, &[(0.1, &x), (0.1, &z)]);
                sum.expect("the CPU has no trouble");
                black_box(&mut y);
            })
        });
        let mut scalars = scalars::room(&CpuBackend).expect("the CPU has room");
        self.print("two inner products", 3 * VALUE * n, || {
            seconds(|| {
                let dots = read_dots(&CpuBackend, &mut scalars, [(&x, &z), (&x, &y)]);
                black_box(dots.expect("the CPU has no trouble"));
            })
        });
    }

    /// A solve of [`ITERATIONS`] iterations of [`Bicgstab`] on the Newton system of the initial grid.
    ///
    /// An iteration moves 2 products, 2 applications of the preconditioner and 21 vectors
    /// (`Bicgstab::solve`); the residual before and after moves a
    /// product and 4 vectors each, and the start 4 vectors.
    ///
    /// With coupled wall terms a product adds 2 slots a row, and reads and writes y once more. The
    /// preconditioner is applied twice; between the two it clears the vector of wall terms,
    /// multiplies it by the wall columns and adds the correction: 5 vectors and 2 slots.
    fn bicgstab(&self, name: &str, wall: Wall) {
        let coupled = wall == Wall::Coupled;
        let mut data = self.data.clone();
        data.wall = data.wall.filter(|_| coupled);
        let (mut problem, u) =
            GridProblem::<_, f64>::from_data(&CpuBackend, &data).expect("the CPU has room");
        let n = self.unknowns();
        let (mut f, mut x) = (vec![0.0; n], vec![0.0; n]);
        let merit = problem.residual(&CpuBackend, &u, Scaling::Renewed, &mut f);
        merit.expect("the CPU has no trouble");
        let size = problem.size();
        let jacobian = problem.linearise(&CpuBackend).expect("the CPU has no trouble");
        let mut preconditioner =
            GridPreconditioner::new(Kind::Ilu0, MultigridSettings::default(), size);
        preconditioner.update(&CpuBackend, jacobian).expect("no pivot vanishes");
        let mut method = Bicgstab::new(&CpuBackend, n).expect("the CPU has room");
        let vectors = |count: usize| count * VALUE * n;
        let slots = WALL_SLOTS * VALUE * n;
        let (product, preconditioning) = if coupled {
            (product_bytes(n) + slots + vectors(2), 2 * ilu0_bytes(n) + slots + vectors(5))
        } else {
            (product_bytes(n), ilu0_bytes(n))
        };
        let iteration = 2 * (product + preconditioning) + vectors(21);
        let start_and_end = 2 * (product + vectors(4));
        self.print(name, ITERATIONS * iteration + start_and_end, || {
            x.fill(0.0);
            let mut system = System {
                backend: &CpuBackend,
                operator: jacobian,
                preconditioner: &mut preconditioner,
                b: &f,
                observe: &mut |_, _| {},
            };
            seconds(|| {
                let target = Target { norm: 0.0, max_iterations: ITERATIONS };
                let report = method.solve(&mut system, target, &mut x);
                let report = report.expect("the CPU has no trouble");
                assert_eq!(report.stop, LinearStop::IterationLimit);
            })
        });
    }
}

/// An ELL product with n rows: reads 13 entries a row and x once; writes y.
fn product_bytes(n: usize) -> usize {
    n * (FIELD_SLOTS * VALUE + 2 * VALUE)
}

/// An application of ILU(0) with n rows: the copy of r to z; forward and backward substitution,
/// which together read 12 entries and 12 column indices a row (all but the diagonal), the inverse
/// diagonal, and each the places of the row's start, its end and its diagonal, and read and write z.
fn ilu0_bytes(n: usize) -> usize {
    let vectors = 2 + 1 + 2 * 2;
    let places = 2 * 2;
    n * ((FIELD_SLOTS - 1) * (VALUE + INDEX) + vectors * VALUE + places * INDEX)
}

/// The equations of a case on its initial grid, with wall terms; the seam is held.
fn elliptic_data(case: &Case, grid: &Grid) -> EllipticData {
    let settings = support::elliptic_settings(case, Wall::Coupled);
    let (mi, mj) = (grid.ni - 2, grid.nj - 2);
    let inner = |f: &[f64]| -> Vec<f64> {
        f.chunks(grid.ni - 1).skip(1).take(mj).flat_map(|row| &row[1..=mi]).copied().collect()
    };
    let control = control_functions(grid, &settings.control);
    let (phi, psi) =
        decay(grid, &arc_length(grid), &vec![settings.first_cell; grid.ni], settings.decay);
    EllipticData {
        mi,
        mj,
        periodic: false,
        x: grid.x.clone(),
        y: grid.y.clone(),
        control_p: inner(&control.p),
        control_q: inner(&control.q),
        wall: Some(WallTerms { phi: inner(&phi), psi: inner(&psi) }),
    }
}
