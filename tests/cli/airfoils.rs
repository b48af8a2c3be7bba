//! Designations and coordinate files that give no section.

use super::{SMALLEST, Scratch};

const FILE: &str = "[geometry]\nfile = \"section.dat\"\n";

/// The messages of the reader are in tests/geometry; here they have the place in the case before them.
#[test]
fn a_file_that_gives_no_section_is_refused_with_its_place_in_the_case() {
    // Between two stations the upper and the lower surface are exchanged.
    let crossing = "wing\n1.0 0.0\n0.8 0.02\n0.6 0.04\n0.4 -0.05\n0.2 -0.05\n0.1 -0.04\n0.0 0.0\n\
                    0.1 0.04\n0.2 0.05\n0.4 0.05\n0.6 -0.04\n0.8 -0.02\n1.0 0.0\n";
    for (section, message) in [
        (
            "wing\n1.0 0.0\n0.5 0.06\n0.0 nan\n0.5 -0.06\n1.0 0.0\n",
            ":4: `0.0 nan` holds a coordinate that is not finite\n\
             hint: correct the line, or put `#` before it to leave the point out\n",
        ),
        (
            crossing,
            ": the contour crosses itself: the segment of lines 4-5 cuts that of lines 11-12\n\
             hint: look for points out of order, listed twice, or text read as numbers at these \
             lines; geometry.edge_thickness parts surfaces that cross near the trailing edge, \
             geometry.smooth, some three times the scatter, smooths points that scatter\n",
        ),
        (
            "\x7fELF\x02\x01\x01\0",
            ": not a text file, byte 7 is NUL\n\
             hint: an airfoil file is plain text: a name, then one point `x y` a line\n",
        ),
    ] {
        let scratch = Scratch::with(&[("wing.toml", &FILE), ("section.dat", &section)]);

        let finished = scratch.run_coarse("");

        assert_eq!((finished.code, finished.stdout.as_str()), (2, ""), "{finished:?}");
        assert!(!scratch.path("output").exists(), "a refused section leaves no folder");
        let folder = format!("{}/", scratch.0.path().display());
        let said = finished.stderr.replace(&folder, "");
        assert_eq!(said, format!("error: wing.toml:2: section.dat{message}"));
    }
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
