//! The first line, the comments, and the line of sizes.

use super::cursor::{At, Cursor};
use super::error::Fault;

/// How the entries are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Layout {
    /// Row, column, value.
    Coordinate,
    /// All values, column by column.
    Array,
}

/// What the values are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Real,
    Integer,
    /// No value stands for one.
    Pattern,
}

/// What a file says of the symmetry of its matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Symmetry {
    /// All entries are listed.
    General,
    /// Those on and below the diagonal are.
    Symmetric,
    /// Those below the diagonal are, with the other sign above.
    SkewSymmetric,
}

/// All that stands before the entries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
    pub(super) rows: u64,
    pub(super) columns: u64,
    /// Entries that must follow.
    pub(super) entries: u64,
    /// Where the line after the sizes begins.
    pub(super) body: usize,
}

impl Header {
    /// Reads it; none if the text ends before the sizes.
    pub(super) fn read(text: &[u8]) -> Result<Option<Self>, At> {
        let mut cursor = Cursor::new(text);
        let (layout, field, symmetry) = banner(&mut cursor)?;
        if !cursor.next_line() {
            return Ok(None);
        }
        let line = cursor.at();
        let fault = |fault| At { offset: line, fault };
        let names = match layout {
            Layout::Coordinate => "the numbers of rows, columns and entries",
            Layout::Array => "the numbers of rows and columns",
        };
        let sizes = || fault(Fault::Sizes { names });
        let mut number = || cursor.number().ok_or_else(sizes);
        let (rows, columns) = (number()?, number()?);
        let listed = if layout == Layout::Coordinate { number()? } else { 0 };
        if !cursor.ends() {
            return Err(sizes());
        }
        let body = cursor.at();
        if rows == 0 || columns == 0 {
            return Err(fault(Fault::Nothing));
        }
        if rows > u64::from(u32::MAX) || columns > u64::from(u32::MAX) {
            return Err(fault(Fault::TooLarge));
        }
        if symmetry != Symmetry::General && rows != columns {
            return Err(fault(Fault::Unsquare));
        }
        let entries = match (layout, symmetry) {
            (Layout::Coordinate, _) => listed,
            // Below 2⁶⁴, as rows and columns are below 2³².
            (Layout::Array, Symmetry::General) => rows * columns,
            (Layout::Array, Symmetry::Symmetric) => triangle(rows),
            (Layout::Array, Symmetry::SkewSymmetric) => triangle(rows - 1),
        };
        Ok(Some(Self { layout, field, symmetry, rows, columns, entries, body }))
    }
}

/// 1 + 2 + … + n.
fn triangle(n: u64) -> u64 {
    if n.is_multiple_of(2) { n / 2 * (n + 1) } else { n.div_ceil(2) * n }
}

/// The words of the first line.
fn banner(cursor: &mut Cursor<'_>) -> Result<(Layout, Field, Symmetry), At> {
    let offset = cursor.skip_mark();
    let fault = |fault| At { offset, fault };
    let mut word = || cursor.word().to_ascii_lowercase();
    if word() != b"%%matrixmarket" || word() != b"matrix" {
        return Err(fault(Fault::Banner));
    }
    let layout = match word().as_slice() {
        b"coordinate" => Layout::Coordinate,
        b"array" => Layout::Array,
        _ => {
            let known = "`coordinate` or `array`";
            return Err(fault(Fault::Word { what: "format", known }));
        }
    };
    let field = match word().as_slice() {
        b"real" | b"double" => Field::Real,
        b"integer" => Field::Integer,
        b"pattern" => Field::Pattern,
        b"complex" => return Err(fault(Fault::Complex)),
        _ => {
            let known = "`real`, `integer` or `pattern`";
            return Err(fault(Fault::Word { what: "kind of values", known }));
        }
    };
    let symmetry = match word().as_slice() {
        b"general" => Symmetry::General,
        b"symmetric" => Symmetry::Symmetric,
        b"skew-symmetric" => Symmetry::SkewSymmetric,
        b"hermitian" => return Err(fault(Fault::Complex)),
        _ => {
            let known = "`general`, `symmetric` or `skew-symmetric`";
            return Err(fault(Fault::Word { what: "symmetry", known }));
        }
    };
    let pattern = field == Field::Pattern;
    let odd = layout == Layout::Array || symmetry == Symmetry::SkewSymmetric;
    if pattern && odd || !cursor.ends() {
        return Err(fault(Fault::Combination));
    }
    Ok((layout, field, symmetry))
}
