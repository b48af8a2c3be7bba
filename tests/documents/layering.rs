//! Dependencies between the modules point one way.

use super::{files_below, read, root};

/// The modules or single items that each module may use in addition to itself; a module includes all below
/// it. Everything else is an upward arrow. `cli` and `main` are another crate and see the library as a user
/// does.
const ALLOWED: &[(&str, &str)] = &[
    ("diagnostics", ""),
    ("geometry", ""),
    ("simd", ""),
    ("memory", ""),
    ("digest", ""),
    ("ranks", "digest"),
    ("grid", "geometry simd"),
    ("overset", "geometry grid"),
    ("sparse", ""),
    ("pde", "grid geometry sparse"),
    ("backend", "pde sparse grid simd memory digest ranks"),
    ("solver", "backend sparse"),
    ("elliptic", "backend solver pde grid sparse"),
    ("files", "solver::history memory digest"),
    ("formats", "files grid overset sparse memory"),
    ("viewer", "grid"),
    ("report", "files grid overset solver::history viewer"),
    (
        "case",
        "geometry grid files::contents formats overset pde::control solver::NewtonStop \
         solver::linear solver::newton solver::precond sparse::Schedule",
    ),
    ("movement", "geometry grid backend pde solver elliptic files formats case smooth::solution"),
    ("smooth", "geometry grid backend pde solver elliptic case"),
    ("cascade", "geometry grid backend pde solver case smooth::block smooth::solution"),
    (
        "error",
        "geometry grid sparse pde backend solver elliptic files formats case movement smooth ranks",
    ),
    ("run", "grid sparse backend solver files case report error memory ranks"),
    (
        "generate",
        "geometry grid sparse pde backend solver elliptic files formats overset report case \
         movement error memory digest ranks run viewer cascade smooth",
    ),
    (
        "linear_system",
        "sparse backend solver files formats report case::is_fit_name error ranks run",
    ),
];

/// The module that every other may use: it declares errors.
const EVERYWHERE: &str = "diagnostics";

/// Parts of an allowed module that are forbidden: solvers know the traits of a backend and no device.
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

/// True if `path` is `prefix` or below it.
fn within(path: &str, prefix: &str) -> bool {
    path == prefix || path.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("::"))
}

/// The top module that a file belongs to: `solver` for `solver/krylov/mod.rs`.
fn module_of(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

/// A `crate::` path, and its line.
#[derive(Debug, PartialEq)]
struct Use {
    line: usize,
    path: String,
}

/// The paths in a file that begin with `crate`, and those of `use` that begin with `super` or `self`, as paths of the crate
/// with groups in braces expanded. Comments are skipped, since a link in the documentation is not a dependency.
fn uses(file: &str, source: &str) -> Vec<Use> {
    let code: String = source
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let mut module: Vec<&str> = file.trim_end_matches(".rs").split('/').collect();
    module.retain(|part| *part != "mod");
    let mut found = Vec::new();
    for root in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(root) {
            let (before, mut rest) = code.split_at(at);
            let on_line = before.rsplit('\n').next().unwrap_or_default().trim();
            let mut base = Vec::new();
            if root == "crate::" {
                // `$crate::` in a macro and names that end in "crate" are not paths of this crate.
                if before.ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
                    continue;
                }
                rest = &rest[root.len()..];
            } else if !["use", "pub use", "pub(super) use", "pub(crate) use"].contains(&on_line) {
                continue;
            } else {
                base.clone_from(&module);
            }
            while let Some((first @ ("super" | "self"), next)) = rest.split_once("::") {
                base.truncate(base.len() - usize::from(first == "super"));
                rest = next;
            }
            let prefix = base.iter().fold(String::new(), |prefix, part| prefix + part + "::");
            let line = before.matches('\n').count() + 1;
            let mut paths = Vec::new();
            expand(rest, &prefix, &mut paths);
            found.extend(paths.into_iter().map(|path| Use { line, path }));
        }
    }
    found
}

/// Reads a path at the start of `text` and adds it to `paths`, once for each item of a group. Returns the
/// length read.
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
        // Skips an `as` and its name, or anything else before the next item.
        at += read;
        at += text[at..].find([',', '}']).unwrap_or(text.len() - at);
    }
    at
}

/// The forbidden uses of one file.
fn violations(file: &str, source: &str) -> Vec<String> {
    let module = module_of(file);
    if ["lib", "main", "cli"].contains(&module) {
        return Vec::new();
    }
    let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == module) else {
        return vec![format!("src/{file}: module `{module}` has no place in the layers")];
    };
    uses(file, source)
        .into_iter()
        .filter(|Use { path, .. }| {
            let forbidden = FORBIDDEN.iter().any(|(m, p)| *m == module && within(path, p));
            let exception = EXCEPTIONS.iter().any(|(f, p)| *f == file && within(path, p));
            let mut allowed = allowed.split(' ').chain([EVERYWHERE]);
            let fits = within(path, module) || allowed.any(|prefix| within(path, prefix));
            forbidden || !(fits || exception)
        })
        .map(|Use { line, path }| format!("src/{file}:{line}: {module} → {path}"))
        .collect()
}

