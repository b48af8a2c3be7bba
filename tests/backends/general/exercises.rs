//! The answers to the exercises of docs/solvers.md.

use std::sync::Arc;

use super::matrices::{changed, convection, difference, random};
use gridgen::backend::cuda::launch::{Argument, KernelFile, LaunchShape, Width};
use gridgen::backend::cuda::{Buffer, Device};
use gridgen::sparse::{Pattern, RowSets, Triangle, levels};
use proptest::prelude::*;
use support::fibers::{FiberDevice, Library, Order};
use support::gpus::on_host;

const SOURCE: &str = include_str!("exercises.rs");

/// Levels of the lower triangle: rows without dependencies are removed, then the rows that depended only on
/// these, and so on.
fn levels_by_removal(a: Pattern<'_>) -> Vec<u32> {
    let lower = |row: usize| Triangle::Lower.of(a, row).iter().map(|&column| column as usize);
    let rows = a.rows();
    // The rows that wait for each row: the triangle by columns, counted, summed and filled.
    let mut start = vec![0; rows + 1];
    for column in (0..rows).flat_map(lower) {
        start[column + 1] += 1;
    }
    for row in 0..rows {
        start[row + 1] += start[row];
    }
    let (mut next, mut waiting) = (start.clone(), vec![0; start[rows]]);
    for row in 0..rows {
        for column in lower(row) {
            waiting[next[column]] = row;
            next[column] += 1;
        }
    }
    // Number of rows for which each row still waits.
    let mut missing: Vec<usize> = (0..rows).map(|row| lower(row).count()).collect();
    let mut front: Vec<usize> = (0..rows).filter(|&row| missing[row] == 0).collect();
    let mut levels = vec![0; rows];
    for level in 0.. {
        if front.is_empty() {
            break;
        }
        let mut following = Vec::new();
        for row in front {
            levels[row] = level;
            for &waiter in &waiting[start[row]..start[row + 1]] {
                missing[waiter] -= 1;
                if missing[waiter] == 0 {
                    following.push(waiter);
                }
            }
        }
        front = following;
    }
    levels
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn removal_finds_the_levels(a in random()) {
        prop_assert_eq!(levels_by_removal(a.pattern()), levels(a.pattern(), Triangle::Lower));
    }
}

fn document() -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/solvers.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_document_shows_the_answer_that_is_tested() {
    let from = SOURCE.find("fn levels_by_removal").unwrap();
    let answer = &SOURCE[from..from + SOURCE[from..].find("\n}\n").unwrap()];

    assert!(document().contains(answer));
}

#[test]
fn several_threads_a_row_solve_level_by_level() {
    let text = document();
    let kernel = text.split("```cuda\n").nth(1).unwrap().split("```").next().unwrap();
    // A module with the shared text and the kernel alone.
    let text = format!("{}{kernel}", KernelFile::RowHalo.text());
    let library = Library::load(Order(0), &text, Width::Double);
    let a = convection(6);
    let lower = changed(&a, |row, column, value| (column < row).then_some(value));
    let mut expected: Vec<f64> = (0..a.rows()).map(|row| (row as f64).sin()).collect();
    let r = expected.clone();
    for row in 0..a.rows() {
        expected[row] -=
            lower.row(row).map(|(column, value)| value * expected[column]).sum::<f64>();
    }
    let device: Arc<dyn Device> = Arc::new(FiberDevice::default());
    let row_start: Vec<u32> = lower.row_start.iter().map(|&start| start as u32).collect();
    let sets = RowSets::by_number(&levels(a.pattern(), Triangle::Lower));
    let [order, row_start, columns] = [sets.rows(), &row_start, &lower.columns]
        .map(|host| Buffer::from_host(&device, host).unwrap());
    let [values, r] = [&lower.values, &r].map(|host| Buffer::from_host(&device, host).unwrap());
    for lanes in [1_u32, 2, 8, 32] {
        let y = Buffer::<f64>::zeros(&device, a.rows()).unwrap();

        for set in sets.merged(0).into_iter().map(|turn| turn.range) {
            let numbers = [set.start as u32, set.end as u32, lanes].map(Argument::from);
            let pattern = [&order, &row_start, &columns].map(Argument::from);
            let vectors = [&values, &r, &y].map(Argument::from);
            let arguments = [numbers, pattern, vectors].concat();
            let blocks = set.len().div_ceil(64 / lanes as usize);
            let shape = LaunchShape::new(blocks, 64);
            library.launch(Order(0), "solve_level", shape, &arguments).unwrap();
        }

        assert!(difference(&on_host(&y), &expected) < 1e-13, "{lanes} lanes");
    }
}
