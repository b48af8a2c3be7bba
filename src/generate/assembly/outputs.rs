//! The files of several elements.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::super::RunOptions;
use super::super::files::span_of;
use super::{AssemblyResult, BACKGROUND, PlacedAssembly, fingerprint};
use crate::error::Error;
use crate::files::output::Output;
use crate::files::{self, IoError};
use crate::formats::{ForceReference, MeshData, Settings, openfoam};
use crate::overset::Zone;
use crate::ranks::Job;
use crate::report::page::AssemblyPage;
use crate::report::plot::OversetPictures;
use crate::report::{self, AssemblyReport, BackgroundReport, ElementReport, history};
use crate::run::{RunLog, open_output};

/// Point that moments are taken about, in reference chords.
const QUARTER: [f64; 2] = [0.25, 0.0];

/// The folder of a run, this process's until it is done with it.
pub(super) struct Outputs(Output);

impl Outputs {
    /// Opens the folder and checks that the files can be written there, before the work.
    ///
    /// # Errors
    /// [`IoError`] of the first file in the way, or that its format cannot number or the disk has no
    /// space for.
    pub(super) fn open(
        placed: &PlacedAssembly,
        options: &RunOptions,
        notices: &mut Vec<String>,
    ) -> Result<Self, Error> {
        let mut names: Vec<String> = Vec::new();
        let (zones, settings) = (zone_names(placed), settings(placed));
        for format in &placed.assembly.output.formats {
            names.extend(format.claims(&zones, settings));
        }
        for good in [true, false] {
            names.extend(others(placed, good));
        }
        names.sort_unstable();
        names.dedup();
        let inputs: Vec<&Path> =
            placed.assembly.elements.iter().flat_map(|element| element.case.inputs()).collect();
        let (root, force) = (&options.output, options.force);
        let output = open_output(root, openfoam::RULES, force, (&names, &inputs), notices)?;
        let sizes = sizes(placed);
        for format in &placed.assembly.output.formats {
            format.check(output.root(), (&zones, &sizes), span(placed), settings)?;
        }
        Ok(Self(output))
    }

    /// Writes all files of a result; those of an earlier run go when all are complete.
    pub(super) fn write(
        self,
        made: &mut AssemblyResult,
        job: Option<&Job>,
        log: &mut RunLog<'_>,
    ) -> Result<(), Error> {
        let Self(output) = self;
        let started = std::time::Instant::now();
        let mut files = output.fill(|folder| write_meshes(folder, made))?;
        let (formats, mesh) = (&made.placed.assembly.output.formats, made.mesh());
        let lacks: Vec<String> =
            formats.iter().flat_map(|format| format.lacks(&output, &mesh)).collect();
        made.notices.extend(lacks);
        files.extend(output.fill(|folder| write_pictures(folder, made))?);
        log.timing.add("writing", started.elapsed().as_secs_f64());
        made.timing = log.total();
        let text = made.placed.assembly.to_toml_string()?;
        let report = made.report()?;
        files.extend(output.fill(|folder| {
            let path = |name| folder.join(name);
            let mut written = vec![path(files::REPORT_FILE), path(files::CASE_FILE)];
            report::write_json(&written[0], &report)?;
            files::atomic::write(&written[1], |out| out.write_all(text.as_bytes()))?;
            if made.placed.assembly.output.report {
                let zones = made.zones();
                let page = AssemblyPage {
                    report: &report,
                    histories: made.elements.iter().map(|element| &element.history).collect(),
                    pictures: pictures(made, &zones),
                    case: &text,
                };
                page.write(&path(files::PAGE_FILE))?;
                written.push(path(files::PAGE_FILE));
            }
            Ok(written)
        })?);
        // A rank that was lost meanwhile ends the run.
        job.map_or(Ok(()), Job::check)?;
        output.commit()?;
        made.files = files;
        Ok(())
    }
}

impl AssemblyResult {
    /// The report of the result, as `report.json` has it.
    ///
    /// # Errors
    /// A path of the case that is not UTF-8.
    pub fn report(&self) -> Result<AssemblyReport, Error> {
        let elements = self.elements.iter().zip(&self.placed.elements).map(|(made, placed)| {
            let (placement, reach) = (placed.placement, placed.reach);
            Ok(ElementReport { placement, reach, report: made.report()? })
        });
        let background = self.placed.background.zip(self.background.as_ref());
        Ok(AssemblyReport {
            name: self.placed.assembly.name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            verdict: self.verdict.clone(),
            elements: elements.collect::<Result<_, Error>>()?,
            background: background.map(|((options, _), grid)| BackgroundReport {
                options,
                ni: grid.ni,
                nj: grid.nj,
            }),
            overset: self.checks.clone(),
            timing: self.timing.clone(),
            backend: self.backend.clone(),
            threads: self.threads,
            fingerprint: fingerprint(&self.placed.assembly)?,
            notes: self.notices.clone(),
        })
    }

