//! The set-up of a first run beside the mesh, inviscid or turbulent: texts with words in place of what depends on the
//! mesh, and the fields of overset cases.
//!
//! An overset case is the zones of several elements as one `polyMesh` with `cellZones`, for a first inviscid run of
//! `overSimpleFoam`. The patch `overset` comes first, with the outer sides of all near-body zones, then the wall of
//! each element by its name, and `farfield`. `0/zoneID` has the number of each cell's zone: of several zones that could
//! give a value the one whose number is nearest is taken. Source: `src/overset` of OpenFOAM 1912.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::mesh::{Mesh, write_head};
use crate::files::IoError;
use crate::files::atomic::{self, Writer};
use crate::formats::data::{ForceReference, MeshData, Parts, Sides, Span, layers};
use crate::grid::Grid;
use crate::grid::boundary::{Patch, SideKind, period};
use crate::grid::vector::{angle, difference, distance};

/// The script that solves the case.
const SCRIPT: &str = "Allrun";

/// A file of the set-up: its name within the case, and its text behind the head.
pub(super) type SetupFile = (&'static str, &'static str);

/// The files that `simpleFoam` needs beside the mesh, for inviscid flow at zero incidence and unit speed around a
/// section in the plane.
pub(super) const SETUP: [SetupFile; 8] = [
    ("system/controlDict", include_str!("case/system/controlDict")),
    ("system/fvSchemes", include_str!("case/system/fvSchemes")),
    ("system/fvSolution", include_str!("case/system/fvSolution")),
    ("constant/transportProperties", include_str!("case/constant/transportProperties")),
    ("constant/turbulenceProperties", include_str!("case/constant/turbulenceProperties")),
    ("0/U", include_str!("case/0/U")),
    ("0/p", include_str!("case/0/p")),
    (SCRIPT, include_str!("case/Allrun")),
];

/// The files that differ for turbulent flow of a given Reynolds number, by the model of Spalart and Allmaras
/// (doi:10.2514/6.1992-439).
pub(super) const VISCOUS_SETUP: [SetupFile; 6] = [
    ("system/fvSchemes", include_str!("viscous/system/fvSchemes")),
    ("system/fvSolution", include_str!("viscous/system/fvSolution")),
    ("constant/transportProperties", include_str!("viscous/constant/transportProperties")),
    ("constant/turbulenceProperties", include_str!("viscous/constant/turbulenceProperties")),
    ("0/nuTilda", include_str!("viscous/0/nuTilda")),
    ("0/nut", include_str!("viscous/0/nut")),
];

/// The files that differ for `overSimpleFoam` and the mesh of several zones.
pub(super) const OVERSET_SETUP: [SetupFile; 8] = [
    ("system/controlDict", include_str!("overset/system/controlDict")),
    ("system/fvSchemes", include_str!("overset/system/fvSchemes")),
    ("system/fvSolution", include_str!("overset/system/fvSolution")),
    ("constant/dynamicMeshDict", include_str!("overset/constant/dynamicMeshDict")),
    ("0/U", include_str!("overset/0/U")),
    ("0/p", include_str!("overset/0/p")),
    (SCRIPT, include_str!("overset/Allrun")),
    ("0/pointDisplacement", include_str!("overset/0/pointDisplacement")),
];

/// Eddy viscosity of a free stream with nuTilda = 3 nu in units of nu: 3 f_v1, f_v1 = 27/(27 + 7.1³).
const FREE_RATIO: f64 = 81.0 / (27.0 + 7.1 * 7.1 * 7.1);

/// The entries of fields for the patches at the ends of the span, and for the plane of half a grid.
fn ends(mesh: &MeshData<'_>) -> String {
    let half = mesh.grid().topology.half().is_some();
    let plane = if half { "symmetry { type symmetryPlane; }\n    " } else { "" };
    let ends = match mesh.span.map(|span| span.sides) {
        None => "frontAndBack { type empty; }",
        Some(Sides::Symmetry) => "back { type symmetryPlane; }\n    front { type symmetryPlane; }",
        Some(Sides::Periodic) => "back { type cyclic; }\n    front { type cyclic; }",
    };
    [plane, ends].concat()
}

