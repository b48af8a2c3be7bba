//! What can go wrong between an airfoil and the points of its wall.

use std::path::{Path, PathBuf};

use super::reader::{LEAST_POINTS, SIZE_LIMIT};
use super::surface::{LEAST_BASE_CELLS, LEAST_NI, MOST_NI};

/// A failure of the geometry layer: where it stands, what was found, what was expected.
/// [`GeometryError::hint`] says how to mend it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GeometryError {
    /// The designation is not one of the families that are computed.
    #[error("`{designation}` is not a NACA designation that can be computed: {reason}")]
    Designation {
        /// As given.
        designation: String,
        /// Which rule it breaks.
        reason: &'static str,
    },
    /// Points that cannot be used.
    #[error("{}{}", point.map_or_else(String::new, |point| format!("point {point}: ")), of_points(problem))]
    Points {
        /// Which, counted from 1, if it is a matter of one point.
        point: Option<usize>,
        /// What is wrong.
        problem: FileProblem,
    },
    /// A file of coordinates that cannot be used.
    #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
    File {
        /// As given.
        path: PathBuf,
        /// Where it stands, counted from 1, if it is a matter of one line.
        line: Option<usize>,
        /// What is wrong.
        problem: FileProblem,
    },
    /// A length that spaces points is not usable.
    #[error("{name} = {}: {expected} was expected", shown(*value))]
    Spacing {
        /// Which length.
        name: &'static str,
        /// As given.
        value: f64,
        /// The range.
        expected: &'static str,
    },
    /// Not enough points to space.
    #[error("{found} points are too few, at least {least} are needed")]
    TooFewToSpace {
        /// As given.
        found: usize,
        /// The fewest possible.
        least: usize,
    },
    /// The wall has too few or too many points.
    #[error("ni = {ni}: between {LEAST_NI} and {MOST_NI} wall points were expected")]
    WallPoints {
        /// As given, the repeated point counted.
        ni: usize,
    },
    /// The number of cells on the base is odd, too small, or leaves too few for the surfaces.
    #[error("base_cells = {given}: an even number from {LEAST_BASE_CELLS} to {most} was expected")]
    BaseCells {
        /// As given.
        given: usize,
        /// The most that leave enough points for the surfaces.
        most: usize,
    },
    /// A corner of the wall would be inside of the side of a curved cell.
    #[error(
        "the wall has a corner at its point {point}, inside of a side of cells of order {order}, which have \
         corners at its multiples alone"
    )]
    CornerInSide {
        /// Counted from 0, the first of the wall.
        point: usize,
        /// Order of the cells.
        order: usize,
    },
    /// A base was requested, but the trailing edge is closed.
    #[error(
        "{airfoil}: the trailing edge is closed (gap {gap:.1e} chord), there is no base to keep"
    )]
    NoBase {
        /// Name of the section.
        airfoil: String,
        /// Distance between the two ends of the contour, chords.
        gap: f64,
    },
    /// A curve has too few points, points that coincide, or a number that is not finite.
    #[error("the contour cannot be interpolated: {reason}")]
    Contour {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The cut of a C-grid runs into the section.
    #[error("{airfoil}: the cut of the C-grid crosses the section near x = {:.4}, y = {:.4}", at[0], at[1])]
    CutCrosses {
        /// Name of the section.
        airfoil: String,
        /// Place of the crossing, chords.
        at: [f64; 2],
    },
    /// The cut of a C-grid ends too near the far field.
    #[error("the cut of the C-grid ends at y = {y:.4}: at most {most:.4} from y = 0 was expected")]
    CutLeaves {
        /// Where it ends, chords.
        y: f64,
        /// Largest distance from y = 0, 0.45 of the far field.
        most: f64,
    },
    /// The bend at the hinge of a flap is too tight or too long.
    #[error("flap radius {radius:.4}: between {least:.4} and {most:.4} chords were expected")]
    FlapRadius {
        /// As given or by default, chords.
        radius: f64,
        /// Half the thickness and a little.
        least: f64,
        /// Where the bend would reach the trailing edge.
        most: f64,
    },
    /// Fuselage and wing do not fit.
    #[error("the wing-body section cannot be made: {reason}")]
    WingBody {
        /// What must hold.
        reason: &'static str,
    },
    /// The body reaches too near to the far field.
    #[error(
        "far field {far_field}: at least {least:.3}, twice the reach of the body, was expected"
    )]
    FarField {
        /// As given.
        far_field: f64,
        /// Twice the distance of the body's farthest point from the far field's centre.
        least: f64,
    },
    /// The contour bends more than so few points can follow.
    #[error(
        "ni = {ni}: at least {least} points are needed so that no cell turns by more than \
         {max_turn_deg:.1} degrees"
    )]
    TooFewForTurns {
        /// As given.
        ni: usize,
        /// Limit on the turn.
        max_turn_deg: f64,
        /// The fewest points that keep it.
        least: usize,
    },
    /// Half a grid was requested around a section that is not symmetric.
    #[error(
        "the section is not symmetric: its point x = {:.6}, y = {:.6} is {by:.1e} chord away \
         from the mirror image of its partner",
        at[0], at[1]
    )]
    NotSymmetric {
        /// The worst point, chords.
        at: [f64; 2],
        /// Its distance from the mirror image, chords.
        by: f64,
    },
    /// The wall, as distributed, crosses itself.
    #[error("{airfoil}: the wall crosses itself near x = {:.4}, y = {:.4}", at[0], at[1])]
    WallCrosses {
        /// Name of the section.
        airfoil: String,
        /// Place of the crossing, chords.
        at: [f64; 2],
    },
}

