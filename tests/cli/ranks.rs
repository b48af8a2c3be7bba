//! Processes started by a launcher: a batch that they share, and refusals, which are reported once.

use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use gridgen::formats::npy;
use serde_json::Value;
use support::jobs::free_port;
use support::linear::{apart, largest};
use support::stand_in::equip;

use super::movement::{REFERENCE, small};
use super::{COARSE, Finished, SMALLEST, Scratch, piped};

/// Variables that a launcher sets for rank `rank` of `size`; the ranks meet at a port of this host.
pub(super) type Launcher = fn(rank: usize, size: usize, port: u16) -> String;

fn torchrun(rank: usize, size: usize, port: u16) -> String {
    let place = format!("RANK={rank} WORLD_SIZE={size} LOCAL_RANK={rank}");
    format!("{place} MASTER_ADDR=127.0.0.1 MASTER_PORT={port}")
}

pub(super) fn open_mpi(rank: usize, size: usize, port: u16) -> String {
    let [place, local] = ["", "LOCAL_"]
        .map(|of| format!("OMPI_COMM_WORLD_{of}RANK={rank} OMPI_COMM_WORLD_{of}SIZE={size}"));
    format!("{place} {local} PMIX_NAMESPACE=prterun-here-{port}@1")
}

fn slurm(rank: usize, size: usize, port: u16) -> String {
    let place = format!("SLURM_PROCID={rank} SLURM_STEP_NUM_TASKS={size} SLURM_JOB_ID={port}");
    format!("{place} SLURM_STEP_NUM_NODES=1 SLURM_STEP_NODELIST=node[3-4]")
}

/// Sets variables that spaces separate.
fn set(command: &mut Command, variables: &str) {
    command.envs(variables.split(' ').map(|variable| variable.split_once('=').unwrap()));
}

/// Starts ranks in a folder with these arguments, and with additional settings for each.
pub(super) fn start(
    folder: &Scratch,
    launcher: Launcher,
    size: usize,
    arguments: &str,
    own: impl Fn(usize, &mut Command),
) -> Vec<Child> {
    let port = free_port();
    let rank = |rank| {
        let mut command = folder.command(arguments);
        set(&mut command, &launcher(rank, size, port));
        own(rank, &mut command);
        piped(&mut command)
    };
    (0..size).map(rank).collect()
}

pub(super) fn ended(ranks: Vec<Child>) -> Vec<Finished> {
    ranks.into_iter().map(|rank| Finished::from(rank.wait_with_output().unwrap())).collect()
}

/// A folder with these cases, named in their order.
fn cases(sets: &[(&str, &str)]) -> Scratch {
    let folder = Scratch::with(&[]);
    for (name, grid) in sets {
        folder.write(&format!("{name}.toml"), format!("{SMALLEST}\n[grid]\n{grid}\n"));
    }
    folder
}

const BATCH: &str = "run *.toml --backend cpu --json --set output.pictures=false";

#[test]
fn every_launcher_shares_out_a_batch_and_one_table_has_it_all() {
    for launcher in [torchrun as Launcher, open_mpi, slurm] {
        let small = "ni = 65\nnj = 33";
        let names = ["a", "b", "c", "d"];
        let mut sets = names.map(|name| (name, small)).to_vec();
        // A case that cannot be meshed fails alone.
        sets.push(("e", "ni = 65\nnj = 33\nfirst_cell = 9"));
        let folder = cases(&sets);

        let ranks = ended(start(&folder, launcher, 3, BATCH, |_, _| ()));

        let table: Value = serde_json::from_str(&ranks[0].stdout).unwrap();
        assert_eq!((&table["converged"], &table["failed"]), (&4.into(), &1.into()), "{table}");
        assert_eq!(table["cases"][4]["name"], "e");
        let message = table["cases"][4]["error"].as_str().unwrap();
        assert!(message.contains("first_cell"), "{message}");
        assert!(!table["cases"][4]["hint"].is_null(), "{table}");
        let code = table["exit_code"].as_i64().unwrap() as i32;
        assert!(ranks.iter().all(|rank| rank.code == code && code == 2), "{ranks:?}");
        let [first, others @ ..] = &ranks[..] else { unreachable!() };
        assert!(first.stderr.starts_with("note: 3 ranks, started by "), "{}", first.stderr);
        assert!(others.iter().all(|rank| rank.stdout.is_empty() && rank.stderr.is_empty()));
        // Each mesh must be the same as that of a single process.
        let alone = "run a.toml -o alone --backend cpu --set output.pictures=false";
        folder.run(alone).succeeds();
        for name in names {
            folder.same([&format!("output/{name}"), "alone/a"], &["mesh.vts"]);
        }
    }
}

