"""Sparse linear systems."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import _core
from ._support import count, device_list, log_notes, optional_count, real_array
from .errors import MatrixError, NotConverged

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ._results import SystemReport

__all__ = ["solve"]


def solve(
    A: Any,  # noqa: N803 (the name of a matrix)
    b: ArrayLike,
    *,
    method: str = "bicgstab",
    preconditioner: str = "dilu",
    tolerance: float = 1e-8,
    max_iterations: int = 10_000,
    restart: int = 30,
    shift: float = 0.0,
    schedule: str = "auto",
    format: str = "csr",  # noqa: A002 (as the command calls it)
    reorder: str = "none",
    backend: str = "auto",
    devices: int | Sequence[int] | None = None,
    threads: int | None = None,
) -> tuple[NDArray[np.float64], SystemReport]:
    """Solve the sparse linear system A x = b.

    Parameters
    ----------
    A : sparse array or matrix, or array_like, (n, n)
        A real matrix of scipy.sparse in any format, or any other object with ``tocsr()``. The zeros of a
        dense array are dropped. If necessary it is converted to CSR with 64-bit indices and float64 values.
    b : array_like, (n,)
        Right-hand side, real.
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

    Returns
    -------
    x : ndarray, (n,)
        The solution, float64.
    report : SystemReport
        Facts about the matrix, iterations, residuals, seconds.

    Raises
    ------
    MatrixError
        If A is not square or not real, b does not match it, or the method is not applicable.
    NotConverged
        If the residual did not reach the tolerance; ``data["x"]`` and ``data["report"]`` have the last
        result.
    CaseError
        If an option does not have such a value.
    DeviceError
        If the requested device cannot be used.
    """
    import numpy as np

    indptr, indices, data, columns = _csr(A)
    right_side = np.ascontiguousarray(real_array("b", b, "(n,)", ndim=1, error=MatrixError))
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
    x, text = _core.solve(
        indptr,
        indices,
        data,
        columns,
        right_side,
        options,
        backend=backend,
        devices=device_list(devices),
        threads=optional_count("threads", threads),
    )
    report: SystemReport = json.loads(text)
    log_notes(report["notes"])
    if not report["converged"]:
        message = f"the system is not solved: {report['stop_reason']}"
        raise NotConverged(message, _remedy(report, max_iterations), data={"x": x, "report": report})
    return x, report


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
    if report["iterations"] >= max_iterations:
        way = "allow more max_iterations, or use another preconditioner or method"
    elif report["matrix"]["empty_rows"]:
        way = "the matrix has empty rows and is singular"
    elif report["method"]["solver"] == "cg":
        way = "use method bicgstab or gmres"
    else:
        way = "use method gmres with a larger restart, another preconditioner, or a larger tolerance"
    return f"{way}. The residual of x is {report['true_relative_residual'] or float('nan'):.2e} of b"
