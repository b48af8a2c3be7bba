//! The fiber header runs kernels like a GPU, and detects deadlocks.

use std::sync::{Arc, LazyLock};

use gridgen::backend::DeviceError;
use gridgen::backend::cuda::device::Download;
use gridgen::backend::cuda::launch::{Argument, LaunchShape, Width};
use gridgen::backend::cuda::{Buffer, Device};
use support::fibers::{Code, FiberDevice, Library, Order};
use support::gpus::on_host;

/// Sizes that fill less than a warp, a warp, and more.
const SIZES: [u32; 6] = [1, 31, 32, 33, 257, 1024];

static KERNELS: LazyLock<Library> =
    LazyLock::new(|| Library::load(include_str!("../support/fibers/header.cu"), Width::Double));

/// One block of `threads` threads.
fn block(threads: u32) -> LaunchShape {
    LaunchShape::new(1, threads)
}

/// `n` numbers on a fiber device, written by a kernel whose last argument is their address.
fn filled<T: bytemuck::Pod>(
    name: &str,
    shape: LaunchShape,
    arguments: &[Argument],
    n: usize,
) -> Vec<T> {
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let buffer = Buffer::<T>::zeros(&device, n).unwrap();
    let mut all = arguments.to_vec();
    all.push(Argument::from(&buffer));
    KERNELS.launch(name, shape, &all).unwrap();
    on_host(&buffer)
}

/// The error code of a launch that fails.
fn fault(name: &str, shape: LaunchShape) -> (Code, String) {
    let fault = KERNELS.launch(name, shape, &[]).unwrap_err();
    (fault.code, fault.message)
}

#[test]
fn a_block_adds_its_thread_numbers_in_shared_memory() {
    for threads in SIZES {
        let shape = LaunchShape { shared: 8 * threads, ..block(threads) };
        let sum: Vec<f64> = filled("block_sum", shape, &[], 1);

        assert_eq!(sum[0] as u32, threads * (threads - 1) / 2, "{threads} threads");
    }
}

#[test]
fn threads_and_blocks_know_their_place_in_three_dimensions() {
    let shape =
        LaunchShape { grid: [2, 3, 2], block: [3, 2, 2], shared: 0, together: false, early: false };

    let seen: Vec<u32> = filled("places", shape, &[], 144);

    assert!(seen.iter().all(|count| *count == 1), "{seen:?}");
}

#[test]
fn a_kernel_that_begins_early_waits_for_the_launches_before() {
    let early = LaunchShape { early: true, ..LaunchShape::new(1, 32) };

    let seen: Vec<u32> = filled("early", early, &[], 1);
    assert_eq!(seen, [1]);
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let seen = Buffer::<u32>::zeros(&device, 32).unwrap();
    let fault = KERNELS.launch("places", early, &[Argument::from(&seen)]).unwrap_err();
    assert_eq!(fault.code, Code::Trapped);
    assert!(fault.message.ends_with("places begins early and waits for no launch"), "{fault:?}");
}

#[test]
fn blocks_that_run_together_may_wait_for_each_other() {
    let shape = LaunchShape { shared: 256, together: true, ..LaunchShape::new(3, 64) };

    let seen: Vec<u32> = filled("meeting", shape, &[], 3 * 64 + 1);

    assert!(seen.iter().all(|blocks| *blocks == 3), "{seen:?}");
    for (grid, threads) in [(3, 40), (17, 32)] {
        let wide = LaunchShape { together: true, ..LaunchShape::new(grid, threads) };
        assert_eq!(fault("places", wide).0, Code::BadLaunch);
    }
}

#[test]
fn blocks_that_run_one_by_one_wait_for_ever() {
    let shape = LaunchShape { shared: 256, ..LaunchShape::new(2, 64) };
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let seen = Buffer::<u32>::zeros(&device, 129).unwrap();

    let fault = KERNELS.launch("meeting", shape, &[Argument::from(&seen)]).unwrap_err();

    assert_eq!(fault.code, Code::Deadlock, "{}", fault.message);
}

#[test]
fn blocks_begin_with_the_last_where_that_is_asked_for() {
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let shape = LaunchShape::new(3, 1);
    for (order, expected) in [(Order::BACKWARD_BLOCKS, [2, 1, 0]), (Order(0), [0, 1, 2])] {
        let turns = Buffer::<u32>::zeros(&device, 4).unwrap();

        KERNELS.launch_in(order, "turns", shape, &[Argument::from(&turns)]).unwrap();

        assert_eq!(on_host(&turns)[..3], expected);
    }
}

