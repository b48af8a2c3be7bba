"""Sparse linear systems by gridgen, SciPy and PyAMG: CPU seconds and iterations, as a table of Markdown.

python bench/linear_systems.py [POINTS]

The systems are a Poisson and a convection-diffusion equation on POINTS^3 points, 60 by default, with 7
entries a row and a random b, to a relative residual of 1e-8. Seconds are those of all threads, set-up
included, the least of three runs. PyAMG is left out if it is not installed.
"""

import sys
import time

import numpy as np
import scipy.sparse
import scipy.sparse.linalg as scipy_solvers

import gridgen

TOLERANCE = 1e-8


def operator(n, wind):
    """Seven-point differences on n^3 points, upwind for a convection of cell Peclet number `wind` along x."""
    line = scipy.sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    along = line + scipy.sparse.diags_array([-wind, wind], offsets=[-1, 0], shape=(n, n))
    one = scipy.sparse.eye_array(n)
    kron = scipy.sparse.kron
    return scipy.sparse.csr_array(
        kron(kron(along, one), one) + kron(kron(one, line), one) + kron(kron(one, one), line)
    )


def by_scipy(method, factors):
    def solve(a, b):
        steps = []
        preconditioner = None
        if factors:
            spilu = scipy_solvers.spilu(a.tocsc(), drop_tol=1e-3, fill_factor=5)
            preconditioner = scipy_solvers.LinearOperator(a.shape, spilu.solve)
        call = getattr(scipy_solvers, method)
        x, _ = call(a, b, rtol=TOLERANCE, maxiter=10_000, M=preconditioner, callback=steps.append)
        return x, len(steps)

    return solve


def by_pyamg(method, hierarchy):
    def solve(a, b):
        import pyamg

        steps = []
        levels = getattr(pyamg, hierarchy)(scipy.sparse.csr_matrix(a))
        x = levels.solve(b, tol=TOLERANCE, accel=method, maxiter=200, callback=steps.append)
        return x, len(steps)

    return solve


def by_gridgen(**options):
    def solve(a, b):
        x, report = gridgen.solve(a, b, tolerance=TOLERANCE, backend="cpu", **options)
        return x, report["iterations"]

    return solve


# Name, solver, and whether it is for symmetric matrices alone.
SOLVERS = [
    ("scipy `bicgstab`, `spilu(1e-3, 5)`", by_scipy("bicgstab", factors=True), False),
    ("scipy `bicgstab`", by_scipy("bicgstab", factors=False), False),
    ("scipy `cg`", by_scipy("cg", factors=False), True),
    ("PyAMG smoothed aggregation, `cg`", by_pyamg("cg", "smoothed_aggregation_solver"), True),
    ("gridgen `cg`, `ic0`", by_gridgen(method="cg", preconditioner="ic0"), True),
    ("gridgen `bicgstab`, `ilu0`", by_gridgen(preconditioner="ilu0"), False),
    ("gridgen `bicgstab`, `jacobi`", by_gridgen(preconditioner="jacobi"), False),
    ("gridgen `gmres`, `ilu0`", by_gridgen(method="gmres", preconditioner="ilu0"), False),
]


def measured(solve, a, b):
    """Least CPU seconds of three runs, iterations, and relative residual."""
    seconds = []
    for _ in range(3):
        started = time.process_time()
        x, iterations = solve(a, b)
        seconds.append(time.process_time() - started)
    residual = np.linalg.norm(b - a @ x) / np.linalg.norm(b)
    mark = "" if residual <= 1.1 * TOLERANCE else f", to {residual:.0e}"
    return f"{min(seconds):.2f} s, {iterations:g}{mark}"


def main(points=60):
    n = int(points)
    systems = [(operator(n, 0.0), True), (operator(n, 10.0), False)]
    b = np.random.default_rng(1).standard_normal(n**3)
    print(f"gridgen {gridgen.__version__}, scipy {scipy.__version__}, n = {n**3}\n")
    print("| CPU seconds, iterations | Poisson | convection-diffusion |\n| --- | --- | --- |")
    for name, solve, symmetric in SOLVERS:
        try:
            row = ["" if symmetric and not fits else measured(solve, a, b) for a, fits in systems]
        except ImportError:
            row = ["not installed"] * 2
        print(f"| {name} | {row[0]} | {row[1]} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:2])
