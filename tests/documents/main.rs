//! The documents about the program: pages, citations of the theory, examples, and the sources that identify
//! results.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod answers;
mod examples;
mod fingerprint;
mod gallery;
mod layering;
mod licences;
mod pages;
mod theory;
