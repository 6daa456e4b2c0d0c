"""Put drafts into the text of a deployment, with comments on what supports them.

One decision: the text stays as it was but for the guards and effects of the drafted tools. What is written is
parsed, and must differ in them only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import wrap

from stead_sym.conformance.drafting.drafted import Drafted, DraftedTool
from stead_sym.conformance.drafting.runs import Run
from stead_sym.deployment.deployment import Deployment
from stead_sym.deployment.language import parse_deployment
from stead_sym.errors import InputError
from stead_sym.support.printable import plural, printable

_WIDTH = 98
_FACTS = 30
"""The most facts of one database that a comment has."""
_REASONS = 3
"""The most reasons of refusals that a comment has."""
_TO_FILL_IN = re.compile(
    r"\s+# (guard …|Drafted from|Not drafted:|Not used:|Refus|The smallest|  "
    r"|[\d,]+ runs? excluded|changed something in)"
)
"""The beginnings of comments that a draft replaces."""


def text_with(
    deployment: Deployment, drafted: Drafted, text: str | None = None, folder: Path | None = None
) -> str:
    """Return the text of a deployment with the drafts; raise `InputError` if they cannot be put there.

    Without a ``text`` it is what the deployment was parsed from, or is printed as.
    """
    text = text or deployment.text or str(deployment)
    for made in drafted.tools:
        text = _replaced(text, made)
    parsed = parse_deployment(text, folder=folder)
    names = {made.tool.name for made in drafted.tools}
    before = [tool for tool in deployment.written.tools if tool.name not in names]
    after = [tool for tool in parsed.written.tools if tool.name not in names]
    if parsed.schema != deployment.schema or before != after or parsed.specs != deployment.specs:
        raise InputError(
            "the drafts cannot be put into the text without changing the rest of it; begin each item on a"
            " line of its own, and indent what belongs to it"
        )
    return text


def _replaced(text: str, made: DraftedTool) -> str:
    """Return the text with another body of a tool."""
    head = re.search(rf"^[ \t]*(?:tool|event)\s+{re.escape(made.tool.name)}\s*\(", text, re.MULTILINE)
    if head is None:
        raise InputError(f"the text has no line that begins with `tool {made.tool.name}(`; write it so")
    end = text.index(")", head.end()) + 1
    if described := re.compile(r'\s*("""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.|"")*")').match(text, end):
        end = described.end()
    lines = text[end:].split("\n")
    kept: list[str] = []
    number = 1
    drafted = False
    while number < len(lines) and (not lines[number].strip() or lines[number][0] in " \t"):
        line = lines[number]
        is_comment = line.lstrip().startswith("#")
        goes_on = drafted and _goes_on(lines[number - 1], line)
        drafted = is_comment and (goes_on or _TO_FILL_IN.match(line) is not None)
        if is_comment and not drafted:
            kept.append(line)
        number += 1
    body = [*kept, *body_lines(made)]
    rest = lines[number:]
    return "\n".join([text[:end], *body, *([""] if rest else []), *rest])


def _goes_on(before: str, line: str) -> bool:
    """Return True if a comment was broken before this line, since its first word has no room before it."""
    words = line.lstrip().removeprefix("#").split()
    return bool(words) and len(before) + 1 + len(words[0]) > _WIDTH


def body_lines(made: DraftedTool) -> Iterator[str]:
    """Yield the lines of a drafted tool below its head."""
    for comment in _comments(made):
        yield from wrap(comment, _WIDTH, initial_indent="  # ", subsequent_indent="  # ")
    if not made.is_drafted:
        for run in made.shown:
            for shown in run_lines(run):
                yield from wrap(shown, _WIDTH, initial_indent="  # ", subsequent_indent="  #" + " " * 11)
        yield "  effect"
        return
    if made.guard:
        first, *rest = made.guard
        parts = [f"  guard {first.text}", *(f"    & {one.text}" for one in rest)]
        for part, one in zip(parts, made.guard, strict=True):
            yield from _commented(part, f"{_runs(one.alone)} excluded by this alone")
    yield "  effect"
    for line in made.effect:
        text = f"    {line.text}"
        yield from (
            [text]
            if line.support is None
            else _commented(text, f"changed something in {_runs(line.support)}")
        )


