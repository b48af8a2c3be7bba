//! `gridgen quality`: the measures of a plane structured grid.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use gridgen::files::IoError;
use gridgen::formats::{self, Contents, Mesh};
use gridgen::grid::Grid;
use gridgen::grid::quality::{
    BadCell, Growth, Quality, boundary_layer_cells, growth, interfaces, measure_along,
    measure_blocks, skewness_histogram, worst_cells,
};
use gridgen::report::plot;
use serde_json::json;

use super::summary::{skewness, written};
use super::terminal::{Terminal, list};
use super::values::{PictureArguments, above_zero};
use super::{CommandFailure, code_if};

/// Intervals of the histogram.
const BINS: usize = 50;

/// Help of `--output`.
const PICTURES: &str = "Folder of the histogram, <mesh>.quality.png and <mesh>.quality.svg";

/// Arguments of `gridgen quality`.
#[derive(Debug, Args)]
#[command(after_help = include_str!("help/quality.txt").trim_ascii_end())]
#[command(mut_arg("output", |output| output.help(PICTURES)))]
pub(super) struct QualityArguments {
    /// A Plot3D file (text, Fortran records or plain binary), a .vts, .vtk, .su2, .cgns, .msh or Tecplot
    /// file, or the folder of an OpenFOAM case; of one zone or several.
    #[arg(value_name = "MESH")]
    mesh: PathBuf,
    #[command(flatten)]
    pictures: PictureArguments,
    /// Print the measures as JSON, named as in report.json.
    #[arg(long)]
    json: bool,
    /// Reynolds number of the chord, the length of the wall in x: counts the cells within the boundary layer.
    #[arg(long, value_name = "NUMBER", value_parser = above_zero)]
    reynolds: Option<f64>,
    /// Number of the worst cells to list.
    #[arg(long, value_name = "N", default_value_t = 5)]
    worst: usize,
}

impl QualityArguments {
    pub(super) fn execute(&self, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let contents = formats::contents(&self.mesh)?;
        if contents.grids.len() > 1 {
            return self.several(&contents, terminal);
        }
        let mesh = contents.mesh(&self.mesh)?;
        let mut quality = measure_along(&mesh.grid, mesh.wall);
        let cells = |re| boundary_layer_cells(&mesh.grid, mesh.wall, re);
        quality.boundary_layer_cells = self.reynolds.map(cells);
        let worst = worst_cells(&mesh.grid, self.worst);
        let files = self.draw(std::slice::from_ref(&mesh.grid), &quality)?;
        let text = if self.json {
            let Mesh { grid, notes, .. } = &mesh;
            let (ni, nj) = (grid.ni, grid.nj);
            // Numbers that are not finite become null.
            format!(
                "{:#}\n",
                json!({ "ni": ni, "nj": nj, "quality": quality, "growth": growth(&mesh.grid),
                    "worst_cells": worst, "notes": notes })
            )
        } else {
            describe(&self.mesh.to_string_lossy(), &mesh, &quality, &worst, &files)
        };
        terminal.result(&text)?;
        Ok(code_if(quality.folded_cells == 0))
    }

    /// The measures of several zones, each with those of its wall, if it has one on a side, and their interfaces.
    fn several(&self, zones: &Contents, terminal: &Terminal) -> Result<u8, CommandFailure> {
        let Contents { names, grids, notes } = zones;
        let (all, interfaces) = (measure_blocks(grids), interfaces(grids));
        let each: Vec<Quality> =
            grids.iter().map(|grid| measure_blocks(std::slice::from_ref(grid))).collect();
        let files = self.draw(grids, &all)?;
        let text = if self.json {
            let zone = |((name, grid), quality): ((&String, &Grid), &Quality)| {
                json!({ "name": name, "ni": grid.ni, "nj": grid.nj, "quality": quality,
                    "growth": growth(grid), "worst_cells": worst_cells(grid, self.worst) })
            };
            let zones: Vec<_> = names.iter().zip(grids).zip(&each).map(zone).collect();
            format!(
                "{:#}\n",
                json!({ "quality": all, "zones": zones, "interfaces": interfaces, "notes": notes })
            )
        } else {
            let folded = if all.folded_cells == 0 { "not folded" } else { "FOLDED" };
            let mut text = format!("{}: {folded}\n", self.mesh.display());
            for ((name, grid), quality) in names.iter().zip(grids).zip(&each) {
                text.push_str(&zone_text(name, grid, quality));
            }
            text.push_str("interfaces:\n");
            for found in &interfaces {
                let [a, b] = found.blocks.map(|block| &names[block]);
                let ([from, to], [kx, ky], [gx, gy]) =
                    (&found.sides, found.kink_at, found.growth_at);
                let _ = writeln!(
                    text,
                    "  {a} {from} - {b} {to}: {} points, apart by at most {:.1e}; kink at most {:.1} deg at x = {kx:.4}, \
                     y = {ky:.4}; growth across at most {:.3} at x = {gx:.4}, y = {gy:.4}",
                    found.nodes, found.gap, found.kink_deg, found.growth
                );
            }
            [text, list("read as", notes), written(&files, &[])].concat()
        };
        terminal.result(&text)?;
        Ok(code_if(all.folded_cells == 0))
    }

