//! The problem of a grid: the settled case, the points of its wall, and what follows from them without a backend.

use super::along::FEW_POINTS;
use super::{Case, GridOptions, InitialOptions, TopologyChoice};
use crate::geometry::vector::{angle, difference, distance, unit};
use crate::geometry::{
    BoundaryPoints, GeometryError, OffsetLine, corners, open_normals, wall_normals,
};
use crate::grid::initial::{Enclosed, InitialSettings, Outer, Outline, heights_with_wake};
use crate::grid::quality::{CurvedQuality, Quality, worst_cells};
use crate::grid::{
    FamilyError, Grid, Outside, Symmetry, Topology, Verdict, check_family, cut_corner,
};
use crate::overset::Finding;
use crate::pde::control::Base;
use crate::solver::NewtonStop;

/// Turn of the wall that counts as a corner where the case says of none, degrees.
const CORNER: f64 = 30.0;

/// The problem of a grid: the line j = 0, how the grid leaves it, and the settings of all that follows.
///
/// Lengths are in chords, in the frame of the grid, in which the far field is a circle about (0.5, 0);
/// [`Problem::place`] brings a grid to where the body is. A problem from data is the problem of a case with
/// other points and normals.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// The case with every default, those among them that its section decides: how wide the base is,
    /// whether `auto` is an O or a C, what turn of the wall the points allow. It makes the same
    /// grid, and goes on doing so where defaults change. Its sections are the settings.
    pub case: Case,
    /// Topology of the grid that is solved for; of half a grid that of the whole.
    pub topology: Topology,
    /// The symmetry of a half grid.
    pub half: Option<Symmetry>,
    /// Points of the line j = 0.
    pub points: BoundaryPoints,
    /// Outward unit normals of these points.
    pub normals: Vec<[f64; 2]>,
    /// Heights of the first cells at these points, where they vary along the wall or to a height at the outflow.
    pub heights: Option<Vec<f64>>,
    /// Distance of each layer from the wall, rising from 0.
    pub layers: Vec<f64>,
    /// The outer line, where it is not the circle of the far field.
    pub outer: Option<OffsetLine>,
    /// The outer line, where it is a box.
    pub enclosed: Option<Enclosed>,
    /// Corners of the passage of a cascade on the outer line.
    pub corners: Option<[usize; 4]>,
    /// Translation of a point of the grid to the place of the body, before the chord is scaled.
    pub shift: [f64; 2],
    /// Length of the wedge that closes a base, where there is one.
    pub wedge: Option<f64>,
    /// Repairs of the section and choices made for it, one sentence each.
    pub notices: Vec<String>,
}

impl Problem {
    pub(super) fn new(
        mut case: Case,
        topology: Topology,
        (points, body): (BoundaryPoints, Option<Vec<f64>>),
        shift: [f64; 2],
        notices: Vec<String>,
    ) -> Result<Self, GeometryError> {
        let half = (case.grid.topology == TopologyChoice::Half)
            .then(|| Symmetry::of_line(&points.line))
            .transpose()?;
        let GridOptions { nj, reach, first_cell, wake_first_cell: outflow, .. } = case.grid;
        let heights = (body.is_some() || outflow.is_some()).then(|| {
            let height = |i: usize| body.as_ref().map_or(first_cell, |heights| heights[i]);
            heights_with_wake(topology, &points.line, height, outflow)
        });
        let (wall, order) = (topology.wall(points.line.len()), case.output.curved_order);
        if let Some(point) = cut_corner(&points.line, &wall, order) {
            return Err(GeometryError::CornerInSide { point, order });
        }
        let layers = case.layer_law().distances(nj)?;
        let outer = reach.map(|reach| OffsetLine::around(&points.line, reach)).transpose()?;
        let normals = if topology.closed() { wall_normals } else { open_normals };
        let mut normals = normals(&points.line);
        if let Topology::Blunt { wake } = topology {
            // Lines pass through the interfaces in the direction of those of the block between them.
            let (wall, last) = (&points.line, points.line.len() - 1);
            for i in 0..wake {
                normals[i] = unit(difference(wall[i], wall[last - i]));
                normals[last - i] = normals[i].map(|c| -c);
            }
        }
        let enclosed = case.domain.as_ref().map(|domain| {
            if !topology.closed() {
                // The ends of the lines are in the plane of the outlet.
                let last = normals.len() - 1;
                (normals[0], normals[last]) = ([0.0, -1.0], [0.0, 1.0]);
            }
            let near = case.grid.layers.map(|near| (near.count, near.growth));
            domain.around(topology, &points.line, normals[0], first_cell, (order, near))
        });
        let enclosed = enclosed.transpose()?;
        let near =
            case.domain.as_ref().is_some_and(|domain| domain.is_near(topology, &points.line));
        case.control.base.get_or_insert(if near { Base::Laplace } else { Base::Marched });
        let corners = case.settle_passage(&points.line, &normals, &layers)?;
        Ok(Self {
            case,
            topology,
            half,
            points,
            normals,
            heights,
            layers,
            outer,
            enclosed,
            corners,
            shift,
            wedge: None,
            notices,
        })
    }

