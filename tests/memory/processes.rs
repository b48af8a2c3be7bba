//! The memory of processes that share a solve: rank 0 alone has the whole grid.

use std::fs;
use std::sync::Arc;

use gridgen::backend::cuda::JobRank;
use gridgen::generate::{Machine, RunOptions};
use gridgen::internals::generate::run_on;
use support::cases::with;
use support::fibers::FiberDevice;
use support::jobs::{of_this_process, processes};

use crate::allocator::largest;

const SIZE: [usize; 2] = [257, 129];

/// Does the work of a rank and ends the process, if the test has started it as a rank.
fn be_a_rank() {
    let Some((job, folder, _)) = of_this_process() else { return };
    let rank = job.rank();
    let ranks = JobRank::new(job.clone(), Arc::new(FiberDevice::default())).unwrap();
    let mut options = RunOptions::new(folder.join("out"));
    options.job = Some(job.clone());
    let [ni, nj] = SIZE.map(|count| count.to_string());
    let sets = [
        ("grid.ni", &*ni),
        ("grid.nj", &*nj),
        ("grid.topology", "O"),
        ("newton.max_iterations", "1"),
        ("linear.preconditioner", "jacobi"),
        ("linear.max_iterations", "2"),
        ("quality.retry", "false"),
        ("output.formats", "vts,plot3d,cgns"),
        ("output.plot3d_encoding", "stream"),
        // Only samples of longer files are read.
        ("output.span_cells", "3"),
        ("output.pictures", "false"),
        ("output.report", "false"),
    ];
    let case = with("geometry.naca = '2412'", &sets).into();
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
    let folder = tempfile::tempdir().unwrap();
    for rank in processes("processes::rank_0_alone_has_the_whole_grid", 4, folder.path(), "") {
        assert!(rank.status.success(), "{rank:?}");
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
