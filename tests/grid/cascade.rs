//! Passages of blade cascades.
#![allow(clippy::float_cmp, reason = "partners are the same bit for bit")]

use std::collections::HashSet;
use std::f64::consts::TAU;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use gridgen::backend::cpu::CpuBackend;
use gridgen::formats::{Format, MeshData, Settings, Span, contents};
use gridgen::generate::{BackendChoice, GridResult, RunOptions, run};
use gridgen::grid::boundary::{Meets, PERIOD, Range, Side, period};
use gridgen::grid::quality::interfaces;
use gridgen::grid::{Grid, SideKind};
use gridgen::pde::EllipticData;
use gridgen::solver::NewtonStop;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;
use support::grids::grid_from;
use support::problems::{NEWTON, loaded, newton};
use support::vectors::{less, turn};

use super::moved_blocks::{BLADE, CHORD};
use super::{assert_heights, make, shipped};

#[path = "../../examples/cascades.rs"]
#[allow(dead_code, unreachable_pub, missing_docs, reason = "a program of its own")]
mod cascades;

/// Both cases, and bounds on the largest skewness, its 99th percentile and its mean: some 5 % above what they have.
const CASES: [(&str, [f64; 3]); 2] =
    [("turbine.toml", [0.63, 0.34, 0.071]), ("compressor.toml", [0.53, 0.26, 0.066])];

fn cascade(name: &str, set: &[(&str, &str)]) -> GridResult {
    let made = make(&shipped(name, set)).unwrap();
    assert!(made.is_good(), "{name} {set:?}: {}", made.verdict);
    made
}

/// One of both cases as it is shipped, solved once.
fn unchanged(name: &str) -> &'static GridResult {
    static MADE: [OnceLock<GridResult>; 2] = [const { OnceLock::new() }; 2];
    let number = CASES.iter().position(|(case, _)| *case == name).unwrap();
    MADE[number].get_or_init(|| cascade(name, &[]))
}

#[test]
fn first_cells_are_exact_and_no_cell_is_folded() {
    for (name, most) in CASES {
        let set = |first_cell| {
            let coarser = [("grid.ni", "173"), ("grid.nj", "25"), ("grid.first_cell", first_cell)];
            cascade(name, &coarser)
        };
        for (first_cell, made) in
            [(1e-4, &set("1e-4")), (1e-5, unchanged(name)), (1e-6, &set("1e-6"))]
        {
            let quality = &made.quality;
            assert_eq!(quality.folded_cells, 0, "{name} {first_cell}");
            assert!(quality.wall_angle_error_max_deg <= 1e-4, "{name} {first_cell}: {quality:?}");
            assert_heights(quality, first_cell, 1e-6, name);
            let skewness = [quality.max_skewness, quality.p99_skewness, quality.mean_skewness];
            let good = skewness.iter().zip(most).all(|(found, most)| *found <= most);
            assert!(good, "{name} {first_cell}: {skewness:?}");
        }
    }
}

/// Blocks, and all pairs of nodes of these ranges, as places in the blocks.
fn pairs(
    blocks: &[&Grid],
    other: impl Fn(&Range) -> Option<gridgen::grid::boundary::Segment>,
) -> Vec<[[f64; 2]; 2]> {
    let ranges = blocks.iter().flat_map(|grid| grid.boundary());
    let of_range = |range: Range| {
        let to = other(&range)?;
        let point = |on: gridgen::grid::boundary::Segment, k| on.point(blocks[on.block], k, 0);
        let all = (0..range.on.count()).map(|k| [point(range.on, k), point(to, k)]);
        Some(all.collect::<Vec<_>>())
    };
    ranges.filter_map(of_range).flatten().collect()
}

/// Nodes on lower ends of the period and their partners.
pub(super) fn partners(blocks: &[&Grid]) -> Vec<[[f64; 2]; 2]> {
    pairs(blocks, |range| {
        let Meets::Partner(patch, to) = range.meets else { return None };
        (patch.name() == "periodic_lower").then_some(to)
    })
}

