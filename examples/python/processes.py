"""Grids made by several processes, by joblib.

python examples/python/processes.py [SECTIONS [PROCESSES]]

`gridgen.make_many` shares the processors between threads of one process, which is enough on one machine.
Processes are for programs that have them anyway: joblib here, Dask (`client.map(grid, cases)`), or a
DataLoader of PyTorch. Grids and errors can be pickled, so that they return as they are.
"""

import sys
import time

import joblib

import gridgen


def grid(case):
    """The grid of a case, or the error."""
    try:
        # A process has the processors to itself only if each uses one thread.
        return gridgen.make(case, threads=1, backend="cpu")
    except gridgen.GridgenError as error:
        return error


def main(sections=16, processes=2, **size):
    size = {"ni": 161, "nj": 65, "first_cell": 1e-5, **size}
    cases = [{"naca": f"{k % 5 + 1}4{6 + k % 19:02}", **size} for k in range(int(sections))]

    started = time.perf_counter()
    made = joblib.Parallel(n_jobs=int(processes))(joblib.delayed(grid)(case) for case in cases)
    seconds = time.perf_counter() - started

    good = [one for one in made if isinstance(one, gridgen.Grid)]
    worst = max(good, key=lambda grid: grid.quality.max_skewness)
    print(f"{len(good)} of {len(cases)} grids are good, in {seconds:.1f} s")
    print(f"the largest skewness is that of NACA {worst.report['geometry']['naca']}: {worst!r}")
    return made


if __name__ == "__main__":
    main(*sys.argv[1:3])
