//! The set-up of a first run, `su2.cfg`: inviscid, or turbulent by the model of Spalart and Allmaras
//! (doi:10.2514/6.1992-439), at the Mach number of NASA's low-speed cases. Options and values come from
//! `config_template.cfg` of SU2 8.5.0.

use std::io;

use crate::files::ByteSink;
use crate::formats::data::{ForceReference, MeshData};
use crate::formats::mesh::Sides;
use crate::grid::boundary::{SideKind, period};

/// Mach number, temperature in K and pressure in Pa of the free stream: those of `su2.cfg`, and SU2's default.
const MACH: f64 = 0.15;
const TEMPERATURE: f64 = 288.15;
const PRESSURE: f64 = 101_325.0;

/// Writes the set-up for the mesh in `file`, which has the markers `ends` at the ends of its span.
pub(super) fn write_to(
    out: &mut ByteSink<'_>,
    mesh: &MeshData<'_>,
    file: &str,
    ends: &[&str],
) -> io::Result<()> {
    let ForceReference { length, centre: [x, y] } = mesh.reference();
    let span = mesh.span.map_or(1.0, |span| span.length);
    let sides = mesh.sides();
    let of = |asked: &[SideKind]| -> Vec<&str> {
        let sides = sides.iter().flatten().filter(|(_, kind)| asked.contains(kind));
        sides.map(|(name, _)| *name).collect()
    };
    // The walls of a box have the condition of the body, whose forces alone are asked for.
    let body = mesh.walls();
    let walls: Vec<&str> = body.iter().map(|name| &**name).chain(of(&[SideKind::Wall])).collect();
    let with_heat: Vec<String> = walls.iter().map(|wall| format!("{wall}, 0.0")).collect();
    let (body, walls) = (body.join(", "), walls.join(", "));
    let (model, wall) = match mesh.settings.reynolds {
        None => ("EULER".to_owned(), format!("MARKER_EULER= ( {walls} )")),
        Some(reynolds) => (
            format!(
                "RANS\nKIND_TURB_MODEL= SA\nREYNOLDS_NUMBER= {reynolds}\nREYNOLDS_LENGTH= {length}\n\
                 CONV_NUM_METHOD_TURB= SCALAR_UPWIND\nMUSCL_TURB= NO\nTIME_DISCRE_TURB= EULER_IMPLICIT"
            ),
            format!("MARKER_HEATFLUX= ( {} )", with_heat.join(", ")),
        ),
    };
    let mut conditions = vec![wall];
    let mut add = |key: &str, names: String| {
        if !names.is_empty() {
            conditions.push(format!("{key}= ( {names} )"));
        }
    };
    let half = mesh.grid().topology.half().is_some();
    let mut planes = if half { vec!["symmetry"] } else { Vec::new() };
    if mesh.span.is_some_and(|span| span.sides == Sides::Periodic) {
        let zeros = ["0.0"; 8].join(", ");
        add("MARKER_PERIODIC", format!("{}, {zeros}, {span}", ends.join(", ")));
    } else {
        planes.extend(ends);
    }
    if let Some(([lower, upper], [x, y])) = period(&mesh.blocks()) {
        let (ends, zeros) = ([lower.name(), upper.name()].join(", "), ["0.0"; 6].join(", "));
        add("MARKER_PERIODIC", format!("{ends}, {zeros}, {x}, {y}, 0.0"));
    }
    planes.extend(of(&[SideKind::Slip, SideKind::Symmetry]));
    add("MARKER_SYM", planes.join(", "));
    let far = if sides.is_none() { vec!["farfield"] } else { of(&[SideKind::FarField]) };
    add("MARKER_FAR", far.join(", "));
    let each = |kind, values: &str| {
        let with = of(&[kind]).into_iter().map(|name| [name, ", ", values].concat());
        with.collect::<Vec<_>>().join(", ")
    };
    // Total temperature and pressure of the free stream.
    let rise = 1.0 + 0.2 * MACH * MACH;
    let (temperature, pressure) = (TEMPERATURE * rise, PRESSURE * rise.powf(3.5));
    let total = format!("{temperature:.5}, {pressure:.3}, 1.0, 0.0, 0.0");
    add("INLET_TYPE= TOTAL_CONDITIONS\nMARKER_INLET", each(SideKind::Inlet, &total));
    add("MARKER_OUTLET", each(SideKind::Outlet, &PRESSURE.to_string()));
    let [forces, angle] = match mesh.span {
        None => ["Lift CL and drag CD", "AOA"],
        // In three dimensions z is up.
        Some(_) => {
            ["Lift, which SU2 calls side force, CSF and drag CD", "AOA= 0.0\nSIDESLIP_ANGLE"]
        }
    };
    let words = [
        ("WALLS", body),
        ("THE_MESH", file.to_owned()),
        ("FORCES", forces.to_owned()),
        ("EQUATIONS", model),
        ("ANGLE", angle.to_owned()),
        ("CENTRE_X", x.to_string()),
        ("CENTRE_Y", y.to_string()),
        ("CHORD", length.to_string()),
        ("PLANFORM", (length * span).to_string()),
        ("BOUNDARIES", conditions.join("\n")),
    ];
    let text = include_str!("su2.cfg").to_owned();
    let text = words.iter().fold(text, |text, (word, with)| text.replace(word, with));
    out.write_all(text.as_bytes())
}
