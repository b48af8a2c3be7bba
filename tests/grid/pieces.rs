//! Grids whose outer line is a list of pieces.

use std::collections::BTreeMap;

use gridgen::case::Case;
use gridgen::formats::mesh;
use gridgen::generate::GridResult;
use gridgen::grid::SideKind;
use gridgen::grid::boundary::{Patch, Side};

use support::vectors::distance;

use super::{Family, assert_heights, case, family, line, make};

/// A C-grid and an O-grid around a section at an angle.
const C: &str = "[geometry]\nnaca = \"0012\"\nangle = 4\n[grid]\ntopology = \"C\"\nni = 193\nwake = 36\nnj = 61\n\
                 first_cell = 1e-4\n";
const O: &str = "[geometry]\nnaca = \"0012\"\nangle = 4\n[grid]\ntopology = \"O\"\nni = 225\nnj = 61\nfirst_cell = 1e-4\n";

/// A piece of a case file: its name, kind and points, and more keys.
type Piece<'a> = (&'a str, &'a str, &'a str, &'a str);

fn with_pieces(grid: &str, pieces: &[Piece]) -> String {
    let piece = |(name, kind, points, more): &Piece| {
        format!(
            "[[domain.piece]]\nname = \"{name}\"\nkind = \"{kind}\"\npoints = {points}\n{more}\n"
        )
    };
    grid.to_owned() + &pieces.iter().map(piece).collect::<String>()
}

const POLYLINE: &str = "curve = \"polyline\"";

/// The names of the patches along the outer line of a grid, in its order.
fn names(made: &GridResult) -> Vec<&'static str> {
    let above = |range: &gridgen::grid::boundary::Range| {
        (range.on.side == Side::Above).then(|| range.patch().unwrap().name())
    };
    made.grid.boundary().iter().filter_map(above).collect()
}

/// Asserts that first cells on walls among the pieces have this height, at right angles to the line.
pub(super) fn assert_walls(made: &GridResult, height: f64, what: &str) {
    let grid = &made.grid;
    let line = made.case.settle().unwrap().enclosed.unwrap().line;
    let outside = grid.outside.as_ref().unwrap();
    let walls = outside.walls(grid.ni - 1);
    let kinds = outside.sides.iter().filter(|(_, patch)| patch.kind() == Some(SideKind::Wall));
    assert!(!walls.is_empty() && walls.len() == kinds.count(), "{what}");
    for i in walls.iter().flat_map(|[first, last]| first + 1..*last) {
        let [at, next] = [1, 2].map(|k| grid.point(i, grid.nj - k));
        let way = [next[0] - at[0], next[1] - at[1]];
        let inward = line.inward(at);
        let found = way[0].hypot(way[1]);
        let off = (way[0] * inward[1] - way[1] * inward[0]) / found;
        assert!((found / height - 1.0).abs() < 1e-9, "{what}, {i}: {found:e}");
        assert!(off.abs().to_degrees() < 1e-4, "{what}, {i}: {off:e}");
    }
}

/// An outer line in words, its pieces, the names along it, and the bounds that its grid keeps on Newton steps, on the
/// mean and on the largest skewness.
type Outlined<'a> = (&'a str, &'a [Piece<'a>], &'a [&'a str], [f64; 3]);

