//! Words and numbers of a text, line by line, and the header: the first line, comments, and the line of
//! sizes.

use super::error::Fault;

/// What is wrong with a line, and where in the text it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct At {
    pub(super) offset: usize,
    pub(super) fault: Fault,
}

/// Digits of a mantissa that a double holds exactly, and powers of ten that it does.
const EXACT: u64 = 1 << 53;
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// The mark that some editors put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A place in a text.
pub(super) struct Cursor<'a> {
    text: &'a [u8],
    at: usize,
}

/// Whether a byte parts words of a line. The return before a line feed is one.
fn parts(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r')
}

impl<'a> Cursor<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    fn byte(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, skipped: impl Fn(u8) -> bool) {
        while self.byte().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    /// Passes over the mark that some editors put first; returns the place behind it.
    pub(super) fn skip_mark(&mut self) -> usize {
        if self.text.starts_with(MARK) {
            self.at = MARK.len();
        }
        self.at
    }

    /// Goes to the first word of the next line that is neither blank nor a comment; whether there
    /// is one.
    pub(super) fn next_line(&mut self) -> bool {
        loop {
            self.skip(|byte| parts(byte) || byte == b'\n');
            match self.byte() {
                Some(b'%') => self.skip(|byte| byte != b'\n'),
                found => return found.is_some(),
            }
        }
    }

    /// Whether nothing more stands in this line.
    pub(super) fn ends(&mut self) -> bool {
        self.skip(parts);
        matches!(self.byte(), None | Some(b'\n'))
    }

    /// The next word of this line, empty at its end.
    pub(super) fn word(&mut self) -> &'a [u8] {
        self.skip(parts);
        let start = self.at;
        self.skip(|byte| !parts(byte) && byte != b'\n');
        &self.text[start..self.at]
    }

    /// The next word as a whole number; none if it is no such number, or one beyond all sizes.
    pub(super) fn number(&mut self) -> Option<u64> {
        self.skip(parts);
        let start = self.at;
        let mut number = 0_u64;
        while let Some(digit) = self.byte().map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            number = number.checked_mul(10)?.checked_add(u64::from(digit))?;
            self.at += 1;
        }
        let ends = self.byte().is_none_or(|byte| parts(byte) || byte == b'\n');
        (ends && self.at > start).then_some(number)
    }
}

/// The finite value of a word.
pub(super) fn real(word: &[u8]) -> Result<f64, Fault> {
    match short(word) {
        Some(value) => Ok(value),
        None => long(word),
    }
}

/// The value of a word whose mantissa and power of ten are doubles: their product or quotient is
/// the nearest double (Clinger 1990, doi:10.1145/93548.93557). None where more thought is due.
fn short(word: &[u8]) -> Option<f64> {
    let (negative, digits) = match word.first()? {
        b'-' => (true, &word[1..]),
        b'+' => (false, &word[1..]),
        _ => (false, word),
    };
    let (mut mantissa, mut count, mut scale, mut at) = (0_u64, 0, 0_i32, 0);
    let mut behind = false;
    while let Some(&byte) = digits.get(at) {
        match byte {
            b'0'..=b'9' => {
                // Nineteen digits fit.
                mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
                count += 1;
                scale -= i32::from(behind);
            }
            b'.' if !behind => behind = true,
            _ => break,
        }
        at += 1;
    }
    if count == 0 || count > 19 || mantissa > EXACT {
        return None;
    }
    if at < digits.len() {
        scale += exponent(&digits[at..])?;
    }
    let power = *POWERS.get(scale.unsigned_abs() as usize)?;
    let value = mantissa as f64;
    let value = if scale < 0 { value / power } else { value * power };
    Some(if negative { -value } else { value })
}

/// The number behind E or D, of at most three digits.
fn exponent(text: &[u8]) -> Option<i32> {
    let (b'e' | b'E' | b'd' | b'D', rest) =
        text.split_first().map(|(first, rest)| (*first, rest))?
    else {
        return None;
    };
    let (negative, digits) = match rest.first()? {
        b'-' => (true, &rest[1..]),
        b'+' => (false, &rest[1..]),
        _ => (false, rest),
    };
    if digits.is_empty() || digits.len() > 3 || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = digits.iter().fold(0, |value, digit| value * 10 + i32::from(digit - b'0'));
    Some(if negative { -value } else { value })
}

/// The value of any word. Fortran's D is an E, and it leaves out either before three digits.
fn long(word: &[u8]) -> Result<f64, Fault> {
    let parsed = std::str::from_utf8(word).ok().and_then(|text| text.parse::<f64>().ok());
    let value = parsed.or_else(|| {
        let mut text = String::with_capacity(word.len() + 1);
        for (k, &byte) in word.iter().enumerate() {
            match byte {
                b'd' | b'D' => text.push('e'),
                b'+' | b'-' if k > 0 && (word[k - 1].is_ascii_digit() || word[k - 1] == b'.') => {
                    text.push('e');
                    text.push(char::from(byte));
                }
                _ => text.push(char::from(byte)),
            }
        }
        text.parse().ok()
    });
    match value {
        Some(value) if value.is_finite() => Ok(value),
        Some(_) => Err(Fault::NotFinite),
        None => Err(Fault::Value),
    }
}

/// The value of a word of digits.
pub(super) fn integer(word: &[u8]) -> Result<f64, Fault> {
    let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(if real(word).is_ok() { Fault::Integer } else { Fault::Value });
    }
    real(word)
}

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
