//! Members of a group, each with its own grid, compared with single devices.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{TryRecvError, channel};
use std::thread;
use std::time::Duration;

use gridgen::backend::cuda::{Buffer, CudaBackend, CudaRecording, Device, Group};
use gridgen::backend::{Backend, DeviceError};
use gridgen::case::{Case, PlacedCase};
use gridgen::error::Error;
use gridgen::generate::{GridResult, Machine, Progress, SolveOptions, solve, solve_elements};
use gridgen::solver::history::NewtonStep;
use support::blocks::{Block, bend, nozzle, wave};
use support::elements::main_and_flap;
use support::fibers::{FiberDevice, lost, mortal, watched};
use support::gpus::on_host;
use support::jobs::side_by_side;

use crate::bands::runs::case;

fn counted() -> (Arc<dyn Device>, Arc<AtomicUsize>) {
    let launches = Arc::<AtomicUsize>::default();
    let count = launches.clone();
    let device = watched(move |number| {
        count.store(number + 1, Ordering::Relaxed);
        Ok(())
    });
    (device, launches)
}

fn machine(device: Arc<dyn Device>) -> Result<Machine, Error> {
    Ok(Machine::Cuda(Box::new(CudaBackend::new(device)?)))
}

fn make(device: Arc<dyn Device>, case: &Case) -> Result<GridResult, Error> {
    solve(&case.settle()?, &machine(device)?, &SolveOptions::default(), &mut ())
}

/// Results that must not depend on other members, to the last bit.
fn seen(result: &GridResult) -> (Vec<u64>, String, String) {
    let bits = result.grid.x.iter().chain(&result.grid.y).map(|c| c.to_bits()).collect();
    let step = |step: &NewtonStep| {
        format!(
            "{:e} {} {:?} {}",
            step.residual, step.step_length, step.linear_residuals, step.folded_cells
        )
    };
    let steps = result.history.steps.iter().map(step).collect();
    (bits, steps, format!("{} {:?}", result.verdict, result.notices))
}

/// Four-digit sections, some with keys that lead to other methods.
fn cases(count: usize) -> Vec<Case> {
    let sections: Vec<String> =
        (0..count).map(|k| format!("{}4{:02}", 1 + k % 5, 9 + k % 7)).collect();
    let case = |(k, section): (usize, &String)| {
        let mut sets = vec![("geometry.naca", section.as_str())];
        match k % 6 {
            1 => sets.push(("newton.max_iterations", "1")),
            3 => sets.push(("grid.topology", "C")),
            // This case has another size, in double precision.
            4 => sets.extend([("grid.ni", "41"), ("linear.precision", "double")]),
            // No retry can meet this limit.
            5 => sets.extend([("quality.retry", "true"), ("quality.max_skewness", "1e-3")]),
            _ => {}
        }
        case(&sets)
    };
    sections.iter().enumerate().map(case).collect()
}

#[test]
fn a_grid_has_the_same_bits_in_any_group_as_on_a_device_alone() {
    for (count, jobs) in [(2, 2), (4, 3), (17, 17)] {
        let cases = cases(count);
        let group = Group::new(Arc::new(FiberDevice::default())).unwrap();

        let made = side_by_side(0..jobs, |job| {
            let member = Arc::new(group.member());
            let own = (job..count).step_by(jobs);
            own.map(|k| (k, make(member.clone(), &cases[k]).unwrap())).collect::<Vec<_>>()
        });

        for (k, found) in made.into_iter().flatten() {
            let alone = make(Arc::new(FiberDevice::default()), &cases[k]).unwrap();
            let (a, b) = (seen(&found), seen(&alone));
            assert_eq!((&a.1, &a.2), (&b.1, &b.2), "case {k} of {count}");
            assert!(a.0 == b.0, "case {k} of {count}");
        }
        assert_eq!(group.size(), 0);
    }
}

