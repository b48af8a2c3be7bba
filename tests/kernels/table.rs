//! The kernels as the table of `launch/kernel.rs` lists them, and their files as `kernels/README.md` does.

use gridgen::backend::cuda::launch::KernelFile;

const TABLE: &str = include_str!("../../kernels/README.md");

/// Names of the kernels of a text, but of those that a macro makes.
fn kernels(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("KERNEL(").filter_map(|(at, _)| {
        let (before, line) = text[..at].rsplit_once('\n').unwrap_or_default();
        if line.contains("#define") || before.ends_with('\\') {
            return None;
        }
        // The number of threads may stand before the name.
        let bounded = usize::from(line.ends_with("BOUNDED_"));
        text[at + "KERNEL(".len()..].split([',', ')']).nth(bounded).map(str::trim)
    })
}

/// No kernel has more than ten parameters either: support/fibers/library.rs counts them at each launch.
#[test]
fn every_kernel_is_in_the_table() {
    for source in KernelFile::ALL {
        let file = source.file();
        let listed = TABLE.lines().any(|line| line.starts_with(&format!("| `{file}` |")));
        assert!(listed, "{file} is not in the table of files");
        let (text, names) = (source.text(), source.kernels());

        for name in kernels(&text) {
            assert!(names.contains(&name), "{file}: {name} is not in the table");
        }
        for name in names {
            assert!(text.contains(name), "{file} has no {name}");
        }
    }
}
