"""Meshes and grids: coordinates, measures, files and pictures."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from . import _core
from ._device import DeviceArray
from ._results import NewtonStep, Quality, Report, Verdict
from ._support import Immutable, count, flag, log_notes, optional_count, optional_import, path_text, xy_arrays
from .errors import CaseError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable
    from pathlib import Path

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from .typing import CellMeasure, Compression, Topology, View

__all__ = ["Grid", "Mesh", "Plot3d", "quality", "read"]

_T = TypeVar("_T")


class Plot3d(TypedDict, total=False):
    """Layout of a Plot3D file: the keys ``output.plot3d_…`` of a case, without the prefix ``plot3d_``."""

    dimensions: int
    encoding: str
    precision: str
    byte_order: str
    block_count: bool
    blanking: bool
    axes: str


class Mesh(Immutable):
    """A plane structured mesh around a body.

    i runs clockwise around the body, j outward; the wall is on j = 0. Arrays of nodes are (nj, ni), arrays of
    cells (nj - 1, ni - 1). The first and the last column of an O-grid are both the seam.

    Parameters
    ----------
    x, y : array_like, (nj, ni)
        Coordinates of the nodes. They are copied. If necessary, i and j are exchanged or reversed so that the
        directions are as described above; `notes` reports it.

    Raises
    ------
    CaseError
        If the arrays do not have these shapes or types.
    """

    __slots__ = ("__weakref__", "_known", "_native")

    _native: _core.NativeGrid
    _known: dict[str, Any]

    def __init__(self, x: ArrayLike, y: ArrayLike) -> None:
        import numpy as np

        both = xy_arrays(x, y)
        for name, array in zip(("x", "y"), both, strict=True):
            # The orientation of the mesh follows from these lines; inner nodes may be NaN.
            border = array[:1], array[-1:], array[:, :1], array[:, -1:]
            if not all(np.isfinite(lines).all() for lines in border):
                message = f"{name}: finite numbers were expected on the border"
                raise CaseError(message, data={"name": name})
        self._adopt(_core.from_points(*map(np.ascontiguousarray, both)))

    @classmethod
    def _of(cls, native: _core.NativeGrid) -> Self:
        mesh = cls.__new__(cls)
        mesh._adopt(native)
        return mesh

    def _adopt(self, native: _core.NativeGrid) -> None:
        self._native = native
        self._known = {}
        log_notes(native.notes)

    def _once(self, name: str, compute: Callable[[], _T]) -> _T:
        """Compute a value at its first use. If two threads compute it at once, they get the same value."""
        if name not in self._known:
            self._known[name] = compute()
        value: _T = self._known[name]
        return value

    def __repr__(self) -> str:
        return f"<gridgen.{type(self).__name__} {self._native.ni} x {self._native.nj}, {self.topology}>"

    # `Any` is the array on a GPU, so that type checkers do not demand a check for it at each use of a grid.
    @property
    def x(self) -> NDArray[np.float64] | Any:
        """Coordinates x of the nodes, (nj, ni), in the unit of the chord.

        They are a read-only view of the mesh's memory. A grid that was made on a GPU has a `DeviceArray`.
        """
        return self._coordinate(0)

    @property
    def y(self) -> NDArray[np.float64] | Any:
        """Coordinates y of the nodes, (nj, ni), like `x`."""
        return self._coordinate(1)

    @property
    def behind(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        """Coordinates x and y of the block behind the base of a C-grid, each (nj, ni); ``None`` without one.

        i runs from the base to the outflow, j from the lower interface to the upper one, whose nodes are
        those of the grid.
        """
        others = self._native.others
        return (others[0][0], others[0][1]) if len(others) == 1 else None

    @property
    def blocks(self) -> list[tuple[NDArray[np.float64] | Any, NDArray[np.float64] | Any]]:
        """Coordinates x and y of each block, each (nj, ni).

        The first is the mesh itself. It is followed by the block behind a base, or by those of a cascade: the
        passage from blade to blade, and the strips ahead and behind.
        """
        return [(self.x, self.y), *((x, y) for x, y in self._native.others)]

    def _coordinate(self, axis: int) -> NDArray[np.float64] | DeviceArray:
        device = self._native.dlpack_device()
        if device is not None:
            return DeviceArray(self._native, axis, device)
        return self._native.y if axis else self._native.x

    @property
    def shape(self) -> tuple[int, int]:
        """(nj, ni): numbers of nodes from wall to far field, and around the body."""
        return self._native.nj, self._native.ni

    @property
    def topology(self) -> Topology:
        """``"O"``, ``"C"``, or ``"half"`` for half an O-grid."""
        return self._native.topology

    @property
    def wall(self) -> tuple[int, int]:
        """First and last i of the wall on the line j = 0, both included."""
        return self._native.wall

    @property
    def notes(self) -> list[str]:
        """Notes about repairs and choices, one sentence each."""
        return self._native.notes

    @property
    def quality(self) -> Quality:
        """Measures of the mesh."""
        return self._once("quality", lambda: Quality._of(json.loads(self._native.quality())))

    @property
    def cell_area(self) -> NDArray[np.float64]:
        """Area of the cells, (nj - 1, ni - 1), unit of the chord squared; negative for inverted cells."""
        return self._cells("area")

    @property
    def skewness(self) -> NDArray[np.float64]:
        """Equiangle skewness of the cells, (nj - 1, ni - 1), from 0 to 1; above 1 if not convex."""
        return self._cells("skewness")

    @property
    def aspect_ratio(self) -> NDArray[np.float64]:
        """Longest over shortest edge of the cells, (nj - 1, ni - 1)."""
        return self._cells("aspect_ratio")

    @property
    def nonorthogonality(self) -> NDArray[np.float64]:
        """Largest non-orthogonality of the faces of each cell, (nj - 1, ni - 1), degrees.

        The non-orthogonality of a face is the angle between its normal and the line between its cells'
        centroids.
        """
        return self._cells("nonorthogonality")

    @property
    def min_jacobian(self) -> NDArray[np.float64]:
        """Smallest corner determinant e_i x e_j of the cells, (nj - 1, ni - 1); positive unless folded."""
        return self._cells("determinant")

    def _cells(self, measure: str) -> NDArray[np.float64]:
        def compute() -> NDArray[np.float64]:
            values = self._native.cells(measure)
            # The array is cached and shared by all callers.
            values.setflags(write=False)
            return values

        return self._once(measure, compute)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        span_cells: int | None = None,
        span: float | None = None,
        plot3d: Plot3d | None = None,
        compression: Compression | None = None,
        curved_order: int | None = None,
    ) -> None:
        """Write the mesh in the format given by the end of the file name.

        Parameters
        ----------
        path : path
            ``.vts``, ``.vtk``, ``.p3d`` (``.xyz``, ``.x``, ``.fmt``), ``.su2``, ``.cgns``, ``.msh``. A name
            without an extension is a folder, in which OpenFOAM's ``constant/polyMesh`` is written; a whole
            OpenFOAM case is written by `make` with ``output`` and ``formats=["openfoam"]``.
        force : bool
            Replace an OpenFOAM mesh or a neutral map file that gridgen did not write.
        span_cells : int, optional
            Cells over the span of an extruded mesh, 0 for a plane one; by default that of the case, else 0.
        span : float, optional
            Span of an extruded mesh in chords; by default that of the case, otherwise 1.
        plot3d : dict, optional
            Layout of Plot3D: ``dimensions``, ``encoding``, ``precision``, ``byte_order``, ``block_count``,
            ``blanking``, ``axes``; by default those of the case.
        compression : {"none", "zlib"}, optional
            Compression of ``.vts``; by default that of the case, otherwise none.
        curved_order : int, optional
            Order of the cells of ``.msh``, 1 to 4: each consists of that many cells of the mesh in each
            direction. By default that of the case, otherwise 1.

        Raises
        ------
        FileError
            If the file cannot be written, no format has such a name, or curved cells are folded or cannot be
            made from the number of cells.
        """
        notes = self._native.write(
            path_text(path),
            force=flag("force", force),
            span_cells=None if span_cells is None else count("span_cells", span_cells, least=0),
            span=span,
            plot3d=None if plot3d is None else dict(plot3d),
            compression=compression,
            curved_order=optional_count("curved_order", curved_order),
        )
        log_notes(notes)

    def to_pyvista(self) -> Any:
        """Return the mesh as a `pyvista.StructuredGrid` with area, skewness and aspect ratio of the cells.

        Raises
        ------
        ImportError
            Without PyVista: ``pip install 'gridgen[pyvista]'``.
        """
        pyvista = optional_import("pyvista", "pyvista")
        import numpy as np

        # In VTK i varies fastest; PyVista expects arrays (ni, nj) in Fortran order.
        x, y = (np.asarray(coordinate).T for coordinate in (self.x, self.y))
        mesh = pyvista.StructuredGrid(x, y, np.zeros_like(x))
        for name, values in (
            ("area", self.cell_area),
            ("skewness", self.skewness),
            ("aspect_ratio", self.aspect_ratio),
        ):
            mesh.cell_data[name] = values.ravel()
        return mesh

    def plot(
        self,
        ax: Any = None,
        *,
        view: View = "body",
        color: CellMeasure | ArrayLike | None = None,
        **lines: Any,
    ) -> Any:
        """Draw the grid lines with matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Axes to draw in; by default those of a new figure, with equal scales.
        view : {"body", "leading-edge", "trailing-edge", "wake", "far-field"}
            The part that is shown; only C-grids have a wake. The limits of the axes are set to it.
        color : str or array_like, (nj - 1, ni - 1), optional
            A measure of the cells to show in colours: ``"skewness"``, ``"aspect_ratio"``,
            ``"nonorthogonality"``, ``"cell_area"``, ``"min_jacobian"``, or values of your own. The scale is
            that of the cells shown, logarithmic for aspect ratios and areas.
        **lines
            Properties of `matplotlib.collections.LineCollection`.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        CaseError
            If there is no such view or measure.
        ImportError
            Without matplotlib: ``pip install 'gridgen[plot]'``.
        """
        from ._pictures import draw

        return draw(self, ax, view, color, lines)

    def show(
        self,
        *,
        view: View = "body",
        color: CellMeasure | ArrayLike | None = None,
        before: Mesh | None = None,
    ) -> None:
        """Show the mesh: in a notebook in the viewer of ``report.html``, elsewhere by `plot` in a window.

        The window is open until it is closed. Colours that are an array are drawn by `plot` anywhere.

        Parameters
        ----------
        view, color
            See `plot`.
        before : Mesh, optional
            A mesh of the same size before it was moved, which the viewer shows in exchange.

        Raises
        ------
        CaseError, ImportError
            See `plot` and `html`.
        """
        from ._viewer import display, in_notebook

        if before is not None or (in_notebook() and (color is None or isinstance(color, str))):
            display(self.html(view=view, color=color, before=before))  # type: ignore[arg-type]
            return
        self.plot(view=view, color=color)
        optional_import("matplotlib.pyplot", "plot").show()

    def html(
        self, *, view: View = "body", color: CellMeasure | None = None, before: Mesh | None = None
    ) -> str:
        """Return a page with the viewer of the mesh, which needs no other file and no network.

        Parameters
        ----------
        view : View
            The part of the mesh that is shown first.
        color : CellMeasure, optional
            Measure that the cells are coloured by.
        before : Mesh, optional
            A mesh of the same size before it was moved, which the viewer shows in exchange.

        Raises
        ------
        CaseError
            For a view or a measure that there is not, or a mesh of another size.
        """
        from ._viewer import words

        old = None if before is None else before._native
        return self._native.page(*words(view, color), old)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: some measures, and a picture of the body."""
        from ._pictures import as_html

        return as_html(self, None, good=True)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the native mesh; one in the memory of a GPU becomes one on the host."""
        return _restored, (type(self), self._native)


def _restored(cls: type[Mesh], native: _core.NativeGrid) -> Mesh:
    """Return an unpickled mesh. Its notes are not logged again."""
    mesh = cls.__new__(cls)
    mesh._native = native
    mesh._known = {}
    return mesh


class Grid(Mesh):
    """A mesh made by `make`, with its verdict, report, history and case.

    A grid never changes. It can be pickled, and so be sent from one process to another.

    Attributes
    ----------
    x, y : ndarray, (nj, ni)
        Coordinates of the nodes, in the unit of the chord; for a grid made on a GPU a `DeviceArray`.
    behind : tuple of two ndarrays, or None
        Coordinates x and y of the block behind the base of a C-grid.
    blocks : list of tuples of two ndarrays
        Coordinates x and y of the grid and of the blocks beside it.
    shape : tuple of int
        (nj, ni).
    topology : {"O", "C", "half"}
        Topology.
    wall : tuple of int
        First and last i of the wall on the line j = 0.
    verdict : Verdict
        Whether the grid may be used, and if not why.
    quality : Quality
        Measures of the grid.
    cell_area, skewness, aspect_ratio, nonorthogonality, min_jacobian : ndarray, (nj - 1, ni - 1)
        Measures of the cells.
    history : list of NewtonStep
        The Newton steps.
    report : dict
        The contents of report.json.
    case : str
        The case in TOML with every default filled in.
    notes : list of str
        Notes about repairs and choices.
    files : list of Path
        The files written.
    """

    __slots__ = ()

    def __init__(self) -> None:
        message = "a Grid is what gridgen.make returns; gridgen.Mesh takes arrays"
        raise TypeError(message)

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, {self.verdict.kind}>"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the verdict, some measures, and a picture of the body."""
        from ._pictures import as_html

        verdict = self.verdict
        return as_html(self, verdict.reason, good=verdict.good)

    @property
    def verdict(self) -> Verdict:
        """Whether the grid may be used, and if not why."""
        return Verdict(*_made(self._native.verdict()))

    @property
    def report(self) -> Report:
        """The contents of report.json."""
        report: Report = self._once("report", lambda: json.loads(_made(self._native.report())))
        return report

    @property
    def history(self) -> list[NewtonStep]:
        """The Newton steps; the first entry is the initial state."""
        return self._once(
            "history",
            lambda: [NewtonStep._of(step) for step in json.loads(_made(self._native.history()))],
        )

    @property
    def case(self) -> str:
        """The case in TOML with every default filled in; it reproduces the same grid."""
        return _made(self._native.case())

    @property
    def files(self) -> list[Path]:
        """The files written, if `output` was given."""
        return self._native.files()


