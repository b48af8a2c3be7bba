//! `gridgen move`.

use gridgen::formats::{npy, points};

use support::linear::{apart, dot};

use super::{Finished, NO_PICTURES, Scratch, has};

/// A reference of 65 × 33 points, and its wall made thicker.
fn scratch() -> Scratch {
    let scratch = Scratch::solved("--set output.reference=true");
    thicken(&scratch);
    scratch
}

/// Writes the wall of the reference, and a thicker one; returns the first.
fn thicken(scratch: &Scratch) -> Vec<[f64; 2]> {
    bend(scratch, "thicker.npy", |[x, y]| [x, 1.2 * y])
}

/// Writes the wall of the reference, and one with these points in place of its own; returns the first.
fn bend(scratch: &Scratch, to: &str, by: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<[f64; 2]> {
    scratch.run(&format!("move {REFERENCE} --wall wall.dat")).succeeds();
    let wall = points::read(&scratch.path("wall.dat")).unwrap();
    let bent: Vec<_> = wall.iter().copied().map(by).collect();
    points::write(&scratch.path(to), &bent).unwrap();
    wall
}

pub(super) const REFERENCE: &str = "output/wing/reference.grd";

/// A reference of 33 × 13 points, which kernels on fibers move in a moment.
pub(super) fn small() -> Scratch {
    let scratch = Scratch::with_case(
        "geometry.naca = \"2412\"\nnewton.tolerance = 1e-12\noutput.reference = true\n\
         output.pictures = false\n[grid]\ntopology = \"O\"\nni = 33\nnj = 13\nfirst_cell = 1e-2\nfar_field = 8.0\n",
    );
    scratch.run("wing.toml --backend cpu -q").succeeds();
    scratch
}

#[test]
fn a_reference_and_meshes_of_every_format_are_moved_alike() {
    let scratch = scratch();
    for (from, to) in [(REFERENCE, "a.vts"), ("output/wing/mesh.vts", "b.vts")] {
        let said = scratch.run(&format!("move {from} --to thicker.npy -o {to}")).succeeds();

        has(&said, &["65 x 33 points, 65 on the wall\nmoved         in one go: "]);
        let measured = scratch.run(&format!("quality {to} --no-pictures")).succeeds();
        has(&measured, &["first cell    1.0000e-5 to 1.0000e-5"]);
    }
    let said = scratch.run("move a.vts --to thicker.npy -o c.vts").succeeds();
    assert!(said.contains("in one go: 0 Newton steps"), "{said}");
    assert_eq!(scratch.bytes("a.vts"), scratch.bytes("c.vts"));
    for mesh in ["a.cgns", "a.msh", "a.su2", "a.vtk", "a.p3d"] {
        scratch.run(&format!("convert output/wing/mesh.vts -o {mesh}")).succeeds();
        scratch.run(&format!("move {mesh} --to thicker.npy -o moved.vts")).succeeds();

        assert!(scratch.bytes("moved.vts") == scratch.bytes("b.vts"), "{mesh}");
    }
    // A name without an extension is a folder, in which the moved mesh gets an OpenFOAM case.
    let case = scratch.run(&format!("move {REFERENCE} --to thicker.npy -o case"));
    scratch.run("convert a.vts -o other --to openfoam").succeeds();
    let case = case.succeeds_with("note: OpenFOAM's checkMesh will find");
    assert!(case.ends_with("written:\n  case\n"), "{case}");
    let files = ["constant/polyMesh/points", "constant/polyMesh/faces", "0/U", "Allrun"];
    scratch.same(["case", "other"], &files);
}

/// Forward and adjoint derivatives must be transposes of each other.
#[test]
fn derivatives_go_through_files() {
    let scratch = scratch();
    let (nodes, wall) = ([33, 65, 2], [65, 2]);
    let weights: Vec<f64> = (0..33 * 65 * 2).map(|k| f64::from(k).sin()).collect();
    // The displacement is smooth in space, not along the seam.
    let at = points::read(&scratch.path("thicker.npy")).unwrap();
    let by: Vec<f64> = at.iter().flat_map(|[x, y]| [(2.0 * y).sin(), x.cos()]).collect();
    npy::write(&scratch.path("dJdX.npy"), &nodes, &weights).unwrap();
    npy::write(&scratch.path("dxw.npy"), &wall, &by).unwrap();
    let run = |options: &str| {
        scratch.run(&format!("move {REFERENCE} --to thicker.npy {options}")).succeeds()
    };

    let said = run("--adjoint dJdX.npy -o dJdxw.npy");
    run("--derivative dxw.npy -o dX.npy");

    assert!(said.contains(" linear iterations to a residual of "), "{said}");
    let found = npy::read(&scratch.path("dJdxw.npy"), &wall).unwrap();
    let moved = npy::read(&scratch.path("dX.npy"), &nodes).unwrap();
    let (left, right) = (dot(&weights, &moved), dot(&found, &by));
    assert!((left - right).abs() <= 1e-7 * left.abs(), "{left:e}, {right:e}");
}

#[test]
fn impossible_movements_are_refused() {
    let scratch = Scratch::solved("--set output.reference=true");
    let whole = thicken(&scratch);
    let write = |name: &str, wall: &[[f64; 2]]| points::write(&scratch.path(name), wall).unwrap();
    write("short.dat", &whole[1..]);
    write("backwards.dat", &whole.iter().rev().copied().collect::<Vec<_>>());
    let comb = |(k, &[x, y]): (usize, &[f64; 2])| {
        [x, if (40..56).contains(&k) && k.is_multiple_of(2) { y + 0.5 } else { y }]
    };
    write("comb.dat", &whole.iter().enumerate().map(comb).collect::<Vec<_>>());
    scratch.write("letters.dat", "1 2\nx 2\n");
    let run = |arguments: &str| scratch.run(&format!("move {REFERENCE} {arguments}"));
    for (arguments, said) in [
        ("--to short.dat -o m.vts", "64 wall points, where the reference has 65"),
        ("--to backwards.dat -o m.vts", "the wall points run the other way around the body"),
        ("--to letters.dat -o m.vts", "letters.dat: line 2: `x 2`, two numbers x y were expected"),
        ("--to none.dat -o m.vts", "none.dat: cannot be read"),
        ("--to thicker.npy -o m.xyzw", "m.xyzw: no format has such a name"),
        ("--to thicker.npy -o m.xyzw", ".cgns or .msh, or without an end for an OpenFOAM case"),
        ("", "name the file to write"),
        ("--adjoint thicker.npy -o x.npy", "of shape [65, 2], [33, 65, 2] was expected"),
        ("--set newton.tolerance=1e-9 --wall w", "--set is for meshes"),
        ("--derivative d.npy -o m.vts", "error: m.vts: derivatives are an array of numpy\n"),
        ("--adjoint d.npy -o m.grd", "hint: name it .npy\n"),
        ("--derivative d.npy -o m.p3d", "error: m.p3d: derivatives are an array of numpy\n"),
    ] {
        run(arguments).fails(2, said);
    }
    run("--to comb.dat -o m.vts").fails(1, "error: the grid");
    let written = |name: &String| name.starts_with("m.");
    assert!(!scratch.names(".").iter().any(written));
    scratch.run("move wall.dat --wall w.dat").fails(2, "not a Plot3D file");
    // A key that is unknown to a movement is refused with the known ones.
    for (set, said) in
        [("grid.ni=9", "grid.ni"), ("geometry.naca=0012", "geometry.naca"), ("ni=9", "ni")]
    {
        let refused = scratch.run(&format!("move output/wing/mesh.vts --wall w.dat --set {set}"));

        let hint = "hint: the keys here are quality.";
        refused.fails(2, &format!("error: --set {set}: unknown key {said}\n{hint}"));
        for key in ["linear.preconditioner", "multigrid.", "newton.tolerance"] {
            refused.fails(2, key);
        }
    }
}

/// The GPUs are replaced by stand-in libraries: on one, and in bands on two, the grid agrees with the CPU.
#[test]
fn grids_move_on_the_gpus_that_are_named() {
    let scratch = small();
    let wall = thicken(&scratch);
    let by: Vec<f64> = wall.iter().flat_map(|[x, y]| [(2.0 * y).sin(), x.cos()]).collect();
    npy::write(&scratch.path("dxw.npy"), &[33, 2], &by).unwrap();
    let run = |options: &str, output: &str| {
        let run = format!("move {REFERENCE} --to thicker.npy {options} -o {output}");
        Finished::from(&mut scratch.equipped(&run))
    };
    let derived = |how: &str, output: &str| -> Vec<f64> {
        run(&format!("--derivative dxw.npy {how}"), output).succeeds();
        npy::read(&scratch.path(output), &[13, 33, 2]).unwrap()
    };
    let expected = derived("--backend cpu", "cpu.npy");

    let off = apart(&derived("--devices 0,1", "m.npy"), &expected);
    assert!(off < 1e-8, "{off:e}");
    let said = run("--devices 1", "m.vts").succeeds();
    has(&said, &["moved         in one go: ", "folded cells  0\n"]);
    for (how, code, said) in [
        ("--devices 0,0", 2, "--devices names device 0 twice"),
        ("--devices 0 --backend cpu", 2, "--devices names GPUs, which --backend cpu"),
        ("--devices 7", 3, "there is no GPU 7"),
    ] {
        run(how, "m.vts").fails(code, said);
    }
}

/// docs/movement.md describes the file that is written.
#[test]
fn a_stored_reference_is_as_its_page_has_it() {
    let page = include_str!("../../docs/movement.md");
    let (_, layout) = page.split_once("## `reference.grd`").unwrap();
    let layout =
        layout.split_once("\n## ").unwrap().0.split_whitespace().collect::<Vec<_>>().join(" ");
    let bytes = Scratch::solved("--set output.reference=true").bytes(REFERENCE);
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());

    assert!(layout.contains("`GGREFRNC`") && bytes.starts_with(b"GGREFRNC"));
    assert!(layout.contains(&format!("the version {} as u32", word(8))), "{layout}");
    assert!(layout.contains("the length of the head in bytes as u64") && word(16) == 0);
    let text = &bytes[20..20 + word(12) as usize];
    let head: toml::Value = toml::from_slice(text).unwrap();
    let contents = &head["contents"];
    assert_eq!(
        [&contents["ni"], &contents["nj"]].map(toml::Value::as_integer),
        [Some(65), Some(33)]
    );
    assert!(layout.contains("chord and shift, x, y, P0, Q0, φ, ψ, amplitudes of the wall terms"));
    assert!(layout.contains("the lengths of eight lists as `lengths`"));
    let lengths = head["lengths"].as_array().unwrap().iter();
    let lengths: Vec<i64> = lengths.map(|length| length.as_integer().unwrap()).collect();
    assert_eq!((lengths.len(), &lengths[..3]), (8, &[3, 65 * 33, 65 * 33][..]));
    let end = 20 + text.len() + 8 * lengths.iter().sum::<i64>() as usize;
    assert_eq!(bytes.len(), end + 4);
    // The polynomial of gzip, bit by bit.
    assert!(layout.contains("as u32 the CRC-32 of all bytes before it, as gzip"), "{layout}");
    let bit = |crc: u32, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1));
    let crc = |crc: u32, byte: &u8| (0..8).fold(crc ^ u32::from(*byte), bit);
    assert_eq!(!bytes[..end].iter().fold(u32::MAX, crc), word(end));
}

