//! The rows of incomplete factors: which entries of A they have, and in which order, by which threads and in which
//! pieces they are worked on.

use crate::backend::cpu::PIECE;
use crate::backend::{Incomplete, Real};
use crate::sparse::{
    Elimination, EllPattern, Graph, Pattern, ROW_TILE, RowSets, Schedule, Sorted, Triangle, Turn,
    colours, levels,
};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

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

/// Most rows of a set that one thread works on alone: handing work to others takes microseconds, a
/// row some ten nanoseconds.
const SMALL: usize = 1024;
/// Rows of a large set that one thread takes at least.
const SHARE: usize = 256;
/// Consecutive rows that a thread takes in one go where they wait one by one.
const TAKEN: usize = 64;
/// Looks at a flag before the thread lets others run.
const LOOKS: usize = 256;
/// Entries of a piece of work, and of a part of a row too long for one.
pub const ENTRIES: usize = 8192;

/// Cuts between rows that start at these entries, into pieces of about `ENTRIES` entries or `PIECE` rows. They
/// depend on the pattern alone.
pub fn pieces(row_start: &[usize]) -> Vec<usize> {
    let rows = row_start.len() - 1;
    let mut cuts = vec![0];
    let mut first = 0;
    for row in 0..rows {
        let full = row_start[row + 1] - row_start[first] >= ENTRIES || row - first >= PIECE;
        if full || row + 1 == rows {
            cuts.push(row + 1);
            first = row + 1;
        }
    }
    cuts
}

/// Does `work` on the rows and values between every two cuts; `start` gives the place of the first value of a row.
pub(super) fn by_pieces<T: Send>(
    cuts: &[usize],
    start: &(impl Fn(usize) -> usize + Sync),
    values: &mut [T],
    work: &(impl Fn(Range<usize>, &mut [T]) + Sync),
) {
    match cuts {
        [] | [_] => {}
        &[first, end] => work(first..end, values),
        _ => {
            let middle = cuts.len() / 2;
            let (low, high) = values.split_at_mut(start(cuts[middle]) - start(cuts[0]));
            rayon::join(
                || by_pieces(&cuts[..=middle], start, low, work),
                || by_pieces(&cuts[middle..], start, high, work),
            );
        }
    }
}

#[derive(Debug)]
pub(super) enum RowPlan {
    /// One after the other on one thread.
    Natural,
    /// Sets of rows that do not wait for each other, shared among threads; small ones on one thread.
    Sets { lower: Sets, upper: Sets },
    /// Threads take rows in order, and every row waits for its entries.
    SyncFree(Flags),
    /// Blocks of rows that are independent of each other.
    Tiles,
}

#[derive(Debug)]
pub(super) struct Sets {
    rows: Vec<u32>,
    turns: Vec<Turn>,
}

impl Sets {
    /// The sets of rows with the same number, by rising number.
    fn by_number(numbers: &[u32]) -> Self {
        let sets = RowSets::by_number(numbers);
        Self { rows: sets.rows().to_vec(), turns: sets.merged(SMALL) }
    }
}

impl RowPlan {
    pub(super) fn levels(rows: &FactorRows) -> Self {
        let sets = |triangle| Sets::by_number(&levels(rows.pattern(), triangle));
        Self::Sets { lower: sets(Triangle::Lower), upper: sets(Triangle::Upper) }
    }

    /// Rows sorted by these colours, up and down.
    pub(super) fn colours(colours: &[u32]) -> Self {
        let last = colours.last().copied().unwrap_or(0);
        let down: Vec<u32> = colours.iter().map(|colour| last - colour).collect();
        Self::Sets { lower: Sets::by_number(colours), upper: Sets::by_number(&down) }
    }

    pub(super) fn sync_free(rows: &FactorRows) -> Self {
        let done = (0..rows.len()).map(|_| AtomicBool::new(false)).collect();
        Self::SyncFree(Flags { done, sweep: AtomicBool::new(false) })
    }

    /// Whether there are sets for more than one thread at a time.
    pub(super) fn is_shared(&self) -> bool {
        let Self::Sets { lower, upper } = self else { return false };
        lower.turns.iter().chain(&upper.turns).any(|turn| turn.together)
    }

