"""The keyword arguments of `make` are the keys of a case.

`python/gridgen/_keys.py` is written from the table of keys; to write it again:

    UPDATE_DOCS=1 python -m pytest python/tests/test_keys.py
"""

import os
import textwrap
from pathlib import Path

import pytest

import gridgen
from gridgen import _core as core
from support import ROOT

PAGE = Path(__file__).parents[1] / "gridgen" / "_keys.py"

HEAD = '''"""The keyword arguments of `gridgen.make`, for editors and type checkers.

Written from the table of keys in src/case/keys.rs. To write it again:
UPDATE_DOCS=1 python -m pytest python/tests/test_keys.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike

    from .typing import Backend


class Keys(TypedDict, total=False):
    """Keys of a case by name, and sections as mappings.

    A name that several sections have stands for the key that is least nested.
    """

'''

TAIL = '''

class Options(Keys, total=False):
    """Arguments of `gridgen.make` for all cases of `gridgen.make_many`."""

    backend: Backend
    devices: int | Sequence[int] | None
    output: str | os.PathLike[str] | Mapping[str, Any] | None
    force: bool
    restart: str | os.PathLike[str] | None
'''

# Keys whose name is also an argument of `make`: the folder of the files, and the restart file.
TAKEN = {"output", "restart"}

TYPES = {"text": "str", "a path": "str | os.PathLike[str]", "true": "bool", "an integer": "int"}
TYPES |= {"a number": "float", "a list of points": "ArrayLike"}
TYPES |= {"a height": "float | ArrayLike | Mapping[str, ArrayLike]"}
TYPES |= {"a box": "Sequence[float]"}
TYPES |= {"a list of clusters": "Sequence[Mapping[str, Any]]"}
TYPES |= {"a list of pieces": "Sequence[Mapping[str, Any]]"}


def type_of(kind):
    if kind.startswith("one of "):
        return f"Literal[{kind.removeprefix('one of ')}]"
    if kind.startswith('a list of "'):
        return f"Sequence[Literal[{kind.removeprefix('a list of ')}]]"
    return next(name for start, name in TYPES.items() if kind.startswith(start))


def field(name, kind):
    """A line of the page, or several if it is long."""
    line = f"    {name}: {kind} | None\n"
    if len(line) <= 111:
        return line
    start, _, words = kind.partition("Literal[")
    words, end = words.split("]", 1)
    inner = "".join(f"            {word},\n" for word in words.split(", "))
    literal = f"{start}Literal[\n{inner}        ]{end}\n"
    return f"    {name}: (\n        {literal}        | None\n    )\n"


def described(text):
    plain = text.replace("`", "``").replace("\\", "\\\\")
    return textwrap.fill(f'"""{plain}"""', 106, initial_indent="    ", subsequent_indent="    ")


def section_of(path):
    return path.rpartition(".")[0]


def chosen(paths):
    """The path that each name stands for: the least nested one with the name, unless there are several."""
    named = {}
    for path in sorted(paths, key=lambda path: path.count(".")):
        named.setdefault(path.rpartition(".")[2], []).append(path)
    first = ([path for path in group if path.count(".") == group[0].count(".")] for group in named.values())
    return {group[0] for group in first if len(group) == 1}


def entries(keys):
    """Names, types and descriptions in the order of the table, each section before its keys."""
    sections = list(dict.fromkeys(section_of(path) for path, *_ in keys if section_of(path)))
    names = chosen([*(path for path, *_ in keys), *sections])
    for path, kind, default, unit, meaning in keys:
        section, _, name = path.rpartition(".")
        if section in sections:
            sections.remove(section)
            word = section.rpartition(".")[2]
            if section in names and word not in TAKEN:
                yield word, "Mapping[str, Any]", f"Section `[{section}]`."
        if path in names and name not in TAKEN:
            about = f"{unit}, " if unit else ""
            yield name, type_of(kind), f"{section or 'case'}: {meaning} ({about}default {default})"


def page(keys):
    fields = [f"{field(name, kind)}{described(text)}\n" for name, kind, text in entries(keys)]
    return HEAD + "".join(fields) + TAIL


def test_the_typed_arguments_are_the_keys_of_the_table():
    text = page(core.keys())

    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(text, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == text, "UPDATE_DOCS=1 writes it again"


def test_every_typed_argument_is_a_key(small):
    """An unknown name, or one that several sections have, is refused whatever its value."""
    for name, kind, _ in entries(core.keys()):
        said = refusal(small | {name: {} if kind.startswith("Mapping") else -1e9})
        assert "unknown" not in said, name
        assert "have this name" not in said, name


def refusal(keys):
    try:
        gridgen.make(**keys)
    except gridgen.GridgenError as error:
        return error.message
    return ""


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("make(topology='H')", "incompatible type \"Literal['H']\""),
        ("make(formats=['su3'])", "incompatible type \"Literal['su3']\""),
        ("make(nii=3)", 'did you mean "ni"?'),
        ("solve([[1.0]], [1.0], preconditioner='ilu')", "incompatible type \"Literal['ilu']\""),
        ("make(naca='0012').plot(view='nose')", "incompatible type \"Literal['nose']\""),
        ("make(naca='0012', topology='C', formats=['su2'], wake=24).plot(view='wake')", ""),
    ],
)
def test_type_checkers_know_keys_and_words(call, words, tmp_path):
    api = pytest.importorskip("mypy.api")
    file = tmp_path / "call.py"
    file.write_text(f"import gridgen\n\ngridgen.{call}\n")

    said, _, status = api.run(["--cache-dir", str(ROOT / ".mypy_cache"), str(file)])

    assert words in said
    assert status == bool(words), said