/// A failed movement must not advise to take its bad grid as a reference.
#[test]
fn the_error_of_a_failed_movement_is_printed_first_and_alone() {
    let scratch = Scratch::solved("--set output.reference=true");
    bend(&scratch, "to.dat", |[x, y]| [x, 0.3 * y + 1.2 * x * (x - 1.0)]);
    let run =
        |more: &str| scratch.run(&format!("move output/wing/mesh.vts --to to.dat -o m.vts {more}"));
    run("").succeeds_with("note: the mean skewness is 0.1");

    let failed = run("--set quality.max_skewness=0.95");

    failed.fails(1, "error: ");
    assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
    assert!(!failed.stderr.contains("re-generate the grid"), "{}", failed.stderr);
}

#[test]
fn a_cascade_is_moved_with_all_its_blocks() {
    let blade = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/airfoils/compressor.dat");
    let scratch = Scratch::with_case(format!(
        "geometry.file = '{blade}'\ngeometry.trailing_edge = 'rounded'\ngeometry.angle = -44.8785\n\
         output.reference = true\noutput.formats = ['cgns']\n[grid]\nni = 121\nnj = 17\nfirst_cell = 1e-4\n\
         reach = 0.04\n[cascade]\npitch = 0.8\n"
    ));
    scratch.run(&format!("wing.toml {NO_PICTURES}")).succeeds();
    bend(&scratch, "to.dat", |[x, y]| [x + 0.01 * y, y - 0.01 * x]);

    for (from, to) in [(REFERENCE, "a"), ("output/wing/mesh.cgns", "b")] {
        let said = scratch.run(&format!("move {from} --to to.dat -o {to}.p3d")).succeeds();

        has(&said, &[": 121 x 17 + ", " points, 121 on the wall", "folded cells  0\n"]);
        let measured = scratch.run(&format!("quality {to}.p3d --no-pictures")).succeeds();
        has(&measured, &["not folded", "4 zones"]);
    }
    // A block that stays has the bytes that it had.
    scratch.run(&format!("move {REFERENCE} -o same.vts")).succeeds();
    scratch.run(&format!("move {REFERENCE} --to to.dat -o moved.vts")).succeeds();
    let same = |block: &str| {
        let [a, b] = ["same", "moved"].map(|name| scratch.bytes(&format!("{name}.{block}.vts")));
        a == b
    };
    assert_eq!(["blade", "passage", "ahead", "behind"].map(same), [false, true, true, true]);
    // The neutral map has the partners, which OpenFOAM takes.
    scratch.run(&format!("move {REFERENCE} --to to.dat -o case")).succeeds();
    scratch.run("convert a.p3d -o other --to openfoam").succeeds();
    for mesh in ["a.su2", "a.msh", "case"] {
        if mesh != "case" {
            scratch.run(&format!("convert a.p3d -o {mesh}")).succeeds();
        }
        let measured = scratch.run(&format!("quality {mesh} --no-pictures")).succeeds();
        has(&measured, &["not folded", "4 zones"]);
    }
    let meshes = ["case/constant/polyMesh", "other/constant/polyMesh"];
    has(&scratch.text(&format!("{}/boundary", meshes[0])), &["separationVector (0e0 8e-1 0)"]);
    scratch.same(meshes, &["points", "faces", "owner"]);
}

#[test]
fn a_moved_mesh_keeps_the_names_of_its_patches() {
    let scratch = Scratch::solved("--set output.formats=su2");
    let text = scratch.text("output/wing/mesh.su2");
    let named = text.replace("airfoil", "my-wing").replace("farfield", "outer");
    scratch.write("named.su2", named);

    scratch.run("move named.su2 --wall wall.dat").succeeds();
    scratch.run("move named.su2 --to wall.dat -o moved.su2").succeeds();

    let moved = scratch.text("moved.su2");
    let tags: Vec<&str> = moved.lines().filter(|line| line.starts_with("MARKER_TAG")).collect();
    assert_eq!(tags, ["MARKER_TAG= outer", "MARKER_TAG= my-wing"]);
}
