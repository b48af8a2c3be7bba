"""Pictures of meshes: views, drawings by matplotlib, and those of a notebook."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, get_args

from ._support import optional_import, real_array
from .errors import CaseError
from .typing import CellMeasure, View

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._grid import Mesh

__all__ = ["as_html", "as_svg", "draw"]

# Least size of the views of edges, in chords.
_EDGE = 0.06

# Size of the picture in a notebook in pixels, and the most lines of one family in it.
_PIXELS = (640, 400)
_LINES = 90

# Measures whose values differ by orders of magnitude.
_LOGARITHMIC = ("aspect_ratio", "cell_area")


def _nodes(mesh: Mesh) -> list[NDArray[np.float64]]:
    """Return the nodes of each block on the host, (nj, ni, 2)."""
    import numpy as np

    return [np.stack([np.asarray(x), np.asarray(y)], axis=-1) for x, y in mesh.blocks]


def _window(mesh: Mesh, nodes: NDArray[np.float64], view: str) -> tuple[NDArray[np.float64], ...]:
    """Return the lower and the upper corner of a view."""
    import numpy as np

    views = [name for name in get_args(View) if name != "wake" or mesh.topology == "C"]
    if view not in views:
        message = f'view = "{view}": one of {", ".join(views)} was expected'
        hint = "only a C-grid has a wake" if view == "wake" else None
        raise CaseError(message, hint, data={"name": "view", "value": view})
    wall = nodes[0, mesh.wall[0] : mesh.wall[1] + 1]
    low, high = wall.min(axis=0), wall.max(axis=0)
    chord, centre = high[0] - low[0], 0.5 * (low + high)
    # A blunt trailing edge is seen whole, with room around it.
    edge = wall[wall[:, 0] > high[0] - 0.005 * chord, 1]
    trailing = np.array([high[0], 0.5 * (edge.min() + edge.max())])
    if view == "body":
        size = [1.35 * chord, max(0.8 * chord, 1.35 * (high[1] - low[1]))]
    elif view == "leading-edge":
        centre, size = wall[wall[:, 0].argmin()], [_EDGE * chord] * 2
    elif view == "trailing-edge":
        centre, size = trailing, [max(_EDGE * chord, 4 * (edge.max() - edge.min()))] * 2
    elif view == "wake":
        centre, size = trailing + np.array([0.75 * chord, 0.0]), [2 * chord, chord]
    else:
        outer = nodes[-1]
        centre = 0.5 * (outer.min(axis=0) + outer.max(axis=0))
        size = 1.04 * np.ptp(outer, axis=0)
    half = 0.5 * np.asarray(size)
    return centre - half, centre + half


def _inside(
    nodes: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Return for each node whether it lies in a window."""
    import numpy as np

    return np.logical_and.reduce((nodes >= low) & (nodes <= high), axis=-1)  # type: ignore[no-any-return]


def draw(mesh: Mesh, ax: Any, view: str, color: str | ArrayLike | None, lines: dict[str, Any]) -> Any:
    """Draw a view of a mesh with matplotlib, and a measure of its cells in colours; return the axes."""
    collections = optional_import("matplotlib.collections", "plot")
    import numpy as np

    nodes, *others = _nodes(mesh)
    low, high = _window(mesh, nodes, view)
    measured = None if color is None else _measured(mesh, color)
    if ax is None:
        _, ax = optional_import("matplotlib.pyplot", "plot").subplots(layout="constrained")
        ax.set_aspect("equal")
    if measured is not None:
        inside = _inside(nodes, low, high)
        seen = measured[inside[1:, 1:] | inside[:-1, :-1] | inside[1:, :-1] | inside[:-1, 1:]]
        seen = seen[np.isfinite(seen)]
        limits = (seen.min(), seen.max()) if seen.size else (0.0, 1.0)
        logarithmic = isinstance(color, str) and color in _LOGARITHMIC and limits[0] > 0
        scale = optional_import("matplotlib.colors", "plot")
        norm = scale.LogNorm(*limits) if logarithmic else scale.Normalize(*limits)
        cells = ax.pcolormesh(nodes[..., 0], nodes[..., 1], measured, norm=norm, rasterized=True)
        label = color.replace("_", " ") if isinstance(color, str) else None
        ax.figure.colorbar(cells, ax=ax, label=label)
    style = {"linewidths": 0.3 if measured is None else 0.1, "colors": "black", **lines}
    for block in (nodes, *others):
        ax.add_collection(collections.LineCollection([*block, *block.swapaxes(0, 1)], **style))
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    return ax


