//! The rows of incomplete factors: which entries of A they have, and in which order they are.

use crate::backend::Incomplete;
use crate::sparse::{
    Elimination, EllPattern, Graph, Pattern, ROW_TILE, RowSets, Schedule, Sorted, Triangle, colours,
};
use std::ops::Range;

/// The pattern of the factors: L left of the diagonal, D on it, U right of it. Every row
/// has a diagonal.
#[derive(Debug)]
pub(super) struct FactorRows {
    pub(super) row_start: Vec<usize>,
    /// Position of each diagonal.
    pub(super) diagonal: Vec<usize>,
    pub(super) columns: Vec<u32>,
    /// Position in A of each entry; [`ABSENT`] for a diagonal that A does not have.
    source: Vec<usize>,
    pub(super) renumbering: Option<Renumbering>,
}

/// Other numbers for the rows than those of A.
#[derive(Debug)]
pub(super) struct Renumbering {
    /// Row of A of each row.
    pub(super) order: Vec<u32>,
    /// Row of each row of A.
    pub(super) place: Vec<u32>,
    /// Colour of each row; the rows are sorted by it.
    pub(super) colours: Vec<u32>,
}

const ABSENT: usize = usize::MAX;

impl FactorRows {
    pub(super) fn new(a: Pattern<'_>, kind: Incomplete, schedule: Schedule) -> Self {
        let by_colours = || Renumbering::by_colours(&colours(&Graph::new(a)));
        let renumbering = (schedule == Schedule::Colours).then(by_colours);
        let mirrored = kind.symmetric().then(|| mirror(a));
        let tiles = schedule == Schedule::Tiles;
        Self::build(a.rows(), a.columns.len(), renumbering, |row, entries| {
            let own = a.row_start[row]..a.row_start[row + 1];
            match &mirrored {
                None => entries.extend(own.map(|k| (a.columns[k], k))),
                Some(mirrored) => {
                    let kept = own.filter(|&k| a.columns[k] as usize <= row);
                    entries.extend(kept.map(|k| (a.columns[k], k)));
                    entries.extend(mirrored.of(row));
                }
            }
            if tiles {
                entries.retain(|&(column, _)| column as usize / ROW_TILE == row / ROW_TILE);
            }
        })
    }

    /// Builds the rows of factors of a matrix in ELL format, with the colours and tiles of the grid's points.
    pub(in crate::backend::cpu) fn of_ell(a: EllPattern, schedule: Schedule) -> Self {
        let elimination = Elimination::new(a, schedule);
        let renumbering = elimination.colours().map(|numbers| Renumbering::by_colours(&numbers));
        Self::build(a.rows(), a.rows() * a.width(), renumbering, |row, entries| {
            let kept = a.row(row).filter(|&(_, column)| elimination.keeps(row, column));
            entries.extend(kept.map(|(at, column)| (column as u32, at)));
        })
    }

    /// Builds `rows` rows of `entries` entries at most: `take` appends the column and the position of each entry of a
    /// row of A that is kept.
    fn build(
        rows: usize,
        entries: usize,
        renumbering: Option<Renumbering>,
        take: impl Fn(usize, &mut Vec<(u32, usize)>),
    ) -> Self {
        let mut built = Self {
            row_start: Vec::with_capacity(rows + 1),
            diagonal: Vec::with_capacity(rows),
            columns: Vec::with_capacity(entries),
            source: Vec::with_capacity(entries),
            renumbering,
        };
        built.row_start.push(0);
        let mut entries = Vec::new();
        for row in 0..rows {
            entries.clear();
            take(built.row_of_a(row), &mut entries);
            if let Some(numbers) = &built.renumbering {
                for (column, _) in &mut entries {
                    *column = numbers.place[*column as usize];
                }
            }
            entries.sort_unstable_by_key(|&(column, _)| column);
            built.push(row, &entries);
        }
        built
    }

    fn push(&mut self, row: usize, entries: &[(u32, usize)]) {
        let before = entries.partition_point(|&(column, _)| (column as usize) < row);
        let (lower, rest) = entries.split_at(before);
        let (diagonal, upper) = match rest.split_first() {
            Some((first, upper)) if first.0 as usize == row => (*first, upper),
            _ => ((row as u32, ABSENT), rest),
        };
        self.diagonal.push(self.columns.len() + lower.len());
        for &(column, source) in lower.iter().chain([&diagonal]).chain(upper) {
            self.columns.push(column);
            self.source.push(source);
        }
        self.row_start.push(self.columns.len());
    }

    pub(super) fn len(&self) -> usize {
        self.diagonal.len()
    }

    pub(super) fn pattern(&self) -> Pattern<'_> {
        Pattern { row_start: &self.row_start, columns: &self.columns }
    }

    /// Positions of the entries of a row left of the diagonal, or right of it.
    #[inline(always)]
    pub(super) fn side(&self, row: usize, triangle: Triangle) -> Range<usize> {
        match triangle {
            Triangle::Lower => self.row_start[row]..self.diagonal[row],
            Triangle::Upper => self.diagonal[row] + 1..self.row_start[row + 1],
        }
    }

    pub(super) fn has_diagonal(&self, row: usize) -> bool {
        self.source[self.diagonal[row]] != ABSENT
    }

    /// Value of an entry, zero for a diagonal that A does not have.
    #[inline(always)]
    pub(super) fn value<T: num_traits::Zero + Copy>(&self, at: usize, values: &[T]) -> T {
        values.get(self.source[at]).copied().unwrap_or(T::zero())
    }

    /// Number of the row in A.
    pub(super) fn row_of_a(&self, row: usize) -> usize {
        self.renumbering.as_ref().map_or(row, |numbers| numbers.order[row] as usize)
    }
}

impl Renumbering {
    fn by_colours(numbers: &[u32]) -> Self {
        let order = RowSets::by_number(numbers).rows().to_vec();
        let mut place = vec![0; order.len()];
        for (row, &of_a) in order.iter().enumerate() {
            place[of_a as usize] = row as u32;
        }
        let colours = order.iter().map(|&of_a| numbers[of_a as usize]).collect();
        Self { order, place, colours }
    }
}

/// The entries left of the diagonal, by columns: the right side of a symmetric matrix of which only
/// the left is read.
fn mirror(a: Pattern<'_>) -> Sorted<(u32, usize)> {
    let lower = move |row: usize| {
        let own = Triangle::Lower.of(a, row).iter().zip(a.row_start[row]..);
        own.map(move |(&column, at)| (column as usize, (row as u32, at)))
    };
    Sorted::new(a.rows(), || (0..a.rows()).flat_map(lower))
}
