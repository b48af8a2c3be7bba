//! Formats of meshes and matrices: a file or a folder each, written from finished data, and readers.
//!
//! A grid that is not good says so in the names of its files ([`FileKind::file_name`]).

pub mod cgns;
pub mod limits;
pub mod matrix_market;
pub mod nmf;
pub mod openfoam;
pub mod plot3d;
pub mod read;
mod rows;
pub mod span;
pub mod su2;
pub mod vtk;
pub mod vts;
mod welded;
mod zlib;

/// The files a run can write besides its report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileKind {
    /// `mesh.vts`: VTK XML structured grid with cell quality.
    Vts,
    /// `mesh.vtk`: legacy VTK structured grid with cell quality.
    Vtk,
    /// `mesh.p3d`: `Plot3D`, two planes of a three-dimensional block.
    Plot3d,
    /// `mesh.2d.p3d`: `Plot3D`, plane.
    #[serde(rename = "plot3d-2d")]
    Plot3dPlanar,
    /// `mesh.nmf`: what the faces of the block in `mesh.p3d` are.
    Nmf,
    /// `mesh.su2`: mesh for SU2.
    Su2,
    /// `openfoam`: a folder, case for OpenFOAM.
    Openfoam,
    /// `mesh.cgns`: one structured zone with named boundaries.
    Cgns,
    /// `convergence.csv`: one line a Newton step.
    HistoryCsv,
    /// `convergence.svg`: the residual against steps and iterations.
    ConvergenceSvg,
    /// `grid.svg`: four views of the grid.
    GridSvg,
    /// `grid.png`: the same as a bitmap.
    GridPng,
    /// `quality.svg`: maps of four measures of quality.
    QualitySvg,
    /// `quality.png`: the same as a bitmap.
    QualityPng,
}

impl FileKind {
    /// All kinds, in the order in which they are best written: meshes first.
    pub const ALL: [Self; 14] = [
        Self::Vts,
        Self::Vtk,
        Self::Plot3d,
        Self::Plot3dPlanar,
        Self::Nmf,
        Self::Su2,
        Self::Openfoam,
        Self::Cgns,
        Self::HistoryCsv,
        Self::ConvergenceSvg,
        Self::GridSvg,
        Self::GridPng,
        Self::QualitySvg,
        Self::QualityPng,
    ];

    /// Name of the file. Files that hold or show the grid are named `….failed.…` when it is not
    /// good, so that no program takes them for a mesh; the history is of interest either way.
    #[must_use]
    pub fn file_name(self, good: bool) -> &'static str {
        match (self, good) {
            (Self::Vts, true) => "mesh.vts",
            (Self::Vts, false) => "mesh.failed.vts",
            (Self::Vtk, true) => "mesh.vtk",
            (Self::Vtk, false) => "mesh.failed.vtk",
            (Self::Plot3d, true) => "mesh.p3d",
            (Self::Plot3d, false) => "mesh.failed.p3d",
            (Self::Plot3dPlanar, true) => "mesh.2d.p3d",
            (Self::Plot3dPlanar, false) => "mesh.2d.failed.p3d",
            (Self::Nmf, true) => "mesh.nmf",
            (Self::Nmf, false) => "mesh.failed.nmf",
            (Self::Su2, true) => "mesh.su2",
            (Self::Su2, false) => "mesh.failed.su2",
            (Self::Openfoam, true) => "openfoam",
            (Self::Openfoam, false) => "openfoam.failed",
            (Self::Cgns, true) => "mesh.cgns",
            (Self::Cgns, false) => "mesh.failed.cgns",
            (Self::HistoryCsv, _) => "convergence.csv",
            (Self::ConvergenceSvg, _) => "convergence.svg",
            (Self::GridSvg, true) => "grid.svg",
            (Self::GridSvg, false) => "grid.failed.svg",
            (Self::GridPng, true) => "grid.png",
            (Self::GridPng, false) => "grid.failed.png",
            (Self::QualitySvg, true) => "quality.svg",
            (Self::QualitySvg, false) => "quality.failed.svg",
            (Self::QualityPng, true) => "quality.png",
            (Self::QualityPng, false) => "quality.failed.png",
        }
    }
}
