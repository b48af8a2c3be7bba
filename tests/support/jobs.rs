//! Jobs whose ranks are threads of a test.

use std::net::TcpListener;
use std::time::Duration;

use gridgen::ranks::{Job, Launcher, RankPlace};

/// Longest wait of ranks for each other when all of them exist.
pub const WAIT: Duration = Duration::from_mins(1);

/// A port on which nothing listens.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Rank `rank` of `size` on this host; the ranks meet at a port.
pub fn place(rank: usize, size: usize, port: u16) -> RankPlace {
    RankPlace {
        launcher: Launcher::OpenMpi,
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
