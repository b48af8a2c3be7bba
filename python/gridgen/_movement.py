"""Grids that move with their wall, and their derivatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from ._device import DeviceArray, is_on_gpu
from ._grid import Mesh
from ._results import Verdict
from ._support import device_list, path_text, ratio, real_array
from .errors import CaseError, NotConverged

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = ["Moved", "Reference"]


class Reference:
    """A grid from which others are moved: the same equations and first cells for other wall points.

    The moved grid is one smooth function of the wall points. It does not depend on the path by which they
    came where they are, and those of the reference give the reference.

    Parameters
    ----------
    source : Grid, Mesh or path
        A grid of `make`, with its own equations; any mesh of an O-grid, a C-grid or half a grid, whose
        equations are
        those that its nodes solve; ``reference.grd`` of a case with ``output.reference = true``, or the file
        of a
        mesh. Within one optimisation take one of them: they are different maps.
    settings : mapping, optional
        Keys of ``[newton]``, ``[linear]``, ``[multigrid]`` and ``[quality]`` for a mesh:
        ``{"newton.tolerance":
        1e-9}``. Others have those of their case.
    backend : {"auto", "cpu", "cuda"}
        Where to compute; ``"auto"`` takes a GPU if there is one and the grid is large enough to be faster
        there. Grids that are moved on one GPU stay there: `Moved.x` is a `DeviceArray`.
    devices : int or sequence of int, optional
        GPUs by number; several share the grid in bands.

    Raises
    ------
    NotConverged
        Where the source is no good grid.
    GeometryError
        Where a mesh does not run around a body.
    FileError
        Where a file cannot be read.
    """

    __slots__ = ("__weakref__", "_native")

    _native: _core.NativeReference

    def __init__(
        self,
        source: Mesh | str | os.PathLike[str],
        *,
        settings: Mapping[str, Any] | None = None,
        backend: str = "auto",
        devices: int | Sequence[int] | None = None,
    ) -> None:
        options = [(key, _text(value)) for key, value in (settings or {}).items()]
        where = backend, device_list(devices)
        if isinstance(source, Mesh):
            self._native = _core.reference_of(source._native, options, *where)
        else:
            self._native = _core.read_reference(path_text(source), options, *where)

    def __repr__(self) -> str:
        return f"<gridgen.Reference, {len(self.wall)} wall points>"

    @property
    def wall(self) -> NDArray[np.float64]:
        """The wall points, (n, 2), in the unit of the chord.

        Of an O-grid the last repeats the first, of a C-grid the edge is there twice, and those of half a
        grid run
        from one end on its plane of symmetry to the other.
        """
        return self._native.wall()

    @property
    def mesh(self) -> Mesh:
        """The grid itself."""
        return Mesh._of(self._native.grid())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the reference to a file, which `Reference` reads.

        Raises
        ------
        FileError
            Where the file cannot be written.
        """
        self._native.write(path_text(path))

    def unmoved(self) -> Moved:
        """Give the grid as a movement by nothing, with its derivatives."""
        return Moved._from(self._native.unmoved())

    def move_to(self, wall: ArrayLike) -> Moved:
        """Move the grid to other wall points.

        Parameters
        ----------
        wall : array_like, (n, 2)
            As many points as `wall` has and in its order, where they are now; of a reference on one GPU an
            array there, too.

        Raises
        ------
        NotConverged
            Where there is no good grid, after up to 16 parts of the movement; its ``grid`` is the `Moved` as
            it is.
        GeometryError
            Where these are no such points, or the wall crosses or touches itself.
        """
        if is_on_gpu(wall):
            points = self._native.points_of("wall", wall)
        else:
            points = _pairs("wall", real_array("wall", wall, "(n, 2)", ndim=2))
        moved = Moved._from(self._native.move_to(points))
        verdict = moved.verdict
        if not verdict.good:
            hint = "move the wall less at a time, or make the grid anew"
            raise NotConverged(verdict.reason, hint, data={"kind": verdict.kind}, grid=moved)
        return moved


