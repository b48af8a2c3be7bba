//! Prints the iteration tables of `docs/verification.md`.
//!
//! `cargo run --release --example verification [newton] [linear] [multigrid] [coupled] [factor]`; without a
//! name all. `coupled` makes grids of the sizes that follow, 65x33 to 1025x513 unless there are any, on a
//! GPU where `auto` takes one.
#![allow(clippy::print_stdout, reason = "the tables are this program's result")]
#![allow(clippy::format_push_string, reason = "rows of a table are put together piece by piece")]

use std::path::Path;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{self, Backend, EllipticBackend, GridBackend};
use gridgen::case::Case;
use gridgen::elliptic::{EllipticSettings, GridPreconditioner, GridProblem};
use gridgen::generate::{GridResult, RunOptions, make_grid};
use gridgen::geometry::{
    Airfoil, AlongWall, BaseCells, GeometryError, SurfaceSettings, TrailingEdge, airfoil_from_file,
    airfoil_from_naca, distribute, spacing_geometric, wall_normals,
};
use gridgen::grid::initial::{InitialMethod, InitialSettings, Outer, Outline};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::pde::control::{Base, ControlSettings, Wall};
use gridgen::solver::history::History;
use gridgen::solver::krylov;
use gridgen::solver::linear::LinearSettings;
use gridgen::solver::newton::{self, Forcing, NewtonReport, NewtonSettings};
use gridgen::solver::precond::{Cycle, Kind, MultigridSettings};
use gridgen::solver::{LinearOperator, NonlinearProblem};
use gridgen::sparse::Schedule;

type Failure = Box<dyn std::error::Error>;

/// Wall spacing of the reference counts, in chords.
const TRAILING: f64 = 4e-3;
const LEADING: f64 = 3e-3;

/// Control functions of the reference counts.
const CONTROL: ControlSettings = ControlSettings {
    base: Some(Base::Marched),
    wall: Wall::Frozen,
    smoothing: 7e-4,
    smoothing_distance: 1e-3,
    smoothing_columns: Some(1.6),
    clip: 1.0,
    decay: 3.0,
};

/// What is solved and how.
#[derive(Clone, Copy)]
struct Setting<'a> {
    section: &'a str,
    size: (usize, usize),
    first_cell: f64,
    far_field: f64,
    wall: Wall,
    kind: Kind,
    /// Forcing term of a single Newton step; a whole solve if there is none.
    one_step: Option<f64>,
}

fn main() -> Result<(), Failure> {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let print = |name: &str| wanted.is_empty() || wanted.iter().any(|w| w == name);
    if print("newton") {
        newton_table()?;
    }
    if print("linear") {
        linear_table()?;
    }
    if print("multigrid") {
        multigrid_table()?;
    }
    if print("coupled") {
        coupled_table(&wanted)?;
    }
    if print("factor") {
        factor_table()?;
    }
    Ok(())
}

/// Newton steps and linear iterations of whole solves with ILU(0).
fn newton_table() -> Result<(), Failure> {
    println!(
        "| section | grid | first cell | frozen: Newton / linear | coupled: Newton / linear |"
    );
    println!("| --- | --- | --- | --- | --- |");
    for section in ["0012", "4412", "s1223"] {
        for size in [(65, 33), (129, 65), (257, 129)] {
            for first_cell in [1e-3, 1e-4, 1e-5, 1e-6] {
                let mut row = format!("| {section} | {}×{} | {first_cell:.0e} |", size.0, size.1);
                for wall in [Wall::Frozen, Wall::Coupled] {
                    let report = solve(Setting {
                        section,
                        size,
                        first_cell,
                        far_field: 15.0,
                        wall,
                        kind: Kind::Ilu0,
                        one_step: None,
                    })?;
                    row += &format!(" {} |", totals(&report));
                }
                println!("{row}");
            }
        }
    }
    println!();
    Ok(())
}

