//! The coarser grids of a family.

use std::path::{Path, PathBuf};

use super::Job;
use super::resolved_case::ResolvedCase;
use crate::error::Error;
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, coarsened};
use crate::io::{self, Artifacts, FileKind};

/// A grid of a family beside the finest, as written.
pub(super) struct Member {
    pub(super) grid: Grid,
    pub(super) quality: Quality,
    pub(super) good: bool,
    pub(super) folder: PathBuf,
    pub(super) files: Vec<PathBuf>,
    /// What the grid is, for its report.
    pub(super) note: String,
}

/// Folder of the grid of this size: one below `output` if there are several.
pub(super) fn folder(output: &Path, [ni, nj]: [usize; 2], grids: u32) -> PathBuf {
    if grids > 1 { output.join(format!("{ni}x{nj}")) } else { output.to_path_buf() }
}

impl Job<'_> {
    /// Makes, measures and writes every other point of the finest grid, and so on. The history of
    /// the solve stays with the finest.
    pub(super) fn coarser(
        &mut self,
        finest: &Artifacts<'_>,
        kinds: &[FileKind],
    ) -> Result<Vec<Member>, Error> {
        let kinds: Vec<FileKind> = kinds
            .iter()
            .copied()
            .filter(|kind| !matches!(kind, FileKind::HistoryCsv | FileKind::ConvergenceSvg))
            .collect();
        let converged =
            finest.history.steps.last().is_some_and(|step| step.residual <= finest.tolerance);
        let [ni, nj] = [finest.grid.ni, finest.grid.nj];
        let mut case = self.case.clone();
        let mut members: Vec<Member> = Vec::new();
        for level in 1..self.grids {
            let grid = coarsened(members.last().map_or(finest.grid, |member| &member.grid));
            let quality = measure(&grid);
            let good = converged && quality.folded_cells == 0;
            let folder = folder(&self.options.output, [grid.ni, grid.nj], self.grids);
            io::folder::prepare(&folder)?;
            case = case.coarsened(quality.first_cell_min);
            let resolved = ResolvedCase::member(&case, &folder)?;
            io::folder::clear(&folder)?;
            resolved.iter().try_for_each(ResolvedCase::write)?;
            let artifacts = Artifacts { grid: &grid, quality: &quality, good, ..*finest };
            let mut files = io::write_all(&folder, &artifacts, &kinds)?;
            files.extend(resolved.map(|resolved| resolved.path));
            if quality.folded_cells > 0 {
                self.notices.push(format!(
                    "{} cells of the {} × {} grid of the family are folded",
                    quality.folded_cells, grid.ni, grid.nj
                ));
            }
            let stride = 1 << level;
            let note = format!(
                "one of {stride} points in each direction of the {ni} × {nj} grid, which was solved"
            );
            members.push(Member { grid, quality, good, folder, files, note });
        }
        Ok(members)
    }
}
