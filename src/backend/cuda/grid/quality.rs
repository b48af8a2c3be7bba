//! Finished grids on a GPU, and their quality: `kernels/quality.cu`.

use super::march::{CudaGrid, layers};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::{Argument, LaunchShape, Result, Source, arguments};
use crate::backend::{DeviceError, GridBackend};
use crate::grid::initial::{InitialSettings, Outline, grid_of};
use crate::grid::quality::{PERCENTILE, Quality, WallLine, corner_tangent, larger, order_of};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Symmetry, Topology};

/// Limits below which a kernel counts values.
const LIMITS: u64 = 4;

impl CudaBackend {
    /// A kernel of the file that reduces over `n` items, on this GPU alone.
    fn measured<const K: usize>(
        &self,
        name: &'static str,
        n: usize,
        arguments: &[Argument],
    ) -> Result<[f64; K]> {
        let own = self.reductions::<f64, K>(None, (Source::Quality, name), n, arguments)?;
        own.first().copied().ok_or(DeviceError::OtherRank)
    }

    /// The first cell with this value, of `columns` cells in a row.
    fn place_of(&self, value: f64, values: &Buffer<f64>, columns: usize) -> Result<[usize; 2]> {
        let (n, shape) = (values.len() as u64, LaunchShape::elementwise(values.len()));
        let found = self.own_first_index(|first| {
            let arguments = arguments![n, values, value, first];
            self.launch::<f64>(Source::Quality, "find_value", shape, &arguments)
        })?;
        let cell = found.unwrap_or(0);
        Ok([cell % columns, cell / columns])
    }

    /// The percentile of values of which none is negative and none above `most`, which is NaN if one
    /// is; NaN comes last.
    ///
    /// Counts of the values below [`LIMITS`] limits say between which of them the order statistic lies,
    /// until that is one number: about 27 times for 62 bits.
    fn percentile(&self, values: &Buffer<f64>, most: f64) -> Result<f64> {
        let n = values.len();
        let (below, fraction) = order_of(PERCENTILE, n);
        let most = if most.is_nan() { f64::NAN } else { most };
        let (mut low, mut high, mut up_to_high) = (0, most.to_bits(), n);
        while low < high {
            let step = (high - low).div_ceil(LIMITS + 1);
            let limits: Vec<u64> = (1..=LIMITS).map(|k| high.min(low + k * step)).collect();
            let listed: Vec<Argument> = limits.iter().copied().map(Argument::from).collect();
            let arguments = arguments![n as u64, values, listed];
            let counts: [f64; LIMITS as usize] = self.measured("count_below", n, &arguments)?;
            for (limit, count) in limits.into_iter().zip(counts.map(|count| count as usize)) {
                if count > below {
                    (high, up_to_high) = (limit - 1, count);
                    break;
                }
                low = limit;
            }
        }
        let low = f64::from_bits(low);
        let next = if up_to_high > below + 1 { low } else { self.next_above(values, low)? };
        // None is above the largest, and NaN above all numbers.
        let next = match next {
            f64::INFINITY if up_to_high == n => low,
            f64::INFINITY => f64::NAN,
            next => next,
        };
        Ok(low + (next - low) * fraction)
    }

    /// The least of the values above a bound; infinite if there is none.
    fn next_above(&self, values: &Buffer<f64>, bound: f64) -> Result<f64> {
        let arguments = arguments![values.len() as u64, values, bound];
        let [next] = self.measured("least_above", values.len(), &arguments)?;
        Ok(next)
    }
}

impl GridBackend for CudaBackend {
    type Grid = CudaGrid;

    fn march(
        &self,
        outline: &Outline,
        settings: &InitialSettings,
        dissipation: f64,
    ) -> Result<Option<(CudaGrid, usize)>> {
        let grid = match self.fronts(outline, settings, dissipation)? {
            Some(fronts) if outline.topology.closed() => self.placed(outline, &fronts)?,
            // The outer line of a C-grid is put in place on the host.
            Some(fronts) => self.take(grid_of(layers(outline, &fronts)?, outline))?,
            None => return Ok(None),
        };
        let folds = self.folds(&grid)?;
        Ok(Some((grid, folds)))
    }

    fn take(&self, grid: Grid) -> Result<CudaGrid> {
        Ok(CudaGrid {
            topology: grid.topology,
            ni: grid.ni,
            nj: grid.nj,
            x: Buffer::from_host(&self.device, &grid.x)?,
            y: Buffer::from_host(&self.device, &grid.y)?,
        })
    }