impl GeometryError {
    /// How to mend it, one sentence; `None` where the message says it all.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::Designation { .. } => {
                "accepted: four digits (0012, 4412), five digits (23012; second and third digit 10 to \
                 50, or 11 to 51 reflexed); give other sections, the 6-series among them, as a file of points"
            }
            Self::File { problem, .. } | Self::Points { problem, .. } => problem.hint(),
            Self::Spacing { .. } | Self::TooFewToSpace { .. } | Self::WallPoints { .. } => {
                return None;
            }
            Self::BaseCells { .. } => {
                "leave base_cells out to have it chosen, or raise ni for a finer base"
            }
            Self::CornerInSide { .. } => {
                "of a base: choose grid.base_cells, a multiple of twice the order; elsewhere: raise grid.ni, \
                 so that the wall turns less from cell to cell; or choose another output.curved_order"
            }
            Self::NoBase { .. } => {
                "set the trailing edge to `sharp` or `as-given`, or give a section with an open edge"
            }
            Self::FlapRadius { .. } => {
                "choose a radius in that range, a smaller deflection, or a hinge farther ahead"
            }
            Self::FarField { .. } => {
                "raise grid.far_field, or the reference length if the body is large by mistake"
            }
            Self::WingBody { .. } => "docs/case-format.md tells what each length means",
            Self::TooFewForTurns { .. } => "raise grid.ni or grid.max_turn",
            Self::Contour { .. } => "give a contour of distinct, finite points",
            Self::NotSymmetric { .. } => {
                "choose grid.topology = \"O\", or a section without camber, angle and flap whose points \
                 stand in mirrored pairs"
            }
            Self::CutLeaves { .. } => "choose a smaller grid.wake_direction, or a larger far_field",
            Self::CutCrosses { .. } => "choose grid.wake_direction, or topology = \"O\"",
            Self::WallCrosses { .. } => {
                "near the trailing edge: keep the base (`blunt`); elsewhere: check the points there, \
                 or raise ni; of rounded points: geometry.smooth, the step of their rounding in chords"
            }
        })
    }
}

