//! Passages of blade cascades: three blocks around the O-grid of a blade, which repeat with the pitch.
//!
//! The outer line of the O-grid has four corners a, b on the lower and c, d on the upper side of the blade, with as many
//! cells from a to b as from c to d. The passage P lies between c … d of the blade and b … a of the next one, the pitch
//! above: no periodic line runs through it. The strips I, from the nose b … c and the front of P to the inlet, and E,
//! from the rear of P and the edge d … a to the outlet, close after one pitch. Lines between the blocks are given as
//! curves, so that each block is a problem of its own, Winslow's equations. Then all blocks are one mesh, whose cells off
//! the wall are brought near right angles (theory section 12).

mod shape;

use std::iter;

use self::shape::shape;
use crate::backend::{EllipticBackend, LevelSize, MultigridBackend};
use crate::case::SolverOptions;
use crate::geometry::vector::{along, between, difference, distance};
use crate::geometry::{chord_lengths, wall_normals};
use crate::grid::boundary::{Meets, Name, PERIOD, Patch, Range, Segment, Side, SideKind};
use crate::grid::{Grid, Outside, Seam, Topology};
use crate::pde::EllipticData;
use crate::smooth::block::interpolated;
use crate::smooth::solution;
use crate::solver::{NewtonStop, SolverError};

/// A plane ahead of or behind a cascade, and the strip that ends there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StripEnd {
    /// Its x.
    pub x: f64,
    /// Angle of the rows of the strip against the x axis, degrees.
    pub angle: f64,
    /// Cells of the strip along its rows.
    pub cells: usize,
}

/// The passage of a cascade, in the unit of its O-grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BladePassage {
    /// Distance in y of one blade and the next.
    pub pitch: f64,
    /// Nodes a, b, c, d of the outer line of the O-grid, rising, with d − c = b − a.
    pub corners: [usize; 4],
    /// Cells of the passage block from blade to blade.
    pub cells: usize,
    /// The plane ahead.
    pub inlet: StripEnd,
    /// The plane behind.
    pub outlet: StripEnd,
}

impl BladePassage {
    /// Nodes in i and j of the passage and the strips ahead and behind, beside an O-grid of this many cells around.
    #[must_use]
    pub fn sizes(&self, around: usize) -> [[usize; 2]; 3] {
        let [a, b, c, d] = self.corners;
        let across = self.cells + 1;
        [
            [d - c + 1, across],
            [c - b + across, self.inlet.cells + 1],
            [around - d + a + across, self.outlet.cells + 1],
        ]
    }
}

/// A block that was solved for.
#[derive(Debug, Clone, PartialEq)]
pub struct SolvedBlock {
    /// The block, with its boundary.
    pub grid: Grid,
    /// The reason why the solve stopped.
    pub stop: NewtonStop,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Linear iterations.
    pub linear_iterations: f64,
}

/// The O-grid `ring` with its boundary, and the blocks P, I and E around it, solved for on the backend, on the CPU side
/// by side. The cells off the wall are then brought near right angles on the host.
///
/// Blocks share nodes bit for bit. Of two nodes that are a pitch apart, the upper one has the x of the lower one and
/// y = fl(y + pitch).
///
/// # Errors
/// If the memory does not suffice, the device fails, or the backend is one of several ranks. A block that is not solved,
/// or is folded, is a result.
pub fn passage_blocks<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    ring: &Grid,
    passage: &BladePassage,
    options: &SolverOptions,
) -> Result<(Grid, Vec<SolvedBlock>), SolverError> {
    let line = BladeLine::of(ring, passage);
    let start = passage_block(&line);
    let [inlet, outlet] = strips(&line, &start);
    let starts = vec![(start, 0.0), (inlet, passage.pitch), (outlet, -passage.pitch)];
    let each = backend.each(starts, |backend, of| solved(backend, of, options));
    let mut solved: Vec<SolvedBlock> = each.into_iter().collect::<Result<_, _>>()?;
    let own = solved.iter().map(|block| block.grid.clone());
    let mut grids: Vec<Grid> = iter::once(ring.clone()).chain(own).collect();
    joined(&mut grids, &line);
    repeat(&mut grids, passage.pitch);
    if solved.iter().all(|block| block.stop.converged()) {
        shape(&mut grids, passage);
    }
    let mut grids = grids.into_iter();
    let ring = grids.next().unwrap_or_else(|| ring.clone());
    solved.iter_mut().zip(grids).for_each(|(block, grid)| block.grid = grid);
    Ok((ring, solved))
}

/// A block by Winslow's equations, from its first guess and with the sides of that; its rows close after `shift`.
fn solved<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    (start, shift): (Grid, f64),
    options: &SolverOptions,
) -> Result<SolvedBlock, SolverError> {
    let zeros = || vec![0.0; LevelSize::of(&start).values() / 2];
    let mut data = EllipticData::of_terms(&start, [zeros(), zeros()], None);
    data.shift = shift;
    let (state, guess) = backend.elliptic(&data)?;
    let problem = (state, start.topology);
    let (nodes, _, report) = solution::<B, f64>(backend, problem, options, guess)?;
    let mut grid = Grid::new(start.topology, start.ni, start.nj);
    backend.fetch(&nodes, &mut grid)?;
    Ok(SolvedBlock {
        grid,
        stop: report.stop,
        newton_iterations: report.history.newton_iterations(),
        linear_iterations: report.history.linear_iterations(),
    })
}

