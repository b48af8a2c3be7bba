//! The files that a case asks for.

use crate::case::Case;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::Span;
use crate::formats::openfoam::Reference;
use crate::formats::{MeshData, MeshFile, Settings};
use crate::geometry::PIVOT;
use crate::grid::{FAR_FIELD_CENTRE, Grid};
use crate::report::{self, Artifacts, ReportFile};
use std::path::{Path, PathBuf};

/// How the grid of a case goes on in the third dimension, in the unit of its files.
pub(super) fn span(case: &Case) -> Option<Span> {
    let output = &case.output;
    let length = output.span * case.geometry.chord;
    let (cells, sides) = (output.span_cells, output.sides);
    (cells > 0).then_some(Span { length, cells, sides })
}

/// The files of a case besides its report.
pub(super) struct OutputFiles {
    span: Option<Span>,
    settings: Settings,
    meshes: Vec<&'static MeshFile>,
    others: Vec<&'static ReportFile>,
}

impl OutputFiles {
    /// Those that a case asks for.
    pub(super) fn of(case: &Case) -> Self {
        let output = &case.output;
        let settings =
            Settings { compression: output.compression, plot3d: output.plot3d, reference: None };
        let formats = output.formats.iter();
        let mut others = vec![&report::HISTORY];
        others.extend(output.pictures.then_some(&report::PICTURES).into_iter().flatten());
        others.extend(output.quality_maps.then_some(&report::QUALITY_MAPS).into_iter().flatten());
        Self {
            span: span(case),
            settings,
            meshes: formats.flat_map(|format| format.files_with(settings)).collect(),
            others,
        }
    }

    /// The same with what force coefficients refer to.
    pub(super) fn with_reference(mut self, reference: Reference) -> Self {
        self.settings.reference = Some(reference);
        self
    }

    /// Those of a coarser grid of a family, which has no history of its own.
    pub(super) fn of_coarser(&self) -> Self {
        let shows_the_grid = |file: &&ReportFile| file.names[0] != file.names[1];
        Self {
            meshes: self.meshes.clone(),
            others: self.others.iter().copied().filter(shows_the_grid).collect(),
            ..*self
        }
    }

    /// Writes the files into `folder` and returns their paths. Files of the same names are replaced:
    /// where there may be some that are not to be lost, `folder` is that of an output being made.
    pub(super) fn write(
        &self,
        folder: &Path,
        artifacts: &Artifacts<'_>,
    ) -> Result<Vec<PathBuf>, IoError> {
        let Artifacts { grid, good, .. } = *artifacts;
        let mut files = Vec::new();
        for mesh in &self.meshes {
            let path = folder.join(mesh.name(good));
            mesh.write(&path, &self.mesh_data(grid))?;
            files.push(path);
        }
        for file in &self.others {
            let path = folder.join(file.names[usize::from(!good)]);
            (file.write)(&path, artifacts)?;
            files.push(path);
        }
        Ok(files)
    }

    /// What older files lack that stay in `output` as somebody wrote them, one sentence each.
    pub(super) fn lacks(&self, output: &Output, grid: &Grid, good: bool) -> Vec<String> {
        let mesh = &self.mesh_data(grid);
        self.meshes.iter().flat_map(|file| file.lacks(output, good, mesh)).collect()
    }

    /// Refuses meshes that their formats cannot number or the disk of `folder` has no space for.
    ///
    /// # Errors
    ///
    /// [`IoError`] of the first such file.
    pub(super) fn check(&self, size: [usize; 2], folder: &Path) -> Result<(), IoError> {
        let check = |file: &&MeshFile| file.check(&folder.join(file.name(true)), size, self.span);
        self.meshes.iter().try_for_each(check)
    }

    /// Names of the files, for good grids and for others.
    pub(super) fn names(&self) -> Vec<String> {
        let meshes =
            self.meshes.iter().flat_map(|file| [true, false].map(|good| file.claims(good)));
        let others = self.others.iter().flat_map(|file| file.names).map(str::to_owned);
        meshes.flatten().chain(others).collect()
    }

    /// Names of the files of a good grid.
    pub(super) fn names_if_good(&self) -> impl Iterator<Item = &'static str> {
        let meshes = self.meshes.iter().map(|file| file.name(true));
        meshes.chain(self.others.iter().map(|file| file.names[0]))
    }

    fn mesh_data<'a>(&self, grid: &'a Grid) -> MeshData<'a> {
        MeshData { grid, span: self.span, weldable: true, settings: self.settings }
    }
}

/// Names of all files that a run of a case may write, good or failed, with the linear system of a
/// Newton step where that is asked for.
pub(super) fn names(case: &Case, export: Option<usize>) -> Vec<String> {
    let mut names = OutputFiles::of(case).names();
    let others = [files::REPORT_FILE, files::CASE_FILE, files::RESTART_FILE].map(str::to_owned);
    names.extend(others);
    names.extend(case.output.report.then(|| files::PAGE_FILE.to_owned()));
    names.extend(export.into_iter().flat_map(system_names));
    names
}

/// What force coefficients refer to, in the unit of the files: chord and quarter point of a section,
/// the middle of a smooth contour, whose grid was moved by `shift`.
pub(super) fn reference(case: &Case, shift: [f64; 2]) -> Reference {
    let chord = case.geometry.chord;
    let centre = if case.geometry.contour.is_smooth() {
        [0, 1].map(|c| FAR_FIELD_CENTRE[c] + shift[c])
    } else {
        PIVOT
    };
    Reference { length: chord, centre: centre.map(|c| c * chord) }
}

/// Names of the files of a Newton step: matrix and right side.
pub(super) fn system_names(step: usize) -> [String; 2] {
    [".mtx", "-rhs.mtx"].map(|end| format!("jacobian-{step}{end}"))
}
