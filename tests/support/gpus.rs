//! Buffers of any device, and checks of GPUs that work together, both real ones and stand-ins.

use std::time::Duration;

use bytemuck::Pod;
use gridgen::backend::cuda::{Buffer, Gpus, Transport};
use gridgen::backend::{Backend, Bands, DeviceError};

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

/// On every transport, a rank that sends nothing for `timeout` is named by the other, and the GPUs can be
/// used again.
pub fn a_silent_rank_is_named(timeout: Duration) {
    let bands = Bands::new(64, 2, false).unwrap();
    for transport in TRANSPORTS {
        let mut gpus = Gpus::open(&[0, 1]).unwrap();
        (gpus.transport, gpus.timeout) = (transport, timeout);

        let result = gpus.run(&bands, |rank, backend| {
            let x = backend.zeros::<f64>(1000)?;
            square(backend, &x)?;
            if rank == 1 {
                std::thread::sleep(2 * timeout);
                return Ok(());
            }
            square(backend, &x).map(drop)
        });

        let silent = DeviceError::RankTimeout { rank: 0, other: Some(1), waited: timeout };
        assert_eq!(result, Err(silent), "{transport:?}");
        let sums = gpus.run(&bands, |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
        assert_eq!(sums, Ok(vec![0.0, 0.0]), "{transport:?}");
    }
}
