//! References in files: `reference.grd`. The head of such a record is [`Head`]; its lists are chord and
//! shift, x, y, P0, Q0, φ, ψ, and the amplitudes of the wall terms, all in the frame of the equations. Nodes of blocks around
//! the grid follow its own in x and y, in the unit of their file.

use std::iter;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{GridPlacement, Reference, Solution};
use crate::backend::{EllipticData, WallTerms};
use crate::case::SolverOptions;
use crate::files::IoError;
use crate::files::record::{Record, RecordError, RecordFault};
use crate::grid::boundary::Segment;
use crate::grid::{Grid, Outside, Seam, Symmetry, Topology};

static RECORD: Record = Record {
    magic: b"GGREFRNC",
    version: 3,
    // Lists, data, grids in both frames.
    memory: 4,
    noun: "reference",
    another: "name the reference.grd that a case with output.reference = true writes",
    again: "run the case with output.reference = true again, or take its mesh as the reference",
};

/// The parts of a reference that are no lists of numbers.
#[derive(Serialize, Deserialize)]
struct Head {
    ni: usize,
    nj: usize,
    /// Cells of the cut on either side; none on an O-grid.
    wake: Option<usize>,
    seam: Option<Seam>,
    /// The coordinate that the plane of symmetry of a half grid keeps constant, 0 or 1.
    half: Option<usize>,
    solver: SolverOptions,
    /// The sides of the box around the grid, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<Outside>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    around: Vec<BlockHead>,
}

/// A block but its nodes.
#[derive(Serialize, Deserialize)]
struct BlockHead {
    topology: Topology,
    ni: usize,
    nj: usize,
    outside: Option<Outside>,
}

