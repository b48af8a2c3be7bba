//! Whole runs: blades of a row on the first GPU; on the first two, interrupted and continued, and many at a time.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gridgen::backend::cpu::CpuBackend;
use gridgen::cascade::{BladePassage, StripEnd, passage_blocks};
use gridgen::case::{Case, CaseFile, SolverOptions};
use gridgen::error::Error;
use gridgen::generate::{
    BackendChoice, BatchObserver, BatchResult, GridResult, MachinePool, Progress, RunOptions,
    make_grid, run, run_batch,
};
use gridgen::grid::quality::interfaces;
use gridgen::solver::history::NewtonStep;
use support::cases::{make, shipped};
use support::grids::distance;

use super::on_gpu;

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

struct Until {
    last: usize,
    steps: usize,
}

impl Progress for Until {
    fn newton(&mut self, step: &NewtonStep) {
        self.steps = step.step;
    }

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
    let case = CaseFile::from(case("2412"));
    let folders = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let [whole, other, alone] = folders.each_ref().map(tempfile::TempDir::path);
    run(&case, &options(whole, &[0, 1]), &mut ()).unwrap();

    let stopped = run(&case, &options(other, &[0, 1]), &mut Until { last: 2, steps: 0 });
    let restart: PathBuf = other.join("restart.bin");
    assert!(matches!(stopped, Err(Error::Interrupted { steps: Some(2), .. })), "{stopped:?}");
    let kept = fs::read(&restart).unwrap();
    let go_on = |folder: &Path, devices: &[usize]| -> GridResult {
        let from = folder.join("from.bin");
        fs::write(&from, &kept).unwrap();
        let mut options = options(folder, devices);
        options.restart = Some(from);
        run(&case, &options, &mut ()).unwrap().into_section()
    };
    go_on(other, &[0, 1]);
    // The file has the state of the whole grid.
    let on_one = go_on(alone, &[0]);

    assert!(results(other) == results(whole));
    assert!(on_one.converged(), "{}", on_one.stop);
    assert_eq!(results(alone).0[..4], results(whole).0[..4]);
}

struct Nobody;

impl BatchObserver for Nobody {
    fn done(&self, _: usize, _: &BatchResult) {}
}

#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_batch_with_more_jobs_than_gpus_ends() {
    let folder = tempfile::tempdir().unwrap();
    let cases: Vec<CaseFile> = (0..20).map(|k| case(&(2408 + k).to_string()).into()).collect();
    let options = options(folder.path(), &[0, 1]);

    let results = run_batch(&cases, &options, 4, &Nobody);

    for (case, result) in cases.iter().zip(&results) {
        assert!(
            matches!(result, BatchResult::Run(summary) if summary.verdict.is_good()),
            "{}: {result:?}",
            case.name
        );
        let report =
            fs::read_to_string(folder.path().join(&case.name).join("report.json")).unwrap();
        assert!(report.contains("\"cuda (") && !report.contains("2 ×"), "{}", case.name);
    }
}

/// To close a machine and to open another takes longer than a grid.
#[test]
fn a_case_that_cannot_be_meshed_leaves_its_machine_to_the_next() {
    let (folder, pool) = (tempfile::tempdir().unwrap(), Arc::new(MachinePool::new(1)));
    let mut options = options(folder.path(), &[0]);
    options.pool = Some(pool.clone());
    let closed = "name = \"c\"\n[geometry]\nnaca = \"63-215\"\ntrailing_edge = \"blunt\"\n";

    for (case, good) in [(support::cases::case(closed), false), (case("2412"), true)] {
        assert_eq!(run(&case.into(), &options, &mut ()).is_ok(), good);
        assert_eq!(format!("{pool:?}"), "MachinePool { jobs: 1, idle: 1 }");
    }
}

/// The blocks around one O-grid: the same start on both machines.
#[test]
fn the_blocks_of_a_cascade_are_those_of_the_cpu() {
    for name in ["compressor.toml", "turbine.toml"] {
        let case = shipped(name, &[]).unwrap();
        let made = make(&case).unwrap();
        let [cells, ahead, behind] = [1, 2, 3].map(|k| made.blocks()[k].nj - 1);
        let ends = |plane: f64, cells| StripEnd { x: plane, angle: 0.0, cells };
        let passage = BladePassage {
            pitch: case.cascade.as_ref().unwrap().pitch,
            corners: case.settle().unwrap().corners.unwrap(),
            cells,
            inlet: ends(-0.4, ahead),
            outlet: ends(1.2, behind),
        };
        let solver = SolverOptions::new(&[]).unwrap();

        let (ring, expected) = passage_blocks(&CpuBackend, &made.grid, &passage, &solver).unwrap();
        let (found_ring, found) = passage_blocks(&on_gpu(), &made.grid, &passage, &solver).unwrap();

        assert!(distance(&found_ring, &ring) < 1e-9, "{name}");
        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(found.stop.converged(), "{name}, block {k}: {}", found.stop);
            assert_eq!(found.newton_iterations, expected.newton_iterations, "{name}, block {k}");
            let off = distance(&found.grid, &expected.grid);
            assert!(off < 1e-9, "{name}, block {k}: {off:e}");
        }
    }
}

fn on_first_gpu(case: &Case) -> GridResult {
    let mut options = RunOptions::default();
    options.backend = BackendChoice::Cuda;
    make_grid(case, &options, &mut ()).unwrap()
}

#[test]
fn a_run_on_a_gpu_has_the_blocks_of_a_cascade() {
    let made = on_first_gpu(&shipped("compressor.toml", &[]).unwrap());

    assert!(made.is_good() && made.backend.starts_with("cuda ("), "{}", made.verdict);
    assert_eq!(made.passage.len(), 3);
    assert!(interfaces(&made.blocks().into_iter().cloned().collect::<Vec<_>>()).len() >= 7);
}

/// NASA's grid refined eight times. With seven levels of multigrid, or a march in steps of ten intervals, linear solves
/// fall back to a stronger preconditioner.
#[test]
fn a_c_grid_of_7169_by_2049_points_takes_few_iterations() {
    let made = on_first_gpu(&shipped("tmr-naca0012.toml", &[("grid.refine", "8")]).unwrap());

    assert!(made.is_good(), "{}", made.verdict);
    let [steps, iterations] = [made.newton_iterations() as f64, made.linear_iterations()];
    assert!(steps <= 4.0 && iterations <= 12.0, "{steps} {iterations}");
    assert!(!made.notices.iter().any(|note| note.contains("took over")), "{:?}", made.notices);
}
