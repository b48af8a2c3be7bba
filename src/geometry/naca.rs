//! NACA sections from their designations; four and five digits from their defining equations.
//!
//! Source: C. L. Ladson, C. W. Brooks, A. S. Hill, D. W. Sproles, *Computer Program To Obtain
//! Ordinates for NACA Airfoils*, NASA TM-4741, 1996; E. N. Jacobs, K. E. Ward, R. M. Pinkerton,
//! NACA Report 460, 1933 (four digits); E. N. Jacobs, R. M. Pinkerton, NACA Report 537, 1935 (five
//! digits).

use super::six_series::SixSeries;
use super::vector::{bisect, offset};
use super::{Airfoil, GeometryError, TrailingEdge};

/// Cosine-spaced intervals a side; the spline through the points is within 1e-9 of the section.
const INTERVALS: usize = 1000;

/// a₄ of the thickness distribution as published, and of the one that closes at x = 1.
const ORIGINAL_A4: f64 = -0.1015;
const CLOSED_A4: f64 = -0.1036;

/// Stations between x = 1 and the edge of an extended section.
const EXTENSION: usize = 60;

/// Smallest interval next to the junction of the camber line. The slope of the surface jumps there
/// (by up to 3° for four digits), so the interval bounds the spline's error: jump · interval / 20.
const JUNCTION_INTERVAL: f64 = 2e-7;

/// A camber line of two pieces that meet at x = `junction`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Camber {
    /// y = 0.
    None,
    /// y = m/p² (2 p x − x²) before x = p, m/(1 − p)² (1 − 2 p + 2 p x − x²) behind.
    FourDigit { m: f64, p: f64 },
    /// y = k₁/6 (x³ − 3 r x² + r² (3 − r) x) before x = r, k₁ r³/6 (1 − x) behind.
    FiveDigit { r: f64, k1: f64 },
    /// y = k₁/6 ((x − r)³ − κ (1 − r)³ x − r³ x + r³) before x = r,
    /// k₁/6 (κ (x − r)³ − κ (1 − r)³ x − r³ x + r³) behind, κ = k₂/k₁.
    Reflexed { r: f64, k1: f64, k21: f64 },
}

/// r and k₁ of the camber lines 210 to 250, design lift coefficient 0.3 (NACA Report 537).
const STANDARD: [(f64, f64); 5] =
    [(0.0580, 361.400), (0.1260, 51.640), (0.2025, 15.957), (0.2900, 6.643), (0.3910, 3.230)];

/// r, k₁ and k₂/k₁ of the camber lines 211 to 251, design lift coefficient 0.3.
///
/// 221 to 251 as published. 211 was never tabulated; its values satisfy the same conditions: no moment about
/// the quarter chord and a design lift coefficient of 0.3 by thin-airfoil theory.
#[allow(clippy::approx_constant)] // 0.3180 is a place on the chord, not 1/π.
const REFLEXED: [(f64, f64, f64); 5] = [
    (0.059_106_579_9, 349.163_273, 0.000_050_777_523),
    (0.1300, 51.990, 0.000_764),
    (0.2170, 15.793, 0.006_77),
    (0.3180, 6.520, 0.030_3),
    (0.4410, 3.191, 0.135_5),
];

