//! Cases from calls with named arguments and made in code, and sections given as points.

use std::path::Path;

use gridgen::case::{BodyContour, Case, CaseError, CaseFile, Table, Value};
use gridgen::geometry::{TrailingEdge, airfoil_from_naca};

use super::{refusals, shown};

type Arguments = Vec<(String, Value)>;

fn arguments<const N: usize>(arguments: [(&str, Value); N]) -> Arguments {
    arguments.map(|(name, value)| (name.to_owned(), value)).to_vec()
}

/// The case of arguments alone.
fn called<const N: usize>(given: [(&str, Value); N]) -> Result<Case, CaseError> {
    CaseFile::from_arguments(None, &[], &arguments(given))?.into_section()
}

fn points(points: &[[f64; 2]]) -> Value {
    points.iter().map(|point| point.to_vec()).collect::<Vec<_>>().into()
}

fn section() -> Vec<[f64; 2]> {
    airfoil_from_naca("2412", TrailingEdge::Sharp).unwrap().points
}

#[test]
fn arguments_are_the_keys_of_a_file() {
    let flap = [("flap.hinge", 0.7.into()), ("flap.angle", 5.into())];
    let [hinge, angle] = flap;
    let case = called([
        ("naca", "2412".into()),
        ("ni", 129.into()),
        ("grid.nj", 65.into()),
        ("angle", 4.5.into()),
        hinge,
        angle,
        ("newton.max_iterations", 7.into()),
    ]);

    let text = "geometry = { naca = '2412', angle = 4.5, flap = { hinge = 0.7, angle = 5 } }\n\
                grid = { ni = 129, nj = 65 }\nnewton.max_iterations = 7\n";
    let file = Case::from_toml(text, Path::new("grid.toml"), &[]).unwrap();
    assert_eq!(case.unwrap(), file);
}

#[test]
fn an_empty_table_opens_a_section() {
    let table = || Value::Table(Table::new());

    let case = called([("ellipse", table()), ("ni", 65.into())]).unwrap();
    assert_eq!(
        case.geometry.contour.clone(),
        called([("geometry.ellipse", table())]).unwrap().geometry.contour
    );
    assert!(shown(called([("ellipse", table()), ("naca", "0012".into())])).contains("excluded by"));
}

#[test]
fn arguments_replace_keys_of_a_file_and_of_a_base() {
    let file = tempfile::NamedTempFile::with_suffix(".toml").unwrap();
    std::fs::write(file.path(), "geometry.naca = '0012'\ngrid.y_plus = 1\ngrid.reynolds = 1e6\n")
        .unwrap();
    let base = arguments([("naca", "0012".into()), ("y_plus", 1.into()), ("reynolds", 1e6.into())]);
    let given = arguments([("points", points(&section())), ("first_cell", 1e-4.into())]);

    for (file, base) in [(Some(file.path()), &[][..]), (None, &base)] {
        let case = CaseFile::from_arguments(file, base, &given).unwrap().into_section().unwrap();
        assert_eq!(case.grid.first_cell, 1e-4);
        assert!(matches!(case.body().unwrap(), BodyContour::Airfoil(_)));
    }
    let both = called([("naca", "0012".into()), ("points", points(&section()))]);
    assert!(shown(both).contains("excluded by geometry.naca"));
}

