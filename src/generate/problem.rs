//! A problem on a backend: its initial grid, equations, linear solver and reference of movements; and the identity of a
//! case and of its results, by which restart files know their problem.

use std::{fs, iter};

use crate::backend::cpu::CpuBackend;
use crate::backend::{
    self, Backend, DeviceError, EllipticBackend, EllipticData, GridBackend, LevelSize,
    MovementBackend, MultigridBackend, Real, Receivers,
};
use crate::cascade::{BladePassage, StripEnd, passage_blocks, repeat};
use crate::case::{Case, CaseFile, Problem};
use crate::digest;
use crate::elliptic::{EllipticSettings, GridJacobian, GridProblem};
use crate::error::Error;
use crate::files::restart::Identity;
use crate::grid::initial::InitialGrid;
use crate::grid::quality::{WallLine, boundary_layer_cells};
use crate::grid::{Grid, Symmetry, Topology};
use crate::movement::{GridPlacement, MovementError, Reference};
use crate::overset::Finding;
use crate::solver::linear::LinearSolver;

/// Points times iterations that the linear solves of one try may take with forms of the preconditioner after the
/// first: some seconds of one core.
const FALL_BACK_WORK: usize = 5_000_000;
/// Fewest and most of their iterations on grids of any size: a direction that lowers the residual a little may lead to
/// the next step.
const FALL_BACK_ITERATIONS: [usize; 2] = [100, 600];

/// The grid equations, and the first guess of their unknowns.
type Guessed<B, T> = (GridProblem<B, T>, <B as Backend>::Vector<f64>);

