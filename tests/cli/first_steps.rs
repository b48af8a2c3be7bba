//! The first word of a command line, the options for keys that are set often, and cases to begin with.

use super::{Finished, NO_PICTURES, SMALLEST, Scratch, has, sets};

/// A folder with the Eppler 387.
fn with_section() -> Scratch {
    Scratch::with(&[("e387.dat", include_bytes!("../../cases/airfoils/e387.dat"))])
}

/// Runs gridgen on a coarse grid on the CPU, without pictures.
fn run(scratch: &Scratch, arguments: &str) -> Finished {
    scratch.run(&format!("{arguments} --ni 65 --nj 33 --backend cpu {NO_PICTURES}"))
}

#[test]
fn digits_are_a_naca_section_however_they_are_given() {
    let scratch = Scratch::with_case(SMALLEST);
    run(&scratch, "wing.toml").succeeds();
    let grid = scratch.bytes("output/wing/mesh.vts");

    let spellings = ["2412", "NACA2412", "naca-2412", "n2412", "--naca 2412", "--naca naca_2412"];
    for (number, arguments) in spellings.iter().enumerate() {
        run(&scratch, &format!("{arguments} --output {number}")).succeeds();
        assert!(grid == scratch.bytes(&format!("{number}/naca2412/mesh.vts")), "{arguments}");
    }
    run(&scratch, "wing.toml --naca 0012 --output other").succeeds();
    assert!(grid != scratch.bytes("other/wing/mesh.vts"));
}

/// Some sections have a designation, some a formula, and of some the program has the coordinates.
#[test]
fn sections_are_gridded_by_their_names() {
    let scratch = Scratch::with(&[]);
    for (word, name) in [
        ("63-215", "naca63215"),
        ("n63215", "naca63215"),
        ("65(3)-218", "naca653218"),
        ("naca64a410", "naca64a410"),
        ("66-210a=0.5", "naca66210a05"),
        ("e387", "e387"),
        ("ls413", "ls413"),
        ("nlf416", "nlf416"),
        ("SC21010", "sc21010"),
    ] {
        let said = run(&scratch, word).succeeds();
        assert!(said.starts_with(&format!("{name}: converged\n")), "{said}");
    }
    for (name, key) in
        [("cylinder", "ellipse"), ("joukowski", "joukowski"), ("wing-body", "wing_body")]
    {
        scratch.run(&format!("{name} --ni 129 --nj 33 --backend cpu {NO_PICTURES}")).succeeds();
        let case = scratch.text(&format!("output/{name}/case.toml"));
        assert!(case.contains(&format!("[geometry.{key}]")), "{case}");
    }

    let grid = scratch.bytes("output/e387/mesh.vts");
    run(&scratch, "output/e387/case.toml --output again").succeeds();
    assert!(grid == scratch.bytes("again/e387/mesh.vts"));
    // A file of coordinates is gridded as a case of two lines would be.
    let file = with_section();
    let said = run(&file, "e387.dat").succeeds();
    let size = "65 x 33 points, 2048 cells; C-grid, since the trailing edge is sharp";
    assert!(said.starts_with(&format!("e387: converged\n  grid          {size}\n")), "{said}");
    file.write("e387.toml", "[geometry]\nfile = \"e387.dat\"\n");
    run(&file, "e387.toml --output case").succeeds();
    run(&file, "output/e387/case.toml --output again").succeeds();
    for folder in ["output", "case", "again"] {
        assert!(grid == file.bytes(&format!("{folder}/e387/mesh.vts")), "{folder}");
    }
    assert!(scratch.run("airfoil nlf416").succeeds().contains("thickness  15.97"));
    let checked = scratch.run("check --naca 63,2-215 --topology C").succeeds();
    assert!(checked.starts_with("naca632215: can be run\n"), "{checked}");
    let family = "the 6-series has the families 63 to 67, 63A, 64A and 65A";
    scratch.run("check 62-215").fails(2, family);
    scratch.run("check 63-215.dat").fails(2, "63-215.dat: no such case file");
}

#[test]
fn a_second_section_is_refused() {
    let scratch = with_section();

    for (arguments, given) in [
        ("e387.dat --naca 2412", "--set geometry.naca=2412: expected one section, and e387 is one"),
        ("check 2412 --naca 0012", "--set geometry.naca=0012: expected one section, and naca2412"),
        ("check nlf416 --set geometry.file=e387.dat", "expected one section, and nlf416 is one"),
        ("check --naca 2412 --set geometry.ellipse.thickness=1", "and naca2412 is one"),
        ("airfoil 2412 --set geometry.angle=3", "--set replaces keys of a case file"),
    ] {
        scratch.run(arguments).fails(2, given);
    }
    let batch = scratch.run("run e387.dat --naca 2412");
    assert!(batch.code == 2 && batch.stdout.contains("expected one section"), "{batch:?}");
    scratch.run("check cylinder --set geometry.ellipse.thickness=0.5").succeeds();
    assert_eq!(scratch.names("."), ["e387.dat"]);
}

