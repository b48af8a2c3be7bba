//! The fiber header runs kernels like a GPU, and detects deadlocks.

use std::sync::{Arc, LazyLock};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::Download;
use gridgen::backend::cuda::launch::{LaunchShape, Width};
use gridgen::backend::cuda::{Buffer, Device};
use support::fibers::{Code, Fault, FiberDevice, Library, Order};
use support::gpus::on_host;

static KERNELS: LazyLock<[Library; 2]> = LazyLock::new(|| {
    let text = include_str!("../support/fibers/header.cu");
    [Order(0), Order::ADVERSE].map(|order| Library::load(order, text, Width::Double))
});

fn block(threads: u32) -> LaunchShape {
    LaunchShape::new(1, threads)
}

/// `n` numbers on a fiber device, written by a kernel whose only argument is their address.
fn filled<T: bytemuck::Pod>(
    order: Order,
    name: &str,
    shape: LaunchShape,
    n: usize,
) -> Result<Vec<T>, Fault> {
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let buffer = Buffer::<T>::zeros(&device, n).unwrap();
    let library = &KERNELS[usize::from(order.yields())];
    library.launch(order, name, shape, &[(&buffer).into()]).map(|()| on_host(&buffer))
}

/// [`filled`] with counts, in the natural order.
fn counts(name: &str, shape: LaunchShape, n: usize) -> Result<Vec<u32>, Fault> {
    filled(Order(0), name, shape, n)
}

#[test]
fn a_kernel_that_begins_early_waits_for_the_launches_before() {
    let early = LaunchShape { early: true, ..block(32) };

    assert_eq!(counts("early", early, 1), Ok(vec![1]));
    let fault = counts("places", early, 32).unwrap_err();
    assert_eq!(fault.code, Code::Trapped);
    assert!(fault.message.ends_with("places begins early and waits for no launch"), "{fault:?}");
}

#[test]
fn blocks_that_run_together_may_wait_for_each_other() {
    let wide = |grid, threads| LaunchShape { together: true, ..LaunchShape::new(grid, threads) };
    let meeting = |shape| counts("meeting", LaunchShape { shared: 256, ..shape }, 3 * 64 + 1);

    assert_eq!(meeting(wide(3, 64)), Ok(vec![3; 3 * 64 + 1]));
    assert_eq!(meeting(LaunchShape::new(3, 64)).unwrap_err().code, Code::Deadlock);
    for (grid, threads) in [(3, 40), (17, 32)] {
        assert_eq!(counts("places", wide(grid, threads), 544).unwrap_err().code, Code::BadLaunch);
    }
}

#[test]
fn blocks_begin_with_the_last_where_that_is_asked_for() {
    for (order, expected) in [(Order::BACKWARD_BLOCKS, [2, 1, 0, 3]), (Order(0), [0, 1, 2, 3])] {
        assert_eq!(filled::<u32>(order, "turns", LaunchShape::new(3, 1), 4).unwrap(), expected);
    }
}

/// The natural order of the threads hides missing barriers.
#[test]
fn a_missing_barrier_shows_in_another_order_of_the_threads() {
    for (name, expected) in [
        ("with_a_barrier", [true; 3]),
        ("without_a_barrier", [true, false, false]),
        ("said_before_it_is_done", [true, true, false]),
    ] {
        let found = [Order(0), Order::BACKWARD_THREADS, Order::ADVERSE]
            .map(|order| filled::<u32>(order, name, block(64), 64).unwrap() == [1; 64]);

        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn faults_of_kernels_and_launches_are_found() {
    let overrun = LaunchShape { shared: 100, ..block(1) };
    for (kernel, shape, code) in [
        ("skipped_barrier", block(64), Code::DivergentBarrier),
        ("two_barriers", block(64), Code::DivergentBarrier),
        ("lonely_shuffle", block(64), Code::DivergentWarp),
        ("endless_wait", block(256), Code::Deadlock),
        ("overrun", overrun, Code::SharedOverrun),
        ("no_such_kernel", block(1), Code::UnknownKernel),
        ("two_barriers", block(1025), Code::BadLaunch),
        ("two_barriers", block(0), Code::BadLaunch),
        // There is one argument too few.
        ("places", block(32), Code::BadLaunch),
    ] {
        let fault = KERNELS[0].launch(Order(0), kernel, shape, &[]).unwrap_err();

        assert_eq!(fault.code, code, "{kernel}: {}", fault.message);
        assert!(kernel != "skipped_barrier" || fault.message.contains("exited (1 of 64)"));
        assert_eq!(counts("places", block(64), 64), Ok(vec![1; 64]), "after {kernel}");
    }
}

#[test]
fn a_copy_of_another_length_than_the_buffer_is_an_error() {
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let buffer = Buffer::from_host(&device, &[1.0_f64, 2.0, 3.0]).unwrap();
    let refused = |there, asked| Err(DeviceError::Length { there, asked });

    assert_eq!(buffer.upload(&[0.0; 2]), refused(3, 2));
    assert_eq!(buffer.upload(&[0.0; 4]), refused(3, 4));
    assert_eq!(buffer.upload_part(&[0.0; 4]), refused(3, 4));
    assert_eq!(buffer.download(&mut [0.0; 4]), refused(3, 4));
    assert!(Buffer::<f64>::zeros(&device, usize::MAX / 4).is_err());
    let begun = Download::Done(vec![0; 8]);
    assert_eq!(device.end_download(begun, &mut [0; 16]), refused(8, 16));
    buffer.upload_part(&[4.0]).unwrap();
    assert_eq!(on_host(&buffer), [4.0, 2.0, 3.0]);
}

#[test]
#[should_panic(expected = "not within an allocation")]
fn a_copy_beyond_an_allocation_is_refused() {
    let fibers = Arc::new(FiberDevice::default());
    let device: Arc<dyn Device> = fibers.clone();
    let buffer = Buffer::<f64>::zeros(&device, 3).unwrap();

    fibers.zero(buffer.address(), 25);
}

#[test]
#[should_panic(expected = "double* for uint32*")]
fn an_argument_of_another_type_is_refused() {
    let _ = filled::<f64>(Order(0), "turns", block(1), 2);
}
