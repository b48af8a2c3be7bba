//! `gridgen smooth`.

use std::fmt::Write;

use super::Scratch;

/// A channel with a bump on its floor as plane Plot3D: 33 x 17 nodes, whose inner ones are moved up by this part of a
/// cell in every other column.
fn channel(shaken: f64) -> String {
    let node = |i: usize, j: usize| {
        let x = -1.0 + 3.0 * i as f64 / 32.0;
        let bump = 0.3 * (-((x - 0.5) / 0.3_f64).powi(2)).exp();
        let inner = (1..32).contains(&i) && (1..16).contains(&j) && i % 2 == 1;
        let row = j as f64 + if inner { shaken } else { 0.0 };
        let share = (1.25_f64.powf(row) - 1.0) / (1.25_f64.powi(16) - 1.0);
        [x, bump + share * (1.0 - bump)]
    };
    let mut text = "33 17\n".to_owned();
    for c in 0..2 {
        for k in 0..33 * 17 {
            writeln!(text, "{:?}", node(k % 33, k / 33)[c]).unwrap();
        }
    }
    text
}

#[test]
fn a_smoothed_mesh_is_better_and_its_sides_stay() {
    let scratch = Scratch::with(&[("mesh.p3d", &channel(0.3))]);

    let said = scratch.run("smooth mesh.p3d -o better.p3d --dimensions 2 --report").succeeds();

    assert!(said.starts_with("mesh.p3d: 33 x 17 points\n"), "{said}");
    let row = |name: &str| -> Vec<f64> {
        let line =
            said.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{said}"));
        line.split_whitespace().rev().take(2).map(|word| word.parse().unwrap()).collect()
    };
    for measure in ["skewness, 99%", "skewness, mean", "wall angle", "first cell, error"] {
        let [after, before] = row(measure)[..] else { panic!("{said}") };
        assert!(after < before, "{measure}: {before} to {after}");
    }
    assert!(said.contains(", kept\n"), "{said}");
    let names = "better.p3d better.smooth.html better.smooth.png mesh.p3d";
    assert_eq!(scratch.names(".").join(" "), names);
    let numbers = |name: &str| -> Vec<f64> {
        let text = scratch.text(name);
        text.split_whitespace().skip(2).map(|word| word.parse().unwrap()).collect()
    };
    let (before, after) = (numbers("mesh.p3d"), numbers("better.p3d"));
    assert_eq!(before.len(), after.len());
    for k in (0..before.len()).filter(|k| {
        let node = k % (33 * 17);
        !(33..33 * 16).contains(&node) || [0, 32].contains(&(node % 33))
    }) {
        assert_eq!(before[k].to_bits(), after[k].to_bits(), "{k}");
    }
    let page = scratch.text("better.smooth.html");
    assert!(page.contains("skewness, largest") && page.contains("data-gridgen"), "{page}");
}

#[test]
fn squares_are_smooth_without_a_note() {
    let places = (0..81).map(|k| k % 9).chain((0..81).map(|k| k / 9));
    let numbers: Vec<String> = places.map(|k| (f64::from(k) / 8.0).to_string()).collect();
    let text = format!("9 9\n{}\n", numbers.join("\n"));
    let scratch = Scratch::with(&[("mesh.p3d", &text)]);

    scratch.run("smooth mesh.p3d -o better.p3d --backend cpu").succeeds_with("");
}

#[test]
fn a_grid_around_a_body_is_written_in_any_format() {
    let scratch = Scratch::solved("");
    for name in ["mesh.cgns", "mesh.su2", "mesh.vts"] {
        let said = scratch.run(&format!("smooth output/wing/mesh.vts -o {name}")).succeeds();

        assert!(said.contains("An O-grid"), "{said}");
        scratch.run(&format!("quality {name} --no-pictures")).succeeds();
    }
}

#[test]
fn sides_that_do_not_fit_are_refused_and_a_mesh_that_is_not_solved_for_exits_with_1() {
    let scratch = Scratch::with(&[("mesh.p3d", &channel(0.3))]);
    for (options, reason) in [
        ("-o a.p3d --walls floor", "jmin, jmax, imin or imax was expected"),
        ("-o a.p3d --walls jmin --slide jmin", "jmin is a wall"),
        ("-o a.p3d --keep --slide jmax", "cannot be used with"),
        ("-o a.p3d --first-cell 0", "a number above 0 was expected"),
        ("-o mesh.p3d", "mesh.p3d"),
        ("-o a.xml", "no format has such a name"),
    ] {
        scratch.run(&format!("smooth mesh.p3d {options}")).fails(2, reason);
    }
    scratch
        .run("smooth mesh.p3d -o better.p3d --set newton.max_iterations=1")
        .fails(1, "the equations of the grid were not solved");
    assert_eq!(scratch.names("."), ["mesh.p3d"]);
}
