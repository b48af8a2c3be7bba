//! Processes started by a launcher: a batch that they share, and refusals, which are reported once.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use std::{fs, net};

use gridgen::formats::npy;
use serde_json::Value;
use support::stand_in::equip;

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch, gridgen};

/// Variables that a launcher sets for rank `rank` of `size`; the ranks meet at a port of this host.
pub(super) type Launcher = fn(rank: usize, size: usize, port: u16) -> Vec<(&'static str, String)>;

fn torchrun(rank: usize, size: usize, port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("RANK", rank.to_string()),
        ("WORLD_SIZE", size.to_string()),
        ("LOCAL_RANK", rank.to_string()),
        ("MASTER_ADDR", "127.0.0.1".to_owned()),
        ("MASTER_PORT", port.to_string()),
    ]
}

pub(super) fn open_mpi(rank: usize, size: usize, port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("OMPI_COMM_WORLD_RANK", rank.to_string()),
        ("OMPI_COMM_WORLD_SIZE", size.to_string()),
        ("OMPI_COMM_WORLD_LOCAL_RANK", rank.to_string()),
        ("OMPI_COMM_WORLD_LOCAL_SIZE", size.to_string()),
        ("PMIX_NAMESPACE", format!("prterun-here-{port}@1")),
    ]
}

fn slurm(rank: usize, size: usize, port: u16) -> Vec<(&'static str, String)> {
    vec![
        ("SLURM_PROCID", rank.to_string()),
        ("SLURM_STEP_NUM_TASKS", size.to_string()),
        ("SLURM_STEP_NUM_NODES", "1".to_owned()),
        ("SLURM_STEP_NODELIST", "node[3-4]".to_owned()),
        ("SLURM_JOB_ID", port.to_string()),
    ]
}

