//! Batches: many cases in one command.

use std::fs;

use serde_json::Value;

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch};

const FILE: &str = "[geometry]\nfile = \"section.dat\"\n";
const FEW_STEPS: &str = "[geometry]\nnaca = \"4412\"\n[newton]\nmax_iterations = 1\n";
const SECTION: &str = include_str!("../../cases/airfoils/e387.dat");

/// Two cases that converge, one that stops too early, one that cannot be read.
fn scratch() -> Scratch {
    Scratch::with(&[
        ("a-short.toml", &FEW_STEPS),
        ("b-wrong.toml", b"[geometry]\nnaca = \"2412\"\ncolour = 1\n"),
        ("c-naca.toml", &SMALLEST),
        ("d-file.toml", &FILE),
        ("section.dat", &SECTION),
    ])
}

fn batch(scratch: &Scratch, arguments: &str) -> Finished {
    scratch.run(&format!("run {COARSE} {NO_PICTURES} {arguments}"))
}

/// The status of each case in the table of a batch that is run with `--json`.
fn statuses(scratch: &Scratch, arguments: &str) -> Vec<String> {
    let finished = batch(scratch, &format!("{arguments} --json"));
    finished.statuses().iter().map(|row| row.split_once(": ").unwrap().1.to_owned()).collect()
}

/// The table without the times, which differ from run to run.
fn without_seconds(table: &str) -> String {
    let line = |line: &str| match line.rsplit_once(' ') {
        Some((rest, last)) if last == "seconds" || last.parse::<f64>().is_ok() => {
            rest.trim_end().to_owned() + "\n"
        }
        _ => line.to_owned() + "\n",
    };
    table.lines().map(line).collect()
}

