//! Help, completions and wrong arguments.

use super::{COARSE, Finished, SMALLEST, Scratch};

/// The beginning of the note with which the automatic choice explains that it takes the CPU.
const ON_THE_CPU: &str = "note: running on the CPU: ";

/// Runs gridgen in an empty folder.
fn run(arguments: &[&str]) -> Finished {
    Scratch::with(&[]).run(arguments)
}

#[test]
fn help_shows_options_examples_and_exit_codes() {
    let Finished { code, stdout, stderr } = run(&["--help"]);

    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "Usage: gridgen [OPTIONS] <CASE.toml>",
        "--set <SECTION.KEY=VALUE>",
        "--backend",
        "--devices",
        "--threads",
        "--output",
        "--quiet",
        "--verbose",
        "completions",
        "Examples:",
        "gridgen cases/naca0012.toml",
        "Exit codes:",
    ] {
        assert!(stdout.contains(part), "{part} is not in\n{stdout}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let Finished { code, stdout, .. } = run(&["--version"]);

    assert_eq!((code, stdout), (0, format!("gridgen {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn an_override_is_split_at_its_first_equals_sign() {
    let scratch = Scratch::with_case(SMALLEST);

    scratch.run_coarse(&["--set", "name = a=b"]).succeeds();

    assert!(scratch.path("output/a=b/mesh.vts").exists());
}

/// Completions are generated from all commands, whose definition clap validates in builds with debug
/// assertions.
#[test]
fn completions_are_written_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let Finished { code, stdout, stderr } = run(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        assert!(stdout.contains("gridgen") && stdout.contains("backend"), "{shell}: {stdout}");
    }
}

#[test]
fn no_arguments_are_a_usage_error() {
    let Finished { code, stdout, stderr } = run(&[]);

    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("<CASE.toml>") && stderr.contains("--help"), "{stderr}");
}

#[test]
fn usage_errors_exit_with_2() {
    for arguments in [
        &["wing.toml", "--colour"][..],
        &["wing.toml", "--backend", "tpu"],
        &["wing.toml", "--threads", "0"],
        &["wing.toml", "--devices", "one"],
        &["wing.toml", "--devices", "0,0"],
        &["wing.toml", "--devices", "0", "--backend", "cpu"],
        &["wing.toml", "--devices", "0,1", "--export-jacobian", "0"],
        &["wing.toml", "--set", "grid.ni"],
        &["wing.toml", "--set", "=3"],
        &["wing.toml", "-q", "-v"],
        &["wing.toml", "other.toml"],
        &["wing.toml", "completions", "bash"],
        &["completions", "csh"],
    ] {
        let Finished { code, stdout, stderr } = run(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_gpu_that_is_not_there_exits_with_3_before_any_work_and_names_the_way_out() {
    let scratch = Scratch::with_case(SMALLEST);
    let finished = scratch.run(&["wing.toml", "--backend", "cuda"]);

    assert_eq!((finished.code, finished.stdout.as_str()), (3, ""));
    assert!(finished.stderr.starts_with("error: "), "{}", finished.stderr);
    assert!(finished.stderr.contains("--backend cpu"), "{}", finished.stderr);
    assert!(!scratch.path("output").exists());
}

#[test]
#[cfg(feature = "cuda")]
fn more_gpus_than_bands_of_columns_are_refused_before_any_is_opened() {
    let scratch = Scratch::with_case(SMALLEST);
    let arguments = [&["wing.toml", "--devices", "0,1,2,3,4,5,6,7"], &COARSE[..]].concat();
    let finished = scratch.run(&arguments);

    assert_eq!((finished.code, finished.stdout.as_str()), (3, ""));
    let refused = "63 unknown columns cannot be cut into 8 bands of at least 8";
    assert!(finished.stderr.contains(refused), "{}", finished.stderr);
    assert!(finished.stderr.contains("--devices"), "{}", finished.stderr);
}

#[test]
fn devices_are_listed_where_there_are_none() {
    let Finished { code, stdout, stderr } = run(&["devices"]);

    assert_eq!((code, stderr.as_str()), (0, ""));
    assert!(stdout.contains("computes on the CPU"), "{stdout}");
}

#[test]
fn a_schedule_for_gpus_is_not_taken_for_one_of_the_cpu() {
    let scratch = Scratch::with_case(SMALLEST);
    let arguments = |schedule: &'static str| {
        let factors =
            ["--backend", "cpu", "--set", "linear.preconditioner=dilu", "--set", schedule];
        scratch.run(&[&["wing.toml"], &COARSE[..], &factors].concat())
    };

    let finished = arguments("linear.schedule=tiles");

    let note = "note: linear.schedule is for GPUs: on the CPU the factors are eliminated in natural \
                order\n";
    assert_eq!((finished.code, finished.stderr.as_str()), (0, note));
    assert_eq!(arguments("linear.schedule=levels").stderr, "");
}

#[test]
fn the_automatic_choice_says_that_it_runs_on_the_cpu() {
    let scratch = Scratch::with_case(SMALLEST);

    let on = |backend: &[&str]| scratch.run(&[&["wing.toml"], &COARSE[..], backend].concat());

    for backend in [&[][..], &["--backend", "auto"]] {
        let finished = on(backend);
        assert_eq!(finished.code, 0, "{backend:?}");
        assert!(finished.stderr.starts_with(ON_THE_CPU), "{backend:?}: {}", finished.stderr);
    }
    assert_eq!(on(&["--backend", "cpu"]).stderr, "");
}

/// 200 million points: more memory than there is.
#[test]
fn a_grid_that_the_cpu_cannot_hold_is_refused_before_any_work() {
    let scratch = super::Scratch::with_case(super::SMALLEST);
    let large = |preconditioner: &str| {
        let linear = format!("linear.preconditioner={preconditioner}");
        let sets = ["grid.ni=20001", "grid.nj=10001", "grid.max_turn=180", &linear];
        let sets = sets.map(|set| ["--set", set]).concat();
        scratch.run(&[&["wing.toml", "--backend", "cpu"], &sets[..]].concat())
    };

    // 186 GiB or so: a machine of these tests that has them makes the grid and takes long.
    if gridgen::memory::free().is_some_and(|free| free < 100 << 30) {
        for preconditioner in ["multigrid", "dilu"] {
            let done = large(preconditioner);

            assert!(done.code == 2 && done.stderr.contains("of memory are needed"), "{done:?}");
            assert!(!scratch.path("output").exists());
        }
    }
}

/// Neither half a megabyte of a key nor three hundred zeros are readable.
#[test]
fn long_names_and_small_numbers_are_short_in_messages() {
    let long = "x".repeat(500_000);
    for case in [format!("{SMALLEST}[grid]\n{long} = 1\n"), format!("{SMALLEST}[{long}]\n")] {
        let refused = Scratch::with_case(case).run(&["check", "wing.toml"]);
        assert!(refused.code == 2 && refused.stderr.len() < 1000, "{} bytes", refused.stderr.len());
        assert!(
            refused.stderr.contains(&["x".repeat(50), "…".to_owned()].concat()[50..]),
            "{refused:?}"
        );
    }
    let scratch = Scratch::with_case(SMALLEST);
    let set = ["grid.", &"y".repeat(10_000), "=", &"z".repeat(10_000)].concat();
    let refused = scratch.run(&["check", "wing.toml", "--set", &set]);
    assert!(refused.code == 2 && refused.stderr.len() < 1000, "{} bytes", refused.stderr.len());

    let tiny = scratch.run(&["check", "wing.toml", "--set", "grid.first_cell=1e-300"]);
    assert!(tiny.code == 2 && tiny.stderr.contains("1e-300"), "{tiny:?}");
    assert!(!tiny.stderr.contains("0.000000000000"), "{tiny:?}");
}

/// TOML requires a digit on either side of the point; on a command line `.5` is a number.
#[test]
fn a_number_may_begin_or_end_with_its_point() {
    let scratch = Scratch::with_case(SMALLEST);
    for set in ["geometry.angle=.5", "geometry.angle=-.5", "geometry.angle=5."] {
        scratch.run(&["check", "wing.toml", "--set", set]).succeeds();
    }
    for set in ["geometry.angle=.5.", "geometry.angle=.x"] {
        let refused = scratch.run(&["check", "wing.toml", "--set", set]);
        assert!(refused.stderr.contains("write a number, without quotes"), "{refused:?}");
    }
}

#[test]
fn the_stride_of_a_family_has_its_ordinal() {
    let scratch = Scratch::with_case(SMALLEST);
    for (grids, ni, ordinal) in [("2", 100, "2nd"), ("3", 100, "4th"), ("6", 1000, "32nd")] {
        let set = format!("grid.ni={ni}");
        let refused = scratch.run(&["wing.toml", "--family", grids, "--set", &set]);
        let said = format!("leaves out all but every {ordinal} point");
        assert!(refused.code == 2 && refused.stderr.contains(&said), "{refused:?}");
    }
}

#[test]
fn a_thousand_threads_are_no_more_than_the_cores_serve() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = |threads: &str| {
        scratch.run_coarse(&["--threads", threads]).succeeds();
        scratch.report()["threads"].as_u64().unwrap() as usize
    };
    let cores = std::thread::available_parallelism().unwrap().get();

    assert_eq!(run("7"), 7);
    assert_eq!(run("4096"), (16 * cores).min(4096));
}
