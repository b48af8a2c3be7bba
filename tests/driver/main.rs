//! Code that calls NVIDIA's driver, NVRTC and NCCL, tested on stand-in libraries; and devices that are lost.
#![allow(clippy::unwrap_used, reason = "a failing step fails the test")]

mod calls;
mod echo;
mod faults;
