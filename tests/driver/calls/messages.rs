//! Tests of messages by NCCL.

use std::ffi::c_int;
use std::sync::Arc;
use std::time::Duration;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{
    AbortFlag, Buffer, CommunicatorId, HostTransport, RankLink, RankMessage, Transport, connect,
    run_ranks,
};

use super::{calls, fail, foreign, function, with_stand_ins};

/// `ncclInvalidArgument`, `ncclRemoteError`, `ncclInProgress`, `CUDA_ERROR_NOT_READY`.
const INVALID: i32 = 4;
const REMOTE: i32 = 6;
const IN_PROGRESS: i32 = 7;
const NOT_READY: i32 = 600;

fn join(
    host: &Arc<HostTransport>,
    rank: usize,
    id: CommunicatorId,
) -> Result<RankLink, DeviceError> {
    let gpu = Arc::new(DriverDevice::open(rank, &[])?);
    connect(Transport::Nccl, (host.clone(), rank), gpu.clone(), Some((gpu, id)))
}

/// A rank without others.
fn alone(abort_flag: &Arc<AbortFlag>) -> Result<RankLink, DeviceError> {
    join(&Arc::new(HostTransport::new(abort_flag.clone(), 1)), 0, CommunicatorId::new()?)
}

foreign! {
    /// Number of groups of calls that were begun and not ended.
    open_groups "stand_in_open_groups" () -> c_int;
}

#[test]
fn a_group_of_messages_is_ended_whatever_fails() {
    let Some(()) = with_stand_ins() else { return };
    let link = alone(&Arc::default()).unwrap();
    let buffer = Buffer::<u64>::zeros(&link.device, 4).unwrap();
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
    let abort_flag = Arc::default();
    let link = alone(&abort_flag).unwrap();
    let device = &link.device;
    let buffer = Buffer::<u64>::zeros(device, 4).unwrap();
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
    let abort_flag = Arc::default();
    let host = Arc::new(HostTransport::new(Arc::clone(&abort_flag), 2));
    let id = CommunicatorId::new().unwrap();
    // The second call fails; NCCL before 2.14 has the other function.
    fail("ncclCommInitRankConfig", 1, 1, REMOTE);
    fail("ncclCommInitRank", 1, 1, REMOTE);

    let joined = run_ranks(2, &abort_flag, |rank| join(&host, rank, id).map(drop));

    let said = joined.unwrap_err().to_string();
    assert!(said.ends_with("meeting the other GPUs failed: NCCL: error 6"), "{said}");
    assert_eq!(calls("ncclCommAbort"), 1);
}

/// A rank never calls the initialisation, or a stream never ends.
#[test]
fn a_wait_that_takes_too_long_is_given_up() {
    let Some(()) = with_stand_ins() else { return };
    let timeout = Duration::from_millis(200);
    let abort_flag = Arc::new(AbortFlag::new(timeout));
    let late = DeviceError::RankTimeout { rank: 0, other: None, waited: timeout };
    fail("ncclCommGetAsyncError", 0, i32::MAX, IN_PROGRESS);
    assert_eq!(alone(&abort_flag).map(drop), Err(late.clone()));
    fail("ncclCommGetAsyncError", 0, 0, IN_PROGRESS);
    let link = alone(&abort_flag).unwrap();
    fail("cuStreamQuery", 0, i32::MAX, NOT_READY);

    let waited = link.device.synchronise();

    assert_eq!(waited, Err(late));
}
