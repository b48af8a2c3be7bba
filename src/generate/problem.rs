//! A problem as an initial grid, equations, a linear solver and a verdict.

use std::iter;

use crate::backend::cpu::CpuBackend;
use crate::backend::{
    self, Backend, DeviceError, EllipticBackend, EllipticData, GridBackend, MovementBackend,
    MultigridBackend, Real,
};
use crate::cascade::{BladePassage, StripEnd, passage_blocks, repeat};
use crate::case::{Case, FEW_POINTS, InitialOptions, Problem};
use crate::elliptic::{EllipticSettings, GridJacobian, GridProblem};
use crate::geometry::{BoundaryPoints, corners};
use crate::grid::initial::{InitialGrid, InitialSettings, Outer, Outline};
use crate::grid::quality::{CurvedQuality, Quality, worst_cells};
use crate::grid::vector::{angle, difference, distance};
use crate::grid::{
    FamilyError, Grid, Limited, Outside, Symmetry, Topology, Verdict, check_columns, check_corners,
    check_family,
};
use crate::movement::{GridPlacement, MovementError, Reference};
use crate::overset::Finding;
use crate::solver::linear::LinearSolver;
use crate::solver::{NewtonStop, SolverError};

/// Points times iterations that the linear solves of one try may take with forms of the preconditioner after the
/// first: some seconds of one core.
const FALL_BACK_WORK: usize = 5_000_000;
/// Fewest and most of their iterations on grids of any size: a direction that lowers the residual a little may lead to
/// the next step.
const FALL_BACK_ITERATIONS: [usize; 2] = [100, 600];

/// Turn of the wall that counts as a corner where the case says of none, degrees.
const CORNER: f64 = 30.0;

/// The growth that remedies of a larger one aim at.
const GOOD_GROWTH: f64 = 1.2;

/// The grid equations, and the first guess of their unknowns.
type Guessed<B, T> = (GridProblem<B, T>, <B as Backend>::Vector<f64>);

impl Problem {
    /// Points of the grid that is solved for, in i and j.
    #[must_use]
    pub fn size(&self) -> [usize; 2] {
        [self.points.x.len(), self.layers.len()]
    }

