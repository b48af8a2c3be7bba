//! Grids that follow a moving wall.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Mutex, OnceLock};

use gridgen::backend::cpu::CpuBackend;
use gridgen::case::SolverOptions;
use gridgen::files::record::RecordFault;
use gridgen::grid::Grid;
use gridgen::internals::digest;
use gridgen::movement::{Moved, MovementError, Reference};
use support::cases::{case, make, shipped};
use support::grids::distance;
use support::moves::{moved, on_cpu};
use support::vectors::{self, twisted};
use support::with_threads;

type Wall = Vec<[f64; 2]>;

/// The grids O and C for which the bounds were determined, and smaller ones.
pub(crate) const O: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\n[grid]\nni = 129\nnj = 65\n\
                 first_cell = 1e-5\nfar_field = 15.0\ntrailing_edge_spacing = 1e-3\n";
pub(crate) const C: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\n[grid]\ntopology = 'C'\nni = 225\n\
                 nj = 65\nwake = 48\nfirst_cell = 1e-5\nfar_field = 50.0\n";
pub(crate) const BLUNT: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'blunt'\n[grid]\nni = 97\nnj = 33\n\
                     first_cell = 1e-4\n";
pub(crate) const HALF: &str =
    "geometry.naca = '0012'\n[grid]\ntopology = 'half'\nni = 65\nnj = 33\nfirst_cell = 1e-3\n";
pub(crate) const SMALL: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-12\n\
                     [grid]\nni = 65\nnj = 33\nfirst_cell = 1e-3\n";

/// Between walls: a C-grid with two, and an O-grid with three and a periodic seam.
pub(crate) const TUNNEL: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\n[domain]\n\
                      box = [-1.0, 3.0, -1.0, 1.0]\nfloor = 'wall'\nroof = 'wall'\nwall_first_cell = 2e-4\n[grid]\n\
                      topology = 'C'\nni = 161\nnj = 65\nwake = 32\nfirst_cell = 1e-4\n";
pub(crate) const ROOM: &str = "geometry.ellipse.thickness = 0.5\n[domain]\nbox = [-1.5, 2.5, -1.5, 1.5]\n\
                    floor = 'wall'\nroof = 'wall'\ninlet = 'wall'\n[grid]\nni = 97\nnj = 49\nfirst_cell = 1e-3\n";

/// The reference of a case, which is made once for all tests.
pub(crate) fn reference(text: &str) -> &'static Reference {
    static MADE: Mutex<BTreeMap<String, &'static OnceLock<Reference>>> =
        Mutex::new(BTreeMap::new());
    let own = || -> &'static OnceLock<Reference> { Box::leak(Box::default()) };
    let one = *MADE.lock().unwrap().entry(text.to_owned()).or_insert_with(own);
    one.get_or_init(|| case(text).settle().unwrap().reference(&CpuBackend).unwrap())
}

/// Asserts that a movement took at most these Newton and linear iterations.
#[track_caller]
fn assert_counts(moved: &Moved, (newton, linear): (usize, f64), what: &str) {
    let counts = (moved.newton_iterations, moved.linear_iterations);
    assert!(counts.0 <= newton && counts.1 <= linear, "{what}: {counts:?}");
}

fn of_grid(grid: &Grid) -> Reference {
    Reference::of_grid(&CpuBackend, grid, &SolverOptions::new(&[]).unwrap()).unwrap()
}

/// The wall with a Hicks–Henne bump of this height at 40 % of the chord on the upper side.
pub(crate) fn bumped(wall: &[[f64; 2]], height: f64) -> Wall {
    let half = wall.len() / 2;
    let bump = |x: f64| {
        let exponent = 0.5_f64.ln() / 0.4_f64.ln();
        height * (std::f64::consts::PI * x.clamp(0.0, 1.0).powf(exponent)).sin().powi(3)
    };
    let lift =
        |(k, &[x, y]): (usize, &[f64; 2])| [x, if k > half && x < 1.0 { y + bump(x) } else { y }];
    wall.iter().enumerate().map(lift).collect()
}

