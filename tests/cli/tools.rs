//! Checks of case files before they are run, and the references printed by other commands.

use super::{Finished, SMALLEST, Scratch};

#[test]
fn the_case_that_is_begun_can_be_run() {
    let scratch = Scratch::with(&[]);

    let said = scratch.run(&["init", "wing.toml", "--naca", "2412"]).succeeds();

    assert_eq!(said, "written:\n  wing.toml\n");
    assert_eq!(scratch.names("."), ["wing.toml"]);
    scratch.run_coarse(&[]).succeeds();
}

#[test]
fn a_case_is_begun_from_a_file_of_coordinates() {
    let scratch = Scratch::with(&[("section.dat", b"section\n1 0\n0 0\n1 0\n")]);

    scratch.run(&["init", "wing.toml", "--file", "section.dat"]).succeeds();

    let text = String::from_utf8(scratch.bytes("wing.toml")).unwrap();
    assert!(text.contains("\nfile = \"section.dat\"\n") && text.contains("\n#naca = "), "{text}");
}

#[test]
fn a_file_that_is_there_is_not_replaced_by_a_case_to_begin_with() {
    let scratch = Scratch::with(&[("case.toml", b"mine")]);

    scratch.run(&["init"]).is_refused(
        "error: cannot write case.toml: there is a file of that name\n\
         hint: choose another name, or remove that file first\n",
    );

    assert_eq!(scratch.bytes("case.toml"), b"mine");
    assert_eq!(scratch.names("."), ["case.toml"]);
}

#[test]
fn a_check_says_what_a_run_takes_and_writes_nothing() {
    let scratch = Scratch::with_case(SMALLEST);
    let size = ["--set", "grid.ni=2049", "--set", "grid.nj=1025"];

    let said = scratch.run(&[&["check", "wing.toml"], &size[..]].concat()).succeeds();

    assert_eq!(
        said,
        "wing: can be run\n\
         \x20 grid          2049 x 1025 points, 2100225 in all\n\
         \x20 memory        about 1.5 GB\n\
         \x20 time          about 11 s of CPU on one thread\n"
    );
    assert_eq!(scratch.names("."), ["wing.toml"]);
}

#[test]
fn quantities_are_shown_in_units_of_their_size() {
    let scratch = Scratch::with_case(SMALLEST);
    let takes = |ni: &str, nj: &str| {
        let sets = [ni, nj, "max_turn=180"].map(|set| format!("grid.{set}"));
        let sets = sets.each_ref().map(|set| ["--set", set]).concat();
        let said = scratch.run(&[&["check", "wing.toml"], &sets[..]].concat()).succeeds();
        let words: Vec<&str> =
            said.lines().filter_map(|line| line.split("about ").nth(1)).collect();
        words.join(", ").replace(" of CPU on one thread", "")
    };

    assert_eq!(takes("ni=129", "nj=33"), "39 MB, 0.1 s");
    assert_eq!(takes("ni=1025", "nj=821"), "633 MB, 4.3 s");
    assert_eq!(takes("ni=2049", "nj=1640"), "2.4 GB, 17 s");
    assert_eq!(takes("ni=20001", "nj=9000"), "127.8 GB, 15 min");
}

#[test]
fn a_check_refuses_what_a_run_would_refuse() {
    let scratch = Scratch::with_case(SMALLEST);

    for set in ["grid.ni=3", "geometry.naca=12", "grid.ni=9"] {
        let set = ["--set", set];
        let checked = scratch.run(&[&["check", "wing.toml"], &set[..]].concat());
        let run = scratch.run(&[&["wing.toml", "-q"], &set[..]].concat());
        assert_eq!((checked.code, checked.stdout.as_str()), (2, ""), "{set:?}");
        assert_eq!(checked.stderr, run.stderr, "{set:?}");
    }
}

#[test]
fn the_schema_is_json() {
    let text = Scratch::with(&[]).run(&["schema"]).succeeds();

    let schema: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(schema["properties"]["grid"]["properties"]["ni"]["minimum"], 9);
}

#[test]
fn the_manual_page_has_the_options_and_the_commands() {
    let page = Scratch::with(&[]).run(&["man"]).succeeds();

    assert!(page.contains(".TH gridgen 1"), "{page}");
    for part in ["\\-\\-threads", "gridgen\\-check(1)", "Exit codes"] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
}

#[test]
fn every_command_has_an_example_in_its_help() {
    let commands = [
        "run",
        "convert",
        "init",
        "check",
        "schema",
        "licences",
        "man",
        "airfoil",
        "quality",
        "completions",
        "devices",
    ];
    for command in commands {
        let Finished { code, stdout, stderr } = Scratch::with(&[]).run(&[command, "--help"]);
        assert_eq!((code, stderr.as_str()), (0, ""), "{command}");
        assert!(stdout.contains(&format!("\n  gridgen {command}")), "{command}: {stdout}");
    }
}

#[test]
fn wrong_use_of_a_command_exits_with_2() {
    for arguments in [
        &["init", "a.toml", "b.toml"][..],
        &["init", "--naca", "0012", "--file", "a.dat"],
        &["check"],
        &["check", "wing.toml", "--set", "grid.ni"],
        &["schema", "wing.toml"],
        &["run"],
        &["run", "wing.toml", "--jobs", "0"],
        &["convert", "mesh.p3d"],
        &["convert", "mesh.p3d", "-o", "a.p3d", "--encoding", "ascii"],
        &["convert", "mesh.p3d", "-o", "a.p3d", "--span", "0"],
    ] {
        let Finished { code, stdout, stderr } = Scratch::with(&[]).run(arguments);
        assert_eq!((code, stdout.as_str()), (2, ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}

/// The licence of the embedded font requires its notice.
#[test]
fn the_licence_of_the_embedded_font_ships_with_the_program() {
    let text = Scratch::with(&[]).run(&["licences"]).succeeds();

    for part in [
        "UBUNTU FONT LICENCE Version 1.0",
        "SIL OPEN FONT LICENSE Version 1.1",
        "© 2010, 2011 Canonical Ltd",
        "LICENSE-APACHE",
        "UIUC Airfoil Coordinates Database",
    ] {
        assert!(text.contains(part), "{part}");
    }
}
