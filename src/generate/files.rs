//! The files that a case asks for.

use crate::case::{Case, OutputOptions};
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::ForceReference;
use crate::formats::Span;
use crate::formats::{Format, MeshData, Settings};
use crate::grid::{FAR_FIELD_CENTRE, Grid};
use crate::report::{self, Artifacts, Figures, ReportFile};
use std::path::{Path, PathBuf};

/// The span of a case in the third dimension, in the unit of its files.
pub(super) fn span(case: &Case) -> Option<Span> {
    span_of(&case.output, case.geometry.length())
}

/// The span for a chord of this length in the files.
pub(super) fn span_of(output: &OutputOptions, chord: f64) -> Option<Span> {
    let length = output.span * chord;
    let (cells, sides) = (output.span_cells, output.sides);
    (cells > 0).then_some(Span { length, cells, sides })
}

/// The files of a case besides its report.
pub(super) struct OutputFiles {
    span: Option<Span>,
    settings: Settings,
    formats: Vec<&'static Format>,
    others: Vec<&'static ReportFile>,
}

impl OutputFiles {
    /// The files that a case asks for.
    pub(super) fn of(case: &Case) -> Self {
        let output = &case.output;
        let settings = Settings {
            compression: output.compression,
            plot3d: output.plot3d,
            curved_order: output.curved_order,
            reference: None,
        };
        let mut others = vec![&report::HISTORY];
        others.extend(output.pictures.then_some(&report::PICTURES).into_iter().flatten());
        others.extend(output.quality_maps.then_some(&report::QUALITY_MAPS).into_iter().flatten());
        Self { span: span(case), settings, formats: output.formats.clone(), others }
    }

    /// Sets the reference of force coefficients, in the unit of the files: chord and quarter point of
    /// a section, the middle of a smooth contour, whose grid was moved by `shift`.
    pub(super) fn with_reference(mut self, case: &Case, shift: [f64; 2]) -> Self {
        let length = case.geometry.length();
        let smooth = case.geometry.contour.is_smooth();
        let centre = if smooth {
            [0, 1].map(|c| FAR_FIELD_CENTRE[c] + shift[c])
        } else {
            case.geometry.pivot(shift)
        };
        let centre = centre.map(|c| c * length);
        self.settings.reference = Some(ForceReference { length, centre });
        self
    }

    /// Writes the files into `folder` and returns their paths; a coarser grid of a family has those that show
    /// it, and no history. Files of the same names are replaced: the `folder` of an output being made has none.
    pub(super) fn write(
        &self,
        folder: &Path,
        artifacts: &Artifacts<'_>,
        figures: &Figures,
        finest: bool,
    ) -> Result<Vec<PathBuf>, IoError> {
        let Artifacts { grid, good, .. } = *artifacts;
        let mut files = Vec::new();
        for format in &self.formats {
            files.extend(format.write(folder, &self.mesh_data(grid, good))?);
        }
        let others = self.others.iter();
        for file in others.filter(|file| finest || file.names[0] != file.names[1]) {
            let path = folder.join(file.names[usize::from(!good)]);
            (file.write)(&path, artifacts, figures)?;
            files.push(path);
        }
        Ok(files)
    }

    /// Finds what older files that stay in `output` as a user wrote them lack, one sentence each.
    pub(super) fn lacks(&self, output: &Output, grid: &Grid, good: bool) -> Vec<String> {
        let mesh = &self.mesh_data(grid, good);
        self.formats.iter().flat_map(|format| format.lacks(output, mesh)).collect()
    }

    /// Refuses meshes that their formats cannot number or the disk of `folder` has no space for.
    ///
    /// # Errors
    /// [`IoError`] of the first such file.
    pub(super) fn check(&self, size: [usize; 2], folder: &Path) -> Result<(), IoError> {
        let mut formats = self.formats.iter();
        formats
            .try_for_each(|format| format.check(folder, (&[""], &[size]), self.span, self.settings))
    }

    pub(super) fn mesh_data<'a>(&self, grid: &'a Grid, good: bool) -> MeshData<'a> {
        MeshData { span: self.span, good, settings: self.settings, ..MeshData::from(grid) }
    }
}

/// Names of the files of a good grid, the case among them.
pub(super) fn names_if_good(case: &Case) -> Vec<String> {
    let OutputFiles { formats, settings, others, .. } = OutputFiles::of(case);
    let meshes = formats.iter().flat_map(|format| format.file_names(&[""], settings, true));
    let page = case.output.report.then_some(files::PAGE_FILE);
    let others = others.iter().map(|file| file.names[0]).chain([files::CASE_FILE]).chain(page);
    meshes.chain(others.map(str::to_owned)).collect()
}

/// Names of all files that a run of a case may write, good or failed, with the linear system of a
/// Newton step that is exported.
pub(super) fn names(case: &Case, export: Option<usize>) -> Vec<String> {
    let OutputFiles { formats, settings, others, .. } = OutputFiles::of(case);
    let meshes = formats.iter().flat_map(|format| format.claims(&[""], settings));
    let others = others.iter().flat_map(|file| file.names);
    let page = case.output.report.then_some(files::PAGE_FILE);
    let reference = case.output.reference.then_some(files::REFERENCE_FILE);
    let own = [files::REPORT_FILE, files::CASE_FILE, files::RESTART_FILE].into_iter();
    let own = own.chain(page).chain(reference);
    let names = meshes.chain(others.chain(own).map(str::to_owned));
    names.chain(export.into_iter().flat_map(system_names)).collect()
}

/// Names of the files of a Newton step: matrix and right side.
pub(super) fn system_names(step: usize) -> [String; 2] {
    [".mtx", "-rhs.mtx"].map(|end| format!("jacobian-{step}{end}"))
}
