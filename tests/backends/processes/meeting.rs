//! How ranks meet, and what they say to each other.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{AbortFlag, HostTransport};
use gridgen::ranks::{Channel, Failure, Job, OnFailure, Place, RanksError, Rendezvous};

use support::jobs::{WAIT, free_port, on_ranks, place};

/// A connection as soon as something listens.
fn connected(port: u16) -> TcpStream {
    loop {
        match TcpStream::connect(("127.0.0.1", port)) {
            Ok(stream) => return stream,
            Err(_) => thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn four_ranks_meet_whatever_strangers_say_to_the_port() {
    let port = free_port();
    let dropped = AtomicUsize::new(0);
    thread::scope(|scope| {
        let strangers: [&[u8]; 4] = [
            b"GET / HTTP/1.1\r\n\r\n and so on, for more than a greeting",
            b"GRIDGEN1",
            // A greeting of the right form without the token.
            &{
                let mut hello = [0; 32];
                hello[..8].copy_from_slice(b"GRIDGEN1");
                (hello[16], hello[24]) = (1, 4);
                hello
            },
            b"",
        ];
        for said in strangers {
            let (said, dropped) = (said.to_vec(), &dropped);
            scope.spawn(move || {
                let mut stream = connected(port);
                let _ = stream.write_all(&said);
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer);
                assert!(answer.is_empty(), "a stranger was answered: {answer:?}");
                dropped.fetch_add(1, Ordering::Relaxed);
            });
        }
        // The same name of the job, and another number of ranks.
        let other = Place { job: format!("a job at {port}"), ..place(1, 3, port) };
        scope.spawn(move || {
            let refused = Job::meet(other, None, Duration::from_millis(300)).unwrap_err();
            assert!(matches!(refused, RanksError::NotFound { rank: 1, .. }), "{refused}");
        });
        for rank in 0..4 {
            scope.spawn(move || {
                // One is late, and one comes before the first.
                thread::sleep(Duration::from_millis([100, 0, 50, 900][rank]));
                let job = Job::meet(place(rank, 4, port), None, WAIT).unwrap();

                let all = job.all_gather(vec![rank as u8; rank + 1]).unwrap();

                assert_eq!(all, [vec![0], vec![1; 2], vec![2; 3], vec![3; 4]]);
                assert_eq!(job.end(job.rank() as u8 + 7), 7, "the code of the first rank");
            });
        }
    });
    assert_eq!(dropped.into_inner(), 4);
}

#[test]
fn ranks_that_do_not_come_are_named() {
    let (port, wait) = (free_port(), Duration::from_millis(400));
    let [first, second] = thread::scope(|scope| {
        [0, 2]
            .map(|rank| {
                scope.spawn(move || Job::meet(place(rank, 4, port), None, wait).unwrap_err())
            })
            .map(|rank| rank.join().unwrap())
    });

    assert_eq!(first, RanksError::Missing { missing: vec![1, 3], size: 4, waited: wait });
    assert_eq!(first.to_string(), "ranks 1, 3 of 4 did not come within 0.4 s");
    let text = second.to_string();
    assert!(text.starts_with("rank 2 did not find rank 0 at 127.0.0.1:"), "{text}");
    assert!(text.ends_with("it waited for other ranks in vain"), "{text}");
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();

    let refused = Job::meet(place(0, 2, port), None, WAIT).unwrap_err();

    assert!(
        refused.to_string().starts_with(&format!("rank 0 cannot listen at 127.0.0.1:{port}: "))
    );
    assert!(refused.hint().contains("--rendezvous"));
}

#[test]
fn ranks_without_an_address_need_a_rendezvous() {
    let nowhere = Place { address: None, ..place(1, 2, 1) };

    let refused = Job::meet(nowhere, None, WAIT).unwrap_err();

    assert_eq!(refused.to_string(), "Open MPI does not say on which host rank 0 runs");
    assert!(refused.hint().contains("--rendezvous file:PATH"));
}

#[test]
fn ranks_meet_by_a_file_that_all_see() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("meeting");
    // What an earlier job has left.
    fs::write(&file, "localhost 1 0000000000000001\n").unwrap();
    thread::scope(|scope| {
        for rank in 0..3 {
            let rendezvous = Some(Rendezvous::File(file.clone()));
            scope.spawn(move || {
                let place = Place { address: None, ..place(rank, 3, 0) };
                let job = Job::meet(place, rendezvous, WAIT).unwrap();
                assert_eq!(job.broadcast(vec![rank as u8]).unwrap(), [0]);
                job.end(0);
            });
        }
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the file goes with the meeting");

    let missing = Some(Rendezvous::File(folder.path().join("no/folder")));
    let refused = Job::meet(place(0, 2, 0), missing, WAIT).unwrap_err();
    assert!(refused.to_string().contains("no/folder: the address of rank 0 cannot be written"));
}

#[test]
fn messages_pass_between_any_two_ranks_in_order() {
    on_ranks(4, |job| {
        let job = job.unwrap();
        let (own, size) = (job.rank(), job.size());
        // More than a socket holds, so that both sides send before one receives.
        let long = vec![own as u8; 3 << 20];
        for to in 0..size {
            job.send(to, Channel::Batch(1), long.clone());
            for k in 0..3 {
                job.send(to, Channel::Batch(0), vec![own as u8, k]);
            }
        }
        for from in 0..size {
            for k in 0..3 {
                assert_eq!(job.receive(from, Channel::Batch(0)).unwrap(), [from as u8, k]);
            }
            let long = job.receive(from, Channel::Batch(1)).unwrap();
            assert!(long.len() == 3 << 20 && long.iter().all(|&byte| byte == from as u8));
        }
        job.end(0);
    });
}

#[test]
fn what_ranks_have_to_do_is_compared() {
    let refused = on_ranks(3, |job| {
        let job = job.unwrap();
        let grid = if job.rank() == 2 { "65 × 33 points" } else { "257 × 129 points" };
        let same = job.compare(&[("version", "1".to_owned())]);
        assert_eq!(same, Ok(()));
        job.compare(&[("version", "1".to_owned()), ("a grid of", grid.to_owned())]).unwrap_err()
    });

    for refused in refused {
        let message = "rank 2 has a grid of 65 × 33 points, rank 0 257 × 129 points";
        assert_eq!(refused.to_string(), message);
    }
}

#[test]
fn a_solve_leaves_nothing_with_its_job() {
    on_ranks(1, |job| {
        let (job, flag) = (Arc::new(job.unwrap()), Arc::new(AbortFlag::default()));
        let solve = |number| HostTransport::of_job(flag.clone(), job.clone(), number);
        (0..3).for_each(|number| drop(solve(number)));

        assert_eq!(Arc::weak_count(&flag), 0);

        // One that goes on hears of a failure.
        let _under_way = solve(3);
        job.fail(Some("the GPU is lost".into()), None, 3);
        assert_eq!(flag.check(), Err(DeviceError::OtherRank));
    });
}

#[test]
fn the_failure_of_a_rank_ends_all_waits_and_is_told_once() {
    let told = AtomicUsize::new(0);
    let failures = on_ranks(3, |job| {
        let job = job.unwrap();
        if job.rank() == 2 {
            job.fail(Some("the GPU is lost".into()), Some("look at its log".into()), 3);
            job.fail(Some("a second error".into()), None, 2);
        }
        let ended = job.receive((job.rank() + 1) % 3, Channel::Collective).unwrap_err();
        let counted = Arc::new(AtomicBool::new(false));
        let seen = counted.clone();
        let act: Arc<OnFailure> =
            Arc::new(move |failure| seen.store(failure.rank == 2, Ordering::Relaxed));
        job.on_failure(&act);
        assert!(counted.load(Ordering::Relaxed));
        told.fetch_add(1, Ordering::Relaxed);
        while told.load(Ordering::Relaxed) < 3 {
            thread::yield_now();
        }
        ended
    });

    let failure = Failure {
        rank: 2,
        message: Some("the GPU is lost".into()),
        hint: Some("look at its log".into()),
        code: 3,
    };
    for ended in failures {
        assert_eq!(ended, RanksError::Ended { failure: failure.clone() });
        assert_eq!(ended.to_string(), "rank 2 ended: the GPU is lost");
        assert_eq!(ended.hint(), "look at its log");
    }
}

#[test]
fn a_rank_that_ends_without_a_word_is_named() {
    let ended = on_ranks(3, |job| {
        let job = job.unwrap();
        if job.rank() == 1 {
            return None;
        }
        let started = Instant::now();
        let ended = job.receive(1, Channel::Collective).unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(10));
        // Both hear of it before one of them goes, too.
        thread::sleep(Duration::from_millis(300));
        Some(ended.to_string())
    });

    let message = "rank 1 ended without a word: it was killed, or its host was lost";
    let message = Some(message.to_owned());
    assert_eq!(ended, [message.clone(), None, message]);
}

#[test]
fn losses_can_be_tolerated_and_the_first_rank_cancels_all() {
    on_ranks(3, |job| {
        let job = job.unwrap();
        job.tolerate_losses();
        // No rank goes before the first one bears it.
        job.broadcast(Vec::new()).unwrap();
        match job.rank() {
            0 => {
                assert!(job.receive(1, Channel::Batch(0)).is_err());
                assert_eq!(job.failure(), None);
                job.cancel();
                assert_eq!(job.receive(2, Channel::Batch(0)).unwrap(), [2]);
                assert_eq!(job.end(5), 5);
            }
            1 => {}
            _ => {
                let started = Instant::now();
                while !job.cancelled() {
                    assert!(started.elapsed() < WAIT && job.failure().is_none());
                    thread::sleep(Duration::from_millis(1));
                }
                job.send(0, Channel::Batch(0), vec![2]);
                assert_eq!(job.end(0), 5);
            }
        }
    });
}
