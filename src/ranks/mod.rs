//! Processes that a launcher started, one rank each: their places, their meeting, and messages between them.
//!
//! A [`RankPlace`] is read from the environment of this process. [`Job::meet`] connects all ranks with the first;
//! from then on a [`Job`] passes messages, and tells every rank when one has failed.

mod error;
mod job;
mod launcher;
mod links;
mod meeting;

pub use self::error::{Failure, RanksError};
pub use self::job::{Channel, Job, OnFailure};
pub use self::launcher::RankPlace;
pub use self::links::{Inbox, Route};
pub use self::meeting::Rendezvous;
