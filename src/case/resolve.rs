//! Defaults that depend on other keys, and what keys must satisfy together.

use crate::geometry::{Heights, divided_first, refined_first};
use crate::solver::newton::{Forcing, NewtonSettings};

use super::around::{Around, REACH, cascade, domain, from_wall_units};
use super::entries::Given;
use super::error::Found;
use super::points::{LayerLaw, points_around};
use super::schema::shown;
use super::sections::geometry;
use super::topology::{LEAST_SECTION, WAKE, topology};
use super::{
    Case, CaseError, DomainOptions, GridOptions, LayersOptions, OutputOptions, QualityOptions,
    Retry, TopologyChoice, defaults,
};

/// Longest name, so that file names with endings stay below the usual 255 bytes.
const MOST_BYTES: usize = 100;

/// The rule for names, in messages.
const FIT_NAME: &str = "a name fit for a file on every system: at most 100 bytes, no control \
                        characters, none of / \\ < > : \" | ? *, no blank or point at its end, and \
                        no device such as NUL";

/// Most nodes of a grid: two unknowns a node then fit a signed 32-bit index.
const MAX_NODES: usize = (1 << 30) - 1;

/// Least limit on the turn of a cell that refinement makes of a larger one, degrees.
const LEAST_TURN: f64 = 0.5;

impl Case {
    /// The case that `entries` describe.
    pub(super) fn resolve(entries: &Given) -> Result<Self, CaseError> {
        let mut found = Found::default();
        let geometry = found.keep(geometry(entries));
        let grid = grid(entries).and_then(|(grid, around)| {
            check_order(entries, &grid)?;
            Ok((output(entries, (grid.ni, grid.nj))?, grid, around))
        });
        let grid = found.keep(grid);
        let quality = found.keep(quality(entries));
        let newton = found.keep(newton(entries));
        let name = found.keep(name(entries));
        let (Some(geometry), Some((output, grid, around)), Some(quality), Some(newton), Some(name)) =
            (geometry, grid, quality, newton, name)
        else {
            return found.end(None);
        };
        Ok(Self {
            initial: entries.section("initial", &[])?,
            control: entries.section("control", &[])?,
            quality,
            newton,
            linear: entries.section("linear", &[])?,
            multigrid: entries.section("multigrid", &[])?,
            output,
            name,
            geometry,
            grid,
            domain: around.0,
            cascade: around.1,
            places: entries.places.clone(),
        })
    }

    /// Height of the first cell in wall units, where the Reynolds number is given.
    pub fn y_plus(&self) -> Option<f64> {
        let length = self.grid.reference_length.unwrap_or(defaults::REFERENCE_LENGTH);
        let unit = defaults::first_cell_from_y_plus(1.0, self.grid.reynolds?, length);
        Some(self.grid.first_cell / unit)
    }
}

