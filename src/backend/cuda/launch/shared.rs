//! Layouts that the host shares with the kernels: written here alone, and emitted into the source text of
//! every module.

use super::constants;
use std::fmt::Write;
use std::marker::PhantomData;

/// A Rust type as C++ writes it.
pub(crate) trait CType {
    /// A declaration of `name` with this type.
    fn declare(name: &str) -> String;
}

macro_rules! c_types {
    ($($rust:ty => $c:literal),* $(,)?) => { $(
        impl CType for $rust {
            fn declare(name: &str) -> String {
                format!("{} {name}", $c)
            }
        }
    )* };
}

c_types! { u8 => "unsigned char", u32 => "uint32", u64 => "uint64", f64 => "double", Reals => "real" }

/// The type `real` of a module, `f32` or `f64`.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Reals;

/// An address of values in a device's memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[repr(transparent)]
pub struct Pointer<T>(u64, PhantomData<fn() -> T>);

impl<T> Pointer<T> {
    pub(crate) const NULL: Self = Self(0, PhantomData);

    pub(crate) fn to(address: u64) -> Self {
        Self(address, PhantomData)
    }

    pub(crate) fn address(self) -> u64 {
        self.0
    }
}

impl<T: CType> CType for Pointer<T> {
    fn declare(name: &str) -> String {
        T::declare(&format!("*{name}"))
    }
}

impl<T: CType, const N: usize> CType for [T; N] {
    fn declare(name: &str) -> String {
        T::declare(&format!("{name}[{N}]"))
    }
}

/// A struct that kernels take by value.
pub(crate) trait SharedLayout: bytemuck::Pod {
    /// Its name in C++, less the end `Fields`.
    const NAME: &'static str;
}

const fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

/// Declares structs for Rust and collects their C++ text; fields of one type may share a declaration, as in
/// C++. A struct of `kernels/` with the name after `=`, if there is one, adds functions to it: `March` derives from
/// `MarchFields`.
macro_rules! shared_structs {
    ($($(#[$doc:meta])* $vis:vis $name:ident $(= $cpp:ident)? {
        $($($field:ident),+: $type:ty;)*
    })*) => {
        $(
            $(#[$doc])*
            #[derive(Debug, Clone, Copy, PartialEq, Default)]
            #[repr(C)]
            $vis struct $name {
                $($(pub(crate) $field: $type,)+)*
            }

            const _: () = assert!(
                size_of::<$name>() == 0 $($(+ size_of_field(|fields: &$name| &fields.$field))+)*
            );
            // SAFETY: all fields are numbers, addresses and such structs, and there is no padding
            // between them, as the assertion above says.
            #[allow(unsafe_code, reason = "the layout is checked")]
            unsafe impl bytemuck::Zeroable for $name {}
            // SAFETY: as above.
            #[allow(unsafe_code, reason = "the layout is checked")]
            unsafe impl bytemuck::Pod for $name {}
            impl SharedLayout for $name {
                const NAME: &'static str = [$(stringify!($cpp),)? stringify!($name)][0];
            }

            impl CType for $name {
                fn declare(name: &str) -> String {
                    let fields = concat!("" $(, stringify!($cpp), "Fields")?);
                    format!("{} {name}", if fields.is_empty() { Self::NAME } else { fields })
                }
            }
        )*

        fn structs() -> String {
            let mut text = String::new();
            $(
                let fields = [$($(<$type as CType>::declare(stringify!($field))),+),*].join("; ");
                let _ = writeln!(text, "struct {} {{ {fields}; }};", <$name as CType>::declare("").trim_end());
            )*
            text
        }
    };
}

/// Declares structs of a matrix type M and a vector type V for Rust and collects their C++ text.
macro_rules! shared_templates {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty),* })*) => {
        $(
            $(#[$doc])*
            #[allow(dead_code, reason = "its size alone is used")]
            #[repr(C)]
            pub(crate) struct $name<M, V> { $($field: $type),* }
        )*

        fn templates() -> String {
            let mut text = String::new();
            $(
                let fields = [$(concat!(stringify!($type), " ", stringify!($field))),*].join("; ");
                let name = stringify!($name);
                let _ = writeln!(text, "template <class M, class V> struct {name} {{ {fields}; }};");
            )*
            text
        }
    };
}

