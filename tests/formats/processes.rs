//! Files that several processes write together, each having some lines of the grid, are those of one.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gridgen::files::joint::{self, JointFile};
use gridgen::files::sink::{Share, Sink};
use gridgen::files::{IoError, WriteFault};
use gridgen::formats::openfoam::{objections, objections_of_all};
use gridgen::formats::plot3d::{Axes, ByteOrder, Encoding, Flavour, Precision, Record};
use gridgen::formats::{Compression, FORMATS, MeshData, Reference, Settings, Sides, Span};
use gridgen::grid::quality::{measure, measure_all};
use gridgen::grid::{Grid, Lines, Slab};
use gridgen::ranks::{Job, Processes, RanksError};
use gridgen::report::{Artifacts, Figures, QUALITY_MAPS};
use gridgen::solver::history::History;
use support::grids::{half_grid, joukowski_grid, parabolic_grid};
use support::jobs::on_ranks;

/// Grids of the shapes there are.
fn grids() -> [Grid; 3] {
    [joukowski_grid(41, 14, 0.4), parabolic_grid(37, 13, 8), half_grid(19, 11)]
}

/// The lines of a grid that a process has, as a grid of their own.
fn part(grid: &Grid, lines: Lines) -> Grid {
    let nodes = lines.held().start * grid.ni..lines.held().end * grid.ni;
    let (x, y) = (grid.x[nodes.clone()].to_vec(), grid.y[nodes].to_vec());
    Grid { nj: lines.held().len(), x, y, ..*grid }
}

/// Does `work` with the lines of a grid that each of so many processes has, in blocks of `stride`.
fn on_slabs<R: Send>(
    size: usize,
    (grid, stride): (&Grid, usize),
    work: impl Fn(Slab<'_>) -> R + Sync,
) -> Vec<R> {
    on_ranks(size, |job| {
        let job = job.unwrap();
        let lines = Lines::of(grid.nj, [job.rank(), size], stride);
        let part = part(grid, lines);
        let done = work(Slab::new(&part, lines, Processes::of(Some(&job))));
        job.end(0);
        done
    })
}

/// Choices within formats, and spans.
fn choices() -> [(Settings, Option<Span>); 4] {
    let span = |cells, sides| Some(Span { length: 0.7, cells, sides });
    let flavour = Flavour::default();
    // What a writer without a case would ask of the whole grid.
    let reference = Some(Reference { length: 1.0, centre: [0.25, 0.0] });
    let with = |compression, plot3d| Settings { compression, plot3d, curved_order: 1, reference };
    let records = Flavour { encoding: Encoding::Fortran, blanking: true, ..flavour };
    let stream = Flavour {
        encoding: Encoding::Stream,
        precision: Precision::Single,
        byte_order: ByteOrder::Big,
        axes: Axes::Fun3d,
        ..flavour
    };
    let text = Flavour { axes: Axes::Fun3d, blanking: true, ..flavour };
    [
        (with(Compression::None, flavour), None),
        (with(Compression::Zlib, records), span(2, Sides::Symmetry)),
        (with(Compression::None, stream), span(3, Sides::Periodic)),
        (with(Compression::Zlib, text), None),
    ]
}

/// All files of all formats.
fn write_all(folder: &Path, grid: Slab<'_>) -> Result<(), IoError> {
    for (k, (settings, span)) in choices().into_iter().enumerate() {
        let mesh = MeshData { grid, span, settings, weldable: true };
        for file in FORMATS.iter().flat_map(|format| format.files) {
            let path = folder.join(format!("{k}-{}", file.name(true)));
            file.write(&path, &mesh)?;
        }
    }
    Ok(())
}

/// Paths below a folder and what they hold.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).unwrap().to_path_buf();
                found.push((name, fs::read(entry.path()).unwrap()));
            }
        }
    }
    found.sort();
    found
}

fn assert_same(found: &Path, expected: &Path, what: &str) {
    let (found, expected) = (contents(found), contents(expected));
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&found), names(&expected), "{what}");
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        assert!(found == expected, "{what}: {}", name.display());
    }
}