/// Levels with walls at the ends of their xi-lines have turned levels.
#[test]
fn blocks_with_walls_on_all_sides_have_the_same_bits_in_a_group() {
    let blocks = [wave, bend, nozzle].map(|map| Block::new([33, 25], [true; 4], [4e-3, 4e-3], map));
    let solved =
        |device: Arc<dyn Device>, block: &Block| block.solved(&CudaBackend::new(device).unwrap());
    let group = Group::new(Arc::new(FiberDevice::default())).unwrap();
    let members: Vec<_> = blocks.iter().map(|block| (Arc::new(group.member()), block)).collect();

    let found = side_by_side(members, |(member, block)| solved(member, block));

    for (block, found) in blocks.iter().zip(found) {
        let alone = solved(Arc::new(FiberDevice::default()), block);
        assert!(found == alone, "{} or {} steps", found.1, alone.1);
    }
}

/// The result of `work` on a thread of its own, which must not take longer than half a minute.
fn soon<R: Send + 'static>(work: impl FnOnce() -> R + Send + 'static) -> R {
    let (done, waited) = channel();
    thread::spawn(move || done.send(work()));
    waited.recv_timeout(Duration::from_secs(30)).unwrap()
}

/// The first member is idle while its files are written, or while a batch keeps it for the next case.
#[test]
fn a_finished_member_does_not_delay_the_others() {
    let group = Group::new(Arc::new(FiberDevice::default())).unwrap();
    let [first, second] = [(); 2].map(|()| Arc::new(group.member()));
    make(first.clone(), &case(&[])).unwrap();

    let converged = soon(move || make(second, &case(&[])).unwrap().converged());

    assert!(converged);
    drop(first);
}

/// A hard case takes as long as a hundred others.
#[test]
fn a_member_that_works_for_long_does_not_hold_up_the_others() {
    let group = Group::new(Arc::new(FiberDevice::default())).unwrap();
    let [busy, other]: [Arc<dyn Device>; 2] = [(); 2].map(|()| Arc::new(group.member()) as _);
    let words = Buffer::from_host(&busy, &[1_u64]).unwrap();
    let (ended, asked) = channel::<()>();
    let working = thread::spawn(move || {
        while asked.try_recv() == Err(TryRecvError::Empty) {
            words.download(&mut [0]).unwrap();
        }
    });

    assert!(soon(move || make(other, &case(&[])).unwrap().converged()));

    drop(ended);
    working.join().unwrap();
}

#[test]
fn like_work_of_members_is_one_launch() {
    let launches = |thicknesses: Range<usize>| {
        let (device, launches) = counted();
        let group = Group::new(device).unwrap();
        let members: Vec<_> = thicknesses.map(|t| (t, Arc::new(group.member()))).collect();
        let _ = side_by_side(members, |(thickness, member)| {
            let section = format!("24{thickness}");
            make(member, &case(&[("geometry.naca", &section)])).unwrap()
        });
        launches.load(Ordering::Relaxed)
    };

    // Members take different numbers of linear iterations; the group launches as many as the longest of them needs.
    let most = (10..14).map(|t| launches(t..t + 1)).max().unwrap();
    let four = launches(10..14);

    assert!(four < most + most / 4, "{four} launches for four, {most} at most for one");
}

/// The errors of three members of a group on this device.
fn failed(device: Arc<dyn Device>) -> Vec<String> {
    let group = Group::new(device).unwrap();
    let members: Vec<_> = (0..3).map(|_| Arc::new(group.member())).collect();
    soon(|| side_by_side(members, |member| make(member, &case(&[])).unwrap_err().to_string()))
}

#[test]
fn a_lost_device_fails_all_members_and_none_hangs() {
    assert_eq!(failed(mortal(200)), [(); 3].map(|()| lost().to_string()));
}

/// The thread of one member executes the work of all of them.
#[test]
fn a_panic_in_the_work_of_a_group_fails_all_members_and_none_waits() {
    let device = watched(|number| {
        assert_ne!(number, 200, "a launch panics");
        Ok(())
    });

    for failed in failed(device) {
        assert!(failed.contains("the work of a group ended in a panic"), "{failed}");
        assert!(failed.contains("a launch panics"), "{failed}");
    }
}

