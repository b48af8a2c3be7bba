//! Sections: `gridgen airfoil`, and designations and coordinate files that give none.

use super::{Finished, SMALLEST, Scratch, has};

/// A file that starts with the lower surface, separated by tabs, with a repeated point.
const SECTION: &str = "A wing\n1\t0\n.5\t-.05\n.25\t-.06\n.1\t-.04\n.02\t-.02\n0.\t0.\n0.\t0.\n\
                       .02\t.02\n.1\t.04\n.25\t.06\n.5\t.05\n1\t0\n";

#[test]
fn the_contour_read_from_a_file_is_printed_and_drawn() {
    let scratch = Scratch::with(&[("wing.dat", &SECTION)]);

    let said = scratch.run("airfoil wing.dat --output pictures").succeeds();

    let parts = [
        "A wing\n  points     11\n",
        "  camber     0.000 % at",
        "  edge       closed, surfaces meet at ",
        "  The repeated point in line 8 was dropped.\n",
        "  The lower surface came first; the order was reversed.\n",
    ];
    has(&said, &parts);
    assert_eq!(scratch.names("pictures"), ["wing.png", "wing.svg"]);
    let svg = scratch.text("pictures/wing.svg");
    assert!(svg.contains("A wing") && svg.contains("Trailing edge"));
}

/// 12 % at x = 0.3 by definition; edge 2 · 0.00126; the slope of the half thickness there is 0.6 (0.1485 −
/// 0.126 − 0.7032 + 0.8529 − 0.406) = −0.1403, which gives twice atan(0.1403) = 15.98°.
#[test]
fn measures_of_a_naca_section_agree_with_its_definition() {
    for designation in ["0012", "NACA 0012", "naca0012"] {
        let run = ["airfoil", designation, "--no-pictures"];
        let said = Finished::from(Scratch::with(&[]).gridgen().args(run)).succeeds();

        assert!(said.contains("thickness  12.00"), "{said}");
        assert!(said.contains("% at x = 0.300"), "{said}");
        assert!(said.contains("gap 2.5200e-3 chord, surfaces meet at 15.9"), "{said}");
        assert!(said.ends_with("nothing was repaired or left out\n"), "{said}");
    }
}

/// The messages of the reader are in tests/geometry; here they have the place in the case before them.
#[test]
fn a_file_that_gives_no_section_is_refused_with_its_place_in_the_case() {
    let crossing = include_bytes!("../data/airfoils/crossing.dat");
    let case = b"[geometry]\nfile = \"section.dat\"\n";
    let scratch = Scratch::with(&[("wing.toml", case), ("section.dat", crossing)]);

    let mut finished = scratch.run_coarse("");

    let folder = format!("{}/", scratch.0.path().display());
    finished.stderr = finished.stderr.replace(&folder, "");
    finished.is_refused(
        "error: wing.toml:2: section.dat: the contour crosses itself: the segment of lines 4-5 cuts that of lines 11-12\n\
         hint: look for points out of order, listed twice, or text read as numbers at these \
         lines; geometry.edge_thickness parts surfaces that cross near the trailing edge, \
         geometry.smooth, some three times the scatter, smooths points that scatter\n",
    );
    assert!(!scratch.path("output").exists(), "a refused section leaves no folder");
}

#[test]
fn a_designation_that_is_none_is_refused_with_those_that_are_accepted() {
    let reason = "`24x2` is not a NACA designation that can be computed: only digits were expected \
                  behind an optional `NACA`\n\
                  hint: accepted: four digits (0012, 4412), five digits (23012; second and third \
                  digit 10 to 50, or 11 to 51 reflexed), the 6-series (63-215, 65(3)-218, 64A410, 66-210 \
                  a=0.5); give other sections as a file of points\n";
    let in_file = Scratch::with_case(SMALLEST.replace("2412", "24x2")).run_coarse("");
    in_file.is_refused(&format!("error: wing.toml:2: {reason}"));
    let on_the_line = Scratch::with_case(SMALLEST).run("wing.toml --set geometry.naca=24x2");
    on_the_line.is_refused(&format!("error: --set geometry.naca=24x2: {reason}"));
}

#[test]
fn files_without_a_section_are_refused_with_exit_code_2() {
    let scratch = Scratch::with(&[("wing.dat", b"1 0\n0 0\n")]);

    scratch.run("airfoil wing.dat").is_refused(
        "error: wing.dat: 2 distinct points, at least 10 are needed\n\
         hint: give the whole contour, from the trailing edge around the nose and back\n",
    );
    scratch.run("airfoil absent.dat").is_refused(
        "error: absent.dat: there is no such file\n\
         hint: check the spelling; in a case a relative path starts at the case file's folder\n",
    );
    scratch.run("airfoil 24x2").fails(2, "is not a NACA designation");
    assert!(!scratch.path("output").exists());
}