#[test]
fn every_file_of_several_processes_is_that_of_one() {
    let folder = tempfile::tempdir().unwrap();
    // With fewer lines than processes, too, and in blocks of a family.
    let all: [&[(usize, usize)]; 3] = [&[(2, 1), (15, 1)], &[(3, 4)], &[(2, 1)]];
    for (k, (grid, all)) in grids().iter().zip(all).enumerate() {
        let alone = folder.path().join(format!("alone{k}"));
        fs::create_dir(&alone).unwrap();
        write_all(&alone, grid.into()).unwrap();
        for &(size, stride) in all {
            let together = folder.path().join(format!("{size}{k}"));
            fs::create_dir(&together).unwrap();

            let written = on_slabs(size, (grid, stride), |slab| {
                // The path is that of the first alone.
                let own = if slab.processes().is_first() { &*together } else { Path::new("") };
                write_all(own, slab)
            });

            assert!(written.iter().all(Result::is_ok), "{written:?}");
            assert_same(&together, &alone, &format!("grid {k}, {size} processes"));
        }
    }
}

/// A folder whose name other processes cannot be told, as if they did not see it.
#[cfg(target_os = "linux")]
fn unseen(folder: &Path) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    folder.join(OsString::from_vec(b"unseen \xff".to_vec()))
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_others_do_not_see_is_written_through_the_first() {
    let folder = tempfile::tempdir().unwrap();
    let (alone, together) = (folder.path().join("alone"), unseen(folder.path()));
    fs::create_dir(&alone).unwrap();
    fs::create_dir(&together).unwrap();
    let grid = parabolic_grid(37, 13, 8);
    write_all(&alone, (&grid).into()).unwrap();

    let written = on_slabs(3, (&grid, 1), |slab| write_all(&together, slab));

    assert!(written.iter().all(Result::is_ok), "{written:?}");
    assert_same(&together, &alone, "through the first");
}

#[test]
fn shares_of_a_fortran_record_stand_between_its_marks() {
    let folder = tempfile::tempdir().unwrap();
    let bytes: Vec<u8> = (0..=255).collect();
    // Twice 256 bytes and 8 of all, in subrecords that end within shares, between them, and with the record.
    for limit in [7, 64, 128, 520, 1000] {
        let write = |out: &mut dyn Sink, [rank, size]: [usize; 2]| {
            let mut record = Record::new(out, Some(ByteOrder::Little), 520, limit);
            let first = |rank: usize| 256 * rank / size / 64 * 64;
            let place = Share { before: first(rank) as u64, all: 256 };
            for share in 0..2 {
                record.write_all(&[share; 4])?;
                record.share(Some(place), &mut |out| {
                    out.write_all(&bytes[first(rank)..first(rank + 1)])
                })?;
            }
            out.write_all(b"what follows")
        };
        let mut expected = Vec::new();
        write(&mut expected, [0, 1]).unwrap();
        let path = folder.path().join(limit.to_string());

        on_ranks(3, |job| {
            let job = job.unwrap();
            let place = [job.rank(), 3];
            joint::write(&path, Processes::of(Some(&job)), |out| write(out, place)).unwrap();
            job.end(0);
        });

        assert!(fs::read(path).unwrap() == expected, "subrecords of {limit} bytes");
    }
}

