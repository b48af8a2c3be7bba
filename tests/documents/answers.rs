//! The pages that answer by naming keys and options name existing ones.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use super::read;

/// The pages in `docs`.
const ANSWERS: &str = "how-do-i coming-from commands limits quality tutorials/first-grid tutorials/c-grid \
     tutorials/many-sections tutorials/optimise tutorials/flap tutorials/several-gpus";

/// The code within sentences and tables of the pages, without their blocks.
fn inline_code() -> Vec<String> {
    let pages = ANSWERS.split(' ').map(|name| read(format!("docs/{name}.md")));
    let sentences = pages.map(|text| text.split("```").step_by(2).collect::<String>());
    let code = |text: String| -> Vec<String> {
        text.split('`').skip(1).step_by(2).map(str::to_owned).collect()
    };
    sentences.flat_map(code).collect()
}

/// The dotted names in `code` that begin with a section of a case.
fn keys(code: &str, sections: &Value) -> Vec<String> {
    let words =
        code.split(|c: char| !(c.is_ascii_lowercase() || c.is_ascii_digit() || "_.".contains(c)));
    let is_key = |word: &&str| {
        word.split_once('.').is_some_and(|(section, _)| sections.get(section).is_some())
    };
    words.filter(is_key).map(str::to_owned).collect()
}

/// True if the schema of the case file has a key, or a section, of this dotted name.
fn has_key(schema: &Value, name: &str) -> bool {
    let mut at = schema;
    for part in name.split('.') {
        let table = at.get("items").unwrap_or(at);
        let Some(inner) = table["properties"].get(part) else { return false };
        at = inner;
    }
    true
}

/// The command and the options of a call of the program within `code`, if there is one. An option alone belongs to
/// the main command.
fn call(code: &str) -> Option<(Option<&str>, Vec<&str>)> {
    let arguments = match code.find("gridgen ") {
        Some(at) => &code[at + "gridgen ".len()..],
        None if code.starts_with("--") => code,
        None => return None,
    };
    let mut words = arguments.split_whitespace().peekable();
    let is_command = |word: &&str| word.chars().all(|c| c.is_ascii_lowercase());
    let command = words.next_if(is_command);
    let options = words
        .filter(|word| word.starts_with("--"))
        .map(|word| word.split('=').next().unwrap_or(word));
    Some((command, options.collect()))
}

#[test]
fn keys_in_answers_are_keys_of_a_case() {
    let schema: Value = serde_json::from_str(&read("docs/case.schema.json")).unwrap();
    let named: BTreeSet<String> =
        inline_code().iter().flat_map(|code| keys(code, &schema["properties"])).collect();

    let missing: Vec<&String> = named.iter().filter(|name| !has_key(&schema, name)).collect();

    // Fewer would mean that keys are no longer found.
    assert!(named.len() >= 50, "{named:?}");
    assert!(missing.is_empty(), "{missing:?}");
    assert!(!has_key(&schema, "grid.nothing") && has_key(&schema, "element.rigging.gap"));
}

/// Without the feature `cli` there is no program to ask.
#[test]
fn commands_and_options_in_answers_are_those_of_the_program() {
    let Some(program) = option_env!("CARGO_BIN_EXE_gridgen") else { return };
    let code = inline_code();
    let calls: Vec<_> = code.iter().filter_map(|code| call(code)).collect();
    let commands: BTreeSet<Option<&str>> = calls.iter().map(|(command, _)| *command).collect();

    for command in &commands {
        let help = Command::new(program).args(*command).arg("--help").output().unwrap();
        let text = String::from_utf8(help.stdout).unwrap();
        let words: BTreeSet<&str> =
            text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')).collect();
        assert!(help.status.success(), "{command:?}: {}", String::from_utf8_lossy(&help.stderr));
        let own = calls.iter().filter(|(of, _)| of == command);
        for option in own.flat_map(|(_, options)| options) {
            assert!(words.contains(option), "{command:?} has no {option}");
        }
    }

    assert!(calls.len() >= 30 && commands.len() >= 10, "{commands:?}");
}
