//! Holes, fringes and donors by the rule of OpenFOAM's overset stencils, to predict what its solvers will
//! find.
//!
//! The rule is taken from `inverseDistance` in OpenFOAM 1912 (`cellCellStencil`), with `layerRelax` 1; the
//! other stencils share it:
//!
//! 1. Each zone marks the voxels of a box that the bounding boxes of its boundary faces meet. Cells of other
//!    zones whose bounding box meets a marked voxel are holes.
//! 2. The donor of a cell is the cell of another zone that contains its centre and is not a hole. If there
//!    are several, the zone with the nearest number is taken, of two equally near the one with the higher
//!    number.
//! 3. A cell on a rim without a donor becomes a hole.
//! 4. Regions that holes separate from all walls and from the far field become holes, unless the donors of
//!    their rim lie in a region that is not separated.
//! 5. Cells next to holes are interpolated; without a donor they become holes, and the front moves on.

use std::ops::RangeInclusive;

use rayon::prelude::*;

use super::zone::{ElementWall, Rim, Zone, ZoneCells};
use crate::geometry::vector::{along, bounds, difference};
use crate::grid::Grid;
use crate::grid::boundary::{Patch, Segment};

/// The box in which holes are cut, and the numbers of its voxels along x and y.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct SearchBox {
    /// Its lower corner.
    pub low: [f64; 2],
    /// Its upper corner.
    pub high: [f64; 2],
    /// Voxels along x and y.
    pub divisions: [usize; 2],
}

/// Voxels in the narrowest gap. With half as many, holes close it: docs/overset.md.
const IN_GAP: f64 = 7.0;
/// Largest total number of voxels, and smallest number along an axis.
const MOST: f64 = 2e7;
const LEAST: f64 = 50.0;
/// Margin added to extents, as a fraction of the extent of the mesh.
const TOLERANCE: f64 = 1e-10;

/// The role of a cell in a solution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellType {
    /// It is solved for.
    Calculated,
    /// It is interpolated from its donor and the cells around that.
    Interpolated,
    /// It is excluded.
    Hole,
}

/// The cells of a zone as a solver will treat them.
#[derive(Debug, Clone, PartialEq)]
pub struct ZoneTypes {
    /// Type of each cell.
    pub types: Vec<CellType>,
    /// Zone and cell of each cell's donor.
    pub donors: Vec<Option<(usize, usize)>>,
    /// Cells that need a donor and have none, without those inside a body.
    pub orphans: Vec<usize>,
}

impl ZoneTypes {
    /// Number of cells of a type.
    pub fn count(&self, of: CellType) -> usize {
        self.types.iter().filter(|found| **found == of).count()
    }

    fn is_hole(&self, cell: usize) -> bool {
        self.types[cell] == CellType::Hole
    }

    /// Makes a cell interpolated, or without a donor an orphan and a hole. Returns whether it has a donor.
    fn interpolate(&mut self, cell: usize) -> bool {
        let has_donor = self.donors[cell].is_some();
        self.types[cell] = if has_donor { CellType::Interpolated } else { CellType::Hole };
        self.orphans.extend((!has_donor).then_some(cell));
        has_donor
    }
}

impl SearchBox {
    /// The box around all walls, with voxels of a seventh of the narrowest gap.
    pub fn around(walls: &[ElementWall], gap: f64) -> Self {
        let corners = walls.iter().flat_map(ElementWall::bounds);
        let [low, high] = if walls.is_empty() { [[0.0; 2], [1.0; 2]] } else { bounds(corners) };
        let size = difference(high, low);
        let margin = 0.1 * size[0].max(size[1]);
        let (low, high) = (low.map(|c| c - margin), high.map(|c| c + margin));
        let size = size.map(|c| c + 2.0 * margin);
        let coarsest = size[0].min(size[1]) / LEAST;
        let finest = (size[0] * size[1] / MOST).sqrt();
        let voxel = (gap / IN_GAP).min(coarsest).max(finest);
        Self { low, high, divisions: size.map(|c| (c / voxel).ceil() as usize) }
    }

    /// This box in another unit.
    #[must_use]
    pub fn scaled(&self, by: f64) -> Self {
        Self { low: self.low.map(|c| by * c), high: self.high.map(|c| by * c), ..*self }
    }

    /// Lengths of a voxel.
    pub fn voxel(&self) -> [f64; 2] {
        [0, 1].map(|c| (self.high[c] - self.low[c]) / self.divisions[c] as f64)
    }

