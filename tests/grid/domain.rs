//! Grids inside a box: wind tunnels, the ground, boxes.
#![allow(clippy::float_cmp, reason = "points of straight sides lie on them to the last bit")]

use std::fs;

use gridgen::case::first_cell_from_y_plus;
use gridgen::generate::GridResult;
use gridgen::grid::boundary::{Meets, Patch};

use support::vectors::distance;

use super::pieces::assert_walls;
use super::{
    Family, assert_heights, assert_steps, case, family, line, make, read, report, shipped,
};

/// The grid of a section in a box, x from ahead of the nose, and y between two sides. The keys of the grid may end
/// with some of the domain.
fn inside(geometry: &str, keys: &str, bounds: [f64; 4]) -> GridResult {
    let head = if keys.contains("[domain]") { "" } else { "[domain]\n" };
    make(&case(&format!("[geometry]\n{geometry}\n[grid]\n{keys}\n{head}box = {bounds:?}"))).unwrap()
}

/// Asserts that the grid is good, with exact first cells, and that its outer line lies on the box with points on all corners.
fn assert_inside(made: &GridResult, first_cell: f64, bounds: [f64; 4], what: &str) {
    let quality = &made.quality;
    assert!(made.is_good() && quality.folded_cells == 0, "{what}: {}", made.verdict);
    assert_heights(quality, first_cell, 1e-4, what);
    assert!(quality.wall_angle_error_max_deg < 1e-4, "{what}");
    let (grid, [x0, x1, y0, y1]) = (&made.grid, bounds);
    let end = |x: f64| (x - x1).abs() < 1e-12;
    let outer = line(grid, grid.nj - 1);
    for [x, y] in &outer {
        assert!(*x == x0 || *y == y0 || *y == y1 || end(*x), "{what}: {x} {y}");
    }
    for [x, y] in [[x0, y0], [x0, y1], [x1, y0], [x1, y1]] {
        let corner = |p: &[f64; 2]| (p[0] - x).abs() < 1e-12 && p[1] == y;
        assert!(outer.iter().any(corner), "{what}: no point at {x}, {y}");
    }
    let far = Meets::Patch(Patch::FarField);
    assert!(grid.boundary().iter().all(|range| range.meets != far), "{what}");
}

/// A case in a box: its section, its grid but for the first cell, and the bounds of the box.
type Boxed<'a> = (&'a str, &'a str, [f64; 4]);

/// The grid of a case in a box with walls on these sides, with first cells of these heights on the section and on
/// the walls. Asserts that it is good and takes no more steps and iterations.
#[track_caller]
fn assert_boxed(
    (geometry, grid, bounds): Boxed,
    (walls, [first, height]): (&[&str], [f64; 2]),
    (counts, skewness): ([f64; 2], f64),
) -> GridResult {
    let what = format!("{geometry}; {grid}; {first:e}; {walls:?}; {bounds:?}");
    let kinds: String = walls.iter().flat_map(|side| [*side, " = \"wall\"\n"]).collect();
    let of_walls =
        if walls.is_empty() { kinds } else { format!("{kinds}wall_first_cell = {height:e}") };
    let keys = format!("{grid}\nfirst_cell = {first:e}\n[domain]\n{of_walls}");
    let made = inside(geometry, &keys, bounds);
    assert_inside(&made, first, bounds, &what);
    if !walls.is_empty() {
        assert_walls(&made, height, &what);
        let measured = made.box_walls(&made.grid).unwrap();
        assert!(measured.iter().all(|found| (found / height - 1.0).abs() < 1e-9), "{measured:?}");
        let found = made.grid.outside.as_ref().unwrap().walls(made.grid.ni - 1).len();
        assert!(found >= walls.len(), "{what}: {found} walls");
    }
    assert_steps(&made, counts, &what);
    assert!(made.quality.mean_skewness <= skewness, "{what}: {}", made.quality.mean_skewness);
    made
}

const TUNNEL: &str = "topology = \"C\"\nni = 145\nwake = 24\ngrowth = 1.3";
const GROUND: &str = "topology = \"C\"\nni = 193\nwake = 32\ngrowth = 1.2";

/// A tunnel of this half height that ends here.
fn tunnel(half: f64, end: f64) -> [f64; 4] {
    [-0.2 - f64::min(half, 1.5), end, -half, half]
}

