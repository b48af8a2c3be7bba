//! Runs that do not converge, and the files that they leave.

use super::{COARSE, SMALLEST, Scratch, has};

/// Too few steps for any case.
const ONE_STEP: &str = "--set newton.max_iterations=1";

#[test]
fn too_few_steps_fail_with_the_reason_and_files_named_failed() {
    let scratch = Scratch::with_case(SMALLEST);
    let finished = scratch.run(&format!("wing.toml {COARSE} {ONE_STEP}"));

    assert_eq!(finished.code, 1);
    assert_eq!(
        finished.stderr,
        "error: the grid did not converge: the limit of 1 Newton step was reached\n\
         hint: allow more steps by newton.max_iterations. Do not use the failed grid; -v shows \
         each step\n"
    );
    assert!(finished.stdout.starts_with("wing: FAILED, not converged\n"), "{finished:?}");
    has(&finished.stdout, &[" after 1 Newton step, ", "  output/wing/mesh.failed.vts\n"]);
    let names = "case.toml convergence.csv convergence.svg grid.failed.png grid.failed.svg mesh.failed.nmf \
                 mesh.failed.p3d mesh.failed.vts report.html report.json restart.bin";
    assert_eq!(scratch.names("output/wing").join(" "), names);
    let report = scratch.report();
    assert_eq!(report["converged"], false);
    assert_eq!(report["stop_reason"], "the limit of 1 Newton step was reached");
    assert_eq!(report["newton"]["iterations"], 1);
    let quiet = scratch.run_coarse(&format!("{ONE_STEP} -q"));
    assert_eq!((quiet.code, quiet.stdout, quiet.stderr), (1, String::new(), finished.stderr));
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
        let linear = "--set linear.preconditioner=jacobi --set linear.max_iterations=2";
        let finished = scratch.run_coarse(&format!("{linear} --set control.base={base}"));

        finished.fails(1, "error: the grid did not converge: ");
        finished.fails(1, &format!("\nhint: {hint}"));
        assert_eq!(scratch.report()["converged"], false);
        assert!(!scratch.path("output/wing/mesh.vts").exists());
    }
}

/// A run that is killed while it writes cannot clean up, so the first run finds parts of files.
#[test]
fn of_earlier_runs_only_good_meshes_of_other_formats_stay_in_the_folder() {
    let good = "case.toml convergence.csv mesh.nmf mesh.p3d mesh.vts report.json";
    let all = "case.toml convergence.csv mesh.2d.p3d mesh.nmf mesh.p3d mesh.vts report.json";
    let failed = "case.toml convergence.csv mesh.2d.p3d mesh.failed.nmf mesh.failed.p3d mesh.failed.vts \
                  report.json restart.bin";
    let scratch = Scratch::with_case(SMALLEST);
    scratch.write("output/wing/.gridgen-Xa3b9Z.part", "half");
    scratch.write("output/wing/.gridgen/part/files/mesh.vts", "half");
    for (options, names) in [
        ("", good),
        ("--set output.formats=vts", good),
        ("--set output.formats=plot3d --set output.plot3d_dimensions=2", all),
        ("--set output.pictures=true", ""),
        (ONE_STEP, failed),
        ("", all),
    ] {
        let finished = scratch.run_coarse(options);

        assert_eq!(finished.code, i32::from(options == ONE_STEP), "{finished:?}");
        // With pictures there are more.
        assert!(names.is_empty() || scratch.names("output/wing").join(" ") == names, "{options}");
    }
    // Bad input is not computed, so the files in the folder remain consistent.
    let earlier = scratch.contents("output/wing");
    scratch.run_coarse("--set geometry.naca=12").fails(2, "error: ");
    assert!(scratch.contents("output/wing") == earlier, "a file was changed");
}
