//! Tests of one device.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use gridgen::backend::cuda::device::Download;
use gridgen::backend::cuda::driver::fits;
use gridgen::backend::cuda::{Buffer, CudaBackend, CudaRecording, Device, Gpus};
use gridgen::backend::scalars::{self, FIRST as SLOT, LOG, SLOTS};
use gridgen::backend::{Backend, DeviceError};
use gridgen::generate::{Machine, Problem, SolveOptions, solve};

use support::cases::with;
use support::gpus::{self, on_host};

use super::{
    OUT_OF_MEMORY, calls, clear_by_kernel, fail, granted, hold, open, opened, with_stand_ins,
};

/// Index of a slot among the scalars.
const FIRST: usize = SLOT as usize;
/// `CUDA_ERROR_STREAM_CAPTURE_INVALIDATED`.
const INVALIDATED: i32 = 901;

fn trouble() -> DeviceError {
    DeviceError::TooManyEntries { entries: 7 }
}

#[test]
fn the_error_of_a_recording_or_of_work_beside_is_not_hidden_by_that_of_its_end() {
    let Some(device) = opened() else { return };
    fail("cuStreamEndCapture", 0, 1, INVALIDATED);

    let recorded = device.record(false, &mut || Err(trouble()));

    assert_eq!(recorded.err(), Some(trouble()));
    // The stream can be used again, and a failing end is an error by itself.
    assert!(device.record(false, &mut || Ok(())).is_ok());
    fail("cuStreamEndCapture", 0, 1, INVALIDATED);
    let said = device.record(true, &mut || Ok(())).err().unwrap().to_string();
    assert_eq!(said, "GPU 0 (stand-in 0): recording failed: error 901");
    // The first event begins the work beside, the second ends it.
    fail("cuEventRecord", 1, 1, INVALIDATED);
    assert_eq!(device.fork(&mut || Err(trouble())), Err(trouble()));
}

#[test]
fn a_download_is_never_another_ones() {
    let Some(()) = with_stand_ins() else { return };
    let backend = CudaBackend::new(open()).unwrap();
    let scalars: Vec<_> = (0..9_u16)
        .map(|k| {
            let mut scalars = scalars::allocate(&backend).unwrap();
            scalars::set(&backend, &mut scalars, &[(SLOT, f64::from(100 + k))]).unwrap();
            scalars
        })
        .collect();
    let begin = |k: usize| backend.read_back(&scalars[k]).unwrap();
    let end = |download: Download| -> Result<f64, DeviceError> {
        let mut host = [0.0; SLOTS + LOG];
        backend.wait_for(download, &mut host)?;
        Ok(host[FIRST])
    };

    let mut begun: Vec<Download> = (0..9).map(begin).collect();
    let last = begun.split_off(1);
    let first = end(begun.remove(0));

    assert_eq!(first, Err(DeviceError::TooManyDownloads { most: 8 }));
    let found: Vec<_> = last.into_iter().map(end).collect();
    assert_eq!(found, (101..109).map(|k| Ok(f64::from(k))).collect::<Vec<_>>());
    // Downloads that nobody waits for do not block others.
    (0..20).for_each(|_| drop(begin(0)));
    assert_eq!(end(begin(3)), Ok(103.0));
    // Downloads that are waited for at once do not block others either.
    let under_way = begin(4);
    for _ in 0..20 {
        let mut host = [0.0; SLOTS + LOG];
        backend.download(&scalars[6], &mut host).unwrap();
        assert!((host[FIRST] - 106.0).abs() < 1e-12);
    }
    assert_eq!(end(under_way), Ok(104.0));
}

/// A request, made between recorded launches, and its name.
type Asked<'a> = (&'static str, &'a dyn Fn() -> Result<(), DeviceError>);