#[test]
fn tunnels_of_any_height_hold_sections_at_any_angle_between_slip_sides_and_between_walls() {
    let heights = [1e-3, 1e-4, 1e-5, 1e-6];
    let mut number = 0;
    for (half, slip, most, mean, waves) in [
        (0.5, 0.09, [6.0, 8.0], 0.14, 25.0),
        (1.5, 0.075, [7.0, 8.0], 0.12, 8.0),
        (5.0, 0.16, [7.0, 11.0], 0.15, 25.0),
    ] {
        for (section, angle) in [("0012", 0), ("4412", 20)] {
            let first = heights[number % 4];
            number += 1;
            let geometry = format!("naca = \"{section}\"\nangle = {angle}");
            let boxed = (&*geometry, TUNNEL, tunnel(half, 4.0));

            assert_boxed(boxed, (&[], [first; 2]), ([8.0, 12.0], slip));
            let walls: &[&str] = &["floor", "roof"];
            let made = assert_boxed(boxed, (walls, [first, 2.0 * first]), (most, mean));

            // Lines that end on the walls and between them grow alike.
            let found = made.quality.waves_deg;
            assert!(found <= waves, "{geometry}, {half}, {first:e}: {found}");
        }
    }
}

#[test]
fn flaps_bases_and_other_topologies_fit_a_box_with_walls_or_without() {
    let (near, wide) = ([-0.7, 4.0, -0.5, 0.5], [-1.7, 3.0, -1.5, 1.5]);
    let flap = "naca = \"2412\"\nangle = 5\nflap = { hinge = 0.75, angle = 20 }";
    let base = "naca = \"0012\"\nangle = 10\nedge_thickness = 0.02";
    let c = "topology = \"C\"\nni = 145\nwake = 36";
    let o = "topology = \"O\"\nni = 145";
    let circle = ("ellipse = { thickness = 1.0 }", o, [-1.5, 6.5, -2.0, 2.1]);
    let all: &[&str] = &["floor", "roof", "inlet", "outlet"];
    for ((geometry, grid, bounds), walls) in [
        ((flap, c, wide), &all[..0]),
        ((base, c, near), &all[..0]),
        (("naca = \"0012\"\nangle = 10", o, wide), &all[..0]),
        ((base, o, wide), &all[..0]),
        (circle, &all[..0]),
        ((flap, c, near), &all[..2]),
        ((base, c, wide), &all[..2]),
        ((base, c, near), &all[1..2]),
        (("naca = \"0012\"\nangle = 5", c, [-1.0, 4.0, -0.6, 2.0]), &all[..1]),
        (("naca = \"0012\"", o, [-2.0, 3.0, -2.0, 2.0]), all),
        (circle, &all[..2]),
    ] {
        let (nj, most, mean) = if walls.is_empty() { (49, 8.0, 0.15) } else { (65, 10.0, 0.16) };
        let grid = format!("{grid}\nnj = {nj}");
        assert_boxed((geometry, &grid, bounds), (walls, [1e-4; 2]), ([most, 12.0], mean));
    }
}

#[test]
fn a_section_above_the_ground_has_a_grid() {
    let floors: [(&[&str], _); 2] = [(&[], [1e-4, 1e-5]), (&["floor"], [1e-4, 1e-6])];
    // Gap, most steps with slip and with a wall, mean skewness.
    for (gap, steps, skewness) in [(0.05, [10.0, 11.0], 0.18), (0.5, [9.0, 7.0], 0.11)] {
        for (section, angle, lowest) in [("0012", 0, 0.06), ("4412", 5, 0.0654)] {
            for ((walls, heights), most) in floors.iter().zip(steps) {
                let first = heights[usize::from(angle > 0)];
                let bounds = [-1.0, 4.0, -lowest - gap, 2.0];
                let geometry = format!("naca = \"{section}\"\nangle = {angle}");
                let what = format!("{section}, {angle} degrees, gap {gap}, {walls:?}");

                let boxed = (&*geometry, GROUND, bounds);
                let made = assert_boxed(boxed, (walls, [first; 2]), ([most, 17.0], skewness));

                assert!(made.quality.p99_skewness <= 0.87, "{what}");
                assert!(made.quality.max_growth_j <= 3.3, "{what}: {}", made.quality.max_growth_j);
                let again = made.notices.iter().any(|note| note.contains("tried"));
                assert!(!again, "{what}: {:?}", made.notices);
            }
        }
    }
}

/// Normals cross at the corners of a base, and cycles of many levels do not contract there.
#[test]
fn tunnels_around_a_base_have_grids_down_to_the_thinnest_first_cells() {
    for (section, angle, half, points, first) in [
        ("0012", 0, 1.5, [193, 81], 1e-6),
        ("0012", 10, 5.0, [193, 89], 1e-6),
        ("4412", 20, 0.5, [193, 73], 1e-6),
        ("0012", 10, 1.5, [289, 81], 1e-5),
        ("0012", 0, 1.5, [193, 81], 3e-6),
        ("4412", 10, 1.5, [193, 49], 1e-4),
    ] {
        let geometry = format!("naca = \"{section}\"\nangle = {angle}\nedge_thickness = 0.02");
        let [ni, nj] = points;
        let grid = format!("topology = \"C\"\nni = {ni}\nnj = {nj}");
        let what = format!("{section}, {half}, {angle} degrees, {first:e}");

        let boxed = (&*geometry, &*grid, tunnel(half, 6.0));
        let walls: &[&str] = &["floor", "roof"];
        let made = assert_boxed(boxed, (walls, [first; 2]), ([8.0, 9.5], 0.09));

        assert!(made.behind.is_some() && made.quality.max_growth_i < 3.2, "{what}");
        assert!(!made.notices.iter().any(|note| note.contains("tried")), "{:?}", made.notices);
    }
}

