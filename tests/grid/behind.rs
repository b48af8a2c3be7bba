//! C-grids around sections with a base, and the block behind it.
#![allow(clippy::float_cmp, reason = "linked points are the same to the last bit")]

use std::f64::consts::PI;
use std::path::Path;

use gridgen::case::Case;
use gridgen::error::ErrorClass;
use gridgen::formats::{Mesh, MeshData, Settings, mesh};
use gridgen::generate::GridResult;
use gridgen::grid::boundary::{Range, Segment};
use gridgen::grid::quality::{CurvedQuality, measure_along};
use gridgen::grid::{Grid, Symmetry, Topology, block_behind};
use support::grids::grid_from;
use support::vectors::{distance, less, turn};
use support::walls::half_thickness;

use super::{Family, assert_heights, assert_steps, case, family, make, read};

/// y of the upper and of the lower surface at x.
type Surfaces = fn(f64) -> [f64; 2];

/// Closed forms of sections with a base of 0.3, 1.5, 3.5, 10 and 28 % chord.
const SECTIONS: [(&str, Surfaces); 5] = [
    ("cut at 0.99", |x| cut_off(x, 0.99)),
    ("cut at 0.95", |x| cut_off(x, 0.95)),
    ("like a DU 30 %", |x| {
        let (camber, base) = (0.02 * (PI * x.powf(1.3)).sin(), 0.0175 * x * x);
        let rear = 0.18 * x.powi(4) * (1.0 - x);
        [camber + half_thickness(x, 0.28) + base, camber - half_thickness(x, 0.31) - base + rear]
    }),
    ("flatback 10 %", |x| {
        let (camber, half) = (0.015 * (PI * x.powf(1.2)).sin(), half_thickness(x, 0.33) + 0.05 * x);
        [camber + half, camber - half]
    }),
    ("flatback 28 %", |x| {
        let half = half_thickness(x, 0.42) + 0.14 * x;
        [half, -half]
    }),
];

/// A NACA 0012 that ends at a part of its chord, scaled to unit chord.
fn cut_off(x: f64, end: f64) -> [f64; 2] {
    let half = half_thickness(x * end, 0.12) / end;
    [half, -half]
}

fn around(section: Surfaces, geometry: &str, grid: &str) -> Case {
    let x = |k: usize| 0.5 * (1.0 - (PI * k as f64 / 400.0).cos());
    let upper = (0..=400).rev().map(|k| [x(k), section(x(k))[0]]);
    let lower = (1..=400).map(|k| [x(k), section(x(k))[1]]);
    let points: Vec<[f64; 2]> = upper.chain(lower).collect();
    case(&format!(
        "[geometry]\npoints = {points:?}\n{geometry}\n[grid]\ntopology = \"C\"\n{grid}\n"
    ))
}

/// Angle by which each line turns at the interfaces, degrees, and the growth of its cells from the block outwards.
pub(super) fn across(grid: &Grid, block: &Grid) -> Vec<[f64; 2]> {
    let wake = block.ni - 1;
    let of_column = |i: usize| {
        let pairs = [(wake - i, 0, 1), (grid.ni - 1 - wake + i, block.nj - 1, block.nj - 2)];
        pairs.map(|(k, at, next)| {
            let out = less(grid.point(k, 1), grid.point(k, 0));
            let within = less(block.point(i, at), block.point(i, next));
            [turn(out, within).abs().to_degrees(), length(out) / length(within)]
        })
    };
    (1..wake).flat_map(of_column).collect()
}

fn length([x, y]: [f64; 2]) -> f64 {
    x.hypot(y)
}

/// Asserts that lines hardly turn at the interfaces, and cells hardly grow.
#[track_caller]
fn assert_across(grid: &Grid, block: &Grid, what: &str) {
    for [kink, growth] in across(grid, block) {
        assert!(kink < 0.5 && growth.max(1.0 / growth) < 1.02, "{what}: {kink} {growth}");
    }
}

/// Asserts that linked nodes of these ranges have the same bits, and returns how many there are.
#[track_caller]
fn assert_linked(ranges: Vec<Range>, around: &Grid, behind: &Grid) -> usize {
    let links = ranges.into_iter().filter_map(|range| Some((range.on, range.link()?)));
    let nodes = links.flat_map(|(on, to)| (0..on.count()).map(move |k| (on, to, k)));
    let same = |(on, to, k): &(Segment, Segment, usize)| {
        assert_eq!(on.point(around, *k, 0), to.point(behind, *k, 0), "{on:?} {k}");
    };
    nodes.inspect(same).count()
}