    /// The voxels within bounds, column by column; `None` if the bounds meet no voxel.
    fn within(
        &self,
        [low, high]: [[f64; 2]; 2],
    ) -> Option<impl Iterator<Item = RangeInclusive<usize>> + use<>> {
        let mut range = [[0; 2]; 2];
        for c in 0..2 {
            let number = |at: f64| {
                let share = (at - self.low[c]) / (self.high[c] - self.low[c]);
                (share * self.divisions[c] as f64).floor()
            };
            let (first, last) = (number(low[c]).max(0.0), number(high[c]));
            let most = self.divisions[c] as f64 - 1.0;
            if last < 0.0 || first > most {
                return None;
            }
            range[c] = [first as usize, last.min(most) as usize];
        }
        let ([[first, last], [from, to]], rows) = (range, self.divisions[1]);
        Some((first..=last).map(move |i| i * rows + from..=i * rows + to))
    }
}

struct Voxels<'a> {
    search: &'a SearchBox,
    /// Whether the boundary of a zone meets each of them.
    marks: Vec<bool>,
    any: bool,
}

impl<'a> Voxels<'a> {
    /// Marks the boundary of a zone, but where its rim is.
    fn of(zone: &Zone<'_>, search: &'a SearchBox, small: [f64; 2]) -> Self {
        let voxels = search.divisions[0] * search.divisions[1];
        let mut found = Self { search, marks: vec![false; voxels], any: false };
        let mut ranges = zone.grid.boundary();
        ranges.sort_by_key(|range| range.patch() != Some(Patch::Wall));
        for (range, patch) in ranges.iter().filter_map(|range| Some((range, range.patch()?))) {
            let mark = patch == Patch::Wall || zone.rim == Rim::FarField;
            found.mark(zone.grid, range.on, small, mark);
        }
        found
    }

    /// Marks the sides of the cells on a segment.
    fn mark(&mut self, grid: &Grid, on: Segment, small: [f64; 2], mark: bool) {
        for k in 1..on.count() {
            let side = bounds([k - 1, k].map(|k| on.point(grid, k, 0)));
            let Some(columns) = self.search.within(widened(side, small)) else { continue };
            self.any |= mark;
            columns.for_each(|column| self.marks[column].fill(mark));
        }
    }

    /// True if bounds meet a voxel with boundary.
    fn meet(&self, bounds: [[f64; 2]; 2]) -> bool {
        let mut columns = self.search.within(bounds).filter(|_| self.any).into_iter().flatten();
        columns.any(|column| self.marks[column].contains(&true))
    }
}

fn widened([low, high]: [[f64; 2]; 2], by: [f64; 2]) -> [[f64; 2]; 2] {
    [difference(low, by), along(high, by, 1.0)]
}

impl Zone<'_> {
    /// The cells that share a side with a cell.
    fn around(&self, cell: usize) -> impl Iterator<Item = usize> + use<> {
        let &Grid { ni, nj, topology, .. } = self.grid;
        let columns = ni - 1;
        let (i, j) = (cell % columns, cell / columns);
        let closed = topology.closed();
        let before = if i > 0 { Some(cell - 1) } else { closed.then_some(cell + columns - 1) };
        let last = i + 1 == columns;
        let after = if last { closed.then(|| cell + 1 - columns) } else { Some(cell + 1) };
        let above = (j + 2 < nj).then(|| cell + columns);
        let wake = topology.cut();
        let across = if j == 0 && (i < wake || i >= columns - wake) {
            Some(columns - 1 - i)
        } else {
            cell.checked_sub(columns)
        };
        [before, after, above, across].into_iter().flatten()
    }

    /// True if a cell lies on a boundary that is not a rim: a wall, or the far field.
    fn on_boundary(&self, cell: usize) -> bool {
        let &Grid { ni, nj, topology, .. } = self.grid;
        let (i, j) = (cell % (ni - 1), cell / (ni - 1));
        let far = self.rim == Rim::FarField;
        let wall = topology.wall(ni);
        let wall = if wall.is_empty() { far } else { (*wall.start()..*wall.end()).contains(&i) };
        let ends = !topology.closed() && far && (i == 0 || i + 2 == ni);
        (j == 0 && wall) || ends || (j + 2 == nj && far)
    }
}

