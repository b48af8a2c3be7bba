//! A rank that fails stops all others.

use gridgen::backend::Algebraic;
use gridgen::solver::SolverError;
use gridgen::solver::krylov::Method;

use super::machine::Devices;
use super::patterns::convection;
use super::systems::{Way, solve};
use support::fibers::{lost, mortal};

#[test]
fn a_lost_device_stops_all_with_its_own_message() {
    let a = convection(12, 17, 0.4);
    let b = vec![1.0; a.rows()];
    for method in [Method::Bicgstab, Method::Gmres] {
        // The device is lost at the first product, and within the iterations.
        for launches in [0, 3, 50] {
            let mut devices = Devices::fibers(3);
            devices.all[1] = mortal(launches);

            let way = Way { method, kind: Algebraic::Jacobi };
            let result = solve(&devices, &a, &b, way).map(|solved| solved.x);

            assert_eq!(result, Err(SolverError::Device(lost())), "after {launches} launches");
        }
    }
}
