//! The work of a group: the requests to its members, and the steps in which they are done on its device: one upload
//! of what launches need, the launches, one download; and recordings of several members as one.

use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED, Recording, Request};
use crate::backend::cuda::launch::constants::MOST_BLOCKS;
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{Arguments, Launch, LaunchShape, Result, kernels};
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Bytes of a word of `copy_words`, and of `clear_words`.
const WORD: usize = size_of::<u64>();
const HALF_WORD: usize = size_of::<u32>();

/// Whether one launch can do both.
fn is_like(a: &Launch, b: &Launch) -> bool {
    a.kernel == b.kernel && a.shape == b.shape
}

/// The arguments of a launch as words, each from a word of its own.
fn append_to(launch: &Launch, words: &mut Vec<u64>) {
    launch.arguments.iter().for_each(|argument| words.extend_from_slice(argument.words()));
}

/// Work in the order in which it was asked.
#[derive(Debug, Clone)]
pub(super) enum MemberWork {
    Launch(Arc<Launch>),
    /// Clears or copies bytes that are no whole words.
    Direct(Request),
    Upload(Arc<[u8]>, Address),
    /// To the result of this number.
    Download {
        number: usize,
        from: Address,
        bytes: usize,
    },
    Replay(Arc<[Launch]>),
}

impl From<Request> for MemberWork {
    fn from(request: Request) -> Self {
        let launch = match request {
            Request::Launch(launch) => launch,
            Request::Clear { at, bytes } if bytes.is_multiple_of(HALF_WORD) => {
                let half_words = bytes / HALF_WORD;
                let arguments = (half_words as u64, Pointer::<u32>::to(at));
                let shape = LaunchShape::elementwise(half_words);
                Launch::new::<f64>(kernels::clear_words, shape, arguments)
            }
            Request::Copy { from, to, bytes } if bytes.is_multiple_of(WORD) => {
                Launch::copying(bytes / WORD, from, to)
            }
            other => return Self::Direct(other),
        };
        Self::Launch(launch.into())
    }
}

impl MemberWork {
    /// Whether it can be done for both at once.
    fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Launch(a), Self::Launch(b)) => is_like(a, b),
            (Self::Upload(a, _), Self::Upload(b, _)) => a.len() == b.len(),
            (Self::Download { bytes: a, .. }, Self::Download { bytes: b, .. }) => a == b,
            (Self::Replay(a), Self::Replay(b)) => are_like(a, b),
            _ => false,
        }
    }
}

/// Whether one recording can do both.
fn are_like(a: &[Launch], b: &[Launch]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_like(a, b))
}

/// Work of a member.
pub(super) type Queue = Vec<MemberWork>;

/// Like work of several members, by the places of their queues.
type Step<'a> = Vec<(usize, &'a MemberWork)>;

/// The work of all queues in steps: each queue's in its order, as much of it together as is alike.
///
/// Members do mostly the same; of those that differ for a while, say by an iteration, the ones with the most
/// left to do go on first, so that they meet the others.
fn steps(queues: &[Queue]) -> Vec<Step<'_>> {
    let mut done = vec![0; queues.len()];
    let mut steps = Vec::new();
    loop {
        let left = |k: usize| queues[k].len() - done[k];
        let next = |k: usize| &queues[k][done[k]];
        // Kinds of the next work of each queue: the queues of a kind, and the most that one of them has left.
        let mut kinds: Vec<(Vec<usize>, usize)> = Vec::new();
        for k in (0..queues.len()).filter(|&k| left(k) > 0) {
            match kinds.iter_mut().find(|(like, _)| next(like[0]).is_like(next(k))) {
                Some((like, most)) => {
                    like.push(k);
                    *most = (*most).max(left(k));
                }
                None => kinds.push((vec![k], left(k))),
            }
        }
        let first =
            kinds.into_iter().max_by_key(|(like, most)| (like.len(), *most, Reverse(like[0])));
        let Some((like, _)) = first else { return steps };
        steps.push(like.iter().map(|&k| (k, next(k))).collect());
        for k in like {
            done[k] += 1;
        }
    }
}

/// Bytes of a download from which it is made by itself, not by way of the group's memory.
const LARGE: usize = 1 << 16;

/// Results of a member's downloads, by their numbers.
pub(super) type Results = HashMap<usize, Vec<u8>>;

/// The device of a group, and memory: what launches read, and what members download.
pub(super) struct GroupStaging {
    device: Arc<dyn Device>,
    recordings: GroupRecordings,
    read: Buffer<u64>,
    written: Buffer<u64>,
}

/// A task of a step on the device.
enum Task<'a> {
    /// A kernel for members, with their arguments if there are several.
    Launch(Arc<Launch>, ArgumentRows),
    /// A recording for members.
    Replay(Vec<Arc<[Launch]>>),
    /// Work that is done for one queue by itself.
    Alone(usize, &'a MemberWork),
}

