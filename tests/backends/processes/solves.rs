//! Grids and systems that processes share, each a rank with a device on the CPU, compared with the same ranks
//! as threads. Messages go through sockets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, thread};

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::{Device, JobRank};
use gridgen::case::Case;
use gridgen::error::{Error, ErrorClass};
use gridgen::formats::matrix_market::write_matrix;
use gridgen::generate::{GridResult, Machine, RunOptions};
use gridgen::internals::generate::{Ranks, run_on};
use gridgen::linear_system::{SystemOptions, solve_system_on};
use gridgen::movement::MovementError;
use gridgen::ranks::Job;
use gridgen::solver::history::NewtonStep;
use serde_json::Value;
use support::fibers::{FiberDevice, Transport, mortal};

use support::jobs::{of_this_process, processes};
use support::names_below;

use crate::bands::runs::{self, Watch};
use crate::rows::machine::Devices;
use crate::rows::patterns::convection;

/// The cases of the ranks, by the name of the test.
const CASES: [(&str, &[(&str, &str)]); 4] = [
    (
        "O",
        &[("output.formats", "vts,vtk,plot3d,su2,openfoam,cgns,msh"), ("output.curved_order", "2")],
    ),
    (
        "C",
        &[
            ("grid.topology", "C"),
            ("grid.wake", "16"),
            ("geometry.trailing_edge", "sharp"),
            ("output.formats", "vts,cgns"),
            ("output.compression", "zlib"),
            ("output.report", "true"),
        ],
    ),
    (
        "half",
        &[
            ("grid.topology", "half"),
            ("geometry.naca", "0012"),
            ("output.plot3d_encoding", "fortran"),
            ("output.span_cells", "2"),
        ],
    ),
    ("frozen", &[("control.wall", "frozen"), ("linear.preconditioner", "jacobi")]),
];

fn case(name: &str) -> Case {
    let (_, sets) = CASES.iter().find(|(known, _)| *known == name).unwrap();
    runs::case(&[&[("grid.ni", "65")], *sets].concat())
}

fn grids(name: &str) -> u32 {
    if name == "C" { 2 } else { 1 }
}

/// Ranks that are threads, with the same levels and transport as those that are processes.
fn threads(count: usize) -> Box<dyn Ranks> {
    Box::new(Devices { transport: Transport::Host, ..Devices::fibers(count) })
}

/// The result of a case on such ranks.
fn on_threads(count: usize, name: &str, options: &RunOptions) -> GridResult {
    let machine = Machine::Ranks(threads(count));
    run_on(machine, &case(name).into(), options, &mut ()).unwrap().into_section()
}

/// Steps, residuals and iterations of a result, as text in full precision, and its verdict.
fn history(result: &GridResult) -> String {
    let line = |step: &NewtonStep| format!("{:e} {}\n", step.residual, step.linear_iterations);
    let steps: String = result.history.steps.iter().map(line).collect();
    steps + &result.verdict.to_string()
}

/// Does the work of a rank and ends the process, if a test has started it as a rank. The work is `run CASE`,
/// `stop CASE`, `go-on CASE`, `die CASE`, `die-late CASE`, `lose CASE`, `move alike`, `move apart`, `move tolerance` or `solve`.
fn be_a_rank() {
    let Some((job, folder, said)) = of_this_process() else { return };
    let (rank, words) = (job.rank(), said.split(' ').collect::<Vec<_>>());
    let class = match work(&words, &job, &folder) {
        Ok(text) => {
            fs::write(folder.join(format!("rank{rank}.txt")), text).unwrap();
            job.end(0).err().map(|failure| failure.class)
        }
        Err(error) => {
            job.fail(Some(error.to_string()), error.hint(), error.class());
            fs::write(folder.join(format!("rank{rank}.txt")), error.to_string()).unwrap();
            Some(error.class())
        }
    };
    // These are the exit codes of the program.
    std::process::exit(match class {
        None => 0,
        Some(ErrorClass::Interrupted) => 130,
        Some(ErrorClass::Device) => 3,
        Some(_) => 2,
    });
}

