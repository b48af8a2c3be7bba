//! The grid equations: state, residual, Jacobian.

use gridgen::backend::cpu::{CpuBackend, EllipticState};
use gridgen::backend::{EllipticBackend, EllipticData, Evaluation, LevelSize, Real, SparseBackend};
use gridgen::grid::{Seam, Topology};
use gridgen::sparse::{EllPattern, WalledSides};

use super::{SIZES, Subject, assert_close, grid_to_host, to_device, to_host};
use support::problems::polar;

/// All sizes with both kinds of seam, without and with wall terms of one end of the eta-lines and of both, and beside.
fn problems() -> impl Iterator<Item = (EllipticData, Vec<f64>)> {
    let walls = [[0, 0, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0], [1, 0, 0, 1], [1, 1, 1, 1]];
    let walls = walls.map(|walls| walls.map(|wall| wall == 1));
    SIZES.into_iter().flat_map(move |(mi, mj)| {
        let fits = move |walls: &[bool; 4], periodic: bool| {
            let [low, narrow] = [mj == 1 && walls[1], mi == 1 && walls[3]];
            !(low || narrow || periodic && walls[3])
        };
        walls.into_iter().flat_map(move |walls| {
            let seams = [false, true].into_iter().filter(move |periodic| fits(&walls, *periodic));
            seams.map(move |periodic| polar(mi, mj, periodic, walls))
        })
    })
}

/// Strips whose rows close after a pitch in y, upward and downward, of all sizes.
fn strips() -> impl Iterator<Item = (EllipticData, Vec<f64>)> {
    SIZES.into_iter().flat_map(|(mi, mj)| {
        [0.85_f64, -0.85].map(|shift| {
            let place = |i: usize, j: usize| {
                let t = i as f64 / mi as f64;
                let wave = 0.1 * (std::f64::consts::TAU * t).sin();
                [-shift.signum() * 0.3 * j as f64 / mj as f64 + wave, shift * t + 0.2 * wave]
            };
            let nodes = |k: usize| -> Vec<f64> {
                (0..mj + 2).flat_map(|j| (0..mi + 2).map(move |i| place(i, j)[k])).collect()
            };
            let (data, noise) = polar(mi, mj, true, [false; 4]);
            let size = 0.1 * (0.85 / mi as f64).min(0.3 / mj as f64);
            let u = (0..noise.len())
                .map(|k| {
                    let (i, j) = (k / 2 % mi, k / 2 / mi);
                    place(i + 1, j + 1)[k % 2] + size * noise[k]
                })
                .collect();
            (EllipticData { shift, x: nodes(0), y: nodes(1), ..data }, u)
        })
    })
}

/// A state on the CPU and on the subject.
struct Both<'a, S: Subject> {
    subject: &'a S,
    name: String,
    points: usize,
    cpu: EllipticState,
    state: S::Elliptic,
}

impl<'a, S: Subject> Both<'a, S> {
    fn new(subject: &'a S, (data, u): &(EllipticData, Vec<f64>)) -> Self {
        let mut both = Self {
            subject,
            name: format!(
                "{} × {}, periodic {}, wall terms {}",
                data.mi,
                data.mj,
                data.periodic,
                data.walls.iter().flatten().count()
            ),
            points: data.mi * data.mj,
            cpu: CpuBackend.elliptic(data).unwrap().0,
            state: subject.elliptic(data).unwrap().0,
        };
        both.load(u);
        both
    }

    fn load(&mut self, u: &Vec<f64>) {
        CpuBackend.load_state(&mut self.cpu, u).unwrap();
        self.subject.load_state(&mut self.state, &to_device(self.subject, u)).unwrap();
    }

    /// Residual and evaluation on both.
    fn residual(&mut self) -> [(Vec<f64>, Evaluation); 2] {
        let n = 2 * self.points;
        let (mut expected, mut f) = (vec![0.0; n], self.subject.zeros(n).unwrap());
        let of_cpu = CpuBackend.residual(&mut self.cpu, &mut expected).unwrap();
        let found = self.subject.residual(&mut self.state, &mut f).unwrap();
        [(to_host(self.subject, &f, n), found), (expected, of_cpu)]
    }

    /// Returns the evaluation.
    fn check_residual(&mut self) -> Evaluation {
        let [(f, found), (expected_f, expected)] = self.residual();
        assert_close(&f, &expected_f, 1000.0, &self.name);
        for (found, expected) in [
            (found.merit, expected.merit),
            (found.kept_merit, expected.kept_merit),
            (found.largest, expected.largest),
        ] {
            let close = (found - expected).abs() <= 1e-12 * expected;
            assert!(close, "{}: {found} for {expected}", self.name);
        }
        self.check_cells([found, expected]);
        let largest = f.iter().fold(0.0, |most: f64, f| most.max(f.abs()));
        assert_eq!(found.largest.to_bits(), largest.to_bits(), "{}", self.name);
        found
    }

    fn check_cells(&self, [found, expected]: [Evaluation; 2]) {
        assert_eq!(found.folded, expected.folded, "{}", self.name);
        assert_eq!(found.largest.is_nan(), expected.largest.is_nan(), "{}", self.name);
        let (found, expected) = (found.min_area, expected.min_area);
        let close = (found - expected).abs() < 1e-12 * expected.abs();
        assert!(
            close || found.to_bits() == expected.to_bits(),
            "{}: {found} for {expected}",
            self.name
        );
    }

    /// Compares what is found of the cells of any state; returns the number of folded ones.
    fn folded(&mut self) -> usize {
        let [(_, found), (_, expected)] = self.residual();
        self.check_cells([found, expected]);
        found.folded
    }
}

