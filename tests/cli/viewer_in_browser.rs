//! report.html and its viewer in a real browser: `BROWSER=chromium cargo test --test cli browser -- --ignored`, which
//! `.ci/run` does if there is one. It is driven by chromedriver; without that a test says so and ends.
//!
//! `UPDATE_DOCS=1` writes the pictures of the documents.

use std::path::Path;
use std::{env, fs};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use gridgen::grid::{Grid, Topology};
use gridgen::pde::EllipticData;
use gridgen::viewer::{SCRIPT, STYLE, Scene};
use serde_json::Value;
use tempfile::TempDir;

use super::Scratch;
use super::webdriver::Browser;

/// A picture in eight bits a channel: its width, and bytes of its pixels.
struct Pixels {
    width: usize,
    channels: usize,
    bytes: Vec<u8>,
}

impl Pixels {
    /// The picture in a `data:` address.
    fn of(address: &Value) -> Self {
        let text = address.as_str().unwrap().split_once("base64,").unwrap().1;
        let file = BASE64_STANDARD.decode(text).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut bytes).unwrap();
        let channels = info.color_type.samples();
        Self { width: info.width as usize, channels, bytes }
    }

    /// Red, green and blue.
    fn at(&self, x: usize, y: usize) -> [u8; 3] {
        let start = (y * self.width + x) * self.channels;
        self.bytes[start..start + 3].try_into().unwrap()
    }

    /// Brightness from 0 to 765.
    fn light(&self, x: usize, y: usize) -> u32 {
        self.at(x, y).iter().map(|channel| u32::from(*channel)).sum()
    }
}

