//! Interrupted runs and their continuation.
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use gridgen::files::restart;
use gridgen::solver::newton::lasting_step;
use rustix::process::Signal;

use super::{Finished, NO_PICTURES, SMALLEST, Scratch, await_line, signal};

/// A grid whose Newton steps take long enough to be interrupted.
const FINE: &str = "--backend cpu --set grid.ni=257 --set grid.nj=129 --set output.pictures=false";
const RESTART: &str = "output/wing/restart.bin";
const LIMIT: &str = "--set newton.max_iterations=2";
const HINT_OTHER: &str = "hint: section, grid, initial grid and control functions must be those of \
                          the run that was interrupted; solver and output may differ\n";

/// A run of the fine grid that has taken the Newton step `step` and continues.
fn running(scratch: &Scratch, step: usize, arguments: &str) -> (Child, impl BufRead + use<>) {
    let mut child = scratch.start(&format!("wing.toml -v {FINE} {arguments}"));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    await_line(&mut stderr, &format!("newton {step:>3}"));
    (child, stderr)
}

/// Waits for the restart file of a running solve. Waiting for a later step instead might wait for the end of
/// the run.
fn await_restart_file(scratch: &Scratch, child: &mut Child) {
    while !scratch.path(RESTART).exists() {
        assert!(child.try_wait().unwrap().is_none(), "the run ended before it kept its state");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The steps that led to the mesh in a folder, without times. A solve from the start may end with the same
/// mesh, so only its steps show the difference.
fn steps(scratch: &Scratch, folder: &str) -> Vec<String> {
    let text = scratch.text(&format!("{folder}/wing/convergence.csv"));
    text.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
}

/// The mesh of the fine grid without an interruption, and its steps.
static WHOLE: LazyLock<(Vec<u8>, Vec<String>)> = LazyLock::new(|| {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run(&format!("wing.toml {FINE}")).succeeds();
    (scratch.bytes("output/wing/mesh.vts"), steps(&scratch, "output"))
});

/// Asserts that mesh and steps equal those of the fine grid without an interruption.
#[track_caller]
fn is_as_uninterrupted(scratch: &Scratch) {
    let (mesh, all) = &*WHOLE;
    assert!(scratch.bytes("output/wing/mesh.vts") == *mesh, "mesh.vts differs");
    assert_eq!(steps(scratch, "output"), *all);
}

fn go_on(scratch: &Scratch) -> Finished {
    scratch.run(&format!("wing.toml {FINE} --restart {RESTART}"))
}

#[test]
fn an_interrupted_run_keeps_its_state_and_continues_to_the_same_bits() {
    for name in [Signal::INT, Signal::TERM] {
        let scratch = Scratch::with_case(SMALLEST);

        let (mut child, mut stderr) = running(&scratch, 1, "");
        signal(name, &child);
        let mut rest = String::new();
        std::io::Read::read_to_string(&mut stderr, &mut rest).unwrap();
        let status = child.wait().unwrap();

        assert_eq!(status.code(), Some(130), "{rest}");
        assert!(rest.contains("note: stopping after this Newton step"), "{rest}");
        assert!(rest.contains("\nerror: interrupted after "), "{rest}");
        assert!(rest.ends_with(&format!("hint: go on with --restart {RESTART}\n")), "{rest}");
        assert_eq!(scratch.names("output/wing"), ["restart.bin"]);

        go_on(&scratch).succeeds();
        is_as_uninterrupted(&scratch);
        assert!(!scratch.path(RESTART).exists(), "a finished run needs no restart file");
    }
}

#[test]
fn an_interrupted_batch_continues_where_it_stopped() {
    let scratch =
        Scratch::with(&[("a.toml", &SMALLEST), ("b.toml", &SMALLEST), ("c.toml", &SMALLEST)]);
    let arguments = format!("run -v --jobs 1 a.toml b.toml c.toml {FINE}");
    let mut child = scratch.start(&arguments);
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "1 of 3  a: converged\n");

    signal(Signal::INT, &child);
    let stopped = Finished::from(child.wait_with_output().unwrap());

    assert_eq!(stopped.code, 130);
    // The second case may not have started when the signal arrives.
    let table = &stopped.stdout;
    assert!(table.contains("\n3 cases: 1 converged, "), "{table}");
    assert!(table.contains("\nb: interrupted ") || table.contains(" 2 not run\n"), "{table}");
    assert!(!scratch.path("output/c").exists());

    let done = scratch.run(&arguments).succeeds();
    assert!(done.ends_with("\n3 cases: 2 converged, 1 kept\n"), "{done}");
}

/// SIGKILL cannot be caught, so only files written earlier exist. The progress is kept: the earlier steps still have the
/// times that they took.
#[test]
fn a_killed_run_goes_on_in_a_batch_from_its_last_restart_file() {
    let scratch = Scratch::with_case(SMALLEST);
    let (mut child, _stderr) = running(&scratch, 1, "--restart-every 0");
    await_restart_file(&scratch, &mut child);
    signal(Signal::KILL, &child);
    child.wait().unwrap();
    let names = scratch.names("output/wing");
    let whole: Vec<_> = names.iter().filter(|name| !name.starts_with(".gridgen-")).collect();
    assert_eq!(whole, ["restart.bin"]);
    let taken = restart::read(&scratch.path(RESTART)).unwrap().history.steps;
    assert!(taken.len() > 1, "{} steps", taken.len());

    let table = scratch.run(&format!("run wing.toml {FINE}")).succeeds();

    assert!(table.ends_with("\n1 case: 1 converged\n"), "{table}");
    let text = scratch.text("output/wing/convergence.csv");
    let seconds: Vec<&str> =
        text.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert!(seconds.len() > taken.len());
    for (then, now) in taken.iter().zip(seconds) {
        assert_eq!(format!("{:.6}", then.setup_seconds + then.linear_seconds), now);
    }
    is_as_uninterrupted(&scratch);
    assert!(scratch.names("output/wing").iter().all(|name| !name.starts_with('.')));
    assert!(!scratch.path(RESTART).exists());
}

/// A state of other equations, or a damaged one, cannot be continued.
#[test]
fn a_batch_begins_anew_where_the_restart_file_is_of_no_use() {
    let scratch = Scratch::with_case(SMALLEST);
    let batch = |more: &str| {
        let coarse = "run wing.toml --backend cpu --set grid.ni=65 --set grid.nj=33";
        scratch.run(&format!("{coarse} {NO_PICTURES} {more}"))
    };
    assert_eq!(batch(LIMIT).code, 1);
    assert!(scratch.path(RESTART).exists());

    batch("--set grid.far_field=14").succeeds();
    batch("--set grid.far_field=14 -o whole").succeeds();
    assert_eq!(steps(&scratch, "output"), steps(&scratch, "whole"));

    assert_eq!(batch(LIMIT).code, 1);
    scratch.write(RESTART, &scratch.bytes(RESTART)[..1000]);
    batch("").succeeds();
}

#[test]
fn an_interrupted_run_keeps_earlier_results() {
    let scratch = Scratch::solved("");
    let before = scratch.bytes("output/wing/mesh.vts");

    let (mut child, _stderr) = running(&scratch, 0, "");
    signal(Signal::INT, &child);
    assert_eq!(child.wait().unwrap().code(), Some(130));

    assert!(scratch.bytes("output/wing/mesh.vts") == before);
}

/// The third step keeps the levels of the first step, or, after a rougher guess, of the second.
#[test]
fn a_run_at_its_limit_of_steps_can_be_continued() {
    for (guess, step) in [("", 1), ("--set initial.dissipation=3", 2)] {
        let scratch = Scratch::with_case(SMALLEST);
        let stopped = scratch.run_coarse(&format!("{guess} {LIMIT}"));
        assert_eq!(stopped.code, 1);
        assert!(stopped.stdout.contains("  output/wing/restart.bin\n"), "{}", stopped.stdout);
        let there = restart::read(&scratch.path(RESTART)).unwrap();
        assert_eq!(lasting_step(&there.history, there.state.len()), Some(step));

        scratch.run_coarse(&format!("{guess} --restart {RESTART}")).succeeds();

        scratch.run_coarse(&format!("{guess} -o whole")).succeeds();
        scratch.same(["output/wing", "whole/wing"], &["mesh.vts"]);
        assert_eq!(steps(&scratch, "output"), steps(&scratch, "whole"));
    }
}

#[test]
fn a_restart_may_change_the_solver() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(LIMIT);

    scratch.run_coarse(&format!("--restart {RESTART} --set linear.solver=gmres")).succeeds();

    let residuals: Vec<f64> = steps(&scratch, "output")[1..]
        .iter()
        .map(|step| step.split(',').nth(1).unwrap().parse().unwrap())
        .collect();
    assert!(residuals.len() > 3 && residuals.is_sorted_by(|a, b| b < a), "{residuals:?}");
}

