//! From a case to its outcome: the only place where all layers meet. No formulas.

mod check;
mod export;
mod ladder;
mod machine;
mod resolved_case;
mod section;

use std::path::PathBuf;
use std::time::Instant;

pub use self::check::{Estimate, check};
use self::export::{Export, Exporting};
use self::ladder::{Ladder, may_help, shortcoming, shortfall};
use self::machine::Machine;
use self::resolved_case::ResolvedCase;
use self::section::body_wall;
pub use self::section::{Body, body};
use crate::backend::cpu::CpuBackend;
use crate::backend::{DeviceError, EllipticBackend, MultigridBackend, Real};
use crate::case::{Case, Format};
use crate::elliptic::{EllipticSettings, GridPreconditioner, GridProblem};
use crate::error::Error;
use crate::geometry::{GeometryError, spacing_geometric, wall_normals};
use crate::grid::initial::{self, InitialGrid, InitialSettings, Outline};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Seam, Symmetry};
use crate::io::plot3d::Flavour;
use crate::io::report::{self, GridReport, LinearReport, NewtonReport, Report, Timing};
use crate::io::{self, Artifacts, FileKind};
use crate::pde::control::ControlSettings;
use crate::solver::history::NewtonStep;
use crate::solver::linear::{LinearSettings, LinearSolver, Precision};
use crate::solver::newton::{self, Forcing, NewtonSettings, Observer};
use crate::solver::precond::MultigridSettings;
use crate::solver::{NewtonStop, NonlinearProblem};

/// Choice of backend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BackendChoice {
    /// A GPU if there is one that can be used, else the CPU.
    Auto,
    /// The CPU.
    Cpu,
    /// NVIDIA GPUs.
    Cuda,
}

/// What a run takes beside the case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    /// Folder the files are written to.
    pub output: PathBuf,
    /// Backend.
    pub backend: BackendChoice,
    /// GPUs to use; none leaves the choice to the backend.
    pub devices: Option<Vec<usize>>,
    /// Threads to use on the CPU; none means all.
    pub threads: Option<usize>,
    /// Newton step whose linear system is written beside the mesh, the first being 0.
    pub export_jacobian: Option<usize>,
}

/// Receiver of what happens during a run.
pub trait Progress: Send {
    /// A phase begins.
    fn phase(&mut self, name: &str);
    /// A Newton step is done.
    fn newton(&mut self, step: &NewtonStep);
    /// A linear iteration is done.
    fn linear(&mut self, iteration: f64, relative_residual: f64);
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// Whether the residual reached the tolerance.
    pub converged: bool,
    /// Folded cells of the grid.
    pub folded_cells: usize,
    /// Why the solve stopped.
    pub reason: String,
    /// Which limit of the case a converged grid does not keep, if any.
    pub shortfall: Option<String>,
    /// Files written.
    pub files: Vec<PathBuf>,
    /// Quality of the grid.
    pub quality: Quality,
    /// Newton steps taken.
    pub newton_iterations: usize,
    /// Linear iterations of all steps.
    pub linear_iterations: f64,
    /// Scaled rms residual reached.
    pub residual: f64,
    /// What the user should know, one sentence each.
    pub notices: Vec<String>,
    /// Phases and their seconds.
    pub timings: Vec<(String, f64)>,
}

/// Merit below which round-off rules, at a first cell of 1e-7 chords; it grows like the inverse
/// square of the first cell (measured: 3e-12 at 1e-6, 6e-10 at 1e-7).
const ROUND_OFF: f64 = 1e-9;

/// Runs a case: geometry, initial grid, Newton, quality, files.
///
/// # Errors
///
/// See [`Error`]. A grid that is not converged or is folded is an outcome, whose files are named
/// as failed.
pub fn run(
    case: &Case,
    options: &RunOptions,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let (machine, notice) = Machine::choose(options)?;
    machine.check_room(case)?;
    let pool = thread_pool(options.threads)?;
    let threads = pool.current_num_threads();
    let notices = notice.into_iter().collect();
    pool.install(|| Job { case, options, machine, progress, notices, threads }.run())
}

fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, DeviceError> {
    let threads = threads.unwrap_or(0);
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| DeviceError::Threads { threads, reason: error.to_string() })
}

/// A run under way.
struct Job<'a> {
    case: &'a Case,
    options: &'a RunOptions,
    machine: Machine,
    progress: &'a mut dyn Progress,
    notices: Vec<String>,
    threads: usize,
}

