//! Messages of one rank to itself. They run on one GPU, and thus under `compute-sanitizer`, which does not
//! run kernels of two GPUs at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{
    AbortFlag, Buffer, CudaBackend, HostTransport, RANK_TIMEOUT, RankLink, RankMessage, Transport,
    connect,
};
use gridgen::pde::control::Wall;
use gridgen::solver::precond::Kind;

use support::gpus::on_host;

use crate::cases::{self, Case};

fn alone(timeout: Duration) -> RankLink {
    let gpu = Arc::new(DriverDevice::open(0, &[]).unwrap());
    let host = Arc::new(HostTransport::new(Arc::new(AbortFlag::new(timeout)), 1));
    connect(Transport::PeerMemory, (host, 0), gpu, None).unwrap()
}

#[test]
fn a_rank_sends_messages_to_itself() {
    let link = alone(RANK_TIMEOUT);
    let device = &link.device;
    // The last message is longer than the buffer of an endpoint.
    for length in [1, 2, 8, 5000, 300_000] {
        let sent: Vec<u32> = (7..7 + length).collect();
        let from = Buffer::from_host(device, &sent).unwrap();
        let [gathered, came, after] =
            [(); 3].map(|()| Buffer::<u32>::zeros(device, length as usize).unwrap());
        let message = |buffer: &Buffer<u32>| RankMessage {
            rank: 0,
            at: buffer.address(),
            bytes: 4 * length as usize,
        };

        for _ in 0..3 {
            link.all_gather(from.address(), gathered.address(), 4 * length as usize).unwrap();
            let received = [message(&came), message(&after)];
            link.start_exchange(&[message(&from), message(&from)], &received).unwrap();
            link.finish_exchange().unwrap();
        }

        for buffer in [gathered, came, after] {
            assert!(on_host(&buffer) == sent, "{length}");
        }
    }
}

#[test]
fn a_message_that_never_comes_is_given_up() {
    let timeout = Duration::from_millis(500);
    for bytes in [16, 2_000_000] {
        let link = alone(timeout);
        let device = &link.device;
        let room = Buffer::<u8>::zeros(device, bytes).unwrap();
        let started = Instant::now();

        link.start_exchange(&[], &[RankMessage { rank: 0, at: room.address(), bytes }]).unwrap();
        link.finish_exchange().unwrap();
        let waited = device.synchronise();

        let silent = DeviceError::RankTimeout { rank: 0, other: Some(0), waited: timeout };
        assert_eq!(waited, Err(silent), "{bytes} bytes");
        let took = started.elapsed();
        assert!(took >= timeout, "{took:?}");
    }
}

#[test]
fn a_band_around_the_seam_is_its_own_neighbour() {
    for kind in [Kind::Jacobi, Kind::Multigrid] {
        let wall = if kind == Kind::Jacobi { Wall::Frozen } else { Wall::Coupled };
        let case = Case { periodic: true, nodes: (129, 33), wall, kind, ..cases::JACOBI };
        let expected = case.on_cpu();

        let found = case.on_ranks(1, |bands, work| {
            let backend = CudaBackend::banded(alone(RANK_TIMEOUT), bands.clone())?;
            Ok(vec![work(0, &backend.with_gathered_points(Some(1000)))?])
        });

        let _ = cases::check(case, &expected, &found.unwrap(), "one rank");
    }
}
