//! The page of `gridgen ui` in a real browser, as `viewer_in_browser`.

use std::path::Path;
use std::{env, fs};

use serde_json::{Value, json};

use super::Scratch;
use super::ui::Ui;
use super::webdriver::Browser;

const CASE: &str = "name = 'wing'\n[geometry]\nnaca = '2412'\n[grid]\ntopology = 'O'\nni = 97\nnj = 49\nfirst_cell = 1e-4\n";

/// Functions of the page: to type into a field, and the state when all answers have come.
const PAGE: &str = "
    const ui = () => window.gridgenUi;
    const type = (key, text) => { const { control } = ui().fields.get(key); control.value = text;
      control.dispatchEvent(new Event(control.tagName === 'SELECT' ? 'change' : 'input')); };
    const rest = async () => { await wait(60); await until(() => !ui().state.flying && !ui().state.waits); };
    const first = () => gridgenGrid.alongWall(v.data, v.data.zones[0]).height[20];
    const v = await viewer(); await rest();
";

fn open(case: &str) -> Option<(Scratch, Ui, Browser)> {
    let scratch = Scratch::with_case(case);
    let ui = Ui::start(&scratch, "wing.toml");
    let browser = Browser::open([1400, 1000], false)?;
    browser.go(&ui.address);
    Some((scratch, ui, browser))
}

