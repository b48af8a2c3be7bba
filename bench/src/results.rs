//! Tables and pictures of measurements.

use super::Size;
use gridgen::files::IoError;
use gridgen::internals::atomic;
use gridgen::report::plot::XyFigure;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;

/// The results of measurements.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Results {
    /// Tables for people.
    pub tables: Vec<Table>,
    /// Long tables for programs, with file names.
    pub values: Vec<(&'static str, Table)>,
    /// Pictures with file names.
    pub figures: Vec<(&'static str, XyFigure)>,
}

impl Results {
    /// Writes the tables as `table-1.csv` and so on, in their order, and the others under their names into
    /// `to`, which is created if necessary.
    pub fn write(&self, to: &Path) -> Result<(), IoError> {
        atomic::create_folder(to)?;
        let numbered = (1..).map(|k| format!("table-{k}.csv")).zip(&self.tables);
        let named = self.values.iter().map(|(name, table)| ((*name).to_owned(), table));
        for (name, table) in numbered.chain(named) {
            atomic::write(&to.join(name), |file| file.write_all(table.csv().as_bytes()))?;
        }
        let mut figures = self.figures.iter();
        figures.try_for_each(|(name, figure)| figure.picture().write(&to.join(name)))
    }

    /// The tables in Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        self.tables.iter().map(Table::markdown).collect::<Vec<_>>().join("\n")
    }
}

impl From<Vec<Table>> for Results {
    fn from(tables: Vec<Table>) -> Self {
        Self { tables, ..Self::default() }
    }
}

/// A table of text cells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// The title.
    pub title: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Rows, each with one cell for each column.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    #[must_use]
    pub fn new(title: impl Into<String>, columns: &[&str]) -> Self {
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        Self { title: title.into(), columns, rows: Vec::new() }
    }

    /// The table in Markdown, with numbers aligned right.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!("{}\n\n| {} |\n|", self.title, self.columns.join(" | "));
        for k in 0..self.columns.len() {
            text += if k == 0 { " --- |" } else { " ---: |" };
        }
        text.push('\n');
        for row in &self.rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        text
    }

    /// The table as comma-separated values, with quotes around cells that contain a comma.
    #[must_use]
    pub fn csv(&self) -> String {
        let line = |cells: &[String]| {
            let quoted: Vec<String> = cells
                .iter()
                .map(|cell| {
                    if cell.contains([',', '"']) {
                        format!("\"{}\"", cell.replace('"', "\"\""))
                    } else {
                        cell.clone()
                    }
                })
                .collect();
            quoted.join(",") + "\n"
        };
        std::iter::once(&self.columns).chain(&self.rows).map(|cells| line(cells)).collect()
    }
}

/// Points of a grid.
pub(crate) fn points((ni, nj): Size) -> String {
    format!("{ni} × {nj}")
}

/// A fraction as a percentage.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
