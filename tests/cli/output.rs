//! The contents of an output folder: files of others stay, and no two processes write to it.

use std::fs::{self, File};
use std::process::Stdio;

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch};

const FORCE: &str =
    "hint: move it away, choose another output folder, or replace it with --force\n";

/// A mesh that can be converted to every format.
fn with_mesh() -> Scratch {
    let scratch = Scratch::with_case(SMALLEST);
    scratch.run_coarse(&["-o", "."]).succeeds();
    scratch
}

/// Puts a user's mesh into an OpenFOAM case.
fn someones_mesh(scratch: &Scratch, constant: &str) {
    let mesh = scratch.path(constant).join("polyMesh");
    fs::create_dir_all(mesh.join("sets")).unwrap();
    for name in ["points", "faces", "owner", "neighbour", "boundary", "cellZones", "sets/wheels"] {
        fs::write(mesh.join(name), format!("the motor bike's {name}")).unwrap();
    }
}

/// All files below a folder with their contents.
fn contents(scratch: &Scratch, folder: &str) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for name in scratch.names(folder) {
        let path = format!("{folder}/{name}");
        if scratch.path(&path).is_dir() {
            found.extend(contents(scratch, &path));
        } else {
            found.push((path.clone(), scratch.bytes(&path)));
        }
    }
    found
}

const TO_OPENFOAM: [&str; 5] = ["convert", "wing/mesh.vts", "--to", "openfoam", "-o"];

#[test]
fn a_mesh_that_gridgen_did_not_write_is_not_replaced() {
    let scratch = with_mesh();
    someones_mesh(&scratch, "motorBike/constant");
    let before = contents(&scratch, "motorBike");

    let refused = scratch.run(&[&TO_OPENFOAM[..], &["motorBike"]].concat());

    refused.is_refused(&format!(
        "error: cannot write motorBike/constant/polyMesh/points: there is something that gridgen did \
         not write\n{FORCE}"
    ));
    assert_eq!(contents(&scratch, "motorBike"), before);
    assert!(!scratch.path("motorBike/.gridgen").exists());

    scratch.run(&[&TO_OPENFOAM[..], &["motorBike", "--force"]].concat()).succeeds();
    let mesh = ["boundary", "faces", "neighbour", "owner", "points"];
    assert_eq!(scratch.names("motorBike/constant/polyMesh"), mesh);
    scratch.run(&[&TO_OPENFOAM[..], &["motorBike"]].concat()).succeeds();
}

/// Sets and zones that a user added to a mesh would not fit a new one.
#[test]
fn what_somebody_added_to_a_mesh_of_gridgens_is_not_removed() {
    let scratch = with_mesh();
    let run = |more: &[&str]| scratch.run(&[&TO_OPENFOAM[..], &["case"], more].concat());
    run(&[]).succeeds();
    fs::create_dir(scratch.path("case/constant/polyMesh/sets")).unwrap();
    fs::write(scratch.path("case/constant/polyMesh/sets/wake"), "cells").unwrap();
    let before = contents(&scratch, "case");

    run(&["--span-cells", "2"]).is_refused(&format!(
        "error: cannot write case/constant/polyMesh/sets: there is something that gridgen did not write\n\
         {FORCE}"
    ));

    assert_eq!(contents(&scratch, "case"), before);
}

/// Tools that move or renumber a mesh rewrite its files.
#[test]
fn a_mesh_that_somebody_changed_is_not_replaced() {
    let scratch = with_mesh();
    let run = |more: &[&str]| scratch.run(&[&TO_OPENFOAM[..], &["case"], more].concat());
    run(&[]).succeeds();
    let points = scratch.path("case/constant/polyMesh/points");
    let text = fs::read_to_string(&points).unwrap();
    fs::write(&points, text.replacen("(1e0 ", "(2e0 ", 1)).unwrap();
    let before = contents(&scratch, "case");

    run(&[]).is_refused(&format!(
        "error: cannot write case/constant/polyMesh/points: the file there was changed since gridgen \
         wrote it\n{FORCE}"
    ));

    assert_eq!(contents(&scratch, "case"), before);
    run(&["--force"]).succeeds();
    assert_eq!(fs::read_to_string(&points).unwrap(), text);
}

