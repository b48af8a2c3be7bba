//! Meshes written by other programs and by gridgen in every format, and files that are truncated or not
//! meshes.
#![allow(clippy::float_cmp, reason = "what is written is read back bit for bit")]

use std::fs;
use std::path::{Path, PathBuf};

use gridgen::formats::{
    Mesh, MeshData, ReadError, ReadFault, Sides, Span, cgns, contents_from_bytes, mesh, msh, su2,
    vtk, vts,
};
use gridgen::grid::Topology;
use support::grids::joukowski_grid;
use support::names_in;

use super::blocks::tecplot_of;
use super::{grids, text_of, written};

/// A grid of 9 × 4 points around a square, written by VTK 9.6, PyVista 0.49 and h5py 3.16 in the forms given
/// by the file names.
fn files(end: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/meshes");
    let paths = names_in(&folder).into_iter().map(|name| folder.join(name));
    paths.filter(|path| path.extension().is_some_and(|found| found == end)).collect()
}

/// The coordinates of that grid, which are exact in single precision.
fn square() -> [Vec<f64>; 2] {
    let x = [1.0, 1.0, 0.0, -1.0, -1.0, -1.0, 0.0, 1.0, 1.0];
    let y = [0.0, -1.0, -1.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0];
    [x, y].map(|of| [1.0, 2.0, 4.0, 8.0].iter().flat_map(|r| of.map(|c| c * r)).collect())
}

/// Reads a file of this name.
fn named(name: &str, bytes: &[u8]) -> Result<Mesh, ReadError> {
    contents_from_bytes(Path::new(name), bytes, None)?.mesh(Path::new(name))
}

fn read(bytes: &[u8]) -> Result<Mesh, ReadError> {
    named("mesh", bytes)
}

#[test]
fn files_of_vtk_pyvista_and_h5py_give_the_same_grid() {
    let counts = ["vts", "vtk", "cgns"].map(|end| {
        for path in files(end) {
            let found = mesh(&path).unwrap_or_else(|error| panic!("{error}"));

            assert_eq!([found.grid.x, found.grid.y], square(), "{}", path.display());
            assert!(matches!(found.grid.topology, Topology::O(_)), "{}", path.display());
        }
        files(end).len()
    });
    assert_eq!(counts, [13, 2, 3]);
}

#[test]
fn cgns_msh_and_tecplot_come_back_bit_for_bit() {
    let kind = |topology: Topology| std::mem::discriminant(&topology);
    let span = Span { length: 0.7, cells: 3, sides: Sides::Periodic };
    for grid in grids() {
        let mut all = vec![
            written(|out| cgns::write_to(out, &MeshData::from(&grid).zones, None)),
            written(|out| cgns::write_to(out, &MeshData::from(&grid).zones, Some(span))),
            tecplot_of(&grid).into_bytes(),
        ];
        all.extend([1, 2, 4].map(|order| written(|out| msh::write_to(out, &[&grid], None, order))));
        for (k, bytes) in all.iter().enumerate() {
            let found = read(bytes).unwrap_or_else(|error| panic!("{k}: {error}"));

            assert_eq!((&found.grid.x, &found.grid.y), (&grid.x, &grid.y), "{k}");
            assert_eq!(kind(found.grid.topology), kind(grid.topology), "{k}");
        }
    }
}

/// All formats except Plot3D, whose length is checked to the last byte, with the least content that a file of
/// them needs.
fn whole() -> Vec<(String, Vec<u8>)> {
    let grid = joukowski_grid(41, 25, 0.2);
    let own = [
        ("own vts", written(|out| vts::write_to(out, &grid, None))),
        ("own compressed vts", written(|out| vts::write_compressed_to(out, &grid, None))),
        ("own vtk", written(|out| vtk::write_to(out, &grid, None))),
        ("own su2", written(|out| su2::write_to(out, &[&grid], None))),
        ("own msh", written(|out| msh::write_to(out, &[&grid], None, 2))),
    ];
    let others = ["vts", "vtk"].into_iter().flat_map(files);
    let others = others.map(|path| (path.display().to_string(), fs::read(&path).unwrap()));
    own.map(|(name, bytes)| (name.to_owned(), bytes)).into_iter().chain(others).collect()
}