#[test]
fn a_rank_that_is_killed_loses_its_case_alone() {
    let large = "ni = 385\nnj = 193";
    let small = "ni = 65\nnj = 33";
    let folder = cases(&[("a", large), ("b", large), ("c", small), ("d", small), ("e", small)]);
    let arguments = format!("{BATCH} --jobs 1 --threads 1");
    let mut ranks = start(&folder, open_mpi, 2, &arguments, |_, _| ());

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
    let say = |arguments: &str| {
        let ranks = ended(start(&folder, open_mpi, 3, arguments, |_, _| ()));
        let [first, others @ ..] = &ranks[..] else { unreachable!() };
        for Finished { code, stdout, stderr } in others {
            assert_eq!((&**stdout, &**stderr, *code), ("", "", first.code));
        }
        (first.stderr.clone(), first.code)
    };
    let note = "note: 3 ranks, started by Open MPI\n";
    let no_gpus = "error: 3 ranks share one grid, which needs a GPU for each: the CPU computes within one \
                   process\n\
                   hint: start one process, use --ranks threads, or give the ranks many cases with \
                   gridgen run\n";
    let no_file = "error: win.toml: there is no such file\nhint: did you mean wing.toml in the same folder?\n";
    // The automatic choice is the CPU here.
    for (arguments, message, code) in [
        ("wing.toml --backend cpu", no_gpus, 3),
        ("wing.toml", no_gpus, 3),
        ("win.toml", no_file, 2),
    ] {
        assert_eq!(say(arguments), (format!("{note}{message}"), code), "{arguments}");
    }
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

    let ranks = ended(start(&folder, slurm, 2, "run wing.toml --backend cpu", other));

    let [first, second] = &ranks[..] else { unreachable!() };
    first.fails(3, "error: rank 1 has cases of digest ");
    first.fails(3, "hint: start all ranks with the same program, case and options");
    assert_eq!((second.code, second.stderr.as_str()), (3, ""));
}

#[test]
fn ranks_that_are_missing_are_named() {
    let folder = Scratch::with_case(SMALLEST);
    // Two ranks of another job.
    let ranks = start(&folder, torchrun, 3, "wing.toml --wait 1", |rank, command| {
        if rank > 0 {
            command.env("WORLD_SIZE", "4");
        }
    });
    let ranks = ended(ranks);

    ranks[0].fails(3, "ranks 1, 2 of 3 did not come within 1 s");
    ranks[2].fails(3, "rank 2 did not find rank 0 at 127.0.0.1:");
    ranks[1].fails(3, "--wait SECONDS");
}

#[test]
fn a_process_is_on_its_own_where_it_is_told_to_or_the_launcher_has_one_rank() {
    let folder = Scratch::with_case(SMALLEST);
    let alone = format!("wing.toml {COARSE}");
    for (size, more) in [(4, "--ranks threads"), (1, "")] {
        let mut command = folder.command(&format!("{alone} {more} --force"));

        set(&mut command, &slurm(0, size, 7));
        Finished::from(&mut command).succeeds();
    }
    let message = "error: no launcher that is known has started this process\n\
                   hint: start the ranks by srun, mpirun or torchrun\n";
    let refused = folder.run(&format!("{alone} --ranks launcher"));
    assert_eq!((refused.code, refused.stderr.as_str()), (3, message));

    let refused = folder.run(&format!("{alone} --rendezvous nowhere"));
    refused.fails(2, "\"nowhere\" is no rendezvous: expected host:port or file:PATH");
}

/// Two processes on one GPU, replaced by stand-in libraries: each has a band, and the first writes.
#[test]
fn a_grid_is_moved_by_the_processes_of_a_launcher() {
    let scratch = small();
    let weights: Vec<f64> = (0..2 * 13 * 33).map(|k| f64::from(k).sin()).collect();
    npy::write(&scratch.path("dJdX.npy"), &[13, 33, 2], &weights).unwrap();
    let adjoint = format!("move {REFERENCE} --adjoint dJdX.npy -o");
    scratch.run(&format!("{adjoint} cpu.npy --backend cpu")).succeeds();
    let arguments = format!("{adjoint} ranks.npy --devices 0");

    let ranks = ended(start(&scratch, torchrun, 2, &arguments, |_, command| {
        equip(command, &scratch.path("cache"));
    }));

    let [first, second] = &ranks[..] else { unreachable!() };
    assert!(first.code == 0 && second.code == 0, "{ranks:?}");
    assert!(first.stdout.contains("written:\n  ranks.npy\n"), "{}", first.stdout);
    assert!(second.stdout.is_empty() && second.stderr.is_empty(), "{second:?}");
    let [found, expected] =
        ["ranks.npy", "cpu.npy"].map(|name| npy::read(&scratch.path(name), &[33, 2]).unwrap());
    let (off, most) = (apart(&found, &expected), largest(&expected));
    assert!(off < 1e-8 * most, "{off:e} of {most:e}");
}
