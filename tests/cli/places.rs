//! Destinations of single files: inputs, links, devices, pipes and files of others are kept.

use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;

use gridgen::formats::npy;

#[cfg(target_os = "linux")]
use super::bash;
use super::{COARSE, SMALLEST, Scratch, output};

const MESH: &str = "output/wing/mesh.vts";
const REFERENCE: &str = "output/wing/reference.grd";

/// A mesh, its reference, its wall, and arrays of derivatives.
fn scratch() -> Scratch {
    let scratch = Scratch::solved("--set output.formats=vts,plot3d --set output.reference=true");
    scratch.run(&format!("move {REFERENCE} --wall wall.dat")).succeeds();
    npy::write(&scratch.path("d.npy"), &[33, 65, 2], &vec![1.0; 33 * 65 * 2]).unwrap();
    npy::write(&scratch.path("dw.npy"), &[65, 2], &[1.0; 130]).unwrap();
    scratch
}

/// Asserts that a command is refused because `output` is `input`, and that no file changes.
fn stays(scratch: &Scratch, arguments: &str, output: &str, input: &str) {
    let before = scratch.contents(".");

    scratch.run(arguments).is_refused(&format!(
        "error: cannot write {output}: it is the same file as {input}\n\
         hint: choose another name, or another output folder\n"
    ));

    assert!(scratch.contents(".") == before, "{arguments} changed a file");
}

#[test]
fn no_input_is_written_to_whatever_its_name() {
    let scratch = scratch();
    fs::copy(scratch.path(REFERENCE), scratch.path("r.grd")).unwrap();
    fs::copy(scratch.path(MESH), scratch.path("m.vts")).unwrap();
    fs::copy(scratch.path(MESH), scratch.path("m.nmf")).unwrap();
    fs::create_dir(scratch.path("folder")).unwrap();
    fs::hard_link(scratch.path("m.vts"), scratch.path("hard.su2")).unwrap();
    scratch.run("convert m.vts -o wing.xyz").succeeds();
    for (arguments, output, input) in [
        ("move r.grd --wall r.grd", "r.grd", "r.grd"),
        ("move r.grd --adjoint d.npy -o d.npy", "d.npy", "d.npy"),
        ("move r.grd --derivative dw.npy -o ./dw.npy", "./dw.npy", "dw.npy"),
        ("move m.vts --to wall.dat -o m.vts", "m.vts", "m.vts"),
        ("move m.vts --to wall.dat --wall wall.dat -o n.vts", "wall.dat", "wall.dat"),
        ("move m.vts --wall n.vts -o n.vts", "n.vts", "n.vts"),
        ("move r.grd --wall w.nmf -o w.p3d", "w.nmf", "w.nmf"),
        ("convert m.vts -o folder/../m.vts", "folder/../m.vts", "m.vts"),
        ("convert m.vts -o hard.su2", "hard.su2", "m.vts"),
        ("convert m.nmf -o m.p3d --force", "m.nmf", "m.nmf"),
        // The neutral map of a mesh is read with it.
        ("convert wing.xyz -o wing.p3d", "wing.nmf", "wing.nmf"),
        ("convert wing.xyz -o wing.p3d --dimensions 2", "wing.nmf", "wing.nmf"),
        ("convert wing.xyz -o wing.p3d --force", "wing.nmf", "wing.nmf"),
        ("move wing.xyz --wall w.dat -o wing.p3d", "wing.nmf", "wing.nmf"),
        ("smooth wing.xyz -o wing.p3d", "wing.nmf", "wing.nmf"),
    ] {
        stays(&scratch, arguments, output, input);
    }
    // A map says nothing of a file in another format.
    for run in ["convert wing.xyz -o wing.vts", "convert wing.vts -o wing.p3d --dimensions 2"] {
        scratch.run(run).succeeds();
    }
    assert!(!scratch.path("wing.nmf").exists());
    #[cfg(unix)]
    links_to_inputs_are_seen(&scratch);
}

#[cfg(unix)]
fn links_to_inputs_are_seen(scratch: &Scratch) {
    symlink("m.vts", scratch.path("one.su2")).unwrap();
    symlink("../one.su2", scratch.path("folder/two.su2")).unwrap();
    symlink("folder", scratch.path("also")).unwrap();

    for link in ["one.su2", "folder/two.su2", "also/two.su2"] {
        stays(scratch, &format!("convert m.vts -o {link}"), link, "m.vts");
        stays(scratch, &format!("convert {link} -o m.vts"), "m.vts", link);
    }
}

#[cfg(unix)]
#[test]
fn a_link_stays_and_its_target_is_written() {
    let scratch = scratch();
    scratch.write("far/old.su2", "old");
    symlink("far/old.su2", scratch.path("link.su2")).unwrap();
    symlink("far/new.vtk", scratch.path("dangling.vtk")).unwrap();
    symlink("far/wall.dat", scratch.path("w.dat")).unwrap();
    symlink("far/g.npy", scratch.path("g.npy")).unwrap();
    symlink("far/map.nmf", scratch.path("m.nmf")).unwrap();
    symlink("far/case.toml", scratch.path("new.toml")).unwrap();

    for run in [
        &format!("convert {MESH} -o link.su2"),
        &format!("convert {MESH} -o dangling.vtk"),
        &format!("move {REFERENCE} --wall w.dat"),
        &format!("move {REFERENCE} --adjoint d.npy -o g.npy"),
        &format!("convert {MESH} -o m.p3d"),
        &format!("convert {MESH} -o m.p3d"),
        "init new.toml",
    ] {
        scratch.run(run).succeeds();
    }

    for link in ["link.su2", "dangling.vtk", "w.dat", "g.npy", "m.nmf", "new.toml"] {
        assert!(scratch.path(link).is_symlink(), "{link} is no link any more");
        assert!(scratch.bytes(link).len() > 200, "{link}");
    }
    let names = ["case.toml", "g.npy", "map.nmf", "new.vtk", "old.su2", "wall.dat"];
    assert_eq!(scratch.names("far"), names);
}

