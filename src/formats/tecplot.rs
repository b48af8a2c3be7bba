//! Tecplot files in text, with ordered zones. Source: "Tecplot 360 Data Format Guide", chapter "ASCII Data",
//! <https://tecplot.azureedge.net/products/360/current/360_data_format_guide.pdf>.

use super::block::{Block, Cursor, ReadFault, check_memory, real, times};
use super::plot3d::{ANY_NUMBERS, NUMBERS_A_BYTE};
use super::rim::{ReadZone, Reader};
use crate::diagnostics::excerpt;

pub(super) const READER: Reader = Reader {
    begins: Some(|head| {
        let head = String::from_utf8_lossy(head);
        let mut lines = head.lines().map(|line| line.trim_start_matches('\u{feff}').trim());
        let first = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
        let word = first.and_then(|line| line.split(|c: char| !c.is_alphabetic()).next());
        let keys = ["TITLE", "VARIABLES", "ZONE", "FILETYPE"];
        word.is_some_and(|word| keys.iter().any(|key| word.eq_ignore_ascii_case(key)))
    }),
    hint: "save ordered zones in text, with the variables X and Y, in POINT or BLOCK packing",
    zones,
};

/// A word of the file and its line, from 1.
#[derive(Debug, Clone, Copy)]
struct Word<'a> {
    line: usize,
    text: &'a str,
    /// In quotes, whose text is without them.
    quoted: bool,
}

/// Takes words from the front: texts in quotes, lists in brackets, `=`, and what is between blanks and commas.
#[derive(Clone)]
struct Words<'a>(Cursor<'a>);

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let cursor = &mut self.0;
        cursor.pass(|c| c.is_whitespace() || c == ',', &[["#", "\n"]])?;
        let (rest, line) = (cursor.rest, cursor.line);
        let (text, quoted) = match rest.as_bytes()[0] {
            quote @ (b'"' | b'\'') => {
                let inside = &rest[1..];
                let end = inside.find(char::from(quote)).unwrap_or(inside.len());
                cursor.take((end + 2).min(rest.len()));
                (&inside[..end], true)
            }
            open @ (b'(' | b'[') => {
                let close = if open == b'(' { ')' } else { ']' };
                let end = rest.find(close).map_or(rest.len(), |end| end + 1);
                (cursor.take(end), false)
            }
            b'=' => (cursor.take(1), false),
            _ => {
                let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '=' | '"' | '#');
                let end = rest.find(ends).unwrap_or(rest.len());
                (cursor.take(end), false)
            }
        };
        Some(Word { line, text, quoted })
    }
}

impl<'a> Words<'a> {
    /// The next word, which stays.
    fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// The word after a `=`.
    fn value(&mut self, key: &str) -> Result<Word<'a>, ReadFault> {
        let equals = self.next().filter(|word| !word.quoted && word.text == "=");
        let value = equals.and_then(|_| self.next());
        value.ok_or_else(|| wrong(self.0.line, key, "the key with `=` and a value"))
    }
}

fn wrong(line: usize, found: &str, expected: &str) -> ReadFault {
    ReadFault::of_line(line, found, &[expected, " was"].concat())
}

/// The numbers in a list such as `([3-5,7]=CELLCENTERED)` whose word is `wanted`, or in `[3-5,7]` without words; and the
/// places of that word in a list of words.
fn listed(list: &str, wanted: &str) -> Vec<usize> {
    let list = list.trim_matches(['(', ')']).to_ascii_uppercase();
    let mut found = Vec::new();
    if !list.contains('[') {
        let places = (1..).zip(list.split(','));
        return places.filter(|(_, word)| word.trim() == wanted).map(|(place, _)| place).collect();
    }
    for part in list.split('[').skip(1) {
        let (numbers, behind) = part.split_once(']').unwrap_or((part, ""));
        if !wanted.is_empty() && !behind.trim_start_matches(['=', ' ']).starts_with(wanted) {
            continue;
        }
        for range in numbers.split(',') {
            let (from, to) = range.split_once('-').unwrap_or((range, range));
            if let (Ok(from), Ok(to)) = (from.trim().parse::<usize>(), to.trim().parse::<usize>()) {
                found.extend((from..=to).take(1000));
            }
        }
    }
    found
}

