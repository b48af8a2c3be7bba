//! `gridgen airfoil`: the section that a file, a designation or a case is read as, and its picture.

use std::path::PathBuf;

use clap::Args;
use gridgen::case::{BodyContour, Case, CaseFile};
use gridgen::geometry::{
    Airfoil, ClosedContour, CubicSpline, GeometryError, SectionMeasures, TrailingEdge,
    airfoil_from_file, airfoil_from_naca,
};
use gridgen::report::plot;

use super::named::{designation, named};
use super::summary::written;
use super::terminal::{Terminal, list};
use super::values::PictureArguments;
use super::{CommandFailure, parse_set};
use crate::geometry::vector::bounds;

/// Points of the drawn line.
const CURVE_POINTS: usize = 4000;
/// The line between two points of a closed contour.
const CURVE_PIECES: usize = 8;

/// Arguments of `gridgen airfoil`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/airfoil.txt").trim_ascii_end())]
pub(super) struct AirfoilArguments {
    /// A file of points, a case file (its section with flap and edge), or, where no file has that name, a NACA
    /// designation or the name of a section.
    #[arg(value_name = "FILE|NACA|NAME|CASE.toml")]
    section: PathBuf,
    #[command(flatten)]
    pictures: PictureArguments,
    /// Replace a key of the case file; can be repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
}

impl AirfoilArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let section = self.read()?;
        let name = self.section.file_stem().unwrap_or_default().to_string_lossy();
        let SectionView { name: title, summary, points, curve, edges, .. } = &section;
        let draw = || plot::airfoil(title, summary, points, curve, *edges);
        let files = self.pictures.draw(&name, &self.section, draw)?;
        let written = written(&files, &[]);
        terminal.result(&[section.text, written].concat())
    }

    fn read(&self) -> Result<SectionView, CommandFailure> {
        let case = if self.section.extension().is_some_and(|ending| ending == "toml") {
            Some(Case::from_file(&self.section, &self.set)?)
        } else if let Some((name, key, value)) = named(&self.section) {
            Some(CaseFile::of_section(&name, (key, value), &self.set)?.into_section()?)
        } else {
            None
        };
        let section = if let Some(case) = case {
            match case.body()? {
                BodyContour::Airfoil(airfoil) => SectionView::airfoil(airfoil),
                BodyContour::Smooth(contour) => SectionView::smooth(contour),
            }
        } else if !self.set.is_empty() {
            let message = "--set replaces keys of a case file or of a section by its name";
            return Err(CommandFailure::Usage(message.to_owned()));
        } else {
            let airfoil = match designation(&self.section) {
                Some(designation) => airfoil_from_naca(designation, TrailingEdge::AsGiven),
                None => airfoil_from_file(&self.section),
            };
            airfoil.and_then(SectionView::airfoil)
        };
        section.map_err(|error| CommandFailure::input(&error, error.hint().as_deref()))
    }
}

/// The data of a section that are printed and drawn.
struct SectionView {
    name: String,
    text: String,
    summary: String,
    points: Vec<[f64; 2]>,
    curve: Vec<[f64; 2]>,
    edges: bool,
}

impl SectionView {
    fn airfoil(airfoil: Airfoil) -> Result<Self, GeometryError> {
        let measures = SectionMeasures::of(&airfoil)?;
        let spline = CubicSpline::through(&airfoil.points)?;
        let at = |k: usize| spline.point(spline.length() * (k as f64 / CURVE_POINTS as f64));
        Ok(Self {
            text: describe(&airfoil, &measures) + &repairs(&airfoil.notes),
            summary: format!(
                "{} points   ·   thickness {:.2} %   ·   camber {:.2} %   ·   edge gap {:.2e}",
                airfoil.points.len(),
                100.0 * measures.thickness,
                100.0 * measures.camber,
                measures.edge_gap,
            ),
            curve: (0..=CURVE_POINTS).map(at).collect(),
            name: airfoil.name,
            points: airfoil.points,
            edges: true,
        })
    }

    fn smooth(contour: ClosedContour) -> Result<Self, GeometryError> {
        let curve = contour.outline(CURVE_PIECES)?;
        let [[left, low], [right, high]] = bounds(curve.iter().copied());
        let text = format!(
            "{}\n\
             \x20 points     {}\n\
             \x20 width      {:.6} from x = {left:.6}\n\
             \x20 height     {:.6} from y = {low:.6}\n\
             \x20 contour    closed and smooth, no edges\n",
            contour.name,
            contour.points.len(),
            right - left,
            high - low,
        );
        Ok(Self {
            text: text + &repairs(&contour.notes),
            summary: format!(
                "{} points   ·   {:.4} wide   ·   {:.4} high",
                contour.points.len(),
                right - left,
                high - low
            ),
            name: contour.name,
            points: contour.points,
            curve,
            edges: false,
        })
    }
}

fn describe(airfoil: &Airfoil, measures: &SectionMeasures) -> String {
    let edge = if measures.edge_gap > 0.0 {
        format!("open, gap {:.4e} chord", measures.edge_gap)
    } else {
        "closed".to_owned()
    };
    // Rounded first: a symmetric section has no camber of −0.
    let camber = (1e5 * measures.camber).round() / 1e3 + 0.0;
    format!(
        "{}\n\
         \x20 points     {}\n\
         \x20 chord      1, from x = 0\n\
         \x20 thickness  {:.3} % at x = {:.3}\n\
         \x20 camber     {:.3} % at x = {:.3}\n\
         \x20 edge       {edge}, surfaces meet at {:.2} deg\n",
        airfoil.name,
        airfoil.points.len(),
        100.0 * measures.thickness,
        measures.thickness_at,
        camber,
        measures.camber_at,
        measures.edge_angle_deg,
    )
}

/// The repairs that were made.
fn repairs(notes: &[String]) -> String {
    if notes.is_empty() {
        return "nothing was repaired or left out\n".into();
    }
    list("repaired or left out", notes)
}
