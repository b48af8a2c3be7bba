//! A rank that fails stops all others.

use std::sync::Arc;
use std::time::Duration;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{
    AbortFlag, Buffer, HostTransport, PeerCommunicator, RankLink, RankMessage, run_ranks,
};
use gridgen::solver::SolverError;

use super::cases::Case;
use super::ranks::JACOBI;
use support::fibers::{Transport, fibers, lost, mortal, on_ranks, on_ranks_with_timeout};

#[test]
fn a_lost_device_stops_all_with_its_own_message() {
    let case = Case { nodes: (65, 17), ..JACOBI };
    // The device is lost at the start, within the linear solve, and later.
    for (launches, transport) in [
        (0, Transport::PeerMemory),
        (5, Transport::PeerMemory),
        (100, Transport::Host),
        (200, Transport::PeerMemory),
    ] {
        let mut devices = fibers(3);
        devices[1] = mortal(launches);

        let result = case.on_devices(&devices, transport).map(|_| ());

        assert_eq!(result, Err(SolverError::Device(lost())), "after {launches} launches");
    }
}

#[test]
#[should_panic(expected = "a rank panics")]
fn a_panic_of_a_rank_is_propagated() {
    let abort_flag = Arc::new(AbortFlag::default());

    let _: Result<Vec<()>, DeviceError> = run_ranks(2, &abort_flag, |rank| match rank {
        0 => panic!("a rank panics"),
        _ => loop {
            abort_flag.check()?;
            std::thread::yield_now();
        },
    });
}

/// An operation that needs the other ranks: a reduction, a message that fits in the buffer, one by
/// rendezvous.
type Question = fn(&RankLink) -> Result<(), DeviceError>;

fn gather(link: &RankLink) -> Result<(), DeviceError> {
    let [own, all] = [4, 12].map(|n| Buffer::<u64>::zeros(&link.device, n));
    let (own, all) = (own?, all?);
    link.all_gather(own.address(), all.address(), 32)?;
    all.download(&mut [0; 12])
}

fn receive<const BYTES: usize>(link: &RankLink) -> Result<(), DeviceError> {
    let own = Buffer::<u8>::zeros(&link.device, BYTES)?;
    let message = RankMessage { rank: 2, at: own.address(), bytes: BYTES };
    link.start_exchange(&[], &[message])?;
    link.finish_exchange()?;
    own.download(&mut vec![0; BYTES])
}

#[test]
fn a_rank_that_sends_nothing_is_named_when_the_patience_of_another_ends() {
    // Loads the kernels first, since the others would wait during that time.
    let met = on_ranks(&fibers(3), Transport::PeerMemory, |link| gather(&link));
    assert_eq!(met, Ok(vec![(); 3]));
    let timeout = Duration::from_millis(500);
    let questions: [Question; 3] = [gather, receive::<16>, receive::<2_000_000>];
    for transport in [Transport::PeerMemory, Transport::Host] {
        for question in questions {
            let result = on_ranks_with_timeout(&fibers(3), transport, timeout, |link| {
                if link.rank < 2 {
                    return question(&link);
                }
                // The rank is busy with something else.
                std::thread::sleep(2 * timeout);
                Ok(())
            });

            let silent =
                |rank| Err(DeviceError::RankTimeout { rank, other: Some(2), waited: timeout });
            assert!(result == silent(0) || result == silent(1), "{transport:?}: {result:?}");
        }
    }
}

/// One rank never joins the others.
#[test]
fn a_rank_that_never_joins_is_named() {
    let timeout = Duration::from_millis(500);
    let abort_flag = Arc::new(AbortFlag::new(timeout));
    let transport = Arc::new(HostTransport::new(abort_flag.clone(), 3));

    let result = run_ranks(3, &abort_flag, |rank| match rank {
        1 => Ok(()),
        _ => PeerCommunicator::join(transport.clone(), rank, fibers(1).remove(0)).map(drop),
    });

    let silent = |rank| Err(DeviceError::RankTimeout { rank, other: Some(1), waited: timeout });
    assert!(result == silent(0) || result == silent(2), "{result:?}");
}
