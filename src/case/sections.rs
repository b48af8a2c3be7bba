//! The section of a case: which of its sources is given, and what is done to it.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::geometry::{Placement, TrailingEdge};

use super::entries::Given;
use super::schema::nearest;
use super::table::SOURCES;
use super::{CaseError, Contour, GeometryOptions, SectionOptions, TopologyChoice};

/// Keys that speak of leading and trailing edge.
const EDGE_KEYS: [&str; 11] = [
    "geometry.trailing_edge",
    "geometry.edge_thickness",
    "geometry.corners",
    "geometry.flap",
    "geometry.angle",
    "grid.base_cells",
    "grid.points_upper",
    "grid.points_lower",
    "grid.clusters",
    "grid.max_spacing",
    "grid.wall_growth",
];

/// Section `[geometry]`; `path` is the case file.
pub(super) fn geometry(entries: &Given) -> Result<GeometryOptions, CaseError> {
    let contour = contour(entries)?;
    if contour.is_smooth() {
        refuse_edges(entries)?;
    }
    if !matches!(contour, Contour::File(_) | Contour::Points(_)) {
        let expected = "a section of geometry.file or points";
        entries.refuse_given(&["geometry.smooth"], expected, "leave {key} out")?;
    }
    let edge_thickness: Option<f64> = entries.given("geometry.edge_thickness")?;
    let trailing_edge = trailing_edge(entries, &contour, edge_thickness)?;
    let flap = entries.opens("geometry.flap").then(|| entries.section("geometry.flap", &[]));
    Ok(GeometryOptions {
        contour,
        trailing_edge,
        edge_thickness,
        smooth: entries.given("geometry.smooth")?,
        frame: entries.get("geometry.frame")?,
        in_file: Placement::NONE,
        corners: entries.given("geometry.corners")?,
        angle: entries.get("geometry.angle")?,
        chord: entries.get("geometry.chord")?,
        flap: flap.transpose()?,
    })
}

/// The one source that is given.
fn contour(entries: &Given) -> Result<Contour, CaseError> {
    let mut given = SOURCES.into_iter().filter(|source| entries.opens(source));
    let Some(source) = given.next() else {
        return Err(entries.missing("geometry.naca or geometry.file"));
    };
    if let Some(second) = given.next() {
        return Err(entries.conflict(second, source));
    }
    let file = |key| existing_file(entries, key, &entries.get::<PathBuf>(key)?);
    Ok(match source {
        "geometry.naca" => Contour::Naca(entries.get(source)?),
        "geometry.file" => Contour::File(file(source)?),
        "geometry.points" => Contour::Points(entries.get(source)?),
        "geometry.section" => Contour::Section(SectionOptions {
            file: file("geometry.section.file")?,
            length: entries.given("geometry.section.length")?.unwrap_or(1.0),
        }),
        "geometry.wing_body" => Contour::WingBody(entries.section(source, &[])?),
        "geometry.ellipse" => Contour::Ellipse(entries.section(source, &[])?),
        _ => Contour::Joukowski(entries.section(source, &[])?),
    })
}

