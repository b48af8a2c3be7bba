"""How the documents, which are read on a code host too, become pages of a site.

Links to files outside of docs/ lead to copies below source/, formulas become MathML, and the anchors of
headings are those that a code host gives them.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from latex2mathml.converter import convert
from mkdocs.structure.files import File, Files, InclusionLevel

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# The files of the viewer: style and scripts, in the order in which they are used.
PARTS = ("viewer.css", "grid.js", "viewer.js")
# Code keeps its characters: blocks between fences, and spans between backticks.
CODE = re.compile(r"^```.*?^```|``.+?``|`[^`\n]+`", re.MULTILINE | re.DOTALL)
FORMULA = re.compile(r"\$\$(?P<block>.+?)\$\$|(?<![\w$])\$(?P<span>[^$]+?)\$(?![\w$])", re.DOTALL)
# Cases of the page with live grids: what they show, and their keys beside the section.
LIVE = {
    "A C-grid around a NACA 4412, first cells of 1e-5": ("4412", []),
    "An O-grid around an Eppler 387, first cells of 1e-7": (
        "e387",
        ["grid.topology=O", "grid.first_cell=1e-7"],
    ),
    "A blunt trailing edge with a block behind it": (
        "2412",
        ["grid.topology=C", "geometry.trailing_edge=blunt"],
    ),
}
LINK = re.compile(r"\]\((?P<path>[^)#\s:]+)(?P<anchor>#[^)\s]*)?\)")


def slug(text: str, separator: str) -> str:
    """Return the anchor of a heading as code hosts form it."""
    kept = re.sub(r"[^\w\- ]", "", text.strip().lower())
    return kept.replace(" ", separator)


def uri(path: Path) -> str:
    """Return the place of a file or folder of the repository in the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    name = f"source/{path.relative_to(ROOT).as_posix()}"
    return f"{name}/index.md" if path.is_dir() else name


def original(page_uri: str) -> Path:
    """Return the file of the repository that a page shows."""
    inside = page_uri.removeprefix("source/")
    return DOCS / page_uri if inside == page_uri else ROOT / inside.removesuffix("/index.md")


def targets(path: Path) -> list[Path]:
    """Return the files and folders that a document links to, or the files in a folder."""
    if path.is_dir():
        return [entry for entry in sorted(path.iterdir()) if entry.is_file()]
    if path.suffix != ".md":
        return []
    prose = CODE.sub("", path.read_text(encoding="utf-8"))
    return [Path(os.path.normpath(path.parent / link["path"])) for link in LINK.finditer(prose)]


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Form anchors as code hosts do."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = slug
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the files outside of docs/ that are linked to, and the Python reference."""
    found = {original(page.src_uri) for page in files.documentation_pages()}
    waiting = list(found)
    while waiting:
        new = {path for path in targets(waiting.pop()) if path.exists()} - found
        found |= new
        waiting += new
        for path in new:
            if path.is_relative_to(DOCS):
                continue
            if path.is_dir():
                entries = "".join(f"- [{entry.name}]({entry.name})\n" for entry in targets(path))
                text = f"# {path.relative_to(ROOT)}\n\n{entries}"
                file = File.generated(config, uri(path), content=text)
            else:
                file = File.generated(config, uri(path), abs_src_path=str(path))
            file.inclusion = InclusionLevel.NOT_IN_NAV
            files.append(file)
    files.append(File.generated(config, "python-reference.md", content=reference()))
    files.append(File.generated(config, "live.md", content=live(files, config)))
    return files


def live(files: Files, config: MkDocsConfig) -> str:
    """Return the page of grids in the viewer; the newest program that was built here makes them."""
    built = [path for path in ROOT.glob("target/*/gridgen") if path.is_file()]
    newest = max(built, key=lambda path: path.stat().st_mtime, default=None)
    program = newest or shutil.which("gridgen")
    text = (
        "# Grids to look at\n\nThe [viewer](viewer.md) of `report.html` with three grids in your browser.\n"
    )
    if program is None:
        return f"{text}\nThis site was made without the program, and has no grids here.\n"
    for number, (about, (section, keys)) in enumerate(LIVE.items()):
        with tempfile.TemporaryDirectory() as folder:
            options = [f"--set={key}" for key in ["name=live", *keys]]
            command = [program, section, "--backend=cpu", "--quiet", f"--output={folder}", *options]
            subprocess.run(command, check=True)  # noqa: S603
            page = Path(folder, "live/report.html").read_text(encoding="utf-8")
        data = re.search(r"<script [^>]*data-gridgen .*?</script>", page, re.DOTALL)
        parts = [(ROOT / f"src/viewer/{name}").read_text(encoding="utf-8") for name in PARTS]
        content = (
            '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>grid</title><style>'
            ":root { color-scheme: light dark; } body { margin: 0; } .gridgen-viewer { padding: .7rem; }"
            f"{parts[0]}</style>"
            f"<main>{data[0] if data else ''}</main><script>{''.join(parts[1:])}</script></html>"
        )
        files.append(File.generated(config, f"live/{number}.html", content=content))
        frame = f'<iframe src="live/{number}.html" title="{about}" loading="lazy"'
        text += f'\n## {about}\n\n{frame} style="width: 100%; height: 900px; border: 0"></iframe>\n'
    return text


def reference() -> str:
    """Return the page of the names that the Python package exports, with their docstrings."""
    source = (ROOT / "python/gridgen/__init__.py").read_text(encoding="utf-8")
    names = re.findall(r'^    "([A-Za-z]\w*)",$', source, re.MULTILINE)
    return "# Python reference\n\n" + "".join(f"::: gridgen.{name}\n\n" for name in names)


def formula(found: re.Match[str]) -> str:
    """Return a formula in MathML."""
    if found["block"]:
        return f'\n\n<div class="formula">{convert(found["block"].strip(), display="block")}</div>\n\n'
    return convert(found["span"].replace("\n", " "))


def on_page_markdown(markdown: str, page: Page, **_: object) -> str:
    """Put formulas and links of a page in the form of the site."""
    shown = original(page.file.src_uri)
    here = Path(page.file.src_uri).parent

    def moved(link: re.Match[str]) -> str:
        base = shown if shown.is_dir() else shown.parent
        path = Path(os.path.normpath(base / link["path"]))
        if not path.exists():
            return link[0]
        return f"]({os.path.relpath(uri(path), here)}{link['anchor'] or ''})"

    def prose(text: str) -> str:
        return LINK.sub(moved, FORMULA.sub(formula, text))

    pieces, end = [], 0
    for code in CODE.finditer(markdown):
        # A fence of Python-Markdown has one word, not `rust,no_run`.
        pieces += [prose(markdown[end : code.start()]), re.sub(r"^```(\w+),\S*", r"```\1", code[0])]
        end = code.end()
    return "".join([*pieces, prose(markdown[end:])])
