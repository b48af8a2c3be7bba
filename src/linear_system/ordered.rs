//! A linear system in the order in which it is solved.

use std::borrow::Cow;

use super::options::{Reordering, SystemOptions};
use crate::error::{Error, SystemError};
use crate::sparse::{Csr, reverse_cuthill_mckee};

/// A system in the order in which it is solved.
pub(super) struct Ordered<'a> {
    pub(super) a: Cow<'a, Csr>,
    pub(super) b: Cow<'a, [f64]>,
    /// Row k is this one of the file, if they are renumbered.
    pub(super) order: Option<Vec<u32>>,
}

impl<'a> Ordered<'a> {
    pub(super) fn new(a: &'a Csr, b: &'a [f64], reordering: Reordering) -> Self {
        match reordering {
            Reordering::None => Self { a: Cow::Borrowed(a), b: Cow::Borrowed(b), order: None },
            Reordering::Rcm => {
                let order = reverse_cuthill_mckee(a);
                let b = order.iter().map(|&row| b[row as usize]).collect();
                Self { a: Cow::Owned(a.permuted(&order)), b: Cow::Owned(b), order: Some(order) }
            }
        }
    }

    /// The row of the file that is row k.
    fn row(&self, k: usize) -> usize {
        self.order.as_ref().map_or(k, |order| order[k] as usize)
    }

    /// A solution as the file numbers it.
    pub(super) fn unordered(&self, x: Vec<f64>) -> Vec<f64> {
        let Some(order) = &self.order else { return x };
        let mut as_in_file = vec![0.0; x.len()];
        for (&row, x) in order.iter().zip(x) {
            as_in_file[row as usize] = x;
        }
        as_in_file
    }
}

/// A pivot that cannot be used, with what the user needs to know of its row.
pub(super) fn located(error: Error, system: &Ordered<'_>, options: &SystemOptions) -> Error {
    use crate::solver::PreconditionerFailure::{Factor, Pivot};
    let Error::Preconditioner(failure) = error else { return error };
    let (preconditioner, row, pivot) = match failure {
        Factor { preconditioner, row, value } => (preconditioner, row, Some(value)),
        Pivot { preconditioner, row } => (preconditioner, row, None),
        _ => return error,
    };
    let stored =
        system.a.row(row).find(|&(column, _)| column == row).map_or(0.0, |(_, value)| value);
    let pivot = SystemError::Pivot {
        preconditioner,
        row: system.row(row) + 1,
        value: pivot.unwrap_or(stored),
        diagonal: stored != 0.0,
        shift: options.shift(),
    };
    pivot.into()
}