    fn restore(&self, symmetry: Symmetry, grid: &mut CudaGrid) -> Result<()> {
        let (ni, nj) = (grid.ni as u32, grid.nj as u32);
        let sideways = u32::from(symmetry == Symmetry::LeftRight);
        let arguments = arguments![ni, nj, sideways, FAR_FIELD_CENTRE[0], &grid.x, &grid.y];
        let shape = LaunchShape::threads(grid.ni.div_ceil(2) * grid.nj);
        self.launch::<f64>(Source::Quality, "restore_symmetry", shape, &arguments)
    }

    fn half(&self, symmetry: Symmetry, grid: &CudaGrid) -> Result<CudaGrid> {
        let columns = symmetry.kept(grid.ni);
        let (first, ni) = (*columns.start(), columns.count());
        let cut = |nodes| self.cut(nodes, grid.ni, (first, ni), grid.nj);
        let (x, y) = (cut(&grid.x)?, cut(&grid.y)?);
        Ok(CudaGrid { topology: Topology::Half(symmetry), ni, nj: grid.nj, x, y })
    }

    /// What `grid::quality::measure` says of a grid, on this GPU.
    fn measure(&self, grid: &CudaGrid) -> Result<Quality> {
        let (ni, nj) = (grid.ni as u32, grid.nj as u32);
        let cells = (grid.ni - 1) * (grid.nj - 1);
        let skewness = Buffer::<f64>::zeros(&self.device, cells)?;
        let line = WallLine::of(grid.topology, grid.ni);
        let (from, points, closed) = (line.from as u32, line.points(), u32::from(line.closed));
        let [centre_x, centre_y] = FAR_FIELD_CENTRE;
        let (x, y) = (&grid.x, &grid.y);

        let arguments = arguments![grid.arguments(), &skewness];
        let [max_skewness, skewness_sum, folded, min_jacobian] =
            self.measured("measure_cells", cells, &arguments)?;
        let [max_aspect_ratio, growth_i, growth_j] =
            self.measured("measure_ratios", grid.ni * grid.nj, &grid.arguments())?;
        let arguments = arguments![ni, nj, from, points as u32, centre_x, centre_y, x, y];
        let [first_cell_min, first_cell_max, far_field_min, far_field_max] =
            self.measured("measure_lines", grid.ni, &arguments)?;
        let arguments = arguments![ni, from, points as u32, closed, corner_tangent(), x, y];
        let [max_angle, angle_sum, corners, smooth] =
            self.measured("measure_angles", points, &arguments)?;

        let (max_growth_i, max_growth_j) = (growth_i.sqrt(), growth_j.sqrt());
        Ok(Quality {
            folded_cells: folded as usize,
            min_jacobian,
            max_skewness,
            max_skewness_at: self.place_of(max_skewness, &skewness, grid.ni - 1)?,
            p99_skewness: self.percentile(&skewness, max_skewness)?,
            mean_skewness: skewness_sum / cells as f64,
            wall_angle_error_max_deg: if smooth == 0.0 { f64::NAN } else { max_angle },
            wall_angle_error_mean_deg: angle_sum / smooth,
            wall_corners: corners as usize,
            first_cell_min,
            first_cell_max,
            max_aspect_ratio,
            max_growth: larger(max_growth_i, max_growth_j),
            max_growth_i,
            max_growth_j,
            far_field_min,
            far_field_max,
        })
    }

    fn fetch(&self, grid: &CudaGrid, host: &mut Grid) -> Result<()> {
        grid.x.download(&mut host.x)?;
        grid.y.download(&mut host.y)
    }
}

impl CudaBackend {
    /// Columns from the first on of nodes in `rows` rows of `stride`.
    pub(super) fn cut(
        &self,
        nodes: &Buffer<f64>,
        stride: usize,
        (first, columns): (usize, usize),
        rows: usize,
    ) -> Result<Buffer<f64>> {
        let cut = Buffer::zeros(&self.device, columns * rows)?;
        let arguments =
            arguments![stride as u32, first as u32, columns as u32, rows as u32, nodes, &cut];
        let shape = LaunchShape::elementwise(cut.len());
        self.launch::<f64>(Source::Quality, "cut_columns", shape, &arguments)?;
        Ok(cut)
    }
}
