//! The kernels as the table of `launch/kernel.rs` lists them, and their files as `kernels/README.md` does.

use gridgen::backend::cuda::launch::KernelFile;

const TABLE: &str = include_str!("../../kernels/README.md");

/// Largest number of parameters of a kernel.
const MOST_PARAMETERS: usize = 10;

/// Name and number of parameters of each kernel of a text, but of those that a macro makes.
fn kernels(text: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("KERNEL(") {
        let (before, line) = text[..at].rsplit_once('\n').unwrap_or_default();
        if line.contains("#define") || before.ends_with('\\') {
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
    for source in KernelFile::ALL {
        let file = source.file();
        let listed = TABLE.lines().any(|line| line.starts_with(&format!("| `{file}` |")));
        assert!(listed, "{file} is not in the table of files");
        let (text, names) = (source.text(), source.kernels());

        for (name, parameters) in kernels(&text) {
            assert!(names.contains(&name.as_str()), "{file}: {name} is not in the table");
            assert!(parameters <= MOST_PARAMETERS, "{file}: {name} has {parameters} parameters");
        }
        for name in names {
            assert!(text.contains(name), "{file} has no {name}");
        }
    }
}

#[test]
fn a_module_holds_the_shared_part_once_and_no_include() {
    for source in KernelFile::ALL {
        let text = source.text();

        assert_eq!(text.matches("typedef REAL real;").count(), 1, "{}", source.file());
        assert!(!text.contains("#include \"common"), "{}", source.file());
    }
}
