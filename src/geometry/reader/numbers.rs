//! The numbers of an airfoil file: those of one line, the columns of a table that hold coordinates, and
//! coordinates within brackets.
//!
//! Programs, JSON, YAML, gmsh, numpy and MATLAB write points, or lists of x and of y, within brackets. Block lists
//! of YAML are read as if they were written in brackets.

use std::collections::BTreeMap;

use crate::geometry::error::LEAST_POINTS;

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Numbers<'a> {
    /// Number of the line, counted from 1.
    pub(super) line: usize,
    pub(super) text: &'a str,
    /// The numbers, at least two.
    pub(super) values: Vec<f64>,
    /// A number was in parentheses, which tables use to mark edge ordinates.
    pub(super) parentheses: bool,
    /// Commas were read as decimal points.
    pub(super) decimal_commas: bool,
    /// Numbers without a separator were split at the sign of the second.
    pub(super) run_together: bool,
}

/// The kind of a line, independent of other lines.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum FileLine<'a> {
    /// Nothing, white space, or a comment marked by `#`, `!`, `%` or `//`.
    Blank,
    /// Words.
    Text,
    /// One number alone, or a number and something that is almost one.
    Broken,
    /// Two numbers or more, and nothing else.
    Numbers(Numbers<'a>),
}

pub(super) fn classify(line: usize, raw: &str) -> FileLine<'_> {
    let text = raw.trim();
    if text.is_empty() || text.starts_with(['#', '!', '%']) || text.starts_with("//") {
        return FileLine::Blank;
    }
    let data = text.split(['#', '!']).next().unwrap_or(text);
    let (words, decimal_commas) = tokens(data);
    let tokens: Vec<String> = words.iter().flat_map(|word| parted(word)).collect();
    let run_together = tokens.len() > words.len();
    let values: Vec<Option<f64>> = tokens.iter().map(|t| number(t)).collect();
    let leading = values.iter().take_while(|v| v.is_some()).count();
    if leading == tokens.len() && leading > 1 {
        let parentheses = tokens.iter().any(|t| t.starts_with('('));
        let (text, values) = (raw, values.into_iter().flatten().collect());
        let numbers = Numbers { line, text, values, parentheses, decimal_commas, run_together };
        return FileLine::Numbers(numbers);
    }
    let digits = |t: &String| t.contains(|c: char| c.is_ascii_digit());
    let nearly = match values[..] {
        [_] => leading == 1,
        [Some(_), None] => digits(&tokens[1]),
        [None, Some(_)] => digits(&tokens[0]) && tokens.iter().all(|t| t.contains('.')),
        _ => false,
    };
    if nearly { FileLine::Broken } else { FileLine::Text }
}

/// The words of a line, and whether its commas are decimal points. They are if there are two words, one or
/// both with a comma between digits, and no point anywhere. All other commas are separators.
fn tokens(data: &str) -> (Vec<String>, bool) {
    let apart = |c: char| c.is_whitespace() || c == ';';
    let words: Vec<&str> = data.split(apart).filter(|w| !w.is_empty()).collect();
    let decimal = words.len() == 2
        && words.iter().any(|w| w.contains(','))
        && words.iter().all(|w| !w.contains('.') && decimal_comma_or_none(w));
    if decimal {
        return (words.iter().map(|w| w.replace(',', ".")).collect(), true);
    }
    let tokens = words.iter().flat_map(|w| w.split(',')).filter(|w| !w.is_empty());
    (tokens.map(str::to_owned).collect(), false)
}

/// True if a word has no comma, or one with digits on both sides.
fn decimal_comma_or_none(word: &str) -> bool {
    let Some((before, after)) = word.split_once(',') else { return true };
    let digit = |c: char| c.is_ascii_digit();
    before.ends_with(digit) && after.starts_with(digit) && !after.contains(',')
}

