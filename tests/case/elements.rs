//! Cases of several elements: their resolution, and refusals.

use gridgen::case::PlacedBy;
use gridgen::overset::Placement;
use gridgen::overset::RigSide;

use super::{refusals, resolve, resolve_file, shown};

const MAIN: &str = "[[element]]\nname = \"main\"\ngeometry = { naca = \"4412\" }\n";
const FLAP: &str = "[[element]]\nname = \"flap\"\ngeometry = { naca = \"2412\" }\nchord = 0.3\n";
const RIGGING: &str = "rigging = { to = \"main\", gap = 0.02, overlap = 0.005, deflection = 25 }\n";
const AT: &str = "at = [1.02, -0.02]\n";

/// Two elements with `more` below.
fn with(more: &str) -> String {
    [MAIN, FLAP, more].concat()
}

#[test]
fn elements_have_their_own_keys_and_those_of_all() {
    let text = [
        "[grid]\nni = 129\n[quality]\nmax_skewness = 0.9\n",
        MAIN,
        "grid = { first_cell = 1e-3 }\n",
        FLAP,
        RIGGING,
        "[element.grid]\nni = 97\n[background]\nmargin = 0.2\n",
    ];

    let found = resolve_file(&text.concat(), &[]).unwrap();

    let grids: Vec<_> =
        found.elements.iter().map(|e| (e.case.grid.ni, e.case.grid.first_cell)).collect();
    assert_eq!(grids, [(129, 1e-3), (97, 1e-5)]);
    assert!(found.elements.iter().all(|element| element.case.quality.max_skewness == Some(0.9)));
    assert_eq!(found.background.unwrap().margin, 0.2);
    assert_eq!(found.elements[0].placed_by, PlacedBy::At(Placement::NONE));
    let PlacedBy::Rigged { chord, to, rigging } = &found.elements[1].placed_by else { panic!() };
    assert_eq!((*chord, *to, rigging.side, rigging.gap), (0.3, 0, RigSide::Behind, 0.02));
}

#[test]
fn overrides_are_of_all_elements_or_of_the_one_that_is_named() {
    let text = with(&[AT, "[background]\n"].concat());
    let overrides = [
        ("grid.ni", "65"),
        ("element.flap.grid.ni", "49"),
        ("element.flap.chord", "0.25"),
        ("element.flap.at", "[1.1, -0.1]"),
        ("background.spacing", "0.5"),
    ];

    let found = resolve_file(&text, &overrides).unwrap();

    assert_eq!(found.elements.iter().map(|e| e.case.grid.ni).collect::<Vec<_>>(), [65, 49]);
    assert_eq!(
        found.elements[1].placed_by,
        PlacedBy::At(Placement { chord: 0.25, angle: 0.0, at: [1.1, -0.1] })
    );
    assert_eq!(found.background.unwrap().spacing, Some(0.5));
}

/// All defaults are resolved, including those that follow from the gap.
#[test]
fn a_settled_case_makes_the_same_grids_again() {
    let text = with(&[RIGGING, "[background]\n"].concat());
    let first = resolve_file(&text, &[("grid.first_cell", "1e-3")]).unwrap().settle().unwrap();
    let written = first.case.to_toml_string().unwrap();

    let again = resolve_file(&written, &[]).unwrap();

    assert!(again.elements.iter().all(|element| element.reach.is_some()), "{written}");
    assert!(again.background.as_ref().unwrap().spacing.is_some(), "{written}");
    let again = again.settle().unwrap();
    assert_eq!(again.case.to_toml_string().unwrap(), written);
    for (a, b) in first.elements.iter().zip(&again.elements) {
        assert_eq!((a.placement, a.reach), (b.placement, b.reach));
        assert_eq!(a.problem.points, b.problem.points);
        assert_eq!(a.problem.layers, b.problem.layers);
    }
    assert_eq!(first.background, again.background);
}

