"""One grid: its arguments and its attributes."""

import json
import logging

import numpy as np
import pytest

import gridgen


def same(a, b):
    return np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y)


def test_a_grid_has_the_requested_points(grid):
    assert grid.shape == grid.x.shape == grid.y.shape == (33, 65)
    assert grid.x.dtype == grid.y.dtype == np.float64
    assert (grid.topology, grid.wall) == ("O", (0, 64))
    assert grid.x[0, 0] == grid.x[0, -1] == 1.0


def test_first_cells_have_the_requested_height(grid):
    height = np.hypot(grid.x[1] - grid.x[0], grid.y[1] - grid.y[0])

    assert abs(height / 1e-3 - 1).max() < 1e-3
    assert grid.quality.first_cell_max == pytest.approx(1e-3, rel=1e-3)


def test_keys_by_section_by_name_and_by_mapping_make_the_same_grid(grid):
    options = {"backend": "cpu"}
    sections = {
        "geometry": {"naca": "2412"},
        "grid": {"ni": 65, "nj": 33, "first_cell": 1e-3, "topology": "O"},
    }

    assert same(gridgen.make(**sections, **options), grid)
    assert same(gridgen.make(sections, **options), grid)
    keys = {"naca": "2412", "topology": "O", "ni": 129, "nj": 33}
    assert same(gridgen.make(keys, ni=65, grid={"first_cell": 1e-3}, **options), grid)


def test_keywords_replace_those_of_a_case_file(tmp_path, grid):
    file = tmp_path / "wing.toml"
    file.write_text(
        "[geometry]\nnaca = '0012'\n[grid]\ntopology = 'O'\nni = 129\nnj = 33\nfirst_cell = 1e-3\n"
    )

    assert same(gridgen.make(file, naca="2412", ni=65, backend="cpu"), grid)
    assert same(gridgen.make(str(file), geometry={"naca": "2412"}, grid={"ni": 65}, backend="cpu"), grid)


def test_values_of_numpy_are_numbers_and_none_means_not_given(small, grid):
    values = {"ni": np.int32(65), "nj": np.array(33), "first_cell": np.float32(0.25), "y_plus": None}

    made = gridgen.make(**small | values)

    assert made.shape == grid.shape
    assert made.quality.first_cell_max == pytest.approx(0.25, rel=0.1)


def test_sections_within_sections_are_mappings(small):
    flap = gridgen.make(**small, flap={"angle": 5.0, "hinge": 0.8})
    circle = gridgen.make(**small | {"naca": None}, ellipse={"thickness": 0.5})
    default = gridgen.make(**small | {"naca": None}, ellipse={})

    assert flap.report["geometry"]["flap"]["hinge"] == 0.8
    assert np.ptp(circle.y[0]) == pytest.approx(0.5, rel=1e-3)
    assert np.ptp(default.y[0]) == pytest.approx(1.0, rel=1e-3)


def test_points_are_a_section(small, section):
    made = gridgen.make(**small | {"naca": None}, points=section)

    formula = gridgen.make(**small | {"naca": "0012"})
    assert abs(made.y[0] - formula.y[0]).max() < 1e-3
    assert made.verdict


def test_points_replace_the_section_of_a_case(tmp_path, small, section):
    (tmp_path / "wing.toml").write_text("geometry.naca = '2412'\n")
    sizes = small | {"naca": None}

    made = gridgen.make(tmp_path / "wing.toml", **sizes, points=section)

    assert same(made, gridgen.make(**sizes, points=section))
    assert same(made, gridgen.make({"geometry": {"naca": "2412"}}, **sizes, points=section))


def test_relative_files_start_at_the_folder_of_the_case(tmp_path, small, section, monkeypatch):
    np.savetxt(tmp_path / "wing.dat", section, header="wing", comments="")
    (tmp_path / "wing.toml").write_text("geometry.file = 'wing.dat'\n")
    sizes = small | {"naca": None}

    from_case = gridgen.make(tmp_path / "wing.toml", **sizes)
    monkeypatch.chdir(tmp_path)
    from_key = gridgen.make(geometry={"file": "wing.dat"}, **sizes)

    assert same(from_case, from_key)


