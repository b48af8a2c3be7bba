//! From a case to its outcome: the only place where all layers meet. No formulas.

mod batch;
mod check;
mod export;
mod files;
mod follow;
mod identity;
mod machine;
mod memory;
mod options;
mod resolved_case;
mod solve;

use std::path::{Path, PathBuf};
use std::time::Instant;

pub use self::batch::{BatchOptions, Fate, Summary, Watch, run_batch};
pub use self::check::{Estimate, check};
use self::export::Export;
use self::files::{file_kinds, flavour, span};
use self::follow::{Follow, Keeper};
use self::identity::{coordinates_digest, identity};
use self::machine::Machine;
pub use self::memory::{Made, make_grid, make_grid_around};
pub use self::options::{BackendChoice, Progress, RESTART_EVERY, RunOptions};
use self::resolved_case::ResolvedCase;
use self::solve::{Solved, Start};
use crate::backend::DeviceError;
use crate::backend::cpu::CpuBackend;
use crate::case::{Case, Contour};
use crate::error::Error;
use crate::geometry::{
    Airfoil, GeometryError, SurfaceSettings, airfoil_from_file, airfoil_from_naca, distribute,
    spacing_geometric, wall_normals,
};
use crate::grid::initial::{self, InitialGrid, InitialSettings, Outline};
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Seam};
use crate::io::page::{self, Page};
use crate::io::report::{self, GridReport, LinearReport, NewtonReport, Report, Timing};
use crate::io::{self, Artifacts};
use crate::solver::NewtonStop;
use crate::solver::history::History;
use crate::solver::linear::Precision;
use crate::solver::newton;

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
    Runner::new(options)?.run(case, &options.output, progress)
}

/// A machine and its threads, ready for one case after the other.
struct Runner<'a> {
    options: &'a RunOptions,
    machine: Machine,
    notice: Option<String>,
    pool: rayon::ThreadPool,
}

impl<'a> Runner<'a> {
    fn new(options: &'a RunOptions) -> Result<Self, Error> {
        let (machine, notice) = Machine::choose(options)?;
        let pool = thread_pool(options.threads)?;
        Ok(Self { options, machine, notice, pool })
    }

    /// Runs a case, its files to `folder`.
    fn run(
        &self,
        case: &Case,
        folder: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Error> {
        let Self { options, machine, notice, pool } = self;
        machine.check_room(case)?;
        let threads = pool.current_num_threads();
        let notices = notice.iter().cloned().collect();
        let airfoil = None;
        let job = Job { case, airfoil, folder, options, machine, progress, notices, threads };
        pool.install(|| job.run())
    }
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
    /// A section in place of the case's.
    airfoil: Option<&'a Airfoil>,
    folder: &'a Path,
    options: &'a RunOptions,
    machine: &'a Machine,
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
}

/// The section of a case.
fn section(case: &Case) -> Result<Airfoil, GeometryError> {
    match &case.geometry.contour {
        Contour::Naca(designation) => airfoil_from_naca(designation, case.geometry.trailing_edge),
        Contour::File(path) => airfoil_from_file(path),
    }
}

/// The wall of a case around its section, and what was repaired in the section.
fn wall(case: &Case, airfoil: &Airfoil) -> Result<(Wall, Vec<String>), GeometryError> {
    let (geometry, grid) = (&case.geometry, &case.grid);
    let settings = SurfaceSettings {
        ni: grid.ni,
        leading_edge_spacing: grid.leading_edge_spacing,
        trailing_edge_spacing: grid.trailing_edge_spacing,
        trailing_edge: geometry.trailing_edge,
        base_cells: grid.base_cells,
    };
    let points = distribute(airfoil, &settings)?;
    let mut notices = Vec::new();
    if let Contour::File(path) = &geometry.contour {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        notices.extend(airfoil.notes.iter().map(|note| format!("{name}: {note}")));
    }
    let layers = spacing_geometric(grid.nj, grid.first_cell, grid.far_field)?;
    let normals = wall_normals(&points.x, &points.y);
    Ok((Wall { x: points.x, y: points.y, normals, layers }, notices))
}

impl Job<'_> {
    fn run(mut self) -> Result<Outcome, Error> {
        let started = Instant::now();
        let mut timing = Timing::default();
        let wall = self.measured_wall(&mut timing)?;
        // A section that cannot be meshed leaves the folder as it is; a folder that takes no
        // files is found before the work.
        let folder = self.folder;
        io::folder::prepare(folder)?;
        let resolved = ResolvedCase::new(self.case, folder)?;
        let keeper = Keeper { path: folder.join(io::RESTART_FILE), identity: identity(self.case)? };
        let tolerance = self.tolerance();
        let Solved { grid, report: solved, state, exported } =
            self.solved(&wall, tolerance, Some(&keeper), &mut timing)?;

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
            span: span(self.case),
            plot3d: flavour(self.case),
        };
        if let Some(step) = self.options.export_jacobian.filter(|_| exported.is_empty()) {
            self.notices.push(format!("there was no Newton step {step} to export"));
        }
        let kinds = file_kinds(self.case);
        let mut files = self.timed("writing", &mut timing.writing_seconds, |_| {
            // Older files go first: whatever stops the writing, none passes for one of this run.
            io::folder::clear(folder)?;
            resolved.write()?;
            io::write_all(folder, &artifacts, &kinds)
        })?;
        timing.total_seconds = started.elapsed().as_secs_f64();
        files.extend(self.write_report(&artifacts, solved.stop, timing, &resolved.text)?);
        files.push(resolved.path);
        files.extend(exported);
        if !state.is_empty() {
            keeper.keep(&solved.history, &state)?;
            files.push(keeper.path);
        }

