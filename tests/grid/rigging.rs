//! Random riggings of three elements: their placements, and the checks of their grids, each verified
//! by geometry without an index.
#![allow(clippy::float_cmp, reason = "a count is exact")]

use std::path::PathBuf;
use std::sync::OnceLock;

use gridgen::case::{AssemblyError, PlacedCase, PlacedElement};
use gridgen::error::ErrorClass;
use gridgen::generate::{BackendChoice, Machine, RunOptions, SolveOptions, make_grids, solve};
use gridgen::grid::Grid;
use gridgen::grid::quality::{Corners, cell_corners};
use gridgen::overset::{
    CellType, Checks, ElementWall, OverlapLimits, Placement, RigSide, Rigging, RiggingError, Rim,
    Subject, Zone, ZoneCells, check,
};
use support::elements::assembly;
use support::random::Random;
use support::vectors::{distance, less, turn};
use support::walls::distance_from;

use super::near_body::main_with_cove;

const RIGGINGS: usize = 100;

/// A gap of 0.8 to 4 %, an overlap of −2 to 3 % and a deflection up to 40°.
fn random_rigging(random: &mut Random, side: RigSide) -> Rigging {
    let mut within = |low: f64, high: f64| low + (high - low) * random.unit();
    Rigging {
        side,
        gap: within(0.008, 0.04),
        overlap: within(-0.02, 0.03),
        deflection: within(0.0, 40.0),
    }
}

fn rigged(name: &str, section: &str, chord: f64, of: &Rigging) -> String {
    let side = if of.side == RigSide::Behind { "behind" } else { "ahead" };
    format!(
        "[[element]]\nname = \"{name}\"\nchord = {chord}\ngeometry = {{ {section} }}\n\
         grid = {{ ni = 49, nj = 21, first_cell = 8e-3 }}\nreach = {}\n\
         rigging = {{ to = \"main\", side = \"{side}\", gap = {}, overlap = {}, deflection = {} }}\n",
        0.5 * chord,
        of.gap,
        of.overlap,
        of.deflection
    )
}

fn case(flap: &Rigging, slat: &Rigging) -> String {
    let main = "[[element]]\nname = \"main\"\ngeometry = { naca = \"4412\" }\n\
                grid = { ni = 65, nj = 25, first_cell = 3e-3 }\nreach = 0.25\n";
    let slat = rigged("slat", "naca = \"4415\"", 0.18, slat);
    let flap = rigged("flap", "naca = \"2412\"", 0.3, flap);
    format!(
        "{main}{flap}{slat}[background]\nspacing = 0.05\ngrowth = 1.6\nfar_field = 5\n[output]\npictures = false\n"
    )
}

/// True if a point lies inside a closed line of points: the angles of its segments, seen from the point, add
/// up to a full turn.
fn is_inside(at: [f64; 2], line: &[[f64; 2]]) -> bool {
    let turns = line.windows(2).map(|w| turn(less(w[0], at), less(w[1], at)));
    turns.sum::<f64>().abs() > 3.0
}

fn cross_at(a: [[f64; 2]; 2], b: [[f64; 2]; 2]) -> bool {
    let side = |[p, q]: [[f64; 2]; 2], r: [f64; 2]| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    side(a, b[0]) * side(a, b[1]) <= 0.0 && side(b, a[0]) * side(b, a[1]) <= 0.0
}

/// True if two closed lines of points cross, or one contains the other.
fn conflict(a: &[[f64; 2]], b: &[[f64; 2]]) -> bool {
    let crossed = a.windows(2).any(|w| b.windows(2).any(|v| cross_at([w[0], w[1]], [v[0], v[1]])));
    crossed || is_inside(a[0], b) || is_inside(b[0], a)
}

