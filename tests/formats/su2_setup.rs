//! The set-up for SU2: its options and values occur in SU2's `config_template.cfg`, version 8.5.0, and every
//! marker of the mesh has one boundary condition.

use std::collections::BTreeMap;

use gridgen::formats::{ForceReference, Format, MeshData, Sides, Span, su2};
use gridgen::grid::{Grid, Topology};
use support::grids::{half_grid, joukowski_grid, polar_grid};

use super::blocks::{CHANNEL_MAP, channel};

/// A value that an option takes.
enum Takes {
    /// One of these words, which the template lists for it.
    Word(&'static [&'static str]),
    /// This many numbers, at least and at most.
    Numbers(usize, usize),
    /// Groups of markers: a group has this many names, followed by this many numbers.
    Markers(usize, usize),
    /// Words of this list within parentheses.
    Words(&'static [&'static str]),
    File,
}

use Takes::{File, Markers, Numbers, Word, Words};

/// The options that a set-up may have, by kinds of values.
const OPTIONS: [(&str, Takes); 23] = [
    (
        "MACH_NUMBER AOA SIDESLIP_ANGLE FREESTREAM_TEMPERATURE REYNOLDS_NUMBER REYNOLDS_LENGTH \
         REF_ORIGIN_MOMENT_X REF_ORIGIN_MOMENT_Y REF_ORIGIN_MOMENT_Z REF_LENGTH REF_AREA CFL_NUMBER \
         LINEAR_SOLVER_ERROR LINEAR_SOLVER_ITER ITER CONV_RESIDUAL_MINVAL",
        Numbers(1, 1),
    ),
    ("RESTART_SOL CFL_ADAPT MUSCL_FLOW MUSCL_TURB", Word(&["YES", "NO"])),
    ("MARKER_EULER MARKER_FAR MARKER_SYM MARKER_PLOTTING MARKER_MONITORING", Markers(1, 0)),
    ("SOLVER", Word(&["EULER", "NAVIER_STOKES", "RANS"])),
    ("KIND_TURB_MODEL", Word(&["NONE", "SA", "SST"])),
    ("MATH_PROBLEM", Word(&["DIRECT", "CONTINUOUS_ADJOINT", "DISCRETE_ADJOINT"])),
    ("MARKER_HEATFLUX", Markers(1, 1)),
    // A marker and its donor, with three vectors.
    ("MARKER_PERIODIC", Markers(2, 9)),
    ("NUM_METHOD_GRAD", Word(&["GREEN_GAUSS", "WEIGHTED_LEAST_SQUARES"])),
    // Factors down and up, and limits; the last two of six have defaults.
    ("CFL_ADAPT_PARAM", Numbers(4, 6)),
    ("LINEAR_SOLVER", Word(&["BCGSTAB", "FGMRES", "RESTARTED_FGMRES", "SMOOTHER"])),
    ("LINEAR_SOLVER_PREC", Word(&["ILU", "LU_SGS", "LINELET", "JACOBI"])),
    ("CONV_NUM_METHOD_FLOW", Word(&["JST", "LAX-FRIEDRICH", "ROE", "AUSM", "HLLC", "SLAU"])),
    ("SLOPE_LIMITER_FLOW", Word(&["NONE", "VENKATAKRISHNAN", "BARTH_JESPERSEN"])),
    ("CONV_NUM_METHOD_TURB", Word(&["SCALAR_UPWIND", "BOUNDED_SCALAR"])),
    ("TIME_DISCRE_FLOW", Word(&["RUNGE-KUTTA_EXPLICIT", "EULER_IMPLICIT", "EULER_EXPLICIT"])),
    ("TIME_DISCRE_TURB", Word(&["EULER_IMPLICIT", "EULER_EXPLICIT"])),
    ("CONV_FIELD", Word(&["DRAG", "LIFT", "RMS_DENSITY"])),
    ("MESH_FILENAME", File),
    ("MESH_FORMAT", Word(&["SU2", "SU2B", "CGNS"])),
    ("TABULAR_FORMAT", Word(&["TECPLOT", "CSV"])),
    ("HISTORY_OUTPUT", Words(&["ITER", "RMS_RES", "MAX_RES", "AERO_COEFF"])),
    ("OUTPUT_FILES", Words(&["RESTART", "PARAVIEW", "SURFACE_PARAVIEW", "CSV", "SURFACE_CSV"])),
];

/// The options of a set-up with their values, each once.
fn options(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let mut options = BTreeMap::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('%')) {
        let (key, value) = line.split_once("= ").unwrap_or_else(|| panic!("{line}"));
        let inner = value.strip_prefix("( ").and_then(|rest| rest.strip_suffix(" )"));
        let values = inner.unwrap_or(value).split(", ").collect();
        assert!(options.insert(key, values).is_none(), "{key} occurs twice");
    }
    options
}

