"""Coordinates, measures, files and pictures."""

import gc
import math
import pickle
import weakref

import numpy as np
import pytest

import gridgen
from support import ROOT, SMALL, ring, run_python


def test_coordinates_are_views_of_the_grids_own_memory(grid):
    for read in (lambda: grid.x, lambda: grid.y):
        first, second = read(), read()
        assert first.__array_interface__["data"] == second.__array_interface__["data"]
        assert np.shares_memory(first, second)
        assert not first.flags.owndata
        assert type(first.base).__name__ == "NativeGrid"
        assert first.flags.c_contiguous
    assert not np.shares_memory(grid.x, grid.y)


def test_coordinates_are_not_written_to(grid):
    with pytest.raises(ValueError, match="read-only"):
        grid.x[0, 0] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        grid.x.setflags(write=True)


def test_coordinates_live_longer_than_the_grid():
    made = gridgen.make(**SMALL)
    x, copy, alive = made.x, made.x.copy(), weakref.ref(made)

    del made
    gc.collect()
    others = [gridgen.make(**SMALL | {"naca": "0012"}) for _ in range(3)]

    assert alive() is None
    assert np.array_equal(x, copy)
    assert all(other.verdict for other in others)


def test_torch_takes_coordinates_without_a_copy_or_a_warning(grid):
    torch = pytest.importorskip("torch")

    shared, copied = torch.from_dlpack(grid.x), torch.tensor(grid.x)

    assert shared.data_ptr() == grid.x.__array_interface__["data"][0]
    assert copied.data_ptr() != shared.data_ptr()
    assert torch.equal(shared, copied)


def test_measures_of_cells_agree_with_their_summary(grid):
    quality = grid.quality

    for name in ("cell_area", "skewness", "aspect_ratio", "nonorthogonality", "min_jacobian"):
        values = getattr(grid, name)
        assert values.shape == (32, 64), name
        assert values.dtype == np.float64
        assert values is getattr(grid, name)
        assert not values.flags.writeable
    assert grid.skewness.max() == quality.max_skewness
    i, j = quality.max_skewness_at
    assert grid.skewness[j, i] == quality.max_skewness
    assert grid.skewness.mean() == pytest.approx(quality.mean_skewness)
    assert grid.min_jacobian.min() == quality.min_jacobian > 0
    assert grid.aspect_ratio.max() == pytest.approx(quality.max_aspect_ratio)
    assert 0 <= grid.nonorthogonality.min() <= grid.nonorthogonality.max() < 90


def test_areas_add_up_to_that_between_the_lines():
    x, y = ring(257, 65)

    area = gridgen.Mesh(x, y).cell_area.sum()

    assert area == pytest.approx(math.pi * (5**2 - 0.5**2), rel=1e-3)


def test_quality_of_arrays_is_that_of_the_grid(grid):
    assert gridgen.quality(grid.x, grid.y) == grid.quality


def test_numbers_that_are_not_finite_are_nan():
    x, y = ring()
    x[4, 4] = np.nan

    quality = gridgen.quality(x, y)

    assert math.isnan(quality.max_skewness)
    assert quality.folded_cells == 4


def test_arrays_become_a_mesh_that_runs_clockwise_and_outward():
    x, y = ring()
    mesh = gridgen.Mesh(x, y)
    variants = [(x[:, ::-1], y[:, ::-1]), (x[::-1], y[::-1]), (x.T, y.T), (np.asfortranarray(x), y.tolist())]

    assert (mesh.x.shape, mesh.topology, mesh.wall) == ((9, 33), "O", (0, 32))
    assert mesh.notes == ["An O-grid: its ends in i coincide."]
    assert mesh.quality.folded_cells == 0
    for other in variants:
        turned = gridgen.Mesh(*other)
        assert turned.shape == (9, 33)
        assert turned.quality.folded_cells == 0
        assert turned.quality.max_skewness == pytest.approx(mesh.quality.max_skewness)
    assert len(gridgen.Mesh(*variants[0]).notes) > 1


def test_arrays_are_copied():
    x, y = ring()
    mesh = gridgen.Mesh(x, y)

    x[:] = 0

    assert not np.shares_memory(mesh.x, x)
    assert mesh.x.max() == 5.5
    assert repr(mesh) == "<gridgen.Mesh 33 x 9, O>"


@pytest.mark.parametrize("name", ["mesh.vts", "mesh.vtk", "mesh.p3d", "mesh.su2", "mesh.cgns", "mesh.msh"])
def test_a_mesh_that_is_written_reads_back_to_the_last_bit(tmp_path, grid, name):
    grid.write(tmp_path / name)

    mesh = gridgen.read(tmp_path / name)

    assert np.array_equal(mesh.x, grid.x)
    assert np.array_equal(mesh.y, grid.y)
    assert (mesh.topology, mesh.wall) == ("O", (0, 64))
    assert mesh.quality == grid.quality


