//! History of a solve, step by step.

/// One Newton step.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct NewtonStep {
    /// Number of the step, 0 is the start.
    pub step: usize,
    /// Scaled rms residual after the step.
    pub residual: f64,
    /// Forcing term of the step's linear solve (0 for the start).
    pub forcing_term: f64,
    /// Linear iterations of the step; BiCGStab counts halves.
    pub linear_iterations: f64,
    /// Accepted step length.
    pub step_length: f64,
    /// Smallest cell area after the step.
    pub min_area: f64,
    /// Folded cells after the step.
    pub folded_cells: usize,
    /// Seconds in residual, assembly and preconditioner set-up.
    pub setup_seconds: f64,
    /// Seconds in the linear solve.
    pub linear_seconds: f64,
    /// Relative residual of the linear solve after each of its iterations.
    pub linear_residuals: Vec<f64>,
}

/// All steps of a Newton solve; entry 0 is the start.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct History {
    /// The steps in order.
    pub steps: Vec<NewtonStep>,
}

impl History {
    /// Newton steps taken.
    pub fn newton_iterations(&self) -> usize {
        self.steps.len().saturating_sub(1)
    }

    /// Linear iterations of all steps.
    pub fn linear_iterations(&self) -> f64 {
        self.steps.iter().map(|s| s.linear_iterations).sum()
    }
}
