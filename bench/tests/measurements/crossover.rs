//! Tests of the crossover, on a library that replaces a GPU's.

use super::{bench, ran};
use support::stand_in::equip;

#[test]
fn the_crossover_is_measured_by_whole_runs() {
    let cache = tempfile::tempdir().unwrap();
    // A coarser grid does not converge, and all fall-back methods would be tried on it.
    let mut command = bench(&["crossover", "--sizes", "33x25"]);
    equip(&mut command, cache.path());

    let (code, text, errors) = ran(command);

    assert_eq!((code, errors.as_str()), (Some(0), ""));
    let (title, rows) = text.split_once("\n\n").unwrap();
    assert!(title.starts_with("Whole runs, fastest of 3: stand-in 0 is faster at "), "{text}");
    let row: Vec<&str> = rows.lines().nth(2).unwrap().split('|').map(str::trim).collect();
    let [cpu, gpu] = [2, 3].map(|k| row[k].parse::<f64>().unwrap());
    assert!(row[1] == "33 × 25" && cpu > 0.0 && gpu > cpu, "{text}");
}
