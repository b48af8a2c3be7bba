//! Derivatives of moved grids.

use gridgen::backend::Coarsening;
use gridgen::backend::cpu::CpuBackend;
use gridgen::elliptic::{GridJacobian, GridPreconditioner, GridProblem};
use gridgen::movement::{Moved, MovementError, Reference};
use gridgen::solver::NonlinearProblem;
use gridgen::solver::linear::Precision;
use gridgen::solver::precond::{Kind, MultigridSettings};

use support::cases::case;
use support::linear::{self, dot, off_transpose, product};
use support::problems::preconditioned;
use support::random::Random;

use crate::movement::{
    BLUNT, C, HALF, O, ROOM, SMALL, TUNNEL, bumped, combed, on_cpu, reference, small_ones,
    thickened, twisted,
};

type Wall = Vec<[f64; 2]>;

/// A reference with grids solved to rounding, and a grid moved from it.
fn moved(text: &str) -> (Reference, Wall, Moved) {
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
    let moved = solved(&reference, &wall);
    (reference, wall, moved)
}

fn solved(reference: &Reference, wall: &[[f64; 2]]) -> Moved {
    let moved = on_cpu(reference).move_to(&CpuBackend, wall).unwrap();
    assert!(moved.verdict.is_good(), "{}", moved.verdict);
    moved
}