/// The section of a designation such as `0012`, `NACA 4412`, `23012`, `63-215`, `65(3)-218`, `64A410`, `66-210 a=0.5`.
///
/// Sections of the 6- and 6A-series are constructed as in NASA TM X-3069. The thickness distribution of four and five
/// digits, t the thickness in chords, perpendicular to the camber line:
///
/// ```text
/// yₜ = 5 t (0.2969 √x − 0.1260 x − 0.3516 x² + 0.2843 x³ + a₄ x⁴)
/// ```
///
/// with a₄ = −0.1036 for [`TrailingEdge::Sharp`] (closed) and the original −0.1015 (a gap of 0.021 t) for the
/// others. [`TrailingEdge::Extended`] continues the original formula to where it closes, x = 1.00893, and
/// scales the section by that, which is NASA's definition of the 0012
/// (<https://turbmodels.larc.nasa.gov/naca0012numerics_val.html>). The chord line runs from (0, 0) to (1, 0);
/// by the equations the nose of a cambered section reaches slightly ahead of x = 0.
///
/// # Errors
/// [`GeometryError::Designation`] for anything else, and for digits that define no section.
pub fn airfoil_from_naca(
    designation: &str,
    trailing_edge: TrailingEdge,
) -> Result<Airfoil, GeometryError> {
    let refuse =
        |reason| GeometryError::Designation { designation: designation.to_owned(), reason };
    if let Some(section) = SixSeries::named(without_prefix(designation)) {
        return Ok(section.map_err(refuse)?.airfoil(trailing_edge));
    }
    let section = NacaSection::named(designation).map_err(refuse)?;
    let a4 = if trailing_edge == TrailingEdge::Sharp { CLOSED_A4 } else { ORIGINAL_A4 };
    let closing = match trailing_edge {
        TrailingEdge::Sharp => Some(1.0),
        TrailingEdge::Extended => {
            Some(bisect(1.0, 1.1, |x| half_thickness(x, ORIGINAL_A4) > 0.0)[1])
        }
        _ => None,
    };
    let chord = closing.unwrap_or(1.0);

    let mut stations = stations(&section.camber);
    if chord > 1.0 {
        // The stations behind x = 1 are about as dense as the cosine spacing ahead of it.
        let more = (1..=EXTENSION).map(|k| 1.0 + (chord - 1.0) * k as f64 / EXTENSION as f64);
        stations.extend(more);
    }
    let side = |sign: f64| {
        let section = &section;
        stations.iter().map(move |&x| {
            // The closed formulas end in 0 except for rounding.
            let closed = Some(x) == closing;
            let point = if closed { [x, section.camber.at(x).0] } else { section.at(x, a4, sign) };
            point.map(|c| c / chord)
        })
    };
    let points: Vec<[f64; 2]> = side(1.0).rev().chain(side(-1.0).skip(1)).collect();
    Ok(Airfoil { name: format!("NACA {}", section.digits), points, notes: Vec::new() })
}

/// A parsed designation.
#[derive(Debug)]
pub struct NacaSection {
    digits: String,
    camber: Camber,
    thickness: f64,
}

impl NacaSection {
    /// The section of a designation; the error is the reason why it has none.
    pub fn named(designation: &str) -> Result<Self, &'static str> {
        let (text, digits) = digits(designation)?;
        let camber = camber(&digits)?;
        let thickness = f64::from(digits[digits.len() - 2] * 10 + digits[digits.len() - 1]) / 100.0;
        if thickness <= 0.0 {
            return Err("the last two digits are the thickness, which cannot be 0");
        }
        Ok(Self { digits: text.to_owned(), camber, thickness })
    }

    /// Point on the upper (`sign` = 1) or lower (−1) surface, (x ∓ yₜ sin θ, yᵪ ± yₜ cos θ).
    pub fn at(&self, x: f64, a4: f64, sign: f64) -> [f64; 2] {
        offset(x, 5.0 * self.thickness * half_thickness(x, a4), self.camber.at(x), sign)
    }
}

/// A designation without an optional `NACA` or `N`.
fn without_prefix(designation: &str) -> &str {
    let text = designation.trim();
    let prefix = ["naca", "n"].into_iter().find(|prefix| {
        text.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
    });
    prefix.map_or(text, |prefix| text[prefix.len()..].trim_start_matches([' ', '-', '_']))
}

/// The digits of a designation.
fn digits(designation: &str) -> Result<(&str, Vec<u8>), &'static str> {
    let text = without_prefix(designation);
    if text.is_empty() {
        return Err("it has no digits");
    }
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err("only digits were expected behind an optional `NACA`");
    }
    match text.len() {
        4 | 5 => Ok((text, text.bytes().map(|b| b - b'0').collect())),
        _ => Err("four or five digits were expected"),
    }
}