fn cambered(wall: &[[f64; 2]], by: f64) -> Wall {
    wall.iter().map(|&[x, y]| [x, y + 4.0 * by * x * (1.0 - x)]).collect()
}

pub(crate) fn thickened(wall: &[[f64; 2]], times: f64) -> Wall {
    wall.iter().map(|&[x, y]| [x, times * y]).collect()
}

/// The way from the wall to the first node above it.
fn cell(grid: &Grid, i: usize) -> [f64; 2] {
    vectors::less(grid.point(i, 1), grid.point(i, 0))
}

fn height(grid: &Grid, i: usize) -> f64 {
    let [x, y] = cell(grid, i);
    x.hypot(y)
}

#[test]
fn the_points_of_the_reference_give_the_reference() {
    for text in [O, C, BLUNT, HALF, SMALL, TUNNEL, ROOM] {
        let reference = reference(text);

        let same = moved(reference, &reference.wall());

        assert_eq!(same.newton_iterations, 0);
        let worst = distance(same.grid(), reference.grid());
        assert!(worst <= 1e-15, "{worst:e}");
    }
}

/// The bounds on Newton and linear iterations are the numbers found when the numerics were chosen.
#[test]
fn movements_of_an_optimisation_take_few_iterations() {
    let o = reference(O);
    let c = reference(C);
    let movements: [(&Reference, &str, Wall, (usize, f64)); 11] = [
        (o, "O, twist 1", twisted(&o.wall(), 1.0), (4, 7.0)),
        (o, "O, twist 10", twisted(&o.wall(), 10.0), (4, 9.0)),
        (o, "O, twist -10", twisted(&o.wall(), -10.0), (4, 8.5)),
        (o, "O, twist 20", twisted(&o.wall(), 20.0), (5, 10.0)),
        (o, "O, camber", cambered(&o.wall(), 0.02), (4, 7.0)),
        (o, "O, thicker", thickened(&o.wall(), 1.5), (4, 8.0)),
        (o, "O, thinner", thickened(&o.wall(), 0.6), (4, 8.5)),
        (o, "O, bump", bumped(&o.wall(), 0.05), (4, 7.0)),
        (c, "C, twist 10", twisted(&c.wall(), 10.0), (4, 11.5)),
        (c, "C, bump", bumped(&c.wall(), 0.03), (5, 10.5)),
        (c, "C, camber", cambered(&c.wall(), 0.02), (4, 10.5)),
    ];
    for (reference, name, wall, most) in movements {
        let moved = moved(reference, &wall);

        assert_counts(&moved, most, name);
        let (found, first) = (moved.quality.first_cell_max, moved.quality.first_cell_min);
        assert!((found / 1e-5 - 1.0).abs() < 1e-4, "{name}: {found:e}");
        assert!((first / 1e-5 - 1.0).abs() < 1e-4, "{name}: {first:e}");
        // A grid that has moved far is reported to be worse than a new one would be.
        match (name, &moved.worn) {
            ("O, twist 20", worn) => {
                let said = worn.as_ref().unwrap();
                assert!(said.starts_with("the mean skewness is 0.05"), "{said}");
                assert!(said.contains("re-generate"), "{said}");
            }
            ("O, bump" | "O, twist 1", worn) => assert_eq!(*worn, None, "{name}"),
            _ => {}
        }
    }
}

/// Small grids of all kinds, solved to rounding: O-grids around a sharp and a blunt edge, a C-grid, a half grid, and grids
/// between walls.
pub(crate) fn small_ones() -> [String; 6] {
    let tight =
        |text: &str| format!("newton.tolerance = 1e-13\nlinear.precision = 'double'\n{text}");
    let c = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\n[grid]\ntopology = 'C'\nni = 97\n\
             nj = 33\nwake = 16\nfirst_cell = 1e-3\nfar_field = 10.0\n";
    let sharp = SMALL.replace("newton.tolerance = 1e-12\n", "");
    [tight(&sharp), tight(BLUNT), tight(c), tight(HALF), tight(TUNNEL), tight(ROOM)]
}

