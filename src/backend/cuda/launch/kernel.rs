//! Kernels: their source files, their names and launch shapes.

use super::argument::{Argument, Arguments};
use super::constants::{BLOCK, FACTOR_CHUNK, LEVEL_I, LEVEL_J, MOST_BLOCKS, MOST_BY_SHORT_CHUNKS};
use super::shared::{self, Pointer};
use crate::backend::Real;

/// Declares the files of `kernels/`: name, file, precisions that it is compiled for, those of them in which most cases
/// on one GPU launch its kernels, the time that it takes to compile, headers that it includes, kernels.
macro_rules! sources {
    ($(
        $name:ident $file:literal $widths:ident $usual:ident $pace:ident [$($header:ident),*] { $($kernel:ident,)* }
    )*) => {
        /// A file of `kernels/`, compiled as one module for each precision.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum KernelFile { $($name,)* }

        impl KernelFile {
            pub const ALL: [Self; [$($file),*].len()] = [$(Self::$name),*];

            /// Name of the file in `kernels/`.
            pub fn file(self) -> &'static str {
                [$($file),*][self as usize]
            }

            /// The precisions that it is compiled for.
            pub fn widths(self) -> &'static [Width] {
                [$($widths),*][self as usize]
            }

            /// The precisions in which most cases on one GPU launch its kernels.
            fn usual(self) -> &'static [Width] {
                [$($usual),*][self as usize]
            }

            /// True if it takes long to compile.
            fn is_slow(self) -> bool {
                [$($pace),*][self as usize]
            }

            /// Its kernels.
            pub fn kernels(self) -> &'static [&'static str] {
                match self { $(Self::$name => &[$(stringify!($kernel)),*],)* }
            }

            /// The texts of its headers and its own.
            fn parts(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[
                        $(include_str!(concat!("../../../../kernels/", stringify!($header), ".cuh")),)*
                        include_str!(concat!("../../../../kernels/", $file)),
                    ],)*
                }
            }
        }

        /// All kernels by their names.
        #[allow(non_camel_case_types, reason = "its constants are used as those of a module")]
        pub(crate) enum kernels {}

        #[allow(non_upper_case_globals, reason = "the names are those of functions")]
        impl kernels {
            $($(pub(crate) const $kernel: KernelName = (KernelFile::$name, stringify!($kernel));)*)*
        }
    };
}