    /// Works on all rows of a triangle, each after those that it has entries of.
    pub(super) fn run(
        &self,
        rows: &FactorRows,
        triangle: Triangle,
        work: &(impl Fn(usize) + Sync),
    ) {
        // Alone, a thread is fastest where rows are beside each other.
        let alone = rayon::current_num_threads() == 1;
        match self {
            Self::Tiles => (0..rows.len().div_ceil(ROW_TILE)).into_par_iter().for_each(|tile| {
                let first = tile * ROW_TILE;
                let length = ROW_TILE.min(rows.len() - first);
                triangle.order(length).for_each(|row| work(first + row));
            }),
            Self::Sets { lower, upper } if !alone => {
                in_sets(if triangle == Triangle::Lower { lower } else { upper }, work);
            }
            Self::SyncFree(flags) if !alone => flags.run(rows, triangle, work),
            _ => triangle.order(rows.len()).for_each(work),
        }
    }
}

fn in_sets(sets: &Sets, work: &(impl Fn(usize) + Sync)) {
    for Turn { range, together } in &sets.turns {
        let rows = &sets.rows[range.clone()];
        let alone = || rows.len().max(1);
        let shared = || rows.len().div_ceil(2 * rayon::current_num_threads()).max(SHARE);
        let share = if *together { shared() } else { alone() };
        rows.par_chunks(share).for_each(|rows| {
            for &row in rows {
                work(row as usize);
            }
        });
    }
}

/// Flags of the rows: a row is done if its flag equals that of the present sweep, which alternates.
#[derive(Debug)]
pub(super) struct Flags {
    done: Vec<AtomicBool>,
    sweep: AtomicBool,
}

impl Flags {
    /// Threads take rows in their order from a counter. The first row that is not done waits for
    /// none, and the thread that took it is at work: whatever the number of threads that run, one of
    /// them goes forward.
    fn run(&self, rows: &FactorRows, triangle: Triangle, work: &(impl Fn(usize) + Sync)) {
        let now = !self.sweep.fetch_xor(true, Ordering::Relaxed);
        let (n, next) = (rows.len(), AtomicUsize::new(0));
        let threads = rayon::current_num_threads().min(n.div_ceil(TAKEN));
        (0..threads).into_par_iter().with_max_len(1).for_each(|_| {
            loop {
                let first = next.fetch_add(TAKEN, Ordering::Relaxed);
                if first >= n {
                    return;
                }
                for taken in first..(first + TAKEN).min(n) {
                    let row = if triangle == Triangle::Lower { taken } else { n - 1 - taken };
                    for &column in &rows.columns[rows.side(row, triangle)] {
                        let done = &self.done[column as usize];
                        wait(|| done.load(Ordering::Acquire) == now);
                    }
                    work(row);
                    self.done[row].store(now, Ordering::Release);
                }
            }
        });
    }
}

#[inline(always)]
fn wait(done: impl Fn() -> bool) {
    let mut looks = 0;
    while !done() {
        looks += 1;
        if looks % LOOKS == 0 {
            std::thread::yield_now();
        } else {
            std::hint::spin_loop();
        }
    }
}

/// Numbers of type `T`, kept as the bits of the same value in double precision.
///
/// Reads and writes are relaxed: which value is read follows from what the threads wait for.
#[derive(Debug)]
pub(super) struct AtomicValues<T> {
    bits: Vec<AtomicU64>,
    kind: PhantomData<T>,
}

impl<T: Real> AtomicValues<T> {
    pub(super) fn zeros(n: usize) -> Self {
        Self { bits: (0..n).map(|_| AtomicU64::new(0)).collect(), kind: PhantomData }
    }

    pub(super) fn of(values: &[T]) -> Self {
        let cell = |value: &T| AtomicU64::new(value.widen().to_bits());
        Self { bits: values.iter().map(cell).collect(), kind: PhantomData }
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> T {
        T::narrow(f64::from_bits(self.bits[at].load(Ordering::Relaxed)))
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: T) {
        self.bits[at].store(value.widen().to_bits(), Ordering::Relaxed);
    }
}
