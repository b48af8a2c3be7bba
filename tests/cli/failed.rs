//! Runs that do not converge, and the files that they leave.

use std::fs;

use super::{COARSE, SMALLEST, Scratch};

/// Too few steps for any case.
const ONE_STEP: [&str; 2] = ["--set", "newton.max_iterations=1"];

#[test]
fn too_few_steps_fail_with_the_reason_and_files_named_failed() {
    let scratch = Scratch::with_case(SMALLEST);
    let arguments = [&["wing.toml", "--backend", "cpu"], &COARSE[..], &ONE_STEP].concat();

    let finished = scratch.run(&arguments);

    assert_eq!(finished.code, 1);
    assert_eq!(
        finished.stderr,
        "error: the grid did not converge: the limit of 1 Newton step was reached\n\
         hint: allow more steps by newton.max_iterations. Do not use the failed grid; -v shows \
         each step\n"
    );
    assert!(finished.stdout.starts_with("wing: FAILED, not converged\n"), "{finished:?}");
    assert!(finished.stdout.contains(" after 1 Newton step, "), "{finished:?}");
    assert!(finished.stdout.contains("  output/wing/mesh.failed.vts\n"), "{finished:?}");
    assert_eq!(
        scratch.names("output/wing"),
        [
            "case.toml",
            "convergence.csv",
            "convergence.svg",
            "grid.failed.png",
            "grid.failed.svg",
            "mesh.failed.nmf",
            "mesh.failed.p3d",
            "mesh.failed.vts",
            "report.html",
            "report.json",
            "restart.bin",
        ]
    );
    let report = scratch.report();
    assert_eq!(report["converged"], false);
    assert_eq!(report["stop_reason"], "the limit of 1 Newton step was reached");
    assert_eq!(report["newton"]["iterations"], 1);
}

/// A direction from two linear iterations folds the cells next to the wall.
#[test]
fn the_hint_after_a_failure_depends_on_its_cause() {
    for (base, hint) in [
        ("laplace", "control.base = \"marched\", the default, converges where others do not."),
        (
            "marched",
            "closer wall points, a larger first cell or initial.dissipation, or \
             initial.method = \"normal\" can help.",
        ),
    ] {
        let scratch = Scratch::with_case(SMALLEST);
        let base = format!("control.base={base}");

        let sets = [&*base, "linear.preconditioner=jacobi", "linear.max_iterations=2"];
        let finished = scratch.run_coarse(&sets.map(|set| ["--set", set]).concat());

        assert_eq!(finished.code, 1, "{finished:?}");
        let said = |start: &str| finished.stderr.lines().any(|line| line.starts_with(start));
        assert!(said("error: the grid did not converge: "), "{finished:?}");
        assert!(said(&format!("hint: {hint}")), "{finished:?}");
        assert_eq!(scratch.report()["converged"], false);
        assert!(!scratch.path("output/wing/mesh.vts").exists());
    }
}

#[test]
fn quiet_prints_only_the_error_of_a_failed_run() {
    let scratch = Scratch::with_case(SMALLEST);

    let finished = scratch.run_coarse(&[&["-q"], &ONE_STEP[..]].concat());

    assert_eq!((finished.code, finished.stdout.as_str()), (1, ""));
    assert!(finished.stderr.starts_with("error: the grid did not converge: "), "{finished:?}");
}

#[test]
fn a_failed_run_after_a_good_one_leaves_no_good_looking_file() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run(&[&["wing.toml"], &COARSE[..]].concat()).succeeds();

    let finished = scratch.run_coarse(&ONE_STEP);

    assert_eq!(finished.code, 1, "{finished:?}");
    assert_eq!(
        scratch.names("output/wing"),
        [
            "case.toml",
            "convergence.csv",
            "mesh.failed.nmf",
            "mesh.failed.p3d",
            "mesh.failed.vts",
            "report.json",
            "restart.bin",
        ]
    );
}

#[test]
fn a_good_run_after_a_failed_one_leaves_no_failed_file() {
    let scratch = Scratch::with_case(SMALLEST);
    assert_eq!(scratch.run_coarse(&ONE_STEP).code, 1);

    scratch.run_coarse(&[]).succeeds();

    assert_eq!(
        scratch.names("output/wing"),
        ["case.toml", "convergence.csv", "mesh.nmf", "mesh.p3d", "mesh.vts", "report.json"]
    );
}

#[test]
fn no_mesh_of_another_format_stays_from_an_earlier_run() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(&[]).succeeds();

    scratch.run_coarse(&["--set", "output.formats=[\"vts\"]"]).succeeds();

    assert_eq!(
        scratch.names("output/wing"),
        ["case.toml", "convergence.csv", "mesh.vts", "report.json"]
    );
}

/// Bad input is not computed, so the files in the folder remain consistent.
#[test]
fn bad_input_leaves_the_earlier_results_as_they_are() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(&[]).succeeds();
    let names = scratch.names("output/wing");
    let read = || names.iter().map(|name| scratch.bytes(&format!("output/wing/{name}")));
    let earlier: Vec<_> = read().collect();

    let finished = scratch.run_coarse(&["--set", "geometry.naca=12"]);

    assert_eq!(finished.code, 2, "{finished:?}");
    assert_eq!(scratch.names("output/wing"), names);
    assert!(read().eq(earlier), "a file was changed");
}

/// A run that is killed while it writes cannot clean up.
#[test]
fn partly_written_files_of_an_interrupted_run_are_removed() {
    let scratch = Scratch::with_case(SMALLEST);
    fs::create_dir_all(scratch.path("output/wing/.gridgen/part/files")).unwrap();
    fs::write(scratch.path("output/wing/.gridgen-Xa3b9Z.part"), "half").unwrap();
    fs::write(scratch.path("output/wing/.gridgen/part/files/mesh.vts"), "half").unwrap();

    scratch.run_coarse(&[]).succeeds();

    assert_eq!(
        scratch.names("output/wing"),
        ["case.toml", "convergence.csv", "mesh.nmf", "mesh.p3d", "mesh.vts", "report.json"]
    );
}