#[test]
fn many_cases_give_one_table_with_the_failures_last() {
    let scratch = scratch();

    let finished = batch(&scratch, "*.toml --jobs 2");

    assert_eq!((finished.code, finished.stderr.as_str()), (2, ""));
    insta::assert_snapshot!(without_seconds(&finished.stdout), @r"
    case     status     points   steps  residual  folded  skewness
    c-naca   converged  65 x 33      3   7.6e-13       0     0.909
    d-file   converged  65 x 33      3   7.7e-13       0     0.978
    a-short  failed     65 x 33      1    2.9e-6       0     0.909
    b-wrong  failed                  -         -       -         -        -
    4 cases: 2 converged, 2 failed

    a-short: the grid did not converge: the limit of 1 Newton step was reached

    b-wrong: b-wrong.toml:3: unknown key geometry.colour
      hint: the keys here are geometry.naca, geometry.file, geometry.points, geometry.trailing_edge, geometry.edge_thickness, geometry.smooth, geometry.frame, geometry.corners, geometry.angle, geometry.chord
    ");
    assert!(scratch.path("output/c-naca/mesh.vts").is_file());
    assert!(scratch.path("output/a-short/mesh.failed.vts").is_file());

    // The summary for programs has numbers and reasons.
    let finished = batch(&scratch, "b-wrong.toml c-naca.toml --json");
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(report["exit_code"], 2);
    let row = |k: usize| &report["cases"][k];
    assert_eq!(row(0)["error"], "b-wrong.toml:3: unknown key geometry.colour");
    assert_eq!(row(1)["size"], serde_json::json!([65, 33]));
    assert!(row(1)["residual"].as_f64().unwrap() < 1e-10);
}

#[test]
fn finished_cases_are_kept_until_something_changes() {
    let scratch = scratch();
    let statuses = |more: &str| statuses(&scratch, &format!("c-naca.toml d-file.toml {more}"));
    assert_eq!(statuses(""), ["converged", "converged"]);
    let before = scratch.bytes("output/c-naca/report.json");

    assert_eq!(statuses(""), ["kept", "kept"]);
    assert_eq!(scratch.bytes("output/c-naca/report.json"), before);
    assert_eq!(statuses("--force"), ["converged", "converged"]);

    // A case is run again where one of its files is gone.
    let with_reference = "--set output.reference=true";
    assert_eq!(statuses(with_reference), ["converged", "converged"]);
    fs::remove_file(scratch.path("output/c-naca/reference.grd")).unwrap();
    assert_eq!(statuses(with_reference), ["converged", "kept"]);
    assert_eq!(statuses(""), ["converged", "converged"]);
    for name in ["mesh.p3d", "case.toml", "mesh.nmf", "convergence.csv", "report.json"] {
        fs::remove_file(scratch.path("output/c-naca").join(name)).unwrap();
        assert_eq!(statuses(""), ["converged", "kept"], "{name}");
    }

    scratch.write("section.dat", [SECTION, "\n"].concat());
    assert_eq!(statuses(""), ["kept", "converged"]);

    assert_eq!(statuses("--set grid.far_field=14"), ["converged", "converged"]);
}

/// Findings are errors with `--strict`, also those about results that are there already.
#[test]
fn results_with_findings_are_not_kept_under_strict() {
    let scratch = scratch();
    let elements = "[[element]]\nname = \"main\"\n[element.geometry]\nnaca = \"2412\"\n\
                    [[element]]\nname = \"flap\"\nat = [1.0, -0.05]\nchord = 0.3\n\
                    [element.geometry]\nnaca = \"0012\"\n";
    scratch.write("e-two.toml", elements);
    let coarse = "--backend cpu --set grid.ni=65 --set grid.nj=33 --json";
    let run = |more: &str| {
        let run = scratch.run(&format!("run c-naca.toml e-two.toml {coarse} {NO_PICTURES} {more}"));
        (run.code, run.statuses())
    };

    let (first, again, strict) = (run(""), run(""), run("--strict"));

    assert_eq!(first, (0, vec!["c-naca: converged".to_owned(), "e-two: converged".to_owned()]));
    assert_eq!(again, (0, vec!["c-naca: kept".to_owned(), "e-two: kept".to_owned()]));
    assert_eq!(strict, (1, vec!["c-naca: failed".to_owned(), "e-two: failed".to_owned()]));
}

/// Results are kept by the behaviour of the program, given by its sources, not by its version. A coordinate file is
/// identified by its contents, and the archived case is the same case.
#[test]
fn results_are_those_of_a_case_wherever_it_stands_and_of_these_sources() {
    let scratch = scratch();
    batch(&scratch, "d-file.toml").succeeds();
    let report = scratch.json("output/d-file/report.json");
    fs::create_dir(scratch.path("moved")).unwrap();
    for name in ["d-file.toml", "section.dat"] {
        fs::rename(scratch.path(name), scratch.path("moved").join(name)).unwrap();
    }
    assert_eq!(statuses(&scratch, "moved/d-file.toml"), ["kept"]);
    fs::rename(scratch.path("moved/section.dat"), scratch.path("section.dat")).unwrap();
    let archived = scratch.run("run output/d-file/case.toml --backend cpu --json");
    assert_eq!(archived.statuses(), ["d-file: kept"]);

    fs::rename(scratch.path("moved/d-file.toml"), scratch.path("d-file.toml")).unwrap();
    let kept_with = |key: &str, value: &str| {
        let mut other = report.clone();
        other[key] = value.into();
        scratch.write("output/d-file/report.json", other.to_string());
        statuses(&scratch, "d-file.toml") == ["kept"]
    };
    let of_other_sources = format!("{:016x}", 1);
    assert!(kept_with("version", "9.9.9"));
    assert!(!kept_with("fingerprint", &of_other_sources));
    assert!(!kept_with("fingerprint", ""));
}

#[test]
fn a_batch_with_jobs_writes_the_same_bits_and_a_verbose_one_counts_its_cases() {
    let scratch = scratch();
    let good = "c-naca.toml d-file.toml";

    batch(&scratch, &format!("{good} --jobs 2 -o two")).succeeds();
    let one = batch(&scratch, &format!("{good} -o one -v --jobs 1"));
    assert_eq!(one.stderr, "1 of 2  c-naca: converged\n2 of 2  d-file: converged\n");
    scratch.run(&format!("c-naca.toml -o alone {COARSE} {NO_PICTURES}")).succeeds();

    scratch.same(["two", "one"], &["c-naca/mesh.vts", "d-file/mesh.vts"]);
    scratch.same(["alone", "one"], &["c-naca/mesh.vts"]);
}

#[test]
fn cases_are_named_by_files_and_patterns_each_once() {
    let scratch = scratch();

    batch(&scratch, "wings/*.toml").is_refused(
        "error: wings/*.toml: no file has such a name\n\
         hint: give case files, or a pattern that fits some: 'cases/*.toml'\n",
    );
    batch(&scratch, "c-naca.toml d-file.toml --set name=wing").is_refused(
        "error: c-naca.toml and d-file.toml are both named wing\n\
         hint: give each case a name of its own: name = \"…\"\n",
    );
    assert!(!scratch.path("output").exists());

    let table = batch(&scratch, "c-naca.toml c-*.toml").succeeds();
    assert!(table.ends_with("1 case: 1 converged\n"), "{table}");
}
