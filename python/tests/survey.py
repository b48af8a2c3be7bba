"""Random sections like those of the UIUC collection, at the settings of UniFoil.

    python python/tests/survey.py [SECTIONS [JOBS [TABLE]]]

makes the grids of SECTIONS sections (1000), JOBS at a time (the CPUs), on one thread of the CPU each: 293
x 85 points, first cells of 5e-7 chord, the far field at 100 chords. It prints how many are valid, the
others by their reason, and seconds per section and core; TABLE (output/python/survey.tsv) gets a line for
each. The exit code is 1 where a grid is not valid, or where a section failed in another way than by being
refused.

Section k follows from k alone. It is a class function times a Bernstein polynomial of random
coefficients, for each of thickness and camber (Kulfan 2008, doi:10.2514/1.29958): thickness 5 to 25 %,
camber up to 8 %, sharp or blunt, some reflexed, some with an edge that is nearly a cusp, on 30 to 100
points a side, rounded to 4 to 6 digits as the files are.
"""

import itertools
import re
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import gridgen

SETTINGS = {"ni": 293, "nj": 85, "first_cell": 5e-7, "far_field": 100.0, "backend": "cpu"}

# The seed of section k is the pair of this and k.
SEED = 20261123


NUMBER = r"-?\d[\d.]*(e[+-]?\d+)?"


def bernstein(coefficients, x):
    """Values of a Bernstein polynomial, by De Casteljau's scheme."""
    values = [np.full_like(x, coefficient) for coefficient in coefficients]
    while len(values) > 1:
        values = [(1 - x) * a + x * b for a, b in itertools.pairwise(values)]
    return values[0]


def section(k):
    """Points of section k, (n, 2), from the trailing edge over the upper side and back."""
    random = np.random.default_rng([SEED, k])
    order = random.integers(5, 10)
    thickness, camber = random.uniform(0.05, 0.25), random.uniform(-0.01, 0.08)
    cusp = random.random() < 0.1
    # Exponent of the class function at the edge: 1 gives a wedge, 2 nearly a cusp.
    edge = random.uniform(1.1, 1.4) if cusp else 1.0
    base = random.uniform(0.002, 0.02) * thickness if random.random() < 0.4 else 0.0
    reflex = random.uniform(0.6, 0.9) if random.random() < 0.2 else None

    fine = np.linspace(0, 1, 801)
    spread = random.uniform(0.0, 0.4)
    half_shape = 1 + spread * random.uniform(-1, 1, order + 1)
    line_shape = 1 + spread * random.uniform(-1, 1, order + 1)

    def half(x):
        return np.sqrt(x) * (1 - x) ** edge * bernstein(half_shape, x)

    def line(x):
        if reflex is not None:
            return x * (1 - x) * (reflex - x)
        return x * (1 - x) * bernstein(line_shape, x)

    points = random.integers(30, 101)
    x = 0.5 * (1 + np.cos(np.linspace(0, np.pi, points)))
    middle = camber * line(x) / abs(line(fine)).max()
    side = 0.5 * thickness * half(x) / half(fine).max() + 0.5 * base * x
    if base == 0.0:
        side[0] = 0.0
    upper, lower = np.stack([x, middle + side], axis=1), np.stack([x, middle - side], axis=1)
    digits = int(random.integers(4, 7))
    rounded = np.round(np.concatenate([upper, lower[-2::-1]]), digits)
    # By rounding, neighbouring points at the nose of some sections coincide.
    return rounded[np.r_[True, (np.diff(rounded, axis=0) != 0).any(axis=1)]]


def main(sections=1000, jobs=None, table="output/python/survey.tsv"):
    """Make the grids and print the summary; return whether all are valid or refused with a reason."""
    table = Path(table)
    table.parent.mkdir(parents=True, exist_ok=True)
    cases = ({"points": section(k)} for k in range(sections))
    reasons, seconds, failed = Counter(), [], 0

    started = time.perf_counter()
    with table.open("w", encoding="utf-8") as lines:
        for result in gridgen.make_many(cases, jobs=jobs, threads=1, **SETTINGS):
            if result.grid is not None:
                reason = "valid"
                seconds.append(result.grid.report["timing"]["total_seconds"])
                failed += result.grid.quality.folded_cells > 0
            else:
                # Numbers differ from section to section, so they are masked to count equal reasons.
                text = getattr(result.error, "message", repr(result.error)).rpartition("…: ")[2]
                reason = f"{type(result.error).__name__}: {re.sub(NUMBER, '#', text)}"
                failed += not isinstance(result.error, gridgen.GeometryError)
            reasons[reason] += 1
            print(result.index, reason, sep="\t", file=lines)
    wall = time.perf_counter() - started

    for reason, number in reasons.most_common():
        print(f"{number:6} {reason}")
    if seconds:
        q50, q95, most = np.quantile(seconds, [0.5, 0.95, 1.0])
        print(f"seconds of a solve on one thread: median {q50:.3f}, 95 % {q95:.3f}, most {most:.3f}")
        print(f"{sum(seconds) / len(seconds):.3f} s per section and core; {sections} in {wall:.1f} s")
    return failed == 0


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:3]]
    sys.exit(not main(*numbers, **({"table": sys.argv[3]} if len(sys.argv) > 3 else {})))
