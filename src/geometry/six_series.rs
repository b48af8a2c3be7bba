//! NACA 6- and 6A-series sections by their published construction.
//!
//! Source: C. L. Ladson, C. W. Brooks, *Development of a Computer Program To Obtain Ordinates for NACA 6- and
//! 6A-Series Airfoils*, NASA TM X-3069, 1974 (its tables of ε and ψ, the iteration for the thickness); NASA TM-4741,
//! 1996 (mean lines); L. K. Loftin, NACA Report 903, 1948 (6A-series).

use std::f64::consts::PI;

use super::vector::offset;
use super::{Airfoil, TrailingEdge};

/// Intervals of φ for each side.
const INTERVALS: usize = 1000;

/// Steps of the iteration for the thickness; each gains about two digits at 12 % and one at 40 %.
const STEPS: usize = 12;

/// Greatest thickness, per cent.
const THICKEST: u32 = 40;

/// Beside both ends of the chord, where slopes of mean lines have no bound, a cubic in x continues the line to the
/// end. The published practice is a constant slope ahead of this place, which leaves a corner in the surface.
const END: f64 = 0.005;

/// Behind this place the surfaces of the 6A-series are straight.
const STRAIGHT: f64 = 0.8;
/// Half the height of their trailing edge, in thicknesses (Report 903: 0.00021 chord at 10 %).
const EDGE: f64 = 0.0021;

/// Factor of the mean line a = 0.8 (modified), which is straight behind the place from which its tangent meets (1, 0).
/// Published slopes are 2 % steeper there and leave a step of 6e-4 chords for a design lift of 1.
const MODIFIED: f64 = 0.97948;
const TANGENT: f64 = 0.862_674_347_65;

