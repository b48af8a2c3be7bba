//! Runs on GPUs, which are replaced by stand-in libraries.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Finished, Scratch, await_line, piped, signal};

/// A case whose grid kernels on fibers solve in a moment.
fn small(section: &str) -> String {
    let grid = "topology = \"O\"\nni = 33\nnj = 13\nfirst_cell = 1e-2";
    format!(
        "[geometry]\nnaca = \"{section}\"\n[grid]\n{grid}\n[quality]\nretry = false\nmax_growth = 5\n[output]\n\
         pictures = false\nreport = false\n"
    )
}

fn run(scratch: &Scratch, arguments: &str) -> Finished {
    Finished::from(&mut scratch.equipped(arguments))
}

/// The device named in the report of a folder.
fn device(scratch: &Scratch, folder: &str) -> String {
    let report = scratch.json(&format!("{folder}/report.json"));
    report["backend"].as_str().unwrap().to_owned()
}

/// A folder with small cases, named `s0.toml` and so on.
fn sections(many: usize) -> Scratch {
    let scratch = Scratch::with(&[]);
    for k in 0..many {
        let case = small(&(2410 + k).to_string());
        scratch.write(&format!("s{k}.toml"), case);
    }
    scratch
}

/// Waits for the end of a program; kills it when it takes too long.
fn ended(mut child: Child, limit: Duration) -> Finished {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() > limit {
            child.kill().unwrap();
        }
        thread::sleep(Duration::from_millis(10));
    }
    Finished::from(child.wait_with_output().unwrap())
}

#[test]
fn what_is_faster_is_taken_and_said_where_that_is_left_open() {
    let scratch = Scratch::with_case(small("2412"));
    for (arguments, taken, said) in [
        (
            "",
            "cpu",
            "note: running on the CPU, which is faster below 205000 points: --backend cuda takes a GPU\n",
        ),
        ("--backend cuda", "cuda (stand-in 0)", ""),
        ("--devices 1", "cuda (stand-in 1)", ""),
        ("--devices 1,0", "cuda (1 × stand-in 1, 1 × stand-in 0)", ""),
        ("--backend cpu", "cpu", ""),
    ] {
        let finished = run(&scratch, &format!("wing.toml {arguments}"));

        assert_eq!((finished.code, finished.stderr.as_str()), (0, said), "{arguments}");
        assert_eq!(device(&scratch, "output/wing"), taken, "{arguments}");
    }
    run(&scratch, "run wing.toml --force").succeeds();
    assert_eq!(device(&scratch, "output/wing"), "cpu");
}

/// Kernels that wait for another GPU would block those of other cases behind them, so each case has one GPU.
#[test]
fn a_batch_shares_whole_cases_out_to_the_gpus() {
    let scratch = sections(3);
    for jobs in ["1", "4"] {
        let output = format!("jobs-{jobs}");
        let arguments = format!("--backend cuda --devices 0,1 --jobs {jobs} -o {output}");
        let mut command = scratch.equipped(&format!("run *.toml {arguments}"));

        let table = ended(piped(&mut command), Duration::from_mins(1)).succeeds();

        assert!(table.ends_with("3 cases: 3 converged\n"), "{table}");
        let mut devices: Vec<String> =
            (0..3).map(|k| device(&scratch, &format!("{output}/s{k}"))).collect();
        devices.sort();
        devices.dedup();
        assert_eq!(devices, ["cuda (stand-in 0)", "cuda (stand-in 1)"], "--jobs {jobs}");
    }
}

#[test]
fn a_case_of_a_batch_that_fits_no_gpu_has_all_of_them_to_itself() {
    let scratch = sections(3);
    let larger = small("2412").replace("nj = 13", "nj = 17").replace("1e-2", "1e-3");
    scratch.write("s2.toml", larger);
    let mut command = scratch.equipped("run *.toml --backend cuda --devices 0,1 --jobs 2");
    // Between 262,500 and 262,600 KiB each case fits on one GPU, except the last.
    command.env("STAND_IN_MEMORY", "262550");

    let table = ended(piped(&mut command), Duration::from_mins(1)).succeeds();

    assert!(table.ends_with("3 cases: 3 converged\n"), "{table}");
    let [first, second, last] = [0, 1, 2].map(|k| device(&scratch, &format!("output/s{k}")));
    assert_ne!(first, second);
    assert_eq!(last, "cuda (1 × stand-in 0, 1 × stand-in 1)");
}

