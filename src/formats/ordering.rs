//! The order in which gmsh numbers the nodes of lines, quadrangles and hexahedra of any order.
//!
//! Corners come first, then the inner nodes of edges, of faces, and of the volume; those within a face or
//! a volume are numbered as the nodes of an element whose order is lower by two. Source: Gmsh 4.13 reference
//! manual, sections "Node ordering" and "High-order elements", <https://gmsh.info/doc/texinfo/gmsh.html>.

/// A node by its steps in each direction from the first corner, 0 to the order of the element.
type Place<const N: usize> = [usize; N];

pub(super) fn line(order: usize) -> impl Iterator<Item = usize> {
    [0, order].into_iter().chain(1..order)
}

/// Edges of a quadrangle by their corners.
const SIDES: [[usize; 2]; 4] = [[0, 1], [1, 2], [2, 3], [3, 0]];

/// The nodes of a quadrangle of this order, counter-clockwise.
pub(super) fn quadrangle(order: usize) -> Vec<Place<2>> {
    let n = order;
    let corners = [[0, 0], [n, 0], [n, n], [0, n]];
    if order == 0 {
        return vec![[0, 0]];
    }
    let mut nodes = corners.to_vec();
    nodes.extend(SIDES.iter().flat_map(|side| inner(side.map(|k| corners[k]), order)));
    if order > 1 {
        nodes.extend(quadrangle(order - 2).iter().map(|node| node.map(|k| k + 1)));
    }
    nodes
}

/// Faces of a hexahedron by their corners.
const FACES: [[usize; 4]; 6] =
    [[0, 3, 2, 1], [0, 1, 5, 4], [0, 4, 7, 3], [1, 2, 6, 5], [2, 3, 7, 6], [4, 5, 6, 7]];

pub(super) fn hexahedron(order: usize) -> Vec<Place<3>> {
    let n = order;
    if order == 0 {
        return vec![[0; 3]];
    }
    let base = [[0, 0], [n, 0], [n, n], [0, n]];
    let corners: Vec<Place<3>> =
        [0, n].iter().flat_map(|&z| base.map(|[x, y]| [x, y, z])).collect();
    let mut nodes = corners.clone();
    // Edges stand in the order of their two corners, which differ in one direction.
    for (k, from) in corners.iter().enumerate() {
        let others = corners[k + 1..].iter();
        let beside = others.filter(|to| (0..3).filter(|c| from[*c] != to[*c]).count() == 1);
        nodes.extend(beside.flat_map(|to| inner([*from, *to], order)));
    }
    if order > 1 {
        for face in FACES {
            let [first, along, _, across] = face.map(|k| corners[k]);
            let inside = quadrangle(order - 2).into_iter().map(|[u, v]| {
                let up = |c: usize| first[c] * n + (u + 1) * along[c] + (v + 1) * across[c];
                let down = |c: usize| (u + v + 2) * first[c];
                [0, 1, 2].map(|c| (up(c) - down(c)) / n)
            });
            nodes.extend(inside);
        }
        nodes.extend(hexahedron(order - 2).iter().map(|node| node.map(|k| k + 1)));
    }
    nodes
}

/// The nodes between the two ends of an edge.
fn inner<const N: usize>(
    [from, to]: [Place<N>; 2],
    order: usize,
) -> impl Iterator<Item = Place<N>> {
    (1..order).map(move |k| std::array::from_fn(|c| (from[c] * (order - k) + to[c] * k) / order))
}
