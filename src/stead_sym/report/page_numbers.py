"""The numeric sections of a report: the sizes of the domains, and the cost of the verification."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from stead_sym.deployment.restriction import Derivation
from stead_sym.support.html import Content, Html, tag
from stead_sym.verification.result import Verification


def domain_section(result: Verification) -> Iterator[Html]:
    """Yield the sizes of the domains, with their derivation."""
    literal = result.mode == "theorem"
    yield tag(
        "p",
        "How many values of each sort are enough to answer for unboundedly many: "
        + (
            "twice the bound, the constants, and the variables of a specification (the literal domain of the"
            " theorem)."
            if literal
            else "the constants, the bound, and the fresh values of one effect; a representative stands for"
            " every value that is not in use, which changes no verdict."
        ),
    )
    rows = [_derivation(derivation, literal) for derivation in result.restriction.derivation.values()]
    named = "variables of a specification" if literal else "fresh values of one effect"
    yield table_of("Sizes", ("sort", "size", "bound", "constants", named, "sum"), rows)


def _derivation(derived: Derivation, literal: bool) -> Sequence[Content]:
    if derived.finite:
        return derived.sort, derived.size, "–", derived.constants, "–", "finite: kept in full"
    more: Content = derived.variables if literal else derived.fresh
    if literal and derived.spec is not None:
        more = f"{derived.variables} ({derived.spec})"
    sum_ = str(derived).split(": ", 1)[1].partition(" (")[0].partition(",")[0]
    if derived.size > derived.required:
        sum_ += f"; {derived.size} are used"
    elif derived.size < derived.required:
        sum_ += f"; forced to {derived.size}, below what is needed"
    return derived.sort, derived.size, derived.bound, derived.constants, more, sum_


def statistics_section(result: Verification) -> Iterator[Html]:
    """Yield the counts of the verification and the statistics of the engine."""
    numbers = [(name.replace("_", " "), f"{value:,}") for name, value in result.statistics.items()]
    activity = [
        (f"most {sort} in use", f"{activity.most:,} of {activity.bound:,}")
        for sort, activity in result.hypotheses.activity.items()
    ]
    known = (
        ("states", result.states),
        *([] if result.databases == result.states else [("without the past", result.databases)]),
        ("transitions", result.transitions),
        ("initial states", result.initial),
    )
    counts = [(name, "not known" if number is None else f"{number:,}") for name, number in known]
    for name, run in result.agents.items():
        if run.contexts is not None:
            who = f"{name}: " if name else ""
            counts += [(f"{who}contexts", f"{run.contexts:,}"), (f"{who}queries", f"{run.queries or 0:,}")]
    yield tag("div", pairs([*counts, *activity, *numbers]), class_="numbers")


def pairs(pairs: Sequence[tuple[str, Content]]) -> Html:
    """Return a list of names with their values."""
    return tag("dl", (tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs))


def table_of(
    caption: str, columns: Sequence[str], rows: Sequence[Sequence[Content]], *, stacks: bool = False
) -> Html:
    """Return a table; the first cell of a row heads it.

    If it is too wide it scrolls sideways, or with ``stacks`` becomes a list.
    """
    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption, class_="unseen"),
            tag("thead", tag("tr", (tag("th", column, scope="col") for column in columns))),
            tag(
                "tbody",
                (
                    tag("tr", tag("th", first, scope="row"), (tag("td", cell) for cell in rest))
                    for first, *rest in rows
                ),
            ),
        ),
        class_="scrolls stacks" if stacks else "scrolls",
        tabindex=0,
        role="region",
        aria_label=caption,
    )