fn number(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Asserts that an option is one of the template's, with a value of its kind.
fn assert_allowed(key: &str, values: &[&str]) {
    let takes = OPTIONS.iter().find(|(names, _)| names.split(' ').any(|name| name == key));
    let (_, takes) = takes.unwrap_or_else(|| panic!("{key} is not an option"));
    let is_name = |name: &&str| name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let allowed = match takes {
        Word(words) => values.len() == 1 && words.contains(&values[0]),
        Words(words) => values.iter().all(|value| words.contains(value)),
        Numbers(least, most) => {
            (*least..=*most).contains(&values.len()) && values.iter().all(|v| number(v).is_some())
        }
        Markers(names, numbers) => values.chunks(names + numbers).all(|group| {
            group.len() == names + numbers
                && group[..*names].iter().all(is_name)
                && group[*names..].iter().all(|v| number(v).is_some())
        }),
        File => ["mesh.su2", "mesh.failed.su2"].contains(&values[0]) && values.len() == 1,
    };
    assert!(allowed, "{key}= {values:?}");
}

/// Writes the set-up for a mesh.
fn set_up(mesh: &MeshData<'_>) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = &Format::named("su2").unwrap().files[1];
    let path = folder.path().join(file.name(mesh.good));
    file.write(&path, mesh).unwrap();
    std::fs::read_to_string(path).unwrap()
}

/// Names of the markers of the mesh.
fn markers(grid: &Grid, span: Option<Span>) -> Vec<String> {
    let text = super::text_of(|out| su2::write_to(out, &[grid], span));
    text.lines().filter_map(|line| line.strip_prefix("MARKER_TAG= ")).map(str::to_owned).collect()
}

#[test]
fn options_are_those_of_su2_and_each_marker_has_one_condition() {
    let c_grid = Grid { topology: Topology::C { wake: 4 }, ..polar_grid(33, 9, 0.01, 1.2) };
    let span = |sides| Some(Span { length: 0.7, cells: 2, sides });
    let channel = channel(CHANNEL_MAP).unwrap().grids.remove(0);
    for grid in [joukowski_grid(33, 9, 0.0), c_grid, half_grid(17, 9), channel] {
        for span in [None, span(Sides::Symmetry), span(Sides::Periodic)] {
            for reynolds in [None, Some(6e6)] {
                let mut mesh = MeshData { span, ..MeshData::from(&grid) };
                mesh.settings.reynolds = reynolds;
                let text = set_up(&mesh);

                let options = options(&text);

                for (key, values) in &options {
                    assert_allowed(key, values);
                }
                let bounds = ["EULER", "HEATFLUX", "FAR", "SYM", "PERIODIC"];
                let bounds = bounds.map(|kind| options.get(&*format!("MARKER_{kind}")));
                let mut bounded: Vec<_> = bounds.into_iter().flatten().flatten().copied().collect();
                bounded.retain(|value| number(value).is_none());
                bounded.sort_unstable();
                let mut expected = markers(&grid, span);
                expected.sort();
                assert!(expected.array_windows().all(|[a, b]| a != b), "{expected:?}");
                assert_eq!(bounded, expected, "{text}");
                let viscous = reynolds.is_some();
                assert_eq!(options["SOLVER"], [if viscous { "RANS" } else { "EULER" }]);
                for key in ["KIND_TURB_MODEL", "REYNOLDS_NUMBER", "MARKER_HEATFLUX", "MUSCL_TURB"] {
                    assert_eq!(options.contains_key(key), viscous, "{key}");
                }
                assert_eq!(options.contains_key("SIDESLIP_ANGLE"), span.is_some());
                assert!(options["HISTORY_OUTPUT"].contains(&"AERO_COEFF"));
                assert_eq!(options["MARKER_MONITORING"], ["airfoil"]);
            }
        }
    }
}

/// The numbers are in the unit of the mesh: coefficients refer to the chord and to the span.
#[test]
fn numbers_are_those_of_the_case_in_the_unit_of_the_mesh() {
    let grid = joukowski_grid(33, 9, 0.0);
    let span = Some(Span { length: 0.5, cells: 2, sides: Sides::Periodic });
    let mut mesh = MeshData { span, good: false, ..MeshData::from(&grid) };
    mesh.settings.reynolds = Some(4e6);
    mesh.settings.reference = Some(ForceReference { length: 2.0, centre: [0.5, 0.25] });
    let text = set_up(&mesh);

    let options = options(&text);

    let number = |key: &str| number(options[key][0]).unwrap();
    let keys = ["REYNOLDS_NUMBER", "REYNOLDS_LENGTH", "REF_LENGTH", "REF_AREA"];
    let expected = [4e6, 2.0, 2.0, 1.0];
    for (key, expected) in keys.into_iter().zip(expected) {
        assert!((number(key) - expected).abs() < 1e-12, "{key}");
    }
    let centre = ["X", "Y"].map(|axis| number(&format!("REF_ORIGIN_MOMENT_{axis}")));
    assert!((centre[0] - 0.5).abs() + (centre[1] - 0.25).abs() < 1e-12);
    assert_eq!(options["MARKER_PERIODIC"].last().unwrap(), &"0.5");
    assert_eq!(options["MESH_FILENAME"], ["mesh.failed.su2"]);
}