#[test]
fn a_message_names_the_argument() {
    let refused = [
        called([("ni", 7.into())]),
        called([("max_iterations", 7.into())]),
        called([("first_cel", 1e-3.into())]),
        called([("qqq", 1.into())]),
        called([("points", points(&[[0.0, f64::NAN]]))]),
        called([("newton", 3.into())]),
        called([]),
    ];

    insta::assert_snapshot!(refusals(refused), @r#"
    ni = 7: expected an integer from 9 to 1000000
    hint: leave grid.ni out for the default: 257
    max_iterations = 7: newton.max_iterations and linear.max_iterations have this name
    hint: name the section too
    first_cel = 0.001: unknown key first_cel
    hint: did you mean first_cell?
    qqq = 1: unknown key qqq
    hint: docs/case-format.md lists all keys
    points = [[0.0, nan]]: expected a list of points [x, y]
    hint: give each point as two finite numbers, not as [0.0, nan]
    newton = 3: unknown key newton
    hint: the keys here are newton.tolerance, newton.max_iterations, newton.forcing_initial, newton.forcing_min, newton.forcing_max, newton.max_halvings
    grid: geometry.naca or geometry.file is missing
    hint: the smallest case is two lines: [geometry] and naca = "2412"
    "#);
}

#[test]
fn points_are_read_as_those_of_a_file() {
    let section = section();
    let file = tempfile::NamedTempFile::with_suffix(".dat").unwrap();
    let text: Vec<String> = section.iter().map(|[x, y]| format!("{x:?} {y:?}\n")).collect();
    std::fs::write(file.path(), text.concat()).unwrap();

    let [from_file, given] = [
        called([("file", file.path().to_str().unwrap().into())]),
        called([("points", points(&section))]),
    ]
    .map(|case| case.unwrap().settle().unwrap());

    assert_eq!(given.points, from_file.points);
    // A pitched section, of which notes tell the place.
    let pitched = section.iter().map(|[x, y]| [x + 0.2 * y, y - 0.2 * x]).collect::<Vec<_>>();
    let notes = called([("points", points(&pitched))]).unwrap().settle().unwrap().notices;
    assert!(notes.iter().any(|note| note.contains("The chord is 1.0198")), "{notes:?}");
    // The resolved case contains the points.
    let text = given.case.to_toml_string().unwrap();
    let again = Case::from_toml(&text, Path::new("again.toml"), &[]).unwrap();
    assert_eq!(again.settle().unwrap().points, given.points);
}

#[test]
fn refused_points_are_named_by_their_number_and_ends_that_cross_by_rounding_are_taken() {
    let mut crossing = section();
    let third = crossing.len() / 3;
    crossing.swap(third, third + 20);
    let case = called([("points", points(&crossing))]).unwrap();

    let error = case.settle().unwrap_err();
    let message = error.to_string();
    assert!(message.contains("the contour crosses itself: the segment of points "), "{message}");
    assert!(!message.contains("line"), "{message}");
    assert!(error.hint().unwrap().contains("text read as numbers at these points"), "{error:?}");

    let short = called([("points", points(&section()[..section().len() / 3]))]).unwrap();
    let message = short.settle().unwrap_err().to_string();
    assert!(message.contains(": point "), "{message}");
    // By rounding, the two ends of a formula may be in the wrong order by the last bit; they are one point.
    let (mut rounded, last) = (section(), crossing.len() - 1);
    (rounded[0], rounded[last]) = ([1.0, -1.7e-17], [1.0, 1.7e-17]);
    assert!(called([("points", points(&rounded))]).unwrap().settle().is_ok());
}

#[test]
fn a_case_made_in_code_is_that_of_its_text() {
    let text = "geometry.naca = '2412'\ngrid.ni = 97";
    let mut made = Case::naca("2412").unwrap();
    made.grid.ni = 97;

    let read: Case = text.parse().unwrap();

    assert_eq!(made.to_toml_string().unwrap(), read.to_toml_string().unwrap());
}

#[test]
fn fields_out_of_their_range_are_refused_or_make_no_good_grid() {
    let changes: [fn(&mut Case); 8] = [
        |case| case.grid.ni = 3,
        |case| case.grid.nj = 1,
        |case| case.grid.nj = 0,
        |case| case.grid.first_cell = -1.0,
        |case| case.grid.first_cell = f64::NAN,
        |case| case.grid.far_field = 0.0,
        |case| case.grid.far_field = f64::NAN,
        |case| case.grid.max_turn = Some(0.0),
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut case = Case::naca("0012").unwrap();
        (case.grid.ni, case.grid.nj, case.grid.first_cell) = (33, 17, 1e-2);
        change(&mut case);

        let made = gridgen::generate(&case);

        assert!(!made.is_ok_and(|made| made.is_good()), "change {number}");
    }
}
