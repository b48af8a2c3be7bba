//! The OpenFOAM case is set up for its mesh.

use std::fs;

use super::{SMALLEST, Scratch, sets};

const OPENFOAM: &str = "--set output.formats=openfoam";

fn run(scratch: &Scratch, keys: &str) -> String {
    let finished = scratch.run_coarse(&format!("{OPENFOAM} {}", sets(keys)));
    assert_eq!(finished.code, 0, "{finished:?}");
    finished.stderr
}

fn read(scratch: &Scratch, file: &str) -> String {
    scratch.text(&format!("output/wing/openfoam/{file}"))
}

/// The numbers at a key of the set-up in a folder.
fn numbers(scratch: &Scratch, folder: &str, key: &str) -> Vec<f64> {
    let control = scratch.text(&format!("{folder}/system/controlDict"));
    let line = control.lines().find_map(|line| line.trim().strip_prefix(key)).unwrap();
    let plain = line.trim_matches([' ', ';']).replace(['(', ')'], "");
    plain.split_whitespace().map(|n| n.parse().unwrap()).collect()
}

/// Names of the patches in the mesh.
fn patches(scratch: &Scratch) -> Vec<String> {
    let text = read(scratch, "constant/polyMesh/boundary");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let named = lines.windows(2).filter(|pair| pair[1] == "{" && pair[0] != "FoamFile");
    named.map(|pair| pair[0].to_owned()).collect()
}

/// Names for which a field has boundary conditions.
fn conditions(scratch: &Scratch, field: &str) -> Vec<String> {
    let text = read(scratch, field);
    let boundary = text.split("boundaryField").nth(1).unwrap();
    let lines = boundary.lines().filter_map(|line| line.trim().split_once(" { type"));
    lines.map(|(name, _)| name.to_owned()).collect()
}

#[test]
fn a_set_up_that_nobody_changed_goes_with_the_patches_of_the_mesh() {
    let scratch = Scratch::with_case("geometry.naca = '0012'\n");
    for (sets, expected) in [
        ("", &["airfoil", "farfield", "frontAndBack"][..]),
        ("output.span_cells=2", &["airfoil", "farfield", "back", "front"]),
        ("grid.topology=half", &["airfoil", "farfield", "symmetry", "frontAndBack"]),
        (
            "grid.topology=half output.span_cells=2 output.sides=periodic",
            &["airfoil", "farfield", "symmetry", "back", "front"],
        ),
        ("", &["airfoil", "farfield", "frontAndBack"]),
    ] {
        let said = run(&scratch, sets);

        assert_eq!(patches(&scratch), expected);
        for field in ["0/U", "0/p"] {
            assert_eq!(conditions(&scratch, field), expected, "{field}");
        }
        assert!(!said.contains("does not name"), "{said}");
    }
}

/// A Reynolds number makes the flow turbulent, with conditions for every patch.
#[test]
fn the_flow_of_a_case_with_a_reynolds_number_is_turbulent() {
    let scratch = Scratch::with_case("geometry = { naca = '0012', chord = 2.0 }\n");
    for sets in ["", "output.span_cells=2", "grid.topology=half"] {
        run(&scratch, &format!("grid.reynolds=4e6 {sets}"));

        for field in ["0/U", "0/p", "0/nuTilda", "0/nut"] {
            assert_eq!(conditions(&scratch, field), patches(&scratch), "{field}");
        }
        assert!(read(&scratch, "0/U").contains("airfoil { type noSlip; }"));
        assert!(read(&scratch, "constant/turbulenceProperties").contains("SpalartAllmaras"));
        let number = |file: &str, key: &str| -> f64 {
            let text = read(&scratch, file);
            let value = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            value.trim_matches([' ', ';']).parse().unwrap()
        };
        // Unit speed over a chord of two.
        let viscosity = number("constant/transportProperties", "nu ");
        assert!((viscosity / 5e-7 - 1.0).abs() < 1e-12, "{viscosity:e}");
        let [free, eddy] = ["0/nuTilda", "0/nut"].map(|f| number(f, "internalField uniform "));
        assert!((free / 5e-7 - 3.0).abs() < 1e-12, "{free:e}");
        // nut = f_v1 nuTilda, f_v1 = chi^3/(chi^3 + 7.1^3).
        assert!((eddy / 5e-7 - 0.210_438).abs() < 1e-5, "{eddy:e}");
    }
    let resolved = scratch.text("output/wing/case.toml");
    assert!(resolved.contains("reynolds = 4000000.0"), "{resolved}");

    run(&scratch, "");

    assert!(read(&scratch, "0/U").contains("airfoil { type slip; }"));
    assert!(read(&scratch, "constant/turbulenceProperties").contains("laminar"));
}