/// The types of the cells of zones, in the order of their numbers, beginning with the background if there is
/// one. `walls` has the wall of each zone with a wall, in the same order.
pub fn cell_types(
    zones: &[Zone<'_>],
    cells: &[ZoneCells],
    walls: &[ElementWall],
    search: &SearchBox,
) -> Vec<ZoneTypes> {
    let [low, high] = bounds(zones.iter().flat_map(|zone| zone.grid.points()));
    let small = difference(high, low).map(|extent| TOLERANCE * extent);
    let voxels: Vec<Voxels<'_>> =
        zones.par_iter().map(|zone| Voxels::of(zone, search, small)).collect();
    let cut: Vec<Vec<bool>> = (0..zones.len())
        .map(|zone| {
            let others: Vec<&Voxels<'_>> = others(zone, zones.len()).map(|k| &voxels[k]).collect();
            let is_cut = |cell: usize| {
                let around = widened(cells[zone].bounds(cell), small);
                others.iter().any(|voxels| voxels.meet(around))
            };
            (0..cells[zone].centres.len()).into_par_iter().map(is_cut).collect()
        })
        .collect();
    let mut found: Vec<ZoneTypes> = (0..zones.len())
        .map(|zone| {
            let mut sources: Vec<usize> = others(zone, zones.len()).collect();
            sources.sort_by_key(|&k| (k.abs_diff(zone), std::cmp::Reverse(k)));
            let donor = |centre: &[f64; 2]| {
                sources.iter().find_map(|&source| {
                    let cell = cells[source].at(*centre)?;
                    (!cut[source][cell]).then_some((source, cell))
                })
            };
            let kind = |&cut: &bool| if cut { CellType::Hole } else { CellType::Calculated };
            let donors = cells[zone].centres.par_iter().map(donor).collect();
            ZoneTypes { types: cut[zone].iter().map(kind).collect(), donors, orphans: Vec::new() }
        })
        .collect();
    for ((zone, found), cut) in zones.iter().zip(&mut found).zip(&cut) {
        for cell in zone.rim_cells().filter(|cell| !cut[*cell]) {
            found.interpolate(cell);
        }
    }
    fill_unreached(zones, &mut found);
    for ((zone, found), cells) in zones.iter().zip(&mut found).zip(cells) {
        walk_front(zone, found);
        let inside = |cell: usize| walls.iter().any(|wall| wall.contains(cells.centres[cell]));
        found.orphans.retain(|cell| !inside(*cell));
    }
    found
}

fn others(zone: usize, count: usize) -> impl Iterator<Item = usize> {
    (0..count).filter(move |other| *other != zone)
}

/// Connection of a region of cells to the boundaries.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Region {
    /// It has neither adjacent holes nor a boundary.
    Unknown,
    /// It borders on holes.
    Parted,
    /// It reaches a wall or the far field, or its rim has donors in such a region.
    Reached,
}

/// Turns regions that are separated from all boundaries into holes.
fn fill_unreached(zones: &[Zone<'_>], found: &mut [ZoneTypes]) {
    let mut numbers: Vec<Vec<usize>> = Vec::new();
    let mut regions: Vec<Region> = Vec::new();
    for (zone, found) in zones.iter().zip(found.iter()) {
        let mut number = vec![usize::MAX; found.types.len()];
        for seed in 0..number.len() {
            if number[seed] != usize::MAX {
                continue;
            }
            let region = regions.len();
            let mut state = Region::Unknown;
            let mut open = vec![seed];
            number[seed] = region;
            while let Some(cell) = open.pop() {
                let hole = found.is_hole(cell);
                if !hole && zone.on_boundary(cell) {
                    state = Region::Reached;
                }
                for other in zone.around(cell) {
                    if found.is_hole(other) != hole {
                        if !hole && state == Region::Unknown {
                            state = Region::Parted;
                        }
                    } else if number[other] == usize::MAX {
                        number[other] = region;
                        open.push(other);
                    }
                }
            }
            regions.push(state);
        }
        numbers.push(number);
    }
    loop {
        let mut changed = false;
        for (zone, (found, number)) in zones.iter().zip(found.iter().zip(&numbers)) {
            for cell in zone.rim_cells() {
                let of_donor = |(other, donor): (usize, usize)| regions[numbers[other][donor]];
                let donor = found.donors[cell].map(of_donor);
                let parted = regions[number[cell]] != Region::Reached;
                if parted && donor == Some(Region::Reached) {
                    regions[number[cell]] = Region::Reached;
                    changed = true;
                }
            }
        }
        if !changed {
            break;
        }
    }
    for (found, number) in found.iter_mut().zip(&numbers) {
        for (kind, number) in found.types.iter_mut().zip(number) {
            if regions[*number] == Region::Parted {
                *kind = CellType::Hole;
            }
        }
    }
}

/// Makes the cells beside holes interpolated. Cells without a donor become holes.
fn walk_front(zone: &Zone<'_>, found: &mut ZoneTypes) {
    let beside_hole = |cell: usize| zone.around(cell).any(|other| found.is_hole(other));
    let mut front: Vec<usize> =
        (0..found.types.len()).filter(|&cell| !found.is_hole(cell) && beside_hole(cell)).collect();
    while !front.is_empty() {
        let mut next = Vec::new();
        for cell in front {
            if !found.is_hole(cell) && !found.interpolate(cell) {
                next.extend(zone.around(cell));
            }
        }
        front = next;
    }
}
