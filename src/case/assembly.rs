//! Case files: one section, or several elements with the limits on their grids together.

use super::entries::{ELEMENT, Given};
use super::error::Found;
use super::resolve;
use super::table::of_section;
use super::{
    BackgroundOptions, Case, CaseError, OutputOptions, OversetOptions, Places, TopologyChoice,
};
use crate::geometry::{Placement, Placing};
use crate::overset::Rigging;

/// Longest name of an element: names of zones and patches of 32 characters hold it with an ending.
const MOST_LETTERS: usize = 24;

/// Names that patches and zones of a mesh have already.
const TAKEN: [&str; 15] = [
    "background",
    "overset",
    "farfield",
    "frontAndBack",
    "back",
    "front",
    "symmetry",
    "airfoil",
    "base",
    "around",
    "behind",
    "blade",
    "failed",
    "all",
    "readWallCurvature",
];

/// The key of the name of an element.
const NAME: &str = "element.name";

/// Reach of an element's grid by default, in its chords, and its points across until they follow from the gaps.
const REACH: f64 = 0.4;
const PROVISIONAL_LAYERS: i64 = 17;

/// A checked case, with every default that does not follow from its sections: of one section, which is its only
/// element, or of several. Lengths are in reference chords, but those of each element's own case, which are in chords
/// of the element.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CaseFile {
    /// Name, fit for a file.
    pub name: String,
    /// The elements, in order of priority: the last wins where grids overlap.
    pub elements: Vec<Element>,
    /// The background; none where the grid of the first element is one.
    pub background: Option<BackgroundOptions>,
    /// Limits on the grids together; none of one section.
    pub overset: Option<OversetOptions>,
    /// The files to write.
    pub output: OutputOptions,
    /// Places of the given keys that belong to no element.
    pub places: Places,
}

/// One of several elements.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Element {
    /// Its section and grid, with the settings of the solve, from which [`Case::settle`] makes a problem. It has the
    /// name of the element, and its `grid.reach` follows from the reach of the element.
    pub case: Case,
    /// The keys that place it.
    pub placed_by: PlacedBy,
    /// Distance of its grid's outer line from its wall, reference chords; none of a grid up to its far field.
    pub reach: Option<f64>,
}

/// A choice of keys that place an element.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the variant says what its fields are")]
pub enum PlacedBy {
    /// The coordinates of its file are its place.
    InFile,
    /// Scaled to its chord, turned nose up by an angle in degrees, and moved until its nose is `at` this point.
    At(Placement),
    /// Scaled to its chord, and rigged by gap, overlap and deflection `to` the element of this number.
    Rigged { chord: f64, to: usize, rigging: Rigging },
}

impl CaseFile {
    /// The case that `entries` describe.
    pub(super) fn resolve(entries: &Given) -> Result<Self, CaseError> {
        match &entries.elements[..] {
            [] => match entries.first_of(&["background", "overset"]) {
                Some(section) => Err(entries.incomplete(section, "[[element]]")),
                None => Case::resolve(entries).map(Self::from),
            },
            [element] if !entries.opens("background") => {
                // All keys but the name say where the element stands and how far its grid goes.
                let own = of_section(ELEMENT).map(|key| key.path).filter(|key| *key != NAME);
                let placing: Vec<_> = own.chain(["element.rigging"]).collect();
                if let Some(key) = element.first_of(&placing) {
                    return Err(element.incomplete(key, "[background]"));
                }
                if entries.opens("overset") {
                    return Err(entries.incomplete("overset", "[background]"));
                }
                let case = Case::resolve(&entries.of_element(element))?;
                Ok(Case { name: resolve::name(entries)?, ..case }.into())
            }
            _ => Self::of_elements(entries),
        }
    }

    /// The chord that lengths of all elements refer to, in the unit of the files.
    pub(crate) fn chord(&self) -> f64 {
        let of_section = self.section().map_or(1.0, |case| case.geometry.length());
        self.overset.as_ref().map_or(of_section, |overset| overset.chord)
    }

    /// The case of one section, if it has no elements besides.
    pub fn section(&self) -> Option<&Case> {
        self.elements.first().map(|only| &only.case).filter(|_| self.overset.is_none())
    }

    /// The case of one section.
    ///
    /// # Errors
    /// [`CaseError::Elements`].
    pub fn into_section(self) -> Result<Case, CaseError> {
        let places = self.elements.first().map_or(&self.places, |first| &first.case.places);
        let refused = CaseError::Elements { place: places.of(&["element"]).into() };
        let only = self.elements.into_iter().next().filter(|_| self.overset.is_none());
        only.map(|only| only.case).ok_or(refused)
    }

