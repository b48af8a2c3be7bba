//! Movements and derivatives on one device and on several, compared with the CPU and with one device.

use std::fmt::Debug;
use std::sync::Arc;

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::cuda::{Buffer, CudaBackend, Device};
use gridgen::backend::{Bands, LevelSize, MovementBackend};
use gridgen::case::Problem;
use gridgen::generate::Machine;
use gridgen::grid::{Grid, Topology};
use gridgen::movement::{Adjoint, Moved, MovementError, Reference, Resident, Solved};

use super::ranks::{banded, on_bands_of};
use support::fibers::{FiberDevice, Transport, fibers, lost, mortal};
use support::grids::distance;
use support::linear::{apart, largest};

type Wall = Vec<[f64; 2]>;

fn settled(geometry: &str, grid: &str) -> Problem {
    solved_to_rounding(geometry, &format!("far_field = 8.0\n{grid}"))
}

fn solved_to_rounding(geometry: &str, grid: &str) -> Problem {
    let text = format!("{geometry}\nnewton.tolerance = 1e-12\n[grid]\nfirst_cell = 1e-2\n{grid}\n");
    support::cases::case(&text).settle().unwrap()
}

/// Grids of all kinds, with held and periodic seams among them, solved to rounding, and the numbers of ranks
/// to compare.
fn problems() -> [(&'static str, Problem, &'static [usize]); 7] {
    let small = |geometry: &str, grid: &str| settled(geometry, &format!("nj = 11\n{grid}"));
    let sharp = "geometry.naca = '2412'\ngeometry.trailing_edge = 'sharp'";
    let blunt = "geometry.naca = '2412'\ngeometry.trailing_edge = 'blunt'";
    let tunnel = "domain.box = [-1.0, 3.0, -1.0, 1.0]\ndomain.floor = 'wall'\ndomain.roof = 'wall'";
    let tunnel = format!("{sharp}\n{tunnel}");
    let tunnel = solved_to_rounding(&tunnel, "topology = 'C'\nni = 61\nnj = 17\nwake = 12");
    [
        ("O, sharp", small(sharp, "ni = 37"), &[2, 4]),
        ("O, blunt", small(blunt, "ni = 37"), &[3]),
        ("O, blunt, periodic", small(blunt, "ni = 37\nseam = 'periodic'"), &[2, 3]),
        ("C", small(sharp, "topology = 'C'\nni = 45\nwake = 8"), &[4]),
        ("half", small("geometry.naca = '0012'", "topology = 'half'\nni = 21"), &[3]),
        ("frozen", small(&format!("{sharp}\ncontrol.wall = 'frozen'"), "ni = 37"), &[2]),
        ("between walls", tunnel, &[3]),
    ]
}

/// The wall made thicker and, without symmetry, cambered.
fn moved_wall(reference: &Reference) -> Wall {
    let half = matches!(reference.grid().topology, Topology::Half(_));
    let camber = if half { 0.0 } else { 0.02 };
    let move_point = |[x, y]: [f64; 2]| [x, 1.2 * y + camber * x * (1.0 - x)];
    reference.wall().into_iter().map(move_point).collect()
}

/// Displacements of the wall points; those of half a grid keep its ends on the plane of symmetry.
fn displacement(reference: &Reference) -> Wall {
    let half = matches!(reference.grid().topology, Topology::Half(_));
    reference
        .wall()
        .into_iter()
        .map(|[x, y]| [0.3 * (2.0 * y).sin(), if half { y } else { x * x }])
        .collect()
}

struct Found {
    moved: Moved,
    forward: Grid,
    solved: Solved,
    adjoint: Adjoint,
}

fn found<B: MovementBackend>(
    backend: &B,
    reference: &Reference,
    wall: &[[f64; 2]],
) -> Result<Found, MovementError> {
    let resident = Resident::new(reference, backend)?;
    let moved = resident.move_to(backend, wall)?;
    assert!(moved.verdict.is_good(), "{}", moved.verdict);
    let mut derivatives = resident.derivatives(backend, &moved)?;
    let moved = moved.fetch(backend)?;
    let heights: Vec<f64> = wall.iter().map(|[x, _]| 1e-3 * (1.0 + x)).collect();
    let (nodes, solved) = derivatives.derivative(backend, &displacement(reference), &heights)?;
    let forward = derivatives.fetch(backend, &nodes)?;
    let weights =
        |of: fn(f64) -> f64| -> Vec<f64> { moved.grid().x.iter().map(|&x| of(x)).collect() };
    let (x, y) = (weights(|x| (3.0 * x).sin()), weights(|x| (2.0 * x).cos()));
    let nodes = derivatives.by_nodes(backend, &x, &y)?;
    let adjoint = derivatives.adjoint(backend, nodes)?;
    Ok(Found { moved, forward, solved, adjoint })
}

