//! Smoothing of a structured grid that is given: the grid equations with its own clustering, first cells that are exact
//! on its walls, and its boundary points.
//!
//! The equations are the same as for every grid (theory section 3). Their control functions come from the grid in two passes:
//! first those that it solves by itself, smoothed, which removes noise, kinks and folds; then the ratios of its intervals,
//! which removes what is oblique. The better of both is kept. A grid of which many cells are folded begins anew from its
//! four sides.

pub(crate) mod block;
mod equations;

pub use self::block::side_named;
pub use self::equations::Functions;

use std::cmp::Ordering;

use self::block::{Orientation, interpolated, shape, slid};
use self::equations::{WallSide, equations};
use crate::backend::{Backend, EllipticBackend, GridBackend, MultigridBackend, Real, Receivers};
use crate::case::SolverOptions;
use crate::diagnostics::errors;
use crate::elliptic::GridProblem;
use crate::geometry::chord_lengths;
use crate::grid::boundary::Side;
use crate::grid::quality::{Quality, folds, measure};
use crate::grid::{Grid, Topology};
use crate::solver::history::History;
use crate::solver::newton::{self, NewtonReport};
use crate::solver::{NewtonStop, SolverError};

/// Part of the cells above which a grid is folded too much to begin with.
const FOLDED: f64 = 0.01;
/// Tolerance of a solve whose grid may be thrown away.
const ROUGH: f64 = 1e-4;
/// Waves in degrees beyond those of the given grid that count as much as e times the skewness.
const WAVES: f64 = 25.0;
const ROUNDS: usize = 2;
/// Angles in degrees, and errors of heights, that differ by less are the same.
const SAME: f64 = 1e-6;

