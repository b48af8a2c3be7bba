//! From a case to its outcome: the only place where all layers meet. No formulas.

mod check;
mod export;
mod family;
mod ladder;
mod layout;
mod machine;
#[cfg(feature = "cuda")]
mod many;
mod resolved_case;
mod section;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use self::check::{Estimate, check};
use self::export::{Export, Exporting};
use self::ladder::{Ladder, may_help, shortcoming, shortfall};
use self::layout::Layout;
use self::machine::{Machine, Opening};
use self::resolved_case::ResolvedCase;
pub use self::section::{Body, body};
use crate::backend::cpu::CpuBackend;
use crate::backend::cuda::CudaBackend;
use crate::backend::{DeviceError, EllipticBackend, LevelSize, MultigridBackend, Real};
use crate::case::{Case, Format};
use crate::elliptic::{EllipticSettings, GridJacobian, GridPreconditioner, GridProblem};
use crate::error::Error;
use crate::geometry::GeometryError;
use crate::grid::initial::{self, Marcher};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Symmetry};
use crate::io::plot3d::Flavour;
use crate::io::report::{self, GridReport, LinearReport, NewtonReport, Report, Timing};
use crate::io::{self, Artifacts, FileKind};
use crate::pde::control::ControlSettings;
use crate::solver::history::NewtonStep;
use crate::solver::linear::{LinearSettings, LinearSolver, Precision};
use crate::solver::newton::{self, Forcing, NewtonSettings, Observer};
use crate::solver::precond::MultigridSettings;
use crate::solver::{NewtonStop, NonlinearProblem, SolverError};

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
    let started = Instant::now();
    let pool = thread_pool(options.threads)?;
    let threads = pool.current_num_threads();
    // A GPU takes long to open, and the geometry does not need it.
    let opening = Opening::begin(case, options);
    let folder = family::folder(&options.output, [case.grid.ni, case.grid.nj], grids);
    let notices = Vec::new();
    let job = Job { case, options, grids, folder, progress, notices, threads, started };
    pool.install(|| job.run(opening))
}

