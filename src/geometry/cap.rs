//! The smooth cap that rounds an open trailing edge.

/// Intervals in which the length of the cap is measured.
const SAMPLES: usize = 2000;

/// An end of a surface at the trailing edge.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EdgeEnd {
    /// Place, chords.
    pub(crate) at: [f64; 2],
    /// Unit tangent of the surface, pointing off the section.
    pub(crate) aft: [f64; 2],
}

/// The cap between two ends: a cubic Bézier curve that leaves both surfaces along their tangents.
///
/// ```text
/// r(t) = (1−t)³ P₀ + 3 (1−t)² t (P₀ + c T₀) + 3 (1−t) t² (P₁ + c T₁) + t³ P₁,   c = ⅔ |P₁ − P₀|
/// ```
///
/// For parallel surfaces this c puts the middle of the curve where the half circle on the gap has
/// it. The cap reaches about half the gap behind the section.
#[derive(Debug)]
pub(crate) struct Cap {
    control: [[f64; 2]; 4],
    /// Length from t = 0 to t = k/SAMPLES.
    length: Vec<f64>,
}

impl Cap {
    /// From the upper to the lower end.
    pub(crate) fn between(upper: EdgeEnd, lower: EdgeEnd) -> Self {
        let gap = (lower.at[0] - upper.at[0]).hypot(lower.at[1] - upper.at[1]);
        let handle = |end: EdgeEnd| [0, 1].map(|c| end.at[c] + 2.0 / 3.0 * gap * end.aft[c]);
        let control = [upper.at, handle(upper), handle(lower), lower.at];
        let mut cap = Self { control, length: vec![0.0] };
        let mut total = 0.0;
        let mut before = upper.at;
        for k in 1..=SAMPLES {
            let here = cap.point(k as f64 / SAMPLES as f64);
            total += (here[0] - before[0]).hypot(here[1] - before[1]);
            cap.length.push(total);
            before = here;
        }
        cap
    }

    /// Arc length, chords.
    pub(crate) fn length(&self) -> f64 {
        self.length[SAMPLES]
    }

    /// `cells` + 1 points at equal arc length, both ends included exactly.
    pub(crate) fn points(&self, cells: usize) -> Vec<[f64; 2]> {
        let mut points: Vec<[f64; 2]> = (0..=cells)
            .map(|k| self.point(self.parameter(self.length() * k as f64 / cells as f64)))
            .collect();
        points[0] = self.control[0];
        points[cells] = self.control[3];
        points
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
