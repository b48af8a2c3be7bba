//! Checks that the grids of several elements fit each other, which a flow solver would otherwise find out.

use serde::Serialize;

use super::rigging::{RigSide, Rigging};
use super::stencil::{CellType, SearchBox, ZoneTypes, cell_types};
use super::zone::{ElementWall, Rim, Zone, ZoneCells};
use crate::diagnostics::counted;
use crate::geometry::vector::middle;

/// Samples of a line across a gap.
const SAMPLES: usize = 1000;
/// Reach of a grid, in chords of the element, below which lift was off by more than 2 %: docs/overset.md.
const LEAST_REACH: f64 = 0.3;
/// Voxels needed in a gap: with fewer, holes close it.
const LEAST_VOXELS: f64 = 5.0;

/// An element as the checks see it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its zone.
    pub zone: Zone<'a>,
    /// Its placed wall.
    pub wall: &'a ElementWall,
    /// Its chord.
    pub chord: f64,
    /// Distance of its outer line from its wall; `None` for a grid that extends to the far field.
    pub reach: Option<f64>,
    /// Number of the element that it is rigged to, and its side.
    pub rigged: Option<(usize, RigSide)>,
}

/// Limits for grids that overlap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverlapLimits {
    /// Least number of cells of each of two grids across the gap between their walls.
    pub gap_cells: usize,
    /// Largest ratio of cell sizes between a cell and its donor.
    pub size_ratio: f64,
}

/// A problem of the fit, and its remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The problem, a clause with its numbers.
    pub what: String,
    /// The key that is responsible, for example `element.flap.grid.nj`.
    pub key: String,
    /// The remedy.
    pub remedy: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, key, remedy } = self;
        write!(f, "{what}; {key}: {remedy}")
    }
}

/// The gap between two walls.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// Names of the two elements.
    pub elements: [String; 2],
    /// Smallest distance of their walls.
    pub distance: f64,
    /// The nearest points of the two walls.
    pub ends: [[f64; 2]; 2],
    /// Cells of each grid across the gap, on the line between these points.
    pub cells: [usize; 2],
    /// Ratio of cell sizes in the middle of the gap, the larger over the smaller; `None` if one of the grids
    /// does not reach it.
    pub size_ratio: Option<f64>,
}

/// Measured gap, overlap and deflection of an element that is rigged to another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rigged {
    /// Name of the element.
    pub element: String,
    /// Name of the other.
    pub to: String,
    /// The measured values.
    #[serde(flatten)]
    pub rigging: Rigging,
}

/// A zone as a flow solver will see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ZoneReport {
    /// Its name.
    pub name: String,
    /// Cells in i and j.
    pub cells: [usize; 2],
    /// Cells that are solved for.
    pub calculated: usize,
    /// Cells that are interpolated from other zones.
    pub interpolated: usize,
    /// Cells that are excluded.
    pub holes: usize,
    /// Cells that need a donor in another zone and have none, without those inside a body.
    pub orphans: usize,
    /// Number of outermost cells, and of those among them that are excluded because they lie in a body.
    pub rim: [usize; 2],
    /// Ratio of the sizes of outermost cells and their donors, the larger over the smaller: median, 95th
    /// percentile and largest. `None` for a zone without such cells.
    pub size_ratios: Option<[f64; 3]>,
    /// Fraction of each other element's wall that lies within the outer line.
    pub covers: Vec<(String, f64)>,
}

/// The results of all checks.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Checks {
    /// Rigged elements, as measured.
    pub rigged: Vec<Rigged>,
    /// Gaps that are bridged by a grid.
    pub gaps: Vec<Gap>,
    /// All zones, in their order.
    pub zones: Vec<ZoneReport>,
    /// The box in which holes are cut.
    pub search_box: SearchBox,
    /// Type of every cell of all zones.
    #[serde(skip)]
    pub types: Vec<ZoneTypes>,
    /// The problems found.
    pub findings: Vec<Finding>,
}

