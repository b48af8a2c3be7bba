//! Binary `Plot3D` files, as a stream or in the records of unformatted Fortran files.

use std::io::{self, Write};

use super::layout::{Block, ByteOrder, Field, Flavour, Part, Precision};
use crate::files::pieces;

const I32_BYTES: u64 = size_of::<i32>() as u64;

/// Most bytes of a subrecord. Longer records are split as gfortran and Intel Fortran do it. Source:
/// "GNU Fortran: file format of unformatted sequential files",
/// <https://gcc.gnu.org/onlinedocs/gfortran/File-format-of-unformatted-sequential-files.html>.
const SUBRECORD_BYTES: u64 = 2_147_483_639;

/// Writes the bytes of one part, without record lengths.
pub(super) fn write_part(
    out: &mut (impl Write + Send),
    block: &Block<'_>,
    part: Part,
) -> io::Result<()> {
    let flavour = block.flavour;
    let order = flavour.byte_order;
    match part {
        Part::Count if flavour.block_count => out.write_all(&order.of(1_i32.to_le_bytes())),
        Part::Count => Ok(()),
        Part::Size => block
            .size()
            .into_iter()
            .try_for_each(|count| out.write_all(&order.of(integer(count)?.to_le_bytes()))),
        Part::Block => block.fields().try_for_each(|field| write_field(out, field, flavour)),
    }
}

/// Writes one part as a record, unless it is empty.
pub(super) fn write_record(
    out: &mut (impl Write + Send),
    block: &Block<'_>,
    part: Part,
) -> io::Result<()> {
    let bytes = part_bytes(block, part);
    if bytes == 0 {
        return Ok(());
    }
    let mut record = Record::begin(out, bytes, block.flavour.byte_order, SUBRECORD_BYTES)?;
    write_part(&mut record, block, part)?;
    record.end()
}

/// A count as `Plot3D` has it, in 32 bits.
fn integer(count: usize) -> io::Result<i32> {
    i32::try_from(count).map_err(io::Error::other)
}

fn part_bytes(block: &Block<'_>, part: Part) -> u64 {
    let flavour = block.flavour;
    match part {
        Part::Count => u64::from(flavour.block_count) * I32_BYTES,
        Part::Size => block.size().len() as u64 * I32_BYTES,
        Part::Block => block
            .fields()
            .map(|field| match field {
                Field::Plane(numbers) => numbers.len() as u64 * real_bytes(flavour),
                Field::Constant(_, count) => count as u64 * real_bytes(flavour),
                Field::Blank(_, count) => count as u64 * I32_BYTES,
            })
            .sum(),
    }
}

fn real_bytes(flavour: Flavour) -> u64 {
    match flavour.precision {
        Precision::Single => 4,
        Precision::Double => 8,
    }
}

fn write_field(
    out: &mut (impl Write + Send),
    field: Field<'_>,
    flavour: Flavour,
) -> io::Result<()> {
    let Flavour { byte_order: order, precision, .. } = flavour;
    match field {
        Field::Plane(numbers) => {
            pieces::write(out, numbers.len(), |piece| reals(&numbers[piece], order, precision))
        }
        Field::Constant(number, count) => pieces::write(out, count, |piece| {
            reals(&[number], order, precision).repeat(piece.len())
        }),
        Field::Blank(number, count) => {
            pieces::write(out, count, |piece| order.of(number.to_le_bytes()).repeat(piece.len()))
        }
    }
}

fn reals(numbers: &[f64], order: ByteOrder, precision: Precision) -> Vec<u8> {
    match precision {
        Precision::Single => {
            numbers.iter().flat_map(|&n| order.of((n as f32).to_le_bytes())).collect()
        }
        Precision::Double => numbers.iter().flat_map(|&n| order.of(n.to_le_bytes())).collect(),
    }
}

/// A record of an unformatted Fortran file under way.
///
/// Each subrecord stands between two copies of its length; the first is negative where another
/// subrecord follows, the last where one went before.
struct Record<'a, W: Write> {
    out: &'a mut W,
    order: ByteOrder,
    /// Most bytes of a subrecord.
    limit: u64,
    /// Bytes of the record that are not written yet.
    left: u64,
    /// Length of the subrecord under way, and its bytes that are not written yet.
    subrecord: u64,
    subrecord_left: u64,
    /// Whether the subrecord under way is the first.
    first: bool,
}

impl<'a, W: Write> Record<'a, W> {
    /// Begins a record of `bytes` bytes in subrecords of at most `limit` bytes.
    fn begin(out: &'a mut W, bytes: u64, order: ByteOrder, limit: u64) -> io::Result<Self> {
        let mut record =
            Self { out, order, limit, left: bytes, subrecord: 0, subrecord_left: 0, first: true };
        record.begin_subrecord()?;
        Ok(record)
    }

    fn begin_subrecord(&mut self) -> io::Result<()> {
        self.subrecord = self.left.min(self.limit);
        self.subrecord_left = self.subrecord;
        self.write_length(self.left > self.limit)
    }

    fn end_subrecord(&mut self) -> io::Result<()> {
        self.write_length(!self.first)?;
        self.first = false;
        Ok(())
    }

    fn write_length(&mut self, negative: bool) -> io::Result<()> {
        let length = self.subrecord as i32;
        let length = if negative { -length } else { length };
        self.out.write_all(&self.order.of(length.to_le_bytes()))
    }

    /// Writes the last length.
    fn end(mut self) -> io::Result<()> {
        self.end_subrecord()
    }
}

impl<W: Write> Write for Record<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.subrecord_left == 0 && self.left > 0 {
            self.end_subrecord()?;
            self.begin_subrecord()?;
        }
        let count = (bytes.len() as u64).min(self.subrecord_left);
        self.out.write_all(&bytes[..count as usize])?;
        self.left -= count;
        self.subrecord_left -= count;
        Ok(count as usize)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

    use super::*;

    fn record(contents: &[u8], limit: u64) -> Vec<u8> {
        let mut out = Vec::new();
        let length = contents.len() as u64;
        let mut record = Record::begin(&mut out, length, ByteOrder::Big, limit).unwrap();
        record.write_all(contents).unwrap();
        record.end().unwrap();
        out
    }

    #[test]
    fn a_record_stands_between_its_lengths() {
        assert_eq!(record(&[7, 8, 9], 3), [0, 0, 0, 3, 7, 8, 9, 0, 0, 0, 3]);
    }

    /// The signs are those of the page cited above.
    #[test]
    fn a_long_record_is_split_and_the_signs_of_the_lengths_say_so() {
        let minus = |n: i32| (-n).to_be_bytes();

        let split = record(&[1, 2, 3, 4, 5], 2);

        let expected = [
            &minus(2)[..],
            &[1, 2, 0, 0, 0, 2],
            &minus(2),
            &[3, 4],
            &minus(2),
            &[0, 0, 0, 1, 5],
            &minus(1),
        ];
        assert_eq!(split, expected.concat());
    }
}
