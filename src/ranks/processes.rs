//! The processes that have parts of one thing.

use super::error::RanksError;
use super::job::{Channel, Job, values};

/// This process alone, or those of a job. All of a job must make the same calls in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Processes<'a>(Option<&'a Job>);

impl<'a> Processes<'a> {
    /// This process alone.
    pub const ALONE: Self = Self(None);

    /// Those of a job; this one alone where there is none, or no other rank.
    pub fn of(job: Option<&'a Job>) -> Self {
        Self(job.filter(|job| job.size() > 1))
    }

    /// Number of this process.
    pub fn rank(self) -> usize {
        self.0.map_or(0, Job::rank)
    }

    /// How many there are.
    pub fn size(self) -> usize {
        self.0.map_or(1, Job::size)
    }

    /// Whether this is the first of them.
    pub fn is_first(self) -> bool {
        self.rank() == 0
    }

    /// What each of them has, by rank, on the first; nothing on the others.
    ///
    /// # Errors
    /// [`RanksError::Ended`] where another one is gone or the job has failed.
    pub fn gather(self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        let Some(job) = self.0 else { return Ok(vec![own]) };
        if !job.is_first() {
            job.send(0, Channel::Collective, own);
            return Ok(Vec::new());
        }
        let others = (1..job.size()).map(|rank| job.receive(rank, Channel::Collective));
        std::iter::once(Ok(own)).chain(others).collect()
    }

    /// The numbers that each of them has, one after the other by rank, on the first; none on the others.
    ///
    /// # Errors
    /// As [`Self::gather`].
    pub fn gather_numbers(self, own: Vec<f64>) -> Result<Vec<f64>, RanksError> {
        if self.0.is_none() {
            return Ok(own);
        }
        let all = self.gather(bytemuck::cast_slice(&own).to_vec())?;
        Ok(all.iter().flat_map(|part| values(part)).collect())
    }

    /// What each of them has, by rank, on all.
    ///
    /// # Errors
    /// As [`Self::gather`].
    pub fn all_gather(self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, RanksError> {
        match self.0 {
            Some(job) => job.all_gather(own),
            None => Ok(vec![own]),
        }
    }

    /// What the first has, on all.
    ///
    /// # Errors
    /// As [`Self::gather`].
    pub fn broadcast(self, own: Vec<u8>) -> Result<Vec<u8>, RanksError> {
        match self.0 {
            Some(job) => job.broadcast(own),
            None => Ok(own),
        }
    }

    /// The numbers that the first has, on all.
    ///
    /// # Errors
    /// As [`Self::gather`].
    pub fn broadcast_numbers(self, own: Vec<f64>) -> Result<Vec<f64>, RanksError> {
        match self.0 {
            Some(job) => Ok(values(&job.broadcast(bytemuck::cast_slice(&own).to_vec())?)),
            None => Ok(own),
        }
    }

    /// Sends a message to another one.
    pub fn send(self, to: usize, payload: Vec<u8>) {
        if let Some(job) = self.0 {
            job.send(to, Channel::Collective, payload);
        }
    }

    /// The next message of another one; an empty one where there is none.
    ///
    /// # Errors
    /// As [`Self::gather`].
    pub fn receive(self, from: usize) -> Result<Vec<u8>, RanksError> {
        self.0.map_or(Ok(Vec::new()), |job| job.receive(from, Channel::Collective))
    }
}
