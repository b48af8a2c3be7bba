//! Cases of several elements in the program: files, messages, exit codes.

use std::path::Path;

use gridgen::case::CaseFile;
use gridgen::formats::openfoam;
use gridgen::generate::{BackendChoice, RunOptions, make_grids};
use serde_json::Value;

use super::{Finished, SMALLEST, Scratch, has};

const CASE: &str = r#"
[[element]]
name = "main"
geometry = { naca = "4412" }
grid = { ni = 49, nj = 17, first_cell = 5e-3 }
reach = 0.3
[[element]]
name = "flap"
geometry = { naca = "2412" }
grid = { ni = 33, nj = 13, first_cell = 1e-2 }
chord = 0.3
rigging = { to = "main", gap = 0.03, overlap = 0.0, deflection = 25 }
reach = 0.15
[background]
spacing = 0.08
growth = 1.5
far_field = 5
[output]
formats = ["vts"]
pictures = false
"#;

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    scratch.run(&format!("wing.toml --backend cpu {arguments}"))
}

const MESHES: [&str; 4] = ["mesh.background.vts", "mesh.flap.vts", "mesh.main.vts", "mesh.vtm"];

#[test]
fn a_run_of_several_elements_writes_every_zone_and_prints_findings() {
    let scratch = Scratch::with_case(CASE.replace("pictures = false", "report = true"));

    let Finished { code, stdout, stderr } = run(&scratch, "");

    assert_eq!(code, 0, "{stderr}");
    let names = "case.toml convergence.flap.csv convergence.flap.svg convergence.main.csv convergence.main.svg \
                 gap.main-flap.png gap.main-flap.svg grid.png grid.svg mesh.background.vts mesh.flap.vts \
                 mesh.main.vts mesh.vtm report.html report.json";
    assert_eq!(scratch.names("output/wing").join(" "), names);
    let parts = [
        "\n  main          49 x 17 points, converged, residual ",
        "\n  flap          33 x 13 points, converged, residual ",
        "\n  rigging       flap to main: gap 0.030000, overlap 0.000000, deflection 25.000 deg",
        "\n  gap           0.03000 between main and flap, 7 and 6 cells across",
        "\n  findings      2",
    ];
    has(&stdout, &parts);
    assert!(stdout.starts_with("wing: converged\n"), "{stdout}");
    has(&stderr, &["has 6 cells of flap across; element.flap.grid.nj: 10 are"]);

    let report = scratch.report();
    assert_eq!(report["verdict"]["kind"], "good");
    let named = |value: &Value| -> Vec<String> {
        value.as_array().unwrap().iter().map(|of| of["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(named(&report["elements"]), ["main", "flap"]);
    assert_eq!(named(&report["overset"]["zones"]), ["background", "main", "flap"]);
    assert_eq!(report["overset"]["findings"].as_array().unwrap().len(), 2);
    let deflection = report["overset"]["rigged"][0]["deflection"].as_f64().unwrap();
    assert!((deflection - 25.0).abs() < 0.5, "{deflection}");

    let page = scratch.text("output/wing/report.html");
    let finding = "has 7 cells of main across";
    has(&page, &["main", "flap", "background", finding, "element.main.grid.nj"]);
    assert_eq!(page.matches("<figure><svg").count(), 4, "the whole, the gap, the history of both");

    // A strict run takes findings for errors.
    let strict = run(&scratch, "--strict --set output.pictures=false");
    strict.fails(1, "error: 2 findings are errors here: the gap between");
    strict.fails(1, "hint: element.main.grid.nj: 10 are wanted");
    assert!(strict.stdout.starts_with("wing: FAILED, unfit\n"), "{strict:?}");
    let names = scratch.names("output/wing");
    assert!(names.iter().any(|name| name == "mesh.failed.vtm"), "{names:?}");
    assert!(!names.iter().any(|name| MESHES.contains(&&**name)), "{names:?}");
    assert_eq!(scratch.report()["verdict"]["kind"], "unfit");
    let fitting = CASE.replace("[background]", "[overset]\ngap_cells = 6\n[background]");
    run(&Scratch::with_case(fitting), "--strict").succeeds();
}

#[test]
fn the_resolved_case_of_several_elements_makes_the_same_files() {
    // Layers, reach and spacing follow from the gap.
    let left_out = CASE
        .replace(", nj = 17", "")
        .replace(", nj = 13", "")
        .replace("reach = 0.15\n", "")
        .replace("spacing = 0.08\n", "");
    for case in [CASE, &left_out] {
        let scratch = Scratch::with_case(case);
        run(&scratch, "").succeeds();

        scratch.run("output/wing/case.toml --backend cpu -o again").succeeds();

        scratch.same(["output/wing", "again/wing"], &MESHES);
        scratch.same(["output/wing", "again/wing"], &["case.toml"]);
    }
}

#[test]
fn a_check_prints_sizes_and_findings_and_counts_the_background_without_a_solve() {
    let scratch = Scratch::with_case(CASE);

    let Finished { code, stdout, stderr } = scratch.run("check wing.toml");

    assert_eq!(code, 0, "{stderr}");
    let lines = [
        "wing: can be run\n",
        "\n  main          49 x 17 points, reach 0.300\n",
        "\n  flap          33 x 13 points, reach 0.150\n",
        "\n  rigging       flap to main: gap 0.030000, overlap 0.000000, deflection 25.000 deg\n",
        "\n  findings      2\n",
    ];
    has(&stdout, &lines);
    assert!(stderr.contains("note: the gap between main and flap, 0.03000 wide"), "{stderr}");
    assert!(!scratch.path("output").exists());

    let strict = scratch.run("check wing.toml --strict");
    assert_eq!(strict.code, 1);
    assert_eq!(strict.stdout, stdout);

    // A node of the background takes 230 bytes and 1.8 microseconds (docs/performance.md). Too many are refused.
    let check = |set: &str| scratch.run(&format!("check wing.toml --set {set}"));
    let said = check("background.spacing=0.004").stdout;
    let number = |name: &str, word: usize| {
        let line = said.lines().find(|line| line.trim_start().starts_with(name)).unwrap();
        line.split_whitespace().nth(word).unwrap().parse::<f64>().unwrap()
    };
    let nodes = number("background", 1) * number("background", 3);
    let (megabytes, seconds) = (number("memory", 2), number("time", 2));
    assert!(nodes > 1e5, "{said}");
    assert!((megabytes - 36.0 - 230e-6 * nodes).abs() < 0.1 * megabytes, "{said}");
    assert!((seconds - 0.1 - 1.8e-6 * nodes).abs() < 0.2, "{said}");
    check("background.spacing=0.0002").fails(2, "nodes, at most 20000000 were expected");
}

#[test]
fn the_verdict_is_that_on_the_worst_element() {
    let scratch = Scratch::with_case(CASE);

    let finished = run(&scratch, "--set element.flap.newton.max_iterations=1");

    let reason = "element flap: the limit of 1 Newton step was reached";
    finished.fails(1, &format!("error: the grid did not converge: {reason}"));
    finished.fails(1, "hint: element flap: allow more steps");
    let stdout = &finished.stdout;
    assert!(stdout.starts_with("wing: FAILED, not converged\n"), "{stdout}");
    let flap = "flap          33 x 13 points, not converged";
    has(stdout, &["main          49 x 17 points, converged", flap]);
    let report = scratch.report();
    assert_eq!(report["verdict"]["kind"], "not-converged");
    assert_eq!(report["elements"][0]["verdict"]["kind"], "good");
    assert!(scratch.names("output/wing").contains(&"mesh.main.failed.vts".to_owned()));
}

/// A slat with a lip: if its grid is not good, the corner is named.
#[test]
fn the_corner_next_to_the_worst_cell_is_named() {
    let slat = include_bytes!("../../cases/airfoils/three-slat.dat");
    let case = "geometry = { file = 'slat.dat', corners = 30 }\nnewton.max_iterations = 1\n\
                grid = { ni = 97, nj = 17, reach = 0.4, first_cell = 5e-3 }\n\
                output = { formats = ['vts'], pictures = false }";
    let scratch = Scratch::with(&[("wing.toml", &case), ("slat.dat", slat)]);

    // The lip is at x = 0.03, the nose at 0.0013, and the chord line is 0.1749 long.
    run(&scratch, "").fails(1, "; the nearest corner of the wall, at (0.1642, -0.1");
}

#[test]
fn features_of_a_single_section_are_refused_for_several() {
    let scratch = Scratch::with_case(CASE);
    for arguments in ["--family 2", "--restart restart.bin", "--export-jacobian 1"] {
        let option = arguments.split(' ').next().unwrap();
        let message = format!("error: {option} is for a case of one section");
        run(&scratch, arguments).fails(2, &message);
    }
    assert!(!scratch.path("output/wing/report.json").exists());
}

#[test]
fn a_batch_takes_cases_of_several_elements_and_keeps_their_results() {
    let one = [SMALLEST, "[grid]\nni = 65\nnj = 33\n[output]\npictures = false\n"].concat();
    let scratch = Scratch::with(&[
        ("a-two.toml", &CASE),
        ("b-one.toml", &one),
        ("c-wrong.toml", &CASE.replace("to = \"main\"", "to = \"slat\"")),
    ]);
    let batch = || {
        let finished = scratch.run("run *.toml --backend cpu --json");
        assert_eq!(finished.code, 2, "{finished:?}");
        finished.statuses()
    };

    assert_eq!(batch(), ["a-two: converged", "b-one: converged", "c-wrong: failed"]);
    assert_eq!(batch(), ["a-two: kept", "b-one: kept", "c-wrong: failed"]);

    scratch.write("a-two.toml", CASE.replace("gap = 0.03", "gap = 0.04"));
    assert_eq!(batch(), ["a-two: converged", "b-one: kept", "c-wrong: failed"]);
}

/// An element with such a name gets the same OpenFOAM set-up as with any other name, and the script runs.
#[test]
fn an_element_may_have_the_name_of_anything_that_the_set_up_has() {
    let setup = "0/U 0/p 0/pointDisplacement 0/wallCurvature 0/zoneID Allrun constant/dynamicMeshDict \
                 constant/polyMesh/boundary constant/polyMesh/cellZones system/controlDict system/fvSchemes";
    let case = CaseFile::from_toml(CASE, Path::new("wing.toml"), &[]).unwrap();
    let mut options = RunOptions::default();
    options.backend = BackendChoice::Cpu;
    let made = make_grids(&case, &options, &mut ()).unwrap();
    let files = |name: &str| -> Vec<String> {
        let mut mesh = made.mesh();
        mesh.zones.last_mut().unwrap().name = name;
        let folder = Scratch::with(&[]);
        openfoam::write(&folder.path("."), &mesh, false).unwrap();
        let script = folder.path("Allrun");
        let checked = std::process::Command::new("sh").arg("-n").arg(&script).output().unwrap();
        assert!(checked.status.success(), "{name}: {checked:?}");
        setup.split(' ').map(|file| folder.text(file)).collect()
    };
    let any = files("Zxqzxq");
    // Placeholders of the templates, words of the shell, of the dictionaries and of the case, and a hyphen.
    let names = "WALLS ELEMENTS ENDS FORCES SEARCH BLENDS LEGENDS aWALLSb ENDS-FORCES do esac uniform List \
                 value FoamFile element n";
    for name in names.split(' ') {
        for (file, (text, any)) in setup.split(' ').zip(files(name).iter().zip(&any)) {
            assert!(*text == any.replace("Zxqzxq", name), "{name}: {file}\n{text}");
        }
    }
    let scratch = Scratch::with_case(CASE.replace("\"flap\"", "\"readWallCurvature\""));
    let refused = run(&scratch, "--set output.formats=openfoam");
    refused.fails(2, "patches and zones of a mesh have this one");
}

/// A case with elements e0, e1, … that have these keys.
fn of(elements: &[&str], more: &str) -> Scratch {
    let grid = "geometry = { naca = \"0012\" }\ngrid = { ni = 65, first_cell = 1e-3 }";
    let element = |(k, keys)| format!("[[element]]\nname = \"e{k}\"\n{grid}\n{keys}\n");
    let elements: String = elements.iter().enumerate().map(element).collect();
    Scratch::with_case(elements + more)
}

/// The default reach makes the grids overlap, for elements in line, far apart, small, with and without a
/// background.
#[test]
fn the_default_reach_is_one_that_is_taken() {
    let row: Vec<String> = (0..12).map(|k| format!("at = [{}, 0.0]", 1.5 * f64::from(k))).collect();
    let row: Vec<&str> = row.iter().map(String::as_str).collect();
    let background = "[background]\nspacing = 0.1\n";
    for (elements, more) in [
        (&["", "at = [2.0, 0.0]"][..], ""),
        (&["", "at = [1.5, 0.0]\nchord = 0.4"], ""),
        (&["", "at = [1.5, 0.0]\nchord = 0.4"], background),
        (&["", "at = [1.1, 0.0]\nchord = 1e-2"], background),
        (&["", "at = [1.2, 0.2]\nchord = 1e-2"], ""),
        (&["", "at = [8.0, 3.0]"], ""),
        (&["", "at = [1.8, 0.0]", "at = [5.0, 1.0]\nchord = 0.5"], ""),
        (&row[..3], background),
        (&row[..], ""),
    ] {
        let scratch = of(elements, more);
        let checked = scratch.run("check wing.toml");
        assert_eq!(checked.code, 0, "{elements:?}: {}", checked.stderr);
        // The row is longer than the grid of the first element, so orphans remain.
        let orphans = checked.stderr.contains("find no value in another grid");
        assert!(elements.len() == row.len() || !orphans, "{elements:?}: {}", checked.stderr);
    }
}

#[test]
fn a_reach_that_ends_in_a_gap_is_mended_by_its_hint() {
    let with =
        |reach: &str| of(&["", &format!("at = [1.5, 0.0]\n{reach}")], "").run("check wing.toml");

    let refused = with("reach = 0.4");

    refused.fails(2, "hint: raise element.e1.reach to 1.0000 or more, or leave it out\n");
    for remedy in ["reach = 1.0000", ""] {
        with(remedy).succeeds();
    }
}

/// An unrealistic number is refused at once, since all elements are compared with each other.
#[test]
fn very_many_elements_are_refused_at_once() {
    let scratch = Scratch::with_case("[[element]]\n".repeat(60_000));
    let started = std::time::Instant::now();

    let refused = run(&scratch, "");

    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
    refused.is_refused(
        "error: wing.toml:1: element = a list of tables: expected at most 1000 elements\n\
         hint: make several cases of it\n",
    );
}