    /// Points of the grid that is solved for, in i and j.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.points.line.len(), self.layers.len()]
    }

    /// The data that the initial grid starts from.
    pub(crate) fn outline(&self) -> Outline<'_> {
        Outline {
            points: &self.points.line,
            normals: &self.normals,
            layers: &self.layers,
            outer: match (&self.outer, &self.enclosed) {
                (_, Some(enclosed)) => Outer::Enclosed(enclosed),
                (Some(line), None) => Outer::Offset(line),
                (None, None) => Outer::Circle(self.case.grid.far_field),
            },
            heights: self.heights.as_deref(),
            topology: self.topology,
        }
    }

    pub(crate) fn initial_settings(&self) -> InitialSettings {
        let InitialOptions { method, dissipation, volume_smoothing, spread } = self.case.initial;
        // A settled case has all of them.
        let [dissipation, volume_smoothing, spread] =
            [dissipation, volume_smoothing, spread].map(Option::unwrap_or_default);
        let margin = self.case.control.reach(self.topology.columns(self.points.line.len()));
        InitialSettings { method, dissipation, volume_smoothing, spread, margin }
    }

    /// Whether the outer line has first cells of a given height.
    pub(crate) fn has_outer_wall(&self) -> bool {
        self.enclosed.as_ref().is_some_and(|enclosed| enclosed.wall.is_some())
    }

    /// The sides of the box around the grid, if there is one.
    pub(crate) fn outside(&self) -> Option<Outside> {
        Some(self.enclosed.as_ref()?.outside.clone())
    }

    /// Memory for the finished grid.
    pub(crate) fn unset_grid(&self) -> Grid {
        let [ni, nj] = self.size();
        match self.half {
            Some(half) => Grid::unset(Topology::Half(half), half.kept(ni).count(), nj),
            None => Grid::unset(self.topology, ni, nj),
        }
    }

    /// Brings a finished grid to where the body is, in the unit of the files.
    pub fn place(&self, grid: &mut Grid) {
        grid.place(self.shift, self.case.geometry.length());
    }

    /// Findings on a wedge longer than 1 %, and on few points beside a long wake, by their keys after `within`.
    pub(crate) fn findings(&self, within: &str) -> Vec<Finding> {
        let name = &self.case.name;
        let wedge = self.wedge.filter(|length| *length > 0.01).map(|length| Finding {
            what: format!("{name}: a wedge makes the section {:.1} % longer", 100.0 * length),
            key: [within, "geometry.trailing_edge"].concat(),
            remedy: "\"sharp\" keeps the chord, grid.topology = \"O\" the base".into(),
        });
        let few = self.case.beside_wake().filter(|points| *points < FEW_POINTS);
        let few = few.map(|points| Finding {
            what: format!("{name}: the wake leaves {points} points to the section"),
            key: [within, "grid.wake"].concat(),
            remedy: format!(
                "add {} to grid.ni, or give points_upper and points_lower",
                FEW_POINTS - points
            ),
        });
        wedge.into_iter().chain(few).collect()
    }

    /// The verdict on a grid, and on the curved cells that its case asks for.
    pub(crate) fn verdict(
        &self,
        stop: NewtonStop,
        quality: &Quality,
        curved: Option<&CurvedQuality>,
    ) -> Verdict {
        let verdict = self.case.quality.verdict(stop, quality);
        match curved {
            Some(&CurvedQuality { folded_cells: cells, order, at, .. }) if cells > 0 => {
                verdict.and(Verdict::FoldedCurved { cells, order, at })
            }
            _ => verdict,
        }
    }

    /// The quality of the curved cells of linked blocks in the frame of this problem, where the case asks for them; the
    /// place of the worst is that in the files. None of blocks without nodes.
    pub(crate) fn curved_quality(&self, blocks: &[&Grid]) -> Option<CurvedQuality> {
        let order = self.case.output.curved_order;
        (order > 1 && !blocks[0].x.is_empty()).then(|| {
            let measured = CurvedQuality::of_blocks(blocks, order);
            CurvedQuality { at: self.in_files(measured.at), ..measured }
        })
    }

    /// A place in the grid as the files have it.
    pub(super) fn in_files(&self, at: [f64; 2]) -> [f64; 2] {
        let chord = self.case.geometry.length();
        [0, 1].map(|c| chord * (at[c] + self.shift[c]))
    }

    /// Whether the grid is the finest of a family of `grids`, and all members have the corners of a base.
    pub(crate) fn check_family(&self, grids: u32) -> Result<(), FamilyError> {
        let Case { grid, output, .. } = &self.case;
        let behind = matches!(self.topology, Topology::Blunt { .. });
        let base = grid.base_cells.filter(|_| behind).unwrap_or(0);
        let size = [grid.ni, grid.nj, base];
        let stride = check_family(self.topology, size, grids, output.curved_order)?;
        if self.corners.is_some() && grids > 1 {
            return Err(FamilyError::Cascade);
        }
        let mut columns = self.enclosed.iter().flat_map(|enclosed| &enclosed.corners);
        if let Some(&cells) = columns.find(|corner| *corner % stride > 0) {
            let what = "the column of a corner of the box";
            return Err(FamilyError::Divisible { grids, stride, what, cells });
        }
        let BoundaryPoints { line, base_cells } = &self.points;
        let kept = self.half.map_or(0..=line.len() - 1, |symmetry| symmetry.kept(line.len()));
        match cut_corner(line, &kept, stride) {
            Some(point) if *base_cells > 0 => Err(FamilyError::Corner { grids, stride, point }),
            _ => Ok(()),
        }
    }

    /// Says where the worst cell of a grid in this frame is, and the nearest corner of the wall but its edge, if it has any.
    pub(crate) fn worst_corner(&self, grid: &Grid) -> Option<String> {
        let (line, base) = (&self.points.line, self.points.base_cells / 2);
        let wall = self.topology.wall(line.len());
        let wall = &line[wall.start() + base..=wall.end() - base];
        let worst = (!grid.x.is_empty()).then(|| worst_cells(grid, 1).pop()).flatten()?;
        let away = |k: &usize| distance(wall[*k], worst.centre);
        let corner = corners(wall, self.case.geometry.corners.unwrap_or(CORNER))
            .into_iter()
            .min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let step = |k: usize| difference(wall[k + 1], wall[k]);
        let turn = angle(step(corner - 1), step(corner)).abs();
        let placed = |at: [f64; 2]| {
            let [x, y] = self.in_files(at);
            format!("({x:.4}, {y:.4})")
        };
        Some(format!(
            "the worst cell is at {}; the nearest corner of the wall, at {}, turns by {:.0} degrees",
            placed(worst.centre),
            placed(wall[corner]),
            turn.to_degrees()
        ))
    }
}