impl Problem {
    pub(crate) fn elliptic_settings(&self) -> EllipticSettings<'_> {
        EllipticSettings {
            control: self.case.control,
            first_cell: self.case.grid.first_cell,
            heights: self.heights.as_deref(),
            outer_wall: self.has_outer_wall(),
        }
    }

    /// The initial grid, left where the backend keeps grids.
    pub fn initial_grid<B: GridBackend>(
        &self,
        backend: &B,
    ) -> Result<InitialGrid<B::Grid>, DeviceError> {
        backend::initial_grid(backend, &self.outline(), &self.initial_settings())
    }

    /// The grid equations, their control functions taken from the initial grid, and the first guess.
    ///
    /// # Errors
    /// If the memory of the device does not suffice.
    pub fn equations<B: EllipticBackend, T: Real>(
        &self,
        backend: &B,
        initial: B::Grid,
    ) -> Result<Guessed<B, T>, DeviceError> {
        let settings = self.elliptic_settings();
        let (state, guess) = backend.equations(&initial, &self.normals, &settings)?;
        // The Jacobian takes its place in memory.
        drop(initial);
        Ok((GridProblem::new(backend, state, self.case.linear.preconditioner)?, guess))
    }

    /// The linear solver of the case for these equations.
    #[must_use]
    pub fn linear_solver<B, T>(
        &self,
        equations: &GridProblem<B, T>,
    ) -> LinearSolver<B, T, GridJacobian<B, T>>
    where
        B: EllipticBackend + MultigridBackend,
        T: Real,
    {
        let linear = &self.case.linear;
        let kind = (linear.preconditioner, linear.schedule);
        let ([ni, nj], [fewest, most]) = (self.size(), FALL_BACK_ITERATIONS);
        let budget = (FALL_BACK_WORK / (ni * nj)).clamp(fewest, most);
        equations
            .jacobian()
            .linear_solver(linear.krylov, kind, self.case.multigrid)
            .with_fall_back_budget(budget)
    }

    /// The findings on the section, and on cells of its `blocks` that grow by these factors along i and j.
    pub(super) fn findings_with(&self, growth: [f64; 2], blocks: &[&Grid]) -> Vec<Finding> {
        let mut found = self.findings("");
        found.extend(self.growth_findings(growth, blocks));
        found
    }

    /// Cells of a grid within the boundary layer, where the Reynolds number is known and the grid is here.
    pub(super) fn boundary_layer_cells(&self, grid: &Grid) -> Option<usize> {
        let reynolds = self.case.grid.reynolds.filter(|_| !grid.x.is_empty())?;
        let wall = WallLine::of(grid.topology, grid.ni);
        Some(boundary_layer_cells(grid, wall, reynolds))
    }

    /// The reference of movements: the equations of the problem and their solution, without its retry plan.
    /// No symmetry is restored. Of several ranks each has it. Of a cascade it is that of the finished O-grid and of the
    /// blocks around it ([`Reference::of_blocks`]).
    ///
    /// # Errors
    /// If the solve fails or the grid is not good.
    pub fn reference<B: MovementBackend>(&self, backend: &B) -> Result<Reference, MovementError> {
        let reference = self.reference_from(backend, None)?;
        let Some(passage) = self.passage() else { return Ok(reference) };
        let options = self.case.solver_options();
        // Each of several ranks makes the blocks.
        let (ring, others) = passage_blocks(&CpuBackend, reference.nodes(), &passage, &options)?;
        if let Some(stop) = others.iter().map(|block| block.stop).find(|stop| !stop.converged()) {
            let verdict = options.quality.verdict(stop, reference.quality());
            return Err(MovementError::Reference { verdict });
        }
        let blocks: Vec<&Grid> =
            iter::once(&ring).chain(others.iter().map(|block| &block.grid)).collect();
        let placed = self.placed(&blocks);
        Reference::of_blocks(backend, &placed.iter().collect::<Vec<_>>(), &options)
    }

    /// [`GridResult::reference`](super::GridResult::reference) of a solution of this problem, the grid and the blocks around it.
    ///
    /// # Errors
    /// If the grid is not good.
    pub fn reference_of(&self, blocks: &[&Grid]) -> Result<Reference, MovementError> {
        if self.corners.is_some() {
            return Reference::of_blocks(&CpuBackend, blocks, &self.case.solver_options());
        }
        let mut solved = blocks.first().map_or_else(|| self.unset_grid(), |grid| Grid::clone(grid));
        // Away with the chord first, then with the shift.
        solved.place([0.0; 2], 1.0 / self.case.geometry.length());
        solved.place(self.shift.map(|by| -by), 1.0);
        self.reference_from(&CpuBackend, Some(&solved))
    }

    /// The reference of movements from the grid that was solved for, or half of it, in the frame of the problem.
    pub(super) fn reference_from<B: MovementBackend>(
        &self,
        backend: &B,
        solved: Option<&Grid>,
    ) -> Result<Reference, MovementError> {
        let mut host = Grid::new(self.topology, self.size()[0], self.size()[1]);
        backend.gather(&self.initial_grid(backend)?.grid, Receivers::All, Some(&mut host))?;
        let data = EllipticData::new(&host, &self.normals, &self.elliptic_settings());
        let (place, options) = (self.placement(), self.case.solver_options());
        let made = Reference::of_equations(backend, &data, solved, place, self.topology, &options);
        let reference = made?.inside(self.outside());
        match self.case.grid.base_cells.filter(|_| matches!(self.topology, Topology::Blunt { .. }))
        {
            Some(cells) => reference.with_block_behind(cells),
            None => Ok(reference),
        }
    }

    /// The solution as the grid of the case: with the symmetry of the wall, or half of it.
    pub fn finished<B: GridBackend>(
        &self,
        backend: &B,
        mut nodes: B::Grid,
        converged: bool,
    ) -> Result<B::Grid, DeviceError> {
        let found = || Symmetry::of_line(&self.points.line).ok();
        let same = |(a, b): (&f64, &f64)| (a / b - 1.0).abs() < 1e-9;
        let even = self.heights.as_ref().is_none_or(|h| h.iter().zip(h.iter().rev()).all(same));
        if let Some(symmetry) =
            self.half.or_else(|| found().filter(|_| converged && even && self.enclosed.is_none()))
        {
            backend.restore(symmetry, &mut nodes)?;
        }
        match self.half {
            Some(symmetry) => backend.half(symmetry, &nodes),
            None => Ok(nodes),
        }
    }

    /// The passage of a cascade, in the frame of the grid.
    pub(crate) fn passage(&self) -> Option<BladePassage> {
        let (corners, cascade) = (self.corners?, self.case.cascade.as_ref()?);
        let [cells, ahead, behind] = cascade.cells();
        let plane = |x: Option<f64>, angle, cells| Some(StripEnd { x: x?, angle, cells });
        Some(BladePassage {
            pitch: cascade.pitch,
            corners,
            cells,
            inlet: plane(cascade.inlet_x, cascade.inlet_angle, ahead)?,
            outlet: plane(cascade.outlet_x, cascade.outlet_angle, behind)?,
        })
    }

    /// Linked blocks brought there; nodes of a cascade that are a pitch apart stay so, bit for bit.
    pub(super) fn placed(&self, blocks: &[&Grid]) -> Vec<Grid> {
        let mut grids: Vec<Grid> = blocks.iter().copied().cloned().collect();
        for grid in &mut grids {
            self.place(grid);
        }
        if let Some(cascade) = &self.case.cascade {
            repeat(&mut grids, cascade.pitch * self.case.geometry.length());
        }
        grids
    }

    /// The map between the frame of the problem and that of the files.
    pub(super) fn placement(&self) -> GridPlacement {
        GridPlacement { shift: self.shift, chord: self.case.geometry.length(), half: self.half }
    }
}

