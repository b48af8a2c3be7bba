"""Moving grids, and their interfaces for frameworks."""

import math
import pickle
import threading

import numpy as np
import pytest

import gridgen
from support import ROOT


@pytest.fixture(scope="module")
def grid():
    return gridgen.make(
        naca="2412", topology="O", ni=65, nj=33, first_cell=1e-3, backend="cpu", tolerance=1e-12
    )


@pytest.fixture(scope="module")
def reference(grid):
    return gridgen.Reference(grid)


def twisted(wall, degrees):
    angle = np.radians(degrees)
    turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return (wall - [0.25, 0.0]) @ turn + [0.25, 0.0]


def smooth(wall):
    return np.stack([0.3 * np.sin(2 * wall[:, 1]), np.cos(3 * wall[:, 0])], axis=1)


def test_the_wall_of_the_reference_gives_the_reference(grid, reference):
    moved = reference.move_to(reference.wall)

    assert reference.wall.shape == (65, 2)
    assert moved.newton_iterations == 0
    assert abs(moved.x - np.asarray(grid.x)).max() < 1e-12
    assert moved.verdict.good
    assert (moved.parts, moved.worn, moved.linear_iterations) == (1, None, 0.0)
    assert "Reference" in repr(reference)


def test_any_mesh_is_a_reference(grid, reference, tmp_path):
    grid.write(tmp_path / "mesh.vts")
    reference.write(tmp_path / "reference.grd")
    wall = twisted(reference.wall, 5.0)
    expected = reference.move_to(wall)
    for source, apart in [
        (tmp_path / "reference.grd", 0.0),
        (tmp_path / "mesh.vts", 1e-3),
        (gridgen.Mesh(np.asarray(grid.x), np.asarray(grid.y)), 1e-3),
    ]:
        moved = gridgen.Reference(source).move_to(wall)

        assert abs(moved.x - expected.x).max() <= apart
        assert moved.quality.folded_cells == 0


def test_derivatives_agree_with_central_differences(reference):
    wall = twisted(reference.wall, 3.0)
    by, h = smooth(wall), 1e-4
    ends = [reference.move_to(wall + step * by) for step in (-h, h)]
    moved = reference.move_to(wall)

    found = moved.derivative(by)

    expected = np.stack([(ends[1].x - ends[0].x), (ends[1].y - ends[0].y)], axis=-1) / (2 * h)
    assert np.linalg.norm(found - expected) < 1e-6 * np.linalg.norm(found)
    weights = np.sin(np.arange(found.size, dtype=float)).reshape(found.shape)
    heights = np.linspace(1.0, 2.0, len(wall))
    by_wall, by_heights = moved.adjoint(weights)
    both = moved.derivative(by, heights)
    left, right = (weights * both).sum(), (by_wall * by).sum() + (by_heights * heights).sum()
    assert abs(left - right) < 1e-7 * abs(left)


def test_the_blade_of_a_cascade_moves_within_its_passage(tmp_path, blade):
    grid, reference = blade, gridgen.Reference(blade)
    wall = reference.wall + 1e-2 * smooth(reference.wall)

    moved = reference.move_to(wall)

    assert np.array_equal(reference.mesh.x, grid.x)
    assert (moved.quality.folded_cells, len(moved.blocks), len(reference.mesh.blocks)) == (0, 4, 4)
    assert moved.quality.mean_skewness != gridgen.quality(moved.x, moved.y).mean_skewness
    assert abs(moved.x - grid.x).max() > 1e-3
    for own, before in zip(moved.blocks[1:], grid.blocks[1:], strict=True):
        assert np.array_equal(own, before)
    # Another process, a file and a mesh have all blocks, too.
    reference.write(tmp_path / "reference.grd")
    others = [
        pickle.loads(pickle.dumps(moved)),  # noqa: S301
        pickle.loads(pickle.dumps(reference.mesh)),  # noqa: S301
        gridgen.Reference(tmp_path / "reference.grd").move_to(wall),
        gridgen.Reference(pickle.loads(pickle.dumps(grid))).move_to(wall),  # noqa: S301
        gridgen.Reference(moved).unmoved(),
    ]
    for other in others:
        for own, before in zip(other.blocks[1:], grid.blocks[1:], strict=True):
            assert np.array_equal(own, before)
    for other in (others[0], *others[2:]):
        assert np.array_equal(other.x, moved.x)
    moved.write(tmp_path / "mesh.vts")
    names = {file.name for file in tmp_path.glob("*.vts")}
    assert names == {f"mesh.{name}.vts" for name in ("blade", "passage", "ahead", "behind")}


