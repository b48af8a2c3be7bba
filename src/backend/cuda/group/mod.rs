//! A group: devices that are one GPU, whose work is done together.
//!
//! A small grid leaves a GPU idle: its kernels take less time than a launch, and each waits for the one before.
//! The members of a group are devices of their own to those who use them, each a thread that solves for a grid.
//! The work of a member waits until all members wait for a result; then the work of all is done. Launches of
//! several members alike, a kernel in one shape, are one launch of all its blocks (`GROUPED` in
//! `kernels/common.cuh`), a member's after the other's. A kernel sees the same arguments and blocks as alone, so
//! that the bits of a grid do not depend on the company, and members that ask for different work have launches
//! of their own.

mod member;
mod recorded;
mod steps;
mod turns;
mod work;

pub use self::member::{Group, GroupMember};
