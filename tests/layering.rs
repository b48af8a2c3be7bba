//! Dependencies between the modules point one way.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::fs;
use std::path::{Path, PathBuf};

/// What each module may use beside itself: a module with all below it, or one item. Everything
/// that is not listed is an upward arrow. `cli` and `main` are another crate and see the
/// library as a user does.
const ALLOWED: &[(&str, &[&str])] = &[
    ("geometry", &[]),
    ("simd", &[]),
    ("memory", &[]),
    ("digest", &[]),
    ("grid", &["geometry", "simd"]),
    ("sparse", &[]),
    ("pde", &["grid", "geometry"]),
    ("backend", &["pde", "sparse", "grid", "simd", "memory", "digest"]),
    ("solver", &["backend", "sparse"]),
    ("elliptic", &["backend", "solver", "pde", "grid", "sparse"]),
    ("files", &["solver::history", "memory", "digest"]),
    ("formats", &["files", "grid", "sparse", "memory"]),
    ("report", &["files", "formats", "grid", "solver::history"]),
    ("case", CHOICES),
    (
        "error",
        &[
            "geometry", "grid", "sparse", "pde", "backend", "solver", "elliptic", "files",
            "formats", "case",
        ],
    ),
    (
        "generate",
        &[
            "geometry", "grid", "sparse", "pde", "backend", "solver", "elliptic", "files",
            "formats", "report", "case", "error", "memory", "digest",
        ],
    ),
    (
        "linear_system",
        &[
            "sparse",
            "backend",
            "solver",
            "files",
            "formats",
            "report",
            "case::is_fit_name",
            "error",
            "generate",
        ],
    ),
];

/// The choices of a case file, or the modules that hold them.
const CHOICES: &[&str] = &[
    "geometry::Ellipse",
    // How many cells a base has by default.
    "geometry::BaseCells",
    "geometry::Joukowski",
    "geometry::TrailingEdge",
    "geometry::WingBody",
    // A refined case is spaced so that the given one is nested in it.
    "geometry::refined_first",
    "grid::Seam",
    "grid::initial",
    "formats::plot3d",
    "formats::span",
    "formats::vts",
    "pde::control",
    "solver::krylov",
    "solver::linear::Precision",
    "solver::precond",
    "sparse::Schedule",
];

/// Parts of an allowed module that stay out of reach: solvers know the traits of a backend and
/// no device.
const FORBIDDEN: &[(&str, &str)] = &[
    ("solver", "backend::cpu"),
    ("solver", "backend::cuda"),
    ("elliptic", "backend::cpu"),
    ("elliptic", "backend::cuda"),
];

/// Single uses beyond the rule, with their reason.
const EXCEPTIONS: &[(&str, &str)] = &[
    // The report names the method and the preconditioner as the case file does.
    ("report/json.rs", "solver::krylov"),
    ("report/json.rs", "solver::precond"),
];

/// Whether `path` is `prefix` or below it.
fn within(path: &str, prefix: &str) -> bool {
    path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("::"))
}

/// The top module that a file belongs to: `solver` for `solver/krylov/mod.rs`.
fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// One `crate::` path, where it stands.
#[derive(Debug, PartialEq)]
struct Use {
    line: usize,
    path: String,
}

/// The paths after `crate::` in a file, groups in braces multiplied out. Comments are left out:
/// a link in the documentation is no dependency.
fn uses(source: &str) -> Vec<Use> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        // `$crate::` of a macro and names that end in "crate" are no paths of this crate.
        let before = code[..at].chars().next_back().unwrap_or(' ');
        if before.is_alphanumeric() || before == '_' || before == '$' {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let mut paths = Vec::new();
        expand(&code[at + "crate::".len()..], "", &mut paths);
        found.extend(paths.into_iter().map(|path| Use { line, path }));
    }
    found
}

