//! `gridgen move`.

use gridgen::formats::{npy, points};

use super::{Finished, SMALLEST, Scratch};
use support::stand_in::equip;

/// A reference of 65 × 33 points, and its wall made thicker.
fn scratch() -> Scratch {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(&["--set", "output.reference=true"]).succeeds();
    scratch.run(&["move", "output/wing/reference.grd", "--wall", "wall.dat"]).succeeds();
    let wall = points::read(&scratch.path("wall.dat")).unwrap();
    let thicker: Vec<_> = wall.into_iter().map(|[x, y]| [x, 1.2 * y]).collect();
    points::write(&scratch.path("thicker.npy"), &thicker).unwrap();
    scratch
}

const REFERENCE: &str = "output/wing/reference.grd";

#[test]
fn a_reference_and_its_mesh_are_moved() {
    let scratch = scratch();
    for (from, to) in [(REFERENCE, "a.vts"), ("output/wing/mesh.vts", "b.vts")] {
        let said = scratch.run(&["move", from, "--to", "thicker.npy", "-o", to]).succeeds();

        assert!(
            said.contains("65 x 33 points, 65 on the wall\nmoved         in one go: "),
            "{said}"
        );
        let measured = scratch.run(&["quality", to, "--no-pictures"]).succeeds();
        assert!(measured.contains("first cell    1.0000e-5 to 1.0000e-5"), "{measured}");
    }
    let again = ["move", "a.vts", "--to", "thicker.npy", "-o", "c.vts"];
    let said = scratch.run(&again).succeeds();
    assert!(said.contains("in one go: 0 Newton steps"), "{said}");
    assert_eq!(scratch.bytes("a.vts"), scratch.bytes("c.vts"));
}

#[test]
fn meshes_of_every_format_are_moved_alike() {
    let scratch = scratch();
    let moved = |mesh: &str| {
        scratch.run(&["move", mesh, "--to", "thicker.npy", "-o", "moved.vts"]).succeeds();
        scratch.bytes("moved.vts")
    };
    let expected = moved("output/wing/mesh.vts");
    for mesh in ["a.cgns", "a.msh", "a.su2", "a.vtk", "a.p3d"] {
        scratch.run(&["convert", "output/wing/mesh.vts", "-o", mesh]).succeeds();

        assert!(moved(mesh) == expected, "{mesh}");
    }
}

/// A name without an extension is a folder, in which the moved mesh gets an OpenFOAM case.
#[test]
fn a_moved_reference_becomes_an_openfoam_case() {
    let scratch = scratch();
    let moved = |to: &str| scratch.run(&["move", REFERENCE, "--to", "thicker.npy", "-o", to]);

    let case = moved("case");
    moved("mesh.vts").succeeds();
    scratch.run(&["convert", "mesh.vts", "-o", "other", "--to", "openfoam"]).succeeds();

    assert!(case.stderr.contains("note: OpenFOAM's checkMesh will find"), "{}", case.stderr);
    assert!(case.succeeds().ends_with("written:\n  case\n"));
    for file in ["constant/polyMesh/points", "constant/polyMesh/faces", "0/U", "Allrun"] {
        let bytes = |folder: &str| scratch.bytes(&format!("{folder}/{file}"));
        assert!(bytes("case") == bytes("other"), "{file}");
    }
}

/// Forward and adjoint derivatives must be transposes of each other.
#[test]
fn derivatives_go_through_files() {
    let scratch = scratch();
    let (nodes, wall) = ([33, 65, 2], [65, 2]);
    let count = |shape: &[usize]| shape.iter().product::<usize>();
    let weights: Vec<f64> = (0..count(&nodes)).map(|k| (k as f64).sin()).collect();
    // The displacement is smooth in space, not along the seam.
    let at = points::read(&scratch.path("thicker.npy")).unwrap();
    let by: Vec<f64> = at.iter().flat_map(|[x, y]| [(2.0 * y).sin(), x.cos()]).collect();
    npy::write(&scratch.path("dJdX.npy"), &nodes, &weights).unwrap();
    npy::write(&scratch.path("dxw.npy"), &wall, &by).unwrap();
    let run = |what: &str, from: &str, to: &str| {
        let arguments = ["move", REFERENCE, "--to", "thicker.npy", what, from, "-o", to];
        scratch.run(&arguments).succeeds()
    };

    let said = run("--adjoint", "dJdX.npy", "dJdxw.npy");
    run("--derivative", "dxw.npy", "dX.npy");

    assert!(said.contains(" linear iterations to a residual of "), "{said}");
    let found = npy::read(&scratch.path("dJdxw.npy"), &wall).unwrap();
    let moved = npy::read(&scratch.path("dX.npy"), &nodes).unwrap();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (left, right) = (dot(&weights, &moved), dot(&found, &by));
    assert!((left - right).abs() <= 1e-7 * left.abs(), "{left:e}, {right:e}");
}