class Moved(Mesh):
    """A moved grid, with its derivatives by the wall points and by the heights of the first cells."""

    __slots__ = ("_moved",)

    _moved: _core.NativeMoved

    def __init__(self) -> None:
        message = "a Moved is what Reference.move_to returns"
        raise TypeError(message)

    @classmethod
    def _from(cls, moved: _core.NativeMoved) -> Moved:
        mesh = cls.__new__(cls)
        mesh._moved = moved
        mesh._adopt(moved.grid())
        return mesh

    @property
    def verdict(self) -> Verdict:
        """Whether the grid may be used, and if not why."""
        return Verdict(*self._moved.verdict())

    @property
    def worn(self) -> str | None:
        """Why a fresh grid would be better, where the movement has cost the grid much of its quality."""
        return self._moved.worn()

    @property
    def newton_iterations(self) -> int:
        """Newton steps of all parts."""
        return self._moved.counts()[0]

    @property
    def linear_iterations(self) -> float:
        """Linear iterations of all parts."""
        return self._moved.counts()[1]

    @property
    def parts(self) -> int:
        """Into how many parts the movement was cut; one where it went in one go."""
        return self._moved.counts()[2]

    def derivative(
        self, wall: ArrayLike, heights: ArrayLike | None = None, *, tolerance: float = 1e-10
    ) -> NDArray[np.float64]:
        """Give the displacement of the nodes, (nj, ni, 2), for one of the wall points.

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
            Where these are not as many as the wall points.
        CaseError
            Where a number is not finite, or the tolerance is none.
        NotConverged
            Where the residual is not reached, or the grid is not good.
        """
        nodes, _, _ = self._moved.derivative(*_displacement(wall, heights), ratio("tolerance", tolerance))
        return nodes.reshape(*self.shape, 2)

    def device_derivative(
        self, wall: ArrayLike, heights: ArrayLike | None = None, *, tolerance: float = 1e-10
    ) -> tuple[DeviceArray, DeviceArray]:
        """Give the displacements in x and in y, (nj, ni) each, of the nodes of a grid on one GPU, left there.

        Parameters and errors are those of `derivative`.

        Raises
        ------
        CaseError
            Where the grid is not on one GPU.
        """
        nodes, _, _ = self._moved.derivative_on_gpu(
            *_displacement(wall, heights), ratio("tolerance", tolerance)
        )
        x, y = (DeviceArray(nodes, axis, nodes.dlpack_device()) for axis in (0, 1))
        return x, y

    def adjoint(
        self, nodes: ArrayLike, *, tolerance: float = 1e-10
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Give the derivatives of a function by wall points and by heights from those by the nodes.

        A node that the mesh has twice, on a seam or a cut, counts twice; a wall point that is there twice
        has its
        derivative in two parts.

        Parameters
        ----------
        nodes : array_like, (nj, ni, 2)
            dJ/dx and dJ/dy of each node; of a grid on one GPU an array there, too, of float64 and any
            strides, which is read where it lies.
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
            Where the nodes have another shape, a number is not finite, or the tolerance is none.
        NotConverged
            Where the residual is not reached, or the grid is not good.
        """
        if is_on_gpu(nodes):
            wall, heights, _, _ = self._moved.adjoint_on_gpu(nodes, ratio("tolerance", tolerance))
            return wall, heights
        given = real_array("nodes", nodes, "(nj, ni, 2)", ndim=3)
        shape = (*self.shape, 2)
        if given.shape != shape:
            message = f"nodes: an array of shape {shape} was expected, found {given.shape}"
            raise CaseError(message, data={"name": "nodes", "shape": given.shape})
        wall, heights, _, _ = self._moved.adjoint(given.reshape(-1, 2), ratio("tolerance", tolerance))
        return wall, heights


def _pairs(name: str, array: NDArray[np.float64]) -> NDArray[np.float64]:
    if array.shape[1] != 2:
        message = f"{name}: an array of shape (n, 2) was expected, found {array.shape}"
        raise CaseError(message, data={"name": name, "shape": array.shape})
    return array


def _displacement(
    wall: ArrayLike, heights: ArrayLike | None
) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    given = _pairs("wall", real_array("wall", wall, "(n, 2)", ndim=2))
    return given, None if heights is None else real_array("heights", heights, "(n,)", ndim=1)


def _text(value: Any) -> str:
    """Give a value as TOML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)