#[test]
fn the_grid_does_not_depend_on_the_path() {
    for text in small_ones() {
        let reference = reference(&text);
        let wall = if text.ends_with(HALF) {
            thickened(&reference.wall(), 1.3)
        } else {
            twisted(&bumped(&reference.wall(), 0.02), 5.0)
        };
        let at_once = moved(reference, &wall);

        assert_eq!(at_once.grid().topology, reference.grid().topology);
        if text.ends_with(HALF) {
            assert_eq!(at_once.grid().point(0, 0)[1].to_bits(), 0);
        }
        let in_three = on_cpu(reference).move_in_parts(&CpuBackend, &wall, 3).unwrap();

        assert!(in_three.verdict.is_good(), "{}", in_three.verdict);
        assert!(in_three.newton_iterations > at_once.newton_iterations);
        let apart = distance(at_once.grid(), in_three.grid());
        assert!(apart < 1e-12, "{text}: {apart:e}");
    }
}

/// The box, its patches and the first cells on its walls stay bit for bit, those of the section keep their heights,
/// and no more steps are taken than without walls.
#[test]
fn first_cells_stay_exact_between_walls() {
    // Around a sharp edge the seam is held.
    let seam =
        ROOM.replace("ellipse.thickness = 0.5", "naca = '2412'\ngeometry.trailing_edge = 'sharp'");
    let seam = seam.replace("ni = 97\n", "topology = 'O'\nni = 129\n");
    for (text, first) in [(TUNNEL, 1e-4), (ROOM, 1e-3), (&seam, 1e-3)] {
        let slip = text.replace("'wall'", "'slip'").replace("wall_first_cell = 2e-4\n", "");
        let (reference, slip) = (reference(text), reference(&slip));
        let before = reference.grid();
        let walls =
            |wall: &[[f64; 2]]| [twisted(wall, 2.0), thickened(wall, 1.05), cambered(wall, 0.01)];
        for (wall, without) in walls(&reference.wall()).iter().zip(walls(&slip.wall())) {
            let moved = moved(reference, wall);

            let (after, from) = (moved.grid(), (before.nj - 2) * before.ni);
            assert!(after.x[from..] == before.x[from..] && after.y[from..] == before.y[from..]);
            assert!(distance(after, before) > 1e-3, "{text}");
            let angle = moved.quality.wall_angle_error_max_deg;
            assert!(angle < reference.quality().wall_angle_error_max_deg + 1e-6, "{text}: {angle}");
            for i in before.topology.wall(before.ni) {
                let off = height(after, i) / first - 1.0;
                assert!(off.abs() < 1e-9, "{text}: point {i}: {off:e}");
            }
            let without = support::moves::moved(slip, &without);
            for (moved, reference) in [(&moved, reference), (&without, slip)] {
                assert_eq!(moved.blocks()[0].boundary(), reference.grid().boundary(), "{text}");
            }
            let counts = [&moved, &without].map(|m| (m.newton_iterations, m.linear_iterations));
            let [(newton, linear), (most, others)] = counts;
            assert!(newton <= most + 1 && linear <= others + 3.0, "{text}: {counts:?}");
        }
    }
}

