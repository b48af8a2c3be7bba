//! From a case to the points, normals and layers that a grid starts from.

use super::section::{Body, SmoothWall, made, named, smooth_wall};
use crate::case::defaults::{BASE_CELLS, Wall};
use crate::case::{Case, Topology as Choice};
use crate::geometry::{
    Airfoil, BaseCells, BoundaryPoints, GeometryError, SectionMeasures, SurfaceSettings,
    TrailingEdge, WakeSettings, distribute, edge_closes, open_normals, set_angle,
    spacing_geometric, wall_normals, with_wake,
};
use crate::grid::initial::{InitialSettings, Outline};
use crate::grid::{Asymmetry, FamilyError, Grid, Symmetry, Topology, check_family};

/// Angle of the trailing edge from which it is round rather than sharp, degrees.
const ROUND_EDGE: f64 = 90.0;

/// Turn of the wall that is a corner of a base and not a sparsely pointed nose, degrees.
const BASE_CORNER: f64 = 45.0;

/// The line j = 0 and what the march needs beside it.
pub(super) struct Layout {
    wall: Wall,
    pub(super) topology: Topology,
    x: Vec<f64>,
    y: Vec<f64>,
    pub(super) normals: Vec<[f64; 2]>,
    layers: Vec<f64>,
    /// The case with every default in place.
    pub(super) case: Case,
    /// Whether the edge is a base or cap.
    base: bool,
    /// The symmetry by which half of the grid is kept.
    pub(super) half: Option<Symmetry>,
    /// What brings a point of the grid to where the body is.
    pub(super) shift: [f64; 2],
    /// What was repaired in the section or chosen for it, one sentence each.
    pub(super) notices: Vec<String>,
}

impl Layout {
    /// Reads the section, or takes `airfoil` in its place, and places the points of the line j = 0.
    ///
    /// # Errors
    ///
    /// The section cannot be meshed as the case says.
    pub(super) fn new(case: &Case, airfoil: Option<&Airfoil>) -> Result<Self, GeometryError> {
        Self::whole(case, airfoil).map_err(|error| match error {
            // The case counts the points of a half.
            GeometryError::TooFewForTurns { ni, max_turn_deg, least }
                if case.grid.topology == Choice::Half =>
            {
                let half = |around: usize| around / 2 + 1;
                GeometryError::TooFewForTurns { ni: half(ni), max_turn_deg, least: half(least) }
            }
            error => error,
        })
    }

    /// The same; points are those of a whole grid.
    fn whole(case: &Case, airfoil: Option<&Airfoil>) -> Result<Self, GeometryError> {
        if let Some(airfoil) = airfoil {
            return Self::of_airfoil(case, Airfoil { notes: Vec::new(), ..airfoil.clone() });
        }
        let mut case = case.clone();
        match made(&mut case.geometry)? {
            Body::Airfoil(airfoil) => Self::of_airfoil(&case, airfoil),
            Body::Smooth(contour) => {
                if case.grid.topology == Choice::Half {
                    contour.check_symmetry()?;
                }
                let wall =
                    Wall { cut: false, edge: false, sharp: false, cells: case.grid.around() - 1 };
                let seam = case.grid.held_or_periodic(wall);
                let SmoothWall { points, max_turn_deg, shift, notices } =
                    smooth_wall(&case, contour)?;
                case.grid.max_turn = Some(max_turn_deg);
                let layout =
                    Self::of_points(case.settled(wall), wall, Topology::O(seam), points, notices)?;
                Ok(Self { shift, ..layout })
            }
        }
    }

