//! Generated matrices have the size, the pattern and the diagonal of those of a collection, which they replace.

use gridgen::sparse::{Graph, Triangle, levels};
use gridgen_bench::Generated;

#[test]
fn small_matrices_have_as_many_entries_per_row_as_the_originals() {
    // Entries divided by rows of the collection's matrices.
    let expected = [6.74, 4.09, 6.94, 16.80, 4.83, 6.99];
    for (generated, expected) in Generated::ALL.into_iter().zip(expected) {
        let a = generated.matrix(0.05);

        let mean = a.values.len() as f64 / a.rows() as f64;
        assert!((mean / expected - 1.0).abs() < 0.1, "{generated:?}: {mean}");
    }
}

#[test]
fn a_full_matrix_has_the_size_and_few_levels_of_the_original() {
    let a = Generated::ParabolicFem.matrix(1.0);

    // The numbers of rows and entries of the collection's matrix. Nodes of coarser grids are coupled only
    // to those of the finest, of which there are three kinds.
    assert_eq!((a.rows(), a.values.len()), (525_825, 3_674_625));
    assert_eq!(levels(a.pattern(), Triangle::Lower).iter().max(), Some(&3));
}

#[test]
fn all_have_a_heavy_diagonal_and_a_symmetric_pattern() {
    for generated in Generated::ALL {
        let a = generated.matrix(0.003);
        let graph = Graph::new(a.pattern());
        for row in 0..a.rows() {
            let diagonal = a.row(row).find(|&(column, _)| column == row).map_or(0.0, |e| e.1);
            let others: f64 = a.row(row).filter(|e| e.0 != row).map(|e| e.1.abs()).sum();

            assert!(diagonal >= (1.0 - 1e-12) * others, "{generated:?} {row}");
            assert_eq!(graph.degree(row), a.row(row).count() - 1, "{generated:?} {row}");
        }
    }
}

#[test]
fn a_circuit_has_rows_of_very_uneven_length() {
    let a = Generated::Asic320ks.matrix(0.1);

    let longest = (0..a.rows()).map(|row| a.row(row).count()).max();

    assert!(longest > Some(a.rows() / 60), "{longest:?}");
}
