//! The points, curves, surfaces and volumes on which the nodes and elements of a mesh lie.
//!
//! A plane grid is a surface bounded by curves, which meet at points. An extruded one has each of them
//! three times: at the back and at the front of the span, and between, one dimension higher. Tags count
//! from 1 within a dimension.

use crate::formats::data::{Span, count, ends};
use crate::formats::quads;
use crate::formats::welded::{CellSide, PatchSides, Welded};
use crate::grid::Grid;
use crate::grid::boundary::{Patch, Side};

/// The mesh of a grid by its entities.
pub(super) struct Model<'a> {
    plane: Welded<'a>,
    span: Option<Span>,
    order: usize,
    /// Its points, its curves, and the surface.
    pieces: Vec<PlanePiece>,
    /// Groups at the ends of the span.
    ends: &'static [&'static str],
}

/// A point at which curves meet, a curve of sides on the rim, or the surface.
#[derive(Default)]
struct PlanePiece {
    dimension: usize,
    /// Its place among those of its dimension.
    place: usize,
    /// The group of a curve or of the cells.
    group: Option<&'static str>,
    /// Its nodes without those of the pieces that bound it.
    nodes: Vec<usize>,
    /// The sides of a curve, with the cells on their left.
    sides: Vec<CellSide>,
    /// First and last point of a curve, by their places; none where it closes.
    ends: Option<[usize; 2]>,
}

/// A piece of the plane at a place on the span.
#[derive(Clone, Copy)]
pub(super) struct Entity<'m> {
    piece: &'m PlanePiece,
    part: SpanPart,
}

/// The place on the span; a plane grid is all at the back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SpanPart {
    Back,
    Front,
    Between,
}

impl<'a> Model<'a> {
    /// The mesh of cells of this order, which divides the counts of cells of the grid, of its cut and of its
    /// span.
    pub(super) fn new(grids: &[&'a Grid], span: Option<Span>, order: usize) -> Self {
        let plane = Welded::of_order(grids, order);
        // Around the cells counter-clockwise, but the body, which has them outside. Parts of the outflow are one curve.
        let mut around: Vec<PatchSides> = Vec::new();
        for side in [Side::Below, Side::Behind, Side::Before, Side::Above] {
            for (patch, mut sides, [start, end]) in plane.patches(side) {
                let joined = matches!(patch, Patch::Outflow | Patch::Side(..));
                let next =
                    |(of, _, ends): &&mut PatchSides| joined && *of == patch && ends[0] == end;
                match around.iter_mut().find(next) {
                    Some((_, all, ends)) => {
                        ends[0] = start;
                        sides.append(all);
                        *all = sides;
                    }
                    None => around.push((patch, sides, [start, end])),
                }
            }
        }
        let mut points: Vec<usize> = Vec::new();
        for (_, _, [start, end]) in around.iter().filter(|(.., [start, end])| start != end) {
            for node in [start, end] {
                if !points.contains(node) {
                    points.push(*node);
                }
            }
        }
        // The outer line follows the body.
        if let Some(others @ [_, ..]) = around.get_mut(1..) {
            others.rotate_right(1);
        }
        let mut is_inner = vec![true; plane.nodes];
        let point = |(place, node): (usize, &usize)| PlanePiece {
            place,
            nodes: vec![*node],
            ..PlanePiece::default()
        };
        let mut pieces: Vec<PlanePiece> = points.iter().enumerate().map(point).collect();
        pieces.extend(around.into_iter().enumerate().map(|(place, (patch, sides, ends))| {
            let plane = &plane;
            let on_side = |&side: &CellSide| (0..=order).map(move |k| plane.node_of_side(side, k));
            let mut nodes: Vec<usize> = sides.iter().flat_map(on_side).collect();
            nodes.sort_unstable();
            nodes.dedup();
            for &node in &nodes {
                is_inner[node] = false;
            }
            nodes.retain(|node| !points.contains(node));
            let [start, end] = ends.map(|end| points.iter().position(|node| *node == end));
            let ends = start.zip(end).filter(|(start, end)| start != end);
            let (group, ends) = (Some(patch.name()), ends.map(|(a, b)| [a, b]));
            PlanePiece { dimension: 1, place, group, nodes, sides, ends }
        }));
        let nodes = (0..plane.nodes).filter(|&node| is_inner[node]).collect();
        let group = Some("fluid");
        pieces.push(PlanePiece { dimension: 2, group, nodes, ..PlanePiece::default() });
        let ends = ends(span, grids);
        Self { plane, span, order, pieces, ends }
    }

    pub(super) fn nodes(&self) -> usize {
        self.plane.nodes * count(self.span)
    }

    pub(super) fn coordinates(&self, node: usize) -> [f64; 3] {
        let nodes = self.plane.nodes;
        let [x, y] = self.plane.point(node % nodes);
        [x, y, self.span.map_or(0.0, |span| span.z(node / nodes))]
    }

    /// All entities, by dimension and tag.
    pub(super) fn entities(&self) -> Vec<Entity<'_>> {
        let parts: &[SpanPart] = match self.span {
            None => &[SpanPart::Back],
            Some(_) => &[SpanPart::Back, SpanPart::Front, SpanPart::Between],
        };
        let at = |piece| parts.iter().map(move |&part| Entity { piece, part });
        let mut entities: Vec<Entity<'_>> = self.pieces.iter().flat_map(at).collect();
        entities.sort_by_key(|&entity| (entity.dimension(), self.tag(entity)));
        entities
    }

