//! Moving grids: shares, displaced nodes, products with fixed nodes and sums at them.

use gridgen::backend::cpu::CpuBackend;
use gridgen::backend::{
    EllipticBackend, EllipticData, FixedLines, FixedPlaces, GridBackend, MovementBackend, Receivers,
};
use gridgen::elliptic::EllipticSettings;
use gridgen::grid::{Grid, Seam, Symmetry, Topology};
use gridgen::pde::control::{ControlSettings, Wall};

use super::{Subject, assert_close, marches, random, to_device, to_host};

/// Settings with wall terms of this many sides as unknowns.
fn settings(walls: usize) -> EllipticSettings<'static> {
    let laplace = super::control::laplace();
    let wall = if walls > 0 { Wall::Coupled } else { Wall::Frozen };
    let control = ControlSettings { wall, ..laplace.control };
    EllipticSettings { control, outer_wall: walls > 1, ..laplace }
}

/// The grids with no, one and two walls.
fn walled() -> impl Iterator<Item = ((Grid, Vec<[f64; 2]>), usize)> {
    marches().into_iter().flat_map(|grid| (0..3).map(move |walls| (grid.clone(), walls)))
}

/// Random values on the fixed lines of a grid, equal at nodes that a closed grid has twice.
fn lines(grid: &Grid, columns: bool) -> FixedLines {
    let places = FixedPlaces { ni: grid.ni, nj: grid.nj };
    let mut lines = FixedLines::zeros(places, columns);
    for (k, noise) in random::<f64>(7, 2 * lines.values.len()).into_iter().enumerate() {
        lines.values[k / 2][k % 2] = 0.3 * noise;
    }
    if grid.topology.closed() {
        for j in 0..2 {
            lines.values[places.on_line(j, grid.ni - 1)] = lines.values[places.on_line(j, 0)];
        }
        for j in (0..grid.nj).filter(|_| columns) {
            lines.values[places.on_column(1, j)] = lines.values[places.on_column(0, j)];
        }
    }
    lines
}

fn nodes<B: MovementBackend>(backend: &B, grid: &B::Grid, like: &Grid) -> Vec<f64> {
    let mut host = Grid::unset(like.topology, like.ni, like.nj);
    backend.gather(grid, Receivers::All, Some(&mut host)).unwrap();
    [host.x, host.y].concat()
}

fn held(grid: &Grid) -> bool {
    grid.topology == Topology::O(Seam::Held)
}

pub fn nodes_take_their_share_of_the_walls_displacement<S: Subject>(subject: &S) {
    for (grid, _) in marches() {
        let what = format!("{:?}, {} x {}", grid.topology, grid.ni, grid.nj);
        let there = subject.take(grid.clone()).unwrap();
        for lines in [grid.nj - 1, grid.nj] {
            let expected = CpuBackend.shares(&grid, lines).unwrap();
            let shares = subject.shares(&there, lines).unwrap();
            assert_close(&to_host(subject, &shares, grid.ni * grid.nj), &expected, 20.0, &what);
            let stays = &expected[(lines - 1) * grid.ni..];
            assert!(stays.iter().all(|share| *share == 0.0), "{what}: {lines} lines");
        }
        let expected = CpuBackend.shares(&grid, grid.nj).unwrap();
        let shares = subject.shares(&there, grid.nj).unwrap();
        for columns in [false, held(&grid)] {
            let lines = lines(&grid, columns);
            let expected = CpuBackend.displaced(&grid, &expected, &lines).unwrap();
            let found = subject.displaced(&there, &shares, &lines).unwrap();
            let found = nodes(subject, &found, &grid);
            assert_close(&found, &[expected.x, expected.y].concat(), 20.0, &what);
        }
    }
}

/// The equations of a grid, transferred to the nodes of another: first guess and residual.
pub fn equations_go_to_other_nodes<S: Subject>(subject: &S) {
    for ((grid, normals), walls) in walled() {
        let data = EllipticData::new(&grid, &normals, &settings(walls));
        let mut other = grid.clone();
        for (k, noise) in random::<f64>(3, other.x.len()).into_iter().enumerate() {
            if k % grid.ni > 0 && (k + 1) % grid.ni > 0 {
                other.x[k] *= 1.0 + 1e-4 * noise;
            }
        }
        let expected = transferred(&CpuBackend, &data, &other);

        let found = transferred(subject, &data, &other);

        let what = format!("{:?}, {walls} walls", grid.topology);
        assert_eq!(found[0], expected[0], "{what}");
        assert_close(&found[1], &expected[1], 1e4, &what);
    }
}

