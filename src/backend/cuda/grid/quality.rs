//! Finished grids on GPUs, and their quality: `kernels/quality.cu`.

use super::nodes::{Columns, CudaGrid, first_line, messages};
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::Buffer;
use crate::backend::cuda::launch::constants::BIN_BITS;
use crate::backend::cuda::launch::{LaunchShape, Result, kernels, launch};
use crate::backend::{GridBackend, Receivers};
use crate::grid::initial::{InitialSettings, Outline};
use crate::grid::quality::{
    PERCENTILE, Quality, WallLine, corner_tangent, larger, order_of, smaller, waves,
};
use crate::grid::{FAR_FIELD_CENTRE, Grid, Symmetry, Topology};
use std::ops::Range;

/// Columns of both ranges.
fn common(a: &Range<usize>, b: &Range<usize>) -> Range<usize> {
    let start = a.start.max(b.start);
    start..a.end.min(b.end).max(start)
}

/// Columns of a grid and their nodes, x and y.
type Nodes = (Range<usize>, [Buffer<f64>; 2]);

impl CudaBackend {
    /// The columns that every rank wants, by its own columns, from the ranks whose own they are.
    fn gather_columns(
        &self,
        grid: &CudaGrid,
        wanted: impl Fn(&Range<usize>) -> Range<usize>,
    ) -> Result<Vec<Nodes>> {
        let own = &grid.columns.own;
        let wanted_here = wanted(own);
        let part = |columns: Range<usize>| -> Result<Nodes> {
            Ok((columns.clone(), self.cut_grid(grid, &columns)?))
        };
        let Some(ranks) = &self.ranks else { return Ok(vec![part(wanted_here)?]) };
        let mut parts = vec![part(common(&wanted_here, own))?];
        let (mut cuts, mut sent, mut received) = (Vec::new(), Vec::new(), Vec::new());
        for rank in (0..ranks.size).filter(|rank| *rank != ranks.rank) {
            let owner = ranks.bands.nodes(rank);
            let (there, here) = (common(&wanted(&owner), own), common(&wanted_here, &owner));
            if !there.is_empty() {
                let cut = self.cut_grid(grid, &there)?;
                sent.extend(messages(rank, &cut));
                cuts.push(cut);
            }
            if !here.is_empty() {
                let zeros = || Buffer::zeros(&self.device, here.len() * grid.nj);
                let nodes = [zeros()?, zeros()?];
                received.extend(messages(rank, &nodes));
                parts.push((here, nodes));
            }
        }
        ranks.communicator.start_exchange(&sent, &received)?;
        ranks.communicator.finish_exchange()?;
        Ok(parts)
    }

    /// The first cell of a grid with this value, the cells' `values` being those of its own columns.
    fn place_of(&self, value: f64, values: &Buffer<f64>, columns: &Columns) -> Result<[usize; 2]> {
        let (n, shape) = (values.len() as u64, LaunchShape::elementwise(values.len()));
        let own = self.own_first_index(
            |first| launch!(self => find_value[f64, shape](n, values, value, first)),
        )?;
        let (cells, whole) = (columns.own_cells(), columns.ni - 1);
        let place = own.map(|k| k / cells * whole + columns.own.start + k % cells);
        let cell = self.least(place)?.unwrap_or(0);
        Ok([cell % whole, cell / whole])
    }

    /// Turning of every line to the left and to the right over the columns of all ranks, ends left out, in degrees.
    fn turning(&self, grid: &CudaGrid) -> Result<Vec<[f64; 2]>> {
        let turning = Buffer::<f64>::unset(&self.device, 2 * grid.nj)?;
        launch!(self => measure_turning[f64, LaunchShape::blocks(grid.nj)](grid.own(), &turning))?;
        let parts = self.all_parts(&turning, |_| turning.len())?;
        let sum = |k: usize| parts.iter().map(|part| part[k]).sum();
        Ok((0..grid.nj).map(|j| [sum(2 * j), sum(2 * j + 1)]).collect())
    }