impl Found {
    /// Compares nodes to 1e-9 chords, derivatives to the accuracy of their solves, and iterations up to one.
    #[track_caller]
    fn check(&self, other: &Self, what: &str) {
        let moves = [self, other].map(|found| &found.moved);
        let counts = moves.map(|moved| (moved.newton_iterations, moved.linear_iterations));
        let [(newton, linear), (others, linear_of_other)] = counts;
        // A residual near the tolerance may take one step more.
        let more = newton.abs_diff(others);
        let close = more == 1 || (more == 0 && (linear - linear_of_other).abs() <= 1.0);
        assert!(close, "{what}: {counts:?}");
        let [a, b] = [self, other].map(|found| &found.adjoint);
        let scale = largest(b.wall.as_flattened());
        for (of, off, most) in [
            ("nodes", distance(moves[0].grid(), moves[1].grid()), 1e-9),
            ("forward", distance(&self.forward, &other.forward), 1e-8),
            ("adjoint", apart(a.wall.as_flattened(), b.wall.as_flattened()), 1e-8 * scale),
            ("heights", apart(&a.heights, &b.heights), 1e-8 * largest(&b.heights).max(scale)),
        ] {
            assert!(off < most, "{what}, {of}: {off:e}, at most {most:e}");
        }
        for (a, b) in [(self.solved, other.solved), (a.solved, b.solved)] {
            assert!((a.iterations - b.iterations).abs() <= 1.0, "{what}: {a:?} for {b:?}");
        }
    }
}

fn alone() -> CudaBackend {
    CudaBackend::new(fibers(1).remove(0)).unwrap()
}

fn whole_size(reference: &Reference) -> LevelSize {
    let grid = reference.grid();
    match grid.topology {
        Topology::Half(_) => LevelSize { mi: 2 * grid.ni - 3, mj: grid.nj - 2, periodic: false },
        topology => LevelSize::of_grid(topology, grid.ni, grid.nj),
    }
}

/// The results of `work` on this number of ranks, in bands of a reference's columns.
fn on_all<R: Send, E: Debug>(
    ranks: usize,
    transport: Transport,
    reference: &Reference,
    work: impl Fn(&CudaBackend) -> Result<R, E> + Sync,
) -> Vec<R> {
    let LevelSize { mi, periodic, .. } = whole_size(reference);
    let bands = Bands::new(mi, ranks, periodic).unwrap();
    let work = |_, backend: &CudaBackend| Ok(work(backend).unwrap());
    on_bands_of(&fibers(ranks), transport, &bands, work).unwrap()
}

/// One device must agree with the CPU, and several with one; each rank must have the whole result.
fn check((name, problem, counts): &(&str, Problem, &[usize])) {
    let reference = problem.reference(&CpuBackend).unwrap();
    let wall = moved_wall(&reference);
    let on_cpu = found(&CpuBackend, &reference, &wall).unwrap();
    let on_one = found(&alone(), &reference, &wall).unwrap();
    on_one.check(&on_cpu, &format!("{name}, one device"));
    for &ranks in *counts {
        // Kernels that wait for others occupy a core each.
        let peers = *name == "O, sharp" && ranks == 2;
        let transport = if peers { Transport::PeerMemory } else { Transport::Host };

        let all = on_all(ranks, transport, &reference, |backend| found(backend, &reference, &wall));

        let what = format!("{name}, {ranks} ranks");
        all[0].check(&on_one, &what);
        for other in &all[1..] {
            assert_eq!(other.moved.grid(), all[0].moved.grid(), "{what}");
            assert_eq!(other.forward.x, all[0].forward.x, "{what}");
            assert_eq!(other.adjoint.wall, all[0].adjoint.wall, "{what}");
        }
    }
}

#[test]
fn movements_and_derivatives_of_o_grids_equal_those_on_one_device() {
    problems()[..3].iter().for_each(check);
}

#[test]
fn movements_and_derivatives_of_other_grids_equal_those_on_one_device() {
    problems()[3..].iter().for_each(check);
}

