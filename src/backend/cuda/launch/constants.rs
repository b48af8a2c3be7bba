//! Constants that the host shares with the kernels: written here alone, and emitted into the source text of
//! every module.

use crate::backend::multigrid::ColumnBlocks;
use crate::backend::scalars::{HALTED, LOG, LOGGED, SLOTS};
use crate::grid::initial::hyperbolic;
use crate::sparse::{ROW_TILE, TILE};
use std::fmt::Write;

/// Threads of a warp.
pub const WARP: usize = 32;

/// Threads of a block where a kernel does not care.
pub const BLOCK: u32 = 256;

/// Declares integer constants for Rust and collects their C++ text.
macro_rules! shared_constants {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $value:expr;)*) => {
        $( $(#[$doc])* pub(crate) const $name: $type = $value; )*

        /// C++ text of these constants.
        fn integers() -> String {
            let mut text = String::new();
            $( let _ = writeln!(text, "#define {} {}u", stringify!($name), $name); )*
            text
        }
    };
}

shared_constants! {
    /// Edges of a row of a piece of the grid: points of another piece lie beyond its west end, or its
    /// east end, or its first and last points are neighbours.
    EDGE_WEST: u32 = 1;
    EDGE_EAST: u32 = 2;
    EDGE_PERIODIC: u32 = 4;
    /// In the same word, of a level of multigrid: it has columns of wall terms, which take the places of its
    /// first row unless its equations are transposed; those of the last row, of the first and of the last column of
    /// points likewise.
    EDGE_WALLS: u32 = 8;
    EDGE_ABOVE: u32 = 16;
    EDGE_BEFORE: u32 = 32;
    EDGE_BEHIND: u32 = 64;
    /// The level's equations are transposed.
    EDGE_TRANSPOSED: u32 = 128;
    /// The level's operator has the compact storage.
    EDGE_COMPACT: u32 = 256;
    /// The column of ghosts where what arrives stays in the buffer.
    NO_GHOSTS: u32 = u32::MAX;
    /// Columns that a device holds: all of a closed grid, the last of which repeats the first; a held seam
    /// where column 0 is among them; ends of open lines.
    COLUMNS_WRAP: u32 = 1;
    COLUMNS_HELD: u32 = 2;
    COLUMNS_OPEN: u32 = 4;
    /// A slot of an ELL matrix of the grid has a multiple of this many entries: what the threads of a warp
    /// read of a slot starts with a line of memory in every slot.
    SLOT_UNIT: usize = 64;
    /// Slots of a point of the grid: one for each corner and the centre, two for each neighbour in one row or column.
    SLOTS_OF_POINT: usize = 13;
    /// Most inner products of one reduction into slots.
    SLOT_SUMS: usize = 5;
    /// Kinds of coefficients that are no quotients of slots: numbers, and factors of a value by its place.
    NUMBER: u64 = 1 << 32;
    ELEMENT: u64 = 1 << 33;
    /// Values of each rank in one all-gather of scalars.
    RANK_VALUES: usize = SLOT_SUMS;

    /// Most fragments of a message, and bytes of a fragment in an endpoint's buffer.
    FRAGMENTS: usize = 64;
    FRAGMENT_BYTES: usize = 16_384;
    /// Messages that an endpoint buffers: one is read while the next arrives.
    BUFFERS: usize = 2;
    /// Channels from one rank to another. Messages on different channels are independent.
    CHANNELS: usize = 3;
    /// Words of the abort flag: the flag, the timeout of a wait in milliseconds, and one more than the
    /// rank that a kernel waited for until its timeout.
    ABORT_RAISED: usize = 0;
    ABORT_TIMEOUT: usize = 1;
    ABORT_AWAITED: usize = 2;
    /// Most values that a rank brings to an all-gather of words, and their words.
    GATHERED_VALUES: usize = SLOT_SUMS;
    GATHERED_WORDS: usize = 2 * GATHERED_VALUES;
    /// Threads of the block of an all-gather of words: one for each word of all ranks.
    GATHER_THREADS: usize = 256;
    /// Words with the number of the last all-gather and the ticket of the halo exchange.
    COUNTER_WORDS: usize = 4;
    /// Points of a column that a buffer of the halo exchange holds, and words of each.
    COLUMN_POINTS: usize = 16_384;
    POINT_WORDS: usize = 4;
    /// Phases of a halo exchange, done by one launch where devices access each other's memory.
    PHASE_SEND: u64 = 1;
    PHASE_RECEIVE: u64 = 2;
    /// Kinds of operations with messages.
    SEND: u32 = 1;
    RECEIVE: u32 = 2;

    /// Most threads of a block of the march: with more it keeps values in memory that registers have no room for.
    CYCLIC_THREADS: usize = 256;
    /// Most blocks that run together: no cluster of more is to be had.
    MOST_TOGETHER: usize = 16;

    /// Values per point of the planes of a level's operator before those of the wall terms: ten numbers, or all
    /// blocks, and the inverse pivots of the eta-lines.
    COMPACT_STORAGE: usize = 14;
    FULL_STORAGE: usize = 40;
    /// Values per point of V and B, which follow them.
    WALL_VALUES: usize = 8;
    /// Values of a 2×2 block.
    BLOCK_VALUES: usize = 4;
    /// Borders of a level's eta-lines: none; those whose wall terms have a pivot that keeps the sign of B;
    /// all.
    NO_BORDERS: u32 = 0;
    SIGNED_BORDERS: u32 = 1;
    ALL_BORDERS: u32 = 2;
    /// Points of a level that a block of threads has, along xi and eta.
    LEVEL_I: usize = 32;
    LEVEL_J: usize = 8;
    /// Coarse rows of a tile of the restriction to a level of few points, and threads of its block: one for each residual
    /// beside a row that is skipped, in whole warps. Flat tiles keep more multiprocessors busy.
    FLAT_ROWS: usize = 2;
    FLAT_THREADS: usize = ((2 * LEVEL_I + 1) * (FLAT_ROWS + 1)).next_multiple_of(WARP);
    /// Most blocks of a launch along y, or along z.
    MOST_BLOCKS: usize = 65535;
    /// Coarse points whose fine columns, two each and one more, the threads of a warp have.
    SUMMED_POINTS: usize = 15;

    /// Warps that sum up the wall columns of as many lines as a warp has threads.
    WALL_SUMS: usize = 8;
    /// Side of the tiles of points within which DILU is done, and values per row of their factors.
    POINT_TILE: usize = TILE;
    TILE_ENTRIES: usize = 13;

    /// Rows of the tiles of matrices by rows, and such tiles of a block.
    MATRIX_TILE: usize = ROW_TILE;
    BLOCK_TILES: usize = 4;
    /// Width of a slice whose rows follow each other.
    BY_ROWS: u32 = u32::MAX;
    /// Entries of a chunk of rows: as many as a block keeps the products of.
    ROW_CHUNK: u32 = 2048;
    /// Threads of its block.
    CHUNK_THREADS: u32 = BLOCK;
    /// Threads of a block of the factorisation: a warp with a line each, and those that load for it.
    FACTOR_THREADS: usize = 256;
    /// Points of a xi-line that are factored together, and points before them from which on the recurrence runs.
    FACTOR_CHUNK: usize = 512;
    FACTOR_OVERLAP: usize = 128;
    /// Points of a line that one thread of the smoother takes on levels with too few points to keep a GPU busy by
    /// longer chunks.
    SHORT_CHUNK: usize = 2;
    /// Blocks that each row of the matrix of a level that is inverted has in the elimination.
    ROW_BLOCKS: usize = 7;
    /// Lines of a block of the smoother times its warps, at most, where a line spans several warps.
    LINE_MAPS: usize = 128;
    /// Lanes that eliminate a row together.
    ELIMINATION_LANES: usize = 8;
    /// Values that a thread of a scan takes.
    SCANNED: usize = 8;
    /// Bits of a digit of a histogram.
    BIN_BITS: u32 = 8;
    /// Digits and keys of a block of a pass of the sort.
    DIGITS: usize = 256;
    KEYS: usize = 2048;
}

// The all-gather within a kernel is done by one block of any.
const _: () = assert!(GATHER_THREADS == BLOCK as usize);

/// Points of the halves of a row of a level of `width` points, and of one more on either side: they start at
/// multiples of 128 bytes of pairs in single precision.
pub(crate) const fn half_row(width: usize) -> usize {
    (width.div_ceil(2) + 2).next_multiple_of(16)
}

/// Points of the largest level whose lines are solved by short chunks. With longer ones most of a GPU is idle, and
/// the threads that work wait for the memory point after point.
pub(crate) const MOST_BY_SHORT_CHUNKS: usize = 1 << 18;

/// Points of a line that one thread of the smoother takes.
pub(crate) const fn line_chunk<T>() -> usize {
    if size_of::<T>() == 4 { 8 } else { 4 }
}

/// Most threads of a block of the smoother.
pub(crate) const fn line_threads<T>() -> usize {
    if size_of::<T>() == 4 { 512 } else { 256 }
}

/// Most points of a block of the matrix of a level that is inverted: two such blocks have room in shared memory.
pub(crate) const fn inverse_points<T>() -> usize {
    if size_of::<T>() == 4 { ColumnBlocks::MOST_POINTS } else { 22 }
}

/// C++ text of all constants.
pub(super) fn text() -> String {
    let by_width = |single, double| format!("(sizeof(real) == 4 ? {single} : {double})");
    let others = [
        ("WARP", WARP.to_string()),
        ("HALTED", HALTED.to_string()),
        ("LOGGED", LOGGED.to_string()),
        ("SLOTS", SLOTS.to_string()),
        ("LOG", LOG.to_string()),
        ("LINE_CHUNK", by_width(line_chunk::<f32>(), line_chunk::<f64>())),
        ("LINE_THREADS", by_width(line_threads::<f32>(), line_threads::<f64>())),
        ("INVERSE_POINTS", by_width(inverse_points::<f32>(), inverse_points::<f64>())),
        ("INVERSE_THREADS", "INVERSE_POINTS * INVERSE_POINTS".into()),
        ("MARCH_SUBSTEPS", format!("{:?}", hyperbolic::SUBSTEPS)),
        ("MARCH_RISE", format!("{:?}", hyperbolic::RISE)),
        ("MARCH_SPREAD_DISTANCE", format!("{:?}", hyperbolic::SPREAD_DISTANCE)),
        ("MARCH_CONCAVE_LIMIT", format!("{:?}", hyperbolic::CONCAVE_LIMIT)),
        ("MARCH_TURN", format!("{:?}", hyperbolic::TURN)),
    ];
    let defines = others.map(|(name, value)| format!("#define {name} {value}\n"));
    integers() + &defines.concat()
}
