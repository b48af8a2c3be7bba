//! The packages that gridgen is built of: their licences, and where they come from. Cargo fetches those of other systems
//! to read them, once.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::process::Command;
use std::sync::LazyLock;

use serde_json::Value;
use spdx::{Expression, ParseMode};

/// Licences of which each package offers enough to be linked into a program that is given away under MIT or Apache-2.0.
const ALLOWED: [&str; 7] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Zlib",
];
/// A package of fonts, with its licences in docs/licences.md; the program holds Ubuntu Light alone.
const FONTS: (&str, [&str; 2]) = ("epaint_default_fonts", ["OFL-1.1", "Ubuntu-font-1.0"]);

/// Cargo's description of the packages of all features and systems.
static METADATA: LazyLock<Value> = LazyLock::new(|| {
    let made = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()))
        .args(["metadata", "--format-version", "1", "--locked", "--all-features"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    serde_json::from_slice(&made.stdout).unwrap()
});

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

fn list<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap()
}

/// The packages that the members are built of, but for those of their tests alone.
fn linked(metadata: &Value) -> Vec<&Value> {
    let nodes = list(&metadata["resolve"], "nodes");
    let nodes: BTreeMap<_, _> = nodes.iter().map(|node| (text(node, "id"), node)).collect();
    let members = list(metadata, "workspace_members");
    let mut open: Vec<_> = members.iter().filter_map(Value::as_str).collect();
    let mut seen = BTreeSet::new();
    while let Some(id) = open.pop() {
        if !seen.insert(id) {
            continue;
        }
        for of in list(nodes[id], "deps") {
            if list(of, "dep_kinds").iter().any(|kind| kind["kind"] != "dev") {
                open.push(text(of, "pkg"));
            }
        }
    }
    let packages = list(metadata, "packages").iter();
    packages.filter(|package| seen.contains(text(package, "id"))).collect()
}

/// True if licences that are allowed satisfy an expression, which may have the form of earlier years.
fn permits(name: &str, licence: &str) -> bool {
    let Ok(expression) = Expression::parse_mode(licence, ParseMode::LAX) else { return false };
    expression.evaluate(|asked| {
        let of_fonts = (name == FONTS.0).then_some(FONTS.1);
        let mut allowed = ALLOWED.iter().chain(of_fonts.iter().flatten());
        let asked = asked.to_string();
        allowed.any(|allowed| *allowed == asked)
    })
}

#[test]
fn packages_that_are_linked_have_licences_that_permit_it() {
    let linked = linked(&METADATA);
    assert!(linked.len() > 100, "{}", linked.len());
    let refused: Vec<_> = linked
        .iter()
        .map(|package| [text(package, "name"), text(package, "license")])
        .filter(|[name, licence]| !permits(name, licence))
        .collect();
    assert!(refused.is_empty(), "{refused:?}");
}

#[test]
fn an_expression_needs_a_licence_that_is_allowed() {
    for licence in ["MIT", "MIT/Apache-2.0", "GPL-3.0-only OR MIT", "MIT AND Unicode-3.0"] {
        assert!(permits("other", licence), "{licence}");
    }
    for licence in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "OFL-1.1",
        "MIT WITH LLVM-exception",
        "no licence",
    ] {
        assert!(!permits("other", licence), "{licence}");
    }
    assert!(permits(FONTS.0, "MIT AND OFL-1.1 AND Ubuntu-font-1.0"));
}

#[test]
fn packages_come_from_the_index_or_from_the_workspace_and_have_versions() {
    for package in list(&METADATA, "packages") {
        let source = package["source"].as_str();
        assert!(
            source.is_none_or(|source| source.ends_with("/crates.io-index")),
            "{}: {source:?}",
            package["name"]
        );
        let own = source.is_none();
        for of in list(package, "dependencies").iter().filter(|of| own && of["path"].is_null()) {
            assert_ne!(of["req"], "*", "{}: {}", package["name"], of["name"]);
        }
    }
}
