//! Conversion of meshes to other formats.

use super::{Finished, SMALLEST, Scratch, has, sets};

/// A run that writes every structured and unstructured format.
fn meshes() -> Scratch {
    Scratch::solved("--set output.formats=vts,vtk,plot3d,su2,openfoam,cgns,msh")
}

const MESH: &str = "output/wing/mesh.vts";

fn convert(scratch: &Scratch, from: &str, to: &str, options: &str) -> Finished {
    scratch.run(&format!("convert {from} -o {to} {options}"))
}

/// Asserts that the mesh comes back bit for bit from a file that is written with these options.
#[track_caller]
fn comes_back(scratch: &Scratch, by: &str, options: &str) {
    convert(scratch, MESH, by, options).succeeds();
    convert(scratch, by, "back.vts", "").succeeds();
    assert!(scratch.bytes("back.vts") == scratch.bytes(MESH), "{by} {options}");
}

#[test]
fn every_way_between_formats_is_exact() {
    let scratch = meshes();
    let targets = ["vts", "vtk", "p3d", "su2", "cgns", "msh"];

    for from in targets {
        for to in targets {
            let name = format!("{from}.{to}");
            convert(&scratch, &format!("output/wing/mesh.{from}"), &name, "").succeeds();
            let (written, made) =
                (scratch.bytes(&format!("output/wing/mesh.{to}")), scratch.bytes(&name));
            assert!(written == made, "{from} to {to}");
        }
    }
    assert_eq!(scratch.bytes("su2.nmf"), scratch.bytes("output/wing/mesh.nmf"));
}

/// 64 × 32 cells make curved cells of order 2, whose nodes are nodes of the grid.
#[test]
fn curved_cells_and_every_flavour_come_back_to_the_last_bit() {
    let scratch = meshes();
    for (by, options) in [
        ("curved.msh", "--curved-order 2"),
        ("small.vts", "--compression zlib"),
        ("there.p3d", "--encoding fortran"),
        ("there.p3d", "--encoding fortran --byte-order big --dimensions 2"),
        ("there.p3d", "--encoding stream --byte-order big"),
        ("there.p3d", "--encoding fortran --blanking"),
        ("there.p3d", "--dimensions 2 --block-count true"),
        ("long.vts", "--span-cells 3 --span 0.25 --sides periodic"),
        ("long.vtk", "--span-cells 3 --span 0.25 --sides periodic"),
        ("long.p3d", "--span-cells 3 --span 0.25 --sides periodic"),
        ("fun.p3d", "--span-cells 3 --span 0.25 --sides periodic --axes fun3d"),
    ] {
        comes_back(&scratch, by, options);
    }
    assert!(scratch.bytes("small.vts").len() < scratch.bytes(MESH).len());
    let pair = "ONE_TO_ONE      1  1   1 65   1 33      1  2   1 65   1 33   FALSE";
    has(&scratch.text("long.nmf"), &["1         65       33        4\n", pair]);
}

#[test]
fn an_openfoam_case_is_that_of_a_run() {
    let scratch = meshes();

    let finished = convert(&scratch, "output/wing/mesh.su2", "case", "--to openfoam");

    assert_eq!(
        finished.stderr,
        "note: OpenFOAM's checkMesh will find 12 faces with a skewness above 4, 17.2 at (1, 0)\n"
    );
    assert!(finished.succeeds().ends_with("written:\n  case\n"));
    let meshes = ["case", "output/wing/openfoam"].map(|case| format!("{case}/constant/polyMesh"));
    let files = ["points", "faces", "owner", "neighbour", "boundary"];
    scratch.same(meshes.each_ref().map(String::as_str), &files);
}

