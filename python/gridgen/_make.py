"""Makes grids: `make` makes one, `make_many` many."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Collection, Mapping, Sized
from typing import TYPE_CHECKING, Any

from . import _core
from ._grid import Grid
from ._keys import Keys
from ._results import NewtonStep
from ._signature import keywords_with, name_keywords
from ._support import device_list, flag, optional_count, optional_import, path_text, real_array, unicode_text
from .errors import CaseError, NotConverged

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Unpack

    from ._keys import Options
    from .typing import Backend

__all__ = ["Result", "make", "make_many"]

CaseLike = str | os.PathLike[str] | Mapping[str, Any]
Progress = bool | Callable[[NewtonStep], object]
OnEvent = Callable[[str, object], None]


def make(
    case: CaseLike | None = None,
    /,
    *,
    backend: Backend = "auto",
    devices: int | Sequence[int] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    output: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    force: bool = False,
    restart: str | os.PathLike[str] | None = None,
    **keys: Unpack[Keys],
) -> Grid:
    """Make a grid.

    Parameters
    ----------
    case : path or mapping, optional
        A case file, or keys and sections as nested mappings: ``{"geometry": {"naca": "2412"}}``.
    backend : {"auto", "cpu", "cuda"}
        Machine to compute on; ``"auto"`` takes an NVIDIA GPU if there is one and the grid is large enough to
        be faster on it.
    devices : int or sequence of int, optional
        GPUs to use, as numbered by ``gridgen devices``; several GPUs share the grid.
    threads : int, optional
        Threads to use on the CPU, all by default. Their number does not change a bit of the grid.
    progress : bool or callable, optional
        True shows a tqdm bar; a callable is called with each `NewtonStep`, in the calling thread. An
        exception in it ends the solve.
    output : path or mapping, optional
        A path is the folder for the files of the case: meshes, pictures, report. Without it nothing is
        written. A mapping is the section ``[output]`` of the case.
    force : bool
        Replace files in that folder that gridgen did not write.
    restart : path, optional
        Restart file of an interrupted run to continue.
    **keys
        Keys of a case, which replace those of `case`: by name if only one section has the name (``ni=257``),
        or by section (``grid={"ni": 257}``). docs/case-format.md lists them with ranges, units and defaults;
        lengths are in chords, angles in degrees. None means that a key is not given. ``points`` is your own
        section, an array (n, 2) of its points in order, from the trailing edge around the leading edge and
        back, beginning with either side.

    Returns
    -------
    Grid

    Raises
    ------
    CaseError
        If the case cannot be used as written: an unknown key, a value out of range.
    GeometryError
        If the section cannot be meshed.
    NotConverged
        If the grid is not good; the attribute `grid` of the exception is the grid.
    DeviceError
        If the requested device cannot be used.
    FileError
        If a file cannot be read or written.
    KeyboardInterrupt
        On Ctrl-C; the solve ends within a Newton step.

    Notes
    -----
    Other Python threads can run meanwhile, and make grids themselves.
    """
    section: Mapping[str, Any] = {}
    if isinstance(output, Mapping):
        section, output = {"output": output}, None
    with _shown(progress) as on_event:
        return _make(
            case,
            {**section, **keys},
            backend=backend,
            devices=device_list(devices),
            threads=optional_count("threads", threads),
            output=None if output is None else path_text(output),
            force=flag("force", force),
            restart=None if restart is None else path_text(restart),
            on_event=on_event,
        )


def _make(case: CaseLike | None, keys: Mapping[str, Any], **options: Any) -> Grid:
    """Make a grid with checked options."""
    grid = Grid._of(_core.make(_base(case), _given(keys), **options))
    verdict = grid.verdict
    if not verdict.good:
        raise NotConverged(verdict.reason, grid._native.hint(), data={"kind": verdict.kind}, grid=grid)
    return grid


def _given(keys: Mapping[str, Any]) -> list[tuple[str, object]]:
    """Return keys by their dotted names with their values, or raise the errors of all values at once."""
    errors: list[CaseError] = []
    values = list(_flat(keys, errors))
    if len(errors) > 1:
        message = "\n  ".join(
            [f"{len(errors)} errors", *(str(error).replace("\n", "\n    ") for error in errors)]
        )
        raise CaseError(message, data={"errors": [error.data for error in errors]})
    if errors:
        raise errors[0]
    return values


def _base(
    case: CaseLike | None, given: Callable[[Mapping[str, Any]], list[tuple[str, object]]] = _given
) -> str | list[tuple[str, object]] | None:
    """Return a case in a form that the native module accepts; `given` returns the keys of a mapping."""
    if case is None:
        return None
    return given(case) if isinstance(case, Mapping) else path_text(case)


def _flat(keys: Mapping[str, Any], errors: list[CaseError], within: str = "") -> Iterator[tuple[str, object]]:
    """Yield keys by their dotted names, with values that the native module accepts; others are errors."""
    for name, value in keys.items():
        if not isinstance(name, str):
            message = f"names of keys are text, found {name!r}"
            raise CaseError(message, data={"name": name})
        path = unicode_text("names of keys", within + name)
        if path == "element":
            message = "element: gridgen.make makes the grid of one section"
            hint = "gridgen.make_assembly makes those of several elements"
            raise CaseError(message, hint, data={"name": path})
        if isinstance(value, Mapping) and value and path.rsplit(".", 1)[-1] != "first_cell":
            yield from _flat(value, errors, f"{path}.")
        elif value is not None:
            try:
                yield path, _plain(path, value)
            except CaseError as error:
                errors.append(error)


def _plain(path: str, value: Any) -> object:
    """Convert a value to Python types, or points to an array."""
    name = path.rsplit(".", 1)[-1]
    if name in _LINES:
        return _points(path, value)
    if name == "first_cell" and not isinstance(value, str | bool | int | float):
        return _heights(path, value)
    # Convert NumPy scalars and arrays of words.
    if hasattr(value, "tolist") and getattr(value, "ndim", 2) < 2:
        value = value.tolist()
    if isinstance(value, tuple):
        value = list(value)
    # An empty mapping is a section with all defaults; it is passed on below.
    if isinstance(value, str | os.PathLike):
        return unicode_text(path, path_text(value))
    if isinstance(value, bool | int | float | Mapping):
        return value
    if isinstance(value, list) and value and all(isinstance(number, int | float) for number in value):
        return value
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        return [unicode_text(path, word) for word in value]
    if isinstance(value, list) and all(isinstance(item, Mapping) for item in value):
        return [{name: _plain(f"{path}.{name}", entry) for name, entry in item.items()} for item in value]
    message = f"{path}: a number, text, a path, a list of words or a mapping was expected, found {value!r}"
    raise CaseError(message, data={"name": path, "value": value})


# The names of points of a section or of an outer line.
_LINES = frozenset({"points", "floor_curve", "roof_curve"})


def _heights(path: str, value: Any) -> object:
    """Return heights along the wall, or those of each surface, as lists of numbers."""
    if isinstance(value, Mapping):
        return {name: _heights(f"{path}.{name}", points) for name, points in value.items()}
    try:
        import numpy as np

        return np.asarray(value, dtype=np.float64).tolist()
    except (TypeError, ValueError):
        message = f"{path}: a height, heights, or pairs (x/c, height) were expected, found {value!r}"
        raise CaseError(message, data={"name": path, "value": value}) from None


def _points(path: str, value: Any) -> NDArray[np.float64]:
    """Return the points of a section as float64; such an array is not copied."""
    points = real_array(path, value, "(n, 2)", ndim=2)
    if points.shape[1] != 2:
        hint = f"give them as columns: {path}.T" if points.shape[0] == 2 else None
        message = f"{path}: an array of shape (n, 2) was expected, found {points.shape}"
        raise CaseError(message, hint, data={"name": path, "shape": points.shape})
    return points


@contextlib.contextmanager
def _shown(progress: Progress | None) -> Iterator[OnEvent | None]:
    """Yield a callback for phases and Newton steps that reports them to `progress`."""
    if not progress:
        yield None
    elif callable(progress):

        def pass_on(kind: str, value: object) -> None:
            if kind == "newton":
                progress(_step(value))

        yield pass_on
    else:
        with optional_import("tqdm.auto", "progress").tqdm(unit=" Newton steps") as bar:

            def show(kind: str, value: object) -> None:
                if kind == "phase":
                    bar.set_description(str(value))
                else:
                    step = _step(value)
                    bar.set_postfix(residual=f"{step.residual:.1e}", refresh=False)
                    bar.update(min(step.step, 1))

            yield show


def _step(value: object) -> NewtonStep:
    return NewtonStep._of(json.loads(str(value)))


_KEYS = keywords_with(Keys.__annotations__)
name_keywords(make, _KEYS)


class Result:
    """The result of one of many cases: a grid, or the error of this case.

    Attributes
    ----------
    index : int
        Its number among the cases, counted from 0.
    case : path or mapping
        The case as passed to `make_many`.
    grid : Grid or None
        The grid, if it is good.
    error : Exception or None
        The error, if there is no good grid; a grid that is not good is `error.grid` of a `NotConverged`.
    """

    __slots__ = ("case", "error", "grid", "index")

    def __init__(self, index: int, case: CaseLike, grid: Grid | None, error: Exception | None) -> None:
        self.index = index
        self.case = case
        self.grid = grid
        self.error = error

    def __repr__(self) -> str:
        return f"<gridgen.Result {self.index}: {self.grid or repr(self.error)}>"


class _Folders:
    """The output folders in use, each with the first case that claimed it."""

    def __init__(self, output: object) -> None:
        self.written = output is not None and not isinstance(output, Mapping)
        self.taken: dict[str, tuple[int, CaseLike]] = {}

    def claim(self, index: int, case: CaseLike) -> tuple[int, CaseLike]:
        """Claim the folder of a case; return its owner, which is this case unless another was first."""
        # An object that is not a case is refused when its turn comes.
        if not self.written or not isinstance(case, Mapping | str | bytes | os.PathLike):
            return index, case
        return self.taken.setdefault(os.path.normcase(_folder(index, case)), (index, case))

    def check(self, owner: tuple[int, CaseLike], index: int, case: CaseLike) -> None:
        """Refuse a case whose folder belongs to another one."""
        if owner[0] != index:
            name = _folder(index, case)
            both = " and ".join(
                f"case {number}" if isinstance(one, Mapping) else path_text(one)
                for number, one in (owner, (index, case))
            )
            message = f"{both} are both named {name}"
            raise CaseError(message, "give each a name of its own", data={"name": name})


class _StoppedError(Exception):
    """Ends a solve after the batch has ended."""


def make_many(
    cases: Iterable[CaseLike],
    *,
    jobs: int | None = None,
    threads: int | None = None,
    ordered: bool = True,
    progress: bool = False,
    **common: Unpack[Options],
) -> Generator[Result, None, None]:
    """Make the grids of many cases lazily, several at a time.

    Cases are taken from `cases` as results are taken from the iterator. At most twice `jobs` cases are
    running or waiting to be taken, so neither all cases nor all grids need to fit in memory. Leaving the
    loop, closing the iterator and Ctrl-C end the running solves within a Newton step.

    Parameters
    ----------
    cases : iterable of path or mapping
        Case files, or keys as for `make`: ``{"naca": "2412", "ni": 257}``.
    jobs : int, optional
        Cases at a time; by default as many as the CPUs, or the GPUs, can run of cases like the first one.
        With 32 or more on each GPU, grids are solved together; each has the same bits as alone.
    threads : int, optional
        Threads on the CPU for each case; by default the CPUs divided by `jobs`.
    ordered : bool
        True yields results in the order of the cases, False as they complete.
    progress : bool
        Show a tqdm bar that counts cases.
    **common
        Arguments of `make` for all cases; keys replace those of the cases. Each case runs on one of several
        `devices`; GPUs stay open until the last case. In the folder `output` each case has its own folder,
        named by the file of the case, by its key ``name``, or by its number. No two cases may have the same
        folder: for a list this is checked before any grid is made, for an iterator it is the error of the
        later case.

    Yields
    ------
    Result
        One for each case. An error belongs to its case and does not end the others.

    Raises
    ------
    CaseError
        If `jobs`, `threads` or `devices` are not valid numbers, or two cases would have the same folder.
    """
    devices = device_list(common.pop("devices", None))
    jobs = optional_count("jobs", jobs)
    threads = optional_count("threads", threads)
    if isinstance(cases, Collection):
        folders = _Folders(common.get("output"))
        for index, case in enumerate(cases):
            folders.check(folders.claim(index, case), index, case)
    results = _results(cases, jobs=jobs, threads=threads, ordered=ordered, devices=devices, common=common)
    if not progress:
        return results
    return _counted(results, len(cases) if isinstance(cases, Sized) else None)


def _counted(results: Generator[Result, None, None], total: int | None) -> Generator[Result, None, None]:
    tqdm = optional_import("tqdm.auto", "progress").tqdm
    # Closes both the bar and the results, also if the caller leaves the loop.
    with contextlib.closing(results), tqdm(total=total, unit=" cases") as bar:
        for result in results:
            bar.update()
            yield result


def _results(
    cases: Iterable[CaseLike],
    *,
    jobs: int | None,
    threads: int | None,
    ordered: bool,
    devices: list[int] | None,
    common: Mapping[str, Any],
) -> Generator[Result, None, None]:
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
    from itertools import chain, islice
    from queue import SimpleQueue
    from threading import Event

    cases = iter(cases)
    first = list(islice(cases, 1))
    if jobs is None:
        jobs = _default_jobs(first, devices, common)
    if threads is None:
        threads = max(1, _cpus() // jobs)
    named = devices or []
    machines = _core.MachinePool(-(-jobs // max(1, len(named))))
    stop = Event()
    # If devices are named, each case takes one from this queue and puts it back.
    free: SimpleQueue[int] = SimpleQueue()
    for job in range(jobs if named else 0):
        free.put(named[job % len(named)])

    def check(_kind: str, _value: object) -> None:
        if stop.is_set():
            raise _StoppedError

    folders = _Folders(common.get("output"))

    def one(index: int, case: CaseLike, owner: tuple[int, CaseLike]) -> Result:
        if stop.is_set():
            raise _StoppedError
        device = free.get() if devices else None
        try:
            folders.check(owner, index, case)
            options = {**common, "threads": threads, "devices": device, "pool": machines}
            return Result(index, case, _one(index, case, check, options), None)
        except _StoppedError:
            raise
        except Exception as error:  # noqa: BLE001 (it is the result of this case)
            return Result(index, case, None, error)
        finally:
            if device is not None:
                free.put(device)

    pool = ThreadPoolExecutor(jobs, thread_name_prefix="gridgen")
    pending: list[Future[Result]] = []

    def next_result() -> Result:
        done = pending[0] if ordered else wait(pending, return_when=FIRST_COMPLETED).done.pop()
        pending.remove(done)
        return done.result()

    try:
        for index, case in enumerate(chain(first, cases)):
            pending.append(pool.submit(one, index, case, folders.claim(index, case)))
            if len(pending) >= 2 * jobs:
                yield next_result()
        while pending:
            yield next_result()
    finally:
        stop.set()
        pool.shutdown(cancel_futures=True)


# Arguments of `make` that are not keys, and their defaults.
_OPTIONS = {"backend": "auto", "force": False, "restart": None, "output": None}


def _default_jobs(first: list[CaseLike], devices: list[int] | None, common: Mapping[str, Any]) -> int:
    """Return how many cases like the first one are made at a time."""
    keys = {name: value for name, value in common.items() if name not in _OPTIONS}
    try:
        case = _base(first[0])
        return _core.default_jobs(case, _given(keys), common.get("backend", "auto"), devices)
    except Exception:  # noqa: BLE001 (there is no case, or it fails when its turn comes)
        return len(devices or ()) or _cpus()


def _one(index: int, case: CaseLike, on_event: OnEvent, options: Mapping[str, Any]) -> Grid:
    """Make the grid of one case among many."""
    given = {name: options.get(name, default) for name, default in _OPTIONS.items()}
    others = {*_OPTIONS, "threads", "devices", "pool"}
    keys = {name: value for name, value in options.items() if name not in others}
    output = given["output"]
    if isinstance(output, Mapping):
        keys["output"], given["output"] = output, None
    elif output is not None:
        given["output"] = os.path.join(path_text(output), _folder(index, case))  # noqa: PTH118 (text is passed on)
    return _make(
        case,
        keys,
        **{**given, "restart": given["restart"] and path_text(given["restart"])},
        threads=options["threads"],
        devices=device_list(options["devices"]),
        pool=options["pool"],
        on_event=on_event,
    )


def _folder(index: int, case: CaseLike) -> str:
    """Return the name of the folder of a case."""
    if isinstance(case, Mapping):
        name = case.get("name")
        return f"{index:06}" if name is None else str(name)
    return os.path.splitext(os.path.basename(path_text(case)))[0]  # noqa: PTH119, PTH122 (text is passed on)


def _cpus() -> int:
    """Return the number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
