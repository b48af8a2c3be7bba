//! Runs from case to files on several devices, interrupted and continued.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use gridgen::case::Case;
use gridgen::error::{Error, ErrorClass};
use gridgen::files::restart;
use gridgen::generate::{BackendChoice, GridResult, Machine, Progress, RunOptions, run};
use gridgen::internals::generate::run_on;
use gridgen::solver::history::NewtonStep;

use super::ranks::banded;
use support::cases::with;
use support::fibers::{Transport, fibers};
use tempfile::TempDir;

/// A small grid without retries.
pub fn case(sets: &[(&str, &str)]) -> Case {
    let small =
        [("grid.topology", "O"), ("grid.ni", "33"), ("grid.nj", "13"), ("grid.first_cell", "1e-2")];
    let bare =
        [("quality.retry", "false"), ("output.pictures", "false"), ("output.report", "false")];
    with("geometry.naca = '2412'", &[&small[..], &bare, sets].concat())
}

/// Cancels after a step, or ends the process, and keeps the contents of the restart file at the report of each step.
#[derive(Default)]
pub struct Watch {
    pub stops_after: Option<usize>,
    pub dies_after: Option<usize>,
    pub steps: usize,
    pub restart: PathBuf,
    pub kept: Vec<Vec<u8>>,
    /// Create a folder in place of the restart file once the run has started.
    pub obstructs: bool,
    /// A file that is made as soon as the files are written, which then takes a while.
    pub writing: Option<PathBuf>,
}

impl Progress for Watch {
    fn phase(&mut self, name: &str) {
        if let Some(file) = self.writing.as_ref().filter(|_| name == "writing") {
            fs::write(file, "").unwrap();
            thread::sleep(Duration::from_millis(500));
        }
    }

    fn newton(&mut self, step: &NewtonStep) {
        self.steps = step.step;
        if self.dies_after.is_some_and(|last| self.steps >= last) {
            std::process::abort();
        }
        if self.obstructs {
            fs::create_dir_all(self.restart.join("full")).unwrap();
        }
        self.kept.extend(fs::read(&self.restart).ok());
    }

    fn cancelled(&self) -> bool {
        self.stops_after.is_some_and(|last| self.steps >= last)
    }
}

/// A run on a number of devices, in a folder of its own; 0 means the CPU.
struct Run {
    devices: usize,
    transport: Transport,
    folder: TempDir,
    restart: Option<PathBuf>,
    every: Duration,
}

impl Run {
    fn on(devices: usize) -> Self {
        let (transport, every) = (Transport::PeerMemory, Duration::from_hours(1));
        Self { devices, transport, folder: tempfile::tempdir().unwrap(), restart: None, every }
    }

    fn go(&self, case: &Case, watch: &mut Watch) -> Result<GridResult, Error> {
        let mut options = RunOptions::new(self.folder.path().to_owned());
        options.backend = BackendChoice::Cpu;
        options.restart.clone_from(&self.restart);
        options.restart_every = self.every;
        watch.restart = self.file("restart.bin");
        let case = case.clone().into();
        if self.devices == 0 {
            return Ok(run(&case, &options, watch)?.into_section());
        }
        let ranks = Box::new(banded(fibers(self.devices), self.transport));
        Ok(run_on(Machine::Ranks(ranks), &case, &options, watch)?.into_section())
    }

    /// Runs until a step has been taken; returns the restart file.
    fn stopped_after(&self, step: usize, case: &Case) -> PathBuf {
        let mut watch = Watch { stops_after: Some(step), ..Watch::default() };

        let stopped = self.go(case, &mut watch).unwrap_err();

        let restart = self.file("restart.bin");
        let Error::Interrupted { steps, restart: named } = &stopped else { panic!("{stopped}") };
        assert_eq!((*steps, named.as_ref()), (Some(step), Some(&restart)));
        assert_eq!(stopped.class(), ErrorClass::Interrupted);
        restart
    }

