"""A data set of 1,000 sections and their grids in an HDF5 file, written while the grids are made.

python examples/python/data_set.py [FILE [SECTIONS]]

The file has `nodes` (sections, 2, nj, ni), `skewness` (sections, nj - 1, ni - 1), the parameters of each
section, and its verdict: "good", or the error. A run that was interrupted goes on where it ended.
"""

import sys
from pathlib import Path

import h5py
import numpy as np

import gridgen


def sections(number, seed=1):
    """Camber, place of the camber, thickness, and points (81, 2) of random four-digit sections."""
    random = np.random.default_rng(seed)
    x = 0.5 * (1 + np.cos(np.linspace(0, np.pi, 41)))
    form = 5 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    for _ in range(number):
        m, p, t = random.uniform([0, 0.2, 0.06], [0.06, 0.6, 0.24])
        line = np.where(
            x < p, m / p**2 * (2 * p * x - x**2), m / (1 - p) ** 2 * (1 - 2 * p + 2 * p * x - x**2)
        )
        upper, lower = line + t * form, line - t * form
        yield (m, p, t), np.concatenate([np.stack([x, upper], axis=1), np.stack([x, lower], axis=1)[-2::-1]])


def main(name="output/python/sections.h5", number=1000, **size):
    size = {"ni": 129, "nj": 65, "first_cell": 1e-4, **size}
    number, shape = int(number), (size["nj"], size["ni"])
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(name, "a") as file:
        # A chunk is one grid: a training reads them in any order.
        new = {"shape": (number, 2, *shape), "chunks": (1, 2, *shape), "compression": "gzip"}
        nodes = file.require_dataset("nodes", dtype="f8", fillvalue=np.nan, **new)
        cells = (size["nj"] - 1, size["ni"] - 1)
        new |= {"shape": (number, *cells), "chunks": (1, *cells)}
        skewness = file.require_dataset("skewness", dtype="f4", fillvalue=np.nan, **new)
        parameters = file.require_dataset("parameters", (number, 3), "f8", fillvalue=np.nan)
        verdicts = file.require_dataset("verdict", (number,), h5py.string_dtype())
        parameters.attrs["names"] = ["camber", "place of the camber", "thickness"]

        left = [(k, one) for k, one in enumerate(sections(number)) if not verdicts[k]]
        cases = ({"points": points} for _, (_, points) in left)
        for result in gridgen.make_many(cases, backend="cpu", **size):
            k, (values, _) = left[result.index]
            parameters[k] = values
            if result.grid is not None:
                nodes[k] = result.grid.x, result.grid.y
                skewness[k] = result.grid.skewness
            verdicts[k] = "good" if result.grid is not None else str(result.error)
        print(f"{list(verdicts[:]).count(b'good')} of {number} grids are good: {name}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
