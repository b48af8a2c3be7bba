//! The contents of an output folder: files of others stay, and no two processes write to it.

use std::fs::{self, File};

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch, has};

const FORCE: &str =
    "hint: move it away, choose another output folder, or replace it with --force\n";

/// A mesh that can be converted to every format.
fn with_mesh() -> Scratch {
    Scratch::solved("-o .")
}

/// Writes the mesh into an OpenFOAM case.
fn to_openfoam(scratch: &Scratch, more: &str) -> Finished {
    scratch.run(&format!("convert wing/mesh.vts --to openfoam -o case {more}"))
}

/// Puts a user's mesh into an OpenFOAM case.
fn someones_mesh(scratch: &Scratch, constant: &str) {
    for name in ["points", "faces", "owner", "neighbour", "boundary", "cellZones", "sets/wheels"] {
        let own = format!("the motor bike's {name}");
        scratch.write(&format!("{constant}/polyMesh/{name}"), own);
    }
}

/// Names of the files of a mesh of OpenFOAM.
const POLY_MESH: [&str; 5] = ["boundary", "faces", "neighbour", "owner", "points"];

/// Asserts that a run is refused since this file is a user's, and that no file in a folder changes.
#[track_caller]
pub(super) fn stays(
    scratch: &Scratch,
    folder: &str,
    run: impl FnOnce() -> Finished,
    path: &str,
    why: &str,
) {
    let before = scratch.contents(folder);
    run().is_refused(&format!("error: cannot write {path}: {why}\n{FORCE}"));
    assert_eq!(scratch.contents(folder), before);
}

pub(super) const OTHERS: &str = "there is something that gridgen did not write";
const CHANGED: &str = "the file there was changed since gridgen wrote it";

/// Tools that move or renumber a mesh rewrite its files; sets that a user added to it would not fit a new one.
#[test]
fn a_mesh_that_is_not_as_gridgen_wrote_it_is_not_replaced() {
    let scratch = with_mesh();
    someones_mesh(&scratch, "case/constant");
    let run = |more: &str| to_openfoam(&scratch, more);
    let points = "case/constant/polyMesh/points";

    stays(&scratch, "case", || run(""), points, OTHERS);
    assert!(!scratch.path("case/.gridgen").exists());

    run("--force").succeeds();
    assert_eq!(scratch.names("case/constant/polyMesh"), POLY_MESH);
    run("").succeeds();

    let text = scratch.text(points);
    scratch.write(points, text.replacen("(1e0 ", "(2e0 ", 1));
    stays(&scratch, "case", || run(""), points, CHANGED);
    run("--force").succeeds();
    assert_eq!(scratch.text(points), text);

    scratch.write("case/constant/polyMesh/sets/wake", "cells");
    stays(&scratch, "case", || run("--span-cells 2"), "case/constant/polyMesh/sets", OTHERS);
}

#[cfg(unix)]
#[test]
fn a_mesh_behind_a_link_is_not_replaced_unless_gridgen_wrote_it() {
    use std::os::unix::fs::symlink;
    let scratch = with_mesh();
    someones_mesh(&scratch, "shared");
    fs::create_dir(scratch.path("case")).unwrap();
    symlink(scratch.path("shared"), scratch.path("case/constant")).unwrap();

    let run = || to_openfoam(&scratch, "");
    stays(&scratch, "shared", run, "case/constant/polyMesh/points", OTHERS);

    // If the folder is empty, the mesh is written behind the link and recognised there.
    fs::remove_dir_all(scratch.path("shared")).unwrap();
    fs::create_dir(scratch.path("shared")).unwrap();
    for more in ["", "--span-cells 2", ""] {
        to_openfoam(&scratch, more).succeeds();
    }
    assert!(scratch.path("case/constant").is_symlink());
    assert_eq!(scratch.names("shared/polyMesh"), POLY_MESH);
    let set_up = ["polyMesh", "transportProperties", "turbulenceProperties"];
    assert_eq!(scratch.names("shared"), set_up);
}

