//! Tables and pictures of a run, by the names of their files.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::history::{convergence, write_csv};
use super::plot::{Artifacts, OversetPictures, Picture};
use crate::files::{IoError, WriteFault};
use crate::solver::history::History;

/// A table or a picture of a run.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportFile {
    /// Its name without an ending.
    pub stem: String,
    /// The endings of its files.
    pub ends: &'static [&'static str],
    /// Whether it shows the grid: its name tells where that is not good.
    pub shows_grid: bool,
}

impl ReportFile {
    /// The names of its files, for a good grid or for one that is not.
    pub fn names(&self, good: bool) -> Vec<String> {
        let failed = if good || !self.shows_grid { "" } else { ".failed" };
        self.ends.iter().map(|end| [&self.stem, failed, end].concat()).collect()
    }
}

/// The tables and pictures of a run, as far as pictures and maps of quality are wanted. A section is one element,
/// without a name; gaps that turn out to be none have no picture.
#[doc(hidden)]
pub fn report_files([pictures, maps]: [bool; 2], elements: &[&str]) -> Vec<ReportFile> {
    let ends: &[&str] = if pictures { &[".csv", ".svg"] } else { &[".csv"] };
    let solve = |name: &&str| ReportFile { stem: of_solve(name), ends, shows_grid: false };
    let mut files: Vec<ReportFile> = elements.iter().map(solve).collect();
    let pairs = elements.iter().enumerate().flat_map(|(k, a)| {
        elements[k + 1..].iter().map(move |b| of_gap(&[(*a).to_owned(), (*b).to_owned()]))
    });
    let shown = pictures.then(|| std::iter::once("grid".to_owned()).chain(pairs));
    let shown = shown.into_iter().flatten().chain(maps.then(|| "quality".to_owned()));
    let picture = |stem| ReportFile { stem, ends: &[".svg", ".png"], shows_grid: true };
    files.extend(shown.map(picture));
    files
}

/// Name of the files on the solve for an element.
fn of_solve(element: &str) -> String {
    let parted = if element.is_empty() { "" } else { "." };
    ["convergence", parted, element].concat()
}

fn of_gap([a, b]: &[String; 2]) -> String {
    ["gap.", a, "-", b].concat()
}

/// The solves of a run and its pictures, by the names of their files.
#[doc(hidden)]
#[derive(Default)]
pub struct Figures {
    solves: Vec<(String, History)>,
    pictures: Vec<(String, Picture)>,
    /// Largest non-orthogonality of a cell in degrees, with the maps of quality.
    pub(super) nonorthogonality: Option<f64>,
}

impl Figures {
    /// The views of a grid and the maps of its quality, as far as they are wanted.
    pub fn of(grid: &Artifacts<'_>, [wanted, maps]: [bool; 2]) -> Self {
        let views = grid.views();
        let (lines, quality) = rayon::join(
            || wanted.then(|| grid.grid_picture(&views)),
            || maps.then(|| grid.quality_picture(&views)),
        );
        let (quality, nonorthogonality) = quality.unzip();
        let named = [("grid", lines), ("quality", quality)];
        let pictures =
            named.into_iter().filter_map(|(name, picture)| Some((name.to_owned(), picture?)));
        Self { pictures: pictures.collect(), nonorthogonality, ..Self::default() }
    }

    /// Views of the grids of several elements, and of the gaps between them.
    pub(crate) fn of_elements(all: &OversetPictures<'_>) -> Self {
        let gaps = all.checks.gaps.iter().map(|gap| (of_gap(&gap.elements), all.gap(gap)));
        let pictures = std::iter::once(("grid".to_owned(), all.whole())).chain(gaps).collect();
        Self { pictures, ..Self::default() }
    }

    /// Adds the solve for an element, which has a name among several.
    #[must_use]
    pub fn with_solve(mut self, element: &str, solved: &Artifacts<'_>) -> Self {
        let figure = convergence(solved.name, solved.history, solved.tolerance);
        self.solves.push((of_solve(element), solved.history.clone()));
        self.pictures.push((of_solve(element), figure.picture()));
        self
    }

    /// The picture of this name, for a page, or those whose names begin with it, where it ends in a dot.
    pub(super) fn shown(&self, stem: &str) -> Result<String, WriteFault> {
        let named = |name: &str| name == stem || (stem.ends_with('.') && name.starts_with(stem));
        let shown = self.pictures.iter().filter(|(name, _)| named(name));
        shown.map(|(_, picture)| picture.figure()).collect()
    }

    /// The picture of the solve for an element, for a page, and its steps.
    pub(super) fn solve(&self, element: &str) -> Result<(String, Option<&History>), WriteFault> {
        let stem = of_solve(element);
        let solve = self.solves.iter().find(|(name, _)| *name == stem);
        Ok((self.shown(&stem)?, solve.map(|(_, history)| history)))
    }

    /// Writes the files of a table or a picture, if it is among these; returns them.
    pub fn write(
        &self,
        file: &ReportFile,
        good: bool,
        folder: &Path,
    ) -> Result<Vec<PathBuf>, IoError> {
        let solve = self.solves.iter().find(|(stem, _)| *stem == file.stem);
        let picture = self.pictures.iter().find(|(stem, _)| *stem == file.stem);
        let files = file.ends.par_iter().zip(file.names(good)).map(|(end, name)| {
            let path = folder.join(name);
            match (*end, solve, picture) {
                (".csv", Some((_, history)), _) => write_csv(&path, history)?,
                (".svg" | ".png", _, Some((_, picture))) => picture.write(&path)?,
                _ => return Ok(None),
            }
            Ok(Some(path))
        });
        Ok(files.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }
}
