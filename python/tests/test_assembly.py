"""Grids of several elements by `make_assembly`."""

import json

import numpy as np
import pytest

import gridgen
from support import naca0012

MAIN = {"name": "main", "geometry": {"naca": "4412"}, "reach": 0.3}
MAIN["grid"] = {"ni": 49, "nj": 17, "first_cell": 5e-3}
FLAP = {"name": "flap", "geometry": {"naca": "2412"}, "chord": 0.3, "reach": 0.15}
FLAP["grid"] = {"ni": 33, "nj": 13, "first_cell": 1e-2}
FLAP["rigging"] = {"to": "main", "gap": 0.03, "overlap": 0.0, "deflection": 25}
BACKGROUND = {"spacing": 0.08, "growth": 1.5, "far_field": 5}


def made(**keys):
    return gridgen.make_assembly(element=[MAIN, FLAP], background=BACKGROUND, backend="cpu", **keys)


def test_zones_are_at_the_places_of_their_elements():
    assembly = made()

    assert assembly.verdict.good
    assert list(assembly.zones) == ["background", "main", "flap"]
    background, main, flap = assembly.zones.values()
    assert [zone.overset for zone in assembly.zones.values()] == [False, True, True]
    assert (main.x.shape, flap.y.shape) == ((17, 49), (13, 33))
    assert background.x.shape == background.y.shape
    assert not flap.x.flags.writeable
    # Find the chord line of the flap, from its edge to its nose.
    wall = np.stack([flap.x[0], flap.y[0]], axis=1)
    nose = wall[np.argmax(np.hypot(*(wall - wall[0]).T))]
    edge = wall[0] - nose
    assert np.degrees(np.arctan2(-edge[1], edge[0])) == pytest.approx(25)
    gap = np.hypot(*(wall - [main.x[0, 0], main.y[0, 0]]).T).min()
    assert gap == pytest.approx(0.03, abs=2e-3)


def test_findings_name_keys():
    assembly = made()

    assert [finding.key for finding in assembly.findings] == ["element.main.grid.nj", "element.flap.grid.nj"]
    assert assembly.findings[0].what.startswith("the gap between main and flap")
    assert assembly.report["overset"]["gaps"][0]["cells"] == [7, 6]


def test_a_strict_assembly_that_does_not_fit_is_not_good():
    with pytest.raises(gridgen.NotConverged) as caught:
        made(strict=True)

    error = caught.value
    assert error.data["kind"] == "unfit"
    assert error.hint.startswith("element.main.grid.nj")
    assert isinstance(error.grid, gridgen.Assembly)


def test_files_are_those_of_the_command(tmp_path):
    output = {"formats": ["vts"], "pictures": False}
    case = {"element": [MAIN, FLAP], "background": BACKGROUND, "output": output}

    assembly = gridgen.make_assembly(case, backend="cpu", output=tmp_path / "two")

    names = {path.name for path in assembly.files}
    assert {"mesh.vtm", "mesh.flap.vts", "report.json", "case.toml"} <= names
    report = json.loads((tmp_path / "two" / "report.json").read_text())
    assert report["overset"] == assembly.report["overset"]
    again = gridgen.make_assembly(tmp_path / "two" / "case.toml", backend="cpu")
    assert np.array_equal(again.zones["flap"].x, assembly.zones["flap"].x)
    assert again.case == assembly.case


def test_elements_accept_arrays_and_keys_for_all_elements():
    flap = {name: value for name, value in FLAP.items() if name not in {"rigging", "geometry"}}
    flap |= {"at": np.array([1.05, -0.05]), "geometry": {"points": naca0012()}}
    heights = {"upper": np.array([[0, 5e-3], [1, 6e-3]]), "lower": [(0.0, 5e-3)]}
    main = MAIN | {"grid": MAIN["grid"] | {"first_cell": heights}}

    steps = []
    assembly = gridgen.make_assembly(
        element=(main, flap), background={}, backend="cpu", max_turn=20, progress=steps.append
    )

    assert len(steps) > 2
    assert assembly.zones["flap"].x[0].min() == pytest.approx(1.05, abs=1e-3)
    assert "max_turn = 20" in assembly.case
    assert "first_cell = { lower = [[0.0, 0.005]], upper = [[0.0, 0.005], [1.0, 0.006]] }" in assembly.case


def test_unusable_arguments_are_refused_with_the_reason():
    with pytest.raises(gridgen.CaseError, match="make_assembly"):
        gridgen.make({"element": [MAIN, FLAP]})
    with pytest.raises(gridgen.CaseError, match=r"gridgen\.make makes its grid"):
        gridgen.make_assembly(naca="2412")
    with pytest.raises(gridgen.CaseError, match="a list of mappings was expected"):
        gridgen.make_assembly(element=MAIN)
    with pytest.raises(gridgen.CaseError, match=r"did you mean element\.chord"):
        gridgen.make_assembly(element=[MAIN, FLAP | {"chrd": 1}], background={})
    with pytest.raises(gridgen.GeometryError, match="the walls of main and flap cross"):
        flap = {name: value for name, value in FLAP.items() if name != "rigging"}
        gridgen.make_assembly(element=[MAIN, flap | {"at": [0.5, 0]}], background={})
    with pytest.raises(gridgen.CaseError, match="would end inside the gap"):
        flap = {name: value for name, value in FLAP.items() if name != "rigging"}
        gridgen.make_assembly(element=[MAIN, flap | {"at": [1.1, 0], "reach": 0.05}], background={})


def test_one_section_and_several_elements_are_distinguished(tmp_path):
    file = tmp_path / "two.toml"
    elements = '[[element]]\nname = "{}"\ngeometry.naca = "2412"\n'
    file.write_text(elements.format("a") + elements.format("b") + "at = [3, 0]\n")

    with pytest.raises(gridgen.CaseError) as caught:
        gridgen.make(file)

    assert "make_assembly" in caught.value.hint