def test_a_base_moves_with_the_block_behind_it(tmp_path):
    sizes = {"ni": 161, "nj": 57, "first_cell": 1e-3}
    grid = gridgen.make(ROOT / "cases/du-flatback-c.toml", **sizes, backend="cpu")
    reference = gridgen.Reference(grid)
    wall = reference.wall + 1e-2 * smooth(reference.wall)

    moved = reference.move_to(wall)

    assert (moved.quality.folded_cells, len(moved.blocks), len(reference.mesh.blocks)) == (0, 2, 2)
    block, before = (np.stack(blocks[1], axis=-1) for blocks in (moved.blocks, grid.blocks))
    assert np.allclose([block[0, 0], block[-1, 0]], wall[[0, -1]], rtol=0.0, atol=1e-14)
    assert abs(block - before).max() > 1e-3
    # Forward and adjoint of a function of the nodes of both blocks.
    by = smooth(wall)
    found = moved.derivative(by, tolerance=1e-12)
    behind = reference.displacement_behind(found)
    assert behind.shape == block.shape
    weights, inner = (
        np.sin(np.arange(nodes.size, dtype=float)).reshape(nodes.shape) for nodes in (found, behind)
    )
    by_wall, _ = moved.adjoint(weights + reference.gather_behind(inner), tolerance=1e-12)
    left = (weights * found).sum() + (inner * behind).sum()
    assert abs(left - (by_wall * by).sum()) < 1e-9 * abs(left)
    for call in (reference.displacement_behind, reference.gather_behind):
        with pytest.raises(gridgen.CaseError, match="expected"):
            call(np.zeros((3, 4, 2)))
    # Another process, a file and a mesh have both blocks, too.
    reference.write(tmp_path / "reference.grd")
    others = [
        pickle.loads(pickle.dumps(moved)),  # noqa: S301
        gridgen.Reference(tmp_path / "reference.grd").move_to(wall),
        gridgen.Reference(pickle.loads(pickle.dumps(grid))).move_to(wall),  # noqa: S301
        gridgen.Reference(moved).unmoved(),
    ]
    for other in others:
        assert np.allclose(np.stack(other.blocks[1], axis=-1), block, rtol=0.0, atol=1e-9)


def test_the_mesh_of_a_solver_has_the_block_behind_a_base():
    grid = gridgen.make(
        naca="0012", edge_thickness=0.02, topology="C", ni=97, nj=33, first_cell=1e-3, backend="cpu"
    )
    reference = gridgen.Reference(grid)
    moving = gridgen.USMesh({"reference": reference, "spanCells": 1, "span": 0.5})
    surface = moving.getSurfaceCoordinates()
    surface[:, 1] += 0.02 * surface[:, 0] ** 2

    moving.setSurfaceCoordinates(surface)
    moving.warpMesh()

    (x, _), (bx, by) = moving.moved.blocks
    nodes = moving.getSolverGrid().reshape(-1, 3)
    assert len(nodes) == 2 * (x.size + bx.size)
    # The zones of a file: both planes of the grid, then those of the block.
    assert np.array_equal(nodes[: x.size, 0], x.ravel())
    assert np.array_equal(nodes[2 * x.size + bx.size :, 1], by.ravel())
    assert set(nodes[2 * x.size :][: bx.size, 2]) == {0.0}
    assert abs(by - grid.behind[1]).max() > 1e-2
    by_nodes = np.sin(np.arange(nodes.size, dtype=float))
    by_surface = np.zeros_like(surface)
    by_surface[:, :2] = np.tile(smooth(reference.wall), (2, 1))
    forward = moving.warpDerivFwd(by_surface)
    moving.warpDeriv(by_nodes)
    left, right = (by_nodes * forward).sum(), (moving.getdXs() * by_surface).sum()
    assert abs(left - right) < 1e-8 * abs(left)
    assert abs(forward.reshape(-1, 3)[2 * x.size :]).max() > 0.1


