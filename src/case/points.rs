//! The points that a case asks for: along the wall those of each surface, of the wake and of the file; from the wall
//! on the law of the distances of the layers, and the number of points that a growth takes.

use super::entries::Given;
use super::{
    Case, CaseError, GridOptions, LayersOptions, Places, TopologyChoice, WallPoints, defaults,
};
use crate::geometry::vector::distance;
use crate::geometry::{
    Airfoil, AlongWall, BoundaryPoints, GeometryError, Wake, edge_closes, edge_gap,
    spacing_geometric, spacing_layered, spacing_to_walls, wall_as_given,
};

/// Keys of the points of both surfaces.
const POINTS: [&str; 2] = ["grid.points_upper", "grid.points_lower"];

/// Keys that say how points are spaced, and that change the section: none goes with points as they are given.
const SPACED: [&str; 14] = [
    "grid.points_upper",
    "grid.points_lower",
    "grid.clusters",
    "grid.max_spacing",
    "grid.wall_growth",
    "grid.leading_edge_spacing",
    "grid.trailing_edge_spacing",
    "grid.max_turn",
    "geometry.smooth",
    "geometry.edge_thickness",
    "geometry.corners",
    "geometry.flap",
    "geometry.trailing_edge",
    "grid.refine",
];

/// `grid.ni` where it follows from the points of both surfaces, so far as that is known without the section.
pub(super) fn points_around(
    entries: &Given,
    topology: TopologyChoice,
) -> Result<Option<usize>, CaseError> {
    let [upper, lower] = POINTS.map(|key| entries.given::<usize>(key));
    let (upper, lower) = (upper?, lower?);
    check_as_given(entries, topology)?;
    if topology == TopologyChoice::Half {
        let remedy = "leave them out: half a grid has grid.ni points on its one surface";
        entries.refuse_given(&POINTS, "a grid around both surfaces", remedy)?;
    }
    let (Some(upper), Some(lower), false) = (upper, lower, entries.has("grid.ni")) else {
        return Ok(None);
    };
    let section = upper + lower - 1;
    let wake = match topology {
        TopologyChoice::O | TopologyChoice::Half => 0,
        _ => entries.given("grid.wake")?.unwrap_or_else(|| defaults::wake_beside(section)),
    };
    Ok(Some(section + 2 * wake))
}

/// Refuses keys that do not go with points as they are given.
fn check_as_given(entries: &Given, topology: TopologyChoice) -> Result<(), CaseError> {
    if entries.get::<WallPoints>("grid.wall_points")? == WallPoints::Spaced {
        return Ok(());
    }
    if topology == TopologyChoice::Half
        || !(entries.has("geometry.file") || entries.has("geometry.points"))
    {
        let expected = "the section of geometry.file or points, with an O- or a C-grid around it";
        return Err(entries.refuse(&["grid.wall_points"], expected, "leave grid.wall_points out"));
    }
    let remedy = "leave {key} out: with \"as-given\" the points of the wall are those of the file";
    entries.refuse_given(&SPACED, "grid.wall_points = \"spaced\"", remedy)
}

impl GridOptions {
    /// The limits on the points between the edges, with `upper_cells` on the upper surface.
    pub(super) fn along(&self, upper_cells: Option<usize>) -> AlongWall {
        AlongWall {
            upper_cells,
            clusters: self.clusters.clone().unwrap_or_default(),
            max_spacing: self.max_spacing,
            growth: self.wall_growth,
        }
    }

    /// Puts `ni` and the cells of a base, by default `base`, in place that follow from the points of the surfaces. Returns
    /// the points of the section and the cells of its upper surface, if they are asked for.
    pub(super) fn settle_points(
        &mut self,
        places: &Places,
        wake: Option<Wake>,
        base: Option<usize>,
    ) -> Result<(usize, Option<usize>), GeometryError> {
        let behind = 2 * wake.map_or(0, |wake| wake.cells);
        let given = self.around();
        let (upper, lower) = (self.points_upper, self.points_lower);
        if upper.is_none() && lower.is_none() {
            let section = given.checked_sub(behind).filter(|points| *points > 0);
            return Ok((section.ok_or(GeometryError::WallPoints { ni: given })?, None));
        }
        let known = places.has("grid.ni");
        let both = upper.zip(lower).map(|(upper, lower)| upper + lower - 1);
        let base = base.map(|by_default| {
            // The points that the surfaces leave form a base if their number fits one.
            let rest = both.filter(|_| known).map(|both| given.saturating_sub(behind + both));
            let rest = rest.filter(|cells| *cells >= LEAST_CELLS && cells.is_multiple_of(2));
            self.base_cells.or(rest).unwrap_or(by_default)
        });
        self.base_cells = base.or(self.base_cells);
        let base = base.unwrap_or(0);
        let least = upper.or(lower).unwrap_or(0) + LEAST_CELLS + base + behind;
        let expected = both.map_or(given.max(least), |both| both + base + behind);
        if given != expected && (known || both.is_none()) {
            return Err(GeometryError::PointsDisagree { given, expected, sum: SUM });
        }
        self.ni = expected;
        let cells = expected - behind - 1 - base;
        let upper = upper.map_or_else(|| cells + 1 - lower.unwrap_or(1), |points| points - 1);
        Ok((expected - behind, Some(upper)))
    }
}

/// The points of a grid along the wall.
const SUM: &str = "points_upper + points_lower - 1, + base_cells with a base, + 2 wake on a C-grid";

/// Fewest cells of a surface, and of a base.
const LEAST_CELLS: usize = 4;

/// Points of a section beside a wake that is longer than by default: fewer are a finding.
pub(crate) const FEW_POINTS: usize = 100;

