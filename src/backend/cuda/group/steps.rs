//! The work of a group on its device: one upload of what launches need, the launches, one download.

use super::recorded::Recordings;
use super::together::{Rows, launch_together};
use super::work::{Launch, Queue, Step, WORD, Work, steps};
use crate::backend::cuda::device::{Address, Buffer, Device, GRANTED};
use crate::backend::cuda::launch::Result;
use std::collections::HashMap;
use std::sync::Arc;

/// Bytes of a download from which it is made by itself, not by way of the group's memory.
const LARGE: usize = 1 << 16;

/// What a member's downloads gave, by their numbers.
pub(super) type Results = HashMap<usize, Vec<u8>>;

/// The device of a group, and memory: what launches read, and what members download.
pub(super) struct Staging {
    device: Arc<dyn Device>,
    recordings: Recordings,
    read: Buffer<u64>,
    written: Buffer<u64>,
}

/// What a step does on the device.
enum Action {
    /// A kernel for several members, whose arguments stand from this word on, so many words each.
    Together { launch: Launch, rows: usize, stride: usize, count: usize },
    /// A kernel for one.
    Alone(Launch),
    /// A recording for members.
    Replay(Vec<Arc<[Launch]>>),
    /// What no kernel does, for a queue.
    Direct(usize, Work),
}

/// The actions of steps, the words that their launches read, and where downloads go.
#[derive(Default)]
struct Plan {
    actions: Vec<Action>,
    read: Vec<u64>,
    written: usize,
    /// The queue, the number of the download, its first word in what is written, and its bytes.
    downloads: Vec<(usize, usize, usize, usize)>,
}

impl Staging {
    pub(super) fn new(device: &Arc<dyn Device>) -> Result<Self> {
        let zeros = || Buffer::zeros(device, 1);
        let (read, written) = (zeros()?, zeros()?);
        Ok(Self { device: device.clone(), recordings: Recordings::new(device), read, written })
    }

    /// Does the work of all queues; results are those of the queues in their order.
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
        for action in &plan.actions {
            self.act(action, &mut results)?;
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

    /// Memory for so many words that are read and written; whether it is at other addresses.
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

    fn plan(&self, steps: &[Step<'_>]) -> Plan {
        let (mut plan, at) = (Plan::default(), [self.read.address(), self.written.address()]);
        for step in steps {
            plan.add(step, at);
        }
        plan
    }

    fn act(&mut self, action: &Action, results: &mut [Results]) -> Result<()> {
        match action {
            Action::Together { launch, rows, stride, count } => {
                let first = self.read.address_of(*rows);
                let rows = Rows { first, stride: *stride, count: *count };
                launch_together(&*self.device, launch, rows, 0)
            }
            Action::Alone(Launch { kernel, shape, arguments }) => {
                self.device.launch(GRANTED, *kernel, *shape, arguments)
            }
            Action::Replay(members) => self.recordings.replay(members),
            Action::Direct(queue, work) => match work {
                Work::Clear(at, bytes) => self.device.clear(GRANTED, *at, *bytes),
                Work::Copy { from, to, bytes } => self.device.copy(GRANTED, *from, *to, *bytes),
                Work::Upload(from, to) => self.device.upload(GRANTED, from, *to),
                Work::Download { number, from, bytes } => {
                    let mut to = vec![0; *bytes];
                    self.device.download(GRANTED, *from, &mut to)?;
                    results[*queue].insert(*number, to);
                    Ok(())
                }
                Work::Launch(_) | Work::Replay(_) => Ok(()),
            },
        }
    }
}

/// Whether words are copied by a kernel by way of the group's memory.
fn by_words(bytes: usize) -> bool {
    bytes.is_multiple_of(WORD) && bytes < LARGE
}

impl Plan {
    /// Adds a step; what launches read and where they leave downloads begins at these addresses.
    fn add(&mut self, step: &Step<'_>, [read, written]: [Address; 2]) {
        let (mut launches, mut replays) = (Vec::with_capacity(step.len()), Vec::new());
        for &(queue, work) in step {
            match work {
                Work::Launch(launch) => launches.push(launch.clone()),
                Work::Upload(bytes, to) if by_words(bytes.len()) => {
                    let from = read + (self.read.len() * WORD) as Address;
                    let words = bytes.as_chunks().0.iter().copied();
                    self.read.extend(words.map(u64::from_ne_bytes));
                    launches.push(Launch::copying(bytes.len() / WORD, from, *to));
                }
                Work::Download { number, from, bytes } if by_words(*bytes) => {
                    let to = written + (self.written * WORD) as Address;
                    self.downloads.push((queue, *number, self.written, *bytes));
                    self.written += bytes / WORD;
                    launches.push(Launch::copying(bytes / WORD, *from, to));
                }
                Work::Replay(recorded) => replays.push(recorded.clone()),
                other => self.actions.push(Action::Direct(queue, other.clone())),
            }
        }
        if !replays.is_empty() {
            self.actions.push(Action::Replay(replays));
        }
        self.launch(launches);
    }

    /// Adds launches that are alike.
    fn launch(&mut self, mut launches: Vec<Launch>) {
        let count = launches.len();
        if count < 2 {
            self.actions.extend(launches.pop().map(Action::Alone));
            return;
        }
        let rows = self.read.len();
        for launch in &launches {
            launch.append_to(&mut self.read);
        }
        let stride = (self.read.len() - rows) / count;
        let launch = launches.swap_remove(0);
        self.actions.push(Action::Together { launch, rows, stride, count });
    }
}
