//! The viewer's script and data: its own tests run in Node.js, if that is there.

use std::process::Command;

use gridgen::grid::boundary::{Meets, Outside, Patch, Range, Segment, Side, SideKind};
use gridgen::grid::{Grid, Topology};
use gridgen::viewer::{MOST_NODES, SCRIPT, Scene};
use serde_json::Value;

use super::Scratch;

#[test]
#[allow(clippy::print_stderr, reason = "a check that is left out")]
fn the_script_measures_what_the_report_says() {
    let made = [
        ("2412", "O", "--set grid.first_cell=1e-5"),
        ("0012", "C", "--set grid.wake=12 --set geometry.chord=0.3"),
        ("0012", "half", ""),
    ]
    .map(|(naca, topology, more)| {
        let scratch = Scratch::with_case(format!("[geometry]\nnaca = \"{naca}\"\n"));
        let page = format!("--set output.report=true --set grid.topology={topology}");
        scratch.run_coarse(&format!("{page} {more}")).succeeds();
        scratch
    });
    let folders = made.each_ref().map(|scratch| scratch.path("output/wing").display().to_string());

    let node = Command::new("node")
        .args(["--test", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/viewer/")])
        .env("GRIDGEN_REPORT", folders.join("\n"))
        .output();

    match node {
        Ok(done) => {
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "{said}");
            assert!(!said.contains("# skipped 1"), "{said}");
        }
        Err(_) => eprintln!("NOT CHECKED: the script of the viewer. It needs Node.js."),
    }
}

/// The JSON text at the head of packed data.
fn head(packed: &[u8]) -> (Value, usize) {
    let (length, rest) = packed.split_first_chunk::<4>().unwrap();
    let length = u32::from_le_bytes(*length) as usize;
    (serde_json::from_slice(&rest[..length]).unwrap(), rest.len() - length)
}

fn packed(grid: &Grid) -> Vec<u8> {
    Scene { name: "wing", unit: 1.0, zones: vec![("", grid)], before: Vec::new() }.packed()
}

#[test]
fn a_grid_of_usual_size_is_whole_and_a_large_one_thinned_alike_on_both_sides_of_its_cut() {
    let (usual, bytes) = head(&packed(&Grid::new(Topology::C { wake: 48 }, 257, 129)));
    let zone = &usual["zones"][0];
    assert_eq!([&zone["ni"], &zone["nj"], &zone["cut"]], [257, 129, 48]);
    assert_eq!(zone["wall"], serde_json::json!([48, 208]));
    assert_eq!((bytes, &usual["note"], &zone["is"]), (257 * 129 * 16, &Value::Null, &Value::Null));
    assert!(!SCRIPT.contains("</script") && !SCRIPT.contains("<!--"));

    let (ni, nj, wake) = (1025, 1023, 131);
    let grid = Grid::new(Topology::C { wake }, ni, nj);

    let (head, bytes) = head(&packed(&grid));

    let zone = &head["zones"][0];
    let lines = |name: &str| -> Vec<usize> { serde_json::from_value(zone[name].clone()).unwrap() };
    let (i, j) = (lines("is"), lines("js"));
    assert!(i.len() * j.len() < MOST_NODES * 11 / 10, "{} x {}", i.len(), j.len());
    assert_eq!(bytes, i.len() * j.len() * 16);
    assert!(i.iter().all(|line| i.contains(&(ni - 1 - line)) || (wake..ni - wake).contains(line)));
    let [from, to]: [usize; 2] = serde_json::from_value(zone["wall"].clone()).unwrap();
    assert_eq!(([i[from], i[to]], [j[0], j[1]]), ([wake, ni - 1 - wake], [0, 1]));
    assert!(head["note"].as_str().unwrap().contains("One of 3 lines"), "{head}");
}

/// The floor of a channel is a wall from node 50 to 900.
#[test]
fn the_wall_of_a_block_is_the_part_that_its_file_calls_so() {
    let mut grid = Grid::new(Topology::Rectangle, 1025, 1023);
    let pieces = [([0, 50], "slip"), ([50, 900], "bump"), ([900, 1024], "slip")];
    let range = |(nodes, name): ([usize; 2], &str)| Range {
        on: Segment { block: 0, side: Side::Below, nodes },
        meets: Meets::Patch(Patch::named(name, (name == "slip").then_some(SideKind::Slip))),
    };
    grid.outside = Some(Outside::of_ranges(pieces.map(range).to_vec()));

    let (head, _) = head(&packed(&grid));

    let zone = &head["zones"][0];
    let [wall, lines] = ["wall", "is"].map(|name| zone[name].as_array().unwrap());
    let line = |k: &Value| lines[k.as_u64().unwrap() as usize].as_u64().unwrap();
    assert_eq!(wall.iter().map(line).collect::<Vec<_>>(), [50, 900]);
    assert_eq!(zone["open"], true);
}
