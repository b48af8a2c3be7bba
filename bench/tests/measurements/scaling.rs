//! Tests of tables and pictures of solves on one and more GPUs, from made-up records.

use gridgen::solver::precond::Kind;
use gridgen_bench::scaling::{Growth, ScalingRecord, ScalingRun, ScalingSettings, scaling_results};
use gridgen_bench::{Size, Table};

/// Sizes of 2.8 and 8.4 million unknowns.
const SIZES: [Size; 2] = [(2049, 685), (4097, 1025)];
const CITED: &str = "Liu, Zhong, Chen 2011";

/// A run of two steps and 100 iterations that takes `seconds`, a tenth of it for assembly.
fn run(seconds: f64) -> ScalingRun {
    let (setup, linear) = (0.1 * seconds, 0.8 * seconds);
    ScalingRun { steps: 2, iterations: 100.0, residual: 1e-6, seconds, setup, linear }
}

fn record(growth: Growth, start: Size, gpus: usize, seconds: f64) -> ScalingRecord {
    let grown = if growth == Growth::Weak { gpus } else { 1 };
    let size = ((start.0 - 1) * grown + 1, start.1);
    ScalingRecord { growth, start, size, gpus, kind: Kind::Jacobi, run: Some(run(seconds)) }
}

/// Both sizes on 1, 2 and 4 GPUs, in the order of a measurement: by number of GPUs.
fn records() -> Vec<ScalingRecord> {
    let mut records = Vec::new();
    for (gpus, fixed) in [(1, [0.2, 0.8]), (2, [0.125, 0.4]), (4, [0.1, 0.25])] {
        for (size, seconds) in SIZES.into_iter().zip(fixed) {
            records.push(record(Growth::Fixed, size, gpus, seconds));
        }
        records.push(record(Growth::Weak, SIZES[1], gpus, 0.8 * (1.0 + 0.1 * (gpus - 1) as f64)));
    }
    records
}

/// The cells of a column in the rows for `gpus` GPUs.
fn cells(table: &Table, gpus: usize, column: &str) -> Vec<String> {
    let at = |name: &str| table.columns.iter().position(|c| c == name).unwrap();
    let rows = table.rows.iter().filter(|row| row[at("GPUs")] == gpus.to_string());
    rows.map(|row| row[at(column)].clone()).collect()
}

#[test]
fn a_fixed_problem_is_compared_with_itself_on_one_gpu() {
    let results = scaling_results("H", &records());

    let fixed = &results.tables[0];
    assert_eq!(fixed.title, "Fixed size, H");
    assert_eq!(cells(fixed, 1, "of an iteration"), ["1.00", "1.00"]);
    assert_eq!(cells(fixed, 4, "of an iteration"), ["2.00", "3.20"]);
    assert_eq!(cells(fixed, 2, "Newton step ms"), ["62.500", "200.000"]);
    assert_eq!(cells(fixed, 2, "linear iteration ms"), ["1.0000", "3.2000"]);
    assert_eq!(cells(fixed, 2, "assembly and set-up share of a step"), ["10.0 %", "10.0 %"]);
}

#[test]
fn a_growing_problem_counts_by_its_growth() {
    let results = scaling_results("H", &records());

    let weak = &results.tables[1];
    assert_eq!(cells(weak, 4, "points"), ["16385 × 1025"]);
    // The problem is 4 times as large and takes 1.3 times the time.
    assert_eq!(cells(weak, 4, "of a step"), ["3.08"]);
}

#[test]
fn a_problem_too_large_for_one_gpu_is_marked_and_has_no_speed_up() {
    let mut records = records();
    records.iter_mut().filter(|r| r.gpus == 1).for_each(|r| r.run = None);

    let results = scaling_results("H", &records);

    let fixed = &results.tables[0];
    assert_eq!(cells(fixed, 1, "Newton steps"), ["does not fit", "does not fit"]);
    assert_eq!(cells(fixed, 2, "of a step"), ["", ""]);
    assert!(fixed.rows.iter().all(|row| row.len() == fixed.columns.len()));
}

