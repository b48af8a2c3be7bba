//! Help, completions and wrong arguments.

use super::{Finished, SMALLEST, Scratch, has};

/// The options of a coarse grid, without a backend.
const ON_COARSE_GRID: &str =
    "--set grid.ni=65 --set grid.nj=33 --set quality.max_growth=5 --set output.pictures=false";

/// Runs gridgen in an empty folder.
fn run(arguments: &str) -> Finished {
    Scratch::with(&[]).run(arguments)
}

#[test]
fn help_shows_options_examples_and_exit_codes() {
    let stdout = run("--help").succeeds_with("");
    let parts = [
        "Usage: gridgen [OPTIONS] [CASE.toml|FILE|NACA|NAME]",
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
    ];
    has(&stdout, &parts);
}

#[test]
fn the_version_is_that_of_the_package() {
    let version = format!("gridgen {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run("--version").succeeds(), version);
}

/// Completions are generated from all commands, whose definition clap validates in builds with debug
/// assertions.
#[test]
fn completions_are_written_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let stdout = run(&format!("completions {shell}")).succeeds_with("");
        assert!(stdout.contains("gridgen") && stdout.contains("backend"), "{shell}: {stdout}");
    }
}

#[test]
fn usage_errors_exit_with_2() {
    let none = run("");
    none.fails(2, "<CASE.toml|FILE|NACA|NAME>");
    none.fails(2, "--help");
    for arguments in [
        "wing.toml --colour",
        "wing.toml --backend tpu",
        "wing.toml --threads 0",
        "wing.toml --devices one",
        "wing.toml --devices 0,0",
        "wing.toml --devices 0 --backend cpu",
        "wing.toml --devices 0,1 --export-jacobian 0",
        "wing.toml --set grid.ni",
        "wing.toml --set =3",
        "wing.toml -q -v",
        "wing.toml other.toml",
        "wing.toml completions bash",
        "completions csh",
        "init a.toml b.toml",
        "init --naca 0012 --file a.dat",
        "check",
        "check wing.toml --set grid.ni",
        "schema wing.toml",
        "run",
        "run wing.toml --jobs 0",
        "convert mesh.p3d",
        "convert mesh.p3d -o a.p3d --encoding ascii",
        "convert mesh.p3d -o a.p3d --span 0",
    ] {
        let refused = run(arguments);
        refused.fails(2, "error: ");
        assert!(refused.stderr.starts_with("error: "), "{arguments}: {refused:?}");
    }
}

/// Values that only the geometry can judge are refused with their line as well: the number of base cells, whose
/// upper limit is (ni - 1)/2. The errors stay with `--quiet`, and no folder is created.
#[test]
fn a_case_that_cannot_be_run_is_refused_with_line_and_remedy() {
    let scratch = Scratch::with_case(
        "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\nbase_cells = 7\nni = 65\n",
    );
    for quiet in ["", "-q"] {
        scratch.run(&format!("wing.toml --backend cpu {quiet}")).is_refused(
            "error: wing.toml:5: base_cells = 7: an even number from 4 to 32 was expected\n\
             hint: leave base_cells out to have it chosen; a finer base needs a larger ni, on a C-grid a lower first_cell\n",
        );
    }
    assert_eq!(scratch.names("."), ["wing.toml"]);
}

#[test]
fn a_gpu_that_is_not_there_exits_with_3_before_any_work_and_names_the_way_out() {
    let scratch = Scratch::with_case(SMALLEST);
    let finished = scratch.run("wing.toml --backend cuda");

    finished.fails(3, "--backend cpu");
    assert!(finished.stderr.starts_with("error: "), "{}", finished.stderr);
    assert!(!scratch.path("output").exists());
}

#[test]
#[cfg(feature = "cuda")]
fn more_gpus_than_bands_of_columns_are_refused_before_any_is_opened() {
    let scratch = Scratch::with_case(SMALLEST);
    let finished = scratch.run(&format!("wing.toml --devices 0,1,2,3,4,5,6,7 {ON_COARSE_GRID}"));

    finished.fails(3, "63 unknown columns cannot be cut into 8 bands of at least 8");
    finished.fails(3, "--devices");
}

#[test]
fn devices_are_listed_where_there_are_none() {
    let stdout = run("devices").succeeds_with("");
    assert!(stdout.contains("computes on the CPU"), "{stdout}");
}

