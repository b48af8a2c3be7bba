//! Pieces of an outer line, `[[domain.piece]]`: what is refused.

use super::{SMALLEST, refusals, resolve_set, resolve_with};

const FLOOR: &str = "name = \"floor\"\nkind = \"slip\"\npoints = [[4, -1], [-1, -1]]\n";
const INLET: &str = "name = \"inlet\"\nkind = \"inlet\"\npoints = [[-1, -1], [-1, 1]]\n";
const ROOF: &str = "name = \"roof\"\nkind = \"slip\"\npoints = [[-1, 1], [4, 1]]\n";

fn with(first: &str, pieces: &[&str]) -> String {
    let pieces: Vec<String> =
        pieces.iter().map(|piece| ["[[domain.piece]]\n", piece].concat()).collect();
    [first, &pieces.concat()].concat()
}

#[test]
fn keys_of_a_piece_that_do_not_fit_are_refused() {
    let refused = [
        ROOF.replace("slip", "walls"),
        ROOF.replace("\"roof\"", "\"Airfoil\""),
        ROOF.replace("\"roof\"", "\"the roof\""),
        ROOF.replace(", [4, 1]", ""),
        ROOF.replace(", [4, 1]", ", [1, 1.2], [4, 1]"),
        ROOF.replace(", [4, 1]", ", [-1, 1], [4, 1]"),
        [ROOF, "through = [1, 1]\n"].concat(),
        [ROOF, "through = [1, 2]\ncurve = \"polyline\"\n"].concat(),
        [ROOF, "file = \"roof.dat\"\n"].concat(),
        [ROOF, "width = 2\n"].concat(),
        ROOF.replace("kind = \"slip\"\n", ""),
        ROOF.replace("4, 1", "nan, 1"),
    ];
    let refused = refused.iter().map(|roof| resolve_with(&with("", &[FLOOR, INLET, roof])));
    let shape = "wing.toml:3: domain.piece = a list of tables: expected a list of pieces { name = \"roof\", kind = \"wall\", \
                 points = [[4.0, 0.5], [-2.0, 0.6]] }\n";
    let text = refusals(refused.collect::<Vec<_>>());

    assert_eq!(text.matches(shape).count(), 12, "{text}");
    insta::assert_snapshot!(text.replace(shape, ""), @r#"
    hint: piece 3: kind = "walls" is none of far-field, inlet, outlet, slip, symmetry, wall; did you mean "wall"?
    hint: piece 3: name = "Airfoil" is that of another patch in the files
    hint: piece 3: name = "the roof" is not 1 to 24 letters, digits or one of _ - . + :
    hint: piece 3: two points and more are needed
    hint: piece 3: three points are too few for a smooth curve: give four and more, the ends alone and through for an arc, or curve = "polyline" for a corner
    hint: piece 3: points 1 and 2 coincide
    hint: piece 3: through lies on the straight line between both points: leave it out
    hint: piece 3: through makes an arc of two points, without file and curve
    hint: piece 3: either points or file is needed
    hint: piece 3: unknown field `width`, expected one of `name`, `kind`, `points`, `file`, `through`, `curve`
    hint: piece 3: missing field `kind`
    hint: piece 3: points are finite numbers below 1e6
    "#);
}

#[test]
fn pieces_that_make_no_line_are_refused() {
    let bent = |points: &str| {
        format!("name = \"roof\"\nkind = \"slip\"\ncurve = \"polyline\"\npoints = {points}\n")
    };
    let (crossing, back) =
        (bent("[[-1, 1], [2, -1.5], [4, 1]]"), bent("[[-1, 1], [4.5, 1], [4, 1]]"));
    let behind = bent("[[-1, 1], [4.5, 1.5], [4, 1]]");
    let reversed = [
        ROOF.replace("[-1, 1], [4, 1]", "[4, 1], [-1, 1]"),
        INLET.replace("[-1, -1], [-1, 1]", "[-1, 1], [-1, -1]"),
        FLOOR.replace("[4, -1], [-1, -1]", "[-1, -1], [4, -1]"),
    ];
    let late = INLET.replace("[[-1, -1]", "[[-1, -0.9]");
    let named = ROOF.replace("slip", "wall").replace("roof", "floor");
    let outlet = INLET.replace("\"inlet\"\nkind", "\"outlet\"\nkind");
    let [below, above] = ["-2.5", "2.5"]
        .map(|y| format!("name = \"far\"\nkind = \"far-field\"\nthrough = [0.5, {y}]\n"));
    let [below, above] =
        [below + "points = [[3, 0], [-2, 0]]\n", above + "points = [[-2, 0], [3, 0]]\n"];
    let refused = vec![
        with("", &[FLOOR, &late, ROOF]),
        with("", &reversed.each_ref().map(|piece| &**piece)),
        with("", &[FLOOR, INLET, &crossing]),
        with("", &[FLOOR, INLET, &back]),
        with("[grid]\ntopology = \"C\"\n", &[FLOOR, INLET, &behind]),
        with("", &[FLOOR, INLET, &named]),
        with("", &[FLOOR, &outlet, ROOF]),
        with("", &[FLOOR, INLET, &ROOF.replace("4, 1", "3.5, 1")]),
        with("[grid]\ntopology = \"C\"\n", &[&below, &above]),
        with(
            "",
            &[
                &FLOOR.replace("-1, -1", "0.5, -1"),
                &INLET.replace("-1,", "0.5,"),
                &ROOF.replace("-1,", "0.5,"),
            ],
        ),
        with(
            "",
            &[FLOOR, INLET, &ROOF.replace("points = [[-1, 1], [4, 1]]", "file = \"no/roof.dat\"")],
        ),
        with("[domain]\nbox = [-1, 4, -1, 1]\n", &[FLOOR, INLET, ROOF]),
        with("[domain]\nfloor = \"wall\"\n", &[FLOOR, INLET, ROOF]),
        with("[domain]\nwall_first_cell = 1e-5\n", &[FLOOR, INLET, ROOF]),
        with("[grid]\nfar_field = 20\n", &[FLOOR, INLET, ROOF]),
        with("[grid]\ntopology = \"half\"\n", &[FLOOR, INLET, ROOF]),
        "[domain]\npiece = 3\n".to_owned(),
    ];
    let refused = refused.iter().map(|text| resolve_with(text)).collect::<Vec<_>>();

    insta::assert_snapshot!(refusals(refused).replace(env!("CARGO_MANIFEST_DIR"), ""), @r#"
    wing.toml:3: domain.piece = a list of tables: expected piece 2 ("inlet") to begin at [-1, -1], where piece 1 ("floor") ends, not at [-1, -0.9]
    hint: give pieces and their points in order, clockwise from the lower end of the outlet; or add a piece between
    wing.toml:3: domain.piece = a list of tables: expected pieces clockwise around the section, not counter-clockwise
    hint: reverse the list of pieces and the points of each: floor, inlet, roof, outlet
    wing.toml:3: domain.piece = a list of tables: expected a line that does not meet itself: piece 3 ("roof") meets piece 1 ("floor") near [1.5, -1]
    hint: move the points of one of them; pieces that follow each other meet in one point
    wing.toml:3: domain.piece = a list of tables: expected a line that does not meet itself: piece 3 ("roof") meets piece 3 ("roof") near [4.25, 1]
    hint: move the points of one of them; pieces that follow each other meet in one point
    wing.toml:5: domain.piece = a list of tables: expected a straight vertical outlet behind everything else as last piece, where the cut of a C-grid ends, not piece 4 ("outlet")
    hint: begin with the piece at the lower end of the outlet, or set grid.topology = "O"
    wing.toml:3: domain.piece = a list of tables: expected one kind for all pieces of a name, not two for piece 1 ("floor") and piece 3 ("floor")
    hint: give both the same kind, or one of them another name; an outlet that is not given is named "outlet"
    wing.toml:3: domain.piece = a list of tables: expected one kind for all pieces of a name, not two for piece 2 ("outlet") and piece 4 ("outlet")
    hint: give both the same kind, or one of them another name; an outlet that is not given is named "outlet"
    wing.toml:3: domain.piece = a list of tables: expected the last piece to end at [4, -1], where the first begins, or above it, for a vertical outlet between, not at [3.5, 1]
    hint: end both at one x, or add the piece that closes the line
    wing.toml:5: domain.piece = a list of tables: expected a straight vertical outlet behind everything else as last piece, where the cut of a C-grid ends, not piece 2 ("far")
    hint: begin with the piece at the lower end of the outlet, or set grid.topology = "O"
    wing.toml:3: domain.piece = a list of tables: expected pieces that reach ahead of the nose and behind x = 1, here by -0.5
    hint: move the pieces: the section has its nose at (0, 0)
    wing.toml:3: domain.piece = a list of tables: no such file: no/roof.dat
    hint: a relative path starts at the case file's folder
    wing.toml:5: domain.piece = a list of tables: excluded by domain.box, which is given too
    hint: keep either domain.piece or domain.box
    wing.toml:4: domain.floor = "wall": expected domain.box in place of domain.piece beside it
    hint: leave domain.floor out: pieces have a kind and points of their own
    wing.toml:4: domain.wall_first_cell = 1e-5: expected a side that is a wall beside it
    hint: set the kind of a piece to "wall", or leave domain.wall_first_cell out
    wing.toml:4: grid.far_field = 20: expected a case without grid.far_field: the grid ends at the outer line of [domain]
    hint: leave grid.far_field or [domain] out
    wing.toml:5: domain.piece = a list of tables: expected a whole grid in a box
    hint: set grid.topology = "O" or "C", or leave [domain] out
    wing.toml:4: domain.piece = 3: expected a list of pieces { name = "roof", kind = "wall", points = [[4.0, 0.5], [-2.0, 0.6]] }
    hint: write [[domain.piece]] in double brackets for each piece, and its keys below it
    "#);
}

#[test]
fn pieces_and_a_box_take_each_others_place() {
    let text = [SMALLEST, &with("", &[FLOOR, INLET, ROOF])].concat();

    let case = resolve_set(&text, &[("domain.box", "[-2, 3, -1, 1]")]).unwrap();

    let domain = case.domain.unwrap();
    assert_eq!((domain.bounds, domain.piece), (Some([-2.0, 3.0, -1.0, 1.0]), None));
    let curved = "[domain]\nbox = [-2, 3, -1, 1]\nroof_curve = [[-2, 1], [0, 1], [1, 1], [3, 1]]\n";
    let pieces = "[{ name = 'floor', kind = 'slip', points = [[4, -1], [-2, -1]] }, \
                  { name = 'rest', kind = 'inlet', points = [[-2, -1], [-2, 1], [4, 1]], curve = 'polyline' }]";
    let case = resolve_set(&[SMALLEST, curved].concat(), &[("domain.piece", pieces)]).unwrap();
    assert_eq!(case.domain.unwrap().piece.unwrap().len(), 3, "with an outlet");
}
