//! The examples do what they say.
#![allow(unreachable_pub, missing_docs, reason = "the examples are programs of their own")]
#![allow(clippy::print_stderr, reason = "what is not checked is said")]

#[path = "../../examples/first_grid.rs"]
mod first_grid;
#[path = "../../examples/own_geometry.rs"]
mod own_geometry;
#[path = "../../examples/own_linear_solver.rs"]
mod own_linear_solver;
#[path = "../../examples/random_sections.rs"]
#[allow(dead_code, reason = "its program does the same with 5000 sections")]
mod random_sections;
#[path = "../../examples/sweep.rs"]
mod sweep;

use std::path::Path;
use std::process::Command;

use gridgen::case::Case;
use gridgen::error::Error;
use gridgen::generate::{BackendChoice, Progress, RunOptions, make_grid, run};
use support::cases::with;

const SMALL: &str =
    "geometry.naca = '2412'\n[grid]\nni = 65\nnj = 33\n[output]\npictures = false\n";

fn small() -> Case {
    with(SMALL, &[])
}

fn on_the_cpu(folder: &Path) -> RunOptions {
    let mut options = RunOptions::new(folder.to_path_buf());
    options.backend = BackendChoice::Cpu;
    options
}

#[test]
fn examples_of_grids_and_of_a_linear_solver_of_ones_own_run() {
    first_grid::main().unwrap();
    own_geometry::main().unwrap();
    own_linear_solver::main().unwrap();
    sweep::main().unwrap();
}

/// Python needs numpy.
#[test]
fn a_grid_in_memory_is_the_one_that_is_written_and_that_python_reads() {
    let folder = tempfile::tempdir().unwrap();
    let written = run(&small().into(), &on_the_cpu(folder.path()), &mut ()).unwrap().into_section();

    let elsewhere = folder.path().join("none");
    let made = make_grid(&small(), &on_the_cpu(&elsewhere), &mut ()).unwrap();

    assert!(made.is_good() && !elsewhere.exists());
    assert_eq!(made.quality, written.quality);
    let mesh = gridgen::formats::mesh(&folder.path().join("mesh.vts")).unwrap();
    assert!((mesh.grid.x, mesh.grid.y) == (made.grid.x, made.grid.y));
    let numpy = Command::new("python3").args(["-c", "import numpy"]).output();
    if !numpy.is_ok_and(|output| output.status.success()) {
        eprintln!("not checked: there is no python3 with numpy");
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/read.py");
    let read = Command::new("python3").arg(script).arg(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&read.stdout).into_owned();
    assert!(read.status.success(), "{said}{}", String::from_utf8_lossy(&read.stderr));
    assert!(said.starts_with("wing: converged True, residual "), "{said}");
    let planes = "\nmesh.p3d: 2 planes, the same coordinates to the last bit\n";
    assert!(said.contains(planes), "{said}");
}

/// Cancels after a number of calls.
struct Impatient(std::cell::Cell<usize>);

impl Progress for Impatient {
    fn cancelled(&self) -> bool {
        self.0.set(self.0.get().saturating_sub(1));
        self.0.get() == 0
    }
}

#[test]
fn a_library_run_ends_where_its_caller_wants() {
    let folder = tempfile::tempdir().unwrap();
    let end_after = |questions| {
        let mut progress = Impatient(std::cell::Cell::new(questions));
        run(&small().into(), &on_the_cpu(folder.path()), &mut progress).unwrap_err()
    };

    let before = end_after(1);
    assert!(matches!(before, Error::Interrupted { steps: None, restart: None }), "{before:?}");
    let within = end_after(5);
    let Error::Interrupted { steps: Some(2), restart: Some(file) } = within else {
        panic!("{within:?}");
    };
    assert!(file.is_file());
    let mut progress = Impatient(std::cell::Cell::new(4));
    let memory = make_grid(&small(), &on_the_cpu(folder.path()), &mut progress).unwrap_err();
    assert!(matches!(memory, Error::Interrupted { steps: Some(1), restart: None }), "{memory:?}");
}

/// One section of each kind, as O- and as C-grid; the survey of 5000 is a separate program. Then a section with noise,
/// whose blunt edge is a spike: along directions from inexact linear solves the residual increased at once.
#[test]
fn random_sections_are_valid_or_refused_with_their_reason() {
    let folder = tempfile::tempdir().unwrap();
    let table = folder.path().join("table.tsv");

    // Sections that are in the table already are skipped.
    for sections in [0..5, 0..5, 3166..3167] {
        random_sections::survey(sections, &table).unwrap();
    }

    let text = std::fs::read_to_string(&table).unwrap();
    assert_eq!(text.lines().count(), 12, "{text}");
    assert!(text.lines().all(|line| line.contains("\tvalid\t")), "{text}");
    assert!(random_sections::summarise(&text));
    assert!(!random_sections::summarise("0\tPlain\tO\tfailed\t1e-5\t3\tline search\n"));
    assert!(!random_sections::summarise("0\tPlain\tO\trefused\t1e-5\t0\tcrosses\n"));
}
