//! What `simpleFoam` needs beside the mesh: inviscid flow at zero incidence and unit speed.

use std::io::{self, Write};

use super::Reference;
use crate::formats::mesh::{Sides, Span};

/// A file: its path in the case, its class, and its contents below the head.
pub(super) type File = (&'static str, &'static str, &'static str);

/// What of the set-up depends on the grid.
pub(super) struct Choices {
    /// What the fields say of the ends of the span and, on half a grid, of its plane of symmetry.
    sides: String,
    /// What force coefficients refer to.
    reference: Reference,
    /// Their reference area: the chord times the span.
    area: f64,
}

impl Choices {
    pub(super) fn new(span: Option<Span>, half: bool, reference: Reference) -> Self {
        let ends = match span.map(|span| span.sides) {
            None => PLANE,
            Some(Sides::Symmetry) => {
                "back { type symmetryPlane; }\n    front { type symmetryPlane; }"
            }
            Some(Sides::Periodic) => "back { type cyclic; }\n    front { type cyclic; }",
        };
        let plane = if half { "symmetry { type symmetryPlane; }\n    " } else { "" };
        let area = reference.length * span.unwrap_or(Span::ONE).length;
        Self { sides: [plane, ends].concat(), reference, area }
    }
}

/// Writes a file with its head.
pub(super) fn write_to(
    out: &mut impl Write,
    class: &str,
    object: &str,
    contents: &str,
    choices: &Choices,
) -> io::Result<()> {
    let Reference { length, centre: [x, y] } = choices.reference;
    let contents = contents
        .replace(PLANE, &choices.sides)
        .replace(CENTRE, &format!("CofR ({x} {y} 0);"))
        .replace(LENGTH, &format!("lRef {length};"))
        .replace(AREA, &format!("Aref {};", choices.area));
    writeln!(out, "FoamFile\n{{\n    version 2.0;\n    format ascii;")?;
    writeln!(out, "    class {class};\n    object {object};\n}}\n\n{}", contents.trim_start())
}

/// What the force coefficients of a section of unit chord at its place refer to.
const CENTRE: &str = "CofR (0.25 0 0);";
const LENGTH: &str = "lRef 1;";
const AREA: &str = "Aref 1;";

/// What the fields say of the sides of a plane grid.
const PLANE: &str = "frontAndBack { type empty; }";

/// The files of the set-up.
pub(super) const FILES: [File; 7] = [
    ("system/controlDict", "dictionary", CONTROL),
    ("system/fvSchemes", "dictionary", SCHEMES),
    ("system/fvSolution", "dictionary", SOLUTION),
    ("constant/transportProperties", "dictionary", TRANSPORT),
    ("constant/turbulenceProperties", "dictionary", "simulationType laminar;"),
    ("0/U", "volVectorField", VELOCITY),
    ("0/p", "volScalarField", PRESSURE),
];

/// Solves the case.
pub(super) const SCRIPT: &str = "#!/bin/sh
# Solves this case by simpleFoam. Residuals go to log.simpleFoam, force coefficients to
# postProcessing/forceCoeffs.
cd \"${0%/*}\" || exit
if ! command -v simpleFoam > /dev/null; then
    echo 'simpleFoam was not found: load the environment of OpenFOAM first' >&2
    exit 1
fi
# Debian's package has no environment to load.
: \"${WM_PROJECT_DIR:=/usr/share/openfoam}\"
export WM_PROJECT_DIR
if ! simpleFoam > log.simpleFoam 2>&1; then
    tail -n 20 log.simpleFoam >&2
    exit 1
fi
awk '/^[^#]/ { last = $0 } /^# Time/ { names = $0 } END { print names; print last }' \\
    postProcessing/forceCoeffs/0/coefficient.dat
";

const CONTROL: &str = "
application simpleFoam;
startFrom startTime;
startTime 0;
stopAt endTime;
endTime 1500;
deltaT 1;
writeControl timeStep;
writeInterval 1500;
writeFormat ascii;
writePrecision 12;
timeFormat general;
timePrecision 6;
runTimeModifiable false;

functions
{
    forceCoeffs
    {
        type forceCoeffs;
        libs (\"libforces.so\");
        writeControl timeStep;
        writeInterval 10;
        patches (airfoil);
        rho rhoInf;
        rhoInf 1;
        CofR (0.25 0 0);
        liftDir (0 1 0);
        dragDir (1 0 0);
        pitchAxis (0 0 1);
        magUInf 1;
        lRef 1;
        Aref 1;
        log false;
    }
}";

const SCHEMES: &str = "
ddtSchemes { default steadyState; }
gradSchemes { default Gauss linear; }
divSchemes
{
    default none;
    div(phi,U) bounded Gauss linearUpwind grad(U);
    div((nuEff*dev2(T(grad(U))))) Gauss linear;
}
laplacianSchemes { default Gauss linear limited corrected 0.5; }
interpolationSchemes { default linear; }
snGradSchemes { default limited corrected 0.5; }";

const SOLUTION: &str = "
solvers
{
    p { solver GAMG; smoother GaussSeidel; tolerance 1e-9; relTol 0.05; }
    U { solver smoothSolver; smoother GaussSeidel; tolerance 1e-10; relTol 0.05; }
}
SIMPLE
{
    nNonOrthogonalCorrectors 1;
    consistent yes;
    residualControl { p 1e-6; U 1e-7; }
}
relaxationFactors
{
    fields { p 0.7; }
    equations { U 0.8; }
}";

const TRANSPORT: &str = "
transportModel Newtonian;
// Next to none: the airfoil below slips. For viscous flow set nu and noSlip in 0/U.
nu 1e-12;";

const VELOCITY: &str = "
dimensions [0 1 -1 0 0 0 0];
// Incidence: (cos a, sin a, 0) here and below, and liftDir, dragDir in system/controlDict.
internalField uniform (1 0 0);
boundaryField
{
    airfoil { type slip; }
    farfield { type freestreamVelocity; freestreamValue uniform (1 0 0); }
    frontAndBack { type empty; }
}";

const PRESSURE: &str = "
dimensions [0 2 -2 0 0 0 0];
internalField uniform 0;
boundaryField
{
    airfoil { type fixedFluxExtrapolatedPressure; }
    farfield { type freestreamPressure; freestreamValue uniform 0; }
    frontAndBack { type empty; }
}";
