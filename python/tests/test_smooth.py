"""Smoothing of arrays of nodes."""

import numpy as np
import pytest

import gridgen


def channel(ni=33, nj=17, shaken=0.3):
    """Return a channel with a bump, whose inner nodes are moved by a part of a cell in every other column."""
    x = np.linspace(-1, 2, ni)
    bump = 0.3 * np.exp(-(((x - 0.5) / 0.3) ** 2))
    rows = np.arange(nj)[:, None] + np.zeros(ni)
    rows[1:-1, 1:-1:2] += shaken
    share = (1.25**rows - 1) / (1.25 ** (nj - 1) - 1)
    return np.broadcast_to(x, (nj, ni)), bump + share * (1 - bump)


def test_a_grid_becomes_better_and_keeps_its_sides():
    x, y = channel()

    smoothed = gridgen.smooth(x, y)

    assert smoothed
    assert smoothed.grown == []
    assert smoothed.after.p99_skewness < 0.8 * smoothed.before.p99_skewness
    assert smoothed.after.wall_angle_error_max_deg < 1e-6
    assert smoothed.first_cell_error[1] < 1e-9 < smoothed.first_cell_error[0]
    assert smoothed.passes[smoothed.kept]["converged"]
    for new, old in ((smoothed.x, x), (smoothed.y, y)):
        assert new.shape == old.shape
        for side in (np.s_[0], np.s_[-1], np.s_[:, 0], np.s_[:, -1]):
            np.testing.assert_array_equal(new[side], old[side])
    assert smoothed.mesh.shape == x.shape


def test_sides_are_those_of_the_arrays():
    x, y = channel()
    expected = gridgen.smooth(x, y, first_cell=2e-3)

    turned = gridgen.smooth(x.T[:, ::-1], y.T[:, ::-1], walls=["imax"], first_cell=2e-3)

    np.testing.assert_allclose(turned.x.T[::-1], expected.x, atol=1e-9)
    np.testing.assert_allclose(turned.y.T[::-1], expected.y, atol=1e-9)
    assert expected.after.first_cell_min < 2.0001e-3


def test_a_small_grid_is_smoothed_on_the_cpu():
    x, y = channel()
    settings = {"newton.max_iterations": 30, "quality.retry": False}

    on_cpu, by_default = gridgen.smooth(x, y, backend="cpu"), gridgen.smooth(x, y, settings=settings)

    np.testing.assert_array_equal(on_cpu.y, by_default.y)


def test_points_slide():
    x, y = channel()

    slid = gridgen.smooth(x, y, slide=["jmax"])

    assert np.abs(slid.x[-1] - x[-1]).max() > 1e-3
    np.testing.assert_allclose(slid.y[-1], 1, atol=1e-12)


def test_arguments_that_do_not_fit_are_refused():
    x, y = channel()
    with pytest.raises(gridgen.CaseError, match=r"jmin, jmax, imin or imax was expected"):
        gridgen.smooth(x, y, walls=["floor"])
    with pytest.raises(gridgen.CaseError, match="a list of sides was expected"):
        gridgen.smooth(x, y, walls="jmin")
    with pytest.raises(gridgen.CaseError, match="no wall was named"):
        gridgen.smooth(x, y, walls=[])
    with pytest.raises(gridgen.CaseError, match="an array of the shape of x"):
        gridgen.smooth(x, y[1:])
    with pytest.raises(gridgen.CaseError, match=r'backend = "gpu".*auto'):
        gridgen.smooth(x, y, backend="gpu")
    with pytest.raises(gridgen.CaseError, match="at least 5 x 5"):
        gridgen.smooth(x[:3], y[:3])
    with pytest.raises(gridgen.NotConverged, match="not solved"):
        gridgen.smooth(x, y, settings={"newton.max_iterations": 1})