    /// The percentile of `n` values of all ranks, of which none is negative; NaN comes last. Digit by digit, histograms
    /// of the digits that follow the leading ones give those of both order statistics beside it; the host waits once.
    fn percentile(&self, values: &Buffer<f64>, n: usize) -> Result<f64> {
        let (below, fraction) = order_of(PERCENTILE, n);
        let bins = 1 << BIN_BITS;
        let counts = Buffer::<u32>::zeros(&self.device, 2 * bins)?;
        let ranks = self.ranks.as_ref();
        let all = ranks.map(|ranks| Buffer::<u32>::unset(&self.device, ranks.size * counts.len()));
        let all = all.transpose()?;
        let nth = [below, (below + 1).min(n - 1)].map(|nth| nth as u64);
        let found = Buffer::from_host(&self.device, &[0, 0, nth[0], nth[1]])?;
        let (size, shape) = (values.len() as u64, LaunchShape::reduction(values.len()));
        for shift in (0..u64::BITS).step_by(BIN_BITS as usize).rev() {
            launch!(self => histogram[f64, shape](size, values, &found, shift, &counts))?;
            if let (Some(ranks), Some(all)) = (ranks, &all) {
                let bytes = counts.len() * size_of::<u32>();
                ranks.communicator.all_gather(counts.address(), all.address(), bytes)?;
            }
            let parts =
                (ranks.map_or(1, |ranks| ranks.size as u32), all.as_ref().unwrap_or(&counts));
            launch!(self => find_digits[f64, LaunchShape::new(1, bins as u32)](parts, &counts, &found))?;
        }
        let found = found.to_host()?;
        let [value, next] = [0, 1].map(|k| f64::from_bits(found[k]));
        Ok(value + (next - value) * fraction)
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
        self.marched(outline, settings, dissipation)
    }

    fn take(&self, grid: Grid) -> Result<CudaGrid> {
        let Grid { topology, ni, nj, .. } = grid;
        Ok(CudaGrid {
            // A rank holds all columns, too.
            columns: Columns::all(topology, ni, self.ranks.as_ref()),
            nj,
            line: first_line(topology, &grid.x[..ni], &grid.y[..ni]),
            x: Buffer::from_host(&self.device, &grid.x)?,
            y: Buffer::from_host(&self.device, &grid.y)?,
        })
    }

    fn restore(&self, symmetry: Symmetry, grid: &mut CudaGrid) -> Result<()> {
        let ni = grid.columns.ni;
        let mirrored = |columns: Range<usize>| ni - columns.end..ni - columns.start;
        let images = self.gather_columns(grid, |own| {
            // The columns beside its own are as they are where they belong.
            mirrored(own.start.saturating_sub(1)..(own.end + 1).min(ni))
        })?;
        let sideways = u32::from(symmetry == Symmetry::LeftRight);
        for (columns, [images_x, images_y]) in images {
            let columns = mirrored(columns);
            let how = (grid.columns.some(&columns, grid.nj), sideways, FAR_FIELD_CENTRE[0]);
            launch!(self => restore_symmetry[f64, LaunchShape::threads(columns.len() * grid.nj)](
                how, &images_x, &images_y, &grid.x, &grid.y))?;
        }
        symmetry.restore(&mut grid.line);
        Ok(())
    }

    fn half(&self, symmetry: Symmetry, grid: &CudaGrid) -> Result<CudaGrid> {
        let kept = symmetry.kept(grid.columns.ni);
        let kept = *kept.start()..kept.end() + 1;
        let of_half = |columns: &Range<usize>| {
            let columns = common(columns, &kept);
            columns.start - kept.start..columns.end - kept.start
        };
        let held = common(&grid.columns.inside(), &kept);
        let [x, y] = self.cut_grid(grid, &held)?;
        let columns = Columns {
            topology: Topology::Half(symmetry),
            ni: kept.len(),
            first: of_half(&held).start.cast_signed(),
            count: held.len(),
            own: of_half(&grid.columns.own),
        };
        Ok(CudaGrid { columns, nj: grid.nj, line: symmetry.half(&grid.line), x, y })
    }