#[test]
fn partners_are_a_pitch_apart_and_shared_nodes_are_one_bit_for_bit() {
    for (chord, made) in [(1.0, unchanged("compressor.toml")), (CHORD, &*BLADE)] {
        let blocks = made.blocks();
        let pitch = 0.8 * chord;

        let shared = pairs(&blocks, Range::link);
        let apart = partners(&blocks);

        assert_eq!(blocks.len(), 4);
        assert!(shared.len() > 500 && apart.len() > 100, "{} {}", shared.len(), apart.len());
        assert!(shared.iter().all(|[a, b]| a == b));
        assert!(apart.iter().all(|[[ax, ay], [bx, by]]| ax == bx && *by == ay + pitch));
    }
}

/// The angle by which lines turn at each node of the outer line of the O-grid, where another block goes on, degrees.
fn kinks(blocks: &[&Grid]) -> Vec<f64> {
    let outer = blocks[0].boundary().into_iter().filter(|range| range.on.side == Side::Above);
    let mut kinks = vec![f64::INFINITY; blocks[0].ni];
    for range in outer {
        let to = range.link().or(range.partner()).unwrap();
        for k in 0..range.on.count() {
            let [inner, here] = [1, 0].map(|step| range.on.point(blocks[0], k, step));
            let [there, next] = [0, 1].map(|step| to.point(blocks[to.block], k, step));
            let turn = turn(less(here, inner), less(next, there)).abs().to_degrees();
            let node = range.on.node([blocks[0].ni, blocks[0].nj], k)[0];
            kinks[node] = kinks[node].min(turn);
        }
    }
    kinks
}

/// Corners leave as many cells on both sides of a passage.
#[test]
fn lines_and_cells_go_on_across_the_outer_line_of_the_o_grid() {
    for (name, _) in CASES {
        let made = unchanged(name);
        let blocks = made.blocks();

        let kinks = kinks(&blocks);

        let mean = kinks.iter().sum::<f64>() / kinks.len() as f64;
        assert!(mean <= 3.0, "{name}: {mean}");
        assert!(made.quality.max_growth <= 2.2, "{name}: {}", made.quality.max_growth);
        let sizes: Vec<[usize; 2]> = blocks.iter().map(|grid| [grid.ni, grid.nj]).collect();
        let [[around, _], [along, across], [ahead, _], [behind, _]] = sizes[..] else {
            panic!("{sizes:?}")
        };
        // Each cell of the outer line is one of the passage, which has two sides, or of a strip.
        assert_eq!(around - 1, 2 * (along - 1) + (ahead - across) + (behind - across), "{name}");
        assert!(interfaces(&blocks.into_iter().cloned().collect::<Vec<_>>()).len() >= 7);
    }
}

#[test]
fn rows_turn_to_the_angle_that_is_asked_for() {
    for angle in [-50.0_f64, 20.0] {
        let asked = angle.to_string();
        let keys = [("cascade.outlet_angle", &*asked), ("grid.ni", "157"), ("grid.nj", "25")];
        let made = cascade("turbine.toml", &keys);

        let behind = made.blocks()[3];
        let rows = (0..behind.ni - 1).map(|i| {
            let [from, to] = [2, 1].map(|back| behind.point(i, behind.nj - back));
            (to[1] - from[1]).atan2(to[0] - from[0]).to_degrees()
        });
        let mean = rows.clone().sum::<f64>() / rows.clone().count() as f64;
        let off = rows.map(|row| (row - angle).abs()).fold(0.0, f64::max);
        assert!((mean - angle).abs() < 5.0 && off < 12.0, "{angle}: {mean} {off}");
    }
}

/// A wavy strip of `periods` periods of 16 cells, closed with a shift.
fn strip(periods: usize) -> Grid {
    let (cells, rows) = (16, 9);
    grid_from(periods * cells + 1, rows, |i, j| {
        let (t, s) = (i as f64 / cells as f64, j as f64 / (rows - 1) as f64);
        // Off the first and last row the guess is no solution.
        let off = 0.1 * s * (1.0 - s) * (TAU * t).cos();
        [-(1.0 - s) * 0.1 * (TAU * t).sin() - s + off, t + off]
    })
}

fn solved(grid: &Grid, shift: f64) -> Grid {
    let zeros = || vec![0.0; (grid.ni - 1) * (grid.nj - 2)];
    let mut data = EllipticData::of_terms(grid, [zeros(), zeros()], None);
    data.shift = shift;
    let (mut problem, mut u) = loaded(&CpuBackend, &data);
    let of = (Method::Bicgstab, Kind::Multigrid);
    let report = newton(&CpuBackend, &mut problem, &mut u, of, &NEWTON).unwrap();
    assert_eq!(report.stop, NewtonStop::Converged);
    problem.nodes(&CpuBackend, &u, grid.topology).unwrap()
}

