#!/usr/bin/env python3
"""Reads what gridgen writes of a grid of one block, with numpy alone.

    python3 examples/read.py output/naca0012

prints the counts and the quality of the report, reads mesh.vts and mesh.p3d, checks that both hold
the same coordinates, and works out the folded cells anew. With pyvista installed it reads mesh.vts by
that as well, and compares. The functions may be copied into other programs.
"""

import json
import re
import sys
from pathlib import Path

import numpy as np


def read_vts(path):
    """Points (nk, nj, ni, 3) and cell arrays {name: (nk - 1 or 1, nj - 1, ni - 1)} of a .vts file."""
    data = Path(path).read_bytes()
    head, _, body = data.partition(b"<AppendedData")
    text = head.decode()
    body = body[body.index(b"_") + 1 :]
    extent = [int(n) for n in re.search(r'<Piece Extent="([^"]*)"', text).group(1).split()]
    ni, nj, nk = (extent[2 * d + 1] - extent[2 * d] + 1 for d in range(3))
    arrays = {}
    for tag in re.findall(r"<DataArray ([^>]*)/>", text):
        word = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        start = int(word["offset"])
        length = int(np.frombuffer(body, "<u8", 1, start)[0])
        arrays[word["Name"]] = np.frombuffer(body, "<f8", length // 8, start + 8)
    points = arrays.pop("Points").reshape(nk, nj, ni, 3)
    shape = (max(nk - 1, 1), nj - 1, ni - 1)
    return points, {name: values.reshape(shape) for name, values in arrays.items()}


def read_plot3d(path):
    """Points (nk, nj, ni, 3) of a Plot3D text with three dimensions and a block count."""
    words = Path(path).read_text().split()
    if words[0] != "1":
        raise ValueError(f"{path}: one block was expected, there are {words[0]}")
    ni, nj, nk = (int(n) for n in words[1:4])
    values = np.array(words[4:], dtype=float)
    return np.moveaxis(values.reshape(3, nk, nj, ni), 0, -1)


def folded_cells(x, y):
    """Cells with a corner determinant that is not positive; x and y are (nj, ni)."""
    corners = [(c[:-1, :-1], c[:-1, 1:], c[1:, 1:], c[1:, :-1]) for c in (x, y)]
    good = np.ones(corners[0][0].shape, dtype=bool)
    for k in range(4):
        (ax, ay), (bx, by) = (
            [c[(k + step) % 4] - c[k] for c in corners] for step in (1, 3)
        )
        good &= ax * by - ay * bx > 0
    return int((~good).sum())


def main(folder):
    folder = Path(folder)
    report = json.loads((folder / "report.json").read_text())
    quality = report["quality"]
    print(f"{report['name']}: converged {report['converged']}, residual {report['newton']['residual']:.2e}")
    points, arrays = read_vts(folder / "mesh.vts")
    x, y = points[0, :, :, 0], points[0, :, :, 1]
    nj, ni = x.shape
    print(f"mesh.vts: {ni} x {nj} points, skewness at most {arrays['skewness'].max():.3f}")
    assert [ni, nj] == [report["grid"]["ni"], report["grid"]["nj"]]
    assert np.isclose(arrays["skewness"].max(), quality["max_skewness"], rtol=1e-12)
    assert folded_cells(x, y) == quality["folded_cells"]
    if report["grid"]["topology"] == "O":
        assert (points[:, :, 0] == points[:, :, -1]).all(), "the seam is open"
    if (folder / "mesh.p3d").exists():
        block = read_plot3d(folder / "mesh.p3d")
        assert (block[0, :, :, :2] == points[0, :, :, :2]).all(), "mesh.p3d differs from mesh.vts"
        print(f"mesh.p3d: {block.shape[0]} planes, the same coordinates to the last bit")
    try:
        import pyvista
    except ImportError:
        return
    mesh = pyvista.read(folder / "mesh.vts")
    assert (mesh.points.reshape(points.shape) == points).all()
    print(f"pyvista: {mesh.n_cells} cells, the same points")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: read.py FOLDER, the output folder of a run")
    main(sys.argv[1])