fn grid(entries: &Given) -> Result<(GridOptions, Around), CaseError> {
    let cascade = cascade(entries)?;
    let refine: usize = entries.get("grid.refine")?;
    let refined = |points: usize| (points - 1).saturating_mul(refine).saturating_add(1);
    let topology = cascade.as_ref().map_or_else(|| topology(entries), |_| Ok(TopologyChoice::O))?;
    let domain = domain(entries, topology)?;
    let far_field = domain
        .as_ref()
        .map_or_else(|| entries.get("grid.far_field"), |domain| Ok(domain.extent()))?;
    let reach: Option<f64> = entries.given("grid.reach")?;
    let reach = reach.or(cascade.as_ref().map(|cascade| REACH * cascade.pitch));
    let extent = reach.unwrap_or(far_field);
    let from_surfaces = points_around(entries, topology)?;
    let ni = from_surfaces.map_or_else(|| entries.get("grid.ni"), Ok)?;
    let layers: Option<LayersOptions> =
        entries.opens("grid.layers").then(|| entries.section("grid.layers", &[])).transpose()?;
    let heights = first_cell(entries)?;
    let [height, highest] = heights.range();
    let last = domain.as_ref().and_then(|domain| domain.wall(height));
    let nj = nj(entries, &LayerLaw { first: height, extent, near: layers, last })?;
    let (around, out) = (topology.around(refined(ni)), refined(nj));
    check_ni(entries, topology, ni)?;
    let keys = ["grid.ni", "grid.nj", "grid.growth", "grid.refine"];
    let expected = format!("grid.ni × grid.nj of at most {MAX_NODES}, here {around} × {out}");
    let few = around.saturating_mul(out) <= MAX_NODES;
    entries.require(few, &keys, expected, "choose fewer points")?;
    if topology == TopologyChoice::C {
        let remedy = "leave grid.seam out: a C-grid has a cut, which is held, and no seam";
        entries.refuse_given(&["grid.seam"], "grid.topology = \"O\"", remedy)?;
    }
    if matches!(topology, TopologyChoice::C | TopologyChoice::Half) {
        let expected = "grid.topology = \"O\", whose lines close around the body";
        let remedy = "set grid.topology = \"O\", or leave grid.reach out";
        entries.refuse_given(&["grid.reach"], expected, remedy)?;
    }
    let length = domain.as_ref().map_or(far_field, DomainOptions::behind);
    let rules = wake(entries, topology, ni, length)?;
    let outer = match (reach, &domain) {
        (Some(_), _) => ("reach", "larger reach"),
        (None, Some(_)) => ("extent", "larger [domain]"),
        (None, None) => ("far_field", "farther far field"),
    };
    check_first_cell(entries, [highest, extent / (nj - 1) as f64], outer)?;
    check_heights(entries, topology, &heights)?;
    let heights = Some(heights).filter(|heights| !matches!(heights, Heights::Same(_)));
    // The options hold the least of a list of heights.
    let mut own = entries.clone();
    own.derive("grid.first_cell", height.into(), "grid.first_cell");
    let grid =
        GridOptions { heights, layers, ni, nj, far_field, reach, ..own.section("grid", &rules)? };
    check_base(entries, &grid)?;
    let refined = match layers {
        None => refined_first(nj, height, extent, refine).unwrap_or(height / refine as f64),
        Some(near) => divided_first(height, near.growth, refine),
    };
    let least = grid.max_turn.map_or(LEAST_TURN, |degrees| degrees.min(LEAST_TURN));
    let grid = grid.scaled(refine as f64, refined);
    let domain = domain.map(|domain| DomainOptions {
        wall_first_cell: domain.wall_first_cell.map(|own| own * refined / height),
        ..domain
    });
    let grid = GridOptions {
        max_turn: grid.max_turn.map(|degrees| degrees.max(least)),
        // A seam that is chosen automatically is not known yet.
        seam: entries.get("grid.seam").ok(),
        topology,
        ..grid
    };
    Ok((grid, (domain, cascade)))
}

/// Refuses an `ni` with fewer than 17 points on the wall, refined without a cut, or two cells on each side of a cut.
fn check_ni(entries: &Given, topology: TopologyChoice, ni: usize) -> Result<(), CaseError> {
    let refine: usize = entries.get("grid.refine")?;
    let (least, most) = match topology {
        TopologyChoice::O => (16_usize.div_ceil(refine) + 1, 1_000_000),
        TopologyChoice::Auto | TopologyChoice::C => (LEAST_SECTION + 4, 1_000_000),
        TopologyChoice::Half => (8_usize.div_ceil(refine) + 1, 500_000),
    };
    let expected = format!("{least} to {most} points on a grid of this topology");
    let remedy = format!("the least grid.ni is {least} here");
    let keys = ["grid.ni", "grid.points_upper"];
    entries.require((least..=most).contains(&ni), &keys, expected, remedy)
}

/// Defaults of the wake; none where the grid is an O-grid or half of one in any case.
fn wake(
    entries: &Given,
    topology: TopologyChoice,
    ni: usize,
    length: f64,
) -> Result<Vec<(&'static str, toml::Value)>, CaseError> {
    if matches!(topology, TopologyChoice::O | TopologyChoice::Half) {
        let expected = "grid.topology = \"C\" or \"auto\"";
        let remedy = "set grid.topology, or leave {key} out: an O-grid has no wake";
        return entries.refuse_given(&WAKE, expected, remedy).map(|()| Vec::new());
    }
    // With `auto` the section decides. Cells that are refined or of a higher order are counted here.
    let plain = entries.get::<usize>("grid.refine")? == 1 && step_of_order(entries)? == 1;
    if topology == TopologyChoice::Auto && plain && entries.first_of(&WAKE).is_none() {
        return Ok(Vec::new());
    }
    let most = ni.saturating_sub(LEAST_SECTION) / 2;
    let default = defaults::wake_cells(ni, most);
    let default = default - default % step_of_order(entries)?;
    let cells = entries.given("grid.wake")?.unwrap_or(default);
    entries.require(
        cells <= most,
        &["grid.wake", "grid.ni"],
        format!("grid.wake of at most (grid.ni - {LEAST_SECTION})/2 = {most}, here {cells}"),
        format!("leave {LEAST_SECTION} points for the section, or choose more points"),
    )?;
    let [length, direction] = [length, 0.0].map(toml::Value::from);
    let cells = i64::try_from(default).unwrap_or(i64::MAX).into();
    Ok(vec![("wake", cells), ("wake_length", length), ("wake_direction", direction)])
}