#[test]
fn no_arrow_points_upward() {
    let files = files_below("src", &["rs"]);
    let of_file = |file: &String| violations(file, &read(format!("src/{file}")));
    let found: Vec<String> = files.iter().flat_map(of_file).collect();

    assert!(files.len() > 50, "only {} files were read", files.len());
    assert!(found.is_empty(), "upward arrows:\n{}", found.join("\n"));
    // No module uses the pipeline.
    assert!(ALLOWED.iter().all(|(_, allowed)| !allowed.contains("generate")));
}

#[test]
fn an_upward_arrow_is_named_with_file_and_line() {
    for (file, source, arrows) in [
        (
            "grid/quality.rs",
            "//! Text.\nuse crate::{geometry, solver::newton};\n",
            &["src/grid/quality.rs:2: grid → solver::newton"][..],
        ),
        (
            "grid/x.rs",
            "// use crate::generate;\nuse crate::run::{self, A, b::{C, D as E}};\nfn f() -> crate::case::Case {}\n",
            &[
                "src/grid/x.rs:2: grid → run",
                "src/grid/x.rs:2: grid → run::A",
                "src/grid/x.rs:2: grid → run::b::C",
                "src/grid/x.rs:2: grid → run::b::D",
                "src/grid/x.rs:3: grid → case::Case",
            ],
        ),
        // Solvers see the traits of a backend and no device.
        ("solver/x.rs", "use crate::backend::Backend;\nuse self::y::{A, B};\n", &[]),
        (
            "solver/x.rs",
            "use crate::backend::cpu::CpuBackend;",
            &["src/solver/x.rs:1: solver → backend::cpu::CpuBackend"],
        ),
        (
            "solver/cg.rs",
            "use super::super::run::solve;",
            &["src/solver/cg.rs:1: solver → run::solve"],
        ),
        // A new module must be given its place.
        ("util/mod.rs", "", &["src/util/mod.rs: module `util` has no place in the layers"]),
    ] {
        assert_eq!(violations(file, source), arrows);
    }
}

/// The folders and files of the CUDA backend: each uses only those before it.
const CUDA: &[&str] = &[
    "launch", "device", "group", "comm", "backend", "algebra", "grid", "csr", "precond", "ranks",
    "mod",
];

/// For each file of a folder of `src`, the files of that folder that it uses.
fn file_uses(folder: &str) -> Vec<(String, Vec<String>)> {
    let prefix = folder.replace('/', "::");
    let all = files_below(&format!("src/{folder}"), &["rs"]);
    // The file that defines or re-exports the item of a path.
    let file_of = |path: &str| {
        let rest = path.strip_prefix(&prefix)?;
        let parts: Vec<&str> = rest.split("::").filter(|part| !part.is_empty()).collect();
        (0..=parts.len()).rev().find_map(|count| {
            let stem = parts[..count].join("/");
            let names = [format!("{stem}.rs"), format!("{stem}/mod.rs"), "mod.rs".to_owned()];
            let names = if stem.is_empty() { &names[2..] } else { &names[..2] };
            names.iter().find(|name| all.contains(*name)).cloned()
        })
    };
    all.iter()
        .map(|file| {
            let source = read(format!("src/{folder}/{file}"));
            let paths = uses(&format!("{folder}/{file}"), &source).into_iter();
            let mut used: Vec<String> = paths.filter_map(|used| file_of(&used.path)).collect();
            used.retain(|other| other != file);
            used.sort();
            used.dedup();
            (file.clone(), used)
        })
        .collect()
}

/// Files that use each other, if there are any. Files that use no remaining file are removed repeatedly; the
/// rest form circles.
fn circle(uses: &[(String, Vec<String>)]) -> Vec<&str> {
    let mut left: Vec<&(String, Vec<String>)> = uses.iter().collect();
    loop {
        let names: Vec<&String> = left.iter().map(|(file, _)| file).collect();
        let before = left.len();
        left.retain(|(_, used)| used.iter().any(|other| names.contains(&other)));
        if left.len() == before {
            return left.iter().map(|(file, _)| file.as_str()).collect();
        }
    }
}

#[test]
fn the_cuda_backend_has_layers_and_no_circles_of_files() {
    let uses = file_uses("backend/cuda");
    let layer = |file: &str| {
        let name = module_of(file);
        CUDA.iter()
            .position(|layer| *layer == name)
            .unwrap_or_else(|| panic!("{name} has no layer"))
    };
    let upward: Vec<String> = uses
        .iter()
        .flat_map(|(file, used)| used.iter().map(move |other| (file, other)))
        .filter(|(file, other)| layer(file) < layer(other))
        .map(|(file, other)| format!("{file} → {other}"))
        .collect();

    assert!(upward.is_empty(), "upward arrows:\n{}", upward.join("\n"));
    assert_eq!(circle(&uses), Vec::<&str>::new());
}

