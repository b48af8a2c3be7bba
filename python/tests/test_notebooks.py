"""Pictures and completion in notebooks, and the notebooks themselves."""

import inspect
import re
import typing
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import gridgen
from gridgen import typing as names
from support import ROOT, SMALL, ring, run_python, smaller

NOTEBOOKS = sorted((ROOT / "python/notebooks").glob("*.ipynb"))


def picture(shown):
    """The picture in the HTML that a notebook shows."""
    return ET.fromstring("<svg" + shown.partition("<svg")[2].removesuffix("</div>"))  # noqa: S314


def test_a_notebook_shows_the_verdict_and_the_body(grid):
    shown = grid._repr_html_()

    assert "gridgen.Grid 65 x 33, O" in shown
    assert "the grid is good" in shown
    assert f"{grid.quality.max_skewness:.3f} at most" in shown
    svg = picture(shown)
    wall = next(svg.iter("{http://www.w3.org/2000/svg}polygon")).get("points").split()
    assert len(wall) == 65
    x, y = np.array([point.split(",") for point in wall], float).T
    assert np.ptp(x) == pytest.approx(640 / 1.35, abs=1)
    assert 0.05 < np.ptp(y) / np.ptp(x) < 0.2
    assert len(shown) < 150_000


def test_a_notebook_shows_why_a_grid_is_not_good(small):
    with pytest.raises(gridgen.NotConverged) as stopped:
        gridgen.make(**small, newton={"max_iterations": 1}, retry=False)

    assert "the grid did not converge: " in stopped.value.grid._repr_html_()


def test_large_grids_have_small_pictures():
    shown = gridgen.Mesh(*ring(513, 257))._repr_html_()

    picture(shown)
    assert len(shown) < 250_000


def test_meshes_with_nodes_that_are_no_numbers_are_shown():
    x, y = ring()
    x[4, 4] = np.nan

    shown = gridgen.Mesh(x, y)._repr_html_()

    assert "nan" not in picture(shown)[1].get("d")


VIEWS = typing.get_args(names.View)


@pytest.fixture
def axes():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("view", VIEWS)
def test_views_show_their_part(view, axes):  # noqa: ARG001
    grid = gridgen.make(**SMALL | {"topology": "C", "ni": 97})

    ax = grid.plot(view=view, color="skewness")

    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    inside = {
        "body": -0.5 < left < 0 and 1 < right < 1.5 and high - low < 1,
        "leading-edge": left < 0 < right < 0.1,
        "trailing-edge": 0.9 < left < 1 < right < 1.1,
        "wake": 0.5 < left < 1 < right and right == pytest.approx(2.75, abs=0.1),
        "far-field": left < -14 < 15 < right and low < -14 < 14 < high,
    }
    assert inside[view], (left, right, low, high)
    assert ax.collections[0].get_array().size == 96 * 32


@pytest.mark.parametrize("color", typing.get_args(names.CellMeasure))
def test_cells_are_coloured_by_a_measure_on_the_scale_of_what_is_seen(color, grid, axes):  # noqa: ARG001
    ax = grid.plot(view="leading-edge", color=color)

    cells = ax.collections[0]
    values = getattr(grid, color)
    assert np.array_equal(np.ravel(cells.get_array()), values.ravel())
    assert values.min() <= cells.norm.vmin < cells.norm.vmax < values.max()
    assert ax.figure.axes[1].get_ylabel() == color.replace("_", " ")


def test_cells_are_coloured_by_values_of_ones_own(grid, axes):  # noqa: ARG001
    values = np.arange(32 * 64).reshape(32, 64)

    ax = grid.plot(color=values, colors="tab:blue", linewidths=0.7)

    assert np.array_equal(np.ravel(ax.collections[0].get_array()), values.ravel())
    assert ax.collections[1].get_linewidth()[0] == 0.7
    assert len(ax.collections[1].get_segments()) == 33 + 65
    assert grid.plot(ax, view="far-field") is ax


