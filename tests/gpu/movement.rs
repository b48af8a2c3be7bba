//! Moving grids, and their derivatives, on a GPU.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{Bands, DeviceError, MovementBackend};
use gridgen::grid::Grid;
use gridgen::movement::{Adjoint, Moved, Resident};

use support::gpus::two_gpus;
use support::linear::{apart, largest};
use support::vectors::twisted;

use crate::on_gpu;

/// A C-grid with a block behind the base.
const BASE: &str = "geometry.naca = '2412'\ngeometry.edge_thickness = 0.02\nnewton.tolerance = 1e-10\n\
                    [grid]\ntopology = 'C'\nni = 257\nnj = 65\nfirst_cell = 1e-4\n";

/// A reference, its wall twisted by 10° about the quarter chord, the grid there and its derivatives.
fn all<B: MovementBackend>(backend: &B, text: &str) -> (Moved, Grid, Adjoint) {
    let problem = support::cases::case(text).settle().unwrap();
    let reference = problem.reference(backend).unwrap();
    let wall = twisted(&reference.wall(), 10.0);
    let resident = Resident::new(&reference, backend).unwrap();
    let moved = resident.move_to(backend, &wall).unwrap();
    let by: Vec<[f64; 2]> = wall.iter().map(|&[x, y]| [y, x * x]).collect();
    let mut derivatives = resident.derivatives(backend, &moved).unwrap();
    let (forward, _) = derivatives.derivative(backend, &by, &[]).unwrap();
    let forward = derivatives.fetch(backend, &forward).unwrap();
    let moved = moved.fetch(backend).unwrap();
    let Grid { x, y, .. } = moved.grid();
    let nodes = derivatives.by_nodes(backend, x, y).unwrap();
    let adjoint = derivatives.adjoint(backend, nodes).unwrap();
    (moved, forward, adjoint)
}

const O: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
                 [grid]\nni = 257\nnj = 129\nfirst_cell = 1e-5\n";
const C: &str = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
                 [grid]\ntopology = 'C'\nni = 225\nnj = 65\nwake = 48\nfirst_cell = 1e-5\n";

fn assert_same(found: &(Moved, Grid, Adjoint), expected: &(Moved, Grid, Adjoint), what: &str) {
    let off = |a: &[f64], b: &[f64]| apart(a, b) / largest(b);
    let both = |a: &Grid, b: &Grid| off(&a.x, &b.x).max(off(&a.y, &b.y));
    let (moved, forward, adjoint) = found;
    for (own, block) in moved.blocks().iter().zip(&expected.0.blocks()) {
        assert!(both(own, block) < 1e-9, "{what}, nodes: {:e}", both(own, block));
    }
    let forward = both(forward, &expected.1);
    assert!(forward < 1e-6, "{what}, derivative: {forward:e}");
    let adjoint = off(adjoint.wall.as_flattened(), expected.2.wall.as_flattened());
    assert!(adjoint < 1e-6, "{what}, adjoint: {adjoint:e}");
}

#[test]
fn a_grid_moves_on_the_gpu_as_on_the_cpu() {
    let fine = O.replace("ni = 257\nnj = 129", "ni = 1025\nnj = 513");
    let tunnel = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
                  [domain]\nbox = [-1.7, 4.0, -1.0, 1.0]\nfloor = 'wall'\nroof = 'wall'\n\
                  [grid]\ntopology = 'C'\nni = 225\nnj = 97\nwake = 48\nfirst_cell = 1e-5\n";
    for text in [O, &fine, C, tunnel, BASE] {
        assert_same(&all(&on_gpu(), text), &all(&CpuBackend, text), text);
    }
}

/// The grid must be the same on two GPUs, for every transport.
#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_grid_moves_on_two_gpus_as_on_the_cpu() {
    let periodic = "geometry.ellipse.thickness = 0.4\nnewton.tolerance = 1e-10\n[grid]\nni = 257\nnj = 65\nfirst_cell = 1e-4\n";
    for (text, mi, closed) in
        [(O, 255, false), (C, 223, false), (BASE, 255, false), (periodic, 256, true)]
    {
        let expected = all(&CpuBackend, text);
        let bands = Bands::new(mi, 2, closed).unwrap();
        // By peer memory and by NCCL.
        for mut gpus in two_gpus().take(2) {
            // Some coarse levels are distributed in bands, too.
            gpus.gathered_points = Some(1000);
            let transport = gpus.transport;

            let found = gpus.run(&bands, |_, backend| Ok::<_, DeviceError>(all(backend, text)));

            for found in found.unwrap() {
                assert_same(&found, &expected, &format!("{transport:?}"));
                let [a, b] = [&found, &expected].map(|(.., adjoint)| adjoint.solved.iterations);
                assert!((a - b).abs() <= 1.0, "{transport:?}: {a} iterations, {b} on the CPU");
            }
        }
    }
}