/// A kernel for any precision: its file and its name.
pub type KernelName = (KernelFile, &'static str);

const BOTH: &[Width] = &[Width::Single, Width::Double];
/// Grids are made in double precision alone, and an order of rows and a message have none.
const ONE: &[Width] = &[Width::Double];
/// Linear solves are in single precision by default.
const SINGLE: &[Width] = &[Width::Single];
const NONE: &[Width] = &[];

/// Files that take more than 0.25 s to compile on several cores, where the longest of 257 × 129 points takes 0.6 s.
const SLOW: bool = true;
const QUICK: bool = false;

sources! {
    Vector "vector.cu" BOTH BOTH QUICK [common, peers, slots] {
        lincomb, scale, convert_from_single, convert_from_double, step, copy_words, clear_words, max_abs,
    }
    Dots "dots.cu" BOTH SINGLE SLOW [common, peers, slots] {
        dots, advance,
    }
    Scaled "scaled.cu" BOTH NONE QUICK [common, peers, halo, numbers, stencil, slots] {
        add_and_send, step_and_send, scale_multiply_and_sum, sum_parts,
    }
    TenNumbers "ten_numbers.cu" BOTH SINGLE QUICK [common, numbers, stencil] {
        multiply_ten_numbers, multiply_with_walls, multiply_wall_columns,
    }
    Matrix "matrix.cu" BOTH NONE QUICK [common, numbers, stencil] {
        multiply_nine_point, entries_of_ten_numbers, transpose_nine_point, sum_wall_columns, clear_walls,
        inverse_diagonal,
    }
    Elliptic "elliptic.cu" ONE ONE QUICK [common, equations] {
        residual, load_state,
    }
    Jacobian "jacobian.cu" BOTH SINGLE QUICK [common, equations] {
        jacobian, jacobian_by_ten_numbers, wall_columns,
    }
    Movement "movement.cu" ONE NONE QUICK [common, columns, equations] {
        node_shares, displace_nodes, frame_product, frame_sums, pad_columns, fold_seam, take_nodes,
    }
    Wall "wall.cu" BOTH NONE QUICK [common] {
        factor_wall, solve_wall,
    }
    March "march.cu" ONE ONE SLOW [common, cyclic, columns] {
        march,
    }
    Initial "initial.cu" ONE ONE SLOW [common, columns] {
        place_layers, move_layers, count_folds,
    }
    Control "control.cu" ONE ONE QUICK [common, columns, equations] {
        arc_lengths, marched_control, smoothing_variances, smooth_control, curvature_control,
        smooth_along_xi, boundary_control, decay, frame_nodes, first_guess,
    }
    Quality "quality.cu" ONE ONE SLOW [common, columns] {
        restore_symmetry, cut_columns, place_nodes, measure_cells, measure_ratios, measure_turning,
        measure_lines, measure_angles, find_value, histogram, find_digits,
    }
    Tiles "tiles.cu" BOTH NONE QUICK [common] {
        factor_tiles, solve_tiles,
    }
    Lines "lines.cu" BOTH SINGLE SLOW [common, numbers, level, lines] {
        relax_eta_compact, relax_eta_full,
    }
    XiLines "xi_lines.cu" BOTH SINGLE SLOW [common, numbers, level, lines] {
        relax_xi_compact, relax_xi_full,
    }
    ShortCompactLines "short_compact_lines.cu" BOTH SINGLE SLOW [common, numbers, level, lines] {
        relax_eta_compact_short, relax_xi_compact_short,
    }
    ShortFullLines "short_full_lines.cu" BOTH SINGLE SLOW [common, numbers, level, lines] {
        relax_eta_full_short, relax_xi_full_short,
    }
    WalledLines "walled_lines.cu" BOTH NONE QUICK [common, numbers, level, lines] {
        relax_eta_compact_both, relax_eta_full_both, relax_xi_compact_both, relax_xi_full_both, relax_eta_sides,
    }
    TransposedLines "transposed_lines.cu" BOTH NONE QUICK [common, numbers, level, lines] {
        relax_eta_transposed, relax_eta_transposed_both,
    }
    Pivots "pivots.cu" BOTH SINGLE SLOW [common, numbers, level, pivots] {
        factor_levels, count_borders,
    }
    WalledPivots "walled_pivots.cu" BOTH NONE QUICK [common, numbers, level, pivots] {
        factor_walled_levels, factor_transposed_levels,
    }
    JoinedPivots "joined_pivots.cu" BOTH SINGLE SLOW [common, numbers, level, pivots] {
        finish_levels,
    }
    Level "level.cu" BOTH SINGLE QUICK [common, numbers, level, stencil, load] {
        load_numbers_single, load_numbers_double, load_right_single, load_right_double,
        store_solution_single, store_solution_double,
    }
    Entries "entries.cu" BOTH NONE QUICK [common, numbers, level, stencil, load] {
        load_entries_single, load_entries_double, turn_level, turn_values,
    }
    Galerkin "galerkin.cu" BOTH SINGLE SLOW [common, numbers, level] {
        coarsen_compact, coarsen_full,
    }
    Transfer "transfer.cu" BOTH SINGLE SLOW [common, numbers, level, transfer] {
        restrict_compact, restrict_full, prolong,
    }
    WalledTransfer "walled_transfer.cu" BOTH NONE QUICK [common, numbers, level, transfer] {
        restrict_sides, prolong_sides, restrict_sums, join_pieces,
    }
    Inverse "inverse.cu" BOTH SINGLE SLOW [common, numbers, level] {
        gather_columns, eliminate_columns, invert_columns, reduce_columns, apply_inverse, reduce_right,
        apply_reduced, correct_runs,
    }
    Spikes "spikes.cu" BOTH NONE QUICK [common, numbers, level, peers, halo] {
        make_spikes, join_lines,
    }
    Csr "csr.cu" BOTH NONE QUICK [common, slices, fold] {
        multiply_chunks, multiply_slices, fill_slices, invert_diagonal,
    }
    Order "order.cu" ONE NONE QUICK [common, slices, fold] {
        split_rows, number_rows, level_rows, find_depth, find_starts, count_digits, move_rows,
        invert_order, turn_starts, match_entries, link_rows, scan_parts, scan_blocks, scan_all,
        part_lengths, shape_slices, fill_columns,
    }
    Patterns "patterns.cu" ONE NONE QUICK [common, slices, fold] {
        colour_rows, cut_rows, take_starts, take_tiles, take_colours,
    }
    Triangular "triangular.cu" BOTH NONE QUICK [common, slices, fold] {
        mirror_entries, take_side, dilu_flags, dilu_slim, dilu_levels, lower_flags,
        lower_slim, lower_levels, upper_flags, upper_slim, upper_levels, solve_row_tiles,
    }
    Gauss "gauss.cu" BOTH NONE QUICK [common, slices] {
        eliminate_flags, eliminate_levels,
    }
    RowHalo "row_halo.cu" BOTH NONE QUICK [common] {
        gather, add_rows, add_sums,
    }
    Messages "messages.cu" ONE NONE QUICK [common, peers] {
        exchange_messages, gather_words,
    }
    Halo "halo.cu" BOTH NONE QUICK [common, numbers, level, peers, halo, stencil] {
        exchange_columns, add_halo, exchange_residual,
    }
}

impl KernelFile {
    /// Points of the smallest grids for which most cases launch its kernels: levels of fewer points have short chunks, and
    /// the xi-lines of few points are factored in one piece.
    fn least_points(self) -> usize {
        match self {
            Self::Lines | Self::XiLines => MOST_BY_SHORT_CHUNKS,
            Self::JoinedPivots => FACTOR_CHUNK * FACTOR_CHUNK / 4,
            _ => 0,
        }
    }

    /// Whether its kernels wait for those of other ranks.
    pub fn waits_for_ranks(self) -> bool {
        self.parts().contains(&include_str!("../../../../kernels/peers.cuh"))
    }

    /// Its whole text: what the host shares, the headers, then the file.
    pub fn text(self) -> String {
        let kept = |line: &&str| !line.starts_with("#include \"") && *line != "#pragma once";
        let lines = self.parts().iter().flat_map(|part| part.lines()).filter(kept);
        lines.fold(shared::preamble(), |text, line| text + line + "\n")
    }
}

/// A file of kernels as it is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ModuleKey {
    pub source: KernelFile,
    /// Precision of `real` in the file.
    pub width: Width,
    /// Whether a launch does the work of several members of a group.
    pub grouped: bool,
}

