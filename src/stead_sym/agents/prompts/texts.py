"""The texts of a prompt: those of the package or of a folder that replaces them, with placeholders.

One decision: a text is filled in one pass, so an inserted text is never read as a placeholder. A bracket that
is no known placeholder is kept, unless it has the form of one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError, Span

_FILES = ("system.txt", "user.txt", "policy.txt", "tools.json", "calls.json")
_BRACKETS = re.compile(r"\[([A-Za-z_][A-Za-z0-9_ ]*(?:\.[0-9]+)?)\]")


@dataclass(frozen=True, slots=True)
class Template:
    """A text whose placeholders are `[NAME]`, `[A FEW WORDS]` or `[Relation.2]`.

    ``source`` names the file, or other source of the text, in messages.
    """

    text: str
    source: str

    def check(self, known: Collection[str]) -> None:
        """Raise `InputError` for an unknown placeholder in capitals, or of the form `Relation.2`."""
        for match in _BRACKETS.finditer(self.text):
            name = match[1]
            if name not in known and (name.isupper() or "." in name):
                raise InputError(
                    f"unknown placeholder [{name}]; write one of "
                    + ", ".join(f"[{other}]" for other in sorted(known)),
                    self._span(match.start()),
                )

    def fill(self, known: Collection[str], value: Callable[[str], str]) -> str:
        """Return the text with ``value(name)`` for every known placeholder `[name]`.

        An `InputError` of ``value`` is raised again with the position of the placeholder.
        """

        def filled(match: re.Match[str]) -> str:
            if match[1] not in known:
                return match[0]
            try:
                return value(match[1])
            except InputError as error:
                raise InputError(f"[{match[1]}]: {error.message}", self._span(match.start())) from None

        return _BRACKETS.sub(filled, self.text)

    def _span(self, offset: int) -> Span:
        before = self.text[:offset]
        return Span(self.source, before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1)


def tool_schemas(tools: Sequence[Tool]) -> str:
    """Return the tools as JSON, by name: description, and the sort of every argument."""
    return json.dumps(
        [
            {
                "name": tool.name,
                "description": tool.description,
                "arguments": tool.scope,
            }
            for tool in sorted(tools, key=lambda tool: tool.name)
        ],
        indent=2,
        sort_keys=True,
        ensure_ascii=False,
    )


def own_text(file: str, text: str | None) -> Template:
    """Return the given text, or else the package's text in the file."""
    return Template(packaged(file) if text is None else text, file)


def packaged(file: str) -> str:
    """Return the package's text in a file."""
    text = files("stead_sym.agents.prompts").joinpath("templates", file).read_text(encoding="utf-8")
    return text.removesuffix("\n")


def read_texts(directory: Path) -> dict[str, Template]:
    """Return the prompt files in a folder; raise `InputError` if it has none, or if one is no text."""
    found: dict[str, Template] = {}
    for name in _FILES:
        path = directory / name
        if path.is_file():
            try:
                text = path.read_bytes().decode()
            except UnicodeDecodeError as error:
                raise InputError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
            except OSError as error:
                raise InputError(f"{path}: cannot be read ({error.strerror}); make it readable") from None
            found[name] = Template(text.removesuffix("\n"), str(path))
    if not found:
        raise InputError(f"{directory}: no prompt texts there; put in one of {', '.join(_FILES)}")
    return found


def call_templates(file: Template, deployment: Deployment) -> dict[str, Template]:
    """Return the texts of calls in `calls.json`, by tool; raise `InputError` for invalid data.

    Raise `DeclarationError` for an unknown tool.
    """
    try:
        data = json.loads(file.text)
    except json.JSONDecodeError as error:
        raise InputError(
            f"{file.source}:{error.lineno}:{error.colno}: not JSON: {error.msg}; mend it"
        ) from None
    if not isinstance(data, dict) or not all(isinstance(text, str) for text in data.values()):
        raise InputError(
            f'{file.source}: should be {{"TOOL": "text of a call with [parameter]", …}}; write that'
        )
    for tool in data:
        deployment.tool(tool, Span(file.source, 1, 1))  # raises if it is unknown
    return {tool: Template(text, f"{file.source}, {tool}") for tool, text in data.items()}
