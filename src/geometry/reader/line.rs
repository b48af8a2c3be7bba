//! Classifies one line of an airfoil file.

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
pub(super) fn number(token: &str) -> Option<f64> {
    let inner = token.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(token);
    let plain = inner.replace('\u{2212}', "-");
    if let Ok(value) = plain.parse() {
        return Some(value);
    }
    let begins = plain.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    plain.replace(['d', 'D'], "e").parse().ok().filter(|_| begins)
}