/// Reads a path at the start of `text` and adds it to `paths`, one for each item of a group.
/// Returns the length read.
fn expand(text: &str, prefix: &str, paths: &mut Vec<String>) -> usize {
    let name_end =
        text.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')).unwrap_or(text.len());
    let path = format!("{prefix}{}", &text[..name_end]);
    if !text[name_end..].starts_with('{') {
        let path = path.trim_end_matches(':').trim_end_matches("::self");
        paths.push(path.to_owned());
        return name_end;
    }
    let mut at = name_end + 1;
    while at < text.len() {
        at += text[at..].find(|c: char| !(c.is_whitespace() || c == ',')).unwrap_or(0);
        if text[at..].starts_with('}') {
            return at + 1;
        }
        let read = expand(&text[at..], &path, paths);
        // An `as` and its name, or whatever else stands before the next item.
        at += read;
        at += text[at..].find([',', '}']).unwrap_or(text.len() - at);
    }
    at
}

/// What is wrong with the uses of one file.
fn violations(file: &str, source: &str) -> Vec<String> {
    let module = module_of(file);
    if ["lib", "main", "cli"].contains(&module) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
        return vec![format!("src/{file}: module `{module}` has no place in the layers")];
    };
    uses(source)
        .into_iter()
        .filter(|Use { path, .. }| {
            let forbidden = FORBIDDEN.iter().any(|(m, p)| *m == module && within(path, p));
            let exception = EXCEPTIONS.iter().any(|(f, p)| *f == file && within(path, p));
            let fits = within(path, module) || allowed.iter().any(|prefix| within(path, prefix));
            forbidden || !(fits || exception)
        })
        .map(|Use { line, path }| format!("src/{file}:{line}: {module} → {path}"))
        .collect()
}

/// The Rust files below a folder.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn no_arrow_points_upward() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = rust_files(&root);
    let found: Vec<String> = files
        .iter()
        .flat_map(|path| {
            let file = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
            violations(&file, &fs::read_to_string(path).unwrap())
        })
        .collect();

    assert!(files.len() > 50, "only {} files were read", files.len());
    assert!(found.is_empty(), "upward arrows:\n{}", found.join("\n"));
}

#[test]
fn every_use_is_read() {
    let source = "\
use crate::grid::{self, Grid, initial::{Method, build as make}};
// use crate::generate;
use super::x;
fn f() -> crate::backend::cpu::CpuBackend {}
pub(crate) mod y;
";

    let paths: Vec<(usize, String)> = uses(source).into_iter().map(|u| (u.line, u.path)).collect();

    let expected = [
        (1, "grid"),
        (1, "grid::Grid"),
        (1, "grid::initial::Method"),
        (1, "grid::initial::build"),
        (4, "backend::cpu::CpuBackend"),
    ];
    assert_eq!(paths, expected.map(|(line, path)| (line, path.to_owned())));
}

#[test]
fn an_upward_arrow_is_named_with_file_and_line() {
    let source = "//! Text.\nuse crate::{geometry, solver::newton};\n";

    assert_eq!(
        violations("grid/quality.rs", source),
        ["src/grid/quality.rs:2: grid → solver::newton"]
    );
}

#[test]
fn solvers_see_the_traits_of_a_backend_and_no_device() {
    assert_eq!(violations("solver/x.rs", "use crate::backend::Backend;"), Vec::<String>::new());
    assert_eq!(
        violations("solver/x.rs", "use crate::backend::cpu::CpuBackend;"),
        ["src/solver/x.rs:1: solver → backend::cpu::CpuBackend"]
    );
}

#[test]
fn only_linear_systems_use_the_pipeline() {
    for (module, _) in
        ALLOWED.iter().filter(|(module, _)| !["generate", "linear_system"].contains(module))
    {
        let found = violations(&format!("{module}.rs"), "use crate::generate::run;");

        assert_eq!(found, [format!("src/{module}.rs:1: {module} → generate::run")]);
    }
}

#[test]
fn a_new_module_must_be_given_its_place() {
    assert_eq!(
        violations("util/mod.rs", ""),
        ["src/util/mod.rs: module `util` has no place in the layers"]
    );
}