/// The sources and libraries that this build was made from, as its build script has them.
const SOURCES: &str = env!("GRIDGEN_SOURCES");

/// Sections whose keys decide on the grid; the others decide how it is solved for and written.
const SECTIONS: [&str; 6] = ["geometry", "grid", "domain", "cascade", "initial", "control"];

/// Keys that name a file of coordinates.
const FILES: [&str; 2] = ["geometry.file", "geometry.section.file"];

/// Unknowns of a problem.
pub(super) fn unknowns(problem: &Problem) -> usize {
    let [ni, nj] = problem.size();
    LevelSize::of_grid(problem.topology, ni, nj).values()
}

/// The keys and values that the grid equations of a settled case depend on; a file of coordinates counts
/// by its contents, wherever it stands.
pub(super) fn identity(case: &Case) -> Result<Identity, Error> {
    let (mut keys, table) = (Identity::new(), toml::Table::try_from(case)?);
    for section in SECTIONS {
        if let Some(value) = table.get(section) {
            flatten(section, value, &mut keys);
        }
    }
    for file in FILES {
        if keys.remove(file).is_some()
            && let Some(digest) = coordinates_digest(case)
        {
            keys.insert(format!("the contents of {file}"), digest);
        }
    }
    Ok(keys)
}

/// The fingerprint of the results of a settled case: of all its keys, of the contents of its files of coordinates
/// wherever those stand, and of the sources that this build was made from. The machine is no part of it: a GPU makes the
/// grid of the CPU to rounding.
///
/// # Errors
/// A path of the case that is not UTF-8.
pub fn fingerprint(case: impl Into<CaseFile>) -> Result<String, Error> {
    let mut case = case.into();
    let mut digests = String::new();
    for element in &mut case.elements {
        digests += &coordinates_digest(&element.case).unwrap_or_default();
        element.case.geometry.contour.forget_file();
    }
    let text = [SOURCES, &case.to_toml_string()?, &digests].concat();
    Ok(format!("{:016x}", digest::of(text.as_bytes())))
}

/// The digest of the file of coordinates of a case, if it has one that can be read.
pub(super) fn coordinates_digest(case: &Case) -> Option<String> {
    let bytes = fs::read(case.geometry.contour.file()?).ok()?;
    Some(format!("{:016x}", digest::of(&bytes)))
}

fn flatten(key: &str, value: &toml::Value, keys: &mut Identity) {
    match value.as_table() {
        None => {
            keys.insert(key.to_owned(), value.to_string());
        }
        Some(table) => {
            for (name, value) in table {
                flatten(&[key, ".", name].concat(), value, keys);
            }
        }
    }
}
