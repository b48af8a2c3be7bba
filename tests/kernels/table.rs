//! The kernels listed in `kernels/README.md`.

use gridgen::backend::cuda::launch::Source;

const TABLE: &str = include_str!("../../kernels/README.md");

/// Largest number of parameters of a kernel.
const MOST_PARAMETERS: usize = 10;

/// Name and number of parameters of each kernel of a text. If a macro makes several kernels, the name is the
/// macro's parameter.
fn kernels(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("KERNEL(") {
        let line = text[..at].rsplit('\n').next().unwrap_or_default();
        if line.starts_with("#define KERNEL") || line.contains("#define") {
            continue;
        }
        let bounded = text[..at].ends_with("BOUNDED_");
        let mut depth = 0;
        let mut parts = vec![String::new()];
        for c in text[at + "KERNEL(".len()..].chars() {
            match c {
                '(' | '<' => depth += 1,
                ')' if depth == 0 => break,
                ')' | '>' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(String::new());
                    continue;
                }
                _ => {}
            }
            if let Some(part) = parts.last_mut() {
                part.push(c);
            }
        }
        let skipped = usize::from(bounded);
        found.push((parts[skipped].trim().to_owned(), parts.len() - 1 - skipped));
    }
    found
}

#[test]
fn every_kernel_is_in_the_table_and_has_few_parameters() {
    for source in Source::ALL {
        let file = source.file();
        let row = TABLE.lines().find(|line| line.starts_with(&format!("| `{file}` |")));
        let row = row.unwrap_or_else(|| panic!("{file} is not in the table"));
        let names = row.split('|').nth(2).unwrap_or_default();
        let text = source.text();
        let kernels = kernels(&text);

        assert!(!kernels.is_empty(), "{file}");
        for (name, parameters) in kernels {
            let of_a_macro = ["name", "pack", "unpack"].contains(&name.as_str());
            let listed = of_a_macro || names.contains(&format!("`{name}`"));
            assert!(listed, "{file}: {name} is not in the table");
            assert!(parameters <= MOST_PARAMETERS, "{file}: {name} has {parameters} parameters");
        }
        let listed: Vec<_> = names.split('`').skip(1).step_by(2).collect();
        assert_eq!(listed, source.kernels(), "{file}");
        for name in listed {
            assert!(text.contains(name), "{file} has no {name}");
        }
    }
}

#[test]
fn a_module_holds_the_shared_part_once_and_no_include() {
    for source in Source::ALL {
        let text = source.text();

        assert_eq!(text.matches("typedef REAL real;").count(), 1, "{}", source.file());
        assert!(!text.contains("#include \"common"), "{}", source.file());
    }
}
