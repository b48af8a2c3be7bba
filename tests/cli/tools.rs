//! Checks of case files before they are run.

use serde_json::Value;

use super::{COARSE, NO_PICTURES, SMALLEST, Scratch, has, sets};

/// By hand: 3/14 of 2048 cells are 438.9, of which 440 is the nearest multiple of 8; the spacings are 4e-4 and 3e-3 times 128/1168.
#[test]
fn a_check_says_what_a_run_takes_and_writes_nothing() {
    let scratch = Scratch::with_case(SMALLEST);
    let said = scratch.run("check wing.toml --set grid.ni=2049 --set grid.nj=1025").succeeds();

    assert_eq!(
        said,
        "wing: can be run\n\
         \x20 grid          2049 x 1025 points, 2100225 in all\n\
         \x20 cells         2097152\n\
         \x20 topology      C-grid, since the trailing edge is sharp\n\
         \x20 first cell    1.0000e-5\n\
         \x20 layers        growth 1.009\n\
         \x20 wall          1169 points, 585 on the upper and 585 on the lower surface, 440 cells on each side of the cut\n\
         \x20 spacing       4.38e-5 at the leading, 3.29e-4 at the trailing edge\n\
         \x20 wall cells    at most 4.47e-3 chords, 0.6 deg from one to the next\n\
         \x20 memory        about 1.2 GB\n\
         \x20 time          about 7.5 s of CPU on one thread\n"
    );
    assert_eq!(scratch.names("."), ["wing.toml"]);
}

#[test]
fn a_check_refuses_what_a_run_refuses_for_want_of_memory() {
    let large = "grid = { ni = 1025, nj = 1000000 }";
    let section = format!("geometry.naca = '0012'\n{large}\n");
    let element = |name: &str, keys: &str| {
        format!("[[element]]\nname = '{name}'\ngeometry.naca = '0012'\n{keys}\n")
    };
    let flap = element(
        "flap",
        "chord = 0.3\nat = [1.05, -0.05]\ngrid = { ni = 65, nj = 17, first_cell = 1e-3 }",
    );
    let elements = element("main", large) + &flap;
    let scratch = Scratch::with(&[("wing.toml", &section), ("elements.toml", &elements)]);
    for case in ["wing.toml", "elements.toml"] {
        let large =
            format!("{case} {}", sets("linear.preconditioner=ilu0 linear.precision=double"));

        let run = scratch.run(&large);
        let check = scratch.run(&format!("check {large}"));

        run.fails(2, "of memory are needed");
        check.fails(2, "of memory are needed");
        // The memory that is free changes all the time.
        let start = |said: &str| said.split(',').next().unwrap().to_owned();
        assert_eq!(start(&check.stderr), start(&run.stderr));
        assert_eq!(check.stderr.lines().last(), run.stderr.lines().last());
    }
    assert!(!scratch.path("output").exists());
}

/// By hand: a flat plate's height for y+ 1 at Re 6e6 with half a chord is 2.2323e-6; 0.37/6e6^(1/5) is 0.0163; 257 points
/// less twice 56 are 145, of which both edges belong to both surfaces; 15 = 1e-6 (2.93^16 - 1)/1.93.
#[test]
fn a_check_tells_what_is_decided() {
    let scratch = Scratch::with_case(SMALLEST);
    let check = |keys: &str| scratch.run(&format!("check wing.toml {}", sets(keys)));

    let cut = check(
        "grid.topology=C grid.y_plus=1 grid.reynolds=6e6 grid.layers.count=20 output.span_cells=4",
    );
    let base = check("geometry.trailing_edge=blunt grid.nj=17 grid.first_cell=1e-6");
    let chord = check("grid.y_plus=2 grid.reynolds=1e6 grid.reference_length=0.000_1e4").succeeds();

    let cut = cut.succeeds();
    let parts = [
        "  cells         32768, 131072 with the span\n",
        "  first cell    2.2323e-6, y+ 1 at Re 6e6\n",
        "  layers        growth 1.102 beyond 20 of growth 1.15; 57 within 1.63e-2, a boundary layer\n",
        "  wall          145 points, 73 on the upper and 73 on the lower surface, 56 cells on each side of the cut\n",
    ];
    has(&cut, &parts);
    assert!(chord.contains(", y+ 2 at Re 1e6\n"), "{chord}");
    let note =
        "note: cells grow by up to 2.93 along j, more than 1.5; grid.nj: 89 gives about 1.2\n";
    assert_eq!((base.code, base.stderr.as_str()), (0, note));
    let line = "257 points, 125 on the upper and 125 on the lower surface, 8 cells on the base\n";
    assert!(base.stdout.contains(line), "{}", base.stdout);
}

#[test]
fn the_cells_within_a_boundary_layer_are_counted() {
    let scratch = Scratch::with_case(SMALLEST);
    let report = |keys: &str| {
        scratch.run(&format!("wing.toml {COARSE} {NO_PICTURES} --force {keys}"));
        scratch.report()["quality"]["boundary_layer_cells"].clone()
    };

    let (unknown, known) = (report(""), report("--set grid.reynolds=6e6"));
    let quality = scratch.run("quality output/wing/mesh.vts --reynolds 6e6").succeeds();

    let mesh = gridgen::formats::mesh(&scratch.path("output/wing/mesh.vts")).unwrap().grid;
    let cells = |i: usize| {
        let mut s = 0.0;
        let place = |j: usize| mesh.point(i, j);
        let within = |j: &usize| {
            s += f64::hypot(place(j + 1)[0] - place(*j)[0], place(j + 1)[1] - place(*j)[1]);
            s <= 0.37 / 6e6_f64.powf(0.2)
        };
        (0..mesh.nj - 1).take_while(within).count()
    };
    let fewest = (0..mesh.ni).map(cells).min().unwrap();
    assert_eq!((unknown, known), (Value::Null, fewest.into()));
    let line = format!("  layers        {fewest} within a boundary layer\n");
    assert!(quality.contains(&line), "{quality}");
    for number in ["0", "nan", "x"] {
        let refused = scratch.run(&format!("quality output/wing/mesh.vts --reynolds {number}"));
        refused.fails(2, "a number above 0 was expected");
    }
}

#[test]
fn quantities_are_shown_in_units_of_their_size() {
    let scratch = Scratch::with_case(SMALLEST);
    let mut sizes =
        vec![(129, 33, "38 MB, 0.1 s"), (1025, 821, "507 MB, 3.0 s"), (2049, 1640, "1.9 GB, 12 s")];
    // A grid that does not fit the memory is refused.
    if gridgen::memory::free().is_some_and(|free| free > 40_000_000_000) {
        sizes.push((6001, 6001, "20.2 GB, 2 min"));
    }
    for (ni, nj, words) in sizes {
        let size = format!("--set grid.ni={ni} --set grid.nj={nj} --set grid.max_turn=180");
        let said = scratch.run(&format!("check wing.toml {size}")).succeeds();
        let said: Vec<&str> = said.lines().filter_map(|line| line.split("about ").nth(1)).collect();
        assert_eq!(said.join(", ").replace(" of CPU on one thread", ""), words);
    }
}
