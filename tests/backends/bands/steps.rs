//! Every step from wall points to the finished grid on several devices, compared with one: each device must
//! have the same bits in its part.

use std::sync::Mutex;

use gridgen::backend::cuda::{CudaBackend, CudaGrid};
use gridgen::backend::{Backend, Bands, EllipticBackend, GridBackend, LevelSize, Receivers};
use gridgen::case::Problem;
use gridgen::grid::quality::Quality;
use gridgen::grid::{Grid, Symmetry, Topology};
use gridgen::solver::{NonlinearProblem, SolverError};

use super::ranks::on_bands_of;
use super::runs::case;
use support::fibers::{Transport, fibers};

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

/// Unknowns of a grid: small deviations from the first guess, by position in the whole grid.
fn state(n: usize) -> Vec<f64> {
    (0..n).map(|k| 1e-5 * (0.7 * k as f64).sin()).collect()
}

fn whole_size(problem: &Problem) -> LevelSize {
    let [ni, nj] = problem.size();
    LevelSize::of_grid(problem.topology, ni, nj)
}

/// Stores the part that a device owns in `seen`; all devices must call.
fn look(problem: &Problem, backend: &CudaBackend, seen: &Mutex<Seen>) -> Result<(), SolverError> {
    let initial = problem.initial_grid(backend)?;
    {
        let mut seen = seen.lock().unwrap();
        seen.folded = initial.folded;
        backend.fetch(&initial.grid, &mut seen.initial)?;
    }
    let (mut equations, mut u) = problem.equations::<_, f64>(backend, initial.grid)?;
    let size = whole_size(problem);
    let mut whole = vec![0.0; 2 * size.mi * size.mj];
    let moved = state(whole.len());
    backend.gather_unknowns(&u, Receivers::All, Some(&mut whole))?;
    whole.iter_mut().zip(moved).for_each(|(u, moved)| *u += moved);
    backend.upload_unknowns(&whole, &mut u)?;
    let mut f = backend.zeros(equations.unknowns())?;
    let _ = equations.residual(backend, &u, &mut f)?;
    backend.gather_unknowns(&f, Receivers::All, Some(&mut whole))?;
    seen.lock().unwrap().residual = whole;
    let nodes = equations.nodes(backend, &u, problem.topology)?;
    let nodes: CudaGrid = problem.finished(backend, nodes, true)?;
    backend.fetch(&nodes, &mut seen.lock().unwrap().finished)?;
    let quality = backend.measure(&nodes)?;
    seen.lock().unwrap().quality = quality;
    Ok(())
}

/// Values that are never stored remain NaN.
fn unseen(problem: &Problem) -> Mutex<Seen> {
    let [ni, nj] = problem.size();
    let size = whole_size(problem);
    let empty = |topology: Topology, ni: usize| Grid::unset(topology, ni, nj);
    Mutex::new(Seen {
        folded: usize::MAX,
        initial: empty(problem.topology, ni),
        residual: vec![f64::NAN; 2 * size.mi * size.mj],
        finished: match problem.half {
            Some(half) => empty(Topology::Half(half), ni.div_ceil(2)),
            None => empty(problem.topology, ni),
        },
        quality: Quality::default(),
    })
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// The quality without its sums, whose order differs.
fn exact(quality: &Quality) -> String {
    let exact = Quality {
        mean_skewness: 0.0,
        wall_angle_error_mean_deg: 0.0,
        waves_deg: 0.0,
        ..quality.clone()
    };
    format!("{exact:?}")
}

#[test]
fn every_step_gives_the_bits_of_one_device() {
    for (name, problem) in problems() {
        let expected = unseen(&problem);
        let alone = CudaBackend::new(fibers(1).remove(0)).unwrap();
        look(&problem, &alone, &expected).unwrap();
        let expected = expected.into_inner().unwrap();
        let LevelSize { mi, periodic, .. } = whole_size(&problem);
        for (ranks, transport) in
            [(1, Transport::Host), (2, Transport::PeerMemory), (3, Transport::Host)]
        {
            let bands = Bands::new(mi, ranks, periodic).unwrap();
            let found = unseen(&problem);

            on_bands_of(&fibers(ranks), transport, &bands, |_, backend| {
                look(&problem, backend, &found)
            })
            .unwrap();

            let found = found.into_inner().unwrap();
            let what = format!("{name}, {ranks} ranks");
            assert_eq!(found.folded, expected.folded, "{what}");
            for (step, found, expected) in [
                ("march", &found.initial, &expected.initial),
                ("finished", &found.finished, &expected.finished),
            ] {
                assert!(bits(&found.x) == bits(&expected.x), "{what}: {step}");
                assert!(bits(&found.y) == bits(&expected.y), "{what}: {step}");
            }
            assert!(bits(&found.residual) == bits(&expected.residual), "{what}: residual");
            assert_eq!(exact(&found.quality), exact(&expected.quality), "{what}");
            let waves = found.quality.waves_deg - expected.quality.waves_deg;
            assert!(waves.abs() < 1e-9, "{what}: waves differ by {waves}");
            let means =
                |quality: &Quality| [quality.mean_skewness, quality.wall_angle_error_mean_deg];
            for (found, expected) in means(&found.quality).into_iter().zip(means(&expected.quality))
            {
                assert!((found / expected - 1.0).abs() < 1e-12, "{what}: {found}, not {expected}");
            }
        }
        if name.contains("symmetric") {
            let mut again = expected.finished.clone();
            Symmetry::UpDown.restore(&mut again);
            assert!(bits(&again.y) == bits(&expected.finished.y), "{name}: not restored");
        }
    }
}
