//! Heights of the first cells that vary along the wall, and limits on the points between its edges.

use serde::{Deserialize, Serialize};

use super::{BoundaryPoints, GeometryError};

/// Heights of the first cells, chords.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Heights {
    /// One height.
    Same(f64),
    /// A height for each point of the wall, the repeated point counted.
    Points(Vec<f64>),
    /// Points (x/c, height) of both surfaces, x/c rising.
    Along(Vec<[f64; 2]>),
    /// Points (x/c, height) of each surface, x/c rising.
    #[allow(missing_docs, reason = "the surfaces")]
    Surfaces { upper: Vec<[f64; 2]>, lower: Vec<[f64; 2]> },
}

/// Distance in x/c over which the heights of both surfaces pass into each other.
const BLEND: f64 = 0.05;

impl Heights {
    /// The heights as they are given.
    fn values_mut(&mut self) -> Vec<&mut f64> {
        fn of(points: &mut [[f64; 2]]) -> impl Iterator<Item = &mut f64> {
            points.iter_mut().map(|[_, height]| height)
        }
        match self {
            Self::Same(height) => vec![height],
            Self::Points(heights) => heights.iter_mut().collect(),
            Self::Along(points) => of(points).collect(),
            Self::Surfaces { upper, lower } => of(upper).chain(of(lower)).collect(),
        }
    }

    /// Returns true if all heights are above 0 and below 1e6, x/c is finite and rises, and no list is empty.
    pub(crate) fn fit(&self) -> bool {
        let rises = |points: &Vec<[f64; 2]>| {
            let finite = points.iter().all(|[at, _]| at.is_finite());
            finite && !points.is_empty() && points.is_sorted_by(|a, b| a[0] < b[0])
        };
        let shape = match self {
            Self::Same(_) => true,
            Self::Points(heights) => !heights.is_empty(),
            Self::Along(points) => rises(points),
            Self::Surfaces { upper, lower } => rises(upper) && rises(lower),
        };
        shape && self.clone().values_mut().iter().all(|height| **height > 0.0 && **height < 1e6)
    }

    /// The smallest and the largest height.
    pub(crate) fn range(&self) -> [f64; 2] {
        let (mut own, none) = (self.clone(), [f64::INFINITY, 0.0]);
        own.values_mut().iter().fold(none, |[low, high], h| [low.min(**h), high.max(**h)])
    }

    /// These heights on a wall with `cells` times as many cells, of which the smallest changes by `factor`.
    pub(crate) fn scaled(&self, factor: f64, cells: f64) -> Self {
        let mut scaled = self.clone();
        if let Self::Points(heights) = &mut scaled {
            let stride = (1.0 / cells).max(1.0) as usize;
            *heights = heights.iter().copied().step_by(stride).collect();
        }
        scaled.values_mut().into_iter().for_each(|height| *height *= factor);
        scaled
    }

    /// The height at each point of a wall that is not turned. Between two given points the logarithm of the height is
    /// linear in x/c, which is 0 at the foremost and 1 at the rearmost point; beyond the first and the last it is
    /// constant. Within 0.05 of the foremost point and of a sharp edge, and on a base, the heights of both surfaces pass
    /// into each other: cells beside each other with heights that jump are hard to solve for.
    ///
    /// # Errors
    /// [`GeometryError::Heights`] for another number of heights than points.
    pub fn at(&self, wall: &BoundaryPoints) -> Result<Vec<f64>, GeometryError> {
        let (x, points) = (|i: usize| wall.line[i][0], wall.line.len());
        let cells = points - 1;
        let (upper, lower) = match self {
            Self::Same(height) => return Ok(vec![*height; points]),
            Self::Points(heights) if heights.len() == points => return Ok(heights.clone()),
            Self::Points(heights) => {
                return Err(GeometryError::Heights { found: heights.len(), points });
            }
            Self::Along(both) => (both, both),
            Self::Surfaces { upper, lower } => (upper, lower),
        };
        let foremost = |a: &usize, b: &usize| x(*a).total_cmp(&x(*b));
        let nose = (0..cells).min_by(foremost).unwrap_or(0);
        // A smooth contour begins anywhere.
        let rear = (0..cells).max_by(foremost).filter(|_| wall.base_cells == 0).unwrap_or(0);
        let [least, most] = [nose, rear].map(x);
        let from_rear = |i: usize| (i + cells - rear) % cells;
        let half = wall.base_cells / 2;
        let place = |i: usize| (x(i) - least) / (most - least);
        // The share of the upper surface in a height.
        let weight = |i: usize| {
            let (k, place) = (from_rear(i), place(i));
            let from_edge = match half {
                0 => (1.0 - place) / BLEND,
                half => k.min(cells - k) as f64 / half as f64,
            };
            let own = 0.5 * from_edge.min(place / BLEND).clamp(0.0, 1.0);
            if k > from_rear(nose) { 0.5 + own } else { 0.5 - own }
        };
        let height = |i: usize| {
            let [upper, lower] = [upper, lower].map(|given| between(given, place(i)));
            lower * (upper / lower).powf(weight(i))
        };
        Ok((0..points).map(height).collect())
    }
}

/// The height at x/c among given points.
fn between(given: &[[f64; 2]], x: f64) -> f64 {
    let next = given.partition_point(|[at, _]| *at <= x);
    match (given.get(next.wrapping_sub(1)), given.get(next)) {
        (Some([x0, h0]), Some([x1, h1])) => h0 * (h1 / h0).powf((x - x0) / (x1 - x0)),
        (Some([_, height]), None) | (None, Some([_, height])) => *height,
        (None, None) => f64::NAN,
    }
}

/// Numbers of points of the surfaces, and limits on the spacing between leading and trailing edge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AlongWall {
    /// Cells of the upper surface; half of those of both surfaces if `None`.
    pub upper_cells: Option<usize>,
    /// Places where points gather.
    pub clusters: Vec<Cluster>,
    /// Longest interval, chords.
    pub max_spacing: Option<f64>,
    /// Largest ratio of neighbouring intervals.
    pub growth: Option<f64>,
}

/// A place of the wall where points gather.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cluster {
    /// Place along the chord, chords from the nose.
    pub x: f64,
    /// Largest interval there, chords.
    pub spacing: f64,
    /// The surface; both if `None`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<SurfaceSide>,
}

impl Cluster {
    /// Returns true if x is from 0 to 1 and the spacing above 0 and at most 0.1.
    pub(crate) fn fits(&self) -> bool {
        (0.0..=1.0).contains(&self.x) && self.spacing > 0.0 && self.spacing <= 0.1
    }
}

/// A surface of a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceSide {
    /// The upper surface.
    Upper,
    /// The lower surface.
    Lower,
}
