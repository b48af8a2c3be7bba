//! `gridgen quality`.

use serde_json::Value;

use super::{SMALLEST, Scratch, has};

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
    let scratch = Scratch::solved("");

    let said = scratch.run("quality output/wing/mesh.vts -o judged").succeeds();

    has(&said, &["mesh.vts: not folded\n  grid          65 x 33 points", "worst cells:\n  ("]);
    assert_eq!(scratch.names("judged"), ["mesh.vts.quality.png", "mesh.vts.quality.svg"]);
}

#[test]
fn what_is_no_mesh_is_refused_with_exit_code_2() {
    let scratch = Scratch::with(&[("mesh.p3d", b"2 2\n0 1 0 1 0 0 1\n")]);

    scratch.run("quality mesh.p3d").is_refused(
        "error: mesh.p3d: not a Plot3D file: no layout fits its 9 numbers\n\
         hint: the reader knows text, Fortran records and plain binary, in two or three dimensions\n",
    );
    scratch.run("quality absent.vts").fails(2, "absent.vts");
}

/// Two blocks of Tecplot; the lines of the second are twice as far apart across the interface.
pub(super) const TWO: &str = "VARIABLES = X Y
ZONE T=left I=3 J=3 F=BLOCK
0 1 2 0 1 2 0 1 2
3*0 3*1 3*2
ZONE T=right I=3 J=3 F=BLOCK
2 4 6 2 4 6 2 4 6
3*0 3*1 3*2
";

#[test]
fn zones_and_their_interfaces_are_measured() {
    let scratch = Scratch::with(&[("two.dat", &TWO)]);

    let said = scratch.run("quality two.dat --no-pictures").succeeds();

    insta::assert_snapshot!(said, @r"
    two.dat: not folded
    zone left:
      grid          3 x 3 points
      folded cells  0, smallest corner determinant 1.000e0
      skewness      max 0.000, 99% below 0.000, mean 0.0000
      aspect ratio  max 1.0000e0
      growth        max 1.000 in i, 1.000 in j
    zone right:
      grid          3 x 3 points
      folded cells  0, smallest corner determinant 2.000e0
      skewness      max 0.000, 99% below 0.000, mean 0.0000
      aspect ratio  max 2.0000e0
      growth        max 1.000 in i, 1.000 in j
    interfaces:
      left imax 0..2 - right imin 0..2: 3 points, apart by at most 0.0e0; kink at most 0.0 deg at x = 2.0000, y = 0.0000; growth across at most 2.000 at x = 2.0000, y = 0.0000
    read as:
      Tecplot text, variables X, Y.
      2 zones, interfaces between them: 1.
    ");
    let (code, found) = measured(&scratch, "two.dat");
    assert_eq!((code, found["zones"][1]["name"].as_str()), (0, Some("right")));
    assert_eq!(found["interfaces"][0]["growth"], 2.0);
    assert!(found["quality"]["first_cell_min"].is_null());
}
