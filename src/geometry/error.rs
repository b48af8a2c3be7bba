//! Errors between an airfoil and the points of its wall.

use crate::diagnostics::errors;
use std::path::{Path, PathBuf};

/// The fewest distinct points that determine a contour.
pub(super) const LEAST_POINTS: usize = 10;
/// The most bytes of a file that are read. The largest airfoil files have some hundred thousand.
pub(super) const SIZE_LIMIT: u64 = 16 << 20;
/// A wall of fewer points would leave less than six cells for each surface beside a base of four.
pub(super) const LEAST_NI: usize = 17;
/// More points than any grid has, and few enough for memory.
pub(super) const MOST_NI: usize = 1_000_000;
/// Least number of cells on a base or cap.
pub(super) const LEAST_BASE_CELLS: usize = 4;

errors! {
    /// A failure of the geometry layer: the place, the value found, and the value expected.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum GeometryError {
        #[error("`{designation}` is not a NACA designation that can be computed: {reason}")]
        #[hint(
            "accepted: four digits (0012, 4412), five digits (23012; second and third digit 10 to 50, or 11 to 51 \
             reflexed), the 6-series (63-215, 65(3)-218, 64A410, 66-210 a=0.5); give other sections as a file of points"
        )]
        Designation { designation: String, reason: &'static str },
        /// `point` is counted from 1; `None` if all points are concerned.
        #[error("{}{}", point.map_or_else(String::new, |point| format!("point {point}: ")), of_points(problem))]
        #[hint = problem.hint().map(|hint| of_points(&hint))]
        Points { point: Option<usize>, problem: FileProblem },
        /// `line` is counted from 1; `None` if the whole file is concerned.
        #[error("{}{}: {problem}", path.display(), line.map_or_else(String::new, |line| format!(":{line}")))]
        #[hint = problem.hint()]
        File { path: PathBuf, line: Option<usize>, problem: FileProblem },
        #[error("{name} = {}: {expected} was expected", shown(*value))]
        Spacing { name: &'static str, value: f64, expected: &'static str },
        #[error("{found} points are too few, at least {least} are needed")]
        TooFewToSpace { found: usize, least: usize },
        #[error("ni = {ni}: between {LEAST_NI} and {MOST_NI} wall points were expected")]
        WallPoints { ni: usize },
        #[error("base_cells = {given}: an even number from {LEAST_BASE_CELLS} to {most} was expected")]
        #[hint("leave base_cells out to have it chosen; a finer base needs a larger ni, on a C-grid a lower first_cell")]
        BaseCells { given: usize, most: usize },
        /// `point` is counted from the first point of the wall, 0.
        #[error(
            "the wall has a corner at its point {point}, inside of a side of cells of order {order}, which have \
             corners at its multiples alone"
        )]
        #[hint(
            "of a base: choose grid.base_cells, a multiple of twice the order; elsewhere: raise grid.ni, so that the \
             wall turns less from cell to cell; or choose another output.curved_order"
        )]
        CornerInSide { point: usize, order: usize },
        /// `gap`: distance between the two ends of the contour, chords.
        #[error("{airfoil}: the trailing edge is closed (gap {gap:.1e} chord), there is no base to keep")]
        #[hint("set the trailing edge to `sharp` or `as-given`, or give a section with an open edge")]
        NoBase { airfoil: String, gap: f64 },
        /// A curve has too few points, points that coincide, or a number that is not finite.
        #[error("the contour cannot be interpolated: {reason}")]
        #[hint("give a contour of distinct, finite points")]
        Contour { reason: &'static str },
        /// `at`: place of the crossing, chords.
        #[error("{airfoil}: the cut of the C-grid crosses the section near x = {:.4}, y = {:.4}", at[0], at[1])]
        #[hint("choose grid.wake_direction, or topology = \"O\"")]
        CutCrosses { airfoil: String, at: [f64; 2] },
        #[error("{key}: a C-grid was expected; this is an O-grid, since {reason}")]
        #[hint("{remedy}")]
        NoWake { key: &'static str, reason: &'static str, remedy: String },
        /// `slant`: angle of its normal against the x axis, degrees.
        #[error("the base faces {slant:.1} degrees away from the outflow: at most {most:.1} were expected for a block behind it")]
        #[hint("choose geometry.trailing_edge = \"wedge\", or grid.topology = \"O\"")]
        BaseSlants { slant: f64, most: f64 },
        /// `y`: place of its end, chords.
        #[error("the cut of the C-grid ends at y = {y:.4}: at most {most:.4} from y = 0 was expected")]
        #[hint("choose a smaller grid.wake_direction, or a larger far_field")]
        CutLeaves { y: f64, most: f64 },
        /// `at`: a point of one beyond the other, chords.
        #[error("the box does not hold the section and its cut: they meet near x = {:.4}, y = {:.4}", at[0], at[1])]
        #[hint("the coordinates of [domain] are in chords from the nose of the section before it is turned: widen the box, or move its pieces")]
        OutsideBox { at: [f64; 2] },
        #[error("{ni} points are too few for the {corners} corners of the box")]
        #[hint("raise grid.ni, make the box less long and narrow, give a polyline fewer points, or choose grid.topology = \"C\"")]
        TooFewForBox { ni: usize, corners: usize },
        /// Lengths in chords; `most`: the largest distance of the outer line from the wall.
        #[error(
            "blades {pitch} chords apart leave a gap of {gap:.4} chords, with a grid of {reach} chords around each: less than \
             {most:.4} was expected"
        )]
        #[hint("choose a smaller grid.reach, a larger cascade.pitch, or another geometry.angle")]
        Passage { pitch: f64, gap: f64, reach: f64, most: f64 },
        #[error("{ni} points leave too few cells to the sides of the passage between two blades")]
        #[hint("raise grid.ni, choose grid.points_upper and points_lower, or a lower cascade.pitch")]
        PassagePoints { ni: usize },
        /// Places in chords.
        #[error("cascade.inlet_x = {x:.4}: less than {most:.4} was expected, two grid.reach ahead of the blade")]
        #[hint("choose a smaller cascade.inlet_x, or a smaller grid.reach")]
        InletNear { x: f64, most: f64 },
        /// Places in chords.
        #[error("cascade.outlet_x = {x:.4}: more than {least:.4} was expected, two grid.reach behind the blade")]
        #[hint("choose a larger cascade.outlet_x, or a smaller grid.reach")]
        OutletNear { x: f64, least: f64 },
        /// `radius`: as given or by default, chords.
        #[error("flap radius {radius:.4}: between {least:.4} and {most:.4} chords were expected")]
        #[hint("choose a radius in that range, a smaller deflection, or a hinge nearer to midchord")]
        FlapRadius { radius: f64, least: f64, most: f64 },
        #[error("the wing-body section cannot be made: {reason}")]
        #[hint("docs/case-format.md tells what each length means")]
        WingBody { reason: &'static str },
        #[error("far field {far_field}: at least {least:.3}, twice the reach of the body, was expected")]
        #[hint("raise grid.far_field, or the reference length if the body is large by mistake")]
        FarField { far_field: f64, least: f64 },
        #[error(
            "ni = {ni}: at least {least} points are needed so that no cell turns by more than {max_turn_deg:.1} \
             degrees"
        )]
        #[hint("raise grid.ni or grid.max_turn")]
        TooFewForTurns { ni: usize, max_turn_deg: f64, least: usize },
        #[error("the {surface} surface has {points} points: about {least} are needed for the spacings asked for")]
        #[hint(
            "raise grid.ni or grid.points_{surface}, or allow wider spacings: grid.max_spacing, grid.wall_growth, those \
             of grid.clusters and of the edges"
        )]
        TooFewForSpacing { surface: &'static str, points: usize, least: usize },
        #[error("{given} points along the wall, {expected} were expected: {sum}")]
        #[hint("leave one of the numbers out, or choose grid.ni = {expected}")]
        PointsDisagree { given: usize, expected: usize, sum: &'static str },
        /// `gap`: distance between the two ends of the contour, chords.
        #[error("the points of the section cannot be those of the wall: its ends are {gap:.1e} chord apart, {expected}")]
        #[hint("{remedy}, or leave grid.wall_points out")]
        PointsOpen { gap: f64, expected: &'static str, remedy: &'static str },
        /// `at`: the worst point, chords.
        /// `by`: its distance from the mirror image, chords.
        #[error(
            "the section is not symmetric: its point x = {:.6}, y = {:.6} is {by:.1e} chord away from the mirror image \
             of its partner",
            at[0], at[1]
        )]
        #[hint(
            "choose grid.topology = \"O\", or a section without camber, angle and flap whose points stand in mirrored \
             pairs"
        )]
        NotSymmetric { at: [f64; 2], by: f64 },
        /// `points`: points of the wall, the repeated one counted.
        #[error("grid.first_cell has {found} heights, but the wall has {points} points, the repeated one counted")]
        #[hint("give a height for each point of the wall, or a list of [x/c, height]")]
        Heights { found: usize, points: usize },
        /// `reach`: distance of the outer line if the cells behind the passage were equal, chords.
        #[error(
            "grid.layers: {count} layers that grow by {growth} and {} equal ones behind them reach {reach:.3e} chords from the \
             wall: less than {length}, the distance of the outer line, was expected",
            (nj - 1).saturating_sub(*count)
        )]
        #[hint("choose fewer layers, a smaller growth of them, or a smaller grid.nj")]
        Layers { nj: usize, count: usize, growth: f64, reach: f64, length: f64 },
        /// `at`: place of the crossing, chords.
        #[error("{airfoil}: the wall crosses itself near x = {:.4}, y = {:.4}", at[0], at[1])]
        #[hint(
            "near the trailing edge: keep the base (`blunt`); elsewhere: check the points there, or raise ni; of \
             rounded points: geometry.smooth, the step of their rounding in chords"
        )]
        WallCrosses { airfoil: String, at: [f64; 2] },
    }
}

