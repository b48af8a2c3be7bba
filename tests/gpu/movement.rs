//! Moving grids, and their derivatives, on a GPU.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::{Gpus, Transport};
use gridgen::backend::{Bands, DeviceError, MovementBackend};
use gridgen::grid::Grid;
use gridgen::movement::{Adjoint, Moved, Resident};

use crate::on_gpu;

/// A C-grid with a block behind the base.
const BASE: &str = "geometry.naca = '2412'\ngeometry.edge_thickness = 0.02\nnewton.tolerance = 1e-10\n\
                    [grid]\ntopology = 'C'\nni = 257\nnj = 65\nfirst_cell = 1e-4\n";

/// A reference, its wall twisted by 10° about the quarter chord, the grid there and its derivatives.
fn all<B: MovementBackend>(backend: &B, text: &str) -> (Moved, Grid, Adjoint) {
    let problem = support::cases::case(text).settle().unwrap();
    let reference = problem.reference(backend).unwrap();
    let (sin, cos) = 10.0_f64.to_radians().sin_cos();
    let turn = |[x, y]: [f64; 2]| [0.25 + cos * (x - 0.25) + sin * y, cos * y - sin * (x - 0.25)];
    let wall: Vec<[f64; 2]> = reference.wall().into_iter().map(turn).collect();
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

fn apart(a: &[f64], b: &[f64]) -> f64 {
    let scale = b.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / scale
}

#[test]
fn a_grid_moves_on_the_gpu_as_on_the_cpu() {
    let o = |ni: usize, nj: usize| {
        format!(
            "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
             [grid]\nni = {ni}\nnj = {nj}\nfirst_cell = 1e-5\n"
        )
    };
    let c = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
             [grid]\ntopology = 'C'\nni = 225\nnj = 65\nwake = 48\nfirst_cell = 1e-5\n";
    let tunnel = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
                  [domain]\nbox = [-1.7, 4.0, -1.0, 1.0]\nfloor = 'wall'\nroof = 'wall'\n\
                  [grid]\ntopology = 'C'\nni = 225\nnj = 97\nwake = 48\nfirst_cell = 1e-5\n";
    for text in [o(257, 129), o(1025, 513), c.to_owned(), tunnel.to_owned(), BASE.to_owned()] {
        let (on_cpu, forward, adjoint) = all(&CpuBackend, &text);
        let (moved, on_gpu, transposed) = all(&on_gpu(), &text);

        let both = |a: [&[f64]; 2], b: [&[f64]; 2]| apart(a[0], b[0]).max(apart(a[1], b[1]));
        for (own, block) in moved.blocks().iter().zip(on_cpu.blocks()) {
            let off = both([&own.x, &own.y], [&block.x, &block.y]);
            assert!(off < 1e-9, "nodes: {off:e}");
        }
        let off = both([&on_gpu.x, &on_gpu.y], [&forward.x, &forward.y]);
        assert!(off < 1e-6, "derivative: {off:e}");
        let off = apart(transposed.wall.as_flattened(), adjoint.wall.as_flattened());
        assert!(off < 1e-6, "adjoint: {off:e}");
    }
}

/// The grid must be the same on two GPUs, for every transport.
#[test]
#[ignore = "needs two GPUs: cargo test --features gpu-tests --test gpu -- --include-ignored"]
fn a_grid_moves_on_two_gpus_as_on_the_cpu() {
    let o = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
             [grid]\nni = 257\nnj = 129\nfirst_cell = 1e-5\n";
    let c = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'\nnewton.tolerance = 1e-10\n\
             [grid]\ntopology = 'C'\nni = 225\nnj = 65\nwake = 48\nfirst_cell = 1e-5\n";
    let periodic = "geometry.ellipse.thickness = 0.4\nnewton.tolerance = 1e-10\n[grid]\nni = 257\nnj = 65\nfirst_cell = 1e-4\n";
    for (text, mi, closed) in
        [(o, 255, false), (c, 223, false), (BASE, 255, false), (periodic, 256, true)]
    {
        let (on_cpu, forward, adjoint) = all(&CpuBackend, text);
        let bands = Bands::new(mi, 2, closed).unwrap();
        for transport in [Transport::PeerMemory, Transport::Nccl] {
            // Some coarse levels are distributed in bands, too.
            let mut gpus = Gpus::open(&[0, 1]).unwrap();
            (gpus.transport, gpus.gathered_points) = (transport, Some(1000));

            let found = gpus.run(&bands, |_, backend| Ok::<_, DeviceError>(all(backend, text)));

            for (moved, on_gpus, transposed) in found.unwrap() {
                let both =
                    |a: [&[f64]; 2], b: [&[f64]; 2]| apart(a[0], b[0]).max(apart(a[1], b[1]));
                for (own, block) in moved.blocks().iter().zip(on_cpu.blocks()) {
                    let off = both([&own.x, &own.y], [&block.x, &block.y]);
                    assert!(off < 1e-9, "{transport:?}, nodes: {off:e}");
                }
                let off = both([&on_gpus.x, &on_gpus.y], [&forward.x, &forward.y]);
                assert!(off < 1e-6, "{transport:?}, derivative: {off:e}");
                let off = apart(transposed.wall.as_flattened(), adjoint.wall.as_flattened());
                assert!(off < 1e-6, "{transport:?}, adjoint: {off:e}");
                let [a, b] = [&transposed, &adjoint].map(|found| found.solved.iterations);
                assert!((a - b).abs() <= 1.0, "{transport:?}: {a} iterations, {b} on the CPU");
            }
        }
    }
}