def test_report_history_and_verdict_agree(grid):
    report = grid.report
    steps = grid.history

    assert grid.verdict == gridgen.Verdict("good", True, "the grid is good")
    assert bool(grid.verdict)
    assert report["verdict"] == grid.verdict._asdict()
    assert report["quality"]["max_skewness"] == grid.quality.max_skewness
    assert report["newton"]["iterations"] == len(steps) - 1
    assert [step.step for step in steps] == list(range(len(steps)))
    assert steps[-1].residual == report["newton"]["residual"] < report["newton"]["tolerance"]
    assert sum(step.linear_iterations for step in steps) == report["linear"]["iterations"]
    assert all(isinstance(step.linear_residuals, tuple) for step in steps)
    assert grid.notes == report["notes"]


def test_the_resolved_case_makes_the_same_grid(tmp_path, grid):
    (tmp_path / "again.toml").write_text(grid.case)

    assert same(gridgen.make(tmp_path / "again.toml", backend="cpu"), grid)


def test_nothing_is_written_unless_there_is_an_output_folder(tmp_path, small, monkeypatch):
    monkeypatch.chdir(tmp_path)

    assert gridgen.make(**small).files == []
    assert list(tmp_path.iterdir()) == []


def test_files_are_those_of_the_command(tmp_path, small, grid):
    made = gridgen.make(**small, output=tmp_path / "out", pictures=False, formats=("vts", "su2"))

    names = {file.relative_to(tmp_path / "out").as_posix() for file in made.files}
    assert {"mesh.vts", "mesh.su2", "report.json", "case.toml", "convergence.csv"} <= names
    assert all(file.exists() for file in made.files)
    assert json.loads((tmp_path / "out" / "report.json").read_text())["verdict"]["good"]
    assert same(gridgen.read(tmp_path / "out" / "mesh.vts"), grid)
    assert same(made, grid)


def test_files_of_others_are_not_replaced_without_force(tmp_path, small):
    (tmp_path / "mesh.vts").write_text("mine")
    keys = small | {"output": tmp_path, "pictures": False}

    with pytest.raises(gridgen.FileError) as refused:
        gridgen.make(**keys)
    gridgen.make(**keys, force=True)

    assert "mesh.vts" in str(refused.value)
    assert (tmp_path / "mesh.vts").read_bytes() != b"mine"


def test_the_section_output_is_a_mapping(tmp_path, small, monkeypatch):
    monkeypatch.chdir(tmp_path)

    made = gridgen.make(**small, output={"span_cells": 4})
    made.write("wing.vts")

    assert "span_cells = 4" in made.case
    # The extent of the nodes is 0 64, 0 32, 0 4.
    assert b"0 64 0 32 0 4" in (tmp_path / "wing.vts").read_bytes()[:2000]


def test_a_grid_that_is_not_good_is_an_error_that_has_it(small):
    with pytest.raises(gridgen.NotConverged) as stopped:
        gridgen.make(**small, newton={"max_iterations": 1}, retry=False)

    error = stopped.value
    assert "did not converge: the limit of 1 Newton step was reached" in error.message
    assert error.hint
    assert error.exit_code == 1
    assert error.data["kind"] == "not-converged"
    assert error.grid.shape == (33, 65)
    assert not error.grid.verdict
    assert len(error.grid.history) == 2
    assert repr(error.grid) == "<gridgen.Grid 65 x 33, O, not-converged>"


def test_progress_is_each_newton_step(small, grid):
    seen = []

    made = gridgen.make(**small, progress=seen.append)

    assert [step.residual for step in seen] == [step.residual for step in made.history]
    assert same(made, grid)


def test_progress_true_shows_a_bar(small, capsys):
    pytest.importorskip("tqdm")

    gridgen.make(**small, progress=True)

    assert "residual=" in capsys.readouterr().err


