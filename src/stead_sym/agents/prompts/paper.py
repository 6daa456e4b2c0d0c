"""Read the prompts of the paper from its LaTeX source; their texts are not part of this package.

The decision: they have names that may replace a folder of prompt texts, `paper`, `paper-control` and
`paper-airline`, with the path of the source after a colon or in the environment variable `STEAD_SYM_PAPER`. A
listing is taken byte for byte: from after its first line to before the line feed of its last line.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from stead_sym.agents.prompts.texts import Template
from stead_sym.deployment.tool import Tool
from stead_sym.errors import InputError

VARIABLE = "STEAD_SYM_PAPER"
"""The environment variable with the path of the source, for a name without one."""

_WORKFLOW = {
    "system.txt": "System message",
    "user.txt": "User-message template 2",
    "tools.json": "Tool-schema serialization",
}
PAPER_PROMPTS: Mapping[str, Mapping[str, str]] = {
    "paper": {**_WORKFLOW, "policy.txt": "Policy text"},
    "paper-control": {**_WORKFLOW, "policy.txt": "Control policy text"},
    "paper-airline": {"user.txt": "User-message template"},
}
"""For each name the headings of the listings that replace files of prompt texts.

A number after a heading counts the listings with the same heading.
"""

_LISTING = re.compile(
    r"\\listingheading\{(.*?)\.\}\s*\\begin\{lstlisting\}\n(.*?)\n\\end\{lstlisting\}", re.DOTALL
)
_ANSWER = re.compile(r'^\{.*"<.*>".*\}$', re.MULTILINE)
"""The line of the airline prompt that shows the form of an answer, with `"<…>"` to be filled in."""


def is_paper(word: str) -> bool:
    """Return True if a word names prompts of the paper, with a path or without."""
    return word.partition(":")[0] in PAPER_PROMPTS


def paper_prompt(word: str, tools: Sequence[Tool], deployment: str) -> dict[str, Template]:
    """Return the texts of a prompt of the paper, by the names of the files that they replace.

    Raise `InputError` if there is no source, if it lacks a listing, or if the prompt is for other tools than
    these, which are those of the deployment with that name.
    """
    name, _, path = word.partition(":")
    path = path or os.environ.get(VARIABLE, "")
    if not path:
        raise InputError(
            f"the prompts {name} are read from the paper's own source, which is not part of this package;"
            f" write {name}:PATH/paper.tex, or set {VARIABLE}; ./{name} is a folder"
        )
    found = listings(path)
    texts: dict[str, Template] = {}
    for file, heading in PAPER_PROMPTS[name].items():
        if heading not in found:
            raise InputError(
                f"{path}: no listing with the heading {heading!r}; give the LaTeX source of the paper"
            )
        texts[file] = Template(found[heading], f"{path}, {heading}")
    if "tools.json" in texts:
        _check_tools(texts["tools.json"], tools, name, deployment)
    else:
        texts |= _airline(texts["user.txt"], tools, name, deployment)
    return texts


def listings(path: str | Path) -> dict[str, str]:
    """Return the listings of a LaTeX source by their headings, with `HEADING 2` for a second one.

    Raise `InputError` if the source cannot be read.
    """
    try:
        source = Path(path).read_bytes().decode()
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from None
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"{path}: cannot be read ({why}); give the LaTeX source of the paper") from None
    texts: dict[str, str] = {}
    for heading, text in _LISTING.findall(source):
        texts[heading if heading not in texts else f"{heading} 2"] = text
    return texts


def _check_tools(schemas: Template, tools: Sequence[Tool], name: str, deployment: str) -> None:
    listed = {tool["name"] for tool in json.loads(schemas.text)}
    if other := sorted(listed.symmetric_difference(tool.name for tool in tools)):
        raise InputError(
            f"the prompts {name} are of other tools than {deployment} has ({', '.join(other)});"
            " use them with the example refund, or prompts of your own"
        )


def _airline(user: Template, tools: Sequence[Tool], name: str, deployment: str) -> dict[str, Template]:
    """Return an empty system message, and the texts of calls in the form of the prompt's answer.

    The arguments of a tool are the list to be filled in.
    """
    shown = _ANSWER.search(user.text)
    calls = [tool for tool in tools if tool.params and {p.sort for p in tool.params} == {"reservation"}]
    if shown is None or not calls:
        raise InputError(
            f"the prompts {name} need a tool whose parameters are all of sort reservation, and {deployment}"
            " has none; use them with the example airline, or prompts of your own"
        )
    answer = json.loads(shown[0])
    [key] = (key for key, value in answer.items() if isinstance(value, list))
    spelled = {
        tool.name: json.dumps({**answer, key: [f"[{p.name}]" for p in tool.params]}, separators=(",", ":"))
        for tool in calls
    }
    return {"system.txt": Template("", name), "calls.json": Template(json.dumps(spelled), name)}