#[test]
fn a_word_that_names_nothing_gets_the_nearest_that_does() {
    let scratch = with_section();
    let sections = "gridgen takes a case file, a file of coordinates, a NACA designation such as 2412 or 63-215, or \
                    one of cylinder, joukowski, wing-body, e387, ls413, nlf416, sc21010; gridgen --help lists the \
                    commands";
    for (arguments, hint) in [
        ("chck base.toml", "did you mean check?"),
        ("inti", "did you mean init?"),
        ("qualty mesh.p3d --worst 3", "did you mean quality?"),
        ("e388", "did you mean e387.dat or e387?"),
        ("cilinder", "did you mean cylinder?"),
        ("xyz", sections),
    ] {
        let word = arguments.split(' ').next().unwrap();
        let said = format!("error: no command, file or section is named {word}\nhint: {hint}\n");
        scratch.run(arguments).is_refused(&said);
    }
    for (path, message, hint) in [
        ("none.toml", "no such case file", "check the path of the case file"),
        (".", "expected a case file, found a folder", "name the case file in the folder"),
        ("e388.dat", "there is no such file", "did you mean e387.dat in the same folder?"),
    ] {
        scratch.run(path).is_refused(&format!("error: {path}: {message}\nhint: {hint}\n"));
    }
    scratch.run("check 24123456").fails(2, "is not a NACA designation");
    assert_eq!(scratch.names("."), ["e387.dat"]);
}

#[test]
fn options_for_keys_are_those_of_set() {
    let scratch = Scratch::with_case(format!("{SMALLEST}[grid]\nfirst_cell = 1e-4\n"));
    let options =
        "--ni 81 --nj 41 --y-plus 2 --reynolds 1e6 --far-field 20 --topology C --format su2,vts";
    let keys = "grid.ni=81 grid.nj=41 grid.y_plus=2 grid.reynolds=1e6 grid.far_field=20 \
                grid.topology=C output.formats=su2,vts";

    for (folder, arguments) in [("short", options), ("long", &sets(keys))] {
        let all = format!("wing.toml {arguments} --output {folder} --backend cpu {NO_PICTURES}");
        scratch.run(&all).succeeds();
    }

    assert_eq!(scratch.text("short/wing/case.toml"), scratch.text("long/wing/case.toml"));
    assert_eq!(scratch.names("short/wing"), scratch.names("long/wing"));
    assert!(scratch.path("short/wing/mesh.su2").exists());
    let checked = scratch.run("check --naca 0012 --ni 2049 --nj 1025 --first-cell 1e-6").succeeds();
    assert!(checked.starts_with("naca0012: can be run\n"), "{checked}");
    // A key of --set wins over its option.
    let last = scratch.run("check wing.toml --ni 33 --set grid.ni=65").succeeds();
    assert!(last.contains("65 x 129 points"), "{last}");
}

#[test]
fn a_case_to_begin_with_is_short_or_has_every_key() {
    let scratch = with_section();

    let said = scratch.run("init short.toml --naca 4412").succeeds();
    assert_eq!(said, "written:\n  short.toml\n");
    scratch.run("init all.toml --file e387.dat --all").succeeds();

    let [short, all] = ["short", "all"].map(|name| scratch.text(&format!("{name}.toml")));
    assert!((12..=20).contains(&short.lines().count()), "{short}");
    has(&short, &["\n#ni = 257 "]);
    has(&all, &["\n#max_turn = ", "\nfile = \"e387.dat\"\n", "\n#naca = "]);
    for name in ["short", "all"] {
        scratch.run(&format!("check {name}.toml")).succeeds();
    }
}

#[test]
fn no_case_is_begun_for_a_section_that_cannot_be_read_or_in_place_of_a_file() {
    let scratch = Scratch::with(&[("section.dat", b"section\n1 0\n0 0\n1 0\n")]);

    scratch.run("init --file section.dat").fails(2, "at least 10 are needed");
    scratch.run("init --file none.dat").fails(2, "none.dat: there is no such file");
    scratch.run("init --naca 12").fails(2, "is not a NACA designation");
    assert_eq!(scratch.names("."), ["section.dat"]);

    scratch.write("case.toml", "mine");
    scratch.run("init").is_refused(
        "error: cannot write case.toml: there is a file of that name\n\
         hint: choose another name, or remove that file first\n",
    );
    assert_eq!(scratch.bytes("case.toml"), b"mine");
    assert_eq!(scratch.names("."), ["case.toml", "section.dat"]);
}

