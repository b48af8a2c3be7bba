//! Matrix Market files: accepted and refused input, and round trips without loss.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use gridgen::formats::matrix_market::{
    Matrix, MatrixMarketError, MatrixMarketFault, MatrixSymmetry, matrix, read_columns,
    read_matrix, write_columns, write_matrix,
};
use gridgen::sparse::Csr;
use proptest::prelude::*;

const GENERAL: &str = "%%MatrixMarket matrix coordinate real general\n";

fn read(text: &str) -> Result<Matrix, MatrixMarketError> {
    matrix(Path::new("a.mtx"), text.as_bytes())
}

/// Entries by rows, counted from 0.
fn entries(csr: &Csr) -> Vec<(usize, usize, f64)> {
    let row = |row| csr.row(row).map(move |(column, value)| (row, column, value));
    (0..csr.rows()).flat_map(row).collect()
}

/// The message with which a text is refused.
fn refusal(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

#[test]
fn files_of_every_kind_become_sorted_rows() {
    let fortran = "\u{feff}%%MatrixMarket  matrix coordinate\treal general\r\n% said\r\n\r\n  3 3   6\r\n\r\n\
                   1 1 1.0D+03\r\n% a remark\r\n\t2 2 -1.25d-2 \r\n3 3 1.5-103\n 1 2 +4.\n2 1 .5E1\n\
                   03 01 12345678901234567890e-5\n";
    let of_fortran = [
        (0, 0, 1000.0),
        (0, 1, 4.0),
        (1, 0, 5.0),
        (1, 1, -0.0125),
        (2, 0, 1.234_567_890_123_456_7e14),
        (2, 2, 1.5e-103),
    ];
    let of_array = [(0, 0, 1.0), (0, 1, 3.0), (0, 2, 5.0), (1, 0, 2.0), (1, 2, 6.0)];
    let of_skew_array =
        [(0, 1, -1.0), (0, 2, -2.0), (1, 0, 1.0), (1, 2, -3.0), (2, 0, 2.0), (2, 1, 3.0)];
    for (kind, text, expected) in [
        (
            "coordinate real general",
            "4 4 5\n4 2 -1.5\n1 3 2\n1 1 1e-3\n4 4 7\n2 1 .5\n",
            &[(0, 0, 1e-3), (0, 2, 2.0), (1, 0, 0.5), (3, 1, -1.5), (3, 3, 7.0)][..],
        ),
        (
            "coordinate integer symmetric",
            "3 3 3\n1 1 4\n3 1 -2\n2 2 5",
            &[(0, 0, 4.0), (0, 2, -2.0), (1, 1, 5.0), (2, 0, -2.0)],
        ),
        // Arrays are stored by columns.
        ("array real general", "2 3\n1\n2\n3\n0\n5\n6\n", &of_array),
        (
            "array real symmetric",
            "2 2\n1\n2\n3\n",
            &[(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)],
        ),
        ("array real skew-symmetric", "3 3\n1\n2\n3\n", &of_skew_array),
        // A pattern is of ones.
        (
            "coordinate pattern symmetric",
            "2 2 2\n1 1\n2 1\n",
            &[(0, 0, 1.0), (0, 1, 1.0), (1, 0, 1.0)],
        ),
        ("coordinate integer general", "1 1 1\n1 1 -7\n", &[(0, 0, -7.0)]),
        ("coordinate real general", "1 1 1\n1 1 -2", &[(0, 0, -2.0)]),
    ] {
        let found = read(&format!("%%MatrixMarket matrix {kind}\n{text}")).unwrap();

        assert_eq!(entries(&found.csr), expected, "{kind}");
        assert_eq!(found.symmetry == MatrixSymmetry::Symmetric, kind.ends_with(" symmetric"));
        let columns = text.split([' ', '\n']).nth(1).unwrap();
        assert_eq!((&*found.columns.to_string(), found.duplicates), (columns, 0));
    }
    assert_eq!(entries(&read(fortran).unwrap().csr), of_fortran);
    let skew =
        read("%%matrixmarket MATRIX Coordinate Real Skew-Symmetric\n2 2 1\n2 1 3.5\n").unwrap();
    assert_eq!(entries(&skew.csr), [(0, 1, -3.5), (1, 0, 3.5)]);
    assert_eq!(skew.symmetry, MatrixSymmetry::SkewSymmetric);
    assert_eq!(read(&format!("{GENERAL}1 1 0")).unwrap().csr.row_start, [0, 0]);
    // (1e16 + 1) − 1e16 is 0 in doubles and 1e16 − 1e16 + 1 is 1, so the order of the sum matters.
    let text = format!("{GENERAL}2 2 5\n2 2 1e16\n1 1 3\n2 2 1\n2 2 -1e16\n2 1 4\n");
    let summed = read(&text).unwrap();
    assert_eq!(entries(&summed.csr), [(0, 0, 3.0), (1, 0, 4.0), (1, 1, 0.0)]);
    assert_eq!(summed.duplicates, 2);
}

#[test]
fn wrong_headers_and_counts_are_refused_with_the_expected_form() {
    let banners = [
        "",
        "1 1 1\n",
        "%MatrixMarket matrix coordinate real general\n1 1 0\n",
        "%%MatrixMarket tensor coordinate real general\n1 1 0\n",
        "%%MatrixMarket matrix list real general\n1 1 0\n",
        "%%MatrixMarket matrix coordinate rational general\n1 1 0\n",
        "%%MatrixMarket matrix coordinate complex general\n1 1 0\n",
        "%%MatrixMarket matrix coordinate real hermitian\n1 1 0\n",
        "%%MatrixMarket matrix coordinate real lower\n1 1 0\n",
        "%%MatrixMarket matrix array pattern general\n1 1\n",
        "%%MatrixMarket matrix coordinate real general twice\n1 1 0\n",
        "%%MatrixMarket matrix coordinate real general\n% nothing\n",
        "%%MatrixMarket matrix coordinate real general\n3 3\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 -1\n",
        "%%MatrixMarket matrix coordinate real general\n3 0 1\n",
        "%%MatrixMarket matrix array real general\n3 3 9\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 4 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n4294967296 3 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n4000000000 4000000000 1\n1 1 1\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 9999999999999999999\n1 1 1\n",
        "%%MatrixMarket matrix array real general\n4294967295 4294967295\n1\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 99999999999999999999\n",
        // Entries must be as many as declared, and those implied by symmetry must not be stored.
        "%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 1\n",
        "%%MatrixMarket matrix coordinate real general\n3 3 1\n1 1 1\n\n2 2 1\n3 3 1\n",
        "%%MatrixMarket matrix array real general\n2 1\n1\n2\n3\n",
        "%%MatrixMarket matrix coordinate real symmetric\n3 3 1\n1 2 5\n",
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 5\n",
        "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 1.5\n",
        "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 x\n",
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 1 1e308\n2 1 1e308\n",
    ];

    let said: Vec<String> = banners.into_iter().map(refusal).collect();

    insta::assert_snapshot!(said.join("\n"), @r"
    a.mtx:1: ``: `%%MatrixMarket matrix …` was expected
    a.mtx:1: `1 1 1`: `%%MatrixMarket matrix …` was expected
    a.mtx:1: `%MatrixMarket matrix coordinate real general`: `%%MatrixMarket matrix …` was expected
    a.mtx:1: `%%MatrixMarket tensor coordinate real general`: `%%MatrixMarket matrix …` was expected
    a.mtx:1: `%%MatrixMarket matrix list real general`: the format must be `coordinate` or `array`
    a.mtx:1: `%%MatrixMarket matrix coordinate rational general`: the kind of values must be `real`, `integer` or `pattern`
    a.mtx:1: `%%MatrixMarket matrix coordinate complex general`: complex numbers are not solved for
    a.mtx:1: `%%MatrixMarket matrix coordinate real hermitian`: complex numbers are not solved for
    a.mtx:1: `%%MatrixMarket matrix coordinate real lower`: the symmetry must be `general`, `symmetric` or `skew-symmetric`
    a.mtx:1: `%%MatrixMarket matrix array pattern general`: these words do not go together
    a.mtx:1: `%%MatrixMarket matrix coordinate real general twice`: these words do not go together
    a.mtx: ends before its line of sizes
    a.mtx:2: `3 3`: the numbers of rows, columns and entries were expected
    a.mtx:2: `3 3 -1`: the numbers of rows, columns and entries were expected
    a.mtx:2: `3 0 1`: a matrix has at least one row and one column
    a.mtx:2: `3 3 9`: the numbers of rows and columns were expected
    a.mtx:2: `3 4 1`: a symmetric matrix has as many columns as rows
    a.mtx:2: `4294967296 3 1`: at most 4294967295 rows and columns can be numbered
    a.mtx: 1 entries leave nearly all of 4000000000 rows empty
    a.mtx: ends after 1 of 9999999999999999999 entries
    a.mtx: ends after 1 of 18446744065119617025 entries
    a.mtx:2: `3 3 99999999999999999999`: the numbers of rows, columns and entries were expected
    a.mtx: ends after 2 of 4 entries
    a.mtx:5: `2 2 1`: an entry more than the 1 of the line of sizes
    a.mtx:5: `3`: an entry more than the 2 of the line of sizes
    a.mtx:3: `1 2 5`: the entry is not in the triangle that a symmetric matrix is given by
    a.mtx:3: `2 2 5`: the entry is not in the triangle that a symmetric matrix is given by
    a.mtx:3: `1 1 1.5`: the value is no integer
    a.mtx:3: `1 1 x`: the value is no number
    a.mtx: the entries of row 2, column 1 have no finite sum
    ");
}

#[test]
fn wrong_entries_are_refused_with_their_line() {
    let lines = [
        "1 1 nan\n",
        "1 1 -Infinity\n",
        "1 1 1e999\n",
        "0 1 2\n",
        "1 0 2\n",
        "4 1 2\n",
        "1 4 2\n",
        "-1 1 2\n",
        "1 99999999999999999999 2\n",
        "1.0 1 2\n",
        "1 1\n",
        "1\n",
        "1 1 2 3\n",
        "1 1 2 % here\n",
        "1 1 two\n",
        "1 1 1..2\n",
        "1 1 0x10\n",
        "1, 1, 2\n",
        "\u{fffd}\u{0}\n",
    ];

    let said: Vec<String> = lines
        .into_iter()
        .map(|line| refusal(&format!("{GENERAL}% a remark\n3 3 2\n3 3 1\n{line}")))
        .map(|said| said.replace('\0', "NUL"))
        .collect();

    insta::assert_snapshot!(said.join("\n"), @r"
    a.mtx:5: `1 1 nan`: the value is not finite
    a.mtx:5: `1 1 -Infinity`: the value is not finite
    a.mtx:5: `1 1 1e999`: the value is not finite
    a.mtx:5: `0 1 2`: the row must be 1 to 3
    a.mtx:5: `1 0 2`: the column must be 1 to 3
    a.mtx:5: `4 1 2`: the row must be 1 to 3
    a.mtx:5: `1 4 2`: the column must be 1 to 3
    a.mtx:5: `-1 1 2`: the row must be 1 to 3
    a.mtx:5: `1 99999999999999999999 2`: the column must be 1 to 3
    a.mtx:5: `1.0 1 2`: `row column value` was expected
    a.mtx:5: `1 1`: `row column value` was expected
    a.mtx:5: `1`: `row column value` was expected
    a.mtx:5: `1 1 2 3`: `row column value` was expected
    a.mtx:5: `1 1 2 % here`: `row column value` was expected
    a.mtx:5: `1 1 two`: the value is no number
    a.mtx:5: `1 1 1..2`: the value is no number
    a.mtx:5: `1 1 0x10`: the value is no number
    a.mtx:5: `1, 1, 2`: `row column value` was expected
    a.mtx:5: `�NUL`: `row column value` was expected
    ");
}

#[test]
fn errors_far_inside_a_long_file_have_their_line() {
    let n = 200_000;
    let lines = (1..=n).map(|k| format!("{k} {k} 1.5\n")).collect::<Vec<_>>().concat();
    let good = format!("{GENERAL}{n} {n} {n}\n{lines}");
    let bad = good.replace("\n150000 150000 1.5\n", "\n150000 200001 1.5\n");
    let more = format!("{GENERAL}{n} {n} {}\n{lines}", n - 3);

    assert!(read(&good).is_ok());
    insta::assert_snapshot!([bad, more].map(|text| refusal(&text)).join("\n"), @r"
    a.mtx:150002: `150000 200001 1.5`: the column must be 1 to 200000
    a.mtx:200000: `199998 199998 1.5`: an entry more than the 199997 of the line of sizes
    ");
}

#[test]
fn right_hand_sides_are_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.mtx");
    let columns = |text: &str| {
        fs::write(&path, text).unwrap();
        read_columns(&path)
    };

    let sparse = columns(&format!("{GENERAL}4 2 3\n3 1 7\n1 1 -1\n2 2 5\n")).unwrap();
    let dense = columns("%%MatrixMarket matrix array integer general\n3 1\n1\n0\n-2\n").unwrap();
    let huge = columns(&format!("{GENERAL}16000000 16000000 1\n1 1 1\n")).unwrap_err();

    assert_eq!(sparse, (4, vec![vec![-1.0, 0.0, 7.0, 0.0], vec![0.0, 5.0, 0.0, 0.0]]));
    assert_eq!(dense, (3, vec![vec![1.0, 0.0, -2.0]]));
    assert!(matches!(huge.problem, MatrixMarketFault::Memory(_)), "{huge}");
}

#[test]
fn packed_files_are_unpacked_and_broken_ones_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mtx.gz");
    let read = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        read_matrix(&path)
    };
    let packed = |text: &[u8]| {
        let mut packer = GzEncoder::new(Vec::new(), Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    };
    let whole = packed(format!("{GENERAL}2 2 1\n2 1 5\n").as_bytes());

    let cut = read(&whole[..whole.len() - 9]).unwrap_err();
    let expanded = read(&packed(&vec![b'\n'; 80 << 20])).unwrap_err();

    assert_eq!(entries(&read(&whole).unwrap().csr), [(1, 0, 5.0)]);
    assert!(matches!(cut.problem, MatrixMarketFault::Packed(_)), "{cut}");
    assert!(expanded.to_string().contains("100 times as long"), "{expanded}");
    let error = read_matrix(Path::new("no/such.mtx")).unwrap_err();
    assert!(error.to_string().starts_with("no/such.mtx: cannot be read: "), "{error}");
}

/// Matrices with empty rows, missing diagonals and extreme values.
fn matrices() -> impl Strategy<Value = Csr> {
    let value = prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        -1e3..1e3_f64,
        Just(-0.0),
        Just(5e-324),
    ];
    (1_usize..40).prop_flat_map(move |n| {
        let row = prop::collection::btree_map(0..n, value.clone(), 0..n.min(9));
        prop::collection::vec(row, n).prop_map(|rows| Csr::from_rows(rows.into_iter()))
    })
}

proptest! {
    #[test]
    fn written_matrices_are_read_back_to_the_last_bit(csr in matrices()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mtx");

        write_matrix(&path, &csr).unwrap();
        let found = read_matrix(&path).unwrap();

        let bits = |csr: &Csr| csr.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&found.csr), bits(&csr));
        prop_assert_eq!((found.csr.row_start, found.csr.columns), (csr.row_start, csr.columns));
    }

    #[test]
    fn the_order_of_lines_does_not_matter(csr in matrices(), seed in any::<u64>()) {
        let mut lines: Vec<String> = entries(&csr)
            .into_iter()
            .map(|(row, column, value)| format!("{} {} {value:e}\n", row + 1, column + 1))
            .collect();
        lines.sort_by_key(|line| {
            line.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        });
        let (n, size) = (csr.rows(), lines.len());

        let found = read(&format!("{GENERAL}{n} {n} {size}\n{}", lines.concat())).unwrap();

        prop_assert_eq!(found.csr, csr);
    }

    #[test]
    fn columns_are_read_back_to_the_last_bit(b in prop::collection::vec(-1e300..1e300_f64, 1..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("b.mtx");

        write_columns(&path, &[&b, &b]).unwrap();

        prop_assert_eq!(read_columns(&path).unwrap(), (b.len(), vec![b; 2]));
    }
}
