//! `gridgen ui`: a page on the loopback address that shows the grid of a case and follows each change of it, which is a
//! change of single keys in its text.

mod server;

use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use clap::Args;
use gridgen::case::{BodyContour, CaseFile, Value, json_schema};
use gridgen::error::Error;
use gridgen::files::PAGE_FILE;
use gridgen::generate::{BackendChoice, MachinePool, Progress, RunOptions, make_grids, run};
use gridgen::viewer::{SCRIPT, STYLE};
use parking_lot::Mutex;
use serde_json::{Map, Value as Json, json};
use toml_edit::{DocumentMut, Item, Table, TomlError};

use self::server::{Answer, HTML, JSON, PageServer, TEXT};
use super::CommandFailure;
use super::named::{named, section};
use super::ranks::backends;
use super::terminal::Terminal;
use crate::case::alternatives;

/// Requests that are answered at the same time.
const WORKERS: usize = 32;

/// Time that a solve is given although a newer change waits, so that grids follow a slider while it is drawn.
const PATIENCE: Duration = Duration::from_secs(1);

/// Folder of dropped sections below the output folder.
const SECTIONS: &str = "sections";

/// The scripts of the page, in the order in which they are used.
const UI: &str =
    concat!(include_str!("ui/draw.js"), include_str!("ui/steer.js"), include_str!("ui/ui.js"));

#[derive(Debug, Args)]
#[command(after_help = include_str!("help/ui.txt").trim_ascii_end())]
pub(super) struct UiArguments {
    /// Case to begin with: a case file, file of a section's coordinates, NACA designation, or name of a section.
    #[arg(value_name = "CASE.toml|FILE|NACA|NAME", default_value = "2412")]
    case: PathBuf,
    /// Files go to DIR/<name of the case>; no other folder is written to.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// Machine to solve on.
    #[arg(long, value_name = "BACKEND", default_value = "auto", value_parser = backends())]
    backend: BackendChoice,
    /// Port of the loopback address; 0 takes one that is free.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Open no browser: the address is printed in any case.
    #[arg(long)]
    no_browser: bool,
}

impl UiArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let failure = |what: &dyn Display, error, hint| {
            CommandFailure::input(&format!("{what}: {error}"), hint)
        };
        let unread = |error: std::io::Error| failure(&self.case.display(), error, None);
        let (text, start) = match section(&self.case) {
            Some((name, key, value)) => {
                let key = key.trim_start_matches("geometry.");
                let [name, value] = [&name.into(), &value].map(in_toml);
                let text = format!("name = {name}\n\n[geometry]\n{key} = {value}\n");
                (text, PathBuf::from("case.toml"))
            }
            None => (fs::read_to_string(&self.case).map_err(unread)?, self.case.clone()),
        };
        let output = std::path::absolute(&self.output).map_err(unread)?;
        let options = RunOptions {
            backend: self.backend,
            pool: Some(Arc::new(MachinePool::new(1))),
            ..RunOptions::new(output)
        };
        let inputs = files(&text).iter().filter_map(|(_, file)| located(&start, file)).collect();
        let hint = Some("choose another --port, or leave it out for one that is free");
        let place = format!("127.0.0.1:{}", self.port);
        let server = PageServer::open(self.port).map_err(|error| failure(&place, error, hint))?;
        let address = format!("http://{}/{}/", server.host, server.token);
        let site = Arc::new(Site {
            server,
            text,
            start,
            inputs,
            options,
            newest: Mutex::default(),
            solving: Mutex::default(),
            page: Mutex::default(),
            ends: AtomicBool::new(false),
        });
        let interrupted = Arc::clone(&site);
        // Without a handler an interruption ends the program at once.
        drop(ctrlc::set_handler(move || interrupted.end()));
        terminal.result(&format!("{address}\n"))?;
        if !self.no_browser {
            drop(open::that_detached(&address));
        }
        thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| site.work());
            }
        });
        Ok(0)
    }
}

/// A value as the text of a case has it; a section without keys, such as an ellipse, is an empty table.
fn in_toml(value: &Value) -> String {
    if value.is_table() { "{}".to_owned() } else { value.to_string() }
}

