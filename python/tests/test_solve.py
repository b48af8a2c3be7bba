"""Linear systems."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gridgen

sparse = pytest.importorskip("scipy.sparse")

# Options with which no GPU is used, wherever the tests run.
CPU = {"backend": "cpu", "threads": 1}


def laplace(n=20):
    """The five-point Laplacian on n x n points."""
    # Only functions that every version has are used.
    line = sparse.diags([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    one = sparse.identity(n)
    return sparse.csr_array(sparse.kron(line, one) + sparse.kron(one, line))


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
def test_a_matrix_in_any_format_of_scipy_is_solved(form):
    a, expected = laplace(), np.linspace(-1, 1, 400)

    x, report = gridgen.solve(a.asformat(form), a @ expected, **CPU)

    assert x.dtype == np.float64
    assert x.shape == (400,)
    assert abs(x - expected).max() < 1e-5
    assert report["converged"]
    assert report["matrix"]["entries"] == a.nnz
    assert report["matrix"]["symmetric"]
    assert report["true_relative_residual"] < 1e-8
    assert report["method"]["solver"] == "bicgstab"


def test_sparse_matrices_with_the_older_interface_are_solved():
    a = sparse.csr_matrix(laplace())

    x, _ = gridgen.solve(a, np.ones(400), **CPU)

    assert np.linalg.norm(a @ x - 1) < 1e-8 * 20


def test_dense_arrays_of_any_type_are_solved():
    a = np.array([[4, 1, 0], [1, 3, 0], [0, 2, 5]], dtype=np.int32)

    x, report = gridgen.solve(a, [1, 2, 3], **CPU)

    assert np.allclose(a @ x, [1, 2, 3])
    assert report["matrix"]["entries"] == 6
    assert np.array_equal(gridgen.solve(a.tolist(), (1, 2, 3), **CPU)[0], x)
    assert np.array_equal(gridgen.solve(np.asfortranarray(a), np.array([1, 0, 2, 0, 3])[::2], **CPU)[0], x)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "cg", "preconditioner": "ic0"},
        {"method": "gmres", "restart": 20, "preconditioner": "ilu0"},
        {"preconditioner": "none"},
        {"preconditioner": "jacobi", "format": "ell"},
        {"method": "cg", "preconditioner": "dic", "shift": 0.01, "reorder": "rcm"},
        {"schedule": "levels"},
        {"tolerance": 1e-3},
    ],
    ids=str,
)
def test_every_option_is_what_the_report_says(options):
    a = laplace()

    x, report = gridgen.solve(a, np.ones(400), **options, **CPU)

    words = {"solver" if name == "method" else name: value for name, value in options.items()}
    said = {**report["method"], "tolerance": report["tolerance"]}
    assert {name: said[name] for name in words} == words
    assert np.linalg.norm(a @ x - 1) <= 20 * options.get("tolerance", 1e-8)


def test_right_hand_sides_in_columns_are_solved_as_each_alone():
    a = laplace()
    b = np.stack([np.ones(400), np.linspace(-3, 1, 400), np.zeros(400)], axis=1)

    x, report = gridgen.solve(a, b, preconditioner="ilu0", **CPU)

    assert x.shape == b.shape
    assert x.flags.c_contiguous
    alone = [gridgen.solve(a, column, preconditioner="ilu0", **CPU) for column in b.T]
    assert all(np.array_equal(x[:, k], column) for k, (column, _) in enumerate(alone))
    assert "columns" not in alone[0][1]
    counts = [column["iterations"] for column in report["columns"]]
    assert counts == [one["iterations"] for _, one in alone]
    assert report["iterations"] == sum(counts)
    assert report["true_relative_residual"] == max(one["true_relative_residual"] for _, one in alone)
    same, _ = gridgen.solve(a, np.asfortranarray(b)[:, :1], preconditioner="ilu0", **CPU)
    assert np.array_equal(same, x[:, :1])


@pytest.mark.parametrize("reorder", ["none", "rcm"])
@pytest.mark.parametrize("method", ["bicgstab", "gmres", "cg"])
def test_a_solve_starts_from_x0(method, reorder):
    a = 1e-210 * laplace()  # it is scaled for the solve
    expected = np.linspace(-1, 1, 400) * 1e40
    solver = gridgen.LinearSolver(a, method=method, reorder=reorder, preconditioner="dic", **CPU)
    b = a @ expected

    x, far = solver.solve(b)
    near = x + 1e35 * np.cos(np.arange(400))
    again, report = solver.solve(b, near)
    same, none = solver.solve(b, x)

    assert 0 < report["iterations"] < far["iterations"]
    assert report["true_relative_residual"] < 1.02e-8
    assert np.linalg.norm(again - expected) < 1e-5 * np.linalg.norm(expected)
    assert none["iterations"] == 0
    assert np.array_equal(same, x)
    both, _ = solver.solve(np.stack([b, 2 * b], axis=1), np.stack([near, 2 * x], axis=1))
    assert np.array_equal(both[:, 0], again)
    assert np.array_equal(both[:, 1], 2 * x)


def test_factors_are_made_once():
    a = laplace(60)
    solver = gridgen.LinearSolver(a, preconditioner="ilu0", **CPU)
    expected, _ = gridgen.solve(a, np.ones(3600), preconditioner="ilu0", **CPU)

    first, second = (solver.solve(np.ones(3600)) for _ in range(2))

    assert np.array_equal(first[0], expected)
    assert np.array_equal(second[0], expected)
    assert first[1]["timing"]["factorisation_seconds"] > 0
    assert second[1]["timing"]["factorisation_seconds"] == 0
    assert second[1]["timing"]["solve_seconds"] > 0
    assert repr(solver) == "<gridgen.LinearSolver, 3600 rows>"
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(solver)


def test_an_invalid_matrix_is_refused_before_a_right_hand_side_is_there():
    with pytest.raises(gridgen.GridgenError, match="pivot") as refused:
        gridgen.LinearSolver(np.array([[0.0, 1.0], [1.0, 0.0]]), preconditioner="ilu0", **CPU)

    assert refused.value.exit_code == 1


def test_a_callback_gets_every_iteration():
    seen = []

    _, report = gridgen.solve(
        laplace(), np.ones((400, 2)), method="cg", callback=lambda *step: seen.append(step), **CPU
    )

    each = int(report["columns"][0]["iterations"])
    assert [number for number, _ in seen] == 2 * list(range(1, each + 1))
    assert seen[each - 1][1] < 1e-8 < seen[each - 2][1] < seen[0][1]


def test_an_exception_in_the_callback_ends_the_solve():
    def stop(_iteration, _residual):
        raise RuntimeError("enough")

    solver = gridgen.LinearSolver(laplace(60), method="cg", **CPU)
    with pytest.raises(RuntimeError, match="enough"):
        solver.solve(np.ones(3600), callback=stop)

    # The solver can be used again.
    assert solver.solve(np.ones(3600))[1]["converged"]


@pytest.mark.parametrize(
    ("x0", "words"),
    [
        (np.ones(3), r"x0: an array of the shape of b was expected, \(400,\), found \(3,\)"),
        (np.ones((400, 1)), "x0: an array of shape"),
        (np.full(400, np.inf), "x0: a number is not finite"),
        (np.full(400, 1j), "x0: real numbers"),
    ],
    ids=str,
)
def test_invalid_starts_are_refused(x0, words):
    with pytest.raises(gridgen.MatrixError, match=words):
        gridgen.solve(laplace(), np.ones(400), x0, **CPU)


def test_columns_that_are_not_solved_are_named():
    with pytest.raises(gridgen.NotConverged) as stopped:
        b = np.stack([np.zeros(400), np.ones(400)], axis=1)
        gridgen.solve(laplace(), b, max_iterations=2, **CPU)

    columns = stopped.value.data["report"]["columns"]
    assert [column["converged"] for column in columns] == [True, False]
    assert stopped.value.data["x"].shape == (400, 2)
    assert stopped.value.hint.startswith("allow more max_iterations")


def test_an_unsolved_system_is_an_error_with_the_last_x():
    with pytest.raises(gridgen.NotConverged) as stopped:
        gridgen.solve(laplace(), np.ones(400), max_iterations=2, **CPU)

    error = stopped.value
    assert error.message.startswith("the system is not solved: ")
    assert error.hint.startswith("allow more max_iterations")
    assert error.grid is None
    assert error.data["x"].shape == (400,)
    assert not error.data["report"]["converged"]


def test_the_hint_names_a_remedy(subtests):
    skew = sparse.csr_array(np.array([[1.0, 9.0], [9.0, 1.0]]))
    empty = sparse.csr_array(np.diag([1.0, 0.0]))
    for matrix, options, words in [
        (empty, {"preconditioner": "none"}, "empty rows"),
        (skew, {"method": "cg", "preconditioner": "none"}, "method"),
    ]:
        with subtests.test(words):
            try:
                gridgen.solve(matrix, [1.0, 1.0], **options, **CPU)
            except gridgen.NotConverged as error:
                assert words in error.hint


@pytest.mark.parametrize(
    ("matrix", "b", "words"),
    [
        (np.ones((2, 3)), [1, 1], "square"),
        (sparse.csr_array((3, 2)), [1, 1, 1], "square"),
        (np.eye(3), [1, 1], "b: "),
        (np.eye(3), np.ones((3, 1, 1)), r"b: an array of shape \(n,\) or \(n, k\)"),
        (np.eye(3), np.ones((3, 0)), r"b: an array of shape \(n,\) or \(n, k\)"),
        (np.eye(3), np.ones((2, 3)), "b: 2 numbers, the matrix has 3 rows"),
        (np.eye(3), [1, 1, math.nan], "b"),
        (np.diag([1, math.inf, 1]), [1, 1, 1], "A"),
        (np.eye(3) * 1j, [1, 1, 1], "A: real numbers were expected, found complex128"),
        (sparse.csr_array(np.eye(3) * 1j), [1, 1, 1], "A: real numbers"),
        (np.eye(3), [1j, 1, 1], "b: real numbers"),
        (np.eye(3), ["a", "b", "c"], "b: real numbers"),
        (np.zeros((2, 2, 2)), [1, 1], "A: an array of shape"),
        (np.ones(4), [1, 1], "A: an array of shape"),
        (np.triu(np.ones((3, 3))), [1, 1, 1], "symmetric"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_invalid_systems_are_refused(matrix, b, words):
    options = {"method": "cg"} if words == "symmetric" else {}

    with pytest.raises(gridgen.MatrixError, match=words) as refused:
        gridgen.solve(matrix, b, **options, **CPU)

    assert isinstance(refused.value, ValueError)


@pytest.mark.parametrize(
    "options",
    [
        {"method": "jacobi"},
        {"preconditioner": "ilu"},
        {"tolerance": 2.0},
        {"tolerance": math.nan},
        {"max_iterations": 0},
        {"restart": 0},
        {"restart": 1001},
        {"shift": -1.0},
        {"schedule": "fast"},
        {"format": "coo"},
        {"reorder": "amd"},
        {"threads": 0},
        {"preconditioner": "none", "shift": 0.1},
    ],
    ids=str,
)
def test_options_out_of_range_are_refused(options):
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.solve(np.eye(3), np.ones(3), **{"backend": "cpu"} | options)

    assert list(options)[-1] in refused.value.message


@given(
    arrays.arrays("f8", st.tuples(st.integers(0, 6), st.integers(0, 6)), elements=st.floats(-10, 10)),
    arrays.arrays("f8", st.integers(0, 6), elements=st.floats(-10, 10)),
    st.sampled_from(["none", "jacobi", "dilu", "ilu0"]),
)
def test_any_small_system_is_solved_or_refused(a, b, preconditioner):
    try:
        x, report = gridgen.solve(a, b, preconditioner=preconditioner, max_iterations=50, **CPU)
    except gridgen.GridgenError as error:
        assert error.message
    else:
        assert np.linalg.norm(b - a @ x) <= 2e-8 * np.linalg.norm(b)
        assert report["converged"]