impl ModuleKey {
    /// The modules of all files, whose launches do the work of one device, or that of all members of a group.
    pub fn all(grouped: bool) -> Vec<Self> {
        Self::of(KernelFile::widths, grouped).collect()
    }

    /// The modules whose kernels most cases of this many points launch on one GPU, with those of groups where `grouped`. NVRTC
    /// reads one text after the other, so that the files that take long to compile come first.
    pub fn usual(grouped: bool, points: usize) -> Vec<Self> {
        let of_groups = Self::of(KernelFile::usual, true).filter(|_| grouped);
        let all = Self::of(KernelFile::usual, false).chain(of_groups);
        let mut usual: Vec<_> = all.filter(|key| key.source.least_points() <= points).collect();
        usual.sort_by_key(|key| !key.source.is_slow());
        usual
    }

    fn of(widths: fn(KernelFile) -> &'static [Width], grouped: bool) -> impl Iterator<Item = Self> {
        let module = move |source, &width| Self { source, width, grouped };
        KernelFile::ALL
            .into_iter()
            .flat_map(move |source| widths(source).iter().map(move |width| module(source, width)))
    }

    /// Its text.
    pub fn text(self) -> String {
        let own = self.source.text();
        if self.grouped { "#define GROUPED\n".to_owned() + &own } else { own }
    }
}

/// Precision a module is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Width {
    Single,
    Double,
}

impl Width {
    pub fn c_type(self) -> &'static str {
        match self {
            Self::Single => "float",
            Self::Double => "double",
        }
    }
}

/// The kernel for values of `T`.
pub(crate) fn by_width<T: Real>(single: KernelName, double: KernelName) -> KernelName {
    if size_of::<T>() == 4 { single } else { double }
}

