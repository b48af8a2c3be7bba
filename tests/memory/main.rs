//! What is counted by an allocator: memory that broken or hostile files may take, and allocations of
//! linear iterations. A program of its own, since its allocator is that of all its tests, which run one
//! at a time.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod allocation;
mod allocator;
mod fuzz;
mod hostile;
mod processes;
