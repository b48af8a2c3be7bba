//! The page of a run and the quality maps.

use std::fs;
use std::time::{Duration, Instant};

use super::{COARSE, Finished, SMALLEST, Scratch, has, sets};

const PAGE: &str = "output/wing/report.html";

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    scratch.run(&format!("wing.toml {COARSE} {arguments}"))
}

/// A page without its grid and its scripts, and their texts.
fn without_scripts(page: &str) -> (String, Vec<&str>) {
    let mut parts = page.split("<script");
    let mut rest = parts.next().unwrap().to_owned();
    let mut scripts = Vec::new();
    for part in parts {
        let (script, after) = part.split_once("</script>").unwrap();
        scripts.push(script);
        rest += after;
    }
    (rest, scripts)
}

/// The names of the tags of a page in order, closing ones with their slash; self-closing tags are skipped.
fn tags(page: &str) -> Vec<&str> {
    page.split('<')
        .skip(1)
        .filter(|part| !part.starts_with(['!', '?']))
        .filter_map(|part| part.split('>').next())
        .filter(|tag| !tag.ends_with('/') && !tag.starts_with("meta"))
        .map(|tag| tag.split_whitespace().next().unwrap())
        .collect()
}

#[test]
fn a_run_ends_with_a_self_contained_page() {
    let scratch = Scratch::with_case(SMALLEST);

    let said = run(&scratch, "").succeeds();

    assert!(said.contains("  output/wing/report.html\n"), "{said}");
    let whole = scratch.text(PAGE);
    let (page, scripts) = without_scripts(&whole);
    assert_eq!(scripts.len(), 2);
    assert!(scripts[0].starts_with(" type=\"application/octet-stream\" data-gridgen "));
    assert!(scripts[1].starts_with('>') && scripts[1].contains("gridgenViewer"));
    let outside = ["fetch(", "import(", "XMLHttpRequest", "WebSocket", "eval(", "src="];
    assert_eq!(outside.into_iter().find(|part| scripts[1].contains(part)), None);
    let outside = ["<link", "src=", "href=", "url(", "@import"];
    assert_eq!(outside.into_iter().find(|part| page.contains(part)), None);
    let namespace = "http://www.w3.org/2000/svg";
    assert_eq!(page.matches("://").count(), page.matches(namespace).count());
    assert_eq!(scripts[1].matches("://").count(), scripts[1].matches(namespace).count());
    let parts = [
        "<title>wing – gridgen</title>",
        "prefers-color-scheme: dark",
        ">converged</span>",
        "O-grid of 65 × 33 points",
        "non-orthogonality",
        "Leading edge",
        "Trailing edge",
        "naca = &quot;2412&quot;",
    ];
    has(&page, &parts);
    assert_eq!(page.matches("<svg").count(), 3);
    // The tags are closed in order.
    let mut open = Vec::new();
    for tag in tags(&page) {
        match tag.strip_prefix('/') {
            Some(closed) => assert_eq!(open.pop(), Some(closed)),
            None => open.push(tag),
        }
    }

    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_lists_repairs_and_a_name_is_no_markup() {
    let case = b"[geometry]\nfile = \"wing.dat\"\n";
    let markup = b"\n<b>\"a&b\"</b>\n";
    let section = [&include_bytes!("../data/airfoils/tasopt-b.dat")[..], markup].concat();
    let scratch = Scratch::with(&[("wing.toml", case), ("wing.dat", &section)]);

    let finished = run(&scratch, "--set name=a&lt;b");

    let note = finished.stderr.lines().find_map(|line| line.strip_prefix("note: ")).unwrap();
    let escaped = note.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let page = scratch.text("output/a&lt;b/report.html");
    assert!(page.contains("<h1>a&amp;lt;b</h1>") && !page.contains("a&lt;b"));
    assert!(page.contains(&escaped.replace('"', "&quot;")), "{note}");
    assert!(page.contains("&lt;b&gt;&quot;a&amp;b&quot;&lt;/b&gt;") && !page.contains("<b>\"a"));
}

#[test]
fn pages_and_pictures_can_be_switched_off_and_quality_maps_on() {
    let scratch = Scratch::with_case(SMALLEST);

    let unseen = run(&scratch, "--open --set output.report=false");
    assert_eq!(unseen.stderr, "note: there is no report.html to open: output.report is false\n");
    unseen.succeeds();
    assert!(!scratch.path(PAGE).exists() && scratch.path("output/wing/grid.svg").exists());

    run(&scratch, &sets("output.pictures=false output.report=true output.quality_maps=true"))
        .succeeds();
    assert!(scratch.path(PAGE).exists() && !scratch.path("output/wing/grid.svg").exists());
    let svg = scratch.text("output/wing/quality.svg");
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{}", &svg[svg.len() - 40..]);
    assert!(svg.matches("<path ").count() > 40);
    assert!(scratch.bytes("output/wing/quality.png").starts_with(b"\x89PNG\r\n"));
}

/// The program that opens pages is the first of several names found on the search path.
#[cfg(target_os = "linux")]
#[test]
fn the_page_is_opened_on_request() {
    use std::os::unix::fs::PermissionsExt;
    let scratch = Scratch::with_case(SMALLEST);
    let opener = scratch.path("xdg-open");
    fs::write(&opener, "#!/bin/sh\necho \"$1\" > opened\n").unwrap();
    fs::set_permissions(&opener, fs::Permissions::from_mode(0o755)).unwrap();

    let paged = sets("output.pictures=false output.report=true");
    let mut command = scratch.command(&format!("wing.toml {COARSE} {paged} --open"));
    Finished::from(command.env("PATH", scratch.path("."))).succeeds();

    let begun = Instant::now();
    let opened = || fs::read_to_string(scratch.path("opened")).unwrap_or_default();
    while opened() != format!("{PAGE}\n") && begun.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(opened(), format!("{PAGE}\n"));
}