/// The place of a file that a case at `start` names, without links.
fn located(start: &Path, file: &str) -> Option<PathBuf> {
    start.with_file_name("").join(file).canonicalize().ok()
}

/// The page and what it asks for.
struct Site {
    server: PageServer,
    /// The case to begin with, and the path that its relative paths start at.
    text: String,
    start: PathBuf,
    /// Files that this case names, the only ones that are read outside of the output folder.
    inputs: Vec<PathBuf>,
    options: RunOptions,
    /// The number of the newest change of each window.
    newest: Mutex<HashMap<String, u64>>,
    /// One grid is solved for at a time, on all threads.
    solving: Mutex<()>,
    /// The page of the last files that were written.
    page: Mutex<Option<PathBuf>>,
    ends: AtomicBool,
}

/// A solve that is cancelled when a newer change of its window waits, and when the program ends.
struct Solve<'a> {
    site: &'a Site,
    window: &'a str,
    number: u64,
    begun: Instant,
}

impl Progress for Solve<'_> {
    fn cancelled(&self) -> bool {
        let newer = || self.site.is_old(self.window, self.number);
        self.site.ends.load(Ordering::Relaxed) || (self.begun.elapsed() > PATIENCE && newer())
    }
}

/// An error of the library, for the page.
fn refused(error: impl Into<Error>) -> Json {
    let error = error.into();
    failed(&error, error.hint().as_deref())
}

/// An error with its hint, for the page.
fn failed(message: &impl Display, hint: Option<&str>) -> Json {
    json!({ "error": { "message": message.to_string(), "hint": hint } })
}

impl Site {
    fn end(&self) {
        self.ends.store(true, Ordering::Relaxed);
        for _ in 0..WORKERS {
            self.server.http.unblock();
        }
    }

    /// Answers requests until the end.
    fn work(&self) {
        while !self.ends.load(Ordering::Relaxed) {
            let Ok(mut request) = self.server.http.recv() else { continue };
            let answer =
                self.server.admit(&mut request).map_or_else(|no| no, |it| self.answer(&it));
            answer.send(request);
        }
    }

    fn answer(&self, (posts, path, body): &(bool, String, Vec<u8>)) -> Answer {
        let asked: Json = serde_json::from_slice(body).unwrap_or_default();
        let text = asked["text"].as_str().unwrap_or_default();
        match (posts, path.as_str()) {
            (false, "") => Answer::new(200, HTML, self.whole_page()),
            (false, "report") => {
                let page = self.page.lock().as_ref().and_then(|page| fs::read(page).ok());
                let none = || Answer::new(404, TEXT, "no report was written yet");
                page.map_or_else(none, |bytes| Answer::new(200, HTML, bytes))
            }
            (true, "solve") => self.solve(&asked, text.to_owned()),
            (true, "write") => Answer::new(200, JSON, self.write(text).to_string()),
            (true, "outline") => Answer::new(200, JSON, self.outline(text).to_string()),
            (true, "section") => Answer::new(200, JSON, self.keep_section(&asked).to_string()),
            (true, "stop") => {
                self.end();
                Answer::new(200, TEXT, "gridgen has ended")
            }
            _ => Answer::new(404, TEXT, "there is no such page"),
        }
    }

    /// The page, with the case to begin with.
    fn whole_page(&self) -> String {
        let data = json!({ "text": self.text, "schema": json_schema() }).to_string();
        include_str!("ui/page.html")
            .replace("/*STYLE*/", &[STYLE, include_str!("ui/ui.css")].concat())
            // An end of the element within a text is none in JSON.
            .replace("/*DATA*/", &data.replace('<', "\\u003c"))
            .replace("/*SCRIPT*/", &[SCRIPT, UI].concat())
    }

    /// The case of a text. Its files are named by the case to begin with, or were dropped on the page.
    fn case(&self, text: &str) -> Result<CaseFile, Json> {
        let sections = self.options.output.join(SECTIONS).canonicalize().ok();
        let dropped = |path: &Path| sections.as_ref().is_some_and(|own| path.starts_with(own));
        let known = |path: PathBuf| dropped(&path) || self.inputs.contains(&path);
        let known = |file: &str| located(&self.start, file).is_some_and(known);
        if let Some((key, file)) = files(text).into_iter().find(|(_, file)| !known(file)) {
            let message = format!("{key} = \"{file}\": the page reads no files by path");
            return Err(failed(&message, Some("drop the file on the page")));
        }
        CaseFile::from_toml(text, &self.start, &[]).map_err(refused)
    }