/// Iterations of inviscid and of turbulent flow.
const STEPS: [&str; 2] = ["1500", "4000"];

/// The report on the walls of turbulent flow.
const Y_PLUS: &str = "    yPlus
    {
        type yPlus;
        libs (\"libfieldFunctionObjects.so\");
        writeControl writeTime;
    }
";

/// Relaxation of turbulent flow around one section, and that between blades: with the former, residuals stay at 1e-5 to
/// 1e-3 there.
const RELAXATION: [&str; 2] = [
    "equations { U 0.9; nuTilda 0.9; }",
    "fields { p 0.5; }\n    equations { U 0.7; nuTilda 0.6; }",
];

/// The words of the texts that depend on the mesh, and their replacements.
pub(super) fn choices(mesh: &MeshData<'_>) -> Vec<(&'static str, String)> {
    let ForceReference { length, centre: [x, y] } = mesh.reference();
    let span = mesh.span.unwrap_or(Span::ONE).length;
    let names = mesh.walls();
    let forces = |name: &str, patches: &str| {
        format!(
            "    {name}\n    {{\n        type forceCoeffs;\n        libs (\"libforces.so\");\n        \
             writeControl timeStep;\n        writeInterval 10;\n        patches ({patches});\n        \
             rho rhoInf;\n        rhoInf 1;\n        CofR ({x} {y} 0);\n        liftDir (0 1 0);\n        \
             dragDir (1 0 0);\n        pitchAxis (0 0 1);\n        magUInf 1;\n        lRef {length};\n        \
             Aref {};\n        log false;\n    }}\n",
            length * span
        )
    };
    // A pattern that no patch has, where there is no wall. In a pattern a plus sign is no letter.
    let pattern = match names.join("|").replace('+', "[+]") {
        none if none.is_empty() => "none".to_owned(),
        names => format!("\"({names})\""),
    };
    let overset = mesh.parts() == Parts::Overset;
    let coefficients = if overset {
        let each: String = names.iter().map(|name| forces(name, name)).collect();
        each + &forces("all", &names.join(" "))
    } else {
        forces("forceCoeffs", &names.join(" "))
    };
    let corner = |[x, y]: [f64; 2], z: f64| format!("({x} {y} {z})");
    let (low, high) = (corner(mesh.search.low, 0.0), corner(mesh.search.high, span));
    let [nx, ny] = mesh.search.divisions;
    // Texts of inviscid flow do not have these words.
    let viscosity = length / mesh.settings.reynolds.unwrap_or(f64::INFINITY);
    let viscous = usize::from(mesh.settings.reynolds.is_some() && !overset);
    let between_blades = usize::from(period(&mesh.blocks()).is_some());
    let mut choices = vec![
        ("WALL_PATCHES", if names.len() == 1 { names.concat() } else { pattern }),
        ("WALLS", names.join("|")),
        ("ELEMENTS", names.join(" ")),
        ("ENDS", ends(mesh)),
        ("VISCOSITY", viscosity.to_string()),
        ("FREE_NUTILDA", (3.0 * viscosity).to_string()),
        ("FREE_NUT", (FREE_RATIO * viscosity).to_string()),
        ("RELAXATION", RELAXATION[between_blades].to_owned()),
        ("STEPS", STEPS[viscous].to_owned()),
        ("FORCES", coefficients + ["", Y_PLUS][viscous]),
        ("SEARCH", format!("searchBox {low} {high};\n    searchBoxDivisions ({nx} {ny} 1);")),
    ];
    choices.extend(fields(mesh, viscosity));
    choices
}

/// The condition on walls in each field, and the entries of the far field or of the sides of a box.
fn fields(mesh: &MeshData<'_>, viscosity: f64) -> impl Iterator<Item = (&'static str, String)> {
    let kinds = mesh.sides().unwrap_or_else(|| vec![("farfield", SideKind::FarField)]);
    let ends = period(&mesh.blocks()).map(|(ends, _)| ends.map(Patch::name));
    let [nu_tilda, nut] = [3.0 * viscosity, FREE_RATIO * viscosity].map(|nu| nu.to_string());
    let inviscid = viscosity == 0.0;
    let transported = |far: &str, value: &str, wall: &str| {
        [
            format!("type {far}; freestreamValue uniform {value};"),
            format!("type fixedValue; value uniform {value};"),
            format!("type inletOutlet; inletValue uniform {value}; value uniform {value};"),
            format!("type {wall};"),
        ]
    };
    let pressure = [
        "type freestreamPressure; freestreamValue uniform 0;",
        "type zeroGradient;",
        "type fixedValue; value uniform 0;",
        if inviscid { "type fixedFluxExtrapolatedPressure;" } else { "type zeroGradient;" },
    ];
    let slip = if inviscid { "slip" } else { "noSlip" };
    let fields = [
        (["U_WALL", "U_OUTSIDE"], transported("freestreamVelocity", "(1 0 0)", slip)),
        (["P_WALL", "P_OUTSIDE"], pressure.map(str::to_owned)),
        (
            ["NUTILDA_WALL", "NUTILDA_OUTSIDE"],
            transported("freestream", &nu_tilda, "fixedValue; value uniform 0"),
        ),
        (
            ["NUT_WALL", "NUT_OUTSIDE"],
            transported("freestream", &nut, "nutUSpaldingWallFunction; value uniform 0"),
        ),
    ];
    fields.into_iter().flat_map(move |([on_walls, outside], [far, inlet, outlet, wall])| {
        let of = |name: &str, kind: &SideKind| match kind {
            _ if ends.is_some_and(|ends| ends.contains(&name)) => "type cyclic;",
            SideKind::FarField | SideKind::Periodic => &far,
            SideKind::Inlet => &inlet,
            SideKind::Outlet => &outlet,
            SideKind::Slip => "type slip;",
            SideKind::Symmetry => "type symmetryPlane;",
            SideKind::Wall => &wall,
        };
        let lines = kinds.iter().map(|(name, kind)| format!("{name} {{ {} }}", of(name, kind)));
        let entries = lines.collect::<Vec<_>>().join("\n    ");
        [(on_walls, wall), (outside, entries)]
    })
}

/// Writes a file of the set-up, in whose text each word of `choices` is replaced. It does so in one pass: the text
/// for one word may contain another word.
pub(super) fn write_text(
    path: &Path,
    (name, text): SetupFile,
    choices: &[(&str, String)],
) -> Result<(), IoError> {
    let next = |rest: &str| {
        let found = choices.iter().filter_map(|choice| Some((rest.find(choice.0)?, choice)));
        found.min_by_key(|(at, _)| *at)
    };
    let class = match name {
        "0/U" => "volVectorField",
        "0/pointDisplacement" => "pointVectorField",
        _ if name.starts_with("0/") => "volScalarField",
        _ => "dictionary",
    };
    atomic::write(path, |out| {
        if name != SCRIPT {
            write_head(out, name, class, "")?;
        }
        let mut rest = text;
        while let Some((at, (what, with))) = next(rest) {
            write!(out, "{}{with}", &rest[..at])?;
            rest = &rest[at + what.len()..];
        }
        out.write_all(rest.as_bytes())?;
        if name == SCRIPT { make_executable(out.get_ref().file()) } else { Ok(()) }
    })
}

#[cfg(unix)]
fn make_executable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = file.metadata()?.permissions();
    // Whoever may read the script may run it.
    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
    file.set_permissions(permissions)
}

