"""Keys of the normal direction, measured on the grid."""

import numpy as np
import pytest

import gridgen


def heights(grid):
    """Distances from the points of the line j = 0 to the next line."""
    return np.hypot(grid.x[1] - grid.x[0], grid.y[1] - grid.y[0])


def test_growth_takes_the_place_of_nj():
    grid = gridgen.make(ellipse={}, ni=129, growth=1.15)

    assert grid.x.shape == (90, 129)
    edges = np.hypot(np.diff(grid.x, axis=0), np.diff(grid.y, axis=0))
    growth = (edges[1:] / edges[:-1])[:45]
    assert np.abs(growth / 1.15 - 1).max() < 0.01


def test_layers_near_the_wall_have_their_growth():
    grid = gridgen.make(naca="0012", ni=129, layers={"count": 30, "growth": 1.15})

    edges = np.hypot(np.diff(grid.x, axis=0), np.diff(grid.y, axis=0))[:, 40]
    growth = edges[1:] / edges[:-1]
    assert np.abs(growth[:29] / 1.15 - 1).max() < 0.01
    assert np.abs(np.diff(growth[25:80])).max() < 0.02


@pytest.mark.parametrize("topology", ["O", "C"])
def test_an_array_gives_each_wall_point_its_height(topology):
    wake = 0 if topology == "O" else 24
    own = slice(wake, 145 + wake)
    asked = 1e-5 * 10 ** (np.sin(np.linspace(0, np.pi, 145)) ** 2)
    size = {"naca": "2412", "ni": 145 + 2 * wake, "nj": 65, "topology": topology}
    if wake:
        size["wake"] = wake

    grid = gridgen.make(**size, first_cell=asked)

    assert grid.verdict
    assert np.abs(heights(grid)[own] / asked - 1).max() < 1e-4
    surfaces = {"upper": np.array([[0, 1e-5], [1, 1e-4]]), "lower": [(0, 1e-5), (1, 1e-4)]}
    assert np.array_equal(
        gridgen.make(**size, first_cell=surfaces).x,
        gridgen.make(**size, grid={"first_cell": [[0, 1e-5], [1, 1e-4]]}).x,
    )
    again = gridgen.make(**size, first_cell=[[0, 1e-5], [1, 1e-4]])
    assert again.quality.first_cell_max == pytest.approx(1e-4, rel=1e-3)
    with pytest.raises(gridgen.CaseError, match="first_cell"):
        gridgen.make(**size, first_cell=[[0, 1e-5], [1]])
    with pytest.raises(gridgen.GeometryError, match="3 heights, but the wall has 145 points"):
        gridgen.make(**size, first_cell=[1e-5, 2e-5, 1e-5])


def test_growth_has_a_limit_and_boundary_layers_are_counted():
    coarse = {"naca": "0012", "topology": "O", "ni": 65, "nj": 33, "reynolds": 6e6, "y_plus": 1}

    grid = gridgen.make(**coarse)
    with pytest.raises(gridgen.NotConverged, match=r"growth along j is .*, above 1\.3") as limited:
        gridgen.make(**coarse, max_growth=1.3)

    assert grid.verdict
    assert "grid.nj: " in limited.value.hint
    assert any("grid.nj: " in note and "gives about 1.2" in note for note in grid.notes)
    assert limited.value.grid.verdict.kind == "beyond-limit"
    within = np.cumsum(np.hypot(np.diff(grid.x, axis=0), np.diff(grid.y, axis=0)), axis=0)
    counted = (within <= 0.37 * 6e6**-0.2).sum(axis=0).min()
    assert grid.quality.boundary_layer_cells == counted
    assert gridgen.make(naca="0012", ni=65, nj=33).quality.boundary_layer_cells is None
