"""The examples, and the blocks of Python in the documents, do what they say."""

import runpy
import sys

import numpy as np
import pytest

import gridgen
from support import ROOT, run_python, smaller

EXAMPLES = ROOT / "examples" / "python"


def run(name, folder, **arguments):
    main = runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"]
    return main(folder, **arguments)


def test_the_first_grid(tmp_path, capsys):
    grid = run("first_grid", tmp_path, ni=65, nj=33, first_cell=1e-3)

    assert "65 x 33 points, the grid is good" in capsys.readouterr().out
    assert np.array_equal(gridgen.read(tmp_path / "naca2412.su2").x, grid.x)


def test_the_sweep(tmp_path):
    run("sweep", tmp_path, sections="7", ni=65, nj=33, first_cell=1e-3)

    with np.load(tmp_path / "sweep.npz") as arrays:
        assert arrays["x"].shape == arrays["y"].shape == (7, 33, 65)
        assert arrays["section"][0] == "1206"
    assert len((tmp_path / "verdicts.tsv").read_text().splitlines()) == 8


def test_the_sweep_is_of_200_sections():
    assert len(set(runpy.run_path(str(EXAMPLES / "sweep.py"))["SECTIONS"])) == 200


def test_the_pictures(tmp_path, capsys):
    pytest.importorskip("matplotlib")

    run("pictures", tmp_path, ni=65, nj=33, first_cell=1e-3)

    assert (tmp_path / "grid.png").read_bytes()[:4] == b"\x89PNG"
    left_out = "left out" in capsys.readouterr().out
    assert (tmp_path / "skewness.png").exists() != left_out


def test_the_case_of_openfoam(tmp_path):
    grid = run("openfoam", tmp_path, ni=65, nj=33)

    assert grid.verdict
    for file in ("Allrun", "constant/polyMesh/points", "system/controlDict", "0/U"):
        assert (tmp_path / "openfoam" / file).exists()


def test_the_movement_of_jax():
    pytest.importorskip("jax")
    main = runpy.run_path(str(EXAMPLES / "jax_movement.py"))["main"]

    gradient, differences = map(np.asarray, main(ni=65, nj=33, first_cell=1e-3))

    assert np.linalg.norm(gradient - differences) <= 1e-6 * np.linalg.norm(gradient)


def test_processes():
    pytest.importorskip("joblib")
    main = runpy.run_path(str(EXAMPLES / "processes.py"), run_name="processes")["main"]

    made = main(4, 1, ni=65, nj=33, first_cell=1e-3)

    assert [grid.shape for grid in made] == [(33, 65)] * 4


def test_processes_of_joblib():
    pytest.importorskip("joblib")
    code = "import sys; sys.path.insert(0, sys.argv[1]); import processes; processes.main(4, 2, ni=65, nj=33)"
    # The package is found by its path in the processes, too.
    assert "4 of 4 grids are good" in run_python(code, EXAMPLES)


def test_the_data_set(tmp_path, capsys):
    h5py = pytest.importorskip("h5py")
    file = tmp_path / "sections.h5"
    main = runpy.run_path(str(EXAMPLES / "data_set.py"))["main"]

    main(file, 4, ni=65, nj=33, first_cell=1e-3)
    with h5py.File(file, "a") as data:
        first, last = data["nodes"][0], data["nodes"][3]
        data["verdict"][3] = ""
        data["nodes"][0] = 7.0
        data["nodes"][3] = 7.0
    main(file, 4, ni=65, nj=33, first_cell=1e-3)

    assert "4 of 4 grids are good" in capsys.readouterr().out
    with h5py.File(file) as data:
        assert data["nodes"].shape == (4, 2, 33, 65)
        # Only the grid without a verdict was made again.
        assert (data["nodes"][0] == 7.0).all()
        assert not np.array_equal(first, last)
        assert np.array_equal(data["nodes"][3], last)
        mesh = gridgen.Mesh(*data["nodes"][1])
        assert data["skewness"][1].max() == pytest.approx(mesh.quality.max_skewness)
        assert np.isfinite(data["parameters"][:]).all()


