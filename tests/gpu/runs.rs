//! Whole runs on the first two GPUs: interrupted and continued, and many at a time.

use std::fs;
use std::path::{Path, PathBuf};

use gridgen::case::{Case, CaseFile};
use gridgen::error::Error;
use gridgen::generate::{
    BackendChoice, BatchObserver, BatchOptions, BatchResult, GridResult, Progress, RunOptions, run,
    run_batch,
};
use gridgen::solver::history::NewtonStep;

fn case(section: &str) -> Case {
    let text = format!(
        "name = \"s{section}\"\n[geometry]\nnaca = \"{section}\"\n[grid]\nni = 257\nnj = 129\n\
         [output]\npictures = false\n"
    );
    support::cases::case(&text)
}

fn options(output: &Path, devices: &[usize]) -> RunOptions {
    let mut options = RunOptions::new(output.to_path_buf());
    options.backend = BackendChoice::Cuda;
    options.devices = Some(devices.to_vec());
    options
}

/// Cancels after a step.
struct Until {
    last: usize,
    steps: usize,
}

impl Progress for Until {
    fn phase(&mut self, _: &str) {}

    fn newton(&mut self, step: &NewtonStep) {
        self.steps = step.step;
    }

    fn linear(&mut self, _: f64, _: f64) {}

    fn cancelled(&self) -> bool {
        self.steps >= self.last
    }
}

/// The steps of a run, without their times, and its mesh.
fn results(folder: &Path) -> (Vec<String>, Vec<u8>) {
    let text = fs::read_to_string(folder.join("convergence.csv")).unwrap();
    let steps = text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect();
    (steps, fs::read(folder.join("mesh.vts")).unwrap())
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn an_interrupted_run_on_two_gpus_goes_on_to_the_same_bits() {
    let (case, folders) = (case("2412"), [(); 3].map(|()| tempfile::tempdir().unwrap()));
    let [whole, other, alone] = folders.each_ref().map(tempfile::TempDir::path);
    run(&case, &options(whole, &[0, 1]), &mut ()).unwrap();

    let stopped = run(&case, &options(other, &[0, 1]), &mut Until { last: 2, steps: 0 });
    let restart: PathBuf = other.join("restart.bin");
    assert!(matches!(stopped, Err(Error::Interrupted { steps: Some(2), .. })), "{stopped:?}");
    let kept = fs::read(&restart).unwrap();
    let go_on = |folder: &Path, devices: &[usize]| -> GridResult {
        let from = folder.join("from.bin");
        fs::write(&from, &kept).unwrap();
        run(
            &case,
            &{
                let mut options = options(folder, devices);
                options.restart = Some(from);
                options
            },
            &mut (),
        )
        .unwrap()
    };
    go_on(other, &[0, 1]);
    // The file has the state of the whole grid.
    let on_one = go_on(alone, &[0]);

    assert!(results(other) == results(whole));
    assert!(on_one.converged(), "{}", on_one.stop);
    assert_eq!(results(alone).0[..4], results(whole).0[..4]);
}

/// An observer that does nothing.
struct Nobody;

impl BatchObserver for Nobody {
    fn done(&self, _: usize, _: &BatchResult) {}
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_batch_with_more_jobs_than_gpus_ends() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<CaseFile> = (0..20).map(|k| case(&(2408 + k).to_string()).into()).collect();
    let options = BatchOptions::new(options(folder.path(), &[0, 1]), 4);

    let results = run_batch(&cases, &options, &Nobody);

    for (case, result) in cases.iter().zip(&results) {
        assert!(
            matches!(result, BatchResult::Run(summary) if summary.verdict.is_good()),
            "{}: {result:?}",
            case.name()
        );
        let report =
            fs::read_to_string(folder.path().join(case.name()).join("report.json")).unwrap();
        assert!(report.contains("\"cuda (") && !report.contains("2 ×"), "{}", case.name());
    }
}
