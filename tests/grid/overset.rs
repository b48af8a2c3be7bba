//! Backgrounds, and the types of cells, by hand.
#![allow(clippy::float_cmp, reason = "lines of a background stand where they are")]

use std::f64::consts::TAU;

use gridgen::grid::Grid;
use gridgen::overset::{
    Background, CellType, ElementWall, Rim, SearchBox, Zone, ZoneCells, ZoneTypes, cell_types,
};
use support::grids::grid_from;
use support::vectors::largest_growth;

use super::line;

const BACKGROUND: Background =
    Background { spacing: 0.1, margin: 0.2, growth: 1.2, far_field: 3.0 };

#[test]
fn a_background_is_uniform_around_the_elements() {
    let x = BACKGROUND.lines(0.0, 1.0);

    let core: Vec<f64> = x.iter().copied().filter(|x| (-0.2001..=1.2001).contains(x)).collect();
    assert_eq!(core.len(), 15);
    assert!(core.windows(2).all(|w| (w[1] - w[0] - 0.1).abs() < 1e-12), "{core:?}");
    assert!((x[0] + 3.2).abs() < 1e-12 && (x[x.len() - 1] - 4.2).abs() < 1e-12);
    let steps: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    assert!(largest_growth(&steps) < 1.2001, "{steps:?}");
}

/// A core whose width is not a whole number of intervals is widened slightly, equally on both sides.
#[test]
fn the_size_of_a_background_is_known_before_it_is_made() {
    for (low, high) in
        [([0.0, 0.0], [1.0, 1.0]), ([-0.33, 0.1], [2.71, 0.77]), ([5.0, 5.0], [5.001, 9.0])]
    {
        let grid = BACKGROUND.grid(low, high);

        let [ni, nj] = BACKGROUND.size(low, high);
        assert!(grid.ni.abs_diff(ni) <= 1 && grid.nj.abs_diff(nj) <= 1, "{} {}", grid.ni, ni);
        let x = BACKGROUND.lines(low[0], high[0]);
        let ahead = low[0] - x[0];
        let behind = x[x.len() - 1] - high[0];
        assert!((ahead - behind).abs() < 1e-9, "{ahead}, {behind}");
        assert!(ZoneCells::of(&grid).areas.iter().all(|area| *area > 0.0));
    }
}

/// A ring of cells around a circle, clockwise, from radius a to b.
fn ring(centre: [f64; 2], [a, b]: [f64; 2], ni: usize, nj: usize) -> Grid {
    grid_from(ni, nj, |i, j| {
        let r = a + (b - a) * j as f64 / (nj - 1) as f64;
        let (sin, cos) = (-TAU * (i % (ni - 1)) as f64 / (ni - 1) as f64).sin_cos();
        [centre[0] + r * cos, centre[1] + r * sin]
    })
}

fn wall(grid: &Grid) -> ElementWall {
    ElementWall::new(line(grid, 0), false, 0)
}

fn types(zones: &[Zone<'_>], walls: &[ElementWall], gap: f64) -> Vec<ZoneTypes> {
    let cells: Vec<ZoneCells> = zones.iter().map(|zone| ZoneCells::of(zone.grid)).collect();
    cell_types(zones, &cells, walls, &SearchBox::around(walls, gap))
}

fn zone<'a>(name: &'a str, grid: &'a Grid, rim: Rim) -> Zone<'a> {
    Zone { name, grid, rim }
}

/// Cells of a background that lie in the body or touch its wall are holes, with a fringe around them. Only
/// the outermost cells of a ring are interpolated.
#[test]
fn a_body_cuts_its_hole_into_the_background() {
    let ring = ring([0.0, 0.0], [0.5, 1.0], 65, 17);
    let background = Background { spacing: 0.05, ..BACKGROUND }.grid([-1.0; 2], [1.0; 2]);
    let zones = [zone("background", &background, Rim::FarField), zone("body", &ring, Rim::Overset)];

    let found = types(&zones, &[wall(&ring)], f64::INFINITY);

    let cells = ZoneCells::of(&background);
    let radius = |cell: usize| cells.centres[cell][0].hypot(cells.centres[cell][1]);
    for (cell, kind) in found[0].types.iter().enumerate() {
        match kind {
            CellType::Hole => assert!(radius(cell) < 0.6, "{}", radius(cell)),
            CellType::Interpolated => {
                assert!((0.5..0.67).contains(&radius(cell)), "{}", radius(cell));
            }
            CellType::Calculated => assert!(radius(cell) > 0.5, "{}", radius(cell)),
        }
    }
    // The holes have the area π/4 of the body, and that of the cells that touch the wall.
    let holes = found[0].count(CellType::Hole) as f64 * 0.05 * 0.05;
    assert!((0.785..1.1).contains(&holes), "{holes}");
    assert_eq!(found[1].count(CellType::Interpolated), 64);
    assert_eq!(found[1].count(CellType::Hole), 0);
    assert!(found.iter().all(|zone| zone.orphans.is_empty()));
}

/// Without a background, cells outside all other grids are orphans.
#[test]
fn a_rim_beyond_all_other_grids_is_an_orphan() {
    // The far field lies outside the box in which boundaries cut holes.
    let far = ring([0.0, 0.0], [0.5, 2.2], 65, 33);
    let near = ring([1.7, 0.0], [0.1, 0.6], 65, 17);
    let zones = [zone("first", &far, Rim::FarField), zone("second", &near, Rim::Overset)];

    let found = types(&zones, &[wall(&far), wall(&near)], 1.2);

    let cells = ZoneCells::of(&near);
    for cell in zones[1].rim_cells() {
        let [x, y] = cells.centres[cell];
        let orphan = found[1].orphans.contains(&cell);
        // The polygon of the outer line lies slightly inside its circle.
        let r = x.hypot(y);
        assert!(orphan == (r > 2.2) || (r - 2.2).abs() < 5e-3, "{r}: {orphan}");
    }
    // The front advances from there while there is no donor.
    let outside = cells.centres.iter().filter(|[x, y]| x.hypot(*y) > 2.2).count();
    assert!(found[1].orphans.len() >= outside, "{} of {outside}", found[1].orphans.len());
}

/// A donor is taken from the zone with the nearest number, of two equally near from the higher one.
#[test]
fn donors_are_taken_from_the_nearest_zone() {
    let body = ring([0.0, 0.0], [0.3, 1.0], 65, 17);
    let others =
        [0, 1].map(|_| Background { spacing: 0.05, ..BACKGROUND }.grid([-1.0; 2], [1.0; 2]));
    let zones = [
        zone("one", &others[0], Rim::FarField),
        zone("body", &body, Rim::Overset),
        zone("other", &others[1], Rim::FarField),
    ];

    let found = types(&zones, &[wall(&body)], f64::INFINITY);

    assert!(zones[1].rim_cells().all(|cell| found[1].donors[cell].unwrap().0 == 2));
    // The body's own grid has the nearer number of the first and the last zone.
    let cells = ZoneCells::of(&others[0]);
    let inside = cells.centres.iter().position(|[x, y]| (0.5..0.9).contains(&x.hypot(*y))).unwrap();
    assert_eq!(found[0].donors[inside].unwrap().0, 1);
    assert_eq!(found[2].donors[inside].unwrap().0, 1);
}
