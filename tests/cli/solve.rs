//! Linear systems from files.

use gridgen::files::restart;
use gridgen::formats::matrix_market::{read_columns, read_matrix};
use serde_json::Value;
use support::krylov;
use support::linear::{Matrix, apart, dot};

use super::{Finished, SMALLEST, Scratch};

const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";
const SYMMETRIC: &str = "%%MatrixMarket matrix coordinate real symmetric\n";

/// Five-point differences on an m × m grid, the lower triangle.
fn laplacian(m: usize) -> String {
    let a = krylov::laplacian(m).rows;
    let lower = |row| a.row(row).filter(move |&(column, _)| column <= row);
    let line = |row, (column, value)| format!("{} {} {value}\n", row + 1, column + 1);
    let rows = (0..m * m).flat_map(|row| lower(row).map(move |entry| line(row, entry)));
    let lines: Vec<String> = rows.collect();
    format!("{SYMMETRIC}{} {} {}\n{}", m * m, m * m, lines.len(), lines.concat())
}

/// A folder with that matrix as `A.mtx`.
fn with_grid() -> Scratch {
    with("A.mtx", &laplacian(12))
}

/// A folder with a matrix.
fn with(name: &str, matrix: &str) -> Scratch {
    Scratch::with(&[(name, &matrix)])
}

/// Solves a system on the CPU.
fn solve(scratch: &Scratch, arguments: &str) -> Finished {
    scratch.run(&format!("solve --backend cpu {arguments}"))
}

fn report(scratch: &Scratch, name: &str) -> Value {
    scratch.json(&format!("output/{name}/report.json"))
}

fn solution(scratch: &Scratch, name: &str) -> Vec<f64> {
    let (_, columns) = read_columns(&scratch.path(&format!("output/{name}/x.mtx"))).unwrap();
    columns.concat()
}

/// The folder is named after the matrix, and is always a single folder below the output folder.
#[cfg(unix)]
#[test]
fn a_matrix_of_an_odd_name_is_solved_into_a_folder_of_its_own() {
    for name in ["...mtx", "..mtx.gz", ".mtx", "a\tb.mtx", "C:x.mtx", "NUL.mtx.gz", "x .mtx"] {
        let scratch = with(name, &laplacian(5));

        let arguments = ["solve", "--backend", "cpu", name, "-o", "out"];
        let said = Finished::from(scratch.gridgen().args(arguments)).succeeds();

        assert!(said.starts_with("system: converged\n"), "{name:?}: {said}");
        let mut names = [name, "out"];
        names.sort_unstable();
        assert_eq!(scratch.names("."), names);
        assert_eq!(scratch.names("out"), ["system"], "{name:?}");
        assert!(scratch.path("out/system/x.mtx").is_file(), "{name:?}");
    }
}

