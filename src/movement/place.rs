//! Maps beside the equations of a moved grid: the placement between the user's points and those of the equations, and
//! the block behind a base, whose nodes follow the interfaces.
//!
//! A node of that block keeps its share σ of the way from the lower interface to the upper one:
//! δr = (1 − σ) δr_lower + σ δr_upper, a linear map, so that displacements and derivatives follow alike.

use super::MovementError;
use crate::geometry::vector::{Vector, between, difference, distance, dot};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Seam, Symmetry, Topology, interface_columns};

/// Distance from the plane of symmetry, in chords, at which the ends of a half grid's wall are on it.
const ON_PLANE: f64 = 1e-9;

/// The equations hold for a whole grid, in chords, near the origin: r = chord (r' + shift). A half grid has
/// the kept columns of the whole one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct GridPlacement {
    pub(crate) shift: Vector,
    pub(crate) chord: f64,
    pub(crate) half: Option<Symmetry>,
}

impl GridPlacement {
    /// The placement of a grid that comes alone. The chord is the greatest distance of a wall point
    /// from the first one, to the nearest power of two: a scale without rounding. The plane of symmetry of
    /// a half grid becomes that of the equations.
    pub(super) fn of(grid: &Grid) -> Self {
        let wall = grid.wall();
        let first = wall[0];
        let farthest = wall.iter().map(|point| distance(first, *point)).fold(0.0, f64::max);
        let chord = farthest.log2().round().exp2();
        let half = grid.topology.half();
        let shift = half.map_or([0.0; 2], |symmetry| {
            let across = symmetry.mirrored([1.0; 2], [0.0; 2]).map(|c| c < 0.0);
            [0, 1].map(|k| if across[k] { first[k] / chord - FAR_FIELD_CENTRE[k] } else { 0.0 })
        });
        Self { shift, chord, half }
    }

    /// Whether points have other coordinates than in the equations.
    pub(crate) fn is_elsewhere(&self) -> bool {
        let [x, y] = self.shift;
        [x, y, self.chord].map(f64::to_bits) != [0.0, 0.0, 1.0].map(f64::to_bits)
    }

    fn inward(&self, point: Vector) -> Vector {
        [0, 1].map(|k| point[k] / self.chord - self.shift[k])
    }

    /// Points of a row of the user's, as those of the whole grid in the frame of the equations.
    pub(super) fn row_inward(&self, row: &[Vector]) -> Vec<Vector> {
        let own: Vec<Vector> = row.iter().map(|&point| self.inward(point)).collect();
        self.mirrored(&own, FAR_FIELD_CENTRE)
    }

    /// The row of the whole grid whose kept half this is, with a plane of symmetry through `centre`.
    fn mirrored(&self, row: &[Vector], centre: Vector) -> Vec<Vector> {
        self.whole(row, |symmetry, v| [symmetry.on_line(v, centre), symmetry.mirrored(v, centre)])
    }

    /// The row of the whole grid whose kept half this is: `reflected` are a value on the plane of symmetry, which both
    /// ends get, and its mirror image.
    fn whole<T: Copy>(&self, half: &[T], reflected: impl Fn(Symmetry, T) -> [T; 2]) -> Vec<T> {
        let Some(symmetry) = self.half else { return half.to_vec() };
        let last = 2 * (half.len() - 1);
        let first = *symmetry.kept(last + 1).start();
        let mut row = vec![half[0]; last + 1];
        for (k, &value) in half.iter().enumerate() {
            let (i, [on_plane, image]) = (first + k, reflected(symmetry, value));
            let end = k == 0 || k + 1 == half.len();
            (row[i], row[last - i]) = if end { (on_plane, on_plane) } else { (value, image) };
        }
        row
    }

    /// The wall in the frame of the equations.
    pub(super) fn wall_inward(&self, wall: &[Vector]) -> Result<Vec<Vector>, MovementError> {
        if let Some(symmetry) = self.half {
            let off = |&index: &usize| {
                let point = self.inward(wall[index]);
                distance(symmetry.on_line(point, FAR_FIELD_CENTRE), point) > ON_PLANE
            };
            if let Some(index) = [0, wall.len() - 1].into_iter().find(off) {
                return Err(MovementError::OffPlane { index, at: wall[index] });
            }
        }
        Ok(self.row_inward(wall))
    }

    /// The number of a segment of the user's wall from that on the whole wall of this many points, for a mirror image that of
    /// its original.
    pub(super) fn own_segment(&self, k: usize, points: usize) -> usize {
        let Some(symmetry) = self.half else { return k };
        let (first, last) = symmetry.kept(points).into_inner();
        let own = if (first..last).contains(&k) { k } else { points - 2 - k };
        own - first
    }