#[test]
fn layers_follow_from_the_gap() {
    let cells_within = |cells: &str| {
        let text = with(&[RIGGING, "[background]\n[overset]\ngap_cells = ", cells, "\n"].concat());
        let found = resolve_file(&text, &[("grid.first_cell", "2e-4")]).unwrap().settle().unwrap();
        found
            .elements
            .iter()
            .map(|element| {
                let gap = 0.02 / element.placement.chord;
                element.problem.layers.iter().filter(|s| **s > 0.0 && **s <= gap).count()
            })
            .collect::<Vec<_>>()
    };

    let (few, many) = (cells_within("10"), cells_within("40"));

    assert!(many.iter().all(|cells| *cells >= 40), "{many:?}");
    assert!(few[0] < 40, "{few:?}");
}

#[test]
fn one_element_is_the_case_of_its_section_unless_it_ends_before_a_background() {
    let texts = |keys: &str| {
        let case = resolve(keys).unwrap();
        let settled = case.settle().unwrap().case;
        [case, settled].map(|case| case.to_toml_string().unwrap())
    };
    let before = [MAIN, "reach = 0.5\n[background]\n"].concat();
    let placed = resolve_file(&before, &[]).unwrap().settle().unwrap();

    for keys in [
        "geometry = { naca = '4412' }\ngrid = { ni = 65 }\n",
        "geometry = { naca = '4412' }\ngrid = { ni = 65, topology = 'O' }\n",
        "geometry = { naca = '4412', trailing_edge = 'blunt' }\ngrid = { topology = 'C' }\n",
        "geometry = { naca = '4412' }\n[domain]\nbox = [-3, 5, -3, 3]\n",
    ] {
        assert_eq!(texts(&["[[element]]\nname = 'main'\n", keys].concat()), texts(keys));
    }
    assert_eq!(placed.elements[0].reach, Some(0.5));
    assert!(placed.section().is_none() && placed.background.is_some());
}

#[test]
fn a_case_of_one_section_is_not_read_from_several_elements() {
    let message = shown(resolve(&with(AT)));

    let hint = "hint: use gridgen CASE.toml, gridgen run, gridgen check or make_assembly";
    assert!(message.starts_with("wing.toml:1: ") && message.contains(hint), "{message}");
}

#[test]
fn coordinates_stand_where_their_file_has_them() {
    let points: Vec<String> = (0..=40)
        .map(|k| f64::from(k) * std::f64::consts::PI / 20.0)
        .map(|t| format!("[{}, {}]", 1.5 + 0.5 * t.cos(), 0.1 + 0.1 * t.sin() * (0.5 * t).sin()))
        .collect();
    let points = points.join(", ");
    let element = format!(
        "[[element]]\nname = \"aft\"\nframe = \"file\"\ngeometry = {{ points = [{points}] }}\nreach = 0.2\n"
    );

    let placed =
        resolve_file(&[MAIN, &element, "[background]\n"].concat(), &[]).unwrap().settle().unwrap();

    let [low, high] = placed.elements[1].wall().bounds();
    assert!((low[0] - 1.0).abs() < 1e-12 && (high[0] - 2.0).abs() < 1e-12, "{low:?} {high:?}");
    assert!(low[1] > 0.0 && high[1] < 0.2, "{low:?} {high:?}");
    assert_eq!(placed.elements[1].problem.notices, [""; 0], "nothing was moved");
}

/// Notes on a section that is pitched in its file name the keys that its element has for its place.
#[test]
fn notes_on_a_pitched_section_name_the_keys_of_its_element() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/airfoils/pitched-38deg-mm.csv");
    let notes = |keys: &str| {
        let element =
            format!("[[element]]\nname = \"aft\"\ngeometry = {{ file = '{file}' }}\n{keys}\n");
        let placed =
            resolve_file(&[MAIN, &element, "[background]\n"].concat(), &[]).unwrap().settle();
        placed.unwrap().elements[1].problem.notices.join("\n")
    };

    let at = notes("chord = 0.3\nat = [1.5, -0.1]");
    let rigged = notes(&["chord = 0.3\n", RIGGING].concat());

    let remedy = "keeps that angle; angle = -38.25 lays it along x, frame = \"file\" keeps";
    assert!(at.contains(remedy), "{at}");
    assert!(rigged.contains("scaled by that length and keeps that angle."), "{rigged}");
    // The remedy.
    notes("chord = 0.3\nangle = -38.25\nat = [1.5, -0.1]");
}

