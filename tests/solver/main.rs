//! Krylov methods, preconditioners and multigrid, Newton's method, and the equations that it solves.
#![allow(clippy::expect_used, clippy::unwrap_used, reason = "a failing step fails the test")]

mod breakdowns;
mod cg;
mod complex_steps;
mod counts;
mod derivatives;
mod fallback;
mod gmres;
mod jacobian;
mod krylov;
mod movement;
mod multigrid;
mod multigrid_convergence;
mod newton;
mod newton_stops;
mod order;
mod preconditioners;
mod sides;
mod systems;
mod ten_numbers;
