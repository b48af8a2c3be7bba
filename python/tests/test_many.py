"""Many cases at a time."""

import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import gridgen
from gridgen import _core
from support import SMALL

CASES = [{"naca": f"{camber}4{thickness:02}"} for camber in (1, 2, 4) for thickness in (9, 12, 15)]
SIZES = {name: value for name, value in SMALL.items() if name != "naca"}


def test_results_come_in_the_order_of_the_cases():
    results = list(gridgen.make_many(CASES, jobs=3, **SIZES))

    assert [result.index for result in results] == list(range(9))
    assert [result.case for result in results] == CASES
    assert all(result.error is None for result in results)
    alone = gridgen.make(CASES[4], **SIZES)
    assert np.array_equal(results[4].grid.x, alone.x)


def test_jobs_by_default_are_as_many_as_the_first_case_allows():
    on_cpu = _core.default_jobs(None, [("naca", "0012")], "cpu", None)
    # Only a few cases of this size fit in memory, whatever the number of CPUs.
    large = _core.default_jobs(None, [("naca", "0012"), ("ni", 40001), ("nj", 20001)], "cpu", None)

    assert 1 == large <= on_cpu <= (os.cpu_count() or 1)
    results = list(gridgen.make_many([{"naca": "99x"}, {"naca": "0012"}], **SIZES))
    assert [result.error is None for result in results] == [False, True]
    assert list(gridgen.make_many([])) == []


def test_an_error_belongs_to_its_case():
    cases = [{"naca": "0012"}, {"naca": "99x"}, {"naca": "0012", "newton": {"max_iterations": 1}}]
    cases += [{"ni": "many"}, 3, {"naca": "0015"}]

    results = list(gridgen.make_many(cases, jobs=2, retry=False, **SIZES | {"ni": None}))

    kinds = [type(result.error) for result in results]
    assert kinds[0] is kinds[5] is type(None)
    assert issubclass(kinds[1], gridgen.GridgenError)
    assert kinds[2] is gridgen.NotConverged
    assert kinds[3] is gridgen.CaseError
    assert kinds[4] is TypeError
    assert results[2].grid is None
    assert not results[2].error.grid.verdict
    assert "NotConverged" in repr(results[2])
    assert "gridgen.Grid" in repr(results[0])


def test_unordered_results_come_as_they_complete():
    sizes = {name: SIZES[name] for name in ("ni", "nj")}
    cases = [{"naca": "2412", "ni": 129, "nj": 65}, *(case | sizes for case in CASES)]

    results = list(gridgen.make_many(cases, jobs=2, ordered=False, **SIZES | dict.fromkeys(sizes)))

    assert sorted(result.index for result in results) == list(range(10))


def test_cases_are_taken_as_results_are_taken():
    taken = []

    def cases():
        for case in CASES * 100:
            taken.append(case)
            yield case

    results = gridgen.make_many(cases(), jobs=2, **SIZES)
    assert not taken
    for _ in range(3):
        next(results)
    results.close()

    assert len(taken) <= 3 + 2 * 2


def test_closing_ends_the_running_solves():
    large = {"ni": 1025, "nj": 513, "first_cell": 1e-6}
    threads = threading.active_count()
    results = gridgen.make_many(
        [CASES[0], *[{**CASES[0], **large}] * 8], jobs=2, backend="cpu", ordered=False
    )
    next(results)

    started = time.monotonic()
    results.close()

    assert time.monotonic() - started < 10
    assert threading.active_count() == threads


def test_leaving_the_loop_ends_the_batch():
    for result in gridgen.make_many(CASES * 10, jobs=2, **SIZES):
        if result.index == 1:
            break
    del result
    gc.collect()

    assert not [thread for thread in threading.enumerate() if thread.name.startswith("gridgen")]


@pytest.mark.skipif(not hasattr(signal, "pthread_kill"), reason="signals of POSIX")
def test_an_interrupt_ends_the_batch():
    main = threading.get_ident()
    timer = threading.Timer(0.2, lambda: signal.pthread_kill(main, signal.SIGINT))

    started = time.monotonic()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        list(gridgen.make_many([{"naca": "0012", "ni": 1025, "nj": 513}] * 50, jobs=2, backend="cpu"))

    timer.join()
    assert time.monotonic() - started < 15


def test_cases_of_files_have_folders_of_their_own(tmp_path):
    (tmp_path / "wing.toml").write_text("geometry.naca = '0012'\n")
    cases = [tmp_path / "wing.toml", {"naca": "2412", "name": "tail"}, {"naca": "4412", "name": None}]
    output = tmp_path / "out"

    results = list(gridgen.make_many(cases, output=output, pictures=False, formats=["vts"], **SIZES))

    assert all(result.error is None for result in results), results
    assert sorted(folder.name for folder in output.iterdir()) == ["000002", "tail", "wing"]
    for folder in output.iterdir():
        assert (folder / "mesh.vts").exists()


@pytest.mark.parametrize("jobs", [1, 2])
def test_cases_of_one_name_are_refused_before_anything_is_made(tmp_path, jobs):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "wing.toml").write_text("geometry.naca = '0012'\n")
    files = [tmp_path / folder / "wing.toml" for folder in ("a", "b")]
    output = tmp_path / "out"
    for cases, name in (
        (files, "wing"),
        ([files[0], {"naca": "4412", "name": "wing"}], "wing"),
        ([{"naca": "0012", "name": "q"}, {"naca": "2412"}, {"naca": "4412", "name": "q"}], "q"),
        ([{"naca": "0012"}, {"naca": "4412", "name": "000000"}], "000000"),
    ):
        with pytest.raises(gridgen.CaseError, match=f"are both named {name}"):
            gridgen.make_many(cases, output=output, jobs=jobs, **SIZES)
        assert not output.exists()

    # Without a folder, and with a section of that name, nothing is written, so names may repeat.
    same = [{**CASES[0], "name": "q"}] * 2
    assert all(result.grid for result in gridgen.make_many(same, jobs=jobs, **SIZES))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_later_case_of_an_iterator_has_the_error_where_its_name_is_taken(tmp_path, jobs):
    cases = ({"naca": naca, "name": "q"} for naca in ("0012", "4412", "2412"))

    results = list(gridgen.make_many(cases, output=tmp_path, pictures=False, jobs=jobs, **SIZES))

    assert results[0].error is None
    assert "0012" in (tmp_path / "q" / "case.toml").read_text()
    for number, result in enumerate(results[1:], 1):
        assert isinstance(result.error, gridgen.CaseError)
        assert result.error.message == f"case 0 and case {number} are both named q"


def test_a_section_output_for_all(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    (result,) = gridgen.make_many(CASES[:1], output={"span_cells": 2}, **SIZES)

    assert "span_cells = 2" in result.grid.case


def test_a_bar_counts_cases(capsys):
    pytest.importorskip("tqdm")

    count = sum(1 for _ in gridgen.make_many(CASES[:4], progress=True, jobs=2, **SIZES))

    assert count == 4
    assert "4/4" in capsys.readouterr().err


def test_an_error_of_the_iterable_is_the_callers():
    def cases():
        yield CASES[0]
        raise LookupError

    with pytest.raises(LookupError):
        list(gridgen.make_many(cases(), jobs=2, **SIZES))


@pytest.mark.parametrize("options", [{"jobs": 0}, {"threads": -2}, {"devices": [-1]}, {"jobs": 1.5}], ids=str)
def test_invalid_numbers_are_refused_at_once(options):
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make_many(CASES, **options)

    assert next(iter(options)) in refused.value.message
