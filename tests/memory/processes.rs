//! The memory of processes that share a solve: rank 0 alone has the whole grid.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{env, fs};

use gridgen::backend::cuda::JobRank;
use gridgen::case::CaseFile;
use gridgen::generate::{Machine, RunOptions};
use gridgen::internals::generate::run_on;
use gridgen::ranks::Job;
use support::fibers::FiberDevice;
use support::jobs::{WAIT, free_port, place};

use crate::allocator::largest;

/// The variable with which the test starts this program as a rank: rank, size, port.
const RANK: &str = "GRIDGEN_TEST_RANK";

/// Points of the grid in i and j.
const SIZE: [usize; 2] = [257, 129];

/// Does the work of a rank and ends the process, if the test has started it as a rank.
fn be_a_rank() {
    let Ok(said) = env::var(RANK) else { return };
    let words: Vec<usize> = said.split(' ').map(|word| word.parse().unwrap()).collect();
    let &[rank, size, port] = &words[..] else { panic!("{said}") };
    let folder = PathBuf::from(env::var_os("GRIDGEN_TEST_FOLDER").unwrap());
    let job = Arc::new(Job::meet(place(rank, size, port as u16), None, WAIT).unwrap());
    let ranks = JobRank::new(job.clone(), Arc::new(FiberDevice::default())).unwrap();
    let mut options = RunOptions::new(folder.join("out"));
    options.job = Some(job.clone());
    let sets = [
        ("grid.ni", SIZE[0].to_string()),
        ("grid.nj", SIZE[1].to_string()),
        ("grid.topology", "O".to_owned()),
        ("newton.max_iterations", "1".to_owned()),
        ("linear.preconditioner", "jacobi".to_owned()),
        ("linear.max_iterations", "2".to_owned()),
        ("quality.retry", "false".to_owned()),
        ("output.formats", "vts,plot3d,cgns".to_owned()),
        ("output.plot3d_encoding", "stream".to_owned()),
        // Only samples of longer files are read.
        ("output.span_cells", "3".to_owned()),
        ("output.pictures", "false".to_owned()),
        ("output.report", "false".to_owned()),
    ];
    let sets: Vec<_> = sets.map(|(key, value)| (key.to_owned(), value)).into();
    let text = "[geometry]\nnaca = \"2412\"\n";
    let case = CaseFile::from_toml(text, Path::new("wing.toml"), &sets).unwrap();
    let made =
        run_on(Machine::Ranks(Box::new(ranks)), &case, &options, &mut ()).unwrap().into_section();
    assert_eq!(made.history.newton_iterations(), 1, "{}", made.stop);
    assert_eq!(made.state.is_empty(), rank > 0);
    fs::write(folder.join(format!("{rank}.txt")), largest().to_string()).unwrap();
    std::process::exit(i32::from(job.end(0).is_err()));
}

#[test]
fn rank_0_alone_has_the_whole_grid() {
    be_a_rank();
    let (folder, port) = (tempfile::tempdir().unwrap(), free_port());
    let rank = |rank| {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", "processes::rank_0_alone_has_the_whole_grid", "--nocapture"])
            .env(RANK, format!("{rank} 4 {port}"))
            .env("GRIDGEN_TEST_FOLDER", folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    };
    let ranks: Vec<_> = (0..4).map(rank).collect();
    for mut rank in ranks {
        assert!(rank.wait().unwrap().success());
    }

    let coordinate = SIZE[0] * SIZE[1] * size_of::<f64>();
    for rank in 0..4 {
        let said = fs::read_to_string(folder.path().join(format!("{rank}.txt"))).unwrap();
        let largest: usize = said.parse().unwrap();
        assert_eq!(largest < coordinate, rank > 0, "rank {rank}: {largest} of {coordinate} bytes");
    }
    for file in ["mesh.failed.vts", "mesh.failed.p3d", "mesh.failed.cgns", "restart.bin"] {
        let bytes = fs::metadata(folder.path().join("out").join(file)).unwrap().len();
        assert!(bytes > coordinate as u64, "{file}: {bytes} bytes");
    }
}
