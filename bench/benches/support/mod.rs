//! The workload of all benchmarks: `cases/naca0012.toml` at a given size.

#![allow(clippy::expect_used, reason = "a benchmark without its workload has nothing to measure")]
// Each benchmark uses a part of this module.
#![allow(dead_code, unreachable_pub)]

use std::path::Path;

use gridgen::case::Case;
use gridgen::elliptic::EllipticSettings;
use gridgen::geometry::{
    BaseCells, SurfaceSettings, airfoil_from_naca, distribute, spacing_geometric, wall_normals,
};
use gridgen::grid::initial::{self, InitialSettings, Outline};
use gridgen::grid::{Grid, Seam, Topology};
use gridgen::pde::control::{ControlSettings, Wall};

/// Section of the workload; must be that of the case file.
const SECTION: &str = "0012";

/// `cases/naca0012.toml` with `ni` × `nj` points.
pub fn case(ni: usize, nj: usize) -> Case {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cases/naca0012.toml");
    let size = [("grid.ni".to_owned(), ni.to_string()), ("grid.nj".to_owned(), nj.to_string())];
    Case::from_file(&path, &size).expect("the case that comes with gridgen is valid")
}

/// Points of the wall, their normals and the distances of the layers.
pub struct WallPoints {
    x: Vec<f64>,
    y: Vec<f64>,
    pub normals: Vec<[f64; 2]>,
    layers: Vec<f64>,
}

impl WallPoints {
    /// The wall of a case.
    pub fn new(case: &Case) -> Self {
        let trailing_edge = case.geometry.trailing_edge;
        let airfoil = airfoil_from_naca(SECTION, trailing_edge).expect("a valid designation");
        let cells = (case.grid.ni - 1) as f64;
        let settings = SurfaceSettings {
            ni: case.grid.ni,
            leading_edge_spacing: case.grid.leading_edge_spacing.unwrap_or(3e-3 * 256.0 / cells),
            trailing_edge_spacing: case.grid.trailing_edge_spacing.unwrap_or(1e-3 * 256.0 / cells),
            trailing_edge,
            base_cells: BaseCells::AtLeast { base: 8, cap: 12 },
            max_turn_deg: 180.0,
        };
        let points = distribute(&airfoil, &settings).expect("a wall of enough points");
        let layers = spacing_geometric(case.grid.nj, case.grid.first_cell, case.grid.far_field)
            .expect("a first cell below the uniform spacing");
        let normals = wall_normals(&points.x, &points.y);
        Self { x: points.x, y: points.y, normals, layers }
    }
}

/// The initial grid of a case.
pub fn initial_grid(case: &Case, wall: &WallPoints) -> Grid {
    let settings = InitialSettings {
        method: case.initial.method,
        dissipation: case.initial.dissipation.unwrap_or(0.2),
        volume_smoothing: case.initial.volume_smoothing.unwrap_or(0.3),
        spread: case.initial.spread.unwrap_or(10.0),
    };
    let outline = Outline {
        x: &wall.x,
        y: &wall.y,
        normals: &wall.normals,
        layers: &wall.layers,
        far_field: case.grid.far_field,
        topology: Topology::O(Seam::Held),
    };
    let initial = initial::build(&outline, &settings);
    assert_eq!(initial.folded, 0, "the initial grid of the workload is folded");
    initial.grid
}

/// What the equations of a case ask of the grid, with the wall terms of `wall`.
pub fn elliptic_settings(case: &Case, wall: Wall) -> EllipticSettings {
    EllipticSettings {
        control: ControlSettings {
            base: case.control.base,
            smoothing: case.control.smoothing,
            smoothing_distance: case.control.smoothing_distance,
            clip: case.control.clip,
        },
        wall,
        first_cell: case.grid.first_cell,
        decay: case.control.decay,
    }
}