def test_an_exception_of_the_callback_ends_the_solve(small):
    class Enough(Exception):  # noqa: N818
        pass

    seen = []

    def stop(step):
        seen.append(step)
        raise Enough

    with pytest.raises(Enough):
        gridgen.make(**small, progress=stop)

    assert len(seen) == 1


def test_notes_go_to_logging(small, section, caplog):
    # A repeated point is dropped, with a note.
    section = np.insert(section, 5, section[5], axis=0)

    with caplog.at_level(logging.INFO, "gridgen"):
        made = gridgen.make(**small | {"naca": None}, points=section)

    assert made.notes
    assert [record.getMessage() for record in caplog.records] == made.notes
    assert {record.name for record in caplog.records} == {"gridgen"}


def test_a_run_continues_from_a_restart_file(tmp_path, small, grid):
    with pytest.raises(gridgen.NotConverged):
        gridgen.make(**small, newton={"max_iterations": 2}, retry=False, output=tmp_path, pictures=False)

    made = gridgen.make(**small, restart=tmp_path / "restart.bin")

    assert abs(made.x - grid.x).max() < 1e-8


def test_c_grids_and_half_grids_have_the_range_of_the_wall(small):
    c = gridgen.make(**small | {"ni": 97, "wake": 16, "topology": "C"})
    half = gridgen.make(**small | {"naca": "0012", "topology": "half"})

    assert (c.topology, c.wall) == ("C", (16, 80))
    assert c.x[0, 16] == c.x[0, 80] == 1.0
    assert (half.topology, half.wall) == ("half", (0, 64))


def test_threads_do_not_change_a_bit(small, grid):
    assert same(gridgen.make(**small, threads=1), grid)


def test_a_grid_is_not_constructed():
    with pytest.raises(TypeError, match=r"gridgen\.make"):
        gridgen.Grid()


def test_results_are_in_chords(small, grid):
    made = gridgen.make(**small, chord=2.0)

    assert made.x[0].max() == pytest.approx(2.0)
    assert made.quality.first_cell_max == pytest.approx(grid.quality.first_cell_max)


def surfaces(grid):
    """The points of the lower and of the upper surface, edges included."""
    wall = np.stack([grid.x[0], grid.y[0]], axis=1)[slice(grid.wall[0], grid.wall[1] + 1)]
    nose = int(wall[:, 0].argmin())
    return wall[: nose + 1], wall[nose:]


def test_the_section_decides_the_topology(small, section):
    del small["topology"]
    cases = [({}, "C"), ({"trailing_edge": "blunt"}, "O"), ({"reach": 0.5}, "O"), ({"wake": 12}, "C")]
    for keys, topology in cases:
        assert gridgen.make(**small | keys).topology == topology
    del small["naca"]
    assert gridgen.make(**small, points=section).topology == "C"
    assert gridgen.make(**small, ellipse={}).topology == "O"
    with pytest.raises(gridgen.CaseError, match="this is an O-grid, since") as refused:
        gridgen.make(**small, naca="2412", trailing_edge="blunt", wake=12)
    assert refused.value.hint.startswith("leave grid.wake out, or close the base")


def test_each_surface_has_the_points_asked_for(small):
    del small["ni"]
    for topology, wake in (("O", 0), ("C", 24)):
        more = {"topology": topology} | ({"wake": wake} if wake else {})
        made = gridgen.make(**small | more, points_upper=81, points_lower=49)

        lower, upper = surfaces(made)
        assert (len(upper), len(lower)) == (81, 49)
        assert made.shape[1] == 81 + 49 - 1 + 2 * wake