#[test]
fn impossible_movements_are_refused() {
    let scratch = scratch();
    let whole = points::read(&scratch.path("wall.dat")).unwrap();
    let write = |name: &str, wall: &[[f64; 2]]| points::write(&scratch.path(name), wall).unwrap();
    write("short.dat", &whole[1..]);
    write("backwards.dat", &whole.iter().rev().copied().collect::<Vec<_>>());
    let comb = |(k, &[x, y]): (usize, &[f64; 2])| {
        [x, if (40..56).contains(&k) && k.is_multiple_of(2) { y + 0.5 } else { y }]
    };
    write("comb.dat", &whole.iter().enumerate().map(comb).collect::<Vec<_>>());
    std::fs::write(scratch.path("letters.dat"), "1 2\nx 2\n").unwrap();
    let moved = |to: &str, output: &str| {
        let finished = scratch.run(&["move", REFERENCE, "--to", to, "-o", output]);
        (finished.code, finished.stderr)
    };

    for (to, output, code, said) in [
        ("short.dat", "m.vts", 2, "64 wall points, where the reference has 65"),
        ("backwards.dat", "m.vts", 2, "the wall points run the other way around the body"),
        ("letters.dat", "m.vts", 2, "letters.dat: line 2: `x 2`, two numbers x y were expected"),
        ("none.dat", "m.vts", 2, "none.dat: cannot be read"),
        ("thicker.npy", "m.xyzw", 2, "m.xyzw: no format has such a name"),
        ("thicker.npy", "m.xyzw", 2, ".cgns or .msh, or without an end for an OpenFOAM case"),
        ("comb.dat", "m.vts", 1, "error: the grid"),
    ] {
        let found = moved(to, output);
        assert!(found.0 == code && found.1.contains(said), "{to}: {found:?}");
    }
    assert!(!scratch.path("m.vts").exists());
    for (arguments, said) in [
        (&["move", REFERENCE][..], "name the file to write"),
        (&["move", "wall.dat", "--wall", "w.dat"], "not a Plot3D file of one block"),
        (
            &["move", REFERENCE, "--adjoint", "thicker.npy", "-o", "x.npy"],
            "an array of shape [65, 2], [33, 65, 2] was expected",
        ),
        (
            &["move", REFERENCE, "--set", "newton.tolerance=1e-9", "--wall", "w"],
            "--set is for meshes",
        ),
        (
            &["move", "output/wing/mesh.vts", "--set", "grid.ni=3", "--wall", "w"],
            "unknown key grid.ni",
        ),
    ] {
        let finished = scratch.run(arguments);
        assert!(finished.code == 2 && finished.stderr.contains(said), "{finished:?}");
    }
}

/// The GPUs are replaced by stand-in libraries: on one, and in bands on two, the grid agrees with the CPU.
#[test]
fn grids_move_on_the_gpus_that_are_named() {
    let scratch = Scratch::with_case(
        "geometry.naca = \"2412\"\nnewton.tolerance = 1e-12\noutput.reference = true\n\
         [grid]\nni = 33\nnj = 13\nfirst_cell = 1e-2\nfar_field = 8.0\n",
    );
    scratch.run(&["wing.toml", "--backend", "cpu", "-q"]).succeeds();
    scratch.run(&["move", REFERENCE, "--wall", "wall.dat"]).succeeds();
    let wall = points::read(&scratch.path("wall.dat")).unwrap();
    let thicker: Vec<_> = wall.iter().map(|[x, y]| [*x, 1.2 * y]).collect();
    points::write(&scratch.path("thicker.npy"), &thicker).unwrap();
    let by: Vec<f64> = wall.iter().flat_map(|[x, y]| [(2.0 * y).sin(), x.cos()]).collect();
    npy::write(&scratch.path("dxw.npy"), &[33, 2], &by).unwrap();
    let run = |more: &[&str], output: &str| {
        let mut command = scratch.gridgen();
        command.args(["move", REFERENCE, "--to", "thicker.npy", "-o", output]).args(more);
        equip(&mut command, &scratch.path("cache"));
        Finished::from(command.output().unwrap())
    };
    let derivative = ["--derivative", "dxw.npy"];
    let derived = |how: &[&str], output: &str| -> Vec<f64> {
        run(&[&derivative, how].concat(), output).succeeds();
        npy::read(&scratch.path(output), &[13, 33, 2]).unwrap()
    };
    let expected = derived(&["--backend", "cpu"], "cpu.npy");

    for (k, devices) in ["1", "0,1"].into_iter().enumerate() {
        let mesh = format!("{k}.vts");
        let said = run(&["--devices", devices], &mesh).succeeds();
        assert!(said.contains("moved         in one go: "), "{said}");
        let measured = scratch.run(&["quality", &mesh, "--no-pictures"]).succeeds();
        assert!(measured.contains("folded cells  0"), "{measured}");
        let found = derived(&["--devices", devices], &format!("{k}.npy"));
        let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-8, "{devices}: {off:e}");
    }
    for (how, said) in [
        (&["--devices", "0,0"][..], "--devices names device 0 twice"),
        (&["--devices", "0", "--backend", "cpu"], "--devices names GPUs, which --backend cpu"),
        (&["--devices", "7"], "there is no GPU 7"),
    ] {
        let refused = run(how, "m.vts");
        assert!(refused.code != 0 && refused.stderr.contains(said), "{refused:?}");
    }
}