def test_a_window_is_opened(grid, axes, monkeypatch):  # noqa: ARG001
    from matplotlib import pyplot as plt

    shown = []
    monkeypatch.setattr(plt, "show", lambda: shown.append(plt.gca().get_xlim()))
    grid.show(view="leading-edge", color="skewness")

    assert shown
    assert shown[0][1] < 0.1


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"view": "wake"}, "one of body, leading-edge, trailing-edge, far-field was expected"),
        ({"view": "nose"}, 'view = "nose"'),
        ({"color": "skew"}, 'color = "skew": one of skewness'),
        ({"color": np.ones((33, 65))}, r"color: an array of shape \(32, 64\)"),
        ({"color": np.ones(3)}, "color: an array of shape"),
    ],
    ids=str,
)
def test_views_and_measures_that_are_none_are_refused(options, words, grid, axes):  # noqa: ARG001
    with pytest.raises(gridgen.CaseError, match=words):
        grid.plot(**options)


def test_signatures_name_every_keyword():
    keys = inspect.signature(gridgen.make).parameters

    assert {"case", "naca", "ni", "topology", "backend", "grid"} <= set(keys)
    assert "keys" not in keys
    assert keys["topology"].annotation == "Literal['O', 'C', 'auto', 'half'] | None"
    assert keys["ni"].default is None
    assert set(keys) - {"case"} < set(inspect.signature(gridgen.make_assembly).parameters) | {"restart"}
    solve = inspect.signature(gridgen.solve).parameters
    assert solve["preconditioner"].default == "dilu"
    assert set(solve) == {"A", "b", "x0", "callback", *names.SolverOptions.__annotations__}


def test_completion_offers_the_keywords():
    jedi = pytest.importorskip("jedi")

    def offered(code):
        return {one.name for one in jedi.Interpreter(code, [{"gridgen": gridgen}]).complete()}

    assert {"naca=", "name="} <= offered("gridgen.make(na")
    assert "topology=" in offered("gridgen.make(naca='2412', topo")
    assert {"preconditioner="} <= offered("gridgen.solve(A, b, precon")
    assert {"verdict", "quality", "x"} <= offered("gridgen.Grid.")


def test_help_lists_the_attributes():
    cls = gridgen.Grid
    public = [name for name in dir(cls) if isinstance(getattr(cls, name), property) and name[0] != "_"]
    listed = re.split(r"Attributes\n\s*-+\n", inspect.getdoc(cls))[1]
    missing = [name for name in public if not re.search(rf"\b{name}\b", listed)]
    assert not missing


def test_choices_are_those_of_the_library():
    """A word that the library does not know is refused with the words that it knows."""
    for option, kind in typing.get_type_hints(names.SolverOptions, localns={"Sequence": list}).items():
        words = typing.get_args(kind)
        if words and all(isinstance(word, str) for word in words):
            with pytest.raises(gridgen.CaseError) as refused:
                gridgen.LinearSolver(np.eye(2), **{"backend": "cpu"} | {option: "-"})
            known = set(re.findall(r"`([a-z0-9-]+)`", refused.value.message)) - {"-"}
            own = {"none", "jacobi"} if option == "preconditioner" else set()
            assert known | own == set(words), option


def test_the_notebooks_run(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    assert [path.stem for path in NOTEBOOKS] == ["data_set", "first_grid", "shape"]
    for path in NOTEBOOKS:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        code = [cell for cell in notebook.cells if cell.cell_type == "code"]
        assert all(cell.outputs == [] and cell.execution_count is None for cell in code), "strip the outputs"
        assert path.stat().st_size < 10_000
        small = smaller(path.read_text(encoding="utf-8"))
        (tmp_path / path.name).write_text(small, encoding="utf-8")

    # A process of its own: the messages between client and kernel are logged by the event loop.
    run_python(
        """
import asyncio, pathlib, sys, nbclient, nbformat
paths = sorted(pathlib.Path(sys.argv[1]).glob("*.ipynb"))
notebooks = [nbformat.read(path, as_version=4) for path in paths]
options = {"timeout": 100, "kernel_name": "python3", "resources": {"metadata": {"path": sys.argv[1]}}}

async def run():
    runs = [nbclient.NotebookClient(notebook, **options).async_execute() for notebook in notebooks]
    await asyncio.gather(*runs)

asyncio.run(run())
for path, notebook in zip(paths, notebooks):
    shown = [out for cell in notebook.cells if cell.cell_type == "code" for out in cell.outputs]
    assert any("image/png" in out.get("data", {}) or "<svg" in str(out) for out in shown), path
""",
        tmp_path,
    )
