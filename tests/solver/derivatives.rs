//! Derivatives of moved grids.

use gridgen::backend::Coarsening;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::{GridPreconditioner, GridProblem};
use gridgen::movement::{Moved, MovementError, Reference};
use gridgen::solver::NonlinearProblem;
use gridgen::solver::precond::Kind;

use support::cases::case;
use support::linear::{dot, off_transpose};
use support::moves::{self, on_cpu};
use support::problems::{applied, preconditioned, preconditioner};
use support::random::Random;
use support::vectors::{distance, twisted};

use crate::movement::{
    BLUNT, C, HALF, O, ROOM, SMALL, TUNNEL, bumped, reference, small_ones, thickened,
};

type Wall = Vec<[f64; 2]>;

/// A reference with grids solved to rounding, and a grid moved from it.
fn moved(text: &str) -> (&'static Reference, Wall, Moved) {
    // The small case sets it itself.
    let tight = if text.contains("newton.tolerance") { "" } else { "newton.tolerance = 1e-11\n" };
    let precise = if text.contains("precision") { "" } else { "linear.precision = 'double'\n" };
    let text = format!("{tight}{precise}{text}");
    let reference = reference(&text);
    let wall = if text.ends_with(HALF) {
        thickened(&reference.wall(), 1.1)
    } else {
        twisted(&bumped(&reference.wall(), 0.01), 3.0)
    };
    let moved = moves::moved(reference, &wall);
    (reference, wall, moved)
}

fn smooth(wall: &[[f64; 2]]) -> Wall {
    wall.iter().map(|&[x, y]| [0.3 * (2.0 * y).sin(), (3.0 * x).cos() + 0.5 * y]).collect()
}

/// The displacement; on half a grid its ends stay on the plane of symmetry, and points beside them near it.
fn upright(text: &str, wall: &[[f64; 2]], mut by: Wall) -> Wall {
    if text.ends_with(HALF) {
        by.iter_mut().zip(wall).for_each(|(by, at)| by[1] *= at[1]);
    }
    by
}

fn displaced(wall: &[[f64; 2]], by: &[[f64; 2]], h: f64) -> Wall {
    wall.iter().zip(by).map(|(a, b)| [a[0] + h * b[0], a[1] + h * b[1]]).collect()
}

/// ‖central difference − derivative‖/‖derivative‖ by a displacement of the wall and changes of heights, and the
/// residual of the solve for the derivative.
fn off(
    (reference, wall, at): &(&Reference, Wall, Moved),
    (by, heights): (&[[f64; 2]], &[f64]),
    h: f64,
) -> (f64, f64) {
    let [low, high] = [-h, h].map(|h| {
        let changes: Vec<f64> = heights.iter().map(|height| h * height).collect();
        let higher = reference.with_heights(&changes).unwrap();
        let moved = moves::moved(&higher, &displaced(wall, by, h));
        [moved.grid().x.clone(), moved.grid().y.clone()]
    });
    let mut derivatives = on_cpu(reference).derivatives(&CpuBackend, at).unwrap();
    let (found, solved) = derivatives.derivative(&CpuBackend, by, heights).unwrap();
    let (mut square, mut whole) = (0.0, 0.0);
    for (k, exact) in [&found.x, &found.y].into_iter().enumerate() {
        for ((low, high), exact) in low[k].iter().zip(&high[k]).zip(exact) {
            square += ((high - low) / (2.0 * h) - exact).powi(2);
            whole += exact * exact;
        }
    }
    ((square / whole).sqrt(), solved.residual)
}

/// Displacements of every wall point by a random fraction of its smaller neighbouring distance.
fn rough(text: &str, wall: &[[f64; 2]]) -> Wall {
    let mut random = Random::new(3);
    let mut by: Wall = (0..wall.len())
        .map(|k| {
            let beside = [k.checked_sub(1), (k + 1 < wall.len()).then_some(k + 1)];
            let apart = beside.into_iter().flatten().map(|other| distance(wall[k], wall[other]));
            let least = apart.fold(f64::MAX, f64::min);
            [(); 2].map(|()| least * random.symmetric())
        })
        .collect();
    if !text.ends_with(HALF) {
        by[wall.len() - 1] = by[0];
    }
    by
}

/// The small O-grid without wall terms, of whose first cells those on the seam alone have given heights.
fn frozen() -> String {
    SMALL.replace("[grid]", "control.wall = 'frozen'\n[grid]")
}

