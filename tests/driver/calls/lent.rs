//! Tests of memory that a library reads on its own stream.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{AbortFlag, Buffer, Device, Group, WatchedDevice};

use support::gpus::on_host;

use super::{calls, foreign, function, hold, open, opened, with_stand_ins};

/// DLPack's numbers of the legacy default stream, and of the stream of the calling thread.
const LEGACY: u64 = 1;
const OF_THE_THREAD: u64 = 2;
/// Duration of a consumer's work.
const BUSY: Duration = Duration::from_millis(30);

foreign! {
    create "cuStreamCreate" (stream: *mut u64, flags: u32) -> c_int;
    synchronise "cuStreamSynchronize" (stream: u64) -> c_int;
    destroy "cuStreamDestroy_v2" (stream: u64) -> c_int;
    capture "stand_in_capture" (stream: u64, captured: c_int);
    current "cuCtxGetCurrent" (context: *mut u64) -> c_int;
    copy "cuMemcpyDtoHAsync_v2" (to: *mut f64, from: u64, bytes: usize, stream: u64) -> c_int;
}

fn new_stream() -> u64 {
    let mut stream = 0;
    assert_eq!(create(&raw mut stream, 1), 0);
    stream
}

fn context() -> u64 {
    let mut context = 0;
    current(&raw mut context);
    context
}

/// Queues y ← x on a stream.
fn read_on(stream: u64, x: u64, y: &mut [f64]) {
    assert_eq!(copy(y.as_mut_ptr(), x, size_of_val(y), stream), 0);
}

/// A GPU in the forms used for making grids: alone, as a rank, as a member of a group.
fn devices() -> [(&'static str, Arc<dyn Device>); 3] {
    [
        ("alone", open()),
        ("a rank", Arc::new(WatchedDevice::new(open(), Arc::new(AbortFlag::default())))),
        ("a member", Arc::new(Group::new(open()).unwrap().member())),
    ]
}

/// Resumes a stream after a while, and does `work` at once.
fn while_busy<R>(stream: u64, work: impl FnOnce() -> R) -> R {
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(BUSY);
            hold(stream, false);
        });
        work()
    })
}

/// A consumer that works on the stream `queued`, which may be destroyed meanwhile, but names it as `named` reads memory
/// that is freed and allocated again at once; it must read the old values.
fn is_read_whole(device: &Arc<dyn Device>, named: i64, queued: u64, destroyed: bool, what: &str) {
    for round in 0..if destroyed { 1 } else { 20 } {
        let values = [f64::from(round) + 1.0; 100];
        let x = Buffer::from_host(device, &values).unwrap();
        // A member of a group may not have started yet.
        device.synchronise().unwrap();
        let at = x.address();
        let mut y = [0.0; 100];
        x.lend(named).unwrap();
        hold(queued, true);
        read_on(queued, at, &mut y);
        if destroyed {
            assert_eq!(destroy(queued), 0);
        }

        let next = while_busy(queued, || {
            drop(x);
            let next = Buffer::<f64>::zeros(device, 100).unwrap();
            device.synchronise().unwrap();
            next
        });

        if !destroyed {
            assert_eq!(synchronise(queued), 0);
        }
        assert_eq!(next.address(), at, "{what}: the case is about memory that is used again");
        assert_eq!(y.to_vec(), values, "{what}: stream {named}, round {round}");
        assert_eq!(on_host(&next), [0.0; 100], "{what}: stream {named}, round {round}");
    }
}

#[test]
fn memory_that_a_consumer_reads_is_used_again_after_that() {
    let Some(()) = with_stand_ins() else { return };
    for (who, device) in devices() {
        let own = new_stream();
        is_read_whole(&device, own.cast_signed(), own, false, who);
        is_read_whole(&device, LEGACY.cast_signed(), LEGACY, false, who);
        // A consumer borrows on its own stream and reads on the default one; another requests no ordering.
        is_read_whole(&device, own.cast_signed(), LEGACY, false, who);
        is_read_whole(&device, -1, own, false, who);
        assert_eq!(calls("misuse"), 0);
    }
    for (who, device) in devices() {
        let own = new_stream();
        is_read_whole(&device, own.cast_signed(), own, true, who);
    }
}