/// [`run`] on a backend that is there already, in the current thread pool.
///
/// # Errors
///
/// See [`Error`].
pub fn run_on(
    backend: CudaBackend,
    case: &Case,
    output: PathBuf,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let options = RunOptions {
        output,
        backend: BackendChoice::Cuda,
        devices: None,
        threads: None,
        export_jacobian: None,
    };
    let job = Job {
        case,
        options: &options,
        grids: 1,
        folder: options.output.clone(),
        progress,
        notices: Vec::new(),
        threads: rayon::current_num_threads(),
        started: Instant::now(),
    };
    job.run(Opening::Done(Box::new(Machine::Cuda(Box::new(backend)))))
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
    progress: &'a mut dyn Progress,
    notices: Vec<String>,
    threads: usize,
    started: Instant,
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
    fn run(mut self, opening: Opening) -> Result<Outcome, Error> {
        let mut timing = Timing::default();
        let layout = self.timed("geometry", &mut timing.geometry_seconds, Self::layout);
        let machine = self.timed("device", &mut timing.device_seconds, |_| opening.end());
        let layout = layout.map_err(|error| Error::geometry(self.case, error))?;
        layout.check_family(self.case, self.grids)?;
        let (machine, notice) = machine?;
        let (machine, kept) = machine.scheduled(&self.case.linear);
        machine.check_room(self.case)?;
        self.notices.extend(notice.into_iter().chain(kept));
        let backend = &machine.name();
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no
        // files is found before the work.
        let folder = &self.folder.clone();
        io::folder::prepare(folder)?;
        let resolved = ResolvedCase::new(self.case, folder)?;
        let tolerance = self.tolerance();
        let Attempt { mut grid, solved, exported, quality, shortcoming } =
            self.best_attempt(&machine, &layout, tolerance, &mut timing)?;
        // A GPU takes long to close, too, and nothing that follows needs it.
        let _closing = machine.close();
        self.notices.extend(solved.events.iter().cloned());
        let mut coarser = family::coarser(&grid, self.grids);
        for grid in std::iter::once(&mut grid).chain(coarser.iter_mut().map(|(grid, _)| grid)) {
            grid.place(layout.shift, self.case.geometry.chord);
        }
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
        let members = self.write_coarser(coarser, solved.stop, &artifacts, &kinds)?;
        timing.total_seconds = self.started.elapsed().as_secs_f64();
        let written = Written { folder, stop: solved.stop, timing, backend, note: None };
        files.push(self.write_report(&artifacts, written)?);
        files.push(resolved.path);
        files.extend(exported);
        let mut folded_cells = quality.folded_cells;
        let mut shortfall = shortfall(self.case, &quality);
        for member in members {
            folded_cells += member.quality.folded_cells;
            shortfall = shortfall.or(member.shortfall);
            files.extend(member.files);
            let artifacts = Artifacts {
                grid: &member.grid,
                quality: &member.quality,
                good: member.good,
                ..artifacts
            };
            let written = Written { folder: &member.folder, note: Some(&member.note), ..written };
            files.push(self.write_report(&artifacts, written)?);
        }

        Ok(Outcome {
            converged,
            folded_cells,
            reason: solved.stop.to_string(),
            shortfall,
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
        machine: &Machine,
        layout: &Layout,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        let case = self.case;
        let first = self.attempt(case, machine, layout, tolerance, timing)?;
        let Some(wrong) = first.shortcoming.clone() else { return Ok(first) };
        let mut ladder = Ladder::new(case, layout.initial(case));
        let mut tried = false;
        while may_help(case, first.solved.stop)
            && let Some((change, changed)) = ladder.next()
        {
            if !tried {
                self.notices.push(format!("the grid was not good, {wrong}; tried again"));
                tried = true;
            }
            let attempt = self.attempt(&changed, machine, layout, tolerance, timing)?;
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
        machine: &Machine,
        layout: &Layout,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Attempt, Error> {
        let Solved { mut grid, report: solved, exported } =
            self.solve_on(case, machine, layout, tolerance, timing)?;
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

    fn layout(&mut self) -> Result<Layout, GeometryError> {
        let mut layout = Layout::new(self.case)?;
        self.notices.append(&mut layout.notices);
        Ok(layout)
    }

    fn initial_grid<M: Marcher>(
        &mut self,
        case: &Case,
        marcher: &M,
        layout: &Layout,
        timing: &mut Timing,
    ) -> Result<M::Grid, M::Error> {
        let (outline, settings) = (layout.outline(case), layout.initial(case));
        let initial = self.timed("initial grid", &mut timing.initial_grid_seconds, |_| {
            initial::build_with(marcher, &outline, &settings)
        })?;
        self.notices.extend(initial.notes);
        Ok(initial.grid)
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

    /// Marches and solves on the machine and in the precision of the linear solves that were
    /// chosen.
    fn solve_on(
        &mut self,
        case: &Case,
        machine: &Machine,
        layout: &Layout,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Solved, Error> {
        match (machine, case.linear.precision) {
            (Machine::Cpu, Precision::Single) => {
                self.solve::<_, f32>(case, &CpuBackend, layout, tolerance, timing)
            }
            (Machine::Cpu, Precision::Double) => {
                self.solve::<_, f64>(case, &CpuBackend, layout, tolerance, timing)
            }
            (Machine::Cuda(backend), Precision::Single) => {
                self.solve::<_, f32>(case, &**backend, layout, tolerance, timing)
            }
            (Machine::Cuda(backend), Precision::Double) => {
                self.solve::<_, f64>(case, &**backend, layout, tolerance, timing)
            }
            #[cfg(feature = "cuda")]
            (Machine::Gpus(gpus), Precision::Single) => {
                self.solve_in_bands::<f32>(case, gpus, layout, tolerance, timing)
            }
            #[cfg(feature = "cuda")]
            (Machine::Gpus(gpus), Precision::Double) => {
                self.solve_in_bands::<f64>(case, gpus, layout, tolerance, timing)
            }
        }
    }

    fn solve<B, T>(
        &mut self,
        case: &Case,
        backend: &B,
        layout: &Layout,
        tolerance: f64,
        timing: &mut Timing,
    ) -> Result<Solved, Error>
    where
        B: EllipticBackend + MultigridBackend,
        T: Real,
    {
        let initial = self.initial_grid(case, backend, layout, timing)?;
        self.timed("newton", &mut timing.newton_seconds, |job| {
            let Self { progress, options, folder, .. } = job;
            let observer = &mut Follow(*progress);
            let export = options.export_jacobian.map(|step| Export { step, folder });
            let start = Start { case, initial, layout, tolerance, export, observer };
            start.solve::<B, T>(backend)
        })
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
        written: Written<'_>,
    ) -> Result<PathBuf, Error> {
        let Written { folder, stop, timing, backend, note } = written;
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
            backend: backend.to_owned(),
            threads: self.threads,
            notes: self.notices.iter().cloned().chain(note.map(str::to_owned)).collect(),
        };
        let path = folder.join(io::REPORT_FILE);
        report::write(&path, &report)?;
        Ok(path)
    }
}

/// What a report tells beside the grid and its history.
#[derive(Clone, Copy)]
struct Written<'a> {
    folder: &'a Path,
    stop: NewtonStop,
    timing: Timing,
    backend: &'a str,
    note: Option<&'a str>,
}

/// What a solve starts from.
struct Start<'a, G> {
    case: &'a Case,
    initial: G,
    layout: &'a Layout,
    tolerance: f64,
    export: Option<Export<'a>>,
    observer: &'a mut (dyn Observer + Send),
}

/// What a solve ends with.
struct Solved {
    grid: Grid,
    report: newton::NewtonReport,
    /// Files of the exported linear system.
    exported: Vec<PathBuf>,
}

impl<G> Start<'_, G> {
    fn solve<B, T>(self, backend: &B) -> Result<Solved, Error>
    where
        B: EllipticBackend + MultigridBackend + Marcher<Grid = G>,
        T: Real,
    {
        let Self { case, initial, layout, tolerance, export, observer } = self;
        let settings = elliptic_settings(case);
        let (topology, ni, nj) = (layout.topology, case.grid.ni, case.grid.nj);
        let (problem, mut u) = GridProblem::<_, T>::on_device(
            backend,
            initial,
            (topology, ni, nj),
            &layout.normals,
            &settings,
        )?;
        let size = problem.size();
        let mut problem = Exporting::new(problem, export);
        let report = iterate(case, tolerance, backend, (&mut problem, size), &mut u, observer)?;
        let (mut problem, exported) = problem.finish();
        let mut grid = Grid::new(topology, ni, nj);
        problem.store(backend, &u, &mut grid)?;
        Ok(Solved { grid, report, exported: exported? })
    }
}

fn elliptic_settings(case: &Case) -> EllipticSettings {
    EllipticSettings {
        control: ControlSettings {
            base: case.control.base,
            smoothing: case.control.smoothing,
            smoothing_distance: case.control.smoothing_distance,
            clip: case.control.clip,
        },
        wall: case.control.wall,
        first_cell: case.grid.first_cell,
        decay: case.control.decay,
    }
}

/// Newton's method as the case asks for it, on a problem of this size.
fn iterate<B, T, P>(
    case: &Case,
    tolerance: f64,
    backend: &B,
    (problem, size): (&mut P, LevelSize),
    u: &mut B::Vector<f64>,
    observer: &mut dyn Observer,
) -> Result<newton::NewtonReport, SolverError>
where
    B: EllipticBackend + MultigridBackend,
    T: Real,
    P: NonlinearProblem<B, Real = T, Jacobian = GridJacobian<B, T>>,
{
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
    let preconditioner = GridPreconditioner::new(
        case.linear.preconditioner,
        MultigridSettings {
            cycle: case.multigrid.cycle,
            sweeps: case.multigrid.sweeps,
            levels: case.multigrid.levels,
            coarsening: case.multigrid.coarsening,
            precision: Precision::Single,
        },
        size,
    );
    let mut linear = LinearSolver::new(linear_settings, problem.unknowns(), preconditioner);
    newton::solve(backend, problem, &mut linear, u, &newton_settings, observer)
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
        ("device", timing.device_seconds),
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