impl Reference {
    /// Writes the reference to a file.
    ///
    /// # Errors
    /// [`IoError`] when the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), IoError> {
        let grid = self.frame.reference();
        let GridPlacement { shift, chord, half } = self.place;
        let (wake, seam) = match grid.topology {
            Topology::O(seam) => (None, Some(seam)),
            other => (Some(other.wake()).filter(|wake| *wake > 0), None),
        };
        let half = half.map(|symmetry| usize::from(symmetry == Symmetry::UpDown));
        let solver = self.options.clone();
        let outside = self.grid.outside.clone();
        let around = self.around.iter().map(|block| {
            let Grid { topology, ni, nj, ref outside, .. } = *block;
            BlockHead { topology, ni, nj, outside: outside.clone() }
        });
        let around = around.collect();
        let head = Head { ni: grid.ni, nj: grid.nj, wake, seam, half, solver, outside, around };
        let EllipticData { control_p, control_q, walls, .. } = &self.data;
        let of_walls = |of: fn(&WallTerms) -> &[f64]| -> Vec<f64> {
            walls.iter().flatten().flat_map(of).copied().collect()
        };
        let [phi, psi] = [of_walls(|terms| &terms.phi), of_walls(|terms| &terms.psi)];
        let place = [chord, shift[0], shift[1]];
        let amplitudes = self.state.amplitudes.as_deref().unwrap_or(&[]);
        let all = |of: fn(&Grid) -> &[f64]| -> Vec<f64> {
            iter::once(grid).chain(&*self.around).flat_map(of).copied().collect()
        };
        let [x, y] = [all(|block| &block.x), all(|block| &block.y)];
        let lists = [&place, &x[..], &y, control_p, control_q, &phi, &psi, amplitudes];
        RECORD.write(path, &head, lists)
    }

    /// Reads the reference of a file, if it is one, whatever its version.
    ///
    /// # Errors
    /// [`RecordError`] with the path.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        Self::from_bytes(&RECORD.bytes(path)?).map_err(|fault| fault.at(path))
    }

    /// Whether a file begins as a reference does.
    pub fn is_stored(path: &Path) -> bool {
        RECORD.is_at(path)
    }

    /// The reference in the bytes of a file.
    ///
    /// # Errors
    /// If they are no reference, or a damaged one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, RecordFault> {
        let (head, lists) = RECORD.read(bytes)?;
        let read = Self::of_lists(head, lists).filter(|read| read.quality.folded_cells == 0);
        read.ok_or(RecordFault::Damaged { of: &RECORD })
    }

    /// The reference of head and lists, if they fit together.
    fn of_lists(head: Head, lists: [Vec<f64>; 8]) -> Option<Self> {
        let Head { ni, nj, wake, seam, half, solver, outside, around } = head;
        let [place, mut x, mut y, control_p, control_q, phi, psi, amplitudes] = lists;
        let topology = match (wake, seam) {
            (Some(wake), None) if wake < ni.saturating_sub(2).div_ceil(2) => match around[..] {
                [] => Topology::C { wake },
                _ => Topology::Blunt { wake },
            },
            (None, Some(seam)) if ni > 1 => Topology::O(seam),
            _ => return None,
        };
        let [chord, shift_x, shift_y] = place[..] else { return None };
        let half = match half {
            None => None,
            Some(axis) => Some(*[Symmetry::LeftRight, Symmetry::UpDown].get(axis)?),
        };
        let columns = ni.checked_sub(if topology.periodic() { 1 } else { 2 })?;
        let points = columns.checked_mul(nj.checked_sub(2)?)?;
        let nodes = ni.checked_mul(nj)?;
        let mut blocks = Vec::new();
        for BlockHead { topology, ni, nj, outside } in around.into_iter().rev() {
            // Taken from the end of the lists.
            let own = x.len().min(y.len()).checked_sub(ni.checked_mul(nj)?)?;
            let (x, y) = (x.split_off(own), y.split_off(own));
            if ni < 2 || nj < 2 || [x.len(), y.len()] != [ni * nj; 2] {
                return None;
            }
            blocks.push(Grid { topology, ni, nj, x, y, outside });
        }
        blocks.reverse();
        // The terms of the section's wall, and of the line opposite to it.
        let walls = phi.len().checked_div(points)?;
        let terms = walls.checked_mul(points)?;
        let fits = [x.len(), y.len()] == [nodes; 2]
            && [control_p.len(), control_q.len()] == [points; 2]
            && [phi.len(), psi.len(), amplitudes.len()] == [terms, terms, 2 * columns * walls]
            && walls <= 2
            && columns >= 1;
        if !fits || (half.is_some() && ni % 2 == 0) {
            return None;
        }
        let grid = Grid { topology, ni, nj, x, y, outside: None };
        let mut of_walls = phi.chunks(points).zip(psi.chunks(points));
        let mut terms = || {
            let (phi, psi) = of_walls.next()?;
            Some(WallTerms { phi: phi.to_vec(), psi: psi.to_vec() })
        };
        let mut data = EllipticData::of_terms(&grid, [control_p, control_q], terms());
        data.walls[1] = terms();
        let place = GridPlacement { shift: [shift_x, shift_y], chord, half };
        let amplitudes = Some(amplitudes).filter(|own| !own.is_empty());
        let state = Solution { nodes: Arc::new(grid), amplitudes };
        let reference = Self::solved(solver, place, data, state).inside(outside);
        if blocks.is_empty() {
            return Some(reference);
        }
        if reference.has_base() {
            let fits = matches!(&blocks[..], [block] if block.is_behind(&reference.grid));
            return fits.then(|| reference.beside(blocks.into()).ok()).flatten();
        }
        let all: Vec<&Grid> = iter::once(&reference.grid).chain(&blocks).collect();
        let is_given = |outside: &Outside| !outside.given.is_empty();
        if !all.iter().all(|grid| grid.outside.as_ref().is_some_and(is_given)) {
            return None;
        }
        let is_there = |on: Segment| {
            let size = all.get(on.block).map(|grid| [grid.ni, grid.nj][1 - on.side.across()]);
            size.is_some_and(|size| on.nodes.iter().all(|node| *node < size))
        };
        let mut segments = all
            .iter()
            .flat_map(|grid| grid.boundary())
            .flat_map(|range| iter::once(range.on).chain(range.link()).chain(range.partner()));
        segments.all(is_there).then(|| reference.beside(blocks.into()).ok()).flatten()
    }
}