/// The host waits for a consumer only if its stream is unknown.
#[test]
fn memory_is_given_up_without_a_wait() {
    let Some(()) = with_stand_ins() else { return };
    for (who, device) in devices() {
        let own = new_stream();
        let (x, y) = (Buffer::from_host(&device, &[7.0; 9]).unwrap(), &mut [0.0; 9]);
        device.synchronise().unwrap();
        x.lend(own.cast_signed()).unwrap();
        hold(own, true);
        read_on(own, x.address(), y);

        drop(x);

        // The consumer is still working.
        assert_eq!(y.to_vec(), [0.0; 9], "{who}");
        hold(own, false);
        assert_eq!(synchronise(own), 0);
        assert_eq!(y.to_vec(), [7.0; 9], "{who}");
        assert_eq!(calls("cuCtxSynchronize"), 0);
    }
}

/// Work on the stream of a thread is found from other threads, too.
#[test]
fn memory_borrowed_on_the_stream_of_a_thread_is_used_again_after_that() {
    let Some(device) = opened() else { return };
    let x = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    let (lent, is_lent) = channel();
    let (given_up, is_given_up) = channel();

    let read = thread::scope(|scope| {
        let device = &device;
        let consumer = scope.spawn(move || {
            let mut y = [0.0; 9];
            // Makes the context current on this thread.
            device.synchronise().unwrap();
            x.lend(OF_THE_THREAD.cast_signed()).unwrap();
            hold(OF_THE_THREAD, true);
            read_on(OF_THE_THREAD, x.address(), &mut y);
            lent.send(x).unwrap();
            is_given_up.recv().unwrap();
            thread::sleep(BUSY);
            hold(OF_THE_THREAD, false);
            assert_eq!(synchronise(OF_THE_THREAD), 0);
            y
        });
        let x = is_lent.recv().unwrap();
        given_up.send(()).unwrap();
        drop(x);
        let _next = Buffer::<f64>::zeros(device, 9).unwrap();
        device.synchronise().unwrap();
        consumer.join().unwrap()
    });

    assert_eq!(read.to_vec(), [7.0; 9]);
}

#[test]
fn a_consumer_finds_what_the_device_was_asked_for_before() {
    let Some(device) = opened() else { return };
    let own = new_stream();
    let main = device.queue().unwrap();
    let (from, x) =
        (Buffer::from_host(&device, &[7.0; 9]).unwrap(), Buffer::<f64>::zeros(&device, 9).unwrap());
    let y = &mut [0.0; 9];
    hold(main, true);
    x.copy_from(&from).unwrap();

    // The host must not wait; the device is still working.
    x.lend(own.cast_signed()).unwrap();
    read_on(own, x.address(), y);

    assert_eq!(y.to_vec(), [0.0; 9]);
    hold(main, false);
    assert_eq!(synchronise(own), 0);
    assert_eq!(y.to_vec(), [7.0; 9]);
}

#[test]
fn a_thread_of_a_consumer_keeps_its_context() {
    let Some(device) = opened() else { return };
    let other = DriverDevice::open(1, &[]).unwrap();
    let x = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    for bound in [true, false] {
        thread::scope(|scope| {
            scope.spawn(|| {
                if bound {
                    other.synchronise().unwrap();
                }
                let own = context();

                x.lend(LEGACY.cast_signed()).unwrap();
                device.share(-1, true).unwrap();

                assert_eq!(context(), own);
                assert_eq!(own, if bound { 2 } else { 0 });
            });
        });
    }
}

/// An event of recorded work belongs to the recording, which others may replay.
#[test]
fn memory_that_recorded_work_reads_is_not_used_again() {
    let Some(device) = opened() else { return };
    let own = new_stream();
    let x = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    let at = x.address();
    x.lend(own.cast_signed()).unwrap();
    capture(own, 1);

    drop(x);

    let next = Buffer::<f64>::zeros(&device, 9).unwrap();
    assert_ne!(next.address(), at);
    assert_eq!(calls("cuCtxSynchronize"), 0);
}
