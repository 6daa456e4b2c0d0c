"""A comparison with a running system on a terminal and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from io import StringIO

from rich.console import Console, Group, RenderableType

from stead_sym.conformance.found import Conformance, Difference, Exercised
from stead_sym.deployment.deployment import Deployment
from stead_sym.evidence.document import Json
from stead_sym.relational.instance import Instance
from stead_sym.report.streams import console_on
from stead_sym.support.printable import plural
from stead_sym.support.wrapping import Table, Text, indented, labelled

MOST_LINES = 30
"""The most facts of one kind that are shown of a database."""


def print_conformance(deployment: Deployment, found: Conformance, console: Console) -> None:
    """Print what was run, each difference as small databases side by side, and what follows."""
    console.print(Text.assemble((deployment.name, "bold"), " and its system"))
    console.print(indented(_run(found)))
    for difference in found.differences:
        console.print()
        console.print(indented(_difference(difference)))
    for reason, state in found.unloaded.items():
        console.print()
        console.print(indented(Text(f"✘ the database refuses a reachable state: {reason}", "red")))
        console.print(indented(indented(Text(_facts(state)))))
        console.print(
            indented(indented(Text("say so in the file, by a key, a reference, or an invariant", "dim")))
        )
    console.print()
    console.print(_conclusion(deployment, found))


def _run(found: Conformance) -> RenderableType:
    table = labelled()
    table.add_row("states", f"{found.states:,}, one of each kind, smallest first")
    table.add_row("calls", f"{found.calls:,}")
    if found.walks is not None:
        table.add_row("walks", f"{found.walks:,}, {found.walked:,} calls without loading between them")
    if found.interleaved is not None:
        table.add_row("pairs", f"{found.interleaved:,} runs of one call amid another")
    counts = Table(box=None, padding=(0, 2, 0, 0), show_header=True, header_style="dim")
    for title in ("tool", "offered", "not offered", "alternatives not taken", "guard both ways"):
        counts.add_column(title, justify="left" if title == "tool" else "right")
    for name, one in found.tools.items():
        untaken = ", ".join(map(str, one.untaken)) or "-"
        both = f"{one.literals - len({literal for literal, _ in one.never})} of {one.literals}"
        counts.add_row(name, f"{one.offered:,}", f"{one.not_offered:,}", untaken, both)
    parts: list[RenderableType] = [table, Text(""), counts]
    parts += [Text(line, "yellow") for name, one in found.tools.items() for line in _notes(name, one)]
    if found.alone:
        parts.append(Text(f"no call could run amid one of {', '.join(found.alone)}", "yellow"))
    if found.unbound:
        parts.append(Text(f"not bound, and not run: {', '.join(found.unbound)}", "yellow"))
    return Group(*parts)


def _notes(name: str, one: Exercised) -> Iterator[str]:
    """Yield a line for errors, for other tables, and for each literal with one truth value only."""
    if one.raised:
        yield f"{name}: {plural(one.raised, 'call')} raised an error, and did what the file says all the same"
    if one.beyond:
        yield f"{name}: it also changes {', '.join(one.beyond)}, which no relation has"
    for literal, truth in one.never:
        yield f"{name}: in no call {'true' if truth else 'false'}: {literal}"


_WORDS = {
    "refused": "the file offers it, the system refuses it",
    "not refused": "the file does not offer it, and it changes something",
    "other result": "it ends in another state",
    "value not listed": "it writes a value that the file does not list",
    "no order": "they end as in no order of the two",
}


def _difference(difference: Difference) -> RenderableType:
    title = Text.assemble(("✘ ", "red"), (difference.title, "bold"), f": {_WORDS[difference.kind]}")
    table = Table(box=None, padding=(0, 3, 0, 0), show_header=True, header_style="dim")
    table.add_column("before")
    table.add_column("after it, by the file")
    table.add_column("after it, in the system")
    before = difference.before
    expected = "\nor\n".join(_changes(before, after) for after in difference.expected[:3])
    if len(difference.expected) > 3:
        expected += f"\nor {len(difference.expected) - 3} more"
    found = "" if difference.found is None else _changes(before, difference.found)
    if difference.said is not None:
        found = "\n".join(part for part in (found, f"it says: {difference.said}") if part)
    table.add_row(Text(_facts(before)), Text(expected), Text(found, "red"))
    if difference.walk is not None and len(difference.walk.calls) > 1:
        start = f"the walk begins in {difference.walk.start}; its last call:"
        return Group(title, indented(Text(start)), indented(table))
    if difference.meanwhile is None:
        return Group(title, indented(table))
    amid = f"{difference.meanwhile.call} ran before this step of {difference.call}:"
    step = " ".join(difference.meanwhile.step.split())
    return Group(title, indented(Text(f"{amid} {step}")), indented(table))


def difference_text(difference: Difference) -> str:
    """Return a difference as it is printed."""
    out = StringIO()
    console_on(out).print(_difference(difference))
    return out.getvalue()


def _facts(state: Instance) -> str:
    return "\n".join(_few([*map(str, sorted(state.facts))])) or "(empty)"


def _changes(before: Instance, after: Instance) -> str:
    """Return the facts that are gone and new, one in each line."""
    gone, new = sorted(before.facts - after.facts), sorted(after.facts - before.facts)
    lines = [*_few([f"- {fact}" for fact in gone]), *_few([f"+ {fact}" for fact in new])]
    return "\n".join(lines) or "(no change)"


def _few(lines: list[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - MOST_LINES
    return lines if more < 2 else [*lines[:MOST_LINES], f"… {more:,} more"]


def _conclusion(deployment: Deployment, found: Conformance) -> Text:
    """Return what the run shows, and what it does not."""
    if not found.agrees:
        number = len(found.differences) + len(found.unloaded)
        return Text(f"File and system differ ({number} shown, the smallest of each tool and kind).", "red")
    bounds = ", ".join(f"at most {n} {sort}" for sort, n in deployment.bounds.items())
    which = (
        f"all databases that the file reaches with {bounds}" if bounds else "all databases that it reaches"
    )
    if not found.complete:
        which = f"the {found.states:,} smallest databases that the file reaches; raise --max-states for more"
    unbound = f", for all tools but {', '.join(found.unbound)}" if found.unbound else ""
    pairs = ", also for two calls at the same time" if found.interleaved else ""
    if pairs and found.alone:
        pairs += f", but none amid {', '.join(found.alone)}"
    walks = f", and on {found.walks:,} walks" if found.walks else ""
    return Text(f"File and system agree on {which}{unbound}{pairs}{walks}.", "green")


def conformance_data(found: Conformance) -> dict[str, Json]:
    """Return a comparison as JSON data."""
    return {
        "deployment": found.digest,
        "agrees": found.agrees,
        "complete": found.complete,
        "states": found.states,
        "calls": found.calls,
        "interleaved": found.interleaved,
        "alone": [*found.alone],
        "walks": found.walks,
        "walked": found.walked,
        "tools": {
            name: {
                "offered": one.offered,
                "not_offered": one.not_offered,
                "untaken": [*one.untaken],
                "literals": one.literals,
                "raised": one.raised,
                "beyond": [*one.beyond],
                "never": [{"literal": literal, "truth": truth} for literal, truth in one.never],
            }
            for name, one in found.tools.items()
        },
        "unbound": [*found.unbound],
        "differences": [
            {
                "kind": one.kind,
                "call": str(one.call),
                "meanwhile": None
                if one.meanwhile is None
                else {
                    "call": str(one.meanwhile.call),
                    "before_step": one.meanwhile.before_step,
                    "step": one.meanwhile.step,
                },
                "walk": None
                if one.walk is None
                else {
                    "start": [*map(str, sorted(one.walk.start.facts))],
                    "calls": [*map(str, one.walk.calls)],
                },
                "before": [*map(str, sorted(one.before.facts))],
                "expected": [[*map(str, sorted(after.facts))] for after in one.expected],
                "found": None if one.found is None else [*map(str, sorted(one.found.facts))],
                "said": one.said,
            }
            for one in found.differences
        ],
        "unloaded": [
            {"reason": reason, "state": [*map(str, sorted(state.facts))]}
            for reason, state in found.unloaded.items()
        ],
    }
