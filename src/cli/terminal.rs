//! Output to standard output and standard error, the progress bar and its interruption by Ctrl-C or by what a shell
//! sends, and failures of commands with their exit codes.
//!
//! Names and words of files are part of messages and results. A terminal obeys escape sequences, so all
//! text passes through [`visible`] here before this program's own colours are added.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gridgen::error::{Error, ErrorClass};
use gridgen::generate::Progress;
use gridgen::solver::history::NewtonStep;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The two output streams.
#[derive(Debug, Clone)]
pub(super) struct Terminal {
    quiet: bool,
    silent: bool,
    /// Whether standard error understands more than plain text.
    capable: bool,
    colour: bool,
}

impl Terminal {
    /// `quiet` leaves nothing but errors. Colours are used on a terminal unless `NO_COLOR` is set.
    pub(super) fn new(quiet: bool) -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        // Without TERM a terminal of a Unix is taken for a dumb one.
        let dumb = set("TERM").map_or(cfg!(unix), |term| term == "dumb");
        let capable = io::stderr().is_terminal() && !dumb;
        Self { quiet, silent: false, capable, colour: capable && set("NO_COLOR").is_none() }
    }

    /// This terminal, which prints nothing at all if `silent`: another process reports.
    pub(super) fn silent_if(&self, silent: bool) -> Self {
        Self { quiet: self.quiet || silent, silent, ..*self }
    }

    /// Whether a progress bar may be drawn on standard error.
    pub(super) fn can_draw(&self) -> bool {
        self.capable && !self.quiet
    }

    /// Prints an error and its remedy to standard error.
    pub(super) fn error(&self, message: &str, hint: Option<&str>) {
        if self.silent {
            return;
        }
        let hint = hint.map_or_else(String::new, |hint| {
            format!("{} {}\n", self.label("hint:", "36"), visible(hint))
        });
        to_stderr_styled(&format!("{} {}\n{hint}", self.label("error:", "1;31"), visible(message)));
    }

    /// Prints to standard error what the user should know.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            to_stderr_styled(&format!("{} {}\n", self.label("note:", "36"), visible(message)));
        }
    }

    /// Text for standard error.
    pub(super) fn log(&self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    /// The result, to standard output; returns exit code 0. A closed pipe is success: the reader had
    /// enough.
    pub(super) fn result(&self, text: &str) -> Result<u8, CommandFailure> {
        if self.quiet {
            return Ok(0);
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(visible(text).as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(stdout_failed(&error)),
            _ => Ok(0),
        }
    }

    fn label(&self, text: &str, style: &str) -> String {
        if self.colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

pub(super) fn stdout_failed(error: &io::Error) -> CommandFailure {
    CommandFailure::input(&format!("cannot write to standard output: {error}"), None)
}

/// A heading and items below it; nothing without items.
pub(super) fn list(heading: &str, items: impl IntoIterator<Item = impl Display>) -> String {
    let lines: Vec<String> = items.into_iter().map(|item| format!("  {item}\n")).collect();
    if lines.is_empty() { String::new() } else { [heading, ":\n", &lines.concat()].concat() }
}

/// Text for standard error.
pub(super) fn to_stderr(text: &str) {
    to_stderr_styled(&visible(text));
}

/// Prints a message of clap: help and version, or why the arguments cannot be used. Arguments may be names
/// of files, as shells fill them in.
pub(super) fn explain(error: &clap::Error) -> u8 {
    if std::env::args_os().any(|argument| argument.to_string_lossy().contains(acts)) {
        // Without colours, and without what looks like them.
        to_stderr(&error.render().to_string());
    } else {
        // A stream that cannot be written leaves the exit code.
        let _ = error.print();
    }
    u8::try_from(error.exit_code()).unwrap_or(2)
}

/// The text with control characters, but for ends of lines and tabs, and characters that change the
/// direction of writing as `\u001b`, which means the same in JSON.
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let shown = |c| if acts(c) { format!("\\u{:04x}", u32::from(c)) } else { String::from(c) };
    text.chars().map(shown).collect()
}

/// Whether a terminal does something else with a character than to show it. Source of those beyond
/// control characters: Unicode Standard Annex 9, "Unicode Bidirectional Algorithm", section 2.
fn acts(c: char) -> bool {
    let control = c.is_control() && !matches!(c, '\n' | '\t');
    control
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints to standard error; if that cannot be written, no message reaches the user.
fn to_stderr_styled(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

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

/// Exit code of a run whose grid or system is not solved, or whose grid is folded.
const NOT_CONVERGED: u8 = 1;

/// The exit code for a failure; that of an interruption is as shells have it.
pub fn exit_code(class: ErrorClass) -> u8 {
    match class {
        ErrorClass::Unsolved => NOT_CONVERGED,
        ErrorClass::Input => 2,
        ErrorClass::Device => 3,
        ErrorClass::Interrupted => 130,
    }
}

/// The exit code for a grid that was made or measured, or a system, which is good or not.
pub(super) fn code_if(good: bool) -> u8 {
    if good { 0 } else { NOT_CONVERGED }
}

/// Failure of a command.
pub(super) enum CommandFailure {
    /// Arguments that do not go together.
    Usage(String),
    /// Message and hint of an error, and its class.
    Message { message: String, hint: Option<String>, class: ErrorClass },
}

impl CommandFailure {
    /// The failure for input or files that cannot be used.
    pub(super) fn input(message: &(impl ToString + ?Sized), hint: Option<&str>) -> Self {
        Self::Message {
            message: message.to_string(),
            hint: hint.map(str::to_owned),
            class: ErrorClass::Input,
        }
    }
}

impl<E: Into<Error>> From<E> for CommandFailure {
    fn from(error: E) -> Self {
        let error = error.into();
        Self::Message { message: error.to_string(), hint: error.hint(), class: error.class() }
    }
}
