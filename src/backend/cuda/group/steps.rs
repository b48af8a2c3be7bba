//! The work of a group on its device: one upload of what launches need, the launches, one download.

use super::recorded::{ArgumentRows, GroupRecordings, launch_together};
use super::work::{MemberWork, Queue, Step, WORD, append_to, steps};
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED, Request};
use crate::backend::cuda::launch::{Launch, Result};
use std::collections::HashMap;
use std::sync::Arc;

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