/// Places of the blocks behind the O-grid.
const PASSAGE: usize = 1;
const INLET: usize = 2;
const OUTLET: usize = 3;

/// Share of the normal in the directions in which edges of the passage leave the O-grids.
const BEND: f64 = 0.35;

/// Share of the spacing of the first line in that of the points on the plane; the other part is even.
const OWN_SPACING: f64 = 0.3;

/// The outer line of an O-grid.
struct BladeLine<'a> {
    /// Its nodes, the last of which repeats the first.
    points: Vec<[f64; 2]>,
    /// Outward unit normals.
    normals: Vec<[f64; 2]>,
    passage: &'a BladePassage,
}

impl<'a> BladeLine<'a> {
    fn of(grid: &Grid, passage: &'a BladePassage) -> Self {
        let points = grid.row(grid.nj - 1);
        let normals = wall_normals(&points);
        Self { points, normals, passage }
    }

    /// A node of the O-grid of the next blade.
    fn above(&self, node: usize) -> [f64; 2] {
        raised(self.points[node], self.passage.pitch)
    }
}

/// The point a pitch above.
fn raised([x, y]: [f64; 2], pitch: f64) -> [f64; 2] {
    [x, y + pitch]
}

/// The first guess of the passage: i from its front to its rear, j from the blade to the next one. Front and rear are cubic
/// curves from corner to corner that leave the O-grids in a direction between the normal and the chord.
fn passage_block(ring: &BladeLine) -> Grid {
    let BladePassage { corners: [a, b, c, d], cells: top, .. } = *ring.passage;
    let mut grid = Grid::new(Topology::Rectangle, d - c + 1, top + 1);
    for k in 0..=d - c {
        grid.set([k, 0], ring.points[c + k]);
        grid.set([k, top], ring.above(b - k));
    }
    for (i, low, high) in [(0, c, b), (d - c, d, a)] {
        let [from, to] = [ring.points[low], ring.above(high)];
        let length = distance(from, to);
        let chord = difference(to, from).map(|c| c / length);
        let leaving = |normal: [f64; 2]| {
            let way = [0, 1].map(|k| BEND * normal[k] + (1.0 - BEND) * chord[k]);
            way.map(|c| c * length / way[0].hypot(way[1]))
        };
        let start = leaving(ring.normals[low]);
        let end = leaving(ring.normals[high].map(|c| -c));
        for j in 1..top {
            let t = j as f64 / top as f64;
            let (t2, t3) = (t * t, t * t * t);
            let weights =
                [2.0 * t3 - 3.0 * t2 + 1.0, t3 - 2.0 * t2 + t, 3.0 * t2 - 2.0 * t3, t3 - t2];
            let terms = [from, start, to, end].into_iter().zip(weights);
            let place = terms.fold([0.0; 2], |sum, (term, weight)| along(sum, term, weight));
            grid.set([i, j], place);
        }
    }
    interpolated(&grid)
}

/// The strips beside the passage. The one ahead has i upwards from b of the O-grid along the nose and the front of the
/// passage to b of the next one, and j to the inlet. The one behind has i downwards from a of the next O-grid along the
/// rear of the passage and the edge to a, and j to the outlet.
fn strips(ring: &BladeLine, block: &Grid) -> [Grid; 2] {
    let BladePassage { corners: [a, b, c, d], inlet, outlet, .. } = *ring.passage;
    let nose = ring.points[b..=c].iter().copied();
    let front = (1..block.nj).map(|j| block.point(0, j));
    let rear = (0..block.nj).rev().map(|j| block.point(block.ni - 1, j));
    let edge = ring.points[d + 1..].iter().chain(&ring.points[1..=a]).copied();
    [
        strip(&nose.chain(front).collect::<Vec<_>>(), inlet),
        strip(&rear.chain(edge).collect::<Vec<_>>(), outlet),
    ]
}

/// Straight lines from a line that rises or falls by a pitch to a plane.
fn strip(line: &[[f64; 2]], plane: StripEnd) -> Grid {
    let last = line.len() - 1;
    let s = chord_lengths(line);
    let pitch = line[last][1] - line[0][1];
    let mean = |c: usize| line.iter().map(|point| point[c]).sum::<f64>() / line.len() as f64;
    let centre = mean(1) + (plane.x - mean(0)) * plane.angle.to_radians().tan();
    let size = [last + 1, plane.cells + 1];
    Grid::of_nodes(Topology::O(Seam::Periodic), size, |i, j| {
        let share = OWN_SPACING * s[i] / s[last] + (1.0 - OWN_SPACING) * i as f64 / last as f64;
        let to = [plane.x, centre + pitch * (share - 0.5)];
        between(line[i], to, j as f64 / plane.cells as f64)
    })
}

