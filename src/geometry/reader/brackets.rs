//! Coordinates within brackets, as in programs, JSON, YAML, gmsh and numpy: points, or lists of x and of y.

use std::collections::BTreeMap;

use super::columns::{Layout, named};
use super::line::{Numbers, number};
use crate::geometry::error::LEAST_POINTS;

/// Characters that separate words and numbers within brackets, in addition to white space.
const SEPARATORS: &str = "[](){},;:='\"";

/// The rows of coordinates within brackets, with their columns if the lists have names. `None` if the text
/// has no such rows.
///
/// Numbers are labelled by the last word before a colon or an equals sign. Numbers with the same label form
/// one list.
pub(super) fn rows(text: &str) -> Option<(Vec<Numbers<'_>>, Option<Layout>)> {
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
            let tokens = piece.split(apart).filter(|token| !token.is_empty());
            let values: Vec<f64> =
                tokens.filter_map(|token| number(token.trim_end_matches('f'))).collect();
            // A number in brackets directly after a word is an index.
            if values.len() > 1 || !outside.ends_with(char::is_alphanumeric) {
                lists.entry(label.clone()).or_default().push(Numbers::new(line, piece, values));
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
        if let Some(layout) = named(&words, constant) {
            let values = |k: usize| columns.iter().map(|column| column[k].1).collect();
            let row = |k: usize| Numbers::new(columns[0][k].0, "", values(k));
            return Some(((0..sample.len()).map(row).collect(), Some(layout)));
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