    /// The steps of a run on a number of devices that is not interrupted, without their times.
    fn whole(devices: usize, case: &Case) -> Vec<String> {
        let run = Self::on(devices);
        run.go(case, &mut Watch::default()).unwrap();
        run.steps()
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn steps(&self) -> Vec<String> {
        let text = fs::read_to_string(self.file("convergence.csv")).unwrap();
        text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    }
}

#[test]
fn an_interrupted_run_in_bands_goes_on_to_the_same_bits() {
    let case = case(&[]);
    for (devices, transport) in [(2, Transport::PeerMemory), (3, Transport::Host)] {
        let [whole, other] = [(); 2].map(|()| Run { transport, ..Run::on(devices) });
        let outcome = whole.go(&case, &mut Watch::default()).unwrap();
        assert!(outcome.converged() && outcome.newton_iterations() > 2, "{outcome:?}");

        let restart = other.stopped_after(2, &case);
        assert_eq!(fs::read_dir(&other.folder).unwrap().count(), 1, "the restart file alone");
        let other = Run { restart: Some(restart.clone()), ..other };
        other.go(&case, &mut Watch::default()).unwrap();

        assert_eq!(other.steps(), whole.steps(), "{devices}, {transport:?}");
        let mesh = |run: &Run| fs::read(run.file("mesh.vts")).unwrap();
        assert!(mesh(&other) == mesh(&whole), "{devices}, {transport:?}");
        assert!(!restart.exists(), "a finished run needs no restart file");
    }
}

/// The file has the state of the whole grid, whatever the partition.
#[test]
fn a_restart_file_serves_any_number_of_devices() {
    let case = case(&[]);
    for (before, after) in [(2, 0), (0, 3), (3, 2)] {
        let first = Run::on(before);
        let wholes = [before, after].map(|devices| Run::whole(devices, &case));

        let second = Run { restart: Some(first.stopped_after(2, &case)), ..Run::on(after) };
        let outcome = second.go(&case, &mut Watch::default()).unwrap();

        assert!(outcome.converged(), "{before}, {after}: {}", outcome.stop);
        let found = second.steps();
        assert_eq!(wholes.each_ref().map(Vec::len), [found.len(); 2], "{before}, {after}");
        // The heading, the start, and the steps taken before.
        assert_eq!(found[..4], wholes[0][..4], "{before}, {after}");
        // The next step is near the one that would have been taken there: a CPU keeps multigrid levels, a GPU does not.
        let residual = |line: &String| -> f64 { line.split(',').nth(1).unwrap().parse().unwrap() };
        let ratio = residual(&found[4]) / residual(&wholes[1][4]);
        assert!((0.1..10.0).contains(&ratio), "{before}, {after}: {ratio}");
    }
}

#[test]
fn a_long_run_in_bands_leaves_restart_files_on_its_way() {
    let case = case(&[]);
    let run = Run { every: Duration::ZERO, ..Run::on(2) };
    let mut watch = Watch::default();

    let outcome = run.go(&case, &mut watch).unwrap();

    // No file is written before the first step; afterwards one is written before each report.
    assert_eq!(watch.kept.len(), outcome.newton_iterations() - 1);
    let file = run.file("kept.bin");
    for (k, bytes) in watch.kept.iter().enumerate() {
        fs::write(&file, bytes).unwrap();
        let kept = restart::read(&file).unwrap();
        assert_eq!(kept.history.newton_iterations(), k + 1);
        assert!(kept.state.iter().all(|value| value.is_finite()));
    }
    // The last file leads to the end of the run.
    let again = Run { restart: Some(file), ..Run::on(2) };
    again.go(&case, &mut Watch::default()).unwrap();
    assert_eq!(again.steps(), run.steps());
}

#[test]
fn a_run_in_bands_at_its_limit_of_steps_can_go_on() {
    let run = Run::on(2);
    let limited = run.go(&case(&[("newton.max_iterations", "2")]), &mut Watch::default()).unwrap();
    assert!(!limited.converged() && run.file("restart.bin").is_file());

    let run = Run { restart: Some(run.file("restart.bin")), ..run };
    let outcome = run.go(&case(&[]), &mut Watch::default()).unwrap();

    assert!(outcome.converged(), "{}", outcome.stop);
    assert_eq!(run.steps(), Run::whole(2, &case(&[])));
}

/// If the state cannot be saved, the solve continues and the user is notified.
#[test]
fn a_restart_file_that_cannot_be_written_in_bands_is_a_note() {
    let run = Run { every: Duration::ZERO, ..Run::on(2) };
    let mut watch = Watch { obstructs: true, ..Watch::default() };

    let outcome = run.go(&case(&[]), &mut watch);

    let notices = outcome.unwrap().notices;
    assert!(notices.iter().any(|n| n.starts_with("no restart file was kept: ")), "{notices:?}");
}