/// Smallest distance of two lines of points that do not cross.
fn apart(a: &[[f64; 2]], b: &[[f64; 2]]) -> f64 {
    let from = |a: &[[f64; 2]], b: &[[f64; 2]]| {
        a.iter().map(|point| distance_from(b, *point)).fold(f64::INFINITY, f64::min)
    };
    from(a, b).min(from(b, a))
}

fn rigging_of(side: RigSide, element: &[[f64; 2]], other: &[[f64; 2]]) -> Rigging {
    let edge = |wall: &[[f64; 2]]| wall[0];
    let nose = |wall: &[[f64; 2]]| {
        let far = |p: &[f64; 2]| distance(*p, wall[0]);
        *wall.iter().max_by(|a, b| far(a).total_cmp(&far(b))).unwrap()
    };
    let (upstream, downstream) =
        if side == RigSide::Behind { (other, element) } else { (element, other) };
    let fore = downstream.iter().map(|p| p[0]).fold(f64::INFINITY, f64::min);
    let ([ex, ey], [nx, ny]) = (edge(element), nose(element));
    let down = (ny - ey).atan2(ex - nx).to_degrees();
    Rigging {
        side,
        gap: distance_from(downstream, edge(upstream)),
        overlap: edge(upstream)[0] - fore,
        deflection: if side == RigSide::Behind { down } else { -down },
    }
}

#[track_caller]
fn assert_rigging(found: &Rigging, asked: &Rigging) {
    let off =
        [found.gap - asked.gap, found.overlap - asked.overlap, found.deflection - asked.deflection];
    assert!(off.iter().all(|off| off.abs() < 1e-9), "{found:?} for {asked:?}");
}

/// The grids of the elements in their own frames, which do not depend on the rigging.
fn frames() -> &'static [Grid; 3] {
    static GRIDS: OnceLock<[Grid; 3]> = OnceLock::new();
    GRIDS.get_or_init(|| {
        let of = |side| Rigging { side, gap: 0.03, overlap: 0.0, deflection: 20.0 };
        let placed = assembly(&case(&of(RigSide::Behind), &of(RigSide::Ahead))).settle().unwrap();
        let made: Vec<Grid> = placed
            .elements
            .iter()
            .map(|element| {
                let options = SolveOptions::default();
                let made = solve(&element.problem, &Machine::Cpu, &options, &mut ()).unwrap();
                assert!(made.is_good(), "{}", made.verdict);
                made.grid
            })
            .collect();
        made.try_into().unwrap()
    })
}

struct Placed {
    grids: Vec<Grid>,
    background: Grid,
    walls: Vec<ElementWall>,
    names: Vec<String>,
}

impl Placed {
    fn of(placed: &PlacedCase) -> Self {
        let grids = placed.elements.iter().zip(frames()).map(|(element, grid)| {
            let mut grid = grid.clone();
            element.placement.place(&mut grid);
            grid
        });
        let (background, [low, high]) = placed.background.unwrap();
        Self {
            grids: grids.collect(),
            background: background.grid(low, high),
            walls: placed.elements.iter().map(PlacedElement::wall).collect(),
            names: placed.case.elements.iter().map(|e| e.case.name.clone()).collect(),
        }
    }

    fn zones(&self) -> Vec<Zone<'_>> {
        let background = Zone { name: "background", grid: &self.background, rim: Rim::FarField };
        let elements = self.grids.iter().zip(&self.names);
        let elements = elements.map(|(grid, name)| Zone { name, grid, rim: Rim::Overset });
        std::iter::once(background).chain(elements).collect()
    }

    fn checked(&self, placed: &PlacedCase) -> Checks {
        let zones = self.zones();
        let subjects: Vec<Subject<'_>> = placed
            .elements
            .iter()
            .zip(&zones[1..])
            .zip(&self.walls)
            .map(|((element, zone), wall)| Subject {
                zone: *zone,
                wall,
                chord: element.placement.chord,
                reach: element.reach,
                rigged: element.rigged,
            })
            .collect();
        check(&subjects, Some(zones[0]), &OverlapLimits { gap_cells: 10, size_ratio: 2.0 })
    }
}

