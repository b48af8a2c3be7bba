//! Runs on GPUs, which are replaced by stand-in libraries.

use std::collections::BTreeMap;
use std::io::{BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{Finished, Scratch, await_line, piped, signal};

/// A grid that kernels on fibers solve in a moment: the text after the section, and a case.
const SMALL: &str = "[grid]\nnj = 13\nfirst_cell = 1e-2\n";
const REST: &str = "topology = \"O\"\nni = 33\n[quality]\nretry = false\nmax_growth = 5\n[output]\npictures = false\nreport = false\n";

fn small(section: &str) -> String {
    format!("[geometry]\nnaca = \"{section}\"\n{SMALL}{REST}")
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
fn a_run_takes_the_gpus_that_are_named() {
    let scratch = Scratch::with_case(small("2412"));
    for (devices, name) in
        [("1", "cuda (stand-in 1)"), ("1,0", "cuda (1 × stand-in 1, 1 × stand-in 0)")]
    {
        let on = format!("wing.toml --backend cuda --devices {devices}");
        run(&scratch, &on).succeeds();

        assert_eq!(device(&scratch, "output/wing"), name);
    }
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
    let larger =
        ["[geometry]\nnaca = \"2412\"\n[grid]\nnj = 17\nfirst_cell = 1e-3\n", REST].concat();
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

/// The driver hangs, both now and at the end of its process.
#[test]
fn the_second_signal_ends_the_program_whatever_hangs() {
    let scratch = Scratch::with_case(small("2412"));
    for arguments in ["wing.toml --backend cuda", "run wing.toml --backend cuda"] {
        for name in [Signal::INT, Signal::TERM] {
            let mut command = scratch.equipped(arguments);
            let child = piped(command.env("STAND_IN_STUCK", "init, exit"));
            // Waits until the program has called the driver.
            thread::sleep(Duration::from_millis(500));

            signal(name, &child);
            thread::sleep(Duration::from_millis(200));
            signal(name, &child);

            let stopped = ended(child, Duration::from_secs(10));
            assert_eq!(stopped.code, 130, "{arguments}: {stopped:?}");
            let note = "note: stopping after this Newton step; once more ends at once\n";
            assert_eq!(stopped.stderr, note, "{arguments}");
        }
    }
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
    thread::sleep(Duration::from_millis(500));

    signal(Signal::TERM, &child);
    thread::sleep(Duration::from_millis(200));
    signal(Signal::TERM, &child);

    assert_eq!(ended(child, Duration::from_secs(10)).code, 130);
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

    for length in [0, 1, 100] {
        for (path, bytes) in &whole {
            std::fs::write(path, &bytes[..length.min(bytes.len() - 1)]).unwrap();
        }

        run(&scratch, on_gpu).succeeds();

        assert!(kept() == whole, "cut to {length}");
        assert!(scratch.bytes("output/wing/mesh.vts") == mesh, "cut to {length}");
    }
}
