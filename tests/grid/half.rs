//! Half grids beside a plane of symmetry, as a user makes them.
#![allow(clippy::float_cmp, reason = "a half is a part of the whole to the last bit")]

use std::f64::consts::TAU;
use std::path::Path;

use gridgen::case::Case;
use gridgen::error::{Error, ErrorClass};
use gridgen::formats;
use gridgen::generate::{GridResult, check_case};
use gridgen::geometry::contour_from_bytes;
use gridgen::grid::{Grid, Symmetry, Topology};

use super::{Family, case, family, good, make, read, report};

fn refusal(text: &str) -> String {
    let error: Error = make(&case(text)).err().unwrap();
    assert_eq!(error.class(), ErrorClass::Input);
    format!("{error}\n{}", error.hint().unwrap())
}

fn both(text: &str) -> [GridResult; 2] {
    let half = text.replace("$SIZE", "topology = \"half\"\nni = 65\nnj = 33");
    let whole = text.replace("$SIZE", "ni = 129\nnj = 33");
    [half, whole].map(|text| good(&text))
}

/// Asserts that the columns from `from` on of the whole equal the half, and that its ends lie on a line.
#[track_caller]
fn assert_half(half: &Grid, whole: &Grid, from: usize, level: impl Fn([f64; 2]) -> f64) {
    assert_eq!((half.ni, half.nj), (65, 33));
    for (i, j) in (0..half.nj).flat_map(|j| (0..half.ni).map(move |i| (i, j))) {
        assert_eq!(half.point(i, j), whole.point(from + i, j), "({i}, {j})");
    }
    for j in 0..half.nj {
        let ends = [half.point(0, j), half.point(half.ni - 1, j)].map(&level);
        assert_eq!(ends.map(f64::to_bits), [0; 2], "line {j}");
    }
}

#[test]
fn half_of_a_symmetric_airfoil_is_the_upper_half_of_the_whole() {
    for edge in ["sharp", "blunt", "rounded"] {
        let [half, whole] = both(&format!(
            "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"{edge}\"\nchord = 2.5\n\
             [grid]\n$SIZE\nfirst_cell = 1e-4\n"
        ));

        assert_eq!(half.grid.topology, Topology::Half(Symmetry::UpDown));
        assert_half(&half.grid, &whole.grid, 64, |[_, y]| y);
        // The wall runs from the nose to the edge.
        assert!(half.grid.point(0, 0)[0].abs() < 1e-12, "{edge}");
        assert!((half.grid.point(64, 0)[0] - 2.5).abs() < 0.01, "{edge}");
        assert!((1..64).all(|i| half.grid.point(i, 0)[1] > 0.0), "{edge}");
    }
}

#[test]
fn a_section_without_symmetry_is_refused_with_the_place_and_by_how_much() {
    let text = |geometry: &str| {
        format!("[geometry]\n{geometry}\n[grid]\ntopology = \"half\"\nni = 65\nnj = 33\n")
    };

    // The deviation is twice the camber, which is 0.02 at x = 0.4.
    assert_eq!(
        refusal(&text("naca = \"2412\"")),
        "wing.toml:4: the section is not symmetric: its point x = 0.399070, y = -0.038033 is \
         4.0e-2 chord away from the mirror image of its partner\n\
         choose grid.topology = \"O\", or a section without camber, angle and flap whose points \
         stand in mirrored pairs"
    );
    let turned = refusal(&text("naca = \"0012\"\nangle = 2"));
    assert!(turned.contains("the section is not symmetric: its point x = "), "{turned}");
    let flap = refusal(&text("naca = \"0012\"\nflap = { angle = 5 }"));
    assert!(flap.starts_with("wing.toml:5: the section is not symmetric"), "{flap}");
}

#[test]
fn keys_of_a_wake_and_too_many_cells_on_the_base_are_refused_for_half_a_grid() {
    let refused = |key: &str| {
        let text = format!(
            "geometry.naca = \"0012\"\ngeometry.trailing_edge = \"blunt\"\n\
             [grid]\ntopology = \"half\"\nni = 33\nnj = 17\n{key}\n"
        );
        Case::from_toml(&text, Path::new("wing.toml"), &[]).unwrap_err().to_string()
    };

    for (key, expected) in [
        ("wake = 8", "grid.topology = \"C\" or \"auto\""),
        ("base_cells = 34", "at most grid.ni - 1 = 32"),
    ] {
        assert_eq!(refused(key), format!("wing.toml:7: grid.{key}: expected {expected}"));
    }
}

