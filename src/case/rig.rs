//! The second stage of a case of several elements: their places, their gaps, and the defaults that follow.

use super::error::GivenValue;
use super::schema::rounded;
use super::{BackgroundOptions, Case, CaseFile, Element, Place, PlacedBy, Problem, SectionError};
use crate::diagnostics::errors;
use crate::geometry::Placement;
use crate::geometry::vector::bounds;
use crate::overset::{Background, ElementWall, RigSide, RiggingError};

/// Reach of a grid by default, in chords of the element, in gaps beside it, and in gaps to the grid around it.
const REACH: [f64; 3] = [0.4, 4.0, 0.5];
/// Layers by default: most height over length of the last cells, most growth, and a multiple for halving their number.
const LAST_HEIGHT: f64 = 1.25;
const GROWTH: f64 = 1.25;
const MULTIPLE: usize = 8;
const MOST_LAYERS: usize = 1025;
/// A gap this many times as wide as the wanted cells at the first one's height is what layers can fill.
const MARGIN: f64 = 1.15;

/// Most nodes of a background.
const MOST_NODES: usize = 20_000_000;

errors! {
    /// Elements that cannot be gridded as their case says.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum AssemblyError {
        /// The section of a case without other elements.
        #[error(transparent)]
        Alone(#[from] SectionError),
        #[error("{}: element {element}: {}", error.place, error.error)]
        #[hint = error.hint()]
        Section { element: String, error: SectionError },
        #[error("{place}: element {element}: {error}")]
        #[hint = error.hint()]
        Rigging { place: Box<Place>, element: String, error: RiggingError },
        /// The walls of two elements cross, or one is inside the other.
        #[error("{place}: the walls of {} and {} cross, near ({:.4}, {:.4})", elements[0], elements[1], at[0], at[1])]
        #[hint("move element.{} away: a larger gap, another overlap, or another place", elements[1])]
        Crossing { place: Box<Place>, elements: [String; 2], at: [f64; 2] },
        #[error(
            "{found}: the grid of {element} would end inside the gap of {gap:.5} to {other}, expected a reach of at \
             least {least:.4}"
        )]
        #[hint("raise element.{element}.reach to {least:.4} or more, or leave it out")]
        EndsInGap { found: Box<GivenValue>, element: String, other: String, gap: f64, least: f64 },
        #[error("{option} is for a case of one section, this one has several elements")]
        #[hint("leave {option} out, or give the element as a case of its own")]
        Option { option: &'static str },
        #[error("{found}: the background would have {nodes} nodes, at most {MOST_NODES} were expected")]
        #[hint("choose a larger spacing, or a smaller margin")]
        Background { found: Box<GivenValue>, nodes: usize },
    }
}

/// An element, settled for its section and its place.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlacedElement {
    /// Its problem, in the element's frame.
    pub problem: Problem,
    /// Its place.
    pub placement: Placement,
    /// Distance of its outer line from its wall, reference chords; none of a grid that goes to its far field.
    pub reach: Option<f64>,
    /// The element that it is rigged to, by number, and on which side.
    pub rigged: Option<(usize, RigSide)>,
}

/// A background, and the lower and the upper corner of what it is around.
pub type PlacedBackground = (Background, [[f64; 2]; 2]);

/// Elements at their places, with all defaults that follow.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PlacedCase {
    /// The case with every default: it makes the same grids again.
    pub case: CaseFile,
    /// The elements.
    pub elements: Vec<PlacedElement>,
    /// The background, if there is one.
    pub background: Option<PlacedBackground>,
}

impl PlacedElement {
    /// Its wall, where it stands.
    pub fn wall(&self) -> ElementWall {
        let Problem { case, topology, points, shift: [dx, dy], .. } = &self.problem;
        let line = &points.line[topology.wall(points.line.len())];
        let line = line.iter().map(|[x, y]| [x + dx, y + dy]);
        let edge = !case.geometry.contour.is_smooth();
        ElementWall::new(self.placement.points(line), edge, points.base_cells)
    }
}

