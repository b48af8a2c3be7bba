"""The keyword arguments of `make` are the keys of a case.

`python/gridgen/_keys.py` is written from the table of keys; to write it again:

    UPDATE_DOCS=1 python -m pytest python/tests/test_keys.py
"""

import os
import textwrap
from collections import Counter
from pathlib import Path

import gridgen._core as core

PAGE = Path(__file__).parents[1] / "gridgen" / "_keys.py"

HEAD = '''"""The keyword arguments of `gridgen.make`, for editors and type checkers.

Written from the table of keys in src/case/keys.rs. To write it again:
UPDATE_DOCS=1 python -m pytest python/tests/test_keys.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike


class Keys(TypedDict, total=False):
    """Keys of a case by their names, where one section alone has the name, and sections as mappings."""

    points: ArrayLike | None
    """Points of the section in order, (n, 2), chords."""
'''

TAIL = '''

class Options(Keys, total=False):
    """Arguments of `gridgen.make` for all cases of `gridgen.make_many`."""

    backend: str
    devices: int | Sequence[int] | None
    output: str | os.PathLike[str] | Mapping[str, Any] | None
    force: bool
    restart: str | os.PathLike[str] | None
'''

# Those that `make` has an argument of the same name for: the folder of the files, and the restart file.
TAKEN = {"output", "restart"}

TYPES = {"text": "str", "a path": "str | os.PathLike[str]", "true": "bool", "an integer": "int"}
TYPES |= {"a number": "float", "one of": "str", "a list": "Sequence[str]"}


def type_of(kind):
    return next(name for start, name in TYPES.items() if kind.startswith(start))


def described(text):
    plain = text.replace("`", "``").replace("````", "``").replace("\\", "\\\\")
    return textwrap.fill(f'"""{plain}"""', 106, initial_indent="    ", subsequent_indent="    ")


def section_of(path):
    return path.rpartition(".")[0]


def entries(keys):
    """Names, types and descriptions in the order of the table, each section before its keys."""
    names = Counter(path.rpartition(".")[2] for path, *_ in keys)
    sections = []
    for path, *_ in keys:
        section = section_of(path)
        if section and section not in sections:
            sections.append(section)
            names[section.rpartition(".")[2]] += 1
    for path, kind, default, unit, meaning in keys:
        section, _, name = path.rpartition(".")
        if section in sections:
            sections.remove(section)
            word = section.rpartition(".")[2]
            if names[word] == 1 and word not in TAKEN:
                yield word, "Mapping[str, Any]", f"Section ``[{section}]``."
        if names[name] == 1 and name not in TAKEN:
            about = f"{unit}, " if unit else ""
            yield name, type_of(kind), f"{section or 'case'}: {meaning} ({about}default {default})"


def page(keys):
    fields = [f"    {name}: {kind} | None\n{described(text)}\n" for name, kind, text in entries(keys)]
    return HEAD + "".join(fields) + TAIL


def test_the_typed_arguments_are_the_keys_of_the_table():
    text = page(core.keys())

    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(text, encoding="utf-8")

    assert PAGE.read_text(encoding="utf-8") == text, "UPDATE_DOCS=1 writes it again"
