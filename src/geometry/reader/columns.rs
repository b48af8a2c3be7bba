//! Finds the columns of a table that hold coordinates.

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
pub(super) fn named(words: &[&str], constant: impl Fn(usize) -> bool) -> Option<Layout> {
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
