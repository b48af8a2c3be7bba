//! In which order, and by which threads, the rows of factors are worked on; and triangular solves that push
//! known values along columns.

use super::rows::Rows;
use crate::backend::Real;
use crate::sparse::{ROW_TILE, RowSets, Sorted, Triangle, Turn, levels};
use rayon::prelude::*;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Most rows of a set that one thread works on alone: handing work to others takes microseconds, a
/// row some ten nanoseconds.
const SMALL: usize = 1024;
/// Rows of a large set that one thread takes at least.
const SHARE: usize = 256;
/// Consecutive rows, or variables, that a thread takes in one go where they wait one by one.
const TAKEN: usize = 64;
/// Looks at a flag before the thread lets others run.
const LOOKS: usize = 256;

#[derive(Debug)]
pub(super) enum Plan {
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
    fn new(sets: &RowSets) -> Self {
        Self { rows: sets.rows().to_vec(), turns: sets.merged(SMALL) }
    }
}

impl Plan {
    pub(super) fn levels(rows: &Rows) -> Self {
        let sets = |triangle| Sets::new(&RowSets::by_number(&levels(rows.pattern(), triangle)));
        Self::Sets { lower: sets(Triangle::Lower), upper: sets(Triangle::Upper) }
    }

    /// Colours, which are intervals of the rows, up and down.
    pub(super) fn colours(sets: &RowSets) -> Self {
        let numbers = sets.offsets().windows(2).zip(0..);
        let numbers: Vec<u32> =
            numbers.flat_map(|(ends, colour)| (ends[0]..ends[1]).map(move |_| colour)).collect();
        let last = numbers.last().copied().unwrap_or(0);
        let down: Vec<u32> = numbers.iter().map(|colour| last - colour).collect();
        Self::Sets { lower: Sets::new(sets), upper: Sets::new(&RowSets::by_number(&down)) }
    }

    pub(super) fn sync_free(rows: &Rows) -> Self {
        Self::SyncFree(Flags::new(rows.len()))
    }

    /// Whether there is work for more than one thread at a time.
    pub(super) fn is_shared(&self) -> bool {
        match self {
            Self::Natural => false,
            Self::Sets { lower, upper } => {
                lower.turns.iter().chain(&upper.turns).any(|turn| turn.together)
            }
            Self::SyncFree(_) | Self::Tiles => true,
        }
    }

    /// Works on all rows of a triangle, each after those that it has entries of.
    pub(super) fn run(&self, rows: &Rows, triangle: Triangle, work: &(impl Fn(usize) + Sync)) {
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
        if *together {
            let share = rows.len().div_ceil(2 * rayon::current_num_threads()).max(SHARE);
            rows.par_chunks(share).for_each(|rows| {
                for &row in rows {
                    work(row as usize);
                }
            });
        } else {
            for &row in rows {
                work(row as usize);
            }
        }
    }
}

/// Which rows are done: those whose flag is that of the present sweep, which alternates.
#[derive(Debug)]
pub(super) struct Flags {
    done: Vec<AtomicBool>,
    sweep: AtomicBool,
}

impl Flags {
    fn new(rows: usize) -> Self {
        let done = (0..rows).map(|_| AtomicBool::new(false)).collect();
        Self { done, sweep: AtomicBool::new(false) }
    }