#[test]
fn what_cannot_be_recorded_is_refused() {
    let Some(device) = opened() else { return };
    let (small, large) = (
        Buffer::from_host(&device, &[7.0_f64; 9]).unwrap(),
        Buffer::from_host(&device, &[7.0_f64; 999]).unwrap(),
    );
    let backend = CudaBackend::new(device.clone()).unwrap();
    let scalars = scalars::allocate(&backend).unwrap();
    let replayed = device.record(true, &mut || Ok(())).unwrap();
    let all: [Asked<'_>; 8] = [
        ("an upload", &|| small.upload(&[1.0; 9])),
        ("a small download", &|| small.download(&mut [0.0; 9])),
        ("a large download", &|| large.download(&mut [0.0; 999])),
        ("a read-back", &|| backend.read_back(&scalars).map(drop)),
        ("a wait", &|| device.synchronise()),
        ("a recording", &|| device.record(true, &mut || Ok(())).map(drop)),
        ("a capture", &|| device.record(false, &mut || Ok(())).map(drop)),
        ("a replay", &|| device.replay(granted(), &replayed)),
    ];

    for (what, ask) in all {
        let recorded = device.record(true, &mut || {
            small.clear()?;
            ask()
        });

        assert_eq!(recorded.err(), Some(DeviceError::NotRecorded), "{what}");
    }

    assert_eq!(on_host(&small), [7.0; 9]);
}

/// After a panic no recording, capture or side stream remains active.
#[test]
fn a_panic_leaves_a_device_that_works() {
    let Some(device) = opened() else { return };
    let backend = CudaBackend::new(device.clone()).unwrap();
    let buffer = Buffer::from_host(&device, &[7.0; 9]).unwrap();
    let replay = |recording: &mut _| backend.replay(recording, || panic!("within a replay"));
    let panics: [&dyn Fn(); 5] = [
        &|| drop(device.record(true, &mut || panic!("within a recording"))),
        &|| drop(device.record(false, &mut || panic!("within a capture"))),
        &|| drop(device.fork(&mut || panic!("beside"))),
        &|| drop(device.record(true, &mut || device.fork(&mut || panic!("beside, recorded")))),
        &|| drop(replay(&mut CudaRecording::default())),
    ];
    for panic in panics {
        buffer.upload(&[7.0; 9]).unwrap();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(panic));
        assert!(caught.is_err());

        // Work on the side stream would wait.
        hold(0, true);
        clear_by_kernel(&*device, &buffer).unwrap();
        let host = on_host(&buffer);
        hold(0, false);

        assert_eq!(host, [0.0; 9]);
        assert!(device.record(true, &mut || buffer.clear()).is_ok());
    }
}

/// This includes exchanges that nobody joins after their start, and exchanges whose end is unknown.
#[test]
fn a_wait_for_a_device_is_one_for_its_exchanges() {
    let Some(()) = with_stand_ins() else { return };
    for failing in [false, true] {
        let device = open();
        let buffer = Buffer::from_host(&device, &[7.0; 9]).unwrap();
        hold(0, true);
        if failing {
            fail("cuEventRecord", 1, 1, INVALIDATED);
        }
        let begun = device.fork(&mut || clear_by_kernel(&*device, &buffer));
        assert_eq!(begun.is_err(), failing);
        let ended = AtomicBool::new(false);

        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                device.synchronise().unwrap();
                ended.store(true, Ordering::SeqCst);
            });
            thread::sleep(Duration::from_millis(100));
            let early = ended.load(Ordering::SeqCst);
            hold(0, false);
            waiting.join().unwrap();
            assert!(!early, "the wait ended before the exchange");
        });

        assert_eq!(on_host(&buffer), [0.0; 9]);
    }
}

/// It is dropped on another thread, and after the device that made it.
#[test]
fn a_recording_is_dropped_in_its_context() {
    let Some(()) = with_stand_ins() else { return };
    for kept in [true, false] {
        let device = open();
        let recording = device.record(kept, &mut || Ok(())).unwrap();
        drop(device);

        thread::spawn(move || drop(recording)).join().unwrap();

        assert_eq!(calls("misuse"), 0, "kept: {kept}");
    }
}