/// Asserts that the grid in an outer line is good, with exact first cells on all walls and a point at each corner.
fn assert_outlined(grid: &str, (what, pieces, expected, [steps, mean, most]): &Outlined) {
    let made = make(&case(&with_pieces(grid, pieces))).unwrap();

    let quality = &made.quality;
    assert!(made.is_good() && quality.folded_cells == 0, "{what}: {}", made.verdict);
    assert_heights(quality, 1e-4, 1e-4, what);
    assert!(made.newton_iterations() as f64 <= *steps, "{what}: {}", made.newton_iterations());
    assert!(quality.mean_skewness <= *mean, "{what}: {}", quality.mean_skewness);
    assert!(quality.max_skewness <= *most, "{what}: {}", quality.max_skewness);
    assert_eq!(names(&made), *expected, "{what}");
    if pieces.iter().any(|(_, kind, ..)| *kind == "wall") {
        assert_walls(&made, 1e-4, what);
    }
    // Each end of a piece, and each corner of a polyline, is a point of the grid.
    let outer = line(&made.grid, made.grid.nj - 1);
    for piece in made.case.domain.as_ref().unwrap().piece.as_ref().unwrap() {
        for point in &piece.points {
            let near = outer.iter().any(|p| distance(*p, *point) < 1e-12);
            assert!(near, "{what}: no point at {point:?}");
        }
    }
}

#[test]
fn grids_fit_outer_lines_of_pieces() {
    let front = "through = [-1.5, 0]";
    let (below, above) = ("through = [0.5, -2.5]", "through = [0.5, 2.5]");
    let of_c: [Outlined; 5] = [
        (
            "a curved inlet",
            &[
                ("floor", "slip", "[[4, -1.5], [0, -1.5]]", ""),
                ("inlet", "inlet", "[[0, -1.5], [0, 1.5]]", front),
                ("roof", "slip", "[[0, 1.5], [4, 1.5]]", ""),
            ],
            &["floor", "inlet", "roof"],
            [5.0, 0.03, 0.3],
        ),
        (
            "an inlet that bulges beyond floor and roof",
            &[
                ("floor", "slip", "[[4, -1], [0.5, -1]]", ""),
                ("inlet", "inlet", "[[0.5, -1], [0.5, 1]]", front),
                ("roof", "slip", "[[0.5, 1], [4, 1]]", ""),
            ],
            &["floor", "inlet", "roof"],
            [6.0, 0.04, 0.5],
        ),
        (
            "an inclined step in the roof",
            &[
                ("floor", "slip", "[[4, -0.7], [-1, -0.7]]", ""),
                ("inlet", "inlet", "[[-1, -0.7], [-1, 0.6]]", ""),
                ("roof", "wall", "[[-1, 0.6], [2, 0.6], [2.3, 0.8], [4, 0.8]]", POLYLINE),
            ],
            &["floor", "inlet", "roof"],
            [10.0, 0.1, 0.8],
        ),
        (
            "an upright step behind the section",
            &[
                ("floor", "wall", "[[4, -0.9], [2, -0.9], [2, -0.7], [-1, -0.7]]", POLYLINE),
                ("inlet", "inlet", "[[-1, -0.7], [-1, 0.8]]", ""),
                ("roof", "slip", "[[-1, 0.8], [4, 0.8]]", ""),
                ("end", "outlet", "[[4, 0.8], [4, -0.9]]", ""),
            ],
            &["floor", "inlet", "roof"],
            [10.0, 0.15, 0.95],
        ),
        (
            "a diffuser whose walls share a name",
            &[
                ("walls", "wall", "[[4, -1], [-1, -0.6]]", ""),
                ("inlet", "inlet", "[[-1, -0.6], [-1, 0.6]]", ""),
                ("walls", "wall", "[[-1, 0.6], [4, 1]]", ""),
            ],
            &["walls", "inlet", "walls"],
            [9.0, 0.1, 0.85],
        ),
    ];
    let of_o: [Outlined; 3] = [
        (
            "a circle that begins at the seam",
            &[
                ("far", "far-field", "[[3, 0], [-2, 0]]", below),
                ("far", "far-field", "[[-2, 0], [3, 0]]", above),
            ],
            &["far"],
            [6.0, 0.08, 0.95],
        ),
        (
            "a round duct with a boundary layer",
            &[
                ("duct", "wall", "[[3, 0.3], [-2, 0]]", below),
                ("duct", "wall", "[[-2, 0], [3, 0.3]]", above),
            ],
            &["duct"],
            [6.0, 0.09, 0.95],
        ),
        (
            "pointed ends",
            &[
                ("sides", "slip", "[[1.5, -1.8], [-0.5, -1.8]]", ""),
                ("in", "inlet", "[[-0.5, -1.8], [-1.6, 0], [-0.5, 1.8]]", POLYLINE),
                ("sides", "slip", "[[-0.5, 1.8], [1.5, 1.8]]", ""),
                ("out", "outlet", "[[1.5, 1.8], [2.6, 0], [1.5, -1.8]]", POLYLINE),
            ],
            &["out", "sides", "in", "sides", "out"],
            [7.0, 0.12, 0.95],
        ),
    ];
    for (grid, outlines) in [(C, &of_c[..]), (O, &of_o)] {
        for outline in outlines {
            assert_outlined(grid, outline);
        }
    }
}