    /// Threads take rows in their order from a counter. The first row that is not done waits for
    /// none, and the thread that took it is at work: whatever the number of threads that run, one of
    /// them goes forward.
    fn run(&self, rows: &Rows, triangle: Triangle, work: &(impl Fn(usize) + Sync)) {
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
                    for &column in &rows.columns()[rows.side(row, triangle)] {
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
pub(super) struct Cells<T> {
    bits: Vec<AtomicU64>,
    kind: PhantomData<T>,
}

impl<T: Real> Cells<T> {
    pub(super) fn zeros(n: usize) -> Self {
        Self { bits: (0..n).map(|_| AtomicU64::new(0)).collect(), kind: PhantomData }
    }

    #[inline(always)]
    pub(super) fn get(&self, at: usize) -> T {
        T::narrow(f64::from_bits(self.bits[at].load(Ordering::Relaxed)))
    }

    #[inline(always)]
    pub(super) fn set(&self, at: usize, value: T) {
        self.bits[at].store(value.widen().to_bits(), Ordering::Relaxed);
    }

    /// Adds to a number that others add to as well.
    pub(super) fn add(&self, at: usize, value: T) {
        let add = |bits| Some((T::narrow(f64::from_bits(bits)) + value).widen().to_bits());
        // An update that always gives a value is never refused.
        let _ = self.bits[at].fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
    }
}

/// Variable correlation decomposition (Liu, Jin et al. 2020):
/// each variable is the sum of partial values, which whoever knows one of its neighbours adds as soon
/// as it is known, and a counter says how many are still to come. y of (I + L) y = r and x of
/// (D + U) x = y are variables alike, x_i one partial value of which is y_i, so that both solves are
/// one pass.
///
/// Partial values are added as they come: results agree to rounding with those of other orders. They
/// are kept in double precision.
#[derive(Debug)]
pub(super) struct Correlation {
    /// Columns of L, then of U: their rows and the positions of their entries.
    lower: Sorted<(u32, usize)>,
    upper: Sorted<(u32, usize)>,
    /// Partial values of y, then of x.
    values: Cells<f64>,
    missing: Vec<AtomicU32>,
}

impl Correlation {
    pub(super) fn new(rows: &Rows) -> Self {
        Self {
            lower: by_columns(rows, Triangle::Lower),
            upper: by_columns(rows, Triangle::Upper),
            values: Cells::zeros(2 * rows.len()),
            missing: (0..2 * rows.len()).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// z ← M⁻¹ r.
    pub(super) fn solve<T: Real>(
        &self,
        rows: &Rows,
        factors: &[T],
        inverse: &[T],
        (r, z): (&[T], &mut [T]),
    ) {
        let n = rows.len();
        for row in 0..n {
            self.values.set(row, r[row].widen());
            self.values.set(n + row, 0.0);
            let count = |triangle| rows.side(row, triangle).len() as u32;
            self.missing[row].store(count(Triangle::Lower), Ordering::Relaxed);
            self.missing[n + row].store(count(Triangle::Upper) + 1, Ordering::Relaxed);
        }
        let next = AtomicUsize::new(0);
        // y from the first to the last, then x from the last to the first: a variable waits for
        // earlier ones alone, and those have all been taken by threads that are at work.
        (0..rayon::current_num_threads()).into_par_iter().with_max_len(1).for_each(|_| {
            loop {
                let first = next.fetch_add(TAKEN, Ordering::Relaxed);
                if first >= 2 * n {
                    return;
                }
                for turn in first..(first + TAKEN).min(2 * n) {
                    if turn < n {
                        self.push_y(turn, n, factors);
                    } else {
                        self.push_x(2 * n - 1 - turn, n, factors, inverse);
                    }
                }
            }
        });
        for (row, z) in z.iter_mut().enumerate() {
            *z = T::narrow(self.values.get(n + row));
        }
    }

    fn push_y<T: Real>(&self, row: usize, n: usize, factors: &[T]) {
        wait(|| self.missing[row].load(Ordering::Acquire) == 0);
        let y = self.values.get(row);
        for &(below, at) in self.lower.of(row) {
            self.push(below as usize, -factors[at].widen() * y);
        }
        self.push(n + row, y);
    }

    fn push_x<T: Real>(&self, row: usize, n: usize, factors: &[T], inverse: &[T]) {
        wait(|| self.missing[n + row].load(Ordering::Acquire) == 0);
        let x = self.values.get(n + row) * inverse[row].widen();
        self.values.set(n + row, x);
        for &(above, at) in self.upper.of(row) {
            self.push(n + above as usize, -factors[at].widen() * x);
        }
    }

    fn push(&self, variable: usize, part: f64) {
        self.values.add(variable, part);
        self.missing[variable].fetch_sub(1, Ordering::Release);
    }
}

/// A triangle by columns: the row of each entry and its position.
fn by_columns(rows: &Rows, triangle: Triangle) -> Sorted<(u32, usize)> {
    let columns = rows.columns();
    let entry = |row: usize| {
        rows.side(row, triangle).map(move |at| (columns[at] as usize, (row as u32, at)))
    };
    Sorted::new(rows.len(), || (0..rows.len()).flat_map(entry))
}