/// Meshes in formats that a run does not write stay, and are said to be of an earlier run, in its report too.
#[test]
fn a_mesh_of_another_format_stays_and_is_named() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = |sets: &str| scratch.run_coarse(&format!("--set output.formats={sets}"));
    run("su2,openfoam").succeeds();
    let [mesh, points] = ["mesh.su2", "openfoam/constant/polyMesh/points"];
    let read = || [mesh, points].map(|name| scratch.bytes(&format!("output/wing/{name}")));
    let before = read();

    let vts = run("vts --set grid.nj=35");

    let names = ["mesh.su2", "openfoam", "su2.cfg"].map(|name| ["output/wing/", name].concat());
    let said = ["of an earlier run, and not written by this one: ", &names.join(", ")].concat();
    assert!(vts.stderr.contains(&format!("note: {said}\n")), "{vts:?}");
    assert!(!vts.stdout.contains("removed"), "{vts:?}");
    assert!(read() == before);
    assert_eq!(scratch.report()["notes"].as_array().unwrap(), &[said]);

    // A later run replaces them without --force, and then nothing is of an earlier run but mesh.vts.
    let both = run("su2,openfoam");
    assert_eq!(both.stderr.matches("earlier run").count(), 1, "{both:?}");
    assert!(read() == before);
    both.succeeds();
}

#[test]
fn what_a_run_removes_is_named() {
    let scratch = Scratch::solved("--export-jacobian 0 --set output.formats=su2,vts");

    let failed = scratch.run_coarse("--set newton.max_iterations=1 --set output.formats=su2");

    let list = ["jacobian-0-rhs.mtx", "jacobian-0.mtx", "mesh.su2"];
    let list = list.map(|name| format!("  output/wing/{name}\n")).concat();
    assert_eq!(failed.code, 1);
    assert!(failed.stdout.ends_with(&format!("removed, of an earlier run:\n{list}")), "{failed:?}");
    assert!(failed.stderr.contains("by this one: output/wing/mesh.vts\n"), "{failed:?}");

    // A failed mesh is of no use: it goes with the next run, whatever that writes.
    let good = scratch.run_coarse("--set output.formats=vts").succeeds();
    assert!(good.contains("output/wing/mesh.failed.su2"), "{good}");
    let names = scratch.names("output/wing");
    assert!(!names.iter().any(|name| name.contains("failed")), "{names:?}");
}

#[test]
fn a_changed_set_up_for_su2_stays() {
    let scratch = Scratch::with_case(SMALLEST);
    let run = |more: &str| scratch.run_coarse(&format!("--set output.formats=su2 {more}"));
    run("").succeeds();
    let path = "output/wing/su2.cfg";
    assert!(scratch.text(path).contains("\nMESH_FILENAME= mesh.su2\n"));
    assert!(scratch.text(path).contains("\nSOLVER= EULER\n"));

    run("--set grid.reynolds=1e6").succeeds();
    let written = scratch.text(path);
    assert!(written.contains("\nSOLVER= RANS\n"), "{written}");
    let mine = written.replace("AOA= 0.0", "AOA= 2.0");
    scratch.write(path, &mine);
    let kept = run("");
    let note = "note: kept as you changed them, --force replaces them: output/wing/su2.cfg\n";
    assert!(kept.stderr.contains(note), "{kept:?}");
    assert_eq!(scratch.text(path), mine);
    kept.succeeds();

    run("--force").succeeds();
    assert!(scratch.text(path).contains("AOA= 0.0"));
}

/// Other programs use the names of results, too.
#[test]
fn files_of_others_that_have_the_names_of_results_stay() {
    let scratch = Scratch::with_case(SMALLEST);
    for name in ["mesh.su2", "jacobian-3.mtx", "quality.png", "mesh.failed.cgns"] {
        scratch.write(&format!("output/wing/{name}"), "mine");
    }
    let before = scratch.contents("output/wing");

    // None of these files conflicts.
    scratch.run_coarse("").succeeds();
    scratch.run_coarse("--set newton.max_iterations=1");
    scratch.run_coarse("").succeeds();
    let now = scratch.contents("output/wing");
    assert!(before.iter().all(|file| now.contains(file)), "{:?}", scratch.names("output/wing"));

    // One of them does; this is reported before the work, which would take a step.
    let refused = || scratch.run_coarse("-v --set output.formats=su2");
    stays(&scratch, "output/wing", refused, "output/wing/mesh.su2", OTHERS);

    scratch.run_coarse("--force --set output.formats=su2").succeeds();
    assert_ne!(scratch.bytes("output/wing/mesh.su2"), b"mine");
    assert_eq!(scratch.bytes("output/wing/quality.png"), b"mine");
}