/// The records before zones and in them that say nothing about coordinates.
const RECORDS: [&str; 4] = ["TITLE", "FILETYPE", "DATASETAUXDATA", "VARAUXDATA"];

fn zones(bytes: &[u8], notes: &mut Vec<String>) -> Result<Vec<ReadZone>, ReadFault> {
    let text = String::from_utf8_lossy(bytes);
    let mut words = Words(Cursor { rest: text.trim_start_matches('\u{feff}'), line: 1 });
    let (mut variables, mut zones): (Vec<String>, Vec<ReadZone>) = (Vec::new(), Vec::new());
    while let Some(word) = words.next() {
        // No key is in quotes.
        let key = if word.quoted { String::new() } else { word.text.to_ascii_uppercase() };
        match &*key {
            "VARIABLES" => {
                variables = vec![words.value(word.text)?.text.to_owned()];
                let is_name = |next: &Word<'_>| {
                    let next_key = next.text.to_ascii_uppercase();
                    next.quoted || !(next_key == "ZONE" || RECORDS.contains(&&*next_key))
                };
                while let Some(next) = words.peek().filter(is_name) {
                    variables.push(next.text.to_owned());
                    words.next();
                }
            }
            "ZONE" => {
                let number = zones.len() + 1;
                match zone(&mut words, &variables, bytes.len(), number)? {
                    Some(zone) => zones.push(zone),
                    None => notes.push(format!(
                        "line {}: a zone of points or of one line was left out.",
                        word.line
                    )),
                }
            }
            _ if RECORDS.contains(&&*key) => {
                if key.ends_with("AUXDATA") {
                    words.next();
                }
                words.value(word.text)?;
            }
            _ => return Err(wrong(word.line, word.text, "TITLE, VARIABLES or ZONE")),
        }
    }
    if zones.is_empty() {
        return Err("a Tecplot file without a zone of cells".into());
    }
    notes.push(format!("Tecplot text, variables {}.", variables.join(", ")));
    Ok(zones)
}

/// Words that may follow the name of a coordinate.
const OF_COORDINATES: [&str; 4] = ["coord", "position", "location", "grid"];

/// The place of a coordinate among the variables: its name may have a unit, but is no `y+` nor `z-vorticity`.
fn place(variables: &[String], axis: &str) -> Option<usize> {
    let is = |name: &String| {
        let name = name.trim().to_ascii_lowercase();
        let rest = name.strip_prefix("coordinate").unwrap_or(&name).strip_prefix(axis);
        let unit = |rest: &str| {
            let word = rest.trim_start_matches([' ', '_', '-']);
            let short = word.len() <= 2 && word.len() < rest.len();
            rest.is_empty()
                || short
                || word.starts_with(['[', '(', '/', ','])
                || OF_COORDINATES.iter().any(|known| word.starts_with(known))
        };
        rest.is_some_and(unit)
    };
    variables.iter().position(is)
}

/// The record of a zone before its numbers. Variables count from 1.
struct ZoneRecord {
    line: usize,
    name: String,
    sizes: [usize; 3],
    block: bool,
    /// Variables with one value a cell.
    centred: Vec<usize>,
    /// Variables without values.
    absent: Vec<usize>,
}

/// Takes the keys of a zone, each with its value; the first number without a key begins the data.
fn head(words: &mut Words<'_>, number: usize) -> Result<ZoneRecord, ReadFault> {
    let name = format!("zone-{number}");
    let (centred, absent) = (Vec::new(), Vec::new());
    let mut head =
        ZoneRecord { line: words.0.line, name, sizes: [1; 3], block: false, centred, absent };
    while let Some(word) = words.peek().filter(|word| word.text.starts_with(char::is_alphabetic)) {
        words.next();
        let key = word.text.to_ascii_uppercase();
        if key == "AUXDATA" {
            words.next();
        }
        let value = words.value(word.text)?;
        let (upper, text) = (value.text.to_ascii_uppercase(), value.text.trim());
        let expected = |what| Err(wrong(value.line, value.text, what));
        match &*key {
            "T" if !text.is_empty() => text.clone_into(&mut head.name),
            "I" | "J" | "K" => {
                let size = text.parse().ok().filter(|size| (1..1 << 31).contains(size));
                let Some(size) = size else { return expected("a number of nodes") };
                head.sizes[usize::from(key.as_bytes()[0] - b'I')] = size;
            }
            "F" | "DATAPACKING" => match &*upper {
                "POINT" | "BLOCK" => head.block = upper == "BLOCK",
                _ => return expected("POINT or BLOCK of an ordered zone"),
            },
            "ZONETYPE" if upper != "ORDERED" => return expected("ZONETYPE=ORDERED"),
            "VARLOCATION" => head.centred = listed(value.text, "CELLCENTERED"),
            "PASSIVEVARLIST" => head.absent = listed(value.text, ""),
            "VARSHARELIST" => return expected("a zone with its own variables"),
            _ => {}
        }
    }
    Ok(head)
}

