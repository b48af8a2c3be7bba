//! Output to standard output and standard error.
//!
//! Names and words of files are part of messages and results. A terminal obeys escape sequences, so all
//! text passes through [`visible`] here before this program's own colours are added.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write};

use super::failure::CommandFailure;

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