#[cfg(unix)]
#[test]
fn a_mesh_behind_a_link_is_not_replaced_unless_gridgen_wrote_it() {
    use std::os::unix::fs::symlink;
    let scratch = with_mesh();
    someones_mesh(&scratch, "shared");
    fs::create_dir(scratch.path("case")).unwrap();
    symlink(scratch.path("shared"), scratch.path("case/constant")).unwrap();
    let before = contents(&scratch, "shared");
    let run = |more: &[&str]| scratch.run(&[&TO_OPENFOAM[..], &["case"], more].concat());

    let refused = run(&[]);

    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.stderr.contains("there is something that gridgen did not write"),
        "{refused:?}"
    );
    assert_eq!(contents(&scratch, "shared"), before);

    // If the folder is empty, the mesh is written behind the link and recognised there.
    fs::remove_dir_all(scratch.path("shared")).unwrap();
    fs::create_dir(scratch.path("shared")).unwrap();
    run(&[]).succeeds();
    run(&["--span-cells", "2"]).succeeds();
    run(&[]).succeeds();
    assert!(scratch.path("case/constant").is_symlink());
    let mesh = ["boundary", "faces", "neighbour", "owner", "points"];
    assert_eq!(scratch.names("shared/polyMesh"), mesh);
    let set_up = ["polyMesh", "transportProperties", "turbulenceProperties"];
    assert_eq!(scratch.names("shared"), set_up);
}

/// Other programs use the names of results, too.
#[test]
fn files_of_others_that_have_the_names_of_results_stay() {
    let scratch = Scratch::with_case(SMALLEST);
    fs::create_dir_all(scratch.path("output/wing")).unwrap();
    for name in ["mesh.su2", "jacobian-3.mtx", "quality.png", "mesh.failed.cgns"] {
        fs::write(scratch.path("output/wing").join(name), "mine").unwrap();
    }
    let before = contents(&scratch, "output/wing");

    // None of these files conflicts.
    scratch.run_coarse(&[]).succeeds();
    scratch.run_coarse(&["--set", "newton.max_iterations=1"]);
    scratch.run_coarse(&[]).succeeds();
    let now = contents(&scratch, "output/wing");
    assert!(before.iter().all(|file| now.contains(file)), "{:?}", scratch.names("output/wing"));

    // One of them does; this is reported before the work, which would take a step.
    let refused = scratch.run_coarse(&["-v", "--set", "output.formats=su2"]);
    refused.is_refused(&format!(
        "error: cannot write output/wing/mesh.su2: there is something that gridgen did not write\n{FORCE}"
    ));
    assert_eq!(contents(&scratch, "output/wing"), now);

    scratch.run_coarse(&["--force", "--set", "output.formats=su2"]).succeeds();
    assert_ne!(scratch.bytes("output/wing/mesh.su2"), b"mine");
    assert_eq!(scratch.bytes("output/wing/quality.png"), b"mine");
}

#[test]
fn a_result_that_somebody_changed_is_not_replaced_and_one_that_is_copied_is() {
    let scratch = Scratch::with_case(SMALLEST);
    let su2 = ["--set", "output.formats=su2"];
    scratch.run_coarse(&su2).succeeds();
    for name in scratch.names("output/wing") {
        fs::create_dir_all(scratch.path("copy/wing/.gridgen")).unwrap();
        fs::copy(scratch.path("output/wing").join(&name), scratch.path("copy/wing").join(&name))
            .unwrap();
    }
    let record = ".gridgen/written.json";
    fs::copy(scratch.path("output/wing").join(record), scratch.path("copy/wing").join(record))
        .unwrap();
    let mesh = String::from_utf8(scratch.bytes("output/wing/mesh.su2")).unwrap();
    fs::write(scratch.path("output/wing/mesh.su2"), mesh.replace("airfoil", "wall")).unwrap();

    scratch.run_coarse(&su2).is_refused(&format!(
        "error: cannot write output/wing/mesh.su2: the file there was changed since gridgen wrote it\n\
         {FORCE}"
    ));
    scratch.run_coarse(&[&su2[..], &["-o", "copy"]].concat()).succeeds();
}