fn corners(grid: &Grid, cell: usize) -> Corners {
    cell_corners(grid, cell % (grid.ni - 1), cell / (grid.ni - 1))
}

/// Whether a counter-clockwise cell contains a point; `None` within rounding of an edge.
fn holds(corners: &Corners, [x, y]: [f64; 2]) -> Option<bool> {
    let mut inside = true;
    for k in 0..4 {
        let (a, b) = (corners[k], corners[(k + 1) % 4]);
        let area = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
        if area.abs() < 1e-12 {
            return None;
        }
        inside &= area > 0.0;
    }
    Some(inside)
}

/// Number of cells of a grid that a line from one point to another crosses.
fn passed(grid: &Grid, line: [[f64; 2]; 2]) -> usize {
    let meets = |cell: &usize| {
        let corners = corners(grid, *cell);
        let ends = line.iter().any(|&end| holds(&corners, end) == Some(true));
        ends || (0..4).any(|k| cross_at(line, [corners[k], corners[(k + 1) % 4]]))
    };
    (0..grid.cells()).filter(meets).count()
}

fn assert_gaps(placed: &Placed, checks: &Checks) {
    for (a, b) in (0..placed.walls.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
        let width = apart(placed.walls[a].points(), placed.walls[b].points());
        let names = [&placed.names[a], &placed.names[b]];
        let Some(gap) = checks.gaps.iter().find(|gap| gap.elements.iter().eq(names)) else {
            // Only a gap that no grid bridges is omitted.
            assert!(width > 0.149, "no gap between {names:?}, {width} wide");
            continue;
        };
        assert!((gap.distance - width).abs() < 1e-12, "{} for {width}", gap.distance);
        for (k, number) in [(0, a), (1, b)] {
            let crossed = passed(&placed.grids[number], gap.ends);
            // At the wall the line touches cells that it does not cross.
            let found = gap.cells[k];
            assert!(found <= crossed && found + 3 >= crossed, "{found} cells of {crossed}");
            let few = checks.findings.iter().any(|finding| {
                finding.key == format!("element.{}.grid.nj", names[k])
                    && finding.what.contains("the gap between")
                    && finding.what.contains(&format!("{} and {}", names[0], names[1]))
            });
            assert_eq!(few, found < 10, "{names:?}: {found} cells, {:?}", checks.findings);
        }
    }
}