pub fn rows_close_after_a_pitch<S: Subject>(subject: &S) {
    for (data, u) in strips() {
        let topology = Topology::O(Seam::Periodic);
        let of_unshifted = {
            let mut both =
                Both::new(subject, &(EllipticData { shift: 0.0, ..data.clone() }, u.clone()));
            both.residual()[0].0.clone()
        };
        // The guess alone, then unknowns that were loaded.
        for load in [false, true] {
            let mut both = Both::new(subject, &(data.clone(), u.clone()));
            if !load {
                both.cpu = CpuBackend.elliptic(&data).unwrap().0;
                both.state = subject.elliptic(&data).unwrap().0;
            }
            both.check_residual();
            let f = &both.residual()[0].0;
            assert!(!load || f[0].to_bits() != of_unshifted[0].to_bits(), "{}", both.name);
            let Both { cpu, state, name, .. } = both;
            let expected = CpuBackend.nodes(cpu, topology).unwrap();

            let nodes = subject.nodes(state, topology).unwrap();

            assert_eq!(grid_to_host(subject, &nodes, &expected), expected, "{name}");
        }
    }
}

pub fn the_residual_and_its_merit<S: Subject>(subject: &S) {
    for problem in problems() {
        let mut both = Both::new(subject, &problem);
        let first = both.check_residual();
        assert_eq!(first.kept_merit.to_bits(), 0);
        CpuBackend.keep_weights(&mut both.cpu);
        subject.keep_weights(&mut both.state);
        assert_eq!(both.check_residual(), Evaluation { kept_merit: first.merit, ..first });
        let moved = problem.1.iter().map(|u| 1.5 * u).collect();
        // A state between that is not kept.
        for u in [&problem.1.iter().map(|u| 1.2 * u).collect(), &moved] {
            both.load(u);
            let found = both.check_residual();
            // Points beside walls stay where they are.
            let moves = problem.0.mi > 2 && problem.0.mj > 2;
            assert!(!moves || found.merit.to_bits() != found.kept_merit.to_bits(), "{}", both.name);
        }
    }
}

/// The entries of the Jacobian by a pattern, and of the wall columns.
fn check_jacobian<S: Subject, T: Real>(
    subject: &S,
    problem: &(EllipticData, Vec<f64>),
    pattern: fn(LevelSize) -> EllPattern,
) {
    let mut both = Both::new(subject, problem);
    both.residual();
    let size = CpuBackend.size(&both.cpu);
    let walls = match problem.0.walled_sides() {
        none if none.is_empty() => WalledSides::SECTION,
        walls => walls,
    };
    let (pattern, columns) = (pattern(size), EllPattern::WallColumns(size, walls));
    let [mut a, mut b] = [pattern, columns].map(|of| CpuBackend.matrix::<T>(of).unwrap());
    CpuBackend.jacobian(&both.cpu, &mut a, Some(&mut b)).unwrap();
    // The previous contents of the slots must not matter.
    let ones = vec![T::one(); pattern.rows() * pattern.width()];
    let mut found_a = subject.matrix_from(pattern, &ones);
    let mut found_b = subject.matrix::<T>(columns).unwrap();

    subject.jacobian(&both.state, &mut found_a, Some(&mut found_b)).unwrap();

    for (found, expected) in [(found_a, a), (found_b, b)] {
        let found = subject.matrix_values(&found).unwrap();
        assert_close(&found, expected.values(), 100.0, &both.name);
    }
}

pub fn the_entries_of_the_jacobian_and_of_the_wall_columns<S: Subject>(subject: &S) {
    for problem in problems() {
        for pattern in [EllPattern::NinePoint, EllPattern::TenNumbers] {
            check_jacobian::<S, f64>(subject, &problem, pattern);
            check_jacobian::<S, f32>(subject, &problem, pattern);
        }
    }
}

pub fn folded_cells_are_counted<S: Subject>(subject: &S) {
    for (data, mut u) in problems() {
        Both::new(subject, &(data.clone(), u.clone())).folded();
        // Some unknowns change sign, which inverts cells.
        for k in (0..u.len()).step_by(9) {
            u[k] = -u[k];
        }
        Both::new(subject, &(data, u)).folded();
    }
}

pub fn a_nan_is_a_folded_cell<S: Subject>(subject: &S) {
    for (periodic, folded) in [(false, 4), (true, 4)] {
        let (data, mut u) = polar(37, 53, periodic, [false; 4]);
        u[2 * (5 * 37)] = f64::NAN;
        assert_eq!(Both::new(subject, &(data, u)).folded(), folded);
    }
    // No cell has an area.
    let (data, u) = polar(5, 3, true, [false; 4]);
    let data = EllipticData { x: vec![f64::NAN; data.x.len()], ..data };
    Both::new(subject, &(data, vec![f64::NAN; u.len()])).folded();
}

pub fn the_grid_is_stored_with_its_seam<S: Subject>(subject: &S) {
    for problem in problems() {
        let (held, wake) = (Topology::O(Seam::Held), 1);
        let open = [held, Topology::C { wake }, Topology::Blunt { wake }];
        let closed = [Topology::O(Seam::Periodic)];
        for &topology in if problem.0.periodic { &closed[..] } else { &open } {
            let Both { cpu, state, name, .. } = Both::new(subject, &problem);
            let expected = CpuBackend.nodes(cpu, topology).unwrap();

            let nodes = subject.nodes(state, topology).unwrap();

            assert_eq!(grid_to_host(subject, &nodes, &expected), expected, "{name}");
        }
    }
}
