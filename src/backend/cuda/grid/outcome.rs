//! Grids on a GPU: their march, their symmetry, their halves, their way to the host.

use super::elliptic::CudaElliptic;
use super::march::CudaGrid;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{LaunchShape, Source, arguments};
use crate::backend::{DeviceError, GridBackend};
use crate::grid::initial::{InitialSettings, Outline};
use crate::grid::quality::Quality;
use crate::grid::{FAR_FIELD_CENTRE, Grid, Symmetry, Topology};

impl GridBackend for CudaBackend {
    type Grid = CudaGrid;

    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(CudaGrid, usize)>, DeviceError> {
        let Some(grid) = self.marched(outline, settings, dissipation)? else { return Ok(None) };
        let folds = self.folds(&grid)?;
        Ok(Some((grid, folds)))
    }

    fn take(&self, grid: Grid) -> Result<CudaGrid, DeviceError> {
        Ok(CudaGrid {
            topology: grid.topology,
            ni: grid.ni,
            nj: grid.nj,
            x: Buffer::from_host(&self.device, &grid.x)?,
            y: Buffer::from_host(&self.device, &grid.y)?,
        })
    }

    fn restore(&self, symmetry: Symmetry, grid: &mut CudaGrid) -> Result<(), DeviceError> {
        let (ni, nj) = (grid.ni as u32, grid.nj as u32);
        let sideways = u32::from(symmetry == Symmetry::LeftRight);
        let arguments = arguments![ni, nj, sideways, FAR_FIELD_CENTRE[0], &grid.x, &grid.y];
        let shape = LaunchShape::threads(grid.ni.div_ceil(2) * grid.nj);
        self.launch::<f64>(Source::Quality, "restore_symmetry", shape, &arguments)
    }

    fn half(&self, symmetry: Symmetry, grid: &CudaGrid) -> Result<CudaGrid, DeviceError> {
        let columns = symmetry.kept(grid.ni);
        let (first, ni) = (*columns.start(), columns.count());
        let cut = |nodes| self.cut(nodes, grid.ni, (first, ni), grid.nj);
        let (x, y) = (cut(&grid.x)?, cut(&grid.y)?);
        Ok(CudaGrid { topology: Topology::Half(symmetry), ni, nj: grid.nj, x, y })
    }

    fn measure(&self, grid: &CudaGrid) -> Result<Quality, DeviceError> {
        self.quality(grid)
    }

    fn fetch(&self, grid: &CudaGrid, host: &mut Grid) -> Result<(), DeviceError> {
        grid.x.download(&mut host.x)?;
        grid.y.download(&mut host.y)
    }
}

impl CudaBackend {
    /// The nodes of a state on this GPU alone. The frame of a held seam is the grid; that of a periodic
    /// one has a node more at the start of its rows.
    pub(crate) fn frame_nodes(
        &self,
        state: CudaElliptic,
        topology: Topology,
    ) -> Result<CudaGrid, DeviceError> {
        let (stride, nj) = (state.mi + 2, state.mj + 2);
        if !state.periodic {
            return Ok(CudaGrid { topology, ni: stride, nj, x: state.x, y: state.y });
        }
        let ni = stride - 1;
        let cut = |nodes| self.cut(nodes, stride, (1, ni), nj);
        Ok(CudaGrid { topology, ni, nj, x: cut(&state.x)?, y: cut(&state.y)? })
    }

    /// So many columns from the first on of nodes in `rows` rows of `stride`.
    fn cut(
        &self,
        nodes: &Buffer<f64>,
        stride: usize,
        (first, columns): (usize, usize),
        rows: usize,
    ) -> Result<Buffer<f64>, DeviceError> {
        let cut = Buffer::zeros(&self.device, columns * rows)?;
        let arguments =
            arguments![stride as u32, first as u32, columns as u32, rows as u32, nodes, &cut];
        let shape = LaunchShape::elementwise(cut.len());
        self.launch::<f64>(Source::Quality, "cut_columns", shape, &arguments)?;
        Ok(cut)
    }
}