/// The driver compiles the compiler's output for the newest GPU that the compiler supports.
#[test]
fn a_gpu_newer_than_the_compiler_can_be_used() {
    let Some(()) = with_stand_ins() else { return };
    for (capability, newest) in [("120", "100"), ("103", "100"), ("100", "100"), ("90", "100")] {
        // SAFETY: this process runs one test.
        unsafe {
            std::env::set_var("STAND_IN_CAPABILITY", capability);
            std::env::set_var("STAND_IN_NEWEST", newest);
        }
        let device = open();
        let buffer = Buffer::from_host(&device, &[7.0; 9]).unwrap();

        clear_by_kernel(&*device, &buffer).unwrap();

        assert_eq!(on_host(&buffer), [0.0; 9], "{capability}");
    }
}

/// The driver copies where no pinned memory is available.
#[test]
fn large_downloads_bring_every_byte() {
    let Some(device) = opened() else { return };
    fail("cuMemHostAlloc", 0, 1, OUT_OF_MEMORY);

    let (buffer, values) = gpus::large_downloads_bring_every_byte(&device);

    // Whichever piece fails, the next download is complete.
    for after in [0, 3, 9, 30] {
        fail("cuMemcpyDtoHAsync_v2", after, 1, INVALIDATED);
        let said = buffer.download(&mut vec![0; values.len()]).unwrap_err().to_string();
        assert_eq!(said, "GPU 0 (stand-in 0): copying from the device failed: error 901");
        assert!(on_host(&buffer) == values);
    }
}

/// Nobody waits for them, however often their places come round.
#[test]
fn small_uploads_bring_what_the_host_held_when_they_were_asked_for() {
    let Some(device) = opened() else { return };
    let mut host = vec![0_u64; 3000];
    for (held, lengths) in
        [(true, [1, 2, 3, 63, 64, 65, 2047, 2048]), (false, [2048, 1, 2049, 9, 3000, 2048, 7, 2])]
    {
        for round in 1..4 {
            hold(device.queue().unwrap(), held);
            let uploaded: Vec<_> = (lengths.iter().zip(1..))
                .map(|(&length, k)| {
                    host.fill(100 * round + k);
                    Buffer::from_host(&device, &host[..length]).unwrap()
                })
                .collect();
            host.fill(0);
            hold(device.queue().unwrap(), false);

            for (buffer, k) in uploaded.iter().zip(1..) {
                let found = on_host(buffer);
                assert!(found.iter().all(|word| *word == 100 * round + k), "{} words", found.len());
            }
        }
    }
}

#[test]
fn idle_memory_is_reused_once_and_for_requests_of_its_size() {
    let Some(device) = opened() else { return };
    let zeros = |bytes: usize| Buffer::<u8>::zeros(&device, bytes);
    let idle = zeros(64).unwrap().address();

    let (other, first, second) = (zeros(32).unwrap(), zeros(64).unwrap(), zeros(64).unwrap());

    assert_eq!(first.address(), idle);
    assert!(other.address() != idle && second.address() != idle);
    // Idle memory is used again without the driver, until it has been returned to it. A small amount is not
    // returned, since others would have to wait for that, and counts as free.
    let (free, total) = device.memory().unwrap().unwrap();
    drop(first);
    assert_eq!(device.memory().unwrap(), Some((free + 64, total)));
    let much = zeros(total / 64).unwrap();
    fail("cuMemAlloc_v2", 0, i32::MAX, OUT_OF_MEMORY);
    assert_eq!(zeros(64).unwrap().address(), idle);
    drop(much);
    assert_eq!(device.memory().unwrap(), Some((free, total)));
    let refused = zeros(64).map(drop);
    assert!(matches!(refused, Err(DeviceError::OutOfMemory { asked: 64, .. })), "{refused:?}");
}