#[cfg(not(unix))]
fn make_executable(_: &fs::File) -> io::Result<()> {
    Ok(())
}

/// Turn of a wall at a corner, which has no curvature: at least this many degrees, and this many times the turn on
/// one side of it: on coarse grids a nose turns as much, at several nodes.
const CORNER: f64 = 25.0;
const SHARPER: f64 = 3.0;

const WITHOUT_DIMENSION: &str = "dimensions [0 0 0 0 0 0 0];";

/// A field of scalars of the mesh: its path in the case, and what writes it behind the head.
type Field = (&'static str, fn(&mut Writer<'_>, &MeshData<'_>, &Mesh<'_>) -> io::Result<()>);

/// The fields that belong to the mesh: the number of each cell's zone, and the curvature of each face of the walls.
pub(super) const FIELDS: [Field; 2] = [
    ("0/zoneID", write_zone_numbers),
    ("0/wallCurvature", |out, mesh, _| write_curvature(out, mesh)),
];

fn write_zone_numbers(
    out: &mut Writer<'_>,
    mesh: &MeshData<'_>,
    parts: &Mesh<'_>,
) -> io::Result<()> {
    writeln!(out, "{WITHOUT_DIMENSION}\ninternalField nonuniform List<scalar> {}\n(", parts.cells)?;
    for (zone, cells) in parts.zone_cells().enumerate() {
        let line = format!("{zone}\n");
        crate::files::pieces::write(out, cells, &|piece| line.as_bytes().repeat(piece.len()))?;
    }
    let (walls, ends) = (mesh.walls().join("|"), ends(mesh));
    writeln!(
        out,
        ")\n;\nboundaryField\n{{\n    overset {{ type overset; value uniform 0; }}\n    \
         \"(farfield|{walls})\" {{ type zeroGradient; }}\n    {ends}\n}}"
    )
}

