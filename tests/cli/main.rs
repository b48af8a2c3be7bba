//! The program through its command line: files, messages, exit codes.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod batch;
mod converged;
mod convert;
#[cfg(target_os = "linux")]
mod disk;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod drivers;
mod elements;
mod failed;
mod first_steps;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod gpus;
mod killed;
#[cfg(target_os = "linux")]
mod memory;
mod movement;
mod openfoam;
mod output;
mod page;
mod places;
mod quality;
mod ranks;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod ranks_on_gpus;
mod rerun;
mod restart;
mod sections;
mod smooth;
mod solve;
mod streams;
mod tools;
mod ui;
mod ui_in_browser;
mod usage;
mod verdict;
mod viewer;
mod viewer_in_browser;
mod webdriver;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use gridgen::internals::output::HOME;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Two lines that make a case.
const SMALLEST: &str = "[geometry]\nnaca = \"2412\"\n";

/// The options of an O-grid that is solved in an instant, on the CPU; so few layers grow fast.
const COARSE: &str = "--backend cpu --set grid.topology=O --set grid.ni=65 --set grid.nj=33 --set quality.max_growth=5";

/// Pictures take longer than a coarse grid, so most tests omit them.
const NO_PICTURES: &str = "--set output.pictures=false";

/// A temporary folder with files, in which gridgen is run.
struct Scratch(TempDir);

impl Scratch {
    /// A folder with the case file `wing.toml`.
    fn with_case(case: impl AsRef<[u8]>) -> Self {
        Self::with(&[("wing.toml", &case)])
    }

    /// A folder with files of these names and contents.
    fn with(files: &[(&str, &dyn AsRef<[u8]>)]) -> Self {
        let scratch = Self(TempDir::new().unwrap());
        for (name, contents) in files {
            scratch.write(name, contents);
        }
        scratch
    }

    /// A folder with the smallest case and its results, on a coarse grid.
    fn solved(arguments: &str) -> Self {
        let scratch = Self::with_case(SMALLEST);
        scratch.run_coarse(arguments).succeeds();
        scratch
    }

    /// Writes a file; a folder that it needs is made.
    fn write(&self, name: &str, contents: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).unwrap()
    }

    /// The files below a folder with their contents, without the folder that all results have.
    fn contents(&self, folder: &str) -> Vec<(String, Vec<u8>)> {
        let mut names = support::names_below(&self.path(folder));
        names.retain(|name| name.split('/').all(|part| part != HOME));
        let paths = names.into_iter().map(|name| format!("{folder}/{name}"));
        paths.map(|path| (path.clone(), self.bytes(&path))).collect()
    }

    /// Asserts that files of these names have the same bytes in both folders.
    #[track_caller]
    fn same(&self, folders: [&str; 2], names: &[&str]) {
        for name in names {
            let [a, b] = folders.map(|folder| self.bytes(&format!("{folder}/{name}")));
            assert!(a == b, "{name} differs");
        }
    }

    fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.bytes(name)).unwrap()
    }

    /// Sorted names in a folder, without the folder that all results have.
    fn names(&self, folder: &str) -> Vec<String> {
        let mut names = support::names_in(self.path(folder));
        names.retain(|name| name != HOME);
        names
    }

    /// A command that runs gridgen in this folder.
    fn gridgen(&self) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridgen"));
        // These tests are for machines without a GPU, wherever they run.
        command.current_dir(&self.0).env_remove("NO_COLOR").env("CUDA_VISIBLE_DEVICES", "-1");
        command
    }

    /// A command that runs gridgen in this folder with arguments that have no spaces.
    fn command(&self, arguments: &str) -> Command {
        let mut command = self.gridgen();
        command.args(arguments.split_whitespace());
        command
    }

    /// That command on a machine with GPUs, which are replaced by stand-in libraries.
    #[cfg(all(feature = "cuda", target_os = "linux"))]
    fn equipped(&self, arguments: &str) -> Command {
        let mut command = self.command(arguments);
        support::stand_in::equip(&mut command, &self.path("cache"));
        command
    }

    /// Runs gridgen in this folder.
    fn run(&self, arguments: &str) -> Finished {
        Finished::from(&mut self.command(arguments))
    }

    /// Starts gridgen in this folder; its output can be read.
    fn start(&self, arguments: &str) -> Child {
        piped(&mut self.command(arguments))
    }

    /// Runs gridgen on `wing.toml` with a coarse grid, without pictures, on the CPU.
    fn run_coarse(&self, arguments: &str) -> Finished {
        self.run(&format!("wing.toml {COARSE} {NO_PICTURES} {arguments}"))
    }

    /// The report of the case `wing`.
    fn report(&self) -> Value {
        self.json("output/wing/report.json")
    }
}

