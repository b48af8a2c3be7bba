//! Processes started by a launcher: their environment, their rendezvous, and a grid that they share.

mod launchers;
mod meeting;
mod solves;
