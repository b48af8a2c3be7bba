//! Tests of several devices.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gridgen::backend::cuda::{CudaBackend, Gpus};
use gridgen::backend::{Backend, DeviceError};
use gridgen::generate::{MachinePool, RunOptions, make_grid};

use super::{OUT_OF_MEMORY, calls, fail, open, with_stand_ins};
use support::cases::with;
use support::gpus::{
    a_silent_rank_is_named, halves, runs_come_one_after_another, square, two_gpus,
};

#[test]
fn ranks_add_up_their_parts_for_each_transport() {
    let Some(()) = with_stand_ins() else { return };
    for gpus in two_gpus() {
        let transport = gpus.transport;
        let sums = gpus.run(&halves(), |rank, backend| {
            let mut x = backend.zeros::<f64>(100)?;
            backend.upload(&[1.0 + rank as f64; 100], &mut x)?;
            square(backend, &x)
        });

        assert_eq!(sums, Ok(vec![500.0; 2]), "{transport:?}");
    }
}

#[test]
fn a_rank_that_goes_silent_is_named_whichever_way_messages_go() {
    let Some(()) = with_stand_ins() else { return };
    a_silent_rank_is_named(Duration::from_millis(500));
}

/// Before it frees memory the driver waits for kernels, which may wait for a launch of another rank.
#[test]
fn a_run_that_is_out_of_memory_says_so_and_frees_nothing() {
    let Some(()) = with_stand_ins() else { return };
    for gpus in two_gpus() {
        let transport = gpus.transport;
        let result = gpus.run(&halves(), |rank, backend| {
            drop(backend.zeros::<f64>(1 << 12)?);
            square(backend, &backend.zeros::<f64>(9)?)?;
            if rank == 1 {
                return square(backend, &backend.zeros::<f64>(9)?).map(drop);
            }
            let freed = calls("cuMemFree_v2");
            fail("cuMemAlloc_v2", 0, i32::MAX, OUT_OF_MEMORY);
            let refused = backend.zeros::<f64>(1 << 13).map(drop);
            fail("cuMemAlloc_v2", 0, 0, OUT_OF_MEMORY);
            assert_eq!(calls("cuMemFree_v2"), freed, "{transport:?}");
            refused
        });

        let told = matches!(result, Err(DeviceError::OutOfMemory { asked: 65536, .. }));
        assert!(told, "{transport:?}: {result:?}");
    }
}

/// With lazy loading the driver loads a kernel at its first use, and may wait for other kernels meanwhile.
#[test]
fn all_kernels_are_loaded_before_a_run() {
    let Some(()) = with_stand_ins() else { return };
    // One GPU is already open, with some kernels of some modules loaded.
    let alone = CudaBackend::open(0, 0).unwrap();
    square(&alone, &alone.zeros::<f64>(9).unwrap()).unwrap();
    let gpus = Gpus::open(&[0, 1]).unwrap();
    let loaded = calls("load");

    let sums = gpus.run(&halves(), |_, backend| {
        square(backend, &backend.zeros::<f64>(9)?)?;
        backend.max_abs(&backend.zeros::<f64>(9)?)
    });

    assert_eq!(sums, Ok(vec![0.0; 2]));
    assert_eq!(calls("load"), loaded);
}

/// The driver frees memory after all kernels of a GPU are done, and launches none meanwhile, not even one
/// that a kernel of another GPU waits for.
#[test]
fn a_gpu_is_closed_after_the_run_on_several() {
    let Some(()) = with_stand_ins() else { return };
    let gpus = Gpus::open(&[0, 1]).unwrap();
    let alone = Mutex::new(Some(open()));
    let closed = AtomicBool::new(false);

    std::thread::scope(|scope| {
        let close = || {
            drop(alone.lock().unwrap().take());
            closed.store(true, Ordering::SeqCst);
        };
        let result = gpus.run(&halves(), |rank, _| {
            if rank == 0 {
                scope.spawn(close);
                std::thread::sleep(Duration::from_millis(200));
            }
            Ok::<_, DeviceError>(closed.load(Ordering::SeqCst))
        });

        assert_eq!(result.map(|closed| closed[0]), Ok(false));
    });

    assert!(closed.into_inner());
}

/// Machines of several GPUs stay open for the next case, which may name others.
#[test]
fn a_case_gets_the_gpus_that_it_names_from_a_pool() {
    let Some(()) = with_stand_ins() else { return };
    // One step of few iterations tells the GPUs.
    let case = with(
        "geometry.naca = '2412'\nquality.retry = false\nnewton.max_iterations = 1\n\
         linear.preconditioner = 'jacobi'\nlinear.max_iterations = 2\n\
         grid = { ni = 33, nj = 9, far_field = 5 }\n",
        &[],
    );
    let mut options = RunOptions::default();
    options.pool = Some(Arc::new(MachinePool::new(1)));
    for (gpus, name) in [
        ([0, 1], "cuda (1 × stand-in 0, 1 × stand-in 1)"),
        ([1, 0], "cuda (1 × stand-in 1, 1 × stand-in 0)"),
        ([0, 1], "cuda (1 × stand-in 0, 1 × stand-in 1)"),
    ] {
        options.devices = Some(gpus.to_vec());

        let made = make_grid(&case, &options, &mut ()).unwrap();

        assert_eq!(made.backend, name);
    }
    assert_eq!(format!("{:?}", options.pool.unwrap()), "MachinePool { jobs: 1, idle: 2 }");
}

/// Kernels that wait for another GPU must not be queued behind such kernels of another run.
#[test]
fn runs_on_several_gpus_come_one_after_another() {
    let Some(()) = with_stand_ins() else { return };
    runs_come_one_after_another(50, 100);
}
