//! The rendezvous of ranks, and their messages.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};
use std::{fs, thread};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{AbortFlag, HostTransport};
use gridgen::error::ErrorClass;
use gridgen::ranks::{Channel, Failure, Job, OnFailure, RankPlace, RanksError, Rendezvous};

use support::jobs::{WAIT, free_port, on_ranks, place, side_by_side};
use support::random::Random;

/// A connection to the address in a file, with the greeting of a valid rank.
fn greeting(file: &Path, rank: u64, size: u64) -> TcpStream {
    let text = once_there(|| fs::read_to_string(file));
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut stream = connected(words[1].parse().unwrap());
    let token = u64::from_str_radix(words[2], 16).unwrap();
    stream.write_all(b"GRIDGEN1").unwrap();
    for word in [token, rank, size] {
        stream.write_all(&word.to_le_bytes()).unwrap();
    }
    stream
}

/// A rank that meets the others by a file.
fn by_file(rank: usize, size: usize, file: &Path) -> Result<Job, RanksError> {
    let place = RankPlace { address: None, ..place(rank, size, 0) };
    Job::meet(place, Some(Rendezvous::File(file.to_owned())), WAIT)
}

/// Connects as soon as the port is listening.
fn connected(port: u16) -> TcpStream {
    once_there(|| TcpStream::connect(("127.0.0.1", port)))
}

/// The result of an attempt that is repeated until it succeeds.
fn once_there<T>(attempt: impl Fn() -> io::Result<T>) -> T {
    loop {
        match attempt() {
            Ok(found) => return found,
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
            // A greeting of the right form, but without the token.
            b"GRIDGEN1\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0",
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
        // The job has the same name and another number of ranks.
        let other = RankPlace { job: format!("a job at {port}"), ..place(1, 3, port) };
        scope.spawn(move || {
            let refused = Job::meet(other, None, Duration::from_millis(300)).unwrap_err();
            assert!(matches!(refused, RanksError::NotFound { rank: 1, .. }), "{refused}");
        });
        for rank in 0..4 {
            scope.spawn(move || {
                // One rank is late, and one arrives before the first.
                thread::sleep(Duration::from_millis([100, 0, 50, 900][rank]));
                let job = Job::meet(place(rank, 4, port), None, WAIT).unwrap();

                let all = job.all_gather(vec![rank as u8; rank + 1]).unwrap();

                assert_eq!(all, [vec![0], vec![1; 2], vec![2; 3], vec![3; 4]]);
                assert_eq!(job.end(job.rank() as u8 + 7), Ok(7), "the code of the first rank");
            });
        }
    });
    assert_eq!(dropped.into_inner(), 4);
}

#[test]
fn ranks_that_do_not_come_are_named() {
    let (port, wait) = (free_port(), Duration::from_millis(400));

    let refused =
        side_by_side([0, 2], |rank| Job::meet(place(rank, 4, port), None, wait).unwrap_err());

    let [first, second] = &refused[..] else { unreachable!() };
    assert_eq!(*first, RanksError::Missing { missing: vec![1, 3], size: 4, waited: wait });
    assert_eq!(first.to_string(), "ranks 1, 3 of 4 did not come within 0.4 s");
    let text = second.to_string();
    assert!(text.starts_with("rank 2 did not find rank 0 at 127.0.0.1:"), "{text}");
    assert!(text.ends_with("other ranks did not come in time"), "{text}");
}

#[test]
fn a_port_that_is_taken_is_named_and_ranks_without_an_address_need_a_rendezvous() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();

    let refused = Job::meet(place(0, 2, port), None, WAIT).unwrap_err();

    assert!(
        refused.to_string().starts_with(&format!("rank 0 cannot listen at 127.0.0.1:{port}: "))
    );
    assert!(refused.hint().unwrap().contains("--rendezvous"));
    let nowhere = RankPlace { address: None, ..place(1, 2, 1) };
    let refused = Job::meet(nowhere, None, WAIT).unwrap_err();
    assert_eq!(refused.to_string(), "Open MPI does not say on which host rank 0 runs");
    assert!(refused.hint().unwrap().contains("--rendezvous file:PATH"));
}

#[test]
fn ranks_meet_by_a_file_that_all_see() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("meeting");
    // A file left by an earlier job.
    fs::write(&file, "localhost 1 0000000000000001\n").unwrap();
    side_by_side(0..3, |rank| {
        let job = by_file(rank, 3, &file).unwrap();
        assert_eq!(job.broadcast(vec![rank as u8]).unwrap(), [0]);
        job.end(0).unwrap();
    });
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "the file goes with the meeting");

    let refused = by_file(0, 2, &folder.path().join("no/folder")).unwrap_err();
    assert!(refused.to_string().contains("no/folder: the address of rank 0 cannot be written"));
}

