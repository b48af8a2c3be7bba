//! The files that a case asks for: their names, and what all of them hold alike.

use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::case::{OutputOptions, PlacedCase, Problem};
use crate::error::Error;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::{self, ForceReference, Format, MeshData, Settings, Span, block_names};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Topology};
use crate::overset::{SearchBox, Zone};
use crate::report::{Figures, ReportFile, report_files};
use crate::run::{RunOptions, open_output};

/// Point that moments of several elements are taken about, in reference chords.
const QUARTER: [f64; 2] = [0.25, 0.0];

/// Name of the background's zone.
pub const BACKGROUND: &str = "background";

/// The files of a case besides its report: those of a section, which is one zone without a name, or those of several
/// elements.
pub(super) struct OutputFiles<'a> {
    output: &'a OutputOptions,
    /// Names of the zones, and their points.
    zones: Vec<&'a str>,
    sizes: Vec<[usize; 2]>,
    pub(super) span: Option<Span>,
    settings: Settings,
    /// Tables and pictures.
    others: Vec<ReportFile>,
    /// Files that later runs start from.
    starts: Vec<&'static str>,
}

impl<'a> OutputFiles<'a> {
    fn new(
        output: &'a OutputOptions,
        (elements, background): (Vec<&'a str>, Option<[usize; 2]>),
        sizes: impl Iterator<Item = [usize; 2]>,
        reference: ForceReference,
    ) -> Self {
        let ForceReference { length, .. } = reference;
        let (cells, sides) = (output.span_cells, output.sides);
        Self {
            output,
            span: (cells > 0).then_some(Span { length: output.span * length, cells, sides }),
            settings: Settings {
                compression: output.compression,
                plot3d: output.plot3d,
                curved_order: output.curved_order,
                reference: Some(reference),
                reynolds: None,
            },
            others: report_files([output.pictures, output.quality_maps], &elements),
            zones: background.map(|_| BACKGROUND).into_iter().chain(elements).collect(),
            sizes: background.into_iter().chain(sizes).collect(),
            starts: Vec::new(),
        }
    }

    /// The files of a case. Forces refer to the reference chord of several elements.
    pub(super) fn of(placed: &'a PlacedCase) -> Self {
        if let Some(problem) = placed.section() {
            return Self::of_section(problem);
        }
        let case = &placed.case;
        let names = case.elements.iter().map(|element| element.case.name.as_str()).collect();
        let background = placed.background.map(|(grid, [low, high])| grid.size(low, high));
        let length = case.chord();
        let reference = ForceReference { length, centre: QUARTER.map(|c| c * length) };
        let sizes = placed.elements.iter().map(|element| element.problem.size());
        Self::new(&case.output, (names, background), sizes, reference)
    }

    /// The files of a section. Forces refer to its chord and its quarter point, of a smooth contour to its middle.
    pub(super) fn of_section(problem: &'a Problem) -> Self {
        let (case, shift) = (&problem.case, problem.shift);
        let length = case.geometry.length();
        let centre = if case.geometry.contour.is_smooth() {
            [0, 1].map(|c| FAR_FIELD_CENTRE[c] + shift[c])
        } else {
            case.geometry.pivot(shift)
        };
        let reference = ForceReference { length, centre: centre.map(|c| c * length) };
        let sizes = [[case.grid.ni, case.grid.nj]].into_iter();
        let mut files = Self::new(&case.output, (vec![""], None), sizes, reference);
        files.settings.reynolds = case.grid.reynolds;
        if let (Topology::Blunt { wake }, Some(cells)) = (problem.topology, case.grid.base_cells) {
            files.zones = block_names(2).to_vec();
            files.sizes.push([wake + 1, cells + 1]);
        }
        if let Some(passage) = problem.passage() {
            files.zones = block_names(4).to_vec();
            files.sizes.extend(passage.sizes(case.grid.ni - 1));
        }
        let movements = case.output.reference.then_some(files::REFERENCE_FILE);
        Self { starts: movements.into_iter().chain([files::RESTART_FILE]).collect(), ..files }
    }

    fn formats(&self) -> impl Iterator<Item = &'static Format> {
        self.output.formats.iter().copied()
    }

