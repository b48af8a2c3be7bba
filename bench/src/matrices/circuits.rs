//! Networks without a grid behind them.

use super::Random;
use gridgen::sparse::Csr;

/// Two coupled nodes, and the entries of the row of the first and of the second.
type Element = (u32, u32, [f64; 2]);

/// One node in this number is tied to a hub of [`hubs`].
const TIED: usize = 40;
/// Hubs of [`hubs`], such as supply rails and clocks.
const HUBS: usize = 6;

/// The matrix of a circuit: a tree of wires, elements between any two nodes, and hubs with thousands of
/// neighbours. Some elements are unsymmetric; the conductances span three decades.
pub(crate) fn hubs(n: usize) -> Csr {
    let mut random = Random::new(320);
    let conductance = |random: &mut Random| {
        let there = 10.0_f64.powf(-3.0 * random.unit());
        let back = if random.unit() < 0.2 { there * random.unit() } else { there };
        [-there, -back]
    };
    let mut elements: Vec<Element> = Vec::with_capacity(n * 31 / 20);
    for node in 1..n {
        elements.push((random.below(node) as u32, node as u32, conductance(&mut random)));
    }
    for hub in 0..HUBS {
        let hub = (hub * n / HUBS) as u32;
        for _ in 0..n / TIED {
            elements.push((hub, random.below(n) as u32, conductance(&mut random)));
        }
    }
    while elements.len() < n * 31 / 20 {
        let (a, b) = (random.below(n) as u32, random.below(n) as u32);
        elements.push((a, b, conductance(&mut random)));
    }
    assembled(n, elements, |_| 1e-3)
}

/// A Markov chain: every state reaches about sixteen others, up to half of all states away, at random rates.
/// The diagonal dominates by far, so that iterations converge at once.
pub(crate) fn chain(n: usize) -> Csr {
    let mut random = Random::new(13);
    let mut elements: Vec<Element> = Vec::with_capacity(8 * n);
    let reach = (n / 2).max(2);
    for state in 1..n {
        for _ in 0..8 {
            let distance = 1 + n / 200 + random.below(reach);
            let other = if distance <= state { state - distance } else { random.below(state) };
            let rates = [0.5 + random.unit(), 0.5 + random.unit()].map(|rate| -rate / 40.0);
            elements.push((other as u32, state as u32, rates));
        }
    }
    assembled(n, elements, |_| 0.2)
}

/// The Laplacian of an m × m network of unequal wires. One wire in 24 is missing, since the network of the
/// collection has fewer than a grid. One node in a thousand is grounded.
pub(crate) fn network(m: usize) -> Csr {
    let mut random = Random::new(3);
    let mut elements: Vec<Element> = Vec::with_capacity(2 * m * m);
    for node in 0..m * m {
        let wire = |random: &mut Random| [-(0.1 + random.unit()); 2];
        if node % m + 1 < m {
            elements.push((node as u32, node as u32 + 1, wire(&mut random)));
        }
        if node + m < m * m {
            elements.push((node as u32, (node + m) as u32, wire(&mut random)));
        }
        if random.unit() < 1.0 / 12.0 {
            elements.pop();
        }
    }
    assembled(m * m, elements, |node| if node % 1000 == 0 { 1.0 } else { 1e-6 })
}

/// The assembled matrix, with a diagonal that makes every row sum to `excess`.
fn assembled(n: usize, mut elements: Vec<Element>, excess: impl Fn(usize) -> f64) -> Csr {
    for (a, b, values) in &mut elements {
        if a > b {
            std::mem::swap(a, b);
            values.swap(0, 1);
        }
    }
    elements.retain(|(a, b, _)| a != b);
    elements.sort_unstable_by_key(|&(a, b, _)| (a, b));
    elements.dedup_by_key(|&mut (a, b, _)| (a, b));
    let mut start = vec![0; n + 1];
    for &(a, b, _) in &elements {
        start[a as usize + 1] += 1;
        start[b as usize + 1] += 1;
    }
    for k in 0..n {
        start[k + 1] += start[k];
    }
    let (mut next, mut entries) = (start.clone(), vec![(0, 0.0); start[n]]);
    for &(a, b, [there, back]) in &elements {
        for (row, entry) in [(a, (b as usize, there)), (b, (a as usize, back))] {
            entries[next[row as usize]] = entry;
            next[row as usize] += 1;
        }
    }
    Csr::from_rows((0..n).map(|row| {
        let others = &entries[start[row]..start[row + 1]];
        let sum: f64 = others.iter().map(|(_, value)| value.abs()).sum();
        others.iter().copied().chain([(row, sum + excess(row))])
    }))
}