    fn measure(&self, grid: &CudaGrid) -> Result<Quality> {
        let CudaGrid { columns, nj, line, x, y } = grid;
        let (own_cells, cells) = (columns.own_cells() * (nj - 1), (columns.ni - 1) * (nj - 1));
        let skewness = Buffer::<f64>::unset(&self.device, own_cells)?;
        let wall = WallLine::of(columns.topology, columns.ni);
        let (from, points, closed) = (wall.from as u32, wall.points(), u32::from(wall.closed));
        let [centre_x, centre_y] = FAR_FIELD_CENTRE;

        let largest = |_, a, b| larger(a, b);
        let cell_measures = |k, a, b| match k {
            0 => larger(a, b),
            3 => smaller(a, b),
            _ => a + b,
        };
        let of = (grid.own(), &skewness);
        let [max_skewness, skewness_sum, folded, min_jacobian] =
            self.reduce::<f64, _>(kernels::measure_cells, own_cells, of, cell_measures)?;
        let (nodes, of) = (columns.own.len() * nj, grid.own());
        let [max_aspect_ratio, growth_i, growth_j] =
            self.reduce::<f64, _>(kernels::measure_ratios, nodes, of, largest)?;
        let own = columns.own(*nj);
        let ranges = |k, a, b| if k % 2 == 0 { smaller(a, b) } else { larger(a, b) };
        let of = (own, from, points as u32, centre_x, centre_y, x, y);
        let [first_cell_min, first_cell_max, far_field_min, far_field_max] =
            self.reduce::<f64, _>(kernels::measure_lines, columns.own.len(), of, ranges)?;
        let on_wall = |line: &[f64]| Buffer::from_host(&self.device, &line[wall.from..][..points]);
        let (wall_x, wall_y) = (on_wall(&line.x)?, on_wall(&line.y)?);
        let corner = corner_tangent();
        let angles = |k, a, b| if k == 0 { larger(a, b) } else { a + b };
        let of = (own, from, points as u32, closed, corner, &wall_x, &wall_y, x, y);
        let [max_angle, angle_sum, corners, smooth] =
            self.reduce::<f64, _>(kernels::measure_angles, columns.own.len(), of, angles)?;

        let (max_growth_i, max_growth_j) = (growth_i.sqrt(), growth_j.sqrt());
        let (waves_deg, wavy_lines) = waves(columns.topology, self.turning(grid)?.into_iter());
        Ok(Quality {
            folded_cells: folded as usize,
            min_jacobian,
            max_skewness,
            max_skewness_at: self.place_of(max_skewness, &skewness, columns)?,
            p99_skewness: self.percentile(&skewness, cells)?,
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
            waves_deg,
            wavy_lines,
            boundary_layer_cells: None,
            far_field_min,
            far_field_max,
        })
    }

    fn fetch(&self, grid: &CudaGrid, host: &mut Grid) -> Result<()> {
        let own = &grid.columns.own;
        if grid.columns.is_all() && own.len() == host.ni {
            grid.x.download(&mut host.x)?;
            return grid.y.download(&mut host.y);
        }
        if own.is_empty() {
            return Ok(());
        }
        let [x, y] = self.cut_grid(grid, own)?;
        for (part, nodes) in [(x, &mut host.x), (y, &mut host.y)] {
            let part = part.to_host()?;
            for (row, part) in nodes.chunks_mut(host.ni).zip(part.chunks(own.len())) {
                row[own.clone()].copy_from_slice(part);
            }
        }
        Ok(())
    }

    fn gather(&self, grid: &CudaGrid, receivers: Receivers, host: Option<&mut Grid>) -> Result<()> {
        let Some(ranks) = &self.ranks else {
            return host.map_or(Ok(()), |host| self.fetch(grid, host));
        };
        let Columns { topology, own, count, ni, .. } = &grid.columns;
        let mut no_nodes = Grid::new(*topology, 0, 0);
        let host = host.unwrap_or(&mut no_nodes);
        let first = if own.is_empty() { 0 } else { grid.columns.place(own.start) };
        let (all, of) = (ranks.ranges(own)?, (&grid.nodes()[..], (grid.nj, *count), first));
        self.gather_lines(ranks, of, &all, receivers, |k, line, columns, values| {
            let nodes = if k == 0 { &mut host.x } else { &mut host.y };
            nodes[line * ni..][columns].copy_from_slice(values);
        })
    }

    fn placed(&self, grid: &CudaGrid, shift: [f64; 2], scale: f64) -> Result<CudaGrid> {
        let placed = |nodes: &Buffer<f64>, shift: f64| -> Result<_> {
            let to = Buffer::zeros(&self.device, nodes.len())?;
            launch!(self => place_nodes[f64, LaunchShape::elementwise(nodes.len())](
                nodes.len() as u64, shift, scale, nodes, &to))?;
            Ok(to)
        };
        let mut line = grid.line.clone();
        line.place(shift, scale);
        let (x, y) = (placed(&grid.x, shift[0])?, placed(&grid.y, shift[1])?);
        Ok(CudaGrid { columns: grid.columns.clone(), nj: grid.nj, line, x, y })
    }
}
