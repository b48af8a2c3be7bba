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
        One of scipy.sparse in any format, or anything else with ``tocsr()``; real. Of a dense array the zeros
        are left out. It is converted to CSR with 64-bit indices and float64 where it is not that.
    b : array_like, (n,)
        Right side, real.
    method : {"bicgstab", "gmres", "cg"}
        Krylov method; ``"cg"`` for symmetric positive definite matrices.
    preconditioner : {"dilu", "ilu0", "dic", "ic0", "jacobi", "none"}
        ``"dic"`` and ``"ic0"`` for symmetric matrices.
    tolerance : float
        Relative residual, norm(b - A x)/norm(b), to reach; between 0 and 1.
    max_iterations : int
        Limit of iterations.
    restart : int
        Iterations of GMRES between restarts, 1 to 1000.
    shift : float
        Factors of A + shift diag(A), where a pivot vanishes or changes sign.
    schedule : {"auto", "levels", "sync-free", "colours", "tiles"}
        Order in which the rows of the factors are worked on.
    format : {"csr", "ell"}
        How A is stored for products.
    reorder : {"none", "rcm"}
        Renumbering, ``"rcm"`` being reverse Cuthill-McKee; x is numbered as A is.
    backend : {"auto", "cpu", "cuda"}
        Where to compute.
    devices : int or sequence of int, optional
        GPUs to use; several have a block of rows each.
    threads : int, optional
        Threads to use on the CPU, all by default.

    Returns
    -------
    x : ndarray, (n,)
        The solution, float64.
    report : SystemReport
        Facts of the matrix, iterations, residuals, seconds.

    Raises
    ------
    MatrixError
        Where A is not square or not real, b does not belong to it, or a method does not suit it.
    NotConverged
        Where the residual did not reach the tolerance; ``data["x"]`` and ``data["report"]`` say what it has.
    CaseError
        Where an option has no such value.
    DeviceError
        Where the requested device cannot be used.
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
    # Those are for factors alone, and refused without.
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
    """Give row pointers, columns and values of a matrix, and the number of its columns."""
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
    """Say how to go on after a solve that stopped short."""
    if report["iterations"] >= max_iterations:
        way = "allow more max_iterations, or use another preconditioner or method"
    elif report["matrix"]["empty_rows"]:
        way = "the matrix has empty rows and is singular"
    elif report["method"]["solver"] == "cg":
        way = "use method bicgstab or gmres"
    else:
        way = "use method gmres with a larger restart, another preconditioner, or a larger tolerance"
    return f"{way}. The residual of x is {report['true_relative_residual'] or float('nan'):.2e} of b"
