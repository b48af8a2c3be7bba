//! The output streams: pipes, terminals, quiet and verbose.

use std::io::pipe;

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch};

#[test]
fn verbose_shows_every_newton_step_and_the_times() {
    let scratch = Scratch::with_case(SMALLEST);

    let Finished { code, stderr, .. } = scratch.run_coarse("-v");

    assert_eq!(code, 0, "{stderr}");
    let steps = scratch.report()["newton"]["iterations"].as_u64().unwrap();
    let newton: Vec<&str> = stderr.lines().filter(|line| line.starts_with("newton ")).collect();
    assert_eq!(newton.len() as u64, steps + 1, "{stderr}");
    for (step, line) in newton.iter().enumerate() {
        assert!(line.starts_with(&format!("newton {step:>3}  residual ")), "{line}");
        assert!(line.contains("  step length ") && line.contains("  linear "), "{line}");
    }
    for phase in ["geometry", "initial grid", "newton", "quality", "writing", "total"] {
        assert!(stderr.contains(&format!("time  {phase} ")), "{phase} in {stderr}");
    }
    let mut times = stderr.lines().filter(|line| line.starts_with("time  "));
    let length = times.next().unwrap().len();
    assert!(times.all(|line| line.len() == length && line.ends_with(" s")), "{stderr}");
}

#[test]
fn closed_pipes_are_no_error_and_a_full_standard_output_is_one() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = format!("wing.toml {COARSE} {NO_PICTURES}");
    let closed = || pipe().unwrap().1;
    for arguments in [&*run, "completions bash"] {
        let Finished { code, stderr, .. } =
            Finished::from(scratch.command(arguments).stdout(closed()));
        assert_eq!((code, stderr.contains("panic")), (0, false), "{arguments}: {stderr}");
        #[cfg(target_os = "linux")]
        {
            let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
            let finished = Finished::from(scratch.command(arguments).stdout(full));
            finished.fails(2, "error: cannot write to standard output: ");
        }
    }
    assert!(scratch.path("output/wing/report.json").exists());
    // Nobody reads the messages.
    for (options, code) in [("-v", 0), ("-v --set newton.max_iterations=1", 1)] {
        let mut command = scratch.command(&format!("{run} {options}"));
        let status = command.stderr(closed()).stdout(std::process::Stdio::null()).status();
        assert_eq!(status.unwrap().code(), Some(code), "{options}");
    }
}

/// Runs gridgen on `wing.toml` in a terminal, which `script` of util-linux provides; both streams arrive
/// combined.
#[cfg(target_os = "linux")]
fn run_in_terminal(term: &str, no_colour: &str, options: &str) -> String {
    let scratch = Scratch::with_case(SMALLEST);
    let program = assert_cmd::cargo::cargo_bin!("gridgen");
    let coarse = "--set grid.ni=65 --set grid.nj=33 --set output.pictures=false";
    let words = format!("wing.toml {coarse} {options}");
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &format!("'{}' {words}", program.display()), "/dev/null"])
        .current_dir(scratch.path("."))
        .env("TERM", term)
        .env("NO_COLOR", no_colour)
        .stdin(std::process::Stdio::null());
    Finished::from(&mut script).succeeds()
}

/// Erases the line, as the progress bar does before it is redrawn and when it ends.
#[cfg(target_os = "linux")]
const ERASE_LINE: &str = "\x1b[2K";

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_shows_progress_and_colours_and_keeps_the_result() {
    let shown = run_in_terminal("xterm-256color", "", "-v");

    assert!(shown.contains("newton  step 0  residual "), "{shown:?}");
    assert!(shown.contains("\x1b[36mnote:\x1b[0m "), "{shown:?}");
    // The lines of Newton steps are above the bar.
    let steps = shown.split(ERASE_LINE).filter(|part| part.starts_with("newton ")).count();
    assert!(steps > 1, "{shown:?}");
    let after_the_bar = shown.rsplit(ERASE_LINE).next().unwrap();
    assert!(after_the_bar.contains("wing: converged\r\n"), "{shown:?}");
}