impl From<Problem> for PlacedCase {
    /// A section as the only element.
    fn from(problem: Problem) -> Self {
        let (case, placement) = (problem.case.clone().into(), Placement::NONE);
        let elements = vec![PlacedElement { problem, placement, reach: None, rigged: None }];
        Self { case, elements, background: None }
    }
}

impl PlacedCase {
    /// The problem of a case of one section.
    pub fn section(&self) -> Option<&Problem> {
        self.case.section().and_then(|_| self.elements.first()).map(|only| &only.problem)
    }

    /// The case of each element, settled.
    pub(crate) fn cases(&self) -> impl Iterator<Item = &Case> {
        self.elements.iter().map(|element| &element.problem.case)
    }
}

impl CaseFile {
    /// The elements at their places.
    pub fn settle(&self) -> Result<PlacedCase, AssemblyError> {
        if let Some(section) = self.section() {
            return Ok(section.settle()?.into());
        }
        let gap_cells = self.overset.as_ref().map_or(0, |overset| overset.gap_cells);
        let mut assembly = self.clone();
        let mut elements = self.placed()?;
        let walls: Vec<ElementWall> = elements.iter().map(PlacedElement::wall).collect();
        assembly.check_crossings(&walls)?;
        let gaps_of = |wall: &ElementWall| -> Vec<f64> {
            walls.iter().map(|other| wall.nearest_of(other).0).collect()
        };
        let gaps: Vec<Vec<f64>> = walls.iter().map(gaps_of).collect();
        assembly.put_reaches(&elements, &gaps);
        for (number, placed) in elements.iter_mut().enumerate() {
            let chord = placed.placement.chord;
            let others = gaps[number].iter().enumerate().filter(|(other, _)| *other != number);
            let narrowest = others.map(|(_, gap)| *gap).fold(f64::INFINITY, f64::min);
            let element = &mut assembly.elements[number];
            let given = element.case.places.has("grid.nj");
            let provisional = element.case.grid.clone();
            placed.reach = element.reach;
            element.case.grid.reach = element.reach.map(|reach| reach / chord);
            // Layers follow from the length of the outer line.
            if element.case.grid.reach != provisional.reach && !given {
                placed.problem = settled(element)?;
            }
            if !given {
                let gap = Some(narrowest / chord).filter(|gap| *gap < element.case.grid.extent());
                element.case.grid.nj = layers(&placed.problem, element, gap, gap_cells);
            }
            if element.case.grid != provisional {
                placed.problem = settled(element)?;
            }
            element.case = placed.problem.case.clone();
        }
        assembly.check_reaches(&elements, &gaps)?;
        let background = assembly.settle_background(&elements)?;
        Ok(PlacedCase { case: assembly, elements, background })
    }

    /// The elements at their places, those first that do not follow from others. Their reaches and layers follow later.
    fn placed(&self) -> Result<Vec<PlacedElement>, AssemblyError> {
        let in_frame = |element: &Element| -> Result<_, AssemblyError> {
            let rigged = match element.placed_by {
                PlacedBy::Rigged { to, rigging, .. } => Some((to, rigging.side)),
                PlacedBy::InFile | PlacedBy::At(_) => None,
            };
            let (problem, placement) = (settled(element)?, Placement::NONE);
            Ok(PlacedElement { problem, placement, reach: None, rigged })
        };
        let mut elements = self.elements.iter().map(in_frame).collect::<Result<Vec<_>, _>>()?;
        let mut placed = vec![false; elements.len()];
        // No circle: a round places one at least.
        while placed.contains(&false) {
            for (number, element) in self.elements.iter().enumerate() {
                if placed[number] {
                    continue;
                }
                elements[number].placement = match &element.placed_by {
                    PlacedBy::InFile => {
                        Placement { angle: 0.0, ..elements[number].problem.case.geometry.in_file }
                    }
                    PlacedBy::At(placement) => *placement,
                    PlacedBy::Rigged { to, .. } if !placed[*to] => continue,
                    PlacedBy::Rigged { chord, to, rigging } => {
                        let [own, other] = [number, *to].map(|k| elements[k].wall());
                        rigging.placement(&own, *chord, &other).map_err(|error| {
                            let place = element.case.places.of(&["element.rigging"]).into();
                            let element = element.case.name.clone();
                            AssemblyError::Rigging { place, element, error }
                        })?
                    }
                };
                placed[number] = true;
            }
        }
        Ok(elements)
    }

