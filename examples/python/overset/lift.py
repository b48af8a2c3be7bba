"""Lift of cases/two-elements.toml by OpenFOAM, beside the exact one, on three spacings.

    python3 examples/python/overset/lift.py [FOLDER] [--program gridgen] [--only SPACING] [--set KEY=VALUE]

Needs gridgen and OpenFOAM's overSimpleFoam on the path, and no package. Runs the case by its own Allrun and
prints for each spacing the lift coefficients of all walls and of the flap, how far off they are, the counts
of cells by what becomes of them, of gridgen's report and of OpenFOAM's last time, and the net flux through
the far field, which is 0 where nothing leaks (in reference chords and units of the stream's speed).
"""

import argparse
import json
import pathlib
import subprocess

CASE = pathlib.Path(__file__).resolve().parents[3] / "cases" / "two-elements.toml"

# Lift of all walls and of the flap at zero incidence.
EXACT = {"all": 2.756824, "flap": 0.371847}

# Points around, and first cells, of each element: all else follows from these.
SPACINGS = {
    "default": {},
    "halved": {
        "element.main.grid.ni": 129,
        "element.main.grid.first_cell": 5e-3,
        "element.flap.grid.ni": 97,
        "element.flap.grid.first_cell": 1e-2,
    },
    "1.5 times finer": {
        "element.main.grid.ni": 385,
        "element.main.grid.first_cell": 1.6667e-3,
        "element.flap.grid.ni": 289,
        "element.flap.grid.first_cell": 3.3333e-3,
    },
}


def values(path, patch=None):
    """The numbers of a field: those inside, or those of a patch."""
    text = path.read_text()
    if patch is None:
        text = text[text.index("internalField") : text.index("boundaryField")]
    else:
        text = text[text.index("boundaryField") :]
        text = text[text.index(patch) :]
    start = text.index("(")
    return [float(number) for number in text[start + 1 : text.index(")", start)].split()]


def last_time(case):
    times = [place for place in case.iterdir() if place.name.isdigit() and place.name != "0"]
    return max(times, key=lambda place: int(place.name))


def lift(case, name):
    """The lift coefficient at the end, and by how much it varied over the last tenth of the iterations."""
    (table,) = sorted((case / "postProcessing" / name).glob("*/coefficient*.dat"))[-1:]
    lines = table.read_text().splitlines()
    heads = [line for line in lines if line.startswith("#")]
    column = heads[-1].lstrip("#").split().index("Cl")
    found = [float(line.split()[column]) for line in lines if not line.startswith("#")]
    late = found[-max(2, len(found) // 10) :]
    return found[-1], max(late) - min(late)


def run(name, settings, folder, program):
    place = folder / name.replace(" ", "-")
    settings = {"output.formats": '["openfoam"]', "output.pictures": "false"} | settings
    options = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    subprocess.run([program, CASE, "--output", place, "--quiet", *options], check=True)  # noqa: S603 (the user names the program)
    output = place / CASE.stem
    case = output / "openfoam"
    subprocess.run([case / "Allrun"], check=True, stdout=subprocess.DEVNULL)  # noqa: S603 (written by gridgen)

    report = json.loads((output / "report.json").read_text())["overset"]
    end = last_time(case)
    sizes = ", ".join(f"{zone['name']} {' x '.join(map(str, zone['cells']))}" for zone in report["zones"])
    print(f"\n{name}: {sizes} cells")
    for wall, exact in EXACT.items():
        found, varied = lift(case, wall)
        print(f"  Cl of {wall:5} {found:.6f}, {100 * (found / exact - 1):+.2f} % off, varied by {varied:.1e}")
    types = values(end / "cellTypes")
    zones = report["zones"]
    for gap in report["gaps"]:
        print(f"  cells across the gap: {gap['cells']}")
    own = [sum(zone[kind] for zone in zones) for kind in ("calculated", "interpolated", "holes")]
    found = [types.count(kind) for kind in (0.0, 1.0, 2.0)]
    print(f"  calculated, interpolated, holes: gridgen {own}, OpenFOAM {found}")
    print(f"  orphans: {sum(zone['orphans'] for zone in zones)}")
    print(f"  net flux through the far field {sum(values(end / 'phi', 'farfield')):+.2e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default="output/overset", type=pathlib.Path)
    parser.add_argument("--program", default="gridgen")
    parser.add_argument("--only", choices=SPACINGS)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    given = parser.parse_args()
    more = dict(setting.split("=", 1) for setting in given.set)
    for name, settings in SPACINGS.items():
        if given.only in (None, name):
            run(name, settings | more, given.folder.resolve(), given.program)


if __name__ == "__main__":
    main()