/// The camber line given by the leading digits.
fn camber(digits: &[u8]) -> Result<Camber, &'static str> {
    if digits.len() == 4 {
        return match (digits[0], digits[1]) {
            (0, 0) => Ok(Camber::None),
            (0, _) => Err("without camber (first digit 0) the second digit must be 0"),
            (_, 0) => Err("with camber the second digit, its place in tenths, cannot be 0"),
            (m, p) => Ok(Camber::FourDigit { m: f64::from(m) / 100.0, p: f64::from(p) / 10.0 }),
        };
    }
    // The first digit is 20/3 times the design lift coefficient; the tables hold for the digit 2.
    let scale = f64::from(digits[0]) / 2.0;
    if digits[0] == 0 {
        return Err("the first of five digits is the design lift, which cannot be 0");
    }
    let row = usize::from(digits[1]);
    match (row, digits[2]) {
        (1..=5, 0) => {
            let (r, k1) = STANDARD[row - 1];
            Ok(Camber::FiveDigit { r, k1: scale * k1 })
        }
        (1..=5, 1) => {
            let (r, k1, k21) = REFLEXED[row - 1];
            Ok(Camber::Reflexed { r, k1: scale * k1, k21 })
        }
        (1..=5, _) => Err("the third of five digits is 0, or 1 for a reflexed camber line"),
        _ => Err("the second of five digits is between 1 and 5"),
    }
}

impl Camber {
    /// x at which the two pieces meet.
    fn junction(&self) -> Option<f64> {
        match *self {
            Self::None => None,
            Self::FourDigit { p, .. } => Some(p),
            Self::FiveDigit { r, .. } | Self::Reflexed { r, .. } => Some(r),
        }
    }

    /// Ordinate and slope at x.
    fn at(&self, x: f64) -> (f64, f64) {
        match *self {
            Self::None => (0.0, 0.0),
            Self::FourDigit { m, p } if x < p => {
                let k = m / (p * p);
                (k * (2.0 * p * x - x * x), 2.0 * k * (p - x))
            }
            Self::FourDigit { m, p } => {
                let k = m / ((1.0 - p) * (1.0 - p));
                (k * (1.0 - 2.0 * p + 2.0 * p * x - x * x), 2.0 * k * (p - x))
            }
            Self::FiveDigit { r, k1 } if x < r => (
                k1 / 6.0 * (x * x * x - 3.0 * r * x * x + r * r * (3.0 - r) * x),
                k1 / 6.0 * (3.0 * x * x - 6.0 * r * x + r * r * (3.0 - r)),
            ),
            Self::FiveDigit { r, k1 } => {
                let k = k1 * r * r * r / 6.0;
                (k * (1.0 - x), -k)
            }
            Self::Reflexed { r, k1, k21 } => {
                let factor = if x < r { 1.0 } else { k21 };
                let line = k21 * (1.0 - r).powi(3) + r.powi(3);
                let d = x - r;
                (
                    k1 / 6.0 * (factor * d * d * d - line * x + r.powi(3)),
                    k1 / 6.0 * (3.0 * factor * d * d - line),
                )
            }
        }
    }
}

/// yₜ/(5 t).
fn half_thickness(x: f64, a4: f64) -> f64 {
    let polynomial = x * (-0.1260 + x * (-0.3516 + x * (0.2843 + x * a4)));
    0.2969 * x.sqrt() + polynomial
}

/// Stations along the chord from 0 to 1: cosine-spaced, refined towards the junction.
fn stations(camber: &Camber) -> Vec<f64> {
    let cosine = |k: usize| {
        // 2 sin²(β/2) keeps the relative accuracy of the first stations.
        let half = 0.5 * std::f64::consts::PI * k as f64 / INTERVALS as f64;
        half.sin().powi(2)
    };
    let mut x: Vec<f64> = (0..INTERVALS).map(cosine).chain([1.0]).collect();
    let Some(junction) = camber.junction() else { return x };
    // Intervals grow by 1.5 away from the junction until they match the cosine spacing there.
    let local = std::f64::consts::PI / INTERVALS as f64 * (junction * (1.0 - junction)).sqrt();
    let mut offsets = vec![JUNCTION_INTERVAL];
    while let Some(&last) = offsets.last()
        && last < 3.0 * local
    {
        offsets.push(1.5 * last + JUNCTION_INTERVAL);
    }
    let reach = offsets[offsets.len() - 1];
    x.retain(|&x| (x - junction).abs() > reach + 0.5 * local);
    x.push(junction);
    x.extend(offsets.iter().flat_map(|d| [junction - d, junction + d]));
    x.sort_by(f64::total_cmp);
    x
}
