//! The program through its command line: files, messages, exit codes.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod airfoils;
mod batch;
mod browser;
mod case_files;
mod converged;
mod convert;
mod disk;
#[cfg(all(feature = "cuda", target_os = "linux"))]
mod drivers;
mod elements;
mod failed;
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
mod solve;
mod streams;
mod tools;
mod usage;
mod verdict;

use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Child;
use std::process::{Command, Output};

use gridgen::files::output::HOME;
#[cfg(target_os = "linux")]
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

/// Two lines that make a case.
const SMALLEST: &str = "[geometry]\nnaca = \"2412\"\n";

/// A grid that is solved in an instant.
const COARSE: [&str; 4] = ["--set", "grid.ni=65", "--set", "grid.nj=33"];

/// Pictures take longer than a coarse grid, so most tests omit them.
const NO_PICTURES: [&str; 2] = ["--set", "output.pictures=false"];

/// A temporary folder with files, in which gridgen is run.
struct Scratch(TempDir);

impl Scratch {
    /// A folder with the case file `wing.toml`.
    fn with_case(case: impl AsRef<[u8]>) -> Self {
        Self::with(&[("wing.toml", case.as_ref())])
    }

    /// A folder with files of these names and contents.
    fn with(files: &[(&str, &[u8])]) -> Self {
        let folder = TempDir::new().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Sorted names in a folder, without the folder that all results have.
    fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != HOME);
        names.sort();
        names
    }

    /// A command that runs gridgen in this folder.
    fn gridgen(&self) -> Command {
        gridgen(self.0.path())
    }

    /// Runs gridgen in this folder.
    fn run(&self, arguments: &[&str]) -> Finished {
        Finished::from(self.gridgen().args(arguments).output().unwrap())
    }

    /// Runs gridgen on `wing.toml` with a coarse grid, without pictures, on the CPU.
    fn run_coarse(&self, arguments: &[&str]) -> Finished {
        let common = ["wing.toml", "--backend", "cpu"];
        self.run(&[&common, &COARSE[..], &NO_PICTURES, arguments].concat())
    }

    /// The report of the case `wing`.
    fn report(&self) -> Value {
        serde_json::from_slice(&self.bytes("output/wing/report.json")).unwrap()
    }
}

fn gridgen(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridgen"));
    // These tests are for machines without a GPU, wherever they run.
    command.current_dir(folder).env_remove("NO_COLOR").env("CUDA_VISIBLE_DEVICES", "-1");
    command
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

    /// Asserts exit code 2 with this message and an empty standard output.
    #[track_caller]
    fn is_refused(&self, message: &str) {
        assert_eq!((self.code, self.stdout.as_str(), self.stderr.as_str()), (2, "", message));
    }
}