#[test]
fn a_box_is_its_four_pieces() {
    let [c, o] = [C, O].map(|text| {
        let coarse = text.replace("193", "129").replace("225", "129").replace("36", "24");
        coarse.replace("nj = 61", "nj = 49").replace("1e-4", "1e-3")
    });
    let of_box = |grid: &str, more: &str| {
        format!(
            "{grid}[domain]\n{more}box = [-1.2, 4, -0.8, 1]\nfloor = \"wall\"\nroof = \"far-field\"\n"
        )
    };
    let of_pieces = |grid: &str, more: &str, roof: Piece| {
        let pieces = [
            ("floor", "wall", "[[4, -0.8], [-1.2, -0.8]]", ""),
            ("inlet", "inlet", "[[-1.2, -0.8], [-1.2, 1]]", ""),
            roof,
            ("outlet", "outlet", "[[4, 1], [4, -0.8]]", ""),
        ];
        with_pieces(&format!("{grid}[domain]\n{more}"), &pieces)
    };
    let straight = ("roof", "far-field", "[[-1.2, 1], [4, 1]]", "");
    let points = "[[-1.2, 1], [0, 0.98], [1, 0.9], [2, 0.92], [4, 1]]";
    let (bent, more) = (("roof", "far-field", points, ""), format!("roof_curve = {points}\n"));
    for (grid, roof, more) in [(&c, straight, ""), (&o, straight, ""), (&c, bent, &more)] {
        let height = "wall_first_cell = 2e-3\n";

        let of_box = make(&case(&of_box(grid, &[height, more].concat()))).unwrap();
        let of_pieces = make(&case(&of_pieces(grid, height, roof))).unwrap();

        let bits = |made: &GridResult| -> Vec<u64> {
            made.grid.x.iter().chain(&made.grid.y).map(|c| c.to_bits()).collect()
        };
        assert!(of_box.is_good());
        assert_eq!(bits(&of_box), bits(&of_pieces));
        assert_eq!(of_box.grid.outside, of_pieces.grid.outside);
    }
}

#[test]
fn pieces_of_a_file_and_of_a_written_case_make_the_same_grid() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("roof.dat"), "# roof\n-1.2 1\n0 0.95\n1.5 0.95\n4 1.1\n")
        .unwrap();
    let pieces = with_pieces(
        &C.replace("nj = 61", "nj = 33"),
        &[
            ("floor", "slip", "[[4, -0.8], [-1.2, -0.8]]", ""),
            ("inlet", "inlet", "[[-1.2, -0.8], [-1.2, 1]]", ""),
        ],
    );
    let roof = "[[domain.piece]]\nname = \"roof\"\nkind = \"slip\"\n";
    let listed = "points = [[-1.2, 1], [0, 0.95], [1.5, 0.95], [4, 1.1]]\n";
    let path = folder.path().join("wing.toml");
    let read = |text: &str| Case::from_toml(text, &path, &[]).unwrap();

    let of_file = read(&[&pieces, roof, "file = \"roof.dat\"\n"].concat());
    let inline = read(&[&pieces, roof, listed].concat());
    let written = read(&of_file.to_toml_string().unwrap());

    let made = make(&of_file).unwrap();
    assert!(made.is_good(), "{}", made.verdict);
    for other in [inline, written] {
        let other = make(&other).unwrap();
        assert_eq!((&made.grid.x, &made.grid.y), (&other.grid.x, &other.grid.y));
        assert_eq!(made.grid.outside, other.grid.outside);
    }
}

