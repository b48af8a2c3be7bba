//! Defaults that depend on other keys, and what keys must satisfy together.

use std::path::Path;

use crate::geometry::{TrailingEdge, refined_first};
use crate::grid::initial::Method;

use super::check::shown;
use super::entries::Entries;
use super::sections::geometry;
use super::{
    Case, CaseError, Contour, ControlOptions, GeometryOptions, GridOptions, InitialOptions,
    LinearOptions, MultigridOptions, NewtonOptions, OutputOptions, QualityOptions, Retry, Topology,
    WakeOptions, defaults, name,
};

/// Most nodes of a grid: two unknowns a node then fit a signed 32-bit index.
const MAX_NODES: usize = (1 << 30) - 1;

/// Points that a C-grid leaves for the section at least.
const LEAST_SECTION: usize = 17;
/// Least limit on the turn of a cell, degrees.
const LEAST_TURN: f64 = 0.5;

impl Case {
    /// The case that `entries` describe; `path` is the case file.
    pub(super) fn resolve(entries: &Entries, path: &Path) -> Result<Self, CaseError> {
        let geometry = geometry(entries, path)?;
        let grid = grid(entries)?;
        edge_fits(entries, &geometry, grid.topology)?;
        let initial = InitialOptions {
            method: entries.get("initial.method")?,
            dissipation: entries.given("initial.dissipation")?,
            volume_smoothing: entries.given("initial.volume_smoothing")?,
            spread: entries.given("initial.spread")?,
        };
        let control = control(entries, initial.method)?;
        let quality = quality(entries)?;
        let newton = newton(entries)?;
        let linear = LinearOptions {
            solver: entries.get("linear.solver")?,
            preconditioner: entries.get("linear.preconditioner")?,
            schedule: entries.get("linear.schedule")?,
            restart: entries.get("linear.restart")?,
            max_iterations: entries.get("linear.max_iterations")?,
            precision: entries.get("linear.precision")?,
        };
        let multigrid = MultigridOptions {
            cycle: entries.get("multigrid.cycle")?,
            sweeps: entries.get("multigrid.sweeps")?,
            levels: entries.get("multigrid.levels")?,
            coarsening: entries.get("multigrid.coarsening")?,
        };
        let output = output(entries, (grid.ni, grid.nj))?;
        let name = name::of(entries, path)?;
        Ok(Self {
            name,
            geometry,
            grid,
            initial,
            control,
            quality,
            newton,
            linear,
            multigrid,
            output,
            places: entries.places(),
        })
    }
}

/// First-cell height in chords for a height `y_plus` in wall units at the Reynolds number of a
/// reference length L in chords.
///
/// `y = y⁺ L / (Re √(Cf/2))` with the skin friction of a turbulent flat plate,
/// `Cf = (2 log₁₀ Re − 0.65)^−2.3` (H. Schlichting, Boundary-Layer Theory, 7th ed. 1979,
/// eq. 21.16).
#[must_use]
pub fn first_cell_from_y_plus(y_plus: f64, reynolds: f64, length: f64) -> f64 {
    let friction = (2.0 * reynolds.log10() - 0.65).powf(-2.3);
    y_plus * length / (reynolds * (friction / 2.0).sqrt())
}

fn grid(entries: &Entries) -> Result<GridOptions, CaseError> {
    let refine: usize = entries.get("grid.refine")?;
    let refined = |points: usize| (points - 1).saturating_mul(refine).saturating_add(1);
    let coarse: (usize, usize) = (entries.get("grid.ni")?, entries.get("grid.nj")?);
    let (ni, nj) = (refined(coarse.0), refined(coarse.1));
    let far_field: f64 = entries.get("grid.far_field")?;
    let topology: Topology = entries.get("grid.topology")?;
    let around = topology.around(ni);
    if around.saturating_mul(nj) > MAX_NODES {
        return Err(entries.refuse(
            &["grid.ni", "grid.nj", "grid.refine"],
            format!("grid.ni × grid.nj of at most {MAX_NODES}, here {around} × {nj}"),
            "choose fewer points".into(),
        ));
    }
    let spacing = |path| {
        entries.given(path).map(|given: Option<f64>| given.map(|chords| chords / refine as f64))
    };
    let seam: String = entries.get("grid.seam")?;
    if seam != "auto" && topology == Topology::C {
        return Err(entries.refuse(
            &["grid.seam"],
            "grid.topology = \"O\"".into(),
            "leave grid.seam out: a C-grid has a cut, which is held, and no seam".into(),
        ));
    }
    let wake = wake(entries, topology, coarse.0, far_field)?;
    let first_cell = first_cell(entries, far_field, coarse.1)?;
    Ok(GridOptions {
        topology,
        ni,
        nj,
        far_field,
        first_cell: refined_first(coarse.1, first_cell, far_field, refine)
            .unwrap_or(first_cell / refine as f64),
        wake: wake.map(|wake| WakeOptions { cells: wake.cells * refine, ..wake }),
        leading_edge_spacing: spacing("grid.leading_edge_spacing")?,
        trailing_edge_spacing: spacing("grid.trailing_edge_spacing")?,
        max_turn: spacing("grid.max_turn")?.map(|degrees| degrees.max(LEAST_TURN)),
        base_cells: base_cells(entries, topology, coarse.0)?.map(|cells| cells * refine),
        seam: if seam == "auto" { None } else { Some(entries.get("grid.seam")?) },
    })
}

