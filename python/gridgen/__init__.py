"""Structured O- and C-grids around airfoils, from elliptic grid equations solved by Newton-Krylov.

    >>> import gridgen
    >>> grid = gridgen.make(naca="2412", ni=129, nj=65, first_cell=1e-4)
    >>> grid.x.shape, grid.verdict.good
    ((65, 129), True)

`make` makes a grid, `make_many` many grids, `make_assembly` the overset grids of several elements. `read`
reads a mesh, `Mesh` makes one from arrays, `quality` measures it, `smooth` makes it better. `Reference` moves
a grid with its wall and differentiates it. `ui` shows a case in a browser. `solve` and `LinearSolver` solve
sparse linear systems. All errors are `GridgenError`. Notes about repairs and choices go to the logger
``gridgen``.
"""

from ._assembly import Assembly, Finding, Zone, make_assembly
from ._core import __version__, library_folders
from ._device import DeviceArray
from ._grid import Grid, Mesh, quality, read
from ._make import Result, make, make_many
from ._movement import Moved, Reference
from ._results import NewtonStep, Quality, Report, SystemReport, Verdict
from ._smooth import Smoothed, smooth
from ._solve import LinearSolver, solve
from ._support import packaged_libraries
from ._usmesh import USMesh
from ._viewer import ui
from .errors import (
    CaseError,
    DeviceError,
    FileError,
    GeometryError,
    GridgenError,
    MatrixError,
    NotConverged,
)

library_folders(packaged_libraries())
del library_folders, packaged_libraries

__all__ = [
    "Assembly",
    "CaseError",
    "DeviceArray",
    "DeviceError",
    "FileError",
    "Finding",
    "GeometryError",
    "Grid",
    "GridgenError",
    "LinearSolver",
    "MatrixError",
    "Mesh",
    "Moved",
    "NewtonStep",
    "NotConverged",
    "Quality",
    "Reference",
    "Report",
    "Result",
    "Smoothed",
    "SystemReport",
    "USMesh",
    "Verdict",
    "Zone",
    "__version__",
    "make",
    "make_assembly",
    "make_many",
    "quality",
    "read",
    "smooth",
    "solve",
    "ui",
]