/// The two numbers of a word such as `1.00000-0.00126`, with no blank before a sign, or else the word itself.
fn parted(word: &str) -> Vec<String> {
    let joint = |&at: &usize| {
        let (first, second) = word.split_at(at);
        first.ends_with(|c: char| c.is_ascii_digit() || c == '.')
            && [first, second].iter().all(|part| part.contains('.') && number(part).is_some())
    };
    let signs = word.match_indices(['-', '+', '\u{2212}']).map(|(at, _)| at);
    match signs.filter(|&at| at > 0).find(joint) {
        Some(at) if number(word).is_none() => vec![word[..at].to_owned(), word[at..].to_owned()],
        _ => vec![word.to_owned()],
    }
}

/// A number; a Fortran exponent (`1.0D-3`), a typographic minus and parentheses are accepted.
fn number(token: &str) -> Option<f64> {
    let inner = token.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(token);
    let plain = inner.replace('\u{2212}', "-");
    if let Ok(value) = plain.parse() {
        return Some(value);
    }
    let begins = plain.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    plain.replace(['d', 'D'], "e").parse().ok().filter(|_| begins)
}

/// Fraction of the chord: two surfaces in columns of their own overlap by more than this in x.
const FULL: f64 = 0.9;

/// A point of gmsh has three coordinates and a mesh size.
const MESH_SIZE: &str = "The constant coordinate and the fourth column were not used";

/// Columns of x and y: of the contour, or of each of the two surfaces.
pub(super) type Surfaces = Vec<[usize; 2]>;