fn free_port() -> u16 {
    net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Starts ranks in a folder with these arguments, and with additional settings for each.
pub(super) fn start(
    folder: &Path,
    launcher: Launcher,
    size: usize,
    arguments: &[&str],
    own: impl Fn(usize, &mut Command),
) -> Vec<Child> {
    let port = free_port();
    let rank = |rank| {
        let mut command = gridgen(folder);
        command.args(arguments).envs(launcher(rank, size, port));
        own(rank, &mut command);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    (0..size).map(rank).collect()
}

pub(super) fn ended(ranks: Vec<Child>) -> Vec<Finished> {
    ranks.into_iter().map(|rank| Finished::from(rank.wait_with_output().unwrap())).collect()
}

/// A folder with these cases, named in their order.
fn cases(sets: &[(&str, &str)]) -> Scratch {
    let texts: Vec<(String, String)> = sets
        .iter()
        .map(|(name, grid)| (format!("{name}.toml"), format!("{SMALLEST}\n[grid]\n{grid}\n")))
        .collect();
    let files: Vec<(&str, &[u8])> =
        texts.iter().map(|(name, text)| (name.as_str(), text.as_bytes())).collect();
    Scratch::with(&files)
}

const BATCH: [&str; 5] = ["run", "*.toml", "--backend", "cpu", "--json"];

#[test]
fn every_launcher_shares_out_a_batch_and_one_table_has_it_all() {
    for launcher in [torchrun as Launcher, open_mpi, slurm] {
        let small = "ni = 65\nnj = 33";
        let names = ["a", "b", "c", "d", "e"];
        let mut sets = names.map(|name| (name, small)).to_vec();
        // A case that cannot be meshed fails alone.
        sets.push(("f", "ni = 65\nnj = 33\nfirst_cell = 9"));
        let folder = cases(&sets);

        let arguments = [&BATCH[..], &NO_PICTURES].concat();
        let ranks = ended(start(folder.0.path(), launcher, 3, &arguments, |_, _| ()));

        let table: Value = serde_json::from_str(&ranks[0].stdout).unwrap();
        assert_eq!((&table["converged"], &table["failed"]), (&5.into(), &1.into()), "{table}");
        assert_eq!(table["cases"][5]["name"], "f");
        let message = table["cases"][5]["error"].as_str().unwrap();
        assert!(message.contains("first_cell"), "{message}");
        assert!(!table["cases"][5]["hint"].is_null(), "{table}");
        let code = table["exit_code"].as_i64().unwrap() as i32;
        assert!(ranks.iter().all(|rank| rank.code == code && code == 2), "{ranks:?}");
        let [first, others @ ..] = &ranks[..] else { unreachable!() };
        assert!(first.stderr.starts_with("note: 3 ranks, started by "), "{}", first.stderr);
        assert!(others.iter().all(|rank| rank.stdout.is_empty() && rank.stderr.is_empty()));
        // Each mesh must be the same as that of a single process.
        let alone = folder.run(
            &[&["run", "a.toml", "-o", "alone", "--backend", "cpu"], &NO_PICTURES[..]].concat(),
        );
        alone.succeeds();
        for name in names {
            let mesh = folder.bytes(&format!("output/{name}/mesh.vts"));
            assert!(mesh == folder.bytes("alone/a/mesh.vts"), "{name}");
        }
    }
}

#[test]
fn a_rank_that_is_killed_loses_its_case_alone() {
    let large = "ni = 513\nnj = 257";
    let small = "ni = 65\nnj = 33";
    let folder = cases(&[("a", large), ("b", large), ("c", small), ("d", small), ("e", small)]);
    let arguments = [&BATCH[..], &NO_PICTURES, &["--jobs", "1", "--threads", "1"]].concat();
    let mut ranks = start(folder.0.path(), open_mpi, 2, &arguments, |_, _| ());

    let under_way = |name: &str| folder.path(&format!("output/{name}/.gridgen")).exists();
    let started = Instant::now();
    while !(under_way("a") && under_way("b")) {
        assert!(started.elapsed() < Duration::from_mins(1));
        sleep(Duration::from_millis(2));
    }
    ranks[1].kill().unwrap();
    ranks.pop().unwrap().wait().unwrap();
    let first = ended(ranks).remove(0);

    let table: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!((&table["converged"], &table["failed"]), (&4.into(), &1.into()), "{table}");
    let cases = table["cases"].as_array().unwrap();
    let lost = cases.iter().find(|case| case["status"] == "failed").unwrap();
    assert!(["a", "b"].contains(&lost["name"].as_str().unwrap()), "{lost}");
    let message = "rank 1 ended and said nothing: it was killed, or its host was lost";
    assert_eq!((&lost["error"], first.code), (&message.into(), 3), "{first:?}");
}

#[test]
fn what_all_ranks_refuse_is_said_once() {
    let folder = Scratch::with_case(SMALLEST);
    let say = |arguments: &[&str]| {
        let ranks = ended(start(folder.0.path(), open_mpi, 3, arguments, |_, _| ()));
        let [first, others @ ..] = &ranks[..] else { unreachable!() };
        for rank in others {
            assert_eq!(
                (rank.stdout.as_str(), rank.stderr.as_str(), rank.code),
                ("", "", first.code)
            );
        }
        (first.stderr.clone(), first.code)
    };
    let note = "note: 3 ranks, started by Open MPI\n";

    let (said, code) = say(&["wing.toml", "--backend", "cpu"]);
    let message = "error: 3 ranks share one grid, which needs a GPU for each: the CPU computes within one \
                   process\n\
                   hint: start one process, use --ranks threads, or give the ranks many cases with \
                   gridgen run\n";
    assert_eq!((said, code), (format!("{note}{message}"), 3));
    // The automatic choice has the same result here.
    assert_eq!(say(&["wing.toml"]), (format!("{note}{message}"), 3));
    let (said, code) = say(&["win.toml"]);
    let message = "error: win.toml: no such case file\nhint: check the path of the case file\n";
    assert_eq!((said, code), (format!("{note}{message}"), 2));
    assert!(!folder.path("output").exists());
}

#[test]
fn ranks_with_other_cases_are_refused() {
    let folder = Scratch::with_case(SMALLEST);
    let other = |rank, command: &mut Command| {
        if rank == 1 {
            command.args(["--set", "grid.ni=129"]);
        }
    };

    let ranks =
        ended(start(folder.0.path(), slurm, 2, &["run", "wing.toml", "--backend", "cpu"], other));

    let [first, second] = &ranks[..] else { unreachable!() };
    assert!(first.stderr.contains("error: rank 1 has cases of digest "), "{}", first.stderr);
    assert!(first.stderr.contains("hint: start all ranks with the same program, case and options"));
    assert_eq!((first.code, second.code, second.stderr.as_str()), (3, 3, ""));
}

#[test]
fn ranks_that_are_missing_are_named() {
    let folder = Scratch::with_case(SMALLEST);
    let arguments = ["wing.toml", "--wait", "1"];

    // Two ranks of another job.
    let ranks = ended(start(folder.0.path(), torchrun, 3, &arguments, |rank, command| {
        if rank > 0 {
            command.env("WORLD_SIZE", "4");
        }
    }));

    assert_eq!(ranks[0].code, 3);
    assert!(ranks[0].stderr.contains("ranks 1, 2 of 3 did not come within 1 s"), "{ranks:?}");
    assert!(ranks[2].stderr.contains("rank 2 did not find rank 0 at 127.0.0.1:"), "{ranks:?}");
    assert!(ranks[1].stderr.contains("--wait SECONDS"), "{ranks:?}");
}

#[test]
fn a_process_is_on_its_own_where_it_is_told_to_or_the_launcher_has_one_rank() {
    let folder = Scratch::with_case(SMALLEST);
    let alone = [&["wing.toml", "--backend", "cpu"], &COARSE[..], &NO_PICTURES].concat();
    for (size, more) in [(4, ["--ranks", "threads"].as_slice()), (1, &[])] {
        let mut command = folder.gridgen();
        command.args(&alone).args(more).envs(slurm(0, size, 7)).arg("--force");

        Finished::from(command.output().unwrap()).succeeds();
    }
    let message = "error: no launcher that is known has started this process\n\
                   hint: start the ranks by srun, mpirun or torchrun\n";
    let refused = folder.run(&[&alone[..], &["--ranks", "launcher"]].concat());
    assert_eq!((refused.code, refused.stderr.as_str()), (3, message));

    let refused = folder.run(&[&alone[..], &["--rendezvous", "nowhere"]].concat());
    assert!(
        refused.stderr.contains("\"nowhere\" is no rendezvous: expected host:port or file:PATH")
    );
    assert_eq!(refused.code, 2);
}

/// The two processes are not started by a launcher.
#[test]
fn a_second_process_in_a_folder_is_told_how_processes_share_a_grid() {
    let folder = cases(&[("a", "ni = 513\nnj = 257")]);
    let arguments = [&["a.toml", "--backend", "cpu"], &NO_PICTURES[..]].concat();
    let mut first = folder.gridgen().args(&arguments).spawn().unwrap();
    while !folder.path("output/a/.gridgen").exists() {
        sleep(Duration::from_millis(2));
    }

    let second = folder.run(&arguments);

    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(second.code, 2);
    assert!(second.stderr.contains("another run of gridgen does so"), "{second:?}");
    assert!(second.stderr.contains("srun, mpirun or torchrun"), "{second:?}");
    assert!(fs::exists(folder.path("a.toml")).unwrap());
}

/// Two processes on one GPU, replaced by stand-in libraries: each has a band, and the first writes.
#[test]
fn a_grid_is_moved_by_the_processes_of_a_launcher() {
    let scratch = Scratch::with_case(
        "geometry.naca = \"2412\"\nnewton.tolerance = 1e-12\noutput.reference = true\n\
         [grid]\nni = 33\nnj = 13\nfirst_cell = 1e-2\nfar_field = 8.0\n",
    );
    scratch.run(&["wing.toml", "--backend", "cpu", "-q"]).succeeds();
    let reference = "output/wing/reference.grd";
    let weights: Vec<f64> = (0..2 * 13 * 33).map(|k| f64::from(k).sin()).collect();
    npy::write(&scratch.path("dJdX.npy"), &[13, 33, 2], &weights).unwrap();
    let adjoint = ["move", reference, "--adjoint", "dJdX.npy", "-o"];
    scratch.run(&[&adjoint[..], &["cpu.npy", "--backend", "cpu"]].concat()).succeeds();
    let arguments = [&adjoint[..], &["ranks.npy", "--devices", "0"]].concat();

    let ranks = ended(start(scratch.0.path(), torchrun, 2, &arguments, |_, command| {
        equip(command, &scratch.path("cache"));
    }));

    let [first, second] = &ranks[..] else { unreachable!() };
    assert!(first.code == 0 && second.code == 0, "{ranks:?}");
    assert!(first.stdout.contains("written:\n  ranks.npy\n"), "{}", first.stdout);
    assert!(second.stdout.is_empty() && second.stderr.is_empty(), "{second:?}");
    let [found, expected] =
        ["ranks.npy", "cpu.npy"].map(|name| npy::read(&scratch.path(name), &[33, 2]).unwrap());
    let off = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    let most = expected.iter().fold(0.0, |most: f64, value| most.max(value.abs()));
    assert!(off < 1e-8 * most, "{off:e} of {most:e}");
}
