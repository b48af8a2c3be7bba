//! Tests of messages by NCCL.

use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{
    AbortFlag, Buffer, Communicator, CommunicatorId, Device, HostTransport, NcclCommunicator,
    RankMessage, run_ranks,
};

use super::{calls, fail, function, with_stand_ins};

/// `ncclInvalidArgument`, `ncclRemoteError`, `ncclInProgress`, `CUDA_ERROR_NOT_READY`.
const INVALID: i32 = 4;
const REMOTE: i32 = 6;
const IN_PROGRESS: i32 = 7;
const NOT_READY: i32 = 600;

fn alone(abort_flag: &Arc<AbortFlag>) -> (Arc<DriverDevice>, Arc<NcclCommunicator>) {
    let device = Arc::new(DriverDevice::open(0).unwrap());
    let (transport, id) = (HostTransport::new(abort_flag.clone(), 1), CommunicatorId::new());
    let link = NcclCommunicator::join(Arc::new(transport), 0, device.clone(), id.unwrap()).unwrap();
    (device, link)
}

/// Number of groups of calls that were begun and not ended.
fn open_groups() -> c_int {
    // SAFETY: reads a number.
    unsafe { function::<unsafe extern "C" fn() -> c_int>("stand_in_open_groups")() }
}

#[test]
fn a_group_of_messages_is_ended_whatever_fails() {
    let Some(()) = with_stand_ins() else { return };
    let (device, link) = alone(&Arc::default());
    let as_device: Arc<dyn Device> = device;
    let buffer = Buffer::<u64>::zeros(&as_device, 4).unwrap();
    let message = |k: usize| RankMessage { rank: 0, at: buffer.address_of(k), bytes: 8 };
    for (name, after) in [("ncclSend", 0), ("ncclSend", 1), ("ncclRecv", 0), ("ncclRecv", 1)] {
        fail(name, after, 1, INVALID);
        // An error at the end of the group comes later and says less.
        fail("ncclGroupEnd", 0, 1, REMOTE);

        let passed = link.start_exchange(&[message(0), message(1)], &[message(2), message(3)]);

        let said = passed.unwrap_err().to_string();
        let expected = "GPU 0 (stand-in 0): a message between GPUs failed: NCCL: error 4";
        assert_eq!(said, expected);
        assert_eq!(open_groups(), 0, "{name}, call {after}");
        link.finish_exchange().unwrap();
    }
}

#[test]
fn nothing_is_well_after_messages_were_cut_off() {
    let Some(()) = with_stand_ins() else { return };
    let abort_flag = Arc::new(AbortFlag::default());
    let (device, link) = alone(&abort_flag);
    let as_device: Arc<dyn Device> = device.clone();
    let buffer = Buffer::<u64>::zeros(&as_device, 4).unwrap();
    let message = |k: usize| [RankMessage { rank: 0, at: buffer.address_of(k), bytes: 8 }];
    // Another rank fails while this one waits for its stream.
    fail("cuStreamQuery", 0, 1000, NOT_READY);
    abort_flag.raise();

    assert_eq!(device.synchronise(), Err(DeviceError::OtherRank));

    // The stream has ended, but its messages were aborted.
    fail("cuStreamQuery", 0, 0, NOT_READY);
    assert_eq!(device.synchronise(), Err(DeviceError::OtherRank));
    assert_eq!(link.start_exchange(&message(0), &message(1)), Err(DeviceError::OtherRank));
    assert_eq!(link.all_gather(buffer.address(), buffer.address(), 8), Err(DeviceError::OtherRank));
    assert_eq!(buffer.download(&mut [0; 1]), Err(DeviceError::OtherRank));
}

/// A rank fails while others wait for it in NCCL's initialisation.
#[test]
fn a_start_that_waits_for_a_rank_that_failed_ends() {
    let Some(()) = with_stand_ins() else { return };
    let abort_flag = Arc::new(AbortFlag::default());
    let transport = Arc::new(HostTransport::new(abort_flag.clone(), 2));
    let id = CommunicatorId::new().unwrap();
    // The second call fails; NCCL before 2.14 has the other function.
    fail("ncclCommInitRankConfig", 1, 1, REMOTE);
    fail("ncclCommInitRank", 1, 1, REMOTE);

    let joined = run_ranks(2, &abort_flag, |rank| {
        let device = Arc::new(DriverDevice::open(rank)?);
        NcclCommunicator::join(transport.clone(), rank, device, id).map(drop)
    });

    let said = joined.unwrap_err().to_string();
    assert!(said.ends_with("meeting the other GPUs failed: NCCL: error 6"), "{said}");
    assert_eq!(calls("ncclCommAbort"), 1);
}

/// A rank never calls the initialisation.
#[test]
fn a_start_that_waits_too_long_is_given_up() {
    let Some(()) = with_stand_ins() else { return };
    let timeout = Duration::from_millis(200);
    let abort_flag = Arc::new(AbortFlag::new(timeout));
    let device = Arc::new(DriverDevice::open(0).unwrap());
    let transport = Arc::new(HostTransport::new(abort_flag, 1));
    fail("ncclCommGetAsyncError", 0, i32::MAX, IN_PROGRESS);

    let joined = NcclCommunicator::join(transport, 0, device, CommunicatorId::new().unwrap());

    let late = DeviceError::RankTimeout { rank: 0, other: None, waited: timeout };
    assert_eq!(joined.map(drop), Err(late));
}

#[test]
fn a_stream_that_never_ends_is_given_up() {
    let Some(()) = with_stand_ins() else { return };
    let timeout = Duration::from_millis(100);
    let (device, link) = alone(&Arc::new(AbortFlag::new(timeout)));
    fail("cuStreamQuery", 0, i32::MAX, NOT_READY);

    let waited = device.synchronise();

    assert_eq!(waited, Err(DeviceError::RankTimeout { rank: 0, other: None, waited: timeout }));
    drop(link);
}
