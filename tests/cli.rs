//! The program as its users see it: help, messages, exit codes.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::io::pipe;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A finished program: exit code, standard output, standard error.
type Finished = (i32, String, String);

fn gridgen(folder: &Path) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("gridgen"));
    command.current_dir(folder).env("NO_COLOR", "1");
    command
}

fn finished(output: Output) -> Finished {
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// Runs gridgen in an empty folder.
fn run(arguments: &[&str]) -> Finished {
    let folder = TempDir::new().unwrap();
    finished(gridgen(folder.path()).args(arguments).output().unwrap())
}

/// Runs gridgen on a case file `wing.toml` of these bytes.
fn run_case(case: impl AsRef<[u8]>, arguments: &[&str]) -> Finished {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("wing.toml"), case).unwrap();
    finished(gridgen(folder.path()).arg("wing.toml").args(arguments).output().unwrap())
}

/// Two lines that make a case.
const SMALLEST: &str = "[geometry]\nnaca = \"2412\"\n";

/// Asserts that nothing is written to standard output and that this is said, with exit code 2.
#[track_caller]
fn assert_refused(finished: &Finished, message: &str) {
    assert_eq!(finished, &(2, String::new(), message.to_owned()));
}

#[test]
fn help_shows_options_examples_and_exit_codes() {
    let (code, stdout, stderr) = run(&["--help"]);

    assert_eq!((code, stderr.as_str()), (0, ""));
    for part in [
        "Usage: gridgen [OPTIONS] <CASE.toml>",
        "--set <SECTION.KEY=VALUE>",
        "--backend",
        "--devices",
        "--threads",
        "--output",
        "--quiet",
        "--verbose",
        "completions",
        "Examples:",
        "gridgen cases/naca0012.toml",
        "Exit codes:",
    ] {
        assert!(stdout.contains(part), "{part} is not in\n{stdout}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let (code, stdout, _) = run(&["--version"]);

    assert_eq!((code, stdout), (0, format!("gridgen {}\n", env!("CARGO_PKG_VERSION"))));
}

#[test]
fn completions_are_written_for_each_shell() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, stdout, stderr) = run(&["completions", shell]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{shell}");
        assert!(stdout.contains("gridgen") && stdout.contains("backend"), "{shell}: {stdout}");
    }
}

#[test]
fn a_closed_pipe_is_success() {
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let folder = TempDir::new().unwrap();

    let child = gridgen(folder.path()).args(["completions", "bash"]).stdout(writer).output();

    assert_eq!(finished(child.unwrap()), (0, String::new(), String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let folder = TempDir::new().unwrap();

    let child = gridgen(folder.path()).args(["completions", "bash"]).stdout(full).output();

    let (code, _, stderr) = finished(child.unwrap());
    assert_eq!(code, 2);
    assert!(stderr.starts_with("error: cannot write to standard output: "), "{stderr}");
}

#[test]
fn no_arguments_are_a_usage_error() {
    let (code, stdout, stderr) = run(&[]);

    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.contains("<CASE.toml>") && stderr.contains("--help"), "{stderr}");
}

#[test]
fn usage_errors_exit_with_2() {
    for arguments in [
        &["wing.toml", "--colour"][..],
        &["wing.toml", "--backend", "tpu"],
        &["wing.toml", "--threads", "0"],
        &["wing.toml", "--devices", "one"],
        &["wing.toml", "--devices", "0,0"],
        &["wing.toml", "--devices", "0", "--backend", "cpu"],
        &["wing.toml", "--set", "grid.ni"],
        &["wing.toml", "-q", "-v"],
        &["wing.toml", "other.toml"],
        &["wing.toml", "completions", "bash"],
        &["completions", "csh"],
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_missing_file_is_refused() {
    assert_refused(
        &run(&["wing.toml"]),
        "error: wing.toml: no such case file\nhint: check the path of the case file\n",
    );
}

#[test]
fn a_folder_is_refused() {
    assert_refused(
        &run(&["."]),
        "error: .: expected a case file, found a folder\n\
         hint: name the case file in the folder\n",
    );
}

#[test]
fn an_empty_file_is_refused() {
    assert_refused(
        &run_case("", &[]),
        "error: wing.toml: geometry.naca or geometry.file is missing\n\
         hint: the smallest case is two lines: [geometry] and naca = \"2412\"\n",
    );
}

#[test]
fn a_binary_file_is_refused() {
    assert_refused(
        &run_case([0x89, b'P', b'N', b'G', 0, 1], &[]),
        "error: wing.toml: expected a case file in text, found binary data at byte 4\n\
         hint: a case file is a short text in TOML; coordinates go into a file of their own, \
         named by geometry.file\n",
    );
}

#[test]
fn an_unknown_key_is_refused_with_a_suggestion() {
    assert_refused(
        &run_case([SMALLEST, "[grid]\nfarfield = 20\n"].concat(), &[]),
        "error: wing.toml:4: unknown key grid.farfield\nhint: did you mean grid.far_field?\n",
    );
}

#[test]
fn a_wrong_type_is_refused() {
    assert_refused(
        &run_case([SMALLEST, "[grid]\nni = \"257\"\n"].concat(), &[]),
        "error: wing.toml:4: grid.ni = \"257\": expected an integer from 9 to 1000000\n\
         hint: write a whole number, without quotes\n",
    );
}

#[test]
fn too_few_points_are_refused() {
    assert_refused(
        &run_case(SMALLEST, &["--set", "grid.ni=3"]),
        "error: --set grid.ni=3: expected an integer from 9 to 1000000\n\
         hint: leave grid.ni out for the default: 257\n",
    );
}

#[test]
fn a_first_cell_beyond_the_far_field_is_refused() {
    assert_refused(
        &run_case([SMALLEST, "[grid]\nfirst_cell = 15.0\n"].concat(), &[]),
        "error: wing.toml:4: grid.first_cell = 15.0: expected a first cell below the uniform \
         spacing far_field/(nj - 1) = 0.117, here 15\n\
         hint: choose a smaller first cell, fewer points in j, or a farther far field\n",
    );
}

#[test]
fn a_negative_value_is_refused() {
    assert_refused(
        &run_case(SMALLEST, &["--set", "grid.first_cell=-1e-5"]),
        "error: --set grid.first_cell=-1e-5: expected a number greater than 0 and less than 1e6\n\
         hint: leave grid.first_cell out for the default: 1e-5, or from y_plus\n",
    );
}

#[test]
fn quiet_still_says_what_is_wrong() {
    let (code, stdout, stderr) = run_case("", &["-q"]);

    assert_eq!((code, stdout.as_str()), (2, ""));
    assert!(stderr.starts_with("error: wing.toml: "), "{stderr}");
}

#[test]
fn a_device_that_is_not_there_exits_with_3_and_names_the_way_out() {
    let (code, stdout, stderr) = run_case(SMALLEST, &["--backend", "cuda", "--devices", "999"]);

    assert_eq!((code, stdout.as_str()), (3, ""));
    assert!(stderr.contains("cuda") && stderr.contains("hint: use --backend cpu"), "{stderr}");
}
