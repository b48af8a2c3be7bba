//! Defaults that follow a rule, and the retry plan. Constant defaults are in the table of keys; every other one is
//! here, and the resolved case has all of them, so that an archived case is the same in every build.

use serde::{Deserialize, Serialize};

use super::{Case, TopologyChoice, WallPoints};
use crate::geometry::{GeometryError, TrailingEdge, check_base_cells};
use crate::grid::Seam;
use crate::grid::initial::InitialMethod;
use crate::grid::quality::TRANSITION;
use crate::pde::control::Base;
use crate::solver::precond::{FEW_LEVELS, TALL};

/// Height of the first cell when neither it nor `y_plus` is given, chords.
pub(super) const FIRST_CELL: f64 = 1e-5;

/// Length behind `y_plus`, chords: gives 1.04e-5 for y+ 0.9 at Re 1e6, as other generators do.
pub(super) const REFERENCE_LENGTH: f64 = 0.5;

/// Most first-cell heights in the default spacing at a sharp trailing edge, and the widest spacing that follows, chords.
/// Cells much taller than wide are sheared beside the line that leaves the edge, where equations are harder to solve.
const MOST_HEIGHTS: f64 = 6.0;
const WIDEST: f64 = 1e-2;

/// Most first-cell heights where cells are of a higher order: with more, cells of order 2 fold beside the edge.
const MOST_HEIGHTS_CURVED: f64 = 1.0;

/// Smoothing of the marched volumes around a closed section, and the least of it. First cells higher than a
/// quarter of the length of the wall's cells are marched with as much less: Newton's method then starts
/// nearer to its solution, in 4 steps on 8193 × 2049 points at 1e-2 where it took 18.
const VOLUME_SMOOTHING: f64 = 0.4;
const LEAST_VOLUME_SMOOTHING: f64 = 0.05;
const HEIGHTS_IN_LENGTH: f64 = 4.0;

/// Cells of the cut for each cell of the line along the wall: 48 of 224, as in NASA's C-grids.
const WAKE_SHARE: f64 = 3.0 / 14.0;

/// Newton steps that a case allows; one that allows fewer wants no second try.
pub(crate) const NEWTON_STEPS: i64 = 30;

/// Largest turn of the wall in a cell, degrees, up to 257 points.
const MAX_TURN: f64 = 15.0;

/// First-cell height in chords for `y_plus` wall units, at the Reynolds number of the chord and a length L in chords.
///
/// `y = y⁺ L / (Re √(Cf/2))`, as in Construct2D, with the local skin friction of a flat plate at Re: of a turbulent one,
/// `Cf = (2 log₁₀ Re − 0.65)^−2.3`, from Re = 5e5 on, where a flat plate's boundary layer becomes turbulent, of a
/// laminar one, `Cf = 0.664/√Re`, below (H. Schlichting, Boundary-Layer Theory, 7th ed. 1979, eq. 21.16 and, after
/// Blasius 1908, eq. 7.32). At 5e5 the laminar friction is 4.5 times lower, so that the height is 2.1 times the
/// turbulent one.
pub fn first_cell_from_y_plus(y_plus: f64, reynolds: f64, length: f64) -> f64 {
    let friction = if reynolds < TRANSITION {
        0.664 / reynolds.sqrt()
    } else {
        (2.0 * reynolds.log10() - 0.65).powf(-2.3)
    };
    y_plus * length / (reynolds * (friction / 2.0).sqrt())
}

/// Angle of the trailing edge from which it is round rather than sharp, degrees.
pub(super) const ROUND_EDGE: f64 = 90.0;

/// Factor of a retry on the smoothing of the march, which tries twice and four times by itself where it folds.
const MORE_SMOOTHING: f64 = 4.0;

/// Cells of a wake for each of the section, from which its cells grow no faster than by default. Shorter wakes
/// have cells that grow faster, and unless their march is smoother no multigrid cycle contracts.
const WAKE_IN_SECTION: f64 = 0.375;

/// Columns over which control functions of the march along normals are smoothed.
const NORMAL_COLUMNS: f64 = 3.9;

/// Factor of a retry on the decay length of the wall terms.
const SHORTER_DECAY: f64 = 0.5;

/// Cells of the cut on each side, for `ni` points that leave `most`.
pub(super) fn wake_cells(ni: usize, most: usize) -> usize {
    let eighths = ((ni - 1) as f64 * WAKE_SHARE / 8.0).round() as usize;
    (8 * eighths).max(8).min(most.max(2))
}

/// Cells of the cut on each side, beside a section of this many points: the share that [`wake_cells`] gives.
pub(super) fn wake_beside(section: usize) -> usize {
    let share = WAKE_SHARE / (1.0 - 2.0 * WAKE_SHARE);
    (8 * ((section - 1) as f64 * share / 8.0).round() as usize).max(8)
}

/// Smallest first cell, chords: at smaller ones round-off leaves a merit of 1e-4 and more, near that of initial grids.
pub(crate) const LEAST_FIRST_CELL: f64 = 3.2e-10;