/// The tasks of steps, the words that their launches read, and where downloads go.
#[derive(Default)]
struct StepPlan<'a> {
    tasks: Vec<Task<'a>>,
    read: Vec<u64>,
    written: usize,
    /// The queue, the number of the download, its first word in what is written, and its bytes.
    downloads: Vec<(usize, usize, usize, usize)>,
}

impl GroupStaging {
    pub(super) fn new(device: &Arc<dyn Device>) -> Result<Self> {
        let zeros = || Buffer::zeros(device, 1);
        let (read, written) = (zeros()?, zeros()?);
        let recordings = GroupRecordings::default();
        Ok(Self { device: device.clone(), recordings, read, written })
    }

    /// Does the work of all queues; returns their results in order.
    pub(super) fn perform(&mut self, queues: &[Queue]) -> Result<Vec<Results>> {
        let steps = steps(queues);
        let mut plan = self.plan(&steps);
        if self.reserve(plan.read.len(), plan.written)? {
            plan = self.plan(&steps);
        }
        if !plan.read.is_empty() {
            self.read.upload_part(&plan.read)?;
        }
        let mut results = vec![Results::new(); queues.len()];
        for task in &plan.tasks {
            self.act(task, &mut results)?;
        }
        if plan.written == 0 {
            self.device.synchronise()?;
        } else {
            let mut written = vec![0_u64; plan.written];
            self.written.download(&mut written)?;
            let written: &[u8] = bytemuck::cast_slice(&written);
            for (queue, number, word, bytes) in plan.downloads {
                let from = word * WORD;
                results[queue].insert(number, written[from..from + bytes].to_vec());
            }
        }
        Ok(results)
    }

    /// Makes room for this many words that are read and written; returns whether addresses have changed.
    fn reserve(&mut self, read: usize, written: usize) -> Result<bool> {
        let mut moved = false;
        for (buffer, words) in [(&mut self.read, read), (&mut self.written, written)] {
            if buffer.len() < words {
                *buffer = Buffer::zeros(&self.device, words.next_power_of_two())?;
                moved = true;
            }
        }
        Ok(moved)
    }

    fn plan<'a>(&self, steps: &[Step<'a>]) -> StepPlan<'a> {
        let (mut plan, at) = (StepPlan::default(), [self.read.address(), self.written.address()]);
        for step in steps {
            plan.add(step, at);
        }
        plan
    }

    fn act(&mut self, task: &Task<'_>, results: &mut [Results]) -> Result<()> {
        match *task {
            Task::Launch(ref launch, ArgumentRows { count: 1, .. }) => {
                self.device.ask(GRANTED, Request::Launch(Launch::clone(launch)))
            }
            Task::Launch(ref launch, rows) => launch_together(&*self.device, launch, rows, None),
            Task::Replay(ref members) => self.recordings.replay(&self.device, members),
            Task::Alone(_, MemberWork::Direct(request)) => {
                self.device.ask(GRANTED, request.clone())
            }
            Task::Alone(_, MemberWork::Upload(from, to)) => self.device.upload(GRANTED, from, *to),
            Task::Alone(queue, &MemberWork::Download { number, from, bytes }) => {
                results[queue].insert(number, self.device.read(GRANTED, from, bytes)?);
                Ok(())
            }
            // These are planned with others.
            Task::Alone(_, MemberWork::Launch(_) | MemberWork::Replay(_)) => Ok(()),
        }
    }
}

/// Whether words are copied by a kernel by way of the group's memory.
fn by_words(bytes: usize) -> bool {
    bytes.is_multiple_of(WORD) && bytes < LARGE
}

impl<'a> StepPlan<'a> {
    /// Adds a step; what launches read and where they leave downloads begins at these addresses.
    fn add(&mut self, step: &Step<'a>, [read, written]: [Address; 2]) {
        let (mut launches, mut replays) = (Vec::with_capacity(step.len()), Vec::new());
        for &(queue, work) in step {
            match work {
                MemberWork::Launch(launch) => launches.push(launch.clone()),
                MemberWork::Upload(bytes, to) if by_words(bytes.len()) => {
                    let from = read + (self.read.len() * WORD) as Address;
                    let words = bytes.as_chunks().0.iter().copied();
                    self.read.extend(words.map(u64::from_ne_bytes));
                    launches.push(Launch::copying(bytes.len() / WORD, from, *to).into());
                }
                MemberWork::Download { number, from, bytes } if by_words(*bytes) => {
                    let to = written + (self.written * WORD) as Address;
                    self.downloads.push((queue, *number, self.written, *bytes));
                    self.written += bytes / WORD;
                    launches.push(Launch::copying(bytes / WORD, *from, to).into());
                }
                MemberWork::Replay(recorded) => replays.push(recorded.clone()),
                MemberWork::Direct(_) | MemberWork::Upload(..) | MemberWork::Download { .. } => {
                    self.tasks.push(Task::Alone(queue, work));
                }
            }
        }
        if !replays.is_empty() {
            self.tasks.push(Task::Replay(replays));
        }
        self.launch(&launches, read);
    }