/// The hint for a file that is not a list of points.
const PLAIN_TEXT: &str = "an airfoil file is plain text: a name, then one point `x y` a line";

errors! {
    /// Reasons for which a file of coordinates cannot be used.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum FileProblem {
        #[error("there is no such file")]
        #[hint("check the spelling; in a case a relative path starts at the case file's folder")]
        Missing,
        #[error("is a directory, an airfoil file was expected")]
        #[hint("name a file in that directory")]
        Directory,
        #[error("cannot be read: {0}")]
        #[hint("check the file's permissions")]
        Unreadable(std::io::Error),
        #[error("has more than {SIZE_LIMIT} bytes, too many for an airfoil file")]
        #[hint("{PLAIN_TEXT}")]
        TooLarge,
        #[error("the file is empty")]
        #[hint("give the whole contour, from the trailing edge around the nose and back")]
        Empty,
        /// `offset`: position of the first NUL byte, counted from 0.
        #[error("not a text file, byte {offset} is NUL")]
        #[hint("{PLAIN_TEXT}")]
        Binary { offset: usize },
        #[error("none of the {lines} lines holds a point `x y`")]
        #[hint("{PLAIN_TEXT}")]
        NoPoints { lines: usize },
        /// A coordinate is NaN, infinite, or beyond 1e100.
        #[error("`{text}` holds a coordinate that is not finite")]
        #[hint("correct the line, or put `#` before it to leave the point out")]
        NotFinite { text: String },
        #[error("`{text}` is not a point, two numbers `x y` were expected")]
        #[hint("correct the line, or put `#` before it to leave the point out")]
        MalformedRow { text: String },
        #[error("{found} numbers in a line, two (`x y`) were expected")]
        #[hint(
            "write one point a line, the upper surface from the trailing edge to the nose, then the lower surface \
             back"
        )]
        Columns { found: usize },
        #[error("counts {upper} points on the upper and {lower} on the lower surface, but {found} points follow")]
        #[hint("correct the counts; if the line is a name or a comment, put `#` before it")]
        CountLine { upper: usize, lower: usize, found: usize },
        #[error("the point ({}, {}) lies far away from all others", at[0], at[1])]
        #[hint("delete the line, or put `#` before it")]
        Outlier { at: [f64; 2] },
        /// A separator of a multi-element file.
        #[error("a second element begins here, only one is meshed")]
        #[hint("put each element in a file of its own")]
        SeveralElements,
        #[error("{found} distinct points, at least {LEAST_POINTS} are needed")]
        #[hint("give the whole contour, from the trailing edge around the nose and back")]
        TooFewPoints { found: usize },
        #[error("the points enclose no area")]
        #[hint("check that the columns are x and y of a closed contour")]
        NoArea,
        #[error("the contour ends at x/c = {x_over_c:.3}, short of the trailing edge")]
        #[hint("complete the surface up to the trailing edge")]
        Truncated { x_over_c: f64 },
        /// Two segments of the contour cross. `segments` has the lines of the end points of each, counted from 1.
        #[error(
            "the contour crosses itself: the segment of lines {}-{} cuts that of lines {}-{}",
            segments[0][0], segments[0][1], segments[1][0], segments[1][1]
        )]
        #[hint(
            "look for points out of order, listed twice, or text read as numbers at these lines; \
             geometry.edge_thickness parts surfaces that cross near the trailing edge, geometry.smooth, some three \
             times the scatter, smooths points that scatter"
        )]
        ContourCrosses { segments: [[usize; 2]; 2] },
        /// The two ends of a contour that should be closed, the first at this line, are far apart.
        /// `last`: line of the last point, counted from 1.
        #[error(
            "the contour is open: its last point, line {last}, is {gap:.3e} away from the first, neighbours at most \
             {longest:.3e}"
        )]
        #[hint("give all points around the contour; an airfoil is named by geometry.file")]
        OpenContour { last: usize, gap: f64, longest: f64 },
    }
}

impl FileProblem {
    /// The refusal of a file because of this line.
    pub(super) fn at(self, line: usize) -> Refusal {
        Refusal { line: Some(line), problem: self }
    }
}

/// A message about lines of a file, reworded for points.
pub(super) fn of_points(text: &impl ToString) -> String {
    text.to_string().replace("line", "point")
}

/// A problem and its line, before the name of the file is known.
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

/// A length; in exponent notation if it is very small.
fn shown(value: f64) -> String {
    if value > 0.0 && value < 1e-6 { format!("{value:e}") } else { value.to_string() }
}
