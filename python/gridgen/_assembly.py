"""Overset grids of several elements, made by `make_assembly`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _core
from ._make import _KEYS, CaseLike, Progress, _base, _given, _plain, _shown
from ._results import Verdict
from ._signature import name_keywords
from ._support import Immutable, device_list, flag, log_notes, optional_count, path_text, unicode_text
from ._viewer import display, words
from .errors import CaseError, NotConverged

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._keys import Keys
    from .typing import Backend, CellMeasure, View

__all__ = ["Assembly", "Finding", "Zone", "make_assembly"]


class Zone(NamedTuple):
    """A zone of an overset mesh: the grid of an element, or the background."""

    name: str
    """Name of the element, or ``"background"``."""
    x: NDArray[np.float64]
    """Coordinates x of the nodes of the placed element, (nj, ni), in the unit of the reference chord."""
    y: NDArray[np.float64]
    """Coordinates y of the nodes, like `x`."""
    overset: bool
    """True if its outermost cells are interpolated from other zones; otherwise it ends at the far field."""


class Finding(NamedTuple):
    """A problem of fit between the grids of several elements."""

    what: str
    """The problem, a clause with its numbers."""
    key: str
    """The key of the case that is responsible, for example ``"element.flap.grid.nj"``."""
    remedy: str
    """The remedy."""


class _Unpickled:
    """What an unpickled assembly has instead of a native one."""

    def __init__(self, verdict: Verdict, case: str, notes: list[str], files: list[Path]) -> None:
        self.verdict = lambda: tuple(verdict)
        self.case = lambda: case
        self.notes = notes
        self.files = lambda: files


class Assembly(Immutable):
    """The overset grids of placed elements, made by `make_assembly`. It never changes, and can be pickled."""

    __slots__ = ("__weakref__", "_native", "_report", "_zones")

    _native: _core.NativeAssembly
    _report: dict[str, Any] | None
    _zones: dict[str, Zone] | None

    def __init__(self) -> None:
        message = "an Assembly is what gridgen.make_assembly returns"
        raise TypeError(message)

    @classmethod
    def _of(cls, native: _core.NativeAssembly) -> Assembly:
        assembly = cls.__new__(cls)
        assembly._native = native
        assembly._report = assembly._zones = None
        log_notes(native.notes)
        return assembly

    def __repr__(self) -> str:
        names = ", ".join(self.zones)
        return f"<gridgen.Assembly {names}, {self.verdict.kind}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the values of all attributes."""
        return _restored, (self.zones, self.report, self.verdict, self.case, self.notes, self.files)

    @property
    def zones(self) -> dict[str, Zone]:
        """The zones by name: the background first, if there is one, then the elements in their order.

        Their arrays are read-only copies.
        """
        if self._zones is None:
            self._zones = {zone.name: zone for zone in self._read()}
        return dict(self._zones)

    def _read(self) -> Iterator[Zone]:
        for number, (name, overset) in enumerate(self._native.zones()):
            x, y = self._native.coordinates(number)
            for array in (x, y):
                array.setflags(write=False)
            yield Zone(name, x, y, overset)

    @property
    def verdict(self) -> Verdict:
        """Whether the grids may be used: the verdict on the worst of them."""
        return Verdict(*self._native.verdict())

    @property
    def report(self) -> dict[str, Any]:
        """The contents of report.json: each element under ``elements``, all together under ``overset``."""
        if self._report is None:
            self._report = json.loads(self._native.report())
        return self._report

    @property
    def findings(self) -> list[Finding]:
        """Problems of fit between the grids, with the keys to change."""
        return [Finding(**finding) for finding in self.report["overset"]["findings"]]

    @property
    def case(self) -> str:
        """The case in TOML with every default filled in; it reproduces the same grids."""
        return self._native.case()

    @property
    def notes(self) -> list[str]:
        """Notes about repairs and choices, one sentence each."""
        return self._native.notes

    def html(self, *, view: View = "body", color: CellMeasure | None = None) -> str:
        """Return a page with the viewer of all zones, which needs no other file and no network.

        Parameters
        ----------
        view : View
            The part that is shown first.
        color : CellMeasure, optional
            Measure that the cells are coloured by.

        Raises
        ------
        CaseError
            For a view or a measure that there is not, and an assembly that was unpickled.
        """
        if isinstance(self._native, _Unpickled):
            message = "the zones of an unpickled assembly cannot be shown in the viewer"
            raise CaseError(message, "make the assembly again")
        return self._native.page(*words(view, color))

    def show(self, *, view: View = "body", color: CellMeasure | None = None) -> None:
        """Show the zones in the viewer of ``report.html``: in a notebook, or elsewhere in the browser.

        Raises
        ------
        CaseError
            See `html`.
        """
        display(self.html(view=view, color=color))

    @property
    def files(self) -> list[Path]:
        """The files written, if `output` was given."""
        return self._native.files()


