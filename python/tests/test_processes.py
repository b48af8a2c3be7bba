"""Threads, processes, interrupts and memory."""

import os
import signal
import sys
import threading
import time

import numpy as np
import pytest
from scipy import sparse

import gridgen
from support import SMALL, run_python

LARGE = {"naca": "2412", "ni": 1025, "nj": 513, "first_cell": 1e-6, "backend": "cpu"}

posix = pytest.mark.skipif(os.name != "posix", reason="signals and fork are of POSIX")


def test_importing_loads_few_modules_and_no_numpy():
    code = """
import sys
before = set(sys.modules)
import gridgen
loaded = set(sys.modules) - before
heavy = {"numpy", "dataclasses", "logging", "concurrent.futures", "scipy", "matplotlib"} & loaded
assert not heavy, heavy
print(len(loaded))
"""
    assert int(run_python(code)) < 70


def test_two_threads_make_two_grids_at_a_time(grid):
    made = {}
    threads = [
        threading.Thread(target=lambda naca=naca: made.update({naca: gridgen.make(**SMALL | {"naca": naca})}))
        for naca in ("2412", "0012", "4412", "2415")
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(made) == 4
    assert np.array_equal(made["2412"].x, grid.x)
    assert made["0012"].report["geometry"]["naca"] == "0012"


def test_other_threads_run_during_a_solve():
    ticks, done = [], threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    gridgen.make(**SMALL | {"ni": 257, "nj": 129})
    done.set()
    thread.join()

    assert len(ticks) > 5


@posix
def test_an_interrupt_ends_a_solve_within_a_step(small):
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))

    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        # The solve takes several seconds; its Newton steps take less than one.
        for _ in range(20):
            gridgen.make(**LARGE)

    assert time.monotonic() - started < 8
    timer.join()
    assert gridgen.make(**small).verdict


@posix
@pytest.mark.parametrize("call", ["solve", "move_to"])
def test_an_interrupt_ends_any_call_soon(call):
    if call == "solve":
        n = 400_000
        beside = np.full(n - 1, -1.0)
        matrix = sparse.diags_array([beside, np.full(n, 2.0), beside], offsets=[-1, 0, 1])
        arguments = {"method": "cg", "preconditioner": "none", "max_iterations": 10**6, "backend": "cpu"}
        work = lambda: gridgen.solve(matrix, np.ones(n), **arguments)  # noqa: E731
    else:
        reference = gridgen.Reference(gridgen.make(naca="2412", ni=257, nj=129, first_cell=1e-5))
        wall = reference.wall
        # A turn by 170 degrees about mid-chord is refused only after many parts of the movement.
        cosine, sine = np.cos(np.radians(170)), np.sin(np.radians(170))
        turned = (wall - [0.5, 0.0]) @ [[cosine, sine], [-sine, cosine]] + [0.5, 0.0]
        work = lambda: reference.move_to(turned)  # noqa: E731
    timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        work()

    assert time.monotonic() - started < 3
    timer.join()


@posix
def test_a_signal_raised_in_the_callback_ends_the_solve(small):
    with pytest.raises(KeyboardInterrupt):
        gridgen.make(**small, progress=lambda _: signal.raise_signal(signal.SIGINT))

    assert gridgen.make(**small).verdict


@posix
def test_handlers_of_signals_stay_as_they_were(small):
    before = signal.getsignal(signal.SIGINT)

    gridgen.make(**small)

    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.skipif(sys.platform != "linux", reason="/proc/self/statm")
def test_grids_errors_and_interrupts_leak_nothing():
    """After GRIDGEN_TEST_GRIDS grids, 100 by default, the process has as much memory as after 50."""
    grids = max(51, int(os.environ.get("GRIDGEN_TEST_GRIDS", "100")))
    out = run_python(
        """
import gc, os, signal, sys
import numpy as np
import gridgen

small = dict(naca="2412", topology="O", ni=33, nj=17, first_cell=1e-2, backend="cpu", threads=2)

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def interrupt(step):
    signal.raise_signal(signal.SIGINT)

for k in range(int(sys.argv[1])):
    if k == 50:
        start = resident()
    grid = gridgen.make(**small)
    grid.x, grid.quality, grid.history, grid.skewness, grid.report
    gridgen.Mesh(grid.x, grid.y).nonorthogonality
    points = np.stack([grid.x[0], grid.y[0]], axis=1)
    gridgen.make(**small | {"naca": None}, points=points)
    if k % 5 == 0:
        for wrong in ({"naca": "99x"}, {"ni": -1}, {"newton": {"max_iterations": 1}, "retry": False}):
            try:
                gridgen.make(**small | wrong)
            except gridgen.GridgenError:
                pass
        try:
            gridgen.make(**small, progress=interrupt)
        except KeyboardInterrupt:
            pass
print(resident() - start)
""",
        grids,
        timeout=60 + grids,
    )

    assert int(out) < min(3_000_000, 30_000 * (grids - 50))
