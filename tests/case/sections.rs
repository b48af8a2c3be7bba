//! Sources of a section, and its modification.

use gridgen::case::Contour;
use gridgen::geometry::{Ellipse, Joukowski, TrailingEdge};

use super::{refusals, resolve, resolve_with};

#[test]
fn keys_that_the_section_does_not_have_are_refused() {
    let smooth = |more: &str| resolve(&format!("[geometry]\nellipse = {{}}\n{more}\n"));
    let refused = vec![
        resolve_with("ellipse = { thickness = 0.5 }\n"),
        resolve_with("[geometry.flap]\nangel = 3\n"),
        resolve_with("flap = 3\n"),
        smooth("trailing_edge = \"blunt\""),
        smooth("flap = {}"),
        smooth("angle = 3.0"),
        smooth("edge_thickness = 0.01"),
        smooth("[grid]\ntopology = \"C\""),
        resolve_with("edge_thickness = 0.002\ntrailing_edge = \"sharp\"\n"),
        resolve_with("edge_thickness = 0.002\ntrailing_edge = \"extended\"\n"),
        resolve("[geometry]\njoukowski = {}\ntrailing_edge = \"extended\"\n"),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:3: geometry.ellipse = { thickness = 0.5 }: excluded by geometry.naca, which is given too
    hint: keep either geometry.ellipse or geometry.naca
    wing.toml:4: unknown key geometry.flap.angel
    hint: did you mean geometry.flap.angle?
    wing.toml:3: geometry.flap = 3: expected a section
    hint: write [geometry.flap] in single brackets, once, and its keys below it
    wing.toml:3: geometry.trailing_edge = "blunt": expected a section with a leading and a trailing edge
    hint: leave geometry.trailing_edge out: points on a smooth contour follow grid.max_turn
    wing.toml:3: geometry.flap = {}: expected a section with a leading and a trailing edge
    hint: leave geometry.flap out: points on a smooth contour follow grid.max_turn
    wing.toml:3: geometry.angle = 3.0: expected a section with a leading and a trailing edge
    hint: leave geometry.angle out: points on a smooth contour follow grid.max_turn
    wing.toml:3: geometry.edge_thickness = 0.01: expected a section with a leading and a trailing edge
    hint: leave geometry.edge_thickness out: points on a smooth contour follow grid.max_turn
    wing.toml:4: grid.topology = "C": expected a section with a leading and a trailing edge
    hint: choose grid.topology = "O": a smooth contour has no edge where a cut could begin
    wing.toml:3: geometry.edge_thickness = 0.002: expected 0, since geometry.trailing_edge closes the edge in one point
    hint: leave geometry.trailing_edge out, or make it "blunt", "rounded" or "wedge"
    wing.toml:3: geometry.edge_thickness = 0.002: expected 0, since geometry.trailing_edge closes the edge in one point
    hint: leave geometry.trailing_edge out, or make it "blunt", "rounded" or "wedge"
    wing.toml:3: geometry.trailing_edge = "extended": expected a NACA designation, whose surfaces have a formula to go on by
    hint: close the edge of another section by "wedge" or "sharp"
    "#);
    let fitting = ["trailing_edge = \"as-given\"\nangle = 0", "[grid]\ntopology = \"auto\""];
    assert!(fitting.into_iter().all(|more| smooth(more).is_ok()));
}

#[test]
fn a_section_within_the_section_chooses_a_contour() {
    let contour = |text: &str| resolve(text).unwrap().geometry.contour;

    assert_eq!(contour("geometry.ellipse = {}"), Contour::Ellipse(Ellipse { thickness: 1.0 }));
    assert_eq!(
        contour("[geometry.joukowski]\ncamber = 0.03\n"),
        Contour::Joukowski(Joukowski { thickness: 0.12, camber: 0.03 })
    );
    let Contour::WingBody(wing) = contour("[geometry]\nwing_body = { dihedral = 0 }\n") else {
        panic!("a wing-body section")
    };
    assert_eq!((wing.dihedral, wing.fuselage_radius, wing.reference_length), (0.0, 0.0742, 0.1412));
}

#[test]
fn a_contour_is_named_by_its_file_and_keeps_its_edge() {
    let text = "[geometry]\nsection = { file = \"airfoils/e387.dat\", length = 2 }\n";
    let case = gridgen::case::Case::from_toml(text, "cases/wing.toml".as_ref(), &[]).unwrap();

    let Contour::Section(section) = case.geometry.contour else { panic!("a closed contour") };
    assert!(section.file.is_absolute() && section.file.ends_with("cases/airfoils/e387.dat"));
    assert_eq!(section.length, 2.0);
    let case = resolve("geometry.file = 'cases/airfoils/e387.dat'").unwrap();
    let file = std::path::absolute("cases/airfoils/e387.dat").unwrap();
    assert_eq!(case.geometry.contour, Contour::File(file));
    assert_eq!(case.geometry.trailing_edge, TrailingEdge::AsGiven);
}
