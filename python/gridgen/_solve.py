"""Sparse linear systems."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _core
from ._signature import keywords_of, name_keywords
from ._support import count, device_list, log_notes, optional_count, real_array
from .errors import MatrixError, NotConverged

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from ._results import SystemReport
    from .typing import Backend, Method, Preconditioner, Reordering, Schedule, SolverOptions, Storage

__all__ = ["LinearSolver", "solve"]


class LinearSolver:
    """A matrix with its preconditioner, which is made once for many right-hand sides.

        >>> solver = gridgen.LinearSolver(A, method="cg", preconditioner="ic0")
        >>> x, report = solver.solve(b)

    On several GPUs the preconditioner is made for each call of `solve`: give it many right-hand sides at a
    time.
    A solver belongs to its process: it cannot be pickled.

    Parameters
    ----------
    A : sparse array or matrix, or array_like, (n, n)
        A real matrix of scipy.sparse in any format, or any other object with ``tocsr()``. The zeros of a
        dense array are dropped. If necessary it is converted to CSR with 64-bit indices and float64 values.
        Later changes of A are not seen.
    method : {"bicgstab", "gmres", "cg"}
        Krylov method; ``"cg"`` for symmetric positive definite matrices.
    preconditioner : {"dilu", "ilu0", "dic", "ic0", "jacobi", "none"}
        ``"dic"`` and ``"ic0"`` for symmetric matrices.
    tolerance : float
        Relative residual, norm(b - A x)/norm(b), to reach; between 0 and 1.
    max_iterations : int
        Largest number of iterations.
    restart : int
        Iterations of GMRES between restarts, 1 to 1000.
    shift : float
        Factorise A + shift diag(A), for matrices with a pivot that vanishes or changes sign.
    schedule : {"auto", "levels", "sync-free", "colours", "tiles"}
        Order in which the rows of the factors are processed.
    format : {"csr", "ell"}
        Storage of A in products.
    reorder : {"none", "rcm"}
        Renumbering; ``"rcm"`` is reverse Cuthill-McKee. x is numbered like A.
    backend : {"auto", "cpu", "cuda"}
        Machine to compute on.
    devices : int or sequence of int, optional
        GPUs to use; each of several gets a block of rows.
    threads : int, optional
        Threads to use on the CPU, all by default.

    Raises
    ------
    MatrixError
        If A is not square or not real, or the method is not applicable.
    CaseError
        If an option does not have such a value.
    DeviceError
        If the requested device cannot be used.
    """

    __slots__ = ("__weakref__", "_max_iterations", "_native", "_rows")

    def __init__(
        self,
        A: Any,  # noqa: N803 (the name of a matrix)
        *,
        method: Method = "bicgstab",
        preconditioner: Preconditioner = "dilu",
        tolerance: float = 1e-8,
        max_iterations: int = 10_000,
        restart: int = 30,
        shift: float = 0.0,
        schedule: Schedule = "auto",
        format: Storage = "csr",  # noqa: A002 (as the command calls it)
        reorder: Reordering = "none",
        backend: Backend = "auto",
        devices: int | Sequence[int] | None = None,
        threads: int | None = None,
    ) -> None:
        indptr, indices, data, columns = _csr(A)
        options: list[tuple[str, object]] = [
            ("method", method),
            ("preconditioner", preconditioner),
            ("tolerance", float(tolerance)),
            ("max_iterations", count("max_iterations", max_iterations)),
            ("restart", count("restart", restart)),
            ("format", format),
            ("reorder", reorder),
        ]
        # The native module refuses these two options for preconditioners that are not factors.
        if shift:
            options.append(("shift", float(shift)))
        if schedule != "auto":
            options.append(("schedule", schedule))
        self._rows = len(indptr) - 1
        self._max_iterations = max_iterations
        self._native = _core.NativeSolver(
            indptr,
            indices,
            data,
            columns,
            options,
            backend=backend,
            devices=device_list(devices),
            threads=optional_count("threads", threads),
        )

    def __repr__(self) -> str:
        return f"<gridgen.LinearSolver, {self._rows} rows>"

    def solve(
        self,
        b: ArrayLike,
        x0: ArrayLike | None = None,
        *,
        callback: Callable[[float, float], object] | None = None,
    ) -> tuple[NDArray[np.float64], SystemReport]:
        """Solve A x = b.

        Parameters
        ----------
        b : array_like, (n,) or (n, k)
            Right-hand side, real; or several as columns, which are solved one after the other.
        x0 : array_like, of the shape of b, optional
            Where to start from, 0 by default.
        callback : callable, optional
            It is called with the number of each iteration and its relative residual, for each column from
            1 on, in the calling thread. An exception in it ends the solve.

        Returns
        -------
        x : ndarray, of the shape of b
            The solution, float64.
        report : SystemReport
            Facts about the matrix, iterations, residuals, seconds. ``report["columns"]`` has the result of
            each of several columns; the residuals beside it describe the worst, and the iterations are
            summed. The first report has the seconds of the preconditioner.

        Raises
        ------
        MatrixError
            If b or x0 do not match the matrix, or are not real.
        NotConverged
            If a residual did not reach the tolerance; ``data["x"]`` and ``data["report"]`` have the last
            result.
        """
        import numpy as np

        sides = real_array("b", b, "(n,) or (n, k)", ndim=(1, 2), error=MatrixError)
        if sides.size == 0 and sides.ndim == 2 and self._rows:
            message = f"b: an array of shape (n,) or (n, k) was expected, found {sides.shape}"
            raise MatrixError(message, data={"name": "b", "shape": sides.shape})
        start = None
        if x0 is not None:
            start = real_array("x0", x0, str(sides.shape), ndim=sides.ndim, error=MatrixError)
            if start.shape != sides.shape:
                message = f"x0: an array of the shape of b was expected, {sides.shape}, found {start.shape}"
                raise MatrixError(message, data={"name": "x0", "shape": start.shape})
            start = np.atleast_2d(start.T)
        columns, text = self._native.solve(np.atleast_2d(sides.T), start, callback)
        # The native module has a row for each right-hand side.
        x = columns[0] if sides.ndim == 1 else np.ascontiguousarray(columns.T)
        report: SystemReport = json.loads(text)
        log_notes(report["notes"])
        if not report["converged"]:
            message = f"the system is not solved: {report['stop_reason']}"
            raise NotConverged(
                message, _remedy(report, self._max_iterations), data={"x": x, "report": report}
            )
        return x, report


def solve(
    A: Any,  # noqa: N803 (the name of a matrix)
    b: ArrayLike,
    x0: ArrayLike | None = None,
    *,
    callback: Callable[[float, float], object] | None = None,
    **options: Unpack[SolverOptions],
) -> tuple[NDArray[np.float64], SystemReport]:
    """Solve the sparse linear system A x = b.

    It is ``LinearSolver(A, **options).solve(b, x0, callback=callback)``; with the same matrix again, keep the
    solver.

    Parameters
    ----------
    A, **options
        See `LinearSolver`.
    b, x0, callback
        See `LinearSolver.solve`.

    Returns
    -------
    x : ndarray, of the shape of b
        The solution, float64.
    report : SystemReport
        Facts about the matrix, iterations, residuals, seconds.

    Raises
    ------
    MatrixError, NotConverged, CaseError, DeviceError
        See `LinearSolver` and `LinearSolver.solve`.
    """
    return LinearSolver(A, **options).solve(b, x0, callback=callback)


name_keywords(solve, keywords_of(LinearSolver))


def _csr(
    matrix: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], int]:
    """Return row pointers, columns and values of a matrix, and the number of its columns."""
    import numpy as np

    if not hasattr(matrix, "tocsr"):
        dense = real_array("A", matrix, "(n, n)", ndim=2, error=MatrixError)
        rows, indices = np.nonzero(dense)
        ends = np.cumsum(np.bincount(rows, minlength=dense.shape[0]))
        indptr = np.concatenate([[0], ends]).astype(np.int64)
        return indptr, indices.astype(np.int64, copy=False), dense[rows, indices], dense.shape[1]
    if len(matrix.shape) != 2:
        message = f"A: a matrix of shape (n, n) was expected, found {matrix.shape}"
        raise MatrixError(message, data={"name": "A", "shape": matrix.shape})
    csr = matrix.tocsr()
    values = np.ascontiguousarray(real_array("A", csr.data, "(entries,)", ndim=1, error=MatrixError))
    pattern = (np.require(part, np.int64, ["C", "A"]) for part in (csr.indptr, csr.indices))
    return (*pattern, values, csr.shape[1])


def _remedy(report: SystemReport, max_iterations: int) -> str:
    """Return a remedy for a solve that stopped before it had converged."""
    worst = max([column["iterations"] for column in report.get("columns", [])] or [report["iterations"]])
    if worst >= max_iterations:
        way = "allow more max_iterations, or use another preconditioner or method"
    elif report["matrix"]["empty_rows"]:
        way = "the matrix has empty rows and is singular"
    elif report["method"]["solver"] == "cg":
        way = "use method bicgstab or gmres"
    else:
        way = "use method gmres with a larger restart, another preconditioner, or a larger tolerance"
    return f"{way}. The residual of x is {report['true_relative_residual'] or float('nan'):.2e} of b"
