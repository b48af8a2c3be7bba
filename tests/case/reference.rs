//! The reference page and the table of keys.

use gridgen::internals::schema::{
    Bound, KEYS, Key, KeyKind, OVERSET_KEYS, OVERSET_SECTIONS, SECTIONS,
};
use support::documents::assert_written;

use super::{SMALLEST, resolve, resolve_file, resolve_set, shown};

const HEAD: &str = include_str!("reference.md");
const OVERSET: &str = include_str!("elements.md");

/// The page `docs/case-format.md`.
fn case_format() -> String {
    let mut page = [HEAD, "\n## At the top of the file\n", &table("")].concat();
    for (section, about) in SECTIONS {
        page += &["\n## `[", section, "]`\n\n", about, "\n", &table(section)].concat();
    }
    page += OVERSET;
    for (section, about) in OVERSET_SECTIONS {
        let title =
            if *section == "element" { "[[element]]".into() } else { ["[", section, "]"].concat() };
        page += &["\n### `", &title, "`\n\n", about, "\n", &table(section)].concat();
    }
    page
}

fn table(section: &str) -> String {
    let head = "\n| key | value | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
    let row = |key: &Key| {
        let Key { kind, default, unit, meaning, .. } = key;
        format!("| `{}` | {kind} | {default} | {unit} | {meaning} |\n", key.name())
    };
    let rows = KEYS.iter().chain(OVERSET_KEYS).filter(|key| key.section() == section).map(row);
    std::iter::once(head.to_owned()).chain(rows).collect()
}

#[test]
fn the_reference_page_is_the_one_written_from_the_table_and_begins_with_a_valid_case() {
    let page = case_format();
    let example = page.split("```").nth(1).unwrap().strip_prefix("toml\n").unwrap();

    assert_written("docs/case-format.md", &page);
    assert_eq!(resolve(example).unwrap(), resolve(SMALLEST).unwrap());
}

#[test]
fn every_key_belongs_to_a_section_and_stands_once() {
    for (position, key) in KEYS.iter().enumerate() {
        let known = SECTIONS.iter().any(|(section, _)| *section == key.section());
        assert!(known || key.path == "name", "{}", key.path);
        assert!(KEYS[..position].iter().all(|other| other.path != key.path), "{}", key.path);
    }
}

#[test]
fn every_default_satisfies_its_own_check() {
    let defaults = KEYS.iter().filter_map(|key| Some((key.path, key.default.value()?.to_string())));

    for (path, value) in defaults {
        let result = resolve_set(SMALLEST, &[(path, &value)]);
        assert!(result.is_ok(), "{path} = {value}: {result:?}");
    }
}

#[test]
fn every_value_out_of_range_is_refused_with_its_range() {
    let elements = "[[element]]\nname = 'main'\ngeometry.naca = '4412'\n[[element]]\nname = 'flap'\n\
                    geometry.naca = '2412'\nat = [2, 0]\n[background]\n";
    let beyond = |bound: Bound, by: f64| bound.value + if bound.open { 0.0 } else { by };
    let keys = KEYS.iter().map(|key| (SMALLEST, key));
    for (text, key) in keys.chain(OVERSET_KEYS.iter().map(|key| (elements, key))) {
        let values = match key.kind {
            KeyKind::Integer { min, max } => vec![(min - 1).to_string(), (max + 1).to_string()],
            KeyKind::Real { low, high } => {
                [beyond(low, -1.0), beyond(high, 1.0), f64::NAN].map(|end| end.to_string()).to_vec()
            }
            KeyKind::Flag | KeyKind::Word(_) | KeyKind::Words(_) => vec!["other".to_owned()],
            _ => continue,
        };
        let path = key.path.replace("element.", "element.flap.");
        for value in values {
            let refused = shown(resolve_file(text, &[(&path, &value)]));
            let range = format!("--set {path}={value}: expected {}", key.kind);
            assert!(refused.contains(&range), "{range}\n{refused}");
        }
    }
}

#[test]
fn every_word_of_the_table_is_known_to_the_layer_it_chooses_for() {
    for key in KEYS {
        let (KeyKind::Word(words) | KeyKind::Words(words)) = key.kind else { continue };
        for word in words {
            let value = match key.kind {
                KeyKind::Words(_) => format!("[\"{word}\"]"),
                _ => format!("\"{word}\""),
            };
            // Wall points as given need a file or a list of points.
            let given = value.contains("as-given") && key.path == "grid.wall_points";
            let section = if given { "geometry.points = [[1.0, 0.0]]" } else { SMALLEST };
            let boxed = (key.section() == "domain").then_some(("domain.box", "[-1, 3, -1, 1]"));
            let set: Vec<_> = boxed.into_iter().chain([(key.path, value.as_str())]).collect();
            let result = resolve_set(section, &set);
            assert!(result.is_ok(), "{} = {value}: {result:?}", key.path);
        }
    }
}

#[test]
fn every_field_of_a_case_is_a_key_of_the_table() {
    let case = resolve_set(SMALLEST, &[("grid.base_cells", "8"), ("grid.seam", "held")]).unwrap();

    let table = toml::Table::try_from(&case).unwrap();

    for (section, value) in &table {
        let Some(fields) = value.as_table() else {
            assert_eq!(section, "name");
            continue;
        };
        for field in fields.keys() {
            let path = format!("{section}.{field}");
            assert!(KEYS.iter().any(|key| key.path == path), "{path}");
        }
    }
}
