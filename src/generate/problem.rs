//! A problem as an initial grid, equations, a linear solver and a verdict.

use crate::backend::{
    self, DeviceError, EllipticBackend, EllipticData, GridBackend, MultigridBackend, Real,
};
use crate::case::{InitialOptions, Problem};
use crate::elliptic::{EllipticSettings, GridJacobian, GridProblem, Guessed};
use crate::geometry::BoundaryPoints;
use crate::grid::initial::{InitialGrid, InitialSettings, Outer, Outline};
use crate::grid::quality::Quality;
use crate::grid::{FamilyError, Grid, Symmetry, Topology, Verdict, check_corners, check_family};
use crate::movement::{MovementError, Place, Reference};
use crate::solver::linear::LinearSolver;
use crate::solver::{NewtonStop, SolverError};
use std::ops::Range;

impl Problem {
    /// Points of the grid that is solved for, in i and j.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.points.x.len(), self.layers.len()]
    }

    /// What the initial grid starts from.
    pub(crate) fn outline(&self) -> Outline<'_> {
        Outline {
            x: &self.points.x,
            y: &self.points.y,
            normals: &self.normals,
            layers: &self.layers,
            outer: match &self.outer {
                Some(line) => Outer::Offset(line),
                None => Outer::Circle(self.case.grid.far_field),
            },
            topology: self.topology,
        }
    }

    pub(crate) fn initial_settings(&self) -> InitialSettings {
        let InitialOptions { method, dissipation, volume_smoothing, spread } = self.case.initial;
        // A settled case has all of them.
        let [dissipation, volume_smoothing, spread] =
            [dissipation, volume_smoothing, spread].map(Option::unwrap_or_default);
        let margin = self.case.control.reach();
        InitialSettings { method, dissipation, volume_smoothing, spread, margin }
    }

    pub(crate) fn elliptic_settings(&self) -> EllipticSettings {
        EllipticSettings { control: self.case.control, first_cell: self.case.grid.first_cell }
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
        GridProblem::on_device(backend, initial, &self.normals, &self.elliptic_settings())
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
        equations.linear_solver(linear.krylov, kind, self.case.multigrid)
    }

    /// The reference of movements: the equations of the problem and their solution, without its retry plan.
    /// No symmetry is restored.
    ///
    /// # Errors
    /// If the solve fails or the grid is not good.
    pub fn reference<B>(&self, backend: &B) -> Result<Reference, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        self.reference_from(backend, None)
    }

    /// The same from the grid that was solved for, or half of it, in the frame of the problem.
    pub(super) fn reference_from<B>(
        &self,
        backend: &B,
        solved: Option<&Grid>,
    ) -> Result<Reference, MovementError>
    where
        B: EllipticBackend + MultigridBackend,
    {
        let mut host = Grid::new(self.topology, self.size()[0], self.size()[1]);
        let made = self.initial_grid(backend).and_then(|made| backend.fetch(&made.grid, &mut host));
        made.map_err(SolverError::from)?;
        let data = EllipticData::new(&host, &self.normals, &self.elliptic_settings());
        let place = Place { shift: self.shift, chord: self.case.geometry.chord, half: self.half };
        let options = self.case.solver_options();
        Reference::of_equations(backend, &data, solved, place, self.topology, &options)
    }

    /// The solution as the grid of the case: with the symmetry of the wall, or half of it.
    pub fn finished<B: GridBackend>(
        &self,
        backend: &B,
        mut nodes: B::Grid,
        converged: bool,
    ) -> Result<B::Grid, DeviceError> {
        let found = || Symmetry::of_line(&self.points.x, &self.points.y).ok();
        if let Some(symmetry) = self.half.or_else(|| found().filter(|_| converged)) {
            backend.restore(symmetry, &mut nodes)?;
        }
        match self.half {
            Some(symmetry) => backend.half(symmetry, &nodes),
            None => Ok(nodes),
        }
    }

    /// Which columns of the finished grid those of the grid that is solved for are.
    pub(super) fn finished_columns(&self, columns: &Range<usize>) -> Range<usize> {
        let Some(half) = self.half else { return columns.clone() };
        let kept = half.kept(self.points.x.len());
        let start = columns.start.max(*kept.start());
        let end = columns.end.min(kept.end() + 1).max(start);
        start - kept.start()..end - kept.start()
    }

    /// Memory for the finished grid.
    pub(super) fn unset_grid(&self) -> Grid {
        let [ni, nj] = self.size();
        match self.half {
            Some(half) => Grid::unset(Topology::Half(half), half.kept(ni).count(), nj),
            None => Grid::unset(self.topology, ni, nj),
        }
    }

    /// Brings a finished grid to where the body is, in the unit of the files.
    pub fn place(&self, grid: &mut Grid) {
        grid.place(self.shift, self.case.geometry.chord);
    }

    /// Whether [`Self::place`] changes a grid.
    pub(super) fn is_placed_elsewhere(&self) -> bool {
        let [x, y] = self.shift;
        let unmoved = [(x, 0.0), (y, 0.0), (self.case.geometry.chord, 1.0)];
        unmoved.iter().any(|(value, neutral): &(f64, f64)| value.to_bits() != neutral.to_bits())
    }

    /// The verdict on a grid of this problem.
    pub fn verdict(&self, stop: NewtonStop, quality: &Quality) -> Verdict {
        self.case.quality.verdict(stop, quality)
    }

    /// Whether the grid is the finest of a family of `grids`, and all members have the corners of a base.
    pub(super) fn check_family(&self, grids: u32) -> Result<(), FamilyError> {
        check_family(self.topology, self.case.grid.ni, self.case.grid.nj, grids)?;
        let BoundaryPoints { x, y, base_cells, .. } = &self.points;
        let kept = self.half.map_or(0..=x.len() - 1, |symmetry| symmetry.kept(x.len()));
        if *base_cells > 0 { check_corners([x, y], &kept, grids) } else { Ok(()) }
    }
}