/// Checks the grids of elements together, and against a background if there is one.
pub fn check(
    elements: &[Subject<'_>],
    background: Option<Zone<'_>>,
    limits: &OverlapLimits,
) -> Checks {
    let walls: Vec<ElementWall> = elements.iter().map(|element| element.wall.clone()).collect();
    let zones: Vec<Zone<'_>> =
        background.into_iter().chain(elements.iter().map(|element| element.zone)).collect();
    let cells: Vec<ZoneCells> = zones.iter().map(|zone| ZoneCells::of(zone.grid)).collect();
    let first = usize::from(background.is_some());
    let own = &cells[first..];
    let mut findings = Vec::new();
    let gaps = gaps(elements, own, limits, &mut findings);
    let tightest = gaps.iter().min_by(|a, b| a.distance.total_cmp(&b.distance));
    let narrowest = tightest.map_or(f64::INFINITY, |gap| gap.distance);
    let search_box = SearchBox::around(&walls, narrowest);
    let types = cell_types(&zones, &cells, &walls, &search_box);
    reaches(elements, &mut findings);
    let reports = (0..zones.len())
        .map(|zone| {
            let others = elements.iter().enumerate().filter(|(k, _)| k + first != zone);
            let others: Vec<&Subject<'_>> = others.map(|(_, element)| element).collect();
            report(zone, (&zones, &cells), &types, &others, limits, &mut findings)
        })
        .collect();
    let voxels = search_box.voxel().into_iter().map(|voxel| narrowest / voxel);
    let voxels = voxels.fold(f64::INFINITY, f64::min);
    if let Some(gap) = tightest.filter(|_| voxels < LEAST_VOXELS) {
        findings.push(Finding {
            what: format!(
                "the gap between {} and {}, {narrowest:.2e} wide, has {voxels:.1} voxels of the box in which holes \
                 are cut",
                gap.elements[0], gap.elements[1]
            ),
            key: format!("element.{}", gap.elements[1]),
            remedy: format!("holes may close it with fewer than {LEAST_VOXELS}: widen the gap"),
        });
    }
    let rigged = elements.iter().filter_map(|element| {
        let (to, side) = element.rigged?;
        let rigging = Rigging::measured(side, element.wall, elements[to].wall)?;
        let [element, to] = [element.zone.name, elements[to].zone.name].map(str::to_owned);
        Some(Rigged { element, to, rigging })
    });
    let rigged = rigged.collect();
    Checks { rigged, gaps, zones: reports, search_box, types, findings }
}

/// The gaps that are bridged by a grid, and findings about gaps with too few cells.
fn gaps(
    elements: &[Subject<'_>],
    cells: &[ZoneCells],
    limits: &OverlapLimits,
    findings: &mut Vec<Finding>,
) -> Vec<Gap> {
    let mut gaps = Vec::new();
    for (a, b) in (0..elements.len()).flat_map(|a| (a + 1..elements.len()).map(move |b| (a, b))) {
        let pair = [&elements[a], &elements[b]];
        let (distance, ends) = pair[0].wall.nearest_of(pair[1].wall);
        let reaches = |element: &Subject<'_>| element.reach.is_none_or(|reach| reach >= distance);
        if !pair.into_iter().any(reaches) {
            continue;
        }
        let lines = [a, b].map(|k| cells[k].along(ends, SAMPLES));
        let across = lines.each_ref().map(|line| {
            let mut found: Vec<usize> = line.iter().flatten().copied().collect();
            found.sort_unstable();
            found.dedup();
            found.len()
        });
        let centre = middle(ends[0], ends[1]);
        let size = |k: usize| Some(cells[k].areas[cells[k].at(centre)?].sqrt());
        let size_ratio = size(a).zip(size(b)).map(|(a, b)| (a / b).max(b / a));
        let names = pair.map(|element| element.zone.name);
        let what = format!(
            "the gap between {} and {}, {distance:.5} wide at ({:.4}, {:.4}),",
            names[0], names[1], centre[0], centre[1]
        );
        for (k, element) in
            pair.into_iter().enumerate().filter(|(k, _)| across[*k] < limits.gap_cells)
        {
            let nj = element.zone.grid.nj;
            let more = (nj - 1) as f64 * limits.gap_cells as f64 / across[k].max(1) as f64;
            let own = distance / element.chord;
            findings.push(Finding {
                what: format!(
                    "{what} has {} of {} across",
                    counted(across[k] as f64, "cell"),
                    names[k]
                ),
                key: format!("element.{}.grid.nj", names[k]),
                remedy: format!(
                    "{} are wanted: raise it to about {:.0}, with first_cell at most {:.1e}",
                    limits.gap_cells,
                    more.ceil() + 1.0,
                    0.8 * own / limits.gap_cells as f64,
                ),
            });
        }
        if let Some(ratio) = size_ratio.filter(|ratio| *ratio > limits.size_ratio) {
            let larger = usize::from(size(a) < size(b));
            findings.push(Finding {
                what: format!(
                    "{what} has cells of {} in its middle {ratio:.1} times as large as those of {}",
                    names[larger],
                    names[1 - larger]
                ),
                key: format!("element.{}.grid.first_cell", names[larger]),
                remedy: format!(
                    "at most {} is wanted: lower it, or the spacing at that edge, or raise nj or ni",
                    limits.size_ratio
                ),
            });
        }
        let elements = names.map(str::to_owned);
        gaps.push(Gap { elements, distance, ends, cells: across, size_ratio });
    }
    gaps
}

/// Checks that the grids extend far enough from their walls.
fn reaches(elements: &[Subject<'_>], findings: &mut Vec<Finding>) {
    for Subject { zone, chord, reach, .. } in elements {
        let least = LEAST_REACH * chord;
        if let Some(reach) = reach.filter(|reach| *reach < least) {
            findings.push(Finding {
                what: format!(
                    "the grid of {} reaches {reach:.4} from its wall, {:.2} of its chord",
                    zone.name,
                    reach / chord
                ),
                key: format!("element.{}.reach", zone.name),
                remedy: format!("raise it to {least:.3} or more: lift is off by 2 % with less"),
            });
        }
    }
}

/// A zone as a solver will see it; `others` are the elements of the other zones.
fn report(
    number: usize,
    (zones, cells): (&[Zone<'_>], &[ZoneCells]),
    types: &[ZoneTypes],
    others: &[&Subject<'_>],
    limits: &OverlapLimits,
    findings: &mut Vec<Finding>,
) -> ZoneReport {
    let (zone, own, found) = (zones[number], &cells[number], &types[number]);
    let name = zone.name;
    let rim = zone.rim_cells();
    let lost = rim.clone().filter(|&cell| found.types[cell] == CellType::Hole).count();
    let ratio = |cell: usize| {
        let (other, donor) = found.donors[cell]?;
        let ratio = (own.areas[cell] / cells[other].areas[donor]).sqrt();
        Some((ratio.max(1.0 / ratio), other, ratio > 1.0))
    };
    let live = rim.clone().filter(|&cell| found.types[cell] == CellType::Interpolated);
    let mut ratios: Vec<(f64, usize, bool)> = live.filter_map(ratio).collect();
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = |share: f64| ratios[((ratios.len() - 1) as f64 * share) as usize].0;
    let size_ratios = (!ratios.is_empty()).then(|| [0.5, 0.95, 1.0].map(at));
    let key = |own: &str| {
        if zone.has_wall() {
            format!("element.{name}.{own}")
        } else {
            "background.margin".to_owned()
        }
    };
    if let Some(first) = found.orphans.first() {
        let [x, y] = own.centres[*first];
        findings.push(Finding {
            what: format!(
                "{} of {name} find no value in another grid, the first at ({x:.4}, {y:.4})",
                counted(found.orphans.len() as f64, "cell")
            ),
            key: key("reach"),
            remedy: "a larger reach lets grids overlap there, and finer cells in narrow gaps"
                .into(),
        });
    }
    let columns = zone.grid.ni - 1;
    let wall = zone.grid.topology.wall(zone.grid.ni);
    let at_wall = (*wall.start()..*wall.end()).filter(|&i| found.types[i] != CellType::Calculated);
    let at_wall = at_wall.count();
    if at_wall > 0 {
        findings.push(Finding {
            what: format!(
                "{} at the wall of {name} are not solved for",
                counted(at_wall as f64, "cell")
            ),
            key: key("grid.nj"),
            remedy:
                "the other grid's holes close the gap there: finer cells in the gap, of both grids"
                    .into(),
        });
    }
    if let Some([median, ..]) = size_ratios.filter(|[median, ..]| *median > limits.size_ratio) {
        let donors = |zone: usize| ratios.iter().filter(|(_, other, _)| *other == zone).count();
        let main = (0..zones.len()).max_by_key(|&zone| donors(zone)).unwrap_or(0);
        let other = zones[main];
        let own_larger = 2 * ratios.iter().filter(|(_, _, larger)| *larger).count() > ratios.len();
        let larger = if own_larger { zone } else { other };
        let (key, remedy) = if larger.has_wall() {
            (format!("element.{}.grid.nj", larger.name), "raise it, or ni")
        } else {
            ("background.spacing".to_owned(), "lower it")
        };
        findings.push(Finding {
            what: format!(
                "the outermost cells of {name} and those of {} that they take values from differ {median:.1}-fold in \
                 size",
                other.name
            ),
            key,
            remedy: format!(
                "at most {} is wanted, and those of {} are the larger ones: {remedy}",
                limits.size_ratio, larger.name
            ),
        });
    }
    let covers = others.iter().filter(|_| zone.rim == Rim::Overset).map(|other| {
        let line = ElementWall::new(zone.grid.row(zone.grid.nj - 1), false, 0);
        let points = &other.wall.points()[1..];
        let inside = points.iter().filter(|point| line.contains(**point)).count();
        (other.zone.name.to_owned(), inside as f64 / points.len() as f64)
    });
    ZoneReport {
        name: name.to_owned(),
        cells: [columns, zone.grid.nj - 1],
        calculated: found.count(CellType::Calculated),
        interpolated: found.count(CellType::Interpolated),
        holes: found.count(CellType::Hole),
        orphans: found.orphans.len(),
        rim: [rim.len(), lost],
        size_ratios,
        covers: covers.collect(),
    }
}