fn work(words: &[&str], job: &Arc<Job>, folder: &Path) -> Result<String, Error> {
    let last = job.rank() == job.size() - 1;
    let device: Arc<dyn Device> = match words[0] {
        "lose" if last => mortal(300),
        _ => Arc::new(FiberDevice::default()),
    };
    let ranks = Box::new(JobRank::new(job.clone(), device)?);
    if words[0] == "move" {
        // The last rank may be given another wall, or another tolerance.
        let by = if words[1] == "apart" && last { 1.1 } else { 1.2 };
        let tolerance = if words[1] == "tolerance" && last { 1e-4 } else { 1e-10 };
        return Ok(moved(&Machine::Ranks(ranks), by, tolerance)?);
    }
    if words[0] == "solve" {
        let mut options = SystemOptions::new(folder.join("A.mtx"), folder.join("out"));
        options.job = Some(job.clone());
        let outcome = solve_system_on(ranks, &options, &mut ())?;
        return Ok(format!("{} {}", outcome.report.converged, outcome.report.iterations));
    }
    let writing = folder.join("writing");
    if words[0] == "die-late" && last {
        let writing = writing.clone();
        thread::spawn(move || {
            while !writing.exists() {
                thread::sleep(Duration::from_millis(5));
            }
            std::process::abort();
        });
    }
    let mut watch = Watch {
        writing: (words[0] == "die-late" && job.is_first()).then_some(writing),
        // The last rank, not the first, requests the stop.
        stops_after: (words[0] == "stop" && last).then_some(2),
        dies_after: (words[0] == "die" && last).then_some(2),
        ..Watch::default()
    };
    let mut options = RunOptions::new(folder.join("out"));
    options.job = Some(job.clone());
    options.restart = (words[0] == "go-on").then(|| folder.join("out/restart.bin"));
    options.restart_every = Duration::ZERO;
    options.grids = grids(words[1]);
    let made = run_on(Machine::Ranks(ranks), &case(words[1]).into(), &options, &mut watch)?;
    let files = made.files.clone();
    let result = made.into_section();
    assert_eq!([files.is_empty(), result.grid.x.is_empty()], [!job.is_first(); 2]);
    Ok(history(&result))
}

/// The bits of a moved grid and of derivatives by its wall, on one line.
fn moved(machine: &Machine, by: f64, tolerance: f64) -> Result<String, MovementError> {
    let reference = case("C").settle().unwrap().reference(&CpuBackend)?;
    let wall: Vec<_> = reference.wall().into_iter().map(|[x, y]| [x, by * y]).collect();
    let moved = machine.move_to(&reference, &wall)?;
    assert!(moved.verdict.is_good(), "{}", moved.verdict);
    let at = (&reference, &moved, tolerance);
    let found = machine.adjoint(at, &moved.grid().x, &moved.grid().y)?;
    let values = [&moved.grid().x, &moved.grid().y, found.wall.as_flattened(), &found.heights];
    Ok(values.into_iter().flatten().fold(String::new(), |mut text, value| {
        write!(text, "{:x} ", value.to_bits()).unwrap();
        text
    }))
}

/// The exit codes of ranks with this work in a folder (none after a signal), and the output of each.
fn ended(size: usize, folder: &Path, what: &str) -> (Vec<Option<i32>>, Vec<String>) {
    let test = "processes::solves::grids_of_processes_are_those_of_threads_to_the_last_bit";
    let ended = processes(test, size, folder, what);
    let said = |rank: usize| {
        let file = folder.join(format!("rank{rank}.txt"));
        let errors = || String::from_utf8_lossy(&ended[rank].stderr).into_owned();
        fs::read_to_string(file).unwrap_or_else(|_| errors())
    };
    (ended.iter().map(|rank| rank.status.code()).collect(), (0..size).map(said).collect())
}

/// The mesh files below a folder, and the quality in its report.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let timed = ["convergence.csv", "report.html", ".gridgen/written.json"];
    // A family has files with times in the folder of each grid.
    let is_timed = |name: &String| timed.iter().any(|end| name.ends_with(end));
    let contents = |name: String| {
        let contents = fs::read(folder.join(&name)).unwrap();
        let quality = || serde_json::from_slice::<Value>(&contents).unwrap()["quality"].to_string();
        let compared = if name.ends_with("report.json") { quality().into() } else { contents };
        (name, compared)
    };
    let names = names_below(folder).into_iter();
    names.filter(|name| !is_timed(name)).map(contents).collect()
}