#[test]
fn messages_pass_between_any_two_ranks_in_order() {
    on_ranks(4, |job| {
        let (own, size) = (job.rank(), job.size());
        // The message exceeds the buffer of a socket, so both sides send before either receives.
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
        job.end(0).unwrap();
    });
}

#[test]
fn what_ranks_have_to_do_is_compared() {
    let refused = on_ranks(3, |job| {
        let grid = if job.rank() == 2 { "65 × 33 points" } else { "257 × 129 points" };
        let same = job.compare(&[("version", "1".to_owned())]);
        assert_eq!(same, Ok(()));
        let things = [("version", "1".to_owned()), ("a grid of", grid.to_owned())];
        let refused = job.compare(&things).unwrap_err();
        // A rank that drops its job without `end` counts as lost, and the others may hear of that before they compare.
        job.end(0).unwrap();
        refused
    });

    for refused in refused {
        let message = "rank 2 has a grid of 65 × 33 points, rank 0 257 × 129 points";
        assert_eq!(refused.to_string(), message);
    }
}

#[test]
fn a_solve_leaves_nothing_with_its_job() {
    on_ranks(1, |job| {
        let (job, flag) = (Arc::new(job), Arc::new(AbortFlag::default()));
        let solve = |number| HostTransport::of_job(flag.clone(), job.clone(), number);
        (0..3).for_each(|number| drop(solve(number)));

        assert_eq!(Arc::weak_count(&flag), 0);

        // A rank that is still working is notified of a failure.
        let _under_way = solve(3);
        job.fail(Some("the GPU is lost".into()), None, ErrorClass::Device);
        assert_eq!(flag.check(), Err(DeviceError::OtherRank));
    });
}

#[test]
fn the_failure_of_a_rank_ends_all_waits_and_is_told_once() {
    let told = AtomicUsize::new(0);
    let failures = on_ranks(3, |job| {
        if job.rank() == 2 {
            job.fail(
                Some("the GPU is lost".into()),
                Some("look at its log".into()),
                ErrorClass::Device,
            );
            job.fail(Some("a second error".into()), None, ErrorClass::Input);
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
        class: ErrorClass::Device,
    };
    for ended in failures {
        assert_eq!(ended, RanksError::Ended { failure: failure.clone() });
        assert_eq!(ended.to_string(), "rank 2 ended: the GPU is lost");
        assert_eq!(ended.hint().unwrap(), "look at its log");
    }
}

#[test]
fn losses_can_be_tolerated_and_the_first_rank_cancels_all() {
    on_ranks(3, |job| {
        job.tolerate_losses();
        // No rank leaves before the first one accepts it.
        job.broadcast(Vec::new()).unwrap();
        match job.rank() {
            0 => {
                assert!(job.receive(1, Channel::Batch(0)).is_err());
                assert_eq!(job.failure(), None);
                job.cancel();
                assert_eq!(job.receive(2, Channel::Batch(0)).unwrap(), [2]);
                assert_eq!(job.end(5), Ok(5));
            }
            1 => {}
            _ => {
                let started = Instant::now();
                while !job.cancelled() {
                    assert!(started.elapsed() < WAIT && job.failure().is_none());
                    thread::sleep(Duration::from_millis(1));
                }
                job.send(0, Channel::Batch(0), vec![2]);
                assert_eq!(job.end(0), Ok(5));
            }
        }
    });
}

/// Messages of a rank are validated on arrival: invalid lengths cause neither a hang nor large allocations.
#[test]
fn a_rank_that_sends_what_is_no_message_is_named() {
    let header = |words: [u64; 4]| words.map(u64::to_le_bytes).concat();
    let noise = Random::new(1).vector(512).into_iter().flat_map(f64::to_le_bytes);
    let noise: Vec<u8> = noise.collect();
    let long = |bytes: u64| {
        format!(
            "rank 1 ended: it sent a message of {bytes} bytes, at most 1099511627776 were expected"
        )
    };
    let silent = "rank 1 ended and said nothing: it was killed, or its host was lost".to_owned();
    let strange = "rank 1 ended: it sent what is no message".to_owned();
    for (said, expected) in [
        (header([0, 1, 0, u64::MAX]), long(u64::MAX)),
        (header([0, 1, 0, 1 << 41]), long(1 << 41)),
        (header([0, 1, u64::MAX - 1, u64::MAX]), long(u64::MAX)),
        (noise[..32].to_vec(), long(u64::from_le_bytes(noise[24..32].try_into().unwrap()))),
        (noise.clone(), long(u64::from_le_bytes(noise[24..32].try_into().unwrap()))),
        // A valid length, followed by fewer bytes.
        ([header([0, 1, 0, 1 << 39]), vec![0; 4096]].concat(), silent.clone()),
        (header([0, 1, 0, 0])[..31].to_vec(), silent),
        (header([99, 1, 0, 0]), strange.clone()),
        (header([0, 99, 0, 0]), strange.clone()),
        (header([u64::MAX, 1, 0, 8]), strange),
    ] {
        // An invalid message ends with its connection, or its end is only noticed then.
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("meeting");
        let started = Instant::now();
        let ended = thread::scope(|scope| {
            let first = scope.spawn(|| {
                let job = by_file(0, 2, &file).unwrap();
                job.receive(1, Channel::Collective).unwrap_err().to_string()
            });
            let mut stream = greeting(&file, 1, 2);
            let mut answer = [0; 2];
            stream.read_exact(&mut answer).unwrap();
            let mut said = said;
            if expected.ends_with("no message") {
                said.extend([0; 64]);
            }
            let _ = stream.write_all(&said);
            let _ = stream.shutdown(std::net::Shutdown::Write);
            first.join().unwrap()
        });

        assert_eq!(ended, expected);
        assert!(started.elapsed() < Duration::from_secs(10), "{expected}: {:?}", started.elapsed());
    }
}

/// A rank that receives nothing keeps neither the first rank nor the others: these still hear from the first one, and
/// its own send ends with the connection.
#[test]
fn a_rank_that_stops_receiving_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("meeting");
    let (sent, is_sent) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| {
            let job = by_file(0, 3, &file).unwrap();
            // The message exceeds the buffers of a connection.
            job.send(1, Channel::Collective, vec![0; 64 << 20]);
            sent.send(job.receive(1, Channel::Collective).unwrap_err().to_string()).unwrap();
        });
        let mut streams = [1, 2].map(|rank| greeting(&file, rank, 3));
        for stream in &mut streams {
            stream.read_exact(&mut [0; 2]).unwrap();
        }
        let [stuck, other] = &mut streams;

        other.set_read_timeout(Some(Duration::from_secs(8))).unwrap();
        let mut sign = [[0; 8]; 4];
        let heard = other.read_exact(sign.as_flattened_mut());
        // Receiver 99 does not exist.
        let strange = [99, 1, 0, 0].map(u64::to_le_bytes);
        stuck.write_all(strange.as_flattened()).unwrap();
        let ended = is_sent.recv_timeout(Duration::from_secs(5));
        drop(streams);

        assert!(heard.is_ok_and(|()| sign[2] == [255; 8]), "the first rank shows no sign of life");
        assert_eq!(ended.as_deref(), Ok("rank 1 ended: it sent what is no message"));
    });
}