#[test]
fn a_line_that_meets_the_section_or_has_too_many_corners_is_refused() {
    let refused = |ni: usize, floor: &str| {
        let pieces = [
            ("floor", "slip", floor, POLYLINE),
            ("inlet", "inlet", "[[-1, -1], [-1, 1]]", ""),
            ("roof", "slip", "[[-1, 1], [4, 1]]", ""),
        ];
        let grid = C.replace("ni = 193\nwake = 36", &format!("ni = {ni}\nwake = 16"));
        make(&case(&with_pieces(&grid, &pieces))).unwrap_err()
    };
    let tooth = |k: i32| [4.0 - 0.08 * f64::from(k), -1.0 - 0.02 * f64::from(k % 2)];
    let teeth: Vec<[f64; 2]> = (0..60).map(tooth).chain([[-1.0, -1.0]]).collect();
    for (ni, floor, expected) in [
        (129, "[[4, -1], [0.5, 0.1], [-1, -1]]", "does not hold the section"),
        // Between two points of the section.
        (
            129,
            "[[4, -1], [0.51, -1], [0.505, 0.03], [0.5, -1], [-1, -1]]",
            "x = 0.5050, y = 0.0300",
        ),
        // Through the cut alone.
        (
            129,
            "[[4, -1], [2.6, -1], [2.5, 0.3], [2.4, -1], [-1, -1]]",
            "does not hold the section and its cut",
        ),
        (105, &format!("{teeth:?}"), "too few for the"),
    ] {
        let error = refused(ni, floor);

        let text = error.to_string();
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("domain.piece") || text.contains("wing.toml:"), "{text}");
    }
}