    fn of_elements(entries: &Given) -> Result<Self, CaseError> {
        let background = entries.opens("background");
        let names = names(entries)?;
        let mut found = Found::default();
        let element = |number: usize| {
            let near_body = background || number > 0;
            found.keep(element(entries, &names, (number, near_body)))
        };
        let elements = (0..names.len()).filter_map(element).collect::<Vec<_>>();
        let name = found.keep(resolve::name(entries));
        let (elements, name) = found.end(Some(elements).zip(name))?;
        check_riggings(entries, &elements)?;
        let largest = elements.iter().map(|element| element.case.grid.around()).max().unwrap_or(0);
        let layers = elements.iter().map(|element| element.case.grid.nj).max().unwrap_or(0);
        let output = resolve::output(entries, (largest, layers))?;
        check_output(entries, &output)?;
        Ok(Self {
            name,
            elements,
            background: background.then(|| entries.section("background", &[])).transpose()?,
            overset: Some(entries.section("overset", &[])?),
            output,
            places: entries.places.clone(),
        })
    }
}

impl From<Case> for CaseFile {
    /// A section as the only element, in its own frame.
    fn from(case: Case) -> Self {
        let placed_by = PlacedBy::At(Placement::NONE);
        let (name, output, places) = (case.name.clone(), case.output.clone(), case.places.clone());
        let elements = vec![Element { case, placed_by, reach: None }];
        Self { name, elements, background: None, overset: None, output, places }
    }
}

/// The names of the elements, which are all there, fit for zones and patches, and different.
fn names(entries: &Given) -> Result<Vec<String>, CaseError> {
    let mut names: Vec<String> = Vec::new();
    for element in &entries.elements {
        let Some(name) = element.given::<String>(NAME)? else {
            return Err(element.incomplete("element", "name"));
        };
        let letter = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
        let fit = name.len() <= MOST_LETTERS
            && name.chars().all(letter)
            && name.starts_with(|c: char| c.is_ascii_alphabetic());
        let expected = format!("at most {MOST_LETTERS} letters, digits, _ and -, a letter first");
        let remedy = "zones, patches and families of the mesh have this name";
        element.require(fit, &[NAME], expected, remedy)?;
        let same = |other: &str| other.eq_ignore_ascii_case(&name);
        let (expected, remedy) = if names.iter().any(|other| same(other)) {
            ("a name that no other element has", "files of elements differ by their names")
        } else if TAKEN.into_iter().any(same) {
            ("another name", "patches and zones of a mesh have this one")
        } else {
            names.push(name);
            continue;
        };
        return Err(element.refuse(&[NAME], expected, remedy));
    }
    Ok(names)
}

/// An element, whose grid ends at a distance from its wall if it is `near_body`.
fn element(
    all: &Given,
    names: &[String],
    (number, near_body): (usize, bool),
) -> Result<Element, CaseError> {
    let mut entries = all.of_element(&all.elements[number]);
    refuse_keys(&entries, near_body)?;
    let placed_by = placed_by(&entries, names, number)?;
    let chord = match placed_by {
        PlacedBy::InFile => 1.0,
        PlacedBy::At(Placement { chord, .. }) | PlacedBy::Rigged { chord, .. } => chord,
    };
    let reach = entries.given("element.reach")?;
    if near_body {
        // The reach of an element in file coordinates becomes chords once the file is read.
        let own = reach.map_or(REACH, |reach: f64| reach / chord);
        entries.derive("grid.reach", own.into(), "element.reach");
        if !entries.has("grid.nj") {
            // Few, until the gaps are known.
            let near = entries.given::<i64>("grid.layers.count")?.unwrap_or_default();
            entries.derive("grid.nj", (PROVISIONAL_LAYERS + near).into(), "");
        }
    } else if !entries.has("grid.topology") {
        // Its grid closes around the other elements.
        entries.derive("grid.topology", "O".into(), "");
    }
    entries.places.placing = match placed_by {
        PlacedBy::InFile => Placing::File,
        PlacedBy::At(_) => Placing::Element,
        PlacedBy::Rigged { .. } => Placing::Rigging,
    };
    let case = Case::resolve(&entries)?;
    Ok(Element { case: Case { name: names[number].clone(), ..case }, placed_by, reach })
}

