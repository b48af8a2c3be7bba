//! Curves that close an open trailing edge.

/// Intervals in which the length of a curve is measured.
const SAMPLES: usize = 2000;

/// An end of a surface at the trailing edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeEnd {
    /// Place, chords.
    pub(crate) at: [f64; 2],
    /// Unit tangent of the surface, pointing off the section.
    pub(crate) aft: [f64; 2],
}

/// A cubic Bézier curve, measured along its length:
///
/// ```text
/// r(t) = (1−t)³ P₀ + 3 (1−t)² t P₁ + 3 (1−t) t² P₂ + t³ P₃
/// ```
#[derive(Debug)]
pub(crate) struct Bezier {
    control: [[f64; 2]; 4],
    /// Length from t = 0 to t = k/SAMPLES.
    length: Vec<f64>,
}

impl Bezier {
    /// The cap from the upper to the lower end, which leaves both surfaces along their tangents:
    /// P₁ = P₀ + c T₀, P₂ = P₃ + c T₁, c = ⅔ |P₃ − P₀|.
    ///
    /// For parallel surfaces this c puts the middle of the curve where the half circle on the gap
    /// has it. The cap reaches about half the gap behind the section.
    pub(crate) fn cap(upper: EdgeEnd, lower: EdgeEnd) -> Self {
        let gap = distance(upper.at, lower.at);
        let handle = |end: EdgeEnd| [0, 1].map(|c| end.at[c] + 2.0 / 3.0 * gap * end.aft[c]);
        Self::new([upper.at, handle(upper), handle(lower), lower.at])
    }

    /// The side of a wedge from an end to the tip: it leaves the surface along its tangent and
    /// reaches the tip on the straight line from the end.
    pub(crate) fn wedge(end: EdgeEnd, tip: [f64; 2]) -> Self {
        let third = distance(end.at, tip) / 3.0;
        let handle = [0, 1].map(|c| end.at[c] + third * end.aft[c]);
        let near = [0, 1].map(|c| tip[c] - (tip[c] - end.at[c]) / 3.0);
        Self::new([end.at, handle, near, tip])
    }

    fn new(control: [[f64; 2]; 4]) -> Self {
        let mut curve = Self { control, length: vec![0.0] };
        let mut total = 0.0;
        let mut before = control[0];
        for k in 1..=SAMPLES {
            let here = curve.point(k as f64 / SAMPLES as f64);
            total += distance(before, here);
            curve.length.push(total);
            before = here;
        }
        curve
    }

    /// Arc length, chords.
    pub(crate) fn length(&self) -> f64 {
        self.length[SAMPLES]
    }

    /// `cells` + 1 points at equal arc length, both ends included exactly.
    pub(crate) fn points(&self, cells: usize) -> Vec<[f64; 2]> {
        let mut points: Vec<[f64; 2]> =
            (0..=cells).map(|k| self.at(self.length() * k as f64 / cells as f64)).collect();
        points[0] = self.control[0];
        points[cells] = self.control[3];
        points
    }

    /// The point at arc length `s` from the start; the ends exactly.
    pub(crate) fn at(&self, s: f64) -> [f64; 2] {
        if s <= 0.0 {
            self.control[0]
        } else if s >= self.length() {
            self.control[3]
        } else {
            self.point(self.parameter(s))
        }
    }

    fn point(&self, t: f64) -> [f64; 2] {
        let s = 1.0 - t;
        let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
        [0, 1].map(|c| weights.iter().zip(&self.control).map(|(w, p)| w * p[c]).sum())
    }

    /// t at arc length `s`, linear between the samples.
    fn parameter(&self, s: f64) -> f64 {
        let k = self.length.partition_point(|&l| l <= s).clamp(1, SAMPLES) - 1;
        let (l0, l1) = (self.length[k], self.length[k + 1]);
        (k as f64 + (s - l0) / (l1 - l0)) / SAMPLES as f64
    }
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (b[0] - a[0]).hypot(b[1] - a[1])
}

/// Length of a wedge in gaps.
const WEDGE_LENGTH: f64 = 4.0;

/// Tip of the wedge that closes an open edge: on the bisector of both surfaces' tangents, four
/// gaps behind the middle of the base, or where the tangents meet if that is nearer.
pub(crate) fn wedge_tip([upper, lower]: [EdgeEnd; 2]) -> [f64; 2] {
    let gap = distance(upper.at, lower.at);
    let sum = [0, 1].map(|c| upper.aft[c] + lower.aft[c]);
    let length = sum[0].hypot(sum[1]);
    let aft = sum.map(|c| c / length);
    // Each surface approaches the bisector by this much a unit of length along it.
    let slope = (upper.aft[0] * lower.aft[1] - upper.aft[1] * lower.aft[0])
        .atan2(upper.aft[0] * lower.aft[0] + upper.aft[1] * lower.aft[1]);
    let meeting = if slope > 0.0 { 0.5 * gap / (0.5 * slope).tan() } else { f64::INFINITY };
    let reach = (WEDGE_LENGTH * gap).min(meeting);
    [0, 1].map(|c| 0.5 * (upper.at[c] + lower.at[c]) + reach * aft[c])
}