#[test]
fn a_strip_that_closes_after_a_pitch_is_half_of_the_strip_doubled() {
    let [one, two] = [1, 2].map(|periods| solved(&strip(periods), periods as f64));

    for (j, i) in (0..one.nj).flat_map(|j| (0..one.ni).map(move |i| (j, i))) {
        let [x, y] = one.point(i, j);
        for period in [0, 1] {
            let [other_x, other_y] = two.point(i + 16 * period, j);
            let error = (x - other_x).abs().max((y + period as f64 - other_y).abs());
            assert!(error < 1e-8, "({i}, {j}): {error:e}");
        }
    }
    // The strip was not what it became.
    let moved = one.x.iter().zip(&strip(1).x).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved > 1e-3, "{moved}");
}

/// The compressor in turbulent flow with its files of five formats, and [`SPANNED`].
fn written() -> &'static (GridResult, PathBuf) {
    static WRITTEN: OnceLock<(GridResult, PathBuf)> = OnceLock::new();
    WRITTEN.get_or_init(|| {
        let set = [
            ("grid.reynolds", "5e5"),
            ("output.formats", "[\"cgns\", \"su2\", \"msh\", \"plot3d\", \"openfoam\"]"),
            ("output.pictures", "false"),
        ];
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("compressor");
        let mut options = RunOptions::new(folder.clone());
        options.backend = BackendChoice::Cpu;
        let case = shipped("compressor.toml", &set).into();
        let made = run(&case, &options, &mut ()).unwrap().into_section();
        assert!(made.is_good(), "{}", made.verdict);
        let span = Some(Span { cells: 2, ..Span::ONE });
        let mesh = MeshData { span, ..MeshData::of_blocks(&made.blocks()) };
        let openfoam = Format::named("openfoam").unwrap();
        openfoam.convert(&folder.join(SPANNED), &mesh, false).unwrap();
        (made, folder)
    })
}

/// A mesh of OpenFOAM with two cells along the span.
const SPANNED: &str = "spanned";

/// A period that is none: the points of its ends are not one vector apart.
#[test]
fn a_row_of_blades_beside_each_other_has_its_period_along_x() {
    let turned = |grid: &&Grid| {
        let y = grid.x.iter().map(|x| -x).collect();
        Grid { x: grid.y.clone(), y, ..Grid::clone(grid) }
    };
    let turned: Vec<Grid> = BLADE.blocks().iter().map(turned).collect();
    let ([lower, upper], vector) = period(&turned.iter().collect::<Vec<_>>()).unwrap();

    assert_eq!([lower.name(), upper.name()], PERIOD);
    assert!((vector[0] / (0.8 * CHORD) - 1.0).abs() < 1e-9 && vector[1] == 0.0, "{vector:?}");
}

#[test]
fn ends_that_are_not_one_vector_apart_are_patches() {
    let (made, _) = written();
    let folder = tempfile::tempdir().unwrap();
    let mut blocks: Vec<Grid> = made.blocks().into_iter().cloned().collect();
    let ahead = &mut blocks[2];
    let k = ahead.index(0, ahead.nj - 3);
    ahead.x[k] += 1e-3;
    let path = folder.path().join("off.cgns");
    let mesh = MeshData::of_blocks(&blocks.iter().collect::<Vec<_>>());
    Format::of_path(&path).unwrap().convert(&path, &mesh, false).unwrap();

    let read = contents(&path).unwrap();

    let notes = read.notes.iter().filter(|note| note.contains("was read as a patch"));
    assert_eq!(notes.count(), 2, "{:?}", read.notes);
    let of_passage = partners(&read.grids.iter().collect::<Vec<_>>()).len();
    assert!(of_passage > 50 && of_passage < partners(&made.blocks()).len(), "{of_passage}");
}

