"""Grids that move with their wall, and their derivatives."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from . import _core
from ._device import DeviceArray, is_on_gpu
from ._grid import Mesh
from ._results import Verdict
from ._support import Immutable, device_list, path_text, ratio, real_array, settings_text
from .errors import CaseError, NotConverged

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from .typing import Backend

__all__ = ["Moved", "Reference"]


class Reference(Immutable):
    """A grid that can be moved: the same equations and first cells, for other wall points.

    The moved grid is a smooth function of the wall points. It does not depend on the path of the movement,
    and the wall points of the reference give the reference itself.

    Parameters
    ----------
    source : Grid, Mesh or path
        A grid made by `make`, with its own equations; any mesh that is an O-grid, a C-grid or half a grid,
        with equations that its nodes solve; ``reference.grd`` of a case with ``output.reference = true``; or
        the file of a mesh. Use the same one throughout an optimisation, since they are different maps. Of a
        cascade the O-grid around the blade moves, and the other blocks stay; the block behind a base moves
        with the grid around it.
    settings : mapping, optional
        Keys of ``[newton]``, ``[linear]``, ``[multigrid]`` and ``[quality]`` for a mesh, such as
        ``{"newton.tolerance": 1e-9}``. Other sources use the settings of their case.
    backend : {"auto", "cpu", "cuda"}
        Machine to compute on; ``"auto"`` takes a GPU if there is one and the grid is large enough to be
        faster there. Grids moved on one GPU stay in its memory: `Moved.x` is a `DeviceArray`.
    devices : int or sequence of int, optional
        GPUs by number; several share the grid in bands.

    Raises
    ------
    NotConverged
        If the source is not a good grid.
    GeometryError
        If a mesh does not surround a body, or the section of a pickled grid has changed since.
    FileError
        If a file cannot be read.
    """

    __slots__ = ("__weakref__", "_native", "_where")

    _native: _core.NativeReference
    _where: tuple[Backend, list[int] | None]

    def __init__(
        self,
        source: Mesh | str | os.PathLike[str],
        *,
        settings: Mapping[str, Any] | None = None,
        backend: Backend = "auto",
        devices: int | Sequence[int] | None = None,
    ) -> None:
        options = settings_text(settings)
        self._where = backend, device_list(devices)
        if isinstance(source, Mesh):
            self._native = _core.reference_of(source._native, options, *self._where)
        else:
            self._native = _core.read_reference(path_text(source), options, *self._where)

    def __repr__(self) -> str:
        return f"<gridgen.Reference, {len(self.wall)} wall points>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of the file of the reference; the same kind of machine is opened by the reader."""
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "reference.grd")  # noqa: PTH118 (importing pathlib takes long)
            self.write(path)
            with open(path, "rb") as file:  # noqa: PTH123
                return _reference, (file.read(), *self._where)

    @property
    def wall(self) -> NDArray[np.float64]:
        """The wall points, (n, 2), in the unit of the chord.

        On an O-grid the last point repeats the first. On a C-grid the trailing edge occurs twice. On half a
        grid the points run from one end on the plane of symmetry to the other.
        """
        return self._native.wall()

    @property
    def mesh(self) -> Mesh:
        """The grid itself."""
        return Mesh._of(self._native.grid())

    def displacement_behind(self, nodes: ArrayLike) -> NDArray[np.float64]:
        """Return the displacement of the nodes of the block behind a base.

        It is linear in the displacement of the grid: each node of the block keeps its share of the way from
        one interface to the other.

        Parameters
        ----------
        nodes : array_like, (nj, ni, 2)
            Displacement of the nodes of the grid, as `Moved.derivative` returns it.

        Returns
        -------
        ndarray, (nj of the block, ni of the block, 2)

        Raises
        ------
        CaseError
            If the array has another shape, or there is no block behind a base.
        """
        given = real_array("nodes", nodes, "(nj, ni, 2)", ndim=3, columns=2)
        nj, ni, found = self._native.displacement_behind(given.reshape(-1, 2), given.shape[:2])
        return found.reshape(nj, ni, 2)

    def gather_behind(self, block: ArrayLike) -> NDArray[np.float64]:
        """Return derivatives by the nodes of the grid from those by the nodes of the block behind a base.

        It is the transpose of `displacement_behind`: add the result to the derivatives by the nodes of the
        grid before `Moved.adjoint`.

        Parameters
        ----------
        block : array_like, (nj of the block, ni of the block, 2)
            dJ/dx and dJ/dy of each node of the block.

        Returns
        -------
        ndarray, (nj, ni, 2)

        Raises
        ------
        CaseError
            If the array has another shape, or there is no block behind a base.
        """
        given = real_array("block", block, "(nj, ni, 2)", ndim=3, columns=2)
        nj, ni, found = self._native.gather_behind(given.reshape(-1, 2), given.shape[:2])
        return found.reshape(nj, ni, 2)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the reference to a file, which `Reference` reads.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        self._native.write(path_text(path))

    def unmoved(self) -> Moved:
        """Return the unmoved grid as a `Moved`, which has derivatives."""
        return Moved._from(self._native.move_to(None), self, None)

    def move_to(self, wall: ArrayLike) -> Moved:
        """Move the grid to other wall points.

        Parameters
        ----------
        wall : array_like, (n, 2)
            The new positions of the points of `Reference.wall`, in the same order. For a reference on one GPU
            an array on that GPU is accepted too.

        Raises
        ------
        NotConverged
            If there is no good grid, even with the movement divided into 16 parts; its ``grid`` is the last
            `Moved`.
        GeometryError
            If the points do not match, or the wall crosses or touches itself.
        """
        if is_on_gpu(wall):
            points = self._native.points_of("wall", wall)
        else:
            points = real_array("wall", wall, "(n, 2)", ndim=2, columns=2)
        moved = Moved._from(self._native.move_to(points), self, points)
        verdict = moved.verdict
        if not verdict.good:
            hint = "move the wall less at a time, or make the grid anew"
            raise NotConverged(verdict.reason, hint, data={"kind": verdict.kind}, grid=moved)
        return moved


