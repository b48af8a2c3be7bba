//! The same solve, or the same share of one, on more and more GPUs.

mod cited;
mod liu_zhong_chen;
#[cfg(feature = "cuda")]
mod measure;
mod picture;
mod report;

pub(crate) use liu_zhong_chen::CITED;
#[cfg(feature = "cuda")]
pub(crate) use measure::counts;
#[cfg(feature = "cuda")]
pub use measure::scaling;
pub(crate) use picture::Measure;
pub use report::scaling_results;

use super::Size;
use super::results::percent;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;
#[cfg(feature = "cuda")]
use gridgen::solver::precond::MultigridSettings;

/// Sizes measured if none are named: 16,000 to 201 million unknowns, with the most that Liu, Zhong and
/// Chen (2011) had on one GPU among them.
const SIZES: [Size; 9] = [
    (129, 65),
    (257, 129),
    (513, 257),
    (1025, 513),
    (2049, 685),
    (4097, 1025),
    (8193, 2049),
    (8193, 4097),
    (12289, 8193),
];
/// Size a GPU of problems that grow: 30 million points.
const WEAK: Size = (7501, 4001);
/// Most unknowns of a solve with multigrid if no sizes are named: there it takes some seconds.
const MULTIGRID: usize = 100_000_000;

/// How the problem depends on the number of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// It does not.
    Fixed,
    /// Each GPU has as many columns as the only one.
    Weak,
}

/// What is measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalingSettings {
    /// Sizes of the problems that do not grow.
    pub sizes: Vec<Size>,
    /// Sizes a GPU of those that do.
    pub weak: Vec<Size>,
    /// Most unknowns of a solve with multigrid.
    pub multigrid: usize,
    /// Levels of multigrid with up to so many points are held by every GPU.
    pub gathered_points: Option<usize>,
    /// Most levels of multigrid, if not those of [`gridgen::solver::precond::MultigridSettings`].
    pub levels: Option<usize>,
}

impl ScalingSettings {
    /// The cycle.
    #[cfg(feature = "cuda")]
    fn cycle(&self) -> MultigridSettings {
        let settings = MultigridSettings::default();
        MultigridSettings { levels: self.levels.unwrap_or(settings.levels), ..settings }
    }

    /// These sizes, or the ones of the figures; problems that grow start from `weak`, or from the sizes
    /// named, or from 30 million points a GPU.
    #[must_use]
    pub fn new(sizes: Option<Vec<Size>>, weak: Option<Vec<Size>>) -> Self {
        let multigrid = if sizes.is_some() { usize::MAX } else { MULTIGRID };
        let weak = weak.or_else(|| sizes.clone()).unwrap_or_else(|| vec![WEAK]);
        let sizes = sizes.unwrap_or_else(|| SIZES.into());
        Self { sizes, weak, multigrid, gathered_points: None, levels: None }
    }
}

/// One problem on so many GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingRecord {
    /// Whether the problem grew with the GPUs.
    pub growth: Growth,
    /// Points on one GPU.
    pub start: Size,
    /// Points.
    pub size: Size,
    /// Number of GPUs.
    pub gpus: usize,
    /// Preconditioner.
    pub kind: Kind,
    /// What was found; none if the problem did not fit the GPUs' memory.
    pub run: Option<ScalingRun>,
}

/// A Newton solve in figures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScalingRun {
    /// Newton steps.
    pub steps: usize,
    /// Linear iterations of all steps.
    pub iterations: f64,
    /// Scaled rms residual at the end.
    pub residual: f64,
    /// Seconds of the solve, on the slowest GPU.
    pub seconds: f64,
    /// Seconds in assembly and set-up of the preconditioner.
    pub setup: f64,
    /// Seconds in linear solves.
    pub linear: f64,
}

impl ScalingRecord {
    /// Unknowns: two a point that is not on the rim.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        2 * (self.size.0 - 2) * (self.size.1 - 2)
    }

    /// How many times the problem is as large as on one GPU.
    fn grown(&self) -> f64 {
        if self.growth == Growth::Weak { self.gpus as f64 } else { 1.0 }
    }
}

impl ScalingRun {
    /// Names of [`Self::cells`].
    pub(crate) const HEADINGS: [&str; 7] = [
        "Newton steps",
        "linear iterations",
        "residual",
        "solve ms",
        "Newton step ms",
        "linear iteration ms",
        "assembly and set-up share of a step",
    ];

    /// A solve that took so many seconds.
    pub(crate) fn new(report: &NewtonReport, seconds: f64) -> Self {
        let history = &report.history;
        Self {
            steps: history.newton_iterations(),
            iterations: history.linear_iterations(),
            residual: history.steps.last().map_or(f64::NAN, |step| step.residual),
            seconds,
            setup: history.steps.iter().map(|step| step.setup_seconds).sum(),
            linear: history.steps.iter().map(|step| step.linear_seconds).sum(),
        }
    }

    /// What a table says of it.
    pub(crate) fn cells(&self) -> [String; 7] {
        [
            self.steps.to_string(),
            self.iterations.to_string(),
            format!("{:.1e}", self.residual),
            format!("{:.3}", 1e3 * self.seconds),
            format!("{:.3}", 1e3 * self.step()),
            format!("{:.4}", 1e3 * self.iteration()),
            percent(self.share()),
        ]
    }

    /// Seconds of a Newton step.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.seconds / self.steps.max(1) as f64
    }

    /// Seconds of a linear iteration.
    #[must_use]
    pub fn iteration(&self) -> f64 {
        self.linear / self.iterations.max(0.5)
    }

    /// Share of assembly and preconditioner set-up in a step.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.setup / self.seconds
    }
}