/// The segments at which blocks meet, and those that are a pitch apart, the lower one first.
fn meetings(ring: &BladeLine, sizes: &[[usize; 2]]) -> (Vec<[Segment; 2]>, Vec<[Segment; 2]>) {
    use Side::{Above, Before, Behind, Below};
    let ([a, b, c, d], n) = (ring.passage.corners, ring.points.len() - 1);
    let part = |block, side, nodes| Segment { block, side, nodes };
    let last = |block: usize, index: usize| sizes[block][index] - 1;
    let (across, nose, tail) = (last(PASSAGE, 1), c - b, n - d);
    let whole = |block: usize, side: Side| part(block, side, [0, last(block, 1 - side.across())]);
    let links = vec![
        [whole(0, Before), whole(0, Behind)],
        [part(0, Above, [0, a]), part(OUTLET, Below, [across + tail, across + tail + a])],
        [part(0, Above, [b, c]), part(INLET, Below, [0, nose])],
        [part(0, Above, [c, d]), whole(PASSAGE, Below)],
        [part(0, Above, [d, n]), part(OUTLET, Below, [across, across + tail])],
        [whole(PASSAGE, Before), part(INLET, Below, [nose, nose + across])],
        [whole(PASSAGE, Behind), part(OUTLET, Below, [across, 0])],
    ];
    let partners = vec![
        [part(0, Above, [a, b]), part(PASSAGE, Above, [b - a, 0])],
        [whole(INLET, Before), whole(INLET, Behind)],
        [whole(OUTLET, Behind), whole(OUTLET, Before)],
    ];
    (links, partners)
}

/// A segment that runs forwards, and its counterpart in that order.
fn forwards([on, to]: [Segment; 2]) -> [Segment; 2] {
    if on.nodes[0] <= on.nodes[1] {
        return [on, to];
    }
    [on, to].map(|segment| Segment { nodes: [segment.nodes[1], segment.nodes[0]], ..segment })
}

/// Makes shared nodes one, bit for bit, and gives the blocks their boundary.
fn joined(grids: &mut [Grid], ring: &BladeLine) {
    let sizes: Vec<[usize; 2]> = grids.iter().map(|grid| [grid.ni, grid.nj]).collect();
    let (links, partners) = meetings(ring, &sizes);
    for [from, to] in &links[1..] {
        copy(grids, [*from, *to], |point| point);
    }
    let mut ranges: Vec<Range> = Vec::new();
    let both = |[on, to]: [Segment; 2]| [[on, to], [to, on]].map(forwards);
    for [on, to] in links.into_iter().flat_map(both) {
        ranges.push(Range { on, meets: Meets::Link(to) });
    }
    let ends = PERIOD.map(|name| Patch::named(name, Some(SideKind::Periodic)));
    for ([on, to], end) in partners.into_iter().flat_map(|pair| both(pair).into_iter().zip(ends)) {
        ranges.push(Range { on, meets: Meets::Partner(end, to) });
    }
    let whole = |block: usize, side: Side| Segment { block, side, nodes: [0, sizes[block][0] - 1] };
    let planes = [
        (whole(0, Side::Below), Patch::Wall),
        (whole(INLET, Side::Above), Patch::Side(Name::of("inlet"), SideKind::Inlet)),
        (whole(OUTLET, Side::Above), Patch::Side(Name::of("outlet"), SideKind::Outlet)),
    ];
    ranges.extend(planes.map(|(on, patch)| Range { on, meets: Meets::Patch(patch) }));
    ranges.sort_by_key(|range| (range.on.block, range.on.side as u8, range.on.nodes[0]));
    for (grid, own) in grids.iter_mut().zip(ranges.chunk_by(|a, b| a.on.block == b.on.block)) {
        grid.outside = Some(Outside::of_ranges(own.to_vec()));
    }
}

/// The upper one of two nodes a pitch apart ← the lower one, with the pitch added to its y.
pub fn repeat(grids: &mut [Grid], pitch: f64) {
    let upper = Patch::named(PERIOD[1], Some(SideKind::Periodic));
    let ranges: Vec<Range> = grids.iter().flat_map(Grid::boundary).collect();
    for range in ranges.iter().filter(|range| range.patch() == Some(upper)) {
        if let Some(lower) = range.partner() {
            copy(grids, [lower, range.on], |point| raised(point, pitch));
        }
    }
}

/// Nodes of a segment ← those of another one.
fn copy(grids: &mut [Grid], [from, to]: [Segment; 2], change: impl Fn([f64; 2]) -> [f64; 2]) {
    for k in 0..from.count() {
        let point = change(from.point(&grids[from.block], k, 0));
        let size = [grids[to.block].ni, grids[to.block].nj];
        grids[to.block].set(to.node(size, k), point);
    }
}