    /// Of a section with a trailing edge.
    fn of_airfoil(case: &Case, mut airfoil: Airfoil) -> Result<Self, GeometryError> {
        let (geometry, grid) = (&case.geometry, &case.grid);
        let mut trailing_edge = geometry.trailing_edge;
        let mut notices = named(&geometry.contour, std::mem::take(&mut airfoil.notes));
        let closes = edge_closes(&airfoil, trailing_edge);
        let wake = match grid.topology {
            Choice::O | Choice::Half => None,
            Choice::C => grid.wake,
            Choice::Auto if !closes => None,
            Choice::Auto => {
                let angle = SectionMeasures::of(&airfoil)?.edge_angle_deg;
                grid.wake.filter(|_| angle < ROUND_EDGE)
            }
        };
        let chosen = trailing_edge == TrailingEdge::Wedge
            && geometry.edge_thickness.is_some()
            && !case.places.has("geometry.trailing_edge");
        if wake.is_some() && (!closes || chosen) {
            trailing_edge = TrailingEdge::Wedge;
            notices.push(
                "the base is closed by a wedge behind it: the cut of a C-grid begins at one point"
                    .into(),
            );
        }
        let ni = grid.around() - wake.map_or(0, |wake| 2 * wake.cells);
        let sharp = closes || wake.is_some();
        let wall = Wall { cut: wake.is_some(), edge: true, sharp, cells: ni - 1 };
        let topology = match wake {
            Some(wake) => Topology::C { wake: wake.cells },
            None => Topology::O(grid.held_or_periodic(wall)),
        };
        let [leading_edge_spacing, trailing_edge_spacing] = grid.spacing(wall);
        let settings = SurfaceSettings {
            ni,
            leading_edge_spacing,
            trailing_edge_spacing,
            trailing_edge,
            base_cells: grid.base_cells.map_or(BASE_CELLS, BaseCells::Exactly),
            max_turn_deg: grid.turn(wall),
        };
        let mut points = distribute(&airfoil, &settings)?;
        let mut settled = case.clone().settled(wall);
        settled.geometry.trailing_edge = trailing_edge;
        if points.base_cells > 0 {
            settled.grid.base_cells = Some(points.base_cells);
        }
        set_angle(&mut points, geometry.angle);
        if let Some(wake) = wake {
            let settings = WakeSettings {
                cells: wake.cells,
                length: wake.length,
                direction_deg: wake.direction,
                spacing: settings.trailing_edge_spacing,
            };
            points = with_wake(&airfoil, &points, &settings)?;
        }
        Self::of_points(settled, wall, topology, points, notices)
    }

    /// Of the points of the line j = 0, which are those of the settled case.
    fn of_points(
        case: Case,
        wall: Wall,
        topology: Topology,
        points: BoundaryPoints,
        notices: Vec<String>,
    ) -> Result<Self, GeometryError> {
        let grid = &case.grid;
        let normals = if topology.closed() { wall_normals } else { open_normals };
        let unsymmetric = |Asymmetry { at: [x, y], by }| GeometryError::NotSymmetric { x, y, by };
        let half = (grid.topology == Choice::Half)
            .then(|| Symmetry::of_line(&points.x, &points.y).map_err(unsymmetric))
            .transpose()?;
        Ok(Self {
            wall,
            topology,
            half,
            normals: normals(&points.x, &points.y),
            base: points.base_cells > 0,
            x: points.x,
            y: points.y,
            layers: spacing_geometric(grid.nj, grid.first_cell, grid.far_field)?,
            case,
            shift: [0.0; 2],
            notices,
        })
    }

    /// Whether the grid is the finest of a family of so many, corners of a base kept in all.
    pub(super) fn check_family(&self, case: &Case, grids: u32) -> Result<(), FamilyError> {
        check_family(self.topology, case.grid.ni, case.grid.nj, grids)?;
        let stride = 1 << grids.saturating_sub(1);
        let last = self.x.len() - 1;
        let kept = self.half.map_or(0..=last, |symmetry| symmetry.kept(last + 1));
        let corner = (1..last)
            .filter(|&i| kept.contains(&i) && self.base && self.turn_deg(i) > BASE_CORNER)
            .map(|i| i - kept.start())
            .find(|point| point % stride > 0);
        match corner {
            Some(point) => Err(FamilyError::Corner { grids, stride, point }),
            None => Ok(()),
        }
    }

    /// Turn of the line at an inner point, in degrees.
    fn turn_deg(&self, i: usize) -> f64 {
        let step = |i: usize| [self.x[i + 1] - self.x[i], self.y[i + 1] - self.y[i]];
        let (a, b) = (step(i - 1), step(i));
        (a[0] * b[1] - a[1] * b[0]).atan2(a[0] * b[0] + a[1] * b[1]).abs().to_degrees()
    }

    /// The symmetry that is restored in a grid that did or did not converge.
    pub(super) fn symmetry(&self, converged: bool) -> Option<Symmetry> {
        self.half.or_else(|| Symmetry::of_line(&self.x, &self.y).ok().filter(|_| converged))
    }

    /// Room for the finished grid of `nj` lines around the body.
    pub(super) fn room(&self, nj: usize) -> Grid {
        let ni = self.x.len();
        match self.half {
            Some(half) => Grid::unset(Topology::Half(half), half.kept(ni).count(), nj),
            None => Grid::unset(self.topology, ni, nj),
        }
    }

    pub(super) fn outline(&self) -> Outline<'_> {
        Outline {
            x: &self.x,
            y: &self.y,
            normals: &self.normals,
            layers: &self.layers,
            far_field: self.case.grid.far_field,
            topology: self.topology,
        }
    }

    /// Settings of the initial grid of a case on this layout.
    pub(super) fn initial(&self, case: &Case) -> InitialSettings {
        case.initial.settings(self.wall, case.grid.first_cell)
    }
}
