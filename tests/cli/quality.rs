//! `gridgen quality`.

use std::fs;

use serde_json::Value;

use super::{SMALLEST, Scratch};

/// Measures of a mesh as JSON, and the exit code.
fn measured(scratch: &Scratch, mesh: &str) -> (i32, Value) {
    let finished = scratch.run(&format!("quality {mesh} --json --no-pictures"));
    let value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"));
    (finished.code, value)
}

#[test]
fn a_mesh_read_back_has_the_quality_of_its_report() {
    let scratch = Scratch::with_case(SMALLEST);
    for dimensions in ["2", "3"] {
        let formats = "--set output.formats=vts,plot3d,cgns,msh";
        let set = format!("--set output.plot3d_dimensions={dimensions}");
        scratch.run_coarse(&format!("{formats} {set}")).succeeds();
        let report = scratch.report();
        let meshes = ["mesh.p3d", "mesh.2d.p3d", "mesh.vts", "mesh.cgns", "mesh.msh"];
        let written = scratch.names("output/wing");
        for mesh in meshes.into_iter().filter(|mesh| written.iter().any(|name| name == mesh)) {
            let (code, found) = measured(&scratch, &format!("output/wing/{mesh}"));

            assert_eq!(code, 0);
            assert_eq!(found["quality"], report["quality"], "{mesh}");
            for (place, key) in ["max_growth_i", "max_growth_j"].into_iter().enumerate() {
                let growth = &report["grid"]["growth"][place];
                assert_eq!(growth, &found["growth"][place], "{mesh}");
                let [largest, p99] = ["largest", "p99"].map(|key| growth[key].as_f64().unwrap());
                let most = report["quality"][key].as_f64().unwrap();
                assert!(
                    (largest / most - 1.0).abs() < 1e-12 && (1.0..=largest).contains(&p99),
                    "{growth}"
                );
            }
            assert_eq!((&found["ni"], &found["nj"]), (&65.into(), &33.into()));
        }
    }
}

#[test]
fn worst_cells_and_histogram_are_shown() {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse("").succeeds();

    let said = scratch.run("quality output/wing/mesh.vts -o judged").succeeds();

    assert!(said.contains("mesh.vts: not folded\n  grid          65 x 33 points"), "{said}");
    assert!(said.contains("worst cells:\n  ("), "{said}");
    assert_eq!(scratch.names("judged"), ["mesh.vts.quality.png", "mesh.vts.quality.svg"]);
}

#[test]
fn a_folded_mesh_exits_with_1_and_names_the_cell() {
    // In 3 x 3 unit squares, node (1, 1) is moved beyond its neighbour.
    let x = "0 1 2 0 2.5 2 0 1 2";
    let mesh = format!("1\n3 3 1\n{x}\n0 0 0 1 1 1 2 2 2\n0 0 0 0 0 0 0 0 0\n");
    let scratch = Scratch::with(&[("mesh.p3d", mesh.as_bytes())]);

    let finished = scratch.run("quality mesh.p3d --no-pictures");

    assert_eq!(finished.code, 1, "{finished:?}");
}

#[test]
fn what_is_no_mesh_is_refused_with_exit_code_2() {
    let scratch = Scratch::with(&[("mesh.p3d", b"2 2\n0 1 0 1 0 0 1\n".as_slice())]);

    scratch.run("quality mesh.p3d").is_refused(
        "error: mesh.p3d: not a Plot3D file of one block: no layout fits its 9 numbers\n\
         hint: the reader knows text, Fortran records and plain binary, in two or three dimensions, with one block\n",
    );
    scratch.run("quality absent.vts").fails(2, "absent.vts");
    fs::write(scratch.path("mesh.vts"), b"\x1f\x8b\x08").unwrap();
    scratch.run("quality mesh.vts").is_refused(
        "error: mesh.vts: packed by gzip, which is not read\n\
         hint: unpack it first, and give what was in it\n",
    );
}
