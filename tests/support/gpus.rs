//! Buffers of any device, and checks of GPUs that work together, both real ones and stand-ins.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytemuck::Pod;
use gridgen::backend::cuda::{Buffer, Device, Gpus, Transport};
use gridgen::backend::{Backend, Bands, DeviceError};

use crate::jobs::side_by_side;

/// The transports between GPUs.
pub const TRANSPORTS: [Transport; 3] = [Transport::PeerMemory, Transport::Nccl, Transport::Host];

pub fn on_host<T: Pod>(buffer: &Buffer<T>) -> Vec<T> {
    let mut values = vec![T::zeroed(); buffer.len()];
    buffer.download(&mut values).unwrap();
    values
}

/// (x, x); the host waits for it.
pub fn square<B: Backend>(backend: &B, x: &B::Vector<f64>) -> Result<f64, DeviceError> {
    let [square] = backend.dot_products([(x, x)])?;
    Ok(square)
}

/// Two GPUs with each transport.
pub fn two_gpus() -> impl Iterator<Item = Gpus> {
    TRANSPORTS.into_iter().map(|transport| {
        let mut gpus = Gpus::open(&[0, 1]).unwrap();
        gpus.transport = transport;
        gpus
    })
}

/// The bands of 64 columns on two GPUs.
pub fn halves() -> Bands {
    Bands::new(64, 2, false).unwrap()
}

/// On every transport, a rank that sends nothing for `timeout` is named by the other, and the GPUs can be
/// used again.
pub fn a_silent_rank_is_named(timeout: Duration) {
    for mut gpus in two_gpus() {
        gpus.timeout = timeout;

        let result = gpus.run(&halves(), |rank, backend| {
            let x = backend.zeros::<f64>(1000)?;
            square(backend, &x)?;
            if rank == 1 {
                std::thread::sleep(2 * timeout);
                return Ok(());
            }
            square(backend, &x).map(drop)
        });

        let silent = DeviceError::RankTimeout { rank: 0, other: Some(1), waited: timeout };
        assert_eq!(result, Err(silent), "{:?}", gpus.transport);
        can_be_used(&gpus);
    }
}

pub fn can_be_used(gpus: &Gpus) {
    let sums = gpus.run(&halves(), |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
    assert_eq!(sums, Ok(vec![0.0, 0.0]), "{:?}", gpus.transport);
}

/// Four runs that are asked for at a time end one after another, each after `sums` sums over `values` values.
pub fn runs_come_one_after_another(sums: usize, values: usize) {
    let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = |_| {
        let mut gpus = Gpus::open(&[0, 1]).unwrap();
        gpus.timeout = Duration::from_secs(20);
        gpus.run(&halves(), |rank, backend| {
            if rank == 0 {
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
            }
            let x = backend.zeros::<f64>(values)?;
            (0..sums).try_for_each(|_| square(backend, &x).map(drop))?;
            if rank == 0 {
                under_way.fetch_sub(1, Ordering::SeqCst);
            }
            Ok::<_, DeviceError>(())
        })
    };

    let results = side_by_side(0..4, run);

    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(most.into_inner(), 1);
}

/// Every byte of large downloads arrives, of those by the driver (the first 256 MiB) and of those in pieces of a
/// mebibyte by several threads. Returns the buffer and its values.
pub fn large_downloads_bring_every_byte(device: &Arc<dyn Device>) -> (Buffer<u8>, Vec<u8>) {
    // Pieces differ.
    let values: Vec<u8> =
        (0..(40_u32 << 20) + 5).map(|k| (k.wrapping_mul(0x9e37_79b1) >> 24) as u8).collect();
    let buffer = Buffer::from_host(device, &values).unwrap();
    let mut host = vec![0; values.len()];
    let of_driver = [values.len(); 7];
    let others =
        [4 << 20, 4 << 20, values.len(), (4 << 20) - 1, 4 << 20, (4 << 20) + 1, values.len()];
    for bytes in of_driver.into_iter().chain(others) {
        host.fill(0);
        buffer.download(&mut host[..bytes]).unwrap();
        assert!(host[..bytes] == values[..bytes], "{bytes} bytes");
        assert!(host[bytes..].iter().all(|byte| *byte == 0), "{bytes} bytes");
    }
    (buffer, values)
}