errors! {
    /// Reasons for which a grid is not smoothed.
    #[derive(Debug, thiserror::Error)]
    #[class(Input)]
    pub enum SmoothError {
        #[error("the grid has {ni} x {nj} points: at least 5 x 5 were expected")]
        #[hint("smooth a finer grid")]
        Small { ni: usize, nj: usize },
        #[error("node ({i}, {j}) is not finite")]
        #[hint("give each node a place, if need be anywhere inside: a grid that is folded all over is made anew from its four sides")]
        NotFinite { i: usize, j: usize },
        #[error("no wall was named")]
        #[hint("name the sides that are walls, of jmin, jmax, imin and imax")]
        NoWall,
        #[error("{side} is a seam of the grid, at which it meets itself")]
        #[hint("name another side: nodes on a seam are not moved by themselves, nor are they a wall")]
        Seam { side: &'static str },
        #[error("{side} is a wall, whose points stay")]
        #[hint("let points slide on other sides than walls")]
        SlidingWall { side: &'static str },
        /// `index`: number of the first of them, from 0.
        #[error("points {index} and {} of the wall {side} coincide", index + 1)]
        #[hint("a wall is no side that is collapsed to a point, nor does it have points twice")]
        Coincident { side: &'static str, index: usize },
        #[error("a first cell of {height:e} was asked: a number above 0 was expected")]
        #[hint("give the height in the unit of the mesh, or leave it out to keep that of the mesh")]
        FirstCell { height: f64 },
        #[error("the equations of the grid were not solved: {stop}")]
        #[hint("give a first cell nearer to that of the mesh, name other walls, or begin with a coarser grid")]
        #[class(Unsolved)]
        NotSolved { stop: NewtonStop },
        /// The solve failed.
        #[error(transparent)]
        Solver(#[from] SolverError),
    }
}

/// The walls of a grid and the points that may move.
#[derive(Debug, Clone, PartialEq)]
pub struct SmoothSettings {
    /// Sides that are walls.
    pub walls: Vec<Side>,
    /// Height of the first cells on walls, in the unit of the grid; `None` keeps the grid's own, smoothed.
    pub first_cell: Option<f64>,
    /// Other sides whose points slide along them.
    pub slide: Vec<Side>,
}

/// Measures of a grid with walls.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct WalledQuality {
    /// Its quality, in its unit; angles and first cells refer to all walls.
    pub quality: Quality,
    /// Largest relative error of the height of a first cell.
    pub first_cell_error: f64,
}

/// A solve.
#[derive(Debug, Clone, serde::Serialize)]
pub struct SmoothPass {
    /// The control functions.
    pub functions: Functions,
    /// Whether the points of sides slid before it.
    pub slid: bool,
    /// Newton steps.
    pub newton_iterations: usize,
    /// Linear iterations.
    pub linear_iterations: f64,
    /// Whether it converged, one that is not kept to a rough tolerance; otherwise its grid is no result.
    pub converged: bool,
    /// The measures of its grid.
    pub measures: WalledQuality,
    #[serde(skip)]
    grid: Grid,
    #[serde(skip)]
    unknowns: Vec<f64>,
    #[serde(skip)]
    stop: NewtonStop,
}

/// A smoothed grid.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Smoothed {
    /// The grid, in the orientation of the one given.
    #[serde(skip)]
    pub grid: Grid,
    /// Measures of the grid given.
    pub before: WalledQuality,
    /// Measures of the smoothed grid.
    pub after: WalledQuality,
    /// The solves in their order.
    pub passes: Vec<SmoothPass>,
    /// The one of them whose grid is kept.
    pub kept: usize,
    #[serde(skip)]
    given: Grid,
}

/// Smooths a grid of any orientation; the solves are by `options`, their tolerance no smaller than round-off allows.
///
/// The grid has the boundary points of the one given, but for those that slide. At the ends of an open wall the first
/// cells lie on the sides beside it and keep their heights.
///
/// # Errors
/// For a grid or sides that cannot be used, and where no solve converged. A grid that is not better is a result, see
/// [`Smoothed::grown`].
pub fn smooth<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    grid: &Grid,
    settings: &SmoothSettings,
    options: &SolverOptions,
) -> Result<Smoothed, SmoothError> {
    let (ni, nj) = (grid.ni, grid.nj);
    if ni < 5 || nj < 5 {
        return Err(SmoothError::Small { ni, nj });
    }
    let finite = |k: &usize| grid.x[*k].is_finite() && grid.y[*k].is_finite();
    if let Some(k) = (0..ni * nj).find(|k| !finite(k)) {
        return Err(SmoothError::NotFinite { i: k % ni, j: k / ni });
    }
    if let Some(height) = settings.first_cell.filter(|h| !(*h > 0.0 && h.is_finite())) {
        return Err(SmoothError::FirstCell { height });
    }
    let first = settings.walls.first().ok_or(SmoothError::NoWall)?;
    let orientation = Orientation::of(grid, *first);
    let mut given = orientation.turned(grid);
    given.topology = shape(&given);
    let [walls, slide] = [&settings.walls, &settings.slide]
        .map(|sides| sides.iter().map(|side| orientation.side(*side)).collect::<Vec<_>>());
    let mut sides = settings.walls.iter().chain(&settings.slide);
    // Of a grid that is turned so that its seam is j = 0 the first and the last line coincide.
    let across = usize::from(given.line(0) == given.line(given.nj - 1));
    let seam = |side: Side| side.across() == across && (across == 1 || given.topology.closed());
    if let Some(own) = sides.find(|side| seam(orientation.side(**side))) {
        return Err(SmoothError::Seam { side: own.name() });
    }
    if let Some(both) = settings.slide.iter().find(|side| settings.walls.contains(side)) {
        return Err(SmoothError::SlidingWall { side: both.name() });
    }
    // Nodes on the cut of a C-grid would slide apart.
    let cut = |side: Side| shape(&Orientation::of(grid, side).turned(grid)).cut() > 0;
    if let Some(own) = settings.slide.iter().find(|side| cut(**side)) {
        return Err(SmoothError::Seam { side: own.name() });
    }
    for side in &settings.walls {
        let end = |count: usize| if side.is_last() { count - 1 } else { 0 };
        let points = if side.across() == 1 { grid.row(end(nj)) } else { grid.column(end(ni)) };
        if let Some(index) = chord_lengths(&points).array_windows().position(|[a, b]| a >= b) {
            return Err(SmoothError::Coincident { side: side.name(), index });
        }
    }
    let folded = folds(&given);
    let (mut passes, mut exact) = (Vec::new(), WallSide::all(&given, &walls, settings.first_cell));
    let waves = measured(&given, &exact).quality.waves_deg;
    let (best, fine) = (|passes: &[SmoothPass]| best(passes, waves), (options, 0.0));
    if folded as f64 <= FOLDED * given.cells() as f64 {
        let own = (Functions::Own, &given, &exact[..]);
        let begun = solved(backend, own, (options, ROUGH), None)?;
        if begun.converged {
            passes.push(solved(backend, (Functions::Law, &begun.grid, &exact), fine, None)?);
        }
        passes.insert(0, begun);
        if best(&passes) == Some(0) {
            passes[0] = solved(backend, own, fine, Some(&passes[0]))?;
        }
    }
    if best(&passes).is_none_or(|k| passes[k].measures.quality.folded_cells > 0) {
        let anew = interpolated(&given);
        exact = WallSide::all(&anew, &walls, settings.first_cell);
        passes.push(solved(backend, (Functions::Anew, &anew, &exact), fine, None)?);
    }
    for _ in 0..if slide.is_empty() { 0 } else { ROUNDS } {
        let Some(kept) = best(&passes) else { break };
        let SmoothPass { functions, grid, .. } = &passes[kept];
        let moved = slide.iter().fold(grid.clone(), |grid, side| {
            let turn = Orientation::of(&grid, *side);
            turn.back(&slid(turn.turned(&grid)), &grid)
        });
        let pass = solved(backend, (*functions, &moved, &exact), fine, None)?;
        passes.push(SmoothPass { slid: true, ..pass });
        if best(&passes) == Some(kept) {
            break;
        }
    }
    let kept = match (best(&passes), passes.first()) {
        (Some(kept), _) => kept,
        (None, Some(first)) => return Err(SmoothError::NotSolved { stop: first.stop }),
        (None, None) => return Err(SmoothError::NoWall),
    };
    Ok(Smoothed {
        grid: orientation.back(&passes[kept].grid, grid),
        before: measured(&given, &exact),
        after: passes[kept].measures.clone(),
        passes,
        kept,
        given,
    })
}

/// The pass with the best grid: the fewest folded cells, then the lowest 99th percentile of the skewness, in steps of 2 %,
/// then its mean. [`WAVES`] that the given grid does not have count as skewness.
fn best(passes: &[SmoothPass], waves: f64) -> Option<usize> {
    let rank = |k: &usize| {
        let quality = &passes[*k].measures.quality;
        let skewness = quality.p99_skewness.ln() + (quality.waves_deg - waves).max(0.0) / WAVES;
        [quality.folded_cells as f64, (50.0 * skewness).round(), quality.mean_skewness]
    };
    let converged = (0..passes.len()).filter(|k| passes[*k].converged);
    converged.min_by(|a, b| rank(a).partial_cmp(&rank(b)).unwrap_or(Ordering::Equal))
}

/// Solves with the functions of a grid to a tolerance of `least` or more, or goes on with a solve that was less exact.
fn solved<B: EllipticBackend + MultigridBackend>(
    backend: &B,
    (functions, grid, walls): (Functions, &Grid, &[WallSide]),
    (options, least): (&SolverOptions, f64),
    begun: Option<&SmoothPass>,
) -> Result<SmoothPass, SmoothError> {
    let data = equations(grid, functions.of(grid), walls);
    let lowest = walls.iter().flat_map(|wall| &wall.heights).copied().fold(f64::INFINITY, f64::min);
    let points = walls.iter().flat_map(|side| side.turn.turned(grid).row(0)).flatten();
    let size = points.map(f64::abs).fold(0.0, f64::max);
    let mut options = options.clone().at_first_cell(lowest / size);
    options.newton.tolerance = options.newton.tolerance.max(least);
    if begun.is_some() {
        // Near the solution an exact direction leads to it.
        options.newton.forcing.initial = options.newton.forcing.min;
    }
    let mut unknowns = vec![0.0; 2 * data.mi * data.mj];
    let uploaded = |pass: &SmoothPass| {
        let mut u = backend.zeros(unknowns.len())?;
        backend.upload_unknowns(&pass.unknowns, &mut u).map(|()| u)
    };
    let from = begun.map(uploaded).transpose().map_err(SolverError::from)?;
    let (state, guess) = backend.elliptic(&data).map_err(SolverError::from)?;
    let (problem, from) = ((state, grid.topology), from.unwrap_or(guess));
    let (found, u, report) = solution::<B, f64>(backend, problem, &options, from)?;
    let mut nodes = Grid::unset(grid.topology, grid.ni, grid.nj);
    let fetched = backend.gather_unknowns(&u, Receivers::All, Some(&mut unknowns));
    fetched.and_then(|()| backend.fetch(&found, &mut nodes)).map_err(SolverError::from)?;
    let before = begun.map_or((0, 0.0), |pass| (pass.newton_iterations, pass.linear_iterations));
    Ok(SmoothPass {
        functions,
        slid: false,
        newton_iterations: before.0 + report.history.newton_iterations(),
        linear_iterations: before.1 + report.history.linear_iterations(),
        converged: report.stop.converged(),
        measures: measured(&nodes, walls),
        grid: nodes,
        unknowns,
        stop: report.stop,
    })
}

/// Nodes and unknowns of a solution, and how it was found.
type Solution<B> = (<B as GridBackend>::Grid, <B as Backend>::Vector<f64>, NewtonReport);

/// The solution of equations from these unknowns.
pub(crate) fn solution<B: EllipticBackend + MultigridBackend, T: Real>(
    backend: &B,
    (state, topology): (B::Elliptic, Topology),
    SolverOptions { newton, linear, multigrid, .. }: &SolverOptions,
    mut u: B::Vector<f64>,
) -> Result<Solution<B>, SolverError> {
    let kind = linear.preconditioner;
    let mut problem = GridProblem::<_, T>::new(backend, state, kind)?;
    let kind = (kind, linear.schedule);
    let mut solver = problem.jacobian().linear_solver(linear.krylov, kind, *multigrid);
    let begin = History::default();
    let report = newton::solve(backend, &mut problem, &mut solver, &mut u, begin, newton, &mut ())?;
    Ok((problem.nodes(backend, &u, topology)?, u, report))
}

/// The measures of a grid: those of its cells, and the worst of all walls.
fn measured(grid: &Grid, walls: &[WallSide]) -> WalledQuality {
    let of_wall = |wall: &WallSide| {
        let quality = measure(&wall.turn.turned(grid));
        WalledQuality { quality, first_cell_error: wall.height_error(grid) }
    };
    let worst = |mut all: WalledQuality, own: WalledQuality| {
        let (quality, of) = (&mut all.quality, own.quality);
        quality.first_cell_min = quality.first_cell_min.min(of.first_cell_min);
        quality.first_cell_max = quality.first_cell_max.max(of.first_cell_max);
        quality.wall_angle_error_max_deg =
            quality.wall_angle_error_max_deg.max(of.wall_angle_error_max_deg);
        all.first_cell_error = all.first_cell_error.max(own.first_cell_error);
        all
    };
    walls.iter().map(of_wall).reduce(worst).unwrap_or_default()
}

impl Smoothed {
    /// The grid before and after, both turned so that the wall is on the line j = 0.
    pub fn both(&self) -> [&Grid; 2] {
        [&self.given, &self.passes[self.kept].grid]
    }

    /// Measures before and after, as text.
    pub fn table(&self) -> Vec<[String; 3]> {
        let rows = |WalledQuality { quality: q, first_cell_error }: &WalledQuality| {
            [
                ("folded cells", q.folded_cells.to_string()),
                ("skewness, largest", format!("{:.3}", q.max_skewness)),
                ("skewness, 99% below", format!("{:.3}", q.p99_skewness)),
                ("skewness, mean", format!("{:.4}", q.mean_skewness)),
                ("wall angle, deg", format!("{:.2e}", q.wall_angle_error_max_deg)),
                ("first cell, lowest", format!("{:.4e}", q.first_cell_min)),
                ("first cell, highest", format!("{:.4e}", q.first_cell_max)),
                ("first cell, error", format!("{first_cell_error:.2e}")),
                ("growth along i", format!("{:.3}", q.max_growth_i)),
                ("growth along j", format!("{:.3}", q.max_growth_j)),
                ("waves, deg", format!("{:.1}", q.waves_deg)),
            ]
        };
        let both = rows(&self.before).into_iter().zip(rows(&self.after));
        both.map(|((name, before), (_, after))| [name.to_owned(), before, after]).collect()
    }

    /// Measures that are worse than before though smoothing is to preserve them, a clause each: folded cells, the wall
    /// angle, and the heights of first cells.
    pub fn grown(&self) -> Vec<String> {
        let both = |of: fn(&WalledQuality) -> f64| [of(&self.before), of(&self.after)];
        let all = [
            ("folded cells", both(|m| m.quality.folded_cells as f64)),
            ("the wall angle", both(|m| m.quality.wall_angle_error_max_deg)),
            ("the error of first cells", both(|m| m.first_cell_error)),
        ];
        let worse = all.into_iter().filter(|(_, [before, after])| *after > before + SAME);
        worse.map(|(what, [a, b])| format!("{what} grew from {a:.3e} to {b:.3e}")).collect()
    }
}