/// A kernel: its module and its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DeviceKernel {
    pub module: ModuleKey,
    pub name: &'static str,
}

impl DeviceKernel {
    pub fn new<T: Real>(source: KernelFile, name: &'static str) -> Self {
        let width = if size_of::<T>() == 4 { Width::Single } else { Width::Double };
        Self { module: ModuleKey { source, width, grouped: false }, name }
    }

    /// The kernel that does for all members of a group what this one does for one of them.
    pub(crate) fn grouped(self) -> Self {
        Self { module: ModuleKey { grouped: true, ..self.module }, ..self }
    }
}

/// Blocks of a launch, threads of a block, and bytes of dynamic shared memory of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchShape {
    pub grid: [u32; 3],
    pub block: [u32; 3],
    pub shared: u32,
    /// Whether the blocks along x, at most 16, run at the same time and may wait for each other.
    pub together: bool,
    /// Whether it may begin before the end of the launch before it, for which its kernel waits by
    /// `wait_for_launches_before`; GPUs from the Hopper generation on begin it so.
    pub early: bool,
}

/// Blocks of a reduction: fixed, so that sums do not depend on the GPU.
pub(crate) const REDUCTION_BLOCKS: usize = 1024;

/// Blocks of a product with inner products: as many as the 132 multiprocessors of H100 and H200 have room for.
const PRODUCT_BLOCKS: usize = 4 * 132;

impl LaunchShape {
    /// One thread for each of `n` items.
    pub fn threads(n: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).max(1))
    }

    /// Blocks of `threads` threads.
    pub fn new(blocks: usize, threads: u32) -> Self {
        let (grid, block) = ([blocks as u32, 1, 1], [threads, 1, 1]);
        Self { grid, block, shared: 0, together: false, early: false }
    }

    /// Blocks of [`BLOCK`] threads.
    pub fn blocks(blocks: usize) -> Self {
        Self::new(blocks, BLOCK)
    }

    /// One thread for each of `mi` × `mj` points, in tiles of [`LEVEL_I`] × [`LEVEL_J`].
    /// Tiles along eta are counted along x where y has no room for them (`kernels/level.cuh`).
    pub fn tiles(mi: usize, mj: usize) -> Self {
        let (across, up) = (mi.div_ceil(LEVEL_I), mj.div_ceil(LEVEL_J));
        let [x, y] = if up > MOST_BLOCKS { [up, across] } else { [across, up] };
        let grid = [x, y, 1].map(|count| count as u32);
        Self { grid, ..Self::new(1, (LEVEL_I * LEVEL_J) as u32) }
    }

    /// Blocks for a kernel that strides over `n` items: each thread takes several of many.
    pub fn elementwise(n: usize) -> Self {
        Self::striding(n, 8192)
    }

    /// Blocks for a kernel that reduces over `n` items.
    pub fn reduction(n: usize) -> Self {
        Self::striding(n, REDUCTION_BLOCKS)
    }

    /// Blocks for a product of `points` points and inner products after it.
    pub fn product(points: usize) -> Self {
        Self::striding(points, PRODUCT_BLOCKS)
    }

    /// A thread an item, but no more than `most` blocks.
    fn striding(n: usize, most: usize) -> Self {
        Self::blocks(n.div_ceil(BLOCK as usize).clamp(1, most))
    }
}

/// A launch: a kernel, its shape and its arguments, which must be those of its signature, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub kernel: DeviceKernel,
    pub shape: LaunchShape,
    pub arguments: Vec<Argument>,
}

impl Launch {
    /// A launch of a kernel compiled for `T`.
    pub fn new<T: Real>(
        (source, name): KernelName,
        shape: LaunchShape,
        arguments: impl Arguments,
    ) -> Self {
        Self { kernel: DeviceKernel::new::<T>(source, name), shape, arguments: arguments.list() }
    }

    /// `to` ← `words` words of eight bytes.
    pub fn copying(words: usize, from: u64, to: u64) -> Self {
        let arguments = (words as u64, Pointer::<u64>::to(from), Pointer::<u64>::to(to));
        Self::new::<f64>(kernels::copy_words, LaunchShape::elementwise(words), arguments)
    }
}