/// BiCGStab iterations to 1e-6 in the first Newton step, against the reference.
fn linear_table() -> Result<(), Failure> {
    let reference = [
        (Kind::None, "106/102 224/211 –"),
        (Kind::Jacobi, "105/102 194/206 562/435"),
        (Kind::Dilu, "23/17 47/36 103/74"),
        (Kind::Ilu0, "16/18 32/29 69/62"),
    ];
    println!("| preconditioner | 65×33 | 129×65 | 257×129 | reference |");
    println!("| --- | --- | --- | --- | --- |");
    for (kind, reference) in reference {
        let mut row = format!("| {kind:?} |");
        for size in [(65, 33), (129, 65), (257, 129)] {
            let mut counts = Vec::new();
            for first_cell in [1e-3, 1e-5] {
                counts.push(first_step("0012", size, first_cell, 30.0, kind)?.to_string());
            }
            row += &format!(" {} |", counts.join("/"));
        }
        println!("{row} {reference} |");
    }
    println!();
    Ok(())
}

/// Multigrid: the first Newton step to 1e-6, and whole coupled solves.
fn multigrid_table() -> Result<(), Failure> {
    println!("| section | grid | first cell | first step | coupled: Newton / linear |");
    println!("| --- | --- | --- | --- | --- |");
    for section in ["0012", "4412", "s1223"] {
        for size in [(65, 33), (129, 65), (257, 129), (513, 257), (1025, 513)] {
            for first_cell in [1e-3, 1e-5, 1e-6] {
                let count = first_step(section, size, first_cell, 15.0, Kind::Multigrid)?;
                let report = solve(Setting {
                    section,
                    size,
                    first_cell,
                    far_field: 15.0,
                    wall: Wall::Coupled,
                    kind: Kind::Multigrid,
                    one_step: None,
                })?;
                println!(
                    "| {section} | {}×{} | {first_cell:.0e} | {count} | {} |",
                    size.0,
                    size.1,
                    totals(&report)
                );
            }
        }
    }
    println!();
    Ok(())
}

/// Whole solves by the program's own defaults: Newton steps / linear iterations, and a star where another
/// form of the preconditioner took over.
fn coupled_table(arguments: &[String]) -> Result<(), Failure> {
    let size = |text: &String| {
        let (ni, nj) = text.split_once('x')?;
        Some((ni.parse::<usize>().ok()?, nj.parse::<usize>().ok()?))
    };
    let mut sizes: Vec<_> = arguments.iter().filter_map(size).collect();
    if sizes.is_empty() {
        sizes = vec![(65, 33), (129, 65), (257, 129), (513, 257), (1025, 513)];
    }
    let heads = sizes.iter().map(|(ni, nj)| format!(" {ni}×{nj} |"));
    println!("| grid | far field | first cell |{}", heads.collect::<String>());
    println!("| --- | ---: | --- |{}", " --- |".repeat(sizes.len()));
    let kinds = [
        ("O, sharp", "0012", "trailing_edge = 'sharp'", "O"),
        ("O, blunt", "4412", "trailing_edge = 'blunt'", "O"),
        ("O, rounded", "0012", "trailing_edge = 'rounded'", "O"),
        ("C", "4412", "trailing_edge = 'sharp'", "C"),
        ("half", "0012", "trailing_edge = 'sharp'", "half"),
    ];
    for (kind, section, edge, topology) in kinds {
        for far_field in [30.0, 500.0] {
            for first_cell in [1e-2, 3e-3, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7] {
                let mut row = format!("| {kind}, {section} | {far_field} | {first_cell:.0e} |");
                for (ni, nj) in &sizes {
                    let text = format!(
                        "[geometry]\nnaca = '{section}'\n{edge}\n[grid]\ntopology = '{topology}'\n\
                         ni = {ni}\nnj = {nj}\nfirst_cell = {first_cell:e}\nfar_field = {far_field}\n"
                    );
                    let case = Case::from_toml(&text, Path::new("coupled.toml"), &[])?;
                    row += &match make_grid(&case, &RunOptions::default(), &mut ()) {
                        Ok(made) => counts(&made),
                        Err(error) => format!(" {error} |"),
                    };
                }
                println!("{row}");
            }
        }
    }
    println!();
    Ok(())
}