/// The wake, unless the grid is an O-grid or half of one in any case.
fn wake(
    entries: &Entries,
    topology: Topology,
    ni: usize,
    far_field: f64,
) -> Result<Option<WakeOptions>, CaseError> {
    let keys = ["grid.wake", "grid.wake_length", "grid.wake_direction"];
    if matches!(topology, Topology::O | Topology::Half) {
        return match keys.into_iter().find(|key| entries.has(key)) {
            None => Ok(None),
            Some(key) => Err(entries.refuse(
                &[key],
                "grid.topology = \"C\" or \"auto\"".into(),
                format!("set grid.topology, or leave {key} out: an O-grid has no wake"),
            )),
        };
    }
    let most = ni.saturating_sub(LEAST_SECTION) / 2;
    let cells = entries.given("grid.wake")?.unwrap_or_else(|| defaults::wake_cells(ni, most));
    if cells > most {
        return Err(entries.refuse(
            &["grid.wake", "grid.ni"],
            format!("grid.wake of at most (grid.ni - {LEAST_SECTION})/2 = {most}, here {cells}"),
            format!("leave {LEAST_SECTION} points for the section, or choose more points"),
        ));
    }
    Ok(Some(WakeOptions {
        cells,
        length: entries.given("grid.wake_length")?.unwrap_or(far_field),
        direction: entries.given("grid.wake_direction")?.unwrap_or(0.0),
    }))
}

/// Refuses a trailing edge that the section or the topology does not have.
fn edge_fits(
    entries: &Entries,
    geometry: &GeometryOptions,
    topology: Topology,
) -> Result<(), CaseError> {
    let refuse = |expected: &str, remedy: &str| {
        Err(entries.refuse(&["geometry.trailing_edge"], expected.into(), remedy.into()))
    };
    match (geometry.trailing_edge, &geometry.contour) {
        (TrailingEdge::Blunt | TrailingEdge::Rounded, _) if topology == Topology::C => refuse(
            "an edge that is one point, for the cut of grid.topology = \"C\" to begin at",
            "close the base by \"wedge\" or \"sharp\", or choose grid.topology = \"O\"",
        ),
        (TrailingEdge::Extended, contour) if !matches!(contour, Contour::Naca(_)) => refuse(
            "a NACA designation, whose surfaces have a formula to go on by",
            "close the edge of another section by \"wedge\" or \"sharp\"",
        ),
        _ => Ok(()),
    }
}

fn first_cell(entries: &Entries, far_field: f64, nj: usize) -> Result<f64, CaseError> {
    if entries.has("grid.first_cell") && entries.has("grid.y_plus") {
        let found = entries.found(&["grid.y_plus"]).into();
        return Err(CaseError::Conflict { found, other: "grid.first_cell" });
    }
    let y_plus = entries.given("grid.y_plus")?;
    let reynolds = entries.given("grid.reynolds")?;
    let length = entries.given("grid.reference_length")?;
    if length.is_some() && y_plus.is_none() {
        let found = entries.found(&["grid.reference_length"]).into();
        return Err(CaseError::Incomplete { found, other: "grid.y_plus" });
    }
    let height = match (y_plus, reynolds) {
        (Some(y_plus), Some(reynolds)) => {
            let length = length.unwrap_or(defaults::REFERENCE_LENGTH);
            first_cell_from_y_plus(y_plus, reynolds, length)
        }
        (None, None) => entries.given("grid.first_cell")?.unwrap_or(defaults::FIRST_CELL),
        (Some(_), None) => {
            let found = entries.found(&["grid.y_plus"]).into();
            return Err(CaseError::Incomplete { found, other: "grid.reynolds" });
        }
        (None, Some(_)) => {
            let found = entries.found(&["grid.reynolds"]).into();
            return Err(CaseError::Incomplete { found, other: "grid.y_plus" });
        }
    };
    let uniform = far_field / (nj - 1) as f64;
    if height < uniform {
        return Ok(height);
    }
    Err(entries.refuse(
        &["grid.first_cell", "grid.y_plus", "grid.nj", "grid.far_field"],
        format!(
            "a first cell below the uniform spacing far_field/(nj - 1) = {}, here {}",
            shown(uniform),
            shown(height)
        ),
        "choose a smaller first cell, fewer points in j, or a farther far field".into(),
    ))
}

