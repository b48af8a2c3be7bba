//! Many devices: every rank runs the solver on its band of columns, or on its rows of a matrix, and
//! meets the others here.
//!
//! All ranks do the same work in the same order. What decides its course (inner products, merits,
//! counts) is combined over all ranks in one order, so that every rank sees the same bits and takes
//! the same turns.

mod alarm;
mod communicator;
mod halo;
mod host;
mod mail;
mod place;
mod team;

pub use alarm::{Alarm, PATIENCE};
pub use communicator::{Communicator, Parcel, Reach};
pub use host::{HostCommunicator, Post};
pub use mail::{MailCommunicator, Mailroom};
pub use team::run_ranks;

pub(super) use halo::{CLOSED, Halo, rim};
pub(super) use place::Place;
