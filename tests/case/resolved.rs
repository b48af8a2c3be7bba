//! Defaults, overrides and the resolved case.

use gridgen::case::{Case, Contour, Retry};
use gridgen::geometry::{Ellipse, TrailingEdge};
use gridgen::grid::Seam;
use gridgen::internals::schema::{KEYS, Key, Preset};
use gridgen::solver::krylov;
use proptest::prelude::*;

use super::{SMALLEST, refusals, resolve, resolve_set, resolve_with, settled};

/// The words of the formats that a case asks for.
fn formats(case: &Case) -> Vec<&str> {
    case.output.formats.iter().map(|format| format.name).collect()
}

#[test]
fn a_refined_case_holds_the_points_of_the_case() {
    let text = "[grid]\ntopology = 'C'\nni = 113\nnj = 33\nwake = 24\nfirst_cell = 1e-4\n\
                leading_edge_spacing = 1e-3\nbase_cells = 4\n";
    let coarse = resolve_with(text).unwrap().grid;
    let grid = resolve_with(&[text, "refine = 4\n"].concat()).unwrap().grid;

    assert_eq!((grid.ni, grid.nj, grid.wake.unwrap().cells), (449, 129, 96));
    assert_eq!((grid.leading_edge_spacing, grid.base_cells), (Some(2.5e-4), Some(16)));
    let layers = |grid: &gridgen::case::GridOptions| {
        gridgen::geometry::spacing_geometric(grid.nj, grid.first_cell, grid.far_field).unwrap()
    };
    for (j, s) in layers(&coarse).iter().enumerate() {
        let fine = layers(&grid)[4 * j];
        assert!((fine - s).abs() < 1e-12 * s.max(1e-4), "layer {j}: {fine} instead of {s}");
    }
}

#[test]
fn tall_c_grids_have_five_levels_of_multigrid() {
    let levels = |keys: &str| {
        settled(&format!("{SMALLEST}[grid]\nni = 65\nfirst_cell = 1e-4\n{keys}")).multigrid.levels
    };

    assert_eq!(levels("topology = 'C'\nnj = 2049\n"), 5);
    assert_eq!(levels("topology = 'C'\nnj = 257\nrefine = 8\n"), 5);
    assert_eq!(levels("topology = 'C'\nnj = 2047\n"), 16);
    assert_eq!(levels("topology = 'O'\nnj = 2049\n"), 16);
    assert_eq!(levels("topology = 'C'\nnj = 2049\n[multigrid]\nlevels = 7\n"), 7);
}

#[test]
fn a_case_may_be_written_in_several_ways() {
    let case = resolve("geometry.naca = '2412'\ngrid = { ni = 99, nj = 51 }\n").unwrap();
    assert_eq!((case.grid.ni, case.grid.nj), (99, 51));
    // Whole numbers are real numbers, too.
    assert_eq!(resolve_with("[grid]\nfar_field = 20\n").unwrap().grid.far_field, 20.0);
    let case = resolve_with("[output]\nformats = [\"plot3d\", \"vts\"]\n").unwrap();
    assert_eq!(formats(&case), ["plot3d", "vts"]);
    let seam =
        |word: &str| resolve_with(&format!("[grid]\nseam = \"{word}\"\n")).unwrap().grid.seam;
    let seams = ["auto", "held", "periodic"].map(seam);
    assert_eq!(seams, [None, Some(Seam::Held), Some(Seam::Periodic)]);
}