#[test]
fn a_schedule_for_gpus_is_not_taken_for_one_of_the_cpu() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = |schedule: &str| {
        let factors = format!("linear.preconditioner=dilu --set linear.schedule={schedule}");
        let finished = scratch.run_coarse(&format!("--set {factors}"));
        (finished.code, finished.stderr)
    };

    let note = "note: linear.schedule is for GPUs: on the CPU the factors are eliminated in natural \
                order\n";
    assert_eq!(run("tiles"), (0, note.to_owned()));
    assert_eq!(run("levels"), (0, String::new()));
}

#[test]
fn the_automatic_choice_says_that_it_runs_on_the_cpu() {
    let scratch = Scratch::with_case(SMALLEST);

    let on = |backend: &str| scratch.run(&format!("wing.toml {ON_COARSE_GRID} {backend}"));

    for backend in ["", "--backend auto"] {
        // With a GPU the note says from how many points on it is faster.
        on(backend).succeeds_with("note: running on the CPU");
    }
    on("--backend cpu").succeeds_with("");
}

/// 200 million points: more memory than there is.
#[test]
fn a_grid_that_the_cpu_cannot_hold_is_refused_before_any_work() {
    let scratch = Scratch::with_case(SMALLEST);
    let size = "--set grid.ni=20001 --set grid.nj=10001 --set grid.max_turn=180";

    // 186 GiB or so: a machine of these tests that has them makes the grid and takes long.
    if gridgen::memory::free().is_some_and(|free| free < 100 << 30) {
        for preconditioner in ["multigrid", "dilu"] {
            let linear = format!("--set linear.preconditioner={preconditioner}");
            let done = scratch.run(&format!("wing.toml --backend cpu {size} {linear}"));

            done.fails(2, "of memory are needed");
            assert!(!scratch.path("output").exists());
        }
    }
}

/// Neither half a megabyte of a key nor three hundred zeros are readable.
#[test]
fn long_names_and_small_numbers_are_short_in_messages() {
    let long = "x".repeat(50_000);
    for case in [format!("{SMALLEST}[grid]\n{long} = 1\n"), format!("{SMALLEST}[{long}]\n")] {
        let refused = Scratch::with_case(case).run("check wing.toml");
        refused.fails(2, "…");
        assert!(refused.stderr.len() < 1000, "{} bytes", refused.stderr.len());
    }
    let scratch = Scratch::with_case(SMALLEST);
    let check = |set: &str| scratch.run(&format!("check wing.toml --set {set}"));
    let refused = check(&format!("grid.{}={}", "y".repeat(10_000), "z".repeat(10_000)));
    refused.fails(2, "error: ");
    assert!(refused.stderr.len() < 1000, "{} bytes", refused.stderr.len());

    let tiny = check("grid.first_cell=1e-300");
    tiny.fails(2, "1e-300");
    assert!(!tiny.stderr.contains("0.000000000000"), "{tiny:?}");
}

/// TOML requires a digit on either side of the point; on a command line `.5` is a number.
#[test]
fn a_number_may_begin_or_end_with_its_point() {
    let scratch = Scratch::with_case(SMALLEST);
    let check = |angle| scratch.run(&format!("check wing.toml --set geometry.angle={angle}"));
    for angle in [".5", "-.5", "5."] {
        check(angle).succeeds();
    }
    for angle in [".5.", ".x"] {
        check(angle).fails(2, "write a number, without quotes");
    }
}

#[test]
fn the_stride_of_a_family_has_its_ordinal() {
    let scratch = Scratch::with_case(SMALLEST);
    for (grids, ni, ordinal) in [(2, 100, "2nd"), (3, 100, "4th"), (6, 1000, "32nd")] {
        let refused = scratch.run(&format!("wing.toml --family {grids} --set grid.ni={ni}"));
        refused.fails(2, &format!("leaves out all but every {ordinal} point"));
    }
}

#[test]
fn a_thousand_threads_are_no_more_than_the_cores_serve() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = |threads: usize| {
        scratch.run_coarse(&format!("--threads {threads}")).succeeds();
        scratch.report()["threads"].as_u64().unwrap() as usize
    };
    let cores = std::thread::available_parallelism().unwrap().get();

    assert_eq!(run(7), 7);
    assert_eq!(run(4096), (16 * cores).min(4096));
}
