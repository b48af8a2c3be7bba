//! `gridgen airfoil`: what is understood of a section, and its picture.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use gridgen::geometry::{
    Airfoil, CubicSpline, GeometryError, SectionMeasures, TrailingEdge, airfoil_from_file,
    airfoil_from_naca,
};
use gridgen::io::IoError;
use gridgen::io::plot::{AirfoilFigure, write_airfoil_png, write_airfoil_svg};

use super::{answer, bad_input};
use crate::cli::terminal::Terminal;

/// Points of the drawn line.
const CURVE_POINTS: usize = 4000;

/// Arguments of `gridgen airfoil`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  gridgen airfoil airfoils/e387.dat
  gridgen airfoil 4412 --output pictures

Exit codes: 0 understood, 2 not.")]
pub(super) struct AirfoilArguments {
    /// A file of points, or a NACA designation where no file has that name.
    #[arg(value_name = "FILE|NACA")]
    section: PathBuf,
    /// Folder of the pictures, <section>.png and <section>.svg.
    #[arg(short, long, value_name = "DIR", default_value = "output")]
    output: PathBuf,
    /// Draw nothing.
    #[arg(long)]
    no_pictures: bool,
}

impl AirfoilArguments {
    /// Reads, draws and prints.
    pub(super) fn execute(&self) -> ExitCode {
        let terminal = Terminal::new(false);
        let (airfoil, measures, curve) = match self.read() {
            Ok(read) => read,
            Err(error) => return bad_input(&terminal, &error.to_string(), error.hint()),
        };
        let mut text = describe(&airfoil, &measures);
        if !self.no_pictures {
            match self.draw(&airfoil, &measures, &curve) {
                Ok(files) => {
                    text += "written:\n";
                    for file in files {
                        text += &["  ", &file.to_string_lossy(), "\n"].concat();
                    }
                }
                Err(error) => return bad_input(&terminal, &error.to_string(), Some(error.hint())),
            }
        }
        answer(&terminal, &text)
    }

    fn read(&self) -> Result<(Airfoil, SectionMeasures, Vec<[f64; 2]>), GeometryError> {
        let airfoil = match self.designation() {
            Some(designation) => airfoil_from_naca(designation, TrailingEdge::AsGiven)?,
            None => airfoil_from_file(&self.section)?,
        };
        let measures = SectionMeasures::of(&airfoil)?;
        let spline = CubicSpline::through(&airfoil.points)?;
        let at = |k: usize| spline.point(spline.length() * (k as f64 / CURVE_POINTS as f64));
        Ok((airfoil, measures, (0..=CURVE_POINTS).map(at).collect()))
    }

    /// The argument as a designation: digits behind an optional `NACA`, and no file of that name.
    fn designation(&self) -> Option<&str> {
        let text = self.section.to_str().filter(|_| !self.section.exists())?;
        let plain = text.to_ascii_lowercase();
        let digits = plain.strip_prefix("naca").unwrap_or(&plain).trim_start_matches([' ', '-']);
        digits.starts_with(|c: char| c.is_ascii_digit()).then_some(text).filter(|_| {
            Path::new(text).extension().is_none() && !text.contains(std::path::is_separator)
        })
    }

    fn draw(
        &self,
        airfoil: &Airfoil,
        measures: &SectionMeasures,
        curve: &[[f64; 2]],
    ) -> Result<[PathBuf; 2], IoError> {
        gridgen::io::atomic::create_folder(&self.output)?;
        let stem = self.section.file_stem().unwrap_or_default().to_string_lossy();
        let [png, svg] = ["png", "svg"].map(|kind| self.output.join([&stem, ".", kind].concat()));
        let figure = AirfoilFigure {
            name: &airfoil.name,
            summary: &format!(
                "{} points   ·   thickness {:.2} %   ·   camber {:.2} %   ·   edge gap {:.2e}",
                airfoil.points.len(),
                100.0 * measures.thickness,
                100.0 * measures.camber,
                measures.edge_gap,
            ),
            points: &airfoil.points,
            curve,
        };
        write_airfoil_png(&png, &figure)?;
        write_airfoil_svg(&svg, &figure)?;
        Ok([png, svg])
    }
}

/// What was understood.
fn describe(airfoil: &Airfoil, measures: &SectionMeasures) -> String {
    let edge = if measures.edge_gap > 0.0 {
        format!("open, gap {:.4e} chord", measures.edge_gap)
    } else {
        "closed".to_owned()
    };
    // Rounded first: a symmetric section has no camber of −0.
    let camber = (1e5 * measures.camber).round() / 1e3 + 0.0;
    let mut text = format!(
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
    );
    if airfoil.notes.is_empty() {
        text += "nothing was repaired or left out\n";
    } else {
        text += "repaired or left out:\n";
        for note in &airfoil.notes {
            text += &["  ", note, "\n"].concat();
        }
    }
    text
}
