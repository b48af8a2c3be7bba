"""Grids around 200 NACA sections to one .npz, with a table of verdicts.

python examples/python/sweep.py [FOLDER [SECTIONS]]

The arrays x and y of the file are (sections, nj, ni); a section without a good grid is left out and stands in
the table, verdicts.tsv, with its reason.
"""

import itertools
import sys
from pathlib import Path

import numpy as np

import gridgen

# Camber in percent, its place in tenths, thickness in percent of the chord.
SECTIONS = [
    f"{camber}{place}{thickness:02}"
    for camber, place, thickness in itertools.product(range(1, 6), range(2, 6), range(6, 26, 2))
]


def main(folder="output/python", sections=200, **size):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    size = {"ni": 161, "nj": 65, "first_cell": 1e-5, **size}
    cases = [{"naca": section} for section in SECTIONS[: int(sections)]]

    names, x, y = [], [], []
    with (folder / "verdicts.tsv").open("w") as table:
        print("section", "verdict", "steps", "skewness", "wall angle", sep="\t", file=table)
        for result in gridgen.make_many(cases, backend="cpu", **size):
            name = result.case["naca"]
            if result.grid is None:
                reason = str(result.error).replace("\n", " ")
                print(name, type(result.error).__name__, reason, sep="\t", file=table)
                continue
            quality, steps = result.grid.quality, len(result.grid.history) - 1
            measures = f"{quality.max_skewness:.3f}\t{quality.wall_angle_error_max_deg:.1e}"
            print(name, "good", steps, measures, sep="\t", file=table)
            names.append(name)
            x.append(result.grid.x)
            y.append(result.grid.y)

    np.savez(folder / "sweep.npz", section=names, x=np.stack(x), y=np.stack(y))
    print(f"{len(names)} of {len(cases)} grids are good: {folder / 'sweep.npz'}, {folder / 'verdicts.tsv'}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
