"""What MkDocs does not do by itself for this site: links that leave `docs/`, the colours of the language, and
the names of the package in the order in which it lists them.

The pages are read in the repository too, where they link to programs, examples and notebooks beside `docs/`.
One decision: what they link to becomes part of the site, under `repository/`, so that a copy of the site is
complete without a network; pages in Markdown become pages of the site, with their own links.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module
from os.path import relpath
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from pygments.lexers import LEXERS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
AROUND = "repository"
BESIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages of the navigation that stand beside `docs/`."""
_LINK = re.compile(r"(\]\()(?!\w+:)([^)\s#]+)(#[^)\s]*)?(\))")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


# MkDocs takes its path away again once the hooks are loaded: Pygments finds the module among those loaded.
sys.path.insert(0, str(Path(__file__).parent))
import_module("stead_lexer")
LEXERS["SteadLexer"] = ("stead_lexer", "stead", ("stead",), ("*.stead",), ())


def place(path: Path) -> str:
    """Where a file of the repository is in the site."""
    if path.is_relative_to(DOCS):
        return path.relative_to(DOCS).as_posix()
    return f"{AROUND}/{path.relative_to(ROOT).as_posix()}"


def source(uri: str) -> Path:
    """The file of the repository that is there in the site."""
    return ROOT / uri.removeprefix(f"{AROUND}/") if uri.startswith(f"{AROUND}/") else DOCS / uri


def targets(path: Path) -> list[Path]:
    """The files that a page links to."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    return [(path.parent / match[2]).resolve() for match in _LINK.finditer(text)]


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add what the pages link to."""
    left = [DOCS / file.src_uri for file in files.documentation_pages()]
    left += [ROOT / name for name in BESIDE]
    seen = set(left)
    while left:
        page = left.pop()
        if not page.is_relative_to(DOCS) and files.get_file_from_path(place(page)) is None:
            listed = page.name in BESIDE and page.parent == ROOT
            level = InclusionLevel.INCLUDED if listed else InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, place(page), abs_src_path=str(page), inclusion=level))
        if page.suffix != ".md":
            continue
        for target in targets(page):
            if target not in seen and target.is_file() and target.is_relative_to(ROOT):
                seen.add(target)
                left.append(target)
    return files


def all_names() -> str:
    """A heading for the package and for each of its rooms, and the directives that show their names."""
    package = ROOT / "src" / "stead_sym"
    lines = []
    for stub in [package / "__init__.pyi", *sorted(package.glob("*/__init__.pyi"))]:
        room = ".".join(stub.parent.relative_to(package.parent).parts)
        text = stub.read_text(encoding="utf-8")
        names = re.findall(r"^from \.[\w.]+ import (\w+) as \1$", text, re.MULTILINE)  # no rooms
        lines.append(f"### {room}")
        lines += [f"::: {room}.{name}" for name in names]
    errors = (package / "errors.py").read_text(encoding="utf-8")
    lines.append("### stead_sym.errors")
    lines += [f"::: stead_sym.errors.{name}" for name in re.findall(r"^class (\w+)", errors, re.MULTILINE)]
    return "\n\n".join(lines)


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links at where their files are in the site."""
    here = source(page.file.src_uri)
    markdown = re.sub(r"<!-- all names: .* -->", all_names(), markdown)

    def moved(match: re.Match[str]) -> str:
        there = (here.parent / match[2]).resolve()
        if not there.is_file() or not there.is_relative_to(ROOT):
            return match[0]
        uri = relpath(place(there), Path(page.file.src_uri).parent)
        return f"{match[1]}{uri}{match[3] or ''}{match[4]}"

    parts, last = [], 0
    for fence in _FENCE.finditer(markdown):
        block = fence[0].replace("```stead more", "```stead", 1)  # a word that only the tests need
        parts += [_LINK.sub(moved, markdown[last : fence.start()]), block]
        last = fence.end()
    return "".join([*parts, _LINK.sub(moved, markdown[last:])])


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Write the names of formulas in signatures as readers have them, without the alias of our modules."""
    return html.replace('<span class="n">fo</span><span class="o">.</span>', "")
