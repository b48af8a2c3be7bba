"""A moving mesh with the methods of IDWarp's USMesh that flow solvers call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._movement import Moved, Reference
from ._support import count, ratio, real_array
from .errors import CaseError, GeometryError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._grid import Mesh

__all__ = ["USMesh"]

_OPTIONS = frozenset({"gridFile", "reference", "spanCells", "span", "points", "tolerance", "backend"})

# Nodes closer than this fraction of the extent of the wall are one node.
_SAME = 1e-8


class USMesh:
    """A section extruded over its span and moved in the plane, for the wrappers of ADflow and DAFoam.

    It has the methods of ``idwarp.USMesh`` that these call, with the same names and arrays: surface
    coordinates are (N, 3); grids and their derivatives are flat, with x, y and z of a node in sequence. The
    span is along z, which does not move, and derivatives by z are zero.

    Parameters
    ----------
    options : mapping
        ``reference``, a `Reference`, or ``gridFile``, the file of a reference or a mesh; ``spanCells`` (1)
        and ``span`` (1.0) of the solver's grid, in the order of `Mesh.write` for CGNS and Plot3D: i fastest,
        then j, then the planes, block after block. ``points``, (N, 3), is for solvers with another numbering,
        such as OpenFOAM: all nodes of their grid, in order. ``tolerance`` (1e-10) of derivatives, and
        ``backend``. A base follows its corners: its other nodes do not belong to the surface.
    comm : optional
        Communicator of mpi4py. Each rank moves the whole plane and keeps its part of the surface and of the
        volume.

    Raises
    ------
    CaseError
        If an option is unknown or missing.
    GeometryError
        If ``points`` are not the nodes of the reference in planes of constant z.
    """

    def __init__(self, options: Mapping[str, Any], comm: Any = None) -> None:
        import numpy as np

        for name in options:
            if name not in _OPTIONS:
                message = f"options: unknown key {name}"
                raise CaseError(message, f"the keys are {', '.join(sorted(_OPTIONS))}", data={"key": name})
        reference = options.get("reference", options.get("gridFile"))
        if reference is None:
            message = "options: one of reference and gridFile is needed"
            raise CaseError(message, data={"known": ["reference", "gridFile"]})
        if not isinstance(reference, Reference):
            reference = Reference(reference, backend=options.get("backend", "auto"))
        self._reference = reference
        self._comm = comm
        self._tolerance = ratio("tolerance", options.get("tolerance", 1e-10))
        mesh = reference.mesh
        plane = _nodes(mesh)
        self._count = len(plane)
        wall = reference.wall
        self._same = _SAME * float(np.ptp(wall, axis=0).max())
        points = options.get("points")
        if points is None:
            cells = count("spanCells", options.get("spanCells", 1))
            span = float(options.get("span", 1.0))
            if not 0.0 < span < float("inf"):
                message = f"span: a length above 0 was expected, found {span}"
                raise CaseError(message, data={"name": "span", "value": span})
            heights = np.linspace(0.0, span, cells + 1)
            # Block after block, each plane after plane.
            sizes = [x.size for x, _ in mesh.blocks]
            blocks = np.split(np.arange(len(plane)), np.cumsum(sizes)[:-1])
            self._node = np.concatenate([np.tile(block, cells + 1) for block in blocks])
            self._z = np.concatenate([np.repeat(heights, size) for size in sizes])
        else:
            given = real_array("points", points, "(N, 3)", ndim=2, columns=3)
            self._node = _matched("points", given[:, :2], plane, self._same)
            self._z = np.array(given[:, 2])
        self._wall = wall
        # Both copies of a wall point that occurs twice are represented by the first.
        self._own = _matched("wall", wall, wall, self._same)
        self._moved: Moved = reference.unmoved()
        self._indices: NDArray[np.int64] | None = None
        # Number of the wall point of each surface node; empty until a surface is defined.
        self._of_surface: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._is_defined = False
        self._surface: NDArray[np.float64] = np.zeros((0, 3))
        self._before = np.zeros((0, 3))
        self._derivative: NDArray[np.float64] = np.zeros((0, 3))

    # The methods that solvers call have the names of IDWarp.
    def setExternalMeshIndices(self, ind: ArrayLike) -> None:  # noqa: N802
        """Set the coordinates of the whole grid that the solver owns on this rank.

        Coordinates are counted from 0: node k has 3 k, 3 k + 1 and 3 k + 2.
        """
        import numpy as np

        indices = np.asarray(ind, dtype=np.int64).ravel()
        if indices.size and not (indices.min() >= 0 and indices.max() < 3 * len(self._node)):
            message = f"ind: coordinates from 0 to {3 * len(self._node) - 1} were expected"
            raise CaseError(message, "spanCells and span are to be those of the solver's grid")
        self._indices = indices

    def setSurfaceDefinition(  # noqa: N802
        self,
        pts: ArrayLike,
        conn: ArrayLike | None = None,  # noqa: ARG002 (the wall is known)
        faceSizes: ArrayLike | None = None,  # noqa: ARG002, N803
        cgnsBlockID: ArrayLike | None = None,  # noqa: ARG002, N803
    ) -> None:
        """Set the surface nodes that the solver owns on this rank, (N, 3): wall points in any plane."""
        import numpy as np

        points = real_array("pts", pts, "(N, 3)", ndim=2, columns=3)
        node = _matched("pts", points[:, :2], self._wall, self._same)
        self._of_surface = self._own[node]
        self._is_defined = True
        self._surface = np.array(points)
        self._before = np.array(points)
        self._derivative = np.zeros_like(self._surface)

    def getSurfaceCoordinates(self) -> NDArray[np.float64]:  # noqa: N802
        """Return the current surface nodes, (N, 3)."""
        self._defined()
        surface: NDArray[np.float64] = self._surface.copy()
        return surface

    def setSurfaceCoordinates(self, coordinates: ArrayLike) -> None:  # noqa: N802
        """Set the positions of the surface nodes, (N, 3) or flat."""
        import numpy as np

        self._defined()
        given = np.asarray(coordinates, dtype=float).reshape(-1, 3)
        if given.shape != self._surface.shape:
            message = f"coordinates: {len(self._surface)} surface nodes were expected, found {len(given)}"
            raise GeometryError(message)
        self._surface = np.array(given)

    def warpMesh(self) -> None:  # noqa: N802
        """Move the grid to the surface."""
        import numpy as np

        self._defined()
        wall = self._wall + self._averaged(self._surface - self._before)
        # There is only one section: planes that differ cannot be represented.
        apart = np.abs(self._surface[:, :2] - wall[self._of_surface])
        if apart.size and apart.max() > max(self._same, 1e-6 * np.abs(self._surface).max()):
            message = f"the section differs by {apart.max():.1e} along the span"
            raise GeometryError(message, "move all planes alike: the mesh is one section, extruded")
        self._moved = self._reference.move_to(wall)

    def getSolverGrid(self) -> NDArray[np.float64]:  # noqa: N802
        """Return the solver's coordinates on this rank, flat, in the order of `setExternalMeshIndices`."""
        grid = self.getCommonGrid()
        return grid if self._indices is None else grid[self._indices]

    def getCommonGrid(self) -> NDArray[np.float64]:  # noqa: N802
        """Return the coordinates of the whole grid, flat."""
        import numpy as np

        return np.column_stack([_nodes(self._moved)[self._node], self._z]).ravel()

    def getWarpGrid(self) -> NDArray[np.float64]:  # noqa: N802
        """Return the coordinates of the whole grid, flat; there is no separate numbering for warping."""
        return self.getCommonGrid()

    def warpDeriv(self, dXv: ArrayLike, solverVec: bool = True) -> None:  # noqa: FBT001, FBT002, N802, N803
        """Transform derivatives by the grid to derivatives by the surface, which `getdXs` returns.

        Parameters
        ----------
        dXv : array_like
            dJ/d(coordinates), in the order of `getSolverGrid`, or of `getCommonGrid` with ``solverVec =
            False``.
        solverVec : bool
            The order of `dXv`.
        """
        import numpy as np

        self._defined()
        given = np.asarray(dXv, dtype=float).ravel()
        common = np.zeros(3 * len(self._node))
        if solverVec and self._indices is not None:
            np.add.at(common, self._indices, given)
        else:
            common += given
        every = np.zeros((self._count, 2))
        np.add.at(every, self._node, common.reshape(-1, 3)[:, :2])
        every = self._sum(every)
        count = self._moved.shape[0] * self._moved.shape[1]
        nodes = every[:count].reshape(*self._moved.shape, 2)
        behind = self._moved.behind
        if behind is not None:
            nodes = nodes + self._reference.gather_behind(every[count:].reshape(*behind[0].shape, 2))
        wall, _ = self._moved.adjoint(nodes, tolerance=self._tolerance)
        own = np.zeros_like(wall)
        np.add.at(own, self._own, wall)
        self._derivative = np.zeros_like(self._surface)
        self._derivative[:, :2] = (own / self._copies()[:, None])[self._of_surface]

    def getdXs(self) -> NDArray[np.float64]:  # noqa: N802
        """Return the derivatives computed by `warpDeriv`, (N, 3)."""
        derivative: NDArray[np.float64] = self._derivative.copy()
        return derivative

    def warpDerivFwd(self, dXs: ArrayLike, solverVec: bool = True) -> NDArray[np.float64]:  # noqa: FBT001, FBT002, N802, N803
        """Return the displacement of the grid for a displacement of the surface nodes, (N, 3) or flat."""
        import numpy as np

        self._defined()
        displacement = np.asarray(dXs, dtype=float).reshape(-1, 3)
        nodes = self._moved.derivative(self._averaged(displacement), tolerance=self._tolerance)
        # The blocks around a blade stay.
        every = np.zeros((self._count, 2))
        every[: nodes.size // 2] = nodes.reshape(-1, 2)
        if self._moved.behind is not None:
            every[nodes.size // 2 :] = self._reference.displacement_behind(nodes).reshape(-1, 2)
        common = np.zeros((len(self._node), 3))
        common[:, :2] = every[self._node]
        flat = common.ravel()
        return flat[self._indices] if solverVec and self._indices is not None else flat

    def writeGrid(self, fileName: str) -> None:  # noqa: N802, N803
        """Write the current plane grid in the format given by the file name."""
        self._moved.write(fileName)

    @property
    def moved(self) -> Moved:
        """The grid of the last `warpMesh`, with its quality, counts and verdict."""
        return self._moved

    def _defined(self) -> None:
        """Define all wall points in all planes as the surface, if none was set."""
        import numpy as np

        if not self._is_defined:
            planes = np.unique(self._z)
            points = np.tile(self._wall, (len(planes), 1))
            self.setSurfaceDefinition(np.column_stack([points, np.repeat(planes, len(self._wall))]))

    def _sum(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum over the ranks."""
        if self._comm is None or self._comm.size == 1:
            return values
        total: NDArray[np.float64] = sum(self._comm.allgather(values))
        return total

    def _copies(self) -> NDArray[np.float64]:
        """Return the number of surface nodes of each wall point, over all ranks."""
        import numpy as np

        copies = np.zeros(len(self._wall))
        np.add.at(copies, self._of_surface, 1.0)
        return np.maximum(self._sum(copies), 1.0)

    def _averaged(self, displacement: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the displacement of the wall points, each the mean over its surface nodes."""
        import numpy as np

        wall = np.zeros_like(self._wall)
        np.add.at(wall, self._of_surface, displacement[:, :2])
        averaged: NDArray[np.float64] = (self._sum(wall) / self._copies()[:, None])[self._own]
        return averaged


def _nodes(mesh: Mesh) -> NDArray[np.float64]:
    """Return the nodes of all blocks, (N, 2)."""
    import numpy as np

    blocks = [[np.asarray(coordinate).ravel() for coordinate in block] for block in mesh.blocks]
    return np.concatenate([np.stack(block, axis=1) for block in blocks])


def _matched(
    name: str, points: NDArray[np.float64], places: NDArray[np.float64], same: float
) -> NDArray[np.int64]:
    """Return for each point the number of the first place that coincides with it."""
    import numpy as np

    # The places are hashed into a lattice wider than `same`; neighbouring cells are searched too.
    width = 4.0 * same
    cells: dict[tuple[int, int], list[int]] = {}
    for k, (a, b) in enumerate(np.floor(places / width).astype(np.int64).tolist()):
        cells.setdefault((a, b), []).append(k)
    found = np.full(len(points), -1, dtype=np.int64)
    shifts = [(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1)]
    for k, (a, b) in enumerate(np.floor(points / width).astype(np.int64).tolist()):
        near = [place for da, db in shifts for place in cells.get((a + da, b + db), ())]
        if near:
            off = np.abs(places[near] - points[k]).max(axis=1)
            # The smallest index is taken if several places coincide.
            close = [place for place, by in zip(near, off.tolist(), strict=True) if by <= same]
            if close:
                found[k] = min(close)
    missing = np.flatnonzero(found < 0)
    if missing.size:
        k = int(missing[0])
        place = tuple(float(c) for c in points[k])
        message = f"{name}: {missing.size} points are not of the reference, the first is {k} at {place}"
        raise GeometryError(message, "give points of the grid as the reference has them")
    return found