/// An empty TERM counts as none.
#[cfg(target_os = "linux")]
#[test]
fn terminals_without_colours_and_quiet_runs_are_heeded() {
    for (term, no_colour, draws) in
        [("xterm-256color", "1", true), ("dumb", "", false), ("", "", false)]
    {
        let shown = run_in_terminal(term, no_colour, "");

        assert_eq!(shown.contains(ERASE_LINE), draws, "TERM={term}: {shown:?}");
        assert!(!shown.replace(ERASE_LINE, "").contains('\x1b'), "TERM={term}: {shown:?}");
        assert!(shown.contains("wing: converged\r\n"), "TERM={term}: {shown:?}");
    }
    assert_eq!(run_in_terminal("xterm-256color", "", "-q"), "");
}

/// Names of sections, skipped lines, quoted keys and words of mesh files come from others, as do the names of
/// the files.
#[test]
fn escape_sequences_of_files_are_shown_and_not_sent() {
    let evil = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{9b}31m";
    let point = |k: i32| {
        let angle = std::f64::consts::TAU * f64::from(k) / 40.0;
        let remark = if k == 20 { format!("# {evil}\n") } else { String::new() };
        format!("{} {}\n{remark}", 0.5 + 0.5 * angle.cos(), 0.1 * angle.sin())
    };
    let points: Vec<String> = (0..=40).map(point).collect();
    let section = format!("{evil} the name\n{}", points.concat());
    let matrix = "%%MatrixMarket matrix coordinate real general\n1 1 1\n";
    let name = format!("e{}l", &evil[..4]);
    let scratch = Scratch::with(&[
        ("section.dat", &section),
        ("broken.dat", &format!("{}{evil} 1\n", "1 0\n0 0\n")),
        ("key.toml", &"geometry.naca = '0012'\n\"\\u001b[2J\" = 1\n"),
        ("value.toml", &"geometry.naca = \"\\u001b[2J\"\n"),
        ("section.toml", b"geometry.file = 'section.dat'\n"),
        ("word.p3d", &format!("2 2\n0 0 0 {}\n{evil}", "0 ".repeat(4096))),
        ("a.mtx", &format!("{matrix}1 1 {evil}\n")),
        (&name, b"0"),
        (&format!("{name}.toml"), b"geometry.naca = '0012'\n"),
    ]);
    let toml = format!("{name}.toml");
    let commands: [&[&str]; 11] = [
        &["airfoil", "section.dat"],
        &["airfoil", "broken.dat"],
        &["key.toml"],
        &["value.toml"],
        &["check", "section.toml"],
        &["quality", "word.p3d"],
        &["quality", &name],
        &["convert", "word.p3d", "-o", &toml],
        &["solve", "a.mtx"],
        &["check", &toml],
        // The argument of a missing option, as filled in by a shell.
        &["check", "section.toml", &name],
    ];

    let mut shown = 0;
    for command in commands {
        let done = Finished::from(scratch.gridgen().args(command));

        let said = done.stdout + &done.stderr;
        let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
        assert!(!said.contains(acts), "{command:?}: {said:?}");
        shown += u32::from(said.contains("\\u001b"));
    }
    assert!(shown >= 8, "{shown} of {} show what stands there", commands.len());
    // In JSON control characters are escaped as JSON does; other letters are unchanged.
    let name = "a\u{9b}b\u{202e}µ ×";
    let toml = format!("{name}.toml");
    scratch.write(&toml, "geometry.naca = '0012'\n");
    let said = Finished::from(scratch.gridgen().args(["run", &toml, "--json"])).stdout;
    assert!(said.contains("a\\u009bb\\u202eµ ×"), "{said}");
    let rows: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(rows["cases"][0]["name"], name);
}