#[test]
fn a_changed_set_up_is_kept_and_its_missing_patches_are_printed() {
    let scratch = Scratch::with_case(SMALLEST);
    run(&scratch, "");
    let field = scratch.path("output/wing/openfoam/0/U");
    let mine = read(&scratch, "0/U").replace("(1 0 0)", "(2 0 0)");
    fs::write(&field, &mine).unwrap();
    let omega = "boundaryField\n{\n    \".*\" { type zeroGradient; }\n}\n";
    scratch.write("output/wing/openfoam/0/omega", omega);
    fs::create_dir(scratch.path("output/wing/openfoam/100")).unwrap();

    let same = run(&scratch, "");
    let changed = run(&scratch, "output.span_cells=2");

    let path = "output/wing/openfoam/0/U";
    let lacks = "stays as you have it and does not name the patches back, front of the new mesh";
    assert!(!same.contains("does not name"), "{same}");
    assert!(changed.contains(&format!("note: {path} {lacks}\n")), "{changed}");
    assert_eq!(changed.matches("does not name").count(), 1, "{changed}");
    let notes = &scratch.report()["notes"];
    assert_eq!(notes.as_array().unwrap().last().unwrap(), &*format!("{path} {lacks}"));
    assert_eq!(read(&scratch, "0/U"), mine);
    assert_eq!(conditions(&scratch, "0/p"), ["airfoil", "farfield", "back", "front"]);
    assert!(scratch.path("output/wing/openfoam/100").exists());

    // With `--force` they are replaced.
    let forced = format!("{OPENFOAM} --set output.span_cells=2 --force");
    scratch.run_coarse(&forced).succeeds();
    assert_eq!(conditions(&scratch, "0/U"), ["airfoil", "farfield", "back", "front"]);
}

/// The force coefficients of a section 2 units long, and of a body beside the origin. By hand: its quarter
/// point, its middle, and length times span.
#[test]
fn force_coefficients_refer_to_the_chord_and_the_place_of_the_section() {
    let scratch = Scratch::with_case(SMALLEST);
    // The circle is about (5, 1), with a radius of 1.
    let circle: Vec<String> = (0..=24)
        .map(|k| f64::from(k % 24) / 24.0 * std::f64::consts::TAU)
        .map(|angle| format!("{} {}\n", 5.0 + angle.cos(), 1.0 + angle.sin()))
        .collect();
    scratch.write("circle.dat", circle.concat());
    let read_numbers = |sets: &str| {
        run(&scratch, sets);
        ["CofR", "lRef", "Aref"].map(|key| numbers(&scratch, "output/wing/openfoam", key))
    };

    assert_eq!(read_numbers(""), [vec![0.25, 0.0, 0.0], vec![1.0], vec![1.0]]);
    let long = "geometry.chord=2 geometry.angle=5";
    assert_eq!(read_numbers(long), [vec![0.5, 0.0, 0.0], vec![2.0], vec![2.0]]);
    let wide = format!("{long} output.span_cells=3 output.span=0.25");
    assert_eq!(read_numbers(&wide), [vec![0.5, 0.0, 0.0], vec![2.0], vec![1.0]]);
    let body = "geometry.section.file=circle.dat geometry.section.length=2 geometry.chord=2 \
                grid.first_cell=1e-3";
    let [centre, length, area] = read_numbers(body);
    assert_eq!((length, area), (vec![2.0], vec![2.0]));
    assert!((centre[0] - 5.0).abs() < 1e-6 && (centre[1] - 1.0).abs() < 1e-6, "{centre:?}");
}

/// For a mesh alone the chord is the line from the edge to the nose, in any direction.
#[test]
fn a_converted_mesh_has_coefficients_by_the_chord_of_its_wall_and_a_note_on_missing_patches() {
    let scratch = Scratch::with_case("geometry.naca = '0012'\n");
    scratch.run_coarse("--set geometry.chord=2 --set geometry.angle=90 -o .").succeeds();

    let velocity = "boundaryField\n{\n    wing { type slip; }\n    farfield { type slip; }\n}\n";
    scratch.write("case/0/U", velocity);

    let note = "note: case/0/U stays as you have it and does not name the patches airfoil, frontAndBack \
                of the new mesh\n";
    scratch.run("convert wing/mesh.vts -o case --to openfoam").succeeds_with(note);

    assert_eq!(scratch.text("case/0/U"), velocity);
    assert!(scratch.path("case/0/p").is_file());

    let numbers = |key: &str| numbers(&scratch, "case", key);
    // The section was turned by a right angle about (0.25, 0).
    let [x, y, _] = numbers("CofR")[..] else { panic!("three coordinates were expected") };
    assert!((x - 0.5).abs() < 1e-9 && y.abs() < 1e-9, "{x} {y}");
    assert!((numbers("lRef")[0] - 2.0).abs() < 1e-9 && numbers("Aref") == numbers("lRef"));
}