#[test]
fn a_neutral_map_of_somebodys_beside_a_converted_mesh_stays() {
    let scratch = with_mesh();
    fs::write(scratch.path("wing.nmf"), "# by hand\n").unwrap();
    let run = |more: &[&str]| {
        scratch.run(&[&["convert", "wing/mesh.vts", "-o", "wing.p3d"], more].concat())
    };

    run(&[]).is_refused(&format!(
        "error: cannot write wing.nmf: there is something that gridgen did not write\n{FORCE}"
    ));
    assert_eq!(scratch.bytes("wing.nmf"), b"# by hand\n");
    assert!(!scratch.path("wing.p3d").exists());

    run(&["--dimensions", "2"]).succeeds();
    run(&["--force"]).succeeds();
    run(&[]).succeeds();
    assert!(scratch.bytes("wing.nmf") == scratch.bytes("wing/mesh.nmf"));
}

#[test]
fn the_solution_of_a_system_replaces_no_file_of_somebodys() {
    let matrix = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
    let scratch = Scratch::with(&[("A.mtx", matrix.as_bytes())]);
    fs::create_dir_all(scratch.path("output/A")).unwrap();
    fs::write(scratch.path("output/A/x.mtx"), "mine").unwrap();

    scratch.run(&["solve", "A.mtx", "--backend", "cpu"]).is_refused(&format!(
        "error: cannot write output/A/x.mtx: there is something that gridgen did not write\n{FORCE}"
    ));

    assert_eq!(scratch.bytes("output/A/x.mtx"), b"mine");
    for more in [&["--force"][..], &[]] {
        scratch.run(&[&["solve", "A.mtx", "--backend", "cpu"], more].concat()).succeeds();
    }
}

/// The exported linear system belongs to the grid beside it. If no step of the ladder helped, it is the
/// grid of the first attempt.
#[test]
fn the_exported_system_is_that_of_the_grid_beside_it() {
    let case = "geometry.naca = '2412'\ngrid.ni = 65\ngrid.nj = 33\noutput.pictures = false\n\
                quality.max_skewness = 0.1\n";
    let scratch = Scratch::with_case(case);
    let export = |step: &str, more: &[&str]| {
        let run = ["wing.toml", "--backend", "cpu", "--export-jacobian", step];
        scratch.run(&[&run, more].concat())
    };
    let alone = ["-o", "alone", "--set", "quality.retry=false"];
    assert_eq!(export("0", &alone).code, 1);

    let climbed = export("0", &[]);

    assert_eq!(climbed.code, 1, "{climbed:?}");
    assert!(climbed.stderr.contains("note: tried a march along normals"), "{climbed:?}");
    let names = ["jacobian-0-rhs.mtx", "jacobian-0.mtx", "mesh.failed.vts"];
    for name in names {
        let of = |folder: &str| scratch.bytes(&format!("{folder}/wing/{name}"));
        assert!(of("output") == of("alone"), "{name}");
    }

    // After another run only the system of that run remains.
    assert_eq!(export("1", &[]).code, 1);
    let jacobians = |names: Vec<String>| -> Vec<String> {
        names.into_iter().filter(|name| name.starts_with("jacobian")).collect()
    };
    let of_step = ["jacobian-1-rhs.mtx", "jacobian-1.mtx"];
    assert_eq!(jacobians(scratch.names("output/wing")), of_step);
    scratch.run_coarse(&[]);
    assert_eq!(jacobians(scratch.names("output/wing")), [""; 0]);
}

/// If a step of the ladder helped, system and grid belong to that step.
#[test]
fn the_exported_system_is_that_of_the_try_that_helped() {
    let case = "geometry.wing_body = {}\ninitial.volume_smoothing = 0.3\noutput.pictures = false\n\
                grid = { ni = 257, nj = 49, first_cell = 1e-3, far_field = 10.0 }\n";
    let scratch = Scratch::with_case(case);
    let export = |folder: &str, set: &str| {
        let run = ["wing.toml", "--backend", "cpu", "--export-jacobian", "1", "-o", folder];
        scratch.run(&[&run, &["--set", "output.formats=vts", "--set", set][..]].concat())
    };

    let climbed = export("climbed", "quality.max_skewness=0.2272");
    export("alone", "control.decay=1.5").succeeds();
    export("first", "control.decay=3").succeeds();

    assert!(climbed.stderr.contains("(control.decay = 1.5): the grid is good"), "{climbed:?}");
    for name in ["jacobian-1-rhs.mtx", "jacobian-1.mtx", "mesh.vts"] {
        let of = |folder: &str| scratch.bytes(&format!("{folder}/wing/{name}"));
        assert!(of("climbed") == of("alone"), "{name}");
        assert!(of("climbed") != of("first"), "{name}");
    }
}

