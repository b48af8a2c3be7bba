"""Choices of arguments as `typing.Literal`, for annotations.

Those of the keys of a case are in `gridgen._keys`, which is written from the table of keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Backend",
    "CellMeasure",
    "Compression",
    "Method",
    "Preconditioner",
    "Reordering",
    "Schedule",
    "SolverOptions",
    "Storage",
    "Topology",
    "VerdictKind",
    "View",
]

Backend: TypeAlias = Literal["auto", "cpu", "cuda"]
"""Machine to compute on."""
Topology: TypeAlias = Literal["O", "C", "half"]
"""Topology of a mesh."""
VerdictKind: TypeAlias = Literal["good", "not-converged", "folded", "folded-curved", "beyond-limit", "unfit"]
"""Kind of a verdict."""
Compression: TypeAlias = Literal["none", "zlib"]
"""Compression of ``.vts``."""
View: TypeAlias = Literal["body", "leading-edge", "trailing-edge", "wake", "far-field"]
"""Part of a mesh that is drawn; only C-grids have a wake."""
CellMeasure: TypeAlias = Literal["skewness", "aspect_ratio", "nonorthogonality", "cell_area", "min_jacobian"]
"""Measure of cells, an attribute of `gridgen.Mesh`."""

Method: TypeAlias = Literal["bicgstab", "gmres", "cg"]
"""Krylov method of a linear system."""
Preconditioner: TypeAlias = Literal["dilu", "ilu0", "dic", "ic0", "jacobi", "none"]
"""Preconditioner of a linear system."""
Schedule: TypeAlias = Literal["auto", "levels", "sync-free", "colours", "tiles"]
"""Order in which the rows of factors are processed."""
Storage: TypeAlias = Literal["csr", "ell"]
"""Storage of a matrix in products."""
Reordering: TypeAlias = Literal["none", "rcm"]
"""Renumbering of a matrix."""


class SolverOptions(TypedDict, total=False):
    """Options of `gridgen.LinearSolver` and `gridgen.solve`."""

    method: Method
    preconditioner: Preconditioner
    tolerance: float
    max_iterations: int
    restart: int
    shift: float
    schedule: Schedule
    format: Storage
    reorder: Reordering
    backend: Backend
    devices: int | Sequence[int] | None
    threads: int | None