#[test]
fn ranks_may_wait_for_each_other_as_long_as_they_like() {
    let port = free_port();
    let met = side_by_side(0..2, |rank| Job::meet(place(rank, 2, port), None, Duration::MAX));
    assert!(met.iter().all(Result::is_ok), "{met:?}");
}

/// The rendezvous file is replaced and removed if a rank wrote it; any other file stays.
#[test]
fn a_file_that_is_no_address_stays() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let long = ["localhost 1 0000000000000001\n", &" ".repeat(1000)].concat();
    let contents = [
        "precious",
        "",
        "localhost 1 0000000000000001",
        "localhost 1 0000000000000001\nand more\n",
        "localhost port 0000000000000001\n",
        "localhost 99999 0000000000000001\n",
        "localhost 1 1\n",
        &long,
    ];
    for (number, text) in contents.iter().enumerate() {
        let file = path(&format!("file{number}"));
        fs::write(&file, text).unwrap();

        let refused = by_file(0, 2, &file).unwrap_err();

        let said = refused.to_string();
        assert!(said.ends_with("there is something that gridgen did not write"), "{text}: {said}");
        assert!(said.starts_with(&file.display().to_string()), "{said}");
        assert_eq!(fs::read_to_string(&file).unwrap(), *text);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), contents.len());
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_an_address_stays() {
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("precious"), folder.path().join("meeting"));
    fs::write(&file, "localhost 1 0000000000000001\n").unwrap();
    for target in [&file, &folder.path().join("nowhere"), &"/dev/null".into()] {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();

        let refused = by_file(0, 2, &link);

        assert!(matches!(refused, Err(RanksError::File { .. })), "{refused:?}");
        assert!(link.is_symlink() && file.exists());
    }
}

/// Another job may have started with the same file.
#[test]
fn the_address_of_another_job_is_not_removed() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("meeting");
    let other = "localhost 1 0000000000000001\n";
    thread::scope(|scope| {
        scope.spawn(|| by_file(0, 2, &file).unwrap());
        let mut stream = greeting(&file, 1, 3);
        let _ = stream.read(&mut [0]);
        let text = fs::read_to_string(&file).unwrap();
        fs::write(&file, other).unwrap();
        fs::write(folder.path().join("first"), text).unwrap();
        let mut stream = greeting(&folder.path().join("first"), 1, 2);
        stream.read_exact(&mut [0; 2]).unwrap();
    });

    assert_eq!(fs::read_to_string(&file).unwrap(), other);
}
