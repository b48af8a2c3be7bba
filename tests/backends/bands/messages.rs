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

/// Every rank gathers the values of all, alone and while any two exchange messages of any length.
#[test]
fn all_gather_and_any_two_ranks_exchange_messages() {
    // Rank r sends `lengths[r]` numbers to rank 2 − r, which may be itself. The longest messages are longer than the
    // buffer of an endpoint.
    let ways = TRANSPORTS.map(|transport| {
        [(1, [1, 2, 3]), (2, [0; 3]), (8, [0; 3]), (5000, [0; 3]), (300_000, [300_000, 0, 3])]
            .map(|(gathered, lengths)| (transport, gathered, lengths))
    });
    for (transport, gathered, lengths) in ways.into_iter().flatten() {
        let longest = gathered.max(3);
        let value = |rank: usize, k: usize| (300_000 * rank + k) as u32;
        let values = |rank, count| (0..count).map(move |k| value(rank, k));
        let found = on_three(transport, |link| {
            let (device, rank) = (&link.device, link.rank);
            let other = 2 - rank;
            let own = Buffer::from_host(device, &values(rank, longest).collect::<Vec<_>>())?;
            let from = Buffer::<u32>::zeros(device, longest)?;
            let all = [(); 2].map(|()| Buffer::<u32>::zeros(device, 3 * gathered).unwrap());
            let message = |at, count| [RankMessage { rank: other, at, bytes: 4 * count }];
            let received = message(from.address(), lengths[other]);
            link.all_gather(own.address(), all[0].address(), 4 * gathered)?;
            link.start_exchange(&message(own.address(), lengths[rank]), &received)?;
            link.all_gather(own.address(), all[1].address(), 4 * gathered)?;
            link.finish_exchange()?;
            Ok((on_host(&from), all.each_ref().map(on_host)))
        });

        let of_all: Vec<u32> = (0..3).flat_map(|rank| values(rank, gathered)).collect();
        for (rank, (came, all)) in found.into_iter().enumerate() {
            let mut expected: Vec<u32> = values(2 - rank, lengths[2 - rank]).collect();
            expected.resize(longest, 0);
            assert!(came == expected, "{transport:?} {lengths:?}, rank {rank}: {:?}", &came[..3]);
            let whole = all.iter().all(|all| *all == of_all);
            assert!(whole, "{transport:?}, {gathered} values, rank {rank}");
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
