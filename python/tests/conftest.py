"""Settings and fixtures of the tests."""

import os
import signal

import hypothesis
import pytest

import gridgen
from support import ROOT, SMALL, naca0012

# Each example makes a grid, which takes longer than the default deadline.
hypothesis.settings.register_profile("gridgen", deadline=None, max_examples=25, print_blob=True)
hypothesis.settings.load_profile("gridgen")

# A shell starts background jobs with interrupts ignored, and the tests would inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    if os.environ.get("GRIDGEN_TEST_GPU") != "1":
        for item in items:
            if "gpu" in item.keywords:
                item.add_marker(pytest.mark.skip(reason="GRIDGEN_TEST_GPU=1 runs it on a GPU"))


@pytest.fixture
def small():
    return dict(SMALL)


@pytest.fixture(scope="session")
def grid():
    return gridgen.make(**SMALL)


@pytest.fixture(scope="session")
def blade():
    """Return a grid of four blocks."""
    return gridgen.make(ROOT / "cases/compressor.toml", ni=121, nj=17, first_cell=1e-4, backend="cpu")


@pytest.fixture
def section():
    return naca0012()
