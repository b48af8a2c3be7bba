//! Tests of tables, and of the crossover of made-up times.

use gridgen_bench::Table;
use gridgen_bench::crossover::{Measured, faster_from, verdict};

fn measured(ratios: &[(usize, f64)]) -> Vec<Measured> {
    ratios.iter().map(|&(points, ratio)| Measured { points, cpu: ratio, gpu: 1.0 }).collect()
}

#[test]
fn the_crossover_is_where_the_times_are_equal() {
    // The ratio of the times grows in proportion to the points.
    let between = measured(&[(1_000, 0.01), (10_000, 0.1), (1_000_000, 10.0)]);

    assert_eq!(faster_from(&between), Some(100_000));
    assert_eq!(verdict(&between), "from 100000 points on");
}

#[test]
fn a_gpu_that_is_faster_now_and_then_counts_from_where_it_stays_so() {
    let wavering = measured(&[(1_000, 2.0), (10_000, 0.5), (40_000, 2.0)]);

    assert_eq!(faster_from(&wavering), Some(20_000));
}

#[test]
fn there_may_be_no_crossover_among_the_sizes() {
    assert_eq!(verdict(&measured(&[(1_000, 0.1), (2_000, 0.2)])), "at none of these sizes");
    assert_eq!(verdict(&measured(&[(1_000, 1.1), (2_000, 2.2)])), "at all of these sizes");
}

#[test]
fn a_table_is_written_in_both_forms() {
    let mut table = Table::new("Kernels", &["kernel", "GB/s"]);
    table.rows.push(vec!["product, single".to_owned(), "4.1".to_owned()]);

    assert_eq!(
        table.markdown(),
        "Kernels\n\n| kernel | GB/s |\n| --- | ---: |\n| product, single | 4.1 |\n"
    );
    assert_eq!(table.csv(), "kernel,GB/s\n\"product, single\",4.1\n");
}
