"""Arguments of any form: each is used or refused with its reason, and none ends the process."""

import math
import os
import string
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gridgen
from gridgen._keys import Keys
from support import SMALL, naca0012, ring

SIZES = {name: value for name, value in SMALL.items() if name != "naca"} | {"ni": 33, "nj": 17}
# Values that no key with a numerical value accepts.
WRONG = [math.nan, math.inf, -math.inf, -1, 10**30, -(10**30), 2**63, 1e308, "many", "", "257\n", True]
WRONG += [[], ["vts"], [1], (), {"a": 1}, 1j, b"257", object(), np.zeros(3), np.array("a"), range(3)]
REFUSED = (gridgen.CaseError, gridgen.GeometryError)


def forms(array):
    """Equal numbers in other memory layouts."""
    read_only = array.copy()
    read_only.setflags(write=False)
    wide = np.zeros((2 * array.shape[0], 3 * array.shape[1]))
    wide[::2, ::3] = array
    return {
        "rows": array.copy(),
        "columns": np.asfortranarray(array),
        "read-only": read_only,
        "strided": wide[::2, ::3],
        "backwards": array[::-1].copy()[::-1],
        "big-endian": array.astype(">f8"),
        "lists": array.tolist(),
        "tuples": tuple(map(tuple, array.tolist())),
        "unaligned": np.frombuffer(b"." + array.tobytes(), np.uint8)[1:].view("<f8").reshape(array.shape),
    }


@pytest.mark.parametrize("form", forms(naca0012()))
def test_points_in_any_memory_make_the_same_grid(form):
    points = forms(naca0012())[form]

    made = gridgen.make(points=points, **SIZES)

    expected = gridgen.make(points=naca0012(), **SIZES)
    assert np.array_equal(made.x, expected.x)
    assert np.array_equal(made.y, expected.y)


@pytest.mark.parametrize("form", forms(np.zeros((3, 3))))
def test_coordinates_in_any_memory_are_the_same_mesh(form):
    x, y = ring()

    assert gridgen.quality(forms(x)[form], forms(y)[form]) == gridgen.quality(x, y)


def test_points_are_not_written_to_nor_kept():
    points = naca0012()
    before = points.copy()

    grid = gridgen.make(points=points, **SIZES)
    x = grid.x.copy()
    assert np.array_equal(points, before)
    points[:] = np.nan

    assert np.array_equal(grid.x, x)


@pytest.mark.parametrize("dtype", ["float32", "float16", "longdouble"])
def test_points_of_other_precision_are_converted(dtype):
    assert gridgen.make(points=naca0012().astype(dtype), **SIZES).verdict


@pytest.mark.parametrize(
    "points",
    [
        [],
        np.zeros((0, 2)),
        np.zeros((5, 3)),
        np.zeros(7),
        np.zeros((2, 3, 2)),
        naca0012().T,
        naca0012().astype(complex),
        naca0012().astype(bool),
        naca0012().astype(object),
        naca0012().astype(str),
        "naca0012",
        3.0,
        {"x": 1},
        np.array([["2026-01-01", "2026-01-02"]], dtype="datetime64[D]"),
    ],
    ids=str,
)
def test_values_other_than_arrays_of_points_are_refused(points):
    with pytest.raises(REFUSED) as refused:
        gridgen.make(points=points, **SIZES)

    assert "points" in refused.value.message


def test_rows_of_different_lengths_are_refused_by_name():
    # NumPy before 1.24 makes an array of lists here, with a warning.
    with pytest.raises(gridgen.CaseError, match="points"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gridgen.make(points=[[0, 1], [2]], **SIZES)


def test_points_in_rows_get_the_hint_to_transpose_them():
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make(points=naca0012().T, **SIZES)

    assert refused.value.message == "points: an array of shape (n, 2) was expected, found (2, 81)"
    assert refused.value.hint == "give them as columns: points.T"
    assert refused.value.data["shape"] == (2, 81)


@given(
    row=st.integers(0, 80),
    column=st.integers(0, 1),
    value=st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e308, 5e-324, 1e9]),
)
def test_points_with_numbers_that_are_not_finite_are_refused_or_used(row, column, value):
    points = naca0012()
    points[row, column] = value

    try:
        grid = gridgen.make(points=points, **SIZES)
    except gridgen.NotConverged as error:
        grid = error.grid
    except REFUSED as error:
        assert error.message
        return

    assert math.isfinite(value)
    assert np.isfinite(grid.x).all()


@given(
    arrays.arrays(
        dtype=st.sampled_from(["f8", "f4", "i4", "u1"]),
        shape=arrays.array_shapes(min_dims=2, max_dims=2, min_side=0, max_side=12).map(lambda s: (s[0], 2)),
    )
)
def test_any_few_points_are_a_section_or_refused(points):
    try:
        grid = gridgen.make(points=points, **SIZES, retry=False, newton={"max_iterations": 3})
    except (*REFUSED, gridgen.NotConverged) as error:
        assert error.message
    else:
        assert np.isfinite(grid.x).all()


