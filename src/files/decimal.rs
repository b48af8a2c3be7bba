//! Decimal text of numbers in less time than `format!` takes, for meshes as text.

use std::io::Write;

/// Powers of five whose product with a significand of 53 bits has at most 128.
const FIVES: [u128; 33] = {
    let mut fives = [1; 33];
    let mut k = 1;
    while k < fives.len() {
        fives[k] = 5 * fives[k - 1];
        k += 1;
    }
    fives
};

/// Appends `x` with `N` significant digits and an exponent by `E`, the characters of `{x:.*E}`: the exact value,
/// rounded to the nearest, to an even digit where two are as near.
pub(crate) fn write_exponential<const N: usize>(text: &mut Vec<u8>, x: f64) {
    let Some((mut digits, exponent)) = significant(x.abs(), N as u32) else {
        // Writing to memory cannot fail.
        let _ = write!(text, "{x:.*E}", N - 1);
        return;
    };
    // Sign, first digit, point, other digits.
    let mut characters = [b'0'; 24];
    for at in (2..=N).rev() {
        characters[at + 1] += (digits % 10) as u8;
        digits /= 10;
    }
    (characters[0], characters[1], characters[2]) = (b'-', b'0' + digits as u8, b'.');
    text.extend_from_slice(&characters[usize::from(x.is_sign_positive())..N + 2]);
    let size = exponent.unsigned_abs() as u8;
    let tail = [b'E', b'-', b'0' + size / 10, b'0' + size % 10];
    let written = [true, exponent < 0, size > 9, true];
    text.extend(tail.iter().zip(written).filter_map(|(character, is)| is.then_some(character)));
}

/// The first `count` digits of a number without sign, rounded, as an integer, and the exponent of the first one; none
/// where the exact product with a power of ten does not fit or is no fraction.
fn significant(x: f64, count: u32) -> Option<(u64, i32)> {
    if x == 0.0 {
        return Some((0, 0));
    }
    if !x.is_normal() {
        return None;
    }
    let bits = x.to_bits();
    let significand = bits & ((1 << 52) - 1) | 1 << 52;
    let binary = (bits >> 52) as i32 - 1075;
    let (least, most) = (10_u64.pow(count - 1), 10_u64.pow(count));
    // May be wrong by one.
    let mut exponent = ((binary + 52) * 1233) >> 12;
    loop {
        let power = count.cast_signed() - 1 - exponent;
        let product = u128::from(significand) * FIVES.get(usize::try_from(power).ok()?)?;
        let shift =
            u32::try_from(-(binary + power)).ok().filter(|shift| (1..128).contains(shift))?;
        let digits = (product >> shift) as u64;
        if digits < least {
            exponent -= 1;
        } else if digits >= most {
            exponent += 1;
        } else {
            let (rest, half) = (product & ((1 << shift) - 1), 1 << (shift - 1));
            let up = rest > half || (rest == half && digits % 2 == 1);
            let rounded = digits + u64::from(up);
            return Some(if rounded == most { (least, exponent + 1) } else { (rounded, exponent) });
        }
    }
}