    /// The data that the initial grid starts from.
    pub(crate) fn outline(&self) -> Outline<'_> {
        Outline {
            x: &self.points.x,
            y: &self.points.y,
            normals: &self.normals,
            layers: &self.layers,
            outer: match (&self.outer, &self.enclosed) {
                (_, Some(enclosed)) => Outer::Enclosed(enclosed),
                (Some(line), None) => Outer::Offset(line),
                (None, None) => Outer::Circle(self.case.grid.far_field),
            },
            heights: self.heights.as_deref(),
            topology: self.topology,
        }
    }

    pub(crate) fn initial_settings(&self) -> InitialSettings {
        let InitialOptions { method, dissipation, volume_smoothing, spread } = self.case.initial;
        // A settled case has all of them.
        let [dissipation, volume_smoothing, spread] =
            [dissipation, volume_smoothing, spread].map(Option::unwrap_or_default);
        let margin = self.case.control.reach(self.topology.columns(self.points.x.len()));
        InitialSettings { method, dissipation, volume_smoothing, spread, margin }
    }

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
        Ok((GridProblem::new(backend, state, settings.walled_sides())?, guess))
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

    /// The reference of movements from the grid that was solved for, or half of it, in the frame of the problem.
    pub(super) fn reference_from<B: MovementBackend>(
        &self,
        backend: &B,
        solved: Option<&Grid>,
    ) -> Result<Reference, MovementError> {
        self.check_movable()?;
        let mut host = Grid::new(self.topology, self.size()[0], self.size()[1]);
        let made =
            self.initial_grid(backend).and_then(|made| backend.fetch_whole(&made.grid, &mut host));
        made.map_err(SolverError::from)?;
        let data = EllipticData::new(&host, &self.normals, &self.elliptic_settings());
        let (place, options) = (self.placement(), self.case.solver_options());
        let made = Reference::of_equations(backend, &data, solved, place, self.topology, &options);
        made.map(|reference| reference.inside(self.outside()))
    }

    /// Refuses movements of a grid with a block behind a base.
    pub(super) fn check_movable(&self) -> Result<(), MovementError> {
        if matches!(self.topology, Topology::Blunt { .. }) {
            return Err(MovementError::Base);
        }
        Ok(())
    }

    /// Whether the outer line has first cells of a given height.
    fn has_outer_wall(&self) -> bool {
        self.enclosed.as_ref().is_some_and(|enclosed| enclosed.wall.is_some())
    }

    /// The solution as the grid of the case: with the symmetry of the wall, or half of it.
    pub fn finished<B: GridBackend>(
        &self,
        backend: &B,
        mut nodes: B::Grid,
        converged: bool,
    ) -> Result<B::Grid, DeviceError> {
        let found = || Symmetry::of_line(&self.points.x, &self.points.y).ok();
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
    pub(super) fn passage(&self) -> Option<BladePassage> {
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

    /// The sides of the box around the grid, if there is one.
    pub(super) fn outside(&self) -> Option<Outside> {
        Some(self.enclosed.as_ref()?.outside.clone())
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
        grid.place(self.shift, self.case.geometry.length());
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

    /// Findings on the section as it is meshed, by its keys after `within`: a wedge longer than 1 %, and fewer than 100
    /// points beside a long wake.
    pub(crate) fn findings(&self, within: &str) -> Vec<Finding> {
        let name = &self.case.name;
        let wedge = self.wedge.filter(|length| *length > 0.01).map(|length| Finding {
            what: format!("{name}: a wedge makes the section {:.1} % longer", 100.0 * length),
            key: [within, "geometry.trailing_edge"].concat(),
            remedy: "\"sharp\" keeps the chord, grid.topology = \"O\" the base".into(),
        });
        let few = self.case.beside_wake().filter(|points| *points < FEW_POINTS);
        let few = few.map(|points| Finding {
            what: format!("{name}: the wake leaves {points} points to the section"),
            key: [within, "grid.wake"].concat(),
            remedy: format!(
                "add {} to grid.ni, or give points_upper and points_lower",
                FEW_POINTS - points
            ),
        });
        wedge.into_iter().chain(few).collect()
    }

    /// The findings on a grid whose case limits no growth, from its largest growth along i and along j: neighbouring
    /// cells that differ more than flow solvers take.
    pub(crate) fn growth_findings(&self, growth: [f64; 2]) -> Vec<Finding> {
        if self.case.quality.max_growth.is_some() {
            return Vec::new();
        }
        let most = [(Limited::GrowthAlongI, "i", 2.0), (Limited::GrowthAlongJ, "j", 1.5)];
        let beyond = most.into_iter().zip(growth).filter(|((.., most), growth)| growth > most);
        let finding = |((measure, along, most), growth)| {
            let what = format!("cells grow by up to {growth:.2} along {along}, more than {most}");
            let (key, remedy) = self.growth_remedy(measure, growth, GOOD_GROWTH);
            Finding { what, key: key.into(), remedy }
        };
        beyond.map(finding).collect()
    }

    /// The key that lessens a growth, and the value that gives the `wanted` one.
    pub(super) fn growth_remedy(
        &self,
        measure: Limited,
        growth: f64,
        wanted: f64,
    ) -> (&'static str, String) {
        let grid = &self.case.grid;
        if self.case.cascade.is_some() {
            return (
                "cascade",
                "lines part there at a corner of four blocks, whatever their numbers of cells"
                    .into(),
            );
        }
        if measure == Limited::GrowthAlongI {
            let BoundaryPoints { x, y, .. } = &self.points;
            let length = |k: usize| (x[k + 1] - x[k]).hypot(y[k + 1] - y[k]);
            let shortest = (0..x.len() - 1).map(length).fold(f64::INFINITY, f64::min);
            let (key, remedy) = if self.heights.is_some() {
                ("grid.first_cell", "heights that vary less from point to point can help".into())
            } else if grid.first_cell > shortest {
                let remedy = format!("at most {shortest:.1e}, the shortest cell of the wall");
                ("grid.first_cell", remedy)
            } else {
                ("grid.ni", "more points, or larger spacings at leading and trailing edge".into())
            };
            return (key, remedy);
        }
        if self.enclosed.is_some() {
            // Lines draw together at the corners of a box whatever their layers are.
            return (
                if self.case.places.has("domain.piece") { "domain.piece" } else { "domain.box" },
                "an inlet as far ahead as floor and roof are from the section can help".into(),
            );
        }
        // The grid grows faster than the law where lines draw together.
        let law = self.case.layer_law();
        let of_law = |share: f64| wanted.powf(share.clamp(0.1, 1.0));
        let share = law.growth(grid.nj).map(|found| found.ln() / growth.ln());
        let points = share.and_then(|share| law.points(of_law(share)));
        match (points, grid.layers) {
            (_, Some(near)) if near.growth > wanted => {
                ("grid.layers.growth", format!("at most {wanted}"))
            }
            (Some(nj), _) if nj > grid.nj => {
                ("grid.nj", format!("{} gives about {wanted}", (nj - 1).next_multiple_of(8) + 1))
            }
            _ => ("grid.ni", "more points along the wall can help".into()),
        }
    }

    /// The verdict on a grid, and on the curved cells that its case asks for.
    pub(super) fn verdict(
        &self,
        stop: NewtonStop,
        quality: &Quality,
        curved: Option<&CurvedQuality>,
    ) -> Verdict {
        let verdict = self.case.quality.verdict(stop, quality);
        match curved {
            Some(&CurvedQuality { folded_cells: cells, order, at, .. }) if cells > 0 => {
                verdict.and(Verdict::FoldedCurved { cells, order, at })
            }
            _ => verdict,
        }
    }

    /// The quality of the curved cells of linked blocks in the frame of this problem, where the case asks for them; the
    /// place of the worst is that in the files. None of blocks without nodes.
    pub(super) fn curved_quality(&self, blocks: &[&Grid]) -> Option<CurvedQuality> {
        let (order, chord) = (self.case.output.curved_order, self.case.geometry.length());
        (order > 1 && !blocks[0].x.is_empty()).then(|| {
            let measured = CurvedQuality::of_blocks(blocks, order);
            let at = [0, 1].map(|c| chord * (measured.at[c] + self.shift[c]));
            CurvedQuality { at, ..measured }
        })
    }

    /// Whether the grid is the finest of a family of `grids`, and all members have the corners of a base.
    pub(super) fn check_family(&self, grids: u32) -> Result<(), FamilyError> {
        let Case { grid, output, .. } = &self.case;
        let behind = matches!(self.topology, Topology::Blunt { .. });
        let base = grid.base_cells.filter(|_| behind).unwrap_or(0);
        check_family(self.topology, [grid.ni, grid.nj, base], grids, output.curved_order)?;
        if self.corners.is_some() && grids > 1 {
            return Err(FamilyError::Cascade);
        }
        if let Some(enclosed) = &self.enclosed {
            check_columns(&enclosed.corners, grids, output.curved_order)?;
        }
        let BoundaryPoints { x, y, base_cells, .. } = &self.points;
        let kept = self.half.map_or(0..=x.len() - 1, |symmetry| symmetry.kept(x.len()));
        let corners = *base_cells > 0;
        if corners { check_corners([x, y], &kept, grids, output.curved_order) } else { Ok(()) }
    }

    /// Says where the worst cell of a grid in the frame of this problem is, and the corner of the wall nearest to it, its
    /// edge left out. None where the wall has no corner.
    pub(super) fn worst_corner(&self, grid: &Grid) -> Option<String> {
        let (x, y) = (&self.points.x, &self.points.y);
        let base = self.points.base_cells / 2;
        let wall = self.topology.wall(x.len());
        let wall: Vec<[f64; 2]> =
            (wall.start() + base..=wall.end() - base).map(|i| [x[i], y[i]]).collect();
        let worst = (!grid.x.is_empty()).then(|| worst_cells(grid, 1).pop()).flatten()?;
        let away = |k: &usize| distance(wall[*k], worst.centre);
        let corner = corners(&wall, self.case.geometry.corners.unwrap_or(CORNER))
            .into_iter()
            .min_by(|a, b| away(a).total_cmp(&away(b)))?;
        let step = |k: usize| difference(wall[k + 1], wall[k]);
        let turn = angle(step(corner - 1), step(corner)).abs();
        let placed = |at: [f64; 2]| {
            let [x, y] = [0, 1].map(|c| at[c] + self.shift[c]);
            format!("({x:.4}, {y:.4})")
        };
        Some(format!(
            "the worst cell is at {}; the nearest corner of the wall, at {}, turns by {:.0} degrees",
            placed(worst.centre),
            placed(wall[corner]),
            turn.to_degrees()
        ))
    }
}