    /// Adds launches that are alike; what they read begins at this address.
    fn launch(&mut self, launches: &[Arc<Launch>], read: Address) {
        let (before, count) = (self.read.len(), launches.len());
        let Some(launch) = launches.first().cloned() else { return };
        for launch in launches.iter().filter(|_| count > 1) {
            append_to(launch, &mut self.read);
        }
        let (first, stride) =
            (read + (before * WORD) as Address, (self.read.len() - before) / count);
        self.tasks.push(Task::Launch(launch, ArgumentRows { first, stride, count }));
    }
}

/// Most recordings that are kept.
const KEPT: usize = 64;

/// Recordings of a group, those that were needed last first.
#[derive(Default)]
struct GroupRecordings(VecDeque<GroupRecording>);

/// Launches that all members have asked for alike, each with its arguments.
struct GroupRecording {
    launches: Arc<[Launch]>,
    recording: Recording,
    /// For each place the arguments of all launches, and a flag that says that a member has it.
    rows: Buffer<u64>,
    flags: Buffer<u32>,
    /// Contents of the rows, and the number of flags that are set.
    loaded: Vec<u64>,
    flagged: usize,
}

impl GroupRecordings {
    /// Does like launches of members.
    fn replay(&mut self, device: &Arc<dyn Device>, members: &[Arc<[Launch]>]) -> Result<()> {
        let Some(launches) = members.first() else { return Ok(()) };
        // Few recordings, and few blocks that have nothing to do.
        let places = members.len().next_power_of_two();
        let fits = |kept: &GroupRecording| {
            kept.flags.len() == places && are_like(&kept.launches, launches)
        };
        let known = self.0.iter().position(fits).and_then(|at| self.0.remove(at));
        let make = || GroupRecording::new(device, launches, places);
        let recorded = known.map_or_else(make, Ok)?;
        self.0.truncate(KEPT - 1);
        self.0.push_front(recorded);
        self.0[0].replay(&**device, members)
    }
}

impl GroupRecording {
    /// A recording of such launches for this many places.
    fn new(device: &Arc<dyn Device>, launches: &Arc<[Launch]>, places: usize) -> Result<Self> {
        let (mut words, mut starts) = (Vec::new(), Vec::new());
        for launch in launches.iter() {
            starts.push(words.len());
            append_to(launch, &mut words);
        }
        let stride = words.len();
        let rows = Buffer::zeros(device, places * stride)?;
        let flags = Buffer::zeros(device, places)?;
        let recording = device.record(false, &mut || {
            launches.iter().zip(&starts).try_for_each(|(launch, &start)| {
                let rows = ArgumentRows { first: rows.address_of(start), stride, count: places };
                launch_together(&**device, launch, rows, Some(&flags))
            })
        })?;
        let launches = launches.clone();
        Ok(Self { launches, recording, rows, flags, loaded: Vec::new(), flagged: 0 })
    }

    fn replay(&mut self, device: &dyn Device, members: &[Arc<[Launch]>]) -> Result<()> {
        let mut rows = Vec::with_capacity(self.loaded.len());
        for launch in members.iter().flat_map(|launches| launches.iter()) {
            append_to(launch, &mut rows);
        }
        if self.loaded.get(..rows.len()) != Some(&rows[..]) {
            self.rows.upload_part(&rows)?;
            self.loaded.splice(..rows.len().min(self.loaded.len()), rows);
        }
        if self.flagged != members.len() {
            let flag = |place| u32::from(place < members.len());
            self.flags.upload(&(0..self.flags.len()).map(flag).collect::<Vec<_>>())?;
            self.flagged = members.len();
        }
        device.replay(GRANTED, &self.recording)
    }
}

/// The arguments of members, a row each.
#[derive(Debug, Clone, Copy)]
struct ArgumentRows {
    first: Address,
    /// Words from a row to the next.
    stride: usize,
    count: usize,
}

/// Launches the kernel of `launch` in its shape for each row; for those with a flag, where there are flags.
fn launch_together(
    device: &dyn Device,
    launch: &Launch,
    rows: ArgumentRows,
    flags: Option<&Buffer<u32>>,
) -> Result<()> {
    let [x, y, _] = launch.shape.grid;
    let most = match device.room_together() {
        Some(room) if launch.shape.together && x > 1 => (room / x as usize).max(1),
        _ => MOST_BLOCKS,
    };
    for start in (0..rows.count).step_by(most) {
        let count = most.min(rows.count - start) as u32;
        // The rows may be what the launch before writes.
        let shape = LaunchShape { grid: [x, y, count], early: false, ..launch.shape };
        let first = rows.first + (start * rows.stride * size_of::<u64>()) as Address;
        let flags = flags.map_or(Pointer::NULL, |flags| flags.at(start));
        let arguments = (Pointer::<u64>::to(first), rows.stride as u32, flags).list();
        let launch = Launch { kernel: launch.kernel.grouped(), shape, arguments };
        device.ask(GRANTED, Request::Launch(launch))?;
    }
    Ok(())
}