/// Asserts that the types of cells are correct: fringes are closed, donors contain the centres that they
/// serve, orphans have no donors, and no calculated cell lies in a body.
fn assert_types(placed: &Placed, checks: &Checks) {
    let zones = placed.zones();
    let voxel = checks.search_box.voxel();
    let voxel = voxel[0].hypot(voxel[1]);
    for (number, (zone, types)) in zones.iter().zip(&checks.types).enumerate() {
        let cells = ZoneCells::of(zone.grid);
        let columns = zone.grid.ni - 1;
        let others = placed.walls.iter().enumerate().filter(|(k, _)| k + 1 != number);
        let lies_in = |cell: usize| {
            others.clone().any(|(_, wall)| is_inside(cells.centres[cell], wall.points()))
        };
        for (cell, kind) in types.types.iter().enumerate() {
            let (i, j) = (cell % columns, cell / columns);
            let closed = zone.grid.topology.closed();
            let next = if i + 1 < columns { Some(cell + 1) } else { closed.then_some(cell - i) };
            let above = (j + 2 < zone.grid.nj).then_some(cell + columns);
            for other in [next, above].into_iter().flatten() {
                let pair = [*kind, types.types[other]];
                let open = pair.contains(&CellType::Calculated) && pair.contains(&CellType::Hole);
                assert!(!open, "{}: cells {cell} and {other} are {pair:?}", zone.name);
            }
        }
        // Only some cells are tested, since all would take long.
        for cell in (0..cells.centres.len()).step_by(13) {
            match types.types[cell] {
                CellType::Calculated => assert!(!lies_in(cell), "{}: cell {cell}", zone.name),
                CellType::Interpolated => {
                    let (other, donor) = types.donors[cell].unwrap();
                    let corners = corners(zones[other].grid, donor);
                    assert!(other != number && holds(&corners, cells.centres[cell]) != Some(false));
                }
                CellType::Hole => {}
            }
        }
        for cell in zone.rim_cells() {
            let near = |wall: &ElementWall| distance_from(wall.points(), cells.centres[cell]);
            let size = 2.0 * cells.areas[cell].sqrt() + voxel;
            let explained = types.types[cell] == CellType::Interpolated
                || lies_in(cell)
                || types.orphans.contains(&cell)
                || placed.walls.iter().any(|wall| near(wall) < 4.0 * size);
            assert!(explained, "{}: outermost cell {cell} is a hole", zone.name);
        }
        for &cell in &types.orphans {
            assert!(!lies_in(cell), "{}: cell {cell} lies in a body", zone.name);
            let given = zones.iter().zip(&checks.types).enumerate().any(|(k, (zone, others))| {
                k != number
                    && (0..zone.grid.cells()).any(|donor| {
                        others.types[donor] != CellType::Hole
                            && holds(&corners(zone.grid, donor), cells.centres[cell]) == Some(true)
                    })
            });
            assert!(!given, "{}: orphan {cell} has a donor", zone.name);
        }
        let told = checks
            .findings
            .iter()
            .any(|finding| finding.what.contains(&format!("of {} find no", zone.name)));
        assert_eq!(told, !types.orphans.is_empty(), "{}", zone.name);
    }
}

/// Gaps of 0.8 to 4 %, overlaps of −2 to 3 %, deflections to 40°: each rigging is either found as requested
/// or refused for a valid reason, and the checks of its grids are correct.
#[test]
fn random_riggings_of_slat_and_flap_come_out_as_asked_or_are_refused() {
    let mut random = Random::new(21);
    let (mut stood, mut refused) = (0, 0);
    for number in 0..RIGGINGS {
        let flap = random_rigging(&mut random, RigSide::Behind);
        let slat = random_rigging(&mut random, RigSide::Ahead);
        let case = assembly(&case(&flap, &slat));

        let placed = match case.settle() {
            Ok(placed) => placed,
            Err(error) => {
                refused += 1;
                assert_refused(&error, &flap, &slat);
                continue;
            }
        };

        stood += 1;
        let walls: Vec<ElementWall> = placed.elements.iter().map(PlacedElement::wall).collect();
        assert_rigging(&rigging_of(RigSide::Behind, walls[1].points(), walls[0].points()), &flap);
        assert_rigging(&rigging_of(RigSide::Ahead, walls[2].points(), walls[0].points()), &slat);
        let crossed = (0..walls.len())
            .flat_map(|b| (0..b).map(move |a| (a, b)))
            .any(|(a, b)| conflict(walls[a].points(), walls[b].points()));
        assert!(!crossed, "{flap:?}, {slat:?}");
        let grids = Placed::of(&placed);
        let checks = grids.checked(&placed);
        for (rigged, asked) in checks.rigged.iter().zip([flap, slat]) {
            assert_rigging(&rigged.rigging, &asked);
        }
        assert_gaps(&grids, &checks);
        // This takes no time with an index and long without one, so it is done for one in five.
        if number % 5 == 0 {
            assert_types(&grids, &checks);
        }
    }
    assert!(stood > 50 && refused > 2, "{stood} stood, {refused} were refused");
}

