//! Cases made in code.

use gridgen::Case;

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
    let changes: [fn(&mut Case); 7] = [
        |case| case.grid.ni = 3,
        |case| case.grid.nj = 1,
        |case| case.grid.nj = 0,
        |case| case.grid.first_cell = -1.0,
        |case| case.grid.first_cell = f64::NAN,
        |case| case.grid.far_field = 0.0,
        |case| case.grid.far_field = f64::NAN,
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut case = Case::naca("0012").unwrap();
        (case.grid.ni, case.grid.nj, case.grid.first_cell) = (33, 17, 1e-2);
        change(&mut case);

        let made = gridgen::generate(&case);

        assert!(!made.is_ok_and(|made| made.is_good()), "change {number}");
    }
}