/// A name with coefficients in millionths: those of cos nφ, n = 0 to 40, for ψ(φ), and of sin nφ, n = 1 to 40, for ε(φ).
type Family = (&'static str, [i32; 81]);
const ORDER: usize = 40;

/// A parsed designation of the 6- or 6A-series.
pub(super) struct SixSeries {
    name: String,
    family: &'static Family,
    lift: f64,
    thickness: f64,
    /// a of the mean line; `None` for a = 0.8 (modified).
    load: Option<f64>,
}

impl SixSeries {
    /// The section of a designation without `NACA`, or the reason why it has none; `None` for another series.
    pub(super) fn named(text: &str) -> Option<Result<Self, &'static str>> {
        let other = text.len() == 4 && text.bytes().all(|b| b.is_ascii_digit());
        (text.starts_with('6') && !other).then(|| Self::parse(&text.to_lowercase()))
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let (text, load) = text.split_once("a=").map_or((text, None), |(text, a)| (text, Some(a)));
        let digits = text.replace(['(', ')', '-', ',', '_', ' '], "");
        let (letter, digits) = (digits.find('a'), digits.replacen('a', "", 1));
        let count = digits.len();
        if !(5..=6).contains(&count)
            || !digits.bytes().all(|b| b.is_ascii_digit())
            || letter.is_some_and(|place| ![2, count - 3, count].contains(&place))
        {
            return Err(
                "expected family, design lift and thickness, as in 63-215, 65(3)-218, 64A410 or 66-210 a=0.5",
            );
        }
        let name = digits[..2].to_owned() + letter.map_or("", |_| "A");
        let family = FAMILIES.iter().find(|family| family.0 == name);
        let family = family.ok_or("the 6-series has the families 63 to 67, 63A, 64A and 65A")?;
        let (subscript, rest) = digits[2..].split_at(count - 5);
        let number = rest.parse::<u32>().unwrap_or_default();
        let (lift, thickness) = (number / 100, number % 100);
        if !(1..=THICKEST).contains(&thickness) {
            return Err("the last two digits are the thickness, 1 to 40 % in the 6-series");
        }
        let a = load.map_or(Some(1.0), |load| load.trim().parse::<f64>().ok());
        let a = a.filter(|a| (0.0..=1.0).contains(a));
        let a = a.ok_or("the uniform load ends at a, from 0 to 1, as in a=0.5")?;
        if letter.is_some() && load.is_some() && (a - 0.8).abs() > 1e-9 {
            return Err("the 6A-series has no mean line but a=0.8 (modified)");
        }
        let load = letter.is_none().then_some(a);
        let subscript = if subscript.is_empty() { String::new() } else { format!("({subscript})") };
        let stem = digits[..2].to_owned() + &subscript + letter.map_or("-", |_| "A");
        let line = load.filter(|a| *a < 1.0).map_or_else(String::new, |a| format!(" a={a}"));
        Ok(Self {
            name: format!("{stem}{lift}{thickness:02}{line}"),
            family,
            lift: f64::from(lift) / 10.0,
            thickness: f64::from(thickness) / 100.0,
            load,
        })
    }

    /// The contour. The 6-series closes at x = 1; the edge of the 6A-series is closed for [`TrailingEdge::Sharp`] by
    /// straight surfaces that meet there, and extended to where its own surfaces meet for [`TrailingEdge::Extended`].
    pub(super) fn airfoil(&self, trailing_edge: TrailingEdge) -> Airfoil {
        let mut stations = self.half_thickness();
        let ahead = stations.partition_point(|[x, _]| *x <= STRAIGHT) - 1;
        let [x, height] = stations[ahead];
        let edge = if trailing_edge == TrailingEdge::Sharp { 0.0 } else { EDGE * self.thickness };
        let mut chord = 1.0;
        if self.load.is_none() {
            for station in &mut stations[ahead..] {
                station[1] = edge + (height - edge) * (1.0 - station[0]) / (1.0 - x);
            }
            if trailing_edge == TrailingEdge::Extended {
                chord += edge * (1.0 - x) / (height - edge);
                stations.push([chord, 0.0]);
            }
        }
        let side = |sign: f64| {
            let point = move |&[x, half]: &[f64; 2]| offset(x, half, self.mean_line(x), sign);
            stations.iter().map(move |station| point(station).map(|c| c / chord))
        };
        let points = side(1.0).rev().chain(side(-1.0).skip(1)).collect();
        Airfoil { name: format!("NACA {}", self.name), points, notes: Vec::new() }
    }

    /// Stations x from 0 to 1 with half the thickness there. With z = e^{g ψ + i (φ − g ε)} the surface is z + 1/z from
    /// φ = 0, the nose, to π; g is what gives the thickness, the last bit of which is made by scaling ordinates.
    fn half_thickness(&self) -> Vec<[f64; 2]> {
        let angles = (0..=INTERVALS).map(|k| PI * k as f64 / INTERVALS as f64);
        let sum = |terms: &[i32], wave: &dyn Fn(usize) -> f64| {
            terms.iter().enumerate().map(|(n, c)| 1e-6 * f64::from(*c) * wave(n)).sum::<f64>()
        };
        let of_angle = |phi: f64| {
            let psi = sum(&self.family.1[..=ORDER], &|n| (n as f64 * phi).cos());
            (phi, psi, sum(&self.family.1[ORDER + 1..], &|n| ((n + 1) as f64 * phi).sin()))
        };
        let map: Vec<_> = angles.map(of_angle).collect();
        let (mut g, mut stations) = (1.0, Vec::new());
        for _ in 0..STEPS {
            let point = |&(phi, psi, epsilon): &(f64, f64, f64)| {
                let (sin, cos) = f64::sin_cos(phi - g * epsilon);
                [-2.0 * f64::cosh(g * psi) * cos, 2.0 * f64::sinh(g * psi) * sin]
            };
            stations = map.iter().map(point).collect();
            let (first, last) = (stations[0][0], stations[INTERVALS][0]);
            let thickest = stations.iter().map(|point| point[1]).fold(0.0, f64::max);
            let ratio = self.thickness * (last - first) / (2.0 * thickest);
            for [x, half] in &mut stations {
                (*x, *half) = ((*x - first) / (last - first), ratio * *half / (last - first));
            }
            g *= ratio;
        }
        if let Some(last) = stations.last_mut() {
            last[1] = 0.0;
        }
        stations
    }

    /// Ordinate and slope of the mean line at x.
    fn mean_line(&self, x: f64) -> (f64, f64) {
        let straight = self.load.is_none() && x > TANGENT;
        let place = if straight { TANGENT } else { x.clamp(END, 1.0 - END) };
        let [y, slope, curvature] = self.loading(place);
        if straight {
            return (y * (1.0 - x) / (1.0 - place), -y / (1.0 - place));
        }
        if (place - x).abs() < f64::MIN_POSITIVE {
            return (y, slope);
        }
        let end = x.round();
        let (reach, u) = (place - end, (x - end) / (place - end));
        let (slope, curvature) = (slope * reach, curvature * reach * reach);
        let cubic = y - slope + 0.5 * curvature;
        let square = 0.5 * curvature - 3.0 * cubic;
        let linear = slope - 2.0 * square - 3.0 * cubic;
        let ordinate = u * (linear + u * (square + u * cubic));
        (ordinate, (linear + u * (2.0 * square + u * 3.0 * cubic)) / reach)
    }

    /// Ordinate, slope and second derivative at x of the line whose load is uniform up to a and falls linearly from there.
    fn loading(&self, x: f64) -> [f64; 3] {
        let (a, factor) = self.load.map_or((0.8, MODIFIED), |a| (a, 1.0));
        let (behind, ln_x, ln_behind) = (1.0 - x, x.ln(), (1.0 - x).ln());
        let line = if a < 1.0 {
            // t² ln t, which is 0 at t = 0.
            let square = |t: f64| t * t * t.abs().max(f64::MIN_POSITIVE).ln();
            let (d, rest) = (a - x, 1.0 - a);
            let ln_d = d.abs().max(f64::MIN_POSITIVE).ln();
            let g = -(0.5 * square(a) - 0.25 * a * a + 0.25) / rest;
            let h = (0.5 * square(rest) - 0.25 * rest * rest) / rest + g;
            let load = 0.5 * (square(d) - square(behind)) + 0.25 * (behind * behind - d * d);
            [
                load / rest - x * ln_x + g - h * x,
                (behind * ln_behind - d * ln_d) / rest - ln_x - 1.0 - h,
                (ln_d - ln_behind) / rest - 1.0 / x,
            ]
        } else {
            [-behind * ln_behind - x * ln_x, ln_behind - ln_x, -1.0 / behind - 1.0 / x]
        };
        line.map(|value| factor * self.lift / (2.0 * PI * (a + 1.0)) * value)
    }
}

