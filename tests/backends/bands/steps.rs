//! Every step from wall points to the finished grid on several devices, compared with one: each device must
//! have the same bits in its part.

use gridgen::backend::cuda::{CudaBackend, CudaGrid};
use gridgen::backend::{Backend, Bands, EllipticBackend, GridBackend, LevelSize, Receivers};
use gridgen::case::Problem;
use gridgen::grid::quality::Quality;
use gridgen::grid::{Grid, Symmetry, Topology};
use gridgen::solver::{NonlinearProblem, SolverError};

use super::ranks::on_bands_of;
use super::runs::case;
use support::fibers::{Transport, fibers};
use support::grids::exact;

struct Seen {
    folded: usize,
    initial: Grid,
    /// Residual of the first guess.
    residual: Vec<f64>,
    /// Nodes of an asymmetric state; if the body is symmetric, with restored symmetry; for a half grid, the
    /// half.
    finished: Grid,
    quality: Quality,
}

type Sets = &'static [(&'static str, &'static str)];

/// Grids of all topologies and bases. Some are small, with bands narrower than the reach of their control
/// functions.
fn problems() -> Vec<(&'static str, Problem)> {
    const C: Sets = &[("grid.topology", "C"), ("geometry.trailing_edge", "sharp")];
    const HALF: Sets = &[("grid.topology", "half"), ("geometry.naca", "0012")];
    const THOMAS: Sets = &[("control.base", "thomas-middlecoff")];
    let cases: [(&str, &[Sets]); 9] = [
        ("O, sharp", &[&[("geometry.trailing_edge", "sharp")]]),
        ("O, blunt", &[]),
        ("O, symmetric", &[&[("geometry.naca", "0012"), ("grid.ni", "49")]]),
        ("C", &[C, &[("grid.ni", "65")]]),
        ("C, long", &[C, &[("grid.ni", "97"), ("control.smoothing_columns", "3")]]),
        ("half", &[HALF, &[("grid.ni", "33")]]),
        ("Laplace", &[&[("control.base", "laplace"), ("control.wall", "frozen")]]),
        ("Thomas-Middlecoff, O", &[THOMAS]),
        ("Thomas-Middlecoff, C", &[C, THOMAS, &[("grid.ni", "65")]]),
    ];
    let settled = |sets: &[Sets]| case(&sets.concat()).settle().unwrap();
    cases.into_iter().map(|(name, sets)| (name, settled(sets))).collect()
}

fn whole_size(problem: &Problem) -> LevelSize {
    let [ni, nj] = problem.size();
    LevelSize::of_grid(problem.topology, ni, nj)
}

/// The whole of a grid of this size.
fn whole(
    backend: &CudaBackend,
    grid: &CudaGrid,
    (topology, [ni, nj]): (Topology, [usize; 2]),
) -> Result<Grid, SolverError> {
    let mut host = Grid::unset(topology, ni, nj);
    backend.gather(grid, Receivers::All, Some(&mut host))?;
    Ok(host)
}

/// Takes all steps; all devices must call.
fn look(problem: &Problem, backend: &CudaBackend) -> Result<Seen, SolverError> {
    let ([ni, nj], size) = (problem.size(), whole_size(problem));
    let marched = problem.initial_grid(backend)?;
    let (folded, of) = (marched.folded, (problem.topology, [ni, nj]));
    let initial = whole(backend, &marched.grid, of)?;
    let (mut equations, mut u) = problem.equations::<_, f64>(backend, marched.grid)?;
    let mut values = vec![0.0; 2 * size.mi * size.mj];
    backend.gather_unknowns(&u, Receivers::All, Some(&mut values))?;
    // An asymmetric state near the first guess.
    values.iter_mut().enumerate().for_each(|(k, u)| *u += 1e-5 * (0.7 * k as f64).sin());
    backend.upload_unknowns(&values, &mut u)?;
    let mut f = backend.zeros(equations.unknowns())?;
    let _ = equations.residual(backend, &u, &mut f)?;
    backend.gather_unknowns(&f, Receivers::All, Some(&mut values))?;
    let nodes = equations.nodes(backend, &u, problem.topology)?;
    let nodes: CudaGrid = problem.finished(backend, nodes, true)?;
    let half = problem.half.map(|half| (Topology::Half(half), [ni.div_ceil(2), nj]));
    let finished = whole(backend, &nodes, half.unwrap_or(of))?;
    Ok(Seen { folded, initial, residual: values, finished, quality: backend.measure(&nodes)? })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

fn compare(found: &Seen, expected: &Seen, what: &str) {
    assert_eq!(found.folded, expected.folded, "{what}");
    for (step, found, expected) in [
        ("march", &found.initial, &expected.initial),
        ("finished", &found.finished, &expected.finished),
    ] {
        assert!(bits(&found.x) == bits(&expected.x), "{what}: {step}");
        assert!(bits(&found.y) == bits(&expected.y), "{what}: {step}");
    }
    assert!(bits(&found.residual) == bits(&expected.residual), "{what}: residual");
    let (found, expected) = (&found.quality, &expected.quality);
    assert_eq!(exact(found), exact(expected), "{what}");
    let waves = found.waves_deg - expected.waves_deg;
    assert!(waves.abs() < 1e-9, "{what}: waves differ by {waves}");
    let means = |quality: &Quality| [quality.mean_skewness, quality.wall_angle_error_mean_deg];
    for (found, expected) in means(found).into_iter().zip(means(expected)) {
        assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found}, not {expected}");
    }
}

#[test]
fn every_step_gives_the_bits_of_one_device() {
    for (name, problem) in problems() {
        let alone = CudaBackend::new(fibers(1).remove(0)).unwrap();
        let expected = look(&problem, &alone).unwrap();
        let LevelSize { mi, periodic, .. } = whole_size(&problem);
        for (ranks, transport) in
            [(1, Transport::Host), (2, Transport::PeerMemory), (3, Transport::Host)]
        {
            let bands = Bands::new(mi, ranks, periodic).unwrap();

            let all =
                on_bands_of(&fibers(ranks), transport, &bands, |_, rank| look(&problem, rank));

            for found in all.unwrap() {
                compare(&found, &expected, &format!("{name}, {ranks} ranks"));
            }
        }
        if name.contains("symmetric") {
            let mut again = expected.finished.clone();
            Symmetry::UpDown.restore(&mut again);
            assert!(bits(&again.y) == bits(&expected.finished.y), "{name}: not restored");
        }
    }
}