/// The first guess and the residual of equations at the nodes of another grid.
fn transferred<S: Subject>(subject: &S, data: &EllipticData, other: &Grid) -> [Vec<f64>; 2] {
    let (state, _) = subject.elliptic(data).unwrap();
    let there = subject.take(other.clone()).unwrap();
    let (mut state, guess) = subject.with_nodes(&state, &there).unwrap();
    let n = 2 * data.mi * data.mj;
    let mut f = subject.zeros(n).unwrap();
    subject.residual(&mut state, &mut f).unwrap();
    [&guess, &f].map(|v| to_host(subject, v, n))
}

/// The contribution of fixed nodes to the equations of their neighbours, and its transpose.
pub fn fixed_nodes_and_points_beside_them_are_coupled<S: Subject>(subject: &S) {
    for ((grid, normals), walls) in walled() {
        let data = EllipticData::new(&grid, &normals, &settings(walls));
        let (what, n) = (format!("{:?}, {walls} walls", grid.topology), 2 * data.mi * data.mj);
        let lines = lines(&grid, held(&grid));
        let u = random::<f64>(4, n);
        let mut at = CpuBackend.elliptic(&data).unwrap().1;
        let sides = [0, 2 * data.mi * (data.mj - 1)];
        for (k, noise) in random::<f64>(5, 2 * data.mi).into_iter().enumerate() {
            sides[..walls].iter().for_each(|first| at[first + k] = 0.1 * noise);
        }
        let expected = seen(&CpuBackend, &data, &at, &lines, &u);

        let found = seen(subject, &data, &at, &lines, &u);

        assert_close(&found.0, &expected.0, 1e3, &what);
        assert_close(found.1.values.as_flattened(), expected.1.values.as_flattened(), 1e3, &what);
        // (A δ, u) = (δ, Aᵀ u) over the fixed nodes; nodes on both a line and a column count once.
        let product: f64 = found.0.iter().zip(&u).map(|(a, b)| a * b).sum();
        let FixedLines { places, values } = found.1;
        let on_line = |[_, j]: [usize; 2], at: usize| at < 2 * places.ni || j > 1;
        let nodes = places.nodes(held(&grid)).filter(|&(at, node)| on_line(node, at));
        let dot =
            |at: usize| [0, 1].map(|k| lines.values[at][k] * values[at][k]).iter().sum::<f64>();
        let sum: f64 = nodes.map(|(at, _)| dot(at)).sum();
        assert!((product - sum).abs() < 1e-9 * product.abs().max(1.0), "{what}: {product}, {sum}");
    }
}

/// A δ for a displacement on the lines, and Aᵀ u there, for the equations at a state.
fn seen<S: Subject>(
    subject: &S,
    data: &EllipticData,
    at: &[f64],
    lines: &FixedLines,
    u: &[f64],
) -> (Vec<f64>, FixedLines) {
    let (mut state, _) = subject.elliptic(data).unwrap();
    let mut f = subject.zeros(u.len()).unwrap();
    subject.load_state(&mut state, &to_device(subject, at)).unwrap();
    subject.residual(&mut state, &mut f).unwrap();
    let displacement = subject.displacement(&state, lines).unwrap();
    subject.frame_product(&state, &displacement, &mut f).unwrap();
    let sums = subject.frame_sums(&state, &to_device(subject, u)).unwrap();
    (to_host(subject, &f, u.len()), sums)
}

pub fn lines_halves_and_seams_are_those_of_the_host<S: Subject>(subject: &S) {
    for (grid, _) in marches() {
        let there = subject.take(grid.clone()).unwrap();
        let placed = subject.placed(&there, [0.3, -0.1], 2.5).unwrap();
        let expected = CpuBackend.placed(&grid, [0.3, -0.1], 2.5).unwrap();
        assert_eq!(nodes(subject, &placed, &grid), [expected.x, expected.y].concat());
        let (found, expected) = (subject.lines_of(&there), CpuBackend.lines_of(&grid));
        assert_eq!(found.unwrap(), expected.unwrap());

        for symmetry in [Symmetry::UpDown, Symmetry::LeftRight] {
            let half = Grid { topology: Topology::Half(symmetry), ..grid.clone() };
            let kind = (symmetry, Topology::O(Seam::Periodic));
            let mut expected = CpuBackend.padded(kind, &half).unwrap();
            let mut whole = subject.padded(kind, &subject.take(half).unwrap()).unwrap();
            let both = |grid: &Grid| [&grid.x[..], &grid.y].concat();
            assert_eq!(nodes(subject, &whole, &expected), both(&expected));
            CpuBackend.fold_seam(&mut expected).unwrap();

            subject.fold_seam(&mut whole).unwrap();

            assert_eq!(nodes(subject, &whole, &expected), both(&expected));
        }
    }
}
