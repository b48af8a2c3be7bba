//! Facts counted by an allocator: the memory that broken or hostile files may use, and the allocations of
//! linear iterations. This is a separate program, since its allocator is shared by all its tests, which run
//! one at a time.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod allocation;
mod allocator;
mod fuzz;
mod hostile;
mod processes;
