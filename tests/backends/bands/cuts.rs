//! The partition of the columns of a grid into bands.

use gridgen::backend::Bands;

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
    assert!(Bands::new(40, 0, false).is_err());
}