    /// Names of the files that good grids have in any case: gaps may be none, and have no picture then.
    pub(super) fn names_if_good(&self) -> Vec<String> {
        let meshes = self.formats().flat_map(|f| f.file_names(&self.zones, self.settings, true));
        let others = self.others.iter().flat_map(|file| file.names(true));
        let others = others.filter(|name| !name.starts_with("gap."));
        let page = self.output.report.then_some(files::PAGE_FILE);
        let starts = self.starts.iter().copied().filter(|name| *name != files::RESTART_FILE);
        let own = [files::CASE_FILE].into_iter().chain(page).chain(starts).map(str::to_owned);
        meshes.chain(others).chain(own).collect()
    }

    /// Names of all files that a run may write, good or failed.
    fn names(&self) -> Vec<String> {
        let meshes = self.formats().flat_map(|format| format.claims(&self.zones, self.settings));
        let both = |file: &ReportFile| [file.names(true), file.names(false)].concat();
        let page = self.output.report.then_some(files::PAGE_FILE);
        let own = [files::REPORT_FILE, files::CASE_FILE].into_iter().chain(page);
        let own = own.chain(self.starts.iter().copied()).map(str::to_owned);
        meshes.chain(self.others.iter().flat_map(both)).chain(own).collect()
    }

    /// Opens folders, of which the first has the whole grids, and checks that the files can be written there.
    ///
    /// # Errors
    /// [`IoError`] of the first file in the way, or that its format cannot number or the disk has no space for.
    pub(super) fn open(
        &self,
        folders: impl Iterator<Item = PathBuf>,
        inputs: &[&Path],
        options: &RunOptions,
        notices: &mut Vec<String>,
    ) -> Result<Vec<Output>, Error> {
        let mut names = self.names();
        names.extend(options.export_jacobian.into_iter().flat_map(system_names));
        let (rules, force) = (formats::RULES, options.force);
        let open = |root: PathBuf| open_output(&root, rules, force, (&names, inputs), notices);
        let outputs: Vec<Output> = folders.map(open).collect::<Result<_, IoError>>()?;
        let finest = outputs.first().map_or(Path::new(""), Output::root);
        for format in self.formats() {
            format.check(finest, (&self.zones, &self.sizes), self.span, self.settings)?;
        }
        Ok(outputs)
    }

    /// Zones as a mesh; `search` is the box in which OpenFOAM cuts holes between several.
    pub(super) fn mesh<'g>(
        &self,
        zones: Vec<Zone<'g>>,
        good: bool,
        search: SearchBox,
    ) -> MeshData<'g> {
        let Self { span, settings, .. } = *self;
        MeshData { zones, span, weldable: true, good, settings, search }
    }

    /// The blocks of the grid of a section as a mesh.
    pub(super) fn mesh_of<'g>(&self, blocks: &[&'g Grid], good: bool) -> MeshData<'g> {
        let Self { span, settings, .. } = *self;
        MeshData { span, good, settings, ..MeshData::of_blocks(blocks) }
    }

    /// Writes meshes, tables and pictures into a folder that is being made, the pictures drawn while meshes are written;
    /// returns the files and the pictures.
    pub(super) fn write(
        &self,
        output: &Output,
        mesh: &MeshData<'_>,
        draw: impl FnOnce() -> Figures + Send,
    ) -> Result<(Vec<PathBuf>, Figures), IoError> {
        let meshes = || {
            output.fill(|folder| {
                let written = self.formats().map(|format| format.write(folder, mesh));
                Ok(written.collect::<Result<Vec<_>, _>>()?.concat())
            })
        };
        let others = || {
            let figures = draw();
            let files = output.fill(|folder| {
                let files = self.others.par_iter();
                let written = files.map(|file| figures.write(file, mesh.good, folder));
                Ok(written.collect::<Result<Vec<_>, _>>()?.concat())
            });
            files.map(|files| (files, figures))
        };
        let (meshes, others) = rayon::join(meshes, others);
        let (meshes, (others, figures)) = (meshes?, others?);
        Ok(([meshes, others].concat(), figures))
    }

    /// Says what stays in `output` of earlier runs, and what such files lack, one sentence each.
    pub(super) fn stays(
        &self,
        output: &Output,
        mesh: &MeshData<'_>,
    ) -> Result<Vec<String>, IoError> {
        let mut stays = output.stays_of_earlier()?;
        stays.extend(self.formats().flat_map(|format| format.lacks(output, mesh)));
        Ok(stays)
    }
}

/// Names of the files of a Newton step: matrix and right side.
pub(super) fn system_names(step: usize) -> [String; 2] {
    [".mtx", "-rhs.mtx"].map(|end| format!("jacobian-{step}{end}"))
}
