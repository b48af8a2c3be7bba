//! Which columns of a table hold coordinates.

/// Most of the chord: two surfaces in columns of their own both reach over it.
const FULL: f64 = 0.9;

/// The coordinates of a table with more than two columns.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// Columns of x and y: of the contour, or of each of the two surfaces.
    pub(super) surfaces: Vec<[usize; 2]>,
    /// What was made of the columns.
    pub(super) note: &'static str,
}

impl Layout {
    fn contour(x: usize, y: usize, note: &'static str) -> Self {
        Self { surfaces: vec![[x, y]], note }
    }
}

/// Finds the coordinates by the names in the line above the numbers, or else by the numbers.
///
/// `None`: the rows differ in length, or the columns can be interpreted in no way or in several.
pub(super) fn layout(heading: Option<&str>, rows: &[&[f64]]) -> Option<Layout> {
    let width = rows.first()?.len();
    if rows.iter().any(|row| row.len() != width) {
        return None;
    }
    heading.and_then(|text| named(text, width)).or_else(|| measured(rows, width))
}

/// The layout that the words of a heading name, one word a column.
fn named(heading: &str, width: usize) -> Option<Layout> {
    let separator = |c: char| c.is_whitespace() || ",;|".contains(c);
    let heading = heading.trim_start_matches(['#', '!', '%', '/', ' ']);
    let words: Vec<String> =
        heading.split(separator).map(plain_word).filter(|w| !w.is_empty()).collect();
    if words.len() != width {
        return None;
    }
    let column = |names: &[&str]| words.iter().position(|w| names.contains(&w.as_str()));
    let x = column(&["x", "xc"]);
    let upper_x = column(&["xu", "xup", "xupper", "upperx"]).or(x);
    let lower_x = column(&["xl", "xlow", "xlower", "lowerx"]).or(x);
    let upper = column(&["yu", "yup", "yupper", "uppery"]).zip(upper_x);
    let lower = column(&["yl", "ylow", "ylower", "lowery"]).zip(lower_x);
    if let (Some((upper_y, upper_x)), Some((lower_y, lower_x))) = (upper, lower) {
        let surfaces = vec![[upper_x, upper_y], [lower_x, lower_y]];
        let note = "Upper and lower surface were taken from the columns that the heading names";
        return Some(Layout { surfaces, note });
    }
    let (x, y) = x.zip(column(&["y", "yc"]))?;
    Some(Layout::contour(x, y, "x and y were taken from the columns that the heading names"))
}

/// The letters of a word in lower case, without a unit in brackets: `X(mm)` is `x`.
fn plain_word(word: &str) -> String {
    let name = word.split(['(', '[']).next().unwrap_or(word);
    name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect()
}

/// The only layout of three or four columns that the numbers allow.
fn measured(rows: &[&[f64]], width: usize) -> Option<Layout> {
    let column = |c: usize| rows.iter().map(move |row| row[c]);
    let steady = |c: usize| {
        let (mut pairs, mut back) =
            (column(c).zip(column(c).skip(1)), column(c).zip(column(c).skip(1)));
        pairs.all(|(a, b)| a <= b) || back.all(|(a, b)| a >= b)
    };
    let range = |c: usize| {
        column(c).fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], v| [a.min(v), b.max(v)])
    };
    let constant = |c: usize| range(c)[0] >= range(c)[1];
    let counts = column(0).zip(column(0).skip(1)).all(|(a, b)| (b - a - 1.0).abs() < 1e-9);
    let above = |a: usize, b: usize| rows.iter().all(|row| row[a] >= row[b]);
    // x of a contour goes forth and back.
    let turns = |c: usize| !steady(c);
    let layout = match width {
        3 if constant(2) && turns(0) => {
            Layout::contour(0, 1, "The constant third column was not used")
        }
        3 if constant(1) && turns(0) => {
            Layout::contour(0, 2, "The constant second column was not used")
        }
        3 if constant(0) && turns(1) => {
            Layout::contour(1, 2, "The constant first column was not used")
        }
        3 if counts && turns(1) => {
            Layout::contour(1, 2, "The first column counts the points and was not used")
        }
        3 if turns(0) => Layout::contour(0, 1, "The third column was not used"),
        3 if above(1, 2) || above(2, 1) => Layout {
            surfaces: vec![[0, 1], [0, 2]],
            note: "The second and third column were taken as the ordinates of the two surfaces",
        },
        4 if steady(0) && steady(2) && common_part(range(0), range(2)) > FULL => Layout {
            surfaces: vec![[0, 1], [2, 3]],
            note: "The four columns were taken as x and y of the two surfaces",
        },
        _ => return None,
    };
    Some(layout)
}

/// Length common to two intervals over that of both together.
fn common_part([a, b]: [f64; 2], [c, d]: [f64; 2]) -> f64 {
    (b.min(d) - a.max(c)) / (b.max(d) - a.min(c))
}