/// docs/movement.md describes the file that is written.
#[test]
fn a_stored_reference_is_as_its_page_has_it() {
    let page = include_str!("../../docs/movement.md");
    let (_, layout) = page.split_once("## `reference.grd`").unwrap();
    let layout =
        layout.split_once("\n## ").unwrap().0.split_whitespace().collect::<Vec<_>>().join(" ");
    let bytes = scratch().bytes(REFERENCE);
    let word =
        |place: usize| u64::from_le_bytes(bytes[8 * place..8 * place + 8].try_into().unwrap());

    assert!(layout.contains("`GGREFRNC`") && bytes.starts_with(b"GGREFRNC"));
    assert!(layout.contains(&format!("the version {} as u64", word(1))), "{layout}");
    assert!(
        layout.contains("nine lengths as u64, of the head in bytes and of eight lists in numbers")
    );
    let (head, lists): (usize, Vec<u64>) = (word(2) as usize, (3..11).map(word).collect());
    assert!(layout.contains("blanks to a multiple of eight bytes") && head.is_multiple_of(8));
    let text = &bytes[88..88 + head];
    let head: serde_json::Value = serde_json::from_slice(text).unwrap();
    assert_eq!((head["ni"].as_u64(), head["nj"].as_u64()), (Some(65), Some(33)));
    assert!(layout.contains("chord and shift, x, y, P0, Q0, φ, ψ, amplitudes of the wall terms"));
    assert_eq!(lists[..3], [3, 65 * 33, 65 * 33]);
    let words = 11 + text.len() / 8 + lists.iter().sum::<u64>() as usize;
    assert_eq!(bytes.len(), 8 * words + 8);
    // The formula given on the page.
    let formula = "the sum of m(w + p·9E3779B97F4A7C15) over all words w before it and their places p, from 0, \
                   with the finaliser m of SplitMix64";
    assert!(layout.contains(formula), "{layout}");
    let mixed = |place: usize| {
        let z = word(place).wrapping_add((place as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    assert_eq!((0..words).map(mixed).fold(0, u64::wrapping_add), word(words));
}

/// `move` accepts the keys of solves, and lists them.
#[test]
fn keys_unknown_to_a_movement_are_refused_with_the_known_ones() {
    let scratch = scratch();
    for (set, said) in
        [("grid.ni=9", "grid.ni"), ("geometry.naca=0012", "geometry.naca"), ("ni=9", "ni")]
    {
        let refused =
            scratch.run(&["move", "output/wing/mesh.vts", "--wall", "w.dat", "--set", set]);

        let begin =
            format!("error: --set {set}: unknown key {said}\nhint: the keys here are quality.");
        assert!(refused.code == 2 && refused.stderr.starts_with(&begin), "{refused:?}");
        for key in ["linear.preconditioner", "multigrid.", "newton.tolerance"] {
            assert!(refused.stderr.contains(key), "{refused:?}");
        }
    }
}

/// A failed movement must not advise to take its bad grid as a reference.
#[test]
fn the_error_of_a_failed_movement_is_printed_first_and_alone() {
    let scratch = scratch();
    let wall = points::read(&scratch.path("wall.dat")).unwrap();
    let bent: Vec<_> = wall.iter().map(|[x, y]| [*x, 0.3 * y + 1.2 * x * (x - 1.0)]).collect();
    points::write(&scratch.path("to.dat"), &bent).unwrap();
    let run = ["move", "output/wing/mesh.vts", "--to", "to.dat", "-o", "m.vts"];
    let worn = scratch.run(&run);
    assert!(
        worn.code == 0 && worn.stderr.starts_with("note: the mean skewness is 0.1"),
        "{worn:?}"
    );

    let failed = scratch.run(&[&run[..], &["--set", "quality.max_skewness=0.95"]].concat());

    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.starts_with("error: "), "{}", failed.stderr);
    assert!(!failed.stderr.contains("re-generate the grid"), "{}", failed.stderr);
}
