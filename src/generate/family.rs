//! The coarser grids of a family.

use std::path::{Path, PathBuf};

use super::Job;
use super::outputs::OutputFiles;
use super::report::Written;
use super::resolved_case::ResolvedCase;
use super::retry::verdict;
use crate::case::Case;
use crate::error::Error;
use crate::files::output::Output;
use crate::grid::quality::{Quality, measure};
use crate::grid::{Grid, Verdict, coarsened};
use crate::report::Artifacts;
use crate::solver::NewtonStop;

/// A grid of a family beside the finest, as written.
pub(super) struct Member {
    pub(super) grid: Grid,
    pub(super) quality: Quality,
    pub(super) verdict: Verdict,
    pub(super) files: Vec<PathBuf>,
    /// What the grid is, for its report.
    pub(super) note: String,
}

/// Folder of the grid of this size: one below `output` if there are several.
pub(super) fn folder(output: &Path, [ni, nj]: [usize; 2], grids: u32) -> PathBuf {
    if grids > 1 { output.join(format!("{ni}x{nj}")) } else { output.to_path_buf() }
}

/// Folders of the coarser grids of the family whose finest has this size.
pub(super) fn coarser_folders(output: &Path, size: [usize; 2], grids: u32) -> Vec<PathBuf> {
    let halved = |size: &[usize; 2]| Some(size.map(|points| points.div_ceil(2)));
    let sizes = std::iter::successors(Some(size), halved).skip(1);
    sizes.take(grids.saturating_sub(1) as usize).map(|size| folder(output, size, grids)).collect()
}

/// Every other point of the finest grid, every other point of that, and so on, with their quality.
pub(super) fn coarser(finest: &Grid, grids: u32) -> Vec<(Grid, Quality)> {
    let mut members: Vec<(Grid, Quality)> = Vec::new();
    for _ in 1..grids {
        let grid = coarsened(members.last().map_or(finest, |(grid, _)| grid));
        let quality = measure(&grid);
        members.push((grid, quality));
    }
    members
}

impl Job<'_> {
    /// Writes the report of a coarser grid; returns all its files.
    pub(super) fn report_member(
        &self,
        member: &Member,
        output: &Output,
        finest: &Artifacts<'_>,
        written: Written<'_>,
    ) -> Result<Vec<PathBuf>, Error> {
        let artifacts = Artifacts {
            grid: &member.grid,
            quality: &member.quality,
            good: member.verdict.is_good(),
            ..*finest
        };
        let written = Written { note: Some(&member.note), case: None, ..written };
        let report = self.write_report(output, &artifacts, &member.verdict, written)?;
        Ok(member.files.iter().cloned().chain(report).collect())
    }

    /// Writes the coarser grids of a family, each of which is judged as the finest is. The history
    /// of the solve stays with the finest.
    pub(super) fn write_coarser(
        &mut self,
        case: &Case,
        coarser: Vec<(Grid, Quality)>,
        stop: NewtonStop,
        finest: &Artifacts<'_>,
        requested: &OutputFiles,
        outputs: &[Output],
    ) -> Result<Vec<Member>, Error> {
        let requested = requested.of_coarser();
        let [ni, nj] = [finest.grid.ni, finest.grid.nj];
        let mut case = case.clone();
        let mut members = Vec::new();
        for (level, ((grid, quality), output)) in (1..).zip(coarser.into_iter().zip(outputs)) {
            let verdict = verdict(self.case, stop, &quality);
            case = case.coarsened(quality.first_cell_min);
            let resolved = ResolvedCase::member(&case)?;
            let good = verdict.is_good();
            let artifacts = Artifacts { grid: &grid, quality: &quality, good, ..*finest };
            let mut files = output.fill(|folder| requested.write(folder, &artifacts))?;
            if let Some(resolved) = resolved {
                files.extend(output.fill(|folder| Ok(vec![resolved.write(folder)?]))?);
            }
            if !good && stop.converged() {
                let size = format!("{} × {}", grid.ni, grid.nj);
                self.notices.push(format!("the {size} grid of the family: {verdict}"));
            }
            let stride = 1 << level;
            let note = format!(
                "one of {stride} points in each direction of the {ni} × {nj} grid, which was solved"
            );
            members.push(Member { grid, quality, verdict, files, note });
        }
        Ok(members)
    }
}