/// What is wrong with a file of coordinates.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileProblem {
    /// There is no such file.
    #[error("there is no such file")]
    Missing,
    /// The path is a directory.
    #[error("is a directory, an airfoil file was expected")]
    Directory,
    /// The operating system would not let the file be read.
    #[error("cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// More bytes than any airfoil file has.
    #[error("has more than {SIZE_LIMIT} bytes, too many for an airfoil file")]
    TooLarge,
    /// The file holds nothing but white space.
    #[error("the file is empty")]
    Empty,
    /// The file holds NUL bytes.
    #[error("not a text file, byte {offset} is NUL")]
    Binary {
        /// Position of the first NUL byte, counted from 0.
        offset: usize,
    },
    /// No line could be read as a point.
    #[error("none of the {lines} lines holds a point `x y`")]
    NoPoints {
        /// Number of lines in the file.
        lines: usize,
    },
    /// A coordinate is NaN, infinite, or beyond 1e100.
    #[error("`{text}` holds a coordinate that is not finite")]
    NotFinite {
        /// The line as it stands.
        text: String,
    },
    /// A line among the points starts as a point but is none.
    #[error("`{text}` is not a point, two numbers `x y` were expected")]
    MalformedRow {
        /// The line as it stands.
        text: String,
    },
    /// A line among the points has more numbers than coordinates.
    #[error("{found} numbers in a line, two (`x y`) were expected")]
    Columns {
        /// Numbers in that line.
        found: usize,
    },
    /// The first line counts the points of two surfaces, and the counts are wrong.
    #[error(
        "counts {upper} points on the upper and {lower} on the lower surface, but {found} points follow"
    )]
    CountLine {
        /// First count.
        upper: usize,
        /// Second count.
        lower: usize,
        /// Points that follow.
        found: usize,
    },
    /// A point far away from all others stands among them.
    #[error("the point ({}, {}) lies far away from all others", at[0], at[1])]
    Outlier {
        /// As in the file.
        at: [f64; 2],
    },
    /// A separator of a multi-element file.
    #[error("a second element begins here, only one is meshed")]
    SeveralElements,
    /// Too few points to say what the section is.
    #[error("{found} distinct points, at least {LEAST_POINTS} are needed")]
    TooFewPoints {
        /// Distinct points in the file.
        found: usize,
    },
    /// The points lie on a line.
    #[error("the points enclose no area")]
    NoArea,
    /// An end of the contour, at this line, is far from the trailing edge.
    #[error("the contour ends at x/c = {x_over_c:.3}, short of the trailing edge")]
    Truncated {
        /// Its place on the chord, 0 at the nose and 1 at the trailing edge.
        x_over_c: f64,
    },
    /// Two segments of the contour cross; of each the lines of its two end points.
    #[error(
        "the contour crosses itself: the segment of lines {}-{} cuts that of lines {}-{}",
        segments[0][0], segments[0][1], segments[1][0], segments[1][1]
    )]
    ContourCrosses {
        /// Counted from 1.
        segments: [[usize; 2]; 2],
    },
    /// The two ends of a contour that should be closed, the first at this line, are far apart.
    #[error(
        "the contour is open: its last point, line {last}, is {gap:.3e} away from the first, \
         neighbours at most {longest:.3e}"
    )]
    OpenContour {
        /// Line of the last point, counted from 1.
        last: usize,
        /// Distance of the ends.
        gap: f64,
        /// Longest way between neighbours.
        longest: f64,
    },
}

impl FileProblem {
    /// How to mend it.
    fn hint(&self) -> &'static str {
        match self {
            Self::Missing => "check the spelling; a relative path starts at the case file's folder",
            Self::Directory => "name a file in that directory",
            Self::Unreadable(_) => "check the file's permissions",
            Self::TooLarge | Self::Binary { .. } | Self::NoPoints { .. } => {
                "an airfoil file is plain text: a name, then one point `x y` a line"
            }
            Self::Empty | Self::TooFewPoints { .. } => {
                "give the whole contour, from the trailing edge around the nose and back"
            }
            Self::NotFinite { .. } | Self::MalformedRow { .. } => {
                "correct the line, or put `#` before it to leave the point out"
            }
            Self::Columns { .. } => {
                "write one point a line, the upper surface from the trailing edge to the nose, then \
                 the lower surface back"
            }
            Self::CountLine { .. } => {
                "correct the counts; if the line is a name or a comment, put `#` before it"
            }
            Self::Outlier { .. } => "delete the line, or put `#` before it",
            Self::SeveralElements => "put each element in a file of its own",
            Self::NoArea => "check that the columns are x and y of a closed contour",
            Self::Truncated { .. } => "complete the surface up to the trailing edge",
            Self::ContourCrosses { .. } => {
                "look for points out of order, listed twice, or text read as numbers at these lines; \
                 geometry.edge_thickness parts surfaces that cross near the trailing edge, geometry.smooth, some \
                 three times the scatter, mends points that scatter"
            }
            Self::OpenContour { .. } => {
                "give all points around the contour; an airfoil is named by geometry.file"
            }
        }
    }

    /// The refusal of a file because of a line of it.
    pub(super) fn at(self, line: usize) -> Refusal {
        Refusal { line: Some(line), problem: self }
    }
}

/// What is said of the lines of a file as it is said of points without one.
pub(super) fn of_points(text: &impl ToString) -> String {
    text.to_string().replace("line", "point")
}

/// A problem and the line where it stands, before the file is named.
pub(super) struct Refusal {
    line: Option<usize>,
    problem: FileProblem,
}

impl From<FileProblem> for Refusal {
    fn from(problem: FileProblem) -> Self {
        Self { line: None, problem }
    }
}

impl Refusal {
    pub(super) fn of_points(self) -> GeometryError {
        GeometryError::Points { point: self.line, problem: self.problem }
    }

    pub(super) fn of(self, path: &Path) -> GeometryError {
        GeometryError::File { path: path.to_path_buf(), line: self.line, problem: self.problem }
    }
}

/// A length, a tiny one without its zeros.
fn shown(value: f64) -> String {
    if value > 0.0 && value < 1e-6 { format!("{value:e}") } else { value.to_string() }
}
