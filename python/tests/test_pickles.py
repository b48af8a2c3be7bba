"""Grids, meshes, references and results in other processes."""

import copy
import pickle
import sys

import numpy as np
import pytest

import gridgen
from support import ROOT, SMALL, ring, run_python
from test_assembly import made

CASES = {
    "O": {},
    "C": {"topology": "C", "ni": 97},
    "half": {"naca": "0012", "topology": "half", "ni": 33, "trailing_edge": "sharp"},
    "scaled": {"chord": 0.3, "angle": 4.0, "output": {"span_cells": 2, "plot3d_precision": "single"}},
    "retried": {"naca": "0012", "ni": 33, "nj": 17, "control": {"base": "laplace"}, "far_field": 100},
}


def again(value):
    return pickle.loads(pickle.dumps(value))  # noqa: S301


def test_a_pickled_grid_keeps_the_sides_of_its_box(tmp_path):
    grid = gridgen.make(naca="0012", ni=193, nj=25, first_cell=1e-3, box=(-1.2, 3, -1, 1), floor="symmetry")
    reference = gridgen.Reference(grid, backend="cpu")
    moved = reference.move_to(reference.wall)

    for name, mesh in {"made": grid, "again": again(grid), "moved": moved}.items():
        path = tmp_path / f"{name}.su2"
        mesh.write(path)
        tags = [line.split()[1] for line in path.read_text().splitlines() if line.startswith("MARKER_TAG")]
        assert sorted(tags) == ["airfoil", "floor", "inlet", "outlet", "roof"], name


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_grid_is_the_same_after_it_was_pickled(case, tmp_path):
    grid = gridgen.make(**SMALL | case)

    read = again(grid)

    assert type(read) is gridgen.Grid
    assert np.array_equal(read.x, grid.x)
    assert np.array_equal(read.y, grid.y)
    assert not read.x.flags.writeable
    for name in ("topology", "wall", "shape", "verdict", "quality", "report", "history", "case", "notes"):
        assert getattr(read, name) == getattr(grid, name), name
    assert repr(read) == repr(grid)
    assert np.array_equal(read.nonorthogonality, grid.nonorthogonality)
    for name in ("mesh.vts", "mesh.p3d", "mesh.su2"):
        for folder, one in (("a", grid), ("b", read)):
            (tmp_path / folder).mkdir(exist_ok=True)
            one.write(tmp_path / folder / name)
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name
    # The reference has the equations of the grid, to the last bit.
    first, second = (gridgen.Reference(one, backend="cpu") for one in (grid, read))
    assert pickle.dumps(first) == pickle.dumps(second)


def test_the_reference_of_a_pickled_grid_needs_its_section(tmp_path):
    file = tmp_path / "section.dat"
    file.write_bytes((ROOT / "tests/data/airfoils/s1223.dat").read_bytes())
    read = again(gridgen.make(file=file, **{k: v for k, v in SMALL.items() if k != "naca"}))
    assert gridgen.Reference(read, backend="cpu").wall.shape == (65, 2)

    file.write_text(file.read_text().replace("0.0", "0.00", 1) + "\n")
    with pytest.raises(gridgen.GeometryError, match="its section has changed since: make it again"):
        gridgen.Reference(read, backend="cpu")
    file.unlink()
    with pytest.raises(gridgen.GridgenError, match=r"section\.dat"):
        gridgen.Reference(read, backend="cpu")
    assert read.verdict.good


def test_the_block_behind_a_base_is_the_same_after_it_was_pickled(tmp_path):
    grid = gridgen.make(naca="0012", edge_thickness=0.02, topology="C", ni=97, nj=33, first_cell=1e-3)

    read = again(grid)

    (x, y), wake = grid.behind, grid.report["grid"]["wake"]
    assert x.shape[::-1] == tuple(grid.report["grid"]["behind"])
    assert np.array_equal(x[0], grid.x[0, wake::-1])
    assert np.array_equal(y[-1], grid.y[0, -1 - wake :])
    assert np.array_equal(read.behind, grid.behind)
    read.write(tmp_path / "mesh.vts")
    assert {file.name for file in tmp_path.iterdir()} == {"mesh.around.vts", "mesh.behind.vts"}
    references = [gridgen.Reference(of, backend="cpu").mesh.behind for of in (read, grid)]
    assert np.array_equal(*references)


def test_the_blocks_of_a_cascade_are_the_same_after_they_were_pickled(tmp_path, blade):
    grid = blade

    read = again(grid)

    (x, y), (_, passage), *strips = grid.blocks
    assert np.array_equal(x, grid.x)
    assert np.array_equal(y, grid.y)
    assert [block["name"] for block in grid.report["grid"]["blocks"]] == ["passage", "ahead", "behind"]
    assert grid.behind is None
    assert len(strips) == 2
    # The passage ends at the next blade.
    assert passage.max() - passage.min() > 0.5
    for own, other in zip(grid.blocks, read.blocks, strict=True):
        assert np.array_equal(own, other)
    read.write(tmp_path / "mesh.vts")
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"mesh.{name}.vts" for name in ("blade", "passage", "ahead", "behind")}
    picture = read._repr_html_()
    assert (
        f"{sum((len(x) - 1) * (len(x[0]) - 1) for x, _ in grid.blocks):,}".replace(",", "\u2009") in picture
    )


