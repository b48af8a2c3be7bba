//! `case.toml` beside the grid reproduces the same grid, from anywhere.

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch, sets};

/// Runs `wing.toml`, then its `case.toml` from a folder elsewhere, and compares bit for bit.
#[track_caller]
fn assert_reruns(scratch: &Scratch, arguments: &str) {
    scratch.run(&format!("wing.toml {COARSE} {NO_PICTURES} {arguments}")).succeeds();
    let elsewhere = Scratch::with(&[]);
    let case = scratch.path("output/wing/case.toml");

    Finished::from(elsewhere.gridgen().arg(case)).succeeds();

    let blocks = scratch.path("output/wing/mesh.vtm").exists();
    let meshes = if blocks { &["mesh.around.vts", "mesh.behind.vts"][..] } else { &["mesh.vts"] };
    for name in meshes.iter().chain(&["mesh.p3d", "case.toml"]) {
        let of = |scratch: &Scratch| scratch.bytes(&format!("output/wing/{name}"));
        assert!(of(scratch) == of(&elsewhere), "{name} differs");
    }
}

/// The resolved case contains the defaults that depend on the section.
#[test]
fn cases_whose_section_decides_on_defaults_are_run_again() {
    for keys in [
        "",
        // The values are of every kind: words, flags, integers, numbers without a short decimal form.
        "geometry.trailing_edge=blunt grid.y_plus=0.7 grid.reynolds=3.3e6 grid.far_field=17.3 \
         initial.method=normal linear.solver=gmres",
        "geometry.naca=0012 grid.topology=auto grid.ni=97",
        "geometry.trailing_edge=rounded grid.topology=auto",
        "geometry.edge_thickness=0.01 grid.topology=C grid.ni=97",
        "geometry.flap.angle=20 geometry.angle=3",
        // There are too few points for the default turn; the relaxed limit is recorded.
        "geometry.wing_body.dihedral=4.8 grid.ni=129 grid.first_cell=1e-3",
        "geometry.naca=0012 grid.topology=half",
    ] {
        assert_reruns(&Scratch::with_case(SMALLEST), &sets(keys));
    }
}

#[test]
fn the_resolved_case_is_run_again_in_its_own_folder() {
    let scratch = Scratch::solved("");
    let read =
        || ["mesh.vts", "case.toml"].map(|name| scratch.bytes(&format!("output/wing/{name}")));
    let first = read();

    scratch.run("output/wing/case.toml").succeeds();

    assert!(read() == first, "a file differs");
}