/// Makes a named pipe.
#[cfg(target_os = "linux")]
fn fifo(scratch: &Scratch, name: &str) {
    let made = std::process::Command::new("mkfifo").arg(scratch.path(name)).status();
    assert!(made.unwrap().success());
}

#[cfg(target_os = "linux")]
#[test]
fn pipes_and_devices_are_written_through() {
    use std::os::unix::fs::FileTypeExt;
    let scratch = scratch();
    let convert = |options: &str| format!("convert {MESH} {options}");
    let adjoint = |to: &str| format!("move {REFERENCE} --adjoint d.npy -o {to}");
    for run in
        [convert("-o there.cgns"), convert("-o there.vts --compression zlib"), adjoint("there.npy")]
    {
        scratch.run(&run).succeeds();
    }
    // The conversions use seeking and streaming writers, text and arrays, a map file, and a link to a pipe.
    fifo(&scratch, "target");
    symlink("target", scratch.path("link.vts")).unwrap();
    for (arguments, name, expected) in [
        (convert("-o pipe.cgns"), "pipe.cgns", "there.cgns"),
        (convert("-o pipe.vts --compression zlib"), "pipe.vts", "there.vts"),
        (convert("-o link.vts"), "target", MESH),
        (format!("move {REFERENCE} --wall pipe.dat"), "pipe.dat", "wall.dat"),
        (adjoint("pipe.npy"), "pipe.npy", "there.npy"),
    ] {
        if name != "target" {
            fifo(&scratch, name);
        }
        let path = scratch.path(name);
        let reader = std::thread::spawn(move || fs::read(path).unwrap());

        scratch.run(&arguments).succeeds();

        assert!(reader.join().unwrap() == scratch.bytes(expected), "{name}");
        let kind = fs::symlink_metadata(scratch.path(name)).unwrap().file_type();
        assert!(kind.is_fifo(), "{name} is a pipe no more");
    }
    assert!(scratch.path("link.vts").is_symlink());

    let null = Path::new("/dev/null");
    symlink(null, scratch.path("null.p3d")).unwrap();
    for to in ["-o /dev/null --to vts", "-o null.p3d"] {
        scratch.run(&convert(to)).succeeds();
    }
    assert!(fs::metadata(null).unwrap().file_type().is_char_device());
    assert!(scratch.path("null.p3d").is_symlink());
}

/// A shell may redirect standard output to a pipe, to a new file, or to the end of a file.
#[cfg(target_os = "linux")]
#[test]
fn standard_output_can_be_named() {
    let scratch = scratch();
    let wall = scratch.text("wall.dat");
    let arguments = format!("move {REFERENCE} --wall /dev/stdout");
    let whole = scratch.run(&arguments).succeeds();
    assert!(whole.starts_with(&wall) && whole.contains("written:"), "{whole}");
    scratch.write("log", "before\n");

    for (to, before) in [(">> log", "before\n"), ("> log", "")] {
        bash(&scratch, &[], &format!("\"$@\" {to}"), &arguments).succeeds();

        assert_eq!(scratch.text("log"), [before, &whole].concat());
    }
}

/// A result never replaces a pipe, not even with `--force`, and no pipe is opened.
#[cfg(target_os = "linux")]
#[test]
fn a_pipe_in_an_output_folder_is_refused() {
    let scratch = Scratch::solved("--set output.formats=vts");
    fs::remove_file(scratch.path(MESH)).unwrap();
    fifo(&scratch, MESH);

    for more in ["", "--force"] {
        let refused = scratch.run_coarse(&format!("--set output.formats=vts {more}"));
        refused.is_refused(
            "error: cannot write output/wing/mesh.vts: there is a file of that name\n\
             hint: choose another name, or remove that file first\n",
        );
    }
}

#[test]
fn inputs_in_the_output_folder_stay() {
    let matrix = "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n";
    let scratch = Scratch::with(&[("A.mtx", &matrix), ("wing.toml", &SMALLEST)]);
    let solve = "solve A.mtx --backend cpu";
    scratch.run(solve).succeeds();

    let again = format!("{solve} --rhs output/A/x.mtx --force");
    stays(&scratch, &again, "output/A/x.mtx", "output/A/x.mtx");

    // The comments of a user's case would be lost if the resolved case replaced it.
    scratch.write("mine/case.toml", format!("name = 'mine'\n{SMALLEST}"));
    let mine = format!("mine/case.toml -o . {COARSE}");
    output::stays(&scratch, ".", || scratch.run(&mine), "./mine/case.toml", output::OTHERS);
    stays(&scratch, &(mine + " --force"), "./mine/case.toml", "mine/case.toml");
    // A case that gridgen wrote is replaced.
    scratch.run_coarse("").succeeds();
    scratch.run("output/wing/case.toml --backend cpu --force").succeeds();
}
