//! What ranks pass to each other.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

use std::sync::Arc;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{
    Alarm, Buffer, Communicator, Device, HostCommunicator, Parcel, Post, run_ranks,
};

use crate::fibers::FiberDevice;

/// Does `work` on every rank with its device and communicator.
fn on<R: Send>(
    ranks: usize,
    work: impl Fn(&Arc<dyn Device>, &HostCommunicator) -> Result<R, DeviceError> + Sync,
) -> Result<Vec<R>, DeviceError> {
    let alarm = Arc::new(Alarm::default());
    let post = Arc::new(Post::new(alarm.clone()));
    run_ranks(ranks, &alarm, |rank| {
        let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
        work(&device, &HostCommunicator::new(post.clone(), rank, ranks, device.clone()))
    })
}

#[test]
fn everybody_gathers_what_all_have() {
    let found = on(3, |device, communicator| {
        let own = Buffer::from_host(device, &[communicator.rank() as u32, 7])?;
        let all = Buffer::<u32>::zeros(device, 6)?;
        communicator.all_gather(own.address(), all.address(), 8)?;
        let mut host = [0; 6];
        all.download(&mut host)?;
        Ok(host)
    });

    assert_eq!(found.unwrap(), [[0, 7, 1, 7, 2, 7]; 3]);
}

/// What each rank receives from before and after, 9 where there is nobody.
fn exchanged(ranks: usize, ring: bool) -> Vec<[u32; 2]> {
    let work = |device: &Arc<dyn Device>, communicator: &HostCommunicator| {
        let rank = communicator.rank();
        let sent = Buffer::from_host(device, &[10 * rank as u32, 10 * rank as u32 + 1])?;
        let received = Buffer::from_host(device, &[9, 9])?;
        let there = [ring || rank > 0, ring || rank + 1 < ranks];
        let beside = [(rank + ranks - 1) % ranks, (rank + 1) % ranks];
        let parcels = |buffer: &Buffer<u32>, sides: [usize; 2]| -> Vec<Parcel> {
            let parcel = |k: usize| Parcel { rank: beside[k], at: buffer.address_of(k), bytes: 4 };
            sides.into_iter().filter(|&k| there[k]).map(parcel).collect()
        };
        // What goes to the rank before comes there from the rank after.
        let (sends, receives) = (parcels(&sent, [0, 1]), parcels(&received, [1, 0]));
        // Twice, so that messages that follow each other keep their order.
        for _ in 0..2 {
            communicator.start_exchange(&sends, &receives)?;
            communicator.finish_exchange(&receives)?;
        }
        let mut host = [0; 2];
        received.download(&mut host)?;
        Ok(host)
    };
    on(ranks, work).unwrap()
}

#[test]
fn neighbours_exchange_their_sides() {
    assert_eq!(exchanged(3, false), [[9, 10], [1, 20], [11, 9]]);
    assert_eq!(exchanged(3, true), [[21, 10], [1, 20], [11, 0]]);
}

#[test]
fn any_two_ranks_exchange_parcels_of_any_length_while_all_gather() {
    // Rank r sends r + 1 numbers to rank 2 − r, which may be itself.
    let found = on(3, |device, communicator| {
        let rank = communicator.rank();
        let other = 2 - rank;
        let own = Buffer::from_host(device, &[rank as u32; 3])?;
        let (from, all) = (Buffer::<u32>::zeros(device, 3)?, Buffer::<u32>::zeros(device, 3)?);
        let parcel = |at, count| [Parcel { rank: other, at, bytes: 4 * count }];
        let received = parcel(from.address(), other + 1);
        communicator.start_exchange(&parcel(own.address(), rank + 1), &received)?;
        communicator.all_gather(own.address(), all.address(), 4)?;
        communicator.finish_exchange(&received)?;
        let (mut came, mut gathered) = ([0; 3], [0; 3]);
        from.download(&mut came)?;
        all.download(&mut gathered)?;
        Ok((came, gathered))
    });

    let gathered = [0, 1, 2];
    let expected = [([2, 2, 2], gathered), ([1, 1, 0], gathered), ([0, 0, 0], gathered)];
    assert_eq!(found.unwrap(), expected);
}

#[test]
fn two_ranks_in_a_ring_are_neighbours_on_both_sides() {
    assert_eq!(exchanged(2, true), [[11, 10], [1, 0]]);
}