#[test]
fn formats_are_read_as_the_blocks_that_were_written() {
    let (made, folder) = written();
    // The neutral map is read with the mesh of Plot3D.
    for name in ["mesh.su2", "mesh.msh", "mesh.p3d", "openfoam", SPANNED, "mesh.cgns"] {
        let read = contents(&folder.join(name)).unwrap();

        assert_eq!(read.grids.len(), 4, "{name}");
        for (read, own) in read.grids.iter().zip(made.blocks()) {
            assert_eq!((read.ni, read.nj, &read.x, &read.y), (own.ni, own.nj, &own.x, &own.y));
        }
        let links = interfaces(&read.grids);
        assert!(links.len() == 7 && links.iter().all(|link| link.gap == 0.0), "{links:?}");
        let ranges: Vec<_> = read.grids.iter().flat_map(Grid::boundary).collect();
        assert_eq!(ranges.iter().filter(|range| range.is_wall()).count(), 1, "{name}");
        let patches: Vec<_> = ranges.iter().filter_map(Range::patch).collect();
        let count = |kind| patches.iter().filter(|patch| patch.kind() == kind).count();
        let of_ends = [SideKind::Inlet, SideKind::Outlet, SideKind::Periodic].map(Some).map(count);
        assert_eq!((count(None), of_ends), (1, [1, 1, 6]), "{name}: {patches:?}");
        if ["mesh.p3d", "mesh.cgns"].contains(&name) {
            // The names of the blocks put their ranges in the same order.
            let apart = partners(&read.grids.iter().collect::<Vec<_>>());
            assert_eq!(apart, partners(&made.blocks()));
            assert!(apart.iter().all(|[[ax, ay], [bx, by]]| ax == bx && *by == ay + 0.8));
        }
        if name == "mesh.cgns" {
            assert_eq!(read.names, ["blade", "passage", "ahead", "behind"]);
            let patched = read.notes.iter().any(|note| note.contains("read as a patch"));
            assert!(!patched, "{:?}", read.notes);
            let folder = tempfile::tempdir().unwrap();
            let other = folder.path().join("other.cgns");
            Format::of_path(&other).unwrap().convert(&other, &read.data(), false).unwrap();
            assert_eq!(contents(&other).unwrap().grids, read.grids);
        }
    }
}

#[test]
fn set_ups_have_two_periodic_markers_and_relax_turbulent_flow_more() {
    let (_, folder) = written();

    let mesh = fs::read_to_string(folder.join("mesh.su2")).unwrap();
    let setup = fs::read_to_string(folder.join("su2.cfg")).unwrap();

    let count = |tag: &str| {
        let rest = mesh.split(&format!("MARKER_TAG= {tag}\nMARKER_ELEMS= ")).nth(1).unwrap();
        rest.lines().next().unwrap().parse::<usize>().unwrap()
    };
    assert_eq!(count("periodic_lower"), count("periodic_upper"));
    assert!(count("inlet") > 8 && count("outlet") > 8 && count("airfoil") == 220);
    let line =
        "MARKER_PERIODIC= ( periodic_lower, periodic_upper, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0, 0.8";
    assert!(setup.contains(line), "{setup}");
    assert!(setup.contains("MARKER_INLET= ( inlet,") && setup.contains("MARKER_OUTLET= ( outlet,"));
    let solution = fs::read_to_string(folder.join("openfoam/system/fvSolution")).unwrap();
    let relaxation = "fields { p 0.5; }\n    equations { U 0.7; nuTilda 0.6; }";
    assert!(solution.contains(relaxation), "turbulent flow is relaxed more: {solution}");
}

/// Numbers of the lines of a list of OpenFOAM.
fn list(path: &Path) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().filter(|line| line.contains('(') && line.contains(')'));
    let numbers = |line: &str| {
        let inside = line.split(['(', ')']).nth(1).unwrap();
        inside.split_whitespace().map(|number| number.parse().unwrap()).collect()
    };
    lines.map(numbers).collect()
}