/// A prefix of any length is refused, except a legacy file that only lacks sections after its points.
#[test]
fn a_file_that_was_cut_off_or_has_more_behind_its_end_is_refused() {
    for (name, bytes) in whole() {
        assert!(read(&[&bytes[..], b"\n \n"].concat()).is_ok(), "{name}, blank lines");
        for more in [&b"\x00\xfe garbage"[..], b"\ngarbage behind", &[b"\n", &bytes[..]].concat()] {
            assert!(read(&[&bytes[..], more].concat()).is_err(), "{name}");
        }
        assert!(read(&bytes).is_ok(), "{name}");
        let last = bytes.trim_ascii_end().len();
        // The last character of a word in a text file may be missing unnoticed.
        let last =
            if name.contains("ascii.vtk") || name.contains("su2") { last - 30 } else { last };
        for left in (1..40).map(|k| last * k / 40).chain(last - 9..last) {
            // A legacy file has no end mark, so it may end before any of its sections.
            let behind = bytes[left..].trim_ascii_start();
            if ["CELL_DATA", "POINT_DATA", "SCALARS", "VECTORS"]
                .iter()
                .any(|key| behind.starts_with(key.as_bytes()))
            {
                continue;
            }
            let error = read(&bytes[..left]);

            assert!(error.is_err(), "{name}: {left} of {} bytes", bytes.len());
        }
    }
}

#[test]
fn a_cut_file_says_where_it_ends_and_unknown_keys_of_su2_are_passed_over() {
    let grid = joukowski_grid(41, 25, 0.2);
    let raw = written(|out| vts::write_to(out, &grid, None));
    let legacy = written(|out| vtk::write_to(out, &grid, None));
    let text = written(|out| su2::write_to(out, &[&grid], None));
    let marker = text.windows(20).position(|w| w == b"MARKER_TAG= farfield").unwrap();

    for (bytes, left, expected) in [
        (&raw, raw.len() - 10_000, "more of the array `skewness` was expected"),
        (&raw, raw.len() - 20, "</AppendedData> was expected"),
        (&raw, 200, "</VTKFile> was expected"),
        (&legacy, legacy.len() - 10_000, "more of the values of `skewness` was expected"),
        (&text, text.len() - 100, "lines of MARKER_ELEMS was expected"),
        (&text, marker, "more than 1 of 2 markers was expected"),
    ] {
        let error = read(&bytes[..left]).unwrap_err();

        assert!(matches!(error.fault, ReadFault::Broken { cut: true, .. }), "{error:?}");
        let (said, place) =
            (error.to_string(), format!("byte {left}: the end of the file is here"));
        assert!(said.contains(&place) && said.contains(expected), "{said}");
        assert!(error.hint().unwrap().contains("not whole"), "{:?}", error.hint());
    }
    // Keys of SU2 without meaning for the grid may have lines of their own.
    let more = b"FFD_NBOX= 1\nFFD_CORNER_POINTS= 2\n0 0 0\n1 1 1\n% the end\n";
    assert_eq!(read(&[&text, &more[..]].concat()).unwrap().grid.x, grid.x);
}

