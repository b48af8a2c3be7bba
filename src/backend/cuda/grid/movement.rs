//! Grids that move, on GPUs: `kernels/movement.cu`.

use super::elliptic::CudaElliptic;
use super::initial::{GridPart, line_shape};
use super::nodes::{Columns, CudaGrid, first_line};
use crate::backend::cuda::algebra::CudaVector;
use crate::backend::cuda::backend::CudaBackend;
use crate::backend::cuda::device::{Address, Buffer};
use crate::backend::cuda::launch::shared::Pointer;
use crate::backend::cuda::launch::{LaunchShape, Result, launch};
use crate::backend::error::{check_length, check_room};
use crate::backend::{FixedLines, FixedPlaces, LevelSize, MovementBackend};
use crate::grid::{Grid, Symmetry, Topology};
use bytemuck::Pod;

impl CudaBackend {
    /// Values of all ranks, by rank, of which each has `length(rank)`. All must call.
    pub(super) fn all_parts<T: Pod>(
        &self,
        own: &Buffer<T>,
        length: impl Fn(usize) -> usize,
    ) -> Result<Vec<Vec<T>>> {
        let Some(ranks) = &self.ranks else { return Ok(vec![own.to_host()?]) };
        let most = (0..ranks.size).map(&length).max().unwrap_or(0);
        let part = Buffer::<T>::zeros(&self.device, most)?;
        let all = Buffer::<T>::zeros(&self.device, most * ranks.size)?;
        part.copy_part(0, (own, 0), own.len())?;
        ranks.communicator.all_gather(part.address(), all.address(), most * size_of::<T>())?;
        let all = all.to_host()?;
        let of = |rank: usize| all[rank * most..][..length(rank)].to_vec();
        Ok((0..ranks.size).map(of).collect())
    }

    /// A grid like another one with this line j = 0, and nodes from the lines; elsewhere those of the other one,
    /// displaced by their shares, or zeros.
    fn with_lines(
        &self,
        from: &CudaGrid,
        shares: Option<&CudaVector<f64>>,
        lines: &FixedLines,
        line: Grid,
    ) -> Result<CudaGrid> {
        let (n, nj, columns) = (from.x.len(), from.nj, from.columns.clone());
        let values = Buffer::from_host(&self.device, lines.values.as_flattened())?;
        let ni = lines.places.ni;
        let ends = if lines.has_columns() { values.at(4 * ni) } else { Pointer::NULL };
        let nodes = from.nodes().map(|nodes| shares.map(|_| nodes));
        let (x, y) = (Buffer::zeros(&self.device, n)?, Buffer::zeros(&self.device, n)?);
        launch!(self => displace_nodes[f64, LaunchShape::threads(n)](columns.held(), nj as u32,
            nodes, shares, &values, ni as u32, ends, &x, &y))?;
        Ok(CudaGrid { columns, nj, line, x, y })
    }

    /// Values at all columns of a grid from an array in this device's memory: element (j, i, axis) stands
    /// `strides` from the one before along each axis of `[nj][ni][2]`.
    ///
    /// # Safety
    /// All these elements are doubles in the device's memory, and stay as they are until its work is done
    /// ([`Device::synchronise`](crate::backend::cuda::Device::synchronise)).
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    #[allow(unsafe_code, reason = "the memory is another library's")]
    pub unsafe fn take_array(
        &self,
        topology: Topology,
        [nj, ni]: [usize; 2],
        (at, strides): (Address, [u64; 3]),
    ) -> Result<CudaGrid> {
        let to = [Buffer::zeros(&self.device, ni * nj)?, Buffer::zeros(&self.device, ni * nj)?];
        let [by_row, by_column, by_axis] = strides;
        launch!(self => take_nodes[f64, LaunchShape::threads(ni * nj)](ni as u32, nj as u32,
            Pointer::<f64>::to(at), by_row, by_column, by_axis, &to[0], &to[1]))?;
        let [x, y] = to;
        let columns = Columns::all(topology, ni, self.ranks.as_ref());
        // These are no places of points: no line is asked for.
        let line = Grid::new(topology, ni, 1);
        Ok(CudaGrid { columns, nj, line, x, y })
    }
}

impl MovementBackend for CudaBackend {
    fn with_nodes(
        &self,
        state: &CudaElliptic,
        nodes: &CudaGrid,
    ) -> Result<(CudaElliptic, CudaVector<f64>)> {
        let part = GridPart::new(self, nodes);
        let frame = part.frame([Pointer::NULL; 2])?;
        self.with_first_guess(self.state(state.size, frame, state.terms.clone())?)
    }

    fn shares(&self, nodes: &CudaGrid, lines: usize) -> Result<CudaVector<f64>> {
        check_room(lines, [nodes.nj])?;
        let shares = Buffer::zeros(&self.device, nodes.x.len())?;
        launch!(self => node_shares[f64, line_shape(nodes.columns.count)](nodes.columns.held(),
            lines as u32, &nodes.x, &nodes.y, &shares))?;
        Ok(shares)
    }