/// Asserts by geometry without an index that a rigging was rightly refused.
fn assert_refused(error: &AssemblyError, flap: &Rigging, slat: &Rigging) {
    let frame = |naca: &str| {
        let ni = if naca == "4412" { 65 } else { 49 };
        let case = super::case(&format!("geometry.naca = '{naca}'\ngrid.ni = {ni}\n"));
        case.settle().unwrap().points.line
    };
    let main = ElementWall::new(frame("4412"), true, 0);
    match error {
        AssemblyError::Rigging { element, error: RiggingError::TooFar { gap, least }, .. } => {
            let rigging = if element == "flap" { flap } else { slat };
            assert!(rigging.overlap < -rigging.gap, "{rigging:?}");
            assert!(*gap == rigging.gap && *least > rigging.gap, "{least} for {rigging:?}");
        }
        AssemblyError::Crossing { elements, .. } => {
            let stand = |name: &str| {
                let (rigging, naca, chord) = match name {
                    "main" => return main.points().to_vec(),
                    "flap" => (flap, "2412", 0.3),
                    _ => (slat, "4415", 0.18),
                };
                let own = ElementWall::new(frame(naca), true, 0);
                let placement = rigging.placement(&own, chord, &main).unwrap();
                placement.points(own.points().iter().copied())
            };
            assert!(conflict(&stand(&elements[0]), &stand(&elements[1])), "{elements:?}");
        }
        other => panic!("{other}"),
    }
}

/// From case to mesh, with a cove and its corner: the grids are good, and the checks of the initial grids
/// before the solve agree approximately with those of the final grids.
#[test]
fn elements_of_random_riggings_are_gridded() {
    let mut random = Random::new(77);
    for round in 0..4 {
        let flap = Rigging { overlap: 0.005, ..random_rigging(&mut random, RigSide::Behind) };
        let slat = Rigging { overlap: -0.005, ..random_rigging(&mut random, RigSide::Ahead) };
        let mut text = case(&flap, &slat);
        if round % 2 == 1 {
            let cove = main_with_cove().replace('\n', ", ");
            text = text.replacen("naca = \"4412\"", &cove, 1);
        }
        let case = assembly(&text);
        let mut options = RunOptions::new(PathBuf::new());
        options.backend = BackendChoice::Cpu;

        let made = match make_grids(&case, &options, &mut ()) {
            Ok(made) => made,
            Err(error) => {
                assert_eq!(error.class(), ErrorClass::Input, "{error}");
                continue;
            }
        };

        assert!(made.is_good(), "{}", made.verdict);
        assert_eq!(made.zones().len(), 4);
        for (made, placed) in made.elements.iter().zip(&made.placed.elements) {
            let wall = placed.wall();
            let points = wall.points().iter().enumerate();
            let off = points.map(|(i, point)| distance(made.grid.point(i, 0), *point));
            assert!(off.fold(0.0, f64::max) < 1e-12, "the grid stands where its wall does");
        }
        let (_, _, before) = gridgen::generate::check_case(&case).unwrap();
        // A front may or may not advance from an orphan, which makes the results differ.
        let all = before.zones.iter().chain(&made.checks.zones);
        if all.map(|zone| zone.orphans).sum::<usize>() > 0 {
            continue;
        }
        for (before, after) in before.zones.iter().zip(&made.checks.zones) {
            let near = |a: usize, b: usize| a.abs_diff(b) <= 10 + b / 10;
            assert!(near(before.holes, after.holes), "{before:?}, {after:?}");
            assert!(near(before.interpolated, after.interpolated), "{before:?}, {after:?}");
        }
    }
}

/// A placed element has its nose at `at`, is rotated nose up, and has the length of its chord.
#[test]
fn a_placement_turns_nose_up_about_the_nose() {
    let placement = Placement { chord: 0.3, angle: 90.0, at: [1.0, -0.2] };

    let [nose, edge] = [[0.0, 0.0], [1.0, 0.0]].map(|point| placement.point(point));

    assert_eq!(nose, [1.0, -0.2]);
    assert!((edge[0] - 1.0).abs() < 1e-15 && (edge[1] + 0.5).abs() < 1e-15, "{edge:?}");
}