#[test]
fn walls_of_a_tunnel_have_first_cells_of_their_wall_units() {
    let grid = "topology = \"C\"\nni = 193\nwake = 32\ngrowth = 1.2\ny_plus = 1\nreynolds = 1e6\n\
                [domain]\nfloor = \"wall\"\nwall_y_plus = 30";
    let bounds = [-0.7, 4.0, -0.5, 0.5];
    let [first, height] = [1.0, 30.0].map(|y_plus| first_cell_from_y_plus(y_plus, 1e6, 0.5));

    let made = inside("naca = \"2412\"\nangle = 5", grid, bounds);

    assert_inside(&made, first, bounds, grid);
    assert_walls(&made, height, grid);
}

/// A floor or roof of x as points of `[domain]`.
fn curve(height: impl Fn(f64) -> f64, [x0, x1]: [f64; 2]) -> String {
    let x = (0..=80).map(|k| x0 + (x1 - x0) * f64::from(k) / 80.0);
    format!("{:?}", x.map(|x| [x, height(x)]).collect::<Vec<_>>())
}

/// A smooth step from 0 at x = −1 to 1 at x = 3.
fn step(x: f64) -> f64 {
    0.5 * (1.0 + (1.5 * (x - 1.0)).tanh())
}

/// y of a floor or roof at x.
type Height = fn(f64) -> f64;

#[test]
fn floor_and_roof_may_be_curves() {
    let bump: Height = |x| -0.6 + 0.15 * (-4.0 * (x - 0.8) * (x - 0.8)).exp();
    let narrower: Height = |x| 0.9 - 0.25 * step(x);
    let [flat_floor, flat_roof]: [Height; 2] = [|_| -0.6, |_| 0.9];
    let bounds = [-0.8, 4.0, -0.6, 0.9];
    let c = "topology = \"C\"\nni = 145\nwake = 28\nnj = 49\nfirst_cell = 1e-4";
    let o = "topology = \"O\"\nni = 145\nnj = 49\nfirst_cell = 1e-4";
    for (grid, bounds, [floor, roof], walls) in [
        (c, bounds, [bump, flat_roof], "floor"),
        (c, bounds, [bump, narrower], "floor roof"),
        (c, bounds, [flat_floor, narrower], "roof"),
        (o, [-1.5, 3.0, -0.6, 0.9], [bump, narrower], ""),
    ] {
        let kinds = walls.split_whitespace().map(|side| format!("{side} = \"wall\"\n"));
        let kinds: String = kinds.collect();
        let [low, high] = [floor, roof].map(|of| curve(of, [bounds[0], bounds[1]]));
        let what = format!("{grid} {walls}");
        let keys = format!("{grid}\n[domain]\n{kinds}floor_curve = {low}\nroof_curve = {high}");

        let made = inside("naca = \"0012\"\nangle = 3", &keys, bounds);

        assert!(made.is_good() && made.quality.folded_cells == 0, "{what}: {}", made.verdict);
        assert!(made.newton_iterations() <= 10, "{what}: {}", made.newton_iterations());
        assert!(made.quality.wall_angle_error_max_deg < 1e-4, "{what}");
        if !walls.is_empty() {
            assert_walls(&made, 1e-4, &what);
        }
        let grid = &made.grid;
        let slope = |of: Height, x: f64| (of(x + 1e-5) - of(x - 1e-5)) / 2e-5;
        for range in grid.boundary() {
            let (name, [first, last]) = (range.patch().map_or("", Patch::name), range.on.nodes);
            let of = match name {
                "floor" => floor,
                "roof" => roof,
                _ => continue,
            };
            for i in first..=last {
                let [[x, y], [next_x, next_y]] = [1, 2].map(|k| grid.point(i, grid.nj - k));
                // The spline through points 0.06 apart.
                assert!((y - of(x)).abs() < 2e-5, "{what}, {name}: {x} {y}");
                if !walls.contains(name) || i == first || i == last {
                    continue;
                }
                let (way, slope) = ([next_x - x, next_y - y], slope(of, x));
                // The normal of the function, which the spline follows closely.
                let angle =
                    (way[0] + slope * way[1]).abs() / way[0].hypot(way[1]) / slope.hypot(1.0);
                assert!(angle.to_degrees() < 0.05, "{what}, {name}, {x}: {}", angle.to_degrees());
            }
        }
    }
}