def _restored(zones: dict[str, Zone], report: dict[str, Any], *values: Any) -> Assembly:
    """Return an unpickled assembly. Its notes are not logged again."""
    for zone in zones.values():
        for array in (zone.x, zone.y):
            array.setflags(write=False)
    assembly = Assembly.__new__(Assembly)
    native: Any = _Unpickled(*values)
    assembly._native, assembly._report, assembly._zones = native, report, zones
    return assembly


def make_assembly(
    case: CaseLike | None = None,
    /,
    *,
    element: Sequence[Mapping[str, Any]] | None = None,
    background: Mapping[str, Any] | None = None,
    overset: Mapping[str, Any] | None = None,
    backend: Backend = "auto",
    devices: int | Sequence[int] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    output: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    strict: bool = False,
    **keys: Unpack[Keys],
) -> Assembly:
    """Make the overset grids of several elements, such as slat, main element and flap.

    Parameters
    ----------
    case : path or mapping, optional
        A case file with ``[[element]]``; or its keys and sections as nested mappings.
    element : sequence of mapping, optional
        The elements in order of priority, each a mapping of its keys and sections:
        ``{"name": "flap", "geometry": {"naca": "2412"}, "chord": 0.3, "at": [1.02, -0.02]}``.
    background, overset : mapping, optional
        The sections of these names; an empty mapping stands for a section with all defaults.
    backend, devices, threads, progress, output, force
        See `make`.
    strict : bool
        Treat problems of fit between the grids as errors.
    **keys
        Keys for all elements, as for `make`.

    Returns
    -------
    Assembly

    Raises
    ------
    CaseError
        If the case cannot be used as written.
    GeometryError
        If a section cannot be meshed, a rigging cannot be met by any placement, or walls cross.
    NotConverged
        If a grid is not good or, with `strict`, the grids do not fit; `error.grid` is the `Assembly`.
    DeviceError, FileError, KeyboardInterrupt
        See `make`.
    """
    sections: dict[str, Any] = {"background": background, "overset": overset}
    if isinstance(output, Mapping):
        sections["output"], output = output, None
    with _shown(progress) as on_event:
        made = _core.make_assembly(
            _base(case, _values),
            _values({"element": element, **sections, **keys}),
            backend=backend,
            devices=device_list(devices),
            threads=optional_count("threads", threads),
            output=None if output is None else path_text(output),
            force=flag("force", force),
            strict=flag("strict", strict),
            on_event=on_event,
        )
    assembly = Assembly._of(made)
    verdict = assembly.verdict
    if not verdict.good:
        raise NotConverged(verdict.reason, made.hint(), data={"kind": verdict.kind}, grid=assembly)
    return assembly


name_keywords(make_assembly, _KEYS)


def _values(keys: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return keys by their dotted names, and the elements as a list of tables."""
    elements = keys.get("element")
    values: list[tuple[str, object]] = []
    if elements is not None:
        if isinstance(elements, Mapping | str) or not all(isinstance(one, Mapping) for one in elements):
            message = f"element: a list of mappings was expected, found {elements!r}"
            raise CaseError(message, data={"name": "element", "value": elements})
        values = [("element", [_table(f"element[{number}]", one) for number, one in enumerate(elements)])]
    return values + _given({name: value for name, value in keys.items() if name != "element"})


def _table(path: str, keys: Mapping[str, Any]) -> dict[str, object]:
    """Convert the values of a mapping to types that the native module accepts."""
    table: dict[str, object] = {}
    for name, value in keys.items():
        within = unicode_text("names of keys", f"{path}.{name}")
        if isinstance(value, Mapping) and name != "first_cell":
            table[name] = _table(within, value)
        elif value is not None:
            table[name] = _plain(within, value)
    return table
