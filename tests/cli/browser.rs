//! Layout of report.html in a real browser: `BROWSER=chromium cargo test --test cli browser -- --ignored`,
//! which `.ci/run` does if there is one. Chromium and its derivatives are supported.

use std::env;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::Scratch;

/// The probe that runs in the page after layout.
const PROBE: &str = r#"<script>
const root = document.documentElement;
const light = colour => {
  const [r, g, b] = colour.match(/[\d.]+/g).map(value => {
    const c = Number(value) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const style = getComputedStyle(document.body);
const pictures = [...document.querySelectorAll("figure svg")].map(picture => {
  const { width, height } = picture.getBoundingClientRect();
  const marks = [...picture.querySelectorAll("path, polyline, line, rect, text")];
  return { width, height, marks: marks.filter(mark => mark.getBoundingClientRect().width).length };
});
const probe = document.createElement("pre");
probe.id = "probe";
probe.textContent = "PROBE" + JSON.stringify({
  overflow: root.scrollWidth - root.clientWidth,
  requests: performance.getEntriesByType("resource").length,
  background: light(getComputedStyle(root).backgroundColor === "rgba(0, 0, 0, 0)"
    ? style.backgroundColor : getComputedStyle(root).backgroundColor),
  text: light(style.color),
  tables: [...document.querySelectorAll("table")].filter(table => table.offsetHeight).length,
  pictures,
}) + "END";
document.body.append(probe);
</script>"#;

/// The results of the probe in a window of this width in pixels, dark or light.
fn laid_out(page: &Path, width: u32, dark: bool) -> Value {
    let browser = env::var("BROWSER").unwrap();
    let seen = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--dump-dom"])
        .arg(format!("--window-size={width},1000"))
        .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)))
        .arg(format!("--user-data-dir={}", page.with_extension("profile").display()))
        .arg(format!("file://{}", page.display()))
        .output()
        .unwrap();
    let dom = String::from_utf8(seen.stdout).unwrap();
    let found = dom.split_once(">PROBE").and_then(|(_, rest)| rest.split_once("END"));
    serde_json::from_str(found.unwrap().0).unwrap()
}

/// Contrast ratio of two relative luminances (WCAG 2.1).
fn contrast(a: f64, b: f64) -> f64 {
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
#[ignore = "needs a browser: see .ci/run"]
fn a_report_fits_its_window_in_light_and_dark_and_loads_nothing() {
    let scratch = Scratch::with_case("geometry.naca = '2412'\ngrid = { ni = 65, nj = 33 }\n");
    scratch.run("run wing.toml --backend cpu --quiet").succeeds();
    scratch.write("probed.html", scratch.text("output/wing/report.html") + PROBE);
    let page = scratch.path("probed.html");

    for (width, dark) in [(1200, false), (1200, true), (500, false), (500, true)] {
        let seen = laid_out(&page, width, dark);

        let number = |key: &str| seen[key].as_f64().unwrap();
        let says = format!("{width} pixels, dark {dark}: {seen}");
        assert_eq!((number("overflow"), number("requests")), (0.0, 0.0), "{says}");
        let background = number("background");
        assert!(if dark { background < 0.05 } else { background > 0.8 }, "{says}");
        assert!(contrast(background, number("text")) > 7.0, "{says}");
        assert!(number("tables") >= 2.0, "{says}");
        let pictures = seen["pictures"].as_array().unwrap();
        assert_eq!(pictures.len(), 3, "grid, quality, convergence: {says}");
        for picture in pictures {
            let measure = |key: &str| picture[key].as_f64().unwrap();
            assert!(measure("width") > 0.8 * f64::from(width), "{says}");
            assert!(measure("height") > 100.0 && measure("marks") > 10.0, "{says}");
        }
    }
}