    /// The points of the section of a text before its flap is turned, in chords, to draw on from.
    fn outline(&self, text: &str) -> Json {
        let drawn = || {
            let plain =
                edited(text, "geometry.flap", None).map_err(|error| failed(&error, None))?;
            let file = self.case(&plain)?;
            let none = || failed(&"of several elements no section is drawn", None);
            let case = file.section().ok_or_else(none)?;
            match case.body().map_err(refused)? {
                BodyContour::Airfoil(section) => Ok(json!({ "points": section.points })),
                BodyContour::Smooth(_) => {
                    let message = "a contour without a trailing edge is not drawn by its points";
                    Err(failed(&message, None))
                }
            }
        };
        drawn().unwrap_or_else(|error| error)
    }

    fn is_old(&self, window: &str, number: u64) -> bool {
        self.newest.lock().get(window).is_some_and(|newest| *newest > number)
    }

    /// Solves for the case of a text, with keys changed first: the length of a JSON text as 32 bits, the text, and the
    /// packed grids.
    fn solve(&self, asked: &Json, mut text: String) -> Answer {
        let window = asked["window"].as_str().unwrap_or_default();
        let number = asked["number"].as_u64().unwrap_or_default();
        {
            let mut newest = self.newest.lock();
            let newest = newest.entry(window.to_owned()).or_default();
            *newest = number.max(*newest);
        }
        let _one = self.solving.lock();
        let mut progress = Solve { site: self, window, number, begun: Instant::now() };
        if self.is_old(window, number) {
            return Answer::new(204, TEXT, "");
        }
        let changes: Vec<(String, Option<String>)> =
            serde_json::from_value(asked["set"].clone()).unwrap_or_default();
        let changed = changes.iter().try_for_each(|(key, value)| {
            let word = value.as_deref().filter(|_| key == "section");
            let (key, value) = match (word.map(Path::new).and_then(named), word) {
                (Some((_, key, value)), _) => (key, Some(in_toml(&value))),
                (None, Some(word)) => ("geometry.naca", Some(in_toml(&word.into()))),
                (None, None) => (key.as_str(), value.clone()),
            };
            text = edited(&text, key, value.as_deref())?;
            Ok(())
        });
        let changed = changed.map_err(|error: toml_edit::TomlError| failed(&error, None));
        let solved = changed.and_then(|()| self.make(&text, None, &mut progress));
        if progress.cancelled() && solved.is_err() {
            return Answer::new(204, TEXT, "");
        }
        let (mut head, grids) = solved.unwrap_or_else(|error| (error, Vec::new()));
        head["seconds"] = progress.begun.elapsed().as_secs_f64().into();
        head["given"] = given(&text).into();
        head["text"] = text.into();
        let head = head.to_string();
        let bytes = [&(head.len() as u32).to_le_bytes(), head.as_bytes(), &grids].concat();
        Answer::new(200, "application/octet-stream", bytes)
    }

    /// Makes the grids of a text and, where an output folder is given, the files below it: verdict, hint, notes, files and
    /// all keys, and the packed grids.
    fn make(
        &self,
        text: &str,
        output: Option<&Path>,
        progress: &mut dyn Progress,
    ) -> Result<(Json, Vec<u8>), Json> {
        let case = self.case(text)?;
        let options = RunOptions {
            output: output.unwrap_or(&self.options.output).join(&case.name),
            ..self.options.clone()
        };
        let work = if output.is_some() { run } else { make_grids };
        let made = work(&case, &options, progress).map_err(refused)?;
        let all = made.placed.case.to_toml_string().unwrap_or_default();
        let head = json!({
            "good": made.is_good(), "verdict": made.verdict.to_string(), "label": made.verdict.label(),
            "hint": made.hint(), "notes": made.notices, "files": made.files, "resolved": given(&all),
        });
        Ok((head, made.scene().packed()))
    }