#[test]
fn the_forward_derivative_is_that_of_central_differences() {
    for text in small_ones().into_iter().chain([frozen(), O.to_owned(), C.to_owned()]) {
        let moved = moved(&text);
        let wall = &moved.1;
        for (by, most) in [(smooth(wall), 2e-7), (rough(&text, wall), 1e-6)] {
            let by = upright(&text, wall, by);

            let (off, residual) = off(&moved, (&by, &vec![0.0; by.len()]), 1e-4);

            assert!(off < most && residual <= 1e-9, "{text}: {off:e}, {residual:e}");
        }
    }
}

#[test]
fn the_derivative_by_heights_is_that_of_central_differences() {
    for (text, size) in [(SMALL, 1e-3), (C, 1e-5), (TUNNEL, 1e-4), (&frozen(), 1e-3)] {
        let moved = moved(text);
        let of_height = |&[x, _]: &[f64; 2]| size * (1.0 + 0.5 * (5.0 * x).sin());
        let heights: Vec<f64> = moved.1.iter().map(of_height).collect();

        let (off, _) = off(&moved, (&vec![[0.0; 2]; heights.len()], &heights), 1e-3);

        assert!(off < 1e-5, "{text}: {off:e}");
    }
}

/// ⟨X̄, ∂X/∂x_w δ⟩ = ⟨(∂X/∂x_w)ᵀ X̄, δ⟩, for wall points and heights.
#[test]
fn the_adjoint_is_the_transpose_of_the_forward_derivative() {
    for text in [O, C, SMALL, BLUNT, HALF, TUNNEL, ROOM, &frozen()] {
        let (reference, wall, at) = moved(text);
        let (by, heights) = (smooth(&wall), wall.iter().map(|&[x, _]| 1.0 + x).collect::<Vec<_>>());
        let weights =
            |of: fn(f64) -> f64, at: &[f64]| -> Vec<f64> { at.iter().map(|&c| of(c)).collect() };
        let x = weights(|x| (3.0 * x).sin(), &at.grid().x);
        let y = weights(|x| (2.0 * x).cos(), &at.grid().x);

        let mut derivatives = on_cpu(reference).derivatives(&CpuBackend, &at).unwrap();
        let (forward, _) = derivatives.derivative(&CpuBackend, &by, &heights).unwrap();
        let nodes = derivatives.by_nodes(&CpuBackend, &x, &y).unwrap();
        let adjoint = derivatives.adjoint(&CpuBackend, nodes).unwrap();

        let left = dot(&x, &forward.x) + dot(&y, &forward.y);
        let right =
            dot(adjoint.wall.as_flattened(), by.as_flattened()) + dot(&adjoint.heights, &heights);
        assert!((left - right).abs() <= 1e-8 * left.abs(), "{text}: {left:e}, {right:e}");
        let solved = adjoint.solved;
        assert!(solved.iterations <= 8.0 && solved.residual <= 1e-9, "{text}: {solved:?}");
    }
}

/// The reduced systems of K and of Kᵀ have the wall terms of floor and roof, too.
#[test]
fn factors_solve_for_both_derivatives_in_a_tunnel() {
    let (reference, wall, at) = moved(&format!("linear.preconditioner = 'ilu0'\n{TUNNEL}"));
    let mut derivatives = on_cpu(reference).derivatives(&CpuBackend, &at).unwrap();

    let heights = vec![0.0; wall.len()];
    let (_, forward) = derivatives.derivative(&CpuBackend, &smooth(&wall), &heights).unwrap();
    let nodes = derivatives.by_nodes(&CpuBackend, &at.grid().x, &at.grid().y).unwrap();
    let adjoint = derivatives.adjoint(&CpuBackend, nodes).unwrap().solved;

    for solved in [forward, adjoint] {
        assert!(solved.iterations <= 60.0 && solved.residual <= 1e-9, "{solved:?}");
    }
}

