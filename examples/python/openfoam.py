"""The mesh of a section as an OpenFOAM case for inviscid flow at an incidence of 4 degrees.

python examples/python/openfoam.py [FOLDER]

Then FOLDER/openfoam/Allrun solves it by simpleFoam and prints the force coefficients.
"""

import sys
from pathlib import Path

import numpy as np

import gridgen

E387 = Path(__file__).parents[2] / "cases" / "airfoils" / "e387.dat"


def main(folder="output/python/e387", **size):
    # Any array of points is a section: here it comes from a file.
    points = np.loadtxt(E387, skiprows=1)

    grid = gridgen.make(
        points=points,
        angle=4.0,
        # Inviscid flow wants first cells of about a thousandth of a chord.
        **{"ni": 193, "nj": 97, "far_field": 30.0, "first_cell": 2.5e-3, **size},
        output=folder,
        formats=["openfoam"],
        pictures=False,
    )

    for note in grid.notes:
        print(note)
    patches = (Path(folder) / "openfoam" / "constant" / "polyMesh" / "boundary").read_text()
    faces = {name: patches.count(name) for name in ("airfoil", "farfield", "frontAndBack")}
    assert all(faces.values()), patches
    print(f"{grid.cell_area.size} cells, patches {', '.join(faces)}")
    print(f"run {Path(folder) / 'openfoam' / 'Allrun'} to solve it")
    return grid


if __name__ == "__main__":
    main(*sys.argv[1:2])