#[test]
fn a_panic_in_work_that_a_member_records_ends_the_recording() {
    let member: Arc<dyn Device> =
        Arc::new(Group::new(Arc::new(FiberDevice::default())).unwrap().member());
    let backend = CudaBackend::new(member.clone()).unwrap();
    let replay = || drop(backend.replay(&mut CudaRecording::default(), || panic!("within it")));
    assert!(catch_unwind(AssertUnwindSafe(replay)).is_err());
    let (buffer, mut recording, mut calls) =
        (Buffer::from_host(&member, &[7.0; 9]).unwrap(), CudaRecording::default(), 0);

    for _ in 0..2 {
        let work = || {
            calls += 1;
            buffer.clear()
        };
        backend.replay(&mut recording, work).unwrap();
    }

    assert_eq!((calls, on_host(&buffer)), (1, vec![0.0; 9]));
}

/// Memory freed by a member is available to others once the device has finished all work that may use it.
#[test]
fn idle_memory_of_a_member_is_there_for_the_others() {
    let group =
        Group::new(Arc::new(FiberDevice::with(|device| device.capacity = Some(4 << 20)))).unwrap();
    let [first, second]: [Arc<dyn Device>; 2] = [(); 2].map(|()| Arc::new(group.member()) as _);
    let buffer = |device, bytes| Buffer::<u8>::zeros(device, bytes);
    drop(buffer(&first, 2 << 20).unwrap());

    // The memory is still in use, by the operation that clears it.
    let early = buffer(&second, 3 << 20);
    first.synchronise().unwrap();
    let late = buffer(&second, 3 << 20);

    assert!(matches!(early, Err(DeviceError::OutOfMemory { .. })));
    assert_eq!(late.unwrap().len(), 3 << 20);
}

fn two_elements() -> PlacedCase {
    let flap = "reach = 0.2\nchord = 0.5\nat = [1.5, -0.2]\n";
    let grid = "ni = 33, nj = 13, first_cell = 1e-2";
    main_and_flap(grid, ["reach = 0.4\n", flap], "far_field = 5\n").settle().unwrap()
}

fn solve_on(
    device: Arc<dyn Device>,
    progress: &mut dyn Progress,
) -> Result<Vec<GridResult>, Error> {
    solve_elements(&two_elements(), &machine(device)?, progress)
}

#[test]
fn elements_of_a_case_are_solved_together_in_a_group() {
    let solved = |device| {
        let found = solve_on(device, &mut ()).unwrap();
        found.iter().map(seen).collect::<Vec<_>>()
    };
    let expected = solved(Arc::new(FiberDevice::default()));
    assert_eq!(expected.len(), 2);
    let (device, of_one) = counted();
    let group = Group::new(device).unwrap();
    let machine = machine(Arc::new(group.member())).unwrap();
    let problem = &two_elements().elements[0].problem;
    solve(problem, &machine, &SolveOptions::default(), &mut ()).unwrap();
    let one = of_one.load(Ordering::Relaxed);
    let launches_of_both = || {
        let (device, of_both) = counted();
        let group = Group::new(device).unwrap();
        assert_eq!(solved(Arc::new(group.member())), expected);
        assert_eq!(group.size(), 0);
        of_both.load(Ordering::Relaxed)
    };

    // A launch does not wait for a member that has no processor for 20 ms, as happens on a busy machine: it is tried again.
    let together = (0..3).map(|_| launches_of_both()).any(|both| both < one + one / 4);

    assert!(together, "two elements took more than 5/4 of the {one} launches of one");
}

/// Cancels at one call of `cancelled`, counted from zero, and not at others.
struct CancellingOnce(AtomicUsize);

impl Progress for CancellingOnce {
    fn cancelled(&self) -> bool {
        self.0.fetch_sub(1, Ordering::Relaxed) == 0
    }
}

#[test]
fn an_interrupted_element_does_not_delay_the_others() {
    let group = Group::new(Arc::new(FiberDevice::default())).unwrap();
    for asked in 0..10 {
        let member = Arc::new(group.member());
        let mut progress = CancellingOnce(asked.into());

        let failed = soon(move || solve_on(member, &mut progress).is_err());

        assert!(failed, "{asked}");
    }
}