#[test]
fn no_files_of_a_folder_use_each_other() {
    let names = support::names_in(root("src")).into_iter();
    let names = names.filter(|name| root("src").join(name).is_dir());
    // The files of cascade and smooth use what their `mod.rs` declares.
    let names = names.filter(|name| !["backend", "cascade", "smooth"].contains(&&**name));
    for folder in names.chain(["backend/cpu".to_owned()]) {
        assert_eq!(circle(&file_uses(&folder)), Vec::<&str>::new(), "{folder}");
    }
}

#[test]
fn a_circle_of_files_is_found() {
    let uses = |file: &str, other: &str| (file.to_owned(), vec![other.to_owned()]);

    let found = [uses("a.rs", "b.rs"), uses("b.rs", "c.rs"), uses("c.rs", "b.rs")];

    assert_eq!(circle(&found), ["a.rs", "b.rs", "c.rs"]);
    assert_eq!(circle(&found[..2]), Vec::<&str>::new());
}

/// The files below a folder of the repository whose code contains one of these texts. Examples in comments
/// may name anything.
fn files_with(folder: &str, extension: &str, texts: &[String]) -> Vec<String> {
    let has = |path: &String| {
        let code = |line: &str| line.split("//").next().unwrap_or_default().to_owned();
        read(path).lines().map(code).any(|line| texts.iter().any(|text| line.contains(text)))
    };
    let files = files_below(folder, &[extension]).into_iter();
    let mut found: Vec<String> = files.map(|file| format!("{folder}/{file}")).filter(has).collect();
    found.sort();
    found
}

/// A format is in its own file, in its line of the table, and on the two pages generated from the tables; nothing else
/// in the program or its documents names it. A key is in its entry of the table, which also makes its field and the
/// test of its range, and at the place that uses it. A setting of a solver has its field at the place of use; relations
/// to other keys are checked in one more file. A subcommand is in its own file, in its line of the list of commands,
/// and in its tests.
#[test]
fn a_format_a_key_and_a_subcommand_touch_few_files() {
    let of_format = |format: &str| {
        [format!("\"{format}\""), format!("{format}::"), format!("mod {format};")].to_vec()
    };
    let text = |text: &str| vec![text.to_owned()];
    for (texts, own, others) in [
        (of_format("cgns"), "src/formats/cgns", &["src/formats/mod.rs"][..]),
        (of_format("msh"), "src/formats/msh", &["src/formats/mod.rs"]),
        (of_format("su2"), "src/formats/su2", &["src/formats/mod.rs"]),
        (text("max_halvings"), "src/case/keys.rs", &["src/solver/newton.rs"]),
        (text("max_wall_angle"), "src/case/keys.rs", &["src/case/solving.rs"]),
        (text("forcing_min"), "src/case/keys.rs", &["src/case/resolve.rs", "src/solver/newton.rs"]),
        (text("QualityArguments"), "src/cli/quality.rs", &["src/cli.rs"]),
        (text("AirfoilArguments"), "src/cli/airfoil.rs", &["src/cli.rs"]),
        (text("SolveArguments"), "src/cli/solve.rs", &["src/cli.rs"]),
    ] {
        let found = files_with("src", "rs", &texts);

        let (of_own, rest): (Vec<_>, Vec<_>) = found.iter().partition(|file| file.starts_with(own));
        assert!(!of_own.is_empty() && rest == others, "{texts:?}: {found:?}");
    }
}

/// A kernel is a function in a file of its subject, a name in the table of `launch/kernel.rs`, which a test of the
/// kernels reads, and a call.
#[test]
fn a_kernel_is_a_function_a_name_and_a_call() {
    for kernel in ["count_folds", "gather_columns", "invert_diagonal"] {
        let functions = files_with("kernels", "cu", &[format!("KERNEL({kernel}")]);
        let names = files_with("src", "rs", &[format!(" {kernel},")]);
        let calls =
            files_with("src", "rs", &[format!("=> {kernel}["), format!("kernels::{kernel}")]);

        assert_eq!([functions.len(), names.len(), calls.len()], [1; 3], "{kernel}: {calls:?}");
        assert!(calls[0].starts_with("src/backend/cuda/"), "{calls:?}");
    }
}

#[test]
fn no_two_rooms_give_types_one_name() {
    let mut found: Vec<(String, String)> = Vec::new();
    for file in files_below("src", &["rs"]) {
        let room = module_of(&file).to_owned();
        for line in read(format!("src/{file}")).lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let after = usize::from(words.first().is_some_and(|word| word.starts_with("pub")));
            if let [_, name, ..] = words[after.min(words.len())..]
                && ["struct", "enum", "trait"].contains(&words[after])
            {
                let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap();
                found.extend((!name.is_empty()).then(|| (name.to_owned(), room.clone())));
            }
        }
    }
    found.sort();
    found.dedup();
    let twice: Vec<&str> =
        found.windows(2).filter(|two| two[0].0 == two[1].0).map(|two| two[0].0.as_str()).collect();

    assert!(found.len() > 600, "{} names", found.len());
    assert!(twice.is_empty(), "{twice:?}");
}
