//! The progress bar on standard error, and its interruption by Ctrl-C or what a shell sends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gridgen::error::ErrorClass;
use gridgen::generate::Progress;
use gridgen::solver::history::NewtonStep;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::failure::exit_code;
use super::terminal::{Terminal, to_stderr};

static INTERRUPTION: AtomicBool = AtomicBool::new(false);

/// From now on the first interruption is noted for [`interrupted`]; the second ends the program at once.
pub(super) fn listen(terminal: &Terminal) {
    let handler = || {
        if INTERRUPTION.swap(true, Ordering::Relaxed) {
            // Nothing more is done: what libraries do at the end waits for a GPU that may be stuck.
            signal_hook::low_level::exit(i32::from(exit_code(ErrorClass::Interrupted)));
        }
        // Nobody may read it, and the next signal is handled after this one.
        let note = || to_stderr("note: stopping after this Newton step; once more ends at once\n");
        drop(thread::Builder::new().spawn(note));
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        terminal.note(&format!("an interruption will leave no restart file: {error}"));
    }
}

/// Whether the user wants the program to stop.
pub(super) fn interrupted() -> bool {
    INTERRUPTION.load(Ordering::Relaxed)
}

/// A bar of this template on standard error; hidden unless it is to be `drawn`.
pub(super) fn bar(drawn: bool, length: Option<u64>, template: &str) -> ProgressBar {
    let target = if drawn { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(length, target);
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

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
        let bar = bar(drawn, None, "{spinner} {elapsed} {wide_msg}");
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar, verbose, phase: String::new(), newton: String::new() }
    }

    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn show(&self, linear: &str) {
        self.bar.set_message(format!("{}{}{linear}", self.phase, self.newton));
    }
}

impl Progress for Reporter {
    fn phase(&mut self, name: &str) {
        let shown = match name {
            "device" => "device (its kernels are compiled at the first run on a GPU)",
            _ => name,
        };
        shown.clone_into(&mut self.phase);
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
        interrupted()
    }
}

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