shared_structs! {
    /// Targets of a reduction: the parts of blocks, its ticket and its results.
    pub(crate) Reduction {
        partials: Pointer<f64>;
        ticket: Pointer<u32>;
        result: Pointer<f64>;
    }
    /// Vectors of inner products (a_k, b_k).
    pub(crate) VectorPairs {
        a, b: [Pointer<Reals>; 5];
    }
    /// A number times a quotient of products of scalars on the device.
    pub(crate) ScalarFactor {
        factor: f64;
        // Four slots, a byte each; or the kind of another coefficient, `NUMBER` or `ELEMENT`.
        slots: u64;
    }
    /// Terms alpha_k x_k of a sum of vectors.
    pub(crate) SumTerms {
        alpha: [ScalarFactor; 4];
        x: [Pointer<Reals>; 4];
    }
    /// Vectors of a step and its coefficients a, b, c, beta and gamma: see `vector.cu`.
    pub(crate) StepVectors {
        x, z, h, r, u, p, y: Pointer<Reals>;
        factors: [ScalarFactor; 5];
    }
    /// A condition that halts a method: kind, slots and flag in bytes.
    pub(crate) HaltCondition {
        packed: u64;
        factor: f64;
    }
    /// A scalar that follows from others: slot <- base + plus.
    pub(crate) DerivedScalar {
        plus: ScalarFactor;
        slot, base: u32;
    }
    /// The windows of all ranks; no address, as by default, if this rank is alone or cannot access the others.
    pub PeerAccess = PeerAccess {
        // Addresses of the windows.
        windows: Pointer<u64>;
        rank, ranks: u32;
        abort_flag: Pointer<u32>;
    }
    /// Targets of a reduction whose results stay on the device, and the steps that follow.
    pub(crate) ScalarReduction {
        slots: Pointer<f64>;
        // The slot that is logged, or 0; how many scalars are derived; whether these are values and no slots.
        first, log, derivations, plain: u32;
        before: [HaltCondition; 2];
        derived: [DerivedScalar; 2];
        conditions: [HaltCondition; 2];
        partials: Pointer<f64>;
        ticket: Pointer<u32>;
        access: PeerAccess;
    }
    /// Sequence numbers of the messages of one fragment: of the last that arrived and of the last own one
    /// that the other rank acknowledged, both written by that rank; of the last sent and received.
    pub(crate) Sequence {
        arrived, acknowledged, sent, received: u64;
    }
    /// A message that is sent or received on a channel.
    pub(crate) MessageOperation {
        kind, channel: u32;
        other: u64;
        at: Pointer<u8>;
        bytes: u64;
    }
    /// The operations of a launch; those without a kind are not there.
    pub(crate) MessageOperations {
        at: [MessageOperation; 8];
    }
    /// The last parameter of kernels that exchange columns: what the launch does, nothing by default, and the columns.
    pub(crate) HaloColumns {
        access: PeerAccess;
        phase: u64;
        sent, received: Pointer<Reals>;
    }
    /// Columns of pairs that neighbours exchange, in `planes` planes: those of row j of plane k are at x and y from
    /// k `plane` + j `row` on, `step` reals from a column to the next; the columns that are sent, and those of the
    /// ghosts. The scale is interleaved.
    pub(crate) ExchangedColumns {
        x, y, scale: Pointer<Reals>;
        plane, row, step: u64;
        own, ghosts: [u32; 2];
        planes, rows, edges, unused: u32;
    }
    /// A matrix of the grid equations and d, by which a vector is scaled before a product: points along xi and
    /// eta, edges of the rows, inner products after it, and its halo exchange.
    pub(crate) ScaledMatrix {
        mi, mj, edges, sums: u32;
        values, d: Pointer<Reals>;
        columns: HaloColumns;
    }
    /// Size and edges of a level of multigrid: see `level.cuh`.
    pub(crate) LevelLayout = LevelLayout {
        mi, mj, half, edges: u32;
    }
    /// A level of a launch that factors lines: its first block and the chunks of its xi-lines.
    pub(crate) FactoredLevel {
        layout: LevelLayout;
        first, xi_chunks: u32;
        values: Pointer<Reals>;
        borders: Pointer<u32>;
    }
    /// The levels of such a launch.
    pub(crate) FactoredLevels {
        at: [FactoredLevel; 16];
    }
    /// Rows of the block tridiagonal matrix of a level, points of a block, and rows of a run: see `inverse.cu`.
    pub(crate) ColumnRuns = Runs {
        count, points, length: u32;
    }
    /// The wall terms of a side: their decay, and (p, q) of each of its points; null where there is no wall.
    pub(crate) WallState {
        phi, psi, amplitudes: Pointer<f64>;
    }
    /// Fixed data and state of the grid equations, and the wall terms of the sides j = 0, j = mj - 1, i = 0, i = mi - 1.
    pub(crate) EquationState = EquationState {
        x, y, control_p, control_q: Pointer<f64>;
        walls: [WallState; 4];
    }
    /// Columns of a grid that a device holds: `count` of them in an array, the first being column `first`
    /// of the `around` distinct ones.
    pub(crate) HeldColumns = Columns {
        count, first, around, flags: u32;
    }
    /// The columns `begin` to `end` (not included) of a grid of `ni` columns, which a device owns, in
    /// arrays of `stride` columns where column i is at i + `shift`.
    pub(crate) OwnColumns = OwnColumns {
        stride, shift, begin, end, ni, nj: u32;
    }
    /// Intermediate results of a cyclic tridiagonal system.
    pub(crate) CyclicBuffers {
        points, block_rows: Pointer<f64>;
    }
    /// A march: see `march.cu`.
    pub(crate) March = March {
        columns: HeldColumns;
        layers, splay, extra, fronts, segments, smoothed, shortest, x, y: Pointer<f64>;
        bad, arrived: Pointer<u32>;
        widths, moves: CyclicBuffers;
        tallest, implicit, step_limit, inverse_growth, outflow, slope: f64;
        dissipation, volume_smoothing, spread: f64;
        nj: u64;
    }
    /// Rows in slices: see `slices.cuh`. Rows of more entries than `longest` are taken by whole warps.
    pub(crate) SliceRows = SliceRows {
        rows: u64;
        width: Pointer<u32>;
        start: Pointer<u64>;
        length: Pointer<u32>;
        longest: u64;
    }
    /// Pattern of a matrix by rows whose lower part of row r ends at split[r].
    pub(crate) SplitPattern {
        row_start, split, columns: Pointer<u32>;
    }
    /// Pivots and their inverses; `first` is lowered to the first row with a bad one, which is also a
    /// negative one if they must be `positive`.
    pub(crate) PivotRows {
        pivots, inverse: Pointer<Reals>;
        first: Pointer<u64>;
        positive: u64;
    }
    /// Levels `first` to `last` (not included) of rows, and where each level starts.
    pub(crate) LevelRange {
        starts: Pointer<u64>;
        first, last: u32;
    }
    /// Inverse pivots and intermediate vectors of triangular solves.
    pub(crate) SolveVectors {
        inverse, w, z: Pointer<Reals>;
    }
    /// Rows of more entries than a chunk, in parts: see `csr.cu`.
    pub(crate) LongRows {
        bounds, owner, rows, firsts: Pointer<u32>;
        sums: Pointer<Reals>;
        tickets: Pointer<u32>;
        parts: u64;
    }
    /// Targets of entries that are taken from another pattern.
    pub(crate) EntryTarget {
        starts, columns, source: Pointer<u32>;
    }
}

shared_templates! {
    /// An eliminated point of a cyclic system: x = g − p x_before − q x_kept.
    EliminatedPoint { g: V, p: M, q: M }
    /// A row of kept points, its diagonal 1.
    ReducedRow { lower: M, upper: M, right: V }
    /// The row of the point that a block keeps, coupled with the one that the block before keeps and with
    /// the first point of the next block; and the block's own first point.
    KeptRow { lower: M, centre: M, upper: M, right: V, first: EliminatedPoint<M, V> }
}

impl HaloColumns {
    /// Whether kernels send and receive, and no messages are needed.
    pub(crate) fn are_direct(self) -> bool {
        self.access != PeerAccess::default()
    }
}

/// The text before the headers of every module: types, constants and structs.
pub(super) fn preamble() -> String {
    let types = "#ifndef REAL\n#define REAL double\n#endif\n\
        typedef REAL real;\ntypedef unsigned int uint32;\n\
        typedef unsigned long long uint64;\ntypedef long long int64;\n";
    [types, &constants::text(), &structs(), &templates()].concat()
}
