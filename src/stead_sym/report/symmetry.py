"""Choices among symmetric records, on a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Collection

from msgspec import UNSET, UnsetType, convert
from rich.console import Console, Group, RenderableType

from stead_sym.analyses.symmetry import SingleChoice, Symmetric, Symmetry
from stead_sym.deployment.tool import Call
from stead_sym.evidence.document import Count, Document, Json
from stead_sym.report.data import gates_data, texts
from stead_sym.report.document import GateData
from stead_sym.report.verdicts import heading
from stead_sym.support.wrapping import Text, indented, labelled
from stead_sym.verification.verdict import Word

_MAX_LISTED = 12  # calls, facts or values of a long list


class SeparationData(Document):
    """A relation that would distinguish the possible calls, in `states` of the states with this context."""

    relation: str
    states: Count
    of: Count


class SymmetricData(Document):
    """A context that is not action-rigid.

    `automorphism` maps the values that it moves to their images, and `moved` are the offered calls that it
    moves. `alike` are the classes of values that automorphisms exchange. `orbits` are the symmetric calls
    among the possible ones.
    """

    agent: str
    facts: list[str]
    offered: list[str]
    automorphism: dict[str, str]
    moved: list[str]
    alike: list[list[str]]
    selected: list[str]
    possible: list[str]
    orbits: list[list[str]]
    separations: list[SeparationData]
    remedy: str


class KeptData(Document):
    """A verdict: the reason why no choice changes it, and `differs` if some single choice does."""

    verdict: Word
    kept: str | None
    differs: bool


class SingleChoiceData(Document):
    """A choice that was verified, in the contexts with these numbers.

    It is the call at place `rank`, from 0, of the symmetric ones. `holds` has the truth of the
    specifications, null if no run is fair.
    """

    contexts: list[Count]
    rank: Count
    holds: dict[str, bool | None]


class SymmetryReport(Document):
    """The contexts that are not action-rigid, numbered from 0, and the effect of choices in them.

    `states` are those of the literal domain, `met` the canonical contexts met, and `left` the single choices
    that were not tried. `gates` and `calls` are as in a `Report`.
    """

    deployment: str
    agent: str
    states: Count | None
    met: Count | None
    contexts: list[SymmetricData]
    specs: dict[str, KeptData]
    choices: list[SingleChoiceData]
    left: Count
    gates: list[GateData] | UnsetType = UNSET
    calls: str | UnsetType = UNSET


def print_symmetry(found: Symmetry, console: Console) -> None:
    """Print the contexts that are not action-rigid, and the effect of the choices there on each verdict."""
    result = found.result
    met = result.contexts or 0
    many = f"{len(found.contexts)} of {met} contexts {'are' if len(found.contexts) != 1 else 'is'}"
    title = heading(result.deployment, result.agent)
    console.print(title)
    console.print(
        indented(Text(f"{many} not action-rigid, {len(found.choosing)} with a choice among records alike"))
    )
    for number, context in enumerate(found.contexts, 1):
        console.print(indented(_context(context, number)))
    console.print()
    for verdict in result.verdicts.values():
        console.print(indented(Text(f"{verdict.spec} {verdict.word}: {_effect(found, verdict.spec)}")))
    if found.left:
        console.print(indented(Text(f"{found.left} single choices were not tried; raise --limit")))


def _context(context: Symmetric, number: int) -> RenderableType:
    table = labelled()
    table.add_row(f"context {number}", f"agent {context.agent}" if context.agent else "")
    table.add_row("shown", _listed(map(str, context.context.view)) or "no facts")
    table.add_row("offered", _calls(context.context.calls))
    table.add_row("automorphism", context.cycles)
    table.add_row("alike", "; ".join(_listed(values) for values in context.alike))
    table.add_row("selects", _calls(context.selected))
    if context.possible != context.selected:
        table.add_row("may happen", _calls(context.possible))
    if context.orbits:
        table.add_row("to tell apart", context.remedy)
    return Group(table)


def _effect(found: Symmetry, spec: str) -> str:
    if spec in found.kept:
        return f"no choice changes this, since {found.kept[spec]}"
    changing = found.differing.get(spec)
    if changing:
        shown = "; ".join(_choice(found, choice, spec) for choice in changing[:4])
        return f"it hangs on the choice: {shown}{'; …' if len(changing) > 4 else ''}"
    return f"the same with each of {len(found.choices)} single choices (by the order of identifiers)"


def _choice(found: Symmetry, choice: SingleChoice, spec: str) -> str:
    everywhere = choice.contexts == found.choosing
    where = "" if everywhere else f" in context {found.contexts.index(choice.contexts[0]) + 1}"
    word = {True: "holds", False: "fails", None: "has no fair run"}[choice.holds[spec]]
    return f"with number {choice.rank + 1} of those alike{where} it {word}"


def _calls(calls: Collection[Call]) -> str:
    return _listed(map(str, sorted(calls)))


def _listed(items: object) -> str:
    words = [*map(str, items)]  # type: ignore[call-overload]
    more = f", … ({len(words)} in all)" if len(words) > _MAX_LISTED else ""
    return ", ".join(words[:_MAX_LISTED]) + more


def symmetry_data(found: Symmetry) -> dict[str, Json]:
    """Return the same as data: a `SymmetryReport`."""
    numbers = {id(context): number for number, context in enumerate(found.contexts)}
    result = found.result
    return SymmetryReport(
        deployment=result.deployment.name,
        agent=result.agent,
        gates=gates_data(result.deployment),
        calls=result.deployment.called or UNSET,
        states=result.states,
        met=result.contexts,
        contexts=[_context_data(context) for context in found.contexts],
        specs={
            verdict.spec: KeptData(
                verdict=verdict.word,
                kept=found.kept.get(verdict.spec),
                differs=verdict.spec in found.differing,
            )
            for verdict in result.verdicts.values()
        },
        choices=[
            SingleChoiceData(
                contexts=[numbers[id(context)] for context in choice.contexts],
                rank=choice.rank,
                holds=dict(choice.holds),
            )
            for choice in found.choices
        ],
        left=found.left,
    ).data()


def _context_data(context: Symmetric) -> SymmetricData:
    return SymmetricData(
        agent=context.agent,
        facts=[*map(str, context.context.view)],
        offered=texts(context.context.calls),
        automorphism=dict(context.automorphism),
        moved=texts(context.moved),
        alike=[[*values] for values in context.alike],
        selected=texts(context.selected),
        possible=texts(context.possible),
        orbits=[texts(orbit) for orbit in context.orbits],
        separations=convert(context.separations, list[SeparationData], from_attributes=True),
        remedy=context.remedy,
    )
