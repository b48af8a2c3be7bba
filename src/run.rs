//! From a case to its outcome: the only place where all layers meet. No formulas.

mod check;
mod export;
mod family;
mod layout;
mod machine;
mod resolved_case;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use self::check::{Estimate, check};
use self::export::{Export, Exporting};
use self::layout::Layout;
use self::machine::Machine;
use self::resolved_case::ResolvedCase;
use crate::backend::cpu::CpuBackend;
use crate::backend::{DeviceError, EllipticBackend, MultigridBackend, Real};
use crate::case::{Case, Format};
use crate::elliptic::{EllipticSettings, GridPreconditioner, GridProblem};
use crate::error::Error;
use crate::geometry::GeometryError;
use crate::grid::Grid;
use crate::grid::initial::{self, InitialGrid};
use crate::grid::quality::{Quality, measure};
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
    run_family(case, options, 1, progress)
}

/// Runs a case whose grid is the finest of a family of `grids` grids, each of which is every other
/// point of the one before. With more than one, the files of each grid go to a folder of its own
/// below `options.output`, named by its size: `897x257`. The outcome is that of the finest grid;
/// its folded cells and its files are those of all.
///
/// # Errors
///
/// As [`run`], and [`Error::Family`] where the grid cannot be halved so often; nothing is solved or
/// written then.
pub fn run_family(
    case: &Case,
    options: &RunOptions,
    grids: u32,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let (machine, notice) = Machine::choose(options)?;
    machine.check_room(case)?;
    let pool = thread_pool(options.threads)?;
    let threads = pool.current_num_threads();
    let notices = notice.into_iter().collect();
    let folder = family::folder(&options.output, [case.grid.ni, case.grid.nj], grids);
    let job = Job { case, options, grids, folder, machine, progress, notices, threads };
    pool.install(|| job.run())
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
    /// Grids of the family, the finest counted.
    grids: u32,
    /// Folder of the finest grid.
    folder: PathBuf,
    machine: Machine,
    progress: &'a mut dyn Progress,
    notices: Vec<String>,
    threads: usize,
}

impl Job<'_> {
    fn run(mut self) -> Result<Outcome, Error> {
        let started = Instant::now();
        let mut timing = Timing::default();
        let layout = self
            .timed("geometry", &mut timing.geometry_seconds, Self::layout)
            .map_err(|error| Error::geometry(self.case, error))?;
        layout.check_family(self.case, self.grids)?;
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no
        // files is found before the work.
        let folder = &self.folder.clone();
        io::folder::prepare(folder)?;
        let resolved = ResolvedCase::new(self.case, folder)?;
        let initial = self.timed("initial grid", &mut timing.initial_grid_seconds, |job| {
            job.initial_grid(&layout)
        })?;
        self.notices.extend(initial.notes);
        let initial = initial.grid;

        let tolerance = self.tolerance();
        let Solved { grid, report: solved, exported } =
            self.timed("newton", &mut timing.newton_seconds, |job| {
                job.solve(initial, &layout.normals, tolerance)
            })?;
        self.notices.extend(solved.events.iter().cloned());
        timing.assembly_seconds = solved.history.steps.iter().map(|s| s.setup_seconds).sum();
        timing.linear_seconds = solved.history.steps.iter().map(|s| s.linear_seconds).sum();

        let quality = self.timed("quality", &mut timing.quality_seconds, |_| measure(&grid));
        let converged = solved.stop.converged();
        let good = converged && quality.folded_cells == 0;
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
        let coarser = self.coarser(&artifacts, &kinds)?;
        timing.total_seconds = started.elapsed().as_secs_f64();
        files.push(self.write_report(folder, &artifacts, solved.stop, timing, None)?);
        files.push(resolved.path);
        files.extend(exported);
        let mut folded_cells = quality.folded_cells;
        for member in coarser {
            folded_cells += member.quality.folded_cells;
            files.extend(member.files);
            let artifacts = Artifacts {
                grid: &member.grid,
                quality: &member.quality,
                good: member.good,
                ..artifacts
            };
            let note = Some(member.note);
            files.push(self.write_report(&member.folder, &artifacts, solved.stop, timing, note)?);
        }

        Ok(Outcome {
            converged,
            folded_cells,
            reason: solved.stop.to_string(),
            files,
            newton_iterations: solved.history.newton_iterations(),
            linear_iterations: solved.history.linear_iterations(),
            residual: solved.history.steps.last().map_or(f64::NAN, |step| step.residual),
            notices: self.notices,
            timings: phases(&timing),
            quality,
        })
    }

    /// Announces a phase and adds its time to `seconds`.
    fn timed<R>(&mut self, phase: &str, seconds: &mut f64, work: impl FnOnce(&mut Self) -> R) -> R {
        self.progress.phase(phase);
        let started = Instant::now();
        let result = work(self);
        *seconds += started.elapsed().as_secs_f64();
        result
    }

    fn layout(&mut self) -> Result<Layout, GeometryError> {
        let mut layout = Layout::new(self.case)?;
        self.notices.append(&mut layout.notices);
        Ok(layout)
    }

    fn initial_grid(&self, layout: &Layout) -> Result<InitialGrid, DeviceError> {
        let (outline, settings) = (layout.outline(self.case), layout.initial(self.case));
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
        initial: Grid,
        normals: &[[f64; 2]],
        tolerance: f64,
    ) -> Result<Solved, Error> {
        let Self { case, machine, progress, options, folder, .. } = self;
        let observer = &mut Follow(*progress);
        let export = options.export_jacobian.map(|step| Export { step, folder });
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
        folder: &Path,
        artifacts: &Artifacts<'_>,
        stop: NewtonStop,
        timing: Timing,
        note: Option<String>,
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
            backend: self.machine.name(),
            threads: self.threads,
            notes: self.notices.iter().cloned().chain(note).collect(),
        };
        let path = folder.join(io::REPORT_FILE);
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
