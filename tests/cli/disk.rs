//! Output folders that cannot be written, and disks that are full.
#![cfg(target_os = "linux")]

use std::fs;

use super::{COARSE, Finished, NO_PICTURES, SMALLEST, Scratch, bash};

const DENIED: &str = "hint: choose an output folder you may write to, or change its permissions\n";
const FULL: &str =
    "hint: free some space, choose an output folder on another disk, or ask for fewer files\n";

/// The kernel's file system below /sys accepts new folders and files from nobody, not even the superuser, as
/// whom tests often run. This is found before the work, so the limit of one step, which would fail with exit
/// code 1, is never reached.
#[test]
fn an_output_folder_that_cannot_be_written_is_refused_before_the_work() {
    for (name, path) in [("gridgen/wing", "/sys/gridgen/wing"), ("kernel", "/sys/kernel")] {
        let folder = path.strip_suffix("/wing").unwrap_or("/sys");
        let options = format!("-v -o {folder} --set newton.max_iterations=1");
        let set = if name == "kernel" { "--set name=kernel" } else { "" };

        let finished = Scratch::with_case(SMALLEST).run_coarse(&format!("{options} {set}"));

        finished.fails(2, &format!("error: cannot write {path}: "));
        assert!(finished.stderr.ends_with(DENIED), "{finished:?}");
        assert!(!finished.stderr.contains("newton"), "{finished:?}");
    }
}

/// Runs gridgen on `wing.toml` as the last command of a shell script, as `"$@"`.
fn run_in_bash(scratch: &Scratch, wrapper: &[&str], script: &str) -> Finished {
    bash(scratch, wrapper, script, &format!("wing.toml {COARSE} {NO_PICTURES}"))
}

/// Files are limited to 64 KiB, enough for `case.toml` and too little for `mesh.vts`. This limit of the
/// operating system has the effect of a full disk and needs no privileges. Its signal is ignored, so that the
/// write fails instead.
const LIMITED: &str = "trap '' XFSZ; ulimit -f 64; exec \"$@\"";

#[test]
fn a_mesh_that_does_not_fit_is_refused_and_the_earlier_results_stay() {
    let scratch = Scratch::solved("--set grid.far_field=12");
    let earlier = scratch.contents("output/wing");

    // Unless a program handles it, the limit of a shell ends the program by a signal.
    for limited in [LIMITED, "ulimit -f 64; exec \"$@\""] {
        run_in_bash(&scratch, &[], limited).is_refused(&format!(
            "error: cannot write output/wing/mesh.vts: File too large (os error 27)\n{FULL}"
        ));
    }
    assert!(scratch.contents("output/wing") == earlier, "a file was changed");
    assert_eq!(scratch.names("output/wing/.gridgen"), ["lock", "written.json"]);

    // An older file of a conversion stays, too.
    scratch.write("mesh.su2", "older");
    bash(&scratch, &[], LIMITED, "convert output/wing/mesh.vts -o mesh.su2")
        .is_refused(&format!("error: cannot write mesh.su2: File too large (os error 27)\n{FULL}"));
    assert_eq!(scratch.bytes("mesh.su2"), b"older");
    assert_eq!(scratch.names("."), ["mesh.su2", "output", "wing.toml"]);
}

/// The state of an interrupted solve is as valuable as a result: it is kept until there is one.
#[test]
fn a_restart_file_stays_where_the_results_do_not_fit() {
    let scratch = Scratch::with_case(SMALLEST);
    assert_eq!(scratch.run_coarse("--set newton.max_iterations=2").code, 1);
    let before = scratch.bytes("output/wing/restart.bin");

    run_in_bash(&scratch, &[], LIMITED).fails(2, FULL);

    assert!(scratch.bytes("output/wing/restart.bin") == before);
    scratch.run_coarse("--restart output/wing/restart.bin").succeeds();
    assert!(!scratch.path("output/wing/restart.bin").exists());
}

/// A file system of 64 KiB in memory, in a separate namespace. If the kernel lets only the superuser mount,
/// the limit of the test above is used instead.
#[test]
fn a_full_disk_is_refused_and_nothing_half_written_stays() {
    let scratch = Scratch::with_case(SMALLEST);
    fs::create_dir(scratch.path("output")).unwrap();
    // The listing is made within the namespace, where the small file system is visible.
    let small = format!(
        "if mount -t tmpfs -o size=64k none output; then :; else {}; fi; \
         \"$@\"; code=$?; ls -A output; exit $code",
        "trap '' XFSZ; ulimit -f 64"
    );
    let own_mounts = ["unshare", "--mount", "--map-root-user"];
    let allowed = std::process::Command::new(own_mounts[0])
        .args(&own_mounts[1..])
        .arg("true")
        .output()
        .is_ok_and(|output| output.status.success());
    let wrapper: &[&str] = if allowed { &own_mounts } else { &[] };

    let finished = run_in_bash(&scratch, wrapper, &small);

    // If there was no folder before, there is none afterwards.
    finished.fails(2, "error: cannot write output/wing/mesh.vts: ");
    assert!(finished.stderr.ends_with(FULL), "{finished:?}");
    if allowed && !finished.stderr.contains("mount") {
        assert!(finished.stderr.contains("No space left on device"), "{finished:?}");
    }
}

/// The page is the last file and the largest of these. No file replaces an old one before all fit.
#[test]
fn a_page_that_does_not_fit_is_refused_with_all_files_beside_it() {
    let case = "geometry.naca = '2412'\n[output]\nformats = ['vts']\nreport = true\n";
    let scratch = Scratch::with_case(case);

    let finished = run_in_bash(&scratch, &[], "trap '' XFSZ; ulimit -f 128; exec \"$@\"");

    finished.is_refused(&format!(
        "error: cannot write output/wing/report.html: File too large (os error 27)\n{FULL}"
    ));
    assert!(!scratch.path("output/wing").exists());
}

#[test]
fn a_restart_file_that_does_not_fit_is_a_note() {
    let case = "geometry.naca = '2412'\n[output]\nformats = ['plot3d']\nplot3d_dimensions = 2\n\
                plot3d_encoding = 'stream'\nplot3d_precision = 'single'\n";
    let scratch = Scratch::with_case(case);

    let limited = "trap '' XFSZ; ulimit -f 24; exec \"$@\" --restart-every 0";
    let finished = run_in_bash(&scratch, &[], limited);

    assert_eq!(finished.code, 0, "{finished:?}");
    let note =
        "note: no restart file was kept: cannot write output/wing/restart.bin: File too large";
    assert!(finished.stderr.starts_with(note), "{finished:?}");
    let names = ["case.toml", "convergence.csv", "mesh.2d.p3d", "report.json"];
    assert_eq!(scratch.names("output/wing"), names);
}
