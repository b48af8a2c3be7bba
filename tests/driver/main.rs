//! What calls NVIDIA's driver, NVRTC and NCCL, on libraries that stand in for them; and devices that are lost.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod calls;
mod echo;
mod faults;
#[path = "../fibers/mod.rs"]
mod fibers;
#[cfg(all(feature = "cuda", target_os = "linux"))]
#[path = "../stand_in/machine.rs"]
mod stand_in;