#[test]
fn a_result_that_somebody_changed_is_not_replaced_and_one_that_is_copied_is() {
    let scratch = Scratch::with_case(SMALLEST);
    let su2 = |more: &str| scratch.run_coarse(&format!("--set output.formats=su2 {more}"));
    su2("").succeeds();
    fs::create_dir_all(scratch.path("copy/wing/.gridgen")).unwrap();
    let mut names = scratch.names("output/wing");
    names.push(".gridgen/written.json".to_owned());
    for name in names {
        let at = |folder: &str| scratch.path(&format!("{folder}/wing/{name}"));
        fs::copy(at("output"), at("copy")).unwrap();
    }
    let mesh = scratch.text("output/wing/mesh.su2").replace("airfoil", "wall");
    scratch.write("output/wing/mesh.su2", mesh);

    stays(&scratch, "output/wing", || su2(""), "output/wing/mesh.su2", CHANGED);
    su2("-o copy").succeeds();
}

/// A neutral map, the solution of a system, and pictures, which are named after the section.
#[test]
fn a_file_of_somebodys_that_has_the_name_of_what_is_made_stays() {
    let scratch = with_mesh();
    scratch.write("A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
    for (command, path) in [
        ("convert wing/mesh.vts -o wing.p3d", "wing.nmf"),
        ("solve A.mtx --backend cpu", "output/A/x.mtx"),
        ("airfoil wing.toml -o pp", "pp/wing.svg"),
        ("quality wing/mesh.vts -o pp", "pp/mesh.vts.quality.png"),
    ] {
        scratch.write(path, "by hand");
        let run = |more: &str| scratch.run(&format!("{command} {more}"));

        stays(&scratch, ".", || run(""), path, OTHERS);

        // A plane mesh has no map.
        if path == "wing.nmf" {
            run("--dimensions 2").succeeds();
        }
        assert_eq!(scratch.bytes(path), b"by hand");
        for more in ["--force", ""] {
            run(more).succeeds();
        }
        assert_ne!(scratch.bytes(path), b"by hand");
    }
    assert!(scratch.bytes("wing.nmf") == scratch.bytes("wing/mesh.nmf"));
}

/// The exported linear system belongs to the grid beside it. If no step of the ladder helped, it is the
/// grid of the first attempt.
#[test]
fn the_exported_system_is_that_of_the_grid_beside_it() {
    let case = "geometry.naca = '2412'\ngrid.topology = 'O'\ngrid.ni = 65\ngrid.nj = 33\noutput.pictures = false\n\
                quality.max_skewness = 0.1\n";
    let scratch = Scratch::with_case(case);
    let export = |step: usize, more: &str| {
        let run = format!("wing.toml --backend cpu --export-jacobian {step} {more}");
        let finished = scratch.run(&run);
        assert_eq!(finished.code, 1, "{finished:?}");
        finished.stderr
    };
    export(0, "-o alone --set quality.retry=false");

    let climbed = export(0, "");

    assert!(climbed.contains("note: tried a march along normals"), "{climbed}");
    let names = ["jacobian-0-rhs.mtx", "jacobian-0.mtx", "mesh.failed.vts"];
    scratch.same(["output/wing", "alone/wing"], &names);

    // After another run only the system of that run remains.
    export(1, "");
    let jacobians = || {
        let mut names = scratch.names("output/wing");
        names.retain(|name| name.starts_with("jacobian"));
        names
    };
    assert_eq!(jacobians(), ["jacobian-1-rhs.mtx", "jacobian-1.mtx"]);
    scratch.run_coarse("");
    assert_eq!(jacobians(), [""; 0]);
}

#[test]
fn the_exported_system_is_that_of_the_try_that_helped() {
    let case = "geometry.wing_body = {}\ninitial.volume_smoothing = 0.3\noutput.pictures = false\n\
                grid = { ni = 257, nj = 49, first_cell = 1e-3, far_field = 10.0 }\n";
    let scratch = Scratch::with_case(case);
    let export = |folder: &str, set: &str| {
        let to = format!("-o {folder} --set output.formats=vts --set {set}");
        scratch.run(&format!("wing.toml --backend cpu --export-jacobian 1 {to}"))
    };

    let climbed = export("climbed", "quality.max_skewness=0.2272");
    export("alone", "control.decay=1.5").succeeds();
    export("first", "control.decay=3").succeeds();

    assert!(climbed.stderr.contains("(control.decay = 1.5): the grid is good"), "{climbed:?}");
    let names = ["jacobian-1-rhs.mtx", "jacobian-1.mtx", "mesh.vts"];
    scratch.same(["climbed/wing", "alone/wing"], &names);
    for name in names {
        let of = |folder: &str| scratch.bytes(&format!("{folder}/wing/{name}"));
        assert!(of("climbed") != of("first"), "{name}");
    }
}

/// Steps are counted from the start of the solve, also after a restart.
#[test]
fn a_step_that_was_taken_before_the_restart_is_not_exported_again() {
    let scratch = Scratch::with_case(SMALLEST);
    let system = |step: usize, folder: &str, more: &str| {
        let finished = scratch.run_coarse(&format!("--export-jacobian {step} -o {folder} {more}"));
        let path = scratch.path(&format!("{folder}/wing/jacobian-{step}.mtx"));
        (finished.stderr, fs::read(path).ok())
    };
    let (_, whole) = system(2, "whole", "");
    scratch.run_coarse("--set newton.max_iterations=2");
    let restart = "--restart output/wing/restart.bin";

    let (_, rest) = system(2, "rest", restart);
    let none = system(1, "none", restart);

    assert!(whole.is_some() && rest == whole);
    assert_eq!(none, ("note: there was no Newton step 1 to export\n".to_owned(), None));
}

#[test]
fn a_second_run_into_a_folder_is_refused_and_disturbs_nothing() {
    let scratch = Scratch::with_case(SMALLEST);
    // This takes long enough.
    let fine = "wing.toml --backend cpu --set grid.ni=385 --set grid.nj=193";
    let mut first = scratch.start(&format!("{fine} {NO_PICTURES}"));
    while !scratch.path("output/wing/.gridgen/part").exists() {
        assert_eq!(first.try_wait().unwrap(), None, "the run ended before it held its folder");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }

    for command in ["", "run "] {
        let second = scratch.run(&format!("{command}wing.toml --backend cpu"));

        assert_eq!(second.code, 2, "{second:?}");
        let said = [second.stdout, second.stderr].concat();
        let parts = [
            "cannot write into output/wing: another run of gridgen does so",
            "hint: wait until that one is done",
            "srun, mpirun or torchrun",
        ];
        has(&said, &parts);
    }
    scratch.run_coarse("-o else").succeeds();

    Finished::from(first.wait_with_output().unwrap()).succeeds();
    assert_eq!(scratch.report()["grid"]["ni"], 385);
    scratch.run_coarse("").succeeds();
}

/// A process holds a lock on the partial files that it writes.
#[test]
fn parts_of_living_processes_stay_and_those_of_dead_ones_go() {
    let scratch = Scratch::with_case(SMALLEST);
    fs::create_dir_all(scratch.path("output/wing")).unwrap();
    let part = |name: &str| scratch.path(&format!("output/wing/.gridgen-{name}.part"));
    let living = File::create(part("living")).unwrap();
    living.try_lock().unwrap();
    let convert = "convert output/wing/mesh.vts -o output/wing/other.su2";
    for run in [&format!("wing.toml {COARSE} {NO_PICTURES}"), convert] {
        fs::write(part("dead"), "half").unwrap();
        scratch.run(run).succeeds();
        assert_eq!((part("living").exists(), part("dead").exists()), (true, false), "{run}");
    }
}

#[cfg(unix)]
#[test]
fn what_stands_in_place_of_a_folder_or_a_result_is_named() {
    let scratch = Scratch::with_case(SMALLEST);
    std::os::unix::fs::symlink("nowhere", scratch.path("out")).unwrap();
    fs::create_dir_all(scratch.path("output/wing/mesh.vts")).unwrap();

    for folder in ["wing.toml", "out"] {
        scratch.run_coarse(&format!("--output {folder}")).is_refused(&format!(
            "error: cannot write into {folder}: it is a file, a folder was expected\n\
             hint: remove or rename that file, or choose another output folder\n"
        ));
    }
    scratch.run_coarse("").is_refused(
        "error: cannot write output/wing/mesh.vts: there is a folder of that name\n\
         hint: remove or rename that folder, or choose another output folder\n",
    );

    assert_eq!(scratch.bytes("wing.toml"), SMALLEST.as_bytes());
    assert_eq!(scratch.names("output/wing"), ["mesh.vts"]);
}
