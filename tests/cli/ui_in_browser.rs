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