/// Asserts what every C-grid around a base has, with first cells of this height.
#[track_caller]
fn assert_good(made: &GridResult, first_cell: f64, what: &str) {
    let (grid, quality) = (&made.grid, &made.quality);
    let block = made.behind.as_ref().unwrap();
    assert!(made.is_good(), "{what}: {}", made.verdict);
    assert_eq!(grid.topology, Topology::Blunt { wake: block.ni - 1 }, "{what}");
    // Every side of both blocks is there once.
    assert_linked(grid.boundary(), grid, block);
    // Heights of the wall and of the base, and right angles.
    assert_heights(quality, first_cell, 1e-4, what);
    let angle = quality.wall_angle_error_max_deg;
    assert!(angle < 2e-4, "{what}: {angle}");
    assert_across(grid, block, what);
}

#[test]
fn sections_with_a_base_have_a_block_behind_it_at_every_first_cell() {
    let coarser = |of| [1e-3, 1e-6].map(|first_cell| (of, [225, 65], first_cell));
    let finer = (SECTIONS[3], [385, 145], 1e-5);
    for ((name, section), [ni, nj], first_cell) in
        SECTIONS.into_iter().flat_map(coarser).chain([finer])
    {
        let what = format!("{name}, {first_cell:e}");
        let grid = format!("ni = {ni}\nnj = {nj}\nfirst_cell = {first_cell}");

        let made = make(&around(section, "", &grid)).unwrap();

        if name == "cut at 0.99" && first_cell > 5e-4 {
            // The base has no room for four such cells.
            let said = "no room for a block of four first cells behind it";
            assert!(made.notices.iter().any(|note| note.ends_with(said)), "{:?}", made.notices);
            assert!(made.is_good() && made.behind.is_none());
            continue;
        }
        assert_good(&made, first_cell, &what);
        // The base does not change the chord of the section.
        let wall = made.grid.topology.wall(made.grid.ni);
        let edge = wall.map(|i| made.grid.point(i, 0)[0]).fold(0.0, f64::max);
        assert!((edge - 1.0).abs() < 1e-9, "{what}: {edge}");
        let quality = &made.quality;
        let most = if first_cell < 5e-6 { 0.2 } else { 0.15 };
        assert!(quality.max_skewness < 0.26, "{what}: {}", quality.max_skewness);
        assert!(quality.p99_skewness < most, "{what}: {}", quality.p99_skewness);
        assert!(quality.max_growth_i < 2.0, "{what}: {}", quality.max_growth_i);
        assert_steps(&made, [6.0, 12.0], &what);
    }
}

/// Returns the largest growth of cells along i from line `first` on: within `columns` of the edge or of a corner of
/// the base, and elsewhere.
pub(super) fn growth_along_i(grid: &Grid, first: usize, columns: usize) -> [f64; 2] {
    let wake = grid.topology.wake();
    let mut worst = [1.0_f64; 2];
    for j in first..grid.nj {
        let step = |i: usize| distance(grid.point(i, j), grid.point(i + 1, j));
        for i in 1..grid.ni - 1 {
            let near = i.abs_diff(wake).min(i.abs_diff(grid.ni - 1 - wake)) <= columns;
            let (a, b) = (step(i - 1), step(i));
            let worst = &mut worst[usize::from(!near)];
            *worst = worst.max(a / b).max(b / a);
        }
    }
    worst
}

const FILES: [&str; 5] =
    ["base-points.dat", "goe797.dat", "kc135winglet.dat", "naca23021.dat", "pitched-38deg-mm.csv"];

#[test]
fn files_of_sections_with_a_base_have_a_block_behind_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/airfoils");
    for name in FILES {
        let file = folder.join(name);
        let keys = "topology = \"C\"\nni = 257\nnj = 97\nfirst_cell = 1e-4";
        let made = make(&case(&format!("[geometry]\nfile = {file:?}\n[grid]\n{keys}\n"))).unwrap();

        assert_good(&made, 1e-4, name);
        assert_steps(&made, [6.0, 12.0], name);
        let [near, rest] = growth_along_i(&made.grid, 0, 10);
        assert!(near <= 2.0 && rest <= 1.35, "{name}: {near} near the corners, else {rest}");
    }
}

