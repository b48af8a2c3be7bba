//! Scaling: a fixed problem, or a fixed share of one for each GPU, on growing numbers of GPUs.

mod cited;
#[cfg(feature = "cuda")]
mod measure;
mod picture;
mod report;

pub(crate) use cited::CITED;
#[cfg(feature = "cuda")]
pub use measure::{counts, scaling};
pub(crate) use picture::Measure;
pub use report::scaling_results;

use super::Size;
use super::results::percent;
use gridgen::solver::newton::NewtonReport;
use gridgen::solver::precond::Kind;
#[cfg(feature = "cuda")]
use gridgen::solver::precond::MultigridSettings;

/// Sizes measured if none are named: 16,000 to 201 million unknowns, including the largest that Liu, Zhong
/// and Chen (2011) solved on one GPU.
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
/// Size for each GPU of problems that grow: 30 million points.
const WEAK: Size = (7501, 4001);
/// Largest number of unknowns solved with multigrid if no sizes are named; such a solve takes some seconds.
const MULTIGRID: usize = 100_000_000;

/// Dependence of the problem size on the number of GPUs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Growth {
    /// The size is independent of the number of GPUs.
    Fixed,
    /// Each GPU has as many columns as a single one would have.
    Weak,
}

/// Settings of the scaling measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScalingSettings {
    /// Sizes of the fixed problems.
    pub sizes: Vec<Size>,
    /// Sizes for each GPU of the growing problems.
    pub weak: Vec<Size>,
    /// Largest number of unknowns of a solve with multigrid.
    pub multigrid: usize,
    /// Multigrid levels with at most this many points are held by every GPU.
    pub gathered_points: Option<usize>,
    /// Largest number of levels; `None` uses that of [`gridgen::solver::precond::MultigridSettings`].
    pub levels: Option<usize>,
}

impl ScalingSettings {
    /// Settings of the multigrid cycle.
    #[cfg(feature = "cuda")]
    fn cycle(&self) -> MultigridSettings {
        let settings = MultigridSettings::default();
        MultigridSettings { levels: self.levels.unwrap_or(settings.levels), ..settings }
    }

    /// These sizes, or the default ones. Growing problems start from `weak`, otherwise from the named sizes,
    /// otherwise from 30 million points for each GPU.
    #[must_use]
    pub fn new(sizes: Option<Vec<Size>>, weak: Option<Vec<Size>>) -> Self {
        let multigrid = if sizes.is_some() { usize::MAX } else { MULTIGRID };
        let weak = weak.or_else(|| sizes.clone()).unwrap_or_else(|| vec![WEAK]);
        let sizes = sizes.unwrap_or_else(|| SIZES.into());
        Self { sizes, weak, multigrid, gathered_points: None, levels: None }
    }
}

/// One problem on a number of GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct ScalingRecord {
    /// Growth of the problem with the number of GPUs.
    pub growth: Growth,
    /// Points on one GPU.
    pub start: Size,
    /// Points on all GPUs.
    pub size: Size,
    /// Number of GPUs.
    pub gpus: usize,
    /// Preconditioner.
    pub kind: Kind,
    /// The result; `None` if the problem did not fit in the GPUs' memory.
    pub run: Option<ScalingRun>,
}

/// The measured figures of a Newton solve.
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
    /// Number of unknowns: two for each point that is not on the boundary.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        2 * (self.size.0 - 2) * (self.size.1 - 2)
    }

    /// Ratio of the problem size to that on one GPU.
    fn grown(&self) -> f64 {
        if self.growth == Growth::Weak { self.gpus as f64 } else { 1.0 }
    }
}

impl ScalingRun {
    /// Headings of [`Self::cells`].
    pub(crate) const HEADINGS: [&str; 7] = [
        "Newton steps",
        "linear iterations",
        "residual",
        "solve ms",
        "Newton step ms",
        "linear iteration ms",
        "assembly and set-up share of a step",
    ];

    /// The figures of a solve that took `seconds`.
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

    /// The cells of a table row.
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

    /// Fraction of a step spent on assembly and preconditioner set-up.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.setup / self.seconds
    }
}