/// Kernels are loaded once for all users of an open GPU.
#[test]
fn a_gpu_that_is_open_is_opened_again_at_once() {
    let Some(()) = with_stand_ins() else { return };
    let sum = |device: &Arc<dyn Device>| -> Result<f64, DeviceError> {
        let backend = CudaBackend::new(device.clone())?;
        let mut x = backend.zeros::<f64>(3)?;
        backend.upload(&[1.0, -7.0, 2.0], &mut x)?;
        backend.max_abs(&x)
    };
    let (first, second) = (open(), open());
    assert_eq!(sum(&first), Ok(7.0));
    fail("cuModuleLoadData", 0, i32::MAX, OUT_OF_MEMORY);

    let later = [sum(&second), sum(&open())];

    assert_eq!(later, [Ok(7.0), Ok(7.0)]);
    // The last user has closed the GPU.
    drop((first, second));
    assert!(sum(&open()).is_err());
}

/// A small grid around a section.
fn small(section: &str, points: &str, sets: &[(&str, &str)]) -> Problem {
    let size = [("geometry.naca", section), ("grid.ni", points), ("grid.nj", "13")];
    let sets = [&size[..], sets, &[("grid.first_cell", "1e-2"), ("grid.topology", "O")]].concat();
    with("geometry.naca = '0012'", &sets).settle().unwrap()
}

/// Graphs are reused for the same work at the same addresses, and only for that.
#[test]
fn a_second_case_of_the_same_size_reuses_the_graph() {
    let Some(()) = with_stand_ins() else { return };
    let solved = |machine: &Machine, problem: &Problem| {
        let result = solve(problem, machine, &SolveOptions::default(), &mut ())
            .map_err(|e| e.to_string())?;
        assert!(result.is_good(), "{}", result.verdict);
        let bits = |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        Ok::<_, String>((bits(&result.grid.x), bits(&result.grid.y)))
    };
    let open = || Machine::Cuda(Box::new(CudaBackend::open(0, 0).unwrap()));
    let [first, second, other] =
        [("2412", "33"), ("0015", "33"), ("2412", "35")].map(|(section, n)| small(section, n, &[]));
    let machine = open();
    let expected = [&first, &second, &other].map(|problem| solved(&open(), problem).unwrap());
    // The first solve allocates memory; the second and all later ones reuse the memory of the one before.
    assert_eq!(solved(&machine, &first).unwrap(), expected[0]);
    assert_eq!(solved(&machine, &first).unwrap(), expected[0]);
    fail("cuStreamEndCapture", 0, i32::MAX, INVALIDATED);

    // The points and the steps differ, the addresses are the same.
    assert_eq!(solved(&machine, &second).unwrap(), expected[1]);
    assert_eq!(solved(&machine, &first).unwrap(), expected[0]);

    let refused = solved(&machine, &other).unwrap_err();
    assert!(refused.contains("recording failed"), "{refused}");
    fail("cuStreamEndCapture", 0, 0, INVALIDATED);
    assert_eq!(solved(&machine, &other).unwrap(), expected[2]);
    assert_eq!(solved(&machine, &second).unwrap(), expected[1]);
}

/// The first linear solve makes two graphs on each GPU, for one iteration and for several; later solves make
/// none.
#[test]
fn linear_solves_on_several_gpus_share_their_graphs() {
    let Some(()) = with_stand_ins() else { return };
    let sets = [("control.wall", "frozen"), ("linear.preconditioner", "jacobi")];
    let problem = small("0012", "33", &sets);
    let machine = Machine::Ranks(Box::new(Gpus::open(&[0, 1]).unwrap()));
    fail("cuStreamEndCapture", 4, i32::MAX, INVALIDATED);

    let result = solve(&problem, &machine, &SolveOptions::default(), &mut ());

    fail("cuStreamEndCapture", 0, 0, INVALIDATED);
    let result = result.unwrap();
    assert!(result.is_good(), "{}", result.verdict);
    assert!(result.history.steps.len() > 2);
}

#[test]
fn a_driver_of_an_older_major_version_is_refused() {
    assert!(fits((13, 0), (13, 2)).is_ok() && fits((13, 0), (12, 4)).is_ok());
    assert_eq!(
        fits((12, 8), (13, 0)),
        Err(DeviceError::OldDriver { driver: (12, 8), compiler: (13, 0) })
    );
}