def _commented(line: str, comment: str) -> Iterator[str]:
    """Yield a line with a comment, after it or if it is long before it."""
    if len(line) + len(comment) + 4 <= _WIDTH:
        yield f"{line}  # {comment}"
    else:
        yield f"{line[: len(line) - len(line.lstrip())]}# {comment}"
        yield line


def _runs(number: int) -> str:
    return plural(number, "run")


def _comments(made: DraftedTool) -> Iterator[str]:
    """Yield what the runs say of a draft, and what they do not."""
    still = made.runs - made.changed
    if made.is_drafted:
        yield (
            f"Drafted from {_runs(made.runs)} on small databases: {made.changed:,} changed something,"
            f" {still:,} did not ({made.refused:,} refused)."
            + (f" {_runs(made.later)} of these came after the draft, and agreed." if made.later else "")
            + " It may be wrong: `stead-sym conform` compares it with the system."
        )
    else:
        yield (
            f"Not drafted: {made.why}. There were {_runs(made.runs)} on small databases:"
            f" {made.changed:,} changed something, {still:,} did not ({made.refused:,} refused)."
        )
    if made.reasons:
        said = ", ".join(f"{printable(why)[:60]!r} ({n:,})" for why, n in made.reasons[:_REASONS])
        more = len(made.reasons) - _REASONS
        yield f"Refusals said: {said}{f', and {more} more' if more > 0 else ''}."
    if made.is_drafted and (idle := unused(made)):
        yield f"Not used: {', '.join(idle)}; no run shows that anything depends on this."
    if made.raised:
        yield f"Refused though it had changed something: {_runs(made.raised)}."
    if made.beyond:
        yield f"Not drafted: what it changes in {', '.join(made.beyond)}, which no relation has."
    if made.is_drafted and made.unlisted is not None:
        yield f"Not drafted: {made.unlisted.call} wrote what no sort lists: {made.unlisted.trouble}."
    if made.outside is not None:
        yield (
            f"Not drafted: calls such as {made.outside.call}, which changes something though a value is not"
            " there. A deployment offers calls with values that are there only."
        )
    if not made.is_drafted and made.shown:
        yield "The smallest that shows why:"


def unused(made: DraftedTool) -> list[str]:
    """Return the parameters that neither guard nor effect of a draft has."""
    words = set(
        re.findall(
            r"\w+", " ".join([*(one.text for one in made.guard), *(line.text for line in made.effect)])
        )
    )
    return [param.name for param in made.tool.params if param.name not in words]


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines that show a run."""
    yield f"  call    {run.call}"
    yield f"  before  {_few([*map(str, sorted(run.before.facts))]) or 'nothing'}"
    if run.after is None:
        yield "  after   unknown"
    else:
        gone, new = sorted(run.before.facts - run.after.facts), sorted(run.after.facts - run.before.facts)
        changes = [*(f"- {fact}" for fact in gone), *(f"+ {fact}" for fact in new)]
        yield f"  after   {_few(changes) or 'the same'}"
    if run.said is not None:
        yield f"  said    {printable(run.said)[:80]}"


def _few(texts: Sequence[str]) -> str:
    """Return the first of some texts, and how many more there are."""
    more = len(texts) - _FACTS
    return ", ".join(texts if more < 2 else [*texts[:_FACTS], f"… {more:,} more"])


def summary(drafted: Drafted) -> Iterator[str]:
    """Yield a line on each tool, for people."""
    for made in drafted.tools:
        name = made.tool.name
        if made.is_drafted:
            yield f"{name}: drafted from {_runs(made.runs)}, {made.changed:,} of which changed something"
        else:
            yield f"{name}: not drafted: {made.why} ({_runs(made.runs)}, {made.changed:,} changed something)"
    for name, why in drafted.left.items():
        yield f"{name}: left alone: {why}"
    for reason in drafted.refused:
        yield f"the database does not take all databases of the file: {printable(reason)}"