/// A file with a superellipse with these half axes, clockwise from the angle `start`, sheared by `lean`.
fn contour(points: usize, start: f64, lean: f64) -> Vec<u8> {
    let line = |k: usize| {
        let (sin, cos) = (TAU * (k as f64 + start) / points as f64).sin_cos();
        let [x, y] = [1.5 * cos.abs().sqrt().copysign(cos), -sin.abs().sqrt().copysign(sin)];
        format!("{:.9} {:.9}\n", x + lean * y * y, y + 0.25 * y * y)
    };
    (0..points).map(line).collect::<String>().into_bytes()
}

#[test]
fn a_symmetric_contour_begins_at_its_top_whichever_point_comes_first() {
    // The contours have a point at the top, a point at the bottom only, and none on the line.
    for (points, start) in [(80, 13.0), (81, 81.0 / 4.0), (80, 0.5)] {
        let bytes = contour(points, start, 0.0);
        let found = contour_from_bytes(Path::new("body.dat"), bytes, 1.0).unwrap();

        assert_eq!(found.symmetry, Some(Symmetry::LeftRight), "{points} {start}");
        let [x, y] = found.points[0];
        assert!(x.abs() < 1e-7 && y > 1.2, "{points} {start}: {x} {y}");
        let n = found.points.len();
        for k in 1..n {
            let ([ax, ay], [bx, by]) = (found.points[k], found.points[n - k]);
            assert!((ax + bx).abs() < 1e-7 && (ay - by).abs() < 1e-7, "{points} {start}: {k}");
        }
    }
}

#[test]
fn half_of_a_contour_from_a_file_lies_on_the_plane_of_its_symmetry() {
    let text = |file: &Path| {
        format!(
            "[geometry.section]\nfile = {file:?}\nlength = 3\n\
             [grid]\ntopology = \"half\"\nni = 65\nnj = 33\nfirst_cell = 1e-3\n"
        )
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("body.dat");

    std::fs::write(&path, contour(120, 0.5, 0.0)).unwrap();
    let made = good(&text(&path));
    std::fs::write(&path, contour(120, 0.5, 0.02)).unwrap();
    let refused = refusal(&text(&path));

    let plane = made.grid.point(0, 0)[0];
    assert!(plane.abs() < 1e-12, "{plane:e}");
    for j in 0..made.grid.nj {
        let ends = [made.grid.point(0, j)[0], made.grid.point(64, j)[0]];
        assert_eq!(ends, [plane; 2], "line {j}");
    }
    assert!(refused.starts_with("wing.toml:5: the section is not symmetric"), "{refused}");
}

#[test]
fn half_a_grid_is_read_back_from_every_format() {
    let text = "geometry.naca = \"0012\"\n[grid]\ntopology = \"half\"\nni = 33\nnj = 17\nfirst_cell = 1e-3\n\
                [output]\nformats = [\"vts\", \"vtk\", \"plot3d\", \"su2\"]\n";
    let Family { made, folder } = family(&case(text), 1).unwrap();

    let [vts, others @ ..] = ["mesh.vts", "mesh.vtk", "mesh.p3d", "mesh.su2"]
        .map(|name| formats::mesh(&folder.path().join(name)).unwrap());

    assert_eq!(vts.grid.topology, Topology::Half(Symmetry::UpDown));
    assert!(!vts.wall.closed && (vts.wall.from, vts.wall.to) == (0, 32));
    assert!(others.iter().all(|mesh| mesh.grid == vts.grid));
    assert_eq!(gridgen::grid::quality::measure(&vts.grid), made.quality);
    assert_eq!(report(folder.path())["grid"]["topology"], "half");
}

#[test]
fn half_a_grid_has_a_family() {
    let text = |cells: usize| {
        format!(
            "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[output]\npictures = false\n\
             [grid]\ntopology = \"half\"\nni = 65\nnj = 33\nfirst_cell = 1e-3\nbase_cells = {cells}\n"
        )
    };
    let family = |cells: usize| family(&case(&text(cells)), 3);

    let Family { made, folder } = family(16).unwrap();
    let refused = family(12).err().unwrap().to_string();

    assert!(made.converged() && made.folded_cells == 0, "{}", made.stop);
    let [fine, coarse] = ["65x33", "17x9"].map(|size| read(&folder, &format!("{size}/mesh.vts")));
    assert_eq!(coarse.topology, Topology::Half(Symmetry::UpDown));
    for (i, j) in (0..9).flat_map(|j| (0..17).map(move |i| (i, j))) {
        assert_eq!(coarse.point(i, j), fine.point(4 * i, 4 * j), "({i}, {j})");
    }
    // 6 of the 12 cells on the base are above the plane; the corner is the point before them.
    assert!(refused.ends_with("the corner of the base at point 58 of the wall"), "{refused}");
}

#[test]
fn an_estimate_counts_the_points_of_the_whole() {
    let case = case("geometry.naca = \"0012\"\n[grid]\ntopology = \"half\"\nni = 65\nnj = 33\n");

    assert_eq!(check_case(&case.into()).unwrap().1.points, 129 * 33);
}
