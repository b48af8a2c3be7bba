//! Processes started by a launcher, each with a GPU, which is replaced by stand-in libraries.

use std::fs;
use std::io::{BufReader, Read};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::ranks::{ended, open_mpi, start};
use super::{Finished, Scratch, await_line};
use support::stand_in::equip;

/// A grid that kernels on fibers solve in a moment, wide enough for two bands.
const CASE: &str = "[geometry]\nnaca = \"2412\"\n[grid]\ntopology = \"O\"\nni = 33\nnj = 13\nfirst_cell = 1e-2\n\
                    [quality]\nretry = false\nmax_growth = 5\n\
                    [output]\nformats = [\"vts\", \"cgns\"]\npictures = false\nreport = false\n";

/// Adds the libraries, and as many GPUs as ranks.
fn equipped(scratch: &Scratch, gpus: usize) -> impl Fn(usize, &mut Command) + use<> {
    let cache = scratch.path("cache");
    move |_, command| {
        equip(command, &cache);
        command.env("STAND_IN_GPUS", gpus.to_string());
    }
}

/// The meshes of a run in a folder, and the devices named in its report.
fn results(scratch: &Scratch, folder: &str) -> ([Vec<u8>; 2], String) {
    let file = |name: &str| scratch.bytes(&format!("{folder}/wing/{name}"));
    let report: serde_json::Value = serde_json::from_slice(&file("report.json")).unwrap();
    let backend = report["backend"].as_str().unwrap().to_owned();
    (["mesh.vts", "mesh.cgns"].map(file), backend)
}

/// The meshes of threads of one process on these GPUs.
fn threads(scratch: &Scratch, devices: &str, options: &str) -> [Vec<u8>; 2] {
    let run = format!("wing.toml -o threads --ranks threads --devices {devices} {options}");
    let mut command = scratch.command(&run);
    equipped(scratch, 4)(0, &mut command);
    Finished::from(&mut command).succeeds();
    results(scratch, "threads").0
}

#[test]
fn processes_of_one_host_access_each_others_gpus() {
    let scratch = Scratch::with_case(CASE);
    // Four bands need a wider grid.
    let sharp = "--set grid.ni=65 --set grid.topology=C --set grid.wake=16 --set geometry.trailing_edge=sharp";
    for (size, devices, sets) in [(2, "0,1", ""), (4, "0,1,2,3", sharp)] {
        let run = format!("wing.toml -o ranks {sets}");
        let ranks = ended(start(&scratch, open_mpi, size, &run, equipped(&scratch, size)));

        let note = format!("note: {size} ranks, started by Open MPI\n");
        assert_eq!((ranks[0].code, &ranks[0].stderr), (0, &note), "{ranks:?}");
        assert!(ranks.iter().all(|rank| rank.code == 0), "{ranks:?}");
        let (meshes, backend) = results(&scratch, "ranks");
        assert!(backend.starts_with("cuda (1 × stand-in 0, 1 × stand-in 1"), "{backend}");
        assert!(meshes == threads(&scratch, devices, sets), "{size} processes");
    }
}

/// Two elements, each wide enough for two bands.
const ELEMENTS: &str = "[[element]]\nname = \"main\"\ngeometry = { naca = \"4412\" }\nreach = 0.3\n\
                        grid = { ni = 33, nj = 13, first_cell = 1e-2 }\n\
                        [[element]]\nname = \"flap\"\ngeometry = { naca = \"2412\" }\nchord = 0.3\n\
                        at = [1.1, -0.1]\ngrid = { ni = 33, nj = 13, first_cell = 1e-2 }\nreach = 0.3\n\
                        [background]\nspacing = 0.1\ngrowth = 1.5\nfar_field = 5\n\
                        [output]\nformats = [\"cgns\"]\npictures = false\nreport = false\n";

#[test]
fn elements_of_processes_are_those_of_threads() {
    let scratch = Scratch::with_case(ELEMENTS);
    let ranks = ended(start(&scratch, open_mpi, 2, "wing.toml -o ranks", equipped(&scratch, 2)));
    let mut threads = scratch.command("wing.toml -o threads --devices 0,1");
    equipped(&scratch, 2)(0, &mut threads);
    Finished::from(&mut threads).succeeds();

    assert!(ranks.iter().all(|rank| rank.code == 0), "{ranks:?}");
    let [found, expected] =
        ["ranks", "threads"].map(|of| scratch.bytes(&format!("{of}/wing/mesh.cgns")));
    assert!(found == expected);
}

/// The libraries of the driver and the compiler, without NCCL: empty files are found before that of the system.
fn without_nccl(command: &mut Command, folder: &Path) {
    let all = command.get_envs().find(|(name, _)| *name == "LD_LIBRARY_PATH").unwrap().1.unwrap();
    for name in ["libcuda.so", "libnvrtc.so"] {
        let _ = symlink(Path::new(all).join(name), folder.join(name));
    }
    for name in ["libnccl.so.2", "libnccl.so"] {
        fs::write(folder.join(name), "").unwrap();
    }
    command.env("LD_LIBRARY_PATH", folder);
}

#[test]
fn where_a_gpu_is_not_to_be_accessed_messages_go_another_way() {
    let scratch = Scratch::with_case(CASE);
    let expected = threads(&scratch, "0,1", "");
    let slow = "note: 2 ranks, started by Open MPI\n\
                note: NCCL was not found on every host, or ranks share a GPU: messages between the ranks go \
                through the hosts' memory, which is slow\n";
    let folder = scratch.path("libraries");
    fs::create_dir(&folder).unwrap();
    // One rank's driver does not share memory; a user disables it; both ranks have the same GPU.
    for (name, value, rank_of_it) in
        [("STAND_IN_IPC", "0", 1), ("NCCL_P2P_DISABLE", "1", 0), ("STAND_IN_GPUS", "1", 2)]
    {
        let own = |rank: usize, command: &mut Command| {
            equipped(&scratch, 2)(rank, command);
            without_nccl(command, &folder);
            if rank == rank_of_it || rank_of_it == 2 {
                command.env(name, value);
            }
        };
        let ranks = ended(start(&scratch, open_mpi, 2, "wing.toml -o ranks --force", own));

        assert!(ranks.iter().all(|rank| rank.code == 0), "{ranks:?}");
        assert_eq!(ranks[0].stderr, slow, "{name}");
        assert!(results(&scratch, "ranks").0 == expected, "{name}");
    }
}

#[test]
fn a_rank_that_is_killed_while_others_wait_for_its_kernels_ends_them() {
    let scratch = Scratch::with_case(CASE);
    let larger = "wing.toml -v --set grid.ni=257 --set grid.nj=65 --set grid.first_cell=1e-4";
    let mut ranks = start(&scratch, open_mpi, 3, larger, equipped(&scratch, 3));
    let mut stderr = BufReader::new(ranks[0].stderr.take().unwrap());
    await_line(&mut stderr, "newton   0");

    let started = Instant::now();
    let mut killed = ranks.pop().unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let ranks = ended(ranks);

    assert!(started.elapsed() < Duration::from_secs(30));
    let message = "error: rank 2 ended and said nothing: it was killed, or its host was lost\n";
    assert!(said.contains(message), "{said}");
    assert_eq!((ranks[0].code, ranks[1].code), (3, 3), "{said}");
    assert!(!scratch.path("output/wing/mesh.vts").exists());
}
