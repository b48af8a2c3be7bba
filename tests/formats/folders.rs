//! Output folders: old results are exchanged for new ones, whenever the process ends.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use gridgen::files::{REPORT_FILE, WriteFault};
use gridgen::internals::output::{FolderRules, HOME, Output};

const OLD: [&str; 4] =
    ["convergence.csv", "mesh.su2", "openfoam/constant/polyMesh/boundary", "report.json"];
const NEW_ONES: [&str; 4] =
    ["convergence.csv", "mesh.vts", "openfoam/constant/polyMesh/boundary", "report.json"];

/// A mesh of several files is complete when its list of patches exists.
const RULES: FolderRules =
    FolderRules { completing: |name| name.ends_with("polyMesh/boundary"), ..FolderRules::NONE };

/// Makes the files, each with this text.
fn make(output: &Output, names: &[&str], text: &str) {
    for name in names {
        let path = output.files().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

/// Names and contents of all results below a folder.
fn results(root: &Path) -> Vec<(String, String)> {
    let names = support::names_below(root);
    let names = names.into_iter().filter(|name| !name.starts_with(HOME));
    names.map(|name| (name.clone(), fs::read_to_string(root.join(name)).unwrap())).collect()
}

/// The files of [`ended_after`] with these results, each of this text.
fn expected(names: &[&str], text: &str) -> Vec<(String, String)> {
    let results = names.iter().map(|name| (*name, text));
    let mut files: Vec<_> = results.chain([("mine", "mine")]).collect();
    files.sort_unstable();
    files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// A folder with old results and a plan for new ones; the process ended after the first `steps` of the plan.
fn ended_after(root: &Path, steps: usize) {
    let output = Output::open(root, RULES, false).unwrap();
    make(&output, &OLD, "old");
    output.commit().unwrap();
    fs::write(root.join("mine"), "mine").unwrap();
    let output = Output::open(root, RULES, false).unwrap();
    make(&output, &NEW_ONES, "new");
    output.commit_steps(steps).unwrap();
}

#[test]
fn a_process_may_end_after_every_step_of_the_exchange() {
    let (old, new) = (expected(&OLD, "old"), expected(&NEW_ONES, "new"));
    let all = 2 + 1 + 4 + 2;
    for steps in 0..=all {
        let folder = tempfile::tempdir().unwrap();
        ended_after(folder.path(), steps);

        // If there is a report, its results are complete.
        let found = results(folder.path());
        let told = found.iter().any(|(name, _)| name == REPORT_FILE);
        assert!(!told || found == old || found == new, "after {steps} steps: {found:?}");
        assert_eq!(steps == 0, found == old, "after {steps} steps: {found:?}");

        Output::recover(folder.path()).unwrap();
        assert_eq!(results(folder.path()), new, "after {steps} steps");
        assert!(!folder.path().join(HOME).join("new").exists());
        // All of them are recognised as gridgen's.
        let again = Output::open(folder.path(), RULES, false).unwrap();
        again.check(NEW_ONES).unwrap();
    }
}

#[test]
fn a_process_that_ends_while_it_makes_files_leaves_the_old_ones() {
    let folder = tempfile::tempdir().unwrap();
    ended_after(folder.path(), usize::MAX);
    let home = folder.path().join(HOME);
    fs::create_dir_all(home.join("part").join("files")).unwrap();
    fs::write(home.join("part").join("files").join("mesh.vts"), "half").unwrap();
    fs::write(home.join("part").join("plan.json"), "{").unwrap();
    let before = results(folder.path());

    drop(Output::open(folder.path(), RULES, false).unwrap());

    assert_eq!(results(folder.path()), before);
    assert!(!home.join("part").exists());
}

/// A file that a user put in the place of a new file meanwhile is not lost either.
#[test]
fn a_file_of_a_user_in_the_place_of_a_new_one_is_kept_without_force() {
    let folder = tempfile::tempdir().unwrap();
    ended_after(folder.path(), 3);
    fs::write(folder.path().join("mesh.vts"), "mine").unwrap();

    let refused = Output::open(folder.path(), RULES, false).unwrap_err();
    assert!(matches!(refused.fault, WriteFault::Changed), "{refused}");
    assert_eq!(fs::read_to_string(folder.path().join("mesh.vts")).unwrap(), "mine");

    drop(Output::open(folder.path(), RULES, true).unwrap());
    assert_eq!(fs::read_to_string(folder.path().join("mesh.vts")).unwrap(), "new");
    assert!(folder.path().join(REPORT_FILE).exists());
}

/// A mesh that is smoothed in place keeps its length and both ends.
#[test]
fn a_change_within_a_file_that_keeps_its_length_is_seen() {
    // Only samples of files longer than a mebibyte are read.
    for length in [0, 1, 9_000, 1 << 20, (1 << 20) + 1, 5_000_001_usize] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mesh.p3d");
        let written: Vec<u8> = (0..length).map(|k| (k.wrapping_mul(k) / 7) as u8).collect();
        let output = Output::open(folder.path(), FolderRules::NONE, false).unwrap();
        fs::write(output.files().join("mesh.p3d"), &written).unwrap();
        output.commit().unwrap();
        let refused = |contents: &[u8]| {
            fs::write(&path, contents).unwrap();
            let output = Output::open(folder.path(), FolderRules::NONE, false).unwrap();
            output.check(["mesh.p3d"]).err().map(|error| error.fault)
        };
        let changed = |within: std::ops::Range<usize>| {
            let mut contents = written.clone();
            contents[within].iter_mut().for_each(|byte| *byte ^= 1);
            contents
        };
        let mut others = vec![[&written[..], &[0]].concat()];
        if length > 0 {
            let middle = length / 3..length - length / 3;
            others.extend([changed(middle), changed(0..1), changed(length - 1..length)]);
        }

        for other in others {
            let fault = refused(&other);
            assert!(matches!(fault, Some(WriteFault::Changed)), "{length} bytes: {fault:?}");
        }
        assert!(refused(&written).is_none(), "{length} bytes");
    }
}

#[test]
fn a_folder_without_new_files_is_unchanged() {
    let above = tempfile::tempdir().unwrap();
    let new = above.path().join("new");

    drop(Output::open(&new, RULES, false).unwrap());
    drop(Output::open(above.path(), RULES, false).unwrap());

    assert_eq!(fs::read_dir(above.path()).unwrap().count(), 0);
}

/// A child process has copies of all open files from its start until its program is loaded.
#[test]
fn a_folder_is_free_at_once_whatever_processes_start() {
    let folder = tempfile::tempdir().unwrap();
    let output = Output::open(folder.path(), RULES, false).unwrap();
    make(&output, &OLD, "old");
    output.commit().unwrap();
    let ended = AtomicBool::new(false);

    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                Command::new("true").status().unwrap();
            }
        });
        let opened = (0..300).map(|_| Output::open(folder.path(), RULES, false).map(drop));
        let opened: Result<(), _> = opened.collect();
        ended.store(true, Ordering::Relaxed);

        opened.unwrap();
    });
}
