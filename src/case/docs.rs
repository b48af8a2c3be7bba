//! The reference page of the case file, written from the table of keys.

use super::schema::{KEYS, Key, SECTIONS};

/// What the page says before the tables.
const HEAD: &str = r#"# Case files

<!-- Written from the table of keys in src/case/keys.rs. To write it again:
     UPDATE_DOCS=1 cargo test --test case -->

A case file is [TOML](https://toml.io). All keys are optional, except that the section must be
given, by `geometry.naca`, `geometry.file` or one of the tables below. The smallest case:

```toml
[geometry]
naca = "2412"
```

`gridgen init` writes a case with every key as a comment. [case.schema.json](case.schema.json) tells
editors the keys: name it in the first line of a case, `#:schema path/to/case.schema.json`.

Unknown keys are refused, and so are values out of range. Lengths are in chords.

A key can be replaced on the command line by `--set section.key=value`, as often as needed; the
value is TOML, and text may stand without quotes there, the words of a list between commas:
`--set output.formats=vts,su2`. `--set` of one of two alternatives
(`geometry.naca`, `geometry.file` and the other sections; `grid.first_cell` and `grid.y_plus` with
`grid.reynolds`) drops the other one from the file. A relative `geometry.file` starts at the case file's folder,
also with `--set`.

Beside the grid, `case.toml` is written: the case with every default in place, those among them that
the section decides too, so that it makes the same grid again, also where a later version has other
defaults.

With `y_plus` and `reynolds` the first cell is `y_plus L / (reynolds * sqrt(Cf/2))` chords high
with L = `reference_length`,
`Cf = (2 log10(reynolds) - 0.65)^-2.3` being the skin friction of a turbulent flat plate.
The default of half a chord gives the peers' height: 1.04e-5 for y+ 0.9 at Re 1e6.
"#;

/// The page `docs/case-format.md`.
#[must_use]
pub fn case_format() -> String {
    let mut page = String::from(HEAD);
    page.push_str("\n## At the top of the file\n");
    page.push_str(&table(""));
    for (section, about) in SECTIONS {
        page += &["\n## `[", section, "]`\n\n", about, "\n"].concat();
        page.push_str(&table(section));
    }
    page
}

/// A text of the page without its quotation of code.
pub(super) fn plain(text: &str) -> String {
    text.replace('`', "")
}

fn table(section: &str) -> String {
    let head = "\n| key | value | default | unit | meaning |\n| --- | --- | --- | --- | --- |\n";
    let rows = KEYS.iter().filter(|key| key.section() == section).map(row);
    std::iter::once(head.to_owned()).chain(rows).collect()
}

fn row(key: &Key) -> String {
    let Key { kind, default, unit, meaning, .. } = key;
    format!("| `{}` | {kind} | {default} | {unit} | {meaning} |\n", key.name())
}
