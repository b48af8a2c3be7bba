//! The hyperbolic march.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::initial_grid;
use gridgen::geometry::{OffsetLine, open_normals, spacing_geometric};
use gridgen::grid::Grid;
use gridgen::grid::initial::{InitialMethod, Outer, Outline};
use gridgen::grid::quality::folds;

use super::{Subject, grid_to_host};
use support::linear::apart;
use support::walls::{FAR_FIELD, WallPoints};

/// A wall whose cut rises with this slope.
fn inclined(mut wall: WallPoints, slope: f64) -> WallPoints {
    wall.line.iter_mut().for_each(|[x, y]| *y += slope * (*x - 1.0).max(0.0));
    wall.normals = open_normals(&wall.line);
    wall
}

/// The march gives the host's grid on sharp, concave and smooth walls, on rings with more and fewer points
/// than the threads of a block (no power of two), and on the open lines of C-grids with straight and inclined
/// cuts.
pub fn the_march_gives_the_grid_of_the_host<S: Subject>(subject: &S) {
    let walls = [
        (WallPoints::naca("0012", 65), 33, 1e-3),
        (WallPoints::naca("4412", 131), 17, 1e-5),
        (WallPoints::naca("2412", 20), 33, 1e-3),
        (WallPoints::naca("0012", 9), 9, 1e-2),
        (WallPoints::ellipse(0.2, 98), 33, 1e-4),
        (WallPoints::naca("0012", 1101), 9, 1e-2),
        (WallPoints::naca_with_wake("0012", 113, 24), 33, 1e-4),
        (WallPoints::naca_with_wake("4412", 98, 17), 33, 1e-6),
        (WallPoints::naca_with_wake("2412", 1200, 200), 9, 1e-2),
        (inclined(WallPoints::naca_with_wake("2412", 113, 24), 0.3), 33, 1e-4),
        (inclined(WallPoints::naca_with_wake("0012", 98, 17), -0.2), 17, 1e-4),
    ];
    // Heights that vary tenfold along the wall, and are the same on both sides of a seam.
    let wave =
        |i: usize, n: usize| (std::f64::consts::PI * i as f64 / (n - 1) as f64).sin().powi(2);
    let varied = |wall: &WallPoints, least: f64| -> Vec<f64> {
        let n = wall.line.len();
        (0..n).map(|i| least * 10_f64.powf(wave(i, n))).collect()
    };
    let both = walls.into_iter().flat_map(|(wall, nj, first_cell)| {
        let ways: &[(bool, bool)] = &[(false, true), (false, false), (true, true)];
        let ways = &ways[..if (10..200).contains(&wall.line.len()) { 3 } else { 1 }];
        ways.iter().map(move |way| (wall.clone(), nj, first_cell, *way))
    });
    for (wall, nj, first_cell, (varies, smooths)) in both {
        let layers = spacing_geometric(nj, first_cell, FAR_FIELD).unwrap();
        let heights = varies.then(|| varied(&wall, first_cell));
        let outline = wall.outline(&layers, Outer::Circle(FAR_FIELD));
        let outline = Outline { heights: heights.as_deref(), ..outline };
        let mut settings = wall.settings(InitialMethod::Hyperbolic);
        if !smooths {
            settings.volume_smoothing = 0.0;
        }

        let host = initial_grid(&CpuBackend, &outline, &settings).unwrap();
        let other = initial_grid(subject, &outline, &settings).unwrap();

        // From nine points the march does not arrive.
        let arrives = host.method == InitialMethod::Hyperbolic;
        assert_eq!(arrives, wall.line.len() > 9, "{:?}", host.notes);
        assert_eq!((host.method, &host.notes), (other.method, &other.notes));
        let Grid { x, y, .. } = grid_to_host(subject, &other.grid, &host.grid);
        for (k, (host, other)) in [(&host.grid.x, x), (&host.grid.y, y)].into_iter().enumerate() {
            let worst = apart(host, &other);
            assert!(
                worst < 1e-9 * FAR_FIELD,
                "{} points, component {k}: {worst:e}",
                wall.line.len()
            );
            let repeats = |row: &[f64]| row[0].to_bits() == row[row.len() - 1].to_bits();
            let closed = wall.topology.closed();
            assert!(!closed || other.chunks(wall.line.len()).all(repeats), "the seam is one line");
        }
    }
}

pub fn the_march_ends_on_an_offset_line<S: Subject>(subject: &S) {
    let walls = [
        (WallPoints::naca("4412", 131), 17, 1e-4, 0.3),
        (WallPoints::naca("0012", 65), 33, 1e-3, 0.1),
        (WallPoints::ellipse(0.2, 98), 20, 1e-3, 1.0),
    ];
    for (wall, nj, first_cell, distance) in walls {
        let line = OffsetLine::around(&wall.line, distance).unwrap();
        let layers = spacing_geometric(nj, first_cell, distance).unwrap();
        let outline = wall.outline(&layers, Outer::Offset(&line));
        let settings = wall.settings(InitialMethod::Hyperbolic);

        let host = initial_grid(&CpuBackend, &outline, &settings).unwrap();
        let other = initial_grid(subject, &outline, &settings).unwrap();

        let ni = wall.line.len();
        let found = grid_to_host(subject, &other.grid, &host.grid);
        let off = support::grids::distance(&host.grid, &found);
        assert!(off < 1e-11, "{ni} points: {off:e}");
        let projection = line.projection();
        for i in 0..ni {
            let point = found.point(i, nj - 1);
            let [x, y] = projection.nearest(point);
            let off = (x - point[0]).hypot(y - point[1]);
            assert!(off < 1e-13, "point {i} of {ni} is {off:e} off the line");
        }
        let seam = [0, ni - 1].map(|i| found.point(i, nj - 1).map(f64::to_bits));
        assert_eq!(seam[0], seam[1], "the seam is one line");
    }
}

pub fn folded_cells_of_a_grid_are_counted<S: Subject>(subject: &S) {
    let wall = WallPoints::naca("4412", 131);
    let mut grid = wall.initial(InitialMethod::Hyperbolic, 17, 1e-3).grid;
    for (k, wrong) in [(40, 7.0), (700, -3.0), (1500, f64::NAN), (131 * 17 - 5, 100.0)] {
        grid.x[k] = wrong;
    }
    let expected = folds(&grid);
    assert!(expected > 4, "{expected}");

    let found = subject.folded_cells(&subject.take(grid).unwrap());

    assert_eq!(found, expected);
}