/// Runs gridgen in a folder by a shell script, as `"$@"`; a wrapper may start the shell.
#[cfg(target_os = "linux")]
fn bash(scratch: &Scratch, wrapper: &[&str], script: &str, arguments: &str) -> Finished {
    let mut command = Command::new(wrapper.first().unwrap_or(&"env"));
    command.args(wrapper.iter().skip(1)).args(["bash", "-c", script, "bash"]);
    command.arg(assert_cmd::cargo::cargo_bin!("gridgen")).args(arguments.split_whitespace());
    Finished::from(command.current_dir(scratch.path(".")))
}

/// Starts a program whose output can be read.
fn piped(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Reads messages until a line that begins so.
#[cfg(target_os = "linux")]
fn await_line(messages: &mut impl std::io::BufRead, start: &str) {
    let mut line = String::new();
    while !line.starts_with(start) {
        line.clear();
        assert!(messages.read_line(&mut line).unwrap() > 0, "the run ended before `{start}`");
    }
}

/// Asserts that a text has these parts.
#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

/// The options that set these keys, which spaces separate.
fn sets(keys: &str) -> String {
    keys.split_whitespace().flat_map(|set| ["--set ", set, " "]).collect()
}

/// Sends a signal to a program directly: starting another program for it takes long when many are running.
#[cfg(target_os = "linux")]
fn signal(signal: Signal, child: &Child) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A finished program.
#[derive(Debug, PartialEq, Eq)]
struct Finished {
    code: i32,
    stdout: String,
    stderr: String,
}

impl From<&mut Command> for Finished {
    fn from(command: &mut Command) -> Self {
        command.output().unwrap().into()
    }
}

impl From<Output> for Finished {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            code: output.status.code().unwrap_or_else(|| panic!("killed: {}", output.status)),
            stdout: text(output.stdout),
            stderr: text(output.stderr),
        }
    }
}

impl Finished {
    /// Asserts exit code 0 and returns what was written to standard output.
    #[track_caller]
    fn succeeds(self) -> String {
        assert_eq!(self.code, 0, "{self:?}");
        self.stdout
    }

    /// Asserts success with this text in the messages, or without messages if it is empty.
    #[track_caller]
    fn succeeds_with(self, message: &str) -> String {
        let said = if message.is_empty() {
            &*self.stderr == message
        } else {
            self.stderr.contains(message)
        };
        assert!(said, "{self:?}");
        self.succeeds()
    }

    /// Asserts this exit code and a message with this text. A refusal, with exit code 2 or 3, has no output.
    #[track_caller]
    fn fails(&self, code: i32, message: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.stderr.contains(message), "`{message}` is not in {self:?}");
        assert!(code < 2 || self.stdout.is_empty(), "{self:?}");
    }

    /// Asserts exit code 2 with this message and an empty standard output.
    #[track_caller]
    fn is_refused(&self, message: &str) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (2, "", message));
    }

    /// Names and statuses of the cases in the table of a batch that was run with `--json`.
    fn statuses(&self) -> Vec<String> {
        let table: Value = serde_json::from_str(&self.stdout).unwrap();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let rows = table["cases"].as_array().unwrap();
        rows.iter().map(|row| text(row, "name") + ": " + &text(row, "status")).collect()
    }
}
