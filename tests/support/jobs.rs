//! Jobs whose ranks are threads of a test, or processes that it starts.

use std::env;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use gridgen::ranks::{Job, RankPlace};

/// Longest wait of ranks for each other when all of them exist.
pub const WAIT: Duration = Duration::from_mins(1);

/// A port on which nothing listens.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Rank `rank` of `size` on this host; the ranks meet at a port.
pub fn place(rank: usize, size: usize, port: u16) -> RankPlace {
    RankPlace {
        launcher: "Open MPI",
        rank,
        size,
        local_rank: rank,
        job: format!("a job at {port}"),
        address: Some(("127.0.0.1".to_owned(), port)),
    }
}

/// Does `work` on `size` ranks, each a thread with its own job.
pub fn on_ranks<R: Send>(size: usize, work: impl Fn(Job) -> R + Sync) -> Vec<R> {
    let port = free_port();
    side_by_side(0..size, |rank| work(Job::meet(place(rank, size, port), None, WAIT).unwrap()))
}

/// The variables with which [`processes`] tells a process its rank, the size, the port and the work, and the folder.
const OF_A_RANK: [&str; 2] = ["GRIDGEN_TEST_RANK", "GRIDGEN_TEST_FOLDER"];

/// Runs this program as `size` ranks, each of which runs this test alone, until all have ended.
pub fn processes(test: &str, size: usize, folder: &Path, work: &str) -> Vec<Output> {
    let port = free_port();
    let rank = |rank| {
        Command::new(env::current_exe().unwrap())
            .args(["--exact", test, "--nocapture"])
            .env(OF_A_RANK[0], format!("{rank} {size} {port} {work}"))
            .env(OF_A_RANK[1], folder)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    let ranks: Vec<Child> = (0..size).map(rank).collect();
    ranks.into_iter().map(|rank| rank.wait_with_output().unwrap()).collect()
}

/// The job, the folder and the work of this process, if a test has started it as a rank.
pub fn of_this_process() -> Option<(Arc<Job>, PathBuf, String)> {
    let said = env::var(OF_A_RANK[0]).ok()?;
    let words: Vec<&str> = said.splitn(4, ' ').collect();
    let [rank, size, port, work] = words[..] else { panic!("{said}") };
    let place = place(rank.parse().unwrap(), size.parse().unwrap(), port.parse().unwrap());
    let job = Arc::new(Job::meet(place, None, WAIT).unwrap());
    Some((job, env::var_os(OF_A_RANK[1]).unwrap().into(), work.to_owned()))
}

/// The results of `work` on all of these, each on a thread of its own.
pub fn side_by_side<T: Send, R: Send>(
    all: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let work = &work;
    std::thread::scope(|scope| {
        let spawn = |one| scope.spawn(move || work(one));
        let threads: Vec<_> = all.into_iter().map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