    fn check_crossings(&self, walls: &[ElementWall]) -> Result<(), AssemblyError> {
        for (b, a) in (0..walls.len()).flat_map(|b| (0..b).map(move |a| (b, a))) {
            if let Some(at) = walls[a].conflict(&walls[b]) {
                let keys = ["element.rigging", "element.at", "element.frame", "element"];
                let place = self.elements[b].case.places.of(&keys);
                let elements = [a, b].map(|k| self.elements[k].case.name.clone());
                return Err(AssemblyError::Crossing { place: place.into(), elements, at });
            }
        }
        Ok(())
    }

    /// Sets the reaches that are not given: a number of chords of the element, a multiple of the narrowest gap beside it
    /// that is narrower than its chord or that another grid reaches across, or a part of the way to the first element
    /// where the grid of that, with cells as large as they are far, is the background; the largest of the three.
    fn put_reaches(&mut self, placed: &[PlacedElement], gaps: &[Vec<f64>]) {
        let [chords, wide, far] = REACH;
        let mut open = Vec::new();
        let first = usize::from(self.background.is_none());
        for (a, element) in self.elements.iter_mut().enumerate().skip(first) {
            let chord = placed[a].placement.chord;
            let others = gaps[a].iter().enumerate().filter(|(b, gap)| *b != a && **gap < chord);
            let narrowest = others.map(|(_, gap)| *gap).reduce(f64::min).unwrap_or(0.0);
            if element.reach.is_none() {
                let least = (chords * chord).max(wide * narrowest);
                element.reach = Some(least.max(first as f64 * far * gaps[a][0]));
                open.push(a);
            }
        }
        // Each is raised a few times at most, since it then is beyond that gap.
        while let Some((a, _, gap)) = self
            .ends_in_gaps(placed, gaps)
            .filter(|(a, ..)| open.contains(a))
            .min_by(|(.., one), (.., other)| one.total_cmp(other))
        {
            self.elements[a].reach = Some(wide * gap);
        }
    }

    /// The pairs of which the grid of the first ends within the gap to the second, while that of the second reaches
    /// across it; and that gap, which is narrower than one of the two is long: others need no cells of both.
    fn ends_in_gaps(
        &self,
        placed: &[PlacedElement],
        gaps: &[Vec<f64>],
    ) -> impl Iterator<Item = (usize, usize, f64)> {
        let pairs = gaps
            .iter()
            .enumerate()
            .flat_map(|(a, row)| row.iter().enumerate().map(move |(b, gap)| (a, b, *gap)));
        pairs.filter(|&(a, b, gap)| {
            let [reach, other] = [a, b].map(|k| self.elements[k].reach);
            a != b
                && gap < placed[a].placement.chord.max(placed[b].placement.chord)
                && reach.is_some_and(|reach| reach <= gap)
                && other.is_none_or(|reach| reach > gap)
        })
    }

    /// Refuses a grid that ends within a gap which the grid of the other side reaches across.
    fn check_reaches(
        &self,
        placed: &[PlacedElement],
        gaps: &[Vec<f64>],
    ) -> Result<(), AssemblyError> {
        let Some((a, b, gap)) = self.ends_in_gaps(placed, gaps).next() else { return Ok(()) };
        let [element, other] = [a, b].map(|k| &self.elements[k].case);
        Err(AssemblyError::EndsInGap {
            found: Box::new(element.places.found(&["element.reach"])),
            element: element.name.clone(),
            other: other.name.clone(),
            gap,
            least: 2.0 * gap,
        })
    }