    /// Makes the grid of a text and writes its files.
    fn write(&self, text: &str) -> Json {
        let _one = self.solving.lock();
        let mut progress =
            Solve { site: self, window: "", number: u64::MAX, begun: Instant::now() };
        let made = self.make(text, Some(&self.options.output), &mut progress);
        let head = made.map_or_else(|error| error, |(head, _)| head);
        let mut files = head["files"].as_array().into_iter().flatten().filter_map(Json::as_str);
        *self.page.lock() = files.find(|file| file.ends_with(PAGE_FILE)).map(PathBuf::from);
        head
    }

    /// Keeps a dropped section in the output folder, under its own name without what a folder needs; returns the path.
    fn keep_section(&self, asked: &Json) -> Json {
        let fit = |c: &char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = asked["name"].as_str().unwrap_or_default().trim_start_matches(['.', '/', '\\']);
        let name: String = name.chars().filter(fit).take(64).collect();
        let folder = self.options.output.join(SECTIONS);
        let path = folder.join(["section-", &name].concat());
        let content = asked["content"].as_str().unwrap_or_default();
        match fs::create_dir_all(&folder).and_then(|()| fs::write(&path, content)) {
            Ok(()) => json!({ "file": path }),
            Err(error) => failed(&format!("{}: {error}", path.display()), None),
        }
    }
}

/// The text with a key set to a value in TOML, or without the key; comments and all other keys stay. A value that is not
/// TOML is a text. Keys whose place it takes are left out.
///
/// # Errors
/// A text that is not TOML.
fn edited(text: &str, key: &str, value: Option<&str>) -> Result<String, TomlError> {
    let mut document: DocumentMut = text.parse()?;
    if value.is_some() {
        for other in alternatives(key) {
            set(&mut document, other, None);
        }
    }
    set(&mut document, key, value);
    Ok(document.to_string())
}

/// A key of a list of tables, such as the elements, has the number of the table behind the name of the list.
fn set(document: &mut DocumentMut, key: &str, value: Option<&str>) {
    let mut names: Vec<&str> = key.split('.').collect();
    let Some(name) = names.pop() else { return };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    let mut names = names.into_iter();
    while let Some(section) = names.next() {
        if value.is_none() && !table.contains_key(section) {
            return;
        }
        let mut item = table.entry(section).or_insert_with(|| Item::Table(Table::new()));
        if !item.is_table_like() {
            let number = names.next().and_then(|number| number.parse::<usize>().ok());
            let Some(one) = number.and_then(|number| item.get_mut(number)) else { return };
            item = one;
        }
        let Some(inner) = item.as_table_like_mut() else { return };
        table = inner;
    }
    let Some(value) = value else {
        table.remove(name);
        return;
    };
    let mut value: toml_edit::Value = value.parse().unwrap_or_else(|_| value.into());
    // A comment behind the old value stays.
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            *value.decor_mut() = old.decor().clone();
            *old = value;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
}

/// The keys of a text with their values: words and flags as they are, all else as TOML; elements have numbers. A text
/// that is not TOML has none.
fn given(text: &str) -> Map<String, Json> {
    let mut found = Map::new();
    collect("", &text.parse::<toml::Table>().unwrap_or_default(), &mut found);
    found
}

fn collect(within: &str, table: &toml::Table, found: &mut Map<String, Json>) {
    for (name, value) in table {
        let key = [within, name].concat();
        match value {
            toml::Value::Table(inner) => collect(&[&key, "."].concat(), inner, found),
            toml::Value::String(text) => drop(found.insert(key, text.as_str().into())),
            toml::Value::Boolean(flag) => drop(found.insert(key, (*flag).into())),
            toml::Value::Array(items) if items.first().is_some_and(toml::Value::is_table) => {
                for (n, inner) in items.iter().filter_map(toml::Value::as_table).enumerate() {
                    collect(&format!("{key}.{n}."), inner, found);
                }
            }
            other => drop(found.insert(key, other.to_string().into())),
        }
    }
}

/// The files that a text names: its keys `file`, wherever they stand, and their values.
fn files(text: &str) -> Vec<(String, String)> {
    let named = given(text).into_iter().filter(|(key, _)| key.rsplit('.').next() == Some("file"));
    named.filter_map(|(key, value)| Some((key, value.as_str()?.to_owned()))).collect()
}