def _made(value: _T | None) -> _T:
    """Return a value that every grid made by gridgen has."""
    if value is None:
        message = "the mesh was not made by gridgen.make"
        raise TypeError(message)
    return value


def read(path: str | os.PathLike[str]) -> Mesh:
    """Read a mesh of one block.

    Parameters
    ----------
    path : path
        A Plot3D file in any layout, ``.vts`` as written by VTK and PyVista, legacy ``.vtk``, CGNS with one
        structured zone, Tecplot text with one ordered zone, ``.su2`` or the folder of an OpenFOAM case whose
        cells make one block in any order, or ``.msh`` whose quadrilaterals form rows. From an extruded mesh
        the plane is read.

    Returns
    -------
    Mesh
        Oriented so that i runs clockwise around the body and j outward.

    Raises
    ------
    FileError
        If it cannot be read; with the line number if the file has lines.
    """
    return Mesh._of(_core.read(path_text(path)))


def quality(x: ArrayLike, y: ArrayLike) -> Quality:
    """Measure a mesh given by its nodes.

    Parameters
    ----------
    x, y : array_like, (nj, ni)
        Coordinates of the nodes, as for `Mesh`.

    Returns
    -------
    Quality
        Lengths in the unit of x and y; the far field is measured from (0.5, 0).

    Raises
    ------
    CaseError
        If the arrays do not have these shapes or types.
    """
    return Mesh(x, y).quality
