//! Chromium by its WebDriver, a program beside it, with software WebGL.

use std::env;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use support::jobs::free_port;

/// A browser with one window; both end with it.
pub(super) struct Browser {
    driver: Child,
    port: u16,
    session: String,
}

/// The status and the body of the answer to a request, which is written as it is given.
pub(super) fn exchange(port: u16, request: &[u8]) -> std::io::Result<(u16, Vec<u8>)> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    // A server that refuses a request need not read all of it.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let mut part = [0; 1 << 13];
    // The other side may keep the connection, so that the length says where the answer ends.
    loop {
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n");
        let text = String::from_utf8_lossy(&answer[..head.unwrap_or(0)]).to_lowercase();
        let length: Option<usize> =
            text.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
        if let Some((head, length)) = head.zip(length)
            && answer.len() >= head + 4 + length
        {
            let status = text.split(' ').nth(1).and_then(|code| code.parse().ok());
            return Ok((status.unwrap_or(0), answer.split_off(head + 4)));
        }
        match stream.read(&mut part) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(read) => answer.extend(&part[..read]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Browser {
    /// Opens a window of this size; none, with a note, where there is no WebDriver.
    #[allow(clippy::print_stderr, reason = "a check that is left out")]
    pub(super) fn open([width, height]: [u32; 2], dark: bool) -> Option<Self> {
        let port = free_port();
        let program = env::var("CHROMEDRIVER").unwrap_or_else(|_| "chromedriver".into());
        let mut command = Command::new(program);
        command.arg(format!("--port={port}")).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(driver) = command.spawn() else {
            eprintln!(
                "NOT CHECKED: report.html and its viewer in a browser. They need chromedriver."
            );
            return None;
        };
        let mut browser = Self { driver, port, session: String::new() };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_mins(1), "chromedriver does not answer");
            sleep(Duration::from_millis(50));
        }
        let arguments = json!([
            "--headless=new",
            "--no-sandbox",
            "--hide-scrollbars",
            "--enable-unsafe-swiftshader",
            "--force-device-scale-factor=1",
            format!("--window-size={width},{height}"),
            format!("--blink-settings=preferredColorScheme={}", u8::from(!dark)),
        ]);
        let named = env::var("BROWSER").unwrap_or_else(|_| "chromium".into());
        let paths = env::var_os("PATH").unwrap_or_default();
        let mut paths = env::split_paths(&paths).map(|folder| folder.join(&named));
        let binary = paths.find(|path| path.exists()).unwrap();
        let options = json!({ "args": arguments, "binary": binary });
        let wanted =
            json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let session =
            browser.call("POST", "", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!("/{}", session["sessionId"].as_str().unwrap());
        Some(browser)
    }

    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        let body = if method == "POST" { body.to_string() } else { String::new() };
        let request = format!(
            "{method} /session{}{path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.session,
            self.port,
            body.len()
        );
        let (status, body) = exchange(self.port, request.as_bytes()).unwrap();
        let mut answer: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(status, 200, "{path}: {answer}");
        answer["value"].take()
    }

    /// Opens a page.
    pub(super) fn go(&self, address: &str) {
        self.call("POST", "/url", &json!({ "url": address }));
    }

    /// The value that a piece of script returns, which may wait.
    pub(super) fn run(&self, script: &str) -> Value {
        let script = format!(
            "const done = arguments[arguments.length - 1];\n\
             const wait = (ms) => new Promise((go) => setTimeout(go, ms));\n\
             const until = async (is) => {{ for (let k = 0; k < 1200; k++) {{ const found = is();\n\
             if (found) return found; await wait(50); }} throw new Error(`${{is}} did not come`); }};\n\
             const drawn = () => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));\n\
             const viewer = () => until(() => document.querySelector('.gridgen-viewer')?.viewer);\n\
             (async () => {{ {script} }})().then((value) => done({{ value }}), (error) => done({{ error: error.stack }}));"
        );
        let mut answer =
            self.call("POST", "/execute/async", &json!({ "script": script, "args": [] }));
        assert!(answer.get("error").is_none(), "{answer}");
        answer["value"].take()
    }

    /// Moves the mouse, pressed, from the first of these points of the window to the last, and lets it go there;
    /// with one point alone this is a click, which is repeated.
    pub(super) fn drag(&self, points: &[[f64; 2]], times: usize) {
        let step = |kind: &str| json!({ "type": kind, "button": 0 });
        let place = |[x, y]: &[f64; 2]| json!({ "type": "pointerMove", "duration": 20, "x": x.round() as i64, "y": y.round() as i64 });
        let (first, others) = points.split_first().unwrap();
        let pressed = [step("pointerDown")].into_iter().chain(others.iter().map(place));
        let once: Vec<Value> = pressed.chain([step("pointerUp")]).collect();
        let all: Vec<Value> =
            [place(first)].into_iter().chain((0..times).flat_map(|_| once.clone())).collect();
        let mouse = json!({ "type": "pointer", "id": "mouse", "actions": all });
        self.call("POST", "/actions", &json!({ "actions": [mouse] }));
    }

    /// Presses keys of the keyboard, in the numbers of WebDriver, one after the other.
    pub(super) fn press(&self, keys: &[&str]) {
        let step = |kind: &str, key: &str| json!({ "type": kind, "value": key });
        let all: Vec<Value> =
            keys.iter().flat_map(|key| [step("keyDown", key), step("keyUp", key)]).collect();
        let keyboard = json!({ "type": "key", "id": "keyboard", "actions": all });
        self.call("POST", "/actions", &json!({ "actions": [keyboard] }));
    }

    /// Messages of the console that are errors.
    pub(super) fn errors(&self) -> Vec<String> {
        let log = self.call("POST", "/se/log", &json!({ "type": "browser" }));
        let entries = log.as_array().unwrap().iter();
        let severe = entries.filter(|entry| entry["level"] == "SEVERE");
        severe.map(|entry| entry["message"].to_string()).collect()
    }

    /// The window as PNG.
    pub(super) fn screenshot(&self) -> Vec<u8> {
        let picture = self.call("GET", "/screenshot", &Value::Null);
        BASE64_STANDARD.decode(picture.as_str().unwrap()).unwrap()
    }

    /// Opens another window, and shows it.
    pub(super) fn new_window(&self) {
        let window = self.call("POST", "/window/new", &json!({ "type": "tab" }));
        self.show_window(window["handle"].as_str().unwrap());
    }

    /// The window that is shown.
    pub(super) fn window(&self) -> String {
        self.call("GET", "/window", &Value::Null).as_str().unwrap().to_owned()
    }

    /// Shows a window.
    pub(super) fn show_window(&self, handle: &str) {
        self.call("POST", "/window", &json!({ "handle": handle }));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let request = format!(
                "DELETE /session{} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n",
                self.session
            );
            let _ = exchange(self.port, request.as_bytes());
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