/// A smooth displacement of the wall.
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
    (reference, wall, at): &(Reference, Wall, Moved),
    (by, heights): (&[[f64; 2]], &[f64]),
    h: f64,
) -> (f64, f64) {
    let [low, high] = [-h, h].map(|h| {
        let changes: Vec<f64> = heights.iter().map(|height| h * height).collect();
        let moved = solved(&reference.with_heights(&changes).unwrap(), &displaced(wall, by, h));
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

#[test]
fn the_forward_derivative_is_that_of_central_differences() {
    let frozen = SMALL.replace("[grid]", "control.wall = 'frozen'\n[grid]");
    for (text, most) in [
        (SMALL, 5e-8),
        (&frozen, 5e-8),
        (O, 5e-8),
        (BLUNT, 2e-7),
        (C, 2e-7),
        (HALF, 5e-8),
        (TUNNEL, 2e-7),
        (ROOM, 5e-8),
    ] {
        let moved = moved(text);
        let by = upright(text, &moved.1, smooth(&moved.1));

        let (off, residual) = off(&moved, (&by, &vec![0.0; by.len()]), 1e-4);

        assert!(off < most && residual <= 1e-9, "{text}: {off:e}, {residual:e}");
    }
}

#[test]
fn the_derivative_by_heights_is_that_of_central_differences() {
    for (text, size) in [(SMALL, 1e-3), (C, 1e-5), (TUNNEL, 1e-4)] {
        let moved = moved(text);
        let of_height = |&[x, _]: &[f64; 2]| size * (1.0 + 0.5 * (5.0 * x).sin());
        let heights: Vec<f64> = moved.1.iter().map(of_height).collect();

        let (off, _) = off(&moved, (&vec![[0.0; 2]; heights.len()], &heights), 1e-3);

        assert!(off < 1e-5, "{text}: {off:e}");
    }
}

#[test]
fn the_remainder_falls_with_the_square_of_the_step() {
    for text in small_ones() {
        let (reference, wall, at) = moved(&text);
        let by = upright(&text, &wall, smooth(&wall));
        let (found, _) = on_cpu(&reference)
            .derivatives(&CpuBackend, &at)
            .unwrap()
            .derivative(&CpuBackend, &by, &[])
            .unwrap();

        let [coarse, fine] = [1e-3, 5e-4].map(|h| {
            let end = solved(&reference, &displaced(&wall, &by, h));
            let of = |end: &[f64], at: &[f64], by: &[f64]| -> f64 {
                end.iter().zip(at).zip(by).map(|((e, a), b)| (e - a - h * b).powi(2)).sum()
            };
            let square = of(&end.grid().x, &at.grid().x, &found.x)
                + of(&end.grid().y, &at.grid().y, &found.y);
            square.sqrt()
        });

        assert!((coarse / fine - 4.0).abs() < 0.05, "{text}: {}", coarse / fine);
    }
}

/// Every wall point is displaced by a random fraction of its smaller neighbouring distance.
#[test]
fn a_rough_displacement_has_its_derivative() {
    for text in &small_ones() {
        let moved = moved(text);
        let wall = &moved.1;
        let last = wall.len() - 1;
        let noise = Random::new(3).vector(2 * wall.len());
        let apart = |a: usize, b: usize| (wall[a][0] - wall[b][0]).hypot(wall[a][1] - wall[b][1]);
        let spacing = |k: usize| {
            let (before, after) = (k.saturating_sub(1), (k + 1).min(last));
            [(before, k), (k, after)].map(|(a, b)| if a == b { f64::MAX } else { apart(a, b) })
        };
        let mut by: Wall = (0..=last)
            .map(|k| {
                [0, 1].map(|c| noise[2 * k + c] * spacing(k).into_iter().fold(f64::MAX, f64::min))
            })
            .collect();
        if !text.ends_with(HALF) {
            by[last] = by[0];
        }
        let by = upright(text, wall, by);

        let (off, _) = off(&moved, (&by, &vec![0.0; by.len()]), 1e-4);

        assert!(off < 1e-6, "{text}: {off:e}");
    }
}

/// ⟨X̄, ∂X/∂x_w δ⟩ = ⟨(∂X/∂x_w)ᵀ X̄, δ⟩, for wall points and heights.
#[test]
fn the_adjoint_is_the_transpose_of_the_forward_derivative() {
    for (text, most) in
        [(O, 8.0), (C, 8.0), (SMALL, 8.0), (BLUNT, 8.0), (HALF, 8.0), (TUNNEL, 8.0), (ROOM, 8.0)]
    {
        let (reference, wall, at) = moved(text);
        let (by, heights) = (smooth(&wall), wall.iter().map(|&[x, _]| 1.0 + x).collect::<Vec<_>>());
        let weights =
            |of: fn(f64) -> f64, at: &[f64]| -> Vec<f64> { at.iter().map(|&c| of(c)).collect() };
        let x = weights(|x| (3.0 * x).sin(), &at.grid().x);
        let y = weights(|x| (2.0 * x).cos(), &at.grid().x);

        let mut derivatives = on_cpu(&reference).derivatives(&CpuBackend, &at).unwrap();
        let (forward, _) = derivatives.derivative(&CpuBackend, &by, &heights).unwrap();
        let nodes = derivatives.by_nodes(&CpuBackend, &x, &y).unwrap();
        let adjoint = derivatives.adjoint(&CpuBackend, nodes).unwrap();

        let left = dot(&x, &forward.x) + dot(&y, &forward.y);
        let right =
            dot(adjoint.wall.as_flattened(), by.as_flattened()) + dot(&adjoint.heights, &heights);
        assert!((left - right).abs() <= 1e-8 * left.abs(), "{text}: {left:e}, {right:e}");
        let solved = adjoint.solved;
        assert!(solved.iterations <= most && solved.residual <= 1e-9, "{text}: {solved:?}");
    }
}

#[test]
fn one_object_serves_many_right_sides() {
    let (reference, wall, at) = moved(SMALL);
    let mut derivatives = on_cpu(&reference).derivatives(&CpuBackend, &at).unwrap();
    let by = smooth(&wall);

    let (first, _) = derivatives.derivative(&CpuBackend, &by, &[]).unwrap();
    let twice: Wall = by.iter().map(|v| v.map(|c| 2.0 * c)).collect();
    let (second, _) = derivatives.derivative(&CpuBackend, &twice, &[]).unwrap();

    let doubled: Vec<f64> = first.x.iter().map(|x| 2.0 * x).collect();
    let worst = linear::apart(&doubled, &second.x);
    assert!(worst < 1e-12, "{worst:e}");
}

/// At the reference itself, a constant displacement of the wall moves the nodes near the wall by the same.
#[test]
fn the_wall_takes_its_first_cells_with_it() {
    let reference = reference(SMALL);
    let shift = vec![[1.0, 0.0]; reference.wall().len()];

    let resident = on_cpu(&reference);
    let unmoved = resident.unmoved(&CpuBackend).unwrap();
    let mut derivatives = resident.derivatives(&CpuBackend, &unmoved).unwrap();
    let (found, _) = derivatives.derivative(&CpuBackend, &shift, &[]).unwrap();

    let ni = reference.grid().ni;
    for k in 0..2 * ni {
        assert!((found.x[k] - 1.0).abs() < 1e-12 && found.y[k].abs() < 1e-12, "node {k}");
    }
    let outer = found.x.len() - ni;
    assert!(found.x[outer..].iter().all(|c| *c == 0.0));
}

#[test]
fn what_has_no_derivative_is_refused() {
    let reference = reference(SMALL);
    let mut wall = reference.wall();
    let resident = on_cpu(&reference);
    let unmoved = resident.unmoved(&CpuBackend).unwrap();
    let mut derivatives = resident.derivatives(&CpuBackend, &unmoved).unwrap();

    let short = derivatives.derivative(&CpuBackend, &wall[1..], &[]).unwrap_err();
    assert!(matches!(short, MovementError::WallPoints { found: 64, expected: 65 }), "{short}");
    let short = derivatives.derivative(&CpuBackend, &wall, &[1.0]).unwrap_err();
    assert!(matches!(short, MovementError::WallPoints { found: 1, expected: 65 }), "{short}");
    let short = derivatives.by_nodes(&CpuBackend, &[1.0], &[1.0]).err().unwrap();
    assert!(matches!(short, MovementError::Nodes { found: 1, .. }), "{short}");
    assert!(reference.with_heights(&[1e-3]).is_none());

    wall = combed(&wall);
    let folded = resident.move_to(&CpuBackend, &wall).unwrap();
    let refused = on_cpu(&reference).derivatives(&CpuBackend, &folded).err().unwrap();
    assert!(matches!(refused, MovementError::NotGood { .. }), "{refused}");
}

fn small(grid: &str) -> String {
    format!("geometry.naca = '2412'\n[grid]\n{grid}\n")
}

/// The equations of a case at its initial grid.
fn equations(text: &str) -> GridProblem<CpuBackend, f64> {
    let problem = case(text).settle().unwrap();
    let initial = problem.initial_grid(&CpuBackend).unwrap().grid;
    let (mut equations, u) = problem.equations::<_, f64>(&CpuBackend, initial).unwrap();
    let mut f = vec![0.0; equations.unknowns()];
    equations.residual(&CpuBackend, &u, &mut f).unwrap();
    equations
}

/// Multigrid in double precision for a Jacobian, or for its transpose.
fn cycle(jacobian: &GridJacobian<CpuBackend, f64>) -> GridPreconditioner<CpuBackend, f64> {
    let precision = Precision::Double;
    let settings = MultigridSettings { precision, ..MultigridSettings::default() };
    GridPreconditioner::new(Kind::Multigrid, settings, jacobian)
}

/// [`off_transpose`] for the present forms of M⁻¹ and M⁻ᵀ.
fn forms_apart(
    [forwards, backwards]: [&mut GridPreconditioner<CpuBackend, f64>; 2],
    [jacobian, transposed]: [&GridJacobian<CpuBackend, f64>; 2],
) -> f64 {
    let forwards = forwards.current(&CpuBackend, jacobian).unwrap();
    let backwards = backwards.current(&CpuBackend, transposed).unwrap();
    forwards.update(&CpuBackend, jacobian).unwrap();
    backwards.update(&CpuBackend, transposed).unwrap();
    let [mut z, mut y] = [(); 2].map(|()| vec![0.0; jacobian.rows()]);
    off_transpose(
        jacobian.rows(),
        |v| {
            forwards.apply(&CpuBackend, jacobian, v, &mut z).unwrap();
            z
        },
        |w| {
            backwards.apply(&CpuBackend, transposed, w, &mut y).unwrap();
            y
        },
    )
}

/// ⟨K v, w⟩ = ⟨v, Kᵀ w⟩ of the equations, and ⟨M⁻¹ v, w⟩ = ⟨v, M⁻ᵀ w⟩ of the cycles with wall terms.
#[test]
fn the_transposed_cycle_is_the_transpose_of_the_cycle() {
    for text in [
        small("ni = 65\nnj = 33\nfirst_cell = 1e-3"),
        small("ni = 66\nnj = 34\nfirst_cell = 1e-5"),
        small("ni = 129\nnj = 129\nfirst_cell = 1e-2"),
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

            let operators = off_transpose(n, |v| product(jacobian, v), |w| product(transposed, w));
            let cycles = off_transpose(
                n,
                |v| preconditioned(kind, jacobian, v),
                |w| preconditioned(kind, transposed, w),
            );

            assert!(operators < 1e-12, "{text}: {operators:e}");
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
        let [mut forwards, mut backwards] = operators.map(cycle);
        let _ = forms_apart([&mut forwards, &mut backwards], operators);

        let next = [forwards.fall_back(), backwards.fall_back()];

        assert_eq!(next, [Some(first); 2], "{text}");
        let off = forms_apart([&mut forwards, &mut backwards], operators);
        // The reduced systems of the wall terms are probed, each by itself.
        let most = if first == without { 0.1 } else { 1e-12 };
        assert!(off < most, "{text}: {off:e}");
    }
}

#[test]
fn the_rows_of_the_transpose_are_the_columns_of_the_jacobian() {
    let grid = "ni = 33\nnj = 17\nfirst_cell = 1e-2";
    for text in [small(grid), small(&format!("{grid}\n[control]\nwall = 'frozen'"))] {
        let mut equations = equations(&text);
        let found = equations.transposed(&CpuBackend).unwrap().to_csr(&CpuBackend).unwrap();
        let jacobian = equations.linearise(&CpuBackend).unwrap().to_csr(&CpuBackend).unwrap();
        let expected = linear::transposed(&jacobian);

        // The Jacobian is stored by ten numbers a point, its transpose by entries.
        assert!(found.pattern() == expected.pattern(), "{text}");
        let off = linear::apart(&found.values, &expected.values);
        assert!(off < 1e-15, "{text}: {off:e}");
    }
}
