//! `gridgen ui`: what its server answers, and what it refuses.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::Scratch;
use super::webdriver::exchange;

/// The program with its page, which ends with this.
pub(super) struct Ui {
    child: Child,
    pub(super) address: String,
    port: u16,
    token: String,
}

impl Ui {
    /// Starts the program in a folder.
    pub(super) fn start(scratch: &Scratch, arguments: &str) -> Self {
        let mut command = scratch.command(&format!("ui --no-browser --backend cpu {arguments}"));
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().to_owned();
        let parts = address.strip_prefix("http://127.0.0.1:").and_then(|rest| rest.split_once('/'));
        let (port, token) = parts.unwrap_or_else(|| panic!("{line}"));
        let (port, token) = (port.parse().unwrap(), token.trim_end_matches('/').to_owned());
        Self { child, address, port, token }
    }

    /// The status and the contents of an answer; `fields` are further lines of the head.
    fn ask(&self, line: &str, host: &str, fields: &str, body: &str) -> (u16, Vec<u8>) {
        let length = if fields.contains("Content-Length") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\n{fields}{length}\r\n{body}");
        exchange(self.port, request.as_bytes()).unwrap()
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    fn get(&self, path: &str) -> (u16, Vec<u8>) {
        self.ask(&format!("GET /{}/{path}", self.token), &self.host(), "", "")
    }

    fn post(&self, path: &str, body: &Value) -> (u16, Vec<u8>) {
        self.ask(&format!("POST /{}/{path}", self.token), &self.host(), "", &body.to_string())
    }

    /// The JSON text of a solve for a case, and the number of bytes behind it.
    fn solve(&self, text: &str, set: &Value) -> (Value, usize) {
        let body = json!({ "window": "test", "number": 1, "text": text, "set": set });
        let (status, bytes) = self.post("solve", &body);
        assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        (serde_json::from_slice(&bytes[4..4 + length]).unwrap(), bytes.len() - 4 - length)
    }
}

impl Drop for Ui {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An empty folder, and the page of a section there.
fn plain() -> (Scratch, Ui) {
    let scratch = Scratch::with(&[]);
    let ui = Ui::start(&scratch, "2412");
    (scratch, ui)
}

/// A case that is solved in an instant, with a comment.
const SMALL: &str = "# my wing\n[geometry]\nnaca = \"2412\"\n\n[grid]\ntopology = \"O\"\nni = 65 # few\nnj = 33\n\n\
                     [quality]\nmax_growth = 5.0\n";

#[test]
fn requests_of_others_are_refused() {
    let (_scratch, ui) = plain();
    let (host, token) = (ui.host(), ui.token.clone());
    assert_eq!(token.len(), 32);
    let own = format!("GET /{token}/");

    let status = |line: &str, host: &str, fields: &str| ui.ask(line, host, fields, "").0;

    assert_eq!(status(&own, &host, ""), 200);
    assert_eq!(status(&own, &host, &format!("Origin: http://{host}\r\n")), 200);
    assert_eq!(status("GET /", &host, ""), 403);
    assert_eq!(status(&format!("GET /{}/", "0".repeat(32)), &host, ""), 403);
    assert_eq!(status(&own, "gridgen.example", ""), 403);
    assert_eq!(status(&own, "localhost", ""), 403);
    assert_eq!(status(&own, &host, "Origin: http://gridgen.example\r\n"), 403);
    assert_eq!(status(&own, &host, "Origin: null\r\n"), 403);
    assert_eq!(status(&format!("GET /{token}/../../etc/passwd"), &host, ""), 404);
    assert_eq!(status(&format!("GET /{token}/..%2f..%2fetc/passwd"), &host, ""), 404);
    assert_eq!(
        status(&format!("POST /{token}/solve"), &host, "Content-Length: 1073741824\r\n"),
        413
    );
    // A page that is read loads nothing from elsewhere.
    let page = String::from_utf8(ui.get("").1).unwrap();
    let outside = ["src=", "href=\"http", "@import", "url("];
    assert_eq!(outside.into_iter().find(|part| page.contains(part)), None);
}

#[test]
fn a_change_gives_the_grid_and_the_text_with_its_comments() {
    let (scratch, ui) = plain();

    let (head, bytes) = ui.solve(SMALL, &json!([["grid.ni", "97"], ["geometry.angle", "2.5"]]));

    assert!(bytes > 97 * 33 * 16, "{head}");
    assert_eq!((&head["good"], &head["resolved"]["grid.nj"]), (&true.into(), &"33".into()));
    let text = SMALL.replace("65", "97").replace("\"2412\"\n", "\"2412\"\nangle = 2.5\n");
    assert_eq!(head["text"], text);
    for (set, there, gone) in [
        (json!([["section", "e387"], ["grid.ni", null]]), "points = [[", &["naca", "ni ="][..]),
        (json!([["grid.growth", "1.3"]]), "growth = 1.3", &["nj ="]),
        (json!([["section", "cylinder"]]), "ellipse = {}", &["naca"]),
    ] {
        let (head, _) = ui.solve(SMALL, &set);
        let text = head["text"].as_str().unwrap();
        assert!(text.contains(there) && !gone.iter().any(|key| text.contains(key)), "{text}");
    }
    // An error names its key and gives no grid.
    for (text, set, place) in [
        (SMALL, json!([["grid.nj", "\"many\""]]), "grid.nj"),
        ("[grid\n", json!([]), "case.toml:1"),
    ] {
        let (head, bytes) = ui.solve(text, &set);
        assert!(head["error"]["message"].as_str().unwrap().contains(place), "{head}");
        assert_eq!(bytes, 0);
    }
    assert_eq!(scratch.names("."), [""; 0], "nothing is written");
}

#[test]
fn a_key_of_an_element_is_changed_by_its_number() {
    let (_scratch, ui) = plain();
    let element = |name: &str, at: &str| {
        format!("[[element]]\nname = \"{name}\"\ngeometry = {{ naca = \"0012\" }}\n{at}\n")
    };
    let text = |at: &str| {
        let own = element("tail", "at = [0.6, -1.2] # below\nchord = 0.5");
        [element("wing", at), own, "[grid]\nni = 65\nnj = 33\n[background]\n".into()].concat()
    };

    let (head, _) = ui.solve(&text(""), &json!([["element.1.at", "[0.7, -1.5]"]]));

    let changed = text("").replace("[0.6, -1.2]", "[0.7, -1.5]");
    assert_eq!((&head["text"], &head["error"]), (&changed.into(), &Value::Null), "{head}");
    assert_eq!(head["given"]["element.1.at"], "[0.7, -1.5]");
    assert_eq!(head["resolved"]["element.0.at"], "[0.0, 0.0]", "{head}");
    let (head, _) = ui.solve(&text(""), &json!([["element.2.at", "[0.7, -1.5]"]]));
    assert_eq!(head["text"], text(""));
    // The elements may be a list.
    let listed =
        "grid = { ni = 65, nj = 33 }\nelement = [{ name = \"wing\", geometry.naca = \"0012\" }]\n";
    let (head, _) = ui.solve(listed, &json!([["element.0.geometry.angle", "2.5"]]));
    assert_eq!(head["given"]["element.0.geometry.angle"], "2.5", "{head}");
}

#[test]
fn the_points_to_draw_on_from_are_those_without_the_flap() {
    let (_scratch, ui) = plain();
    let outline = |text: &str| -> Value {
        serde_json::from_slice(&ui.post("outline", &json!({ "text": text })).1).unwrap()
    };

    let plain = outline(SMALL);

    let points: Vec<[f64; 2]> = serde_json::from_value(plain["points"].clone()).unwrap();
    assert!(points.len() > 100, "{}", points.len());
    assert_eq!(plain["points"][0], json!([1.0, 0.0]));
    assert_eq!(outline(&format!("{SMALL}[geometry.flap]\nangle = 20.0\n")), plain);
    let refused = [("naca = \"2412\"", "ellipse = {}", "is not drawn"), ("ni", "ny", "grid.ny")];
    for (from, to, says) in refused {
        let answer = outline(&SMALL.replace(from, to));
        assert!(answer["error"]["message"].as_str().unwrap().contains(says), "{answer}");
    }
}

#[test]
fn files_are_read_only_where_the_case_or_the_page_has_put_them() {
    let section = include_bytes!("../../cases/airfoils/e387.dat");
    let case = SMALL.replace("naca = \"2412\"", "file = \"own.dat\"");
    let scratch =
        Scratch::with(&[("own.dat", section), ("other.dat", section), ("wing.toml", &case)]);
    let ui = Ui::start(&scratch, "wing.toml --output out");

    let (head, bytes) = ui.solve(&case, &json!([]));
    assert!(bytes > 0, "{head}");
    for file in ["other.dat", "/etc/passwd", "out/../other.dat"] {
        let (head, bytes) = ui.solve(&case.replace("own.dat", file), &json!([]));
        let message = head["error"]["message"].as_str().unwrap();
        assert!(message.contains("reads no files by path"), "{head}");
        assert_eq!(bytes, 0);
    }
    let piece = "[[domain.piece]]\nname = \"floor\"\nkind = \"slip\"\nfile = \"other.dat\"\n";
    let (head, _) = ui.solve(&[&case, piece].concat(), &json!([]));
    let message = head["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("domain.piece.0.file = \"other.dat\""), "{head}");
    let dropped =
        json!({ "name": "../../new wing.dat", "content": String::from_utf8_lossy(section) });
    let (status, answer) = ui.post("section", &dropped);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!(status, 200);
    assert_eq!(scratch.names("out/sections"), ["section-newwing.dat"]);
    let (head, bytes) = ui.solve(SMALL, &json!([["geometry.file", answer["file"].to_string()]]));
    assert!(bytes > 0 && head["error"].is_null(), "{head}");
    assert!(!head["text"].as_str().unwrap().contains("naca"));
}

#[test]
fn files_are_written_and_the_program_ends_when_asked() {
    let scratch = Scratch::with(&[]);
    let mut ui = Ui::start(&scratch, "2412 --output out");
    assert_eq!(ui.get("report").0, 404);

    let (status, answer) = ui.post("write", &json!({ "text": format!("name = 'wing'\n{SMALL}") }));

    let answer: Value = serde_json::from_slice(&answer).unwrap();
    assert_eq!((status, &answer["good"]), (200, &true.into()), "{answer}");
    assert!(scratch.path("out/wing/mesh.vts").exists());
    let (status, page) = ui.get("report");
    assert_eq!((status, page), (200, fs::read(scratch.path("out/wing/report.html")).unwrap()));
    assert_eq!(ui.post("stop", &json!({})).0, 200);
    assert_eq!(ui.child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_case_or_a_port_that_cannot_be_used_is_refused_and_an_interruption_ends_the_program() {
    let (scratch, ui) = plain();

    scratch.run("ui missing.toml --no-browser").fails(2, "missing.toml: ");
    scratch.run(&format!("ui --no-browser --port {}", ui.port)).fails(2, "choose another --port");
    #[cfg(target_os = "linux")]
    is_interrupted(ui);
}

#[cfg(target_os = "linux")]
fn is_interrupted(mut ui: Ui) {
    super::signal(rustix::process::Signal::INT, &ui.child);
    assert_eq!(ui.child.wait().unwrap().code(), Some(0));
}