#[test]
fn a_system_is_solved_and_said_to_be() {
    let scratch = with_grid();

    let said = solve(&scratch, "A.mtx --solver cg --preconditioner ic0");

    assert_eq!(said.stderr, "");
    insta::assert_snapshot!(said.succeeds(), @r"
    A: converged
      matrix        144 rows, 672 entries, at most 5 in a row, symmetric
      right side    ones
      method        cg, preconditioner ic0
      residual      7.59e-9 of the right side after 13 iterations, asked for 1e-8
    written:
      output/A/x.mtx
      output/A/convergence.csv
      output/A/convergence.svg
      output/A/report.json
    ");
    let files = ["convergence.csv", "convergence.svg", "report.json", "x.mtx"];
    assert_eq!(scratch.names("output/A"), files);
    let a = Matrix::<f64>::from(read_matrix(&scratch.path("A.mtx")).unwrap().csr);
    let found = a.residual(&[1.0; 144], &solution(&scratch, "A")) / 12.0;
    assert!(found <= 1.02e-8, "{found:e}");
    let csv = scratch.text("output/A/convergence.csv");
    assert!(csv.starts_with("iteration,relative_residual\n0,1e0\n1,"), "{csv}");
}

#[test]
fn the_report_tells_what_was_done_and_phases_are_timed_on_request() {
    let scratch = with_grid();
    let options = "--seed 7 --solver gmres --restart 20 --preconditioner ilu0 --shift 0.01";
    let finished = solve(&scratch, &format!("A.mtx -v {options}"));
    for phase in ["reading", "set-up", "analysis", "factorisation", "solve", "total"] {
        assert!(finished.stderr.contains(&format!("time  {phase} ")), "{finished:?}");
    }
    finished.succeeds();

    let mut found = report(&scratch, "A");

    let timing = found["timing"].take();
    let seconds = timing.as_object().unwrap().values().map(|s| s.as_f64().unwrap());
    assert!(seconds.clone().all(|s| (0.0..60.0).contains(&s)) && seconds.count() == 9, "{timing}");
    for key in ["relative_residual", "true_relative_residual"] {
        let residual = found[key].take().as_f64().unwrap();
        assert!((0.0..=1.02e-8).contains(&residual), "{key}: {residual:e}");
    }
    for key in ["threads", "version"] {
        assert!(!found[key].take().is_null());
    }
    insta::assert_snapshot!(format!("{found:#}"), @r#"
    {
      "backend": "cpu",
      "converged": true,
      "iterations": 16.0,
      "matrix": {
        "duplicates": 0,
        "empty_rows": 0,
        "entries": 672,
        "file": "A.mtx",
        "longest_row": 5,
        "missing_diagonals": 0,
        "rows": 144,
        "symmetric": true
      },
      "method": {
        "format": "csr",
        "preconditioner": "ilu0",
        "reorder": "none",
        "restart": 20,
        "schedule": "auto",
        "shift": 0.01,
        "solver": "gmres"
      },
      "name": "A",
      "notes": [],
      "relative_residual": null,
      "right_side": "random, seed 7",
      "stop_reason": "converged",
      "threads": null,
      "timing": null,
      "tolerance": 1e-8,
      "true_relative_residual": null,
      "version": null
    }
    "#);
}

#[test]
fn every_solver_and_preconditioner_reaches_the_tolerance() {
    let scratch = with_grid();
    for solver in ["cg", "bicgstab", "gmres"] {
        for preconditioner in ["none", "jacobi", "dilu", "dic", "ilu0", "ic0"] {
            let method = format!("--solver {solver} --preconditioner {preconditioner}");

            solve(&scratch, &format!("A.mtx --seed 3 -q {method}")).succeeds();

            let found = report(&scratch, "A");
            let residual = found["true_relative_residual"].as_f64().unwrap();
            assert!(residual <= 1.02e-8, "{method}: {residual:e}");
            assert_eq!(found["method"]["solver"], solver);
            assert_eq!(found["method"]["preconditioner"], preconditioner);
        }
    }
}

#[test]
fn a_renumbered_system_has_the_same_solution() {
    // A chain of the rows 1, 4, 7, 3, 6, 2, 5, so that neighbours are far apart.
    let diagonal = "1 1 3\n2 2 3\n3 3 3\n4 4 3\n5 5 3\n6 6 3\n7 7 3\n";
    let beside = "4 1 -1\n7 4 -1\n7 3 -1\n6 3 -1\n6 2 -1\n5 2 -1\n";
    let scratch = with("A.mtx", &format!("{SYMMETRIC}7 7 13\n{diagonal}{beside}"));
    let solve = |options: &str| {
        let finished = solve(&scratch, &format!("A.mtx --seed 4 --tolerance 1e-12 {options}"));
        assert_eq!(finished.code, 0, "{finished:?}");
        (solution(&scratch, "A"), finished.stderr)
    };

    let ((plain, _), (renumbered, said)) = (solve(""), solve("--reorder rcm"));

    let rest = apart(&plain, &renumbered);
    assert!(rest < 1e-11, "{rest:e}");
    // In its natural order a chain has a bandwidth of 1.
    assert!(said.contains("reverse Cuthill–McKee: bandwidth 4 became 1\n"), "{said}");
}

#[test]
fn a_seed_gives_the_same_right_side_on_any_number_of_threads() {
    let scratch = with_grid();
    let solve = |options: &str| {
        solve(&scratch, &format!("A.mtx -q {options}")).succeeds();
        scratch.bytes("output/A/x.mtx")
    };

    let one = solve("--seed 1 --threads 1");
    let two = solve("--seed 1 --threads 2");
    let other = solve("--seed 2");

    assert!(one == two && one != other);
}

#[test]
fn right_sides_in_columns_are_solved_as_each_alone() {
    let scratch = with_grid();
    let column = |k: usize| (0..144).map(move |i| ((i * k) % 7) as f64 - 2.0);
    let text = |columns: &[usize]| {
        let numbers = columns.iter().flat_map(|&k| column(k)).map(|b| format!("{b}\n"));
        let head = format!("%%MatrixMarket matrix array real general\n144 {}\n", columns.len());
        head + &numbers.collect::<String>()
    };
    let mut alone = Vec::new();
    for columns in [&[1][..], &[3], &[1, 3]] {
        scratch.write("b.mtx", text(columns));
        solve(&scratch, "A.mtx --rhs b.mtx --force").succeeds();
        if columns.len() == 1 {
            alone.extend(solution(&scratch, "A"));
        }
    }

    assert_eq!(solution(&scratch, "A"), alone);
    let report = report(&scratch, "A");
    assert_eq!(report["right_side"], "b.mtx, 2 columns");
    assert_eq!(report["columns"].as_array().unwrap().len(), 2);
    assert_eq!(report["columns"][1]["converged"], true);
    let history = scratch.text("output/A/convergence.csv");
    assert_eq!(history.matches("\n0,1e0\n").count(), 2, "{history}");
}

#[test]
fn an_exported_newton_step_is_solved_to_the_same_step() {
    // One Newton step whose linear system is solved to rounding. Restart files hold the state before it and
    // after it.
    let scratch = Scratch::with_case(SMALLEST);
    let exact = "--set linear.precision=\"double\" --set newton.forcing_initial=1e-12 \
                 --set newton.forcing_min=1e-12 --set newton.forcing_max=1e-12";
    let steps = |count: usize, more: &str| {
        scratch.run_coarse(&format!("{exact} --set newton.max_iterations={count} {more}"));
        restart::read(&scratch.path("output/wing/restart.bin")).unwrap().state
    };
    let after = steps(2, "--export-jacobian 1");
    let system = ["jacobian-1.mtx", "jacobian-1-rhs.mtx"]
        .map(|name| scratch.bytes(&format!("output/wing/{name}")));
    let before = steps(1, "");
    for (name, bytes) in ["A.mtx", "b.mtx"].into_iter().zip(system) {
        scratch.write(name, bytes);
    }

    let options = "--preconditioner ilu0 --tolerance 1e-12 -q";
    solve(&scratch, &format!("A.mtx --rhs b.mtx {options}")).succeeds();

    let x = solution(&scratch, "A");
    let step: Vec<f64> = after.iter().zip(&before).map(|(after, before)| after - before).collect();
    assert_eq!(x.len(), step.len());
    // The step may have been shortened, but its direction is determined by the system.
    let length = dot(&x, &step) / dot(&x, &x);
    let rest: Vec<f64> = step.iter().zip(&x).map(|(step, x)| step - length * x).collect();
    assert!((length - 1.0).abs() < 1e-6, "{length}");
    assert!(dot(&rest, &rest).sqrt() <= 1e-6 * dot(&step, &step).sqrt(), "{:e}", dot(&rest, &rest));
}

#[test]
fn a_solve_that_stops_short_is_written_and_said() {
    let scratch = with_grid();
    solve(&scratch, "A.mtx").succeeds();

    let finished = solve(&scratch, "A.mtx --max-iterations 2");

    assert_eq!(finished.code, 1);
    insta::assert_snapshot!(finished.stderr, @r"
    error: the system is not solved: the limit of linear iterations was reached
    hint: allow more with --max-iterations, or use another --preconditioner or --solver. The residual of the x written is 4.98e-2 of b
    ");
    assert!(finished.stdout.starts_with("A: FAILED, not converged\n"), "{}", finished.stdout);
    // The good solution of the earlier run is removed.
    let files = ["convergence.csv", "convergence.svg", "report.json", "x.failed.mtx"];
    assert_eq!(scratch.names("output/A"), files);
    assert_eq!(report(&scratch, "A")["converged"], false);
}

#[test]
fn small_and_odd_systems_have_an_answer() {
    let scratch = Scratch::with(&[
        ("one.mtx", &format!("{GENERAL}1 1 1\n1 1 -4\n")),
        ("turned.mtx", &format!("{GENERAL}2 2 2\n1 2 2\n2 1 4\n")),
        ("zero.mtx", &format!("{GENERAL}2 1 0\n")),
        ("singular.mtx", &format!("{GENERAL}3 3 2\n1 1 1\n3 3 1\n")),
    ]);
    solve(&scratch, "one.mtx").succeeds();
    solve(&scratch, "turned.mtx --preconditioner none").succeeds();
    let turned = solution(&scratch, "turned");
    solve(&scratch, "turned.mtx --preconditioner none --rhs zero.mtx").succeeds();

    assert_eq!(solution(&scratch, "one"), [-0.25]);
    assert!((turned[0] - 0.25).abs() < 1e-8 && (turned[1] - 0.5).abs() < 1e-8, "{turned:?}");
    assert_eq!(solution(&scratch, "turned"), [0.0, 0.0]);
    for solver in ["cg", "bicgstab", "gmres"] {
        let method = format!("--preconditioner none --solver {solver}");
        solve(&scratch, &format!("singular.mtx {method}")).fails(1, "the matrix has empty rows");
    }
}

#[test]
fn what_cannot_be_solved_as_asked_is_refused_with_the_remedy() {
    let scratch = Scratch::with(&[
        ("wide.mtx", &format!("{GENERAL}2 3 1\n1 1 1\n")),
        ("uneven.mtx", &format!("{GENERAL}2 2 4\n1 1 4\n1 2 1\n2 1 -1\n2 2 3\n")),
        ("bad.mtx", &format!("{GENERAL}2 2 1\n1 1 nan\n")),
        ("long.mtx", &format!("{GENERAL}3 1 1\n1 1 1\n")),
    ]);
    let cases = [
        "wide.mtx",
        "bad.mtx",
        "none.mtx",
        "uneven.mtx --rhs long.mtx",
        "uneven.mtx --solver cg --preconditioner none",
        "uneven.mtx --preconditioner dic",
        "uneven.mtx --preconditioner ic0 --solver gmres",
    ];

    insta::assert_snapshot!(refusals(&scratch, 2, &cases), @r"

    error: wide.mtx: 2 rows and 3 columns, a square matrix was expected
    hint: give a matrix with as many columns as rows
    error: bad.mtx:3: `1 1 nan`: the value is not finite
    hint: write finite numbers such as 1.5e-3 or 1.5D-03
    error: none.mtx: cannot be read: No such file or directory (os error 2)
    hint: check the path and its permissions
    error: long.mtx: 3 numbers, the matrix has 2 rows
    hint: give a right side of this matrix, or leave --rhs out for one of ones
    error: CG needs a symmetric matrix: entry (1, 2) is 1e0, entry (2, 1) -1e0
    hint: use --solver bicgstab or gmres, and --preconditioner dilu or ilu0
    error: DIC needs a symmetric matrix: entry (1, 2) is 1e0, entry (2, 1) -1e0
    hint: use --solver bicgstab or gmres, and --preconditioner dilu or ilu0
    error: IC(0) needs a symmetric matrix: entry (1, 2) is 1e0, entry (2, 1) -1e0
    hint: use --solver bicgstab or gmres, and --preconditioner dilu or ilu0
    ");
    assert!(!scratch.path("output").exists());
}
/// The messages for these arguments, which are all refused with this exit code.
fn refusals(scratch: &Scratch, code: i32, cases: &[&str]) -> String {
    let said = cases.iter().map(|case| {
        let finished = solve(scratch, case);
        assert_eq!((finished.code, finished.stdout.as_str()), (code, ""), "{finished:?}");
        finished.stderr
    });
    said.collect()
}

#[test]
fn a_pivot_that_cannot_be_used_is_named_with_its_row() {
    let scratch = Scratch::with(&[
        ("absent.mtx", &format!("{GENERAL}3 3 4\n1 1 1\n2 1 1\n2 3 1\n3 3 1\n")),
        ("vanishing.mtx", &format!("{GENERAL}2 2 4\n1 1 1\n1 2 2\n2 1 2\n2 2 4\n")),
        ("negative.mtx", &format!("{SYMMETRIC}2 2 3\n1 1 1\n2 1 2\n2 2 1\n")),
        ("chain.mtx", &format!("{GENERAL}4 4 6\n1 1 1\n2 2 0\n3 3 1\n4 4 1\n1 4 1\n4 1 0.5\n")),
    ]);
    let cases = [
        "absent.mtx --preconditioner jacobi",
        "absent.mtx --preconditioner dilu",
        "vanishing.mtx --preconditioner ilu0",
        "negative.mtx --preconditioner ic0",
    ];

    insta::assert_snapshot!(refusals(&scratch, 1, &cases), @r"
    error: Jacobi met the pivot 0e0 in row 2
    hint: the row has a zero on its diagonal, which no shift changes: use --preconditioner dilu or ilu0 with the row behind those it is coupled with, which fill it, or none
    error: DILU met the pivot 0e0 in row 2
    hint: the row has a zero on its diagonal, which no shift changes: use --preconditioner dilu or ilu0 with the row behind those it is coupled with, which fill it, or none
    error: ILU(0) met the pivot 0e0 in row 2
    hint: strengthen the diagonal with --shift 0.01, or use another --preconditioner
    error: IC(0) met the pivot -3e0 in row 2
    hint: strengthen the diagonal with --shift 0.01, or use another --preconditioner
    ");
    // Rows have the numbers of the file.
    solve(&scratch, "chain.mtx --reorder rcm").fails(1, "error: DILU met the pivot 0e0 in row 2\n");
    solve(&scratch, "negative.mtx --preconditioner ic0 --shift 4 -q").succeeds();
    assert_eq!(report(&scratch, "negative")["method"]["shift"], 4.0);
}

#[test]
fn elimination_fills_diagonal_entries_that_are_not_in_the_file() {
    // A saddle point matrix [A Bᵀ; B 0], without and with explicit zeros on the diagonal.
    let saddle = "1 1 2.5\n1 2 -1\n2 1 -1\n2 2 2.5\n2 3 -1\n3 2 -1\n3 3 2.5\n\
                  4 1 1\n1 4 1\n4 2 -0.5\n2 4 -0.5\n5 3 1\n3 5 1\n";
    let scratch = Scratch::with(&[
        ("without.mtx", &format!("{GENERAL}5 5 13\n{saddle}")),
        ("zeros.mtx", &format!("{GENERAL}5 5 15\n{saddle}4 4 0\n5 5 0\n")),
    ]);
    for kind in ["dilu", "ilu0"] {
        for name in ["without.mtx", "zeros.mtx"] {
            solve(&scratch, &format!("{name} --preconditioner {kind}")).succeeds();
        }

        let [without, zeros] = ["without", "zeros"].map(|name| report(&scratch, name));
        let note = "2 of 5 rows have no diagonal entry: the factors have a zero there, which the \
                    elimination fills";
        assert!(without["notes"].as_array().unwrap().contains(&note.into()), "{without}");
        assert_eq!(without["matrix"]["missing_diagonals"], 2);
        assert_eq!(without["iterations"], zeros["iterations"], "{kind}");
        let x = |name: &str| scratch.bytes(&format!("output/{name}/x.mtx"));
        assert_eq!(x("without"), x("zeros"), "{kind}");
    }
}

/// The squares of numbers below 1.5e-162 underflow to zero, and those above 1.3e154 overflow.
#[test]
fn systems_of_any_scale_are_solved_alike() {
    let vector = |value: f64| {
        let header = "%%MatrixMarket matrix array real general\n144 1\n";
        [header, &format!("{value:e}\n").repeat(144)].concat()
    };
    let scaled = |by: &str| {
        laplacian(12).replace(" -1\n", &format!(" -1{by}\n")).replace(" 4\n", &format!(" 4{by}\n"))
    };
    let scratch = Scratch::with(&[
        ("A.mtx", &laplacian(12)),
        ("small.mtx", &scaled("e-300")),
        ("large.mtx", &scaled("e300")),
    ]);
    let methods = [["bicgstab", "dilu"], ["gmres", "none"], ["cg", "ic0"]];
    let cases = [
        ("A", 1e-165, 1e-165),
        ("A", 1e-308, 1e-308),
        ("A", 1e160, 1e160),
        ("A", 1e307, 1e307),
        ("small", 1e-300, 1.0),
        ("small", 1.0, 1e300),
        ("large", 1e300, 1.0),
        ("large", 1e3, 1e-297),
    ];
    for [solver, preconditioner] in methods {
        let solve = |name: &str, b: f64| {
            scratch.write("b.mtx", vector(b));
            let method = format!("--solver {solver} --preconditioner {preconditioner}");
            solve(&scratch, &format!("{name}.mtx --rhs b.mtx {method}")).succeeds();
            solution(&scratch, name)
        };
        let plain = solve("A", 1.0);
        for (name, b, times) in cases {
            let x = solve(name, b);

            let off = |(x, plain): (&f64, &f64)| (x / times - plain).abs() / plain;
            let worst = x.iter().zip(&plain).map(off).fold(0.0, f64::max);
            assert!(worst < 1e-6, "{solver}, {name}, {b:e}: {worst:e}");
        }
    }
    // The solution is 1e600, or 1e-600.
    for (name, b) in [("small.mtx", 1e300), ("large.mtx", 1e-300)] {
        scratch.write("b.mtx", vector(b));
        solve(&scratch, &format!("{name} --rhs b.mtx")).fails(1, "error: ");
    }
}

#[test]
fn arguments_that_contradict_each_other_are_refused() {
    let scratch = with_grid();
    for (options, reason) in [
        ("--seed 1 --rhs b.mtx", "cannot be used with"),
        ("--preconditioner jacobi --shift 1", "--shift is for preconditioners with"),
        ("--preconditioner none --schedule levels", "--schedule is for precond"),
        ("--devices 0", "--devices names GPUs, which --backend cpu does not use"),
        ("--tolerance 1", "a number between 0 and 1 was expected"),
        ("--shift -1", "a number not below 0 was expected"),
    ] {
        solve(&scratch, &format!("A.mtx {options}")).fails(2, reason);
    }
    // A folder that takes no files is found before the work.
    scratch.write("output", "in the way");
    solve(&scratch, "A.mtx").fails(2, "a folder was expected");
}

#[test]
fn gpus_that_are_not_there_are_an_error_of_the_device() {
    let scratch = with_grid();

    let run = |options: &str| scratch.run(&format!("solve A.mtx {options}"));
    let (two, none, auto) = (run("--devices 0,1"), run("--backend cuda"), run(""));

    assert_eq!([two.code, none.code, auto.code], [3, 3, 0], "{two:?} {none:?} {auto:?}");
    assert_eq!(two.stderr, none.stderr);
    run("--devices 1,0,1").fails(2, "--devices names device 1 twice");
    assert!(auto.stderr.starts_with("note: running on the CPU: "), "{auto:?}");
}