/// Merit below which round-off rules: 1e-9 at a first cell of 1e-7 chords; it grows like the inverse
/// square of the first cell (measured: 3e-12 at 1e-6, 6e-10 at 1e-7).
pub(super) fn round_off(first_cell: f64) -> f64 {
    1e-9 * (1e-7 / first_cell).powi(2)
}

/// The line along the wall, as far as defaults depend on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct WallFacts {
    /// Cells along each side of the cut behind the trailing edge, if there is one.
    pub(super) wake: Option<usize>,
    /// Whether the section has a trailing edge.
    pub(super) edge: bool,
    /// Whether the edge closes in one point.
    pub(super) sharp: bool,
    /// Whether there is a block behind the base.
    pub(super) behind: bool,
    /// Cells around the section; of half a grid those of the whole.
    pub(super) cells: usize,
}

/// Largest growth of the cells on a base behind which there is a block, and of those along its interfaces.
const BASE_GROWTH: f64 = 1.3;
const INTERFACE_GROWTH: f64 = 1.2;

/// Largest share of the cells of the line along the wall in each interface: the others are on the section.
const MOST_INTERFACE: f64 = 5.0 / 16.0;

/// Cells of a section with a base for each unit of dissipation of its march, the least and the most of it, and the smoothing
/// of its volumes over the root of the cells: lines cluster behind the corners, and the more of them there are the less smooth they are.
const CELLS_IN_DISSIPATION: f64 = 1000.0;
const DISSIPATION: [f64; 2] = [0.08, 0.6];
const SMOOTHING: f64 = 3.3e-4;

/// First cells above which multigrid has three levels around a base inside a box, and two below: cycles of more levels do not
/// contract where columns as near as first cells are high fan out over straight lines.
const LEAST_OF_THREE_LEVELS: f64 = 2e-6;

/// First cells to which a base must have room at least for a block behind it.
pub(super) const LEAST_ON_BASE: f64 = 4.0;

impl Case {
    /// Puts every default in place that follows from a base of this thickness before a block of these first cells.
    pub(super) fn settle_behind(
        &mut self,
        thickness: f64,
        first: f64,
    ) -> Result<(), GeometryError> {
        let Self { grid, output, places, .. } = self;
        let step = 2 * output.curved_order;
        // Without round-off of the base's thickness.
        let most = (thickness / first * (1.0 + 1e-9)) as usize / step * step;
        let wanted = 2.0 * (0.5 * thickness / first).ln() / BASE_GROWTH.ln() + 2.0;
        grid.base_cells = Some(match grid.base_cells {
            Some(given) => check_base_cells(given, most)?,
            None => (wanted.ceil().max(4.0) as usize).next_multiple_of(step).min(most),
        });
        grid.trailing_edge_spacing.get_or_insert(first);
        if let Some(wake) = grid.wake.as_mut().filter(|_| !places.has("grid.wake")) {
            let growth = INTERFACE_GROWTH;
            let least = ((growth - 1.0) * wake.length / first).ln_1p() / growth.ln();
            let least = (least.ceil() as usize).next_multiple_of(4 * step);
            let most = (MOST_INTERFACE * (grid.ni - 1) as f64) as usize / (4 * step) * 4 * step;
            // With the points of both surfaces `ni` follows.
            let surfaces = grid.points_upper.is_some() && grid.points_lower.is_some();
            let free = surfaces && !places.has("grid.ni");
            wake.cells = wake.cells.max(if free { least } else { least.min(most) });
        }
        Ok(())
    }