/// Refuses keys that an element has beside its name instead, and grids that cannot overlap.
fn refuse_keys(entries: &Given, near_body: bool) -> Result<(), CaseError> {
    for (key, own) in
        [("geometry.angle", "angle"), ("geometry.chord", "chord"), ("grid.reach", "reach")]
    {
        let expected = format!("the element's own {own}");
        let remedy =
            format!("write {own} beside the name of the element, in reference chords or degrees");
        entries.refuse_given(&[key], &expected, &remedy)?;
    }
    let remedy = "write frame = \"file\" beside the name of the element";
    entries.refuse_given(&["geometry.frame"], "the element's own frame", remedy)?;
    let (key, expected, remedy) = if near_body {
        let remedy = "leave grid.growth out: the gaps decide how many layers an element has";
        ("grid.growth", "grid.nj", remedy)
    } else {
        let expected =
            "a [background]: without, the grid of the first element goes to its far field";
        ("element.reach", expected, "add [background], or leave reach out")
    };
    entries.refuse_given(&[key], expected, remedy)?;
    let topology: TopologyChoice = entries.get("grid.topology")?;
    let open = topology == TopologyChoice::Half || (near_body && topology == TopologyChoice::C);
    let expected = "\"O\", whose lines close around the element";
    entries.require(!open, &["grid.topology"], expected, "leave grid.topology out")
}

/// Reads the keys that place an element.
fn placed_by(entries: &Given, names: &[String], number: usize) -> Result<PlacedBy, CaseError> {
    let rigged = entries.opens("element.rigging");
    if entries.get::<String>("element.frame")? == "file" {
        let others = ["element.rigging", "element.at", "element.angle", "element.chord"];
        if let Some(key) = entries.first_of(&others) {
            return Err(entries.conflict(key, "frame = \"file\""));
        }
        let sources = ["geometry.file", "geometry.points", "geometry.section"];
        let of_file = entries.first_of(&sources).is_some();
        let expected = "a section of coordinates: geometry.file, points or section";
        let remedy = "place other sections by at, or by rigging";
        entries.require(of_file, &["element.frame"], expected, remedy)?;
        return Ok(PlacedBy::InFile);
    }
    let chord = entries.get("element.chord")?;
    if !rigged {
        let at = entries.given("element.at")?.unwrap_or_default();
        let angle = entries.get("element.angle")?;
        return Ok(PlacedBy::At(Placement { chord, angle, at }));
    }
    if let Some(key) = entries.first_of(&["element.at", "element.angle"]) {
        return Err(entries.conflict(key, "rigging"));
    }
    for name in ["to", "gap", "overlap", "deflection"] {
        if !entries.has(&["element.rigging.", name].concat()) {
            return Err(entries.incomplete("element.rigging", name));
        }
    }
    let name: String = entries.get("element.rigging.to")?;
    let Some(to) = names.iter().position(|other| *other == name) else {
        let place = entries.places.of(&["element.rigging.to"]).into();
        return Err(CaseError::NoElement { place, name, known: names.to_vec() });
    };
    let remedy = "name the one that the gap lies between";
    entries.require(to != number, &["element.rigging.to"], "another element", remedy)?;
    Ok(PlacedBy::Rigged { chord, to, rigging: entries.section("element.rigging", &[])? })
}

/// Refuses elements that are rigged to each other in a circle.
fn check_riggings(entries: &Given, elements: &[Element]) -> Result<(), CaseError> {
    for (number, element) in elements.iter().enumerate() {
        let mut at = element;
        for _ in elements {
            let PlacedBy::Rigged { to, .. } = at.placed_by else { break };
            let (keys, own) = (["element.rigging.to"], &entries.elements[number]);
            let expected = "an element that is not rigged to this one in turn";
            own.require(to != number, &keys, expected, "place one of them by at")?;
            at = &elements[to];
        }
    }
    Ok(())
}

/// Refuses outputs that a case of one section alone has.
fn check_output(entries: &Given, output: &OutputOptions) -> Result<(), CaseError> {
    for format in &output.formats {
        if let Some(reason) = format.refuses_zones {
            let expected = format!("formats for several zones; {}: {reason}", format.title);
            let name = format.name;
            let remedy = format!("leave {name} out, or give each element as a case of its own");
            return Err(entries.refuse(&["output.formats"], expected, remedy));
        }
    }
    for (key, expected) in [
        ("output.reference", "false"),
        ("output.quality_maps", "false"),
        ("output.curved_order", "1"),
    ] {
        let expected = format!("{expected}: that is written of one section");
        entries.refuse_given(&[key], &expected, "give the element as a case of its own")?;
    }
    Ok(())
}