/// Three shares of bytes; that of rank 1 fails where it is told to.
fn shares(out: &mut JointFile<'_>, rank: usize, fails: bool) -> io::Result<()> {
    for known in [Some(Share { before: 4 << 20 << rank, all: 60 << 20 }), None] {
        out.share(known, &mut |out| {
            if fails && rank == 1 {
                return Err(io::Error::other("broken"));
            }
            out.write_all(&vec![rank as u8; 3 << 20])
        })?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_cannot_write_is_named_by_all_and_no_file_appears() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(unseen(folder.path())).unwrap();
    for path in [folder.path().join("file"), unseen(folder.path()).join("file")] {
        for fails in [true, false] {
            let written = on_ranks(3, |job| {
                let job = job.unwrap();
                let processes = Processes::of(Some(&job));
                let written = joint::write(&path, processes, |out| shares(out, job.rank(), fails));
                job.end(0);
                written.map_err(|error| error.fault.to_string())
            });

            if fails {
                let other = Err("rank 1: broken".to_owned());
                assert_eq!(written, [other.clone(), Err("broken".to_owned()), other]);
                assert!(
                    fs::read_dir(path.parent().unwrap())
                        .unwrap()
                        .all(|entry| { entry.unwrap().file_type().unwrap().is_dir() })
                );
            } else {
                assert_eq!(written, vec![Ok(()); 3]);
                fs::remove_file(&path).unwrap();
            }
        }
    }
    // A folder that the first does not find ends all.
    let missing = folder.path().join("no/file");
    let written = on_ranks(2, |job| {
        let job = job.unwrap();
        let refused = joint::write(&missing, Processes::of(Some(&job)), |_| Ok(())).unwrap_err();
        job.end(0);
        refused.fault
    });
    assert!(matches!(written[0], WriteFault::MissingFolder(_)), "{written:?}");
    assert!(matches!(written[1], WriteFault::OtherRank { rank: 0, .. }), "{written:?}");
}

#[test]
fn a_process_that_is_gone_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let written = on_ranks(3, |job: Result<Job, _>| {
        let job = job.unwrap();
        if job.rank() == 2 {
            return None;
        }
        let written =
            joint::write(&path, Processes::of(Some(&job)), |out| shares(out, job.rank(), false));
        // Both hear of it before one of them goes, too.
        std::thread::sleep(std::time::Duration::from_millis(300));
        Some(written.unwrap_err().fault)
    });

    for fault in &written[..2] {
        let Some(WriteFault::Ranks(error)) = fault else { panic!("{fault:?}") };
        let RanksError::Ended { failure } = &**error else { panic!("{error}") };
        assert_eq!(failure.rank, 2);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn measures_of_several_processes_are_those_of_one_to_the_bit() {
    for grid in grids() {
        let (quality, found) = (measure(&grid), objections(&grid, None));
        for (size, stride) in [(2, 1), (4, 4), (17, 1)] {
            let all = on_slabs(size, (&grid, stride), |slab| {
                (measure_all(&slab).unwrap(), objections_of_all(slab, None).unwrap())
            });

            assert!(all.iter().all(|(measured, _)| *measured == quality), "{size}: {all:?}");
            assert_eq!(all[0].1, found);
            assert!(all[1..].iter().all(|(_, found)| found.is_empty()));
        }
    }
}

#[test]
fn pictures_of_several_processes_show_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut grid = joukowski_grid(41, 14, 0.4);
    // Some folded cells, in the slabs of two processes.
    for k in [grid.index(7, 3), grid.index(20, 9)] {
        (grid.x[k], grid.y[k]) = (grid.x[k + 2], grid.y[k + 2]);
    }
    let (quality, history) = (measure(&grid), History::default());
    assert!(quality.folded_cells > 3);
    let draw = |slab: Slab<'_>, name: &str| {
        let artifacts = Artifacts {
            name: "",
            grid: slab,
            quality: &quality,
            history: &history,
            tolerance: 0.0,
            good: false,
        };
        let figures = Figures::of(&artifacts, [true; 2]).unwrap();
        if slab.processes().is_first() {
            let [maps, views] = ["maps.svg", "views.png"].map(|end| format!("{name}-{end}"));
            (QUALITY_MAPS[0].write)(&folder.path().join(maps), &artifacts, &figures).unwrap();
            let pictures = &gridgen::report::PICTURES;
            (pictures[2].write)(&folder.path().join(views), &artifacts, &figures).unwrap();
        }
    };
    draw((&grid).into(), "alone");

    on_slabs(4, (&grid, 1), |slab| draw(slab, "together"));

    let read = |name: &str| fs::read(folder.path().join(name)).unwrap();
    assert!(read("together-maps.svg") == read("alone-maps.svg"));
    // Lines across slabs are drawn in parts, whose ends may be rounded otherwise.
    let pixels = |name: &str| -> Vec<u8> {
        let decoder = png::Decoder::new(io::Cursor::new(read(name)));
        let mut reader = decoder.read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut pixels).unwrap();
        pixels
    };
    let (alone, together) = (pixels("alone-views.png"), pixels("together-views.png"));
    let off = alone.iter().zip(&together).filter(|(a, b)| a.abs_diff(**b) > 64).count();
    assert!(alone.len() == together.len() && off < 200, "{off} of {}", alone.len());
}
