"""The viewer in notebooks, and the page of `gridgen.ui`."""

from __future__ import annotations

import base64
import html
import json
import pickle
import re
import subprocess
import sys
import types
import webbrowser
import zlib
from typing import Any

import numpy as np
import pytest

import gridgen
from test_assembly import made


@pytest.fixture(scope="module")
def grid() -> gridgen.Grid:
    """Return a small grid."""
    return gridgen.make(naca="2412", topology="O", ni=65, nj=33, chord=2.0, max_growth=5.0, backend="cpu")


def carried(page: str) -> tuple[dict[str, Any], list[np.ndarray]]:
    """Return the head of the data in a page, and the arrays behind it."""
    (text,) = re.findall(r"data-gridgen data-view[^>]*>([^<]+)<", page)
    data = zlib.decompress(base64.b64decode(text))
    length = int.from_bytes(data[:4], "little")
    head = json.loads(data[4 : 4 + length])
    arrays, at = [], 4 + length
    for zone in head["zones"]:
        count = zone["ni"] * zone["nj"]
        for _ in range(4 if head["before"] else 2):
            planes = np.frombuffer(data, np.uint8, 8 * count, at).reshape(8, count)
            arrays.append(np.ascontiguousarray(planes.T).view("<f8").reshape(zone["nj"], zone["ni"]))
            at += 8 * count
    assert at == len(data)
    return head, arrays


def test_a_page_has_the_nodes_of_the_grid_and_needs_no_other_file(grid: gridgen.Grid) -> None:
    page = grid.html(view="leading-edge", color="aspect_ratio")

    head, (x, y) = carried(page)

    np.testing.assert_array_equal(x, grid.x)
    np.testing.assert_array_equal(y, grid.y)
    assert (head["unit"], head["zones"][0]["wall"]) == (2.0, [0, 64])
    assert 'data-view="leading edge" data-colour="aspect"' in page
    assert not re.search(r"src=|href=|@import", page)


def test_a_page_has_the_grid_before(grid: gridgen.Grid) -> None:
    moved = gridgen.Mesh(np.asarray(grid.x) + 0.1, grid.y)

    head, arrays = carried(moved.html(before=grid))

    assert head["before"]
    for found, expected in zip(arrays, [moved.x, moved.y, grid.x, grid.y], strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_shown_is_refused(grid: gridgen.Grid) -> None:
    other = gridgen.Mesh(np.asarray(grid.x)[:, :33], np.asarray(grid.y)[:, :33])
    with pytest.raises(gridgen.CaseError, match="same size"):
        grid.html(before=other)
    with pytest.raises(gridgen.CaseError, match="one of body, leading-edge"):
        grid.html(view="nose")  # type: ignore[arg-type]
    with pytest.raises(gridgen.CaseError, match="one of skewness"):
        grid.html(color="beauty")  # type: ignore[arg-type]


def test_a_notebook_shows_the_viewer(grid: gridgen.Grid, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: types.SimpleNamespace(kernel=None)  # type: ignore[attr-defined]
    display = types.SimpleNamespace(display=lambda data, raw: shown.append((data, raw)))
    notebook.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", notebook)

    grid.show(color="skewness")

    ((data, raw),) = shown
    (frame,) = re.findall(r'<iframe srcdoc="([^"]+)"', data["text/html"])
    assert raw
    assert html.unescape(frame) == grid.html(color="skewness")


def test_elements_are_shown_in_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)
    both = made()

    both.show()

    head, arrays = carried(webbrowser_file(opened[0]))
    assert [zone["name"] for zone in head["zones"]] == list(both.zones)
    np.testing.assert_array_equal(arrays[2], list(both.zones.values())[1].x)
    unpickled = pickle.loads(pickle.dumps(both))  # noqa: S301
    with pytest.raises(gridgen.CaseError, match="unpickled"):
        unpickled.html()


def webbrowser_file(address: str) -> str:
    """Return the text of a file that a browser was asked to open, and remove it."""
    from pathlib import Path
    from urllib.parse import urlparse
    from urllib.request import url2pathname

    path = Path(url2pathname(urlparse(address).path))
    text = path.read_text(encoding="utf-8")
    path.unlink()
    return text


def test_the_page_of_a_case_is_that_of_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        raise KeyboardInterrupt

    monkeypatch.setattr(subprocess, "run", run)

    gridgen.ui("wing.toml", output="out", port=8123, browser=False)

    expected = ["-m", "gridgen", "ui", "--output=out", "--port=8123", "--no-browser", "--", "wing.toml"]
    assert ran == [[sys.executable, *expected]]


def test_a_case_that_is_missing_is_refused() -> None:
    with pytest.raises(gridgen.CaseError, match=r"missing\.toml"):
        gridgen.ui("missing.toml", browser=False)