fn base_cells(
    entries: &Entries,
    topology: Topology,
    ni: usize,
) -> Result<Option<usize>, CaseError> {
    let cells = entries.given("grid.base_cells")?;
    let most = (topology.around(ni) - 1) / 2;
    let limit = if topology == Topology::Half { "grid.ni - 1" } else { "(grid.ni - 1)/2" };
    if cells.is_some_and(|cells: usize| cells > most) {
        return Err(entries.refuse(
            &["grid.base_cells"],
            format!("at most {limit} = {most}"),
            "choose fewer cells on the base, or more points around the body".into(),
        ));
    }
    Ok(cells)
}

fn control(entries: &Entries, method: Method) -> Result<ControlOptions, CaseError> {
    Ok(ControlOptions {
        base: entries.get("control.base")?,
        wall: entries.get("control.wall")?,
        smoothing: entries
            .given("control.smoothing")?
            .unwrap_or_else(|| defaults::smoothing(method)),
        smoothing_distance: entries.get("control.smoothing_distance")?,
        clip: entries.get("control.clip")?,
        decay: entries.get("control.decay")?,
    })
}

/// What is asked of the grid. A retry plan that is given is tried as it stands; of the default one
/// those retries that change no key which is given.
fn quality(entries: &Entries) -> Result<QualityOptions, CaseError> {
    let (retry, all): (bool, Vec<Retry>) =
        (entries.get("quality.retry")?, entries.get("quality.ladder")?);
    let ladder = if entries.has("quality.ladder") {
        all.clone()
    } else {
        defaults::retries(all.clone(), |key| entries.has(key))
    };
    Ok(QualityOptions {
        max_skewness: entries.given("quality.max_skewness")?,
        max_wall_angle: entries.given("quality.max_wall_angle")?,
        retry: retry && !ladder.is_empty(),
        // A case has no list without words: where nothing is tried it does not matter which.
        ladder: if ladder.is_empty() { all } else { ladder },
    })
}

fn newton(entries: &Entries) -> Result<NewtonOptions, CaseError> {
    let initial: f64 = entries.get("newton.forcing_initial")?;
    let min: f64 = entries.get("newton.forcing_min")?;
    let max: f64 = entries.get("newton.forcing_max")?;
    if !(min <= initial && initial <= max) {
        return Err(entries.refuse(
            &["newton.forcing_initial", "newton.forcing_min", "newton.forcing_max"],
            format!(
                "forcing_min ≤ forcing_initial ≤ forcing_max, here {}, {}, {}",
                shown(min),
                shown(initial),
                shown(max)
            ),
            "set all three, or leave all three out".into(),
        ));
    }
    Ok(NewtonOptions {
        tolerance: entries.get("newton.tolerance")?,
        max_iterations: entries.get("newton.max_iterations")?,
        forcing_initial: initial,
        forcing_min: min,
        forcing_max: max,
        max_halvings: entries.get("newton.max_halvings")?,
    })
}

fn output(entries: &Entries, plane: (usize, usize)) -> Result<OutputOptions, CaseError> {
    let dimensions: u8 = entries.get("output.plot3d_dimensions")?;
    let pictures = entries.get("output.pictures")?;
    Ok(OutputOptions {
        formats: entries.get("output.formats")?,
        compression: entries.get("output.compression")?,
        span_cells: span_cells(entries, plane)?,
        span: entries.get("output.span")?,
        sides: entries.get("output.sides")?,
        plot3d_dimensions: dimensions,
        plot3d_encoding: entries.get("output.plot3d_encoding")?,
        plot3d_precision: entries.get("output.plot3d_precision")?,
        plot3d_byte_order: entries.get("output.plot3d_byte_order")?,
        plot3d_block_count: entries.given("output.plot3d_block_count")?.unwrap_or(dimensions == 3),
        plot3d_blanking: entries.get("output.plot3d_blanking")?,
        plot3d_axes: entries.get("output.plot3d_axes")?,
        pictures,
        quality_maps: entries.get("output.quality_maps")?,
        report: entries.given("output.report")?.unwrap_or(pictures),
    })
}

/// Cells over the span of a grid of so many points in its plane, few enough for the nodes of all planes
/// to be numbered.
fn span_cells(entries: &Entries, plane: (usize, usize)) -> Result<usize, CaseError> {
    let cells: usize = entries.get("output.span_cells")?;
    let plane = plane.0.saturating_mul(plane.1);
    let most = MAX_NODES / plane.max(1);
    if cells > 0 && cells >= most {
        return Err(entries.refuse(
            &["output.span_cells"],
            format!("at most {}, for {MAX_NODES} points in all", most.saturating_sub(1)),
            "choose fewer cells over the span, or fewer points in the plane".into(),
        ));
    }
    Ok(cells)
}
