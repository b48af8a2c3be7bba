"""Smoothing of structured grids that are given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._grid import Mesh
from ._results import Quality
from ._support import settings_text, xy_arrays
from .errors import CaseError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .typing import Backend

__all__ = ["Smoothed", "smooth"]


class Smoothed(NamedTuple):
    """A smoothed grid, with measures before and after."""

    x: NDArray[np.float64]
    """Coordinates x of the nodes, (nj, ni), in the order of the arrays that were given."""
    y: NDArray[np.float64]
    """Coordinates y of the nodes."""
    before: Quality
    """Measures of the grid that was given, in its unit; angles and first cells are those of the walls."""
    after: Quality
    """Measures of the smoothed grid."""
    first_cell_error: tuple[float, float]
    """Largest relative error of the height of a first cell, before and after."""
    passes: list[dict[str, Any]]
    """The solves: ``functions``, ``slid``, ``newton_iterations``, ``linear_iterations``, ``converged``,
    ``measures``."""
    kept: int
    """The one of them whose grid this is."""
    grown: list[str]
    """Measures that are worse than before although smoothing is to preserve them, a clause each."""

    def __bool__(self) -> bool:
        """Return whether none of these has grown, and no cell is folded."""
        return not self.grown and self.after.folded_cells == 0

    @property
    def mesh(self) -> Mesh:
        """The smoothed grid as a mesh, to write, plot and show."""
        return Mesh(self.x, self.y)


def smooth(
    x: ArrayLike,
    y: ArrayLike,
    *,
    walls: Sequence[str] = ("jmin",),
    first_cell: float | None = None,
    slide: Sequence[str] = (),
    settings: Mapping[str, Any] | None = None,
    backend: Backend = "auto",
) -> Smoothed:
    """Smooth a structured grid by the grid equations, with exact first cells on a wall.

    Noise, kinks and folds are removed, lines leave the wall along its normal, and the clustering of the grid
    stays. The points of its sides stay, but for those that slide.

    Parameters
    ----------
    x, y : array_like, (nj, ni)
        Coordinates of the nodes, in any orientation.
    walls : sequence of {"jmin", "jmax", "imin", "imax"}
        The side that is the wall.
    first_cell : float, optional
        Height of the first cells, in the unit of x and y; by default the grid's own, smoothed along the wall.
    slide : sequence of {"jmin", "jmax", "imin", "imax"}
        Other sides whose points slide along them.
    settings : mapping, optional
        Keys of ``[newton]``, ``[linear]`` and ``[multigrid]``, such as ``{"newton.tolerance": 1e-9}``.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; "auto" takes one GPU where there is one and the grid is large enough to be faster
        there.

    Returns
    -------
    Smoothed
        True if no measure that is to be preserved has grown.

    Raises
    ------
    CaseError
        If the arrays or the sides cannot be used.
    NotConverged
        If the equations of the grid were not solved.
    """
    import numpy as np

    nodes = [np.ascontiguousarray(array) for array in xy_arrays(x, y)]
    for name, sides in (("walls", walls), ("slide", slide)):
        if isinstance(sides, str):
            message = f"{name}: a list of sides was expected, found {sides!r}"
            raise CaseError(message, f'write {name}=["{sides}"]', data={"name": name, "value": sides})
    (new_x, new_y), text, grown = _core.smooth(
        nodes[0], nodes[1], list(walls), first_cell, list(slide), settings_text(settings), backend
    )
    result = json.loads(text)
    measures = [result[name] for name in ("before", "after")]
    before, after = (Quality._of(measure["quality"]) for measure in measures)
    errors = (measures[0]["first_cell_error"], measures[1]["first_cell_error"])
    return Smoothed(new_x, new_y, before, after, errors, result["passes"], result["kept"], grown)