/// Points from wall to far field: as many as are given, or as the growth takes.
fn nj(entries: &Given, law: &LayerLaw) -> Result<usize, CaseError> {
    let given: usize = entries.get("grid.nj")?;
    let Some(growth) = entries.given::<f64>("grid.growth")? else {
        let (count, most) = (law.near.map_or(0, |near| near.count), given.saturating_sub(3));
        let keys = ["grid.layers.count", "grid.layers"];
        let expected = format!("at most grid.nj - 3 = {most} layers, here {count}");
        let remedy = "choose fewer layers, a larger grid.nj, or grid.growth in place of grid.nj";
        return entries.require(count <= most, &keys, expected, remedy).map(|()| given);
    };
    let takes = law.points(growth);
    let (expected, remedy) = match takes {
        _ if entries.has("grid.nj") => {
            let gives =
                law.growth(given).map(|found| format!("grid.nj = {given} gives {found:.3}"));
            let takes = takes.map(|nj| format!("{growth} takes grid.nj = {nj}"));
            let facts: Vec<String> = gives.into_iter().chain(takes).collect();
            ("grid.nj or grid.growth alone", facts.join(", ") + "; leave one of them out")
        }
        Some(nj) => return Ok(nj),
        None => ("a growth that at most 1000000 points have", "choose a larger growth".into()),
    };
    Err(entries.refuse(&["grid.growth"], expected, remedy))
}

/// Refuses heights of single points where the case has other points.
fn check_heights(
    entries: &Given,
    topology: TopologyChoice,
    heights: &Heights,
) -> Result<(), CaseError> {
    let expected = match heights {
        Heights::Surfaces { .. } | Heights::Points(_) if topology == TopologyChoice::Half => {
            "one list of [x/c, height] for both surfaces of half a grid"
        }
        Heights::Points(_) if entries.get::<usize>("grid.refine")? > 1 => {
            "a list of [x/c, height] with grid.refine, which adds wall points"
        }
        _ => return Ok(()),
    };
    let remedy = "leave grid.first_cell out, or change it";
    Err(entries.refuse(&["grid.first_cell"], expected, remedy))
}

/// Heights of the first cells.
fn first_cell(entries: &Given) -> Result<Heights, CaseError> {
    if let Some(height) = from_wall_units(entries, "grid.y_plus", "grid.first_cell")? {
        return Ok(Heights::Same(height));
    }
    if entries.has("grid.reference_length") && !entries.has("grid.reynolds") {
        return Err(entries.incomplete("grid.reference_length", "grid.reynolds"));
    }
    let given = entries.given("grid.first_cell")?;
    Ok(given.unwrap_or(Heights::Same(defaults::FIRST_CELL)))
}

/// Refuses first cells as high as equal layers up to the outer line, whose distance has this `name`.
fn check_first_cell(
    entries: &Given,
    [height, uniform]: [f64; 2],
    (name, larger): (&str, &str),
) -> Result<(), CaseError> {
    let [most, here] = [uniform, height].map(shown);
    let sizes = ["grid.first_cell", "grid.y_plus", "grid.nj"];
    let outer = ["grid.reach", "grid.far_field", "cascade.pitch", "domain"];
    entries.require(
        height < uniform,
        &[&sizes[..], &outer].concat(),
        format!("a first cell below the uniform spacing {name}/(nj - 1) = {most}, here {here}"),
        format!("choose a smaller first cell, fewer points in j, or a {larger}"),
    )
}

/// Cells of the case, before they are refined, of which curved cells are multiples.
fn step_of_order(entries: &Given) -> Result<usize, CaseError> {
    let order: usize = entries.get("output.curved_order")?;
    let refine: usize = entries.get("grid.refine")?;
    Ok((1..=order).find(|step| (step * refine).is_multiple_of(order)).unwrap_or(order))
}