/// The wall and what the march needs beside it.
struct Wall {
    x: Vec<f64>,
    y: Vec<f64>,
    normals: Vec<[f64; 2]>,
    layers: Vec<f64>,
    /// Treatment of the seam.
    seam: Seam,
    /// What brings the grid to where the body is.
    shift: [f64; 2],
}

/// The wall of a case, and what was repaired in the section.
fn wall(case: &Case) -> Result<(Wall, Vec<String>), GeometryError> {
    let grid = &case.grid;
    let body = body_wall(case)?;
    let layers = spacing_geometric(grid.nj, grid.first_cell, grid.far_field)?;
    let points = body.points;
    let normals = wall_normals(&points.x, &points.y);
    let seam = grid.seam.unwrap_or(body.seam);
    let wall = Wall { x: points.x, y: points.y, normals, layers, seam, shift: body.shift };
    Ok((wall, body.notices))
}

/// One try at a grid.
struct Attempt {
    grid: Grid,
    solved: newton::NewtonReport,
    exported: Vec<PathBuf>,
    quality: Quality,
    /// What is wrong with it; none if it is good.
    shortcoming: Option<String>,
}

impl Job<'_> {
    fn run(mut self) -> Result<Outcome, Error> {
        let started = Instant::now();
        let mut timing = Timing::default();
        let wall = self
            .timed("geometry", &mut timing.geometry_seconds, Self::wall)
            .map_err(|error| Error::geometry(self.case, error))?;
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no
        // files is found before the work.
        let folder = &self.options.output;
        io::folder::prepare(folder)?;
        let resolved = ResolvedCase::new(self.case, folder)?;
        let tolerance = self.tolerance();
        let Attempt { mut grid, solved, exported, quality, shortcoming } =
            self.best_attempt(&wall, tolerance, &mut timing)?;
        self.notices.extend(solved.events.iter().cloned());
        grid.place(wall.shift, self.case.geometry.chord);
        let converged = solved.stop.converged();
        let good = shortcoming.is_none();
        let artifacts = Artifacts {
            name: &self.case.name,
            grid: &grid,
            quality: &quality,
            history: &solved.history,
            tolerance,
            good,
            plot3d: self.plot3d(),
        };
        if let Some(step) = self.options.export_jacobian.filter(|_| exported.is_empty()) {
            self.notices.push(format!("there was no Newton step {step} to export"));
        }
        let kinds = self.file_kinds();
        let mut files = self.timed("writing", &mut timing.writing_seconds, |_| {
            // Older files go first: whatever stops the writing, none passes for one of this run.
            io::folder::clear(folder)?;
            resolved.write()?;
            io::write_all(folder, &artifacts, &kinds)
        })?;
        timing.total_seconds = started.elapsed().as_secs_f64();
        files.push(self.write_report(&artifacts, solved.stop, timing)?);
        files.push(resolved.path);
        files.extend(exported);

        Ok(Outcome {
            converged,
            folded_cells: quality.folded_cells,
            reason: solved.stop.to_string(),
            shortfall: shortfall(self.case, &quality),
            files,
            newton_iterations: solved.history.newton_iterations(),
            linear_iterations: solved.history.linear_iterations(),
            residual: solved.history.steps.last().map_or(f64::NAN, |step| step.residual),
            notices: self.notices,
            timings: phases(&timing),
            quality,
        })
    }

    /// The first good grid among that of the case and those of the ladder; the case's own where none
    /// is good.
    fn best_attempt(
        &mut self,
        wall: &Wall,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        let case = self.case;
        let first = self.attempt(case, wall, tolerance, timing)?;
        let Some(wrong) = first.shortcoming.clone() else { return Ok(first) };
        let mut ladder = Ladder::new(case);
        let mut tried = false;
        while may_help(case, first.solved.stop)
            && let Some((change, changed)) = ladder.next()
        {
            if !tried {
                self.notices.push(format!("the grid was not good, {wrong}; tried again"));
                tried = true;
            }
            let attempt = self.attempt(&changed, wall, tolerance, timing)?;
            let Some(wrong) = &attempt.shortcoming else {
                self.notices.push(format!("tried {change}: the grid is good"));
                return Ok(attempt);
            };
            self.notices.push(format!("tried {change}: {wrong}"));
        }
        Ok(first)
    }

    /// Makes a grid by the settings of `case`.
    fn attempt(
        &mut self,
        case: &Case,
        wall: &Wall,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        let initial = self.timed("initial grid", &mut timing.initial_grid_seconds, |job| {
            job.initial_grid(case, wall)
        })?;
        self.notices.extend(initial.notes);
        let initial = initial.grid;
        let Solved { mut grid, report: solved, exported } =
            self.timed("newton", &mut timing.newton_seconds, |job| {
                job.solve(case, initial, &wall.normals, tolerance)
            })?;
        timing.assembly_seconds +=
            solved.history.steps.iter().map(|s| s.setup_seconds).sum::<f64>();
        timing.linear_seconds += solved.history.steps.iter().map(|s| s.linear_seconds).sum::<f64>();
        if let Some(symmetry) = Symmetry::of_wall(&grid).filter(|_| solved.stop.converged()) {
            symmetry.restore(&mut grid);
        }
        let quality = self.timed("quality", &mut timing.quality_seconds, |_| measure(&grid));
        let shortcoming = shortcoming(case, solved.stop, &quality);
        Ok(Attempt { grid, solved, exported, quality, shortcoming })
    }

    /// Announces a phase and adds its time to `seconds`.
    fn timed<R>(&mut self, phase: &str, seconds: &mut f64, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        *seconds += started.elapsed().as_secs_f64();
        result
    }

    fn wall(&mut self) -> Result<Wall, GeometryError> {
        let (wall, notices) = wall(self.case)?;
        self.notices.extend(notices);
        Ok(wall)
    }

    fn initial_grid(&self, case: &Case, wall: &Wall) -> Result<InitialGrid, DeviceError> {
        let options = &case.initial;
        let settings = InitialSettings {
            method: options.method,
            dissipation: options.dissipation,
            volume_smoothing: options.volume_smoothing,
            spread: options.spread,
        };
        let outline = Outline {
            x: &wall.x,
            y: &wall.y,
            normals: &wall.normals,
            layers: &wall.layers,
            far_field: case.grid.far_field,
            seam: wall.seam,
        };
        match &self.machine {
            Machine::Cpu => Ok(initial::build(&outline, &settings)),
            Machine::Cuda(backend) => initial::build_with(backend, &outline, &settings),
        }
    }

    /// The tolerance asked for, or the round-off floor where that is higher.
    fn tolerance(&mut self) -> f64 {
        let asked = self.case.newton.tolerance;
        let floor = ROUND_OFF * (1e-7 / self.case.grid.first_cell).powi(2);
        if floor > asked {
            self.notices.push(format!(
                "newton.tolerance raised from {asked:.1e} to {floor:.1e}: round-off at this first \
                 cell allows no less"
            ));
        }
        asked.max(floor)
    }

    /// Solves on the machine and in the precision of the linear solves that were chosen.
    fn solve(
        &mut self,
        case: &Case,
        initial: Grid,
        normals: &[[f64; 2]],
        tolerance: f64,
    ) -> Result<Solved, Error> {
        let Self { machine, progress, options, .. } = self;
        let observer = &mut Follow(*progress);
        let export = options.export_jacobian.map(|step| Export { step, folder: &options.output });
        let start = Start { case, initial, normals, tolerance, export, observer };
        match (machine, case.linear.precision) {
            (Machine::Cpu, Precision::Single) => start.solve::<_, f32>(&CpuBackend),
            (Machine::Cpu, Precision::Double) => start.solve::<_, f64>(&CpuBackend),
            (Machine::Cuda(backend), Precision::Single) => start.solve::<_, f32>(&*backend),
            (Machine::Cuda(backend), Precision::Double) => start.solve::<_, f64>(&*backend),
        }
    }

    fn file_kinds(&self) -> Vec<FileKind> {
        let output = &self.case.output;
        let mesh = output.formats.iter().flat_map(|format| -> &[FileKind] {
            match format {
                Format::Vts => &[FileKind::Vts],
                Format::Vtk => &[FileKind::Vtk],
                Format::Plot3d if output.plot3d_dimensions == 2 => &[FileKind::Plot3dPlanar],
                Format::Plot3d => &[FileKind::Plot3d, FileKind::Nmf],
                Format::Su2 => &[FileKind::Su2],
                Format::Openfoam => &[FileKind::Openfoam],
            }
        });
        let pictures: &[FileKind] = if output.pictures {
            &[FileKind::ConvergenceSvg, FileKind::GridSvg, FileKind::GridPng]
        } else {
            &[]
        };
        mesh.chain(&[FileKind::HistoryCsv]).chain(pictures).copied().collect()
    }

    /// Layout of `Plot3D` files; the kind of file decides on the dimensions.
    fn plot3d(&self) -> Flavour {
        let output = &self.case.output;
        Flavour {
            encoding: output.plot3d_encoding,
            precision: output.plot3d_precision,
            byte_order: output.plot3d_byte_order,
            block_count: output.plot3d_block_count,
            blanking: output.plot3d_blanking,
            ..Flavour::default()
        }
    }

    fn write_report(
        &self,
        artifacts: &Artifacts<'_>,
        stop: NewtonStop,
        timing: Timing,
    ) -> Result<PathBuf, Error> {
        let report = Report {
            name: self.case.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            converged: stop.converged(),
            stop_reason: stop.to_string(),
            newton: NewtonReport::new(artifacts.history, artifacts.tolerance),
            linear: LinearReport {
                iterations: artifacts.history.linear_iterations(),
                solver: self.case.linear.solver,
                preconditioner: self.case.linear.preconditioner,
            },
            quality: artifacts.quality.clone(),
            grid: GridReport::from(artifacts.grid),
            timing,
            geometry: serde_json::to_value(&self.case.geometry).unwrap_or_default(),
            backend: self.machine.name(),
            threads: self.threads,
            notes: self.notices.clone(),
        };
        let path = self.options.output.join(io::REPORT_FILE);
        report::write(&path, &report)?;
        Ok(path)
    }
}