    fn displaced(
        &self,
        from: &CudaGrid,
        shares: &CudaVector<f64>,
        lines: &FixedLines,
    ) -> Result<CudaGrid> {
        check_length(shares.len(), from.x.len())?;
        let on_wall = |k: usize| -> Vec<f64> {
            lines.values[..lines.places.ni].iter().map(|node| node[k]).collect()
        };
        let line = first_line(from.columns.topology, &on_wall(0), &on_wall(1));
        self.with_lines(from, Some(shares), lines, line)
    }

    fn displacement(&self, state: &CudaElliptic, lines: &FixedLines) -> Result<CudaElliptic> {
        let frame = self.with_lines(&state.frame, None, lines, state.frame.line.clone())?;
        self.state(state.size, frame, state.terms.clone())
    }

    fn lines_of(&self, grid: &CudaGrid) -> Result<FixedLines> {
        let (ni, nj) = (grid.columns.ni, grid.nj);
        debug_assert!(grid.columns.is_all());
        let places = FixedPlaces { ni, nj };
        let mut lines = FixedLines::zeros(places, true);
        for (axis, nodes) in grid.nodes().into_iter().enumerate() {
            let mut rows = vec![0.0; 2 * ni];
            nodes.download(&mut rows)?;
            for (value, node) in lines.values.iter_mut().zip(rows) {
                value[axis] = node;
            }
            for end in 0..2 {
                let column = self.cut(nodes, ni, (end * (ni - 1), 1), 0..nj)?.to_host()?;
                for (j, node) in column.into_iter().enumerate() {
                    lines.values[places.on_column(end, j)][axis] = node;
                }
            }
        }
        Ok(lines)
    }

    fn frame_product(
        &self,
        state: &CudaElliptic,
        displacement: &CudaElliptic,
        f: &mut CudaVector<f64>,
    ) -> Result<()> {
        check_length(f.len(), state.size.values())?;
        state.size.check(Some(displacement.size))?;
        launch!(self => frame_product[f64, LaunchShape::threads(state.points())](state.extents(),
            state.shared(), displacement.frame.nodes(), &*f))
    }

    fn frame_sums(&self, state: &CudaElliptic, u: &CudaVector<f64>) -> Result<FixedLines> {
        check_length(u.len(), state.size.values())?;
        let LevelSize { mi, mj, .. } = state.size;
        let nodes_of = |columns: usize| 2 * (columns + 2 + mj + 2);
        let own = Buffer::zeros(&self.device, 2 * nodes_of(mi))?;
        launch!(self => frame_sums[f64, LaunchShape::threads(nodes_of(mi))](state.extents(),
            state.shared(), u, &own))?;
        let bands: Vec<_> = match &self.ranks {
            Some(ranks) => (0..ranks.size).map(|rank| ranks.bands.of(rank)).collect(),
            None => std::iter::once(0..mi).collect(),
        };
        let parts = self.all_parts(&own, |rank| 2 * nodes_of(bands[rank].len()))?;
        let columns = &state.frame.columns;
        let (around, periodic) = (columns.around(), columns.topology.periodic());
        let places = FixedPlaces { ni: columns.ni, nj: mj + 2 };
        let mut sums = FixedLines::zeros(places, !periodic);
        let mut add = |at: usize, value: &[f64; 2]| {
            let sum = &mut sums.values[at];
            *sum = [0, 1].map(|k| sum[k] + value[k]);
        };
        let last = bands.len() - 1;
        for (rank, (band, part)) in bands.iter().zip(&parts).enumerate() {
            let (stride, values) = (band.len() + 2, part.as_chunks::<2>().0);
            let (rows, ends) = values.split_at(2 * stride);
            for (k, value) in rows.iter().enumerate() {
                // Around a periodic seam column c of the frame is column c − 1 of the grid.
                let column = band.start + k % stride;
                let node = if periodic { (column + around - 1) % around } else { column };
                add(places.on_line(k / stride, node), value);
            }
            let held = [!periodic && rank == 0, !periodic && rank == last];
            for (end, values) in ends.chunks(mj + 2).enumerate().filter(|(end, _)| held[*end]) {
                for (j, value) in values.iter().enumerate() {
                    add(places.on_column(end, j), value);
                }
            }
        }
        Ok(sums)
    }

    fn padded(&self, (symmetry, whole): (Symmetry, Topology), half: &CudaGrid) -> Result<CudaGrid> {
        let (count, nj) = (half.columns.ni, half.nj);
        let ni = 2 * count - 1;
        let padded = |nodes: &Buffer<f64>| -> Result<_> {
            let to = Buffer::zeros(&self.device, ni * nj)?;
            let first = *symmetry.kept(ni).start();
            launch!(self => pad_columns[f64, LaunchShape::threads(ni * nj)](ni as u32, first as u32,
                count as u32, nj as u32, nodes, &to))?;
            Ok(to)
        };
        let (x, y) = (padded(&half.x)?, padded(&half.y)?);
        let columns = Columns::all(whole, ni, self.ranks.as_ref());
        let line = Grid::new(whole, ni, 1);
        Ok(CudaGrid { columns, nj, line, x, y })
    }

    fn fold_seam(&self, grid: &mut CudaGrid) -> Result<()> {
        let (columns, nj) = (grid.columns.count as u32, grid.nj as u32);
        launch!(self => fold_seam[f64, LaunchShape::threads(grid.nj)](columns, nj, &grid.x,
            &grid.y))
    }
}
