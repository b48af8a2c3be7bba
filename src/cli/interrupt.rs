//! Ctrl-C, and what a shell sends to end a program.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::terminal::{Terminal, to_stderr};

/// Exit code of an interrupted program, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

static ASKED: AtomicBool = AtomicBool::new(false);

/// From now on the first interruption is noted for [`asked`]; the second ends the program at once.
pub(super) fn listen(terminal: &Terminal) {
    let handler = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            // Nothing more is done: what libraries do at the end waits for a GPU that may be stuck.
            signal_hook::low_level::exit(i32::from(INTERRUPTED));
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
pub(super) fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