/// Steps are counted from the start of the solve, also after a restart.
#[test]
fn a_step_that_was_taken_before_the_restart_is_not_exported_again() {
    let scratch = Scratch::with_case(SMALLEST);
    let system = |step: &str, folder: &str, more: &[&str]| {
        let export = ["--export-jacobian", step, "-o", folder];
        let finished = scratch.run_coarse(&[&export, more].concat());
        let path = scratch.path(&format!("{folder}/wing/jacobian-{step}.mtx"));
        (finished.stderr, fs::read(path).ok())
    };
    let (_, whole) = system("2", "whole", &[]);
    scratch.run_coarse(&["--set", "newton.max_iterations=2"]);
    let restart = ["--restart", "output/wing/restart.bin"];

    let (_, rest) = system("2", "rest", &restart);
    let (said, none) = system("1", "none", &restart);

    assert!(whole.is_some() && rest == whole);
    assert_eq!((said.as_str(), none), ("note: there was no Newton step 1 to export\n", None));
}

/// A run that takes long enough.
fn long_run(scratch: &Scratch) -> std::process::Child {
    let fine = ["--set", "grid.ni=513", "--set", "grid.nj=257"];
    let mut child = scratch
        .gridgen()
        .args(["wing.toml", "--backend", "cpu"])
        .args(fine)
        .args(NO_PICTURES)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while !scratch.path("output/wing/.gridgen/part").exists() {
        assert_eq!(child.try_wait().unwrap(), None, "the run ended before it held its folder");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child
}

#[test]
fn a_second_run_into_a_folder_is_refused_and_disturbs_nothing() {
    let scratch = Scratch::with_case(SMALLEST);
    let first = long_run(&scratch);

    for arguments in [&["wing.toml"][..], &["run", "wing.toml"]] {
        let second = scratch.run(&[arguments, &COARSE[..], &["--backend", "cpu"]].concat());

        assert_eq!(second.code, 2, "{second:?}");
        let said = [second.stdout, second.stderr].concat();
        assert!(
            said.contains("cannot write into output/wing: another run of gridgen does so"),
            "{said}"
        );
        assert!(said.contains("hint: wait until that one is done"), "{said}");
    }
    let elsewhere = [&["wing.toml", "--backend", "cpu", "-o", "else"], &COARSE[..]].concat();
    scratch.run(&elsewhere).succeeds();

    Finished::from(first.wait_with_output().unwrap()).succeeds();
    assert_eq!(scratch.report()["grid"]["ni"], 513);
    scratch.run_coarse(&[]).succeeds();
}

/// The lock belongs to the process and leaves no file behind.
#[test]
fn a_folder_of_a_run_that_was_killed_can_be_written_into() {
    let scratch = Scratch::with_case(SMALLEST);
    let mut first = long_run(&scratch);
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(scratch.path("output/wing/.gridgen/lock").exists());

    scratch.run_coarse(&[]).succeeds();

    assert_eq!(scratch.names("output/wing/.gridgen"), ["lock", "written.json"]);
}

/// A process holds a lock on the partial files that it writes.
#[test]
fn parts_of_living_processes_stay_and_those_of_dead_ones_go() {
    let scratch = Scratch::with_case(SMALLEST);
    fs::create_dir_all(scratch.path("output/wing")).unwrap();
    let part = |name: &str| scratch.path(&format!("output/wing/.gridgen-{name}.part"));
    let living = File::create(part("living")).unwrap();
    living.try_lock().unwrap();
    fs::write(part("dead"), "half").unwrap();

    scratch.run_coarse(&[]).succeeds();
    assert_eq!((part("living").exists(), part("dead").exists()), (true, false));

    fs::write(part("dead"), "half").unwrap();
    scratch.run(&["convert", "output/wing/mesh.vts", "-o", "output/wing/other.su2"]).succeeds();
    assert_eq!((part("living").exists(), part("dead").exists()), (true, false));
}