fn run(browser: &Browser, script: &str) -> Value {
    browser.run(&[PAGE, script].concat())
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_follows_changes_of_fields_and_text() {
    let Some((scratch, _ui, browser)) = open(CASE) else { return };

    let seen = run(
        &browser,
        "const out = { begun: first() };
         type('grid.first_cell', '2e-4'); await rest();
         Object.assign(out, { changed: first(), text: ui().state.text, box: document.getElementById('text').value });
         const section = document.getElementById('section'); section.value = '0021';
         section.dispatchEvent(new Event('change')); await rest();
         out.thick = Math.max(...v.data.zones[0].y.subarray(0, 97));
         type('grid.nj', '3'); await rest();
         const wrong = document.getElementById('field-grid.nj-wrong');
         Object.assign(out, { wrong: wrong.textContent, stale: document.getElementById('view').className });
         await wait(1100); type('grid.nj', '33'); await rest();
         Object.assign(out, { mended: wrong.textContent, nj: v.data.zones[0].nj });
         document.getElementById('undo').click(); await rest(); document.getElementById('undo').click(); await rest();
         out.undone = ui().state.text;
         const area = document.getElementById('text'); area.value = area.value.replace('97', '65');
         area.dispatchEvent(new Event('input')); await wait(400); await rest();
         Object.assign(out, { ni: v.data.zones[0].ni, field: ui().fields.get('grid.ni').control.value });
         document.getElementById('write').click();
         await until(() => !document.getElementById('report').disabled);
         return out;",
    );

    assert_eq!(browser.errors(), [""; 0]);
    let near = |name: &str, value: f64| {
        let found = seen[name].as_f64().unwrap();
        assert!((found / value - 1.0).abs() < 0.01, "{name}: {found}");
    };
    near("begun", 1e-4);
    near("changed", 2e-4);
    near("thick", 0.105);
    assert_eq!(seen["text"], CASE.replace("1e-4", "2e-4"));
    assert_eq!(seen["box"], seen["text"]);
    assert!(seen["wrong"].as_str().unwrap().contains("grid.nj"), "{seen}");
    assert!(seen["stale"].as_str().unwrap().contains("stale"), "{seen}");
    assert_eq!((&seen["mended"], &seen["nj"]), (&"".into(), &33.into()));
    assert_eq!(seen["undone"], CASE.replace("1e-4", "2e-4").replace("'2412'", "\"0021\""));
    assert_eq!((&seen["ni"], &seen["field"]), (&65.into(), &"65".into()));
    assert!(scratch.path("output/wing/mesh.vts").exists());
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_ends_fifty_quick_changes_with_the_last_and_windows_do_not_meet() {
    let Some((_scratch, ui, browser)) = open(CASE) else { return };
    let window = browser.window();

    let seen = run(
        &browser,
        "let grids = 0; const set = v.setData.bind(v); v.setData = (...all) => { grids += 1; set(...all); };
         for (let k = 1; k <= 50; k++) { type('grid.first_cell', `${k}e-5`); await wait(10); }
         await rest();
         return { height: first(), grids, text: ui().state.text };",
    );
    browser.new_window();
    browser.go(&ui.address);
    let other = run(&browser, "type('grid.ni', '65'); await rest(); return v.data.zones[0].ni;");
    browser.show_window(&window);
    let own = run(&browser, "return [v.data.zones[0].ni, first()];");

    let height = seen["height"].as_f64().unwrap();
    assert!((height / 5e-4 - 1.0).abs() < 0.01, "{seen}");
    assert!((1..=50).contains(&seen["grids"].as_u64().unwrap()), "{seen}");
    assert_eq!(seen["text"], CASE.replace("1e-4", "50e-5"));
    assert_eq!(other, 65);
    assert_eq!(own, json!([97, height]));
}

/// Keys in the numbers of WebDriver.
const UP: &str = "\u{e013}";
const LEFT: &str = "\u{e012}";
const INSERT: &str = "\u{e016}";
const DELETE: &str = "\u{e017}";

/// The middle of an element of the page, in pixels of the window.
const MIDDLE: &str = "
    const middle = (one) => { const box = one.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
";

fn point(value: &Value) -> [f64; 2] {
    serde_json::from_value(value.clone()).unwrap()
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_draws_a_section_by_its_points() {
    let Some((_scratch, _ui, browser)) = open(CASE) else { return };
    let run = |script: &str| run(&browser, &[MIDDLE, script].concat());
    let shape = "await rest(); const out = { points: ui().editor().points, text: ui().state.text,
        verdict: document.getElementById('verdict').className, wall: gridgenGrid.wallPoints(v.data.zones[0]).map(([, y]) => y) };";

    // The points that it begins with change nothing; the arrow keys move one.
    let begun = run(
        "const begun = gridgenGrid.wallPoints(v.data.zones[0]).map(([, y]) => y);
         document.getElementById('drawing').click(); await until(() => ui().editor()?.handles.length);
         const handle = ui().editor().handles[6]; handle.focus();
         return { text: ui().state.text, count: ui().editor().points.length, begun, name: handle.getAttribute('aria-valuetext'),
           points: ui().editor().points };",
    );
    assert_eq!((&begun["text"], &begun["count"]), (&CASE.into(), &25.into()));
    browser.press(&[UP; 12]);
    let raised = run(&format!(
        "{shape} out.below = middle(ui().editor().handles[18]); out.focused = ui().editor().handles.indexOf(document.activeElement); return out;"
    ));
    let top = |seen: &Value, name: &str| {
        seen[name].as_array().unwrap().iter().map(|y| y.as_f64().unwrap()).fold(0.0, f64::max)
    };
    let height = |seen: &Value, k: usize| seen["points"][k][1].as_f64().unwrap();
    let text = raised["text"].as_str().unwrap();
    assert!(text.contains("points = [[1.0, 0.0], ") && !text.contains("naca"), "{text}");
    assert!(top(&raised, "wall") > top(&begun, "begun") + 5e-3, "{raised}");
    assert!(raised["verdict"].as_str().unwrap().contains("good"), "{raised}");
    assert_eq!(raised["focused"], 6);

    // The mouse drags another, and what it does is one change.
    let from = point(&raised["below"]);
    let path: Vec<[f64; 2]> = (0..=10).map(|k| [from[0], from[1] + f64::from(k)]).collect();
    browser.drag(&path, 1);
    let dragged = run(&format!("{shape} return out;"));
    assert!(height(&dragged, 18) < height(&raised, 18) - 5e-3, "{dragged}");
    let undone = run(&format!("document.getElementById('undo').click(); {shape} return out;"));
    assert_eq!((&undone["points"], &undone["text"]), (&raised["points"], &raised["text"]));

    // A double click adds a point, Delete removes it, Insert adds one behind it.
    let ground = run(
        "const { handles } = ui().editor(); const [a, b] = [handles[3], handles[4]].map(middle);
         return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2 - 9];",
    );
    browser.drag(&[point(&ground)], 2);
    let added = run(&format!("{shape} return out;"));
    assert_eq!(added["points"].as_array().unwrap().len(), 26);
    assert!(height(&added, 4) > height(&undone, 4), "{added}");
    browser.press(&[DELETE]);
    let removed = run(&format!("{shape} return out;"));
    assert_eq!(removed["points"], undone["points"]);
    browser.press(&[INSERT]);
    let inserted = run(&format!("{shape} return out;"));
    assert_eq!(inserted["points"].as_array().unwrap().len(), 26);
    assert!(inserted["verdict"].as_str().unwrap().contains("good"), "{inserted}");

    // A sharp edge stays one point, and with all changes taken back the points are those of the section again.
    run("ui().editor().handles[0].focus(); return 0;");
    browser.press(&[UP; 3]);
    let edge = run(&format!("{shape} return out;"));
    assert!(height(&edge, 0) > 0.0 && edge["points"][0] == edge["points"][25], "{edge}");
    let back = run(&format!(
        "const undo = document.getElementById('undo');
         for (let k = 0; k < 9 && !undo.disabled; k++) {{ undo.click(); await rest(); }} await wait(300); {shape} return out;"
    ));
    assert_eq!((&back["text"], &back["points"]), (&CASE.into(), &begun["points"]));
    assert_eq!(browser.errors(), [""; 0]);
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_drags_a_flap_and_elements() {
    let case = CASE.replace("[grid]", "flap = { hinge = 0.7, angle = 10.0 }\n[grid]");
    let Some((_scratch, _ui, browser)) = open(&case) else { return };
    let run = |script: &str| run(&browser, &[MIDDLE, script].concat());
    let shape = "await rest(); const { marks } = ui().handles(); const out = { marks: marks.map(middle), text: ui().state.text,
        edge: gridgenGrid.wallPoints(v.data.zones[0])[0], scale: v.camera.scale, names: marks.map((one) => one.ariaLabel) };";

    let begun = run(&format!("v.show('body'); await drawn(); {shape} return out;"));
    let [hinge, edge] = [0, 1].map(|k| point(&begun["marks"][k]));
    // The edge goes down by 10 degrees more, about the hinge.
    let (sin, cos) = 10_f64.to_radians().sin_cos();
    let [dx, dy] = [edge[0] - hinge[0], edge[1] - hinge[1]];
    browser.drag(&[edge, [hinge[0] + cos * dx - sin * dy, hinge[1] + sin * dx + cos * dy]], 1);
    let turned = run(&format!("{shape} return out;"));
    let key = |seen: &Value, key: &str| -> f64 {
        let text = seen["text"].as_str().unwrap().split_once(&format!("{key} = ")).unwrap().1;
        text.split([',', ' ', '}', '\n']).next().unwrap().parse().unwrap()
    };
    assert!((key(&turned, "angle") - 20.0).abs() < 0.7, "{turned}");
    let moved = [0, 1].map(|k| point(&turned["marks"][1])[k] - edge[k]);
    let expected = [cos * dx - sin * dy - dx, sin * dx + cos * dy - dy];
    assert!(
        (moved[0] - expected[0]).hypot(moved[1] - expected[1]) < 6.0,
        "{moved:?}, {expected:?}"
    );
    // The hinge follows the mouse along the chord, and the arrow keys.
    let hinge = point(&turned["marks"][0]);
    let scale = turned["scale"].as_f64().unwrap();
    browser.drag(&[hinge, [hinge[0] + 0.1 * scale, hinge[1]]], 1);
    browser.press(&[LEFT]);
    let shifted = run(&format!("{shape} return out;"));
    assert!((key(&shifted, "hinge") - 0.795).abs() < 3e-3, "{shifted}");
    let undone = run(&format!("document.getElementById('undo').click(); {shape} return out;"));
    assert!((key(&undone, "hinge") - 0.7).abs() < 1e-9, "{undone}");

    // Two elements: the second is dragged, and a case without flap or elements has no handles.
    let text = "[[element]]\nname = 'wing'\ngeometry = { naca = '0012' }\n[[element]]\nname = 'tail'\nat = [0.6, -1.2]\n\
                chord = 0.5\ngeometry = { naca = '0012' }\n[grid]\nni = 65\nnj = 33\n[background]\n";
    let two = run(&format!(
        "ui().replace({}); await rest(); v.show('body'); await drawn(); {shape} return out;",
        json!(text)
    ));
    assert_eq!(two["names"].as_array().unwrap().len(), 4, "{two}");
    let (tail, scale) = (point(&two["marks"][2]), two["scale"].as_f64().unwrap());
    browser.drag(&[tail, [tail[0] + 0.1 * scale, tail[1]], [tail[0] + 0.2 * scale, tail[1]]], 1);
    let dragged = run(&format!("{shape} return out;"));
    let text = dragged["text"].as_str().unwrap();
    let at = text.split_once("'tail'\nat = ").unwrap().1.lines().next().unwrap();
    let [x, y]: [f64; 2] = serde_json::from_str(at).unwrap();
    assert!((x - 0.8).abs() < 0.01 && (y + 1.2).abs() < 0.01, "{text}");
    let plain = run(&format!("ui().replace({}); {shape} return out;", json!(CASE)));
    assert_eq!((&plain["names"], browser.errors()), (&json!([]), Vec::new()));
}

/// The picture of the documents, and the rate at which grids of 257 × 129 follow, which it prints.
#[test]
#[ignore = "needs a browser: see .ci/run"]
#[allow(clippy::print_stdout, reason = "a measurement")]
fn browser_shows_the_ui_for_the_documents() {
    let case = "name = \"wing\"\n\n[geometry]\nnaca = \"2412\"\n\n[grid]\nni = 257\nnj = 129\n";
    let Some((_scratch, _ui, browser)) = open(case) else { return };

    let rate = run(
        &browser,
        "let grids = 0; const set = v.setData.bind(v); v.setData = (...all) => { grids += 1; set(...all); };
         const begun = performance.now();
         for (let k = 0; performance.now() - begun < 5000; k++) { type('geometry.angle', `${(k % 50) / 10}`); await wait(20); }
         const seconds = (performance.now() - begun) / 1000;
         await rest(); type('geometry.angle', '4.0'); await rest();
         v.colourBy('growthJ'); v.show('body'); await drawn(); await drawn();
         return grids / seconds;",
    );

    println!("{:.1} grids of 257 x 129 a second", rate.as_f64().unwrap());
    assert_eq!(browser.errors(), [""; 0]);
    let picture = browser.screenshot();
    if env::var_os("UPDATE_DOCS").is_some() {
        let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
        fs::write(images.join("ui.png"), picture).unwrap();
    }
}