    /// Puts every default in place that follows from the wall. Returns the spacing of the section at its
    /// leading and trailing edge in chords, the largest turn in a cell in degrees, and the seam.
    pub(super) fn settle_defaults(&mut self, wall: WallFacts) -> ([f64; 2], f64, Seam) {
        let (grid, initial) = (&mut self.grid, &mut self.initial);
        let element = grid.reach.is_some() || self.places.is_element();
        let cells = wall.cells as f64;
        let mut spacing = [0.0; 2];
        let spaced = grid.wall_points == WallPoints::Spaced;
        if wall.edge && spaced {
            let ([leading, trailing], cells_of_default) =
                if wall.wake.is_some() { ([4e-4, 3e-3], 128.0) } else { ([3e-3, 1e-3], 256.0) };
            let [leading, trailing] =
                [leading, trailing].map(|chords: f64| chords * cells_of_default / cells);
            let curved = self.output.curved_order > 1;
            let heights = if curved { MOST_HEIGHTS_CURVED } else { MOST_HEIGHTS };
            let thick = if wall.sharp { grid.first_cell / heights } else { 0.0 };
            let trailing = trailing.max(thick.min(WIDEST));
            spacing = [
                *grid.leading_edge_spacing.get_or_insert(leading),
                *grid.trailing_edge_spacing.get_or_insert(trailing),
            ];
        }
        let turn = MAX_TURN * (256.0 / cells).min(1.0);
        let turn = if spaced { *grid.max_turn.get_or_insert(turn) } else { turn };
        // A trailing edge or base is a corner, whose line keeps its marched points. Points of a round edge lie on a smooth wall.
        let round = self.cascade.is_some() && self.geometry.trailing_edge == TrailingEdge::Rounded;
        let mut seam = if wall.edge && !round { Seam::Held } else { Seam::Periodic };
        if wall.wake.is_some() {
            grid.topology = TopologyChoice::C;
            let levels = if wall.behind && self.domain.is_some() {
                Some(2 + usize::from(grid.first_cell > LEAST_OF_THREE_LEVELS))
            } else {
                (grid.nj >= TALL + 2).then_some(FEW_LEVELS)
            };
            if let Some(levels) = levels.filter(|_| !self.places.has("multigrid.levels")) {
                self.multigrid.levels = levels;
            }
        } else {
            grid.wake = None;
            seam = *grid.seam.get_or_insert(seam);
            if grid.topology == TopologyChoice::Auto {
                grid.topology = TopologyChoice::O;
            }
        }
        // The wall counts as two chords.
        let thin = (2.0 / cells / (HEIGHTS_IN_LENGTH * grid.first_cell)).min(1.0);
        let smoothing = (VOLUME_SMOOTHING * thin).max(LEAST_VOLUME_SMOOTHING);
        let [dissipation, volume_smoothing, spread, columns] = match wall {
            WallFacts { wake: Some(_), behind: true, .. } => {
                let [least, most] = DISSIPATION;
                let dissipation = (cells / CELLS_IN_DISSIPATION).clamp(least, most);
                [dissipation, SMOOTHING * cells.sqrt(), 0.0, 2.25]
            }
            WallFacts { wake: Some(wake), .. } => {
                let columns = (wake as f64).min(WAKE_IN_SECTION * cells);
                [0.08, 0.01 * (48.0 / columns).min(1.0), 0.0, 2.25]
            }
            // Other grids take values from the outermost cells of a near one, which are to be of one size.
            WallFacts { edge: true, .. } if element => [0.4, 0.0, 6.0, 0.0],
            WallFacts { edge: true, .. } => [0.4, 0.0, 0.3, 0.0],
            WallFacts { .. } => [0.2, smoothing, 10.0, cells / 128.0],
        };
        let marches = initial.method == InitialMethod::Hyperbolic;
        let columns = if marches { columns } else { NORMAL_COLUMNS };
        self.control.smoothing_columns.get_or_insert(columns);
        initial.dissipation.get_or_insert(dissipation);
        initial.volume_smoothing.get_or_insert(volume_smoothing);
        initial.spread.get_or_insert(spread);
        (spacing, turn, seam)
    }
}

/// A change of settings that is tried when a grid is not good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Retry {
    /// More smoothing in the hyperbolic march.
    March,
    /// A shorter decay of the wall terms.
    Decay,
    /// The march along normals.
    Normal,
    /// The base of Thomas and Middlecoff, inside a box that of Laplace.
    Base,
}

impl Retry {
    /// The keys that it changes.
    pub(super) fn keys(self) -> &'static [&'static str] {
        match self {
            Self::March => &["initial.dissipation"],
            Self::Decay => &["control.decay"],
            Self::Normal => &["initial.method", "control.smoothing_columns"],
            Self::Base => &["control.base"],
        }
    }

    /// The change in words, and the case with it; none where it changes nothing.
    fn change(self, case: &Case) -> Option<(String, Case)> {
        let mut changed = case.clone();
        let Case { initial, control, .. } = &mut changed;
        let marches = initial.method == InitialMethod::Hyperbolic;
        let words = match self {
            Self::March if marches => {
                let dissipation = MORE_SMOOTHING * initial.dissipation?;
                initial.dissipation = Some(dissipation);
                let mut keys = vec![format!("initial.dissipation = {dissipation}")];
                let given = case.places.has("initial.volume_smoothing");
                if let Some(volumes) = initial.volume_smoothing.filter(|&c| c > 0.0 && !given) {
                    let volumes = MORE_SMOOTHING * volumes;
                    initial.volume_smoothing = Some(volumes);
                    keys.push(format!("initial.volume_smoothing = {volumes}"));
                }
                format!("a smoother march ({})", keys.join(", "))
            }
            Self::Decay => {
                control.decay *= SHORTER_DECAY;
                format!("a shorter reach of the wall terms (control.decay = {})", control.decay)
            }
            Self::Normal if marches => {
                initial.method = InitialMethod::Normal;
                control.smoothing_columns = Some(NORMAL_COLUMNS);
                "a march along normals (initial.method = \"normal\")".into()
            }
            Self::Base if control.base == Some(Base::Marched) => {
                let (base, word) = match case.domain {
                    Some(_) => (Base::Laplace, "laplace"),
                    None => (Base::ThomasMiddlecoff, "thomas-middlecoff"),
                };
                control.base = Some(base);
                format!("another base (control.base = \"{word}\")")
            }
            _ => return None,
        };
        Some((words, changed))
    }
}

impl Case {
    /// The retry plan of a settled case: each change in words, and the case with that change alone.
    pub(crate) fn retries(&self) -> impl Iterator<Item = (String, Self)> {
        let plan: &[Retry] = if self.quality.retry { &self.quality.ladder } else { &[] };
        plan.iter().filter_map(|retry| retry.change(self))
    }
}