def test_a_mesh_is_the_same_after_it_was_pickled():
    mesh = gridgen.Mesh(*ring())

    read = again(mesh)

    assert type(read) is gridgen.Mesh
    assert np.array_equal(read.x, mesh.x)
    assert (read.quality, read.notes, read.wall) == (mesh.quality, mesh.notes, mesh.wall)
    assert repr(read) == repr(mesh)


def test_a_reference_and_a_moved_grid_are_the_same_after_they_were_pickled(grid):
    reference = gridgen.Reference(grid, backend="cpu")
    wall = reference.wall * [1.0, 1.05]
    moved = reference.move_to(wall)

    read, unmoved, there = again(reference), again(reference.unmoved()), again(moved)

    assert np.array_equal(read.move_to(wall).x, moved.x)
    assert np.array_equal(unmoved.x, reference.unmoved().x)
    assert np.array_equal(there.y, moved.y)
    assert there.verdict == moved.verdict
    by = wall * [0.0, 1.0]
    assert np.array_equal(there.derivative(by), moved.derivative(by))


def test_results_and_errors_take_their_grids_along():
    cases = [{"naca": "0012"}, {"naca": "99x"}, {"naca": "2412", "newton": {"max_iterations": 1}}]

    results = again(list(gridgen.make_many(cases, jobs=1, retry=False, **SMALL | {"naca": None})))

    assert results[0].grid.verdict.good
    assert isinstance(results[1].error, gridgen.GeometryError | gridgen.CaseError)
    assert results[2].error.grid.verdict.kind == "not-converged"
    assert results[2].error.grid.x.shape == (33, 65)


def test_copies_are_the_object_itself(grid):
    reference = gridgen.Reference(grid, backend="cpu")

    for one in (grid, gridgen.Mesh(*ring()), reference, reference.unmoved()):
        assert copy.copy(one) is copy.deepcopy(one) is one
    assert copy.deepcopy({"grid": [grid]})["grid"][0] is grid
    assert copy.deepcopy(grid.quality) == grid.quality


def test_a_damaged_pickle_is_refused(grid):
    restore, (head, x, y) = grid._native.__reduce__()

    for parts in [
        (head[:-9], x, y),
        (head, x[:1], y[:1]),
        (head, x[:, :1], y[:, :1]),
        (head, x, y.T),
        ("", x, y),
    ]:
        with pytest.raises(ValueError, match="damaged"):
            restore(*parts)


def test_arrays_of_a_pickle_can_go_out_of_band(grid):
    buffers = []

    data = pickle.dumps(grid, protocol=5, buffer_callback=buffers.append)

    assert len(data) < len(pickle.dumps(grid)) - 2 * grid.x.nbytes + 2000
    read = pickle.loads(data, buffers=buffers)  # noqa: S301
    assert np.array_equal(read.x, grid.x)


METHODS = ["spawn"] if sys.platform in ("win32", "darwin") else ["fork", "spawn"]


@pytest.mark.parametrize("method", METHODS)
def test_a_grid_returns_from_a_process(method, tmp_path):
    script = tmp_path / "pool.py"
    script.write_text(f"""
import concurrent.futures, multiprocessing, sys, warnings
import numpy as np
import gridgen
warnings.simplefilter("ignore", DeprecationWarning)

def make(naca):
    return gridgen.make(**{SMALL!r} | {{"naca": naca}})

def thicker(reference):
    return reference.move_to(reference.wall * [1.0, 1.05])

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    here = make("2412")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        there, other = pool.map(make, ["2412", "0012"])
        moved = pool.submit(thicker, gridgen.Reference(there, backend="cpu")).result()
    assert np.array_equal(there.x, here.x) and other.verdict and moved.verdict
    print(there.quality.max_skewness == here.quality.max_skewness)
""")
    code = "import runpy, sys; sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    assert run_python(code, script, method).strip() == "True"


@pytest.mark.parametrize("method", METHODS)
def test_a_grid_returns_from_a_worker_of_torch(method, tmp_path):
    pytest.importorskip("torch")
    script = tmp_path / "loader.py"
    script.write_text(f"""
import sys, warnings
import gridgen, torch
from torch.utils.data import DataLoader, Dataset

class Grids(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, k):
        return gridgen.make(**{SMALL!r} | {{"naca": f"00{{12 + k}}"}})

if __name__ == "__main__":
    loader = DataLoader(Grids(), 2, num_workers=2, collate_fn=list, multiprocessing_context=sys.argv[1])
    grids = [grid for batch in loader for grid in batch]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nodes = torch.tensor(grids[0].x)
    print(len(grids), all(grid.verdict for grid in grids), tuple(nodes.shape))
""")
    code = "import runpy, sys; sys.argv[:] = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
    assert run_python(code, script, method).strip() == "4 True (33, 65)"


def test_an_assembly_is_the_same_after_it_was_pickled():
    assembly = made()

    read = again(assembly)

    assert repr(read) == repr(assembly)
    for name in ("report", "verdict", "case", "notes", "files", "findings"):
        assert getattr(read, name) == getattr(assembly, name), name
    assert np.array_equal(read.zones["flap"].x, assembly.zones["flap"].x)
    assert not read.zones["flap"].x.flags.writeable
    assert copy.deepcopy(assembly) is assembly
