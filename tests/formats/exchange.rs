//! NumPy arrays, and points in files.

use gridgen::formats::{ReadFault, npy, points};

/// The output of `numpy.save` of NumPy 2 for `[[1.0, 2.0], [3.0, 4.5]]`.
fn of_numpy() -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let header = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2), }";
    bytes.extend(format!("{header:<117}\n").bytes());
    bytes.extend([1.0, 2.0, 3.0, 4.5_f64].iter().flat_map(|number| number.to_le_bytes()));
    bytes
}

#[test]
fn arrays_of_numpy_and_written_files_are_read() {
    assert_eq!(npy::parsed(&of_numpy()).unwrap(), (vec![2, 2], vec![1.0, 2.0, 3.0, 4.5]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npy");
    for shape in [&[][..], &[3], &[2, 3, 2], &[0, 2]] {
        let values: Vec<f64> = (0..shape.iter().product()).map(|k| 0.1 * k as f64).collect();
        npy::write(&path, shape, &values).unwrap();

        assert_eq!(npy::read(&path, shape).unwrap(), values);
        assert!((std::fs::read(&path).unwrap().len() - 8 * values.len()).is_multiple_of(64));
    }
    let there = vec![[0.1, -1e-300], [1.0 / 3.0, 2.0]];
    for name in ["p.npy", "p.dat"] {
        let path = folder.path().join(name);
        points::write(&path, &there).unwrap();

        assert_eq!(points::read(&path).unwrap(), there, "{name}");
    }
}

#[test]
fn other_arrays_are_refused() {
    let whole = of_numpy();
    let with = |from: &str, to: &str| {
        let at = whole.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        let mut changed = whole.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        changed
    };
    for (bytes, said) in [
        (whole[..5].to_vec(), "no array"),
        (whole[..20].to_vec(), "no array"),
        (whole[..whole.len() - 1].to_vec(), "cut off"),
        (with("<f8", "<f4"), "other numbers"),
        (with("False", "True,"), "in the order of Fortran"),
        (with("(2, 2)", "(2, 3)"), "cut off"),
        (with("(2, 2)", "(x, 3)"), "no array"),
    ] {
        let fault = npy::parsed(&bytes).unwrap_err();
        assert!(fault.to_string().contains(said), "{said}: {fault}");
    }
    let huge = with("(2, 2)", "(9e9,)");
    assert!(matches!(npy::parsed(&huge), Err(ReadFault::Layout { .. })));
}

#[test]
fn points_are_read_as_programs_write_them() {
    let read = |text: &str| points::parsed(text.as_bytes());

    let found = read("NACA 2412\n# x y\n 1.0, 2\n\n1e-3\t-4 # the edge\n").unwrap();
    assert_eq!(found, [[1.0, 2.0], [1e-3, -4.0]]);
    for (text, line) in [("1 2\n3\n", 2), ("1 2\n\n3 4 5\n", 3), ("1 x\n", 1), ("1 2\nend\n", 2)] {
        let fault = read(text).unwrap_err();
        assert!(
            matches!(fault, ReadFault::NoPoint { line: l, .. } if l == line),
            "{text}: {fault}"
        );
    }
}