fn counts(made: &GridResult) -> String {
    if !made.is_good() {
        return format!(" {} |", made.stop);
    }
    let star =
        if made.notices.iter().any(|notice| notice.contains("took over")) { "*" } else { "" };
    format!(" {} / {}{star} |", made.history.newton_iterations(), made.history.linear_iterations())
}

/// How fast the multigrid cycle alone contracts an error, without a Krylov method: from the
/// fastest to the slowest of the nine matrices of a size.
fn factor_table() -> Result<(), Failure> {
    let cycles = [(Cycle::V, 1), (Cycle::V, 2), (Cycle::W, 1), (Cycle::W, 2)];
    println!("| grid | V(1,1) | V(2,2) | W(1,1) | W(2,2) |");
    println!("| --- | ---: | ---: | ---: | ---: |");
    for size in [(65, 33), (129, 65), (257, 129), (513, 257), (1025, 513)] {
        let mut row = format!("| {}×{} |", size.0, size.1);
        for (cycle, sweeps) in cycles {
            let settings = MultigridSettings { cycle, sweeps, ..MultigridSettings::default() };
            let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
            for section in ["0012", "4412", "s1223"] {
                for first_cell in [1e-3, 1e-5, 1e-6] {
                    let factor = stationary_factor(section, size, first_cell, settings)?;
                    (least, most) = (least.min(factor), most.max(factor));
                }
            }
            row += &format!(" {least:.2}–{most:.2} |");
        }
        println!("{row}");
    }
    println!();
    Ok(())
}

/// ‖e‖ after over ‖e‖ before the last of 30 cycles e ← e − M⁻¹ A e on the first Newton matrix of
/// the frozen equations, from an error of all frequencies.
fn stationary_factor(
    section: &str,
    size: (usize, usize),
    first_cell: f64,
    multigrid: MultigridSettings,
) -> Result<f64, Failure> {
    let (grid, normals) = initial_grid(section, size, first_cell, 15.0)?;
    let equations =
        EllipticSettings { control: CONTROL, first_cell, heights: None, outer_wall: false };
    let backend = CpuBackend;
    let nodes = backend.take(grid.clone())?;
    let (state, u) = backend.equations(&nodes, &normals, &equations)?;
    let mut problem = GridProblem::<_, f64>::new(&backend, state, Kind::None)?;
    let n = u.len();
    let (mut r, mut z) = (vec![0.0; n], vec![0.0; n]);
    problem.residual(&backend, &u, &mut r)?;
    let jacobian = problem.linearise(&backend)?;
    let mut preconditioner =
        GridPreconditioner::new((Kind::Multigrid, Schedule::Levels), multigrid, jacobian);
    let preconditioner = preconditioner.current(&backend, jacobian)?;
    preconditioner.update(&backend, jacobian)?;
    let mut e: Vec<f64> = (0..n).map(|k| ((k * k) as f64 * 0.37).sin()).collect();
    let mut factor = f64::NAN;
    for _ in 0..30 {
        let [before] = backend.dot_products([(&e, &e)])?;
        // Kept at norm 1: some cycles diverge.
        let unit: Vec<f64> = e.iter().map(|e| e / before.sqrt()).collect();
        jacobian.apply(&backend, &unit, &mut r)?;
        preconditioner.apply(&backend, jacobian, &r, &mut z)?;
        backend.lincomb(None, &mut z, -1.0, &[(1.0, &unit)])?;
        let [after] = backend.dot_products([(&z, &z)])?;
        factor = after.sqrt();
        std::mem::swap(&mut e, &mut z);
    }
    Ok(factor)
}

