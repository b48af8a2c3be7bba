//! What goes to standard output and standard error, and in which form.

use std::io::{self, ErrorKind, IsTerminal, Write};

/// The two output streams.
pub(super) struct Terminal {
    quiet: bool,
    /// Whether standard error understands more than plain text.
    capable: bool,
    colour: bool,
}

impl Terminal {
    /// `quiet` leaves nothing but errors. Colours are used on a terminal unless `NO_COLOR` is set.
    pub(super) fn new(quiet: bool) -> Self {
        let set = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        // Where a Unix names no terminal nothing is known of it.
        let dumb = set("TERM").map_or(cfg!(unix), |term| term == "dumb");
        let capable = io::stderr().is_terminal() && !dumb;
        Self { quiet, capable, colour: capable && set("NO_COLOR").is_none() }
    }

    /// Whether a progress bar may be drawn on standard error.
    pub(super) fn can_draw(&self) -> bool {
        self.capable && !self.quiet
    }

    /// An error and how to mend it, to standard error.
    pub(super) fn error(&self, message: &str, hint: Option<&str>) {
        let hint =
            hint.map_or_else(String::new, |hint| format!("{} {hint}\n", self.label("hint:", "36")));
        to_stderr(&format!("{} {message}\n{hint}", self.label("error:", "1;31")));
    }

    /// Something the user should know, to standard error.
    pub(super) fn note(&self, message: &str) {
        if !self.quiet {
            to_stderr(&format!("{} {message}\n", self.label("note:", "36")));
        }
    }

    /// Text for standard error as it stands.
    pub(super) fn log(&self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    /// The result, to standard output. A closed pipe is success: the reader had enough.
    pub(super) fn result(&self, text: &str) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
            other => other,
        }
    }

    fn label(&self, text: &str, style: &str) -> String {
        if self.colour { format!("\x1b[{style}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// Where standard error cannot be written there is nobody left to tell.
pub(super) fn to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
