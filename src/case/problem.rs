//! The problem of a grid: the settled case, the points of its wall, and what follows from them without a backend,
//! such as findings on cells that grow by more than flow solvers take, and the keys that lessen the growth.

use super::points::FEW_POINTS;
use super::{Case, GridOptions, InitialOptions, TopologyChoice, WallPoints};
use crate::geometry::vector::{angle, difference, distance, unit};
use crate::geometry::{
    BoundaryPoints, GeometryError, OffsetLine, corners, open_normals, wall_normals,
};
use crate::grid::initial::{Enclosed, InitialSettings, Outer, Outline, heights_with_wake};
use crate::grid::quality::{CurvedQuality, Quality, growth, worst_cells};
use crate::grid::{
    FamilyError, Grid, Limited, Outside, Symmetry, Topology, Verdict, check_family, cut_corner,
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

/// The growth that remedies of a larger one aim at.
const GOOD: f64 = 1.2;

/// The remedy beside corners of a box, where lines draw together whatever the layers are.
const BOX: (&str, &str) = ("grid.nj", "more layers lessen it, which is largest beside corners");

/// A key and its remedy.
type Remedy = (&'static str, String);

impl Problem {
    /// Findings on the largest growth along i and along j that flow solvers do not take, where the case limits none; with
    /// their places in these blocks, which are in the frame of the problem.
    pub(crate) fn growth_findings(&self, growth: [f64; 2], blocks: &[&Grid]) -> Vec<Finding> {
        if self.case.quality.max_growth.is_some() {
            return Vec::new();
        }
        let most = [(Limited::GrowthAlongI, "i", 2.0), (Limited::GrowthAlongJ, "j", 1.5)];
        let beyond = most.into_iter().zip(growth).filter(|((.., most), growth)| growth > most);
        let finding = |((measure, along, most), growth)| {
            let place = self.place_of(measure, growth, blocks).unwrap_or_default();
            let what =
                format!("cells grow by up to {growth:.2} along {along}, more than {most}{place}");
            let (key, remedy) = self.growth_remedy(measure, growth, GOOD);
            Finding { what, key: key.into(), remedy }
        };
        beyond.map(finding).collect()
    }

    /// The place of the largest growth, in the unit of the files; none of a growth from block to block.
    fn place_of(&self, measure: Limited, value: f64, blocks: &[&Grid]) -> Option<String> {
        let with_nodes = blocks.iter().filter(|grid| !grid.x.is_empty());
        let mut largest = with_nodes.filter_map(|grid| growth(grid)).map(|[along_i, along_j]| {
            if measure == Limited::GrowthAlongI { along_i } else { along_j }
        });
        let found = largest.find(|found| found.largest >= value * (1.0 - 1e-9))?;
        let [x, y] = self.in_files(found.at);
        Some(format!(", at ({x:.4}, {y:.4})"))
    }

    /// The key that lessens a growth, and the value that gives the `wanted` one where it is known.
    pub(crate) fn growth_remedy(&self, measure: Limited, growth: f64, wanted: f64) -> Remedy {
        let remedy = if self.case.cascade.is_some() {
            let corner = "lines part there at a corner of four blocks";
            Some(("cascade", format!("{corner}, whatever their numbers of cells")))
        } else if measure == Limited::GrowthAlongI {
            self.remedy_along_i(growth)
        } else {
            self.remedy_along_j(growth, wanted)
        };
        remedy.unwrap_or_else(|| {
            let none = "no key is known that lessens it; a higher limit lets it pass";
            ("quality.max_growth", none.into())
        })
    }

    fn remedy_along_i(&self, growth: f64) -> Option<Remedy> {
        let (first_cell, lengths) = (self.case.grid.first_cell, self.lengths());
        let shortest = lengths.iter().copied().fold(f64::INFINITY, f64::min);
        if let Some(edge) = self.remedy_at_edge(&lengths) {
            Some(edge)
        } else if self.heights.is_some() {
            let remedy = "heights that vary less from point to point can help";
            Some(("grid.first_cell", remedy.into()))
        } else if first_cell > shortest {
            let remedy = format!("at most {shortest:.1e}, the shortest cell of the wall");
            Some(("grid.first_cell", remedy))
        } else if self.has_outer_wall() {
            Some((BOX.0, BOX.1.into()))
        } else {
            // More points lessen the growth of the line j = 0 itself, not that of the lines off it.
            let of_line = growth - 1.0 < 1.5 * (largest_ratio(&lengths) - 1.0);
            (of_line && self.is_spaced()).then(|| ("grid.ni", "more points lessen it".into()))
        }
    }

    fn remedy_along_j(&self, growth: f64, wanted: f64) -> Option<Remedy> {
        let grid = &self.case.grid;
        // The grid grows faster than the law where lines draw together.
        let law = self.case.layer_law();
        let share = law.growth(grid.nj).map(|found| found.ln() / growth.ln());
        if share.is_some_and(|share| share < 0.5)
            && let Some(edge) = self.remedy_at_edge(&self.lengths())
        {
            return Some(edge);
        }
        if self.enclosed.is_some() {
            return Some((BOX.0, BOX.1.into()));
        }
        let of_law = |share: f64| wanted.powf(share.clamp(0.1, 1.0));
        let points = share.and_then(|share| law.points(of_law(share)));
        match (points, grid.layers) {
            (_, Some(near)) if near.growth > wanted => {
                Some(("grid.layers.growth", format!("at most {wanted}")))
            }
            (Some(nj), _) if nj > grid.nj => {
                let nj = (nj - 1).next_multiple_of(8) + 1;
                Some(("grid.nj", format!("{nj} gives about {wanted}")))
            }
            _ => None,
        }
    }

    /// The remedy for a spacing at the edge that does not go with the cells beside it: those of a base, or, in an O-grid
    /// around a sharp edge, the first cells, which lines from both surfaces reach.
    fn remedy_at_edge(&self, lengths: &[f64]) -> Option<Remedy> {
        let (grid, key) = (&self.case.grid, "grid.trailing_edge_spacing");
        if grid.base_cells.is_some() {
            let apart = self.case.places.has(key) && largest_ratio(lengths) > 2.0;
            return apart
                .then(|| (key, "leave it out, since its default goes with the base".into()));
        }
        let sharp = self.topology.closed() && !self.case.geometry.contour.is_smooth();
        let (first_cell, at_edge) = (grid.first_cell, lengths.first()?.min(*lengths.last()?));
        let high = self.heights.is_none() && first_cell > 0.9 * at_edge;
        (sharp && high && self.is_spaced()).then(|| {
            let remedy = format!("{:.1e}, twice the height of the first cell", 2.0 * first_cell);
            (key, remedy)
        })
    }

    /// Whether the case spaces the points of the wall, which are not those of a file.
    fn is_spaced(&self) -> bool {
        self.case.grid.wall_points == WallPoints::Spaced
    }

    /// Lengths of the cells of the line j = 0.
    fn lengths(&self) -> Vec<f64> {
        self.points.line.windows(2).map(|ends| distance(ends[0], ends[1])).collect()
    }
}

/// The largest ratio of neighbouring lengths, the longer over the shorter.
fn largest_ratio(lengths: &[f64]) -> f64 {
    let ratio = |pair: &[f64]| (pair[0] / pair[1]).max(pair[1] / pair[0]);
    lengths.windows(2).map(ratio).fold(1.0, f64::max)
}