#[test]
fn what_is_no_mesh_that_is_read_is_called_by_its_name_whatever_the_end_of_its_name() {
    let mut triangles = vec![b' '; 84 + 50];
    triangles[80..84].copy_from_slice(&1_u32.to_le_bytes());
    let blocks = "2\n2 2 3 2\n0 1 0 1 0 0 1 1  2 3 4 2 3 4 0 0 0 1 1 1\n";
    let packed = b"<VTKFile type=\"StructuredGrid\" compressor=\"vtkNewDataCompressor\"><Piece Extent=\"0 1 0 1 0 0\">\
                   <Points><DataArray type=\"Float64\" format=\"binary\">AAAA</DataArray></Points></Piece></VTKFile>";
    let foreign: [(&[u8], &str, &str); 20] = [
        (b"#!TDV112....", "a binary Tecplot file", "Plot3D"),
        (b"TITLE = \"grid\"\nVARIABLES = \"X\"", "a Tecplot file without a zone", "ordered zones"),
        (b"variables = x y\n", "a Tecplot file without a zone", "ordered zones"),
        (b"FoamFile\n{\n", "a file of OpenFOAM", "folder of the case"),
        (b"@(#)ADF Database Version B02012>", "CGNS in ADF", "adf2hdf"),
        (b"\x1f\x8b\x08\0\0\0\0\0", "packed by gzip", "unpack"),
        (b"PK\x03\x04", "a zip archive", "unpack"),
        (b"solid wing\nfacet normal 0 0 1", "STL", "structured"),
        (&triangles, "STL", "structured"),
        (b"\x93NUMPY\x01\0", "an array of numpy", "gridgen.Mesh"),
        (b"(0 \"GAMBIT to Fluent File\")", "a Fluent mesh", "Plot3D"),
        (b"<!DOCTYPE html><html>", "XML or HTML", "Plot3D"),
        (
            b"<VTKFile type=\"UnstructuredGrid\"></VTKFile>",
            "type UnstructuredGrid",
            "structured grid",
        ),
        (b"<VTKFile type=\"PolyData\"></VTKFile>", "type PolyData", "structured grid"),
        (
            packed,
            "compressed by vtkNewDataCompressor; zlib, LZ4, LZMA or none were expected",
            "structured grid",
        ),
        (b"# vtk DataFile Version 3.0\na\nASCII\nDATASET POLYDATA\n", "another kind", "legacy"),
        (b"\x89HDF\r\n\x1a\n garbage", "HDF5", "CGNS"),
        (b"$MeshFormat\n4.1 1 8\n", "4.1 in text was expected", "one block"),
        (blocks.as_bytes(), "a mesh of 2 zones, the first of 2 × 2 nodes", "file of its own"),
        (b"GGREFRNC", "a reference of gridgen", "gridgen move"),
    ];
    for (bytes, name, remedy) in foreign {
        // Only the name and the length identify Plot3D.
        let plot3d = name.contains("2 zones");
        let ends = ["mesh", "a.p3d", "a.vts", "a.cgns", "a.msh"];
        for end in ends.into_iter().take(if plot3d { 2 } else { 5 }) {
            let error = named(end, bytes).unwrap_err();

            assert!(error.to_string().contains(name), "{end}: {error}");
            assert!(error.hint().unwrap().contains(remedy), "{name}: {:?}", error.hint());
        }
    }
}

/// The files of CGNS have a zone of another kind, and an incomplete array.
#[test]
fn what_is_no_plane_structured_grid_is_refused_by_name() {
    let grid = joukowski_grid(41, 25, 0.2);
    let span = Some(Span { length: 1.0, cells: 2, sides: Sides::Symmetry });
    let hexahedra = written(|out| msh::write_to(out, &[&grid], span, 1));
    let text = text_of(|out| msh::write_to(out, &[&grid], None, 1));
    let (before, cells) = text.split_once("\n2 1 3 960\n").unwrap();
    let mut rows: Vec<&str> = cells.lines().collect();
    rows[3] = rows[700];
    let doubled = format!("{before}\n2 1 3 960\n{}\n", rows.join("\n"));
    let triangles = text.replace("\n2 1 3 960\n", "\n2 1 2 960\n");
    let cgns = written(|out| cgns::write_to(out, &MeshData::from(&grid).zones, None));
    let with = |old: &[u8], new: &[u8]| {
        let mut bytes = cgns.clone();
        let at = bytes.windows(old.len()).position(|w| w == old).unwrap();
        bytes[at..at + new.len()].copy_from_slice(new);
        bytes
    };
    let [size, more] = [[41_i32, 25], [41, 24]].map(|size| size.map(i32::to_le_bytes).concat());

    for (bytes, expected) in [
        (hexahedra, "hexahedra of an extruded mesh"),
        (doubled.into_bytes(), "more than two cells have the points"),
        (triangles.into_bytes(), "elements of gmsh's type 2"),
        (with(b"Structured", b"Unstructur"), "the zone `grid` is not structured"),
        (
            with(b"Zone_t\0", b"Zone_x\0"),
            "0 CGNS zones, one or more structured zones were expected",
        ),
        (with(&size, &more), "not as many as the zone `grid` says"),
        (cgns[..cgns.len() / 2].to_vec(), "the HDF5 of the file cannot be read"),
    ] {
        let error = read(&bytes).unwrap_err().to_string();

        assert!(error.contains(expected), "{error}");
    }
}