/// A run whose page is shown.
fn page_of(naca: &str, arguments: &str) -> (Scratch, String) {
    let scratch = Scratch::with_case(format!("geometry.naca = '{naca}'\n"));
    scratch.run(&format!("wing.toml --backend cpu {arguments}")).succeeds();
    let page = scratch.path("output/wing/report.html");
    (scratch, format!("file://{}", page.display()))
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_shows_the_first_cell_of_1e_7_where_its_corners_are() {
    let (scratch, page) = page_of("0012", "--set grid.topology=O --set grid.first_cell=1e-7");
    let grid = gridgen::formats::mesh(&scratch.path("output/wing/mesh.vts")).unwrap().grid;
    for dark in [false, true] {
        let Some(browser) = Browser::open([1240, 1000], dark) else { return };
        browser.go(&page);

        let seen = browser.run(
            "const v = await viewer(); v.show('first cell'); v.pick(null); await drawn();\n\
             const { x, y, scale, width, height } = v.camera;\n\
             return { kind: v.kind, x, y, scale, width, height, picture: v.picture().toDataURL() };",
        );

        assert_eq!(seen["kind"], "webgl2");
        assert_eq!(browser.errors(), [""; 0]);
        let [x, y, scale, width, height] =
            ["x", "y", "scale", "width", "height"].map(|name| number(&seen[name]));
        assert!(width / scale < 2e-6, "the view is {} chords wide", width / scale);
        let picture = Pixels::of(&seen["picture"]);
        assert_eq!(picture.width, width as usize);
        let pixel =
            |[px, py]: [f64; 2]| [(px - x) * scale + 0.5 * width, 0.5 * height - (py - y) * scale];
        // The nose: the column i whose wall point is foremost. Its lines j = 1, 2 are nearly vertical there.
        let nose = (0..grid.ni).min_by(|a, b| grid.x[*a].total_cmp(&grid.x[*b])).unwrap();
        for j in [1, 2, 3] {
            let ends = [pixel(grid.point(nose, j)), pixel(grid.point(nose + 1, j))];
            // The line crosses a row of pixels a quarter of the picture above the middle.
            let row = (0.25 * height).floor();
            let t = (row + 0.5 - ends[0][1]) / (ends[1][1] - ends[0][1]);
            assert!((0.0..=1.0).contains(&t), "line {j} does not cross the row: {ends:?}");
            let expected = ends[0][0] + t * (ends[1][0] - ends[0][0]);
            let near = (expected as usize - 8)..(expected as usize + 9);
            let light = |column: &usize| picture.light(*column, row as usize);
            let line = if dark { near.max_by_key(light) } else { near.min_by_key(light) };
            let found = line.unwrap() as f64 + 0.5;
            assert!((found - expected).abs() <= 1.0, "line {j}: at {found}, expected {expected}");
        }
        // Left of the wall is the first cell, right of it the body.
        let wall = pixel(grid.point(nose, 0));
        let body = picture.at(wall[0] as usize + 30, wall[1] as usize);
        let cell = pixel(grid.point(nose, 1));
        let cell = picture.at((0.5 * (cell[0] + wall[0])) as usize, wall[1] as usize - 20);
        let [paper, fill] = if dark {
            [[0x17, 0x1c, 0x23], [0x26, 0x2c, 0x35]]
        } else {
            [[0xff, 0xff, 0xff], [0xf1, 0xee, 0xe8]]
        };
        assert_eq!((cell, body), (paper, fill));
    }
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_tells_the_numbers_of_the_report_to_pointer_and_keys() {
    let (scratch, page) = page_of("4412", "--set grid.ni=129 --set grid.nj=65");
    let report = scratch.report();
    let Some(browser) = Browser::open([1240, 1000], false) else { return };
    browser.go(&page);

    let seen = browser.run(
        "const v = await viewer(); v.goWorst('skewness'); await drawn();\n\
         const box = v.stage.getBoundingClientRect();\n\
         const at = { pointerId: 1, clientX: box.left + box.width / 2, clientY: box.top + box.height / 2, bubbles: true };\n\
         v.pick(null); v.stage.dispatchEvent(new PointerEvent('pointermove', at));\n\
         const hovered = v.details.innerText;\n\
         v.stage.focus();\n\
         const key = (key) => v.stage.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));\n\
         key('w'); key('ArrowUp'); const spoken = v.heard.textContent;\n\
         key('0'); const whole = 1 / v.camera.scale; key('+'); const nearer = 1 / v.camera.scale;\n\
         v.goal.value = '64, 7'; v.goTyped(); const gone = v.heard.textContent;\n\
         v.goal.value = '640, 7'; v.goTyped(); const refused = v.goal.validationMessage;\n\
         v.colourBy('skewness'); await drawn();\n\
         const svg = new DOMParser().parseFromString(v.svgText(), 'image/svg+xml');\n\
         const names = [...document.querySelectorAll('.gridgen-viewer :is(button, select, input)')].map((one) =>\n\
           one.ariaLabel || one.innerText || one.labels?.[0]?.innerText || '');\n\
         const shown = [...document.querySelectorAll('figure')].map((one) => one.getClientRects().length);\n\
         return { hovered, spoken, whole, nearer, gone, refused, names, shown,\n\
           paths: svg.querySelectorAll('path').length, scale: v.scale.querySelector('svg').ariaLabel };",
    );

    assert_eq!(browser.errors(), [""; 0]);
    let [i, j] = [0, 1].map(|k| report["quality"]["max_skewness_at"][k].as_u64().unwrap());
    let worst = number(&report["quality"]["max_skewness"]);
    let hovered = seen["hovered"].as_str().unwrap().replace('\n', " ");
    assert!(hovered.contains(&format!("cell i, j {i}, {j} ")), "{hovered}");
    let four = |value: f64| format!("{value:.*}", (3.0 - value.log10().floor()) as usize);
    assert!((0.01..1.0).contains(&worst), "{worst}");
    assert!(hovered.contains(&format!("skewness {} ", four(worst))), "{hovered}, {worst}");
    let next = format!("cell i, j {i}, {}, ", j + 1);
    assert!(seen["spoken"].as_str().unwrap().starts_with(&next), "{seen}");
    assert!(number(&seen["nearer"]) < number(&seen["whole"]), "{seen}");
    assert!(seen["gone"].as_str().unwrap().starts_with("cell i, j 64, 7, "), "{seen}");
    assert_eq!(seen["refused"], "two numbers, i from 0 to 127 and j from 0 to 63");
    assert!(seen["paths"].as_u64().unwrap() > 100, "{seen}");
    assert!(
        seen["scale"].as_str().unwrap().ends_with(&format!("to {} in 8192 cells", four(worst))),
        "{seen}"
    );
    let names = seen["names"].as_array().unwrap();
    assert!(names.len() > 15 && names.iter().all(|name| name != ""), "{seen}");
    // The picture of the grid is for print, the others are shown.
    assert_eq!(seen["shown"], serde_json::json!([0, 1, 1]));
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_draws_the_control_functions_along_the_wall() {
    let sections = [("0012", "O"), ("4412", "C"), ("0012", "half")];
    let Some(browser) = Browser::open([1240, 1000], false) else { return };
    for (naca, topology) in sections {
        let size = "--set grid.ni=97 --set grid.nj=49 --set quality.max_growth=5";
        let (scratch, page) = page_of(naca, &format!("{size} --set grid.topology={topology}"));
        browser.go(&page);

        let seen = browser.run(
            "const v = await viewer(); const out = {};
             for (const key of ['controlP', 'controlQ']) {
               v.wallChoice.value = key; v.wallChoice.dispatchEvent(new Event('change'));
               out[key] = gridgenGrid.alongWall(v.data, v.data.zones[0])[key];
               out[`${key} label`] = v.wallPlot.querySelector('svg').ariaLabel;
             }
             return { ...out, wall: v.data.zones[0].wall };",
        );

        assert_eq!(browser.errors(), [""; 0]);
        let grid = gridgen::formats::mesh(&scratch.path("output/wing/mesh.vts")).unwrap().grid;
        let exact = EllipticData::of_grid(&grid, 3.0);
        let first = usize::from(!exact.periodic);
        let from = seen["wall"][0].as_u64().unwrap() as usize;
        for (key, terms) in [("controlP", &exact.control_p), ("controlQ", &exact.control_q)] {
            let drawn = seen[key].as_array().unwrap();
            let largest =
                terms[..exact.mi].iter().fold(0.0, |most: f64, term| most.max(term.abs()));
            let mut compared = 0;
            for (k, value) in drawn.iter().enumerate() {
                let Some(column) = (from + k).checked_sub(first).filter(|at| *at < exact.mi) else {
                    continue;
                };
                compared += 1;
                let found = number(value);
                assert!(
                    (found - terms[column]).abs() < 1e-6 * largest,
                    "{topology} {key} {k}: {found}"
                );
            }
            assert!(compared + 2 >= drawn.len() && largest > 1e-3, "{topology} {key}: {largest}");
            let label = seen[format!("{key} label")].as_str().unwrap();
            assert!(label.starts_with("control function ") && !label.contains('–'), "{label}");
        }
    }
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_without_webgl_draws_the_same_on_a_canvas() {
    let (_scratch, page) =
        page_of("2412", "--set grid.ni=65 --set grid.nj=33 --set quality.max_growth=5");
    let Some(browser) = Browser::open([1240, 1000], false) else { return };
    browser.go(&page);

    let seen = browser.run(
        "const v = await viewer(); v.pick(null); v.colourBy('growthJ'); await drawn();\n\
         const first = v.picture().toDataURL();\n\
         const host = document.createElement('div'); v.host.after(host);\n\
         const other = new gridgenViewer.Viewer(host, v.data, { canvas: true }); v.host.remove();\n\
         other.resize(); other.camera = v.camera; other.pick(null); other.colourBy('growthJ'); await drawn();\n\
         return { kind: other.kind, first, second: other.picture().toDataURL() };",
    );

    assert_eq!(seen["kind"], "canvas");
    let [first, second] = [&seen["first"], &seen["second"]].map(Pixels::of);
    assert_eq!(first.bytes.len(), second.bytes.len());
    let far = |(a, b): (&u8, &u8)| a.abs_diff(*b) > 96;
    let different = first.bytes.iter().zip(&second.bytes).filter(|pair| far(*pair)).count();
    assert!(different < first.bytes.len() / 50, "{different} of {}", first.bytes.len());
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_exchanges_a_grid_for_the_one_before_and_hides_zones() {
    let square = |shift: f64| {
        let mut grid = Grid::new(Topology::Rectangle, 5, 5);
        for k in 0..25 {
            (grid.x[k], grid.y[k]) = (shift + (k % 5) as f64, (k / 5) as f64);
        }
        grid
    };
    let [one, two, old] = [0.0, 10.0, 100.0].map(square);
    let zones = vec![("one", &one), ("two", &two)];
    let scene = Scene { name: "two", unit: 2.0, zones, before: vec![&old, &two] };
    let folder = TempDir::new().unwrap();
    let page = folder.path().join("page.html");
    let (data, start) = (scene.element("whole", "area"), format!("<script>{SCRIPT}</script>"));
    fs::write(&page, format!("<meta charset=utf-8><style>{STYLE}</style><div>{data}</div>{start}"))
        .unwrap();
    let Some(browser) = Browser::open([1240, 1000], false) else { return };
    browser.go(&format!("file://{}", page.display()));

    let seen = browser.run(
        "const v = await viewer(); await drawn(); const x = () => v.data.zones[0].x[0];
         const area = gridgenGrid.measure(v.data, v.data.zones[0], 'area', 0, 0);
         const at = () => gridgenViewer.cellAt(v.data.zones, 11.5, 1.5);
         const out = { after: x(), measure: v.measure, area, found: at() };
         v.state.click(); out.before = x(); v.state.click(); out.again = x();
         [...v.switches.querySelectorAll('label')].find((one) => one.innerText === 'two').click();
         return { ...out, hidden: at() };",
    );

    assert_eq!(browser.errors(), [""; 0]);
    assert_eq!([&seen["after"], &seen["before"], &seen["again"]], [0, 100, 0]);
    assert_eq!((&seen["measure"], &seen["area"]), (&"area".into(), &0.25.into()));
    assert_eq!(seen["found"], serde_json::json!({ "zone": 1, "i": 1, "j": 1 }));
    assert_eq!(seen["hidden"], Value::Null);
}

/// Contrast ratio of two relative luminances (WCAG 2.1).
fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_fits_the_report_into_its_window_in_light_and_dark_and_loads_nothing() {
    let (_scratch, page) = page_of("2412", "--set grid.ni=65 --set grid.nj=33 --quiet");
    for (width, dark) in [(1200, false), (1200, true), (500, false), (500, true)] {
        let Some(browser) = Browser::open([width, 1000], dark) else { return };
        browser.go(&page);

        let seen = browser.run(
            "const root = document.documentElement;
             const light = (colour) => {
               const [r, g, b] = colour.match(/[\\d.]+/g).map((value) => {
                 const c = Number(value) / 255;
                 return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
               });
               return 0.2126 * r + 0.7152 * g + 0.0722 * b;
             };
             const [behind, style] = [root, document.body].map((one) => getComputedStyle(one));
             const clear = behind.backgroundColor === 'rgba(0, 0, 0, 0)';
             const overflow = root.scrollWidth - root.clientWidth;
             // Without the viewer all pictures are shown.
             document.querySelectorAll('.gridgen-live').forEach((one) => one.classList.remove('gridgen-live'));
             const pictures = [...document.querySelectorAll('figure svg')].map((picture) => {
               const { width, height } = picture.getBoundingClientRect();
               const marks = [...picture.querySelectorAll('path, polyline, line, rect, text')];
               return { width, height, marks: marks.filter((mark) => mark.getBoundingClientRect().width).length };
             });
             return { overflow: Math.max(overflow, root.scrollWidth - root.clientWidth),
               requests: performance.getEntriesByType('resource').length,
               background: light((clear ? style : behind).backgroundColor), text: light(style.color),
               tables: [...document.querySelectorAll('table')].filter((table) => table.offsetHeight).length,
               inner: window.innerWidth, pictures };",
        );

        let says = format!("{width} pixels, dark {dark}: {seen}");
        let of = |key: &str| number(&seen[key]);
        assert_eq!(
            (of("inner"), of("overflow"), of("requests")),
            (width.into(), 0.0, 0.0),
            "{says}"
        );
        let background = of("background");
        assert!(if dark { background < 0.05 } else { background > 0.8 }, "{says}");
        assert!(contrast(background, of("text")) > 7.0, "{says}");
        assert!(of("tables") >= 2.0, "{says}");
        let pictures = seen["pictures"].as_array().unwrap();
        assert_eq!(pictures.len(), 3, "grid, quality, convergence: {says}");
        for picture in pictures {
            let measure = |key: &str| number(&picture[key]);
            assert!(measure("width") > 0.8 * f64::from(width), "{says}");
            assert!(measure("height") > 100.0 && measure("marks") > 10.0, "{says}");
        }
    }
}

/// The pictures of the documents are made by this test.
#[test]
#[ignore = "needs a browser: see .ci/run"]
fn browser_shows_a_page_for_the_documents() {
    let case = concat!(env!("CARGO_MANIFEST_DIR"), "/cases/naca4412.toml");
    let scratch = Scratch::with_case("");
    scratch.run(&format!("{case} --backend cpu")).succeeds();
    let page = scratch.path("output/naca4412/report.html");
    assert!(fs::metadata(&page).unwrap().len() < 2_000_000);
    let images = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
    for (dark, view, measure, name) in [
        (false, "trailing edge", "nonorthogonality", "viewer.png"),
        (true, "body", "", "viewer-dark.png"),
    ] {
        let Some(browser) = Browser::open([1240, 1010], dark) else { return };
        browser.go(&format!("file://{}", page.display()));
        let width = browser.run(&format!(
            "const v = await viewer(); v.show('{view}'); v.colourBy('{measure}');\n\
             v.host.parentElement.scrollIntoView(); await drawn(); await drawn();\n\
             return document.documentElement.scrollWidth - document.documentElement.clientWidth;"
        ));

        assert_eq!((width, browser.errors()), (0.into(), Vec::new()));
        let picture = browser.screenshot();
        assert!(picture.len() > 20_000);
        if env::var_os("UPDATE_DOCS").is_some() {
            fs::write(images.join(name), picture).unwrap();
        }
    }
}
