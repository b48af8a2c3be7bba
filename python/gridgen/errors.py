"""The exceptions of gridgen, all derived from `GridgenError`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._assembly import Assembly
    from ._grid import Grid
    from ._movement import Moved

__all__ = [
    "CaseError",
    "DeviceError",
    "FileError",
    "GeometryError",
    "GridgenError",
    "MatrixError",
    "NotConverged",
]


class GridgenError(Exception):
    """Any error of gridgen, and the class of errors without a more specific one.

    Errors can be pickled, and so be sent from one process to another.

    Attributes
    ----------
    message : str
        The problem, in one sentence.
    hint : str or None
        Advice for correcting it, if there is more to say than the message does.
    exit_code : int
        Exit code of the command `gridgen` for the same error: 1 if there is no good result, 2 for bad input
        and for files, 3 for a device.
    data : dict
        The parts of the message as values, such as names of keys, values found and expected, lines of files.
    """

    message: str
    hint: str | None
    exit_code: int
    data: dict[str, Any]

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        exit_code: int = 2,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.data = dict(data or {})

    def __str__(self) -> str:
        """Return the message and, on a second line, the hint, as the command prints them."""
        return self.message if self.hint is None else f"{self.message}\nhint: {self.hint}"


class CaseError(GridgenError, ValueError):
    """Arguments or a case file cannot be used as written."""


class GeometryError(GridgenError, ValueError):
    """The section cannot be meshed, for example because the contour crosses itself."""


class NotConverged(GridgenError):  # noqa: N818 (it says what happened)
    """The result is not good: a grid not converged, folded or beyond a limit, or a system not solved.

    Attributes
    ----------
    grid : Grid, Assembly, Moved or None
        The last grid, with its history and report; None for a linear system.
    data : dict
        For a grid ``kind``, the kind of its verdict; for a linear system the last ``x``, and ``report``.
    """

    grid: Grid | Assembly | Moved | None

    def __init__(
        self,
        message: str,
        hint: str | None = None,
        exit_code: int = 1,
        data: Mapping[str, Any] | None = None,
        *,
        grid: Grid | Assembly | Moved | None = None,
    ) -> None:
        super().__init__(message, hint, exit_code, data)
        self.grid = grid

    def __reduce__(self) -> tuple[type[NotConverged], tuple[str], dict[str, Any]]:
        """Pickle the attributes, the grid among them."""
        return type(self), (self.message,), self.__dict__


class DeviceError(GridgenError, RuntimeError):
    """The requested device cannot be used: it is missing, it has too little memory, or its driver failed."""


class FileError(GridgenError):
    """A file cannot be read or written."""


class MatrixError(GridgenError, ValueError):
    """A linear system cannot be solved with these options."""