#[test]
fn the_table_shows_published_values_beside_ours() {
    let results = scaling_results("H", &records());

    let beside = &results.tables[2];
    // The paper states 9 % on two GPUs; speed-ups of 1.5 and 2.2 for an iteration, 1.6 and 2.5 for a step.
    assert_eq!(cells(beside, 2, CITED), ["9 %", "1.5", "1.6"]);
    assert_eq!(cells(beside, 4, CITED), ["2.2", "2.5"]);
    let near = "here, at about as many unknowns";
    assert_eq!(cells(beside, 2, near), ["10.0 %", "1.60", "1.60"]);
    assert_eq!(cells(beside, 4, "here, largest"), ["3.20", "3.20"]);
    assert_eq!(cells(beside, 4, "unknowns")[0], "2796202");
}

#[test]
fn a_picture_a_preconditioner_and_all_values_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let multigrid = records().into_iter().map(|r| ScalingRecord { kind: Kind::Multigrid, ..r });
    let records: Vec<_> = records().into_iter().chain(multigrid).collect();

    scaling_results("H", &records).write(folder.path()).unwrap();

    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    for (file, kind) in [("gpus-jacobi.svg", "Jacobi"), ("gpus-multigrid.svg", "Multigrid")] {
        let picture = read(file);
        let title = format!("Newton solves with BiCGStab and {kind} on H");
        let series = ["1 GPU", "2 GPUs", "4 GPUs", "an iteration, 4097 × 1025 points a GPU"];
        let cited =
            [": 1.5 on 2 GPUs", ": 2.2 on 4 GPUs", ": 1.6 on 2 GPUs", ": 2.5 on 4 GPUs", ": 9 %"];
        for text in [title.as_str()].into_iter().chain(series) {
            assert!(picture.contains(text), "{file}: {text}");
        }
        for text in cited {
            assert!(picture.contains(&format!("{CITED}{text}")), "{file}: {text}");
        }
    }
    let values = read("gpus.csv");
    // There are 2 · 2047 · 683 unknowns, and two steps take .125 s.
    let ours = "gridgen,Fixed,2049,685,2796202,2,Jacobi,2,100,0.000001,0.125,0.0625,";
    assert!(values.lines().any(|line| line.starts_with(ours)), "{values}");
    let cited = format!("\"{CITED}\",Fixed,,,2800000,4,Jacobi,");
    let of_four: Vec<_> = values.lines().filter_map(|line| line.strip_prefix(&cited)).collect();
    assert_eq!(of_four, [",,,,,,,,2.5,", ",,,,,,,,,2.2"]);
}

#[test]
fn sizes_reach_from_ten_thousand_unknowns_past_those_of_the_paper() {
    let settings = ScalingSettings::new(None, None);

    let unknowns: Vec<_> = settings.sizes.iter().map(|s| 2 * (s.0 - 2) * (s.1 - 2)).collect();
    assert!(unknowns.is_sorted() && unknowns[0] < 20_000);
    assert!(unknowns.iter().any(|n| (2_700_000..2_900_000).contains(n)), "{unknowns:?}");
    assert!(settings.weak.iter().all(|s| (30_000_000..31_000_000).contains(&(s.0 * s.1))));
}

#[test]
fn named_sizes_grow_unless_other_sizes_are_named_for_that() {
    let named = ScalingSettings::new(Some(SIZES.into()), None);
    let both = ScalingSettings::new(Some(SIZES.into()), Some(vec![SIZES[0]]));

    assert_eq!((named.sizes, named.weak), (SIZES.into(), SIZES.into()));
    assert_eq!(both.weak, [SIZES[0]]);
}

#[test]
#[cfg(feature = "cuda")]
fn counts_double_up_to_all() {
    let of = |all| gridgen_bench::scaling::counts(all).collect::<Vec<_>>();

    assert_eq!(
        [of(1), of(2), of(3), of(8)],
        [vec![1], vec![1, 2], vec![1, 2, 3], vec![1, 2, 4, 8]]
    );
    assert!(of(0).is_empty());
}
