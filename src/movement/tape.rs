//! The derivative of a formula from a record of its operations (Griewank and Walther 2008,
//! doi:10.1137/1.9780898717761): forwards along a direction, backwards to all variables at once.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Neg, Sub};

use crate::geometry::Scalar;

/// Places of the two operands of an operation in the record, and the derivatives by them.
#[derive(Debug, Clone, Copy, Default)]
struct Operation {
    operands: [u32; 2],
    derivatives: [f64; 2],
}

/// The operations done so far, the variables first.
#[derive(Debug, Default)]
pub(super) struct Tape(RefCell<Vec<Operation>>);

impl Tape {
    fn push(&self, operation: Operation) -> u32 {
        let mut operations = self.0.borrow_mut();
        operations.push(operation);
        (operations.len() - 1) as u32
    }

    /// Another variable; there must be no operation yet.
    pub(super) fn variable(&self, value: f64) -> TapeNumber<'_> {
        TapeNumber { value, at: Some((self, self.push(Operation::default()))) }
    }

    /// Index of the number in the record.
    pub(super) fn place(&self, number: TapeNumber<'_>) -> usize {
        number.at.map_or_else(|| self.push(Operation::default()), |(_, at)| at) as usize
    }

    pub(super) fn derivative(self) -> Derivative {
        Derivative(self.0.into_inner())
    }
}

/// The derivative of a formula at the variables with which it was evaluated.
#[derive(Debug)]
pub(super) struct Derivative(Vec<Operation>);

impl Derivative {
    /// The derivatives of all places along a direction, the components of the variables.
    pub(super) fn along(&self, direction: &[f64]) -> Vec<f64> {
        let mut found = direction.to_vec();
        for Operation { operands: [a, b], derivatives } in &self.0[direction.len()..] {
            found.push(derivatives[0] * found[*a as usize] + derivatives[1] * found[*b as usize]);
        }
        found
    }

    /// The transpose: derivatives of a function by the `variables` from those by the numbers at some places.
    pub(super) fn transposed(
        &self,
        variables: usize,
        by_places: impl Iterator<Item = (usize, f64)>,
    ) -> Vec<f64> {
        let mut found = vec![0.0; self.0.len()];
        by_places.for_each(|(place, by)| found[place] += by);
        for (at, operation) in self.0.iter().enumerate().skip(variables).rev() {
            let (Operation { operands: [a, b], derivatives }, by) = (operation, found[at]);
            // A number on which no output depends may have no finite derivative.
            if by != 0.0 {
                found[*a as usize] += derivatives[0] * by;
                found[*b as usize] += derivatives[1] * by;
            }
        }
        found.truncate(variables);
        found
    }
}

/// A number and where it is recorded; constants are not.
#[derive(Debug, Clone, Copy)]
pub(super) struct TapeNumber<'t> {
    value: f64,
    at: Option<(&'t Tape, u32)>,
}

impl TapeNumber<'_> {
    /// The result of an operation, by its operands with the derivatives by them.
    fn of(value: f64, operands: [(Self, f64); 2]) -> Self {
        let Some((tape, _)) = operands[0].0.at.or(operands[1].0.at) else { return value.into() };
        let [a, b] = operands.map(|(operand, by)| operand.at.map_or((0, 0.0), |(_, at)| (at, by)));
        let operation = Operation { operands: [a.0, b.0], derivatives: [a.1, b.1] };
        Self { value, at: Some((tape, tape.push(operation))) }
    }
}

impl From<f64> for TapeNumber<'_> {
    fn from(value: f64) -> Self {
        Self { value, at: None }
    }
}

/// Operators: their value, and the derivatives by both operands.
macro_rules! operators {
    ($($name:ident $method:ident |$a:ident, $b:ident| $value:expr, [$by_a:expr, $by_b:expr];)*) => { $(
        impl $name for TapeNumber<'_> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                let ($a, $b) = (self.value, other.value);
                Self::of($value, [(self, $by_a), (other, $by_b)])
            }
        }
    )* };
}

operators! {
    Add add |a, b| a + b, [1.0, 1.0];
    Sub sub |a, b| a - b, [1.0, -1.0];
    Mul mul |a, b| a * b, [b, a];
    Div div |a, b| a / b, [b.recip(), -(a / b) / b];
}

impl Neg for TapeNumber<'_> {
    type Output = Self;

    fn neg(self) -> Self {
        Self::of(-self.value, [(self, -1.0), (0.0.into(), 0.0)])
    }
}

impl Scalar for TapeNumber<'_> {
    fn hypot(self, other: Self) -> Self {
        let length = self.value.hypot(other.value);
        Self::of(length, [(self, self.value / length), (other, other.value / length)])
    }

    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        Self::of(root, [(self, 0.5 / root), (0.0.into(), 0.0)])
    }
}