#[test]
fn curved_cells_are_those_of_a_run_or_refused_where_they_do_not_fit_or_fold() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = scratch.run_coarse("--set output.formats=vts,msh --set output.curved_order=4");
    let noted = "128 cells of order 4, with a scaled Jacobian of 0.";
    run.succeeds_with(noted);

    convert(&scratch, MESH, "wing.msh", "--curved-order 4").succeeds_with(noted);

    assert!(scratch.bytes("wing.msh") == scratch.bytes("output/wing/mesh.msh"));
    convert(&scratch, MESH, "wing.msh", "--curved-order 3").is_refused(
        "error: cannot write wing.msh: 64 cells around are no multiple of 3, the order of the curved cells\n\
         hint: choose an order that divides all counts of cells, or a mesh of another size\n",
    );
    let thick = sets("geometry.naca=0006 grid.first_cell=5e-2 quality.max_growth=9");
    scratch.run_coarse(&format!("{thick} --format vts")).succeeds();
    convert(&scratch, MESH, "folded.msh", "--curved-order 2").fails(
        1,
        "error: cannot write folded.msh: cells of order 2 that are folded: 6, the worst at (1.01",
    );
    assert!(!scratch.path("folded.msh").exists());
}

#[test]
fn what_was_understood_is_said() {
    let said = convert(&Scratch::solved(""), "output/wing/mesh.p3d", "wing.vts", "").succeeds();

    insta::assert_snapshot!(said, @r"
    output/wing/mesh.p3d: 65 x 33 points
    read as:
      Plot3D: text, 65 × 33 × 2 nodes, a block count, without blanking.
      An O-grid: its ends in i coincide.
    written:
      wing.vts
    ");
}

/// One layer of three squares.
const PLAIN: &str = "1\n4 2 1\n0 1 2 3 0 1 2 3\n0 0 0 0 1 1 1 1\n0 0 0 0 0 0 0 0\n";
const FOLDED: &str = "1\n4 2 1\n0 1 2 3 0 1 1 3\n0 0 0 0 1 1 -1 1\n0 0 0 0 0 0 0 0\n";

#[test]
fn names_of_no_format_are_refused_and_a_folded_grid_is_written_and_not_praised() {
    let scratch = Scratch::with(&[("plain.p3d", &PLAIN), ("folded.p3d", &FOLDED)]);
    convert(&scratch, "plain.p3d", "plain.stl", "").is_refused(
        "error: plain.stl: no format has such a name\n\
         hint: name it .vts, .vtk, .p3d, .su2, .cgns or .msh, or choose one with --to\n",
    );
    convert(&scratch, "plain.p3d", "plain.vtk", "").succeeds();
    assert_eq!(scratch.names("."), ["folded.p3d", "plain.p3d", "plain.vtk"]);

    let finished = convert(&scratch, "folded.p3d", "folded.vts", "");
    assert_eq!((finished.code, &*finished.stderr), (1, "error: folded cells in the grid: 2\n"));
    assert_eq!(scratch.run("quality folded.vts --no-pictures").code, 1);
}

/// 4097 × 2049 points in 101 planes have 2.5 thousand million faces.
#[test]
fn a_case_beyond_the_labels_of_openfoam_is_refused_before_the_solve() {
    let scratch = Scratch::with_case(SMALLEST);
    let sets = "--set grid.ni=4097 --set grid.nj=2049 --set output.span_cells=100 --set output.formats=openfoam";

    let done = scratch.run(&format!("wing.toml --backend cpu {sets}"));

    done.fails(2, "faces, the format numbers at most 2147483647");
    assert!(!scratch.path("output/wing").exists());
}

#[test]
fn zones_are_converted_to_each_format() {
    let scratch = Scratch::with(&[("two.dat", &super::quality::TWO)]);
    for name in ["two.cgns", "two.p3d", "two.su2", "two.msh"] {
        let said = convert(&scratch, "two.dat", name, "").succeeds();
        assert!(said.starts_with("two.dat: 3 x 3 + 3 x 3 points\n"), "{said}");
    }
    convert(&scratch, "two.dat", "two.vts", "").succeeds();
    convert(&scratch, "two.cgns", "case", "--to openfoam").succeeds();

    for name in ["two.su2", "case"] {
        let said = convert(&scratch, name, "whole.vts", "").succeeds();
        has(&said, &["5 x 3 points", "Patches: imin, imax, jmin, jmax."]);
    }
    assert!(scratch.path("two.left.vts").exists() && scratch.path("two.nmf").exists());
    scratch
        .run("move two.cgns --wall a.dat")
        .fails(2, "error: two.cgns: a mesh of 2 zones, the first of 3 × 3 nodes");
}