    pub(super) fn tag(&self, Entity { piece, part }: Entity<'_>) -> usize {
        let count = |dimension| self.pieces.iter().filter(|of| of.dimension == dimension).count();
        let before = match part {
            SpanPart::Back => 0,
            SpanPart::Front => count(piece.dimension),
            // The back and the front of those of one dimension more.
            SpanPart::Between => 2 * count(piece.dimension + 1),
        };
        before + piece.place + 1
    }

    /// The tags of what bounds an entity; that of the end of a curve, and those of curves that run the
    /// other way around a surface, with a minus.
    pub(super) fn bounds(&self, Entity { piece, part }: Entity<'_>) -> Vec<i64> {
        let tag = |piece, part| i64::try_from(self.tag(Entity { piece, part })).unwrap_or(i64::MAX);
        let [back, front] = [SpanPart::Back, SpanPart::Front].map(|part| tag(piece, part));
        let ends = piece.ends.map(|ends| ends.map(|end| tag(&self.pieces[end], part)));
        match (part == SpanPart::Between, ends) {
            (between, _) if piece.dimension == 2 => {
                let curves = self.pieces.iter().filter(|of| of.dimension == 1);
                let ends = [back, front].into_iter().filter(|_| between);
                curves.map(|curve| tag(curve, part)).chain(ends).collect()
            }
            (false, None) => Vec::new(),
            (false, Some([a, b])) => vec![a, -b],
            (true, None) => vec![back, -front],
            (true, Some([a, b])) => vec![back, b, -front, -a],
        }
    }

