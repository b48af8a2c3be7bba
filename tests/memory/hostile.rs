//! Files that claim to be larger than they are: refused with little memory, counted by an allocator that ends
//! the test if a reader requests more than [`CAP`].
#![allow(clippy::print_stdout, reason = "what is not checked is said")]

use std::fmt::Display;
use std::io::{Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use gridgen::files::restart;
use gridgen::formats::ReadFault;
use gridgen::formats::matrix_market::{MatrixMarketFault, matrix};
use gridgen::formats::vts;
use gridgen::formats::{MeshData, contents_from_bytes, mesh, write};

use crate::allocator::{alone, peak};
use support::grids;

const CAP: usize = 256 << 20;

/// The error of a reader that refuses what it reads, with less than `most` bytes of memory.
#[track_caller]
fn refused<T, E>(most: usize, what: impl Display, read: impl FnOnce() -> Result<T, E>) -> E {
    let (read, used) = peak(read);
    assert!(used < most, "{what}: {used} bytes");
    read.err().unwrap_or_else(|| panic!("{what} was read"))
}

fn packed(parts: &[(&[u8], usize)]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    for (part, times) in parts {
        (0..*times).for_each(|_| packer.write_all(part).unwrap());
    }
    packer.finish().unwrap()
}

/// Twenty words of 2²⁸ − 1 numbers each would take 43 GB.
#[test]
fn repeat_counts_of_plot3d_stand_for_no_more_numbers_than_the_file_can_mean() {
    let _alone = alone(CAP);
    let texts = [
        format!("2 2\n{}", "268435455*0.5 ".repeat(20)),
        // The header claims the same number.
        "30000 30000\n1800000000*0".to_owned(),
        "1\n40000 40000 1\n4800000000*0".to_owned(),
        format!("2 2\n{}*1", usize::MAX),
        format!("2 2\n{}*1 {}*1", usize::MAX, usize::MAX),
    ];

    for text in texts {
        let read = || contents_from_bytes(Path::new("a.p3d"), text.as_bytes(), None);

        let error = refused(1 << 20, &text, read);

        let few = matches!(error.fault, ReadFault::Repeats { most, .. } if most < 1 << 21);
        assert!(few, "{error}");
    }
}

/// 70 kB of gzip whose header claims 1.1 billion rows would take 9 GB.
#[test]
fn rows_of_a_matrix_are_not_believed_without_entries() {
    let _alone = alone(CAP);
    let head = |rows: u64, entries: u64| {
        format!("%%MatrixMarket matrix coordinate real general\n{rows} {rows} {entries}\n")
    };
    let blank = vec![b'\n'; 1 << 16];
    let none = head(1_100_000_000, 1) + "1 1 1\n";
    let some = head(1_100_000_000, 1 << 16);
    let files = [
        none.clone().into_bytes(),
        packed(&[(none.as_bytes(), 1), (&blank, 1000)]),
        packed(&[(none.as_bytes(), 1), (&blank, 60)]),
        packed(&[(some.as_bytes(), 1), (b"1 1 1\n", 1 << 16)]),
    ];

    for (k, file) in files.into_iter().enumerate() {
        assert!(file.len() < 80_000, "{}", file.len());

        let error = refused(64 << 20, k, || matrix(Path::new("a.mtx"), &file));

        match k {
            1 => assert!(matches!(error.problem, MatrixMarketFault::Packed(_)), "{error}"),
            _ => assert!(matches!(error.problem, MatrixMarketFault::TooManyRows { .. }), "{error}"),
        }
    }
    // Right-hand sides with few entries have as many rows as their matrix.
    let text = head(2_000_000, 1) + "1999999 1 5\n";
    let read = matrix(Path::new("b.mtx"), text.as_bytes()).unwrap();
    assert_eq!((read.csr.rows(), read.csr.values), (2_000_000, vec![5.0]));
}

/// Lengths of blocks in VTK files, and sizes of arrays and chunks in HDF5 files, exceed the data. The extent of a
/// compressed file claims 24 GB. XML elements are opened 200 000 times, and none is closed.
#[test]
fn lengths_in_files_of_other_programs_are_not_believed() {
    let _alone = alone(CAP);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes");
    let changed = |(name, old, new): (&str, Vec<u8>, Vec<u8>)| {
        let mut bytes = std::fs::read(folder.join(name)).unwrap();
        let is_place = |at: &usize| bytes[*at..].starts_with(&old);
        let places: Vec<usize> = (0..bytes.len()).filter(is_place).collect();
        assert!(!places.is_empty(), "{name}");
        for at in places {
            bytes[at..at + new.len()].copy_from_slice(&new);
        }
        (bytes, 8 << 20, "")
    };
    let words = |numbers: &[u64]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
    let large = 1 << 40;
    let mut written = Cursor::new(Vec::new());
    vts::write_compressed_to(&mut written, &grids::polar_grid(9, 5, 0.1, 2.0), None).unwrap();
    let text = written.into_inner();
    let extent = |with: &str| {
        let old = b"0 8 0 4 0 0";
        let at = text.windows(old.len()).rposition(|w| w == old).unwrap();
        [&text[..at], with.as_bytes(), &text[at + old.len()..]].concat()
    };
    let elements = format!("<VTKFile type=\"StructuredGrid\">{}", "<a>".repeat(200_000));
    let lengths = [
        // The points have one block with this number of bytes, which is also the last.
        ("raw-lz4-blocks.vts", vec![4, 0, 0, 0, 0, 1, 0, 0], vec![0xff; 8]),
        ("raw-zlib-uint64.vts", words(&[1, 32768]), words(&[large, 32768])),
        // The numbers of rows and columns of the coordinates, everywhere in the file.
        ("h5py-earliest.cgns", words(&[4, 9]), words(&[large, 9])),
        ("h5py-v114-chunked.cgns", words(&[4, 9]), words(&[4, large])),
        ("h5py-v108-float32.cgns", words(&[3, 4, 9]), words(&[large, 4, 9])),
    ];
    let named = [
        (extent("0 31622 0 31622 0 0"), 1 << 20, "the extent"),
        (extent("0 2147483646 0 2147483646 0 2147483646"), 1 << 20, "the extent"),
        (elements.into_bytes(), 8 << 20, "XML"),
    ];

    for (k, (file, most, part)) in lengths.map(changed).into_iter().chain(named).enumerate() {
        let error = refused(most, k, || contents_from_bytes(Path::new("a"), &file, None));

        assert!(error.to_string().contains(part), "{k}: {error}");
    }
}

#[test]
fn lengths_in_a_restart_file_are_not_believed() {
    let _alone = alone(CAP);
    let mut body = restart::MAGIC.to_vec();
    let head = format!(
        "lengths = [{}]\n[contents]\n[contents.identity]\n[contents.history]\nsteps = []\n",
        1_u64 << 60
    );
    body.extend(restart::RECORD.version.to_le_bytes());
    body.extend((head.len() as u64).to_le_bytes());
    body.extend(head.as_bytes());
    body.extend(gridgen::internals::digest::crc(&body).to_le_bytes());

    let _ = refused(1 << 16, "the file", || restart::from_bytes(Path::new("a"), &body));
}

/// The file is truly larger than the memory; since it is sparse, it takes no disk space. It is not opened as the neutral
/// map of the `.vts` file beside it.
#[test]
fn a_file_larger_than_the_memory_is_refused_before_it_is_read() {
    let _alone = alone(CAP);
    let folder = tempfile::tempdir().unwrap();
    let [path, beside] = ["mesh.nmf", "mesh.vts"].map(|name| folder.path().join(name));
    write(&beside, &MeshData::from(&grids::polar_grid(17, 9, 0.01, 1.2))).unwrap();
    if std::fs::File::create(&path).unwrap().set_len(1 << 43).is_err() {
        println!("not checked: this file system has no sparse files of 8 TiB");
        return;
    }

    let error = refused(1 << 20, "the file", || mesh(&path));

    assert!(error.to_string().contains("of memory are needed"), "{error}");
    assert!(error.hint().unwrap().contains("a machine with more memory"));
    assert!(mesh(&beside).is_ok());
}