@given(
    name=st.sampled_from(
        ["ni", "nj", "first_cell", "far_field", "y_plus", "max_turn", "span_cells", "tolerance"]
    ),
    value=st.sampled_from(WRONG),
)
def test_values_that_a_key_does_not_accept_are_refused(name, value):
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make(**SIZES | {"naca": "0012", name: value})

    assert name in refused.value.message


# The table of all characters that `st.text` makes first takes seconds.
CHARACTERS = st.sampled_from(string.printable) | st.integers(0x80, 0xD7FF).map(chr)
CHARACTERS |= st.integers(0xE000, 0x10FFFF).map(chr)


@given(name=st.lists(CHARACTERS, min_size=1, max_size=20).map("".join), value=st.integers())
def test_unknown_keys_are_refused(name, value):
    if name in Keys.__annotations__:
        return

    with pytest.raises(gridgen.CaseError):
        gridgen.make({"naca": "0012", name: value})


def test_names_of_keys_are_text():
    with pytest.raises(gridgen.CaseError, match="names of keys are text, found 3"):
        gridgen.make({3: 4})


@pytest.mark.parametrize("case", [3, b"\xff.toml", 1.5, ["wing.toml"]])
def test_values_other_than_cases_are_refused(case):
    with pytest.raises((TypeError, gridgen.CaseError)):
        gridgen.make(case)


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 0},
        {"threads": -1},
        {"threads": 2.0},
        {"threads": "2"},
        {"devices": -1},
        {"devices": [0, -2]},
        {"devices": ["0"]},
        {"backend": "tpu"},
    ],
    ids=str,
)
def test_options_that_are_no_such_numbers_are_refused(options):
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make(**SIZES | {"naca": "0012"} | options)

    assert next(iter(options)) in refused.value.message


@given(
    x=arrays.arrays("f8", arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)),
    y=arrays.arrays("f8", arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5)),
)
def test_any_coordinates_are_measured_or_refused(x, y):
    try:
        quality = gridgen.quality(x, y)
    except gridgen.GridgenError as error:
        assert error.message
    else:
        assert x.shape == y.shape
        assert x.ndim == 2
        assert isinstance(quality.folded_cells, int)


@given(arrays.arrays("f8", (4, 7), elements=st.floats(-1e3, 1e3)), arrays.arrays("f8", (4, 7)))
def test_meshes_of_any_numbers_are_measured(x, y):
    try:
        mesh = gridgen.Mesh(x, y)
    except gridgen.GridgenError as error:
        assert error.message
        return

    assert mesh.quality.folded_cells >= 0
    assert mesh.cell_area.size == 18


def test_coordinates_of_different_shapes_are_refused():
    x, y = ring()

    with pytest.raises(gridgen.CaseError, match=r"y: .*\(9, 33\), found \(9, 32\)"):
        gridgen.quality(x, y[:, 1:])
    with pytest.raises(gridgen.CaseError, match="real numbers were expected, found complex128"):
        gridgen.quality(x, y + 1j)


LONE = "\ud800"


@pytest.mark.parametrize(
    "call",
    [
        lambda: gridgen.make(naca=LONE),
        lambda: gridgen.make({"geometry": {"naca": LONE}}),
        lambda: gridgen.make({LONE: 1}),
        lambda: gridgen.make(naca="0012", formats=["vts", LONE]),
        lambda: gridgen.make(file=os.fsdecode(b"\xff.dat")),
        lambda: gridgen.make(naca="0012", force="yes"),
        lambda: gridgen.make_assembly({"element": [{"name": LONE}]}),
        lambda: gridgen.make_assembly({"element": [{LONE: 1}]}),
        lambda: gridgen.make_assembly({"element": []}, strict="yes"),
    ],
)
def test_invalid_text_and_flags_are_case_errors(call):
    with pytest.raises(gridgen.CaseError):
        call()


@pytest.mark.parametrize(
    "options", [{"span_cells": -1}, {"span_cells": 1.5}, {"curved_order": -1}, {"force": "no"}]
)
def test_invalid_options_of_a_file_are_case_errors(tmp_path, options):
    mesh = gridgen.make(naca="0012", ni=65, nj=33)

    with pytest.raises(gridgen.CaseError, match=next(iter(options))):
        mesh.write(tmp_path / "mesh.vts", **options)

    assert not list(tmp_path.iterdir())


def test_a_mesh_whose_border_is_no_number_is_none():
    x = np.full((5, 9), np.nan)

    with pytest.raises(gridgen.CaseError, match="finite numbers were expected on the border"):
        gridgen.Mesh(x, np.zeros((5, 9)))


@pytest.mark.parametrize("span", [float("nan"), float("inf"), 0.0, -1.0])
def test_a_span_that_is_no_length_is_refused(span):
    grid = gridgen.make(naca="0012", ni=65, nj=33)

    with pytest.raises(gridgen.CaseError, match="span"):
        gridgen.USMesh(options={"reference": gridgen.Reference(grid), "span": span})