#[test]
fn misspelt_keys_and_names_and_places_that_contradict_each_other_are_refused() {
    let named = |name: &str| with(AT).replace("flap", name);
    let texts = [
        with("att = [0, 1]\n"),
        with(&[AT, "[backgroud]\n"].concat()),
        with("rigging = { to = \"main\", gap = 0.02, over = 1, deflection = 2 }\n"),
        "[element]\nname = \"main\"\n".to_owned(),
        with(AT).replace("name = \"flap\"\n", ""),
        named("2 flaps"),
        named("Main"),
        named("background"),
        named("Blade"),
        named("failed"),
        with("frame = \"file\"\n").replace("chord = 0.3\n", ""),
        with(&RIGGING.replace("overlap = 0.005, ", "")),
        with(&RIGGING.replace("main", "mian")),
        with(&RIGGING.replace("main", "flap")),
        [MAIN, &RIGGING.replace("main", "flap"), FLAP, RIGGING].concat(),
        with("at = 1\n"),
        with("at = [1, 2, 3]\n"),
        with("at = [1, inf]\n"),
        with(&[AT, RIGGING].concat()),
        with(&["angle = 5\n", RIGGING].concat()),
        with(&[AT, "frame = \"file\"\n"].concat()),
        [MAIN, &FLAP.replace("naca = ", "frame = \"file\", naca = ")].concat(),
    ];
    let override_of_none = resolve_file(&with(AT), &[("element.slat.chord", "1")]);
    let refused = texts.iter().map(|text| resolve_file(text, &[])).chain([override_of_none]);

    insta::assert_snapshot!(refusals(refused), @r#"
    wing.toml:8: unknown key element.att
    hint: did you mean element.at?
    wing.toml:9: unknown section [backgroud]
    hint: did you mean [background]?
    wing.toml:8: unknown key element.rigging.over
    hint: did you mean element.rigging.overlap?
    wing.toml:1: element = a table: expected elements
    hint: write [[element]] in double brackets for each element, and its keys below it
    wing.toml:4: element.2 = a table: needs name, which is not given
    hint: add name, or leave element.2 out
    wing.toml:5: element.2 flaps.name = "2 flaps": expected at most 24 letters, digits, _ and -, a letter first
    hint: zones, patches and families of the mesh have this name
    wing.toml:5: element.Main.name = "Main": expected a name that no other element has
    hint: files of elements differ by their names
    wing.toml:5: element.background.name = "background": expected another name
    hint: patches and zones of a mesh have this one
    wing.toml:5: element.Blade.name = "Blade": expected another name
    hint: patches and zones of a mesh have this one
    wing.toml:5: element.failed.name = "failed": expected another name
    hint: patches and zones of a mesh have this one
    wing.toml:7: element.flap.frame = "file": expected a section of coordinates: geometry.file, points or section
    hint: place other sections by at, or by rigging
    wing.toml:8: element.flap.rigging = { to = "main", gap = 0.02, deflection = 25 }: needs overlap, which is not given
    hint: add overlap, or leave element.flap.rigging out
    wing.toml:8: there is no element mian
    hint: the elements are main, flap
    wing.toml:8: element.flap.rigging.to = "flap": expected another element
    hint: name the one that the gap lies between
    wing.toml:4: element.main.rigging.to = "flap": expected an element that is not rigged to this one in turn
    hint: place one of them by at
    wing.toml:8: element.flap.at = 1: expected a point [x, y]
    hint: give each point as two finite numbers, not as 1
    wing.toml:8: element.flap.at = [1, 2, 3]: expected a point [x, y]
    hint: give each point as two finite numbers, not as [1, 2, 3]
    wing.toml:8: element.flap.at = [1, inf]: expected a point [x, y]
    hint: give each point as two finite numbers, not as [1, inf]
    wing.toml:8: element.flap.at = [1.02, -0.02]: excluded by rigging, which is given too
    hint: keep either element.flap.at or rigging
    wing.toml:8: element.flap.angle = 5: excluded by rigging, which is given too
    hint: keep either element.flap.angle or rigging
    wing.toml:8: element.flap.at = [1.02, -0.02]: excluded by frame = "file", which is given too
    hint: keep either element.flap.at or frame = "file"
    wing.toml:6: element.flap.geometry.frame = "file": expected the element's own frame
    hint: write frame = "file" beside the name of the element
    --set element.slat.chord=1: there is no element slat
    hint: the elements are main, flap
    "#);
}

#[test]
fn what_is_of_one_section_is_refused_of_elements() {
    let angled = FLAP.replace("\"2412\"", "\"2412\", angle = 4");
    for (text, message) in [
        ([MAIN, &angled].concat(), "element.flap.geometry.angle"),
        (
            with("grid = { reach = 0.3 }\n"),
            "element.flap.grid.reach = 0.3: expected the element's own reach",
        ),
        (
            with("grid = { topology = \"C\" }\n"),
            "element.flap.grid.topology = \"C\": expected \"O\"",
        ),
        (
            with("grid = { topology = \"half\" }\n"),
            "element.flap.grid.topology = \"half\": expected \"O\"",
        ),
        (
            with("[output]\nformats = [\"su2\"]\n"),
            "output.formats = [\"su2\"]: expected formats for several zones; SU2: SU2 has no",
        ),
        (with("[output]\nreference = true\n"), "output.reference = true: expected false"),
        (with("[output]\nquality_maps = true\n"), "output.quality_maps = true: expected false"),
        (
            with("[element.output]\npictures = true\n"),
            "element.flap.output = a table: expected [output] at the top",
        ),
        (
            [MAIN, "reach = 0.3\n", FLAP, AT].concat(),
            "element.main.reach = 0.3: expected a [background]",
        ),
        (
            [MAIN, AT].concat(),
            "element.main.at = [1.02, -0.02]: needs [background], which is not given",
        ),
        (
            [MAIN, "[overset]\nchord = 2.0\n"].concat(),
            "overset = a table: needs [background], which is not given",
        ),
        (
            "[geometry]\nnaca = \"2412\"\n[background]\n".to_owned(),
            "background = a table: needs [[element]]",
        ),
        (
            "[geometry]\nnaca = \"2412\"\n[overset]\n".to_owned(),
            "overset = a table: needs [[element]]",
        ),
    ] {
        let shown = shown(resolve_file(&text, &[]));
        assert!(shown.contains(message) && shown.starts_with("wing.toml:"), "{shown}");
    }
}

#[test]
fn elements_that_cannot_be_settled_are_refused() {
    let background = with(&[AT, "[background]\n"].concat());
    let inside = with("at = [0.3, 0.02]\n[background]\n").replace("0.3\n", "0.05\n");
    let crossing = "the walls of main and flap cross, near (0.";
    let points = "points = [[1, 0], [0, 0.1], [0, -0.1], [1, 0]]";
    for (text, message, hint) in [
        (
            with("at = [0.9, 0.0]\n[background]\n"),
            &*format!("8: {crossing}9"),
            "move element.flap away",
        ),
        (inside, &format!("8: {crossing}"), "move element.flap away"),
        (
            with("at = [1.1, 0.0]\nreach = 0.05\n[background]\n"),
            "9: element.flap.reach = 0.05: the grid of flap would end inside the gap of 0.09998 to main, \
             expected a reach of at least 0.2000\n",
            "raise element.flap.reach to 0.2000 or more, or leave it out",
        ),
        (
            with(&RIGGING.replace("0.005", "0.9")),
            "8: element flap: the trailing edge is 0.",
            "choose a larger gap",
        ),
        (
            [&background, "spacing = 1e-4\n"].concat(),
            "10: background.spacing = 1e-4: the background would have 2",
            "choose a larger spacing, or a smaller margin",
        ),
        (background.replace("naca = \"2412\"", points), "6: element flap: ", ""),
    ] {
        let shown = shown(resolve_file(&text, &[]).unwrap().settle());
        assert!(shown.starts_with(&format!("wing.toml:{message}")), "{shown}");
        assert!(shown.contains(&format!("hint: {hint}")), "{shown}");
    }
}