#[test]
fn all_errors_of_a_case_are_told_at_once() {
    let case = "[geometry]\nnaca = 2412\n[grid]\nnii = 5\nnj = 2\n[newton]\ntolerance = \"x\"\n";
    let scratch = Scratch::with_case(case);

    scratch.run("check wing.toml").is_refused(
        "error: 4 errors\n  \
         wing.toml:2: geometry.naca = 2412: expected text in quotes\n    \
         hint: put the text in quotes: naca = \"2412\"\n  \
         wing.toml:4: unknown key grid.nii\n    hint: did you mean grid.ni?\n  \
         wing.toml:5: grid.nj = 2: expected an integer from 5 to 1000000\n    \
         hint: leave grid.nj out for the default: 129\n  \
         wing.toml:7: newton.tolerance = \"x\": expected a number greater than 0 and less than 1\n    \
         hint: write a number, without quotes\n",
    );
    scratch.write(
        "flap.toml",
        "[[element]]\nname = \"main\"\ngeometry.naca = \"24125\"\ngeometry.angle = 2\n[[element]]\nname = \"flap\"\n\
         geometry.file = \"none.dat\"\n[background]\n[grid]\nni = 9\n",
    );
    let elements = scratch.run("check flap.toml");
    elements.fails(2, "error: 3 errors\n  flap.toml:4: ");
    elements.fails(2, "none.dat");
    elements.fails(2, "\n  flap.toml:10: grid.ni = 9: ");
    let later = scratch.run("check 2412 --ni 9 --set newton.forcing_min=0.9");
    later.fails(2, "error: 2 errors\n  --set grid.ni=9: ");
    later.fails(2, "forcing_min ≤ forcing_initial");
}

#[test]
fn a_wake_that_leaves_few_points_to_the_section_is_a_finding() {
    let scratch = Scratch::with(&[]);
    let arguments = format!("0012 --topology C --ni 385 --nj 33 --set grid.wake=160 {NO_PICTURES}");

    let made = scratch.run(&format!("{arguments} --backend cpu"));

    assert_eq!(made.code, 0, "{made:?}");
    let found = "naca0012: the wake leaves 65 points to the section";
    assert!(made.stderr.contains(found) && made.stderr.contains("add 35 to grid.ni"), "{made:?}");
    assert!(!made.stderr.contains("the wake takes"), "one of note and finding is enough: {made:?}");
    scratch.run(&format!("{arguments} --backend cpu --strict")).fails(1, found);
    let checked = scratch.run(&format!("check {arguments}"));
    assert!(checked.code == 0 && checked.stderr.contains(found), "{checked:?}");
    assert_eq!(scratch.run(&format!("check {arguments} --strict")).code, 1);
}

#[test]
fn points_and_heights_are_told_as_they_are() {
    let scratch = with_section();

    // A file of coordinates is a case of a batch.
    let batch =
        format!("run *.dat --set grid.wall_points=as-given --nj 33 --backend cpu {NO_PICTURES}");
    let list = scratch.run(&batch).succeeds();
    let said = run(&scratch, "2412 --set grid.first_cell=[[0,1e-4],[1,2e-4]]").succeeds();

    has(&list, &["e387 ", " 109 x 33 ", "1 case: 1 converged"]);
    assert!(scratch.path("output/e387/mesh.vts").exists());
    assert!(said.contains(", asked for 1.0000e-4 to 2.0000e-4\n"), "{said}");
}

#[test]
fn check_tells_the_shape_of_the_grid_and_the_reason() {
    let scratch = with_section();
    // A case file may have any ending.
    scratch.write("wing.case", SMALLEST);
    scratch.write("dotted", "geometry.naca = '2412'\n");
    for (arguments, told) in [
        ("2412", "C-grid, since the trailing edge is sharp"),
        ("wing.case", "C-grid, since the trailing edge is sharp"),
        ("dotted", "C-grid, since the trailing edge is sharp"),
        ("e387.dat --topology auto", "C-grid, since the trailing edge is sharp"),
        ("2412 --topology O", "O-grid"),
        ("0012 --topology half", "half an O-grid"),
        ("2412 --set geometry.trailing_edge=rounded", "O-grid, since the trailing edge is round"),
        ("2412 --set geometry.trailing_edge=blunt", "O-grid, since the trailing edge has a base"),
    ] {
        let said = scratch.run(&format!("check {arguments}")).succeeds();

        let line = format!("\n  topology      {told}\n");
        assert!(said.contains(&line), "{arguments}: {said}");
    }
}