#[test]
fn a_reference_is_made_on_several_devices() {
    for (name, problem, _) in &problems()[3..5] {
        let expected = problem.reference(&CpuBackend).unwrap();

        let all = on_all(2, Transport::PeerMemory, &expected, |rank| problem.reference(rank));

        for found in all {
            let off = distance(found.grid(), expected.grid());
            assert!(off < 1e-9, "{name}: {off:e}");
        }
    }
}

fn machine(devices: Vec<Arc<dyn Device>>) -> Machine {
    Machine::Ranks(Box::new(banded(devices, Transport::Host)))
}

/// The results of a machine; the coordinates of the nodes serve as derivatives by these.
fn by_machine(machine: &Machine, reference: &Reference, wall: &[[f64; 2]]) -> Found {
    let moved = machine.move_to(reference, wall).unwrap();
    let at = (reference, &moved, 1e-10);
    let (forward, solved) = machine.derivative(at, &displacement(reference), &[]).unwrap();
    let adjoint = machine.adjoint(at, &moved.grid().x, &moved.grid().y).unwrap();
    Found { moved, forward, solved, adjoint }
}

#[test]
fn a_machine_of_several_devices_moves_a_grid_and_differentiates_it() {
    let [_, (_, problem, _), ..] = problems();
    let reference = problem.reference(&CpuBackend).unwrap();
    let wall = moved_wall(&reference);

    let found = by_machine(&machine(fibers(2)), &reference, &wall);

    found.check(&by_machine(&Machine::Cpu, &reference, &wall), "two devices");
    // A mistake in the points is reported as on one device, and a lost device by its name.
    let short = machine(fibers(2)).move_to(&reference, &wall[1..]).err().unwrap();
    assert!(matches!(short, MovementError::WallPoints { found: 36, expected: 37 }), "{short}");
    let many = machine(fibers(6)).move_to(&reference, &wall).err().unwrap();
    let said = "35 unknown columns cannot be cut into 6 bands of at least 8";
    assert_eq!(many.to_string(), said);
    let mut devices = fibers(2);
    devices[1] = mortal(100);
    let dead = machine(devices).move_to(&reference, &wall).err().unwrap();
    assert!(matches!(&dead, MovementError::Solver(error) if *error == lost().into()), "{dead}");
}

/// Neither nodes nor unknowns pass between host and device: the largest transfer is as long as a line of the
/// grid.
#[test]
#[allow(unsafe_code, reason = "an array in the device's memory, as another library would have it")]
fn grids_are_moved_and_differentiated_on_their_devices() {
    let half = "geometry.naca = '0012'\ngeometry.chord = 2.5";
    for (name, problem) in [
        ("periodic", settled("geometry.ellipse.thickness = 0.4", "ni = 65\nnj = 33")),
        ("half, elsewhere", settled(half, "topology = 'half'\nni = 33\nnj = 33")),
    ] {
        let reference = problem.reference(&CpuBackend).unwrap();
        let wall = moved_wall(&reference);
        let device = Arc::new(FiberDevice::default());
        let backend = CudaBackend::new(device.clone()).unwrap();
        let resident = Resident::new(&reference, &backend).unwrap();
        let size = whole_size(&reference);
        let nodes = 8 * size.mi * size.mj;
        let [up, _] = device.largest();
        assert!(up >= nodes, "{name}: the equations come to the device once");

        let moved = resident.move_to(&backend, &wall).unwrap();
        let mut derivatives = resident.derivatives(&backend, &moved).unwrap();
        let by = displacement(&reference);
        let (displaced, solved) = derivatives.derivative(&backend, &by, &[]).unwrap();
        let (topology, [ni, nj]) = moved.shape();
        // The nodes x and y serve as derivatives, with strides from row to row, from column to column, and
        // from x to y.
        let [x, y] = moved.nodes().nodes().map(Buffer::address);
        let strides = [ni as u64, 1, y.wrapping_sub(x) / 8];
        // SAFETY: the nodes stay allocated until the end of the test.
        let weights = unsafe { backend.take_array(topology, [nj, ni], (x, strides)) }.unwrap();
        let adjoint = derivatives.adjoint(&backend, weights).unwrap();

        let line = 2 * 16 * (2 * (size.mi + 2) + 2 * (size.mj + 2));
        let [up, down] = device.largest();
        assert!(
            up <= line && down <= line && line < nodes,
            "{name}: {up}, {down} of {nodes} bytes"
        );
        let forward = derivatives.fetch(&backend, &displaced).unwrap();
        let found = Found { moved: moved.fetch(&backend).unwrap(), forward, solved, adjoint };
        found.check(&by_machine(&Machine::Cpu, &reference, &wall), name);
    }
}