    /// The background around the outer lines of all grids; its spacing is put in place.
    fn settle_background(
        &mut self,
        elements: &[PlacedElement],
    ) -> Result<Option<PlacedBackground>, AssemblyError> {
        let Some(options) = &mut self.background else { return Ok(None) };
        let outer = elements.iter().flat_map(|PlacedElement { problem, placement, .. }| {
            let line = problem.outer.iter().flat_map(|line| line.points(problem.points.line.len()));
            placement.points(line.map(|[x, y]| [x + problem.shift[0], y + problem.shift[1]]))
        });
        let [low, high] = bounds(outer);
        let spacing = *options.spacing.get_or_insert_with(|| rounded(median_size(elements), 2));
        let BackgroundOptions { margin, growth, far_field, .. } = *options;
        let background = Background { spacing, margin, growth, far_field };
        let [nx, ny] = background.size(low, high);
        let nodes = nx.saturating_mul(ny);
        if nodes > MOST_NODES {
            let keys = ["background.spacing", "background.margin", "background"];
            let found = self.places.found(&keys).into();
            return Err(AssemblyError::Background { found, nodes });
        }
        Ok(Some((background, [low, high])))
    }
}

/// The problem of an element, whose name its error has.
fn settled(Element { case, .. }: &Element) -> Result<Problem, AssemblyError> {
    let named = |error| AssemblyError::Section { element: case.name.clone(), error };
    case.settle().map_err(named)
}

/// Points from wall to outer line that give enough cells across a gap, of a width in the element's chords, heights
/// that grow slowly, and last cells about as high as long.
fn layers(problem: &Problem, element: &Element, gap: Option<f64>, cells: usize) -> usize {
    let grid = &element.case.grid;
    let (first, extent, law) = (grid.first_cell, grid.extent(), element.case.layer_law());
    let length = problem.outer.as_ref().map(|line| line.length() / (grid.ni - 1) as f64);
    let fits = |nj: usize, gap: Option<f64>| {
        let Ok(s) = law.distances(nj) else { return false };
        let last = s[nj - 1] - s[nj - 2];
        let across = gap.is_none_or(|gap| s.partition_point(|s| *s <= gap) > cells);
        let grows = law.growth(nj).is_some_and(|growth| growth <= GROWTH);
        across && grows && length.is_none_or(|length| last <= LAST_HEIGHT * length)
    };
    let least = if element.reach.is_some() { 2 } else { grid.nj / MULTIPLE };
    // First cells are no higher than equal ones.
    let possible = |nj: &usize| *nj <= MOST_LAYERS && first * (*nj as f64 - 1.0) < extent;
    let counts = || (least..).map(|k| k * MULTIPLE + 1).take_while(possible);
    // No number of layers helps where first cells are too high for the gap, and the checks report it.
    let gap = gap.filter(|gap| MARGIN * first * cells as f64 <= *gap);
    let fitting = |gap: Option<f64>| counts().find(|&nj| fits(nj, gap));
    let most = || counts().last().unwrap_or(grid.nj.min(least * MULTIPLE + 1));
    fitting(gap).or_else(|| fitting(None)).unwrap_or_else(most)
}

/// Median size of the outermost cells of all grids: the root of their area.
fn median_size(elements: &[PlacedElement]) -> f64 {
    let size = |PlacedElement { problem, placement, .. }: &PlacedElement| {
        let line = problem.outer.as_ref()?;
        let (s, cells) = (&problem.layers, problem.points.line.len() - 1);
        let height = s[s.len() - 1] - s[s.len() - 2];
        let length = line.length() / cells as f64;
        Some((placement.chord * (height * length).sqrt(), cells))
    };
    let mut sizes: Vec<(f64, usize)> = elements.iter().filter_map(size).collect();
    sizes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = sizes.iter().map(|(_, cells)| cells).sum::<usize>() / 2;
    let mut counted = 0;
    let median = sizes.iter().find(|(_, cells)| {
        counted += cells;
        counted >= half
    });
    median.map_or(0.02, |(size, _)| *size)
}