/// Words and digits need no quotes, leading zeros stay, and the last override of a key holds.
#[test]
fn overrides_replace_and_add_keys() {
    let text = [SMALLEST, "[grid]\nni = 99\n"].concat();
    let overrides = [
        ("grid.ni", "65"),
        ("newton.tolerance", "1e-8"),
        ("grid.ni", "97"),
        ("name", "first"),
        ("geometry.naca", "0012"),
        ("geometry.trailing_edge", "blunt"),
        ("linear.solver", "\"gmres\""),
        ("output.formats", "[\"vts\"]"),
    ];

    let case = resolve_set(&text, &overrides).unwrap();

    assert_eq!((case.grid.ni, case.newton.tolerance), (97, 1e-8));
    assert_eq!(case.name, "first");
    assert_eq!(case.geometry.contour, Contour::Naca("0012".into()));
    assert_eq!(case.geometry.trailing_edge, TrailingEdge::Blunt);
    assert_eq!(case.linear.krylov.method, krylov::Method::Gmres);
    assert_eq!(formats(&case), ["vts"]);
}

/// Lists may be written as people type them: a shell removes the quotes, and brackets are often omitted.
#[test]
fn the_words_of_a_list_need_neither_quotes_nor_brackets_in_overrides() {
    for text in [
        "vts,su2",
        "vts, su2",
        "[vts,su2]",
        "[vts, su2]",
        "[ vts , su2, ]",
        "[\"vts\", \"su2\"]",
        "['vts', 'su2']",
        "\"vts\", su2",
        "\"vts,su2\"",
        "cgns",
        "[cgns]",
        "\"cgns\"",
    ] {
        let case = resolve_set(SMALLEST, &[("output.formats", text)]).unwrap();

        let words: &[&str] = if text.contains("cgns") { &["cgns"] } else { &["vts", "su2"] };
        assert_eq!(formats(&case), words, "{text}");
    }
}

#[test]
fn a_list_of_wrong_words_is_refused_by_the_word() {
    let texts = ["vts,su3", "[vts vtk]", "vts,,vtk", "", "3", "{ a = 1 }"];
    let refused = texts.map(|text| resolve_set(SMALLEST, &[("output.formats", text)]));

    insta::assert_snapshot!(refusals(refused), @r#"
    --set output.formats=vts,su3: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: did you mean "su2"?
    --set output.formats=[vts vtk]: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: did you mean "vts"?
    --set output.formats=vts,,vtk: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    --set output.formats=: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    hint: name at least one of them
    --set output.formats=3: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    --set output.formats={ a = 1 }: expected a list of "vts", "vtk", "plot3d", "su2", "openfoam", "cgns", "msh"
    "#);
}

#[test]
fn an_override_drops_the_alternative_in_the_file() {
    let wall_units = [SMALLEST, "[grid]\ny_plus = 1\nreynolds = 1e6\n"].concat();
    let e387 = "geometry.file = 'cases/airfoils/e387.dat'";

    let height = resolve_set(&wall_units, &[("grid.first_cell", "1e-4")]).unwrap();
    let ellipse = resolve_set(SMALLEST, &[("geometry.ellipse.thickness", "0.5")]).unwrap();
    let body = resolve_set("geometry.wing_body = {}", &[("geometry.naca", "0012")]).unwrap();
    let file = resolve_set(e387, &[("geometry.naca", "0012")]).unwrap();

    // The set-up of a flow solver needs the Reynolds number, so it stays.
    assert_eq!((height.grid.first_cell, height.grid.reynolds), (1e-4, Some(1e6)));
    assert_eq!(ellipse.geometry.contour, Contour::Ellipse(Ellipse { thickness: 0.5 }));
    for case in [body, file] {
        assert_eq!(case.geometry.contour, Contour::Naca("0012".into()));
    }
}

/// The keys in the text of a case with their values, in order.
fn written(text: &str) -> Vec<(String, &str)> {
    let mut section = "";
    let mut pairs = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        }
        let path = |key| if section.is_empty() { key } else { format!("{section}.{key}") };
        pairs.extend(line.split_once(" = ").map(|(key, value)| (path(key.to_owned()), value)));
    }
    pairs
}