def test_grids_without_a_base_have_no_block_behind_it(reference):
    for call in (reference.displacement_behind, reference.gather_behind):
        with pytest.raises(gridgen.CaseError, match="there is no block behind a base"):
            call(np.zeros((*reference.mesh.shape, 2)))


def test_threads_share_a_reference(reference):
    wall = twisted(reference.wall, 2.0)
    moved = reference.move_to(wall)
    weights = np.ones((*moved.shape, 2))
    expected = moved.adjoint(weights)[0]
    found = []
    threads = [threading.Thread(target=lambda: found.append(moved.adjoint(weights)[0])) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert all((array == expected).all() for array in found)
    assert len(found) == 3


def test_impossible_movements_are_refused(reference, tmp_path):
    wall = reference.wall
    nan = wall.copy()
    nan[7, 1] = np.nan
    for given, error, said in [
        (wall[1:], gridgen.GeometryError, "64 wall points, where the reference has 65"),
        (wall[::-1], gridgen.GeometryError, "the other way around"),
        (nan, gridgen.GeometryError, "wall point 7"),
        (wall[:, :1], gridgen.CaseError, r"an array of shape \(n, 2\)"),
        ("wall", gridgen.CaseError, "an array of shape"),
    ]:
        with pytest.raises(error, match=said):
            reference.move_to(given)
    comb = wall.copy()
    comb[40:56:2, 1] += 0.5
    with pytest.raises(gridgen.NotConverged) as caught:
        reference.move_to(comb)
    assert not caught.value.grid.verdict.good
    with pytest.raises(gridgen.NotConverged, match="no derivatives"):
        caught.value.grid.derivative(wall)
    moved = reference.unmoved()
    with pytest.raises(gridgen.CaseError, match="nodes"):
        moved.adjoint(np.zeros((2, 2, 2)))
    with pytest.raises(gridgen.GeometryError):
        moved.derivative(wall[:3])
    with pytest.raises(gridgen.FileError):
        gridgen.Reference(tmp_path / "none.grd")
    with pytest.raises(gridgen.CaseError, match="unknown key"):
        gridgen.Reference(gridgen.Mesh(*np.meshgrid([0.0, 1.0, 2.0], [0.0, 1.0])), settings={"grid.ni": 3})
    with pytest.raises(gridgen.GeometryError, match="no wall to move"):
        gridgen.Reference(gridgen.Mesh(*np.meshgrid([0.0, 1.0, 3.0], [0.0, 1.0, 2.0, 3.5])))
    with pytest.raises(TypeError):
        gridgen.Moved()


@pytest.mark.parametrize("tolerance", [math.inf, 1.0, 2, 0.0, -1, math.nan, "tight", None])
def test_tolerances_that_are_none_are_refused(reference, tolerance):
    moved = reference.unmoved()
    nodes = np.ones((*moved.shape, 2))
    for derive in (
        lambda: moved.adjoint(nodes, tolerance=tolerance),
        lambda: moved.derivative(reference.wall, tolerance=tolerance),
        lambda: gridgen.USMesh({"reference": reference, "tolerance": tolerance}),
    ):
        with pytest.raises(gridgen.CaseError, match="tolerance: a number between 0 and 1"):
            derive()


@pytest.mark.parametrize("bad", [math.nan, math.inf, 1.7e308])
def test_derivatives_that_are_no_numbers_are_refused(reference, mesh, bad):
    moved = reference.unmoved()
    nodes = np.ones((*moved.shape, 2))
    nodes[5, 3, 1] = bad
    with pytest.raises(gridgen.CaseError, match="dJ/dy of node i = 3, j = 5 is"):
        moved.adjoint(nodes)
    wall = np.zeros_like(reference.wall)
    wall[7, 0] = bad
    with pytest.raises(gridgen.CaseError, match="displacement of wall point 7 is"):
        moved.derivative(wall)
    mesh.setSurfaceDefinition(surface_of(reference), np.zeros(4), np.array([4]), None)
    volume = np.ones(3 * 3 * 33 * 65)
    volume[3 * 100] = bad
    with pytest.raises(gridgen.CaseError, match="dJ/dx of node i = 35, j = 1 is"):
        mesh.warpDeriv(volume, solverVec=False)


@pytest.fixture
def mesh(reference):
    return gridgen.USMesh({"reference": reference, "spanCells": 2, "span": 0.5})


def surface_of(reference, planes=(0.0, 0.25, 0.5)):
    wall = reference.wall[:-1]
    return np.concatenate([np.column_stack([wall, np.full(len(wall), z)]) for z in planes])


def test_flow_solvers_find_the_methods_that_they_call(mesh, reference):
    surface = surface_of(reference)
    nodes = 33 * 65
    # A solver that owns only the last plane, and numbers its nodes backwards.
    ind = np.arange(3 * 3 * nodes).reshape(-1, 3)[2 * nodes :][::-1].ravel()
    mesh.setExternalMeshIndices(ind)
    mesh.setSurfaceDefinition(surface, np.zeros(4), np.array([4]), None)
    assert (mesh.getSurfaceCoordinates() == surface).all()
    before = mesh.getSolverGrid().reshape(-1, 3)
    assert (before[:, 2] == 0.5).all()

    moved = surface.copy()
    moved[:, :2] = twisted(surface[:, :2], 4.0)
    mesh.setSurfaceCoordinates(moved)
    mesh.warpMesh()

    expected = reference.move_to(twisted(reference.wall, 4.0))
    after = mesh.getSolverGrid().reshape(-1, 3)
    assert abs(after[::-1, 0] - expected.x.ravel()).max() < 1e-12
    assert mesh.getCommonGrid().shape == mesh.getWarpGrid().shape == (3 * 3 * nodes,)
    # The products are transposes of each other.
    rng = np.random.default_rng(1)
    dxs, dxv = np.tile(smooth(surface[:64, :2]), (3, 1)), rng.normal(size=ind.size)
    dxs = np.column_stack([dxs, np.zeros(len(dxs))])
    mesh.warpDeriv(dxv)
    left = (mesh.getdXs() * dxs).sum()
    forward = mesh.warpDerivFwd(dxs)
    assert abs(left - (forward * dxv).sum()) < 1e-7 * abs(left)
    assert (mesh.warpDerivFwd(dxs, solverVec=False).reshape(3, -1)[0, 2::3] == 0.0).all()
    mesh.warpDeriv(np.ones(3 * 3 * nodes), solverVec=False)
    assert mesh.getdXs().shape == surface.shape
    assert mesh.moved.verdict.good


def test_nodes_in_any_order_are_found(reference, tmp_path):
    mesh = reference.mesh
    x, y = np.asarray(mesh.x)[:, :-1], np.asarray(mesh.y)[:, :-1]  # the seam welded
    plane = np.stack([x.ravel(), y.ravel()], axis=1)
    order = np.random.default_rng(2).permutation(2 * len(plane))
    points = np.column_stack([np.tile(plane, (2, 1)), np.repeat([0.0, 0.1], len(plane))])[order]
    moving = gridgen.USMesh({"reference": reference, "points": points})

    assert abs(moving.getSolverGrid() - points.ravel()).max() < 1e-9
    surface = moving.getSurfaceCoordinates()
    assert surface.shape == (2 * 65, 3)
    surface[:, :2] = twisted(surface[:, :2], 1.0)
    moving.setSurfaceCoordinates(surface.ravel())
    moving.warpMesh()
    moving.writeGrid(str(tmp_path / "moved.vts"))
    assert abs(gridgen.read(tmp_path / "moved.vts").x - moving.moved.x).max() == 0.0


class Ranks:
    """A communicator of two ranks with equal data."""

    size = 2

    def allgather(self, values):
        return [values, values]


def test_ranks_add_up(reference):
    alone = gridgen.USMesh({"reference": reference})
    shared = gridgen.USMesh({"reference": reference}, comm=Ranks())
    dxv = np.ones(alone.getSolverGrid().size)
    for mesh in (alone, shared):
        mesh.warpDeriv(dxv)

    # The derivatives and the copies both double.
    assert abs(alone.getdXs() - shared.getdXs()).max() < 1e-9


def test_meshes_of_other_grids_are_refused(mesh, reference):
    with pytest.raises(gridgen.CaseError, match="unknown key gridfile"):
        gridgen.USMesh({"gridfile": "mesh.cgns"})
    with pytest.raises(gridgen.CaseError, match="one of reference and gridFile"):
        gridgen.USMesh({})
    with pytest.raises(gridgen.GeometryError, match="1 points are not of the reference, the first is 0"):
        gridgen.USMesh({"reference": reference, "points": [[0.3, 0.2, 0.0]]})
    with pytest.raises(gridgen.CaseError, match="coordinates from 0 to"):
        mesh.setExternalMeshIndices([10**9])
    with pytest.raises(gridgen.CaseError):
        mesh.setSurfaceDefinition(np.zeros((1, 2)))
    with pytest.raises(gridgen.GeometryError, match="surface nodes were expected"):
        mesh.setSurfaceCoordinates(np.zeros((4, 3)))
    surface = mesh.getSurfaceCoordinates()
    surface[3, 1] += 1e-3
    mesh.setSurfaceCoordinates(surface)
    with pytest.raises(gridgen.GeometryError, match="along the span"):
        mesh.warpMesh()


def test_the_partials_of_openmdao_are_consistent(mesh, reference, tmp_path, monkeypatch):
    om = pytest.importorskip("openmdao.api")
    monkeypatch.chdir(tmp_path)  # it makes a folder
    from gridgen.openmdao import MeshMovement, MovementBuilder

    # Only one plane is used, since OpenMDAO displaces every coordinate at random.
    mesh.setSurfaceDefinition(surface_of(reference, planes=(0.0,)))
    builder = MovementBuilder(mesh)
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("start", builder.get_mesh_coordinate_subsystem())
    problem.model.add_subsystem("mesh", builder.get_pre_coupling_subsystem())
    problem.model.connect("start.x_aero0", "mesh.x_aero")
    problem.setup()
    problem.run_model()
    # OpenMDAO draws the direction from numpy's global generator: a rough one exceeds the bound.
    monkeypatch.setattr(np.random, "random", np.random.default_rng(1).random)
    problem.model.mesh.set_check_partial_options(
        wrt="*", method="fd", form="central", step=1e-6, directional=True
    )
    checked = problem.check_partials(out_stream=None)["mesh"]["vol_coords", "x_aero"]

    # Differences in a random direction are no more accurate.
    assert max(checked["rel error"][:2]) < 1e-3
    assert checked["directional_fwd_rev"][0] == pytest.approx(checked["directional_fwd_rev"][1], rel=1e-7)
    builder.initialize(None)
    assert builder.get_ndof() == 3
    assert builder.get_number_of_nodes() == 64
    assert isinstance(builder.get_pre_coupling_subsystem(), MeshMovement)
    assert builder.get_coupling_group_subsystem() is None
    assert builder.get_post_coupling_subsystem() is None
    comb = mesh.getSurfaceCoordinates()
    comb[40:56:2, 1] += 0.5
    problem.set_val("start.x_aero0", comb.ravel())
    with pytest.raises(om.AnalysisError, match="NotConverged"):
        problem.run_model()


def test_torch_differentiates_through_a_movement(reference):
    torch = pytest.importorskip("torch")
    from gridgen.torch import move

    wall = torch.tensor(twisted(reference.wall, 2.0)[:-1], requires_grad=True)

    def closed(points):
        return move(reference, torch.cat([points, points[:1]]))

    assert torch.autograd.gradcheck(closed, (wall,), eps=1e-6, atol=1e-4, rtol=1e-5, fast_mode=True)
    assert torch.autograd.gradcheck(
        closed, (wall,), eps=1e-6, atol=1e-4, rtol=1e-5, fast_mode=True, check_forward_ad=True
    )
    single = wall.detach().to(torch.float32).requires_grad_()
    nodes = closed(single)
    nodes.square().sum().backward()
    assert nodes.dtype == single.grad.dtype == torch.float32
    assert torch.isfinite(single.grad).all()