#[test]
fn curved_cells_of_both_blocks_are_measured() {
    let keys = "ni = 129\nnj = 49\nfirst_cell = 1e-3\nwake = 32\nbase_cells = 32\n[output]\ncurved_order = 2";

    let made = make(&around(SECTIONS[3].1, "", keys)).unwrap();

    let cells = (128 * 48 + 32 * 32) / 4;
    let told = format!("{cells} cells of order 2, ");
    assert!(made.notices.iter().any(|note| note.starts_with(&told)), "{:?}", made.notices);
    let mut block = made.behind.unwrap();
    let k = block.index(3, 3);
    block.x[k] += 1.0;
    let both = CurvedQuality::of_blocks(&[&made.grid, &block], 2);
    assert_eq!((both.cells, both.folded_cells > 0), (cells, true));
    // The format refuses what is folded in the block alone.
    let folder = tempfile::tempdir().unwrap();
    let settings = Settings { curved_order: 2, ..Settings::default() };
    let mesh = MeshData { settings, ..MeshData::of_blocks(&[&made.grid, &block]) };
    let refused = gridgen::formats::write(&folder.path().join("mesh.msh"), &mesh).err().unwrap();
    assert!(refused.to_string().contains("folded"), "{refused}");
}

#[test]
fn the_files_of_one_block_are_not_taken_for_half_a_grid() {
    for length in ["", "wake_length = 2\n"] {
        let keys = format!(
            "ni = 129\nnj = 49\nfirst_cell = 1e-4\nwake = 24\n{length}[output]\nformats = [\"vts\"]"
        );
        let case = around(SECTIONS[1].1, "angle = 3\nchord = 1.7", &keys);
        let Family { folder, .. } = family(&case, 1).unwrap();
        let of = |name: &str| mesh(&folder.path().join(name)).unwrap();

        let [around, behind] = ["mesh.around.vts", "mesh.behind.vts"].map(of);

        assert_eq!((around.wall.from, around.wall.to, around.wall.closed), (24, 104, false));
        assert!(around.notes[0].starts_with("A C-grid around a base:"), "{:?}", around.notes);
        assert!(behind.notes[0].starts_with("Neither ends nor wake"), "{:?}", behind.notes);
        assert!(!MeshData::from(&around.grid).weldable);
        assert!(around.grid.topology.half().is_none());
        assert_eq!(behind.grid.topology, Topology::Rectangle);
        let quality = measure_along(&around.grid, around.wall);
        assert_heights(&quality, 1.7e-4, 1e-4, length);
    }
    // The left half of a stadium, whose flat sides are parallel.
    let wall = |i: usize| match i {
        0..20 => [-0.02 * i as f64, -0.1],
        41.. => [-0.02 * (60 - i) as f64, 0.1],
        _ => {
            let turned = PI * (i - 20) as f64 / 20.0;
            [-0.4 - 0.1 * turned.sin(), -0.1 * turned.cos()]
        }
    };
    let half = Mesh::from(grid_from(61, 21, |i, j| wall(i).map(|c| c * (1.0 + 0.5 * j as f64))));
    assert_eq!(half.grid.topology, Topology::Half(Symmetry::LeftRight));
}

#[test]
fn an_angle_and_a_wake_direction_keep_the_base_and_its_interfaces_exact() {
    for (geometry, grid) in
        [("angle = 8", ""), ("", "wake_direction = 10"), ("", "wake_spacing = 0.5")]
    {
        let grid = format!("ni = 193\nnj = 65\nfirst_cell = 1e-4\n{grid}");

        let made = make(&around(SECTIONS[3].1, geometry, &grid)).unwrap();

        let what = [geometry, &grid].concat();
        let block = made.behind.as_ref().unwrap();
        assert!(made.is_good(), "{what}: {}", made.verdict);
        assert_across(&made.grid, block, &what);
        assert!(made.quality.wall_angle_error_max_deg < 1e-3, "{what}");
        assert_heights(&made.quality, 1e-4, 1e-4, &what);
    }
}

#[test]
fn cells_on_the_base_are_those_asked_for_or_refused() {
    let grid = |more: &str| format!("ni = 129\nnj = 49\nfirst_cell = 1e-3\n{more}");
    // A base of 1.48 % chord has room for 14 cells of 1e-3.
    let asked = make(&around(SECTIONS[1].1, "", &grid("base_cells = 12"))).unwrap();
    let many = make(&around(SECTIONS[1].1, "", &grid("base_cells = 16"))).err().unwrap();
    let wide = make(&around(SECTIONS[3].1, "angle = -70", &grid(""))).err().unwrap();

    assert_eq!(asked.behind.unwrap().nj, 13);
    let said = "base_cells = 16: an even number from 4 to 14 was expected";
    assert!(many.to_string().ends_with(said), "{many}");
    assert!(wide.to_string().contains("faces"), "{wide}");
    for error in [many, wide] {
        assert_eq!(error.class(), ErrorClass::Input);
        assert!(error.hint().is_some());
    }
}

