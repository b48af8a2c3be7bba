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


def test_clusters_are_a_list_of_mappings(small):
    cluster = {"x": 0.6, "spacing": 2e-3, "surface": "upper"}

    made = gridgen.make(**small | {"ni": 257}, clusters=[cluster])

    upper = made.x[0, made.x[0].argmin() :]
    cell = int(np.searchsorted(upper, 0.6)) - 1
    assert upper[cell + 1] - upper[cell] == pytest.approx(2e-3, rel=0.03)


def test_heights_of_first_cells_are_an_array_or_pairs_or_a_mapping(small):
    asked = 1e-3 * 3 ** (np.sin(np.linspace(0, np.pi, 65)) ** 2)
    pairs = [[0, 1e-3], [1, 3e-3]]

    by_point = gridgen.make(**small | {"first_cell": asked})
    by_pairs = gridgen.make(**small | {"first_cell": pairs})
    by_surface = gridgen.make(
        **small | {"first_cell": {"upper": np.array(pairs), "lower": [(0, 1e-3), (1, 3e-3)]}}
    )

    heights = np.hypot(by_point.x[1] - by_point.x[0], by_point.y[1] - by_point.y[0])
    assert np.abs(heights / asked - 1).max() < 1e-4
    assert same(by_pairs, by_surface)
    with pytest.raises(gridgen.CaseError, match="first_cell"):
        gridgen.make(**small | {"first_cell": [[0, 1e-5], [1]]})
    with pytest.raises(gridgen.GeometryError, match="3 heights, but the wall has 65 points"):
        gridgen.make(**small | {"first_cell": [1e-5, 2e-5, 1e-5]})


def test_growth_has_a_limit_and_boundary_layers_are_counted(small):
    coarse = small | {"nj": 13, "reynolds": 6e6}

    grid = gridgen.make(**coarse)
    with pytest.raises(gridgen.NotConverged, match=r"growth along j is .*, above 1\.3") as limited:
        gridgen.make(**coarse, max_growth=1.3)

    assert grid.quality.boundary_layer_cells > 0
    assert gridgen.make(**small).quality.boundary_layer_cells is None
    assert "grid.nj: " in limited.value.hint
    assert limited.value.grid.verdict.kind == "beyond-limit"
