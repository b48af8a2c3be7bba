//! Help, completions and wrong arguments.

use serde_json::Value;

use super::{Finished, SMALLEST, Scratch, has};

/// The options of a coarse grid, without a backend.
const ON_COARSE_GRID: &str =
    "--set grid.ni=65 --set grid.nj=33 --set quality.max_growth=5 --set output.pictures=false";

/// Runs gridgen in an empty folder.
fn run(arguments: &str) -> Finished {
    Scratch::with(&[]).run(arguments)
}

/// Completions are generated from all commands, whose definition clap validates in builds with debug assertions. The
/// licence of the embedded font requires its notice.
#[test]
fn texts_about_the_program_have_their_parts() {
    let says = |arguments: &str, parts: &[&str]| has(&run(arguments).succeeds_with(""), parts);
    let help = [
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
    says("--help", &help);
    says("man", &[".TH gridgen 1", "\\-\\-threads", "gridgen\\-check(1)", "Exit codes"]);
    let licences = [
        "UBUNTU FONT LICENCE Version 1.0",
        "SIL OPEN FONT LICENSE Version 1.1",
        "© 2010, 2011 Canonical Ltd",
        "LICENSE-APACHE",
        "UIUC Airfoil Coordinates Database",
    ];
    says("licences", &licences);
    says("devices", &["computes on the CPU"]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        says(&format!("completions {shell}"), &["gridgen", "backend"]);
    }
    let commands = "run convert init check schema licences man airfoil quality completions devices";
    for command in commands.split(' ') {
        says(&format!("{command} --help"), &[&format!("\n  gridgen {command}")]);
    }
    let schema: Value = serde_json::from_str(&run("schema").succeeds()).unwrap();
    assert_eq!(schema["properties"]["grid"]["properties"]["ni"]["minimum"], 9);
    let version = format!("gridgen {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(run("--version").succeeds(), version);
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
        "move mesh.p3d --wall wall.dat --to moved.dat",
    ] {
        let refused = run(arguments);
        refused.fails(2, "error: ");
        assert!(refused.stderr.starts_with("error: "), "{arguments}: {refused:?}");
    }
}

/// Values that only the geometry can judge are refused with their line as well: the number of base cells, whose
/// upper limit is (ni - 1)/2. The errors stay with `--quiet`, a check has
/// them, too, and no folder is created.
#[test]
fn a_case_that_cannot_be_run_is_refused_with_line_and_remedy() {
    let scratch = Scratch::with_case(
        "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\nbase_cells = 7\nni = 65\n",
    );
    for command in ["wing.toml --backend cpu", "wing.toml --backend cpu -q", "check wing.toml"] {
        scratch.run(command).is_refused(
            "error: wing.toml:5: base_cells = 7: an even number from 4 to 32 was expected\n\
             hint: leave base_cells out to have it chosen; a finer base needs a larger ni, on a C-grid a lower first_cell\n",
        );
    }
    assert_eq!(scratch.names("."), ["wing.toml"]);
}

#[test]
fn gpus_that_are_not_there_or_too_many_exit_with_3_and_the_automatic_choice_is_then_the_cpu() {
    let scratch = Scratch::with_case(SMALLEST);
    let on = |backend: &str| scratch.run(&format!("wing.toml {ON_COARSE_GRID} {backend}"));

    let missing = on("--backend cuda");
    missing.fails(3, "--backend cpu");
    assert!(missing.stderr.starts_with("error: "), "{}", missing.stderr);
    if cfg!(feature = "cuda") {
        // They are more than bands of columns, which is found before any is opened.
        let many = on("--devices 0,1,2,3,4,5,6,7");
        many.fails(3, "63 unknown columns cannot be cut into 8 bands of at least 8");
        many.fails(3, "--devices");
    }
    assert!(!scratch.path("output").exists());

    for backend in ["", "--backend auto"] {
        // With a GPU the note says from how many points on it is faster.
        on(backend).succeeds_with("note: running on the CPU");
    }
    on("--backend cpu").succeeds_with("");
    assert_eq!(on("-q"), Finished { code: 0, stdout: String::new(), stderr: String::new() });
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

/// Neither half a megabyte of a key nor three hundred zeros are readable.
#[test]
fn names_and_numbers_of_any_form_are_read_and_short_in_messages() {
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
    // TOML requires a digit on either side of the point; on a command line `.5` is a number.
    for angle in [".5", "-.5", "5."] {
        check(&format!("geometry.angle={angle}")).succeeds();
    }
    for angle in [".5.", ".x"] {
        let refused = check(&format!("geometry.angle={angle}"));
        refused.fails(2, "write a number, without quotes");
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