/// The results of a kernel with 64 threads in each order of the threads.
fn in_each_order(name: &str) -> [bool; 3] {
    let text = include_str!("../support/fibers/header.cu");
    let watched = Library::load_for(Order::ADVERSE, text, Width::Double);
    [Order(0), Order::BACKWARD_THREADS, Order::ADVERSE].map(|order| {
        let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
        let good = Buffer::<u32>::zeros(&device, 64).unwrap();
        let library = if order.yields() { &watched } else { &*KERNELS };
        library.launch_in(order, name, block(64), &[Argument::from(&good)]).unwrap();
        on_host(&good).iter().all(|good| *good == 1)
    })
}

/// The natural order of the threads hides missing barriers.
#[test]
fn a_missing_barrier_shows_in_another_order_of_the_threads() {
    assert_eq!(in_each_order("with_a_barrier"), [true; 3]);
    assert_eq!(in_each_order("without_a_barrier"), [true, false, false]);
    assert_eq!(in_each_order("said_before_it_is_done"), [true, true, false]);
}

#[test]
fn shuffles_reach_the_lanes_that_cuda_names() {
    let lanes: Vec<i32> = filled("shuffles", block(32), &[], 5 * 32);

    for lane in 0..32 {
        let at = |kind: usize| lanes[32 * kind + lane as usize];
        assert_eq!(at(0), 5, "shfl");
        assert_eq!(at(1), if lane < 3 { lane } else { lane - 3 }, "up");
        assert_eq!(at(2), if lane + 3 > 31 { lane } else { lane + 3 }, "down");
        assert_eq!(at(3), lane ^ 16, "xor");
        let within = lane % 8;
        assert_eq!(at(4), if within + 3 > 7 { lane } else { lane + 3 }, "down by eights");
    }
}

#[test]
fn votes_count_the_lanes_that_are_there() {
    for threads in [1, 31, 32, 33] {
        let votes: Vec<u32> = filled("votes", block(threads), &[], 3 * threads as usize);

        for (t, votes) in votes.chunks(3).enumerate() {
            let (first, t) = (t as u32 / 32 * 32, t as u32);
            let lanes = (threads - first).min(32);
            let odd =
                (0..lanes).filter(|lane| lane % 2 == 1).fold(0, |mask, lane| mask | 1 << lane);
            assert_eq!(votes[0], odd, "{threads} threads, ballot of {t}");
            assert_eq!(votes[1], u32::from(odd != 0), "any");
            assert_eq!(votes[2], 1, "one thread of the block");
        }
    }
}

#[test]
fn half_a_warp_works_on_its_own() {
    let sums: Vec<i32> = filled("half_warps", block(32), &[], 32);

    assert_eq!(sums[0], (0..16).sum::<i32>());
    assert_eq!(sums[16], (16..32).sum::<i32>());
}

#[test]
fn a_thread_that_naps_lets_the_others_go_on() {
    for threads in SIZES {
        let order: Vec<u32> = filled("pass_the_turn", block(threads), &[], 1);

        assert_eq!(order[0], threads);
    }
}

#[test]
fn atomics_return_the_old_value() {
    let found: Vec<u64> = filled("atomics", block(257), &[], 4);

    assert_eq!(found, [257, 3, 256, 5]);
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
        ("block_sum", block(32), Code::BadLaunch),
    ] {
        let (found, message) = fault(kernel, shape);

        assert_eq!(found, code, "{kernel}: {message}");
    }
    assert!(fault("skipped_barrier", block(64)).1.contains("exited (1 of 64)"));
}

#[test]
fn a_launch_after_a_fault_works() {
    fault("skipped_barrier", block(64));

    a_block_adds_its_thread_numbers_in_shared_memory();
}

#[test]
fn recorded_work_is_done_when_it_is_replayed() {
    let fibers = Arc::new(FiberDevice::default());
    let device: Arc<dyn Device> = fibers.clone();
    let [a, b] = [0, 1].map(|_| Buffer::from_host(&device, &[1.0_f64, 2.0, 3.0]).unwrap());

    let recording = device
        .record(true, &mut || {
            a.clear()?;
            b.copy_from(&a)
        })
        .unwrap();
    assert_eq!(on_host(&b), [1.0, 2.0, 3.0]);
    fibers.again(&recording);

    assert_eq!(on_host(&b), [0.0; 3]);
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
fn a_hundred_thousand_threads_without_barriers_run() {
    let counts: Vec<u32> = filled("count_threads", LaunchShape::new(400, 256), &[], 1);

    assert_eq!(counts[0], 102_400);
}

#[test]
fn arguments_keep_their_bytes() {
    assert_eq!(Argument::from(7_u32).words(), [7]);
    assert_eq!(Argument::from(-0.5_f64).words(), [(-0.5_f64).to_bits()]);
    assert_eq!(Argument::real(0.5_f32).words(), [u64::from(0.5_f32.to_bits())]);
    assert_eq!(Argument::of_words(&[1, 2]).words(), [1, 2]);
}

#[test]
#[should_panic(expected = "double* for uint32*")]
fn an_argument_of_another_type_is_refused() {
    filled::<f64>("turns", block(1), &[], 2);
}