    /// The physical group of an entity that has elements.
    pub(super) fn group(&self, Entity { piece, part }: Entity<'_>) -> Option<&'static str> {
        match (piece.dimension, part) {
            _ if self.span.is_some() == (part == SpanPart::Between) => piece.group,
            (2, SpanPart::Back) => self.ends.first().copied(),
            (2, _) => self.ends.last().copied(),
            _ => None,
        }
    }

    /// The physical groups with their dimensions, that of the cells last; their tags count from 1.
    pub(super) fn groups(&self) -> Vec<(usize, &'static str)> {
        let mut groups = Vec::new();
        for entity in self.entities() {
            let group = self.group(entity).map(|name| (entity.dimension(), name));
            groups.extend(group.filter(|group| !groups.contains(group)));
        }
        groups
    }

    /// The smallest and the largest coordinates on an entity.
    pub(super) fn extent(&self, Entity { piece, part }: Entity<'_>) -> [[f64; 3]; 2] {
        let ends = piece.ends.iter().flatten().flat_map(|&end| &self.pieces[end].nodes);
        let nodes: &mut dyn Iterator<Item = usize> = match piece.dimension {
            2 => &mut (0..self.plane.nodes),
            _ => &mut piece.nodes.iter().chain(ends).copied(),
        };
        let length = self.span.map_or(0.0, |span| span.length);
        let [low, high] = match part {
            SpanPart::Back => [0.0, 0.0],
            SpanPart::Front => [length; 2],
            SpanPart::Between => [0.0, length],
        };
        let begin =
            [[f64::INFINITY, f64::INFINITY, low], [f64::NEG_INFINITY, f64::NEG_INFINITY, high]];
        nodes.fold(begin, |[mut low, mut high], node| {
            for (c, x) in self.plane.point(node).into_iter().enumerate() {
                (low[c], high[c]) = (low[c].min(x), high[c].max(x));
            }
            [low, high]
        })
    }

    /// The number of nodes on an entity and on none that bounds it, and the k-th of them.
    pub(super) fn own_nodes(
        &self,
        Entity { piece, part }: Entity<'_>,
    ) -> (usize, impl Fn(usize) -> usize + Sync) {
        let nodes = &piece.nodes;
        let last = count(self.span) - 1;
        let planes = match part {
            SpanPart::Back => 0..1,
            SpanPart::Front => last..last + 1,
            SpanPart::Between => 1..last,
        };
        let all = nodes.len() * planes.len();
        let place = move |k: usize| (planes.start + k / nodes.len()) * self.plane.nodes;
        (all, move |k| nodes[k % nodes.len()] + place(k))
    }

    /// The elements of an entity that has a group: gmsh's type, how many, and the nodes of the k-th in gmsh's order.
    pub(super) fn elements(
        &self,
        Entity { piece, part }: Entity<'_>,
    ) -> (usize, usize, impl Fn(usize) -> Vec<usize> + Sync) {
        let (plane, order, between) = (&self.plane, self.order, part == SpanPart::Between);
        let (kinds, places) = self.places(piece.dimension, part);
        let (sides, of_cells) = (&piece.sides, piece.dimension == 2);
        let in_plane = if of_cells { plane.cells } else { sides.len() };
        let layers = if between { (count(self.span) - 1) / order } else { 1 };
        let above = if part == SpanPart::Front { count(self.span) - 1 } else { 0 };
        let nodes = move |k: usize| {
            let (place, first) = (k % in_plane, above + k / in_plane * order);
            let node = |&[a, b, c]: &[usize; 3]| {
                let node = if of_cells {
                    plane.node_of(place, [a, b])
                } else {
                    plane.node_of_side(sides[place], a)
                };
                node + (first + c) * plane.nodes
            };
            places.iter().map(node).collect()
        };
        (kinds[order - 1], in_plane * layers, nodes)
    }

    /// Gmsh's types of the elements of an entity by order, and the nodes of one in gmsh's order: the steps along a side or
    /// in both directions of a cell, and those over the span.
    fn places(&self, dimension: usize, part: SpanPart) -> ([usize; 4], Vec<[usize; 3]>) {
        let (order, between) = (self.order, part == SpanPart::Between);
        // The normal of the back points out of the cells, along −z.
        let turned = part == SpanPart::Back && self.span.is_some();
        let flat = |[a, b]: [usize; 2]| if turned { [b, a, 0] } else { [a, b, 0] };
        let quadrangle = quads::quadrangle(order).into_iter();
        match (dimension, between) {
            (2, true) => (HEXAHEDRA, quads::hexahedron(order)),
            (2, false) => (QUADRANGLES, quadrangle.map(flat).collect()),
            (_, true) => (QUADRANGLES, quadrangle.map(|[a, b]| [a, 0, b]).collect()),
            (_, false) => (LINES, quads::line(order).map(|a| [a, 0, 0]).collect()),
        }
    }
}

impl Entity<'_> {
    pub(super) fn dimension(self) -> usize {
        self.piece.dimension + usize::from(self.part == SpanPart::Between)
    }
}

/// Gmsh's numbers of the types of elements, by order from 1.
pub(super) const LINES: [usize; 4] = [1, 8, 26, 27];
pub(super) const QUADRANGLES: [usize; 4] = [3, 10, 36, 37];
pub(super) const HEXAHEDRA: [usize; 4] = [5, 12, 92, 93];
