//! Limits on the points along the wall in addition to the spacings at its edges.

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

impl AlongWall {
    /// Returns true if there is a limit on the spacing.
    pub(super) fn is_limited(&self) -> bool {
        !self.clusters.is_empty() || self.max_spacing.is_some() || self.growth.is_some()
    }
}

/// A place of the wall where points gather.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceSide {
    /// The upper surface.
    Upper,
    /// The lower surface.
    Lower,
}