/// Refuses counts of cells, before refinement, that make no cells of the order of the case.
fn check_order(entries: &Given, grid: &GridOptions) -> Result<(), CaseError> {
    let order: usize = entries.get("output.curved_order")?;
    let (step, refine) = (step_of_order(entries)?, entries.get::<usize>("grid.refine")?);
    let mut counts = vec![
        ("grid.ni", (grid.ni - 1) / refine, 1, step),
        ("grid.nj", (grid.nj - 1) / refine, 1, step),
    ];
    counts.extend(grid.wake.map(|wake| ("grid.wake", wake.cells / refine, 0, step)));
    let blocks = ["cascade.passage_cells", "cascade.inlet_cells", "cascade.outlet_cells"];
    for key in ["output.span_cells"].into_iter().chain(blocks) {
        counts.extend(entries.given(key)?.map(|cells| (key, cells, 0, order)));
    }
    for (key, cells, nodes, step) in counts {
        let below = cells - cells % step;
        let above = below + step + nodes;
        let nearest =
            if below == 0 { above.to_string() } else { format!("{} or {above}", below + nodes) };
        let count = if nodes == 0 { key.to_owned() } else { format!("{key} - 1") };
        let expected = format!(
            "a multiple of {step} for {count}, to make cells of order {order}, here {cells}"
        );
        let remedy =
            format!("the nearest {key} is {nearest}; or choose another output.curved_order");
        entries.require(cells % step == 0, &[key, "output.curved_order"], expected, remedy)?;
    }
    Ok(())
}

/// Refuses more cells on the base than there are around the body, among which those of a C-grid are not.
fn check_base(entries: &Given, grid: &GridOptions) -> Result<(), CaseError> {
    let most = (grid.around() - 1) / 2;
    let behind = grid.topology == TopologyChoice::C;
    let few = behind || grid.base_cells.is_none_or(|cells| cells <= most);
    let half = grid.topology == TopologyChoice::Half;
    let limit = if half { "grid.ni - 1" } else { "(grid.ni - 1)/2" };
    let remedy = "choose fewer cells on the base, or more points around the body";
    entries.require(few, &["grid.base_cells"], format!("at most {limit} = {most}"), remedy)
}

/// Limits of the grid and retries: those that are given, or those of the default plan that change no given key.
pub(super) fn quality(entries: &Given) -> Result<QualityOptions, CaseError> {
    let mut quality: QualityOptions = entries.section("quality", &[])?;
    if !entries.has("quality.ladder") {
        let free = |retry: &Retry| !retry.keys().iter().any(|key| entries.has(key));
        let free: Vec<Retry> = quality.ladder.iter().copied().filter(free).collect();
        // A case has no list without words: where nothing is tried it does not matter which.
        if free.is_empty() {
            quality.retry = false;
        } else {
            quality.ladder = free;
        }
    }
    Ok(quality)
}

pub(super) fn newton(entries: &Given) -> Result<NewtonSettings, CaseError> {
    let newton: NewtonSettings = entries.section("newton", &[])?;
    let Forcing { initial, min, max } = newton.forcing;
    let rise = min <= initial && initial <= max;
    let [min, initial, max] = [min, initial, max].map(shown);
    entries.require(
        rise,
        &["newton.forcing_initial", "newton.forcing_min", "newton.forcing_max"],
        format!("forcing_min ≤ forcing_initial ≤ forcing_max, here {min}, {initial}, {max}"),
        "set all three, or leave all three out",
    )?;
    Ok(newton)
}

pub(super) fn output(entries: &Given, plane: (usize, usize)) -> Result<OutputOptions, CaseError> {
    let dimensions: u8 = entries.get("output.plot3d_dimensions")?;
    let pictures: bool = entries.get("output.pictures")?;
    let rules = [("plot3d_block_count", (dimensions == 3).into()), ("report", pictures.into())];
    let output: OutputOptions = entries.section("output", &rules)?;
    // The nodes of all planes must be numbered.
    let most = MAX_NODES / plane.0.saturating_mul(plane.1).max(1);
    let few = output.span_cells == 0 || output.span_cells < most;
    let expected = format!("at most {}, for {MAX_NODES} points in all", most.saturating_sub(1));
    let remedy = "choose fewer cells over the span, or fewer points in the plane";
    entries.require(few, &["output.span_cells"], expected, remedy).map(|()| output)
}

/// Name of the case: the one that is given, or that of its file.
pub(super) fn name(entries: &Given) -> Result<String, CaseError> {
    let stem =
        || entries.places.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let name = entries.given::<String>("name")?.unwrap_or_else(stem);
    let remedy = "choose the folder by --output, the name by name = \"…\"";
    entries.require(is_fit_name(&name), &["name"], FIT_NAME, remedy).map(|()| name)
}

/// Whether a folder below another can have this name, on every system. Source:
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
    let numbered = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
    let port = |number: &str| {
        number.chars().count() == 1 && number.contains(|c: char| "0123456789¹²³".contains(c))
    };
    ["CON", "PRN", "AUX", "NUL"].contains(&&*stem) || numbered.is_some_and(port)
}