def test_examples_are_short():
    for file in EXAMPLES.glob("*.py"):
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 60, file


def blocks(name):
    """The Python blocks of a document, in order; grids are smaller and fewer here."""
    text = smaller((ROOT / name).read_text(encoding="utf-8")).replace("range(1, 9)", "range(1, 3)")
    return [rest.split("```")[0] for rest in text.split("```python\n")[1:]]


PAGES = [
    "README.md",
    "docs/how-do-i.md",
    "docs/linear-systems.md",
    "docs/python.md",
    "docs/smooth.md",
    "docs/tutorials/many-sections.md",
    "docs/tutorials/optimise.md",
]


@pytest.mark.parametrize("name", PAGES)
def test_the_blocks_of_a_document_run_in_order(name, tmp_path, monkeypatch, capsys):
    for module in ("scipy", "tqdm", "matplotlib", "openmdao"):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases").symlink_to(ROOT / "cases")
    sys.modules.get("matplotlib.pyplot") or __import__("matplotlib").use("agg")
    names = {"__name__": "documents"}

    assert blocks(name)
    for block in blocks(name):
        # A block that needs a GPU or another package says so in its first line, and is skipped.
        if not block.startswith("# needs "):
            exec(compile(block, name, "exec"), names)  # noqa: S102
    capsys.readouterr()


@pytest.fixture
def optimisation(tmp_path, monkeypatch):
    pytest.importorskip("openmdao")
    pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES / "optimisation")


GOAL = np.array([0.03, 0.06, 0.04, 0.09, 0.06, 0.08] * 2)


def test_the_optimisation(optimisation):  # noqa: ARG001
    import optimise

    history, (start, found, asked), (before, after) = optimise.main(GOAL, iterations=8, ni=65, nj=33)

    errors = [error for error, _ in history]
    assert min(errors) < 0.4 * errors[0]
    assert np.mean((found - asked) ** 2) < 0.4 * np.mean((start - asked) ** 2)
    assert before.shape == after.shape == (33, 65)
    assert after.verdict.good


def test_the_derivatives_of_the_flow(optimisation):  # noqa: ARG001
    from potential_flow import PotentialFlow

    grid = gridgen.make(naca="0012", topology="O", ni=65, nj=33, first_cell=1e-3)
    nodes = np.stack([np.asarray(grid.x), np.asarray(grid.y)], axis=-1)
    flow = PotentialFlow(grid.shape, np.hypot(*(nodes[1] - nodes[0]).T)[:-1], 4.0)
    speeds = flow.speeds(nodes)
    weights = np.cos(np.arange(speeds.size))
    found = flow.adjoint(nodes, weights)
    by = np.sin(3 * nodes[..., ::-1]) * np.exp(-np.sum(nodes**2, axis=-1))[..., None]
    by[[0, 1, -1]] = 0.0  # the wall, the first cells and the outer line stay
    low, high = (weights @ flow.speeds(nodes + h * by) for h in (-1e-5, 1e-5))

    assert (found * by).sum() == pytest.approx((high - low) / 2e-5, rel=1e-5)
    # Thin sections have a lift of 2 pi sin(a), sections of 12 % thickness nine per cent more.
    pressure = 1 - speeds**2
    x = nodes[0, :, 0]
    lift = -(0.5 * (pressure + np.roll(pressure, -1)) * np.diff(x)).sum()
    assert lift == pytest.approx(1.09 * 2 * np.pi * np.sin(np.radians(4.0)), rel=0.05)


def test_random_moves(optimisation):  # noqa: ARG001
    import random_moves

    steps, reasons, worn = random_moves.main(12, ni=65, nj=33, first_cell=1e-3)

    assert len(steps) + len(reasons) == 12
    assert len(steps) >= 8
    assert worn <= len(steps)
