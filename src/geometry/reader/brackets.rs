//! Coordinates within brackets, as in programs, JSON, YAML, gmsh, numpy and MATLAB: points, or lists of x and of
//! y. Block lists of YAML are read as if they were written in brackets.

use std::collections::BTreeMap;

use super::columns::{Surfaces, named};
use super::line::{Numbers, number};
use crate::geometry::error::LEAST_POINTS;

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
pub(super) fn rows(text: &str) -> Option<(Vec<Numbers<'_>>, Option<Surfaces>)> {
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
