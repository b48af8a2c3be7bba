//! Processes that a launcher started: what it says of them, how they meet, and a grid that they share.

mod launchers;
mod meeting;
mod solves;