#[test]
fn grids_of_processes_are_those_of_threads_to_the_last_bit() {
    be_a_rank();
    for (name, size) in [("O", 4), ("C", 2), ("half", 2), ("frozen", 3)] {
        let [of_threads, processes] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let mut options = RunOptions::new(of_threads.path().join("out"));
        options.grids = grids(name);

        let expected = on_threads(size, name, &options);
        assert!(expected.converged(), "{name}: {}", expected.stop);

        let (codes, said) = ended(size, processes.path(), &format!("run {name}"));

        assert_eq!(codes, vec![Some(0); size], "{name}: {said:?}");
        assert!(said.iter().all(|said| *said == history(&expected)), "{name}: {said:?}");
        let [found, expected] =
            [&processes, &of_threads].map(|folder| results(&folder.path().join("out")));
        assert!(found.keys().eq(expected.keys()), "{:?}, {:?}", found.keys(), expected.keys());
        for (file, contents) in &expected {
            assert!(found[file] == *contents, "{name} on {size}: {file}");
        }
    }
}

#[test]
fn any_rank_stops_all_and_any_number_goes_on() {
    let [folder, whole] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let options = RunOptions::new(whole.path().join("out"));
    let expected = on_threads(3, "O", &options);

    let (codes, said) = ended(3, folder.path(), "stop O");
    assert_eq!(codes, [Some(130); 3], "{said:?}");
    assert!(said[0].contains("after 2 Newton steps"), "{said:?}");
    let kept = folder.path().join("kept.bin");
    fs::copy(folder.path().join("out/restart.bin"), &kept).unwrap();
    let (codes, said) = ended(2, folder.path(), "go-on O");

    assert_eq!(codes, [Some(0); 2], "{said:?}");
    let [found, expected] = [&said[0], &history(&expected)].map(|text| text.lines().count());
    assert_eq!(found, expected);
    assert!(!folder.path().join("out/restart.bin").exists());
    let mut options = RunOptions::new(options.output);
    options.restart = Some(kept);
    options.force = true;

    assert_eq!(said[0], history(&on_threads(2, "O", &options)));
    let mesh = |folder: &Path| fs::read(folder.join("out/mesh.vts")).unwrap();
    assert!(mesh(folder.path()) == mesh(whole.path()));
}

#[test]
fn a_rank_that_dies_or_loses_its_device_ends_all_and_leaves_no_mesh() {
    let killed = "rank 2 ended and said nothing: it was killed, or its host was lost";
    for (what, message, last) in [
        ("die O", killed, None),
        ("die-late O", killed, None),
        ("lose O", "rank 2 ended: ", Some(3)),
    ] {
        let (folder, started) = (tempfile::tempdir().unwrap(), Instant::now());

        let (codes, said) = ended(3, folder.path(), what);

        assert!(started.elapsed() < Duration::from_secs(30));
        assert_eq!(codes, [Some(3), Some(3), last], "{what}: {said:?}");
        assert!(said[..2].iter().all(|said| said.starts_with(message)), "{what}: {said:?}");
        assert!(!folder.path().join("out/mesh.vts").exists());
    }
}

#[test]
fn a_system_is_solved_by_the_rows_of_processes() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("A.mtx");
    write_matrix(&file, &convection(9, 10, 0.3)).unwrap();
    let options = SystemOptions::new(file, folder.path().join("threads"));
    let expected = solve_system_on(threads(3), &options, &mut ()).unwrap();

    let (codes, said) = ended(3, folder.path(), "solve");

    assert_eq!(codes, [Some(0); 3], "{said:?}");
    assert!(said.iter().all(|said| *said == format!("true {}", expected.report.iterations)));
    let x = |name: &str| fs::read(folder.path().join(name).join("x.mtx")).unwrap();
    assert!(x("out") == x("threads"));
}

#[test]
fn a_grid_is_moved_by_processes_as_by_threads() {
    let folder = tempfile::tempdir().unwrap();
    let expected = moved(&Machine::Ranks(threads(2)), 1.2, 1e-10).unwrap();

    let (codes, said) = ended(2, folder.path(), "move alike");

    assert_eq!(codes, [Some(0); 2], "{said:?}");
    assert!(said.iter().all(|said| *said == expected));
    for what in ["move apart", "move tolerance"] {
        let (codes, said) = ended(2, folder.path(), what);
        assert_eq!(codes, [Some(3); 2], "{what}: {said:?}");
        let message = "rank 1 has points, derivatives or a tolerance of digest ";
        assert!(said.iter().all(|said| said.starts_with(message)), "{what}: {said:?}");
    }
}
