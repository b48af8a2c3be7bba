//! The progress bar on standard error.

use std::time::Duration;

use gridgen::generate::Progress;
use gridgen::solver::history::NewtonStep;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt;
use super::terminal::to_stderr;

/// Shows the phase, the Newton step and the residuals on a terminal; with `verbose`, writes a line
/// for each Newton step as well.
pub(super) struct Reporter {
    bar: ProgressBar,
    verbose: bool,
    phase: String,
    newton: String,
}

impl Reporter {
    /// The bar is hidden unless it is to be `drawn`.
    pub(super) fn new(drawn: bool, verbose: bool) -> Self {
        let target =
            if drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(None, target);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {wide_msg}") {
            bar.set_style(style);
        }
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, verbose, phase: String::new(), newton: String::new() }
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, linear: &str) {
        self.bar.set_message(format!("{}{}{linear}", self.phase, self.newton));
    }
}

impl Progress for Reporter {
    fn phase(&mut self, name: &str) {
        name.clone_into(&mut self.phase);
        self.newton.clear();
        self.show("");
    }

    fn newton(&mut self, step: &NewtonStep) {
        self.newton = format!("  step {}  residual {:.2e}", step.step, step.residual);
        self.show("");
        if self.verbose {
            self.bar.suspend(|| to_stderr(&newton_line(step)));
        }
    }

    fn linear(&mut self, iteration: f64, relative_residual: f64) {
        self.show(&format!("  linear {iteration} at {relative_residual:.1e}"));
    }

    fn cancelled(&self) -> bool {
        interrupt::asked()
    }
}

/// One line about a Newton step.
fn newton_line(step: &NewtonStep) -> String {
    format!(
        "newton {:>3}  residual {:.3e}  forcing {:.1e}  linear {:>6.1}  step length {:.3}  \
         folded {}  min area {:.2e}\n",
        step.step,
        step.residual,
        step.forcing_term,
        step.linear_iterations,
        step.step_length,
        step.folded_cells,
        step.min_area,
    )
}
