//! Choice of the vector unit at run time.
//!
//! A kernel is a plain loop. It is compiled for the oldest processors of its architecture and
//! again for those with wider vectors, and the widest that the processor offers is run. Neither
//! changes the order of operations or fuses them: the results are the same to the last bit.

use pulp::{Arch, Simd, WithSimd};

/// A loop with its operands. `run` and all that it calls must be `#[inline(always)]`: what is not
/// inlined is compiled for the oldest processors only.
pub(crate) trait Kernel {
    /// Does the work.
    fn run(self);
}

/// Runs a kernel with the widest vectors that there are.
pub(crate) fn run(kernel: impl Kernel) {
    Arch::new().dispatch(Compiled(kernel));
}

struct Compiled<K>(K);

impl<K: Kernel> WithSimd for Compiled<K> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        self.0.run();
    }
}