def test_a_channel_of_block_mesh_keeps_its_patches(tmp_path):
    mesh = gridgen.read(ROOT / "tests/data/meshes/blockmesh-bump")

    for name, written in {"read": mesh, "again": pickle.loads(pickle.dumps(mesh))}.items():  # noqa: S301
        path = tmp_path / f"{name}.su2"
        written.write(path)
        tags = [line.split()[1] for line in path.read_text().splitlines() if line.startswith("MARKER_TAG")]
        assert sorted(tags) == ["bump", "floor", "inflow", "outflow", "top"], name
    assert mesh.wall == (4, 10)


def test_tecplot_text_is_read(tmp_path):
    path = tmp_path / "mesh.dat"
    zone = "ZONE I=3, J=2, F=POINT\n0 0\n1 0\n2 0\n0 1\n1 1\n2 1\n"
    path.write_text("VARIABLES = X, Y\n" + zone)

    assert gridgen.read(path).x.tolist() == [[0, 1, 2], [0, 1, 2]]
    path.write_text("VARIABLES = X, Y\n" + zone + zone.replace("2 0", "3 0"))
    with pytest.raises(gridgen.FileError, match="a mesh of 2 zones"):
        gridgen.read(path)


def test_choices_within_formats(tmp_path, grid):
    plain, packed = tmp_path / "plain.vts", tmp_path / "packed.vts"

    grid.write(plain, compression="none")
    grid.write(packed, compression="zlib")
    grid.write(tmp_path / "wing.xyz", plot3d={"dimensions": 2, "encoding": "stream", "precision": "single"})
    grid.write(tmp_path / "span.vts", span_cells=3, span=0.5)

    assert packed.stat().st_size < plain.stat().st_size
    assert abs(gridgen.read(tmp_path / "wing.xyz").x - grid.x).max() < 1e-6
    assert b"0 64 0 32 0 3" in (tmp_path / "span.vts").read_bytes()[:2000]


def test_a_name_without_an_extension_is_a_folder_for_openfoam(grid, tmp_path):
    grid.write(tmp_path / "wing")

    mesh = tmp_path / "wing/constant/polyMesh"
    assert {file.name for file in mesh.iterdir()} >= {"boundary", "faces", "neighbour", "owner", "points"}
    # There are two planes of nodes, with the seam once.
    assert f"\n{2 * 64 * 33}\n" in (mesh / "points").read_text()


@pytest.mark.parametrize("name", ["mesh.stl", "nowhere/mesh.vts"])
def test_files_that_cannot_be_written(tmp_path, grid, name):
    with pytest.raises(gridgen.FileError) as refused:
        grid.write(tmp_path / name)

    assert name.rpartition("/")[2] in refused.value.message
    assert refused.value.exit_code == 2


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "broken.vts").write_text("<VTKFile>")

    for name in ("broken.vts", "missing.p3d"):
        with pytest.raises(gridgen.FileError) as refused:
            gridgen.read(tmp_path / name)
        assert name in refused.value.message


def test_a_mesh_of_pyvista(grid):
    pytest.importorskip("pyvista")

    mesh = grid.to_pyvista()

    assert mesh.dimensions == (65, 33, 1)
    assert np.array_equal(mesh.points[:65, 0], grid.x[0])
    assert np.array_equal(mesh.cell_data["skewness"].reshape(32, 64), grid.skewness)
    sizes = mesh.compute_cell_sizes()
    assert np.allclose(sizes["Area"], mesh.cell_data["area"])


@pytest.mark.parametrize(("call", "extra"), [("to_pyvista()", "pyvista"), ("plot()", "plot")])
def test_a_missing_package_is_named_with_the_extra_that_installs_it(call, extra):
    module = {"pyvista": "pyvista", "plot": "matplotlib"}[extra]
    code = f"""
import sys; sys.modules[{module!r}] = None
import gridgen
grid = gridgen.make(**{SMALL!r})
try:
    grid.{call}
except ImportError as error:
    assert "pip install 'gridgen[{extra}]'" in str(error) and error.name == {module!r}
else:
    sys.exit("no error")
"""
    run_python(code)


def test_curved_cells_are_written_or_refused(grid, tmp_path):
    path = tmp_path / "wing.msh"
    grid.write(path, curved_order=4)
    text = path.read_text()

    # There are 64 x 32 cells; 37 is gmsh's number of a quadrangle of 25 nodes.
    assert "2 1 37 128" in text
    with pytest.raises(gridgen.FileError, match="64 cells around are no multiple of 3"):
        grid.write(path, curved_order=3)
    with pytest.raises(gridgen.CaseError, match="curved_order: expected a number from 1 to 4"):
        grid.write(path, curved_order=5)
    assert path.read_text() == text


def test_folded_curved_cells_are_not_written(tmp_path):
    thick = {"naca": "0006", "topology": "O", "ni": 65, "nj": 33, "first_cell": 5e-2}
    with pytest.raises(gridgen.FileError, match="cells of order 2 that are folded: 6") as refused:
        gridgen.make(**thick).write(tmp_path / "wing.msh", curved_order=2)
    with pytest.raises(gridgen.NotConverged, match="6 folded cells of order 2") as folded:
        gridgen.make(**thick, curved_order=2, retry=False)

    assert refused.value.exit_code == folded.value.exit_code == 1
    assert not (tmp_path / "wing.msh").exists()
    assert folded.value.grid.verdict.kind == "folded-curved"
