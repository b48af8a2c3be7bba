"""The viewer in notebooks and browsers, and the page that follows a case."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from .errors import CaseError

if TYPE_CHECKING:
    import os

__all__ = ["display", "in_notebook", "ui", "words"]

# Height of the viewer in an output cell in pixels: its picture and both curves.
_HEIGHT = 860

# Views and measures by the words of `gridgen.typing`, as the script of the viewer has them.
_VIEWS = {
    "body": "body",
    "leading-edge": "leading edge",
    "trailing-edge": "trailing edge",
    "wake": "wake",
    "far-field": "whole",
}
_MEASURES = {
    "skewness": "skewness",
    "aspect_ratio": "aspect",
    "nonorthogonality": "nonorthogonality",
    "cell_area": "area",
    "min_jacobian": "determinant",
}


def words(view: str, color: str | None) -> tuple[str, str]:
    """Return a view and a measure as the script has them."""
    given = [("view", view, _VIEWS), ("color", color, _MEASURES)]
    for name, value, known in given:
        if value is not None and value not in known:
            message = f"{name} = {value!r}: one of {', '.join(known)} was expected"
            raise CaseError(message, None, data={"name": name, "value": value})
    return _VIEWS[view], "" if color is None else _MEASURES[color]


def in_notebook() -> bool:
    """Return whether this runs in a kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")


def display(page: str) -> None:
    """Show a page in the output of a cell, or elsewhere in the browser."""
    if in_notebook():
        import html

        style = f"width: 100%; height: {_HEIGHT}px; border: 0"
        frame = f'<iframe srcdoc="{html.escape(page)}" style="{style}"></iframe>'
        sys.modules["IPython"].display.display({"text/html": frame}, raw=True)
        return
    import tempfile
    import webbrowser
    from pathlib import Path

    with tempfile.NamedTemporaryFile("w", suffix=".html", delete=False, encoding="utf-8") as file:
        file.write(page)
    webbrowser.open(Path(file.name).as_uri())


def ui(
    case: str | os.PathLike[str] = "2412",
    *,
    output: str | os.PathLike[str] = "output",
    port: int = 0,
    browser: bool = True,
) -> None:
    """Show the grid of a case in a browser while its keys are changed, until the page is stopped.

    This is the command ``gridgen ui``. It prints the address of the page, which is on this machine alone and
    has a random token. An interruption ends it, too.

    Parameters
    ----------
    case : str or path
        Case file, file of a section's coordinates, NACA designation, or name of a section.
    output : str or path
        Files that the page writes go to a folder of the name of the case in this one.
    port : int
        Port of the loopback address; 0 takes one that is free.
    browser : bool
        Whether to open the page.

    Raises
    ------
    CaseError
        If the case or the port cannot be used.
    """
    import subprocess

    # A path that begins with a hyphen is no option.
    command = [sys.executable, "-m", "gridgen", "ui", f"--output={output}", f"--port={port}"]
    command += ([] if browser else ["--no-browser"]) + ["--", str(case)]
    try:
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)  # noqa: S603
    except KeyboardInterrupt:
        # The program was interrupted as well, and has ended.
        return
    if done.returncode:
        raise CaseError(
            done.stderr.strip().removeprefix("error: "), None, data={"name": "case", "value": str(case)}
        )