/// Defaults that are values are in `docs/case-format.md`.
#[test]
fn the_resolved_case_writes_every_default_out_in_the_order_of_the_table() {
    let text = resolve(SMALLEST).unwrap().to_toml_string().unwrap();
    let table: toml::Table = text.parse().unwrap();
    let mut others = Vec::new();

    let written = written(&text);

    for (path, value) in &written {
        let key = KEYS.iter().find(|key| key.path == path).unwrap();
        match key.default.value() {
            Some(default) => assert_eq!(table[key.section()][key.name()], default, "{path}"),
            None => others.push(format!("{path} = {value}")),
        }
    }
    insta::assert_snapshot!(others.join("\n"), @r#"
    name = "wing"
    geometry.naca = "2412"
    geometry.trailing_edge = "sharp"
    grid.first_cell = 1e-5
    output.plot3d_block_count = true
    output.report = true
    "#);
    let of_table = KEYS.iter().filter(|key| written.iter().any(|(path, _)| path == key.path));
    assert!(of_table.map(|key| key.path).eq(written.iter().map(|(path, _)| path)));
    let head = "# A case with every default written out; it makes the same grid again.\n";
    assert!(text.starts_with(head), "{text}");
}

/// True for keys that a resolved case may omit, because no text expresses their default.
fn may_be_missing(key: &Key, text: &str) -> bool {
    let has = |key: &str| text.lines().any(|line| line.starts_with(key));
    let smooth = ["[geometry.section]", "[geometry.wing_body]", "[geometry.ellipse]"];
    match key.path {
        // There are no clusters, no box, no length without a Reynolds number, and one section alone.
        "grid.wall_growth" | "grid.reference_length" => true,
        path if path.starts_with("domain.") || path.starts_with("cascade.") => true,
        "grid.wake" | "grid.wake_length" | "grid.wake_direction" => !has("topology = \"C\""),
        "grid.base_cells" => {
            !has("trailing_edge = \"blunt\"") && !has("trailing_edge = \"rounded\"")
        }
        "grid.leading_edge_spacing" | "grid.trailing_edge_spacing" => smooth.into_iter().any(has),
        _ => {
            let section = key.section();
            let nested = section.contains('.') && !has(&format!("[{section}]"));
            nested || key.default == Preset::Unset
        }
    }
}

/// The table has cases of every shape, by their geometry and their grids, with keys whose default depends on the section;
/// … stands for further digits. By hand they are 1e-3 · 256/64 on an O-grid of 64 cells, 3e-3 · 128/72 on a C-grid with 72
/// cells around the section; a flap with 1.5 times 0.0624 chords, the thickness of the NACA 0012 at 0.75; cells on a
/// base 2e-2 chords wide; a sixth of the first cell at a sharp edge, up to 1e-2; turns of 15° · 256/16384; control
/// functions smoothed over 1/128 of the cells around a body without an edge; volumes smoothed less from a first cell
/// of a quarter of the length of the wall's cells on, two chords divided by their number, and over 54 of 144 cells
/// beside a wake of 56.
const SHAPES: [(&str, &[(&str, &str)]); 12] = [
    (
        "naca = '0012'",
        &[
            ("layers = { count = 7 }\ntopology = 'C'", "[grid.layers]; count = 7; growth = 1.15"),
            (
                "topology = 'O'",
                "trailing_edge_spacing = 0.004; spread = 0.3; max_turn = 15.0; \
                 seam = \"held\"; smoothing_columns = 0.0; volume_smoothing = 0.0",
            ),
            ("[initial]\nmethod = 'normal'", "smoothing_columns = 3.9"),
            ("[initial]\nmethod = 'transfinite'", "smoothing_columns = 3.9"),
            (
                "[initial]\nmethod = 'normal'\n[control]\nsmoothing_columns = 2",
                "smoothing_columns = 2.0",
            ),
            (
                "topology = 'C'\nni = 97\nwake = 12",
                "topology = \"C\"; trailing_edge_spacing = 0.005333333333333333; spread = 0.0",
            ),
            ("first_cell = 0.03\ntopology = 'half'\nni = 33", "trailing_edge_spacing = 0.005"),
            ("first_cell = 0.08\ntopology = 'O'", "trailing_edge_spacing = 0.01"),
            (
                "ni = 97\nfar_field = 500",
                "topology = \"C\"; wake = 24; wake_length = 500.0; volume_smoothing = 0.01; smoothing_columns = 2.25",
            ),
            ("ni = 257", "volume_smoothing = 0.00888888888888…"),
            ("ni = 16385\ntopology = 'O'", "max_turn = 0.234375"),
        ],
    ),
    (
        "naca = '0012'\ntrailing_edge = 'blunt'",
        &[
            ("first_cell = 0.03", "trailing_edge_spacing = 0.004"),
            ("topology = 'auto'", "topology = \"O\"; base_cells = 8"),
        ],
    ),
    (
        "naca = '2412'\ntrailing_edge = 'rounded'\nedge_thickness = 0.1",
        &[("ni = 129", "trailing_edge = \"rounded\"; base_cells = 32; seam = \"held\"")],
    ),
    (
        "naca = '0012'\nedge_thickness = 0.01",
        &[("topology = 'C'\nni = 97", "trailing_edge = \"blunt\"; base_cells = 50; wake = 24")],
    ),
    ("naca = '0012'\nflap = {}", &[("", "hinge = 0.75; angle = 10.0; radius = 0.0936…")]),
    (
        "naca = '0012'\nflap = { hinge = 0.8, angle = -5, radius = 0.1 }",
        &[("", "hinge = 0.8; angle = -5.0; radius = 0.1")],
    ),
    ("naca = '2412'\nedge_thickness = 0.002", &[("", "trailing_edge = \"blunt\"")]),
    ("naca = '2412'\nedge_thickness = 0", &[("", "trailing_edge = \"sharp\"")]),
    (
        "naca = '0012'\ncorners = 30",
        &[("reach = 0.3\ntopology = 'auto'", "corners = 30.0; reach = 0.3; topology = \"O\"")],
    ),
    ("joukowski = {}", &[("", "")]),
    (
        "wing_body = {}",
        &[
            (
                "ni = 129",
                "seam = \"periodic\"; max_turn = 30.1703…; smoothing_columns = 1.0; volume_smoothing = 0.4",
            ),
            ("ni = 8193", "smoothing_columns = 64.0"),
            ("ni = 201\nfirst_cell = 2.5e-3", "volume_smoothing = 0.4"),
            ("ni = 201\nfirst_cell = 5e-3", "volume_smoothing = 0.2"),
            (
                "topology = 'half'\nni = 101\nfirst_cell = 5e-3",
                "volume_smoothing = 0.2; smoothing_columns = 1.5625",
            ),
            ("ni = 4097\nfirst_cell = 1e-2", "volume_smoothing = 0.05"),
        ],
    ),
    (
        "ellipse = { thickness = 0.5 }",
        &[("topology = 'half'\nni = 33", "topology = \"half\"; seam = \"periodic\"")],
    ),
];

#[test]
fn the_resolved_case_has_every_default_those_of_the_section_too() {
    for (geometry, grids) in SHAPES {
        for (grid, decided) in grids {
            let ni = if grid.contains("ni = ") { "" } else { "ni = 65\n" };

            let text = format!("[geometry]\n{geometry}\n[grid]\nnj = 33\n{ni}{grid}\n");
            let resolved = settled(&text);
            let text = resolved.to_toml_string().unwrap();

            let stands = written(&text);
            for key in KEYS {
                let there = stands.iter().any(|(path, _)| path == key.path);
                assert!(there || may_be_missing(key, &text), "{} is missing:\n{text}", key.path);
            }
            for line in decided.split_terminator("; ") {
                let found = match line.strip_suffix('…') {
                    Some(start) => text.lines().any(|found| found.starts_with(start)),
                    None => text.lines().any(|found| found == line),
                };
                assert!(found, "{line} is missing:\n{text}");
            }
            // Every default has been decided.
            let again = resolve(&text).unwrap();
            assert_eq!(again, resolved, "{geometry}, {grid}");
            assert_eq!(again.settle().unwrap().case, resolved, "{geometry}, {grid}");
        }
    }
}

#[test]
fn the_resolved_ladder_is_what_the_case_tries() {
    let ladder = |more: &str| {
        let case = resolve_with(more).unwrap();
        let again = resolve(&case.to_toml_string().unwrap()).unwrap();
        assert_eq!(again.quality, case.quality);
        (case.quality.retry, case.quality.ladder)
    };
    let all = [Retry::March, Retry::Decay, Retry::Normal, Retry::Base];

    assert_eq!(ladder(""), (true, all.to_vec()));
    let given = ladder("[control]\ndecay = 3\nsmoothing_columns = 5\n");
    assert_eq!(given, (true, vec![Retry::March, Retry::Base]));
    let chosen = ladder("[control]\ndecay = 3\n[quality]\nladder = ['decay']\n");
    assert_eq!(chosen, (true, vec![Retry::Decay]));
    let none = "[initial]\nmethod = 'hyperbolic'\ndissipation = 0.2\n[control]\ndecay = 3\nbase = 'marched'\n";
    assert_eq!(ladder(none), (false, all.to_vec()));
}

proptest! {
    #[test]
    fn the_resolved_case_gives_the_same_case(
        name in "[a-z0-9_é-][^\\p{Cc}/\\\\<>:\"|?*]{0,20}[a-z0-9_é-]",
        ni in 33_usize..2000,
        far_field in 1.0..1e6_f64,
        first_cell in 1e-12..1e-3_f64,
        tolerance in 1e-14..0.9_f64,
        base_cells in proptest::option::of(4_usize..5),
        seam in proptest::sample::select(vec!["auto", "held", "periodic"]),
        topology in proptest::sample::select(vec!["O", "auto"]),
    ) {
        let base_cells = base_cells.map_or(String::new(), |n| format!("base_cells = {n}\n"));
        let text = format!(
            "name = {}\nnewton.tolerance = {tolerance:?}\n{SMALLEST}[grid]\nni = {ni}\n{base_cells}\
             far_field = {far_field:?}\nfirst_cell = {first_cell:?}\n\
             seam = '{seam}'\ntopology = '{topology}'\n",
            toml::Value::from(name)
        );
        let case = resolve(&text).unwrap();

        let again = resolve(&case.to_toml_string().unwrap()).unwrap();

        prop_assert_eq!(again, case);
    }
}

/// Defaults of counts on the base and of the spacing of the edge suit the order of the cells; given values
/// have to.
#[test]
fn the_defaults_of_an_edge_make_curved_cells() {
    let grid = |more: &str, order: usize| {
        let size = "[grid]\nni = 97\nnj = 49\ntopology = 'O'\n";
        settled(&format!(
            "{SMALLEST}{more}{size}first_cell = 5e-3\n[output]\ncurved_order = {order}\n"
        ))
        .grid
    };
    let spacing = |order| grid("", order).trailing_edge_spacing.unwrap();
    let blunt = |order| grid("trailing_edge = 'blunt'\n", order).base_cells.unwrap();

    // A base has 8 cells by default.
    assert_eq!([1, 2, 3, 4].map(blunt), [8, 8, 12, 8]);
    assert_eq!([1, 2, 4].map(spacing), [1e-3 * 256.0 / 96.0, 5e-3, 5e-3]);
    let cut = "trailing_edge = 'blunt'\n[grid]\nbase_cells = 10\n[output]\ncurved_order = 2\n";
    let refused = resolve_with(cut).unwrap().settle().err().unwrap().to_string();
    let corner = "wing.toml:5: the wall has a corner at its point 5, inside of a side of cells of order 2, \
                  which have corners at its multiples alone";
    assert_eq!(refused, corner);
}
