//! The checks of the Python package, as a part of `cargo test`: puts the native module in place, then runs
//! pytest and, in parallel, ruff, mypy and stubtest in a virtual environment below `target/`. If the checks
//! cannot be run, the reason is printed and the test passes.
#![allow(clippy::print_stdout, reason = "it is the result")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, thread};

/// The reason why the checks stopped, in words.
enum Stopped {
    /// The package is not at fault.
    NotChecked(String),
    Failed(String),
}

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    match check(root) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Stopped::NotChecked(reason)) => {
            println!("NOT CHECKED: the Python package. {reason}");
            ExitCode::SUCCESS
        }
        Err(Stopped::Failed(what)) => {
            println!("FAILED: {what}");
            ExitCode::FAILURE
        }
    }
}

fn check(root: &Path) -> Result<(), Stopped> {
    let target = target(root);
    let python = environment(root, &target.join("python"))?;
    let module = if cfg!(windows) { "_core.pyd" } else { "_core.abi3.so" };
    // Cargo has built the module beside this program.
    let program = env::current_exe().unwrap_or_default();
    let library = program.with_file_name([DLL_PREFIX, "_core", DLL_SUFFIX].concat());
    // The module is replaced by a rename, since another process may have loaded it.
    let module = root.join("python/gridgen").join(module);
    let part = module.with_extension("part");
    let placed = fs::copy(&library, &part).and_then(|_| fs::rename(&part, &module));
    placed.map_err(|error| Stopped::Failed(format!("{}: {error}", library.display())))?;
    let filters: Vec<String> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let lints: [&[&str]; 4] = [
        &["-m", "ruff", "check", "--quiet"],
        &["-m", "ruff", "format", "--check", "--quiet"],
        &["-m", "mypy", "--no-error-summary"],
        &[
            "-m",
            "mypy.stubtest",
            "gridgen",
            "--mypy-config-file=pyproject.toml",
            "--allowlist=python/stubtest.txt",
        ],
    ];
    let mut tests = in_package(&python, root);
    tests.args(["-m", "pytest", "--quiet"]);
    match &filters[..] {
        // Only a run of all tests measures coverage.
        [] => tests.arg("--cov"),
        words => tests.arg("-k").arg(words.join(" or ")),
    };
    // The tests and the lints take one processor each.
    thread::scope(|scope| {
        let linting = scope.spawn(|| {
            lints.into_iter().try_for_each(|arguments| {
                run(in_package(&python, root).args(arguments), &arguments.join(" "))
            })
        });
        let tested = run(&mut tests, "pytest");
        let linted = linting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        linted.and(tested)
    })
}

/// Python with the package of this folder.
fn in_package(python: &Path, root: &Path) -> Command {
    let mut command = Command::new(python);
    let packages = root.join("python");
    command.current_dir(root).env("PYTHONPATH", &packages).env("MYPYPATH", &packages);
    command
}

fn run(command: &mut Command, what: &str) -> Result<(), Stopped> {
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Stopped::Failed(format!("{what}: {status}"))),
        Err(error) => Err(Stopped::Failed(format!("{what}: {error}"))),
    }
}

/// The folder in which cargo builds.
fn target(root: &Path) -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |target| root.join(target))
}

/// Python in an environment with the packages that the checks need; it is rebuilt after a change of
/// `pyproject.toml`.
fn environment(root: &Path, folder: &Path) -> Result<PathBuf, Stopped> {
    let names = if cfg!(windows) { ["Scripts", "python.exe"] } else { ["bin", "python"] };
    let python = names.iter().fold(folder.to_path_buf(), |path, name| path.join(name));
    let project = fs::read_to_string(root.join("pyproject.toml")).unwrap_or_default();
    let stamp = folder.join("pyproject.toml");
    if fs::read_to_string(&stamp).is_ok_and(|there| there == project) {
        return Ok(python);
    }
    let system = if cfg!(windows) { "python" } else { "python3" };
    let step = |command: &mut Command, what: &str| {
        let output =
            command.output().map_err(|error| Stopped::NotChecked(format!("{what}: {error}")))?;
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.lines().last().unwrap_or_default().to_owned();
        if output.status.success() {
            Ok(())
        } else {
            Err(Stopped::NotChecked(format!("{what}: {last}")))
        }
    };
    let version = "import sys; sys.exit(sys.version_info < (3, 10))";
    step(Command::new(system).args(["-c", version]), "it needs Python 3.10 or newer")?;
    let made = ["-m", "venv", "--clear"];
    step(Command::new(system).args(made).arg(folder), "it needs Python's venv with pip")?;
    let pip = |packages: [&str; 2]| {
        let mut command = Command::new(&python);
        command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        // Most modules of the packages are never imported.
        command.arg("--no-compile");
        command.args(packages).current_dir(root);
        command
    };
    // `pip --group` needs pip 25.1 or newer.
    step(&mut pip(["--upgrade", "pip>=25.1"]), "its packages come from PyPI")?;
    step(&mut pip(["--group", "dev"]), "its packages come from PyPI")?;
    let _ = fs::write(&stamp, project);
    Ok(python)
}
