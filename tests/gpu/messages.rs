//! Messages of one rank to itself: on one GPU, and so under `compute-sanitizer`, which keeps kernels of
//! two from running at the same time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{
    Alarm, Buffer, Communicator, CudaBackend, Device, MailCommunicator, Mailroom, PATIENCE, Parcel,
    WatchedDevice,
};
use gridgen::pde::control::Wall;
use gridgen::solver::krylov::Method;
use gridgen::solver::precond::Kind;

use crate::cases::{self, Case};

/// The only rank.
fn alone() -> (Arc<dyn Device>, MailCommunicator) {
    patient(PATIENCE)
}

/// The same, which waits so long for a message.
fn patient(patience: Duration) -> (Arc<dyn Device>, MailCommunicator) {
    let alarm = Arc::new(Alarm::new(patience));
    let gpu = Arc::new(DriverDevice::open(0).unwrap());
    let device: Arc<dyn Device> = Arc::new(WatchedDevice::new(gpu, alarm.clone()));
    let room = Arc::new(Mailroom::new(1, alarm));
    let link = MailCommunicator::join(room, 0, 1, device.clone()).unwrap();
    (device, link)
}

#[test]
#[ignore = "needs a GPU: cargo test --test gpu -- --ignored"]
fn a_rank_passes_parcels_to_itself() {
    let (device, link) = alone();
    // The last is longer than a mailbox has room for.
    for length in [1, 2, 8, 5000, 300_000] {
        let sent: Vec<u32> = (7..7 + length).collect();
        let from = Buffer::from_host(&device, &sent).unwrap();
        let [gathered, came, after] =
            [(); 3].map(|()| Buffer::<u32>::zeros(&device, length as usize).unwrap());
        let parcel = |buffer: &Buffer<u32>| Parcel {
            rank: 0,
            at: buffer.address(),
            bytes: 4 * length as usize,
        };

        for _ in 0..3 {
            link.all_gather(from.address(), gathered.address(), 4 * length as usize).unwrap();
            let received = [parcel(&came), parcel(&after)];
            link.start_exchange(&[parcel(&from), parcel(&from)], &received).unwrap();
            link.finish_exchange().unwrap();
        }

        for buffer in [gathered, came, after] {
            let mut host = vec![0; length as usize];
            buffer.download(&mut host).unwrap();
            assert!(host == sent, "{length}");
        }
    }
}

#[test]
#[ignore = "needs a GPU: cargo test --test gpu -- --ignored"]
fn a_message_that_never_comes_is_given_up() {
    let patience = Duration::from_millis(500);
    for bytes in [16, 2_000_000] {
        let (device, link) = patient(patience);
        let room = Buffer::<u8>::zeros(&device, bytes).unwrap();
        let started = Instant::now();

        link.start_exchange(&[], &[Parcel { rank: 0, at: room.address(), bytes }]).unwrap();
        link.finish_exchange().unwrap();
        let waited = device.synchronise();

        let silent = DeviceError::Silent { rank: 0, other: Some(0), waited: patience };
        assert_eq!(waited, Err(silent), "{bytes} bytes");
        let took = started.elapsed();
        assert!(took >= patience, "{took:?}");
    }
}

#[test]
#[ignore = "needs a GPU: cargo test --test gpu -- --ignored"]
fn a_band_around_the_seam_is_its_own_neighbour() {
    for kind in [Kind::Jacobi, Kind::Multigrid] {
        let wall = if kind == Kind::Jacobi { Wall::Frozen } else { Wall::Coupled };
        let case = Case { periodic: true, nodes: (129, 33), wall, kind, method: Method::Bicgstab };
        let expected = case.on_cpu();

        let found = case.on_ranks(1, |bands, work| {
            let (device, link) = alone();
            let backend = CudaBackend::banded(device, Box::new(link), bands.clone())?;
            Ok(vec![work(0, &backend.with_gathered_points(1000))?])
        });

        let _ = cases::check(case, &expected, &found.unwrap(), "one rank");
    }
}