/// Writes the curvature of the walls, face by face, negative where they are convex: that of the pressure's gradient
/// into the body.
fn write_curvature(out: &mut Writer<'_>, mesh: &MeshData<'_>) -> io::Result<()> {
    writeln!(out, "{WITHOUT_DIMENSION}\ninternalField uniform 0;\nboundaryField\n{{")?;
    writeln!(out, "    overset {{ type overset; value uniform 0; }}")?;
    writeln!(out, "    farfield {{ type zeroGradient; }}\n    {}", ends(mesh))?;
    for zone in mesh.zones.iter().filter(|zone| zone.has_wall()) {
        let curvature = curvature(zone.grid);
        writeln!(out, "    {}\n    {{\n        type fixedValue;", zone.name)?;
        let faces = curvature.len() * layers(mesh.span);
        writeln!(out, "        value nonuniform List<scalar> {faces}\n(")?;
        for value in curvature.iter().cycle().take(faces) {
            writeln!(out, "{value:e}")?;
        }
        writeln!(out, ")\n;\n    }}")?;
    }
    writeln!(out, "}}")
}

/// Curvature of the wall on each of its faces, the mean of that at its two nodes: the turn there over the length
/// around it. Corners have none.
fn curvature(grid: &Grid) -> Vec<f64> {
    let wall = grid.wall();
    let faces = wall.len() - 1;
    let step = |k: usize| difference(wall[k % faces + 1], wall[k % faces]);
    let turns: Vec<f64> = (0..faces).map(|k| angle(step(k + faces - 1), step(k))).collect();
    let turn = |k: usize| {
        let turn = turns[k % faces];
        let beside = turns[(k + 1) % faces].abs().min(turns[(k + faces - 1) % faces].abs());
        let corner = turn.abs() > CORNER.to_radians() && turn.abs() > SHARPER * beside;
        if corner { 0.0 } else { turn }
    };
    (0..faces).map(|k| 0.5 * (turn(k) + turn(k + 1)) / distance(wall[k], wall[k + 1])).collect()
}
