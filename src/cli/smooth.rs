//! `gridgen smooth`: a grid that is given, made better.

use std::path::PathBuf;

use clap::Args;
use gridgen::case::SolverOptions;
use gridgen::formats::{self, Mesh, MeshData};
use gridgen::generate::{BackendChoice, Machine};
use gridgen::grid::Verdict;
use gridgen::grid::boundary::Side;
use gridgen::internals::atomic::check_apart;
use gridgen::report::Comparison;
use gridgen::smooth::{SmoothPass, SmoothSettings, Smoothed, side_named};

use super::convert::{LayoutArguments, format_of};
use super::ranks::backends;
use super::summary::written;
use super::terminal::{Terminal, list};
use super::{CommandFailure, code_if, parse_set};

/// Arguments of `gridgen smooth`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/smooth.txt").trim_ascii_end())]
pub(super) struct SmoothArguments {
    /// A mesh of one block: a Plot3D, .vts, .vtk, .su2, .cgns, .msh or Tecplot file, or the folder of an OpenFOAM case.
    #[arg(value_name = "MESH")]
    mesh: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Sides that are walls, with exact first cells.
    #[arg(long, value_name = "SIDE,…", default_value = "jmin", value_delimiter = ',', value_parser = side)]
    walls: Vec<Side>,
    /// Height of the first cells, in the unit of the mesh [default: the mesh's own, smoothed along the wall].
    #[arg(long, value_name = "HEIGHT")]
    first_cell: Option<f64>,
    /// Keep all points of the sides, as without --slide.
    #[arg(long, conflicts_with = "slide")]
    keep: bool,
    /// Let the points of these sides slide along them, which are no walls.
    #[arg(long, value_name = "SIDE,…", value_delimiter = ',', value_parser = side)]
    slide: Vec<Side>,
    /// Write FILE.smooth.html with both grids in the viewer, and FILE.smooth.png.
    #[arg(long)]
    report: bool,
    /// Replace a key of [newton], [linear] or [multigrid]; can be repeated.
    #[arg(long, value_name = "SECTION.KEY=VALUE", value_parser = parse_set)]
    set: Vec<(String, String)>,
    /// Where to compute; auto takes a GPU if there is one and the mesh is large enough to be faster there.
    #[arg(long, default_value = "auto", value_parser = backends())]
    backend: BackendChoice,
    #[command(flatten)]
    layout: LayoutArguments,
}

fn side(text: &str) -> Result<Side, String> {
    side_named(text).ok_or_else(|| "jmin, jmax, imin or imax was expected".to_owned())
}

impl SmoothArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let format = format_of(&self.output, "")?;
        let map = format.beside(&self.output);
        let read = formats::map_of(&self.mesh);
        check_apart([Some(&*self.output), map.as_deref()], [Some(&*self.mesh), read.as_deref()])?;
        let options = SolverOptions::new(&self.set)?;
        let mesh = formats::mesh(&self.mesh)?;
        let (walls, slide) = (self.walls.clone(), self.slide.clone());
        let settings = SmoothSettings { walls, first_cell: self.first_cell, slide };
        let points = mesh.grid.ni * mesh.grid.nj;
        let (machine, notice) = Machine::for_points(self.backend, None, None, points)?;
        if let Some(notice) = &notice {
            terminal.note(notice);
        }
        let smoothed = machine.smooth(&mesh.grid, &settings, &options)?;
        let worse = smoothed.grown();
        let result = Mesh { grid: smoothed.grid.clone(), ..mesh };
        let mesh = MeshData::from(&result.grid);
        let mut files = self.layout.write(format, &self.output, mesh, terminal)?;
        if self.report {
            let ends = ["smooth.html", "smooth.png"].map(|end| self.output.with_extension(end));
            let verdict = match smoothed.after.quality.folded_cells {
                0 => Verdict::Good,
                cells => Verdict::Folded { cells },
            };
            let comparison = Comparison {
                name: &self.mesh.file_name().unwrap_or_default().to_string_lossy(),
                about: "before and after smoothing",
                grids: smoothed.both(),
                measures: &smoothed.table(),
                verdict: &verdict,
            };
            comparison.write(&ends[0], &ends[1])?;
            files.extend(ends);
        }
        let head =
            format!("{}: {} x {} points\n", self.mesh.display(), result.grid.ni, result.grid.nj);
        let written = written(&files, &[]);
        terminal.result(
            &[head, described(&smoothed), list("read as", &result.notes), written].concat(),
        )?;
        let [before, after] = [&smoothed.before, &smoothed.after].map(|m| &m.quality);
        // Less than half of the last digit shown is no growth.
        if after.p99_skewness > before.p99_skewness + 5e-4 {
            terminal.note(&format!(
                "the skewness of 99 % of the cells grew from {:.3} to {:.3}: the mesh is smooth already, or the points of its \
                 sides are badly placed; --slide moves those of other sides than walls",
                before.p99_skewness, after.p99_skewness
            ));
        }
        let good = worse.is_empty() && after.folded_cells == 0;
        if !good {
            let folded = format!("folded cells in the grid: {}", after.folded_cells);
            terminal.error(if worse.is_empty() { folded } else { worse.join("; ") }.as_str(), None);
        }
        Ok(code_if(good))
    }
}

/// Measures before and after, and the solves.
fn described(smoothed: &Smoothed) -> String {
    let row =
        |[name, before, after]: &[String; 3]| format!("  {name:20} {before:>12} {after:>12}\n");
    let head = row(&["", "before", "after"].map(str::to_owned));
    let pass = |(k, pass): (usize, &SmoothPass)| {
        let quality = &pass.measures.quality;
        format!(
            "{}{}: {} Newton steps, {} linear iterations, {}{}",
            format!("{:?}", pass.functions).to_lowercase(),
            if pass.slid { " after a slide" } else { "" },
            pass.newton_iterations,
            pass.linear_iterations,
            if pass.converged {
                format!(
                    "skewness 99% below {:.3}, mean {:.4}, waves {:.1} deg",
                    quality.p99_skewness, quality.mean_skewness, quality.waves_deg
                )
            } else {
                "not converged".to_owned()
            },
            if k == smoothed.kept { ", kept" } else { "" },
        )
    };
    let rows: String = smoothed.table().iter().map(row).collect();
    [head, rows, list("solved with functions", smoothed.passes.iter().enumerate().map(pass))]
        .concat()
}
