//! The verdict on a grid is the same in all outputs.

use std::fs;

use gridgen::case::Case;
use gridgen::generate::{BackendChoice, RunOptions, make_grid};
use serde_json::Value;

use super::{Finished, Scratch};

/// A case for each verdict: its name, its keys, and the kind and the sentence of the verdict.
const CASES: [(&str, &str, &str, &str); 7] = [
    ("good", "geometry.naca = '2412'", "good", "the grid is good"),
    (
        "short",
        "geometry.naca = '2412'\nnewton.max_iterations = 1",
        "not-converged",
        "the grid did not converge: the limit of 1 Newton step was reached",
    ),
    (
        "folded",
        "geometry.wing_body = {}\ninitial.method = 'transfinite'\nnewton.tolerance = 0.99\n\
         grid.first_cell = 1e-3\ngrid.ni = 129",
        "folded",
        "the grid has 2682 folded cells",
    ),
    (
        "curved",
        "geometry.naca = '0006'\ngrid.first_cell = 5e-2\noutput.curved_order = 2",
        "folded-curved",
        "the grid has 6 folded cells of order 2, the worst at (1.01",
    ),
    (
        "skew",
        "geometry.naca = '2412'\nquality.max_skewness = 0.5",
        "beyond-limit",
        "the grid is beyond a limit of the case: the largest skewness is 0.909, above 0.5",
    ),
    (
        "grows",
        "geometry.naca = '2412'\nquality.max_growth = 1.2",
        "beyond-limit",
        "the grid is beyond a limit of the case: the largest growth along i is ",
    ),
    (
        "oblique",
        "geometry.naca = '2412'\ncontrol.wall = 'frozen'\nquality.max_wall_angle = 1e-6",
        "beyond-limit",
        "the grid is beyond a limit of the case: the largest wall angle error is ",
    ),
];

/// Files that are quick to draw.
const FEW: &str = "output.formats = ['vts']\noutput.pictures = false\n";

/// A second batch keeps what is good and nothing else.
#[test]
fn exit_codes_tables_reports_pages_and_the_library_say_one_verdict() {
    let scratch = Scratch::with(&[]);
    for (name, keys, ..) in CASES {
        let ni = if keys.contains("grid.ni") { "" } else { "grid.ni = 65\n" };
        let more = "grid.topology = 'O'\ngrid.nj = 33\nquality.retry = false\n";
        scratch.write(&format!("{name}.toml"), [keys, "\n", ni, more, FEW].concat());
    }
    let run = || scratch.run("run *.toml --backend cpu --json -o batch");
    let batch = run();
    let mut again = run().statuses();
    again.retain(|row| row.ends_with(": kept"));
    assert_eq!(again, ["good: kept"]);
    let table: Value = serde_json::from_str(&batch.stdout).unwrap();
    let rows = table["cases"].as_array().unwrap();
    assert_eq!((batch.code, &table["exit_code"], rows.len()), (1, &1.into(), CASES.len()));
    assert_eq!((&table["converged"], &table["failed"]), (&1.into(), &6.into()));

    for (name, _, kind, sentence) in CASES {
        let good = kind == "good";
        let file = format!("{name}.toml");
        let run = format!("{file} --backend cpu --set output.report=true");
        let Finished { code, stdout, stderr } = scratch.run(&run);
        let row = rows.iter().find(|row| row["name"] == name).unwrap();

        assert_eq!(code, i32::from(!good), "{stderr}");
        assert_eq!(row["exit_code"], code, "{row}");
        assert_eq!(row["status"], if good { "converged" } else { "failed" }, "{row}");
        if good {
            assert!(stdout.starts_with("good: converged\n"), "{stdout}");
            assert_eq!((stderr.contains("error"), &row["error"]), (false, &Value::Null));
        } else {
            assert!(stdout.starts_with(&format!("{name}: FAILED, ")), "{stdout}");
            assert!(stderr.contains(&format!("error: {sentence}")), "{stderr}");
            assert!(row["error"].as_str().unwrap().starts_with(sentence), "{row}");
        }

        for folder in ["batch", "output"] {
            let path = |file: &str| scratch.path(&format!("{folder}/{name}/{file}"));
            let report = fs::read(path("report.json")).unwrap();
            let verdict = &serde_json::from_slice::<Value>(&report).unwrap()["verdict"];
            assert_eq!((&verdict["kind"], &verdict["good"]), (&kind.into(), &good.into()));
            assert!(verdict["reason"].as_str().unwrap().starts_with(sentence), "{verdict}");
            assert!(path(if good { "mesh.vts" } else { "mesh.failed.vts" }).is_file());
        }

        let page = scratch.text(&format!("output/{name}/report.html"));
        let class = if good { "verdict good" } else { "verdict bad" };
        assert!(page.contains(&format!("<span class=\"{class}\">")), "{name}");
        assert!(page.contains(sentence), "{name}");
        assert_eq!(page.contains(": do not use</span>"), !good, "{name}");

        let case = Case::from_file(&scratch.path(&file), &[]).unwrap();
        let mut options = RunOptions::default();
        options.backend = BackendChoice::Cpu;
        let made = make_grid(&case, &options, &mut ()).unwrap();
        assert_eq!(made.is_good(), good, "{name}");
        assert!(made.verdict.to_string().starts_with(sentence), "{}", made.verdict);
    }
}

/// Growth of 1.5 along j and of 2 along i is a finding, and with `--strict` an error; a limit of the case takes its
/// place.
#[test]
fn growth_is_a_finding_and_beyond_its_limit_an_error() {
    let scratch = Scratch::with_case(
        "geometry.naca = '0012'\ngrid.topology = 'O'\ngrid.nj = 17\ngrid.ni = 33\n",
    );
    let run = |arguments: &str| {
        let all = "wing.toml --backend cpu --set output.formats=vts --set output.pictures=false";
        scratch.run(&format!("{all} --set grid.first_cell=1e-6 {arguments}"))
    };
    let blunt = "--set geometry.trailing_edge=blunt --set grid.first_cell=1e-3 --set grid.ni=129";

    let limited = run("--set quality.max_growth=4");
    let allowed = run("--set quality.max_growth=9 --strict");

    let along_j = "cells grow by up to 5.52 along j";
    let place = "at (1.0044, 0.0000)";
    let finding =
        format!("note: {along_j}, more than 1.5, {place}; grid.nj: 129 gives about 1.2\n");
    run("").succeeds_with(&finding);
    let along_i = "along i, more than 2, at (1.0010, -0.0009); grid.first_cell: at most 3.1e-4, the \
                   shortest cell of the wall\n";
    run(blunt).succeeds_with(along_i);
    let check = "check wing.toml --set grid.first_cell=1e-6";
    assert_eq!(scratch.run(check).code, 0);
    let strict = scratch.run(&format!("{check} --strict"));
    assert_eq!(strict.code, 1, "the growth of the layers is known before the solve: {strict:?}");
    run("--strict").fails(1, &format!("error: a finding is an error here: {along_j}"));
    limited.fails(1, "the largest growth along j is 5.517, above 4\nhint: grid.nj: ");
    assert!(!limited.stderr.contains("tried"), "{}", limited.stderr);
    assert!(!allowed.stderr.contains("grow"), "{}", allowed.stderr);
    allowed.succeeds();
}