#[test]
fn the_hint_after_a_failure_in_a_box_helps() {
    let narrow = "topology = \"C\"\nni = 129\nwake = 24\ngrowth = 1.3\nfirst_cell = 1e-4\n[quality]\nretry = false\n\
                  [domain]";
    let hint = "an inlet as far ahead as floor and roof are";
    for section in ["naca = \"0012\"", "naca = \"4412\"\nangle = 3\nedge_thickness = 0.01"] {
        let [fails, helps] =
            [-1.0, -0.35].map(|inlet| inside(section, narrow, [inlet, 4.0, -0.15, 0.15]));
        assert!(fails.hint().is_some_and(|given| given.starts_with(hint)), "{:?}", fails.hint());
        assert!(helps.is_good(), "{section}: {}", helps.verdict);
    }
}

#[test]
fn a_floor_through_the_section_is_refused() {
    let through = curve(|x| -0.5 + 0.6 * (-9.0 * (x - 0.5) * (x - 0.5)).exp(), [-1.0, 3.0]);
    let text = format!(
        "[geometry]\nnaca = \"0012\"\n[grid]\ntopology = \"C\"\nni = 129\nnj = 33\nfirst_cell = 1e-3\n\
         [domain]\nbox = [-1, 3, -0.5, 1]\nfloor_curve = {through}"
    );

    let refused = make(&case(&text)).unwrap_err().to_string();

    assert!(refused.contains("the box does not hold the section"), "{refused}");
}

/// Columns of a closed grid are as far from a wall on both ways around, so that both copies of a held seam are one line.
#[test]
fn a_seam_between_a_wall_and_a_slip_side_is_one_line() {
    for walls in ["floor = \"wall\"", "roof = \"wall\"\ninlet = \"wall\""] {
        let section = "naca = \"2412\"\ntrailing_edge = \"sharp\"";
        let keys = "topology = \"O\"\nni = 129\nnj = 49\nfirst_cell = 1e-3\n[domain]\n";
        let made = inside(section, &[keys, walls].concat(), [-1.5, 2.5, -1.5, 1.0]);

        assert!(made.is_good(), "{}", made.verdict);
        let grid = &made.grid;
        for j in 0..grid.nj {
            assert_eq!(grid.point(0, j), grid.point(grid.ni - 1, j), "{walls}, j = {j}");
        }
        let height = |i: usize| {
            let [a, b] = [1, 2].map(|from| grid.point(i % (grid.ni - 1), grid.nj - from));
            distance(a, b)
        };
        for i in grid.ni - 4..grid.ni + 2 {
            let growth = height(i + 1) / height(i);
            assert!((1.0 / 1.2..1.2).contains(&growth), "{walls}, line {i}: {growth}");
        }
    }
}

#[test]
fn a_family_keeps_the_corners_of_a_box() {
    let size = [("grid.ni", "161"), ("grid.nj", "49"), ("grid.wake", "32")];
    let case = shipped("tunnel.toml", &[&size[..], &[("output.formats", "plot3d")]].concat());
    let Family { folder, made } = family(&case, 3).unwrap();

    let coarse = read(&folder, "41x13/mesh.p3d");

    let corner = [made.grid.point(0, made.grid.nj - 1)[0], -1.0];
    assert_eq!(coarse.point(0, coarse.nj - 1), corner);
    let inlet = (0..coarse.ni).filter(|i| coarse.point(*i, coarse.nj - 1)[0] == -1.7).count();
    assert!(inlet >= 2, "{inlet} points on the inlet");
}

/// First cells of a coarser grid are about twice as high, on the section and on walls of the box.
#[test]
fn the_case_of_a_coarser_grid_makes_first_cells_of_its_height_on_all_walls() {
    let text = "geometry.naca = \"0012\"\noutput.formats = [\"vts\"]\n[domain]\n\
                box = [-1.0, 3.0, -1.0, 1.0]\nfloor = \"wall\"\nwall_first_cell = 1e-3\n[grid]\n\
                topology = \"C\"\nni = 161\nnj = 49\nwake = 32\nfirst_cell = 2e-3\n";
    let made = family(&case(text), 2).unwrap();
    let folder = made.folder.path().join("81x25");
    let text = fs::read_to_string(folder.join("case.toml")).unwrap();

    let again = make(&case(&text)).unwrap();

    let told = report(&folder);
    let [low, _] = again.box_walls(&again.grid).unwrap();
    for (found, told) in [
        (low, &told["grid"]["box_walls"][0]),
        (again.quality.first_cell_min, &told["quality"]["first_cell_min"]),
    ] {
        let told = told.as_f64().unwrap();
        assert!((found / told - 1.0).abs() < 1e-4, "{found:e} where the family has {told:e}");
    }
}