fn totals(report: &NewtonReport) -> String {
    let history = &report.history;
    let halved = history.steps.iter().skip(1).filter(|step| step.step_length < 1.0).count();
    let mut text = format!("{} / {}", history.newton_iterations(), history.linear_iterations());
    if halved > 0 {
        text += &format!(", {halved} steps halved");
    }
    if !report.stop.converged() {
        text += &format!(" ({})", report.stop);
    }
    text
}

fn first_step(
    section: &str,
    size: (usize, usize),
    first_cell: f64,
    far_field: f64,
    kind: Kind,
) -> Result<f64, Failure> {
    let wall = Wall::Frozen;
    let one_step = Some(1e-6);
    let report = solve(Setting { section, size, first_cell, far_field, wall, kind, one_step })?;
    Ok(report.history.linear_iterations())
}

fn airfoil(section: &str) -> Result<Airfoil, GeometryError> {
    if section.bytes().all(|b| b.is_ascii_digit()) {
        return airfoil_from_naca(section, TrailingEdge::Sharp);
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/airfoils");
    airfoil_from_file(folder.join(section).with_extension("dat"))
}

/// The initial grid and the wall normals.
fn initial_grid(
    section: &str,
    (ni, nj): (usize, usize),
    first_cell: f64,
    far_field: f64,
) -> Result<(Grid, Vec<[f64; 2]>), Failure> {
    let surface = SurfaceSettings {
        ni,
        leading_edge_spacing: LEADING,
        trailing_edge_spacing: TRAILING,
        trailing_edge: TrailingEdge::Sharp,
        base_cells: BaseCells::MultipleOf(2),
        max_turn_deg: 180.0,
        corners_deg: None,
        along: AlongWall::default(),
    };
    let points = distribute(&airfoil(section)?, &surface)?;
    let normals = wall_normals(&points.line);
    let layers = spacing_geometric(nj, first_cell, far_field)?;
    let outline = Outline {
        points: &points.line,
        normals: &normals,
        layers: &layers,
        outer: Outer::Circle(far_field),
        heights: None,
        topology: Topology::O(Seam::Held),
    };
    let march = InitialSettings {
        method: InitialMethod::Hyperbolic,
        dissipation: 0.2,
        volume_smoothing: 0.3,
        spread: 10.0,
        margin: 0,
    };
    Ok((backend::initial_grid(&CpuBackend, &outline, &march)?.grid, normals))
}

fn solve(setting: Setting<'_>) -> Result<NewtonReport, Failure> {
    let (grid, normals) =
        initial_grid(setting.section, setting.size, setting.first_cell, setting.far_field)?;
    let backend = CpuBackend;
    let equations = EllipticSettings {
        control: ControlSettings { wall: setting.wall, ..CONTROL },
        first_cell: setting.first_cell,
        heights: None,
        outer_wall: false,
    };
    let nodes = backend.take(grid.clone())?;
    let (state, mut u) = backend.equations(&nodes, &normals, &equations)?;
    let mut problem = GridProblem::<_, f64>::new(&backend, state, Kind::None)?;
    let method = krylov::Method::Bicgstab;
    let linear = LinearSettings { method, max_iterations: 3000, restart: 30 };
    let kind = (setting.kind, Schedule::Levels);
    let mut linear = problem.jacobian().linear_solver(linear, kind, MultigridSettings::default());
    let newton = NewtonSettings {
        tolerance: 1e-10,
        max_iterations: if setting.one_step.is_some() { 1 } else { 30 },
        forcing: Forcing { initial: setting.one_step.unwrap_or(0.1), min: 1e-4, max: 0.1 },
        max_halvings: 10,
    };
    Ok(newton::solve(
        &backend,
        &mut problem,
        &mut linear,
        &mut u,
        History::default(),
        &newton,
        &mut (),
    )?)
}
