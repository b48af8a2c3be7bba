//! Defaults that depend on other keys, and what keys must satisfy together.

use std::path::Path;

use crate::geometry::{TrailingEdge, Wake, refined_first};
use crate::solver::newton::{Forcing, NewtonSettings};

use super::entries::Entries;
use super::schema::shown;
use super::sections::geometry;
use super::{
    Case, CaseError, Contour, GeometryOptions, GridOptions, InitialOptions, OutputOptions,
    QualityOptions, Topology, defaults,
};

/// Longest name, so that file names with endings stay below the usual 255 bytes.
const MOST_BYTES: usize = 100;

/// What a name must be, for messages.
const FIT_NAME: &str = "a name fit for a file on every system: at most 100 bytes, no control \
                        characters, none of / \\ < > : \" | ? *, no blank or point at its end, and \
                        no device such as NUL";

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
        let initial: InitialOptions = entries.section("initial", &[])?;
        let smoothing = i64::from(defaults::smoothing(initial.method));
        let control = entries.section("control", &[("smoothing", smoothing.into())])?;
        Ok(Self {
            initial,
            control,
            quality: quality(entries)?,
            newton: newton(entries)?,
            linear: entries.section("linear", &[])?,
            multigrid: entries.section("multigrid", &[])?,
            output: output(entries, (grid.ni, grid.nj))?,
            name: name(entries, path)?,
            geometry,
            grid,
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
        wake: wake.map(|wake| Wake { cells: wake.cells * refine, ..wake }),
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
) -> Result<Option<Wake>, CaseError> {
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
    Ok(Some(Wake {
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

/// What is asked of the grid. A retry plan that is given is tried as it stands; of the default one
/// those retries that change no key which is given.
fn quality(entries: &Entries) -> Result<QualityOptions, CaseError> {
    let mut quality: QualityOptions = entries.section("quality", &[])?;
    if !entries.has("quality.ladder") {
        let free = defaults::retries(&quality.ladder, |key| entries.has(key));
        // A case has no list without words: where nothing is tried it does not matter which.
        if free.is_empty() {
            quality.retry = false;
        } else {
            quality.ladder = free;
        }
    }
    Ok(quality)
}

fn newton(entries: &Entries) -> Result<NewtonSettings, CaseError> {
    let newton: NewtonSettings = entries.section("newton", &[])?;
    let Forcing { initial, min, max } = newton.forcing;
    if min <= initial && initial <= max {
        return Ok(newton);
    }
    Err(entries.refuse(
        &["newton.forcing_initial", "newton.forcing_min", "newton.forcing_max"],
        format!(
            "forcing_min ≤ forcing_initial ≤ forcing_max, here {}, {}, {}",
            shown(min),
            shown(initial),
            shown(max)
        ),
        "set all three, or leave all three out".into(),
    ))
}

fn output(entries: &Entries, plane: (usize, usize)) -> Result<OutputOptions, CaseError> {
    let dimensions: u8 = entries.get("output.plot3d_dimensions")?;
    let pictures: bool = entries.get("output.pictures")?;
    let rules = [("plot3d_block_count", (dimensions == 3).into()), ("report", pictures.into())];
    let output: OutputOptions = entries.section("output", &rules)?;
    check_span(entries, output.span_cells, plane)?;
    Ok(output)
}

/// Refuses `cells` over the span of a grid of `plane` points where the nodes of all planes cannot be
/// numbered.
fn check_span(entries: &Entries, cells: usize, plane: (usize, usize)) -> Result<(), CaseError> {
    let plane = plane.0.saturating_mul(plane.1);
    let most = MAX_NODES / plane.max(1);
    if cells > 0 && cells >= most {
        return Err(entries.refuse(
            &["output.span_cells"],
            format!("at most {}, for {MAX_NODES} points in all", most.saturating_sub(1)),
            "choose fewer cells over the span, or fewer points in the plane".into(),
        ));
    }
    Ok(())
}

/// Name of the case: the one that is given, or that of its file.
fn name(entries: &Entries, path: &Path) -> Result<String, CaseError> {
    let stem = || path.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let name = entries.given::<String>("name")?.unwrap_or_else(stem);
    if is_fit_name(&name) {
        return Ok(name);
    }
    let remedy = "choose the folder by --output, the name by name = \"…\"";
    Err(entries.refuse(&["name"], FIT_NAME.into(), remedy.into()))
}

/// Whether a folder below another can have this name, on every system. Source: Microsoft, "Naming
/// Files, Paths, and Namespaces",
/// <https://learn.microsoft.com/windows/win32/fileio/naming-a-file>.
pub(crate) fn is_fit_name(name: &str) -> bool {
    let reserved = |c: char| c.is_control() || "/\\<>:\"|?*".contains(c);
    !name.is_empty()
        && name.len() <= MOST_BYTES
        && !name.contains(reserved)
        // Windows leaves these out, so that `..` and `wing.` are other names there.
        && !name.ends_with([' ', '.'])
        && !is_device(name)
}

/// Whether Windows takes the name for a device, which it does with any ending.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_uppercase();
    match stem.get(..3) {
        Some("CON" | "PRN" | "AUX" | "NUL") => stem.len() == 3,
        Some("COM" | "LPT") => {
            let mut number = stem[3..].chars();
            let numbered = number.next().is_some_and(|c| c.is_ascii_digit() || "¹²³".contains(c));
            numbered && number.next().is_none()
        }
        _ => false,
    }
}
