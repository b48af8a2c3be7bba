//! Tests of memory that a library reads on its own stream.

use std::ffi::c_int;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use gridgen::backend::cuda::driver::DriverDevice;
use gridgen::backend::cuda::{AbortFlag, Buffer, Device, Group, WatchedDevice};

use support::gpus::on_host;

use super::{calls, function, hold, with_stand_ins};

/// DLPack's numbers of the legacy default stream, and of the stream of the calling thread.
const LEGACY: u64 = 1;
const OF_THE_THREAD: u64 = 2;
/// Duration of a consumer's work.
const BUSY: Duration = Duration::from_millis(30);

fn new_stream() -> u64 {
    let mut stream = 0;
    // SAFETY: the handle outlives the call.
    let code = unsafe {
        function::<unsafe extern "C" fn(*mut u64, u32) -> c_int>("cuStreamCreate")(
            &raw mut stream,
            1,
        )
    };
    assert_eq!(code, 0);
    stream
}

/// Calls a function whose only argument is a stream.
fn with_stream(name: &str, stream: u64) {
    // SAFETY: functions of this type.
    let code = unsafe { function::<unsafe extern "C" fn(u64) -> c_int>(name)(stream) };
    assert_eq!(code, 0, "{name}");
}

fn context() -> u64 {
    let mut context = 0;
    // SAFETY: the number outlives the call.
    unsafe {
        function::<unsafe extern "C" fn(*mut u64) -> c_int>("cuCtxGetCurrent")(&raw mut context)
    };
    context
}

/// Queues y ← x on a stream.
fn read_on(stream: u64, x: u64, y: &mut [f64]) {
    type Copy = unsafe extern "C" fn(*mut f64, u64, usize, u64) -> c_int;
    // SAFETY: the memory of these devices is host memory, and both ranges outlive the copy.
    let code = unsafe {
        function::<Copy>("cuMemcpyDtoHAsync_v2")(y.as_mut_ptr(), x, size_of_val(y), stream)
    };
    assert_eq!(code, 0);
}

/// A GPU in the forms used for making grids: alone, as a rank, as a member of a group.
fn devices() -> [(&'static str, Arc<dyn Device>); 3] {
    let open = || -> Arc<dyn Device> { Arc::new(DriverDevice::open(0).unwrap()) };
    [
        ("alone", open()),
        ("a rank", Arc::new(WatchedDevice::new(open(), Arc::new(AbortFlag::default())))),
        ("a member", Arc::new(Group::new(open()).unwrap().member())),
    ]
}

/// A consumer that works on the stream `queued` but names it as `named` reads memory that is freed and
/// allocated again at once; it must read the old values.
fn is_read_whole(who: &str, device: &Arc<dyn Device>, named: i64, queued: u64) {
    for round in 0..20 {
        let values = [f64::from(round) + 1.0; 100];
        let x = Buffer::from_host(device, &values).unwrap();
        // A member of a group may not have started yet.
        device.synchronise().unwrap();
        let at = x.address();
        let mut y = [0.0; 100];
        x.lend(named).unwrap();
        hold(queued, true);
        read_on(queued, at, &mut y);

        let next = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(BUSY);
                hold(queued, false);
            });
            drop(x);
            let next = Buffer::<f64>::zeros(device, 100).unwrap();
            device.synchronise().unwrap();
            next
        });

        with_stream("cuStreamSynchronize", queued);
        assert_eq!(next.address(), at, "{who}: the case is about memory that is used again");
        assert_eq!(y.to_vec(), values, "{who}: stream {named}, round {round}");
        assert_eq!(on_host(&next), [0.0; 100], "{who}: stream {named}, round {round}");
    }
}

#[test]
fn memory_that_a_consumer_reads_is_used_again_after_that() {
    let Some(()) = with_stand_ins() else { return };
    for (who, device) in devices() {
        let own = new_stream();
        is_read_whole(who, &device, own.cast_signed(), own);
        is_read_whole(who, &device, LEGACY.cast_signed(), LEGACY);
        // A consumer borrows on its own stream and reads on the default one; another requests no ordering.
        is_read_whole(who, &device, own.cast_signed(), LEGACY);
        is_read_whole(who, &device, -1, own);
        assert_eq!(calls("misuse"), 0);
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
        with_stream("cuStreamSynchronize", own);
        assert_eq!(y.to_vec(), [7.0; 9], "{who}");
        assert_eq!(calls("cuCtxSynchronize"), 0);
    }
}

/// Work on the stream of a thread is found from other threads, too.
#[test]
fn memory_borrowed_on_the_stream_of_a_thread_is_used_again_after_that() {
    let Some(()) = with_stand_ins() else { return };
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
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
            with_stream("cuStreamSynchronize", OF_THE_THREAD);
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
    let Some(()) = with_stand_ins() else { return };
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
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
    with_stream("cuStreamSynchronize", own);
    assert_eq!(y.to_vec(), [7.0; 9]);
}

#[test]
fn a_thread_of_a_consumer_keeps_its_context() {
    let Some(()) = with_stand_ins() else { return };
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
    let other = DriverDevice::open(1).unwrap();
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

/// A stream may be destroyed before the memory borrowed on it is freed.
#[test]
fn memory_is_used_again_after_the_work_of_a_stream_that_was_destroyed() {
    let Some(()) = with_stand_ins() else { return };
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
    let own = new_stream();
    let x = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    let (at, y) = (x.address(), &mut [0.0; 9]);
    x.lend(own.cast_signed()).unwrap();
    hold(own, true);
    read_on(own, at, y);
    with_stream("cuStreamDestroy_v2", own);

    let next = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(BUSY);
            hold(own, false);
        });
        drop(x);
        Buffer::<f64>::zeros(&device, 9).unwrap()
    });

    assert_eq!((next.address(), *y), (at, [7.0; 9]));
}

/// An event of recorded work belongs to the recording, which others may replay.
#[test]
fn memory_that_recorded_work_reads_is_not_used_again() {
    let Some(()) = with_stand_ins() else { return };
    let device: Arc<dyn Device> = Arc::new(DriverDevice::open(0).unwrap());
    let own = new_stream();
    let x = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    let at = x.address();
    x.lend(own.cast_signed()).unwrap();
    // SAFETY: the stream exists.
    unsafe { function::<unsafe extern "C" fn(u64, c_int)>("stand_in_capture")(own, 1) };

    drop(x);

    let next = Buffer::<f64>::zeros(&device, 9).unwrap();
    assert_ne!(next.address(), at);
    assert_eq!(calls("cuCtxSynchronize"), 0);
}