#[test]
fn a_restart_of_another_case_is_refused() {
    let case = b"[geometry]\nfile = \"e387.dat\"\n";
    let section = include_bytes!("../../cases/airfoils/e387.dat");
    let scratch = Scratch::with(&[("wing.toml", case), ("e387.dat", section)]);
    scratch.run_coarse(LIMIT);
    scratch.write("e387.dat", [&section[..], b"\n"].concat());
    let refused = scratch.run_coarse(&format!("--restart {RESTART}"));
    refused.fails(2, "the contents of geometry.file is ");

    for (before, set, there) in [
        ("grid.nj=33", "grid.nj=35", "grid.nj is 33 there, 35 here\n"),
        (
            "grid.nj=33",
            "control.wall=frozen",
            "control.wall is \"coupled\" there, \"frozen\" here\n",
        ),
        // Both boxes reach as far from the section at most.
        ("domain.box=[-2,3,-2,2]", "domain.box=[-1.5,3,-2,2]", "domain.box is "),
    ] {
        scratch.run_coarse(&format!("{LIMIT} --set {before}"));
        let refused = scratch.run_coarse(&format!("--restart {RESTART} --set {set}"));

        refused.fails(2, &format!("error: {RESTART}: belongs to another case: {there}"));
        assert!(refused.stderr.ends_with(HINT_OTHER), "{refused:?}");
    }
}

#[test]
fn a_damaged_restart_file_and_other_files_are_refused() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(LIMIT);
    let good = scratch.bytes(RESTART);
    let refused = |bytes: &[u8], message: &str| {
        scratch.write("r.bin", bytes);
        scratch.run_coarse("--restart r.bin").is_refused(message);
    };

    let mut changed = good.clone();
    changed[good.len() / 2] ^= 1;
    let damaged = "error: r.bin: the restart file is cut off or damaged\n\
                   hint: run the case without --restart\n";
    refused(&changed, damaged);
    refused(&good[..good.len() - 5], damaged);
    refused(&good[..9], damaged);
    refused(
        SMALLEST.as_bytes(),
        "error: r.bin: not a restart file of gridgen\n\
         hint: name the restart.bin that an interrupted run wrote\n",
    );
    for version in [2, 4] {
        let mut other = good.clone();
        other[8] = version;
        let said =
            format!("error: r.bin: a restart file of version {version}, version 3 was expected");
        refused(&other, &(said + "\nhint: run the case without --restart\n"));
    }
    scratch.run_coarse("--restart none.bin").is_refused(
        "error: none.bin: cannot be read: No such file or directory (os error 2)\n\
         hint: check the path and its permissions\n",
    );
}