def test_an_outer_line_is_a_list_of_pieces_or_a_box_with_curves(tmp_path):
    sizes = {"topology": "C", "ni": 129, "nj": 49, "wake": 24, "first_cell": 1e-3}
    front = [[0, -1], [0, 1]]
    pieces = [
        {"name": "ground", "kind": "slip", "points": np.array([[4, -1], [0, -1]])},
        {"name": "nozzle", "kind": "inlet", "points": front, "through": [-1, 0]},
        {"name": "top", "kind": "wall", "points": ((0, 1), (4, 1))},
    ]

    made = gridgen.make(naca="0012", **sizes, piece=pieces)
    bump = [[-1, -1], [0, -0.9], [1, -0.9], [3, -1]]
    boxed = gridgen.make(naca="0012", **sizes, box=[-1, 3, -1, 1], floor_curve=bump)

    assert made.verdict.good
    assert boxed.verdict.good
    made.write(tmp_path / "mesh.su2")
    lines = (tmp_path / "mesh.su2").read_text().splitlines()
    tags = [line.split()[1] for line in lines if line.startswith("MARKER_TAG")]
    assert sorted(tags) == ["airfoil", "ground", "nozzle", "outlet", "top"]
    with pytest.raises(gridgen.CaseError, match=r"piece\.points"):
        gridgen.make(naca="0012", **sizes, piece=[pieces[0] | {"points": "roof.dat"}])


def test_points_gather_at_a_cluster_within_the_limits(small):
    cluster = {"x": 0.6, "spacing": 2e-3, "surface": "upper"}

    made = gridgen.make(**small | {"ni": 257}, clusters=[cluster], max_spacing=0.04, wall_growth=1.12)

    lower, upper = surfaces(made)
    length = [np.hypot(*np.diff(side, axis=0).T) for side in (lower, upper)]
    cell = int(np.searchsorted(upper[:, 0], 0.6)) - 1
    assert length[1][cell] == pytest.approx(2e-3, rel=0.02)
    assert max(length[0].max(), length[1].max()) < 0.0401
    for lengths in length:
        ratio = lengths[1:] / lengths[:-1]
        assert max(ratio.max(), (1 / ratio).max()) < 1.12 * 1.01


def test_points_as_given_are_the_wall(small, section):
    for topology in ("O", "C"):
        keys = {"points": section, "topology": topology, "wall_points": "as-given"}
        rest = {key: small[key] for key in small if key not in ("naca", "ni")}

        made = gridgen.make(**rest | keys)

        first, last = made.wall
        assert np.array_equal(made.x[0, first : last + 1], section[::-1, 0])
        assert np.array_equal(made.y[0, first : last + 1], section[::-1, 1])


def test_several_errors_of_a_call_are_told_at_once(small):
    with pytest.raises(gridgen.CaseError, match="2 errors") as refused:
        gridgen.make(**small | {"ni": 9}, newton={"forcing_min": 0.9})

    assert "ni = 9" in str(refused.value)


def test_all_unreadable_arguments_are_told_at_once(small):
    with pytest.raises(gridgen.CaseError, match="3 errors") as refused:
        gridgen.make(**small | {"ni": "many", "far_field": -1}, newton={"tolerence": 1})
    assert all(name in str(refused.value) for name in ("ni = ", "far_field = -1", "tolerence"))

    with pytest.raises(gridgen.CaseError, match="2 errors") as refused:
        gridgen.make(**small | {"ni": {1}, "nj": object()})
    assert "\n  ni: a number" in str(refused.value)
    assert "\n  nj: a number" in str(refused.value)


@pytest.mark.parametrize("naca", ["63-215", "65(3)-218", "64A410", "66-210 a=0.5", "n0012"])
def test_naca_sections_have_their_usual_designations(small, naca):
    made = gridgen.make(**small | {"naca": naca})

    y = made.y[0]
    thickness = {"63-215": 0.15, "65(3)-218": 0.18, "64A410": 0.1, "66-210 a=0.5": 0.1, "n0012": 0.12}[naca]
    assert abs(y.max() - y.min() - thickness) < 0.02


def test_first_cells_grow_along_the_wake_without_waves(small):
    made = gridgen.make(
        **small
        | {"topology": "C", "ni": 193, "nj": 65, "wake": 40, "wake_first_cell": 1e-2, "far_field": 500}
    )

    heights = np.hypot(made.x[1] - made.x[0], made.y[1] - made.y[0])
    assert np.allclose(heights[:2], 1e-2, rtol=1e-4)
    assert made.quality.waves_deg < 5
