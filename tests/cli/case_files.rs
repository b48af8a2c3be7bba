//! Case files that cannot be run as written. The messages are in tests/case; here is what the program makes of
//! them.

use super::{SMALLEST, Scratch};

/// Values that only the geometry can judge are refused with their line as well: the number of base cells, whose
/// upper limit is (ni - 1)/2. The errors stay with `--quiet`, and no folder is created.
#[test]
fn case_files_that_cannot_be_run_are_refused_with_line_and_remedy() {
    for (case, message) in [
        (
            "",
            ": geometry.naca or geometry.file is missing\n\
             hint: the smallest case is two lines: [geometry] and naca = \"2412\"\n",
        ),
        (
            "[grid]\nfarfield = 20\n",
            ":2: unknown key grid.farfield\nhint: did you mean grid.far_field?\n",
        ),
        (
            "[geometry]\nnaca = \"0012\"\ntrailing_edge = \"blunt\"\n[grid]\nbase_cells = 7\nni = 65\n",
            ":5: base_cells = 7: an even number from 4 to 32 was expected\n\
             hint: leave base_cells out to have it chosen; a finer base needs a larger ni, on a C-grid a lower first_cell\n",
        ),
    ] {
        let scratch = Scratch::with_case(case);
        for quiet in ["", "-q"] {
            let message = format!("error: wing.toml{message}");
            scratch.run(&format!("wing.toml --backend cpu {quiet}")).is_refused(&message);
        }
        assert_eq!(scratch.names("."), ["wing.toml"]);
    }
}

#[test]
fn what_is_named_on_the_command_line_is_refused_there() {
    let scratch = Scratch::with_case(SMALLEST);
    for (arguments, message) in [
        ("none.toml", "none.toml: no such case file\nhint: check the path of the case file\n"),
        (".", ".: expected a case file, found a folder\nhint: name the case file in the folder\n"),
        (
            "wing.toml --set grid.far_field=-15",
            "--set grid.far_field=-15: expected a number at least 1 and at most 1e6\n\
             hint: leave grid.far_field out for the default: 15\n",
        ),
        (
            "wing.toml --set newton.max_iterations=0",
            "--set newton.max_iterations=0: expected an integer from 1 to 10000\n\
             hint: leave newton.max_iterations out for the default: 30\n",
        ),
    ] {
        scratch.run(arguments).is_refused(&format!("error: {message}"));
    }
}