#[test]
fn what_has_no_derivative_is_refused() {
    let reference = reference(SMALL);
    let wall = reference.wall();
    let resident = on_cpu(reference);
    let unmoved = resident.unmoved(&CpuBackend).unwrap();
    let mut derivatives = resident.derivatives(&CpuBackend, &unmoved).unwrap();

    let short = derivatives.derivative(&CpuBackend, &wall[1..], &[]).unwrap_err();
    assert!(matches!(short, MovementError::WallPoints { found: 64, expected: 65 }), "{short}");
    let short = derivatives.derivative(&CpuBackend, &wall, &[1.0]).unwrap_err();
    assert!(matches!(short, MovementError::WallPoints { found: 1, expected: 65 }), "{short}");
    let short = derivatives.by_nodes(&CpuBackend, &[1.0], &[1.0]).err().unwrap();
    assert!(matches!(short, MovementError::Nodes { found: 1, .. }), "{short}");
    for text in [SMALL, HALF] {
        for heights in [&[][..], &[1e-3]] {
            assert!(self::reference(text).with_heights(heights).is_none(), "{text}: {heights:?}");
        }
    }
}

fn small(grid: &str) -> String {
    format!("geometry.naca = '2412'\n[grid]\n{grid}\n")
}

fn equations(text: &str) -> GridProblem<CpuBackend, f64> {
    let problem = case(text).settle().unwrap();
    let initial = problem.initial_grid(&CpuBackend).unwrap().grid;
    let (mut equations, u) = problem.equations::<_, f64>(&CpuBackend, initial).unwrap();
    let mut f = vec![0.0; equations.unknowns()];
    equations.residual(&CpuBackend, &u, &mut f).unwrap();
    equations
}

/// ⟨M⁻¹ v, w⟩ = ⟨v, M⁻ᵀ w⟩ of the cycles with wall terms.
#[test]
fn the_transposed_cycle_is_the_transpose_of_the_cycle() {
    for text in [
        small("ni = 65\nnj = 33\nfirst_cell = 1e-3"),
        small("ni = 66\nnj = 34\nfirst_cell = 1e-5"),
        small("topology = 'C'\nni = 225\nnj = 65\nwake = 48\nfirst_cell = 1e-4\nfar_field = 50.0"),
        "geometry.ellipse.thickness = 0.5\n[grid]\nni = 97\nnj = 65\nfirst_cell = 1e-3\n".into(),
        small("ni = 65\nnj = 33\nfirst_cell = 1e-3\n[control]\nwall = 'frozen'"),
    ] {
        let mut equations = equations(&text);
        let n = equations.unknowns();
        for coarsening in [Coarsening::Full, Coarsening::Xi] {
            let transposed = &equations.transposed(&CpuBackend).unwrap();
            let jacobian = equations.linearise(&CpuBackend).unwrap();
            let kind = (Kind::Multigrid, coarsening);

            let cycles = off_transpose(
                n,
                |v| preconditioned(kind, jacobian, v),
                |w| preconditioned(kind, transposed, w),
            );

            assert!(cycles < 1e-12, "{text} {coarsening:?}: {cycles:e}");
        }
    }
}

/// A cycle of Kᵀ falls back on the same forms as a cycle of K, and each form is the transpose of its counterpart.
/// Without wall terms the cycle of the field equals the whole cycle, and no form is tried twice.
#[test]
fn both_sides_fall_back_on_the_same_forms() {
    let without = "multigrid without wall terms and their reduced system";
    let strong = "multigrid with W cycles in double precision";
    let grid = "ni = 65\nnj = 33\nfirst_cell = 1e-3";
    let frozen = small(&format!("{grid}\n[control]\nwall = 'frozen'"));
    for (text, first) in [(small(grid), without), (frozen, strong)] {
        let mut equations = equations(&text);
        let transposed = &equations.transposed(&CpuBackend).unwrap();
        let operators = [equations.linearise(&CpuBackend).unwrap(), transposed];
        let way = (Kind::Multigrid, Coarsening::Full);
        let mut forms = operators.map(|operator| preconditioner(way, operator));
        let apart = |[forwards, backwards]: &mut [GridPreconditioner<_, _>; 2]| {
            off_transpose(
                transposed.rows(),
                |v| applied(forwards, operators[0], v),
                |w| applied(backwards, operators[1], w),
            )
        };
        let _ = apart(&mut forms);

        let next = forms.each_mut().map(GridPreconditioner::fall_back);

        assert_eq!(next, [Some(first); 2], "{text}");
        let off = apart(&mut forms);
        // The reduced systems of the wall terms are probed, each by itself.
        let most = if first == without { 0.1 } else { 1e-12 };
        assert!(off < most, "{text}: {off:e}");
    }
}
