//! What stands against solving a linear system as asked.

use std::path::PathBuf;

/// A linear system that cannot be solved as asked. Rows and columns count from 1, as in the file.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// The matrix is not square.
    #[error("{}: {rows} rows and {columns} columns, a square matrix was expected", path.display())]
    NotSquare {
        /// The matrix.
        path: PathBuf,
        /// Rows it has.
        rows: usize,
        /// Columns it has.
        columns: usize,
    },
    /// The right side does not belong to the matrix.
    #[error("{}: {found} numbers, the matrix has {rows} rows", path.display())]
    RightSide {
        /// The right side.
        path: PathBuf,
        /// Numbers it has.
        found: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// A method for symmetric matrices was asked for, and the matrix is not symmetric.
    #[error(
        "{method} needs a symmetric matrix: entry ({row}, {column}) is {value:e}, \
         entry ({column}, {row}) {other:e}"
    )]
    NotSymmetric {
        /// What was asked for.
        method: &'static str,
        /// Row of an entry.
        row: usize,
        /// Its column.
        column: usize,
        /// Its value.
        value: f64,
        /// The value of the mirrored entry, 0 where there is none.
        other: f64,
    },
    /// Incomplete factors have a pivot that cannot be used.
    #[error("{preconditioner} met the pivot {value:e} in row {row}{}", shifted(*shift))]
    Pivot {
        /// The preconditioner.
        preconditioner: &'static str,
        /// Row of the matrix.
        row: usize,
        /// The pivot.
        value: f64,
        /// Whether the row has a diagonal entry that is not zero.
        diagonal: bool,
        /// Shift of the factors.
        shift: f64,
    },
}

fn shifted(shift: f64) -> String {
    if shift == 0.0 { String::new() } else { format!(" with a shift of {shift}") }
}

impl SystemError {
    /// What the user can do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::NotSquare { .. } => "give a matrix with as many columns as rows".to_owned(),
            Self::RightSide { .. } => {
                "give a right side of this matrix, or leave --rhs out for one of ones".to_owned()
            }
            Self::NotSymmetric { .. } => {
                "use --solver bicgstab or gmres, and --preconditioner dilu or ilu0".to_owned()
            }
            Self::Pivot { diagonal: false, .. } => {
                "the row has no diagonal entry other than zero, which no shift mends: use \
                 --preconditioner none, or put the equations in an order in which it has one"
                    .to_owned()
            }
            Self::Pivot { shift, .. } => {
                let next = if *shift == 0.0 { 0.01 } else { 4.0 * shift };
                format!(
                    "strengthen the diagonal with --shift {next}, or use another --preconditioner"
                )
            }
        }
    }

    /// Exit code of the program: 1 where the system may be solved in another way, 2 for bad input.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Pivot { .. } => 1,
            Self::NotSquare { .. } | Self::RightSide { .. } | Self::NotSymmetric { .. } => 2,
        }
    }
}
