"""Errors have the texts of the command with the names of arguments, their parts as attributes, and pickle."""

import pickle

import pytest

import gridgen
from support import command

ERRORS = [
    gridgen.CaseError,
    gridgen.DeviceError,
    gridgen.FileError,
    gridgen.GeometryError,
    gridgen.MatrixError,
    gridgen.NotConverged,
]


@pytest.mark.parametrize("kind", ERRORS)
def test_an_error_passes_from_process_to_process(kind):
    error = kind("what is wrong", "how to mend it", 3, {"key": "grid.ni"})

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert type(copy) is kind
    assert (copy.message, copy.hint, copy.exit_code, copy.data) == (
        "what is wrong",
        "how to mend it",
        3,
        error.data,
    )
    assert str(copy) == "what is wrong\nhint: how to mend it"
    assert str(kind("alone")) == "alone"
    assert isinstance(copy, gridgen.GridgenError)


# An override of the command, the equivalent arguments of `make`, and the name expected in the message.
CASES = [
    ("grid.ni=3", {"ni": 3}, "ni"),
    ("grid.ni=3", {"grid": {"ni": 3}}, "grid.ni"),
    ("grid.first_cell=-1", {"first_cell": -1}, "first_cell"),
    ("grid.topology=X", {"topology": "X"}, "topology"),
    ("geometry.naca=99x", {"naca": "99x"}, "naca"),
    ("grid.nii=3", {"grid": {"nii": 3}}, "grid.nii"),
    ("output.formats=vts,stl", {"formats": ["vts", "stl"]}, "formats"),
    ("geometry.file=missing.dat", {"geometry": {"file": "missing.dat"}}, "geometry.file"),
    ("grid.wake=4000", {"wake": 4000}, "wake"),
]


@pytest.mark.parametrize(("override", "keys", "name"), CASES, ids=str)
def test_bad_input_gets_the_text_of_the_command(tmp_path, monkeypatch, override, keys, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wing.toml").write_text("geometry.naca = '0012'\n")

    said = command("wing.toml", "--set", override, cwd=tmp_path)
    with pytest.raises((gridgen.CaseError, gridgen.GeometryError)) as refused:
        gridgen.make("wing.toml", **keys)

    error = refused.value
    expected = said.stderr.splitlines()[0].removeprefix(f"error: --set {override}: ")
    assert error.message.partition(": ")[2] == expected
    assert error.message.startswith(name)
    assert "--set" not in str(error)
    assert error.exit_code == said.returncode == 2
    assert (error.hint is None) == ("hint: " not in said.stderr)


def test_a_key_that_is_misspelt_gets_the_nearest():
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make(naca="0012", farfield=20)

    assert "unknown" in refused.value.message
    assert "farfield" in refused.value.message
    assert "did you mean" in refused.value.hint
    assert "far_field" in refused.value.hint


def test_a_name_of_several_sections_is_refused_with_them():
    with pytest.raises(gridgen.CaseError) as refused:
        gridgen.make(naca="0012", max_iterations=4)

    assert "newton.max_iterations" in str(refused.value)
    assert "linear.max_iterations" in str(refused.value)


def test_no_section_and_two_sections_are_refused():
    with pytest.raises(gridgen.CaseError, match="missing"):
        gridgen.make(ni=65)
    with pytest.raises(gridgen.CaseError, match="excluded"):
        gridgen.make(naca="0012", ellipse={"thickness": 0.5})


def test_a_missing_case_file():
    with pytest.raises(gridgen.CaseError, match="no such case file") as refused:
        gridgen.make("nowhere/wing.toml")

    assert refused.value.hint == "check the path of the case file"


def test_a_case_file_that_cannot_be_used_is_named_with_the_line(tmp_path):
    file = tmp_path / "wing.toml"
    elements = "".join(f"[[element]]\nname = '{name}'\ngeometry.naca = '0012'\n" for name in "ab")
    for text, line in [("ni = 3\nnj = = 3\n", 2), (elements, 1), ("grid.ni = 3\n", 1)]:
        file.write_text(text)

        with pytest.raises(gridgen.CaseError) as refused:
            gridgen.make(file)

        data = refused.value.data
        assert (str(data["file"]), data["line"]) == (str(file), line)


def test_a_section_that_crosses_itself_is_a_geometry_error(small, section):
    section[10:30, 1] *= -1

    with pytest.raises(gridgen.GeometryError) as refused:
        gridgen.make(**small | {"naca": None}, points=section)

    assert refused.value.message.startswith("points")
    assert isinstance(refused.value, ValueError)


def test_a_missing_device_is_a_device_error(small):
    with pytest.raises(gridgen.DeviceError) as refused:
        gridgen.make(**small | {"backend": "cuda"}, devices=[4000])

    assert refused.value.exit_code == 3
    assert refused.value.hint