#[test]
fn an_interrupted_run_on_two_gpus_keeps_its_state_and_goes_on() {
    let scratch = Scratch::with_case(small("2412"));
    let arguments = "wing.toml --backend cuda --devices 0,1 -v";
    let mut child = piped(&mut scratch.equipped(arguments));
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    await_line(&mut stderr, "newton   1");

    signal(Signal::INT, &child);
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let stopped = ended(child, Duration::from_secs(20));

    assert_eq!(stopped.code, 130, "{said}");
    assert!(said.ends_with("hint: go on with --restart output/wing/restart.bin\n"), "{said}");
    assert_eq!(scratch.names("output/wing"), ["restart.bin"]);
    let done = run(&scratch, &format!("{arguments} --restart output/wing/restart.bin"));
    assert!(!done.stderr.contains("newton   1"), "{done:?}");
    done.succeeds();
}

/// Sends a signal twice to a program that hangs.
fn stopped_at_the_second(name: Signal, child: Child) -> Finished {
    // Waits until the program has called the driver.
    thread::sleep(Duration::from_millis(500));
    signal(name, &child);
    thread::sleep(Duration::from_millis(200));
    signal(name, &child);
    ended(child, Duration::from_secs(10))
}

/// The driver hangs, both now and at the end of its process.
#[test]
fn the_second_signal_ends_the_program_whatever_hangs() {
    let scratch = Scratch::with_case(small("2412"));
    let all = ["", "run "]
        .into_iter()
        .flat_map(|run| [Signal::INT, Signal::TERM].map(|name| (run, name)));
    support::jobs::side_by_side(all, |(run, name)| {
        let mut command = scratch.equipped(&format!("{run}wing.toml --backend cuda"));
        let child = piped(command.env("STAND_IN_STUCK", "init, exit"));
        let stopped = stopped_at_the_second(name, child);
        assert_eq!(stopped.code, 130, "{run}{name:?}: {stopped:?}");
        let note = "note: stopping after this Newton step; once more ends at once\n";
        assert_eq!(stopped.stderr, note, "{run}{name:?}");
    });
}

/// The output of the run goes to a pipe that nobody reads.
#[test]
fn the_second_signal_ends_a_program_that_cannot_say_anything() {
    let scratch = Scratch::with_case(small("2412"));
    let (reader, mut writer) = std::io::pipe().unwrap();
    let mut command = scratch.equipped("wing.toml --backend cuda");
    command.env("STAND_IN_STUCK", "init, exit").stderr(writer.try_clone().unwrap());
    // This is the capacity of a pipe in Linux.
    writer.write_all(&vec![0; 65536]).unwrap();
    let child = command.stdout(Stdio::piped()).spawn().unwrap();

    assert_eq!(stopped_at_the_second(Signal::TERM, child).code, 130);
    drop(reader);
}

/// The files were damaged by an interrupted write or a full disk, and the driver cannot load them.
#[test]
fn damaged_kernels_of_the_cache_are_compiled_anew() {
    let scratch = Scratch::with_case(small("2412"));
    let on_gpu = "wing.toml --backend cuda";
    let kept = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = std::fs::read_dir(scratch.path("cache/gridgen")).unwrap();
        files
            .map(|file| file.unwrap().path())
            .map(|at| (at.clone(), std::fs::read(at).unwrap()))
            .collect()
    };
    run(&scratch, on_gpu).succeeds();
    let (whole, mesh) = (kept(), scratch.bytes("output/wing/mesh.vts"));
    assert!(whole.len() > 1);

    // Every length is tried in tests/kernels/kernel_cache.rs.
    for (path, bytes) in &whole {
        std::fs::write(path, &bytes[..bytes.len() - 100]).unwrap();
    }
    run(&scratch, on_gpu).succeeds();

    assert!(kept() == whole && scratch.bytes("output/wing/mesh.vts") == mesh);
}
