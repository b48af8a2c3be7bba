//! The template of a case and the JSON schema, both written from the table of keys.

use std::cmp::Ordering;

use gridgen::case::{VISCOUS, json_schema, template};
use gridgen::internals::schema::{KEYS, Key, KeyKind};
use serde_json::Value;
use support::documents::assert_written;

use super::{SMALLEST, resolve};

const NACA: (&str, &str) = ("geometry.naca", "2412");

#[test]
fn a_case_for_turbulent_flow_has_a_reynolds_number_and_low_first_cells() {
    let case = resolve(&template(NACA, &VISCOUS)).unwrap();

    assert_eq!((case.grid.ni, case.grid.nj, case.grid.reynolds), (385, 129, Some(6e6)));
    assert!((case.grid.first_cell / 2.2323e-6 - 1.0).abs() < 1e-4, "{}", case.grid.first_cell);
}

#[test]
fn the_case_to_begin_with_has_every_key_and_is_the_smallest_case_with_and_without_number_signs() {
    let text = template(NACA, &[]);

    // The lines that set a key, commented out or not.
    let lines = text.lines().filter(|line| !line.starts_with("# ") && line.contains(" = "));
    let names: Vec<&str> =
        lines.map(|line| line.split_once(" = ").unwrap().0.trim_start_matches('#')).collect();
    let with_default = |line| match str::strip_prefix(line, "#") {
        Some(key) if !key.starts_with(' ') && !key.contains("# default:") => key,
        _ => line,
    };
    let with_defaults = text.lines().map(with_default).collect::<Vec<_>>().join("\n");

    assert_eq!(names, KEYS.iter().map(Key::name).collect::<Vec<_>>());
    assert!(text.lines().all(|line| line.chars().count() <= 110));
    assert!(with_defaults.contains("\nni = 257\n"), "{with_defaults}");
    for text in [text, with_defaults] {
        assert_eq!(resolve(&text).unwrap(), resolve(SMALLEST).unwrap());
    }
}

#[test]
fn the_stored_schema_is_the_one_written_from_the_table() {
    assert_written("docs/case.schema.json", &format!("{:#}\n", json_schema()));
}

/// Collects the violations of the schema by `value`, for the keywords of JSON Schema that the schema uses.
fn violations(value: &Value, schema: &Value, at: &str, found: &mut Vec<String>) {
    let mut require = |holds: bool, word: &str| {
        if !holds {
            found.push(format!("{at}: {word}"));
        }
    };
    if let Some(kind) = schema["type"].as_str() {
        let holds = match kind {
            "string" => value.is_string(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64(),
            "number" => value.is_number(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("{other}"),
        };
        require(holds, kind);
    }
    if let Some(words) = schema["enum"].as_array() {
        require(words.contains(value), "enum");
    }
    let number = value.as_f64().unwrap_or(f64::NAN);
    let compare = |word: &str| schema[word].as_f64().map(|bound| number.total_cmp(&bound));
    require(compare("minimum").is_none_or(Ordering::is_ge), "minimum");
    require(compare("maximum").is_none_or(Ordering::is_le), "maximum");
    require(compare("exclusiveMinimum").is_none_or(Ordering::is_gt), "exclusiveMinimum");
    require(compare("exclusiveMaximum").is_none_or(Ordering::is_lt), "exclusiveMaximum");
    for item in value.as_array().into_iter().flatten() {
        violations(item, &schema["items"], at, found);
    }
    for (name, member) in value.as_object().into_iter().flatten() {
        let path = format!("{at}.{name}");
        match &schema["properties"][name] {
            Value::Null => found.push(format!("{path}: unknown")),
            property => violations(member, property, &path, found),
        }
    }
    if let Some(ways) = schema["oneOf"].as_array() {
        let has = |way: &&Value| value.get(way["required"][0].as_str().unwrap()).is_some();
        if ways.iter().filter(has).count() != 1 {
            found.push(format!("{at}: oneOf"));
        }
    }
}

fn violations_of(case: &str) -> Vec<String> {
    let value = serde_json::to_value(case.parse::<toml::Table>().unwrap()).unwrap();
    let mut found = Vec::new();
    violations(&value, &json_schema(), "", &mut found);
    found
}

#[test]
fn the_schema_accepts_resolved_cases_and_refuses_what_the_program_refuses_of_single_keys() {
    let resolved = resolve(SMALLEST).unwrap().to_toml_string().unwrap();
    let wrong = "\
        [grid]\nni = 8\nfirst_cell = 0.0\nspacing = 1\n\
        [linear]\nsolver = \"cg\"\n[output]\nformats = [\"stl\"]\npictures = 1\n[geometry]\n";

    let mut found = violations_of(wrong);

    found.sort();
    assert!(resolve(wrong).is_err());
    assert_eq!(
        found,
        [
            ".geometry: oneOf",
            ".grid.first_cell: exclusiveMinimum",
            ".grid.ni: minimum",
            ".grid.spacing: unknown",
            ".linear.solver: enum",
            ".output.formats: enum",
            ".output.pictures: boolean",
        ]
    );
    assert_eq!(violations_of(&resolved), Vec::<String>::new());
}

#[test]
fn every_default_of_the_schema_is_that_of_the_table() {
    use KeyKind::{Box, Clusters, Pieces, Points, Words};
    let schema = json_schema();

    for key in KEYS.iter().filter(|key| !key.section().is_empty()) {
        let names = key.path.split('.');
        let property = names.fold(&schema, |schema, name| &schema["properties"][name]);
        assert!(property["description"].as_str().unwrap().starts_with(key.meaning), "{}", key.path);
        let default = key.default.value().map(|value| serde_json::to_value(value).unwrap());
        assert_eq!(property.get("default"), default.as_ref(), "{}", key.path);
        let is_list = matches!(key.kind, Words(_) | Points | Box | Clusters | Pieces);
        assert_eq!(property["type"] == "array", is_list, "{}", key.path);
    }
}