/// Coefficients of the tables of TM X-3069, within 3e-5 chords at 12 %; in the 6-series ψ(π) = 0, a closed edge.
#[rustfmt::skip]
const FAMILIES: [Family; 8] = [
    ("63", [
        89_881, 69_280, -20_468, 2099, 2624, 1529, 1298, 901, 878, 741, 563, 392, 300, 231, 155, 95, 45, 18, 4, -3,
        2, -3, 1, 5, 8, 12, 13, 12, 10, 8, 6, 5, 3, 2, 1, 0, 0, 0, 0, 0, 0, 69_294, -20_461, 2100, 2625, 1532, 1297,
        907, 888, 759, 589, 428, 345, 288, 221, 159, 101, 69, 40, 23, 1, -14, -18, -20, -20, -20, -19, -16, -12, -9,
        -7, -5, -3, -2, -2, -1, 0, 1, 0, 0, 0,
    ]),
    ("64", [
        156_247, 114_258, -38_852, 6093, 5316, 3532, 1725, 1345, 1484, 1141, 596, 264, 257, 172, 30, -110, -147,
        -108, -118, -130, -135, -88, -53, -34, -29, -14, 2, 8, 9, 6, 8, 9, 6, 3, 2, 2, 1, 0, 0, 0, 0, 114_158,
        -38_932, 5991, 4995, 3286, 1587, 1251, 1392, 1075, 597, 324, 325, 264, 145, 52, 37, 53, 15, -1, 1, 3, -5,
        -15, -6, -7, -12, -14, -11, -7, -8, -8, -5, -2, -1, -2, -2, 0, 1, 0, 1,
    ]),
    ("65", [
        111_911, 73_346, -32_640, 8175, 3633, 2576, 1681, 1787, 1729, 914, 769, 490, 407, 201, 66, 43, -44, -40,
        -88, -82, -76, -84, -51, -47, -37, -23, -4, 3, 4, 10, 9, 14, 13, 9, 12, 12, 11, 10, 10, 9, 8, 70_802,
        -28_405, 3909, 6805, -357, 3662, 63, 2433, 329, 655, 548, -86, 398, -260, 134, -74, -73, 110, -108, 80, -8,
        21, 38, -11, 28, -43, -32, -52, -69, -55, -60, -41, -33, -23, -7, 0, 8, 16, 18, 20,
    ]),
    ("66", [
        113_030, 61_556, -35_512, 15_536, 927, 2122, 2484, 2435, 1022, 952, 886, 331, 104, 99, -17, -211, -167,
        -151, -230, -201, -125, -137, -103, -46, -33, -28, -1, 5, 4, 8, 11, 8, 5, 6, 2, 2, 0, 1, 0, 0, 0, 61_642,
        -35_432, 15_561, 907, 2043, 2308, 2200, 890, 803, 679, 168, -21, -64, -153, -243, -194, -119, -111, -53, 0,
        37, 50, 36, 38, 31, 13, 4, 0, -4, -9, -6, -4, -4, -2, -1, 0, -1, 0, -1, 0,
    ]),
    ("67", [
        122_682, 59_081, -33_271, 24_378, -3525, 4471, 2531, 1347, 1160, 889, 619, 116, 399, 20, -48, 140, -135, 6,
        0, -44, 6, 2, -24, -18, -21, -46, -37, -54, -59, -42, -57, -45, -43, -43, -33, -33, -32, -22, -18, -15, -6,
        56_414, -29_455, 19_404, 539, 726, 4982, -766, 2256, -5, 666, 173, -136, 354, -415, 244, -152, -41, 121,
        -131, 123, -37, 36, 22, -34, 28, -54, -25, -42, -52, -37, -48, -27, -23, -16, -3, 3, 7, 13, 15, 19,
    ]),
    ("63A", [
        96_208, 59_528, -15_930, 2259, 2991, 1832, 1807, 873, 1546, 572, 1087, 431, 547, 404, 266, 293, 144, 167,
        86, 66, 69, 11, 39, -10, -5, -10, -18, -13, -21, -21, -18, -15, -13, -12, -10, -8, -4, -3, 0, -1, 2, 59_827,
        -15_607, 1748, 3018, 1506, 1688, 730, 1246, 570, 679, 448, 184, 295, 28, 106, 17, -29, 10, -60, 29, -1, -29,
        -18, -45, -36, -57, -61, -54, -58, -48, -44, -35, -24, -14, -2, 6, 10, 16, 21, 23,
    ]),
    ("64A", [
        95_484, 56_683, -17_009, 3726, 3973, 2370, 1908, 1011, 1697, 699, 1018, 344, 522, 393, 233, 234, 91, 150,
        81, 43, 41, -13, 21, -16, -13, -15, -11, -1, -11, -10, -7, -4, -3, -5, -2, 3, 4, 2, 5, 4, 6, 57_004,
        -16_710, 3140, 3982, 2004, 1809, 839, 1392, 670, 638, 381, 170, 278, 2, 77, -2, -34, 9, -57, 33, 5, -22,
        -11, -40, -34, -56, -63, -57, -64, -54, -48, -39, -26, -16, -3, 8, 11, 17, 22, 24,
    ]),
    ("65A", [
        95_738, 50_402, -19_951, 6610, 3714, 2387, 2031, 1405, 1656, 584, 715, 229, 342, 135, 89, 192, 113, 211,
        180, 199, 207, 141, 150, 87, 60, 30, 1, -6, -15, -13, -9, -6, -2, 1, 0, -2, -3, -6, -7, -7, -6, 50_810,
        -19_677, 5919, 3849, 1953, 2023, 1142, 1435, 529, 440, 267, 78, 131, -48, 79, 16, 8, 19, -54, 49, 17, -19,
        -15, -45, -36, -54, -60, -53, -57, -47, -42, -38, -26, -16, -6, 5, 10, 13, 20, 24,
    ]),
];
