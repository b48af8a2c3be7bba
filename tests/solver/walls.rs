//! The reduced system of the wall terms is recovered from its probes.

use gridgen::backend::EllipticBackend;
use gridgen::backend::cpu::CpuBackend;

/// A 2×2 block, row-major.
type Block = [f64; 4];

/// A tridiagonal matrix whose two off-diagonal blocks are equal in each row, as the probes assume.
fn rows(walls: usize) -> Vec<(Block, Block)> {
    let entry = |k: usize| ((k * 37 + 11) % 23) as f64 / 23.0 - 0.5;
    (0..walls)
        .map(|i| {
            let diagonal = [4.0 + entry(i), entry(i + 1), entry(i + 2), 5.0 + entry(i + 3)];
            (diagonal, std::array::from_fn(|e| entry(7 * i + e)))
        })
        .collect()
}

fn multiply(rows: &[(Block, Block)], x: &[f64]) -> Vec<f64> {
    let mut y = vec![0.0; x.len()];
    for (i, (diagonal, beside)) in rows.iter().enumerate() {
        for (k, a) in [(i.wrapping_sub(1), beside), (i, diagonal), (i + 1, beside)] {
            if k < rows.len() {
                y[2 * i] += a[0] * x[2 * k] + a[1] * x[2 * k + 1];
                y[2 * i + 1] += a[2] * x[2 * k] + a[3] * x[2 * k + 1];
            }
        }
    }
    y
}

#[test]
fn a_tridiagonal_matrix_is_recovered_from_its_probes_and_inverted() {
    for walls in [2, 3, 31, 64] {
        let matrix = rows(walls);
        let probe = |component: usize, alternating: bool| {
            let mut v = vec![0.0; 2 * walls];
            for i in 0..walls {
                v[2 * i + component] = if alternating && i % 2 == 1 { -1.0 } else { 1.0 };
            }
            multiply(&matrix, &v)
        };
        let responses = [(0, false), (1, false), (0, true), (1, true)].map(|(c, a)| probe(c, a));
        let mut s = vec![0.0; 12 * walls];
        let x: Vec<f64> = (0..2 * walls).map(|k| (k as f64).sin()).collect();
        let mut found = vec![0.0; 2 * walls];

        let singular = CpuBackend.factor_wall_blocks(walls, responses.each_ref(), &mut s).unwrap();
        CpuBackend.solve_wall_blocks(walls, &s, &multiply(&matrix, &x), &mut found).unwrap();

        assert_eq!(singular, None);
        for (found, x) in found.iter().zip(&x) {
            assert!((found - x).abs() < 1e-13, "{walls}");
        }
    }
}