/// The closing of the edge: as it is given, if the section and the topology have such an edge, else as the
/// source has it, or as its thickness says; the cut of a C-grid begins at one point, or at a base in two.
fn trailing_edge(
    entries: &Given,
    contour: &Contour,
    thickness: Option<f64>,
) -> Result<TrailingEdge, CaseError> {
    use TrailingEdge::{AsGiven, Blunt, Extended, Rounded, Sharp};
    let cut = entries.get::<TopologyChoice>("grid.topology")? == TopologyChoice::C;
    let element = entries.places.is_element();
    let refuse = |key, expected, remedy| {
        Err(entries.refuse(&[&["geometry.", key].concat()], expected, remedy))
    };
    match (entries.given("geometry.trailing_edge")?, thickness) {
        (Some(given @ (Blunt | Rounded)), _) if cut && (element || given == Rounded) => refuse(
            "trailing_edge",
            "an edge that is one point, for the cut of grid.topology = \"C\" to begin at",
            "close the base by \"wedge\" or \"sharp\", or choose grid.topology = \"O\"",
        ),
        (Some(Extended), _) if !matches!(contour, Contour::Naca(_)) => refuse(
            "trailing_edge",
            "a NACA designation, whose surfaces have a formula to go on by",
            "close the edge of another section by \"wedge\" or \"sharp\"",
        ),
        (Some(Sharp | Extended), Some(thickness)) if thickness > 0.0 => refuse(
            "edge_thickness",
            "0, since geometry.trailing_edge closes the edge in one point",
            "leave geometry.trailing_edge out, or make it \"blunt\", \"rounded\" or \"wedge\"",
        ),
        (Some(given), _) => Ok(given),
        (None, Some(thickness)) if thickness > 0.0 => Ok(Blunt),
        (None, Some(_)) => Ok(Sharp),
        (None, None) => match contour {
            Contour::Naca(_) | Contour::Joukowski(_) => Ok(Sharp),
            _ => Ok(AsGiven),
        },
    }
}

/// Refuses keys of an edge for a contour that has none; defaults and topologies that may be O fit any.
fn refuse_edges(entries: &Given) -> Result<(), CaseError> {
    let expected = "a section with a leading and a trailing edge";
    let uncut = entries.get::<TopologyChoice>("grid.topology")? != TopologyChoice::C;
    let remedy =
        "choose grid.topology = \"O\": a smooth contour has no edge where a cut could begin";
    entries.require(uncut, &["grid.topology"], expected, remedy)?;
    let remedy = "leave {key} out: points on a smooth contour follow grid.max_turn";
    entries.refuse_given(&EDGE_KEYS, expected, remedy)
}

/// Full path of the file of coordinates `given` at `key`, which must exist.
pub(super) fn existing_file(
    entries: &Given,
    key: &str,
    given: &Path,
) -> Result<PathBuf, CaseError> {
    let relative = entries.places.path.parent().unwrap_or(Path::new("")).join(given);
    let path = std::path::absolute(&relative).unwrap_or(relative);
    let relative = "a relative path starts at the case file's folder";
    let (problem, remedy) = match path.metadata() {
        Ok(found) if found.is_dir() => {
            ("is a folder", "name the file of coordinates in the folder")
        }
        Ok(_) if path.to_str().is_none() => ("the folder's name is not UTF-8", relative),
        Ok(_) => return Ok(path),
        Err(error) if error.kind() == ErrorKind::NotFound => ("no such file", relative),
        Err(_) => ("cannot be reached", relative),
    };
    let near = nearest_file(&path);
    let mut remedy =
        near.map_or(remedy.into(), |near| format!("did you mean \"{near}\" in the same folder?"));
    let given = given.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' && given.contains('\\') {
        remedy = format!("the path has backslashes; write \"{}\"", given.replace('\\', "/"));
    }
    Err(CaseError::AirfoilFile {
        found: entries.places.found(&[key]).into(),
        path,
        problem,
        remedy,
    })
}

/// The file in the same folder whose name is nearest. Endings, which most of them share, do not count.
pub(crate) fn nearest_file(path: &Path) -> Option<String> {
    fn stem(name: &str) -> &str {
        name.rsplit_once('.').map_or(name, |(stem, _)| stem)
    }
    let files = path.parent()?.read_dir().ok()?.flatten();
    let mut names: Vec<String> = files
        .filter(|file| file.file_type().is_ok_and(|kind| !kind.is_dir()))
        .filter_map(|file| file.file_name().into_string().ok())
        .collect();
    names.sort();
    let near = nearest(stem(path.file_name()?.to_str()?), names.iter().map(|name| stem(name)))?;
    names.iter().find(|name| stem(name) == near).cloned()
}
