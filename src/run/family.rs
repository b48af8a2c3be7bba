//! The coarser grids of a family.

use std::path::{Path, PathBuf};

use super::Job;
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
        let mut members: Vec<Member> = Vec::new();
        for _ in 1..self.grids {
            let grid = coarsened(members.last().map_or(finest.grid, |member| &member.grid));
            let quality = measure(&grid);
            let good = converged && quality.folded_cells == 0;
            let folder = folder(&self.options.output, [grid.ni, grid.nj], self.grids);
            io::folder::prepare(&folder)?;
            io::folder::clear(&folder)?;
            let artifacts = Artifacts { grid: &grid, quality: &quality, good, ..*finest };
            let files = io::write_all(&folder, &artifacts, &kinds)?;
            if quality.folded_cells > 0 {
                let (cells, ni, nj) = (quality.folded_cells, grid.ni, grid.nj);
                self.notices.push(format!("the {ni} × {nj} grid of the family: {cells} folded"));
            }
            members.push(Member { grid, quality, good, folder, files });
        }
        Ok(members)
    }
}