/// Without constraints the exact grid moves with the body: a small rotation of the wall rotates the cells
/// near it.
#[test]
fn first_cells_turn_with_the_wall() {
    let reference = reference(SMALL);
    let wall = twisted(&reference.wall(), 4.0);

    let moved = moved(reference, &wall);

    let (sin, cos) = 4.0_f64.to_radians().sin_cos();
    for i in 0..reference.grid().ni {
        let [x, y] = cell(reference.grid(), i);
        let turned = [cos * x + sin * y, cos * y - sin * x];
        let off = vectors::distance(cell(moved.grid(), i), turned);
        assert!(off < 1e-12, "point {i}: {off:e}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let reference = reference(SMALL);
    let wall = cambered(&reference.wall(), 0.01);
    let bits = |threads| {
        let moved = with_threads(threads, || moved(reference, &wall));
        let grid = moved.grid();
        grid.x.iter().chain(&grid.y).map(|c| c.to_bits()).collect::<Vec<_>>()
    };

    assert_eq!(bits(1), bits(3));
}

fn refused(reference: &Reference, wall: &[[f64; 2]]) -> MovementError {
    on_cpu(reference).move_to(&CpuBackend, wall).err().unwrap()
}

/// A change after which the points are no wall.
type Mistake = fn(&mut Wall);

#[test]
fn wall_points_that_are_none_are_refused() {
    let crosses = |first: usize, second: usize| {
        let points = format!("the segment from point {first} meets that from point {second}");
        format!("the wall crosses or touches itself: {points}")
    };
    let open = "the last wall point of a grid all around a body repeats the first";
    let reversed = "the wall points run the other way around the body than those of the reference";
    let end = "is an end of a half grid's wall and off its plane of symmetry";
    let rows: [(&str, Mistake, String); 8] = [
        (SMALL, |wall| wall.truncate(64), "64 wall points, where the reference has 65".into()),
        (SMALL, |wall| wall[7] = [0.5, f64::NAN], "wall point 7 is (0.5, NaN)".into()),
        (SMALL, |wall| wall[0][1] += 1e-3, open.into()),
        (SMALL, |wall| wall.reverse(), reversed.into()),
        (SMALL, |wall| wall.swap(20, 21), crosses(19, 21)),
        (HALF, |wall| wall.swap(20, 21), crosses(21, 19)),
        (HALF, |wall| wall[40][1] = -0.01, crosses(40, 40)),
        (HALF, |wall| wall[0] = [1.0, 1e-6], format!("wall point 0 at (1, 0.000001) {end}")),
    ];
    for (of, change, said) in rows {
        let mut wall = reference(of).wall();
        change(&mut wall);

        assert_eq!(refused(reference(of), &wall).to_string(), said);
    }
    let (reference, wall) = (reference(SMALL), reference(SMALL).wall());
    for points in [1, 9, 60] {
        let shifted: Wall = (0..65).map(|i| wall[(i + points) % 64]).collect();
        for wall in [cambered(&shifted, 1e-3), shifted] {
            let place = format!("it is the reference's shifted by {points} points");
            let said = refused(reference, &wall).to_string();
            assert_eq!(said, format!("the wall begins at another point: {place}"));
        }
    }
}

/// If a thickness is limited or changes sign, both surfaces have common points.
#[test]
fn walls_that_touch_or_cross_at_their_points_are_refused() {
    for text in [SMALL, C, BLUNT, HALF] {
        let reference = reference(text);
        let wall = reference.wall();
        let flat = |&[x, y]: &[f64; 2]| [x, if (0.4..0.6).contains(&x) { 0.0 } else { y }];
        let mut walls = vec![wall.iter().map(flat).collect::<Wall>()];
        if text != HALF {
            // Points of one surface are moved onto those of the other, then beyond them.
            let (one, last) = (wall.len() / 3, wall.len() - 1);
            let mut pinched = wall.clone();
            pinched[one] = wall[last - one];
            let mut crossed = pinched.clone();
            for k in one + 1..one + 5 {
                crossed.swap(k, last - k);
            }
            walls.extend([pinched, crossed]);
        }
        for (what, wall) in walls.iter().enumerate() {
            let refused = refused(reference, wall);
            assert!(matches!(refused, MovementError::Crosses { .. }), "{text}, {what}");
        }
        // Thin walls and sharp edges are accepted.
        let thin = on_cpu(reference).move_to(&CpuBackend, &thickened(&wall, 0.7)).unwrap();
        assert!(thin.verdict.is_good(), "{text}");
    }
}

/// A value that is not finite in dJ/dX or in a displacement is reported with its position, and never lost in
/// a sum.
#[test]
fn derivatives_that_are_no_numbers_are_refused_with_their_place() {
    for text in [SMALL, C, HALF] {
        let reference = reference(text);
        let resident = on_cpu(reference);
        let unmoved = resident.unmoved(&CpuBackend).unwrap();
        let grid = unmoved.grid();
        let mut at = resident.derivatives(&CpuBackend, &unmoved).unwrap();
        let ones = vec![1.0; grid.x.len()];
        let nodes = at.by_nodes(&CpuBackend, &ones, &ones).unwrap();
        let plain = at.adjoint(&CpuBackend, nodes.clone()).unwrap().wall;
        let points = reference.wall().len();
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.7e308] {
            for (i, j) in [(3, 5), (0, 2), (grid.ni - 1, 7), (9, grid.nj - 1), (12, 0)] {
                let mut y = ones.clone();
                y[j * grid.ni + i] = bad;

                let refused = at.by_nodes(&CpuBackend, &ones, &y).unwrap_err();

                let place = format!("dJ/dy of node i = {i}, j = {j} is {bad:e}");
                assert!(refused.to_string().starts_with(&place), "{text}: {refused}");
            }
            let mut wall = vec![[0.0; 2]; points];
            wall[7][1] = bad;
            let refused = at.derivative(&CpuBackend, &wall, &[]).unwrap_err().to_string();
            let place = format!("the displacement of wall point 7 is {bad:e}");
            assert!(refused.starts_with(&place), "{text}: {refused}");
            let mut heights = vec![0.0; points];
            heights[4] = bad;
            let refused = at.derivative(&CpuBackend, &vec![[0.0; 2]; points], &heights);
            let refused = refused.unwrap_err().to_string();
            let place = format!("the change of height 4 is {bad:e}");
            assert!(refused.starts_with(&place), "{refused}");
        }
        // The preconditioner is as it was.
        assert_eq!(at.adjoint(&CpuBackend, nodes).unwrap().wall, plain, "{text}");
    }
}

fn stored(reference: &Reference) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reference.grd");
    reference.write(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// The file of a reference with a modified header and modified lists, and a valid checksum.
fn forged(whole: &[u8], head: impl Fn(&str) -> String, change: impl Fn(&mut [f64])) -> Vec<u8> {
    // The file begins with magic, version and the length of the head.
    let (begin, end) = (20, whole.len() - 4);
    let length = u64::from_le_bytes(whole[12..begin].try_into().unwrap()) as usize;
    let text = head(std::str::from_utf8(&whole[begin..begin + length]).unwrap());
    let lists = whole[begin + length..end].as_chunks().0;
    let mut lists: Vec<f64> = lists.iter().map(|number| f64::from_le_bytes(*number)).collect();
    change(&mut lists);
    let lists: Vec<u8> = lists.into_iter().flat_map(f64::to_le_bytes).collect();
    let size = (text.len() as u64).to_le_bytes();
    let mut bytes = [&whole[..12], &size, text.as_bytes(), &lists].concat();
    bytes.extend(digest::crc(&bytes).to_le_bytes());
    bytes
}

#[test]
fn forged_and_folded_references_are_damaged() {
    let whole = stored(reference(C));
    let as_it_is = |head: &str| head.to_owned();
    let refused =
        |bytes: &[u8]| matches!(Reference::from_bytes(bytes), Err(RecordFault::Damaged { .. }));

    assert!(Reference::from_bytes(&forged(&whole, as_it_is, |_| ())).is_ok());
    let wakes = ["9223372036854775807", "18446744073709551615", "112", "9223372036854775806"];
    let wakes = wakes.map(|wake| ("wake = 48\n", format!("wake = {wake}\n")));
    let sizes = [0, 1, 2].map(|ni| ("ni = 225\n", format!("ni = {ni}\n")));
    for (from, to) in wakes.into_iter().chain(sizes) {
        assert!(refused(&forged(&whole, |head| head.replace(from, &to), |_| ())), "{to}");
    }
    // The chord and the shift come first, then x.
    let node = 3 + 20 * 225 + 100;
    let changes: [fn(&mut [f64], usize); 4] = [
        |lists, node| lists[node] = f64::NAN,
        |lists, node| lists[node] += 3.0,
        |lists, node| lists.swap(node, node + 1),
        |lists, _| lists[0] = f64::NAN,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let changed = forged(&whole, as_it_is, |lists| change(lists, node));
        assert!(refused(&changed), "{number}");
    }
}

/// Sides of the blocks of a cascade that no block has, and blocks that the lists do not have.
#[test]
fn forged_blocks_of_a_cascade_are_damaged() {
    let keys = [("grid.ni", "157"), ("grid.nj", "25"), ("grid.first_cell", "1e-4")];
    let made = make(&shipped("compressor.toml", &keys).unwrap()).unwrap();
    let whole = stored(&made.reference().unwrap());
    let read = |from: &str, to: &str| {
        let head = |head: &str| {
            assert!(head.contains(from), "{from}: {head}");
            head.replace(from, to)
        };
        Reference::from_bytes(&forged(&whole, head, |_| ()))
    };
    let passage = made.passage[0].grid.nj;

    assert_eq!(read("ni = 157", "ni = 157").unwrap().blocks().len(), 4);
    for (from, to) in [
        ("block = 3", "block = 4"),
        ("nodes = [0, 156]", "nodes = [0, 157]"),
        ("nodes = [0, 156]", "nodes = [400, 156]"),
        (&format!("nj = {passage}\n"), &format!("nj = {}\n", passage + 1)),
        (&format!("nj = {passage}\n"), "nj = 1\n"),
        (&format!("nj = {passage}\n"), "nj = 9223372036854775807\n"),
        ("outside.given", "outside.other"),
    ] {
        assert!(matches!(read(from, to), Err(RecordFault::Damaged { .. })), "{from}: {to}");
    }
}

/// A moved grid knows the walls of its box, and so do the equations that are made of its nodes.
#[test]
fn first_cells_stay_exact_between_walls_without_equations() {
    let reference = reference(TUNNEL);
    let grid = moved(reference, &twisted(&reference.wall(), 1.0)).blocks().remove(0);
    let alone = of_grid(&grid);

    let further = moved(&alone, &twisted(&alone.wall(), 1.0));

    let (after, from) = (further.grid(), (grid.nj - 2) * grid.ni);
    assert!(after.x[from..] == grid.x[from..] && after.y[from..] == grid.y[from..]);
    assert_eq!([&alone.grid().outside, &further.blocks()[0].outside], [&grid.outside; 2]);
    assert_counts(&further, (4, 7.0), TUNNEL);
}

/// A grid from a file is a reference by itself: it uses equations that its nodes solve.
#[test]
fn a_grid_without_equations_is_a_reference() {
    for (text, linear) in [(O, 10.5), (C, 15.0), (BLUNT, 12.0)] {
        let kept = reference(text);
        let alone = of_grid(kept.grid());

        let same = moved(&alone, &alone.wall());
        let unmoved = on_cpu(&alone).unmoved(&CpuBackend).unwrap();
        let off = distance(same.grid(), unmoved.grid());
        assert_eq!(same.newton_iterations, 0, "{text}, {off:?}");
        let wall = twisted(&alone.wall(), 10.0);
        let found = moved(&alone, &wall);
        assert_counts(&found, (5, linear), text);
        let apart = distance(found.grid(), moved(kept, &wall).grid());
        assert!(apart > 1e-12 && apart < 5e-4, "{text}: {apart:e}");
    }
}

/// In another unit and at another position a grid moves in the same way.
#[test]
fn a_reference_keeps_chord_and_place() {
    for text in [SMALL, HALF] {
        let mut grid = reference(text).grid().clone();
        let alone = of_grid(&grid);
        let shift = if text == HALF { [3.0, 0.5] } else { [3.0, -2.0] };
        grid.place(shift, 0.25);
        let elsewhere = of_grid(&grid);

        let place = |[x, y]: [f64; 2]| [0.25 * (x + shift[0]), 0.25 * (y + shift[1])];
        let wall = thickened(&alone.wall(), 1.3);
        let mut here = moved(&alone, &wall).grid().clone();
        here.place(shift, 0.25);
        let placed: Wall = wall.into_iter().map(place).collect();
        let there = moved(&elsewhere, &placed).grid().clone();

        let worst = distance(&here, &there);
        assert!(worst < 1e-9, "{text}: {worst:e}");
    }
}

#[test]
fn a_stored_reference_is_the_same() {
    let folder = tempfile::tempdir().unwrap();
    for text in [SMALL, C, HALF, TUNNEL, ROOM] {
        let reference = reference(text);
        let path = folder.path().join("reference.grd");
        reference.write(&path).unwrap();

        assert!(Reference::is_stored(&path));
        let read = Reference::read(&path).unwrap();

        let wall = thickened(&reference.wall(), 1.1);
        let [a, b] = [reference, &read].map(|reference| moved(reference, &wall));
        assert_eq!(a.grid(), b.grid(), "{text}");
        assert_eq!(a.newton_iterations, b.newton_iterations);
    }
}

#[test]
fn files_that_are_no_references_are_refused() {
    let whole = stored(reference(SMALL));
    let refused = |bytes: &[u8]| Reference::from_bytes(bytes).err().unwrap();

    for length in [9, 100, whole.len() / 2, whole.len() - 1] {
        let fault = refused(&whole[..length]);
        assert!(matches!(fault, RecordFault::Damaged { .. }), "{length}: {fault}");
    }
    let mut other = whole.clone();
    other[whole.len() / 2] ^= 1;
    assert!(matches!(refused(&other), RecordFault::Damaged { .. }));
    other = whole;
    other[8] = 9;
    assert!(matches!(refused(&other), RecordFault::Version { found: 9, .. }));
    assert!(matches!(refused(b"a mesh"), RecordFault::Other { .. }));
    let missing = Reference::read(Path::new("no such reference.grd")).err().unwrap();
    assert!(matches!(missing.fault, RecordFault::Unreadable(_)), "{missing}");
}

/// The movement is from a symmetric section to one of high lift.
#[test]
fn a_movement_to_another_section_takes_few_iterations() {
    let other = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/airfoils/s1223.dat");
    let blunt = O.replace("'sharp'", "'blunt'");
    let s1223 = format!("geometry.file = '{other}'");
    // The section of the file ends in a point.
    let cambered = "geometry.naca = '8412'".to_owned();
    for (text, to, linear) in [(O, &s1223, 10.0), (&blunt, &cambered, 10.0), (C, &s1223, 13.5)] {
        let of = |geometry: &str| {
            case(&text.replace("geometry.naca = '2412'", geometry)).settle().unwrap()
        };
        let reference = of("geometry.naca = '0012'").reference(&CpuBackend).unwrap();
        let wall: Wall = of(to).points.line;
        let range = reference.grid().topology.wall(reference.grid().ni);

        let moved = moved(&reference, &wall[range.clone()]);

        assert_counts(&moved, (5, linear), text);
        for i in range {
            let off = height(moved.grid(), i) / height(reference.grid(), i) - 1.0;
            assert!(off.abs() < 1e-9, "{text}: point {i}: {off:e}");
        }
        assert!(text != O || moved.worn.is_some());
    }
}

/// The grid from a solve is its own reference: the amplitudes are recovered from its nodes.
#[test]
fn a_solved_grid_is_its_own_reference() {
    for (text, most) in [(SMALL, 1e-15), (HALF, 1e-15), (C, 1e-8), (TUNNEL, 1e-8), (ROOM, 1e-8)] {
        let made = make(&case(text)).unwrap();

        let reference = made.reference().unwrap();

        let worst = distance(&made.grid, reference.grid());
        assert!(worst <= most, "{text}: {worst:e}");
    }
}

/// A file may have rounded the copies of a seam or a cut differently.
#[test]
fn copies_that_differ_in_their_digits_are_welded() {
    for text in [SMALL, C] {
        let mut grid = reference(text).grid().clone();
        let last = grid.index(grid.ni - 1, 0);
        grid.x[last] += 1e-13;
        let wall = *grid.topology.wall(grid.ni).end();
        grid.y[wall] += 1e-13;

        let reference = of_grid(&grid);

        moved(&reference, &thickened(&reference.wall(), 1.1));
    }
}

/// Heights are in the unit of the grid, like all input of a user.
#[test]
fn heights_change_in_the_unit_of_the_grid() {
    let mut grid = reference(SMALL).grid().clone();
    grid.place([0.0; 2], 100.0);
    let reference = of_grid(&grid);
    let changes = vec![0.02; reference.wall().len()];

    let higher = moved(&reference.with_heights(&changes).unwrap(), &reference.wall());

    for i in 0..grid.ni {
        let by = height(higher.grid(), i) - height(&grid, i);
        assert!((by - 0.02).abs() < 1e-9, "point {i}: {by:e}");
    }
}
