"""Helpers of several modules: checks of arrays and counts, optional packages, notes."""

from __future__ import annotations

import contextlib
import operator
import os
import sys
from typing import TYPE_CHECKING, Any

from .errors import CaseError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from .errors import GridgenError


class Immutable:
    """An object that never changes, and so is its own copy."""

    __slots__ = ()

    def __copy__(self) -> Self:
        """Return the object itself."""
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        """Return the object itself."""
        return self


def packaged_libraries() -> list[str]:
    """Return the folders of NVIDIA's packages from PyPI in this interpreter, ``nvidia/*/lib``."""
    folders = []
    for place in sys.path:
        with contextlib.suppress(OSError), os.scandir(os.path.join(place, "nvidia")) as packages:  # noqa: PTH118 (importing pathlib takes longer than the search)
            folders += [os.path.join(package.path, "lib") for package in packages]  # noqa: PTH118
    return folders


def real_array(
    name: str,
    value: Any,
    shape: str,
    *,
    ndim: int | tuple[int, ...],
    columns: int | None = None,
    error: type[GridgenError] = CaseError,
) -> NDArray[np.float64]:
    """Return an array of real numbers as aligned float64, with this many of them along its last axis.

    An array that meets this already, in any memory order, is not copied. `name` and `shape` are for messages.
    """
    import numpy as np

    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        message = f"{name}: an array of shape {shape} was expected, found rows of different lengths"
        raise error(message, data={"name": name}) from None
    data = {"name": name, "shape": array.shape, "dtype": str(array.dtype)}
    fits = array.ndim in (ndim if isinstance(ndim, tuple) else (ndim,))
    if not fits or columns not in (None, array.shape[-1]):
        message = f"{name}: an array of shape {shape} was expected, found {array.shape}"
        raise error(message, data=data)
    # Booleans and text would convert to numbers too, but are never intended as such.
    if array.dtype.kind not in "fiu":
        hint = f"convert it: {name}.astype(float)" if array.dtype.kind in "bOSU" else None
        raise error(f"{name}: real numbers were expected, found {array.dtype}", hint, data=data)
    return np.require(array, np.float64, "A")


def xy_arrays(x: ArrayLike, y: ArrayLike) -> list[NDArray[np.float64]]:
    """Return coordinates of nodes, two arrays (nj, ni) of one shape."""
    both = [real_array(name, value, "(nj, ni)", ndim=2) for name, value in (("x", x), ("y", y))]
    if both[0].shape != both[1].shape:
        message = f"y: an array of the shape of x was expected, {both[0].shape}, found {both[1].shape}"
        raise CaseError(message, data={"name": "y", "shape": both[1].shape})
    return both


def settings_text(settings: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Return the keys of settings with their values in the notation of TOML."""
    return [
        (key, str(value).lower() if isinstance(value, bool) else str(value))
        for key, value in (settings or {}).items()
    ]


def count(name: str, value: Any, least: int = 1) -> int:
    """Return an integer that is at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        message = f"{name}: an integer of at least {least} was expected, found {value!r}"
        raise CaseError(message, data={"name": name, "value": value})
    return number


def flag(name: str, value: Any) -> bool:
    """Return a boolean, from one of Python or NumPy."""
    if isinstance(value, bool) or str(getattr(value, "dtype", None)) == "bool":
        return bool(value)
    message = f"{name}: True or False was expected, found {value!r}"
    raise CaseError(message, data={"name": name, "value": value})


def unicode_text(name: str, text: str) -> str:
    """Return text that has no lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        message = f"{name}: text in Unicode was expected, found {text!r}"
        raise CaseError(message, data={"name": name, "value": text}) from None
    return text


def ratio(name: str, value: Any) -> float:
    """Return a number between 0 and 1, both excluded."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = 0.0
    if not 0.0 < number < 1.0:
        message = f"{name}: a number between 0 and 1 was expected, found {value!r}"
        raise CaseError(message, data={"name": name, "value": value})
    return number


def optional_count(name: str, value: Any) -> int | None:
    """Return an integer of at least 1, or None."""
    return None if value is None else count(name, value)


def device_list(devices: int | Sequence[int] | None) -> list[int] | None:
    """Return the numbers of GPUs as a list, also for a single number."""
    if devices is None:
        return None
    several = [devices] if hasattr(devices, "__index__") else devices
    return [count("devices", device, least=0) for device in several]


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text."""
    return os.fsdecode(path)


def optional_import(module: str, extra: str) -> Any:
    """Import a package that gridgen does not require; the error says how to install it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        message = f"{package} cannot be imported ({error}): pip install 'gridgen[{extra}]'"
        raise ImportError(message, name=package) from error


def log_notes(notes: Iterable[str]) -> None:
    """Log notes about repairs and choices."""
    # Importing it here saves a third of the time to import gridgen; users of logging import it anyway.
    import logging

    logger = logging.getLogger("gridgen")
    for note in notes:
        logger.info("%s", note)