/// Columns, and a note about how they were used.
pub(super) type Layout = (Surfaces, &'static str);

/// Finds the coordinates by the names in the line above the numbers, or else by the numbers. `None` if the rows
/// differ in length, or if there is not exactly one way to understand the columns.
pub(super) fn layout(heading: Option<&str>, rows: &[&[f64]]) -> Option<Layout> {
    let width = rows.first()?.len();
    if rows.iter().any(|row| row.len() != width) {
        return None;
    }
    let constant = |c: usize| rows.iter().all(|row| row[c].total_cmp(&rows[0][c]).is_eq());
    let separator = |c: char| c.is_whitespace() || ",;|".contains(c);
    let heading = heading.unwrap_or_default().trim_start_matches(['#', '!', '%', '/', ' ']);
    let words = || heading.split(separator).filter(|word| !plain_word(word).is_empty());
    let words: Vec<&str> = words().take(width + 1).collect();
    let named = (words.len() == width).then(|| named(&words, constant)).flatten();
    named.or_else(|| measured(rows, width))
}

/// The layout named by words, one for each column; some columns are constant.
fn named(words: &[&str], constant: impl Fn(usize) -> bool) -> Option<Layout> {
    let words: Vec<String> = words.iter().copied().map(plain_word).collect();
    let column = |names: &[&str]| words.iter().position(|w| names.contains(&w.as_str()));
    let x = column(&["x", "xc"]);
    let upper_x = column(&["xu", "xup", "xupper", "upperx"]).or(x);
    let lower_x = column(&["xl", "xlow", "xlower", "lowerx"]).or(x);
    let upper = column(&["yu", "yup", "yupper", "uppery"]).zip(upper_x);
    let lower = column(&["yl", "ylow", "ylower", "lowery"]).zip(lower_x);
    if let (Some((upper_y, upper_x)), Some((lower_y, lower_x))) = (upper, lower) {
        return Some((
            vec![[upper_x, upper_y], [lower_x, lower_y]],
            "Upper and lower surface were taken from the columns that the heading names",
        ));
    }
    let axes = [["x", "xc"], ["y", "yc"], ["z", "zc"]];
    let mut axes = axes.iter().filter_map(|names| column(names)).filter(|&c| !constant(c));
    let (x, y) = axes.next().zip(axes.next())?;
    Some((
        vec![[x, y]],
        "The first two coordinates that vary were taken from the columns that the heading names",
    ))
}

/// The letters of a word in lower case, without a unit in brackets: `X(mm)` gives `x`.
fn plain_word(word: &str) -> String {
    let name = word.split(['(', '[']).next().unwrap_or(word);
    name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

/// The first layout of three or four columns that is consistent with the numbers.
fn measured(rows: &[&[f64]], width: usize) -> Option<Layout> {
    let column = |c: usize| rows.iter().map(move |row| row[c]);
    let steady = |c: usize| column(c).is_sorted() || column(c).is_sorted_by(|a, b| a >= b);
    let range = |c: usize| {
        column(c).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
    };
    let constant = |c: usize| range(c)[0] >= range(c)[1];
    let counts = column(0).zip(column(0).skip(1)).all(|(a, b)| (b - a - 1.0).abs() < 1e-9);
    let above = |a: usize, b: usize| rows.iter().all(|row| row[a] >= row[b]);
    // Along a contour x first falls and then rises.
    let turns = |c: usize| !steady(c);
    let (three, four) = (width == 3, width == 4);
    let one = |x: usize, y: usize| vec![[x, y]];
    let layouts: [(bool, Surfaces, &str); 9] = [
        (four && constant(2) && turns(0), one(0, 1), MESH_SIZE),
        (four && constant(1) && turns(0), one(0, 2), MESH_SIZE),
        (three && constant(2) && turns(0), one(0, 1), "The constant third column was not used"),
        (three && constant(1) && turns(0), one(0, 2), "The constant second column was not used"),
        (three && constant(0) && turns(1), one(1, 2), "The constant first column was not used"),
        (
            three && counts && turns(1),
            one(1, 2),
            "The first column counts the points and was not used",
        ),
        (three && turns(0), one(0, 1), "The third column was not used"),
        (
            three && (above(1, 2) || above(2, 1)),
            vec![[0, 1], [0, 2]],
            "The second and third column were taken as the ordinates of the two surfaces",
        ),
        (
            four && steady(0) && steady(2) && common_part(range(0), range(2)) > FULL,
            vec![[0, 1], [2, 3]],
            "The four columns were taken as x and y of the two surfaces",
        ),
    ];
    layouts.into_iter().find(|(fits, ..)| *fits).map(|(_, surfaces, note)| (surfaces, note))
}

/// Length of the intersection of two intervals divided by that of their union.
fn common_part([a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
    (b.min(d) - a.max(c)) / (b.max(d) - a.min(c))
}

/// Characters that separate words and numbers within brackets, in addition to white space.
const SEPARATORS: &str = "[](){},;:='\"";

/// The text with brackets around YAML's block lists of numbers, which have an item in each line: `- 0.5` is a
/// number of a list, `- - 0.5` the first of a point. Lines keep their numbers.
pub(super) fn flow(text: &str) -> String {
    let item = |line: &str| {
        let mut rest = line.trim();
        let mut depth = 0;
        while let Some(inner) = rest.strip_prefix("- ") {
            (rest, depth) = (inner.trim_start(), depth + 1);
        }
        number(rest).filter(|_| depth > 0).map(|_| (depth, rest.to_owned()))
    };
    let mut lines: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.split('\n') {
        let item = item(line);
        if let Some(last) = lines.last_mut().filter(|_| inside) {
            last.push_str(if matches!(item, Some((1, _))) { "," } else { "]" });
        }
        lines.push(match &item {
            Some((1, value)) if inside => value.clone(),
            Some((_, value)) => format!("[{value}"),
            None => line.to_owned(),
        });
        inside = item.is_some();
    }
    if inside { lines.join("\n") + "]" } else { lines.join("\n") }
}

/// The rows of coordinates within brackets, with their columns if the lists have names; `None` if there are none.
/// Numbers with the same label, the last word before a colon or an equals sign, form one list.
pub(super) fn bracketed_rows(text: &str) -> Option<(Vec<Numbers<'_>>, Option<Surfaces>)> {
    let apart = |c: char| c.is_whitespace() || SEPARATORS.contains(c);
    let last_word = |text: &str| {
        let mut words = text.rsplit(|c: char| !c.is_alphanumeric() && c != '_');
        words.find(|word| word.starts_with(char::is_alphabetic)).map(str::to_owned)
    };
    let (mut line, mut label, mut word, mut before) = (1, None, None, "");
    let mut lists: BTreeMap<Option<String>, Vec<Numbers>> = BTreeMap::new();
    for piece in text.split_inclusive(['[', ']', '(', ')', '{', '}']) {
        let outside = before.strip_suffix(['[', '(', '{']);
        if let Some(outside) = outside.filter(|_| piece.ends_with([']', ')', '}'])) {
            let numbers = |text: &str| -> Vec<f64> {
                let tokens = text.split(apart).filter(|token| !token.is_empty());
                tokens.filter_map(|token| number(token.trim_end_matches('f'))).collect()
            };
            // A matrix is assigned, or an argument. Semicolons end its rows, or lines without commas do.
            let assigned =
                outside.trim_end().ends_with(['=', '(', ':', ',']) || outside.trim().is_empty();
            let semicolons = piece.contains(';');
            let ends =
                |c: char| if semicolons { c == ';' } else { c == '\n' && !piece.contains(',') };
            let parts: Vec<(&str, Vec<f64>)> =
                piece.split_inclusive(ends).map(|part| (part, numbers(part))).collect();
            let mut rows = parts.iter().map(|(_, values)| values.len()).filter(|&n| n > 0);
            let matrix = assigned
                && rows.clone().count() >= LEAST_POINTS
                && rows.all(|n| (2..=4).contains(&n));
            let mut at = line;
            for (part, values) in if matrix { parts } else { vec![(piece, numbers(piece))] } {
                // A number in brackets directly after a word is an index, and a row may be blank.
                let index = outside.ends_with(char::is_alphanumeric) || matrix;
                if values.len() > 1 || !index {
                    let numbers = Numbers { line: at, text: part, values, ..Numbers::default() };
                    lists.entry(label.clone()).or_default().push(numbers);
                }
                at += part.matches('\n').count();
            }
        } else {
            if let Some((key, _)) = piece.rsplit_once([':', '=']) {
                label = last_word(key).or(word.take());
            }
            word = last_word(piece).or(word);
        }
        line += piece.matches('\n').count();
        before = piece;
    }
    let long = |list: &&Numbers| list.values.len() >= LEAST_POINTS;
    let whole = |(label, lists): (&Option<String>, &Vec<Numbers<'_>>)| {
        let lists = lists.iter().filter(long);
        let values = lists.flat_map(|list| list.values.iter().map(|value| (list.line, *value)));
        (label.clone().unwrap_or_default(), values.collect::<Vec<_>>())
    };
    let columns: Vec<_> =
        lists.iter().map(whole).filter(|(_, column)| !column.is_empty()).collect();
    for (_, sample) in &columns {
        let like = columns.iter().filter(|(_, column)| column.len() == sample.len());
        let (words, columns): (Vec<&str>, Vec<_>) = like.map(|(w, c)| (w.as_str(), c)).unzip();
        let constant =
            |c: usize| columns[c].iter().all(|v| v.1.total_cmp(&columns[c][0].1).is_eq());
        if let Some((surfaces, _)) = named(&words, constant) {
            let row = |k: usize| {
                let values = columns.iter().map(|column| column[k].1).collect();
                Numbers { line: columns[0][k].0, values, ..Numbers::default() }
            };
            return Some(((0..sample.len()).map(row).collect(), Some(surfaces)));
        }
    }
    // Lists of whole numbers are indices of points, not coordinates.
    let of_points = |list: &Vec<Numbers<'_>>| {
        let points = list.iter().filter(|point| (2..=4).contains(&point.values.len()));
        let broken = list.iter().flat_map(|point| &point.values).any(|value| value.fract() != 0.0);
        points.count() >= LEAST_POINTS && broken
    };
    lists.into_values().find(of_points).map(|points| (points, None))
}
