//! Wall terms that the lines of a panel are not solved for.

use super::panel::{LANES, Lane, PanelShape};
use crate::backend::Real;
use crate::backend::cpu::block::subtract;

/// The wall terms of up to four sides, the absent ones last.
pub(super) type WallSet<'a, M> = [Option<Walls<'a, M>>; 4];

/// Wall terms in a set, without an allocation.
pub(super) fn wall_set<'a, M>(mut walls: impl Iterator<Item = Walls<'a, M>>) -> WallSet<'a, M> {
    std::array::from_fn(|_| walls.next())
}

/// Wall columns B of a side in the layout of some lines, and the wall terms d.
pub(super) struct Walls<'a, M> {
    /// `[panel][point along][entry of the block][lane]` of each colour.
    pub(super) columns: [&'a [M]; 2],
    /// d of each point along the side.
    pub(super) terms: &'a [[M; 2]],
    pub(super) shape: PanelShape,
    /// Whether the side is along the lines: the terms change from point to point of a line.
    pub(super) along: bool,
}

#[derive(Clone, Copy)]
pub(super) struct PanelWalls<'a, M> {
    columns: &'a [[Lane<M>; 4]],
    terms: Terms<'a, M>,
}

#[derive(Clone, Copy)]
enum Terms<'a, M> {
    /// A pair for each point along, the same in all lanes.
    Along(&'a [[M; 2]]),
    /// A pair for each lane, the same at all points.
    Across([Lane<M>; 2]),
}

impl<'a, M: Real> Walls<'a, M> {
    pub(super) fn of(&self, colour: usize, panel: usize) -> PanelWalls<'a, M> {
        let (along, length) = (self.shape.along, self.shape.along * 4 * LANES);
        let columns = &self.columns[colour][panel * length..][..length];
        let terms = if self.along {
            Terms::Along(&self.terms[..along])
        } else {
            let line = |lane: usize| self.terms.get(2 * (panel * LANES + lane) + colour);
            Terms::Across([0, 1].map(|component| {
                std::array::from_fn(|lane| line(lane).map_or(M::zero(), |pair| pair[component]))
            }))
        };
        PanelWalls { columns: columns.as_chunks::<LANES>().0.as_chunks::<4>().0, terms }
    }
}

impl<M: Real> PanelWalls<'_, M> {
    /// b ← b − B d at point `l`.
    #[inline(always)]
    pub(super) fn subtract_from(&self, b: &mut [Lane<M>; 2], l: usize) {
        let d = match self.terms {
            Terms::Along(pairs) => pairs[l].map(|value| [value; LANES]),
            Terms::Across(lanes) => lanes,
        };
        subtract(b, &self.columns[l], &d);
    }
}