#[test]
fn the_block_is_straight_between_interfaces_of_the_grid_it_is_given() {
    let made = make(&around(SECTIONS[4].1, "", "ni = 129\nnj = 49\nfirst_cell = 1e-4")).unwrap();
    let block = made.behind.unwrap();

    assert_eq!(block_behind(&made.grid, block.nj - 1), Some(block.clone()));
    assert_eq!(block_behind(&Grid::new(Topology::C { wake: 8 }, 49, 9), 8), None);
    let line = |i: usize| less(block.point(i, block.nj - 1), block.point(i, 0));
    for i in 0..block.ni {
        for j in 1..block.nj {
            let step = less(block.point(i, j), block.point(i, j - 1));
            assert!(turn(step, line(i)).abs().to_degrees() < 1e-4, "{i} {j}");
        }
    }
}

#[test]
fn coarser_grids_of_a_family_have_their_block_too() {
    let case = around(SECTIONS[3].1, "", "ni = 129\nnj = 49\nfirst_cell = 1e-4\nbase_cells = 32");

    let made = family(&case, 2).unwrap();
    let odd =
        family(&around(SECTIONS[3].1, "", "ni = 129\nnj = 49\nbase_cells = 34"), 3).err().unwrap();

    assert!(made.made.is_good());
    for size in ["129x49", "65x25"] {
        for name in ["mesh.around.vts", "mesh.behind.vts", "mesh.vtm"] {
            assert!(made.folder.path().join(size).join(name).exists(), "{size} {name}");
        }
    }
    assert!(odd.to_string().contains("grid.base_cells"), "{odd}");
}

#[test]
fn files_hold_both_blocks_with_the_same_bits_on_their_links() {
    let keys = "ni = 65\nnj = 25\nfirst_cell = 1e-3\nwake = 16\nbase_cells = 8\n[output]\npictures = false\n\
                formats = [\"vts\", \"plot3d\", \"cgns\", \"openfoam\", \"su2\", \"msh\"]\nplot3d_encoding = \"stream\"";
    let case = around(SECTIONS[3].1, "angle = 3\nchord = 1.7", keys);

    let Family { made, folder } = family(&case, 1).unwrap();

    let text = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    let [around, behind] =
        ["around", "behind"].map(|name| read(&folder, &format!("mesh.{name}.vts")));
    assert_eq!(assert_linked(made.grid.boundary(), &around, &behind), 2 * 17);
    let su2 = text("mesh.su2");
    // Both blocks without the links, whose ends are the corners of the base.
    assert!(su2.contains(&format!("NPOIN= {}", 65 * 25 + 17 * 9 - 2 * 17)));
    assert!(su2.contains("MARKER_TAG= base\nMARKER_ELEMS= 8\n"));
    assert!(text("su2.cfg").contains("MARKER_EULER= ( airfoil, base )"));
    let patch = "base\n    {\n        type wall;\n        nFaces 8;";
    assert!(text("openfoam/constant/polyMesh/boundary").contains(patch));
    assert!(text("openfoam/0/U").contains("\"(airfoil|base)\" { type slip; }"));
    assert!(text("mesh.msh").contains("\"base\""));
    let map = text("mesh.nmf");
    for line in
        ["1  5   1 2   1 17      2  5   1 2   17 1", "1  5   1 2   49 65      2  6   1 2   1 17"]
    {
        assert!(map.contains(line), "{map}");
    }
    let plot3d: Vec<i32> =
        bytes("mesh.p3d")[..28].as_chunks().0.iter().map(|b| i32::from_le_bytes(*b)).collect();
    assert_eq!(plot3d, [2, 65, 25, 2, 17, 9, 2]);
    let cgns = bytes("mesh.cgns");
    for name in ["around", "behind", "interface_first", "interface_last", "base"] {
        assert!(cgns.windows(name.len()).any(|part| part == name.as_bytes()), "{name}");
    }
    assert!(text("mesh.vtm").contains(r#"name="behind" file="mesh.behind.vts""#));
}