def _measured(mesh: Mesh, color: str | ArrayLike) -> NDArray[np.float64]:
    """Return a measure of the cells by its name, or an array of one."""
    if isinstance(color, str):
        if color not in get_args(CellMeasure):
            message = (
                f'color = "{color}": one of {", ".join(get_args(CellMeasure))} was expected, or an array'
            )
            raise CaseError(message, data={"name": "color", "value": color})
        values: NDArray[np.float64] = getattr(mesh, color)
        return values
    cells = (mesh.shape[0] - 1, mesh.shape[1] - 1)
    values = real_array("color", color, "(nj - 1, ni - 1)", ndim=2)
    if values.shape != cells:
        message = f"color: an array of shape {cells}, one value a cell, was expected, found {values.shape}"
        raise CaseError(message, data={"name": "color", "shape": values.shape})
    return values


def as_svg(mesh: Mesh, view: str = "body") -> str:
    """Return a view of a mesh as SVG; of many lines every second, fourth, … is drawn."""
    blocks = _nodes(mesh)
    low, high = _window(mesh, blocks[0], view)
    scale = min(_PIXELS / (high - low))
    width, height = scale * (high - low)
    # Corners of the picture: y points down.
    pixels = [(block - [low[0], high[1]]) * [scale, -scale] for block in blocks]
    inside = [_inside(block, low, high) for block in blocks]
    both = list(zip(pixels, inside, strict=True))
    path = "".join(
        _path(family[line], seen[line])
        for family, seen in (*both, *((block.swapaxes(0, 1), seen.T) for block, seen in both))
        for line in _every(seen)
    )
    wall = pixels[0][0, mesh.wall[0] : mesh.wall[1] + 1]
    outline = " ".join(f"{x:.1f},{y:.1f}" for x, y in wall.tolist())
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}"><rect width="100%" height="100%" fill="white"/>'
        f'<path d="{path}" fill="none" stroke="#456" stroke-width="0.4"/>'
        f'<polygon points="{outline}" fill="#ddd" stroke="#a22" stroke-width="1.2"/></svg>'
    )


def _every(inside: NDArray[np.bool_]) -> range:
    """Return the lines of a family to draw: all, or every 2nd, 4th, … if many cross the window."""
    stride = 1
    while inside.any(axis=1).sum() > _LINES * stride:
        stride *= 2
    return range(0, len(inside), stride)


def _path(line: NDArray[np.float64], inside: NDArray[np.bool_]) -> str:
    """Return the parts of a line within the window as a path, with a point at most every half pixel."""
    import numpy as np

    # Points beside one that is inside end the parts at the border.
    near = inside.copy()
    near[1:] |= inside[:-1]
    near[:-1] |= inside[1:]
    near &= np.isfinite(line).all(axis=-1)
    return "".join(_parts(line.tolist(), near.tolist()))


def _parts(line: list[list[float]], near: list[bool]) -> Iterator[str]:
    last, pen = (0.0, 0.0), "M"
    for (x, y), kept in zip(line, near, strict=True):
        if not kept:
            pen = "M"
        elif pen == "M" or abs(x - last[0]) + abs(y - last[1]) > 0.5:
            yield f"{pen}{x:.1f} {y:.1f}"
            last, pen = (x, y), "L"


def as_html(mesh: Mesh, verdict: str | None, *, good: bool) -> str:
    """Return what a notebook shows of a mesh: its verdict, some measures, and its body."""
    nj, ni = mesh.shape
    cells = sum((x.shape[0] - 1) * (x.shape[1] - 1) for x, _ in mesh.blocks)
    quality = mesh.quality
    rows = [
        ("cells", f"{cells:,}".replace(",", "\u2009")),
        ("skewness", f"{quality.max_skewness:.3f} at most, {quality.mean_skewness:.4f} on average"),
        ("growth", f"{quality.max_growth_i:.3f} along the wall, {quality.max_growth_j:.3f} away from it"),
        ("first cell", f"{quality.first_cell_min:.3g} to {quality.first_cell_max:.3g}"),
        ("wall angle error", f"{quality.wall_angle_error_max_deg:.2g}° at most"),
    ]
    colour = "#161" if good else "#a22"
    said = "" if verdict is None else f': <span style="color: {colour}">{html.escape(verdict)}</span>'
    table = "".join(f"<tr><th>{name}</th><td>{text}</td></tr>" for name, text in rows)
    head = f"gridgen.{type(mesh).__name__} {ni} x {nj}, {mesh.topology}"
    return f"<div><b>{head}</b>{said}<table>{table}</table>{as_svg(mesh)}</div>"