        Ok(Outcome {
            converged,
            folded_cells: quality.folded_cells,
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

    /// The wall, timed.
    fn measured_wall(&mut self, timing: &mut Timing) -> Result<Wall, Error> {
        self.timed("geometry", &mut timing.geometry_seconds, Self::wall)
            .map_err(|error| Error::geometry(self.case, error))
    }

    /// From the wall to the grid.
    fn solved(
        &mut self,
        wall: &Wall,
        tolerance: f64,
        keeper: Option<&Keeper>,
        timing: &mut Timing,
    ) -> Result<Solved, Error> {
        self.go_on()?;
        let initial = self.timed("initial grid", &mut timing.initial_grid_seconds, |job| {
            job.initial_grid(wall)
        })?;
        self.notices.extend(initial.notes);
        self.go_on()?;
        let solved = self.timed("newton", &mut timing.newton_seconds, |job| {
            job.solve(initial.grid, &wall.normals, tolerance, keeper)
        })?;
        let newton::NewtonReport { stop, history, events } = &solved.report;
        if *stop == NewtonStop::Interrupted {
            return Err(interrupted(keeper, history, &solved.state)?);
        }
        self.notices.extend(events.iter().cloned());
        timing.assembly_seconds = history.steps.iter().map(|s| s.setup_seconds).sum();
        timing.linear_seconds = history.steps.iter().map(|s| s.linear_seconds).sum();
        Ok(solved)
    }

    /// An error where the run is cancelled before its solve.
    fn go_on(&self) -> Result<(), Error> {
        if self.progress.cancelled() {
            return Err(Error::Interrupted { steps: None, restart: None });
        }
        Ok(())
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
        let (wall, notices) = match self.airfoil {
            Some(airfoil) => wall(self.case, airfoil)?,
            None => wall(self.case, &section(self.case)?)?,
        };
        self.notices.extend(notices);
        Ok(wall)
    }

    fn initial_grid(&self, wall: &Wall) -> Result<InitialGrid, DeviceError> {
        let options = &self.case.initial;
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
            far_field: self.case.grid.far_field,
            // A trailing edge or base is a corner: its line keeps its marched points.
            seam: self.case.grid.seam.unwrap_or(Seam::Held),
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
        initial: Grid,
        normals: &[[f64; 2]],
        tolerance: f64,
        keeper: Option<&Keeper>,
    ) -> Result<Solved, Error> {
        let Self { case, machine, progress, options, folder, notices, .. } = self;
        let every = options.restart_every;
        let observer = &mut Follow::new(*progress, keeper, every);
        let export = options.export_jacobian.map(|step| Export { step, folder });
        let restart = options.restart.as_deref();
        let start = Start { case, initial, normals, tolerance, export, restart, observer };
        let solved = match (machine, case.linear.precision) {
            (Machine::Cpu, Precision::Single) => start.solve::<_, f32>(&CpuBackend),
            (Machine::Cpu, Precision::Double) => start.solve::<_, f64>(&CpuBackend),
            (Machine::Cuda(backend), Precision::Single) => start.solve::<_, f32>(backend),
            (Machine::Cuda(backend), Precision::Double) => start.solve::<_, f64>(backend),
        };
        let trouble = observer.trouble.take();
        notices.extend(trouble.map(|trouble| format!("no restart file was kept: {trouble}")));
        solved
    }

    fn write_report(
        &self,
        artifacts: &Artifacts<'_>,
        stop: NewtonStop,
        timing: Timing,
        case: &str,
    ) -> Result<Vec<PathBuf>, Error> {
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
            coordinates_digest: coordinates_digest(self.case),
            notes: self.notices.clone(),
        };
        let path = self.folder.join(io::REPORT_FILE);
        report::write(&path, &report)?;
        let mut files = vec![path];
        if self.case.output.report {
            let path = self.folder.join(io::PAGE_FILE);
            page::write(&path, &Page { report: &report, artifacts, case })?;
            files.push(path);
        }
        Ok(files)
    }
}

/// Keeps the state of an interrupted solve and says so.
fn interrupted(keeper: Option<&Keeper>, history: &History, state: &[f64]) -> Result<Error, Error> {
    let steps = Some(history.newton_iterations());
    keeper.map_or(Ok(()), |keeper| keeper.keep(history, state))?;
    Ok(Error::Interrupted { steps, restart: keeper.map(|keeper| keeper.path.clone()) })
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