    fn draw(&self, grids: &[Grid], quality: &Quality) -> Result<Vec<PathBuf>, IoError> {
        let name = self.mesh.file_name().unwrap_or_default().to_string_lossy();
        let sizes: Vec<_> = grids.iter().map(|grid| format!("{} × {}", grid.ni, grid.nj)).collect();
        let summary = format!(
            "{} points   ·   {} folded cells   ·   skewness at most {:.3}, 99% below {:.3}, mean \
             {:.4}",
            sizes.join(" + "),
            quality.folded_cells,
            quality.max_skewness,
            quality.p99_skewness,
            quality.mean_skewness,
        );
        let mut counts = vec![0; BINS];
        for grid in grids {
            for (all, count) in counts.iter_mut().zip(skewness_histogram(grid, BINS)) {
                *all += count;
            }
        }
        let draw = || plot::histogram(&name, &summary, &counts);
        self.pictures.draw(&[&name, ".quality"].concat(), &self.mesh, draw)
    }
}

/// The measures of a zone.
fn zone_text(name: &str, grid: &Grid, quality: &Quality) -> String {
    let wall = if quality.first_cell_min.is_finite() {
        format!(
            "  first cell    {:.4e} to {:.4e}\n  wall angle    off normal by at most {:.2e} deg, corners left out {}\n",
            quality.first_cell_min,
            quality.first_cell_max,
            quality.wall_angle_error_max_deg,
            quality.wall_corners
        )
    } else {
        String::new()
    };
    format!(
        "zone {name}:\n\
         \x20 grid          {} x {} points\n\
         \x20 folded cells  {}, smallest corner determinant {:.3e}\n{wall}{}",
        grid.ni,
        grid.nj,
        quality.folded_cells,
        quality.min_jacobian,
        cells_text(quality),
    )
}

/// The measures of cells.
fn cells_text(quality: &Quality) -> String {
    format!(
        "  {}\
         \x20 aspect ratio  max {:.4e}\n\
         \x20 growth        max {:.3} in i, {:.3} in j\n",
        skewness(quality),
        quality.max_aspect_ratio,
        quality.max_growth_i,
        quality.max_growth_j,
    )
}

/// Measures, worst cells, and how the file was read.
fn describe(
    name: &str,
    mesh: &Mesh,
    quality: &Quality,
    worst: &[BadCell],
    files: &[PathBuf],
) -> String {
    let layers = quality.boundary_layer_cells.map_or_else(String::new, |cells| {
        format!("  layers        {cells} within a boundary layer\n")
    });
    let growth = growth(&mesh.grid).map_or_else(String::new, |both| {
        let [i, j] = both.map(|Growth { p99, node: [i, j], at: [x, y], .. }| {
            format!("99% below {p99:.3}, max at ({i}, {j}), x = {x:.4}, y = {y:.4}")
        });
        format!("  along i       {i}\n  along j       {j}\n")
    });
    let mut text = format!(
        "{name}: {}\n\
         \x20 grid          {} x {} points\n\
         \x20 folded cells  {}, smallest corner determinant {:.3e}\n\
         \x20 first cell    {:.4e} to {:.4e}\n\
         \x20 wall angle    off normal by at most {:.2e} deg, mean {:.2e}, corners left out {}\n\
         {}{growth}\
         \x20 waves         max {:.1} deg, lines above 1 deg {}\n\
         \x20 far field     {:.4} to {:.4} from mid-chord\n{layers}\
         worst cells:\n",
        if quality.folded_cells == 0 { "not folded" } else { "FOLDED" },
        mesh.grid.ni,
        mesh.grid.nj,
        quality.folded_cells,
        quality.min_jacobian,
        quality.first_cell_min,
        quality.first_cell_max,
        quality.wall_angle_error_max_deg,
        quality.wall_angle_error_mean_deg,
        quality.wall_corners,
        cells_text(quality),
        quality.waves_deg,
        quality.wavy_lines,
        quality.far_field_min,
        quality.far_field_max,
    );
    for &BadCell { cell: [i, j], centre: [x, y], skewness, folded } in worst {
        let folded = if folded { ", folded" } else { "" };
        let _ = writeln!(
            text,
            "  ({i}, {j}) at x = {x:.6}, y = {y:.6}: skewness {skewness:.3}{folded}"
        );
    }
    [text, list("read as", &mesh.notes), written(files, &[])].concat()
}
