//! What calls NVIDIA's driver, NVRTC and NCCL, on libraries that stand in for them; and devices that are lost.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod calls;
mod echo;
mod faults;