/// A box is its four pieces, so that its sides are named alike.
#[test]
fn files_name_pieces_of_all_kinds() {
    let case_of = |keys: &str, formats: &str| {
        let pieces = [
            ("floor", "symmetry", "[[4, -1], [1.5, -1]]", ""),
            ("walls", "wall", "[[1.5, -1], [-1, -0.6]]", ""),
            ("left-in", "inlet", "[[-1, -0.6], [-1.1, 0]]", ""),
            ("right-in", "inlet", "[[-1.1, 0], [-1, 0.6]]", ""),
            ("walls", "wall", "[[-1, 0.6], [2, 0.8]]", ""),
            ("bleed", "slip", "[[2, 0.8], [3, 0.9]]", ""),
            ("roof", "far-field", "[[3, 0.9], [4, 1]]", ""),
        ];
        let text = with_pieces(&C.replace("nj = 61", &format!("nj = 61\n{keys}")), &pieces);
        case(&format!("{text}[output]\nformats = {formats}\n"))
    };
    let all = "[\"su2\", \"openfoam\", \"plot3d\", \"msh\", \"cgns\"]";
    let Family { folder, made } = family(&case_of("reynolds = 1e6", all), 1).unwrap();
    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();

    for marker in ["airfoil", "floor", "walls", "left-in", "right-in", "bleed", "roof", "outlet"] {
        let count = |text: String, what: &str| text.matches(what).count();
        assert_eq!(count(text("mesh.su2"), &format!("MARKER_TAG= {marker}\n")), 1, "{marker}");
        assert_eq!(count(text("mesh.msh"), &format!("\"{marker}\"")), 1, "{marker}");
        let boundary = text("openfoam/constant/polyMesh/boundary");
        assert_eq!(count(boundary, &format!("    {marker}\n")), 1, "{marker}");
        for field in ["U", "p", "nut", "nuTilda"] {
            let of_field = text(&format!("openfoam/0/{field}"));
            assert!(of_field.contains(&format!("    {marker} {{ type ")), "{field}, {marker}");
        }
    }
    for (file, line) in [
        ("su2.cfg", "MARKER_HEATFLUX= ( airfoil, 0.0, walls, 0.0 )"),
        ("su2.cfg", "MARKER_MONITORING= ( airfoil )"),
        ("su2.cfg", "MARKER_SYM= ( floor, bleed )"),
        ("su2.cfg", "MARKER_FAR= ( roof )"),
        ("su2.cfg", "MARKER_OUTLET= ( outlet, 101325 )"),
        (
            "su2.cfg",
            "MARKER_INLET= ( left-in, 289.44667, 102929.866, 1.0, 0.0, 0.0, right-in, 289.44667, 102929.866, 1.0, 0.0, 0.0 )",
        ),
        ("openfoam/0/U", "    walls { type noSlip; }"),
        ("openfoam/0/U", "    bleed { type slip; }"),
        ("openfoam/0/p", "    floor { type symmetryPlane; }"),
        ("openfoam/0/p", "    left-in { type zeroGradient; }"),
        ("openfoam/0/p", "    walls { type zeroGradient; }"),
        ("openfoam/0/p", "    roof { type freestreamPressure; freestreamValue uniform 0; }"),
        ("openfoam/0/p", "    outlet { type fixedValue; value uniform 0; }"),
        ("openfoam/0/nuTilda", "    walls { type fixedValue; value uniform 0; }"),
        ("openfoam/0/nut", "    walls { type nutUSpaldingWallFunction; value uniform 0; }"),
    ] {
        assert!(text(file).lines().any(|found| found == line), "{file}: {line}");
    }
    let inlet = "left-in { type fixedValue; value uniform 0.00000021";
    assert!(text("openfoam/0/nut").contains(inlet));
    let boundary = text("openfoam/constant/polyMesh/boundary");
    for (name, of) in [("walls", "wall"), ("bleed", "patch")] {
        let after = boundary.split(&format!("    {name}\n")).nth(1).unwrap();
        assert!(after.lines().nth(1).unwrap().contains(of), "{boundary}");
    }
    let map = text("mesh.nmf");
    let kind = |kind: &str| map.lines().filter(|line| line.starts_with(kind)).count();
    let kinds = ["VISCOUS", "INFLOW", "OUTFLOW", "FARFIELD", "SYMMETRY-Y"].map(kind);
    assert_eq!(kinds, [3, 2, 2, 1, 1]);
    let cgns = std::fs::read(folder.path().join("mesh.cgns")).unwrap();
    for name in ["BCInflow", "BCOutflow", "BCFarfield", "outlet_first", "outlet_last"] {
        assert!(cgns.windows(name.len()).any(|bytes| bytes == name.as_bytes()), "{name}");
    }
    let inviscid = family(&case_of("", "[\"openfoam\", \"su2\"]"), 1).unwrap().folder;
    let text = |name: &str| std::fs::read_to_string(inviscid.path().join(name)).unwrap();
    assert!(text("openfoam/0/U").contains("walls { type slip; }"));
    assert!(text("su2.cfg").contains("MARKER_EULER= ( airfoil, walls )"));
    // Each patch has as many edges as were written.
    let patches = |grid: &gridgen::grid::Grid| {
        let mut all = BTreeMap::new();
        for range in grid.boundary() {
            let Some(name) = range.patch().map(Patch::name) else { continue };
            *all.entry(name).or_insert(0) += range.on.count() - 1;
        }
        all
    };
    for file in ["mesh.su2", "mesh.cgns", "openfoam"] {
        let read = mesh(&folder.path().join(file)).unwrap();
        assert_eq!(patches(&read.grid), patches(&made.grid), "{file}");
    }
}
