//! Messages between ranks.

use std::time::Duration;

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::{Buffer, RankLink, RankMessage};

use super::ranks::{TRANSPORTS, opposite};
use support::fibers::{Transport, fibers, on_ranks};
use support::gpus::on_host;

fn on_three<R: Send>(
    transport: Transport,
    work: impl Fn(&RankLink) -> Result<R, DeviceError> + Sync,
) -> Vec<R> {
    on_ranks(&fibers(3), transport, |link| work(&link)).unwrap()
}

#[test]
fn every_rank_gathers_the_values_of_all() {
    for transport in TRANSPORTS {
        // The last message is longer than the buffer of an endpoint.
        for length in [1, 2, 8, 5000, 300_000] {
            let found = on_three(transport, |link| {
                let (device, rank) = (&link.device, link.rank as u32);
                let own: Vec<u32> = (0..length).map(|k| 100_000 * rank + k).collect();
                let own = Buffer::from_host(device, &own)?;
                let all = Buffer::<u32>::zeros(device, 3 * length as usize)?;
                link.all_gather(own.address(), all.address(), 4 * length as usize)?;
                Ok(on_host(&all))
            });

            let expected: Vec<u32> =
                (0..3).flat_map(|rank| (0..length).map(move |k| 100_000 * rank + k)).collect();
            assert!(found.iter().all(|all| *all == expected), "{transport:?}, {length} values");
        }
    }
}

#[test]
fn any_two_ranks_exchange_messages_of_any_length_while_all_gather() {
    // Rank r sends `lengths[r]` numbers to rank 2 − r, which may be itself.
    for (transport, lengths) in [
        (Transport::Host, [1, 2, 3]),
        (Transport::PeerMemory, [1, 2, 3]),
        (Transport::PeerMemory, [300_000, 0, 3]),
    ] {
        let longest = 300_000;
        let found = on_three(transport, |link| {
            let (device, rank) = (&link.device, link.rank);
            let other = 2 - rank;
            let own = Buffer::from_host(device, &vec![rank as u32 + 1; longest])?;
            let from = Buffer::<u32>::zeros(device, longest)?;
            let all = Buffer::<u32>::zeros(device, 3)?;
            let message = |at, count| [RankMessage { rank: other, at, bytes: 4 * count }];
            let received = message(from.address(), lengths[other]);
            link.start_exchange(&message(own.address(), lengths[rank]), &received)?;
            link.all_gather(own.address(), all.address(), 4)?;
            link.finish_exchange()?;
            Ok((on_host(&from), on_host(&all)))
        });

        for (rank, (came, gathered)) in found.into_iter().enumerate() {
            let mut expected = vec![3 - rank as u32; lengths[2 - rank]];
            expected.resize(longest, 0);
            assert!(came == expected, "{transport:?} {lengths:?}, rank {rank}: {:?}", &came[..4]);
            assert_eq!(gathered, [1, 2, 3], "{transport:?} {lengths:?}, rank {rank}");
        }
    }
}

#[test]
fn messages_pass_in_any_order_of_blocks() {
    // Fragments that fit in the buffer of an endpoint, and a message that does not.
    for length in [3, 50_000, 300_000] {
        let found = on_ranks(&opposite(), Transport::PeerMemory, |link| {
            let (device, rank) = (&link.device, link.rank);
            let own = Buffer::from_host(device, &vec![rank as u32 + 1; length])?;
            let [all, came] = [2 * length, length].map(|n| Buffer::<u32>::zeros(device, n));
            let (all, came) = (all?, came?);
            let message = |buffer: &Buffer<u32>| {
                [RankMessage { rank: 1 - rank, at: buffer.address(), bytes: 4 * length }]
            };
            for _ in 0..3 {
                link.start_exchange(&message(&own), &message(&came))?;
                link.all_gather(own.address(), all.address(), 4 * length)?;
                link.finish_exchange()?;
            }
            Ok::<_, DeviceError>((on_host(&came), on_host(&all)))
        });

        let gathered = [vec![1; length], vec![2; length]].concat();
        for (rank, found) in found.unwrap().into_iter().enumerate() {
            assert!(found == (vec![2 - rank as u32; length], gathered.clone()), "{length}, {rank}");
        }
    }
}

/// A message that exceeds the buffer is read from the memory of its sender, who may reuse that memory only
/// after the exchange is finished, whichever block of a launch came first.
#[test]
fn what_is_sent_stays_until_it_is_fetched() {
    let length = 300_000;
    let found = on_ranks(&opposite(), Transport::PeerMemory, |link| {
        let device = &link.device;
        let own = Buffer::from_host(device, &vec![7_u32; length])?;
        let message = |rank| [RankMessage { rank, at: own.address(), bytes: 4 * length }];
        if link.rank == 1 {
            link.start_exchange(&message(0), &[])?;
            link.finish_exchange()?;
            own.upload(&vec![9; length])?;
        } else {
            std::thread::sleep(Duration::from_millis(100));
            link.start_exchange(&[], &message(1))?;
            link.finish_exchange()?;
        }
        // The memory must stay allocated until both are done.
        let all = Buffer::<u32>::zeros(device, 4)?;
        link.all_gather(own.address(), all.address(), 8)?;
        Ok::<_, DeviceError>(on_host(&own))
    });

    assert!(found.unwrap()[0] == vec![7; length]);
}
