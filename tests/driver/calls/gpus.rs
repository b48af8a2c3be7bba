//! Several devices.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use gridgen::backend::cuda::{CudaBackend, CudaVector};
use gridgen::backend::cuda::{Gpus, Transport};
use gridgen::backend::{Backend, Bands, DeviceError, scalars};

use super::elsewhere;

/// (x, x), which the host waits for.
fn square(backend: &CudaBackend, x: &CudaVector<f64>) -> Result<f64, DeviceError> {
    let [square] = scalars::read_dots(backend, &mut scalars::room(backend)?, [(x, x)])?;
    Ok(square)
}

const TRANSPORTS: [Transport; 3] = [Transport::PeerMemory, Transport::Nccl, Transport::Host];

#[test]
fn ranks_add_up_their_parts_whichever_way_messages_go() {
    if elsewhere() {
        return;
    }
    let bands = Bands::new(64, 2, false).unwrap();
    for transport in TRANSPORTS {
        let gpus = Gpus::open(&[0, 1]).unwrap().with_transport(transport);

        let sums = gpus.run(&bands, |rank, backend| {
            let mut x = backend.zeros::<f64>(100)?;
            backend.upload(&[1.0 + rank as f64; 100], &mut x)?;
            square(backend, &x)
        });

        assert_eq!(sums, Ok(vec![500.0; 2]), "{transport:?}");
    }
}

#[test]
fn a_rank_that_goes_silent_is_named_whichever_way_messages_go() {
    if elsewhere() {
        return;
    }
    let (timeout, bands) = (Duration::from_millis(500), Bands::new(64, 2, false).unwrap());
    for transport in TRANSPORTS {
        let gpus = Gpus::open(&[0, 1]).unwrap().with_transport(transport).with_timeout(timeout);

        let result = gpus.run(&bands, |rank, backend| {
            let x = backend.zeros::<f64>(100)?;
            square(backend, &x)?;
            if rank == 1 {
                std::thread::sleep(2 * timeout);
                return Ok(());
            }
            square(backend, &x).map(drop)
        });

        let silent = DeviceError::RankTimeout { rank: 0, other: Some(1), waited: timeout };
        assert_eq!(result, Err(silent), "{transport:?}");
        // The GPUs can be used again.
        let sums = gpus.run(&bands, |_, backend| backend.max_abs(&backend.zeros::<f64>(9)?));
        assert_eq!(sums, Ok(vec![0.0, 0.0]), "{transport:?}");
    }
}

/// Kernels that wait for another GPU must not stand behind those of another run that do.
#[test]
fn runs_on_several_gpus_come_one_after_another() {
    if elsewhere() {
        return;
    }
    let bands = Bands::new(64, 2, false).unwrap();
    let (under_way, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = || {
        let gpus = Gpus::open(&[0, 1]).unwrap().with_timeout(Duration::from_secs(20));
        gpus.run(&bands, |rank, backend| {
            if rank == 0 {
                let now = under_way.fetch_add(1, Ordering::SeqCst) + 1;
                most.fetch_max(now, Ordering::SeqCst);
            }
            let x = backend.zeros::<f64>(100)?;
            for _ in 0..50 {
                square(backend, &x)?;
            }
            if rank == 0 {
                under_way.fetch_sub(1, Ordering::SeqCst);
            }
            Ok::<_, DeviceError>(())
        })
    };

    let results: Vec<_> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });

    assert!(results.iter().all(Result::is_ok), "{results:?}");
    assert_eq!(most.into_inner(), 1);
}