#[test]
fn cyclic_faces_of_openfoam_are_partners_in_one_order() {
    for name in ["openfoam", SPANNED] {
        let mesh = written().1.join(name).join("constant/polyMesh");
        let boundary = fs::read_to_string(mesh.join("boundary")).unwrap();
        let [points, faces] = ["points", "faces"].map(|name| list(&mesh.join(name)));

        let patch = |name: &str| {
            let text = boundary.split(&format!("    {name}\n")).nth(1).unwrap();
            assert!(text.contains("type cyclic"), "{text}");
            let number = |word: &str| {
                let rest = text.split(&format!("{word} ")).nth(1).unwrap();
                rest.split(';').next().unwrap().parse::<usize>().unwrap()
            };
            [number("nFaces"), number("startFace")]
        };
        let [[count, lower], [other, upper]] = ["periodic_lower", "periodic_upper"].map(patch);
        assert_eq!(count, other);
        assert!(boundary.contains("separationVector (0e0 8e-1 0)"), "{boundary}");
        for k in 0..count {
            let corners =
                [lower, upper].map(|first| faces[first + k].iter().map(|n| &points[*n as usize]));
            let [here, there] = corners.map(Iterator::collect::<Vec<_>>);
            // One face is seen from below, the other from above: from one corner in opposite directions.
            for (a, b) in here.iter().zip([there[0], there[3], there[2], there[1]]) {
                assert_eq!([a[0], a[1] + 0.8, a[2]], [b[0], b[1], b[2]], "face {k}");
            }
        }
    }
}

#[test]
fn keys_that_do_not_go_with_a_cascade_are_refused_by_name() {
    let curved = ("output.curved_order", "4");
    for (set, key) in [
        (&[("grid.topology", "C")][..], "grid.topology"),
        (&[("grid.far_field", "20")], "grid.far_field"),
        (&[("domain.box", "[-2, 3, -1, 1]")], "domain"),
        (&[("cascade.pitch", "0.1")], "cascade.pitch"),
        // A plane inside of the blade.
        (&[("cascade.outlet_x", "0.7")], "outlet_x"),
        (&[curved, ("cascade.inlet_cells", "30")], "a multiple of 4 for cascade.inlet_cells"),
    ] {
        let refused = match support::cases::shipped("compressor.toml", set) {
            Err(error) => error.to_string(),
            Ok(case) => make(&case).unwrap_err().to_string(),
        };

        assert!(refused.contains(key), "{key}: {refused}");
    }
}

#[test]
fn curved_cells_of_all_blocks_are_measured_and_written() {
    for order in [3, 4] {
        let told = order.to_string();
        let keys = [("output.curved_order", &*told), ("grid.ni", "145"), ("grid.nj", "25")];
        let made = cascade("compressor.toml", &keys);

        let blocks = made.blocks();
        let cells: usize = blocks.iter().map(|block| block.cells()).sum();
        let told = format!("{} cells of order {order}, ", cells / (order * order));
        assert!(made.notices.iter().any(|note| note.starts_with(&told)), "{:?}", made.notices);
        let folder = tempfile::tempdir().unwrap();
        let settings = Settings { curved_order: order, ..Settings::default() };
        let mesh = MeshData { settings, ..MeshData::of_blocks(&blocks) };
        let path = folder.path().join("mesh.msh");
        gridgen::formats::write(&path, &mesh).unwrap();
        // A node that several blocks have is written once.
        let nodes: HashSet<[u64; 2]> = blocks
            .iter()
            .flat_map(|block| block.x.iter().zip(&block.y))
            .map(|(x, y)| [x.to_bits(), y.to_bits()])
            .collect();
        let text = fs::read_to_string(&path).unwrap();
        let head = text.split_once("$Nodes\n").unwrap().1.lines().next().unwrap().to_owned();
        let count: usize = head.split(' ').nth(1).unwrap().parse().unwrap();
        assert_eq!(count, nodes.len(), "order {order}");
    }
}

/// The survey of sixty at their own sizes is `cargo run --release --example cascades`.
#[test]
fn random_blades_become_valid_grids_with_exact_first_cells_or_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut refused = 0;
    for k in 0..6 {
        let blade = cascades::Cascade::random(k, 0.4);

        let outcome = blade.made(folder.path()).unwrap();

        refused += usize::from(outcome.verdict == "refused");
        assert_ne!(outcome.verdict, "failed", "{blade} {outcome}");
        let Some(([least, most], wall_angle)) = outcome.wall() else { continue };
        // The line of the seam is held where the march has put it.
        assert!((0.999..1.002).contains(&least) && most < 1.002, "{blade} {outcome}");
        assert!(wall_angle <= 1e-3, "{blade} {outcome}");
    }
    assert!(refused <= 1, "{refused}");
}
