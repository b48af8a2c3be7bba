"""Helpers of several test files."""

import subprocess
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]

# The smallest grid, an O-grid, which converges in a moment.
SMALL = {"naca": "2412", "topology": "O", "ni": 65, "nj": 33, "first_cell": 1e-3, "backend": "cpu"}


def smaller(text):
    """Code of the documents with smaller grids."""
    return text.replace("ni=129, nj=65, first_cell=1e-4", "ni=65, nj=33, first_cell=1e-3")


def naca0012(n=41):
    """2 n - 1 points of the NACA 0012 with a sharp edge: its upper side from the edge to the nose, then back.

    The thickness is that of Abbott and von Doenhoff, with the last coefficient for a closed edge.
    """
    x = 0.5 * (1 + np.cos(np.linspace(0, np.pi, n)))
    y = 0.6 * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    y[0] = 0
    return np.concatenate([np.stack([x, y], axis=1), np.stack([x, -y], axis=1)[-2::-1]])


def ring(ni=33, nj=9):
    """Coordinates of a mesh around a circle: clockwise, outward."""
    angle = -np.linspace(0, 2 * np.pi, ni)
    radius = np.linspace(0.5, 5, nj)[:, None]
    x, y = 0.5 + radius * np.cos(angle), radius * np.sin(angle)
    # The seam is closed to the last bit.
    x[:, -1], y[:, -1] = x[:, 0], y[:, 0]
    return x, y


def run_python(code, *arguments, timeout=120):
    """Run code in a separate process; return its standard output."""
    line = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(line, capture_output=True, text=True, timeout=timeout, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


def command(*arguments, cwd=None):
    """Run the command gridgen."""
    line = [sys.executable, "-m", "gridgen", *map(str, arguments)]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False, cwd=cwd)
