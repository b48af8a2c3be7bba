"""A grid around the NACA 2412, what is known of it, and its mesh for a solver.

python examples/python/first_grid.py [FOLDER]
"""

import sys
from pathlib import Path

import gridgen


def main(folder="output/python", **size):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    grid = gridgen.make(naca="2412", **{"ni": 257, "nj": 129, "first_cell": 1e-5, **size})

    nj, ni = grid.x.shape
    print(f"{ni} x {nj} points, {grid.verdict.reason}")
    print(f"residual {grid.history[-1].residual:.1e} after {len(grid.history) - 1} Newton steps")
    print(f"largest skewness {grid.quality.max_skewness:.3f}, mean {grid.quality.mean_skewness:.4f}")
    # Arrays are [j, i]. The wall is a part of j = 0, on both sides of which a C-grid has its wake.
    first, last = grid.wall
    section = grid.y[0, first : last + 1]
    print(f"the section goes from y = {section.min():.4f} to {section.max():.4f}")
    print(f"areas of the cells: {grid.cell_area.min():.1e} to {grid.cell_area.max():.1e}")

    grid.write(folder / "naca2412.su2")
    again = gridgen.read(folder / "naca2412.su2")
    assert (again.x == grid.x).all(), "files keep every bit"
    return grid


if __name__ == "__main__":
    main(*sys.argv[1:2])
