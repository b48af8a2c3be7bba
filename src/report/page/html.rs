//! Pieces of HTML.

/// A section with a heading; nothing where there is nothing to show.
pub(super) fn section(heading: &str, contents: &str) -> String {
    if contents.is_empty() {
        return String::new();
    }
    let heading =
        if heading.is_empty() { String::new() } else { ["<h2>", heading, "</h2>\n"].concat() };
    ["<section>\n", &heading, contents, "\n</section>\n"].concat()
}

/// Text that is no markup.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A table of rows, with the class of each column in the style.
pub(super) fn table<const N: usize>(
    classes: [&str; N],
    heads: Option<[&str; N]>,
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let row = |tag: &str, cells: [String; N]| {
        let cells = cells.into_iter().zip(classes);
        let cells = cells.map(|(cell, class)| format!("<{tag} class=\"{class}\">{cell}</{tag}>"));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let heads = heads.map(|heads| row("th", heads.map(str::to_owned)));
    let rows = rows.into_iter().map(|cells| row("td", cells));
    format!("<table>\n{}</table>", heads.into_iter().chain(rows).collect::<String>())
}