    /// The grid in the frame of the equations.
    pub(super) fn grid_inward(&self, grid: &Grid) -> Grid {
        let whole = grid.topology.half().map(|_| Topology::O(Seam::Held));
        let rows: Vec<_> = (0..grid.nj).map(|j| self.row_inward(&grid.row(j))).collect();
        let size = [rows[0].len(), grid.nj];
        let inward = Grid::of_nodes(whole.unwrap_or(grid.topology), size, |i, j| rows[j][i]);
        Grid { outside: grid.outside.clone(), ..inward }
    }

    /// The grid of the equations as the user's, a half grid without its mirror image.
    pub(super) fn grid_outward(&self, grid: &Grid) -> Grid {
        let mut own = self.half.map_or_else(|| grid.clone(), |symmetry| symmetry.half(grid));
        own.place(self.shift, self.chord);
        own
    }

    /// Displacements of a row of the user's as those of the whole grid: the mirror image moves likewise,
    /// and the ends stay on the plane of symmetry.
    pub(super) fn spread(&self, row: &[Vector]) -> Vec<Vector> {
        self.mirrored(row, [0.0; 2])
    }

    /// Spreads heights over the whole grid.
    pub(super) fn spread_heights(&self, row: &[f64]) -> Vec<f64> {
        self.whole(row, |_, height| [height; 2])
    }

    /// The transpose of [`Self::spread`].
    pub(super) fn fold(&self, row: &[Vector]) -> Vec<Vector> {
        let Some(symmetry) = self.half else { return row.to_vec() };
        let last = row.len() - 1;
        let kept = symmetry.kept(row.len());
        let (first, end) = (*kept.start(), *kept.end());
        let of = |i: usize| {
            let image = symmetry.mirrored(row[last - i], [0.0; 2]);
            let sum = if last - i == i { row[i] } else { [0, 1].map(|k| row[i][k] + image[k]) };
            let on_plane = last - i == i || i == first || i == end;
            if on_plane { symmetry.on_line(sum, [0.0; 2]) } else { sum }
        };
        kept.map(of).collect()
    }

    /// The transpose of [`Self::spread_heights`].
    pub(super) fn fold_heights(&self, row: &[f64]) -> Vec<f64> {
        let Some(symmetry) = self.half else { return row.to_vec() };
        let last = row.len() - 1;
        let of = |i: usize| if last - i == i { row[i] } else { row[i] + row[last - i] };
        symmetry.kept(row.len()).map(of).collect()
    }
}

/// The index of each node of a block, its columns of the grid of `around` columns about the block, and its share.
fn shares(block: &Grid, around: usize) -> impl Iterator<Item = (usize, [usize; 2], f64)> {
    let last = block.nj - 1;
    (0..block.nj).flat_map(move |j| {
        (0..block.ni).map(move |i| {
            let [lower, upper] = [0, last].map(|j| block.point(i, j));
            let across = difference(upper, lower);
            let share = match j {
                0 => 0.0,
                _ if j == last => 1.0,
                _ => dot(difference(block.point(i, j), lower), across) / dot(across, across),
            };
            (block.index(i, j), interface_columns(around, block.ni - 1, i), share)
        })
    })
}

/// Displacements of the nodes of a block for those of the nodes of the grid around it.
pub(super) fn displacement(block: &Grid, around: &Grid) -> Grid {
    let mut found = Grid::unset(block.topology, block.ni, block.nj);
    for (node, columns, share) in shares(block, around.ni) {
        let [lower, upper] = columns.map(|column| around.point(column, 0));
        [found.x[node], found.y[node]] = between(lower, upper, share);
    }
    found
}

/// The transpose of [`displacement`]: adds derivatives by the nodes of the block to those by the nodes of the grid around it.
pub(super) fn gather(block: &Grid, by_block: &Grid, around: &mut Grid) {
    for (node, columns, share) in shares(block, around.ni) {
        for (column, weight) in columns.into_iter().zip([1.0 - share, share]) {
            around.x[column] += weight * by_block.x[node];
            around.y[column] += weight * by_block.y[node];
        }
    }
}

/// The block of a reference beside a moved grid. The interfaces have the nodes of the grid, bit for bit.
pub(super) fn moved(block: &Grid, before: &Grid, grid: &Grid) -> Grid {
    let mut found = block.clone();
    for (node, columns, share) in shares(block, grid.ni) {
        let [lower, upper] = columns.map(|column| grid.point(column, 0));
        let [from, to] = columns.map(|column| before.point(column, 0));
        let [x, y] = between(difference(lower, from), difference(upper, to), share);
        [found.x[node], found.y[node]] = match node / block.ni {
            0 => lower,
            j if j + 1 == block.nj => upper,
            _ => [block.x[node] + x, block.y[node] + y],
        };
    }
    found
}
