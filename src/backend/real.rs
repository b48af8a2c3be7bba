//! The two floating-point types of the solvers.

use std::fmt::Debug;

/// `f32` or `f64`.
pub trait Real:
    num_traits::Float
    + num_traits::NumAssign
    + bytemuck::Pod
    + Default
    + Debug
    + Send
    + Sync
    + sealed::Sealed
{
    /// The nearest value of this type.
    fn narrow(value: f64) -> Self;
    /// The same value in double precision.
    fn widen(self) -> f64;
}

impl Real for f64 {
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

impl Real for f32 {
    #[inline(always)]
    fn narrow(value: f64) -> Self {
        value as Self
    }
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}