/// What a solve starts from.
struct Start<'a> {
    case: &'a Case,
    initial: Grid,
    normals: &'a [[f64; 2]],
    tolerance: f64,
    export: Option<Export<'a>>,
    observer: &'a mut dyn Observer,
}

/// What a solve ends with.
struct Solved {
    grid: Grid,
    report: newton::NewtonReport,
    /// Files of the exported linear system.
    exported: Vec<PathBuf>,
}

impl Start<'_> {
    fn solve<B, T>(self, backend: &B) -> Result<Solved, Error>
    where
        B: EllipticBackend + MultigridBackend,
        T: Real,
    {
        let Self { case, initial, normals, tolerance, export, observer } = self;
        let settings = EllipticSettings {
            control: ControlSettings {
                base: case.control.base,
                smoothing: case.control.smoothing,
                smoothing_distance: case.control.smoothing_distance,
                clip: case.control.clip,
            },
            wall: case.control.wall,
            first_cell: case.grid.first_cell,
            decay: case.control.decay,
        };
        let linear_settings = LinearSettings {
            method: case.linear.solver,
            max_iterations: case.linear.max_iterations,
            restart: case.linear.restart,
        };
        let newton_settings = NewtonSettings {
            tolerance,
            max_iterations: case.newton.max_iterations,
            forcing: Forcing {
                initial: case.newton.forcing_initial,
                min: case.newton.forcing_min,
                max: case.newton.forcing_max,
            },
            max_halvings: case.newton.max_halvings,
        };
        let (problem, mut u) = GridProblem::<_, T>::new(backend, &initial, normals, &settings)?;
        // The solve needs the room.
        let Grid { topology, ni, nj, .. } = initial;
        let preconditioner = GridPreconditioner::new(
            case.linear.preconditioner,
            MultigridSettings {
                cycle: case.multigrid.cycle,
                sweeps: case.multigrid.sweeps,
                levels: case.multigrid.levels,
                coarsening: case.multigrid.coarsening,
                precision: Precision::Single,
            },
            problem.size(),
        );
        let mut problem = Exporting::new(problem, export);
        let mut linear = LinearSolver::new(linear_settings, problem.unknowns(), preconditioner);
        let report =
            newton::solve(backend, &mut problem, &mut linear, &mut u, &newton_settings, observer)?;
        let (mut problem, exported) = problem.finish();
        drop(linear);
        let mut grid = Grid::new(topology, ni, nj);
        problem.store(backend, &u, &mut grid)?;
        Ok(Solved { grid, report, exported: exported? })
    }
}

/// Passes what Newton reports on to the run's progress.
struct Follow<'a>(&'a mut dyn Progress);

impl Observer for Follow<'_> {
    fn newton(&mut self, step: &NewtonStep) {
        self.0.newton(step);
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.0.linear(iteration, relative_residual);
    }
}

/// Phases and their seconds.
fn phases(timing: &Timing) -> Vec<(String, f64)> {
    [
        ("geometry", timing.geometry_seconds),
        ("initial grid", timing.initial_grid_seconds),
        ("newton", timing.newton_seconds),
        ("  assembly and set-up", timing.assembly_seconds),
        ("  linear solves", timing.linear_seconds),
        ("quality", timing.quality_seconds),
        ("writing", timing.writing_seconds),
        ("total", timing.total_seconds),
    ]
    .map(|(phase, seconds)| (phase.to_owned(), seconds))
    .to_vec()
}
