//! Sizes and structure of the matrices.

use super::{Panels, Problem, figure, row};
use crate::Table;
use gridgen::backend::SparseBackend;
use gridgen::report::plot::XyFigure;
use gridgen::sparse::{Csr, Graph, RowSets, Triangle, colours, levels, reverse_cuthill_mckee};

pub(crate) fn table() -> Table {
    let columns = [
        "matrix",
        "rows",
        "entries",
        "longest row",
        "levels",
        "rows of the largest",
        "colours",
        "bandwidth",
        "bandwidth after RCM",
        "levels after RCM",
    ];
    Table::new("Matrices", &columns)
}

/// Number of rows in each level of the lower triangle, by matrix, as in figure 7 of Wang and Liu (2022).
pub(crate) fn picture(levels: Panels) -> XyFigure {
    let curves = ["as numbered", "after reverse Cuthill–McKee"];
    figure("Rows in each level of the lower triangle", "level", &curves, levels)
}

pub(crate) fn measure<B: SparseBackend>(
    problem: &Problem<'_, B>,
    table: &mut Table,
    shown: &mut Panels,
) {
    let a = problem.csr;
    let ordered = a.permuted(&reverse_cuthill_mckee(a));
    let [sizes, ordered_sizes] = [a, &ordered].map(|a| -> Vec<usize> {
        let sets = RowSets::by_number(&levels(a.pattern(), Triangle::Lower));
        sets.merged(0).into_iter().map(|turn| turn.range.len()).collect()
    });
    let colours = colours(&Graph::new(a.pattern())).iter().max().map_or(0, |&most| most + 1);
    let longest = (0..a.rows()).map(|row| a.pattern().row(row).len()).max().unwrap_or(0);
    let numbers = [a.rows(), a.values.len(), longest, sizes.len()];
    let largest = sizes.iter().copied().max().unwrap_or(0);
    let cells = numbers.into_iter().chain([largest, colours as usize, bandwidth(a)]);
    let cells = cells.chain([bandwidth(&ordered), ordered_sizes.len()]);
    row(table, &problem.name, cells.map(|cell| cell.to_string()));
    let curve = |sizes: &[usize]| {
        sizes.iter().enumerate().map(|(level, rows)| [level as f64, *rows as f64]).collect()
    };
    shown.push((problem.name.clone(), vec![curve(&sizes), curve(&ordered_sizes)]));
}

/// Largest |i − j| of an entry.
fn bandwidth(a: &Csr) -> usize {
    let row = |row: usize| {
        let ends = a.pattern().row(row);
        let ends = ends.first().into_iter().chain(ends.last());
        ends.map(move |&column| row.abs_diff(column as usize)).max().unwrap_or(0)
    };
    (0..a.rows()).map(row).max().unwrap_or(0)
}