impl Case {
    /// Puts the points of the section in place as those of the wall: `ni` and, by default, the wake follow. Returns the
    /// wall, its wake, and the spacing at the trailing edge.
    pub(super) fn settle_as_given(
        &mut self,
        airfoil: &Airfoil,
        wake: Option<Wake>,
    ) -> Result<(BoundaryPoints, Option<Wake>, f64), GeometryError> {
        let points = wall_as_given(airfoil, self.grid.base_cells, wake.is_some())?;
        let (n, given) = (points.line.len(), self.grid.ni);
        let known = self.places.has("grid.wake");
        let beside = |wake: Wake| {
            if known { wake } else { Wake { cells: defaults::wake_beside(n), ..wake } }
        };
        let wake = wake.map(beside);
        self.grid.wake = wake;
        self.grid.ni = n + 2 * wake.map_or(0, |wake| wake.cells);
        if self.places.has("grid.ni") && given != self.grid.ni {
            let (expected, sum) = (self.grid.ni, "those of the section, + 2 wake on a C-grid");
            return Err(GeometryError::PointsDisagree { given, expected, sum });
        }
        let length = |k: usize| distance(points.line[k], points.line[k + 1]);
        let spacing = 0.5 * (length(0) + length(n - 2));
        Ok((points, wake, spacing))
    }

    /// True if the edge of the section is one point.
    pub(super) fn closes(&self, airfoil: &Airfoil) -> bool {
        match self.grid.wall_points {
            WallPoints::Spaced => edge_closes(airfoil, self.geometry.trailing_edge),
            WallPoints::AsGiven => edge_gap(&airfoil.points) == 0.0,
        }
    }

    /// Points that a given wake, longer than by default, leaves to the section of a settled case.
    pub(crate) fn beside_wake(&self) -> Option<usize> {
        let wake = self.grid.wake.filter(|_| self.grid.topology == TopologyChoice::C)?.cells;
        let fixed = POINTS.iter().any(|key| self.places.has(key));
        let points = self.grid.ni.checked_sub(2 * wake)?;
        let longer = wake > defaults::wake_cells(self.grid.ni, self.grid.ni / 2);
        let spaced = self.grid.wall_points == WallPoints::Spaced;
        (self.places.has("grid.wake") && longer && spaced && !fixed).then_some(points)
    }

    /// A note on a wake that takes points from the section; where it leaves few, that is a finding instead.
    pub(super) fn note_on_wake(&self) -> Option<String> {
        let (points, ni) = (self.beside_wake()?, self.grid.ni);
        (points >= FEW_POINTS).then(|| format!(
            "the wake takes {} of {ni} points and leaves {points} to the section: a larger grid.ni, or points_upper and \
             points_lower, give it more",
            ni - points
        ))
    }
}

/// Fewest and most points from wall to far field.
const LEAST: usize = 5;
const MOST: usize = 1_000_000;

/// The law by which the distances of the layers follow from their number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayerLaw {
    /// Height of the first cell.
    pub(super) first: f64,
    /// Distance of the outer line.
    pub(super) extent: f64,
    /// Layers of a given growth beside the wall.
    pub(super) near: Option<LayersOptions>,
    /// Height of the last cell, where the outer line is a wall.
    pub(super) last: Option<f64>,
}

impl LayerLaw {
    /// Distances of `nj` points from the wall, rising from 0.
    pub(crate) fn distances(&self, nj: usize) -> Result<Vec<f64>, GeometryError> {
        match (self.near, self.last) {
            (None, None) => spacing_geometric(nj, self.first, self.extent),
            (None, Some(last)) => spacing_to_walls(nj, [self.first, last], self.extent),
            (Some(LayersOptions { count, growth }), _) => {
                spacing_layered(nj, self.first, (count, growth), self.extent)
            }
        }
    }

    /// Ratio of neighbouring intervals of `nj` points beyond layers of a given growth; the largest between two walls.
    pub(crate) fn growth(&self, nj: usize) -> Option<f64> {
        if self.last.is_some() {
            let distances = self.distances(nj).ok()?;
            let ratio = |s: &[f64]| ((s[2] - s[1]) / (s[1] - s[0])).ln().abs();
            return Some(distances.windows(3).map(ratio).fold(0.0, f64::max).exp());
        }
        match (&self.distances(nj).ok()?[..], self.near) {
            ([_, a, b, ..], None) => Some((b - a) / a),
            ([.., a, b, c], Some(_)) => Some((c - b) / (b - a)),
            _ => None,
        }
    }

    /// The fewest points whose intervals grow by at most this ratio, up to a million.
    pub(crate) fn points(&self, growth: f64) -> Option<usize> {
        // The growth falls with the number of points, until there are too many for the law.
        let fits = |nj: &usize| self.growth(*nj).is_none_or(|found| found <= growth);
        let mut low = self.near.map_or(0, |near| near.count + 3).max(LEAST);
        let doubled = |nj: &usize| (*nj < MOST).then(|| (2 * nj).min(MOST));
        let mut high = std::iter::successors(Some(low), doubled).find(fits)?;
        while low < high {
            let middle = low.midpoint(high);
            if fits(&middle) { high = middle } else { low = middle + 1 }
        }
        Some(high)
    }
}

impl Case {
    /// The law of the layers, which end at a wall where a side of the box is one.
    pub(crate) fn layer_law(&self) -> LayerLaw {
        let GridOptions { first_cell: first, layers: near, .. } = self.grid;
        let last = self.domain.as_ref().and_then(|domain| domain.wall(first));
        LayerLaw { first, extent: self.grid.extent(), near, last }
    }
}