def _reference(content: bytes, *where: Any) -> Reference:
    """Return an unpickled reference."""
    reference = Reference.__new__(Reference)
    reference._native = _core.reference_in(content, *where)
    reference._where = where
    return reference


class Moved(Mesh):
    """A moved grid, with derivatives with respect to the wall points and the heights of the first cells.

    It is pickled as its reference and its wall points, and moved again by the reader: send ``x`` and ``y`` if
    only they are needed. Of a cascade ``x``, ``y`` and the arrays of derivatives are those of the O-grid
    around the blade; the other `blocks` have no derivatives, since they stay. Behind a base they are those of
    the grid around it; `Reference.displacement_behind` and `gather_behind` have those of the block.
    """

    __slots__ = ("_moved", "_origin")

    _moved: _core.NativeMoved
    _origin: tuple[Reference, NDArray[np.float64] | None]

    def __init__(self) -> None:
        message = "a Moved is what Reference.move_to returns"
        raise TypeError(message)

    @classmethod
    def _from(cls, moved: _core.NativeMoved, reference: Reference, wall: NDArray[np.float64] | None) -> Moved:
        mesh = cls.__new__(cls)
        mesh._moved = moved
        mesh._origin = reference, None if wall is None else wall.copy()
        mesh._adopt(moved.grid())
        return mesh

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the reference and the wall points."""
        return _moved_again, self._origin

    @property
    def verdict(self) -> Verdict:
        """Whether the grid may be used, and if not why."""
        return Verdict(*self._moved.facts()[0])

    @property
    def worn(self) -> str | None:
        """The reason for making a new grid, if the movement has reduced the quality much; otherwise None."""
        return self._moved.facts()[2]

    @property
    def newton_iterations(self) -> int:
        """Newton steps of all parts."""
        return self._moved.facts()[1][0]

    @property
    def linear_iterations(self) -> float:
        """Linear iterations of all parts."""
        return self._moved.facts()[1][1]

    @property
    def parts(self) -> int:
        """Number of parts of the movement; one if it was made in a single step."""
        return self._moved.facts()[1][2]

    def derivative(
        self, wall: ArrayLike, heights: ArrayLike | None = None, *, tolerance: float = 1e-10
    ) -> NDArray[np.float64]:
        """Return the displacement of the nodes, (nj, ni, 2), for a displacement of the wall points.

        Parameters
        ----------
        wall : array_like, (n, 2)
            Displacement of the wall points.
        heights : array_like, (n,), optional
            Change of the heights of the first cells.
        tolerance : float
            Relative residual of the linear solve, between 0 and 1.

        Raises
        ------
        GeometryError
            If the numbers do not match the wall points.
        CaseError
            If a number is not finite, or the tolerance is not between 0 and 1.
        NotConverged
            If the residual is not reached, or the grid is not good.
        """
        nodes = self._moved.derivative(*_displacement(wall, heights), ratio("tolerance", tolerance))
        return nodes.reshape(*self.shape, 2)

    def device_derivative(
        self, wall: ArrayLike, heights: ArrayLike | None = None, *, tolerance: float = 1e-10
    ) -> tuple[DeviceArray, DeviceArray]:
        """Return the displacements of the nodes in x and y, (nj, ni) each, in the memory of the GPU.

        Parameters and exceptions are as for `derivative`.

        Raises
        ------
        CaseError
            If the grid is not on one GPU.
        """
        nodes = self._moved.derivative_on_gpu(*_displacement(wall, heights), ratio("tolerance", tolerance))
        x, y = (DeviceArray(nodes, axis, nodes.dlpack_device()) for axis in (0, 1))
        return x, y

    def adjoint(
        self, nodes: ArrayLike, *, tolerance: float = 1e-10
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the derivatives of a function by wall points and heights, given those by the nodes.

        A node that occurs twice in the mesh, on a seam or a cut, counts twice. The derivative by a wall point
        that occurs twice is the sum of two entries.

        Parameters
        ----------
        nodes : array_like, (nj, ni, 2)
            dJ/dx and dJ/dy of each node. For a grid on one GPU a float64 array on that GPU with any strides
            is accepted too, and read without a copy.
        tolerance : float
            Relative residual of the linear solve, between 0 and 1.

        Returns
        -------
        wall : ndarray, (n, 2)
            dJ/d(wall points).
        heights : ndarray, (n,)
            dJ/d(heights of the first cells).

        Raises
        ------
        CaseError
            If the nodes have another shape, a number is not finite, or the tolerance is not between 0 and 1.
        NotConverged
            If the residual is not reached, or the grid is not good.
        """
        if is_on_gpu(nodes):
            return self._moved.adjoint_on_gpu(nodes, ratio("tolerance", tolerance))
        given = real_array("nodes", nodes, "(nj, ni, 2)", ndim=3)
        shape = (*self.shape, 2)
        if given.shape != shape:
            message = f"nodes: an array of shape {shape} was expected, found {given.shape}"
            raise CaseError(message, data={"name": "nodes", "shape": given.shape})
        return self._moved.adjoint(given.reshape(-1, 2), ratio("tolerance", tolerance))


def _moved_again(reference: Reference, wall: NDArray[np.float64] | None) -> Moved:
    """Return an unpickled moved grid; one that is not good, too."""
    return Moved._from(reference._native.move_to(wall), reference, wall)


def _displacement(
    wall: ArrayLike, heights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    given = real_array("wall", wall, "(n, 2)", ndim=2, columns=2)
    return given, None if heights is None else real_array("heights", heights, "(n,)", ndim=1)