impl ZoneRecord {
    /// The number of values of each variable, from 0; none if they are more than can be counted.
    fn counts(&self, variables: usize) -> Option<Vec<usize>> {
        let nodes = self.sizes.iter().try_fold(1_usize, |all, n| all.checked_mul(*n))?;
        let cells = self.sizes.iter().map(|n| (n - 1).max(1)).product();
        let count = |variable| match variable {
            _ if self.absent.contains(&variable) => 0,
            _ if self.centred.contains(&variable) => cells,
            _ => nodes,
        };
        Some((1..=variables).map(count).collect())
    }

    fn values(&self, words: &mut Words<'_>, all: usize) -> Result<Vec<f64>, ReadFault> {
        let mut values: Vec<f64> = Vec::with_capacity(all);
        while values.len() < all {
            let at = values.len() + 1;
            let expected = || format!("number {at} of {all} of the zone `{}`", excerpt(&self.name));
            let Some(word) = words.next() else {
                let (line, expected) = (words.0.line, expected());
                return Err(
                    format!("line {line}: the end of the file, {expected} was expected").into()
                );
            };
            let (times, value) = word.text.split_once('*').unwrap_or(("1", word.text));
            match (times.parse::<usize>(), real(value.as_bytes())) {
                (Ok(times), Some(value)) if !word.quoted && times <= all - values.len() => {
                    values.extend(std::iter::repeat_n(value, times));
                }
                _ => return Err(wrong(word.line, word.text, &expected())),
            }
        }
        Ok(values)
    }
}

/// Reads a zone behind its key; none where it has no cells.
fn zone(
    words: &mut Words<'_>,
    variables: &[String],
    bytes: usize,
    number: usize,
) -> Result<Option<ReadZone>, ReadFault> {
    let head = head(words, number)?;
    let ZoneRecord { line, ref sizes, block, .. } = head;
    let refused = |reason: String| Err(format!("line {line}: {reason}").into());
    let (Some(x), Some(y)) = (place(variables, "x"), place(variables, "y")) else {
        let found = variables.join(", ");
        return refused(format!(
            "the variables `{}`, X and Y were expected before ZONE",
            excerpt(&found)
        ));
    };
    let counts = head.counts(variables.len()).unwrap_or_else(|| vec![usize::MAX]);
    let all = counts.iter().fold(0_usize, |all, count| all.saturating_add(*count));
    if all > ANY_NUMBERS + NUMBERS_A_BYTE * bytes {
        return refused(format!(
            "a zone of {} nodes, far more than the file has numbers",
            times(sizes)
        ));
    }
    if !block && !head.centred.is_empty() {
        return refused("values of cells, DATAPACKING=BLOCK was expected with them".to_owned());
    }
    check_memory(all)?;
    let values = head.values(words, all)?;
    if sizes.iter().filter(|n| **n > 1).count() < 2 {
        return Ok(None);
    }
    let nodes: usize = sizes.iter().product();
    if [x, y].iter().any(|variable| counts[*variable] != nodes) {
        return refused("X and Y at the nodes of the zone were expected".to_owned());
    }
    let z = place(variables, "z").filter(|z| counts[*z] == nodes);
    let width = counts.iter().filter(|count| **count > 0).count();
    let coordinate = |variable: usize| -> Vec<f64> {
        let before = &counts[..variable];
        if block {
            let first: usize = before.iter().sum();
            return values[first..first + nodes].to_vec();
        }
        let column = before.iter().filter(|count| **count > 0).count();
        values.iter().skip(column).step_by(width).copied().collect()
    };
    let coordinates = [Some(x), Some(y), z].into_iter().flatten().map(coordinate).collect();
    ReadZone::of_block(&head.name, Block { dimensions: sizes.to_vec(), coordinates }).map(Some)
}
