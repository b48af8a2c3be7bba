//! The partition of the columns of a grid into bands.
#![allow(clippy::float_cmp, reason = "what is cut out is copied")]

use gridgen::backend::{Bands, NarrowBands};

/// Fewest columns of a band.
const NARROWEST: usize = 8;

fn widths(bands: &Bands) -> Vec<usize> {
    (0..bands.ranks()).map(|rank| bands.of(rank).len()).collect()
}

#[test]
fn bands_cover_all_columns_in_nearly_equal_parts() {
    for columns in [16, 37, 255, 256, 1000, 8191] {
        for ranks in (1..=8).filter(|ranks| columns / ranks >= NARROWEST) {
            let bands = Bands::new(columns, ranks, false).unwrap();
            let widths = widths(&bands);

            assert_eq!(widths.iter().sum::<usize>(), columns, "{columns}, {ranks}");
            let most = 1.07 * columns as f64 / ranks as f64 + 8.0;
            assert!(widths.iter().all(|&w| w >= NARROWEST && w as f64 <= most), "{widths:?}");
        }
    }
}

#[test]
fn bands_coarsen_with_their_points() {
    let bands = Bands::new(8191, 4, false).unwrap();

    let coarser = bands.coarser();

    assert_eq!(widths(&bands), [2048, 2048, 2048, 2047]);
    assert_eq!(widths(&coarser), [1024, 1024, 1024, 1023]);
    assert_eq!(coarser.columns(), 8191 / 2);
    assert!(coarser.can_be_coarsened());
    assert!(!Bands::new(44, 3, false).unwrap().coarser().can_be_coarsened());
}

#[test]
fn a_level_with_an_odd_seam_is_cut_there() {
    let odd = Bands::new(65, 2, true).unwrap();
    let even = Bands::new(64, 2, true).unwrap();

    assert!(odd.periodic() && !odd.on_level().periodic());
    assert!(even.on_level().periodic() && even.coarser().periodic());
}

#[test]
fn too_many_bands_are_refused() {
    let refused = Bands::new(40, 6, false);

    assert_eq!(refused, Err(NarrowBands { columns: 40, ranks: 6 }));
    assert!(Bands::new(40, 0, false).is_err());
}

#[test]
fn parts_of_a_state_make_it_up() {
    let state: Vec<f64> = (0..2 * 37 * 5).map(f64::from).collect();
    let bands = Bands::new(37, 3, false).unwrap();

    let parts = [0, 1, 2].map(|rank| bands.part_of_state(rank, &state));

    let row = |j: usize| parts.iter().filter_map(move |part| part.chunks(part.len() / 5).nth(j));
    let again: Vec<f64> = (0..5).flat_map(row).flatten().copied().collect();
    assert_eq!(again, state);
}

#[test]
fn every_node_is_of_one_rank() {
    for (columns, periodic, ni) in [(37, false, 39), (37, true, 38), (64, true, 65)] {
        for ranks in 1..=3 {
            let bands = Bands::new(columns, ranks, periodic).unwrap();

            let nodes: Vec<usize> = (0..ranks).flat_map(|rank| bands.nodes(rank)).collect();

            assert!(nodes.into_iter().eq(0..ni), "{columns}, {ranks}");
        }
    }
}