    /// The zones as a mesh with the span and the layouts that its case asks for.
    pub fn mesh(&self) -> MeshData<'_> {
        MeshData {
            zones: self.zones(),
            span: span(&self.placed),
            weldable: true,
            good: self.is_good(),
            settings: settings(&self.placed),
            search: self.checks.search_box.scaled(self.placed.assembly.overset.chord),
        }
    }
}

fn write_meshes(folder: &Path, made: &AssemblyResult) -> Result<Vec<PathBuf>, IoError> {
    let (mesh, mut files) = (made.mesh(), Vec::new());
    for format in &made.placed.assembly.output.formats {
        files.extend(format.write(folder, &mesh)?);
    }
    Ok(files)
}

fn pictures<'a>(made: &'a AssemblyResult, zones: &'a [Zone<'a>]) -> OversetPictures<'a> {
    OversetPictures {
        name: &made.placed.assembly.name,
        zones,
        checks: &made.checks,
        unit: made.placed.assembly.overset.chord,
        good: made.is_good(),
    }
}

/// Writes the histories of the solves and, where the case has pictures, those.
fn write_pictures(folder: &Path, made: &AssemblyResult) -> Result<Vec<PathBuf>, IoError> {
    let mut files = Vec::new();
    let output = &made.placed.assembly.output;
    for element in &made.elements {
        let name = |end: &str| folder.join(["convergence.", &element.case.name, end].concat());
        history::write_csv(&name(".csv"), &element.history)?;
        files.push(name(".csv"));
        if output.pictures {
            let tolerance = element.case.newton.tolerance;
            let figure = history::convergence(&element.case.name, &element.history, tolerance);
            figure.picture().write(&name(".svg"))?;
            files.push(name(".svg"));
        }
    }
    if output.pictures {
        let zones = made.zones();
        let all = pictures(made, &zones);
        let failed = if made.is_good() { "" } else { ".failed" };
        let whole = all.whole();
        let gaps = made.checks.gaps.iter().map(|gap| (gap_name(&gap.elements), all.gap(gap)));
        let pictures = std::iter::once(("grid".to_owned(), whole)).chain(gaps);
        for (name, picture) in pictures {
            for end in [".svg", ".png"] {
                let path = folder.join([&name, failed, end].concat());
                picture.write(&path)?;
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Name of the picture of a gap.
fn gap_name([a, b]: &[String; 2]) -> String {
    ["gap.", a, "-", b].concat()
}

fn element_names(placed: &PlacedAssembly) -> Vec<&str> {
    placed.assembly.elements.iter().map(|element| element.case.name.as_str()).collect()
}

fn zone_names(placed: &PlacedAssembly) -> Vec<&str> {
    placed.background.map(|_| BACKGROUND).into_iter().chain(element_names(placed)).collect()
}

fn settings(placed: &PlacedAssembly) -> Settings {
    let (output, length) = (&placed.assembly.output, placed.assembly.overset.chord);
    let reference = Some(ForceReference { length, centre: QUARTER.map(|c| c * length) });
    let (compression, plot3d) = (output.compression, output.plot3d);
    Settings { compression, plot3d, reference, ..Settings::default() }
}

fn span(placed: &PlacedAssembly) -> Option<crate::formats::Span> {
    span_of(&placed.assembly.output, placed.assembly.overset.chord)
}

fn sizes(placed: &PlacedAssembly) -> Vec<[usize; 2]> {
    let background = placed.background.map(|(background, [low, high])| background.size(low, high));
    background
        .into_iter()
        .chain(placed.elements.iter().map(|element| element.problem.size()))
        .collect()
}

/// Names of the files beside the meshes that a run may write.
fn others(placed: &PlacedAssembly, good: bool) -> Vec<String> {
    let output = &placed.assembly.output;
    let failed = if good { "" } else { ".failed" };
    let names = element_names(placed);
    let mut files: Vec<String> = [files::REPORT_FILE, files::CASE_FILE].map(str::to_owned).to_vec();
    files.extend(output.report.then(|| files::PAGE_FILE.to_owned()));
    files.extend(names.iter().map(|name| ["convergence.", name, ".csv"].concat()));
    if output.pictures {
        files.extend(names.iter().map(|name| ["convergence.", name, ".svg"].concat()));
        let pairs = (0..names.len()).flat_map(|a| (a + 1..names.len()).map(move |b| [a, b]));
        let gaps = pairs.map(|pair| gap_name(&pair.map(|k| names[k].to_owned())));
        let pictures = std::iter::once("grid".to_owned()).chain(gaps);
        files.extend(
            pictures.flat_map(|name| [".svg", ".png"].map(|end| [&name, failed, end].concat())),
        );
    }
    files
}

/// Names of the files that good grids have in any case: the pictures of gaps left out, of which there may be none.
pub(crate) fn file_names(placed: &PlacedAssembly) -> Vec<String> {
    let (zones, settings) = (zone_names(placed), settings(placed));
    let formats = placed.assembly.output.formats.iter();
    let meshes = formats.flat_map(|format| format.file_names(&zones, settings, true));
    let others = others(placed, true).into_iter().filter(|name| !name.starts_with("gap."));
    meshes.chain(others).collect()
}
