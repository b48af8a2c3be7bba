//! What one line of an airfoil file is.

/// A line of numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Numbers {
    /// At least two.
    pub(super) values: Vec<f64>,
    /// A number was in parentheses, as tables mark edge ordinates.
    pub(super) parentheses: bool,
    /// Commas were read as decimal points.
    pub(super) decimal_commas: bool,
    /// Numbers without a separator were parted at the sign of the second.
    pub(super) run_together: bool,
}

/// What a line is, by itself.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    /// Nothing, or white space.
    Blank,
    /// Marked by `#`, `!`, `%` or `//`.
    Comment,
    /// Words.
    Text,
    /// One number alone, or a number and something that nearly is one.
    Broken,
    /// Two numbers or more, and nothing else.
    Numbers(Numbers),
}

/// Classifies a line.
pub(super) fn classify(text: &str) -> Line {
    let text = text.trim();
    if text.is_empty() {
        return Line::Blank;
    }
    if text.starts_with(['#', '!', '%']) || text.starts_with("//") {
        return Line::Comment;
    }
    let data = text.split(['#', '!']).next().unwrap_or(text);
    let (words, decimal_commas) = tokens(data);
    let tokens: Vec<String> = words.iter().flat_map(|word| parted(word)).collect();
    let run_together = tokens.len() > words.len();
    let values: Vec<Option<f64>> = tokens.iter().map(|t| number(t)).collect();
    let leading = values.iter().take_while(|v| v.is_some()).count();
    if leading == tokens.len() && leading > 1 {
        let parentheses = tokens.iter().any(|t| t.starts_with('('));
        let values = values.into_iter().flatten().collect();
        return Line::Numbers(Numbers { values, parentheses, decimal_commas, run_together });
    }
    let digits = |t: &String| t.contains(|c: char| c.is_ascii_digit());
    let nearly = match values[..] {
        [_] => leading == 1,
        [Some(_), None] => digits(&tokens[1]),
        [None, Some(_)] => digits(&tokens[0]) && tokens.iter().all(|t| t.contains('.')),
        _ => false,
    };
    if nearly { Line::Broken } else { Line::Text }
}

/// The words of a line, and whether its commas were decimal points: two words, a comma between
/// digits in one or both, and no point anywhere. All other commas separate.
fn tokens(data: &str) -> (Vec<String>, bool) {
    let words: Vec<&str> =
        data.split(|c: char| c.is_whitespace() || c == ';').filter(|w| !w.is_empty()).collect();
    let decimal = words.len() == 2
        && words.iter().any(|w| w.contains(','))
        && words.iter().all(|w| !w.contains('.') && decimal_comma_or_none(w));
    let tokens = if decimal {
        words.iter().map(|w| w.replace(',', ".")).collect()
    } else {
        words
            .iter()
            .flat_map(|w| w.split(','))
            .filter(|w| !w.is_empty())
            .map(str::to_owned)
            .collect()
    };
    (tokens, decimal)
}

/// Whether a word has no comma, or one with digits on both sides.
fn decimal_comma_or_none(word: &str) -> bool {
    let digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match word.split_once(',') {
        None => true,
        Some((before, after)) => {
            digit(before.chars().last()) && digit(after.chars().next()) && !after.contains(',')
        }
    }
}

/// Two numbers where fixed columns left no blank before the sign of the second, as in
/// `1.00000-0.00126`; the word itself otherwise.
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

/// A number; also with a Fortran exponent (`1.0D-3`), a typographic minus, or in parentheses.
fn number(token: &str) -> Option<f64> {
    let inner = token.strip_prefix('(').and_then(|t| t.strip_suffix(')')).unwrap_or(token);
    let plain = inner.replace('\u{2212}', "-");
    if let Ok(value) = plain.parse() {
        return Some(value);
    }
    let fortran = plain.replace(['d', 'D'], "e");
    if plain.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) {
        fortran.parse().ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::panic)] // A test may.

    use super::{Line, classify};

    fn values(text: &str) -> Vec<f64> {
        match classify(text) {
            Line::Numbers(numbers) => numbers.values,
            other => panic!("`{text}` was read as {other:?}"),
        }
    }

    #[test]
    fn separators_are_blanks_tabs_commas_and_semicolons() {
        for text in ["0.5 -.25", "\t0.5\t-0.25\r", "0.5,-0.25", "0.5, -0.25,", "+5e-1;-2.5E-1"] {
            assert_eq!(values(text), [0.5, -0.25], "{text}");
        }
    }

    #[test]
    fn a_comma_between_digits_is_a_decimal_point_where_two_words_have_no_point() {
        assert_eq!(values("0,5 -0,25"), [0.5, -0.25]);
        assert_eq!(values("1\t0,25"), [1.0, 0.25]);
        assert_eq!(values("1,2"), [1.0, 2.0]);
    }

    #[test]
    fn fortran_exponents_parentheses_and_typographic_minus_are_numbers() {
        assert_eq!(values("0.5D0 -0.25d+00"), [0.5, -0.25]);
        assert_eq!(values("0.5 (-0.25)"), [0.5, -0.25]);
        assert_eq!(values("0.5 \u{2212}0.25"), [0.5, -0.25]);
    }

    #[test]
    fn numbers_that_run_together_are_parted_at_the_sign() {
        assert_eq!(values("1.00000-0.00126"), [1.0, -0.00126]);
        assert_eq!(values("-1.5e-3-2.5E-1"), [-1.5e-3, -0.25]);
        assert_eq!(classify("2010-11-21"), Line::Text);
    }

    #[test]
    fn a_remark_behind_the_numbers_is_left_out() {
        assert_eq!(values("0.5 -0.25 # nose"), [0.5, -0.25]);
    }

    #[test]
    fn prose_is_text_even_where_it_begins_with_numbers() {
        for text in ["NACA 0012", "0.0 0.00102 -> 0.00001 0.00102", "1.0 ......", "E197  (13.49%)"]
        {
            assert_eq!(classify(text), Line::Text, "{text}");
        }
    }

    #[test]
    fn half_a_point_is_broken() {
        for text in ["0.5", "0.5 0.0x23", "0.5 1.2.3", "O.5 0.0123"] {
            assert_eq!(classify(text), Line::Broken, "{text}");
        }
    }
}
