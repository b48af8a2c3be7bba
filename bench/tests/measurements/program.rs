//! Tests of the program through its command line.

use super::{bench, ran};

#[test]
fn wrong_use_exits_with_2() {
    for arguments in [
        &["everything"][..],
        &["kernels", "--sizes", "257"],
        &["newton", "--weak", "257x129"],
        &["solvers", "--scale", "0"],
        &["scaling", "--devices", "0,0"],
    ] {
        let (code, stdout, stderr) = ran(bench(arguments));

        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("error: "), "{arguments:?}: {stderr}");
    }
}

#[test]
#[cfg(feature = "cuda")]
fn scaling_without_a_gpu_is_an_error() {
    for subject in [&["scaling"][..], &["solvers", "--tables", "scaling"]] {
        let (code, stdout, stderr) = ran(bench(&[subject, &["--devices", "0,1"]].concat()));

        assert_eq!((code, stdout.as_str()), (Some(3), ""), "{subject:?}");
        assert!(stderr.starts_with("error: "), "{stderr}");
    }
}

#[test]
fn kernels_of_the_cpu_are_printed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = bench(&["kernels", "--backend", "cpu", "--sizes", "33x17", "--output"]);
    command.arg(folder.path());

    let (code, stdout, stderr) = ran(command);

    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for part in ["33 × 17 points, single-precision", "ELL product", "V(1,1) cycle"] {
        assert!(stdout.contains(part), "{part} is not in\n{stdout}");
    }
    for table in ["table-1.csv", "table-2.csv"] {
        assert!(folder.path().join(table).is_file());
    }
}

#[test]
fn whole_runs_and_files_are_measured() {
    for (arguments, parts) in [
        (
            &["runs", "--sizes", "65x33", "--backend", "cpu"][..],
            &["| 65 × 33 | initial grid |", "| 65 × 33 | total |"][..],
        ),
        (&["writing", "--side", "33"], &["1089 points", "| .vts, zlib |"]),
        (&["matrix-market", "--rows", "1000"], &["13000 entries", "lines in any order"]),
    ] {
        let (code, stdout, stderr) = ran(bench(arguments));

        assert_eq!((code, stderr.as_str()), (Some(0), ""), "{arguments:?}");
        for part in parts {
            assert!(stdout.contains(part), "{part} is not in\n{stdout}");
        }
    }
}

#[test]
fn newton_solves_of_the_cpu_are_printed_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let mut command = bench(&["newton", "--backend", "cpu", "--sizes", "33x17", "--output"]);
    command.arg(folder.path());

    let (code, stdout, stderr) = ran(command);

    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    assert!(stdout.contains("| 33 × 17 | 930 | Multigrid |"), "{stdout}");
    assert!(folder.path().join("table-1.csv").is_file());
    let picture = std::fs::read_to_string(folder.path().join("scaling.svg")).unwrap();
    for part in ["ms a Newton step", "ms a linear iteration", "Multigrid", "Liu, Zhong, Chen 2011"]
    {
        assert!(picture.contains(part), "{part} is not in the picture");
    }
}
